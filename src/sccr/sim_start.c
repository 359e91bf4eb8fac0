/* sim_start - see sim_start.h */
#include "sccr/sim_start.h"

#include <stdlib.h>
#include <string.h>

#include "sccr/sim_grow.h"
#include "sccr/sim_record.h"

/* GPUs of a node that are free as a whole, and those that no job can get at. */
static void node_levels(const struct sim *s, uint32_t i, uint64_t *whole, uint64_t *stranded)
{
	const struct sim_node *n = &s->cluster->node[i];
	const struct sim_free *f = &s->free[i];
	uint32_t free_gpus = sim_gpus(f->gpus), all = sim_gpus(n->gpus);

	*whole = free_gpus == all ? all : 0;
	*stranded = free_gpus && (!f->cpus || (!f->mem && n->mem > 1)) ? free_gpus : 0;
}

/* sign -1 takes the pick out of what is free, +1 gives it back. */
static void apply(struct sim *s, const struct sim_pick *p, int sign)
{
	struct sim_free *f = &s->free[p->node];
	struct sim_levels *l = &s->levels;
	uint64_t whole, stranded;

	node_levels(s, p->node, &whole, &stranded);
	l->gpus_whole -= whole;
	l->gpus_stranded -= stranded;
	if (sign < 0) {
		f->cpus -= p->cpus;
		f->mem -= p->mem;
		f->jobs++;
	} else {
		f->cpus += p->cpus;
		f->mem += p->mem;
		f->jobs--;
	}
	for (int k = 0; k < SIM_NODE_TYPES; k++)
		f->gpus[k] =
		    (uint16_t)(sign < 0 ? f->gpus[k] - p->gpus[k] : f->gpus[k] + p->gpus[k]);
	node_levels(s, p->node, &whole, &stranded);
	l->gpus_whole += whole;
	l->gpus_stranded += stranded;
}

int sim_all_idle(struct sim *s, struct ccr_error *err)
{
	struct sim_levels *l = &s->levels;

	memset(l, 0, sizeof(*l));
	s->free = calloc(s->cluster->nodes, sizeof(*s->free));
	if (!s->free)
		return ccr_error_nomem(err);
	for (uint32_t i = 0; i < s->cluster->nodes; i++) {
		uint64_t whole, stranded;

		s->free[i].cpus = s->cluster->node[i].cpus;
		s->free[i].mem = s->cluster->node[i].mem;
		memcpy(s->free[i].gpus, s->cluster->node[i].gpus, sizeof(s->free[i].gpus));
		node_levels(s, i, &whole, &stranded);
		l->gpus_whole += whole;
		l->gpus_stranded += stranded;
	}
	return CCR_OK;
}

static bool has(const struct sim_free *f, const struct sim_pick *p)
{
	bool ok = f->cpus >= p->cpus && f->mem >= p->mem;

	for (int k = 0; k < SIM_NODE_TYPES; k++)
		ok = ok && f->gpus[k] >= p->gpus[k];
	return ok;
}

bool sim_take(const struct sim_cluster *c, uint32_t node, const struct sim_free *f,
	      const struct sim_demand *d, bool last, struct sim_pick *out)
{
	const struct sim_node *n = &c->node[node];
	uint32_t need = d->gpus, cpus = last ? d->last_cpus : d->cpus;

	if (f->cpus < cpus || f->mem < d->mem)
		return false;
	memset(out, 0, sizeof(*out));
	out->node = node;
	out->cpus = cpus;
	out->mem = d->mem;
	for (int k = 0; k < n->ntypes && need; k++) {
		uint32_t g = f->gpus[k] < need ? f->gpus[k] : need;

		if (d->gpu_type != SIM_ANY_TYPE && d->gpu_type != n->type[k])
			continue;
		out->gpus[k] = (uint16_t)g;
		need -= g;
	}
	return !need;
}

/* What hangs on the partition goes from a twin to its first. */
static void lend_place(struct sim_job *first, const struct sim_job *twin)
{
	first->home = twin->home;
	first->partition = twin->partition;
	first->demand = twin->demand;
	first->limit = twin->limit;
	first->runtime = twin->runtime;
	first->score = twin->score;
	memcpy(first->terms, twin->terms, sizeof(first->terms));
}

/*
 * A booking that the job has at another of its places comes to nothing. One of this very cycle was
 * never told to anybody: it was no estimate.
 */
static void drop_booking(struct sim *s, struct sim_job *first)
{
	for (uint32_t i = 0; first->booking >= 0 && i < s->bookings; i++) {
		if (s->booking[i].job != first)
			continue;
		free(s->booking[i].pick);
		s->booking[i] = s->booking[--s->bookings];
		first->booking = -1;
	}
	if (first->first_booking >= 0 && first->promised == s->cycles) {
		first->first_booking = -1;
		s->figures->bookings--;
	}
}

/* The job starts at one of its places in the queue: the others are given up. */
static struct sim_job *take_place(struct sim *s, struct sim_job *j)
{
	struct sim_job *first = sim_first(j), was = *first;

	if (!first->twin)
		return first;
	drop_booking(s, first);
	if (j != first)
		lend_place(first, j);
	for (struct sim_job *t = first->twin; t; t = t->twin) {
		t->state = SIM_ENDED;
		if (s->scorer && s->scorer->withdrawn)
			s->scorer->withdrawn(s->scorer->state, s, t == j ? &was : t);
	}
	first->twin = NULL;
	return first;
}

int sim_start(struct sim *s, struct sim_job *j, const struct sim_pick *pick, uint32_t npick,
	      bool filler, struct ccr_error *err)
{
	struct sim_levels *l = &s->levels;

	j = take_place(s, j);
	for (uint32_t i = 0; i < npick; i++)
		if (!has(&s->free[pick[i].node], &pick[i]))
			return ccr_error_set(
			    err, CCR_EINVAL, 0,
			    "scheduler %s started job %s on %s, which does not have the room",
			    s->sched->name, j->id, s->cluster->node[pick[i].node].name);
	j->pick = npick ? malloc(npick * sizeof(*pick)) : NULL;
	if ((npick && !j->pick) ||
	    sim_grow(&s->running, &s->running_room, s->nrunning + 1, sizeof(void *)))
		return ccr_error_nomem(err);
	if (npick)
		memcpy(j->pick, pick, npick * sizeof(*pick));
	j->npick = npick;
	for (uint32_t i = 0; i < npick; i++)
		apply(s, &pick[i], -1);
	j->state = SIM_RUNNING;
	j->filler = filler;
	j->start = s->now;
	j->end = s->now + j->runtime;
	j->planned_end = j->limit >= SIM_NEVER - s->now ? SIM_NEVER : s->now + j->limit;
	j->slot = s->nrunning;
	s->running[s->nrunning++] = j;
	l->cpus_used += sim_job_cpus(j);
	l->gpus_used += sim_job_gpus(j);
	s->queued_gpu -= j->demand.gpus > 0;
	if (sim_heap_push(&s->ends, j->end, j) || sim_figures_start(s->figures, j))
		return ccr_error_nomem(err);
	if (s->sched->started)
		s->sched->started(s->sched->state, s, j);
	if (s->scorer && s->scorer->started)
		s->scorer->started(s->scorer->state, s, j);
	return s->record ? sim_record_start(s->record, s, j, err) : CCR_OK;
}

void sim_leave(struct sim *s, struct sim_job *j)
{
	for (uint32_t i = 0; i < j->npick; i++)
		apply(s, &j->pick[i], +1);
	s->levels.cpus_used -= sim_job_cpus(j);
	s->levels.gpus_used -= sim_job_gpus(j);
	s->running[j->slot] = s->running[--s->nrunning];
	s->running[j->slot]->slot = j->slot;
	j->state = SIM_ENDED;
}

/* The job's booking, a new one if it has none; NULL: out of memory. */
static struct sim_booking *booking_of(struct sim *s, const struct sim_job *j)
{
	struct sim_booking *b;

	for (uint32_t i = s->bookings; j->booking >= 0 && i-- > 0;)
		if (s->booking[i].job == j)
			return &s->booking[i];
	if (sim_grow(&s->booking, &s->booking_room, s->bookings + 1, sizeof(*b)))
		return NULL;
	b = &s->booking[s->bookings++];
	memset(b, 0, sizeof(*b));
	return b;
}

int sim_book(struct sim *s, struct sim_job *j, sim_time start, const struct sim_pick *pick,
	     uint32_t npick, struct ccr_error *err)
{
	struct sim_booking *b;

	j = sim_first(j);
	b = booking_of(s, j);
	if (!b)
		return ccr_error_nomem(err);
	b->job = j;
	b->start = start;
	j->booking = start;
	free(b->pick);
	b->npick = 0;
	b->pick = malloc((npick ? npick : 1) * sizeof(*pick));
	if (!b->pick)
		return ccr_error_nomem(err);
	if (npick)
		memcpy(b->pick, pick, npick * sizeof(*pick));
	b->npick = npick;
	if (j->first_booking < 0) {
		s->figures->bookings++;
		j->promised = s->cycles;
	}
	if (j->promised == s->cycles)
		j->first_booking = start;
	return CCR_OK;
}

void sim_clear_bookings(struct sim *s)
{
	for (uint32_t i = 0; i < s->bookings; i++) {
		s->booking[i].job->booking = -1;
		free(s->booking[i].pick);
	}
	s->bookings = 0;
}
