/*
 * answers - what equal requests were told in this cycle; see gate_impl.h
 *
 * A long queue has few different requests. Within a cycle resources only become fewer, so what was
 * refused once stays refused.
 */
#include "select/gate_impl.h"

#include <stdlib.h>
#include <string.h>

#define MOST 4096 /* answers; beyond that requests are looked at one by one */

static uint64_t hash_of(const struct ccr_slurm_test *t, const struct ccr_demand *d,
			uint16_t partition, const uint64_t *set, uint32_t n)
{
	uint64_t h = ccr_demand_hash(d) ^ ((uint64_t)partition << 48) ^ ((uint64_t)t->mode << 40);

	h = h * 31 + t->min_nodes;
	h = h * 31 + t->max_nodes;
	h = h * 31 + t->req_nodes;
	for (size_t w = 0; w < CCR_WORDS(n); w++) {
		h = (h ^ set[w]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 31;
	}
	return h;
}

static bool same(const struct ccr__answer *a, const struct ccr_slurm_test *t,
		 const struct ccr_demand *d, uint16_t partition, const uint64_t *set)
{
	return a->test_only == (t->mode == SELECT_MODE_TEST_ONLY) && a->partition == partition &&
	       a->min_nodes == t->min_nodes && a->max_nodes == t->max_nodes &&
	       a->req_nodes == t->req_nodes && ccr_demand_equal(&a->demand, d) &&
	       !memcmp(a->set, set, CCR_WORDS(ccr__gate.cluster.n) * sizeof(*set));
}

struct ccr__answer *ccr__answer_find(const struct ccr_slurm_test *t, const struct ccr_demand *d,
				     uint16_t partition, const uint64_t *set)
{
	uint64_t h = hash_of(t, d, partition, set, ccr__gate.cluster.n);
	struct ccr__answer *a = NULL;

	HASH_FIND(hh, ccr__gate.answers, &h, sizeof(h), a);
	return a && same(a, t, d, partition, set) ? a : NULL;
}

static void free_answer(struct ccr__answer *a)
{
	free(a->set);
	free(a->result);
	free(a);
}

struct ccr__answer *ccr__answer_add(const struct ccr_slurm_test *t, const struct ccr_demand *d,
				    uint16_t partition, const uint64_t *set)
{
	size_t bytes = CCR_WORDS(ccr__gate.cluster.n) * sizeof(*set);
	struct ccr__answer *a, *there = NULL;
	uint64_t h = hash_of(t, d, partition, set, ccr__gate.cluster.n);

	HASH_FIND(hh, ccr__gate.answers, &h, sizeof(h), there);
	if (there || HASH_COUNT(ccr__gate.answers) >= MOST)
		return NULL;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	*a = (struct ccr__answer){.hash = h,
				  .demand = *d,
				  .partition = partition,
				  .min_nodes = t->min_nodes,
				  .max_nodes = t->max_nodes,
				  .req_nodes = t->req_nodes,
				  .test_only = t->mode == SELECT_MODE_TEST_ONLY};
	a->set = malloc(bytes ? bytes : 1);
	if (a->set && a->test_only)
		a->result = calloc(1, bytes ? bytes : 1);
	if (!a->set || (a->test_only && !a->result)) {
		free_answer(a);
		return NULL;
	}
	memcpy(a->set, set, bytes);
	HASH_ADD(hh, ccr__gate.answers, hash, sizeof(a->hash), a);
	HASH_FIND(hh, ccr__gate.answers, &h, sizeof(h), there);
	if (there != a) {
		free_answer(a);
		return NULL;
	}
	return a;
}

void ccr__answers_forget(void)
{
	struct ccr__answer *a, *next;

	HASH_ITER (hh, ccr__gate.answers, a, next) {
		HASH_DEL(ccr__gate.answers, a);
		free_answer(a);
	}
}
