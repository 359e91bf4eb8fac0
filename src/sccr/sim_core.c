/* sim_core - see sim_core.h */
#include "sccr/sim_core.h"

#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "core/gate.h"
#include "sccr/sim_refused.h"
#include "sccr/sim_start.h"

struct core {
	struct ccr_plan *plan;
	uint64_t **candidates; /* by partition; NULL: every node */
	uint32_t parts;
	bool *full; /* partitions that have as many bookings as they may, in this cycle */
	struct sim_refused refused;
	struct sim_job **booked; /* jobs that have a booking */
	uint32_t nbooked, booked_room;
	struct sim_pick *pick;	 /* room for every node */
	struct ccr_share *share; /* the same */
	uint32_t max_test;
	int depth;
};

/* The plan counts in whole units of time: here they are the engine's milliseconds. */
static int64_t length(sim_time limit)
{
	return limit >= SIM_NEVER ? CCR_FOREVER : limit > 0 ? limit : 1;
}

static void to_amount(struct ccr_amount *a, const struct sim_pick *p)
{
	memset(a, 0, sizeof(*a));
	a->cpus = (int32_t)p->cpus;
	a->mem = p->mem;
	for (int k = 0; k < SIM_NODE_TYPES; k++)
		a->gpus[k] = (int16_t)p->gpus[k];
}

static void to_pick(struct sim_pick *p, const struct ccr_share *s)
{
	memset(p, 0, sizeof(*p));
	p->node = s->node;
	p->cpus = (uint32_t)s->a.cpus;
	p->mem = (uint32_t)s->a.mem;
	for (int k = 0; k < SIM_NODE_TYPES; k++)
		p->gpus[k] = (uint16_t)s->a.gpus[k];
}

static void to_demand(struct ccr_demand *d, const struct sim_job *j)
{
	memset(d, 0, sizeof(*d));
	d->min_nodes = d->max_nodes = j->demand.nodes;
	d->node.mem = j->demand.mem;
	if (j->demand.gpus)
		d->node.gpu[0] = (struct ccr_want){
		    j->demand.gpu_type == SIM_ANY_TYPE ? CCR_GPU_ANY : (int16_t)j->demand.gpu_type,
		    (uint16_t)j->demand.gpus};
	if (j->demand.nodes == 1 || j->demand.cpus == j->demand.last_cpus) {
		d->node.cpus =
		    (int32_t)(j->demand.nodes == 1 ? j->demand.last_cpus : j->demand.cpus);
		return;
	}
	d->unit.cpus = 1;
	d->units = (uint32_t)sim_job_cpus(j);
	d->node_max_units = j->demand.cpus;
}

static void to_job(struct ccr_plan_job *pj, const struct core *c, const struct sim *s,
		   const struct sim_job *j, const struct ccr_demand *d)
{
	*pj = (struct ccr_plan_job){
	    .id = (uint32_t)j->serial + 1,
	    .rank = {.tier = s->cluster->part[j->home].tier,
		     .prio = j->score >= UINT32_MAX ? UINT32_MAX : (uint32_t)j->score,
		     .submit = j->submit,
		     .job = (uint32_t)j->serial + 1},
	    .partition = (uint16_t)j->home,
	    .since = j->eligible,
	    .limit = length(j->limit),
	    .demand = d,
	    .candidates = c->candidates[j->home],
	};
}

static int load(struct core *c, struct sim *s, struct ccr_error *err)
{
	ccr_plan_begin(c->plan, s->now, true);
	for (uint32_t i = 0; i < s->nrunning; i++) {
		const struct sim_job *j = s->running[i];

		for (uint32_t k = 0; k < j->npick; k++) {
			struct ccr_amount a;

			to_amount(&a, &j->pick[k]);
			if (ccr_plan_running(c->plan, j->pick[k].node, &a,
					     j->planned_end >= SIM_NEVER ? CCR_FOREVER
									 : j->planned_end,
					     length(j->limit)))
				return ccr_error_nomem(err);
		}
	}
	return ccr_plan_ready(c->plan, err);
}

static int start(struct core *c, struct sim *s, struct sim_job *j, const struct ccr_plan_job *pj,
		 const struct ccr_slot *slot, bool filler, struct ccr_error *err)
{
	int rc;

	for (uint32_t i = 0; i < slot->n; i++) {
		to_pick(&c->pick[i], &slot->share[i]);
		if (slot->share != c->share)
			c->share[i] = slot->share[i];
	}
	rc = sim_start(s, j, c->pick, slot->n, filler, err);
	return rc ? rc : ccr_plan_start(c->plan, pj, c->share, slot->n, err);
}

static int book(struct core *c, struct sim_job *j, const struct ccr_plan_job *pj,
		struct ccr_error *err)
{
	const struct ccr_booking *b;
	int64_t before;
	struct sim_job *first = sim_first(j);

	/* below the depth there is none to be had, unless it has one from before */
	if (c->full[j->home] && !first->mark)
		return CCR_OK;
	b = ccr_plan_booking(c->plan, pj->id);
	before = b ? b->start : -1;
	switch (ccr_plan_book(c->plan, pj, &b, err)) {
	case CCR_BOOKED:
		/* one that moved, or made others move, leaves room where there was none */
		if (b->start != before)
			sim_refused_keep_any_age(&c->refused);
		if (first->mark)
			return CCR_OK;
		if (c->nbooked == c->booked_room) {
			uint32_t room = c->booked_room ? 2 * c->booked_room : 64;
			struct sim_job **p = realloc(c->booked, room * sizeof(void *));

			if (!p)
				return ccr_error_nomem(err);
			c->booked = p;
			c->booked_room = room;
		}
		c->booked[c->nbooked++] = first;
		first->mark = 1;
		return CCR_OK;
	case CCR_BOOK_DEPTH:
		c->full[j->home] = true;
		return CCR_OK;
	case CCR_BOOK_NEVER:
	case CCR_BOOK_WINDOW:
		return CCR_OK;
	case CCR_BOOK_ERROR:
		break;
	}
	return CCR_ENOMEM;
}

/* What the plan has booked, for the figures and the picture. */
static int tell(struct core *c, struct sim *s, struct ccr_error *err)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->nbooked; i++) {
		struct sim_job *j = c->booked[i];
		const struct ccr_booking *b;

		j->mark = 0;
		if (j->state != SIM_PENDING)
			continue;
		b = ccr_plan_booking(c->plan, (uint32_t)j->serial + 1);
		if (!b || !b->n)
			continue;
		for (uint32_t k = 0; k < b->n; k++)
			to_pick(&c->pick[k], &b->share[k]);
		if (sim_book(s, j, b->start, c->pick, b->n, err))
			return CCR_ENOMEM;
		j->mark = 1;
		c->booked[kept++] = j;
	}
	c->nbooked = kept;
	return CCR_OK;
}

/* More than is free on all nodes together: no need to look at them one by one. */
static bool is_too_much(const struct sim *s, const struct sim_job *j)
{
	return sim_job_cpus(j) > s->cluster->cpus - s->levels.cpus_used ||
	       sim_job_gpus(j) > s->cluster->gpus - s->levels.gpus_used;
}

/* It ranks below all bookings, and respects them all. */
static bool below_all(const struct core *c, const struct ccr_plan_job *pj)
{
	const struct ccr_booking *b, *last = NULL;

	for (uint32_t i = 0; (b = ccr_plan_nth(c->plan, i)); i++)
		last = b;
	return !last || ccr_rank_cmp(&last->rank, &pj->rank) < 0;
}

/* As the gate does: whose time has come is held against the bookings as if he had started in time.
 */
static enum ccr_verdict pick(const struct core *c, const struct ccr_plan_job *pj,
			     struct ccr_slot *slot)
{
	struct ccr_plan_job job = *pj;
	int64_t late = ccr_plan_late(c->plan, pj->id);
	enum ccr_verdict v;

	if (job.limit < CCR_FOREVER)
		job.limit = job.limit > late ? job.limit - late : 1;
	v = ccr_plan_pick(c->plan, &job, false, slot, NULL);
	if (v != CCR_WAIT_BOOKING || !ccr_plan_booking(c->plan, pj->id))
		return v;
	/* only bookings below are in the way, and all of them have a place elsewhere in time */
	job.over_lower = true;
	if (ccr_plan_pick(c->plan, &job, false, slot, NULL) != CCR_START)
		return v;
	memcpy(c->share, slot->share, slot->n * sizeof(*c->share));
	slot->share = c->share;
	job.over_lower = false;
	return ccr_plan_makes_way(c->plan, &job, slot->share, slot->n) ? CCR_START : v;
}

static int cycle(void *state, struct sim *s, struct ccr_error *err)
{
	struct core *c = state;
	uint32_t passed = 0;
	bool low = false; /* from here on down */
	int rc = load(c, s, err);

	sim_refused_clear(&c->refused);
	memset(c->full, 0, c->parts * sizeof(*c->full));
	for (uint32_t i = 0; !rc && i < s->queued && i < c->max_test; i++) {
		struct sim_job *j = s->queue[i];
		struct ccr_demand d;
		struct ccr_plan_job pj;
		struct ccr_slot slot;
		bool booked = sim_first(j)->mark;

		if (j->state != SIM_PENDING) /* it started in another partition */
			continue;
		if (c->full[j->home] && !booked &&
		    sim_refused_match(&c->refused, s->cluster, j, !low)) {
			passed++;
			continue;
		}
		to_demand(&d, j);
		to_job(&pj, c, s, j, &d);
		low = low || below_all(c, &pj);
		/* what held another one back may be this job's own booking */
		if (booked || !sim_refused_match(&c->refused, s->cluster, j, !low)) {
			enum ccr_verdict v =
			    is_too_much(s, j) ? CCR_WAIT_FREE : pick(c, &pj, &slot);

			if (v == CCR_START) {
				rc = start(c, s, j, &pj, &slot, passed > sim_places_above(s, j),
					   err);
				continue;
			}
			if ((v == CCR_WAIT_FREE || v == CCR_WAIT_BOOKING) &&
			    sim_refused_add(&c->refused, j, v == CCR_WAIT_FREE))
				return ccr_error_nomem(err);
		}
		passed++;
		rc = book(c, j, &pj, err);
	}
	return rc ? rc : tell(c, s, err);
}

static void core_free(void *state)
{
	struct core *c = state;

	if (!c)
		return;
	for (uint32_t i = 0; c->candidates && i < c->parts; i++)
		free(c->candidates[i]);
	free(c->candidates);
	free(c->full);
	free(c->booked);
	free(c->pick);
	free(c->share);
	sim_refused_free(&c->refused);
	ccr_plan_free(c->plan);
	free(c);
}

static struct ccr_node *nodes_of(const struct sim_cluster *cl)
{
	struct ccr_node *n = calloc(cl->nodes, sizeof(*n));

	for (uint32_t i = 0; n && i < cl->nodes; i++) {
		const struct sim_node *from = &cl->node[i];

		n[i].total.cpus = (int32_t)from->cpus;
		n[i].total.mem = from->mem;
		n[i].up = true;
		n[i].weight = from->weight;
		n[i].gpu_types = from->ntypes;
		for (int k = 0; k < from->ntypes; k++) {
			n[i].gpu_type[k] = from->type[k];
			n[i].total.gpus[k] = (int16_t)from->gpus[k];
		}
	}
	return n;
}

static int make_plan(struct core *c, const struct sim_cluster *cl, const struct sim_backfill *b,
		     uint32_t depth, struct ccr_error *err)
{
	struct ccr_plan_options o = ccr_plan_defaults();
	struct ccr_node *nodes = nodes_of(cl);
	int rc;

	if (!nodes)
		return ccr_error_nomem(err);
	o.window = b->window > CCR_FOREVER / SIM_SECOND ? CCR_FOREVER : b->window * SIM_SECOND;
	o.depth = depth == UINT32_MAX ? (uint32_t)b->depth : depth;
	o.strict = b->strict;
	o.placement = b->placement;
	if (b->has_long_jobs) {
		o.long_limit = b->long_over * SIM_SECOND;
		o.long_share = b->long_gpu_fraction;
	}
	c->depth = (int)o.depth;
	rc = ccr_plan_new(&c->plan, nodes, cl->nodes, &o, err);
	free(nodes);
	return rc;
}

static int make_parts(struct core *c, const struct sim_cluster *cl, const struct sim_policy *policy,
		      uint32_t depth, struct ccr_error *err)
{
	c->candidates = calloc(cl->parts, sizeof(*c->candidates));
	c->full = calloc(cl->parts, sizeof(*c->full));
	if (!c->candidates || !c->full)
		return ccr_error_nomem(err);
	c->parts = cl->parts;
	for (uint32_t i = 0; i < cl->parts; i++) {
		const bool *has = cl->part[i].has_node;
		struct sim_backfill b;
		int d, rc;

		sim_policy_backfill(policy, cl->part[i].name, &b);
		d = depth == UINT32_MAX ? b.depth : (int)depth;
		c->depth = i && c->depth != d ? -1 : d;
		rc = ccr_plan_partition(c->plan, (uint16_t)i, (uint32_t)d, b.strict, err);
		if (rc)
			return rc;
		if (!has)
			continue;
		c->candidates[i] = calloc(CCR_WORDS(cl->nodes), sizeof(uint64_t));
		if (!c->candidates[i])
			return ccr_error_nomem(err);
		for (uint32_t k = 0; k < cl->nodes; k++)
			if (has[k])
				ccr_bit_set(c->candidates[i], k);
	}
	return CCR_OK;
}

int sim_core_new(struct sim_scheduler *out, const struct sim *s, const struct sim_policy *policy,
		 const struct sim_model_options *o, struct ccr_error *err)
{
	struct core *c = calloc(1, sizeof(*c));
	struct sim_backfill b;
	uint32_t depth;
	int rc;

	/* without backfill the gate steps aside: nobody is booked, nobody waits for a booking */
	sim_policy_backfill(policy, NULL, &b);
	depth = b.enabled ? o->depth : 0;

	memset(out, 0, sizeof(*out));
	if (!c)
		return ccr_error_nomem(err);
	out->name = "ccr";
	out->state = c;
	out->cycle = cycle;
	out->free = core_free;
	c->max_test = o->max_test;
	c->pick = calloc(s->cluster->nodes, sizeof(*c->pick));
	c->share = calloc(s->cluster->nodes, sizeof(*c->share));
	if (!c->pick || !c->share)
		return ccr_error_nomem(err);
	rc = make_plan(c, s->cluster, &b, depth, err);
	return rc ? rc : make_parts(c, s->cluster, policy, depth, err);
}

int sim_core_depth(const struct sim_scheduler *sched)
{
	return ((const struct core *)sched->state)->depth;
}
