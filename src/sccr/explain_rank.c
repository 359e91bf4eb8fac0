/*
 * explain_rank - where a job stands among those that compete with it; see explain.h
 *
 * A job that waits for a dependency, a time or a limit cannot start, whatever its priority: it is
 * nobody's competition before that changes. Slurm gives one reason for all partitions of a job,
 * that of the one that it tried last: a job in several of them counts, unless the reason is the
 * job's own.
 */
#include <stdlib.h>
#include <string.h>

#include "sccr/explain.h"
#include "sccr/explain_reason.h"
#include "sccr/sim_text.h"

static int in_order(const void *pa, const void *pb)
{
	const struct queue_job *a = *(const struct queue_job *const *)pa;
	const struct queue_job *b = *(const struct queue_job *const *)pb;

	return queue_before(b, a) - queue_before(a, b);
}

/* Is a job's limit above the partition's? No, where one of them is not known. */
static bool too_long(const struct queue_job *j, const char *part_limit)
{
	sim_time own, most;

	return part_limit && sim_text_limit(j->limit, &own) && sim_text_limit(part_limit, &most) &&
	       own > most;
}

/* Is it a reason for which the job starts in none of its partitions? */
static bool of_job(const char *reason)
{
	static const char *const names[] = {"BeginTime", "Dependency", "DependencyNeverSatisfied"};
	size_t n = strcspn(reason, ",:;(");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == n && !strncmp(reason, names[i], n))
			return true;
	return false;
}

static bool waits_otherwise(const struct queue_job *j, const char *part_limit)
{
	char words[400];
	enum explain_kind kind;

	if (j->several)
		return of_job(j->reason) || too_long(j, part_limit);
	kind = explain_reason(j->reason, false, words, sizeof(words));
	return kind == KIND_OTHER || kind == KIND_REFUSED;
}

int explain_rank(struct explain *x, struct ccr_error *err)
{
	const struct queue *q = x->queue;

	x->part_limit = x->parts ? explain_parts_limit(x->parts, x->job->partition) : NULL;
	/* a held job has the priority 0: it is not in the running */
	if (!queue_waits(x->job) || x->job->priority <= 0)
		return CCR_OK;
	x->too_long = x->job->several && too_long(x->job, x->part_limit);
	if (x->too_long)
		return CCR_OK;
	x->ahead = calloc(q->n + 1, sizeof(*x->ahead));
	if (!x->ahead)
		return ccr_error_nomem(err);
	for (size_t i = 0; i < q->n; i++) {
		const struct queue_job *j = &q->job[i];
		bool before = j != x->job && queue_before(j, x->job);

		if (!queue_waits(j) || j->priority <= 0 || strcmp(j->partition, x->job->partition))
			continue;
		if (j != x->job && waits_otherwise(j, x->part_limit)) {
			x->otherwise++;
			x->otherwise_higher += before;
			continue;
		}
		x->limit_unseen = x->limit_unseen || (!x->part_limit && j->several);
		x->of++;
		if (before)
			x->ahead[x->n_ahead++] = j;
	}
	qsort(x->ahead, x->n_ahead, sizeof(*x->ahead), in_order);
	x->rank = x->n_ahead + 1;
	return CCR_OK;
}
