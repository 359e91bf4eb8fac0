/* timeline - see timeline.h */
#include "core/timeline.h"

#include <stdlib.h>
#include <string.h>

static int check_node(const struct ccr_node *node, uint32_t i, struct ccr_error *err)
{
	if (node->gpu_types > CCR_GPU_SLOTS)
		return ccr_error_set(err, CCR_EINVAL, 0, "node %u has %u types of GPU, at most %d",
				     i, node->gpu_types, CCR_GPU_SLOTS);
	if (node->total.cpus < 0 || node->total.mem < 0 || node->total.open < 0)
		return ccr_error_set(err, CCR_EINVAL, 0, "node %u has negative CPUs or memory", i);
	for (int a = 0; a < CCR_GPU_SLOTS; a++) {
		if (node->total.gpus[a] < 0 || (a >= node->gpu_types && node->total.gpus[a]))
			return ccr_error_set(err, CCR_EINVAL, 0,
					     "node %u: wrong number of GPUs in place %d", i, a);
		for (int b = 0; b < a && a < node->gpu_types; b++)
			if (node->gpu_type[a] == node->gpu_type[b])
				return ccr_error_set(err, CCR_EINVAL, 0,
						     "node %u names GPU type %d twice", i,
						     node->gpu_type[a]);
	}
	return 0;
}

static bool same_amount(const struct ccr_amount *a, const struct ccr_amount *b)
{
	return a->mem == b->mem && a->cpus == b->cpus && a->open == b->open &&
	       !memcmp(a->gpus, b->gpus, sizeof(a->gpus));
}

/* Nodes of a cluster come in rows of equals. */
static void set_kinds(struct ccr_timeline *tl)
{
	for (uint32_t i = 0; i < tl->n; i++) {
		const struct ccr_node *a = &tl->node[i], *b = i ? &tl->node[i - 1] : a;
		bool equal = i && same_amount(&a->total, &b->total) &&
			     a->gpu_types == b->gpu_types && a->cpu_step == b->cpu_step &&
			     a->kept == b->kept &&
			     !memcmp(a->gpu_type, b->gpu_type, sizeof(a->gpu_type));

		tl->kind[i] = equal ? tl->kind[i - 1] : i;
	}
}

int ccr_timeline_new(struct ccr_timeline **out, const struct ccr_node *nodes, uint32_t n,
		     struct ccr_error *err)
{
	struct ccr_timeline *tl;
	int rc;

	*out = NULL;
	for (uint32_t i = 0; i < n; i++)
		if ((rc = check_node(&nodes[i], i, err)))
			return rc;
	tl = calloc(1, sizeof(*tl));
	if (!tl)
		return ccr_error_nomem(err);
	tl->n = n;
	tl->node = calloc(n ? n : 1, sizeof(*tl->node));
	tl->track = calloc(n ? n : 1, sizeof(*tl->track));
	tl->kind = calloc(n ? n : 1, sizeof(*tl->kind));
	if (!tl->node || !tl->track || !tl->kind)
		goto nomem;
	for (uint32_t i = 0; i < n; i++) {
		tl->node[i] = nodes[i];
		tl->track[i].cap = 4;
		tl->track[i].step = malloc(tl->track[i].cap * sizeof(struct ccr_free_step));
		if (!tl->track[i].step)
			goto nomem;
	}
	set_kinds(tl);
	ccr_timeline_begin(tl, 0);
	*out = tl;
	return 0;
nomem:
	ccr_timeline_free(tl);
	return ccr_error_nomem(err);
}

void ccr_timeline_free(struct ccr_timeline *tl)
{
	if (!tl)
		return;
	for (uint32_t i = 0; tl->track && i < tl->n; i++)
		free(tl->track[i].step);
	free(tl->track);
	free(tl->kind);
	free(tl->node);
	free(tl);
}

int ccr_timeline_set_nodes(struct ccr_timeline *tl, const struct ccr_node *nodes,
			   struct ccr_error *err)
{
	int rc;

	for (uint32_t i = 0; i < tl->n; i++)
		if ((rc = check_node(&nodes[i], i, err)))
			return rc;
	memcpy(tl->node, nodes, tl->n * sizeof(*nodes));
	set_kinds(tl);
	return 0;
}

static void mirror(struct ccr_track *tr)
{
	tr->now = tr->step[0].free;
	tr->next = tr->n > 1 ? tr->step[1].t : CCR_FOREVER;
	tr->booked_now = tr->step[0].booked;
}

void ccr_timeline_begin(struct ccr_timeline *tl, int64_t now)
{
	tl->now = now;
	for (uint32_t i = 0; i < tl->n; i++) {
		tl->track[i].n = 1;
		tl->track[i].step[0].t = now;
		tl->track[i].step[0].free = tl->node[i].total;
		tl->track[i].step[0].booked = 0;
		mirror(&tl->track[i]);
	}
}

static int room(struct ccr_track *tr, uint32_t more)
{
	struct ccr_free_step *p;
	uint32_t cap = tr->cap;

	if (tr->n + more <= cap)
		return 0;
	while (cap < tr->n + more)
		cap *= 2;
	p = realloc(tr->step, cap * sizeof(*p));
	if (!p)
		return CCR_ENOMEM;
	tr->step = p;
	tr->cap = cap;
	return 0;
}

/* Until ccr_timeline_ready, the steps after the first hold what comes back at their time. */
int ccr_timeline_run(struct ccr_timeline *tl, uint32_t node, const struct ccr_amount *a,
		     int64_t end)
{
	struct ccr_track *tr;

	if (node >= tl->n)
		return CCR_EINVAL;
	tr = &tl->track[node];
	if (end <= tl->now)
		end = tl->now + 1;
	if (end < CCR_FOREVER) {
		if (room(tr, 1))
			return CCR_ENOMEM;
		tr->step[tr->n].t = end;
		tr->step[tr->n].free = *a;
		tr->step[tr->n].booked = 0;
		tr->n++;
	}
	ccr_amount_sub(&tr->step[0].free, a);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = ((const struct ccr_free_step *)a)->t, y = ((const struct ccr_free_step *)b)->t;

	return x < y ? -1 : x > y;
}

#define FEW 24 /* steps that are put in order one by one: a node has no more, as a rule */

static void sort_steps(struct ccr_free_step *step, uint32_t n)
{
	if (n > FEW) {
		qsort(step, n, sizeof(*step), by_time);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		struct ccr_free_step s = step[i];
		uint32_t at = i;

		for (; at && step[at - 1].t > s.t; at--)
			step[at] = step[at - 1];
		step[at] = s;
	}
}

void ccr_timeline_ready(struct ccr_timeline *tl)
{
	for (uint32_t i = 0; i < tl->n; i++) {
		struct ccr_track *tr = &tl->track[i];
		uint32_t to = 0;

		if (tr->n > 2)
			sort_steps(tr->step + 1, tr->n - 1);
		for (uint32_t from = 1; from < tr->n; from++) {
			struct ccr_amount back = tr->step[from].free;

			if (tr->step[from].t != tr->step[to].t) {
				int64_t t = tr->step[from].t;

				tr->step[to + 1] = tr->step[to];
				tr->step[++to].t = t;
			}
			ccr_amount_add(&tr->step[to].free, &back);
		}
		tr->n = to + 1;
		mirror(tr);
	}
}

/* The step that covers t (t >= now). */
static uint32_t step_at(const struct ccr_track *tr, int64_t t)
{
	uint32_t low = 0, high = tr->n - 1;

	while (low < high) {
		uint32_t mid = low + (high - low + 1) / 2;

		if (tr->step[mid].t <= t)
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

/* The step that begins at t, made if need be; there is room for it. */
static uint32_t split(struct ccr_track *tr, int64_t t)
{
	uint32_t i = step_at(tr, t);

	if (tr->step[i].t == t)
		return i;
	memmove(&tr->step[i + 2], &tr->step[i + 1], (tr->n - i - 1) * sizeof(*tr->step));
	tr->step[i + 1] = tr->step[i];
	tr->step[i + 1].t = t;
	tr->n++;
	return i + 1;
}

static int change(struct ccr_timeline *tl, uint32_t node, int64_t from, int64_t to,
		  const struct ccr_amount *a, int booked, bool back)
{
	struct ccr_track *tr;
	uint32_t i, end;

	if (node >= tl->n)
		return CCR_EINVAL;
	tr = &tl->track[node];
	if (from < tl->now)
		from = tl->now;
	if (to <= from)
		return 0;
	if (room(tr, 2))
		return CCR_ENOMEM;
	i = split(tr, from);
	end = to < CCR_FOREVER ? split(tr, to) : tr->n;
	for (; i < end; i++) {
		if (back)
			ccr_amount_add(&tr->step[i].free, a);
		else
			ccr_amount_sub(&tr->step[i].free, a);
		tr->step[i].booked += booked;
	}
	mirror(tr);
	return 0;
}

int ccr_timeline_hold(struct ccr_timeline *tl, uint32_t node, int64_t from, int64_t to,
		      const struct ccr_amount *a, bool booked)
{
	return change(tl, node, from, to, a, booked, false);
}

int ccr_timeline_unhold(struct ccr_timeline *tl, uint32_t node, int64_t from, int64_t to,
			const struct ccr_amount *a, bool booked)
{
	return change(tl, node, from, to, a, -(int)booked, true);
}

void ccr_timeline_least(const struct ccr_timeline *tl, uint32_t node, int64_t from, int64_t to,
			struct ccr_amount *out)
{
	const struct ccr_track *tr = &tl->track[node];
	uint32_t i = step_at(tr, from);

	*out = tr->step[i].free;
	while (++i < tr->n && tr->step[i].t < to)
		ccr_amount_min(out, &tr->step[i].free);
}

bool ccr_timeline_unbooked(const struct ccr_timeline *tl, uint32_t node, int64_t from, int64_t to,
			   struct ccr_amount *out)
{
	const struct ccr_track *tr = &tl->track[node];
	uint32_t i = step_at(tr, from);

	*out = tr->step[i].free;
	if (from <= tl->now && tr->step[i].booked > 0)
		return false;
	while (++i < tr->n && tr->step[i].t < to)
		if (tr->step[i].booked <= 0)
			ccr_amount_min(out, &tr->step[i].free);
	return true;
}

bool ccr_timeline_holds(const struct ccr_timeline *tl, uint32_t node, int64_t from, int64_t to,
			const struct ccr_amount *a)
{
	const struct ccr_track *tr = &tl->track[node];
	uint32_t i = step_at(tr, from);

	do {
		if (ccr_amount_short(&tr->step[i].free, a))
			return false;
	} while (++i < tr->n && tr->step[i].t < to);
	return true;
}

/* Where every step can be judged by itself: the start of the first run of fitting steps. */
static int64_t next_simple(const struct ccr_track *tr, const struct ccr_quick *q, int64_t limit,
			   int64_t from, int64_t until)
{
	uint32_t i = from <= tr->step[0].t ? 0 : step_at(tr, from);
	int64_t t = from;

	while (t < until) {
		int64_t end;

		while (!ccr_quick_fits(q, &tr->step[i].free)) {
			if (++i >= tr->n)
				return CCR_FOREVER;
			t = tr->step[i].t;
		}
		if (t >= until)
			break;
		end = ccr_end(t, limit);
		do {
			if (++i >= tr->n || tr->step[i].t >= end)
				return t;
		} while (ccr_quick_fits(q, &tr->step[i].free));
		t = tr->step[i].t;
	}
	return CCR_FOREVER;
}

static bool fits(const struct ccr_demand *d, const struct ccr_node *node, uint32_t units,
		 const struct ccr_quick *q, const struct ccr_amount *free)
{
	return q->ok ? ccr_quick_fits(q, free) : ccr_demand_fits(d, node, free, units);
}

int64_t ccr_timeline_next(const struct ccr_timeline *tl, uint32_t node, const struct ccr_demand *d,
			  uint32_t units, const struct ccr_quick *q, int64_t limit, int64_t from,
			  int64_t until)
{
	const struct ccr_track *tr = &tl->track[node];
	const struct ccr_node *nd = &tl->node[node];
	uint32_t i;
	int64_t t = from;

	if (q->never)
		return CCR_FOREVER;
	if (q->ok && !q->any)
		return next_simple(tr, q, limit, from, until);
	i = step_at(tr, from);
	while (t < until) {
		int64_t end = ccr_end(t, limit);
		struct ccr_amount least;
		uint32_t j = i;

		if (!fits(d, nd, units, q, &tr->step[i].free)) {
			if (++i >= tr->n)
				return CCR_FOREVER;
			t = tr->step[i].t;
			continue;
		}
		least = tr->step[i].free;
		while (++j < tr->n && tr->step[j].t < end) {
			/*
			 * A step that is too small by itself rules out every start before its end;
			 * if only the types that are free change under an untyped want, the next
			 * step may already do.
			 */
			if (!fits(d, nd, units, q, &tr->step[j].free)) {
				i = j + 1;
				break;
			}
			ccr_amount_min(&least, &tr->step[j].free);
			if (!fits(d, nd, units, q, &least)) {
				i++;
				break;
			}
		}
		if (j >= tr->n || tr->step[j].t >= end)
			return t;
		if (i >= tr->n)
			return CCR_FOREVER;
		t = tr->step[i].t;
	}
	return CCR_FOREVER;
}
