/* tres_points - see tres_points.h */
#include "priority/tres_points.h"

#include <stdlib.h>
#include <string.h>
#include "core/mf.h"

bool ccr_tres_rule_make(struct ccr_tres_rule *rule, const double *weights, int tres_cnt,
			bool no_normal)
{
	memset(rule, 0, sizeof(*rule));
	rule->tres_cnt = tres_cnt;
	rule->no_normal = no_normal;
	if (!weights || tres_cnt <= 0)
		return true;
	rule->item = calloc((size_t)tres_cnt, sizeof(*rule->item));
	if (!rule->item)
		return false;
	for (int i = 0; i < tres_cnt; i++)
		if (weights[i])
			rule->item[rule->count++] =
			    (struct ccr_tres_weight){.index = i, .weight = weights[i]};
	return true;
}

void ccr_tres_rule_free(struct ccr_tres_rule *rule)
{
	free(rule->item);
	memset(rule, 0, sizeof(*rule));
}

/* What the job holds, or as long as it holds nothing what it asked for. */
static uint64_t count_of(const job_record_t *job, int i)
{
	if (job->tres_alloc_cnt && job->tres_alloc_cnt[i] != NO_CONSUME_VAL64)
		return job->tres_alloc_cnt[i];
	return job->tres_req_cnt ? job->tres_req_cnt[i] : 0;
}

static double factor_in(uint64_t count, const part_record_t *part, int i, bool no_normal)
{
	uint64_t in_part = part && part->tres_cnt ? part->tres_cnt[i] : 0;

	return ccr_mf_tres(count, in_part, no_normal);
}

static double factor_of(const job_record_t *job, const part_record_t *part, int i, bool no_normal)
{
	return factor_in(count_of(job, i), part, i, no_normal);
}

double ccr_tres_points(const struct ccr_tres_rule *rule, const job_record_t *job,
		       const part_record_t *part, double *points)
{
	double sum = 0;

	if (points && rule->tres_cnt > 0)
		memset(points, 0, sizeof(*points) * (size_t)rule->tres_cnt);
	for (int k = 0; k < rule->count; k++) {
		int i = rule->item[k].index;
		double p = rule->item[k].weight * factor_of(job, part, i, rule->no_normal);

		if (points)
			points[i] = p;
		sum += p;
	}
	return sum;
}

void ccr_tres_counts(const struct ccr_tres_rule *rule, const job_record_t *job, uint64_t *counts)
{
	for (int k = 0; k < rule->count; k++)
		counts[k] = count_of(job, rule->item[k].index);
}

void ccr_tres_points_of(const struct ccr_tres_rule *rule, const uint64_t *counts,
			const part_record_t *part, double *points)
{
	if (rule->tres_cnt > 0)
		memset(points, 0, sizeof(*points) * (size_t)rule->tres_cnt);
	for (int k = 0; k < rule->count; k++) {
		int i = rule->item[k].index;

		points[i] = rule->item[k].weight * factor_in(counts[k], part, i, rule->no_normal);
	}
}

void ccr_tres_points_kept(const double *weights, uint32_t cnt, bool no_normal,
			  const job_record_t *job, const part_record_t *part, double *points)
{
	for (uint32_t i = 0; i < cnt; i++)
		points[i] = weights[i] ? weights[i] * factor_of(job, part, (int)i, no_normal) : 0;
}
