/* lsf - see lsf.h */
#include "core/lsf.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static double at_least_0(double v)
{
	return isfinite(v) && v > 0 ? v : 0;
}

double ccr_lsf_priority(const struct ccr_lsf_params *p, const struct ccr_lsf_standing *s,
			uint32_t more)
{
	double divisor = p->constant + p->cpu_time_factor * (at_least_0(s->cpu_time_s) / 3600) +
			 p->run_time_factor * (at_least_0(s->run_time_s) / 3600) +
			 p->run_job_factor * ((double)s->started + more);

	return at_least_0(s->shares) / fmax(divisor, CCR_LSF_DIVISOR_MIN);
}

/* What is sorted, so that the caller's jobs stay where they are. */
struct place {
	struct ccr_lsf_job *job;
};

/* Jobs of a standing together, the longest waiting first. Which standing comes first does not
 * matter. */
static int in_line(const void *a, const void *b)
{
	const struct ccr_lsf_job *x = ((const struct place *)a)->job;
	const struct ccr_lsf_job *y = ((const struct place *)b)->job;

	if (x->standing != y->standing)
		return (uintptr_t)x->standing < (uintptr_t)y->standing ? -1 : 1;
	if (x->later != y->later)
		return x->later ? 1 : -1;
	if (x->since != y->since)
		return x->since < y->since ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return (x > y) - (x < y);
}

int ccr_lsf_rank(const struct ccr_lsf_params *p, struct ccr_lsf_job *jobs, size_t n,
		 struct ccr_error *err)
{
	struct place *line;

	if (!n)
		return CCR_OK;
	line = calloc(n, sizeof(*line));
	if (!line)
		return ccr_error_nomem(err);
	for (size_t i = 0; i < n; i++)
		line[i].job = &jobs[i];
	qsort(line, n, sizeof(*line), in_line);
	for (size_t i = 0; i < n; i++) {
		struct ccr_lsf_job *job = line[i].job;
		bool same = i && job->standing == line[i - 1].job->standing;

		job->ahead = same ? line[i - 1].job->ahead + 1 : 0;
		job->priority = ccr_lsf_priority(p, job->standing, job->ahead);
	}
	free(line);
	return CCR_OK;
}
