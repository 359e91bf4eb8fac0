/*
 * planner - bookings for the highest blocked jobs, and whether a job may start now
 *
 * A plan lives as long as its set of nodes does. A scheduling cycle is
 *
 *   ccr_plan_begin(plan, now, true)
 *   ccr_plan_running(...)          for each node of each running job
 *   ccr_plan_block(...)            for each node that is set aside for a time
 *   ccr_plan_ready(plan, err)      puts the bookings of earlier cycles back in their places
 *   then, for each pending job from the highest rank down:
 *     ccr_plan_may_fit  (gate.h)   nodes that it may use now; none: it is blocked
 *     ccr_plan_check    (gate.h)   holds an exact pick against the bookings
 *     ccr_plan_start    (gate.h)   it starts there
 *     ccr_plan_book                it cannot start: its booking, if it is due one
 *
 * A booking is a promise. It is made at the earliest time at which the candidates hold the job's
 * demand for its whole time limit beside what runs and the bookings that rank above it; from then
 * on it only moves to earlier times. Within a cycle and from one to the next it is lost only if a
 * job that ranks above came after it, if what runs or a node changed so that it no longer holds
 * (then it is made anew at once, before all lower ones), or if its own job changed. A job that
 * ranks above but was there when the promise was made keeps to it: without that, each improvement
 * of a high booking could push lower ones back without end.
 *
 * Nothing here is thread-safe; there is no global state. Node sets are those of bits.h.
 */
#ifndef CCR_CORE_PLANNER_H
#define CCR_CORE_PLANNER_H

#include "core/search.h"

/* The order in which Slurm's main cycle takes jobs. */
struct ccr_rank {
	bool preemptor; /* first */
	bool reserved;	/* in an advance reservation: first */
	uint32_t tier;	/* the partition's PriorityTier, higher first */
	uint32_t prio;	/* in this partition, higher first */
	int64_t submit; /* earlier first */
	uint32_t job;	/* lower id first */
};

/* <0 if a is taken before b. */
int ccr_rank_cmp(const struct ccr_rank *a, const struct ccr_rank *b);

/* What a running job holds of a node, and until when, as it was loaded. */
struct ccr_lent {
	struct ccr_share share;
	int64_t end;
};

/* A pending job in one of its partitions. Nothing of it is kept by reference. */
struct ccr_plan_job {
	uint32_t id; /* the same in all its partitions; not 0 */
	struct ccr_rank rank;
	uint16_t partition;
	int64_t since; /* when it came to compete: submitted, or eligible if that was later */
	int64_t limit; /* seconds, at least 1; CCR_FOREVER: unlimited */
	/* No booking is made for an earlier time, nor moved there; one that is earlier stays. */
	int64_t not_before;
	const struct ccr_demand *demand;
	const uint64_t *candidates; /* nodes that it may use at all, now or later; NULL: all */
	const uint64_t *required;   /* those that it must have (-w); NULL: none */
	/*
	 * The last resort of a job whose booking is due while no pick leaves those below whole:
	 * they make way.
	 */
	bool over_lower;
	/* Of the jobs that make way for this one (preemption): it is planned as if they ended now.
	 */
	const struct ccr_lent *lent;
	uint32_t lents;
	/* The first of those that it was booked together with; 0: alone. ccr_plan_restore, _lost.
	 */
	uint32_t together;
};

struct ccr_plan_options {
	int64_t window; /* no booking starts later than this many seconds from now */
	uint32_t depth; /* bookings in a partition that ccr_plan_partition does not name */
	bool strict;	/* the same for partitions: nobody passes a blocked job */
	bool placement; /* narrow the offered nodes to those that strand the fewest GPUs */
	struct ccr_place_options place;
	int64_t long_limit; /* jobs with a longer time limit count as long; 0: none does */
	double long_share;  /* long jobs together run on at most this share of the GPUs, 0 to 1 */
};

/* Window 1 day, depth 10, not strict, placement on, 1 CPU a GPU, no job counts as long. */
struct ccr_plan_options ccr_plan_defaults(void);

/*
 * No start is to the second: a booking whose time has come keeps its end for so long, and its job
 * may start although it will end that much later. A booking that begins there slips as much, its
 * end kept where there is no room, and no job that was booked to the second misses its time by a
 * cycle. s
 */
#define CCR_LATE_MAX 30

struct ccr_booking {
	uint32_t job;
	struct ccr_rank rank;
	uint16_t partition;
	int64_t start, end;  /* end = start + limit, less what it is late */
	int64_t first_start; /* what the first cycle promised */
	int64_t made;	     /* when that was */
	int64_t due; /* from when it is late, if it is or will be; 0: it is in time as yet */
	bool over;   /* it counts on running jobs making way: claim.h */
	bool claim;  /* as that, and they are on their way out: held from now on */
	uint32_t n;  /* 0 (ccr_plan_nth only): none in the window, start is CCR_FOREVER */
	struct ccr_share *share; /* the nodes and what it takes of each */
};

struct ccr_plan;

/* Copies nodes and options (NULL: defaults). 0, CCR_ENOMEM, CCR_EINVAL (says what). */
int ccr_plan_new(struct ccr_plan **out, const struct ccr_node *nodes, uint32_t n,
		 const struct ccr_plan_options *opt, struct ccr_error *err);
void ccr_plan_free(struct ccr_plan *plan);

/* New options from the next call on; bookings stay. CCR_EINVAL says what is wrong. */
int ccr_plan_set_options(struct ccr_plan *plan, const struct ccr_plan_options *opt,
			 struct ccr_error *err);

/*
 * A partition of its own depth; partitions are small numbers of the caller's choosing. Depth 0
 * books nothing. strict: once a job of it is blocked, no lower one of it starts in this cycle.
 */
int ccr_plan_partition(struct ccr_plan *plan, uint16_t partition, uint32_t depth, bool strict,
		       struct ccr_error *err);

/*
 * What the nodes have changed; as many as before. Counts from the next ccr_plan_begin on. Bookings
 * stay where they are as long as they are whole; those on a node whose types of GPU were renamed
 * are dropped.
 */
int ccr_plan_set_nodes(struct ccr_plan *plan, const struct ccr_node *nodes, struct ccr_error *err);

/* A node goes down or comes back; counts from the next ccr_plan_begin on. */
int ccr_plan_node_up(struct ccr_plan *plan, uint32_t node, bool up);

/*
 * Starts loading what runs at `now`. cycle: a new scheduling cycle begins; false: the plan of the
 * present one is only loaded afresh because something changed outside it.
 */
void ccr_plan_begin(struct ccr_plan *plan, int64_t now, bool cycle);

/*
 * A running job holds `a` of a node; end as in ccr_timeline_run. limit: its time limit, for the
 * share of long jobs.
 */
int ccr_plan_running(struct ccr_plan *plan, uint32_t node, const struct ccr_amount *a, int64_t end,
		     int64_t limit);

/*
 * `a` of a node (NULL: all of it) is not to be had in [from, to) by jobs that are planned here (an
 * advance reservation). Picks are not held against it: who may start there is for the caller to
 * know.
 */
int ccr_plan_block(struct ccr_plan *plan, uint32_t node, int64_t from, int64_t to,
		   const struct ccr_amount *a);

/*
 * Ends the loading. Bookings whose place is no longer whole are made anew, highest first; one that
 * finds no place in the window is dropped. 0 or CCR_ENOMEM.
 */
int ccr_plan_ready(struct ccr_plan *plan, struct ccr_error *err);

/*
 * A promise that was made before the plan was (a restart): to be called before ccr_plan_ready, once
 * for each. job: its id, rank, partition, since and limit; its demand and sets are not known yet
 * and not looked at. Of b: start, first_start, made and the shares. It is kept in its place if
 * that is whole, else lost (see below); the first ccr_plan_book of the job takes it over if it
 * still is what the job needs. Those that were booked together stay so, or all are lost. 0,
 * CCR_ENOMEM, CCR_EINVAL (no nodes, no such node, or the job has an entry).
 */
int ccr_plan_restore(struct ccr_plan *plan, const struct ccr_plan_job *job,
		     const struct ccr_booking *b, struct ccr_error *err);

/*
 * Instead of that where one of the nodes is no more: in its turn the job gets another place before
 * those that rank below it, whatever they were promised. Of b: first_start and made.
 */
int ccr_plan_lost(struct ccr_plan *plan, const struct ccr_plan_job *job,
		  const struct ccr_booking *b, struct ccr_error *err);

enum ccr_book {
	CCR_BOOKED = 0,
	CCR_BOOK_NEVER, /* its candidates cannot hold it even when empty, or long jobs have no share
			 * of the GPUs left for it */
	CCR_BOOK_DEPTH, /* as many as the depth are ahead of it in its partition */
	CCR_BOOK_WINDOW, /* its earliest start is beyond the window; it counts for the depth */
	CCR_BOOK_ERROR,	 /* out of memory; err has it */
};

/*
 * The job could not start now. Books it if it is due a booking, or improves the one that it has;
 * *out (may be NULL) then points to it until the next call. A job that is tried in several
 * partitions has one booking, the earliest of them. In a strict partition this closes the
 * partition for lower jobs, except on CCR_BOOK_NEVER. Jobs that are blocked by a limit are not
 * brought here: ccr_plan_drop.
 */
enum ccr_book ccr_plan_book(struct ccr_plan *plan, const struct ccr_plan_job *job,
			    const struct ccr_booking **out, struct ccr_error *err);

/*
 * The job could not start when it was tried outside a cycle, where nothing is booked: closes its
 * partition as ccr_plan_book would, if that is strict.
 */
void ccr_plan_blocked(struct ccr_plan *plan, const struct ccr_plan_job *job);

/* As many as the depth rank above in the partition: a job of this rank gets no booking there. */
bool ccr_plan_deep(const struct ccr_plan *plan, uint16_t partition, const struct ccr_rank *rank);

/* Seconds by which the job's booking is late, at most CCR_LATE_MAX; 0 when it is not, or has none.
 */
int64_t ccr_plan_late(const struct ccr_plan *plan, uint32_t job);

/* The job is gone, held, changed or blocked by a limit: no booking. */
void ccr_plan_drop(struct ccr_plan *plan, uint32_t job);

/* Its rank changed. */
void ccr_plan_rerank(struct ccr_plan *plan, uint32_t job, const struct ccr_rank *rank);

/* A job's booking, NULL if it has none. Valid until the next call that changes the plan. */
const struct ccr_booking *ccr_plan_booking(const struct ccr_plan *plan, uint32_t job);

/*
 * All jobs within the depth, highest rank first: i from 0 until NULL. n == 0: no booking was made,
 * as its earliest start is beyond the window. The caller drops those that are gone: ccr_plan_drop.
 */
const struct ccr_booking *ccr_plan_nth(const struct ccr_plan *plan, uint32_t i);

/* The timeline under the plan, to look at. */
const struct ccr_timeline *ccr_plan_timeline(const struct ccr_plan *plan);

#endif
