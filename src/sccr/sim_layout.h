/*
 * sim_layout - a job's totals laid out on nodes
 */
#ifndef SCCR_SIM_LAYOUT_H
#define SCCR_SIM_LAYOUT_H

#include "sccr/sim_cluster.h"

/*
 * Shares the totals out evenly over t->nodes nodes of the partition, or over the fewest that can
 * hold them (a number of nodes that divides the GPUs is preferred). CPUs that do not divide are
 * rounded up on all nodes but the last; GPUs and memory that do not divide are rounded up on every
 * node. False if the partition can never hold it: *why says what is too much.
 */
bool sim_layout(const struct sim_cluster *c, uint32_t part, const struct sim_totals *t,
		struct sim_demand *d, const char **why);

#endif
