/* gate_picks - the ways in which a job of gate_run is started; see gate_run_impl.h */
#include "gate_run_impl.h"

#include <string.h>

bool run_other_pick(struct run *r, const struct ccr_plan_job *pj, uint64_t set, uint64_t *bad,
		    bool *started)
{
	struct ccr_amount idle[W_NODES];
	struct ccr_share pick[W_NODES];
	uint32_t n;

	*started = false;
	*bad = 0;
	for (uint32_t k = 0; k < r->w->nodes; k++)
		run_free_now(r, k, &idle[k]);
	n = world_pick(r->w, &r->seed, idle, pj->demand, set, r->w->job[pj->id - 1].required, pick);
	if (!n)
		return true;
	if (ccr_plan_check(r->plan, pj, pick, n, bad, NULL) == CCR_START) {
		*started = true;
		return run_start(r, pj->id - 1, pick, n);
	}
	return *bad || run_fail(r, "a conflict on no node, job %u", pj->id);
}

static uint64_t nodes_of(const struct ccr_share *share, uint32_t n)
{
	uint64_t set = 0;

	for (uint32_t k = 0; k < n; k++)
		set |= UINT64_C(1) << share[k].node;
	return set;
}

bool run_sure_pick(struct run *r, const struct ccr_plan_job *pj, bool *started)
{
	struct ccr_slot slot;
	uint64_t set = 0, bad;

	*started = false;
	if (ccr_plan_pick(r->plan, pj, true, &slot, NULL) == CCR_START)
		set = nodes_of(slot.share, slot.n);
	for (int turn = 0; set && turn < 20 && !*started; turn++) {
		if (!run_other_pick(r, pj, set, &bad, started))
			return false;
		if (bad)
			return run_fail(r, "a pick of job %u on sure nodes is in the way", pj->id);
	}
	return true;
}

/* Whoever ranks below may be late now: what is picked is not what he would have been dealt. */
static void excuse_below(struct run *r, const struct ccr_plan_job *pj)
{
	for (uint32_t i = 0; i < r->w->jobs; i++) {
		struct ccr_plan_job below = run_plan_job(r, i);

		if (ccr_rank_cmp(&pj->rank, &below.rank) < 0)
			r->job[i].excused = true;
	}
}

bool run_due_pick(struct run *r, const struct ccr_plan_job *pj, bool *started)
{
	const struct ccr_booking *own = ccr_plan_booking(r->plan, pj->id);
	struct ccr_plan_job first = *pj;
	uint64_t set, bad;

	*started = false;
	if (!own || own->start > r->now)
		return true;
	set = nodes_of(own->share, own->n);
	first.over_lower = true;
	for (int turn = 0; turn < 20 && !*started; turn++)
		if (!run_other_pick(r, &first, set, &bad, started))
			return false;
	if (*started)
		excuse_below(r, pj);
	return true;
}

bool run_way_pick(struct run *r, const struct ccr_plan_job *pj, bool *started)
{
	struct ccr_amount idle[W_NODES];
	struct ccr_plan_job first = *pj;
	struct ccr_share pick[W_NODES];
	struct ccr_slot slot = {0};
	uint64_t fit;
	uint32_t n;

	*started = false;
	first.over_lower = true;
	if (!ccr_plan_booking(r->plan, pj->id) ||
	    ccr_plan_may_fit(r->plan, &first, &fit, NULL) != CCR_START)
		return true;
	for (uint32_t k = 0; k < r->w->nodes; k++)
		run_free_now(r, k, &idle[k]);
	n = world_pick(r->w, &r->seed, idle, pj->demand, fit, r->w->job[pj->id - 1].required, pick);
	if (r->w->own_picks) {
		if (ccr_plan_pick(r->plan, &first, false, &slot, NULL) != CCR_START)
			return true;
		n = slot.n;
		memcpy(pick, slot.share, n * sizeof(*pick));
	}
	if (!n || ccr_plan_check(r->plan, &first, pick, n, NULL, NULL) != CCR_START ||
	    !ccr_plan_makes_way(r->plan, pj, pick, n))
		return true;
	*started = true;
	if (!r->w->own_picks)
		excuse_below(r, pj);
	return run_start(r, pj->id - 1, pick, n);
}
