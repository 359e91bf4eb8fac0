/*
 * sim_policy - a policy file scores the simulated queue: core/policy, core/groups, core/ledger,
 * core/score
 *
 * What priority/ccr does without a database: usage comes from the ledger, charged while jobs run;
 * variables that only a database has (QOS, association and fair-tree factors) are 0. Weights and
 * periods come from the cluster file's Priority lines.
 */
#ifndef SCCR_SIM_POLICY_H
#define SCCR_SIM_POLICY_H

#include "core/config.h"
#include "sccr/sim_engine.h"

struct sim_policy;

/* The policy's "backfill" for a partition, times in seconds. */
struct sim_backfill {
	bool enabled, strict, placement, has_long_jobs;
	int depth;
	int64_t window, long_over;
	double long_gpu_fraction;
};

/* name: a policy file, or the name of a preset (a file of that name goes first). */
int sim_policy_load(struct sim_policy **out, const char *name, struct ccr_error *err);
void sim_policy_free(struct sim_policy *p); /* p may be NULL */

/* partition may be NULL: what holds where none is named. */
void sim_policy_backfill(const struct sim_policy *p, const char *partition,
			 struct sim_backfill *out);

/* The file as it was read. */
const struct ccr_config *sim_policy_config(const struct sim_policy *p);

/* "preset ccr" or the file's name. */
const char *sim_policy_words(const struct sim_policy *p);

/* A scorer with an empty ledger; policy, cluster and workload must live as long. */
int sim_policy_scorer(const struct sim_policy *p, const struct sim_cluster *c,
		      const struct sim_workload *w, struct sim_scorer *out, struct ccr_error *err);

#endif
