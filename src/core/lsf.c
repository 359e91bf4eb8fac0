/* lsf - see lsf.h */
#include "core/lsf.h"

#include <math.h>
#include <stdlib.h>

struct ccr_lsf_params ccr_lsf_params_default(void)
{
	return (struct ccr_lsf_params){
	    .cpu_time_factor = 0.7,
	    .run_time_factor = 0.7,
	    .run_job_factor = 3.0,
	    .hist_hours = 5.0,
	};
}

int ccr_lsf_params_check(const struct ccr_lsf_params *p, struct ccr_error *err)
{
	const struct {
		const char *name;
		double value;
	} all[] = {
	    {"CPU_TIME_FACTOR", p->cpu_time_factor},
	    {"RUN_TIME_FACTOR", p->run_time_factor},
	    {"RUN_JOB_FACTOR", p->run_job_factor},
	    {"HIST_HOURS", p->hist_hours},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!isfinite(all[i].value) || all[i].value < 0)
			return ccr_error_set(err, CCR_EINVAL, 0, "%s is %g: expected 0 or more",
					     all[i].name, all[i].value);
	}
	return CCR_OK;
}

struct ccr_usage_model ccr_lsf_usage_model(const struct ccr_lsf_params *p)
{
	struct ccr_usage_model m = ccr_usage_model_default(CCR_USAGE_LSF);

	m.hist_hours = p->hist_hours;
	return m;
}

static double at_least_0(double v)
{
	return isfinite(v) && v > 0 ? v : 0;
}

double ccr_lsf_priority(const struct ccr_lsf_params *p, const struct ccr_lsf_standing *s,
			uint32_t more)
{
	double divisor = p->cpu_time_factor * (at_least_0(s->cpu_time_s) / 3600) +
			 p->run_time_factor * (at_least_0(s->run_time_s) / 3600) +
			 p->run_job_factor * (1.0 + s->started + more);

	return at_least_0(s->shares) / fmax(divisor, CCR_LSF_DIVISOR_MIN);
}

/* Jobs of a standing together, the longest waiting first. Which standing comes first does not
 * matter. */
static int in_line(const void *a, const void *b)
{
	const struct ccr_lsf_job *x = *(struct ccr_lsf_job *const *)a;
	const struct ccr_lsf_job *y = *(struct ccr_lsf_job *const *)b;

	if (x->standing != y->standing)
		return (uintptr_t)x->standing < (uintptr_t)y->standing ? -1 : 1;
	if (x->since != y->since)
		return x->since < y->since ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x > y) - (x < y);
}

int ccr_lsf_rank(const struct ccr_lsf_params *p, struct ccr_lsf_job *jobs, size_t n,
		 struct ccr_error *err)
{
	struct ccr_lsf_job **line;

	if (!n)
		return CCR_OK;
	line = n <= SIZE_MAX / sizeof(struct ccr_lsf_job *)
		   ? malloc(n * sizeof(struct ccr_lsf_job *))
		   : NULL;
	if (!line)
		return ccr_error_nomem(err);
	for (size_t i = 0; i < n; i++)
		line[i] = &jobs[i];
	qsort(line, n, sizeof(line[0]), in_line);
	for (size_t i = 0; i < n; i++) {
		bool same = i && line[i]->standing == line[i - 1]->standing;

		line[i]->ahead = same ? line[i - 1]->ahead + 1 : 0;
		line[i]->priority = ccr_lsf_priority(p, line[i]->standing, line[i]->ahead);
	}
	free(line);
	return CCR_OK;
}
