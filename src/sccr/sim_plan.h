/*
 * sim_plan - when and where a job fits, for the models of other schedulers
 *
 * For each node it keeps who runs there until when by its limit, and what is booked.
 * This is on purpose not the product's own timeline and planner (core/): the models are a check of
 * it.
 */
#ifndef SCCR_SIM_PLAN_H
#define SCCR_SIM_PLAN_H

#include "sccr/sim_engine.h"

struct sim_plan;

struct sim_plan *sim_plan_new(const struct sim *s); /* NULL: out of memory */
void sim_plan_free(struct sim_plan *p);

/* The running jobs; called when one starts or ends. -1: out of memory. */
int sim_plan_run(struct sim_plan *p, const struct sim_job *j);
void sim_plan_end(struct sim_plan *p, const struct sim_job *j);

/* Takes all bookings away. */
void sim_plan_clear(struct sim_plan *p);

/*
 * Books nodes from start for the length of j's limit; whole: all of each node, as Slurm's own
 * backfill does. -1: out of memory.
 */
int sim_plan_book(struct sim_plan *p, const struct sim_job *j, sim_time start,
		  const struct sim_pick *pick, uint32_t npick, bool whole);

/* Takes j's booking on these nodes away again. */
void sim_plan_unbook(struct sim_plan *p, const struct sim_job *j, const struct sim_pick *pick,
		     uint32_t npick);

/*
 * Does j fit now, for the whole of its limit, beside the bookings? Fills pick (room for
 * demand.nodes) with the lowest numbered nodes that do.
 */
bool sim_plan_now(struct sim_plan *p, const struct sim *s, const struct sim_job *j,
		  struct sim_pick *pick);

/*
 * The earliest time at or after now at which j fits for the whole of its limit, and where;
 * SIM_NEVER if there is none. whole: only nodes without any booking in that time will do.
 */
sim_time sim_plan_earliest(struct sim_plan *p, const struct sim *s, const struct sim_job *j,
			   struct sim_pick *pick);

/* Did the last call run out of memory? Answers are then not to be used. */
bool sim_plan_failed(const struct sim_plan *p);

#endif
