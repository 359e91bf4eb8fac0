/* bookings - the table of booked jobs and their places in the timeline; see plan_impl.h */
#include "core/plan_impl.h"

#include <stdlib.h>
#include <string.h>

#define MISSED 10 /* s: a few cycles */

struct ccr__entry *ccr__find(const struct ccr_plan *plan, uint32_t job)
{
	struct ccr__entry *e = NULL;

	HASH_FIND(hh, plan->by_job, &job, sizeof(job), e);
	return e;
}

uint32_t ccr__above(const struct ccr_plan *plan, const struct ccr_rank *rank)
{
	uint32_t low = 0, high = plan->entries;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (ccr_rank_cmp(&plan->rank[mid]->b.rank, rank) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void free_entry(struct ccr__entry *e)
{
	free(e->b.share);
	free(e->candidates);
	free(e->required);
	free(e);
}

/* A copy of a set of nodes; NULL for NULL. False: out of memory. */
static bool copy_set(const struct ccr_plan *plan, const uint64_t *set, uint64_t **out)
{
	size_t bytes = CCR_WORDS(plan->tl->n) * sizeof(uint64_t);

	*out = set ? malloc(bytes ? bytes : 1) : NULL;
	if (*out)
		memcpy(*out, set, bytes);
	return *out || !set;
}

int ccr__remember(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_plan_job *job)
{
	uint64_t *candidates, *required;

	if (!copy_set(plan, job->candidates, &candidates))
		return CCR_ENOMEM;
	if (!copy_set(plan, job->required, &required)) {
		free(candidates);
		return CCR_ENOMEM;
	}
	free(e->candidates);
	free(e->required);
	e->candidates = candidates;
	e->required = required;
	e->demand = *job->demand;
	e->limit = job->limit;
	e->since = job->since;
	e->b.partition = job->partition;
	return 0;
}

struct ccr__entry *ccr__add(struct ccr_plan *plan, const struct ccr_plan_job *job)
{
	struct ccr__entry *e, *there = NULL;
	uint32_t at;

	if (plan->entries == plan->cap) {
		uint32_t cap = plan->cap ? 2 * plan->cap : 64;
		struct ccr__entry **p = realloc(plan->rank, cap * sizeof(struct ccr__entry *));

		if (!p)
			return NULL;
		plan->rank = p;
		plan->cap = cap;
	}
	e = calloc(1, sizeof(*e));
	if (!e || ccr__remember(plan, e, job))
		goto nomem;
	e->b.job = job->id;
	e->b.rank = job->rank;
	e->b.made = plan->tl->now;
	HASH_ADD(hh, plan->by_job, b.job, sizeof(e->b.job), e);
	HASH_FIND(hh, plan->by_job, &e->b.job, sizeof(e->b.job), there);
	if (there != e)
		goto nomem;
	at = ccr__above(plan, &job->rank);
	memmove(&plan->rank[at + 1], &plan->rank[at],
		(plan->entries - at) * sizeof(struct ccr__entry *));
	plan->rank[at] = e;
	plan->entries++;
	return e;
nomem:
	if (e)
		free_entry(e);
	return NULL;
}

void ccr__remove(struct ccr_plan *plan, struct ccr__entry *e)
{
	uint32_t at = ccr__above(plan, &e->b.rank);

	while (at < plan->entries && plan->rank[at] != e)
		at++;
	ccr__lift(plan, e);
	if (at < plan->entries) {
		plan->entries--;
		memmove(&plan->rank[at], &plan->rank[at + 1],
			(plan->entries - at) * sizeof(struct ccr__entry *));
	}
	HASH_DEL(plan->by_job, e);
	free_entry(e);
}

int ccr__hold(struct ccr_plan *plan, struct ccr__entry *e)
{
	if (e->held || !e->b.n)
		return 0;
	for (uint32_t i = 0; i < e->b.n; i++) {
		if (ccr_timeline_hold(plan->tl, e->b.share[i].node, ccr__from(e), e->b.end,
				      &e->b.share[i].a, true)) {
			while (i-- > 0)
				ccr_timeline_unhold(plan->tl, e->b.share[i].node, ccr__from(e),
						    e->b.end, &e->b.share[i].a, true);
			return CCR_ENOMEM;
		}
	}
	e->held = true;
	return 0;
}

void ccr__lift(struct ccr_plan *plan, struct ccr__entry *e)
{
	if (!e->held)
		return;
	/* The steps at both ends are still there, so this needs no memory and cannot fail. */
	for (uint32_t i = 0; i < e->b.n; i++)
		ccr_timeline_unhold(plan->tl, e->b.share[i].node, ccr__from(e), e->b.end,
				    &e->b.share[i].a, true);
	e->held = false;
}

/* Its job could have started for a while, by the plan, and did not: nobody above waits for that. */
static bool missed(const struct ccr_plan *plan, const struct ccr__entry *e)
{
	return e->open && !e->b.claim && plan->tl->now - e->open > MISSED;
}

void ccr__clear_for(struct ccr_plan *plan, const struct ccr_plan_job *job, struct ccr__entry *own)
{
	bool placed = own && own->b.n;

	if (own)
		ccr__lift(plan, own);
	for (uint32_t i = ccr__above(plan, &job->rank); i < plan->entries; i++)
		if (job->over_lower || (!placed && plan->rank[i]->b.made < job->since) ||
		    missed(plan, plan->rank[i]))
			ccr__lift(plan, plan->rank[i]);
}

/* What was lifted goes back into steps that are still there: no memory is needed. */
void ccr__put_back(struct ccr_plan *plan)
{
	for (uint32_t i = 0; i < plan->entries; i++)
		ccr__hold(plan, plan->rank[i]);
}

int ccr__assign(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_slot *slot)
{
	struct ccr_share *share = NULL;

	if (slot->n) {
		share = malloc(slot->n * sizeof(*share));
		if (!share)
			return CCR_ENOMEM;
		memcpy(share, slot->share, slot->n * sizeof(*share));
	}
	free(e->b.share);
	e->b.share = share;
	e->b.n = slot->n;
	e->b.start = slot->start;
	e->b.end = ccr_end(slot->start, e->limit);
	e->b.due = e->open = 0;
	e->b.over = e->b.claim = e->lost = false;
	if (slot->n && !e->b.first_start) {
		e->b.first_start = slot->start;
		e->b.made = plan->tl->now;
	}
	return ccr__hold(plan, e);
}

struct ccr__entry *ccr__next_of(const struct ccr_plan *plan, struct ccr__entry *e, uint32_t *i)
{
	if (!e->together || e->b.claim)
		return (*i)++ ? NULL : e;
	while (*i < plan->entries) {
		struct ccr__entry *o = plan->rank[(*i)++];

		if (o->together == e->together && !o->b.claim)
			return o;
	}
	return NULL;
}

/* From when on it is late. */
static int64_t due_at(const struct ccr__entry *e)
{
	return e->b.due ? e->b.due : e->b.start;
}

static int64_t late_by(const struct ccr__entry *e, int64_t now)
{
	int64_t due = due_at(e), late = now > due ? now - due : 0;

	return late < CCR_LATE_MAX ? late : CCR_LATE_MAX;
}

int64_t ccr_plan_late(const struct ccr_plan *plan, uint32_t job)
{
	const struct ccr__entry *e = ccr__find(plan, job);

	return e && e->b.n ? late_by(e, plan->tl->now) : 0;
}

bool ccr__holds(const struct ccr_plan *plan, const struct ccr__entry *e, int64_t start, int64_t end)
{
	for (uint32_t i = 0; i < e->b.n; i++)
		if (!plan->tl->node[e->b.share[i].node].up ||
		    !ccr_timeline_holds(plan->tl, e->b.share[i].node, start, end, &e->b.share[i].a))
			return false;
	return e->b.n > 0;
}

/* The same of a start that may be promised. */
static bool holds(const struct ccr_plan *plan, const struct ccr__entry *e, int64_t start,
		  int64_t end)
{
	return start <= ccr_end(plan->tl->now, plan->opt.window) && ccr__holds(plan, e, start, end);
}

/* When the entry, and those that it is booked together with, begin: at once if their time has come.
 */
static int64_t start_of(const struct ccr_plan *plan, struct ccr__entry *e)
{
	int64_t start = plan->tl->now;
	const struct ccr__entry *o;

	for (uint32_t i = 0; (o = ccr__next_of(plan, e, &i));)
		start = o->b.start > start ? o->b.start : start;
	return start;
}

/* Its end if it begins then. */
static int64_t end_from(const struct ccr__entry *e, int64_t start)
{
	int64_t late = late_by(e, start);

	return ccr_end(start, e->limit > late ? e->limit - late : 1);
}

static void begin(const struct ccr_plan *plan, struct ccr__entry *e, int64_t start)
{
	int64_t end = end_from(e, start);

	if ((e->b.start <= plan->tl->now || e->b.start < start) && !e->b.due)
		e->b.due = e->b.start;
	if (start > plan->tl->now)
		e->open = 0;
	else if (!e->open)
		e->open = plan->tl->now;
	e->b.start = start;
	e->b.end = end;
}

/* Whether the entry's place is whole, begun at once if its time has come; with all places of those
 * that it is booked together with. */
static bool still_whole(struct ccr_plan *plan, struct ccr__entry *e)
{
	int64_t start = start_of(plan, e);
	struct ccr__entry *o;

	for (uint32_t i = 0; (o = ccr__next_of(plan, e, &i));)
		if (!holds(plan, o, start, end_from(o, start)))
			return false;
	for (uint32_t i = 0; (o = ccr__next_of(plan, e, &i));)
		begin(plan, o, start);
	return true;
}

/*
 * A place that counts on jobs making way is not whole until they have, and which they are is known
 * when its job has its turn: it stays, on nodes that are up.
 */
static bool stays_over(struct ccr_plan *plan, struct ccr__entry *e)
{
	for (uint32_t i = 0; i < e->b.n; i++)
		if (!plan->tl->node[e->b.share[i].node].up)
			return false;
	begin(plan, e, start_of(plan, e));
	return true;
}

/* Whether all places are whole if they begin then and end as they were to. */
static bool whole_from(const struct ccr_plan *plan, struct ccr__entry *e, int64_t start)
{
	const struct ccr__entry *o;

	for (uint32_t i = 0; (o = ccr__next_of(plan, e, &i));) {
		int64_t end = ccr_end(due_at(o), o->limit);

		if (start >= end || !holds(plan, o, start, end))
			return false;
	}
	return true;
}

/*
 * Whether the place is whole if the job begins somewhat later: then who runs there, or is booked,
 * began that much late. It ends later too if there is room, else its end is kept. When it is whole
 * is found by halves, as it stays so from then on. Those that are booked together all begin when
 * the last of them can.
 */
static bool slide(struct ccr_plan *plan, struct ccr__entry *e)
{
	int64_t fails = start_of(plan, e), whole = CCR_FOREVER;
	struct ccr__entry *o;

	for (uint32_t i = 0; (o = ccr__next_of(plan, e, &i));)
		whole = due_at(o) + CCR_LATE_MAX < whole ? due_at(o) + CCR_LATE_MAX : whole;
	if (whole <= fails || !whole_from(plan, e, whole))
		return false;
	while (whole - fails > 1) {
		int64_t middle = fails + (whole - fails) / 2;

		if (whole_from(plan, e, middle))
			whole = middle;
		else
			fails = middle;
	}
	for (uint32_t i = 0; (o = ccr__next_of(plan, e, &i));) {
		int64_t due = due_at(o);
		bool room = holds(plan, o, whole, ccr_end(whole, o->limit));

		o->b.start = whole;
		o->b.due = room ? 0 : due;
		o->b.end = ccr_end(room ? whole : due, o->limit);
	}
	return true;
}

unsigned ccr__lose(struct ccr_plan *plan, struct ccr__entry *e)
{
	struct ccr__entry *o;

	if (e->b.claim) {
		ccr__remove(plan, e);
		return 1;
	}
	for (uint32_t i = 0; (o = ccr__next_of(plan, e, &i));) {
		ccr__lift(plan, o);
		o->b.n = 0;
		o->b.over = false;
		o->lost = true;
	}
	return 0;
}

/* The earliest place, before `until`, of an entry that is booked alone. */
static int look_before(struct ccr_plan *plan, const struct ccr__entry *e, int64_t until,
		       struct ccr_slot *slot)
{
	struct ccr_query q = ccr__entry_query(e);

	return ccr_search_earliest(plan->search, plan->tl, &q, plan->tl->now, until,
				   &plan->opt.place, slot);
}

static int look_anew(struct ccr_plan *plan, const struct ccr__entry *e, struct ccr_slot *slot)
{
	return look_before(plan, e, ccr_end(plan->tl->now, plan->opt.window) + 1, slot);
}

/*
 * A place elsewhere that is no later than its own was. Who started over it did so because there is
 * one: a job below would have it, if this one waited for its own nodes.
 */
static bool place_no_later(struct ccr_plan *plan, struct ccr__entry *e, struct ccr_slot *slot)
{
	return !e->restored && !e->together && !e->b.claim && !e->b.over &&
	       !look_before(plan, e, start_of(plan, e) + 1, slot) && slot->n;
}

static int place_anew(struct ccr_plan *plan, struct ccr__entry *e)
{
	struct ccr_slot slot;
	int rc;

	if (e->together)
		return ccr__together_anew(plan, e);
	rc = look_anew(plan, e, &slot);
	return rc ? rc : ccr__assign(plan, e, &slot);
}

int ccr__settle(struct ccr_plan *plan, bool reality)
{
	for (uint32_t i = 0; i < plan->entries; i++) {
		struct ccr__entry *e = plan->rank[i], *o;
		struct ccr_slot slot;
		bool whole;
		int rc = 0;

		if (e->held || !e->b.n)
			continue;
		/* (of those booked together some may be held) */
		for (uint32_t k = 0; (o = ccr__next_of(plan, e, &k));)
			ccr__lift(plan, o);
		whole = e->b.over ? stays_over(plan, e) : still_whole(plan, e);
		if (!whole && place_no_later(plan, e, &slot)) {
			if ((rc = ccr__assign(plan, e, &slot)))
				return rc;
			continue;
		}
		if (whole || (!e->b.over && slide(plan, e))) {
			for (uint32_t k = 0; !rc && (o = ccr__next_of(plan, e, &k));)
				rc = ccr__hold(plan, o);
			if (rc)
				return rc;
			continue;
		}
		if (e->restored || e->b.claim) {
			/* What to look for instead is not known: its job's turn comes. */
			i -= ccr__lose(plan, e);
			continue;
		}
		for (uint32_t j = i + 1; j < plan->entries; j++)
			if (reality || plan->rank[j]->b.made < e->since)
				ccr__lift(plan, plan->rank[j]);
		if ((rc = place_anew(plan, e)))
			return rc;
	}
	return 0;
}

int ccr__over_again(struct ccr_plan *plan, struct ccr__entry *e, const struct ccr_plan_job *job)
{
	struct ccr_slot slot = {.start = CCR_FOREVER};
	uint32_t lent;
	bool whole;
	int rc = 0;

	ccr__lift(plan, e);
	lent = ccr__lend(plan, job);
	whole = still_whole(plan, e) || slide(plan, e);
	if (!whole) {
		for (uint32_t j = ccr__above(plan, &e->b.rank); j < plan->entries; j++)
			ccr__lift(plan, plan->rank[j]);
		rc = look_anew(plan, e, &slot);
	}
	ccr__take_again(plan, job, lent);
	if (!rc)
		rc = whole ? ccr__hold(plan, e) : ccr__assign(plan, e, &slot);
	if (!rc)
		rc = ccr__mark_over(plan, e, job);
	return rc ? rc : ccr__settle(plan, true);
}

int ccr_plan_lost(struct ccr_plan *plan, const struct ccr_plan_job *job,
		  const struct ccr_booking *b, struct ccr_error *err)
{
	static const struct ccr_demand unknown;
	struct ccr_plan_job known = *job;
	struct ccr__entry *e;

	if (job->limit < 1 || ccr__find(plan, job->id))
		return ccr_error_set(err, CCR_EINVAL, 0, "job %u: no booking to lose", job->id);
	known.demand = &unknown;
	known.candidates = known.required = NULL;
	e = ccr__add(plan, &known);
	if (!e)
		return ccr_error_nomem(err);
	e->b.first_start = b->first_start;
	e->b.made = b->made;
	e->together = job->together;
	e->restored = e->lost = true;
	return 0;
}

int ccr_plan_restore(struct ccr_plan *plan, const struct ccr_plan_job *job,
		     const struct ccr_booking *b, struct ccr_error *err)
{
	static const struct ccr_demand unknown;
	struct ccr_plan_job known = *job;
	struct ccr__entry *e;

	if (!b->n || job->limit < 1 || ccr__find(plan, job->id))
		return ccr_error_set(err, CCR_EINVAL, 0, "job %u: no booking to restore", job->id);
	for (uint32_t i = 0; i < b->n; i++)
		if (b->share[i].node >= plan->tl->n)
			return ccr_error_set(err, CCR_EINVAL, 0, "job %u: no node %u", job->id,
					     b->share[i].node);
	known.demand = &unknown;
	known.candidates = known.required = NULL;
	e = ccr__add(plan, &known);
	if (!e)
		return ccr_error_nomem(err);
	e->b.share = malloc(b->n * sizeof(*b->share));
	if (!e->b.share) {
		ccr__remove(plan, e);
		return ccr_error_nomem(err);
	}
	memcpy(e->b.share, b->share, b->n * sizeof(*b->share));
	e->b.n = b->n;
	e->b.start = b->start;
	e->b.end = ccr_end(b->start, job->limit);
	e->b.first_start = b->first_start;
	e->b.made = b->made;
	e->together = job->together;
	e->restored = true;
	return 0;
}
