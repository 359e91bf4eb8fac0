/*
 * sim_heap - jobs by a time, the earliest first; equal times in order of submission
 */
#ifndef SCCR_SIM_HEAP_H
#define SCCR_SIM_HEAP_H

#include "sccr/sim_types.h"

struct sim_heap {
	struct {
		sim_time t;
		struct sim_job *job;
	} * at;
	uint32_t n, room;
};

int sim_heap_push(struct sim_heap *h, sim_time t, struct sim_job *job); /* -1: out of memory */
sim_time sim_heap_time(const struct sim_heap *h); /* SIM_NEVER if it is empty */
struct sim_job *sim_heap_pop(struct sim_heap *h); /* not on an empty one */
void sim_heap_free(struct sim_heap *h);

#endif
