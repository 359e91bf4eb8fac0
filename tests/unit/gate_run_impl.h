/*
 * gate_run_impl - the inside of a run, shared by gate_run.c and gate_picks.c
 */
#ifndef CCR_TEST_GATE_RUN_IMPL_H
#define CCR_TEST_GATE_RUN_IMPL_H

#include "gate_run.h"

enum state { WAITS, RUNS, DONE };

struct live {
	enum state state;
	int64_t started, ends; /* really */
	uint32_t n;
	struct ccr_share share[W_NODES];
	int64_t promised, made; /* the first booking; promised 0: none */
	bool excused;
	int stuck; /* how often its booking was given up */
};

struct run {
	struct world *w;
	struct ccr_plan *plan;
	struct live job[W_JOBS];
	int64_t now;
	uint64_t seed;
	bool down, restarted;
	bool freed; /* something came back before its time */
	char *what;
	size_t size;
};

/* Says what is wrong; false. */
bool run_fail(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What is free of the node now, by this run's own account. */
void run_free_now(const struct run *r, uint32_t node, struct ccr_amount *out);

struct ccr_plan_job run_plan_job(const struct run *r, uint32_t i);

/* Starts a job with its pick; false: it must not have been. */
bool run_start(struct run *r, uint32_t i, const struct ccr_share *pick, uint32_t n);

/* Tries what somebody else picks of a set of nodes. False: something is wrong, as with the others.
 */
bool run_other_pick(struct run *r, const struct ccr_plan_job *pj, uint64_t set, uint64_t *bad,
		    bool *started);

/*
 * As the gate has it: on nodes that are sure, whatever is picked delays nobody, and a booking whose
 * time has come holds where it is booked. Picks are drawn at random, node by node, so where a set
 * is to do it must do for all of them but for those that are not enough.
 */
bool run_sure_pick(struct run *r, const struct ccr_plan_job *pj, bool *started);

/* Its time has come and nothing else did: where it is booked, over the bookings below. */
bool run_due_pick(struct run *r, const struct ccr_plan_job *pj, bool *started);

/*
 * Only bookings below are in the way, and all of them would have a place in time without that.
 * Where somebody else picks they may be late all the same, as he deals another way.
 */
bool run_way_pick(struct run *r, const struct ccr_plan_job *pj, bool *started);

#endif
