/* gate - see gate.h */
#include "core/plan_impl.h"

#include <stdlib.h>
#include <string.h>

bool ccr__closed(const struct ccr_plan *plan, const struct ccr_plan_job *job)
{
	const struct ccr__partition *p;

	if (job->partition >= plan->parts)
		return false;
	p = &plan->part[job->partition];
	return p->closed == plan->cycle && p->closer.job != job->id &&
	       ccr_rank_cmp(&p->closer, &job->rank) < 0;
}

static int64_t count_wants(const struct ccr_want *w)
{
	int64_t n = 0;

	for (int i = 0; i < CCR_GPU_WANTS && w[i].count; i++)
		n += w[i].count;
	return n;
}

static bool too_long(const struct ccr_plan *plan, const struct ccr_plan_job *job, int64_t gpus)
{
	if (!plan->opt.long_limit || job->limit <= plan->opt.long_limit || !gpus)
		return false;
	return (double)(plan->long_gpus + gpus) > plan->opt.long_share * (double)plan->gpus;
}

/* GPUs that the job asks for at the least. */
static int64_t gpus_of(const struct ccr_demand *d)
{
	uint32_t low = d->min_nodes ? d->min_nodes : 1;

	return low * count_wants(d->node.gpu) + d->units * count_wants(d->unit.gpu) +
	       count_wants(d->total);
}

bool ccr__too_long(const struct ccr_plan *plan, const struct ccr_plan_job *job, int64_t *others)
{
	int64_t gpus = gpus_of(job->demand), all = gpus + (others ? *others : 0);

	if (others && job->limit > plan->opt.long_limit)
		*others = all;
	return too_long(plan, job, gpus ? all : 0);
}

/* The entry with a place on the node at that moment that ranks highest. */
static const struct ccr__entry *holder(const struct ccr_plan *plan, uint32_t node, int64_t t)
{
	for (uint32_t i = 0; i < plan->entries; i++) {
		const struct ccr__entry *e = plan->rank[i];

		if (!e->held || t < ccr__from(e) || t >= e->b.end)
			continue;
		for (uint32_t k = 0; k < e->b.n; k++)
			if (e->b.share[k].node == node)
				return e;
	}
	return NULL;
}

static void explain(const struct ccr_plan *plan, uint32_t node, int64_t t, char what,
		    struct ccr_conflict *why)
{
	const struct ccr__entry *e = holder(plan, node, t);

	*why = (struct ccr_conflict){.job = e ? e->b.job : 0,
				     .node = node,
				     .start = e ? e->b.start : t,
				     .when = t,
				     .what = what};
}

/*
 * Whether a booking takes something of the node during the job's run that makes it of less use for
 * so many units than it is now: what it has too little of, and when first.
 */
static char taken(const struct ccr_plan *plan, const struct ccr_plan_job *job, uint32_t node,
		  uint32_t units, int64_t *when)
{
	const struct ccr_demand *d = job->demand;
	const struct ccr_track *tr = &plan->tl->track[node];
	int64_t end = ccr_end(plan->tl->now, job->limit);
	uint16_t dealt[CCR_GPU_WANTS] = {d->total[0].count};
	struct ccr_amount take;
	char what = 0;

	ccr_demand_take(d, &plan->tl->node[node], &plan->tl->node[node].total, units, dealt, &take);
	for (uint32_t s = 0; !what && s < tr->n && tr->step[s].t < end; s++) {
		if (tr->step[s].booked > 0)
			what = ccr_amount_short(&tr->step[s].free, &take);
		*when = tr->step[s].t;
	}
	return what;
}

/* Adds what bookings whose time has come hold of the node: nobody has it yet. */
static void add_due(const void *from, uint32_t node, struct ccr_amount *free)
{
	const struct ccr_plan *plan = from;

	for (uint32_t i = 0; i < plan->entries; i++) {
		const struct ccr__entry *e = plan->rank[i];

		for (uint32_t k = 0; e->held && ccr__from(e) <= plan->tl->now && k < e->b.n; k++)
			if (e->b.share[k].node == node)
				ccr_amount_add(free, &e->b.share[k].a);
	}
}

/* Whether there are bookings whose time has come. */
static bool any_due(const struct ccr_plan *plan)
{
	for (uint32_t i = 0; i < plan->entries; i++)
		if (plan->rank[i]->held && plan->rank[i]->b.start <= plan->tl->now)
			return true;
	return false;
}

/* Whether the node is of use for so many units now, whatever is booked. due: some are. */
static bool of_use(const struct ccr_plan *plan, const struct ccr_demand *d, uint32_t node,
		   uint32_t units, const struct ccr_quick *q, bool due)
{
	struct ccr_amount free = plan->tl->track[node].step[0].free;

	if (q->never)
		return false;
	if (due)
		add_due(plan, node, &free);
	return q->ok ? ccr_quick_fits(q, &free)
		     : ccr_demand_fits(d, &plan->tl->node[node], &free, units);
}

/*
 * Whether the job would fit now if nothing were booked. Fills why with the first node where a
 * booking is what makes it too small: for the least share, else for as much as the job can use; one
 * that could be had now before others.
 */
static bool for_booking(const struct ccr_plan *plan, const struct ccr_plan_job *job,
			const uint64_t *fit, struct ccr_conflict *why)
{
	struct ccr_query q = ccr__query(job);
	const uint64_t *nodes = job->candidates;
	uint32_t units[2] = {ccr_demand_node_min(job->demand), ccr_demand_units(job->demand)};
	bool due = any_due(plan);

	if (!plan->entries || !ccr_search_now(plan->search, plan->tl, &q, add_due, plan))
		return false;
	/* A required node that does not do is the reason, whatever the others have. */
	for (size_t w = 0; job->required && w < CCR_WORDS(plan->tl->n); w++)
		if (job->required[w] & ~fit[w])
			nodes = job->required;
	for (int pass = 0; why && pass < 4; pass++) {
		int all = pass % 2, now = pass < 2;
		uint32_t kind = UINT32_MAX;
		struct ccr_quick quick;

		CCR_BITS_EACH(i, nodes, plan->tl->n)
		{
			int64_t when;
			char what;

			if (!plan->tl->node[i].up || (!all && ccr_bit(fit, i)))
				continue;
			ccr_timeline_quick(plan->tl, i, job->demand, units[all], &quick, &kind);
			if (now && !of_use(plan, job->demand, i, units[all], &quick, due))
				continue;
			what = taken(plan, job, i, units[all], &when);
			if (!what)
				continue;
			explain(plan, i, when, what, why);
			return true;
		}
	}
	return true;
}

enum ccr_verdict ccr_plan_may_fit(struct ccr_plan *plan, const struct ccr_plan_job *job,
				  uint64_t *out, struct ccr_conflict *why)
{
	struct ccr_query q = ccr__query(job);
	enum ccr_verdict v = CCR_START;
	struct ccr__entry *own = ccr__find(plan, job->id);
	uint32_t lent;

	if (why)
		*why = (struct ccr_conflict){0};
	if (ccr__closed(plan, job))
		v = CCR_WAIT_STRICT;
	else if (ccr__too_long(plan, job, NULL))
		v = CCR_WAIT_LONG;
	if (v != CCR_START) {
		memset(out, 0, CCR_WORDS(plan->tl->n) * sizeof(*out));
		return v;
	}
	ccr__blocks(plan, false);
	ccr__clear_for(plan, job, own);
	lent = ccr__lend(plan, job);
	if (!ccr_search_at(plan->search, plan->tl, &q, plan->tl->now, out)) {
		v = for_booking(plan, job, out, why) ? CCR_WAIT_BOOKING : CCR_WAIT_FREE;
		memset(out, 0, CCR_WORDS(plan->tl->n) * sizeof(*out));
	}
	ccr__take_again(plan, job, lent);
	ccr__put_back(plan);
	return v;
}

struct ranked {
	struct ccr_score score;
	uint32_t node, units;
	bool required;
};

static int by_score(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;
	int c = ccr_score_cmp(&a->score, &b->score);

	if (a->required != b->required)
		return a->required ? -1 : 1;
	return c ? c : (a->node > b->node) - (a->node < b->node);
}

bool ccr_plan_place(struct ccr_plan *plan, const struct ccr_plan_job *job, uint64_t *nodes)
{
	const struct ccr_timeline *tl = plan->tl;
	const struct ccr_demand *d = job->demand;
	uint32_t n = 0, low = d->min_nodes ? d->min_nodes : 1, k = 0;
	uint64_t units = 0;
	struct ranked *r;
	bool differ = false;

	if (!plan->opt.placement)
		return false;
	r = malloc((size_t)ccr_bit_count(nodes, tl->n) * sizeof(*r) + 1);
	if (!r)
		return false;
	CCR_BITS_EACH(i, nodes, tl->n)
	{
		const struct ccr_amount *free = &tl->track[i].step[0].free;
		struct ccr_amount take;
		uint32_t u = ccr_demand_most(d, &tl->node[i], free);

		r[n].node = i;
		r[n].units = u ? u : 1;
		r[n].required = job->required && ccr_bit(job->required, i);
		/* A job on one node takes all its units there, one on many at least the least. */
		u = d->units && d->max_nodes == 1 ? d->units : ccr_demand_node_min(d);
		ccr_demand_take(d, &tl->node[i], free, u,
				d->total[0].count ? (uint16_t[]){1, 0, 0, 0} : NULL, &take);
		r[n].score = ccr_place_score(&tl->node[i], free, &take, &plan->opt.place);
		differ = differ || (n && (r[n].score.misplaced != r[0].score.misplaced ||
					  r[n].score.stranded != r[0].score.stranded ||
					  r[n].score.left != r[0].score.left));
		n++;
	}
	if (!differ) {
		free(r);
		return false;
	}
	qsort(r, n, sizeof(*r), by_score);
	while (k < n && (k < low || units < ccr_demand_units(d) || r[k].required))
		units += r[k++].units;
	while (k > 0 && k < n && !ccr_score_cmp(&r[k].score, &r[k - 1].score))
		k++;
	for (uint32_t i = k; i < n; i++)
		ccr_bit_clear(nodes, r[i].node);
	free(r);
	return k < n;
}

enum ccr_verdict ccr_plan_check(struct ccr_plan *plan, const struct ccr_plan_job *job,
				const struct ccr_share *pick, uint32_t n, uint64_t *bad,
				struct ccr_conflict *why)
{
	struct ccr__entry *own = ccr__find(plan, job->id);
	enum ccr_verdict v = CCR_START;
	int64_t end = ccr_end(plan->tl->now, job->limit), gpus = 0;

	if (bad)
		memset(bad, 0, CCR_WORDS(plan->tl->n) * sizeof(*bad));
	if (why)
		*why = (struct ccr_conflict){0};
	if (ccr__closed(plan, job))
		return CCR_WAIT_STRICT;
	for (uint32_t i = 0; i < n; i++)
		gpus += ccr_amount_gpus(&pick[i].a);
	if (too_long(plan, job, gpus))
		return CCR_WAIT_LONG;
	ccr__blocks(plan, false);
	ccr__clear_for(plan, job, own);
	for (uint32_t i = 0; i < n; i++) {
		const struct ccr_track *tr;

		if (pick[i].node >= plan->tl->n)
			continue;
		tr = &plan->tl->track[pick[i].node];
		for (uint32_t s = 0; s < tr->n && tr->step[s].t < end; s++) {
			char what;

			if (tr->step[s].booked <= 0 ||
			    !(what = ccr_amount_short(&tr->step[s].free, &pick[i].a)))
				continue;
			if (v == CCR_START && why)
				explain(plan, pick[i].node, tr->step[s].t, what, why);
			v = CCR_WAIT_BOOKING;
			if (bad)
				ccr_bit_set(bad, pick[i].node);
			break;
		}
	}
	ccr__put_back(plan);
	return v;
}

int ccr_plan_lend(struct ccr_plan *plan, const struct ccr_share *share, int64_t end, bool again)
{
	int64_t now = plan->tl->now;

	if (end <= now)
		end = now + 1;
	return again ? ccr_timeline_hold(plan->tl, share->node, now, end, &share->a, false)
		     : ccr_timeline_unhold(plan->tl, share->node, now, end, &share->a, false);
}

/* Whether a booked step of the node is now short of what was taken. */
static bool broke(const struct ccr_plan *plan, const struct ccr_share *s, int64_t end)
{
	const struct ccr_track *tr = &plan->tl->track[s->node];
	struct ccr_amount none = {0};

	for (uint32_t i = 0; i < tr->n && tr->step[i].t < end; i++) {
		const struct ccr_amount *f = &tr->step[i].free;

		if (tr->step[i].booked <= 0)
			continue;
		if ((s->a.cpus && f->cpus < none.cpus) || (s->a.mem && f->mem < none.mem) ||
		    (s->a.open && f->open < none.open))
			return true;
		for (int g = 0; g < CCR_GPU_SLOTS; g++)
			if (s->a.gpus[g] && f->gpus[g] < 0)
				return true;
	}
	return false;
}

int ccr_plan_start(struct ccr_plan *plan, const struct ccr_plan_job *job,
		   const struct ccr_share *pick, uint32_t n, struct ccr_error *err)
{
	struct ccr__entry *own = ccr__find(plan, job->id);
	int64_t now = plan->tl->now, end = ccr_end(now, job->limit);
	bool all = false;

	if (ccr__blocks(plan, true))
		return ccr_error_nomem(err);
	ccr__clear_for(plan, job, own);
	for (uint32_t i = 0; i < n; i++) {
		if (ccr_timeline_hold(plan->tl, pick[i].node, now, end, &pick[i].a, false))
			return ccr_error_nomem(err);
		if (plan->opt.long_limit && job->limit > plan->opt.long_limit)
			plan->long_gpus += ccr_amount_gpus(&pick[i].a);
	}
	/* It may have been started against the bookings (preemption, an admin's reservation). */
	for (uint32_t i = 0; i < n && !all; i++)
		all = broke(plan, &pick[i], end);
	for (uint32_t i = 0; all && i < plan->entries; i++)
		ccr__lift(plan, plan->rank[i]);
	if (own)
		ccr__remove(plan, own);
	if (ccr__settle(plan, all))
		return ccr_error_nomem(err);
	return 0;
}

enum ccr_verdict ccr_plan_pick(struct ccr_plan *plan, const struct ccr_plan_job *job, bool sure,
			       struct ccr_slot *slot, struct ccr_conflict *why)
{
	struct ccr__entry *own = ccr__find(plan, job->id);
	uint64_t *fit = malloc((CCR_WORDS(plan->tl->n) + 1) * sizeof(*fit));
	struct ccr_query q = ccr__query(job), possible = q;
	enum ccr_verdict v;
	int rc = 0;

	slot->n = 0;
	slot->start = CCR_FOREVER;
	if (!fit)
		return CCR_WAIT_FREE;
	v = ccr_plan_may_fit(plan, job, fit, why);
	if (v == CCR_START) {
		ccr__blocks(plan, true);
		ccr__clear_for(plan, job, own);
		q.candidates = fit;
		q.sure = sure;
		rc = ccr_search_earliest(plan->search, plan->tl, &q, plan->tl->now,
					 plan->tl->now + 1,
					 plan->opt.placement ? &plan->opt.place : NULL, slot);
		ccr__put_back(plan);
		if (rc || !slot->n)
			v = CCR_WAIT_FREE;
	} else if (v == CCR_WAIT_FREE && !ccr_search_possible(plan->search, plan->tl, &possible)) {
		v = CCR_WAIT_NEVER;
	}
	free(fit);
	return v;
}
