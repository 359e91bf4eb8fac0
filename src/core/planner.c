/* planner - see planner.h */
#include "core/plan_impl.h"

#include <stdlib.h>
#include <string.h>

int ccr_rank_cmp(const struct ccr_rank *a, const struct ccr_rank *b)
{
	if (a->preemptor != b->preemptor)
		return a->preemptor ? -1 : 1;
	if (a->reserved != b->reserved)
		return a->reserved ? -1 : 1;
	if (a->tier != b->tier)
		return a->tier > b->tier ? -1 : 1;
	if (a->prio != b->prio)
		return a->prio > b->prio ? -1 : 1;
	if (a->submit != b->submit)
		return a->submit < b->submit ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

struct ccr_plan_options ccr_plan_defaults(void)
{
	return (struct ccr_plan_options){.window = 86400,
					 .depth = 10,
					 .placement = true,
					 .place = {.gpu_cpus = 1},
					 .long_share = 1.0};
}

int ccr_plan_set_options(struct ccr_plan *plan, const struct ccr_plan_options *opt,
			 struct ccr_error *err)
{
	if (opt->window < 0 || opt->window > CCR_FOREVER)
		return ccr_error_set(err, CCR_EINVAL, 0, "backfill: the window is negative");
	if (!(opt->long_share >= 0 && opt->long_share <= 1))
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "backfill: the share of long jobs is not between 0 and 1");
	if (opt->long_limit < 0 || opt->place.gpu_cpus < 0 || opt->place.gpu_mem < 0)
		return ccr_error_set(err, CCR_EINVAL, 0, "backfill: a negative limit");
	plan->opt = *opt;
	return 0;
}

int ccr_plan_new(struct ccr_plan **out, const struct ccr_node *nodes, uint32_t n,
		 const struct ccr_plan_options *opt, struct ccr_error *err)
{
	struct ccr_plan_options def = ccr_plan_defaults();
	struct ccr_plan *plan = calloc(1, sizeof(*plan));
	int rc;

	*out = NULL;
	if (!plan)
		return ccr_error_nomem(err);
	rc = ccr_plan_set_options(plan, opt ? opt : &def, err);
	if (!rc)
		rc = ccr_timeline_new(&plan->tl, nodes, n, err);
	if (!rc)
		rc = ccr_search_new(&plan->search, n, err);
	if (rc) {
		ccr_plan_free(plan);
		return rc;
	}
	for (uint32_t i = 0; i < n; i++)
		plan->gpus += ccr_amount_gpus(&nodes[i].total);
	plan->cycle = 1;
	*out = plan;
	return 0;
}

void ccr_plan_free(struct ccr_plan *plan)
{
	if (!plan)
		return;
	while (plan->entries) {
		struct ccr__entry *e = plan->rank[plan->entries - 1];

		e->held = false;
		ccr__remove(plan, e);
	}
	free(plan->rank);
	free(plan->part);
	free(plan->block);
	ccr_search_free(plan->search);
	ccr_timeline_free(plan->tl);
	free(plan);
}

struct ccr__partition *ccr__partition(struct ccr_plan *plan, uint16_t partition)
{
	if (partition >= plan->parts) {
		uint32_t n = partition + 8u;
		struct ccr__partition *p = realloc(plan->part, n * sizeof(*p));

		if (!p)
			return NULL;
		for (uint32_t i = plan->parts; i < n; i++)
			p[i] = (struct ccr__partition){.depth = UINT32_MAX};
		plan->part = p;
		plan->parts = n;
	}
	return &plan->part[partition];
}

int ccr_plan_partition(struct ccr_plan *plan, uint16_t partition, uint32_t depth, bool strict,
		       struct ccr_error *err)
{
	struct ccr__partition *p = ccr__partition(plan, partition);

	if (!p)
		return ccr_error_nomem(err);
	p->depth = depth;
	p->strict = strict;
	return 0;
}

static bool same_types(const struct ccr_node *a, const struct ccr_node *b)
{
	return a->gpu_types == b->gpu_types &&
	       !memcmp(a->gpu_type, b->gpu_type, a->gpu_types * sizeof(a->gpu_type[0]));
}

int ccr_plan_set_nodes(struct ccr_plan *plan, const struct ccr_node *nodes, struct ccr_error *err)
{
	int64_t gpus = 0;
	int rc;

	for (uint32_t i = plan->entries; i-- > 0;) {
		struct ccr__entry *e = plan->rank[i];
		bool same = true;

		for (uint32_t k = 0; k < e->b.n && same; k++)
			same = same_types(&nodes[e->b.share[k].node],
					  &plan->tl->node[e->b.share[k].node]);
		if (!same)
			ccr__lose(plan, e);
	}
	rc = ccr_timeline_set_nodes(plan->tl, nodes, err);
	for (uint32_t i = 0; !rc && i < plan->tl->n; i++)
		gpus += ccr_amount_gpus(&nodes[i].total);
	if (!rc)
		plan->gpus = gpus;
	return rc;
}

int ccr_plan_node_up(struct ccr_plan *plan, uint32_t node, bool up)
{
	if (node >= plan->tl->n)
		return CCR_EINVAL;
	plan->tl->node[node].up = up;
	return 0;
}

void ccr_plan_begin(struct ccr_plan *plan, int64_t now, bool cycle)
{
	ccr_timeline_begin(plan->tl, now);
	plan->blocks = 0;
	plan->blocks_held = false;
	plan->long_gpus = 0;
	for (uint32_t i = 0; i < plan->entries; i++)
		plan->rank[i]->held = false;
	if (cycle)
		plan->cycle++;
}

int ccr_plan_running(struct ccr_plan *plan, uint32_t node, const struct ccr_amount *a, int64_t end,
		     int64_t limit)
{
	if (plan->opt.long_limit && limit > plan->opt.long_limit)
		plan->long_gpus += ccr_amount_gpus(a);
	return ccr_timeline_run(plan->tl, node, a, end);
}

int ccr_plan_block(struct ccr_plan *plan, uint32_t node, int64_t from, int64_t to,
		   const struct ccr_amount *a)
{
	if (node >= plan->tl->n)
		return CCR_EINVAL;
	if (plan->blocks == plan->block_cap) {
		uint32_t cap = plan->block_cap ? 2 * plan->block_cap : 64;
		struct ccr__block *p = realloc(plan->block, cap * sizeof(*p));

		if (!p)
			return CCR_ENOMEM;
		plan->block = p;
		plan->block_cap = cap;
	}
	plan->block[plan->blocks++] =
	    (struct ccr__block){node, from, to, a ? *a : plan->tl->node[node].total};
	return 0;
}

int ccr__blocks(struct ccr_plan *plan, bool hold)
{
	int rc = 0;

	if (plan->blocks_held == hold)
		return 0;
	for (uint32_t i = 0; i < plan->blocks && !rc; i++) {
		const struct ccr__block *b = &plan->block[i];

		rc = hold ? ccr_timeline_hold(plan->tl, b->node, b->from, b->to, &b->a, false)
			  : ccr_timeline_unhold(plan->tl, b->node, b->from, b->to, &b->a, false);
	}
	plan->blocks_held = hold;
	return rc;
}

int ccr_plan_ready(struct ccr_plan *plan, struct ccr_error *err)
{
	ccr_timeline_ready(plan->tl);
	if (ccr__blocks(plan, true))
		return ccr_error_nomem(err);
	if (ccr__settle(plan, true))
		return ccr_error_nomem(err);
	return 0;
}

/* Of jobs that are booked together the first counts; one that has a claim is as good as gone. */
static bool counts(const struct ccr__entry *e)
{
	return !e->b.claim && (!e->together || e->together == e->b.job);
}

uint32_t ccr__ahead(const struct ccr_plan *plan, const struct ccr_plan_job *job)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->entries; i++) {
		const struct ccr_booking *b = &plan->rank[i]->b;

		if (ccr_rank_cmp(&b->rank, &job->rank) >= 0)
			break;
		n += b->partition == job->partition && b->job != job->id && counts(plan->rank[i]);
	}
	return n;
}

void ccr__trim(struct ccr_plan *plan, uint16_t partition, uint32_t depth)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->entries; i++) {
		struct ccr__entry *e = plan->rank[i];

		if (e->b.partition == partition && counts(e) && ++n > depth) {
			ccr_plan_drop(plan, e->b.job);
			i = UINT32_MAX; /* others may have gone with it: from the beginning */
			n = 0;
		}
	}
}

bool ccr__same_job(const struct ccr_plan *plan, const struct ccr__entry *e,
		   const struct ccr_plan_job *job)
{
	uint32_t required = job->required ? ccr_bit_count(job->required, plan->tl->n) : 0;
	struct ccr_query q = ccr__query(job);

	if (e->restored)
		return e->limit == job->limit &&
		       ccr_search_covers(plan->search, plan->tl, &q, e->b.share, e->b.n);
	if (e->limit != job->limit || !ccr_demand_equal(&e->demand, job->demand))
		return false;
	for (uint32_t i = 0; i < e->b.n; i++)
		if (e->b.share[i].node >= plan->tl->n ||
		    !ccr_bit(job->candidates, e->b.share[i].node))
			return false;
		else if (job->required && ccr_bit(job->required, e->b.share[i].node))
			required--;
	return !e->b.n || !required;
}

int64_t ccr__behind(const struct ccr_plan *plan, const struct ccr__partition *p,
		    const struct ccr_plan_job *job)
{
	const struct ccr__entry *own = ccr__find(plan, job->id);
	int64_t from = plan->tl->now;

	for (uint32_t i = 0; (p->strict || plan->opt.strict) && i < plan->entries; i++) {
		const struct ccr_booking *b = &plan->rank[i]->b;

		if (ccr_rank_cmp(&b->rank, &job->rank) >= 0)
			break;
		if (own && own->together && own->together == plan->rank[i]->together)
			continue;
		if (b->partition == job->partition && b->job != job->id && b->start > from)
			from = b->start;
	}
	return from;
}

/* Looks for a place from `from` on and before `until`, all entries that count being in the
 * timeline. */
static int look(struct ccr_plan *plan, const struct ccr_plan_job *job, int64_t from, int64_t until,
		struct ccr_slot *slot)
{
	struct ccr_query q = ccr__query(job);
	uint32_t lent = ccr__lend(plan, job);
	int rc;

	q.sure = true;
	rc = ccr_search_earliest(plan->search, plan->tl, &q, from, until, &plan->opt.place, slot);
	ccr__take_again(plan, job, lent);
	return rc;
}

/* The booking now is in the partition that the job is tried in. */
static int move(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_plan_job *job)
{
	if (ccr__remember(plan, e, job))
		return CCR_ENOMEM;
	e->restored = false;
	ccr_plan_rerank(plan, job->id, &job->rank);
	return 0;
}

/* The job has a place: an earlier one, if there is one beside all other bookings. */
static int improve(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_plan_job *job,
		   uint32_t depth, int64_t from)
{
	struct ccr_slot slot = {.start = CCR_FOREVER};
	int rc;

	ccr__lift(plan, e);
	rc = look(plan, job, from, e->b.start, &slot);
	if (!rc && slot.n && !(rc = move(plan, e, job))) {
		rc = ccr__assign(plan, e, &slot);
		if (!rc)
			rc = ccr__mark_over(plan, e, job);
		ccr__trim(plan, job->partition, depth);
	} else if (ccr__hold(plan, e)) {
		rc = CCR_ENOMEM;
	}
	return rc;
}

static enum ccr_book result(struct ccr__entry *e, const struct ccr_booking **out)
{
	if (out)
		*out = &e->b;
	return CCR_BOOKED;
}

static enum ccr_book nomem(struct ccr_error *err)
{
	ccr_error_nomem(err);
	return CCR_BOOK_ERROR;
}

/* The job has no place yet. */
static enum ccr_book make(struct ccr_plan *plan, struct ccr__entry *e,
			  const struct ccr_plan_job *job, uint32_t depth, int64_t from,
			  const struct ccr_booking **out, struct ccr_error *err)
{
	struct ccr_slot slot;
	int rc = 0;

	if (!e && !(e = ccr__add(plan, job)))
		return nomem(err);
	if (e->b.partition != job->partition)
		rc = move(plan, e, job);
	ccr__clear_for(plan, job, e);
	if (!rc)
		rc = look(plan, job, from, ccr_end(plan->tl->now, plan->opt.window) + 1, &slot);
	if (!rc)
		rc = ccr__assign(plan, e, &slot);
	if (!rc)
		rc = ccr__mark_over(plan, e, job);
	if (ccr__settle(plan, false) || rc)
		return nomem(err);
	ccr__trim(plan, job->partition, depth);
	return e->b.n ? result(e, out) : CCR_BOOK_WINDOW;
}

void ccr__close_strict(struct ccr_plan *plan, struct ccr__partition *p,
		       const struct ccr_plan_job *job)
{
	if ((!p->strict && !plan->opt.strict) || p->closed == plan->cycle)
		return;
	p->closed = plan->cycle;
	p->closer = job->rank;
}

enum ccr_book ccr_plan_book(struct ccr_plan *plan, const struct ccr_plan_job *job,
			    const struct ccr_booking **out, struct ccr_error *err)
{
	struct ccr__partition *p = ccr__partition(plan, job->partition);
	struct ccr__entry *e = ccr__find(plan, job->id);
	struct ccr_query q = ccr__query(job);
	struct ccr_plan_job first;
	bool here, deep;
	uint32_t depth;
	int64_t from;

	if (out)
		*out = NULL;
	if (!p)
		return nomem(err);
	if (e && e->lost) {
		first = *job;
		first.over_lower = true;
		job = &first;
	}
	/* when others have left it room is not known, and what it held nobody else would get */
	if (ccr__too_long(plan, job, NULL)) {
		ccr_plan_drop(plan, job->id);
		return CCR_BOOK_NEVER;
	}
	depth = p->depth == UINT32_MAX ? plan->opt.depth : p->depth;
	if (e && e->b.claim) {
		/* who makes way for it is known in its own partition alone */
		if (e->b.partition != job->partition || ccr__claim_stands(plan, e, job)) {
			ccr__close_strict(plan, p, job);
			if (e->b.partition == job->partition)
				ccr_plan_rerank(plan, job->id, &job->rank);
			return result(e, out);
		}
		ccr__remove(plan, e);
		e = NULL;
	}
	here = e && e->b.partition == job->partition;
	if (here && !ccr__same_job(plan, e, job)) {
		ccr__remove(plan, e);
		e = NULL;
		here = false;
	}
	if (here && e->restored && move(plan, e, job))
		return nomem(err);
	if (here && ccr_rank_cmp(&e->b.rank, &job->rank))
		ccr_plan_rerank(plan, job->id, &job->rank);
	deep = ccr__ahead(plan, job) >= depth;
	if (deep && !p->strict && !plan->opt.strict) {
		if (here)
			ccr__remove(plan, e);
		else if (e && e->b.n)
			return result(e, out);
		return CCR_BOOK_DEPTH;
	}
	if (!ccr_search_possible(plan->search, plan->tl, &q)) {
		if (here)
			ccr__remove(plan, e);
		else if (e && e->b.n)
			return result(e, out);
		return CCR_BOOK_NEVER;
	}
	ccr__close_strict(plan, p, job);
	if (deep) {
		if (here)
			ccr__remove(plan, e);
		return here || !e || !e->b.n ? CCR_BOOK_DEPTH : result(e, out);
	}
	if (ccr__blocks(plan, true))
		return nomem(err);
	if (here && e->b.n && e->b.over && ccr__over_again(plan, e, job))
		return nomem(err);
	from = ccr__behind(plan, p, job);
	if (here && e->b.n && e->b.start < from) {
		ccr__remove(plan, e);
		e = NULL;
	}
	from = job->not_before > from ? job->not_before : from;
	if (!e || !e->b.n)
		return make(plan, e, job, depth, from, out, err);
	if (improve(plan, e, job, depth, from))
		return nomem(err);
	return result(e, out);
}

bool ccr_plan_deep(const struct ccr_plan *plan, uint16_t partition, const struct ccr_rank *rank)
{
	const struct ccr_plan_job job = {.id = rank->job, .partition = partition, .rank = *rank};
	uint32_t depth = plan->opt.depth;

	if (partition < plan->parts && plan->part[partition].depth != UINT32_MAX)
		depth = plan->part[partition].depth;
	return ccr__ahead(plan, &job) >= depth;
}

void ccr_plan_blocked(struct ccr_plan *plan, const struct ccr_plan_job *job)
{
	struct ccr__partition *p = ccr__partition(plan, job->partition);
	struct ccr_query q = ccr__query(job);

	if (p && ccr_search_possible(plan->search, plan->tl, &q))
		ccr__close_strict(plan, p, job);
}

void ccr_plan_drop(struct ccr_plan *plan, uint32_t job)
{
	struct ccr__entry *e = ccr__find(plan, job);
	uint32_t first = e ? e->together : 0;

	if (e)
		ccr__remove(plan, e);
	/* Without it the others are of no use. */
	for (uint32_t i = plan->entries; first && i-- > 0;)
		if (plan->rank[i]->together == first)
			ccr__remove(plan, plan->rank[i]);
}

void ccr_plan_rerank(struct ccr_plan *plan, uint32_t job, const struct ccr_rank *rank)
{
	struct ccr__entry *e = ccr__find(plan, job);
	uint32_t at = 0, to;

	if (!e)
		return;
	while (at < plan->entries && plan->rank[at] != e)
		at++;
	if (at == plan->entries)
		return;
	memmove(&plan->rank[at], &plan->rank[at + 1],
		(plan->entries - at - 1) * sizeof(struct ccr__entry *));
	plan->entries--;
	e->b.rank = *rank;
	to = ccr__above(plan, rank);
	memmove(&plan->rank[to + 1], &plan->rank[to],
		(plan->entries - to) * sizeof(struct ccr__entry *));
	plan->rank[to] = e;
	plan->entries++;
}

const struct ccr_booking *ccr_plan_booking(const struct ccr_plan *plan, uint32_t job)
{
	const struct ccr__entry *e = ccr__find(plan, job);

	return e && e->b.n ? &e->b : NULL;
}

const struct ccr_booking *ccr_plan_nth(const struct ccr_plan *plan, uint32_t i)
{
	return i < plan->entries ? &plan->rank[i]->b : NULL;
}

const struct ccr_timeline *ccr_plan_timeline(const struct ccr_plan *plan)
{
	return plan->tl;
}
