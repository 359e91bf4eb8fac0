/* sim_model - see sim_model.h */
#include "sccr/sim_model.h"

#include <stdlib.h>
#include <string.h>

#include "sccr/sim_plan.h"
#include "sccr/sim_refused.h"
#include "sccr/sim_start.h"

struct model {
	struct sim_plan *plan;
	uint32_t depth, max_test;
	bool strict, whole;
	bool failed;
	struct sim_pick *pick; /* room for every node of the cluster */
	struct sim_refused refused;
	struct sim_heap due; /* recorded: who starts when */
	/* conservative: what was promised; sim_job.mark is the index + 1 */
	struct promise {
		struct sim_job *job;
		sim_time start;
		struct sim_pick *pick;
		uint64_t made; /* in which cycle */
	} * promise;
	uint32_t promises, promise_room;
	bool released; /* a job ended since the last cycle */
};

static int refuse(struct model *m, const struct sim *s, const struct sim_job *j)
{
	uint32_t n = 0;
	struct sim_pick pick;

	for (uint32_t i = 0; i < s->cluster->nodes && n < j->demand.nodes; i++)
		n += sim_allowed(s->cluster, j, i) &&
		     sim_take(s->cluster, i, &s->free[i], &j->demand, false, &pick);
	return sim_refused_add(&m->refused, j, n < j->demand.nodes);
}

static bool all_full(const struct sim *s)
{
	return s->levels.cpus_used >= s->cluster->cpus;
}

/* Takes the job's booking out of the plan, if it has one. */
static void unbook(struct model *m, const struct sim *s, const struct sim_job *first)
{
	for (uint32_t i = 0; first->booking >= 0 && i < s->bookings; i++)
		if (s->booking[i].job == first)
			sim_plan_unbook(m->plan, first, s->booking[i].pick, s->booking[i].npick);
}

/*
 * Books the job where it has its turn; for one that is booked in another of its partitions only if
 * that makes it earlier. 0, 1 if it is a booking more, -1: see err.
 */
static int book(struct model *m, struct sim *s, struct sim_job *j, struct ccr_error *err)
{
	struct sim_job *first = sim_first(j);
	bool has = first->booking >= 0;
	sim_time start = sim_plan_earliest(m->plan, s, j, m->pick);

	if (sim_plan_failed(m->plan)) {
		ccr_error_nomem(err);
		return -1;
	}
	if (start >= SIM_NEVER || (has && start >= first->booking))
		return 0;
	unbook(m, s, first);
	if (sim_plan_book(m->plan, j, start, m->pick, j->demand.nodes, m->whole) ||
	    sim_book(s, j, start, m->pick, j->demand.nodes, err)) {
		ccr_error_nomem(err);
		return -1;
	}
	return !has;
}

static int cycle(void *state, struct sim *s, struct ccr_error *err)
{
	struct model *m = state;
	const struct sim_job *waits = NULL;
	uint32_t booked = 0, passed = 0;
	int more;

	sim_refused_clear(&m->refused);
	sim_plan_clear(m->plan);
	for (uint32_t i = 0; i < s->queued && i < m->max_test; i++) {
		struct sim_job *j = s->queue[i];

		if (j->state != SIM_PENDING) /* it started in another partition */
			continue;
		/* nobody passes the job that waits but itself, in another partition */
		if (m->strict && waits && waits != sim_first(j))
			break;
		if (booked >= m->depth && all_full(s) && !s->twins)
			break;
		if (!sim_refused_match(&m->refused, s->cluster, j, false)) {
			if (sim_plan_now(m->plan, s, j, m->pick)) {
				int rc;

				booked -= sim_first(j)->booking >= 0;
				unbook(m, s, sim_first(j));
				rc = sim_start(s, j, m->pick, j->demand.nodes,
					       passed > sim_places_above(s, j), err);
				if (rc)
					return rc;
				if (m->failed)
					return ccr_error_nomem(err);
				waits = NULL;
				continue;
			}
			if (sim_plan_failed(m->plan))
				return ccr_error_nomem(err);
			if (refuse(m, s, j))
				return ccr_error_nomem(err);
		}
		passed++;
		waits = sim_first(j);
		if (m->strict || (booked >= m->depth && sim_first(j)->booking < 0))
			continue;
		more = book(m, s, j, err);
		if (more < 0)
			return CCR_ENOMEM;
		booked += (uint32_t)more;
	}
	return CCR_OK;
}

/* --- conservative: bookings are kept from cycle to cycle --- */

/* The mark is the first's, whichever of its places in the queue has the promise. */
static void forget(struct model *m, struct sim_job *first)
{
	uint32_t i = first->mark - 1;

	sim_plan_unbook(m->plan, first, m->promise[i].pick, m->promise[i].job->demand.nodes);
	free(m->promise[i].pick);
	m->promise[i] = m->promise[--m->promises];
	sim_first(m->promise[i].job)->mark = i + 1;
	first->mark = 0;
}

static int promise(struct model *m, const struct sim *s, struct sim_job *j, sim_time start,
		   struct ccr_error *err)
{
	struct promise *p;
	size_t size = j->demand.nodes * sizeof(*m->pick);

	if (m->promises == m->promise_room) {
		uint32_t room = m->promise_room ? 2 * m->promise_room : 64;

		p = realloc(m->promise, room * sizeof(*p));
		if (!p)
			return ccr_error_nomem(err);
		m->promise = p;
		m->promise_room = room;
	}
	p = &m->promise[m->promises];
	p->pick = malloc(size);
	if (!p->pick || sim_plan_book(m->plan, j, start, m->pick, j->demand.nodes, false)) {
		free(p->pick);
		return ccr_error_nomem(err);
	}
	memcpy(p->pick, m->pick, size);
	p->job = j;
	p->start = start;
	p->made = s->cycles;
	sim_first(j)->mark = ++m->promises;
	return CCR_OK;
}

static int keep_cycle(void *state, struct sim *s, struct ccr_error *err)
{
	struct model *m = state;
	uint32_t passed = 0;
	int rc = CCR_OK;

	for (uint32_t i = 0; !rc && i < s->queued && i < m->max_test; i++) {
		struct sim_job *j = s->queue[i], *first = sim_first(j);
		const struct promise *has = first->mark ? &m->promise[first->mark - 1] : NULL;
		sim_time start;

		if (j->state != SIM_PENDING) /* it started in another partition */
			continue;
		passed++;
		if (has && !m->released && has->start > s->now &&
		    (has->job == j || has->made != s->cycles))
			continue;
		/* a promise in another partition stays unless this one has an earlier time */
		if (has && has->job == j)
			forget(m, first);
		start = sim_plan_earliest(m->plan, s, j, m->pick);
		if (sim_plan_failed(m->plan))
			return ccr_error_nomem(err);
		if (has && first->mark) {
			if (start >= has->start)
				continue;
			forget(m, first);
		}
		if (start > s->now) {
			rc = start < SIM_NEVER ? promise(m, s, j, start, err) : CCR_OK;
			continue;
		}
		passed--;
		rc =
		    sim_start(s, j, m->pick, j->demand.nodes, passed > sim_places_above(s, j), err);
		if (m->failed)
			return ccr_error_nomem(err);
	}
	m->released = false;
	for (uint32_t i = 0; !rc && i < m->promises; i++)
		rc = sim_book(s, m->promise[i].job, m->promise[i].start, m->promise[i].pick,
			      m->promise[i].job->demand.nodes, err);
	return rc;
}

static void started(void *state, struct sim *s, const struct sim_job *j)
{
	struct model *m = state;

	(void)s;
	m->failed |= sim_plan_run(m->plan, j) != 0;
}

static void ended(void *state, struct sim *s, const struct sim_job *j)
{
	struct model *m = state;

	(void)s;
	m->released = true;
	sim_plan_end(m->plan, j);
}

static void model_free(void *state)
{
	struct model *m = state;

	if (!m)
		return;
	sim_plan_free(m->plan);
	for (uint32_t i = 0; i < m->promises; i++)
		free(m->promise[i].pick);
	free(m->promise);
	sim_heap_free(&m->due);
	sim_refused_free(&m->refused);
	free(m->pick);
	free(m);
}

static int recorded_queued(void *state, struct sim *s, struct sim_job *j, struct ccr_error *err)
{
	struct model *m = state;

	if (j->recorded_wait < 0)
		return ccr_error_set(
		    err, CCR_EINVAL, 0,
		    "scheduler recorded: the workload does not say when job %s started", j->id);
	(void)s;
	return sim_heap_push(&m->due, j->submit + j->recorded_wait, j) ? ccr_error_nomem(err)
								       : CCR_OK;
}

static sim_time recorded_wake(void *state, const struct sim *s)
{
	struct model *m = state;

	(void)s;
	return sim_heap_time(&m->due);
}

static int recorded_cycle(void *state, struct sim *s, struct ccr_error *err)
{
	struct model *m = state;

	while (sim_heap_time(&m->due) <= s->now) {
		int rc = sim_start(s, sim_heap_pop(&m->due), NULL, 0, false, err);

		if (rc)
			return rc;
	}
	return CCR_OK;
}

static const struct {
	const char *name;
	uint32_t depth; /* at most */
	bool strict, whole, recorded;
	int (*cycle)(void *state, struct sim *s, struct ccr_error *err);
} models[] = {{"fcfs", 0, true, false, false, cycle},
	      {"easy", 1, false, false, false, cycle},
	      {"conservative", UINT32_MAX, false, false, false, keep_cycle},
	      {"whole-node", UINT32_MAX, false, true, false, cycle},
	      {"recorded", 0, false, false, true, recorded_cycle}};

#define MODELS (sizeof(models) / sizeof(models[0]))

static size_t find(const char *name)
{
	size_t i = 0;

	while (i < MODELS && strcmp(models[i].name, name) != 0)
		i++;
	return i;
}

bool sim_model_known(const char *name)
{
	return find(name) < MODELS;
}

int sim_model_new(struct sim_scheduler *out, const char *name, const struct sim *s,
		  const struct sim_model_options *o, struct ccr_error *err)
{
	struct model *m;
	size_t i = find(name);

	memset(out, 0, sizeof(*out));
	if (i == MODELS)
		return ccr_error_set(err, CCR_EINVAL, 0, "no scheduler \"%.60s\"", name);
	m = calloc(1, sizeof(*m));
	if (!m)
		return ccr_error_nomem(err);
	out->name = models[i].name;
	out->state = m;
	out->free = model_free;
	out->cycle = models[i].cycle;
	m->strict = models[i].strict;
	m->whole = models[i].whole;
	/* without a booking for everybody it is not conservative: who has none never starts */
	m->depth = models[i].cycle == keep_cycle || o->depth > models[i].depth ? models[i].depth
									       : o->depth;
	m->max_test = o->max_test;
	if (models[i].recorded) {
		out->nowhere = true;
		out->queued = recorded_queued;
		out->wake = recorded_wake;
		return CCR_OK;
	}
	out->started = started;
	out->ended = ended;
	m->plan = sim_plan_new(s);
	m->pick = calloc(s->cluster->nodes, sizeof(*m->pick));
	if (!m->plan || !m->pick) {
		model_free(m);
		out->state = NULL;
		return ccr_error_nomem(err);
	}
	return CCR_OK;
}
