/*
 * queue_tasks - an array's waiting tasks: squeue's line for each, slurmctld's record for many
 *
 * A record's id is written as squeue writes it: 12_[4-9,11].
 */
#ifndef SCCR_QUEUE_TASKS_H
#define SCCR_QUEUE_TASKS_H

#include "sccr/queue.h"

/*
 * How many of n > 0 lines, from the first on, are tasks of one record. A line's first two fields
 * are the task and the record's number, which squeue prints one after another.
 */
size_t queue_same_record(char **const *row, size_t n);

/*
 * Writes the record's id, terminated, from the n > 1 lines of its tasks in their order; returns its
 * length: at most that of all their ids, and QUEUE_JOINED more for each.
 */
#define QUEUE_JOINED 3
size_t queue_join_tasks(char *out, char **const *row, size_t n);

/* Is task number n one of the list in brackets of the job's id? */
bool queue_has_task(const struct queue_job *j, long n);

/* How many jobs the row stands for: the tasks of a pending array, else 1. */
size_t queue_tasks(const struct queue_job *j);

#endif
