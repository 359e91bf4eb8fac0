/*
 * smaller - with how much less could a job that waits start now?
 *
 * One thing of its request is made smaller at a time, the rest stays as it was asked for, and the
 * result is held against the plan as it stands: what runs, every booking but the job's own, for
 * the whole time limit. A smaller request never needs more than a larger one, so the largest that
 * fits is found by halving.
 */
#ifndef CCR_CORE_SMALLER_H
#define CCR_CORE_SMALLER_H

#include <stddef.h>

#include "core/gate.h"

enum ccr_less {
	CCR_LESS_TIME, /* minutes of time limit */
	CCR_LESS_NODES,
	CCR_LESS_TASKS,
	CCR_LESS_GPUS, /* of each node, of each task or in all, as the job asks for them */
	CCR_LESS_CPUS, /* of each node or task */
	CCR_LESS_MEM,  /* MB of each node or CPU */
	CCR_LESS_COUNT
};

#define CCR_LESS_ALL ((1u << CCR_LESS_COUNT) - 1)

struct ccr_smaller {
	uint64_t fits[CCR_LESS_COUNT];	/* the most with which it could start now; 0: none */
	uint64_t asked[CCR_LESS_COUNT]; /* what it asks for; 0 for a time limit: none */
};

/*
 * which: a set of bits 1 << CCR_LESS_...; what is not in it is left alone. The job's rank does not
 * count, as another request may give it another one: all bookings but its own are respected. A time
 * limit is a minute shorter than would do, for the time until the next cycle. room: CCR_WORDS of
 * the plan's nodes, overwritten. A job that could start as it is gets no answer: if it waits, then
 * for something that the plan does not know.
 */
void ccr_plan_smaller(struct ccr_plan *plan, const struct ccr_plan_job *job, unsigned which,
		      uint64_t *room, struct ccr_smaller *out);

/*
 * In words, such as "2 GPUs a node instead of 4, or 29 minutes instead of 120". Returns the length,
 * 0 where nothing fits; cut where the room ends.
 */
size_t ccr_smaller_words(const struct ccr_smaller *s, const struct ccr_demand *d, char *out,
			 size_t size);

#endif
