/*
 * score - from factors to points and to the job's priority
 *
 * points(column) = PriorityWeight(column) x factor(column), SITE has the weight 1 and takes up the
 * base and what a site_factor plugin gave. The priority is the sum of all of sprio's columns, cut
 * to an integer and kept within 1 .. 2^32-1, exactly as sprio computes it from what it is sent:
 * squeue and sprio never disagree.
 */
#ifndef CCR_CORE_SCORE_H
#define CCR_CORE_SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/policy.h"

struct ccr_score_rule {
	double weight[CCR_COLUMNS]; /* PriorityWeight*; SITE's is not read */
	int64_t base;		    /* lifts every score; sits in SITE */
	/*
	 * Round each column to whole points. sprio's wire format multiplies by 1e6 and back, so
	 * that fractions may come out one smaller at the client; whole points always add up.
	 * priority/multifactor keeps fractions, and so does its preset.
	 */
	bool whole;
};

/* What Slurm adds to every score, in points. */
struct ccr_score_extra {
	int64_t site; /* from a site_factor plugin */
	int64_t nice; /* subtracted */
	double tres;  /* the sum of the TRES column's parts, already weighted */
};

struct ccr_score {
	double points[CCR_COLUMNS];
	uint32_t priority; /* 1 .. 2^32-1 */
	bool cut; /* the sum was outside that; where points are whole, SITE was changed so that the
		   * columns add up */
};

/* Rounds to a whole number of points, never to a negative zero. */
double ccr_score_round(double points);

/* The score of one job in its first (or only) partition. */
void ccr_score(const struct ccr_score_rule *rule, const double factor[CCR_COLUMNS],
	       const struct ccr_score_extra *extra, struct ccr_score *out);

/*
 * The same job with other factors in some columns (a bit each, never SITE): what ccr_score() would
 * make of it, into *out. False where that has to be asked, as a sum is outside the range.
 */
bool ccr_score_again(const struct ccr_score_rule *rule, const double *factor, unsigned columns,
		     const struct ccr_score *score, const struct ccr_score_extra *extra,
		     struct ccr_score *out);

/*
 * What ccr_score() does in two steps, for a job of which most is known: the points of the columns
 * whose bits are set, the others staying as they are, ...
 */
void ccr_score_points(const struct ccr_score_rule *rule, const double *factor, unsigned columns,
		      const struct ccr_score_extra *extra, double *points);
/*
 * ... and the priority that points give with these points for partition and QOS. False where the
 * sum is outside the range: ccr_score() then changes points.
 */
bool ccr_score_sum(const struct ccr_score_rule *rule, const double *points, double partition,
		   double qos, const struct ccr_score_extra *extra, uint32_t *priority);

/*
 * The priority that the points give with another partition's, QOS's and TRES points: the job's
 * value in another partition of its list, or under another QOS of it.
 */
uint32_t ccr_score_elsewhere(const struct ccr_score *score, const struct ccr_score_extra *extra,
			     double partition_points, double qos_points);

#endif
