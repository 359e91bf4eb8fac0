/*
 * placement - which nodes waste the fewest GPUs
 *
 * A GPU is stranded when it is free on a node that has not the CPUs or the memory left that a GPU
 * job needs. A job without GPUs belongs on nodes without GPUs; a GPU job belongs where it strands
 * the fewest, and among those where the fewest GPUs stay free, so that small jobs pack and whole
 * nodes stay whole. Placement only narrows the set of nodes that is offered first: when nothing
 * can be had there, the job is tried on all of them, so it never waits because of it.
 */
#ifndef CCR_CORE_PLACEMENT_H
#define CCR_CORE_PLACEMENT_H

#include "core/demand.h"

struct ccr_place_options {
	int32_t gpu_cpus; /* CPUs that a free GPU needs to be of use; 0 is 1 */
	int64_t gpu_mem;  /* MB that it needs; 0: none */
};

/* Lower is better, compared in this order. */
struct ccr_score {
	uint32_t weight;   /* the node's */
	int32_t misplaced; /* 1: a job without GPUs on a node with some */
	int32_t stranded;  /* GPUs that the job strands; negative if it takes stranded ones */
	int32_t left;	   /* GPUs that stay free */
};

/* Free GPUs that nobody can use for lack of CPUs or memory. */
int32_t ccr_place_stranded(const struct ccr_node *node, const struct ccr_amount *free,
			   const struct ccr_place_options *opt);

/* The score of taking `take` out of `free` on this node. */
struct ccr_score ccr_place_score(const struct ccr_node *node, const struct ccr_amount *free,
				 const struct ccr_amount *take,
				 const struct ccr_place_options *opt);

/* <0, 0, >0 as a is better than, as good as, worse than b. */
int ccr_score_cmp(const struct ccr_score *a, const struct ccr_score *b);

#endif
