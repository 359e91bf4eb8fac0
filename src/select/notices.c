/* notices - what the reporter is told of the plan; see gate.h */
#include "select/gate_impl.h"

#include <stdlib.h>
#include <string.h>

#define G	    ccr__gate
#define NOTICES_MAX 4000	      /* refused jobs that are told why, a cycle */
#define SMALLER_NS  INT64_C(10000000) /* that is spent a cycle on smaller requests */

/* The set of candidates of a kind. */
static uint64_t *set_of(int16_t kind)
{
	return G.kind_set + (size_t)kind * CCR_WORDS(G.cluster.n);
}

/* The kind of this request, a new one if need be; -1 where there is no more room. */
static int16_t kind_of(const struct ccr_ask *ask, uint16_t partition, unsigned which)
{
	size_t bytes = CCR_WORDS(G.cluster.n) * sizeof(uint64_t);
	uint64_t hash = ccr_demand_hash(&ask->need) ^ (uint64_t)ask->limit * 31 ^ partition;
	struct ccr__kind *k;

	for (uint32_t i = 0; i < G.kinds; i++) {
		k = &G.kind[i];
		if (k->hash == hash && k->limit == ask->limit && k->partition == partition &&
		    k->which == which && ccr_demand_equal(&k->demand, &ask->need) &&
		    !memcmp(set_of((int16_t)i), G.candidates, bytes))
			return (int16_t)i;
	}
	if (G.kinds == CCR__KINDS)
		return -1;
	k = &G.kind[G.kinds];
	*k = (struct ccr__kind){.hash = hash,
				.demand = ask->need,
				.limit = ask->limit,
				.partition = partition,
				.which = which};
	memcpy(set_of((int16_t)G.kinds), G.candidates, bytes);
	return (int16_t)G.kinds++;
}

/* A row more, to be filled; NULL: there is no room. */
static struct ccr__refused *new_row(void)
{
	if (G.listed >= NOTICES_MAX)
		return NULL;
	if (G.listed == G.list_cap) {
		uint32_t cap = G.list_cap ? 2 * G.list_cap : 64;
		struct ccr__refused *p = realloc(G.list, cap * sizeof(*p));

		if (!p)
			return NULL;
		G.list = p;
		G.list_cap = cap;
	}
	return &G.list[G.listed++];
}

void ccr__list_refused(const struct ccr_slurm_test *t, const struct ccr_ask *ask,
		       uint16_t partition, enum ccr_verdict v, const struct ccr_conflict *why,
		       unsigned which)
{
	struct ccr__refused *row;
	int16_t kind = -1;

	if (G.listed >= NOTICES_MAX) /* (before kind_of takes room) */
		return;
	if (which && v != CCR_WAIT_STRICT)
		kind = kind_of(ask, partition, which);
	if (v != CCR_WAIT_BOOKING && v != CCR_WAIT_STRICT && v != CCR_WAIT_LONG && kind < 0)
		return;
	row = new_row();
	if (row)
		*row = (struct ccr__refused){
		    .job = t->job->job_id, .verdict = v, .why = *why, .kind = kind};
}

static int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/*
 * With what less the job could start, held against the plan as it is at the cycle's end; "" once
 * the time for that is over. Jobs of a kind get the same answer, but one that has a booking: that
 * is not in its own way.
 */
static const char *smaller(const struct ccr__refused *r, int64_t until)
{
	struct ccr_smaller s;
	struct ccr_plan_job job;
	struct ccr__kind *k;
	bool booked;

	if (r->kind < 0 || (uint32_t)r->kind >= G.kinds)
		return "";
	k = &G.kind[r->kind];
	booked = ccr_plan_booking(G.plan, r->job) != NULL;
	if (k->known && !booked)
		return k->words;
	if (clock_ns() >= until)
		return "";
	job = (struct ccr_plan_job){.id = r->job,
				    .partition = k->partition,
				    .since = time(NULL),
				    .limit = k->limit,
				    .demand = &k->demand,
				    .candidates = set_of(r->kind)};
	ccr_plan_smaller(G.plan, &job, k->which, G.fit, &s);
	ccr_smaller_words(&s, &k->demand, k->words, sizeof(k->words));
	k->known = !booked;
	return k->words;
}

/* It counts for the depth and has no booking. */
static bool is_beyond(uint32_t job)
{
	const struct ccr_booking *b;

	for (uint32_t i = 0; (b = ccr_plan_nth(G.plan, i)); i++)
		if (b->job == job)
			return !b->n;
	return false;
}

static struct ccr__refused *refused(uint32_t job)
{
	for (uint32_t i = 0; i < G.listed; i++)
		if (G.list[i].job == job)
			return &G.list[i];
	return NULL;
}

void ccr__list_late(const job_record_t *job)
{
	struct ccr__refused *row = refused(job->job_id);

	if (!row && (row = new_row()))
		*row =
		    (struct ccr__refused){.job = job->job_id, .verdict = CCR_WAIT_FREE, .kind = -1};
	if (row)
		row->late = true;
}

void ccr_gate_notices(void (*each)(const struct ccr_notice *n, void *data), void *data)
{
	int64_t until = clock_ns() + SMALLER_NS;
	const struct ccr_booking *b;

	pthread_mutex_lock(&G.lock);
	/* a job that ended in the meantime counts */
	if (!G.on || G.aside || !G.plan || (G.stale && !ccr__gate_load(false))) {
		pthread_mutex_unlock(&G.lock);
		return;
	}
	ccr__book_unasked();
	if (G.aside) {
		pthread_mutex_unlock(&G.lock);
		return;
	}
	for (uint32_t i = 0; i < G.kinds; i++)
		G.kind[i].known = false;
	for (uint32_t i = 0; (b = ccr_plan_nth(G.plan, i)); i++) {
		const struct ccr__refused *r = refused(b->job);
		struct ccr_notice n = {.job = b->job,
				       .booked = b->n > 0,
				       .beyond = !b->n,
				       .start = b->start,
				       .share = b->share,
				       .shares = b->n,
				       .window = G.opt.window,
				       .smaller = r && !b->claim ? smaller(r, until) : ""};

		each(&n, data);
	}
	for (uint32_t i = 0; i < G.listed; i++) {
		const struct ccr__refused *r = &G.list[i];
		struct ccr_notice n = {.job = r->job,
				       .start = r->why.start,
				       .other = r->why.job,
				       .node = r->why.node,
				       .what = r->why.what,
				       .verdict = r->verdict,
				       .late = r->late && r->verdict == CCR_WAIT_FREE};

		if (ccr_plan_booking(G.plan, r->job) ||
		    (r->verdict == CCR_WAIT_FREE && is_beyond(r->job)))
			continue;
		n.smaller = smaller(r, until);
		each(&n, data);
	}
	pthread_mutex_unlock(&G.lock);
}
