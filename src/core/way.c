/*
 * way - bookings that make way for a job above them; see gate.h
 *
 * What is booked while nodes are in part busy is dealt by what was to be free then: two nodes in
 * halves, say. When all is free early, whoever deals packs them another way, and each job is in the
 * way of another's booking: nobody would start before the old times, on an empty machine.
 */
#include "core/plan_impl.h"

#include <stdlib.h>
#include <string.h>

/* A place found for one that makes way. */
struct moved {
	struct ccr_share *share;
	uint32_t n;
	int64_t start, end;
};

static void unhold(struct ccr_plan *plan, const struct moved *m, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ccr_timeline_unhold(plan->tl, m->share[i].node, m->start, m->end, &m->share[i].a,
				    true);
}

static bool hold(struct ccr_plan *plan, struct moved *m, const struct ccr_slot *slot, int64_t limit)
{
	m->share = malloc(slot->n * sizeof(*m->share));
	if (!m->share)
		return false;
	memcpy(m->share, slot->share, slot->n * sizeof(*m->share));
	m->start = slot->start;
	m->end = ccr_end(slot->start, limit);
	for (; m->n < slot->n; m->n++)
		if (ccr_timeline_hold(plan->tl, m->share[m->n].node, m->start, m->end,
				      &m->share[m->n].a, true))
			return false;
	return true;
}

/* Its own place is whole, or it has another, by counts, that is no later. */
static bool has_place(struct ccr_plan *plan, struct ccr__entry *e, struct moved *m)
{
	int64_t now = plan->tl->now, start = e->b.start < now ? now : e->b.start;
	struct ccr_query q = ccr__entry_query(e);
	struct ccr_slot slot;

	if (!e->b.n)
		return true;
	if (ccr__holds(plan, e, start, e->b.end))
		return !ccr__hold(plan, e);
	if (e->restored || e->together || e->b.claim || e->b.over)
		return false;
	return !ccr_search_earliest(plan->search, plan->tl, &q, now, start + 1, &plan->opt.place,
				    &slot) &&
	       slot.n && hold(plan, m, &slot, e->limit);
}

bool ccr_plan_makes_way(struct ccr_plan *plan, const struct ccr_plan_job *job,
			const struct ccr_share *pick, uint32_t n)
{
	struct ccr__entry *own = ccr__find(plan, job->id);
	int64_t now = plan->tl->now, end = ccr_end(now, job->limit);
	uint32_t first = ccr__above(plan, &job->rank), taken = 0;
	struct moved *moved = calloc(plan->entries + 1, sizeof(*moved));
	bool ok = moved && !ccr__blocks(plan, true);

	if (own)
		ccr__lift(plan, own);
	for (uint32_t i = first; i < plan->entries; i++)
		ccr__lift(plan, plan->rank[i]);
	for (; ok && taken < n; taken += ok)
		ok =
		    pick[taken].node < plan->tl->n &&
		    !ccr_timeline_hold(plan->tl, pick[taken].node, now, end, &pick[taken].a, false);
	for (uint32_t i = first; ok && i < plan->entries; i++)
		ok = plan->rank[i] == own || has_place(plan, plan->rank[i], &moved[i]);
	for (uint32_t i = first; moved && i < plan->entries; i++) {
		unhold(plan, &moved[i], moved[i].n);
		free(moved[i].share);
		ccr__lift(plan, plan->rank[i]);
	}
	while (taken-- > 0)
		ccr_timeline_unhold(plan->tl, pick[taken].node, now, end, &pick[taken].a, false);
	free(moved);
	ccr__put_back(plan);
	return ok;
}
