/* together - see together.h */
#include "core/together.h"

#include "core/plan_impl.h"

#include <stdlib.h>
#include <string.h>

#define TIMES 64 /* start times that are looked at */
#define TRIES 3	 /* ways to deal out the nodes at each */

struct place {
	struct ccr_share *share;
	uint32_t n;
	bool held;
};

struct party {
	struct ccr_plan *plan;
	const struct ccr_plan_job *job;
	uint32_t first; /* the id that they have in common */
	struct place *place;
	uint32_t *order; /* in which they take their places */
	uint32_t n;
	uint64_t *left;	 /* nodes that one may use: not those of the others */
	uint64_t *avoid; /* those that others are still to choose from */
	uint64_t *able;	 /* for each job the nodes that it could use at a time, alone */
	bool looked;	 /* these are known */
};

static void free_party(struct party *p)
{
	for (uint32_t i = 0; p->place && i < p->n; i++)
		free(p->place[i].share);
	free(p->place);
	free(p->order);
	free(p->left);
	free(p->avoid);
	free(p->able);
}

static bool make_party(struct party *p)
{
	size_t words = CCR_WORDS(p->plan->tl->n) + 1;

	p->place = calloc(p->n, sizeof(*p->place));
	p->order = calloc(p->n, sizeof(*p->order));
	p->left = calloc(words, sizeof(*p->left));
	p->avoid = calloc(words, sizeof(*p->avoid));
	p->able = calloc(p->n * words, sizeof(*p->able));
	return p->place && p->order && p->left && p->avoid && p->able;
}

static uint64_t *able_of(const struct party *p, uint32_t i)
{
	return p->able + i * (CCR_WORDS(p->plan->tl->n) + 1);
}

static void lift(struct party *p, int64_t start)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct place *at = &p->place[i];

		for (uint32_t k = 0; at->held && k < at->n; k++)
			ccr_timeline_unhold(p->plan->tl, at->share[k].node, start,
					    ccr_end(start, p->job[i].limit), &at->share[k].a, true);
		at->held = false;
		free(at->share);
		at->share = NULL;
		at->n = 0;
	}
}

/* slurmctld gives each component nodes of its own. */
static void leave(struct party *p, uint32_t i)
{
	size_t words = CCR_WORDS(p->plan->tl->n);

	for (size_t w = 0; w < words; w++)
		p->left[w] = p->job[i].candidates ? p->job[i].candidates[w] : ~UINT64_C(0);
	memset(p->avoid, 0, words * sizeof(*p->avoid));
	for (uint32_t k = 0; k < p->n; k++) {
		const uint64_t *able = able_of(p, k);

		for (uint32_t s = 0; s < p->place[k].n; s++)
			ccr_bit_clear(p->left, p->place[k].share[s].node);
		for (size_t w = 0; p->looked && k != i && !p->place[k].n && w < words; w++)
			p->avoid[w] |= able[w];
	}
}

static int hold(struct party *p, uint32_t i, const struct ccr_slot *slot)
{
	struct place *at = &p->place[i];
	int64_t end = ccr_end(slot->start, p->job[i].limit);

	at->share = malloc(slot->n * sizeof(*at->share));
	if (!at->share)
		return CCR_ENOMEM;
	memcpy(at->share, slot->share, slot->n * sizeof(*at->share));
	for (; at->n < slot->n; at->n++)
		if (ccr_timeline_hold(p->plan->tl, at->share[at->n].node, slot->start, end,
				      &at->share[at->n].a, true))
			break;
	at->held = true; /* as much as n says */
	return at->n < slot->n ? CCR_ENOMEM : 0;
}

/*
 * Gives each its place at that time, one after the other. *next: `from` if all have one; else when
 * the one at *stuck finds it beside those before it.
 */
static int try(struct party *p, int64_t from, int64_t until, int64_t *next, uint32_t *stuck)
{
	*next = from;
	for (uint32_t k = 0; k < p->n && *next == from; k++) {
		uint32_t i = p->order[k];
		struct ccr_query q = ccr__query(&p->job[i]);
		struct ccr_slot slot;
		int rc;

		q.sure = true;
		q.candidates = p->left;
		q.avoid = p->looked ? p->avoid : NULL;
		leave(p, i);
		rc = ccr_search_earliest(p->plan->search, p->plan->tl, &q, from, until,
					 &p->plan->opt.place, &slot);
		if (!rc && slot.n && slot.start == from) {
			rc = hold(p, i, &slot);
		} else {
			*next = slot.n ? slot.start : until;
			*stuck = k;
		}
		if (rc)
			return rc;
	}
	return 0;
}

/* Where each could start at that time, alone. */
static void look_where(struct party *p, int64_t from)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct ccr_query q = ccr__query(&p->job[i]);

		q.sure = true;
		(void)ccr_search_at(p->plan->search, p->plan->tl, &q, from, able_of(p, i));
	}
	p->looked = true;
}

static void go_first(struct party *p, uint32_t k)
{
	uint32_t i = p->order[k];

	memmove(&p->order[1], &p->order[0], k * sizeof(*p->order));
	p->order[0] = i;
}

/*
 * The first time from `from` on and before `until` at which all have their place, which then is in
 * place[]; *start is CCR_FOREVER if there is none. Where one is left without, as those before took
 * what only it could not do without, it goes first, and nobody takes what others choose from if
 * there is something else. If that is no use, all move to when it finds its place.
 */
static int find(struct party *p, int64_t from, int64_t until, int64_t *start)
{
	*start = CCR_FOREVER;
	for (int turn = 0; turn < TIMES && from < until; turn++) {
		int64_t soonest = until;

		p->looked = false;
		for (uint32_t i = 0; i < p->n; i++)
			p->order[i] = i;
		for (int t = 0; t < TRIES; t++) {
			uint32_t stuck = 0;
			int64_t next;
			int rc = try(p, from, until, &next, &stuck);

			if (!rc && next == from) {
				*start = from;
				return 0;
			}
			lift(p, from);
			if (rc)
				return rc;
			if (!stuck) { /* whatever the others do */
				soonest = next;
				break;
			}
			soonest = next < soonest ? next : soonest;
			if (!t)
				look_where(p, from);
			go_first(p, stuck);
		}
		from = soonest;
	}
	return 0;
}

/*
 * When all are booked, at one time, on nodes of their own and as they are now; else CCR_FOREVER.
 */
static int64_t booked_at(struct party *p)
{
	int64_t at = CCR_FOREVER;

	memset(p->left, 0, CCR_WORDS(p->plan->tl->n) * sizeof(*p->left));
	for (uint32_t i = 0; i < p->n; i++) {
		const struct ccr__entry *e = ccr__find(p->plan, p->job[i].id);

		if (!e || !e->b.n || !e->held || !ccr__same_job(p->plan, e, &p->job[i]) ||
		    (i && e->b.start != at))
			return CCR_FOREVER;
		for (uint32_t k = 0; k < e->b.n; k++) {
			if (ccr_bit(p->left, e->b.share[k].node))
				return CCR_FOREVER;
			ccr_bit_set(p->left, e->b.share[k].node);
		}
		at = e->b.start;
	}
	return at;
}

/* They are as they were, and their places went through no doing of theirs. */
static bool are_lost(const struct party *p)
{
	bool lost = false;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct ccr__entry *e = ccr__find(p->plan, p->job[i].id);

		if (!e || !ccr__same_job(p->plan, e, &p->job[i]))
			return false;
		lost = lost || e->lost;
	}
	return lost;
}

/* What is left of their places goes too. */
static void lose(const struct party *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct ccr__entry *e = ccr__find(p->plan, p->job[i].id);

		if (e)
			ccr__lose(p->plan, e);
	}
}

static void drop(const struct party *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		ccr_plan_drop(p->plan, p->job[i].id);
}

/* Gives each the entry of what was found. */
static int assign(struct party *p, int64_t start)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct ccr__entry *e = ccr__find(p->plan, p->job[i].id);
		struct place *at = &p->place[i];
		struct ccr_slot slot = {.start = start, .n = at->n, .share = at->share};

		if (e && ccr__remember(p->plan, e, &p->job[i]))
			return CCR_ENOMEM;
		if (!e && !(e = ccr__add(p->plan, &p->job[i])))
			return CCR_ENOMEM;
		e->restored = false;
		e->together = p->first;
		ccr_plan_rerank(p->plan, p->job[i].id, &p->job[i].rank);
		for (uint32_t k = 0; at->held && k < at->n; k++)
			ccr_timeline_unhold(p->plan->tl, at->share[k].node, start,
					    ccr_end(start, p->job[i].limit), &at->share[k].a, true);
		at->held = false;
		if (ccr__assign(p->plan, e, &slot))
			return CCR_ENOMEM;
	}
	return 0;
}

/* With all their own places out of the timeline: keeps them, or takes earlier ones. */
static int place(struct party *p, int64_t had, int64_t from, int64_t until, int64_t *start)
{
	int rc = find(p, from, until < had ? until : had, start);

	if (!rc && *start < CCR_FOREVER) {
		rc = assign(p, *start);
		lift(p, *start);
	} else if (!rc && had < CCR_FOREVER) {
		for (uint32_t i = 0; i < p->n && !rc; i++) {
			struct ccr__entry *e = ccr__find(p->plan, p->job[i].id);

			if (e->restored && (rc = ccr__remember(p->plan, e, &p->job[i])))
				break;
			e->restored = false;
			e->together = p->first;
			rc = ccr__hold(p->plan, e);
		}
		*start = had;
	}
	return rc;
}

int ccr__together_anew(struct ccr_plan *plan, struct ccr__entry *e)
{
	struct ccr_plan_job *job = calloc(plan->entries, sizeof(*job));
	struct party p = {.plan = plan, .job = job, .first = e->together};
	struct ccr_slot none = {.start = CCR_FOREVER};
	int64_t start = CCR_FOREVER, now = plan->tl->now;
	struct ccr__entry *o;
	int rc = CCR_ENOMEM;

	for (uint32_t i = 0; job && (o = ccr__next_of(plan, e, &i));)
		job[p.n++] = (struct ccr_plan_job){.id = o->b.job,
						   .rank = o->b.rank,
						   .partition = o->b.partition,
						   .since = o->since,
						   .limit = o->limit,
						   .demand = &o->demand,
						   .candidates = o->candidates,
						   .required = o->required};
	if (job && make_party(&p))
		rc = find(&p, now, ccr_end(now, plan->opt.window) + 1, &start);
	if (!rc && start < CCR_FOREVER) {
		rc = assign(&p, start);
		lift(&p, start);
	} else {
		for (uint32_t i = 0; !rc && i < p.n; i++)
			rc = ccr__assign(plan, ccr__find(plan, job[i].id), &none);
	}
	free_party(&p);
	free(job);
	return rc;
}

/*
 * When all may start at the earliest, by the rules of their partitions; CCR_FOREVER: not now, and
 * when is not known.
 */
static int64_t earliest(const struct party *p)
{
	int64_t from = p->plan->tl->now, long_gpus = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct ccr_plan_job *job = &p->job[i];
		const struct ccr__partition *part = ccr__partition(p->plan, job->partition);
		int64_t t = part ? ccr__behind(p->plan, part, job) : CCR_FOREVER;

		if (ccr__too_long(p->plan, job, &long_gpus) ||
		    (t <= p->plan->tl->now && ccr__closed(p->plan, job)))
			return CCR_FOREVER;
		from = t > from ? t : from;
	}
	return from;
}

/* Nobody passes one that waits, where that is the rule. */
static void close_all(const struct party *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct ccr__partition *part = ccr__partition(p->plan, p->job[i].partition);

		if (part)
			ccr__close_strict(p->plan, part, &p->job[i]);
	}
}

enum ccr_book ccr_plan_book_together(struct ccr_plan *plan, const struct ccr_plan_job *job,
				     uint32_t n, int64_t *start, struct ccr_error *err)
{
	struct ccr__partition *part = ccr__partition(plan, job->partition);
	struct party p = {.plan = plan, .job = job, .first = job->id, .n = n};
	int64_t had, from, until = ccr_end(plan->tl->now, plan->opt.window) + 1;
	uint32_t depth;
	bool deep, lost;
	int rc;

	*start = CCR_FOREVER;
	for (uint32_t i = 0; i < n; i++) {
		struct ccr_query q = ccr__query(&job[i]);

		if (ccr_search_possible(plan->search, plan->tl, &q))
			continue;
		drop(&p);
		return CCR_BOOK_NEVER;
	}
	if (!make_party(&p) || !part || ccr__blocks(plan, true)) {
		free_party(&p);
		ccr_error_nomem(err);
		return CCR_BOOK_ERROR;
	}
	depth = part->depth == UINT32_MAX ? plan->opt.depth : part->depth;
	deep = ccr__ahead(plan, job) >= depth;
	from = earliest(&p);
	had = deep ? CCR_FOREVER : booked_at(&p);
	if (had < from)
		had = CCR_FOREVER;
	lost = !deep && are_lost(&p);
	if (lost)
		lose(&p);
	else if (had == CCR_FOREVER)
		drop(&p);
	if (deep)
		until = plan->tl->now + 1;
	/* Those with a place respect all others, new ones all that were there before them, and
	 * those who lost theirs nobody below. */
	for (uint32_t i = 0; i < n; i++) {
		struct ccr_plan_job one = job[i];

		one.over_lower = one.over_lower || lost;
		ccr__clear_for(plan, &one, ccr__find(plan, one.id));
	}
	rc = place(&p, had, from, until, start);
	if (ccr__settle(plan, false))
		rc = CCR_ENOMEM;
	if (rc)
		drop(&p);
	else if (!deep)
		for (uint32_t i = 0; i < n; i++)
			ccr__trim(plan, job[i].partition, depth);
	free_party(&p);
	if (!rc && *start > plan->tl->now)
		close_all(&p);
	if (rc) {
		*start = CCR_FOREVER;
		ccr_error_nomem(err);
		return CCR_BOOK_ERROR;
	}
	if (*start < CCR_FOREVER)
		return CCR_BOOKED;
	return deep ? CCR_BOOK_DEPTH : CCR_BOOK_WINDOW;
}
