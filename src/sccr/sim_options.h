/*
 * sim_options - what `sccr simulate` is asked to do
 */
#ifndef SCCR_SIM_OPTIONS_H
#define SCCR_SIM_OPTIONS_H

#include "sccr/sim_workload.h"

#define SIM_SCHEDULERS 6 /* that there are, and each counts once */

struct sim_options {
	const char *workload, *cluster, *policy, *out, *jobs, *html, *title; /* NULL: not given */
	enum sim_format format;
	char names[512]; /* of the schedulers, cut where they part */
	const char *scheduler[SIM_SCHEDULERS];
	int schedulers; /* at least 1, all of them known */
	uint64_t nodes, cpus, gpus, depth, max_test;
	uint32_t mem;
	sim_time cycle, period;
	bool json, csv, strict, no_kill, quiet, has_depth, has_period;
};

/*
 * Reads the command line. SCCR_GO_ON, or the exit status: help was printed, or something is wrong
 * and was said. What has no effect on the schedulers that are named is said as well.
 */
int sim_options_read(struct sim_options *o, int argc, char **argv);

/* Does the policy order this scheduler's queue? The product's own always has one. */
bool sim_options_ordered(const struct sim_options *o, const char *scheduler);

/* Does --depth count for this scheduler? */
bool sim_options_bounded(const char *scheduler);

/* Is this one among the schedulers? */
bool sim_options_has(const struct sim_options *o, const char *scheduler);

#endif
