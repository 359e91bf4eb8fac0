/* claim - see claim.h */
#include "core/claim.h"

#include "core/plan_impl.h"

#include <string.h>

uint32_t ccr__lend(struct ccr_plan *plan, const struct ccr_plan_job *job)
{
	uint32_t n = 0;

	while (n < job->lents && !ccr_plan_lend(plan, &job->lent[n].share, job->lent[n].end, false))
		n++;
	return n;
}

/* (The steps are there: this needs no memory.) */
void ccr__take_again(struct ccr_plan *plan, const struct ccr_plan_job *job, uint32_t lent)
{
	while (lent-- > 0)
		ccr_plan_lend(plan, &job->lent[lent].share, job->lent[lent].end, true);
}

int ccr__mark_over(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_plan_job *job)
{
	bool over;

	if (!job->lents || !e->b.n) {
		e->b.over = false;
		return 0;
	}
	ccr__lift(plan, e);
	over = !ccr__holds(plan, e, e->b.start, e->b.end);
	e->b.over = over;
	return ccr__hold(plan, e);
}

bool ccr__claim_stands(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_plan_job *job)
{
	int64_t soon = plan->tl->now + 1; /* who completes counts as ending then */
	int64_t end = ccr_end(plan->tl->now, e->limit);
	uint32_t lent;
	bool stands;

	if (e->limit != job->limit || !ccr_demand_equal(&e->demand, job->demand))
		return false;
	/* others may be booked right behind it, where it was to end if it is late */
	end = end < e->b.end ? end : e->b.end;

	ccr__lift(plan, e);
	lent = ccr__lend(plan, job);
	stands = ccr__holds(plan, e, soon, end > soon ? end : soon + 1);
	ccr__take_again(plan, job, lent);
	return !ccr__hold(plan, e) && stands;
}

/* Its job will start then; the entry is not held. */
static void expect(struct ccr_plan *plan, struct ccr__entry *e, int64_t start)
{
	int64_t now = plan->tl->now;

	e->b.due = start > now ? 0 : start;
	e->b.start = start > now ? start : now;
	e->b.end = ccr_end(e->b.start, e->limit);
}

/* A new claim, of a job that may have a booking or another claim. */
static int claim(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_plan_job *job,
		 const struct ccr_share *pick, uint32_t n, int64_t start)
{
	struct ccr_slot slot = {.start = start, .n = n, .share = (struct ccr_share *)pick};
	bool had = e && e->b.claim;

	if (e && ccr__remember(plan, e, job))
		return CCR_ENOMEM;
	if (!e && !(e = ccr__add(plan, job)))
		return CCR_ENOMEM;
	e->restored = false;
	ccr_plan_rerank(plan, job->id, &job->rank);
	ccr__clear_for(plan, job, e);
	if (ccr__assign(plan, e, &slot))
		return CCR_ENOMEM;
	ccr__lift(plan, e);
	e->b.over = e->b.claim = true;
	if (!had)
		e->b.made = plan->tl->now;
	expect(plan, e, start);
	return ccr__hold(plan, e);
}

int ccr_plan_claim(struct ccr_plan *plan, const struct ccr_plan_job *job,
		   const struct ccr_share *pick, uint32_t n, int64_t start, struct ccr_error *err)
{
	struct ccr__partition *p = ccr__partition(plan, job->partition);
	struct ccr__entry *e = ccr__find(plan, job->id);
	int rc;

	if (!p || ccr__blocks(plan, true))
		return ccr_error_nomem(err);
	ccr__close_strict(plan, p, job);
	if (e && e->b.claim && ccr__claim_stands(plan, e, job)) {
		ccr_plan_rerank(plan, job->id, &job->rank);
		ccr__lift(plan, e);
		expect(plan, e, start);
		rc = ccr__hold(plan, e);
	} else {
		rc = claim(plan, e, job, pick, n, start);
	}
	/* (also puts back what made way for a claim that could not be made) */
	if (ccr__settle(plan, false) || rc)
		return ccr_error_nomem(err);
	return 0;
}

uint32_t ccr_plan_amounts(struct ccr_plan *plan, const struct ccr_plan_job *job,
			  struct ccr_share *out)
{
	struct ccr_query q = {.demand = job->demand,
			      .limit = 1,
			      .candidates = job->candidates,
			      .required = job->candidates,
			      .sure = true};
	uint32_t n = 0, lent;
	struct ccr_slot slot;
	int64_t now = plan->tl->now;
	int rc;

	/* whatever is booked: that is looked at next */
	for (uint32_t i = 0; i < plan->entries; i++)
		ccr__lift(plan, plan->rank[i]);
	lent = ccr__lend(plan, job);
	rc = ccr_search_earliest(plan->search, plan->tl, &q, now, now + 1, &plan->opt.place, &slot);
	ccr__take_again(plan, job, lent);
	ccr__put_back(plan);
	if (!rc && slot.n == ccr_bit_count(job->candidates, plan->tl->n)) {
		memcpy(out, slot.share, slot.n * sizeof(*out));
		return slot.n;
	}
	CCR_BITS_EACH(i, job->candidates, plan->tl->n)
	out[n++] = (struct ccr_share){i, plan->tl->node[i].total};
	return n;
}
