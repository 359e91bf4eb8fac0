/*
 * gate_world - what the planner is tested on: small machines with a queue, and picks of nodes
 *
 * All of it at random, and the same for the same numbers. Shared by the property test, whose worlds
 * gate_run runs, and the test of the search.
 */
#ifndef GATE_WORLD_H
#define GATE_WORLD_H

#include "core/gate.h"

#include <stddef.h>

#define W_NODES 6
#define W_JOBS	14
#define W_PARTS 2

struct w_job {
	int64_t arrives, limit, runs; /* runs > limit: it outlives its limit */
	uint32_t prio;
	uint16_t partition;
	struct ccr_demand demand;
	uint64_t candidates;
	uint64_t required; /* of them; 0: none */
};

struct world {
	uint32_t nodes, jobs, parts;
	struct ccr_node node[W_NODES];
	struct w_job job[W_JOBS];
	uint32_t depth[W_PARTS];
	int64_t window;
	int64_t fails_at;    /* node 0 goes down then; 0: never */
	int64_t restarts_at; /* the plan is lost then, but for what was saved of it; 0: never */
	uint64_t seed;	     /* of the picks */
	bool placement;
	bool own_picks; /* the planner deals where others' picks do not do, as in the simulator */
};

/* Makes the n-th random world of a series. */
void world_random(struct world *w, uint64_t series, uint64_t n);

/*
 * A pick as any select plugin might make it: random nodes of `fit`, those required first, and of
 * each what the demand needs, out of what the caller says is idle (by node). How many shares it has
 * in pick (room for W_NODES); 0: not to be had from the nodes drawn.
 */
uint32_t world_pick(const struct world *w, uint64_t *seed, const struct ccr_amount *idle,
		    const struct ccr_demand *d, uint64_t fit, uint64_t required,
		    struct ccr_share *pick);

void world_print(const struct world *w, char *out, size_t size);

/* splitmix64 (Vigna, public domain algorithm) */
uint64_t world_random_next(uint64_t *state);

#endif
