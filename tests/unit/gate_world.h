/*
 * gate_world - a small machine with a queue, run through the planner event by event
 *
 * Shared by the property test and the case tests. The pick of nodes is made here, at random and
 * from this file's own account of what runs, so that the planner is not judged by itself.
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
};

/* Makes the n-th random world of a series. */
void world_random(struct world *w, uint64_t series, uint64_t n);

/* Runs it to the end. True if all promises held; else says what went wrong. */
bool world_run(const struct world *w, char *what, size_t size);

/* Leaves jobs out while it still fails. */
void world_shrink(struct world *w, char *what, size_t size);

void world_print(const struct world *w, char *out, size_t size);

/* splitmix64 (Vigna, public domain algorithm) */
uint64_t world_random_next(uint64_t *state);

#endif
