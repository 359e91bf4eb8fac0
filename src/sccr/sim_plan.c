/* sim_plan - see sim_plan.h */
#include "sccr/sim_plan.h"

#include <stdlib.h>
#include <string.h>

#include "sccr/sim_start.h"

/* Somebody holds a part of a node during [from, to). */
struct hold {
	sim_time from, to;
	uint64_t serial;
	struct sim_pick pick;
};

/* Free amounts may fall below nothing where a whole-node booking meets a running job. */
struct amount {
	int64_t cpus, mem, gpus[SIM_NODE_TYPES];
};

/* A change of what is free of a node. */
struct change {
	sim_time t;
	const struct sim_pick *pick;
	int sign;
};

struct track {
	struct hold *run; /* by `to`, then serial */
	struct hold *book;
	uint32_t nrun, run_room, nbook, book_room;
	bool listed; /* in sim_plan.booked */
	/*
	 * What changes() found, for as long as it holds: till the next moment, or a hold more or
	 * less. Of many jobs that are tried, few change more than one node.
	 */
	bool known;
	sim_time at;
	struct amount now;
	struct change *change;
	uint32_t nchange, change_room;
};

/* Start times [from, to] at which one node would do; `sign` turns them into a sweep. */
struct edge {
	sim_time t;
	int sign;
};

struct sim_plan {
	const struct sim_cluster *c;
	struct track *track;
	uint32_t *booked; /* nodes that have bookings */
	uint32_t nbooked;
	struct edge *edge;
	uint32_t nedge, edge_room;
	bool failed;
};

struct sim_plan *sim_plan_new(const struct sim *s)
{
	struct sim_plan *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->c = s->cluster;
	p->track = calloc(s->cluster->nodes, sizeof(*p->track));
	p->booked = calloc(s->cluster->nodes, sizeof(*p->booked));
	if (!p->track || !p->booked) {
		sim_plan_free(p);
		return NULL;
	}
	return p;
}

void sim_plan_free(struct sim_plan *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; p->track && i < p->c->nodes; i++) {
		free(p->track[i].run);
		free(p->track[i].book);
		free(p->track[i].change);
	}
	free(p->track);
	free(p->booked);
	free(p->edge);
	free(p);
}

bool sim_plan_failed(const struct sim_plan *p)
{
	return p->failed;
}

static bool room(void *array, uint32_t *have, uint32_t need, size_t size)
{
	void **a = array, *q;
	uint32_t to = *have ? *have : 8;

	while (to < need)
		to *= 2;
	if (need <= *have)
		return true;
	q = realloc(*a, to * size);
	if (!q)
		return false;
	*a = q;
	*have = to;
	return true;
}

int sim_plan_run(struct sim_plan *p, const struct sim_job *j)
{
	for (uint32_t i = 0; i < j->npick; i++) {
		struct track *t = &p->track[j->pick[i].node];
		uint32_t at = t->nrun;

		if (!room(&t->run, &t->run_room, t->nrun + 1, sizeof(*t->run)))
			return -1;
		while (at && t->run[at - 1].to > j->planned_end)
			at--;
		memmove(t->run + at + 1, t->run + at, (t->nrun - at) * sizeof(*t->run));
		t->known = false;
		t->run[at] = (struct hold){j->start, j->planned_end, j->serial, j->pick[i]};
		t->nrun++;
	}
	return 0;
}

void sim_plan_end(struct sim_plan *p, const struct sim_job *j)
{
	for (uint32_t i = 0; i < j->npick; i++) {
		struct track *t = &p->track[j->pick[i].node];
		uint32_t at = 0;

		while (at < t->nrun && t->run[at].serial != j->serial)
			at++;
		if (at == t->nrun)
			continue;
		t->known = false;
		t->nrun--;
		memmove(t->run + at, t->run + at + 1, (t->nrun - at) * sizeof(*t->run));
	}
}

void sim_plan_clear(struct sim_plan *p)
{
	for (uint32_t i = 0; i < p->nbooked; i++) {
		p->track[p->booked[i]].nbook = 0;
		p->track[p->booked[i]].listed = false;
		p->track[p->booked[i]].known = false;
	}
	p->nbooked = 0;
}

int sim_plan_book(struct sim_plan *p, const struct sim_job *j, sim_time start,
		  const struct sim_pick *pick, uint32_t npick, bool whole)
{
	sim_time end = j->limit >= SIM_NEVER - start ? SIM_NEVER : start + j->limit;

	for (uint32_t i = 0; i < npick; i++) {
		const struct sim_node *n = &p->c->node[pick[i].node];
		struct track *t = &p->track[pick[i].node];
		struct hold *h;

		if (!room(&t->book, &t->book_room, t->nbook + 1, sizeof(*t->book)))
			return -1;
		if (!t->listed)
			p->booked[p->nbooked++] = pick[i].node;
		t->listed = true;
		t->known = false;
		h = &t->book[t->nbook++];
		*h = (struct hold){start, end, j->serial, pick[i]};
		if (whole) {
			h->pick.cpus = n->cpus;
			h->pick.mem = n->mem;
			memcpy(h->pick.gpus, n->gpus, sizeof(h->pick.gpus));
		}
	}
	return 0;
}

void sim_plan_unbook(struct sim_plan *p, const struct sim_job *j, const struct sim_pick *pick,
		     uint32_t npick)
{
	for (uint32_t i = 0; i < npick; i++) {
		struct track *t = &p->track[pick[i].node];
		uint32_t at = 0;

		while (at < t->nbook && t->book[at].serial != j->serial)
			at++;
		if (at == t->nbook)
			continue;
		t->known = false;
		t->book[at] = t->book[--t->nbook];
	}
}

static void change_amount(struct amount *a, const struct sim_pick *p, int sign)
{
	a->cpus += sign * (int64_t)p->cpus;
	a->mem += sign * (int64_t)p->mem;
	for (int k = 0; k < SIM_NODE_TYPES; k++)
		a->gpus[k] += sign * (int64_t)p->gpus[k];
}

static bool holds(const struct sim_node *n, const struct amount *a, const struct sim_demand *d)
{
	int64_t gpus = 0;

	if (a->cpus < d->cpus || a->mem < d->mem)
		return false;
	if (!d->gpus)
		return true;
	for (int k = 0; k < n->ntypes; k++)
		if ((d->gpu_type == SIM_ANY_TYPE || d->gpu_type == n->type[k]) && a->gpus[k] > 0)
			gpus += a->gpus[k];
	return gpus >= d->gpus;
}

static struct amount free_now(const struct sim *s, uint32_t node)
{
	const struct sim_free *f = &s->free[node];
	struct amount a = {.cpus = f->cpus, .mem = f->mem};

	for (int k = 0; k < SIM_NODE_TYPES; k++)
		a.gpus[k] = f->gpus[k];
	return a;
}

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return x->t < y->t ? -1 : x->t > y->t;
}

/* Finds the changes of a node after now, in order, and what is free now beside the bookings. */
static bool find_changes(struct track *t, const struct sim *s, uint32_t node)
{
	uint32_t n = 0;

	if (!room(&t->change, &t->change_room, t->nrun + 2 * t->nbook, sizeof(*t->change)))
		return false;
	t->now = free_now(s, node);
	for (uint32_t i = 0; i < t->nrun; i++) {
		/* a job that should have ended by now is there for one more moment */
		sim_time end = t->run[i].to > s->now ? t->run[i].to : s->now + 1;

		t->change[n++] = (struct change){end, &t->run[i].pick, +1};
	}
	for (uint32_t i = 0; i < t->nbook; i++) {
		if (t->book[i].from <= s->now)
			change_amount(&t->now, &t->book[i].pick, -1);
		else
			t->change[n++] = (struct change){t->book[i].from, &t->book[i].pick, -1};
		t->change[n++] = (struct change){t->book[i].to, &t->book[i].pick, +1};
	}
	if (t->nbook)
		qsort(t->change, n, sizeof(*t->change), by_time);
	t->nchange = n;
	t->at = s->now;
	t->known = true;
	return true;
}

/* The same, as long as it holds. *a becomes what is free now; the track has the changes. */
static const struct track *changes(struct sim_plan *p, const struct sim *s, uint32_t node,
				   struct amount *a)
{
	struct track *t = &p->track[node];

	if ((!t->known || t->at != s->now) && !find_changes(t, s, node)) {
		p->failed = true;
		t->known = false;
		t->nchange = 0;
		t->now = free_now(s, node);
	}
	*a = t->now;
	return t;
}

/* The least of both, component by component. */
static void least(struct amount *a, const struct amount *b)
{
	a->cpus = b->cpus < a->cpus ? b->cpus : a->cpus;
	a->mem = b->mem < a->mem ? b->mem : a->mem;
	for (int k = 0; k < SIM_NODE_TYPES; k++)
		a->gpus[k] = b->gpus[k] < a->gpus[k] ? b->gpus[k] : a->gpus[k];
}

/* What the node has free during the whole of [from, from + limit). */
static struct amount free_during(struct sim_plan *p, const struct sim *s, uint32_t node,
				 sim_time from, sim_time limit)
{
	struct amount a, low;
	const struct track *t = changes(p, s, node, &a);
	uint32_t n = t->nchange, i = 0;
	sim_time end = limit >= SIM_NEVER - from ? SIM_NEVER : from + limit;

	for (; i < n && t->change[i].t <= from; i++)
		change_amount(&a, t->change[i].pick, t->change[i].sign);
	low = a;
	while (i < n && t->change[i].t < end) {
		sim_time when = t->change[i].t;

		for (; i < n && t->change[i].t == when; i++)
			change_amount(&a, t->change[i].pick, t->change[i].sign);
		least(&low, &a);
	}
	return low;
}

/* The node's share out of what is free, types dealt in the node's order. */
static void deal(const struct sim_node *n, uint32_t node, const struct amount *a,
		 const struct sim_demand *d, bool last, struct sim_pick *out)
{
	int64_t need = d->gpus;

	memset(out, 0, sizeof(*out));
	out->node = node;
	out->cpus = last ? d->last_cpus : d->cpus;
	out->mem = d->mem;
	for (int k = 0; k < n->ntypes && need > 0; k++) {
		int64_t g = a->gpus[k] < need ? a->gpus[k] : need;

		if (g <= 0 || (d->gpu_type != SIM_ANY_TYPE && d->gpu_type != n->type[k]))
			continue;
		out->gpus[k] = (uint16_t)g;
		need -= g;
	}
}

/* The lowest numbered nodes that do for [from, from + limit). */
static bool choose(struct sim_plan *p, const struct sim *s, const struct sim_job *j, sim_time from,
		   struct sim_pick *pick)
{
	const struct sim_demand *d = &j->demand;
	uint32_t n = 0;

	for (uint32_t i = 0; n < d->nodes && i < p->c->nodes; i++) {
		struct amount a;

		if (!sim_allowed(p->c, j, i))
			continue;
		if (from == s->now) { /* what is not free now need not be looked at further */
			a = free_now(s, i);
			if (!holds(&p->c->node[i], &a, d))
				continue;
		}
		if (from != s->now || p->track[i].nbook) {
			a = free_during(p, s, i, from, j->limit);
			if (!holds(&p->c->node[i], &a, d))
				continue;
		}
		deal(&p->c->node[i], i, &a, d, n + 1 == d->nodes, &pick[n]);
		n++;
	}
	return n == d->nodes && !p->failed;
}

bool sim_plan_now(struct sim_plan *p, const struct sim *s, const struct sim_job *j,
		  struct sim_pick *pick)
{
	p->failed = false;
	return choose(p, s, j, s->now, pick);
}

static void edge_add(struct sim_plan *p, sim_time t, int sign)
{
	if (!room(&p->edge, &p->edge_room, p->nedge + 1, sizeof(*p->edge))) {
		p->failed = true;
		return;
	}
	p->edge[p->nedge++] = (struct edge){t, sign};
}

/*
 * The start times in [now, before) at which the node would do for j: adds their edges (want_all),
 * or returns the first one.
 */
static sim_time windows(struct sim_plan *p, const struct sim *s, const struct sim_job *j,
			uint32_t node, sim_time before, bool want_all)
{
	struct amount a;
	const struct track *track = changes(p, s, node, &a);
	const struct change *change = track->change;
	uint32_t n = track->nchange, i = 0;
	sim_time open = holds(&p->c->node[node], &a, &j->demand) ? s->now : -1;

	while (i < n) {
		sim_time t = change[i].t;
		bool ok;

		for (; i < n && change[i].t == t; i++)
			change_amount(&a, change[i].pick, change[i].sign);
		if (open < 0 && t >= before)
			return SIM_NEVER;
		ok = t < SIM_NEVER && holds(&p->c->node[node], &a, &j->demand);
		if (ok && open < 0)
			open = t;
		if (ok || open < 0 || t >= SIM_NEVER)
			continue;
		if (j->limit <= t - open) { /* a window that closes, but is long enough */
			if (!want_all)
				return open;
			edge_add(p, open, +1);
			edge_add(p, t - j->limit + 1, -1);
		}
		open = -1;
	}
	if (open < 0)
		return SIM_NEVER;
	if (want_all)
		edge_add(p, open, +1);
	return open;
}

static int by_edge(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->sign - y->sign; /* a window that closes at t no longer counts at t */
}

sim_time sim_plan_earliest(struct sim_plan *p, const struct sim *s, const struct sim_job *j,
			   struct sim_pick *pick)
{
	sim_time best = SIM_NEVER;
	uint32_t open = 0;

	p->failed = false;
	p->nedge = 0;
	for (uint32_t i = 0; i < p->c->nodes && best > s->now; i++) {
		sim_time t;

		if (!sim_allowed(p->c, j, i) || !sim_node_holds(&p->c->node[i], &j->demand))
			continue;
		t = windows(p, s, j, i, best, j->demand.nodes > 1);
		if (j->demand.nodes == 1 && t < best)
			best = t;
	}
	if (j->demand.nodes > 1) {
		qsort(p->edge, p->nedge, sizeof(*p->edge), by_edge);
		for (uint32_t i = 0; i < p->nedge; i++) {
			open += (uint32_t)p->edge[i].sign;
			if (open < j->demand.nodes)
				continue;
			best = p->edge[i].t;
			break;
		}
	}
	if (best >= SIM_NEVER || p->failed)
		return SIM_NEVER;
	return choose(p, s, j, best, pick) ? best : SIM_NEVER;
}
