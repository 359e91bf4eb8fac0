/*
 * sim_quantile - median and percentiles of a stream, in bounded memory
 *
 * Up to SIM_QUANTILE_EXACT values are kept and the answers are exact. Beyond that, they are counted
 * in buckets: 512 to each power of two, so an answer is within 0.2 % of a value that was there.
 */
#ifndef SCCR_SIM_QUANTILE_H
#define SCCR_SIM_QUANTILE_H

#include <stdint.h>

#define SIM_QUANTILE_EXACT 65536

struct sim_quantile {
	int64_t *value; /* exact, unsorted, or NULL */
	uint64_t *bucket;
	uint64_t n;
	uint32_t room;
	int sorted;
	int64_t min, max;
	long double sum;
};

/* Adds a value; negative ones are kept exactly only below the limit, then count as 0. -1: no
 * memory. */
int sim_quantile_add(struct sim_quantile *q, int64_t value);

/* The smallest value with at least p (0 to 1) of all at or below it; 0 if there is none. */
int64_t sim_quantile_get(struct sim_quantile *q, double p);

double sim_quantile_mean(const struct sim_quantile *q);
void sim_quantile_free(struct sim_quantile *q);

#endif
