/* gate_run - see gate_run.h */
#include "gate_run_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DUE_MOST 180 /* s that a booking may be due without a start */

bool run_fail(struct run *r, const char *fmt, ...)
{
	va_list ap;
	int n = snprintf(r->what, r->size, "at %lld: ", (long long)r->now);

	va_start(ap, fmt);
	vsnprintf(r->what + n, r->size - (size_t)n, fmt, ap);
	va_end(ap);
	return false;
}

static int64_t expected_end(const struct run *r, uint32_t i)
{
	int64_t end = ccr_end(r->job[i].started, r->w->job[i].limit);

	return end <= r->now ? r->now + 1 : end;
}

/* By this file's own account. */
void run_free_now(const struct run *r, uint32_t node, struct ccr_amount *out)
{
	*out = r->w->node[node].total;
	for (uint32_t i = 0; i < r->w->jobs; i++)
		for (uint32_t k = 0; r->job[i].state == RUNS && k < r->job[i].n; k++)
			if (r->job[i].share[k].node == node)
				ccr_amount_sub(out, &r->job[i].share[k].a);
}

struct ccr_plan_job run_plan_job(const struct run *r, uint32_t i)
{
	const struct w_job *j = &r->w->job[i];

	return (struct ccr_plan_job){
	    .id = i + 1,
	    .rank = {.prio = j->prio, .submit = j->arrives, .job = i + 1},
	    .partition = j->partition,
	    .limit = j->limit,
	    .since = j->arrives,
	    .demand = &j->demand,
	    .candidates = &j->candidates,
	    .required = j->required ? &j->required : NULL,
	};
}

/* A node's part of the job is for who picks to say. */
static bool spread(const struct ccr_demand *d)
{
	return (d->units && d->max_nodes != 1) || d->total[0].count ||
	       d->node.gpu[0].type == CCR_GPU_ANY || d->node.gpu[1].type == CCR_GPU_ANY ||
	       d->unit.gpu[0].type == CCR_GPU_ANY;
}

/* CPUs and GPUs together. */
static int64_t all_of(const struct ccr_share *share, uint32_t n)
{
	int64_t sum = 0;

	for (uint32_t k = 0; k < n; k++)
		sum += share[k].a.cpus + ccr_amount_gpus(&share[k].a);
	return sum;
}

bool run_start(struct run *r, uint32_t i, const struct ccr_share *pick, uint32_t n)
{
	struct ccr_plan_job pj = run_plan_job(r, i);
	struct live *l = &r->job[i];
	const struct ccr_booking *own = ccr_plan_booking(r->plan, i + 1);
	uint64_t required = r->w->job[i].required;
	/*
	 * A booking below that begins in the same second may be in the way of another's pick until
	 * its job is started, in this cycle: so the next one does.
	 */
	int64_t slack = r->w->own_picks ? 0 : 1;

	for (uint32_t k = 0; k < n; k++) {
		struct ccr_amount free;

		run_free_now(r, pick[k].node, &free);
		if (ccr_amount_short(&free, &pick[k].a))
			return run_fail(r, "job %u picks what is not free on node %u", i + 1,
					pick[k].node);
		if (!(r->w->job[i].candidates >> pick[k].node & 1))
			return run_fail(r, "job %u picks a node that is no candidate", i + 1);
		if (r->down && pick[k].node == 0)
			return run_fail(r, "job %u picks a node that is down", i + 1);
		required &= ~(UINT64_C(1) << pick[k].node);
	}
	if (required)
		return run_fail(r, "job %u starts without a required node", i + 1);
	r->freed = r->freed || (own && own->n && all_of(own->share, own->n) != all_of(pick, n));
	if (ccr_plan_start(r->plan, &pj, pick, n, NULL))
		return run_fail(r, "no memory");
	l->state = RUNS;
	l->started = r->now;
	l->ends = r->now + r->w->job[i].runs;
	l->n = n;
	memcpy(l->share, pick, n * sizeof(*pick));
	if (l->promised && r->now > l->promised + slack && !l->excused)
		return run_fail(r, "job %u starts late, %lld was promised at %lld", i + 1,
				(long long)l->promised, (long long)l->made);
	return true;
}

/* Somebody else's pick from a set of nodes; true: it delays no booking and the job is started. */
/* Whether the job would fit at this moment beside what runs alone. */
static bool fits_idle(const struct run *r, const struct ccr_plan_job *pj)
{
	struct ccr_query q = {.demand = pj->demand,
			      .limit = 1,
			      .candidates = pj->candidates,
			      .required = pj->required};
	struct ccr_node node[W_NODES];
	struct ccr_timeline *tl = NULL;
	struct ccr_search *s = NULL;
	uint64_t out;
	bool fits = false;

	memcpy(node, r->w->node, sizeof(node));
	node[0].up = !r->down;
	if (!ccr_timeline_new(&tl, node, r->w->nodes, NULL) &&
	    !ccr_search_new(&s, r->w->nodes, NULL)) {
		ccr_timeline_begin(tl, r->now);
		for (uint32_t i = 0; i < r->w->jobs; i++)
			for (uint32_t k = 0; r->job[i].state == RUNS && k < r->job[i].n; k++)
				ccr_timeline_run(tl, r->job[i].share[k].node, &r->job[i].share[k].a,
						 CCR_FOREVER);
		ccr_timeline_ready(tl);
		fits = ccr_search_at(s, tl, &q, r->now, &out);
	}
	ccr_search_free(s);
	ccr_timeline_free(tl);
	return fits;
}

/* As all who start jobs do: whose time has come is held against the bookings as if he had started
 * in time. */
static void less_late(const struct run *r, struct ccr_plan_job *pj)
{
	int64_t late = ccr_plan_late(r->plan, pj->id);

	if (pj->limit < CCR_FOREVER)
		pj->limit = pj->limit > late ? pj->limit - late : 1;
}

static bool try_job(struct run *r, uint32_t i, bool *ok)
{
	struct ccr_plan_job whole = run_plan_job(r, i), pj = whole;
	struct ccr_share pick[W_NODES];
	const struct ccr_booking *b;
	struct live *l = &r->job[i];
	uint64_t fit, bad;
	enum ccr_book book;
	enum ccr_verdict v;
	bool over = false;

	*ok = true;
	less_late(r, &pj);
	v = ccr_plan_may_fit(r->plan, &pj, &fit, NULL);
	if (v == CCR_START) {
		struct ccr_slot slot;
		uint64_t few = fit;
		bool started;

		if (ccr_plan_place(r->plan, &pj, &few) && (few & ~fit || !few))
			return *ok = run_fail(r, "placement of job %u is no narrowing", i + 1);
		for (int turn = 0; turn < 4; turn++) {
			if (!run_other_pick(r, &pj, turn ? fit : few, &bad, &started))
				return *ok = false;
			if (started)
				return true;
			fit &= ~bad;
		}
		if (!run_sure_pick(r, &pj, &started))
			return *ok = false;
		if (started)
			return true;
		if (!r->w->own_picks && !run_due_pick(r, &pj, &started))
			return *ok = false;
		if (started)
			return true;
		if (ccr_plan_pick(r->plan, &pj, false, &slot, NULL) != CCR_START)
			return *ok = run_fail(r, "job %u may fit and cannot be placed", i + 1);
		memcpy(pick, slot.share, slot.n * sizeof(*pick));
		if (ccr_plan_check(r->plan, &pj, pick, slot.n, NULL, NULL) != CCR_START)
			return *ok = run_fail(r, "the planner's own pick of job %u is refused",
					      i + 1);
		if (r->w->own_picks)
			return *ok = run_start(r, i, pick, slot.n);
	}
	if (v != CCR_WAIT_FREE && !run_way_pick(r, &pj, &over))
		return *ok = false;
	if (over)
		return true;
	if (v != CCR_START && fits_idle(r, &pj) != (v == CCR_WAIT_BOOKING))
		return *ok = run_fail(r, "job %u waits %s", i + 1,
				      v == CCR_WAIT_BOOKING
					  ? "for a booking, and would not fit anyway"
					  : "for room, and a booking has it");
	if (l->stuck > 1)
		return false;
	book = ccr_plan_book(r->plan, &whole, &b, NULL);
	if (book == CCR_BOOKED && !l->promised) {
		l->promised = b->first_start;
		l->made = r->now;
	}
	if (book == CCR_BOOKED && b->start > r->now + r->w->window)
		return *ok = run_fail(r, "job %u is booked beyond the window", i + 1);
	return false;
}

/* Every booking is whole beside what runs and the other bookings, at every moment. */
static bool whole(struct run *r)
{
	const struct ccr_booking *b;
	int64_t times[2 * W_JOBS + 2] = {r->now};
	uint32_t n = 1, in[W_PARTS] = {0};

	for (uint32_t i = 0; (b = ccr_plan_nth(r->plan, i)); i++) {
		if (r->job[b->job - 1].state != WAITS)
			return run_fail(r, "job %u runs and is booked", b->job);
		times[n++] = b->n ? b->start : r->now;
		if (++in[b->partition] > r->w->depth[b->partition])
			return run_fail(r, "more bookings than the depth");
	}
	for (uint32_t i = 0; i < r->w->jobs; i++)
		if (r->job[i].state == RUNS)
			times[n++] = expected_end(r, i);
	for (uint32_t node = 0; node < r->w->nodes; node++) {
		for (uint32_t k = 0; k < n; k++) {
			struct ccr_amount left = r->w->node[node].total;
			uint32_t booked = 0;

			for (uint32_t i = 0; i < r->w->jobs; i++)
				for (uint32_t s = 0; r->job[i].state == RUNS && s < r->job[i].n;
				     s++)
					if (r->job[i].share[s].node == node &&
					    expected_end(r, i) > times[k])
						ccr_amount_sub(&left, &r->job[i].share[s].a);
			for (uint32_t i = 0; (b = ccr_plan_nth(r->plan, i)); i++)
				for (uint32_t s = 0; s < b->n; s++)
					if (b->share[s].node == node && b->start <= times[k] &&
					    b->end > times[k]) {
						booked = b->job;
						ccr_amount_sub(&left, &b->share[s].a);
					}
			for (int g = 0; g < CCR_GPU_SLOTS; g++)
				if (booked && left.gpus[g] < 0)
					return run_fail(
					    r, "job %u: GPUs of node %u given twice at %lld",
					    booked, node, (long long)times[k]);
			if (booked && (left.cpus < 0 || left.mem < 0 || left.open < 0))
				return run_fail(r, "job %u: node %u is given twice at %lld", booked,
						node, (long long)times[k]);
		}
	}
	return true;
}

/* A job is still there after its time. */
static bool overdue(const struct run *r)
{
	for (uint32_t i = 0; i < r->w->jobs; i++)
		if (r->job[i].state == RUNS &&
		    ccr_end(r->job[i].started, r->w->job[i].limit) <= r->now)
			return true;
	return false;
}

/*
 * A promise is off when a job above came after it, a node goes or a job outlives its limit. Where a
 * job ends early or takes less than was booked, who picks for a job that is spread as he likes may
 * use what is free by that, and which a booking needs later.
 */
static void excuse(struct run *r, bool node)
{
	bool broken = node || overdue(r);

	for (uint32_t i = 0; i < r->w->jobs; i++) {
		struct ccr_plan_job a = run_plan_job(r, i);

		if (!r->job[i].promised)
			continue;
		r->job[i].excused = r->job[i].excused || broken ||
				    (r->freed && !r->w->own_picks && spread(&r->w->job[i].demand));
		for (uint32_t k = 0; k < r->w->jobs; k++) {
			struct ccr_plan_job b = run_plan_job(r, k);

			if (r->w->job[k].arrives > r->job[i].made &&
			    r->w->job[k].arrives <= r->now && ccr_rank_cmp(&b.rank, &a.rank) < 0)
				r->job[i].excused = true;
		}
	}
}

/*
 * Two bookings whose time has come may each be in the way of any pick for the other. As the plugin
 * does, the one that was due for minutes is given up: it gets one of whole nodes, then none.
 */
static void review(struct run *r)
{
	const struct ccr_booking *b;

	for (uint32_t i = 0; (b = ccr_plan_nth(r->plan, i));) {
		struct live *l = &r->job[b->job - 1];

		if (!b->due || r->now - b->due <= DUE_MOST || r->w->own_picks) {
			i++;
			continue;
		}
		r->w->job[b->job - 1].demand.whole = !l->stuck++;
		l->excused = true;
		ccr_plan_drop(r->plan, b->job);
	}
}

static bool cycle(struct run *r)
{
	uint32_t order[W_JOBS], n = 0;
	bool ok = true;

	review(r);
	ccr_plan_begin(r->plan, r->now, true);
	for (uint32_t i = 0; i < r->w->jobs; i++)
		for (uint32_t k = 0; r->job[i].state == RUNS && k < r->job[i].n; k++)
			ccr_plan_running(r->plan, r->job[i].share[k].node, &r->job[i].share[k].a,
					 ccr_end(r->job[i].started, r->w->job[i].limit),
					 r->w->job[i].limit);
	if (ccr_plan_ready(r->plan, NULL))
		return run_fail(r, "no memory");
	for (uint32_t i = 0; i < r->w->jobs; i++) {
		uint32_t at = n;
		struct ccr_plan_job pj = run_plan_job(r, i);

		if (r->job[i].state != WAITS || r->w->job[i].arrives > r->now)
			continue;
		for (; at > 0; at--) {
			struct ccr_plan_job o = run_plan_job(r, order[at - 1]);

			if (ccr_rank_cmp(&o.rank, &pj.rank) < 0)
				break;
			order[at] = order[at - 1];
		}
		order[at] = i;
		n++;
	}
	for (uint32_t k = 0; k < n; k++) {
		try_job(r, order[k], &ok);
		if (!ok || !whole(r))
			return false;
	}
	return true;
}

/* The next moment at which something can happen; CCR_FOREVER: all is done or stuck. */
static int64_t next_event(const struct run *r)
{
	const struct ccr_booking *b;
	int64_t t = CCR_FOREVER;

#define SOONER(x) t = (x) > r->now && (x) < t ? (x) : t
	for (uint32_t i = 0; i < r->w->jobs; i++) {
		if (r->job[i].state == RUNS)
			SOONER(r->job[i].ends);
		if (r->job[i].state == WAITS)
			SOONER(r->w->job[i].arrives);
	}
	for (uint32_t i = 0; (b = ccr_plan_nth(r->plan, i)); i++)
		SOONER(b->n && b->start <= r->now ? r->now + 1 : b->start);
	if (!r->down && r->w->fails_at)
		SOONER(r->w->fails_at);
	if (!r->restarted && r->w->restarts_at)
		SOONER(r->w->restarts_at);
#undef SOONER
	return t;
}

static void node_fails(struct run *r)
{
	r->down = true;
	ccr_plan_node_up(r->plan, 0, false);
	for (uint32_t i = 0; i < r->w->jobs; i++)
		for (uint32_t k = 0; r->job[i].state == RUNS && k < r->job[i].n; k++)
			if (r->job[i].share[k].node == 0)
				r->job[i].state = DONE;
}

/* Jobs that the whole machine cannot hold may stay. */
static bool all_done(struct run *r)
{
	struct ccr_search *s;
	bool ok = true;

	if (ccr_search_new(&s, r->w->nodes, NULL))
		return run_fail(r, "no memory");
	for (uint32_t i = 0; i < r->w->jobs && ok; i++) {
		uint64_t c = r->w->job[i].candidates & ~(uint64_t)r->down;
		struct ccr_query q = {.demand = &r->w->job[i].demand, .limit = 1, .candidates = &c};

		if (r->w->job[i].required)
			q.required = &r->w->job[i].required;
		if (r->job[i].state != DONE && !(r->w->job[i].required & ~c) &&
		    ccr_search_possible(s, ccr_plan_timeline(r->plan), &q))
			ok = run_fail(r, "job %u never ran", i + 1);
	}
	ccr_search_free(s);
	return ok;
}

static bool new_plan(struct run *r)
{
	struct ccr_plan_options opt = ccr_plan_defaults();

	opt.window = r->w->window;
	opt.placement = r->w->placement;
	if (ccr_plan_new(&r->plan, r->w->node, r->w->nodes, &opt, NULL))
		return run_fail(r, "no plan");
	for (uint32_t p = 0; p < r->w->parts; p++)
		ccr_plan_partition(r->plan, (uint16_t)p, r->w->depth[p], false, NULL);
	if (r->down)
		ccr_plan_node_up(r->plan, 0, false);
	return true;
}

/* A new plan that knows of the old one what a state file does. */
static bool restart(struct run *r)
{
	struct ccr_plan *old = r->plan;
	const struct ccr_booking *b;
	bool ok = new_plan(r);

	r->restarted = true;
	for (uint32_t i = 0; ok && (b = ccr_plan_nth(old, i)); i++) {
		struct ccr_plan_job pj = run_plan_job(r, b->job - 1);

		pj.demand = NULL;
		pj.candidates = pj.required = NULL;
		if (b->n && ccr_plan_restore(r->plan, &pj, b, NULL))
			ok = run_fail(r, "job %u is not restored", b->job);
	}
	if (!ok)
		ccr_plan_free(r->plan);
	ccr_plan_free(ok ? old : NULL);
	r->plan = ok ? r->plan : old;
	return ok;
}

bool world_run(const struct world *w, char *what, size_t size)
{
	struct world copy = *w;
	struct run r = {.w = &copy, .seed = w->seed, .what = what, .size = size, .now = 1000};
	bool ok = true, failed = false;

	/* Times start at 1000, so that 0 can mean none. */
	for (uint32_t i = 0; i < copy.jobs; i++)
		copy.job[i].arrives += 1000;
	if (copy.fails_at)
		copy.fails_at += 1000;
	if (copy.restarts_at)
		copy.restarts_at += 1000;
	if (!new_plan(&r))
		return false;
	for (int turn = 0; ok && turn < 1500; turn++) {
		int64_t t;

		excuse(&r, failed);
		r.freed = false;
		ok = cycle(&r);
		t = next_event(&r);
		if (!ok || t >= CCR_FOREVER)
			break;
		r.now = t;
		for (uint32_t i = 0; i < w->jobs; i++) {
			if (r.job[i].state != RUNS || r.job[i].ends > t)
				continue;
			r.job[i].state = DONE;
			r.freed = r.freed || copy.job[i].runs < copy.job[i].limit;
		}
		failed = !r.down && copy.fails_at && copy.fails_at <= t;
		if (failed)
			node_fails(&r);
		if (!r.restarted && copy.restarts_at && copy.restarts_at <= t)
			ok = restart(&r);
	}
	ok = ok && all_done(&r);
	ccr_plan_free(r.plan);
	return ok;
}
