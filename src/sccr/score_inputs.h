/*
 * score_inputs - the job that `sccr score` is asked about: variables with one value or several
 */
#ifndef SCCR_SCORE_INPUTS_H
#define SCCR_SCORE_INPUTS_H

#include <stdbool.h>

#include "core/config.h"
#include "core/policy.h"
#include "core/vars.h"

#define SCORE_VALUES_MAX 1000

struct score_input {
	int n; /* 0: not given */
	double *value;
};

struct score_inputs {
	struct score_input var[CCR_VAR_COUNT];
	const struct ccr_group *group; /* from group=; its target and factor hold unless given */
	struct ccr_target target; /* kind and percent; of target= with its suffix, or the group */
	int order[CCR_VAR_COUNT]; /* variables with several values, as they were given */
	int n_several;
	double nice;
	bool has_nice;
};

/*
 * Takes one NAME=VALUE[,VALUE...]: any variable; `wait`, `tier`, `group` and `nice`; mem with
 * K, M, G or T, times as durations; FROM..TO or FROM..TO..STEP for a range. CCR_EINVAL with what
 * was found and expected.
 */
int score_inputs_take(struct score_inputs *in, const struct ccr_config *config, const char *word,
		      struct ccr_error *err);
void score_inputs_free(struct score_inputs *in);

/*
 * Does it make a difference to the policy that a variable was given, or the group: is it read, or
 * something that follows from it and was not given itself?
 */
bool score_inputs_matter(const struct score_inputs *in, const struct ccr_policy *policy,
			 enum ccr_var v);
bool score_inputs_group_matters(const struct score_inputs *in, const struct ccr_policy *policy);

/*
 * Fills var[CCR_VAR_COUNT] for one choice of values (which[] by variable), and computes what
 * follows from them and was not given itself: fs_delta, fairshare_factor, lsf_priority,
 * queue_minutes from eligible_time and the other way round.
 */
void score_inputs_vars(const struct score_inputs *in, const struct ccr_config *config,
		       const int *which, double *var);

#endif
