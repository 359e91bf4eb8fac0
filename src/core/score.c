/* score - see score.h */
#include "core/score.h"

#include <math.h>

/* SITE travels as an unsigned 32-bit number around this offset (slurm.h's NICE_OFFSET). */
#define SITE_MIN     (-2147483647.0)
#define SITE_MAX     2147483647.0
#define PRIORITY_MAX 4294967295.0
#define POINTS_MAX   1e12

double ccr_score_round(double points)
{
	return round(points) + 0.0; /* -0.0 + 0.0 is 0.0: sprio would print "-0" */
}

/* The order of the additions is sprio's and the stock plugin's: doubles do not associate. */
static double sum(const double *p, double partition, double qos, const struct ccr_score_extra *x)
{
	double s = p[CCR_COL_AGE] + p[CCR_COL_ASSOC] + p[CCR_COL_FAIRSHARE] + p[CCR_COL_JOBSIZE] +
		   partition + qos;

	return s + x->tres + p[CCR_COL_SITE] - (double)x->nice;
}

static uint32_t cut(double s)
{
	if (!(s >= 1)) /* 0 is for held jobs */
		return 1;
	return s >= PRIORITY_MAX ? UINT32_MAX : (uint32_t)s;
}

static double clamp(double v, double lo, double hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/*
 * SITE reaches 2^31 and no further: what is still too much is taken from the column that is
 * furthest out, so that sprio's columns add up to the priority whatever the weights. The new sum.
 */
static double fit(double *points, const struct ccr_score_extra *extra)
{
	double total = 0;

	for (int pass = 0; pass < CCR_COLUMNS; pass++) {
		int worst = CCR_COL_AGE;

		total = sum(points, points[CCR_COL_PARTITION], points[CCR_COL_QOS], extra);
		if (total >= 1 && total <= PRIORITY_MAX)
			break;
		for (int i = CCR_COL_AGE; i < CCR_COLUMNS; i++) {
			if (total < 1 ? points[i] < points[worst] : points[i] > points[worst])
				worst = i;
		}
		points[worst] += total < 1 ? 1 - total : PRIORITY_MAX - total;
	}
	return sum(points, points[CCR_COL_PARTITION], points[CCR_COL_QOS], extra);
}

static double points_of(const struct ccr_score_rule *rule, int column, double factor)
{
	double p = column == CCR_COL_SITE ? factor : rule->weight[column] * factor;

	/* more than the range would only drown the others in rounding */
	p = clamp(p, -POINTS_MAX, POINTS_MAX);
	/* SITE is an integer on the wire */
	return rule->whole || column == CCR_COL_SITE ? ccr_score_round(p) : p;
}

static bool is_outside(const struct ccr_score_rule *rule, double total)
{
	return total > PRIORITY_MAX || (rule->whole && total < 1);
}

void ccr_score_points(const struct ccr_score_rule *rule, const double *factor, unsigned columns,
		      const struct ccr_score_extra *extra, double *points)
{
	for (int i = 0; i < CCR_COLUMNS; i++) {
		if (columns & 1u << i)
			points[i] = points_of(rule, i, factor[i]);
	}
	if (columns & 1u << CCR_COL_SITE)
		points[CCR_COL_SITE] =
		    clamp(points[CCR_COL_SITE] + (double)rule->base + (double)extra->site, SITE_MIN,
			  SITE_MAX);
}

bool ccr_score_sum(const struct ccr_score_rule *rule, const double *points, double partition,
		   double qos, const struct ccr_score_extra *extra, uint32_t *priority)
{
	double total = sum(points, partition, qos, extra);

	if (is_outside(rule, total))
		return false;
	*priority = cut(total);
	return true;
}

void ccr_score(const struct ccr_score_rule *rule, const double factor[CCR_COLUMNS],
	       const struct ccr_score_extra *extra, struct ccr_score *out)
{
	double total;

	ccr_score_points(rule, factor, ~0u, extra, out->points);
	total = sum(out->points, out->points[CCR_COL_PARTITION], out->points[CCR_COL_QOS], extra);
	out->cut = is_outside(rule, total);
	/* in fractions (priority/multifactor's own) the columns stay what they are, as there */
	if (out->cut && rule->whole) {
		double more = total < 1 ? 1 - total : -ceil(total - PRIORITY_MAX);

		out->points[CCR_COL_SITE] =
		    clamp(out->points[CCR_COL_SITE] + more, SITE_MIN, SITE_MAX);
		total = fit(out->points, extra);
	}
	out->priority = cut(total);
}

bool ccr_score_again(const struct ccr_score_rule *rule, const double *factor, unsigned columns,
		     const struct ccr_score *score, const struct ccr_score_extra *extra,
		     struct ccr_score *out)
{
	if (score->cut || columns & 1u << CCR_COL_SITE)
		return false;
	*out = *score;
	ccr_score_points(rule, factor, columns, extra, out->points);
	return ccr_score_sum(rule, out->points, out->points[CCR_COL_PARTITION],
			     out->points[CCR_COL_QOS], extra, &out->priority);
}

uint32_t ccr_score_elsewhere(const struct ccr_score *score, const struct ccr_score_extra *extra,
			     double partition_points, double qos_points)
{
	return cut(sum(score->points, partition_points, qos_points, extra));
}
