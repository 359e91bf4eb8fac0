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

/* What can have several values: the policies' variables, and these two. */
enum { SCORE_GROUP = CCR_VAR_COUNT, SCORE_NICE, SCORE_INPUTS };

struct score_inputs {
	struct score_input var[SCORE_INPUTS];		 /* of SCORE_GROUP: which of `group` */
	const struct ccr_group *group[SCORE_VALUES_MAX]; /* target and factor hold unless given */
	const char
	    *tier[SCORE_VALUES_MAX]; /* names of the financial factors, if those were given */
	struct ccr_target target; /* kind and percent; of target= with its suffix, or the group */
	int order[SCORE_INPUTS];  /* what has several values, as it was given */
	int n_several;
	double max_age; /* PriorityMaxAge, s */
};

/*
 * Takes one NAME=VALUE[,VALUE...]: any variable; `wait`, `tier`, `group` and `nice`; mem with
 * K, M, G or T, times as durations; FROM..TO or FROM..TO..STEP for a range. CCR_EINVAL with what
 * was found and expected.
 */
int score_inputs_take(struct score_inputs *in, const struct ccr_config *config, const char *word,
		      struct ccr_error *err);
void score_inputs_free(struct score_inputs *in);

/* "nodes", "group", ... as it was given */
const char *score_inputs_name(const struct score_inputs *in, int input);
/* The group of one choice of values; NULL: none was given. */
const struct ccr_group *score_inputs_group(const struct score_inputs *in, const int *which);
/* The same for nice; 0 where it was not given. */
double score_inputs_nice(const struct score_inputs *in, const int *which);

/*
 * Does it make a difference to the policy that a variable was given, or the group: is it read, or
 * something that follows from it and was not given itself?
 */
bool score_inputs_matter(const struct score_inputs *in, const struct ccr_policy *policy,
			 enum ccr_var v);
bool score_inputs_group_matters(const struct score_inputs *in, const struct ccr_policy *policy);

/*
 * Fills var[CCR_VAR_COUNT] for one choice of values (which[SCORE_INPUTS]), and computes what
 * follows from them and was not given itself: fs_delta, fairshare_factor, lsf_priority,
 * queue_minutes from eligible_time and the other way round.
 */
void score_inputs_vars(const struct score_inputs *in, const struct ccr_config *config,
		       const int *which, double *var);

#endif
