/* notices - what the reporter is told of the plan; see gate.h */
#include "select/gate_impl.h"

#include <stdlib.h>

#define G	    ccr__gate
#define NOTICES_MAX 2000 /* refused jobs that are told why, a cycle */

void ccr__list_refused(const job_record_t *job, enum ccr_verdict v, const struct ccr_conflict *why)
{
	if (v != CCR_WAIT_BOOKING && v != CCR_WAIT_STRICT && v != CCR_WAIT_LONG)
		return;
	if (G.listed >= NOTICES_MAX)
		return;
	if (G.listed == G.list_cap) {
		uint32_t cap = G.list_cap ? 2 * G.list_cap : 64;
		struct ccr__refused *p = realloc(G.list, cap * sizeof(*p));

		if (!p)
			return;
		G.list = p;
		G.list_cap = cap;
	}
	G.list[G.listed++] = (struct ccr__refused){job->job_id, v, *why};
}

void ccr_gate_notices(void (*each)(const struct ccr_notice *n, void *data), void *data)
{
	const struct ccr_booking *b;

	pthread_mutex_lock(&G.lock);
	if (!G.on || G.aside) {
		pthread_mutex_unlock(&G.lock);
		return;
	}
	for (uint32_t i = 0; G.plan && (b = ccr_plan_nth(G.plan, i)); i++) {
		struct ccr_notice n = {.job = b->job,
				       .booked = true,
				       .start = b->start,
				       .share = b->share,
				       .shares = b->n};

		if (b->n)
			each(&n, data);
	}
	for (uint32_t i = 0; G.plan && i < G.listed; i++) {
		const struct ccr__refused *r = &G.list[i];
		struct ccr_notice n = {.job = r->job,
				       .start = r->why.start,
				       .other = r->why.job,
				       .node = r->why.node,
				       .what = r->why.what,
				       .verdict = r->verdict};

		if (!ccr_plan_booking(G.plan, r->job))
			each(&n, data);
	}
	pthread_mutex_unlock(&G.lock);
}
