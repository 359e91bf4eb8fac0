/*
 * sim_core - the product's own scheduler in a simulation: core/planner and core/gate, as in
 * slurmctld
 */
#ifndef SCCR_SIM_CORE_H
#define SCCR_SIM_CORE_H

#include "sccr/sim_engine.h"
#include "sccr/sim_model.h"
#include "sccr/sim_policy.h"

/*
 * Bookings, strictness, window, placement and the share of long jobs as the policy's "backfill" has
 * them; o->depth replaces its depths unless it is UINT32_MAX. The policy must live as long.
 */
int sim_core_new(struct sim_scheduler *out, const struct sim *s, const struct sim_policy *policy,
		 const struct sim_model_options *o, struct ccr_error *err);

/* Bookings in a partition; -1 where partitions differ. */
int sim_core_depth(const struct sim_scheduler *sched);

#endif
