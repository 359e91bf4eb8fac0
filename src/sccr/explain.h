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
#include "sccr/explain_nodes.h"
#include "sccr/live.h"
#include "sccr/queue.h"

/* What the reason of a pending job says of bookings. */
enum explain_plan {
	PLAN_NONE,	  /* nothing: not booked, not held back by a booking */
	PLAN_BOOKED,	  /* has a start and nodes */
	PLAN_WOULD_DELAY, /* fitted when it was tried, but would have delayed a booking */
	PLAN_BEHIND,	  /* waits behind others, beyond the depth of bookings */
	PLAN_LIMIT,	  /* held back by a limit, a hold, a dependency or a begin time */
	PLAN_NODES,	  /* nodes that it asks for are said not to be available */
	PLAN_OTHER,	  /* by a reason that is none of Slurm's names */
};

/* How the policy that is shown stands to the one by which the numbers came about. */
enum explain_policy {
	POLICY_THEIRS, /* slurmctld's own file, or one that is the same */
	POLICY_OTHER,  /* another one */
	POLICY_UNSURE, /* slurmctld's cannot be had to compare it */
};

/* A job that is on a booked job's nodes before it. Times may be -1: not known. */
struct explain_wait {
	const struct queue_job *job;
	time_t start, end; /* end: by its time limit */
	bool booked;	   /* not running yet */
};

/* The pending jobs of a partition in their order: those in the running, and those that are not. */
struct explain_line {
	const char *partition; /* NULL: not made yet */
	const struct queue_job **in, **out;
	size_t n_in, n_out;
	bool several; /* there are jobs of several partitions in it */
};

struct explain {
	const struct queue *queue;
	struct explain_line *line; /* the caller's, for all rows */
	const struct queue_job *job;
	const struct ccr_config *config; /* NULL: the policy file is not to be had here */
	enum explain_policy policy;
	const char *policy_name, *policy_live; /* the file given, slurmctld's; NULL: not known */
	const struct ccr_ledger *ledger;       /* NULL: not to be read by this user */
	const struct ccr_group *group;	       /* NULL: none, or not known */
	bool group_hidden;		       /* PrivateData hides what would tell the group */
	struct ccr_target target;	       /* the group's, as the plugin has it */
	bool target_hidden; /* it has none of its own, and the shares are hidden */
	bool usage_known;
	double eligible_s; /* eligible_time; below 0: the policy does not tell it */
	double usage;	   /* percent */
	size_t rank, of;   /* in its partition, among the pending; 0 where it is not pending */
	const struct queue_job *const *ahead; /* in the line */
	size_t n_ahead;
	bool ahead_told; /* of another row: JSON has the rank alone */
	/* others there that cannot start for now, how many rank higher; they do not count above */
	size_t otherwise, otherwise_higher;
	const char *part_limit; /* its partition's, as sinfo writes it; NULL: not known */
	bool limit_unseen; /* it is not, and a job of several partitions that counts may be above */
	bool too_long;	   /* for this one of its partitions: it has no rank there */
	const struct client_rows *parts; /* sinfo's nodes of partitions; NULL: not known */
	/*
	 * Of a booked job: what is on its nodes and ends by its start, the last to end first. The
	 * first n_last end when it starts: it waits for them.
	 */
	struct explain_wait *before;
	size_t n_before, n_last;
	const struct queue_job *suspended; /* on its nodes, where nothing else tells the start */
	/*
	 * A reservation: of a booked job, one on its nodes that ends when it starts; of one whose
	 * nodes are said not to be available, one that has or will have some of them. "": none.
	 */
	struct explain_reservation resv;
	struct explain_states states; /* of the nodes that are said not to be available */
	/*
	 * Bookings that the policy makes in the job's partition, -1: not known; and whether jobs
	 * ahead have them all.
	 */
	int depth;
	bool beyond_depth;
	bool backfill_off; /* by the policy: the gate makes no bookings */
	enum explain_plan plan;
	bool promised;	       /* the booking is the gate's */
	bool held;	       /* PLAN_LIMIT: somebody has to let it go */
	bool of_partition;     /* PLAN_LIMIT: a partition's doing */
	unsigned long blocker; /* the job whose booking it would delay, 0 if unknown */
	time_t booked;	       /* start of its own booking or of the one it would delay; -1 */
	time_t earliest;       /* the first booking from now on on its partition's nodes; -1 */
	bool unsure;	       /* there may be bookings there that cannot be seen, or are due now */
	time_t begin;	       /* PLAN_LIMIT: when it may begin; 0: that is not it */
	const char *dependency; /* PLAN_LIMIT: what it depends on; NULL: that is not it */
	time_t deadline;	/* by which it has to be done; -1: none, or not known */
	time_t now;
	bool over; /* it has ended: so */
	struct ended ended;
	char reason[600];  /* squeue's, with blanks and without what follows */
	char words[400];   /* PLAN_LIMIT: what holds it back */
	char smaller[300]; /* requests with which it could start now, by the gate's plan; or "" */
};

/*
 * Counts who is ahead. x->line (begin with {NULL}) is made of x->queue where it is not that of the
 * job's partition yet; x->ahead lies in it.
 */
int explain_rank(struct explain *x, struct ccr_error *err);
void explain_line_free(struct explain_line *line);

/* Reads the reason into plan, blocker and booked, and finds the earliest booking. */
int explain_plan(struct explain *x, struct ccr_error *err);

/* Sets booked, and the time in the reason, to what squeue tells of the booking of plan. */
void explain_times(struct explain *x);

/* PLAN_NODES: finds a reservation of these nodes. resv as below. */
int explain_kept_for(struct explain *x, const char *hosts, const struct client_rows *resv,
		     struct ccr_error *err);

/* PLAN_NODES: which nodes that is about, as far as that is known; "" if it is not. */
void explain_nodes_asked(const struct explain *x, char *out, size_t size);

/* scontrol's records of the job that was asked for; client_rows_free(). None where it is silent. */
void explain_deadlines_read(struct client_rows *out, const char *asked);
/* Finds the deadline of a pending job among them. */
void explain_deadline(struct explain *x, const struct client_rows *jobs);

void explain_print(const struct explain *x, FILE *out);
void explain_print_json(const struct explain *x, FILE *out);

/*
 * Finds what a booked job waits for, as far as the caller may see it; free(x->before).
 * resv: the reservations, or NULL to ask scontrol where no job is what it waits for.
 */
int explain_waits_for(struct explain *x, const struct client_rows *resv, struct ccr_error *err);

#endif
