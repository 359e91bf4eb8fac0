/*
 * search - the earliest time at which enough nodes hold a demand, and which nodes to take then
 *
 * A start time is good when on some set of candidate nodes the demand is free for the whole time
 * limit. What is free on a node rises where a job ends and falls where a booking begins, so only
 * those moments need be looked at. The cost is linear in the steps of the candidates' lists where
 * every node takes the same (no units, or one node); else there is a sort of them.
 */
#ifndef CCR_CORE_SEARCH_H
#define CCR_CORE_SEARCH_H

#include "core/placement.h"
#include "core/timeline.h"

struct ccr_share {
	uint32_t node;
	struct ccr_amount a;
};

/* Where and when; share is owned by the search and valid until its next use. */
struct ccr_slot {
	int64_t start; /* CCR_FOREVER: there is none */
	uint32_t n;
	struct ccr_share *share;
};

/* What is looked for. Sets are those of bits.h; nothing is kept. */
struct ccr_query {
	const struct ccr_demand *demand;
	int64_t limit;		    /* s; CCR_FOREVER: unlimited */
	const uint64_t *candidates; /* NULL: all nodes */
	const uint64_t *required;   /* candidates that must be among the nodes; NULL: none */
	const uint64_t *avoid;	    /* taken only where the others do not do; NULL: none */
	/*
	 * Somebody else will deal units and GPUs over the nodes, by what is free at the start: only
	 * nodes where whatever part of the demand he gives them stays clear of the bookings; the
	 * shares are the most that each can be given, in sum perhaps more than the demand.
	 */
	bool sure;
};

struct ccr_search; /* room to work in, for a number of nodes */

int ccr_search_new(struct ccr_search **out, uint32_t nodes, struct ccr_error *err);
void ccr_search_free(struct ccr_search *s);

/*
 * The earliest start in [from, until), nodes that are not up left out. Required nodes are taken,
 * then those that are not to be avoided and score best by placement, then lower indices. 0 (also
 * when there is no start: slot->start tells) or CCR_ENOMEM.
 */
int ccr_search_earliest(struct ccr_search *s, const struct ccr_timeline *tl,
			const struct ccr_query *q, int64_t from, int64_t until,
			const struct ccr_place_options *place, struct ccr_slot *slot);

/*
 * Which nodes hold their part of the demand from `start` for the limit: sets bits in `out` (may not
 * be NULL, overwritten) and returns whether they are enough together.
 */
bool ccr_search_at(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_query *q,
		   int64_t start, uint64_t *out);

/*
 * Whether the candidates that are up hold the demand at this moment, with on each what is free now
 * and what `more` adds to that; it is asked only for nodes of which bookings hold something now.
 */
bool ccr_search_now(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_query *q,
		    void (*more)(const void *from, uint32_t node, struct ccr_amount *free),
		    const void *from);

/* Whether the candidates could hold the demand if nothing ran; nodes that are down count too. */
bool ccr_search_possible(struct ccr_search *s, const struct ccr_timeline *tl,
			 const struct ccr_query *q);

/* Whether these shares, each of another node, hold the demand: candidates and required ones, too.
 */
bool ccr_search_covers(struct ccr_search *s, const struct ccr_timeline *tl,
		       const struct ccr_query *q, const struct ccr_share *share, uint32_t n);

#endif
