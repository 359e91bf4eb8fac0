/*
 * explain_tasks - the rows of the job that was asked for; most are tasks of an array
 */
#ifndef SCCR_EXPLAIN_TASKS_H
#define SCCR_EXPLAIN_TASKS_H

#include <stdio.h>

#include "sccr/queue.h"

/*
 * The rows that were asked for; free(). NULL: out of memory. Tasks of an array and parts of a
 * hetjob are in their order; tasks that wait in several partitions come last, a partition after
 * the other.
 */
const struct queue_job **explain_tasks(const struct queue *q, const char *asked, size_t *n);

/*
 * How many rows behind the first of n are pending tasks of its array of which there is nothing
 * else to be said: the same partition, priority, reason and booking.
 */
size_t explain_tasks_like(const struct queue_job *const *row, size_t n);

/* A line for them: the first of the rows is the one that is told of, `like` of them follow. */
void explain_tasks_print(const struct queue_job *const *row, size_t like, FILE *out);

#endif
