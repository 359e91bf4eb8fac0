/*
 * tres_points - the TRES column: PriorityWeightTRES times what the job asks for
 *
 * Only the TRES that have a weight are looked at, and nothing is allocated for a job.
 */
#ifndef CCR_PRIORITY_TRES_POINTS_H
#define CCR_PRIORITY_TRES_POINTS_H

#include "slurm/compat_priority.h"

struct ccr_tres_weight {
	int index; /* of the TRES */
	double weight;
};

struct ccr_tres_rule {
	struct ccr_tres_weight *item;
	int count;	/* 0: the site weighs no TRES */
	int tres_cnt;	/* how many TRES there are: the length of sprio's array */
	bool no_normal; /* PriorityFlags=NO_NORMAL_TRES: counts instead of parts of the partition */
};

/*
 * From the weights by TRES index (may be NULL). False: out of memory, *rule is then empty.
 * The caller frees with ccr_tres_rule_free().
 */
bool ccr_tres_rule_make(struct ccr_tres_rule *rule, const double *weights, int tres_cnt,
			bool no_normal);
void ccr_tres_rule_free(struct ccr_tres_rule *rule);

/*
 * The sum of the points of a job in a partition (may be NULL). points, unless NULL, gets the points
 * of each TRES, tres_cnt of them, those without a weight 0. Job R, part R.
 */
double ccr_tres_points(const struct ccr_tres_rule *rule, const job_record_t *job,
		       const part_record_t *part, double *points);

/* The counts that the points are made of, one for each TRES of the rule. Job R. */
void ccr_tres_counts(const struct ccr_tres_rule *rule, const job_record_t *job, uint64_t *counts);

/* The same points from these counts; fills points[tres_cnt]. Part R. */
void ccr_tres_points_of(const struct ccr_tres_rule *rule, const uint64_t *counts,
			const part_record_t *part, double *points);

/*
 * The same from the weights that a job's record keeps for sprio, cnt of them, with no rule at hand:
 * fills points[cnt].
 */
void ccr_tres_points_kept(const double *weights, uint32_t cnt, bool no_normal,
			  const job_record_t *job, const part_record_t *part, double *points);

#endif
