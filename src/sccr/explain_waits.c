/* explain_waits - the jobs whose end a booked job waits for; see explain.h */
#define HASH_NONFATAL_OOM 1
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "sccr/explain.h"
#include "sccr/sim_hostlist.h"

struct node {
	UT_hash_handle hh;
	char name[];
};

static int add_node(const char *name, void *arg)
{
	struct node **nodes = arg, *n = NULL;
	size_t len = strlen(name);

	HASH_FIND(hh, *nodes, name, len, n);
	if (n)
		return CCR_OK;
	n = malloc(sizeof(*n) + len + 1);
	if (!n)
		return CCR_ENOMEM;
	memcpy(n->name, name, len + 1);
	HASH_ADD_KEYPTR(hh, *nodes, n->name, len, n);
	if (!n->hh.tbl) {
		free(n);
		return CCR_ENOMEM;
	}
	return CCR_OK;
}

static int is_there(const char *name, void *arg)
{
	struct node *const *nodes = arg, *n = NULL;

	HASH_FIND(hh, *nodes, name, strlen(name), n);
	return n != NULL;
}

static int by_end(const void *a, const void *b)
{
	const struct queue_job *x = *(const struct queue_job *const *)a;
	const struct queue_job *y = *(const struct queue_job *const *)b;
	time_t s = queue_time(x->end), t = queue_time(y->end);

	if (s != t)
		return s > t ? -1 : 1;
	return strcmp(x->id, y->id);
}

/* It holds something there until the booking begins, or is late already. */
static bool is_waited_for(const struct explain *x, const struct queue_job *j, struct node **nodes)
{
	struct ccr_error none;
	time_t end = queue_time(j->end);

	if ((strcmp(j->state, "RUNNING") && strcmp(j->state, "COMPLETING")) || !j->nodes[0])
		return false;
	return end > 0 && end <= x->booked + 1 &&
	       sim_hostlist_each(j->nodes, is_there, nodes, &none) == 1;
}

int explain_waits_for(struct explain *x, struct ccr_error *err)
{
	const struct queue *q = x->queue;
	struct node *nodes = NULL, *n, *next;
	int rc = CCR_OK;

	if (x->plan != PLAN_BOOKED || !x->job->sched_nodes[0])
		return CCR_OK;
	x->waits_for = calloc(q->n + 1, sizeof(*x->waits_for));
	if (!x->waits_for || sim_hostlist_each(x->job->sched_nodes, add_node, &nodes, err))
		rc = ccr_error_nomem(err);
	for (size_t i = 0; !rc && i < q->n; i++)
		if (is_waited_for(x, &q->job[i], &nodes))
			x->waits_for[x->n_waits_for++] = &q->job[i];
	if (x->n_waits_for > 1)
		qsort(x->waits_for, x->n_waits_for, sizeof(*x->waits_for), by_end);
	HASH_ITER (hh, nodes, n, next) {
		HASH_DEL(nodes, n);
		free(n);
	}
	return rc;
}
