/*
 * sim_start - jobs on the nodes of a simulation: they start there, are booked there, and leave
 *
 * The only place where what is free, the list of running jobs and the levels of use change. What a
 * scheduler may do to a run is all here; the clock itself (sim_engine) does the rest.
 */
#ifndef SCCR_SIM_START_H
#define SCCR_SIM_START_H

#include "sccr/sim_engine.h"

/* ---- for schedulers */

/* May the job use this node at all? */
static inline bool sim_allowed(const struct sim_cluster *c, const struct sim_job *j, uint32_t node)
{
	const bool *has = c->part[j->home].has_node;

	return !has || has[node];
}

/* What one node gives for its share of the demand, types dealt; false if it does not have it. */
bool sim_take(const struct sim_cluster *c, uint32_t node, const struct sim_free *f,
	      const struct sim_demand *d, bool last, struct sim_pick *out);

/*
 * Starts j now on these nodes (copied). filler: a job above it stays behind. A twin lends its
 * partition and what goes with it to the job's first, which is the one that runs; all other places
 * of it in the queue are given up. CCR_EINVAL if the nodes do not have it: a scheduler's mistake,
 * never let pass.
 */
int sim_start(struct sim *s, struct sim_job *j, const struct sim_pick *pick, uint32_t npick,
	      bool filler, struct ccr_error *err);

/*
 * j is booked for `start` in this cycle. A booking that the job has in another of its partitions is
 * given up.
 */
int sim_book(struct sim *s, struct sim_job *j, sim_time start, const struct sim_pick *pick,
	     uint32_t npick, struct ccr_error *err);

/* ---- for the clock */

/* All nodes are idle: makes s->free, which sim_free gives back. CCR_ENOMEM. */
int sim_all_idle(struct sim *s, struct ccr_error *err);

/* A running job is over: its nodes have again what it held. */
void sim_leave(struct sim *s, struct sim_job *j);

/* Bookings are of one cycle: none is left. */
void sim_clear_bookings(struct sim *s);

#endif
