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

void explain_line_free(struct explain_line *line)
{
	free(line->in);
	free(line->out);
	memset(line, 0, sizeof(*line));
}

/* Who is pending in the partition, and who of them cannot start for now. */
static int fill(struct explain_line *line, const struct queue *q, const char *partition,
		const char *part_limit, struct ccr_error *err)
{
	explain_line_free(line);
	line->in = calloc(q->n + 1, sizeof(const struct queue_job *));
	line->out = calloc(q->n + 1, sizeof(const struct queue_job *));
	if (!line->in || !line->out) {
		explain_line_free(line);
		return ccr_error_nomem(err);
	}
	for (size_t i = 0; i < q->n; i++) {
		const struct queue_job *j = &q->job[i];

		/* a held job has the priority 0: it is not in the running */
		if (!queue_waits(j) || j->priority <= 0 || strcmp(j->partition, partition))
			continue;
		if (waits_otherwise(j, part_limit)) {
			line->out[line->n_out++] = j;
			continue;
		}
		line->several = line->several || j->several;
		line->in[line->n_in++] = j;
	}
	qsort(line->in, line->n_in, sizeof(*line->in), in_order);
	qsort(line->out, line->n_out, sizeof(*line->out), in_order);
	line->partition = partition;
	return CCR_OK;
}

/* How many of the list, which is in order, go before the job. */
static size_t before(const struct queue_job **list, size_t n, const struct queue_job *j)
{
	size_t from = 0;

	while (from < n) {
		size_t mid = from + (n - from) / 2;

		if (queue_before(list[mid], j))
			from = mid + 1;
		else
			n = mid;
	}
	return from;
}

int explain_rank(struct explain *x, struct ccr_error *err)
{
	struct explain_line *line = x->line;
	const struct queue_job *j = x->job;
	bool out;
	int rc;

	x->part_limit = x->parts ? explain_parts_limit(x->parts, j->partition) : NULL;
	if (!queue_waits(j) || j->priority <= 0)
		return CCR_OK;
	x->too_long = j->several && too_long(j, x->part_limit);
	if (x->too_long)
		return CCR_OK;
	if (!line->partition || strcmp(line->partition, j->partition) != 0) {
		rc = fill(line, x->queue, j->partition, x->part_limit, err);
		if (rc)
			return rc;
	}
	out = waits_otherwise(j, x->part_limit); /* it has a place among the others all the same */
	x->of = line->n_in + out;
	x->otherwise = line->n_out - out;
	x->otherwise_higher = before(line->out, line->n_out, j);
	x->limit_unseen = !x->part_limit && (line->several || j->several);
	x->ahead = line->in;
	x->n_ahead = before(line->in, line->n_in, j);
	x->rank = x->n_ahead + 1;
	return CCR_OK;
}
