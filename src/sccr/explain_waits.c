/* explain_waits - what is on a booked job's nodes before it; see explain.h */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sccr/explain.h"
#include "sccr/sim_text.h"

/* A booking begins where something ends; sched/backfill counts in minutes. */
#define SLACK 60

static int by_end(const void *pa, const void *pb)
{
	const struct explain_wait *a = pa, *b = pb;

	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return strverscmp(a->job->id, b->job->id);
}

/* The job holds something from start to end, as far as is known; false if it does not. */
static bool holds(const struct queue_job *j, struct explain_wait *w)
{
	sim_time limit;

	*w = (struct explain_wait){
	    .job = j, .start = queue_time(j->start), .end = queue_time(j->end)};
	if (queue_waits(j)) {
		w->booked = true;
		if (!j->sched_nodes[0] || j->priority <= 0 || w->start <= 0)
			return false;
		w->end = sim_text_limit(j->limit, &limit) && limit < SIM_NEVER
			     ? w->start + (time_t)(limit / SIM_SECOND)
			     : -1;
		return true;
	}
	return j->nodes[0] && queue_runs(j);
}

static void look_at(struct explain *x, const struct queue_job *j, const struct explain_nodes *set)
{
	struct explain_wait w;

	if (!strcmp(j->number, x->job->number) || !holds(j, &w) || w.end <= 0 ||
	    w.end > x->booked + 1 ||
	    !explain_nodes_share(set, w.booked ? j->sched_nodes : j->nodes))
		return;
	for (size_t i = 0; i < x->n_before; i++) /* a row for each partition of a pending job */
		if (!strcmp(x->before[i].job->number, j->number))
			return;
	x->before[x->n_before++] = w;
}

/* It ends when the booking begins, or is late and may end any moment now. */
static bool is_last(const struct explain *x, const struct explain_wait *w)
{
	return w->end >= x->booked - SLACK || (!w->booked && x->booked <= x->now + SLACK);
}

static void find_reservation(struct explain *x, const struct client_rows *given,
			     const struct explain_nodes *set, time_t from, time_t to)
{
	struct client_rows asked = {0};

	if (!given)
		explain_reservations_read(&asked);
	explain_reservations_find(given ? given : &asked, set, from, to, &x->resv);
	client_rows_free(&asked);
}

/* A suspended job keeps what it has for nobody knows how long. */
static void find_suspended(struct explain *x, const struct explain_nodes *set)
{
	for (size_t i = 0; i < x->queue->n && !x->suspended; i++) {
		const struct queue_job *j = &x->queue->job[i];

		if (!strcmp(j->state, "SUSPENDED") && j->nodes[0] &&
		    explain_nodes_share(set, j->nodes))
			x->suspended = j;
	}
}

int explain_kept_for(struct explain *x, const char *hosts, const struct client_rows *resv,
		     struct ccr_error *err)
{
	struct explain_nodes set = {NULL};
	int rc = explain_nodes_add(&set, hosts, err);

	if (!rc && set.list)
		find_reservation(x, resv, &set, x->now, (time_t)INT32_MAX);
	explain_nodes_free(&set);
	return rc == CCR_ENOMEM ? rc : CCR_OK;
}

/* Nodes of the booking: of a hetjob those of all its components, which start together. */
static int booked_nodes(const struct explain *x, struct explain_nodes *set, struct ccr_error *err)
{
	const char *plus = strchr(x->job->id, '+');
	size_t n = plus ? (size_t)(plus - x->job->id) + 1 : 0;
	int rc = explain_nodes_add(set, x->job->sched_nodes, err);

	for (size_t i = 0; plus && !rc && i < x->queue->n; i++) {
		const struct queue_job *j = &x->queue->job[i];

		if (queue_waits(j) && !strncmp(j->id, x->job->id, n) && j->sched_nodes[0])
			rc = explain_nodes_add(set, j->sched_nodes, err);
	}
	return rc;
}

int explain_waits_for(struct explain *x, const struct client_rows *resv, struct ccr_error *err)
{
	const struct queue *q = x->queue;
	struct explain_nodes set = {NULL};
	int rc;

	if (x->plan != PLAN_BOOKED || !x->job->sched_nodes[0])
		return CCR_OK;
	x->before = calloc(q->n + 1, sizeof(*x->before));
	if (!x->before)
		return ccr_error_nomem(err);
	rc = booked_nodes(x, &set, err);
	if (!rc) {
		for (size_t i = 0; i < q->n; i++)
			look_at(x, &q->job[i], &set);
		qsort(x->before, x->n_before, sizeof(*x->before), by_end);
		while (x->n_last < x->n_before && is_last(x, &x->before[x->n_last]))
			x->n_last++;
		if (!x->n_last)
			find_reservation(x, resv, &set, x->booked - SLACK, x->booked);
		if (!x->n_last && !x->resv.name[0])
			find_suspended(x, &set);
	}
	explain_nodes_free(&set);
	return rc == CCR_ENOMEM ? rc : CCR_OK;
}
