/*
 * plan_impl - the inside of a plan, shared by planner.c, bookings.c and gate.c
 */
#ifndef CCR_CORE_PLAN_IMPL_H
#define CCR_CORE_PLAN_IMPL_H

#include "core/bits.h"
#include "core/gate.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* What is remembered of a job within the depth; with b.n == 0 it has no place in the window. */
struct ccr__entry {
	struct ccr_booking b; /* first: ccr_booking pointers are handed out */
	struct ccr_demand demand;
	int64_t limit, since; /* as in ccr_plan_job */
	uint64_t *candidates; /* NULL: all */
	uint64_t *required;   /* NULL: none */
	bool held;	      /* its place is taken out of the timeline */
	bool restored;	      /* its demand and sets are not known yet: ccr_plan_restore */
	bool lost;	      /* its place went with a node: it is the first to get another */
	uint32_t together;    /* the first job of those it is booked with; 0: alone */
	int64_t open;	      /* since when the plan has let it start; 0: not yet */
	UT_hash_handle hh;
};

struct ccr__partition {
	uint32_t depth;
	bool strict;
	uint64_t closed; /* the cycle in which a blocked job closed it */
	struct ccr_rank closer;
};

struct ccr__block {
	uint32_t node;
	int64_t from, to;
	struct ccr_amount a;
};

struct ccr_plan {
	struct ccr_timeline *tl;
	struct ccr_search *search;
	struct ccr_plan_options opt;
	struct ccr__partition *part;
	uint32_t parts;
	struct ccr__entry **rank; /* highest first */
	uint32_t entries, cap;
	struct ccr__entry *by_job;
	struct ccr__block *block;
	uint32_t blocks, block_cap;
	bool blocks_held; /* they are in the timeline */
	uint64_t cycle;
	int64_t gpus, long_gpus; /* of the cluster; held by long jobs */
};

/*
 * Puts the blocked nodes into the timeline or takes them out. They count for bookings; whether a
 * job may start on one now is for the caller to know.
 */
int ccr__blocks(struct ccr_plan *plan, bool hold);

/* The partition's record; it is made with the default depth if need be. NULL: out of memory. */
struct ccr__partition *ccr__partition(struct ccr_plan *plan, uint16_t partition);

struct ccr__entry *ccr__find(const struct ccr_plan *plan, uint32_t job);

/* The number of entries that rank above. */
uint32_t ccr__above(const struct ccr_plan *plan, const struct ccr_rank *rank);

/* Adds an entry without a place for the job, or NULL when out of memory. */
struct ccr__entry *ccr__add(struct ccr_plan *plan, const struct ccr_plan_job *job);

void ccr__remove(struct ccr_plan *plan, struct ccr__entry *e);

/*
 * The next of the entry and those that it is booked together with, in the order of rank, from 0 in
 * *i until NULL. A claim stands alone.
 */
struct ccr__entry *ccr__next_of(const struct ccr_plan *plan, struct ccr__entry *e, uint32_t *i);

/*
 * The entry has no place any more through no doing of its job, which gets another in its turn; and
 * so with those that it is booked together with. A claim goes; returns how many have gone.
 */
unsigned ccr__lose(struct ccr_plan *plan, struct ccr__entry *e);

/* From when on the entry holds its place: a claim does from now. */
static inline int64_t ccr__from(const struct ccr__entry *e)
{
	return e->b.claim ? 0 : e->b.start;
}

/* Takes an entry's place out of the timeline, or gives it back; nothing to do is well. */
int ccr__hold(struct ccr_plan *plan, struct ccr__entry *e);
void ccr__lift(struct ccr_plan *plan, struct ccr__entry *e);

/* Jobs of the partition that rank above and count for its depth; those booked together are one. */
uint32_t ccr__ahead(const struct ccr_plan *plan, const struct ccr_plan_job *job);

/* Drops the lowest of a partition until they are no more than its depth. */
void ccr__trim(struct ccr_plan *plan, uint16_t partition, uint32_t depth);

/*
 * When the job may start at the earliest: in a strict partition not before those ahead of it there,
 * CCR_FOREVER if one of them has no place.
 */
int64_t ccr__behind(const struct ccr_plan *plan, const struct ccr__partition *p,
		    const struct ccr_plan_job *job);

/* A strict partition lets nobody pass its first blocked job: this is one. */
void ccr__close_strict(struct ccr_plan *plan, struct ccr__partition *p,
		       const struct ccr_plan_job *job);

/* The job must wait for a blocked one above it in a strict partition. */
bool ccr__closed(const struct ccr_plan *plan, const struct ccr_plan_job *job);

/*
 * With it long jobs would have more than their share of the GPUs. others (may be NULL): what long
 * jobs that start with it take, its own is added.
 */
bool ccr__too_long(const struct ccr_plan *plan, const struct ccr_plan_job *job, int64_t *others);

/* Whether the entry is what it was made for: a changed job is a new one. */
bool ccr__same_job(const struct ccr_plan *plan, const struct ccr__entry *e,
		   const struct ccr_plan_job *job);

/* Whether the nodes of the entry, which is not held, have what it takes of each all the time. */
bool ccr__holds(const struct ccr_plan *plan, const struct ccr__entry *e, int64_t start,
		int64_t end);

/*
 * Before a job is looked at: lifts its own place (if it has an entry) and the lower ones that it
 * need not respect: those made before it came, unless it has a place, and those whose jobs did not
 * start when they could. Every call is matched by ccr__put_back or ccr__settle.
 */
void ccr__clear_for(struct ccr_plan *plan, const struct ccr_plan_job *job, struct ccr__entry *own);

/* Puts back what ccr__clear_for lifted, where nothing was changed in between. */
void ccr__put_back(struct ccr_plan *plan);

/*
 * Goes down the entries; those that are not held get their place back if it is whole, else the
 * earliest other one, or none if that is beyond the window. Those that are booked together are one
 * here, in the rank of the highest of them. Which lower ones make way for
 * it: if it was pushed aside by a job, those that it would itself be allowed to push aside.
 * reality: what runs or a node changed; then all do. A job that ends a second late would
 * otherwise send the highest booking behind lower ones that are only next on its node.
 */
int ccr__settle(struct ccr_plan *plan, bool reality);

/*
 * Gives back what the jobs that make way for this one hold, or takes so much of it again; returns
 * how much that is.
 */
uint32_t ccr__lend(struct ccr_plan *plan, const struct ccr_plan_job *job);
void ccr__take_again(struct ccr_plan *plan, const struct ccr_plan_job *job, uint32_t lent);

/* The entry's place counts on jobs making way if it is not whole without. */
int ccr__mark_over(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_plan_job *job);

/*
 * The job of an entry that counts on jobs making way has its turn, and says which: its place stays
 * if it is whole then, else it is made anew, or none. CCR_ENOMEM.
 */
int ccr__over_again(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_plan_job *job);

/*
 * The claim is of this request, and its nodes hold what they are to in a moment, if those that make
 * way for the job have. (Candidates are no sign: who completes, or another set of features, may be
 * left out.)
 */
bool ccr__claim_stands(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_plan_job *job);

/*
 * Gives the entry and those that it is booked together with, none of which is held, the earliest
 * other places, or none of them any. CCR_ENOMEM.
 */
int ccr__together_anew(struct ccr_plan *plan, struct ccr__entry *e);

/* Gives an entry that is not held a new place, or none. CCR_ENOMEM leaves it without one. */
int ccr__assign(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_slot *slot);

/* Remembers demand, limit and sets of nodes of the job as it is now. CCR_ENOMEM: nothing changed.
 */
int ccr__remember(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_plan_job *job);

static inline struct ccr_query ccr__query(const struct ccr_plan_job *job)
{
	return (struct ccr_query){.demand = job->demand,
				  .limit = job->limit,
				  .candidates = job->candidates,
				  .required = job->required};
}

/* The place that an entry has to have. */
static inline struct ccr_query ccr__entry_query(const struct ccr__entry *e)
{
	return (struct ccr_query){.demand = &e->demand,
				  .limit = e->limit,
				  .candidates = e->candidates,
				  .required = e->required,
				  .sure = true};
}

#endif
