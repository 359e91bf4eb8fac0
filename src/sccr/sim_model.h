/*
 * sim_model - models of what other schedulers do, to hold the product's own against
 *
 * fcfs          strictly in order: nobody passes a job that waits
 * easy          one booking, for the first that waits; others may start if they leave it whole
 * (EASY) conservative  a booking for everybody that waits; it is kept, and only ever moved to an
 * earlier time, in order of the queue, when a job ends (compression) whole-node    a booking for
 * everybody within the depth, of whole nodes, as stock Slurm plans recorded      the log's own
 * start times, on no particular node
 *
 * All but conservative go through the queue anew at every cycle, as Slurm's backfill does.
 */
#ifndef SCCR_SIM_MODEL_H
#define SCCR_SIM_MODEL_H

#include "sccr/sim_engine.h"

struct sim_model_options {
	uint32_t depth;	   /* bookings at most, but of conservative; UINT32_MAX: no end */
	uint32_t max_test; /* jobs looked at in a cycle; UINT32_MAX: all */
};

/* Is there a model of that name? */
bool sim_model_known(const char *name);

/* CCR_EINVAL: no model of that name. The scheduler is freed by its own `free`. */
int sim_model_new(struct sim_scheduler *out, const char *name, const struct sim *s,
		  const struct sim_model_options *o, struct ccr_error *err);

#endif
