/* sim_quantile - see sim_quantile.h */
#include "sccr/sim_quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUB_BITS 9
#define BUCKETS	 (((64 - SUB_BITS) << SUB_BITS) + (1 << SUB_BITS))

/* Values below 2^SUB_BITS have a bucket each; above, the leading SUB_BITS + 1 bits name it. */
static uint32_t bucket_of(int64_t value)
{
	uint64_t v = value < 0 ? 0 : (uint64_t)value;
	int top, shift;

	if (v < (1u << SUB_BITS))
		return (uint32_t)v;
	top = 63 - __builtin_clzll(v);
	shift = top - SUB_BITS;
	return (uint32_t)(((uint64_t)(shift + 1) << SUB_BITS) +
			  ((v >> shift) & ((1u << SUB_BITS) - 1)));
}

/* The middle of a bucket. */
static int64_t value_of(uint32_t b)
{
	int shift = (int)(b >> SUB_BITS) - 1;
	uint64_t low = b & ((1u << SUB_BITS) - 1);

	if (shift < 0)
		return (int64_t)b;
	return (int64_t)(((low | (1u << SUB_BITS)) << shift) + ((1ull << shift) >> 1));
}

static int to_buckets(struct sim_quantile *q)
{
	q->bucket = calloc(BUCKETS, sizeof(uint64_t));
	if (!q->bucket)
		return -1;
	for (uint64_t i = 0; i < q->n; i++)
		q->bucket[bucket_of(q->value[i])]++;
	free(q->value);
	q->value = NULL;
	q->room = 0;
	return 0;
}

int sim_quantile_add(struct sim_quantile *q, int64_t value)
{
	if (!q->bucket && q->n == SIM_QUANTILE_EXACT && to_buckets(q))
		return -1;
	if (q->bucket) {
		q->bucket[bucket_of(value)]++;
	} else {
		if (q->n == q->room) {
			uint32_t room = q->room ? 2 * q->room : 64;
			int64_t *p = realloc(q->value, room * sizeof(*p));

			if (!p)
				return -1;
			q->value = p;
			q->room = room;
		}
		q->value[q->n] = value;
	}
	q->min = !q->n || value < q->min ? value : q->min;
	q->max = !q->n || value > q->max ? value : q->max;
	q->sum += (long double)value;
	q->sorted = 0;
	q->n++;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int64_t sim_quantile_get(struct sim_quantile *q, double p)
{
	uint64_t rank, seen = 0;
	uint32_t b;

	if (!q->n)
		return 0;
	rank = (uint64_t)ceil(p * (double)q->n);
	if (rank < 1)
		rank = 1;
	if (rank >= q->n)
		return q->max;
	if (q->value) {
		if (!q->sorted)
			qsort(q->value, q->n, sizeof(int64_t), by_value);
		q->sorted = 1;
		return q->value[rank - 1];
	}
	for (b = 0; b < BUCKETS - 1; b++) {
		seen += q->bucket[b];
		if (seen >= rank)
			break;
	}
	return value_of(b);
}

double sim_quantile_mean(const struct sim_quantile *q)
{
	return q->n ? (double)(q->sum / (long double)q->n) : 0;
}

void sim_quantile_free(struct sim_quantile *q)
{
	free(q->value);
	free(q->bucket);
	memset(q, 0, sizeof(*q));
}
