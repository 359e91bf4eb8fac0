/* explain_tasks - see explain_tasks.h */
#include "sccr/explain_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "sccr/queue_tasks.h"

/* The rows of a partition one after another, and in them the tasks or parts in their order. */
static int by_id(const void *pa, const void *pb)
{
	const struct queue_job *a = *(const struct queue_job *const *)pa;
	const struct queue_job *b = *(const struct queue_job *const *)pb;
	bool split = a->several && strchr(a->id, '_'), other = b->several && strchr(b->id, '_');
	int c = split != other ? split - other : split ? strcmp(a->partition, b->partition) : 0;

	if (!c)
		c = strverscmp(a->id, b->id);
	return c ? c : strcmp(a->partition, b->partition);
}

const struct queue_job **explain_tasks(const struct queue *q, const char *asked, size_t *n)
{
	const struct queue_job **list = calloc(q->n + 1, sizeof(const struct queue_job *));

	*n = 0;
	for (size_t i = 0; list && i < q->n; i++)
		if (queue_matches(&q->job[i], asked))
			list[(*n)++] = &q->job[i];
	if (list)
		qsort(list, *n, sizeof(*list), by_id);
	return list;
}

/* The start is one that is told: of a booking, or that of a job which may not begin before. */
static bool has_start(const struct queue_job *j)
{
	return j->sched_nodes[0] || !strncmp(j->reason, "BeginTime", 9);
}

static bool is_like(const struct queue_job *a, const struct queue_job *b)
{
	const struct {
		const char *a, *b;
	} same[] = {{a->state, b->state},	    {a->partition, b->partition},
		    {a->reason, b->reason},	    {a->sched_nodes, b->sched_nodes},
		    {a->limit, b->limit},	    {a->dependency, b->dependency},
		    {a->req_nodes, b->req_nodes},   {a->resv, b->resv},
		    {a->terms.tres, b->terms.tres}, {a->account, b->account}};
	const char *task = strchr(a->id, '_');

	if (!task || strncmp(a->id, b->id, (size_t)(task - a->id) + 1) != 0)
		return false;
	/* hundreds of tasks that are done differ by their times alone */
	if (!strcmp(a->state, "COMPLETED") && !strcmp(b->state, a->state))
		return true;
	if (!queue_waits(a) || a->priority != b->priority || a->terms.nice != b->terms.nice)
		return false;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (strcmp(same[i].a, same[i].b) != 0)
			return false;
	return !has_start(a) || !strcmp(a->start, b->start);
}

size_t explain_tasks_like(const struct queue_job *const *row, size_t n)
{
	size_t like = 0;

	while (like + 1 < n && is_like(row[0], row[like + 1]))
		like++;
	return like;
}

void explain_tasks_print(const struct queue_job *const *row, size_t like, FILE *out)
{
	size_t tasks = 0;

	if (!like)
		return;
	for (size_t i = 1; i <= like; i++)
		tasks += queue_tasks(row[i]);
	fprintf(out, "... and %zu more task%s like it: %.200s", tasks, tasks == 1 ? "" : "s",
		row[1]->id);
	if (like > 1)
		fprintf(out, " to %.200s", row[like]->id);
	fputs(".\n", out);
}
