/*
 * search_impl - the inside of a search, shared by search.c (when) and pick.c (which nodes)
 */
#ifndef CCR_CORE_SEARCH_IMPL_H
#define CCR_CORE_SEARCH_IMPL_H

#include "core/bits.h"
#include "core/search.h"

/* A node at one start time. */
struct ccr__able {
	struct ccr_amount least;
	struct ccr_score score;
	uint32_t node, units;
	int32_t gpus[CCR_GPU_WANTS]; /* what it can give to total[i] */
	bool required, avoid;
};

/* From t on, a node holds so many units. */
struct ccr__change {
	int64_t t;
	uint32_t node, units;
	int32_t gpus;
};

struct ccr_search {
	uint32_t n;
	int64_t *heap;
	struct ccr__able *able;
	uint32_t *order;  /* of able, as a heap */
	uint32_t *chosen; /* of able, best first */
	struct ccr_share *share;
	struct ccr__change *change;
	uint32_t *units; /* of each node, while sweeping */
	int32_t *gpus;
	size_t changes, cap;
};

/* A constant number of nodes each of which takes the same: no units to deal out. */
static inline bool ccr__plain(const struct ccr_demand *d)
{
	return !d->units && !d->total[0].count;
}

/* Member of a set of which NULL is the empty one. */
static inline bool ccr__in(const uint64_t *set, uint32_t i)
{
	return set && ccr_bit(set, i);
}

/* GPUs that a node with `free` can give to total[i] beside its units. */
void ccr__gives(const struct ccr_demand *d, const struct ccr_node *node,
		const struct ccr_amount *free, uint32_t units, int32_t *gpus);

/*
 * What the node could be given to do at t: units, and gpus of total[i], with least the amounts that
 * stay free; 0 units if it is no use. Honours q->sure.
 */
uint32_t ccr__offers(const struct ccr_timeline *tl, const struct ccr_query *q, uint32_t node,
		     int64_t t, struct ccr_amount *least, int32_t *gpus);

/* Whether an untyped want meets nodes with several types. */
bool ccr__many_types(const struct ccr_timeline *tl, const struct ccr_query *q);

/* Fills able[] with all nodes that can take part at t. Returns how many. */
uint32_t ccr__able_at(struct ccr_search *s, const struct ccr_timeline *tl,
		      const struct ccr_query *q, int64_t t, const struct ccr_place_options *place);

/*
 * Puts as many of the first n able nodes into chosen[] as the demand takes, required ones first;
 * their number, or 0 if they are not enough.
 */
uint32_t ccr__choose(struct ccr_search *s, const struct ccr_query *q, uint32_t n);

/*
 * Deals units and GPUs over the k chosen nodes and writes the shares: a deal, or with q->sure the
 * most that each node can be given in any.
 */
void ccr__deal(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_query *q,
	       uint32_t k);

#endif
