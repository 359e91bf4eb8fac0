/*
 * explain - what is known of a job, put together for printing
 */
#ifndef SCCR_EXPLAIN_H
#define SCCR_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "core/config.h"
#include "sccr/ended.h"
#include "sccr/live.h"
#include "sccr/queue.h"

/* What the reason of a pending job says of bookings. */
enum explain_plan {
	PLAN_NONE,	  /* nothing: not booked, not held back by a booking */
	PLAN_BOOKED,	  /* has a start and nodes */
	PLAN_WOULD_DELAY, /* fits now, and would delay a booking */
	PLAN_BEHIND,	  /* waits behind others, beyond the depth of bookings */
	PLAN_LIMIT,	  /* held back by a limit, a hold, a dependency or a begin time */
};

struct explain {
	const struct queue *queue;
	const struct queue_job *job;
	const struct ccr_config *config; /* NULL: the policy file is not to be had here */
	const struct ccr_ledger *ledger; /* NULL: not to be read by this user */
	const struct ccr_group *group;	 /* NULL: none, or not known */
	bool usage_known;
	double eligible_s; /* eligible_time; below 0: the policy does not tell it */
	double usage;	   /* percent */
	size_t rank, of;   /* in its partition, among the pending; 0 where it is not pending */
	const struct queue_job **ahead;
	size_t n_ahead;
	/* of a booked job: what runs on its nodes and ends by its start, the last to end first */
	const struct queue_job **waits_for;
	size_t n_waits_for;
	enum explain_plan plan;
	unsigned long blocker; /* the job whose booking it would delay, 0 if unknown */
	time_t booked;	       /* start of its own booking or of the one it would delay; -1 */
	time_t earliest;       /* the first booking in its partition from now on; -1 */
	time_t now;
	bool over; /* it has ended: so */
	struct ended ended;
	char reason[600];  /* squeue's, with blanks and without what follows */
	char smaller[300]; /* requests with which it could start now, by the gate's plan; or "" */
};

/* Reads the reason into plan, blocker and booked, and finds the earliest booking. */
void explain_plan(struct explain *x);

void explain_print(const struct explain *x, FILE *out);
void explain_print_json(const struct explain *x, FILE *out);

/* Finds what a booked job waits for, as far as the caller may see it; free(x->waits_for). */
int explain_waits_for(struct explain *x, struct ccr_error *err);

/* What kind of thing holds a job back, in words; NULL where the reason is no limit. */
const char *explain_limit(const char *reason);

#endif
