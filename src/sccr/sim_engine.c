/* sim_engine - see sim_engine.h */
#include "sccr/sim_engine.h"

#include <stdlib.h>
#include <string.h>

#include "sccr/sim_grow.h"
#include "sccr/sim_record.h"
#include "sccr/sim_start.h"

static struct sim_job *job_new(struct sim *s)
{
	struct sim_job *j = s->unused;

	if (j)
		s->unused = j->next;
	else
		j = malloc(sizeof(*j));
	if (j && ++s->live > s->live_max)
		s->live_max = s->live;
	return j;
}

static void job_drop(struct sim *s, struct sim_job *j)
{
	free(j->pick);
	j->pick = NULL;
	j->next = s->unused;
	s->unused = j;
	s->live--;
}

bool sim_before(const struct sim *s, const struct sim_job *a, const struct sim_job *b)
{
	uint32_t ta = s->cluster->part[a->home].tier, tb = s->cluster->part[b->home].tier;

	if (s->scorer && ta != tb)
		return ta > tb;
	if (s->scorer && a->score != b->score)
		return a->score > b->score;
	if (a->submit != b->submit)
		return a->submit < b->submit;
	return a->serial != b->serial ? a->serial < b->serial : a->home < b->home;
}

uint32_t sim_places_above(const struct sim *s, struct sim_job *j)
{
	uint32_t n = 0;

	for (const struct sim_job *t = sim_first(j); t; t = t->twin)
		n += t != j && sim_before(s, t, j);
	return n;
}

/* Into the queue at its place. */
static int insert(struct sim *s, struct sim_job *j, struct ccr_error *err)
{
	uint32_t lo = 0, hi = s->queued;

	if (sim_grow(&s->queue, &s->queue_room, s->queued + 1, sizeof(void *)))
		return ccr_error_nomem(err);
	j->state = SIM_PENDING;
	j->eligible = s->now;
	if (s->scorer && s->scorer->score && s->scorer->score(s->scorer->state, s, j, err))
		return err ? err->code : CCR_EINVAL;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (sim_before(s, j, s->queue[mid]))
			hi = mid;
		else
			lo = mid + 1;
	}
	memmove(s->queue + lo + 1, s->queue + lo, (s->queued - lo) * sizeof(void *));
	s->queue[lo] = j;
	s->queued++;
	return CCR_OK;
}

/* A place in the queue for each further partition of the job. */
static int insert_twins(struct sim *s, struct sim_job *j, struct ccr_error *err)
{
	struct sim_job twin;
	uint32_t k = 0;

	while (sim_workload_twin(s->workload, j, &k, &twin)) {
		struct sim_job *t = job_new(s);
		int rc;

		if (!t)
			return ccr_error_nomem(err);
		*t = twin;
		t->of = j;
		t->twin = t->waiting = NULL;
		t->seen = false;
		memset(&t->hh, 0, sizeof(t->hh));
		rc = insert(s, t, err);
		if (rc) {
			job_drop(s, t);
			return rc;
		}
		t->twin = j->twin;
		j->twin = t;
		s->twins++;
	}
	return CCR_OK;
}

static int enqueue(struct sim *s, struct sim_job *j, struct ccr_error *err)
{
	int rc = insert(s, j, err);

	if (!rc && j->list != SIM_NO_NAME)
		rc = insert_twins(s, j, err);
	if (rc)
		return rc;
	s->queued_gpu += j->demand.gpus > 0;
	s->figures->submitted++;
	if (sim_waiting(s) > s->figures->queue_max)
		s->figures->queue_max = sim_waiting(s);
	s->dirty = true;
	if (s->sched->queued && s->sched->queued(s->sched->state, s, j, err))
		return err ? err->code : CCR_EINVAL;
	return s->record ? sim_record_submit(s->record, s, j, err) : CCR_OK;
}

/* A job of the file: into the queue, or held back until the one that it follows has ended. */
static int submit(struct sim *s, struct sim_job *j, struct ccr_error *err)
{
	struct sim_job *before = NULL;

	if (s->workload->format == SIM_FORMAT_SWF) {
		uint64_t number = strtoull(j->id, NULL, 10);
		struct sim_job *same;

		if (j->after)
			HASH_FIND(hh, s->numbered, &j->after, sizeof(j->after), before);
		HASH_FIND(hh, s->numbered, &number, sizeof(number), same);
		j->number = number;
		if (!same)
			HASH_ADD(hh, s->numbered, number, sizeof(j->number), j);
	}
	if (before && before != j) {
		j->next = before->waiting;
		before->waiting = j;
		return CCR_OK;
	}
	return enqueue(s, j, err);
}

static int end_job(struct sim *s, struct sim_job *j, struct ccr_error *err)
{
	int rc = CCR_OK;

	sim_leave(s, j);
	s->dirty = true;
	sim_figures_end(s->figures, j, s->now);
	if (s->sched->ended)
		s->sched->ended(s->sched->state, s, j);
	if (s->scorer && s->scorer->ended)
		s->scorer->ended(s->scorer->state, s, j);
	if (s->jobs_out)
		sim_record_csv(s->jobs_out, s, j);
	if (s->record)
		rc = sim_record_end(s->record, s, j, err);
	if (j->hh.tbl)
		HASH_DEL(s->numbered, j);
	for (struct sim_job *w = j->waiting, *next; w; w = next) {
		sim_time t = s->now + w->think;

		next = w->next;
		if (t > w->submit)
			w->submit = t;
		if (sim_heap_push(&s->delayed, w->submit, w))
			return ccr_error_nomem(err);
	}
	job_drop(s, j);
	return rc;
}

static int by_priority(const void *a, const void *b, void *arg)
{
	const struct sim_job *x = *(struct sim_job *const *)a, *y = *(struct sim_job *const *)b;

	return x == y ? 0 : sim_before(arg, x, y) ? -1 : 1;
}

static int score_all(struct sim *s, struct ccr_error *err)
{
	struct sim_scorer *c = s->scorer;
	int rc = c->tick ? c->tick(c->state, s, err) : CCR_OK;

	for (uint32_t i = 0; !rc && c->score && i < s->queued; i++)
		rc = c->score(c->state, s, s->queue[i], err);
	if (!rc)
		qsort_r(s->queue, s->queued, sizeof(void *), by_priority, s);
	return rc;
}

static int run_cycle(struct sim *s, struct ccr_error *err)
{
	uint32_t kept = 0;
	int rc;

	sim_clear_bookings(s);
	s->dirty = false;
	s->cycles++;
	rc = s->sched->cycle(s->sched->state, s, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < s->queued; i++) {
		struct sim_job *j = s->queue[i];

		if (j->state == SIM_PENDING) {
			s->queue[kept++] = j;
		} else if (j->of) {
			s->twins--;
			job_drop(s, j);
		}
	}
	s->queued = kept;
	return s->record ? sim_record_cycle(s->record, s, err) : CCR_OK;
}

/* Reads one job ahead. */
static int look_ahead(struct sim *s, struct ccr_error *err)
{
	int rc = sim_workload_next(s->workload, &s->ahead, err);

	s->have_ahead = rc > 0;
	return rc < 0 ? CCR_EIO : CCR_OK;
}

static sim_time next_event(const struct sim *s)
{
	sim_time t = s->have_ahead ? s->ahead.submit : SIM_NEVER, u = sim_heap_time(&s->ends);

	t = u < t ? u : t;
	u = sim_heap_time(&s->delayed);
	t = u < t ? u : t;
	if (s->sched->wake) {
		u = s->sched->wake(s->sched->state, s);
		t = u < t ? u : t;
	}
	if (s->dirty && s->cycle && s->next_cycle < t)
		t = s->next_cycle;
	/* scores are refreshed only while somebody waits and something can still happen */
	if (s->queued && s->scorer && s->scorer->period && t < SIM_NEVER && s->next_period < t)
		t = s->next_period;
	return t;
}

static int events_at(struct sim *s, struct ccr_error *err)
{
	int rc = CCR_OK;

	while (!rc && sim_heap_time(&s->ends) <= s->now)
		rc = end_job(s, sim_heap_pop(&s->ends), err);
	while (!rc && sim_heap_time(&s->delayed) <= s->now)
		rc = enqueue(s, sim_heap_pop(&s->delayed), err);
	while (!rc && s->have_ahead && s->ahead.submit <= s->now) {
		struct sim_job *j = job_new(s);

		if (!j)
			return ccr_error_nomem(err);
		*j = s->ahead;
		rc = submit(s, j, err);
		if (!rc)
			rc = look_ahead(s, err);
	}
	return rc;
}

static int one_step(struct sim *s, struct ccr_error *err)
{
	struct sim_levels *l = &s->levels;
	int rc;

	l->gpu_job_waits = s->queued_gpu > 0;
	l->job_waits = s->queued > 0;
	sim_figures_pass(s->figures, s->now, l, sim_waiting(s));
	rc = events_at(s, err);
	if (!rc && s->scorer && s->scorer->period && s->now >= s->next_period) {
		rc = score_all(s, err);
		s->next_period = s->now + s->scorer->period;
		s->dirty |= s->queued > 0;
	}
	if (rc)
		return rc;
	if (s->sched->wake && s->sched->wake(s->sched->state, s) <= s->now)
		s->dirty = true;
	if (!s->dirty || (s->cycle && s->now < s->next_cycle))
		return CCR_OK;
	rc = run_cycle(s, err);
	if (s->cycle)
		s->next_cycle = (s->now / s->cycle + 1) * s->cycle;
	return rc;
}

int sim_run(struct sim *s, struct ccr_error *err)
{
	int rc = sim_all_idle(s, err);
	unsigned n = 0;

	if (!rc)
		rc = look_ahead(s, err);
	while (!rc) {
		sim_time t = next_event(s);

		if (t >= SIM_NEVER)
			break;
		if (s->stop && *s->stop) {
			s->interrupted = true;
			break;
		}
		s->now = t;
		rc = one_step(s, err);
		if (s->progress && !(++n & 255))
			s->progress(s->progress_arg, s);
	}
	if (!rc)
		sim_figures_pass(s->figures, s->now, &s->levels, sim_waiting(s));
	for (uint32_t i = 0; i < s->nrunning; i++)
		sim_figures_end(s->figures, s->running[i], s->now);
	s->figures->cycles = s->cycles;
	s->figures->live_max = s->live_max;
	s->figures->interrupted = s->interrupted;
	s->figures->nowhere = s->sched->nowhere;
	if (!rc && !s->interrupted && s->queued)
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "scheduler %s: %u job%s never started, the first is job %s",
				     s->sched->name, sim_waiting(s), sim_waiting(s) == 1 ? "" : "s",
				     s->queue[0]->id);
	return rc;
}

/* A job, those that wait for it, those that wait for them. */
static void free_tree(struct sim_job *j)
{
	struct sim_job *queue = j;

	j->next = NULL;
	while (queue) {
		struct sim_job *x = queue, *w = x->waiting;

		queue = x->next;
		while (w) {
			struct sim_job *next = w->next;

			w->next = queue;
			queue = w;
			w = next;
		}
		free(x->pick);
		free(x);
	}
}

void sim_free(struct sim *s)
{
	sim_clear_bookings(s);
	HASH_CLEAR(hh, s->numbered);
	for (uint32_t i = 0; i < s->nrunning; i++)
		free_tree(s->running[i]);
	for (uint32_t i = 0; i < s->queued; i++)
		if (s->queue[i]->state == SIM_PENDING || s->queue[i]->of)
			free_tree(s->queue[i]);
	for (uint32_t i = 0; i < s->delayed.n; i++)
		free_tree(s->delayed.at[i].job);
	while (s->unused) {
		struct sim_job *j = s->unused;

		s->unused = j->next;
		free(j);
	}
	sim_heap_free(&s->ends);
	sim_heap_free(&s->delayed);
	free(s->queue);
	free(s->running);
	free(s->booking);
	free(s->free);
}
