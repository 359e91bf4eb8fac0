/* usage_model - see usage_model.h */
#include "core/usage_model.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[] = {
    [CCR_USAGE_HALFLIFE] = "halflife",
    [CCR_USAGE_WINDOWS] = "windows",
    [CCR_USAGE_LSF] = "lsf",
};
#define KINDS (sizeof(kind_names) / sizeof(kind_names[0]))

struct ccr_usage_model ccr_usage_model_default(enum ccr_usage_kind kind)
{
	return (struct ccr_usage_model){
	    .kind = kind,
	    .half_life_s = 7 * 86400.0,
	    .interval_s = 86400,
	    .depth = 7,
	    .decay = 0.8,
	    .hist_hours = 10,
	};
}

const char *ccr_usage_kind_name(enum ccr_usage_kind kind)
{
	return (unsigned)kind < KINDS ? kind_names[kind] : NULL;
}

bool ccr_usage_kind_parse(const char *name, enum ccr_usage_kind *kind)
{
	for (unsigned k = 0; name && k < KINDS; k++) {
		if (!strcmp(name, kind_names[k])) {
			*kind = (enum ccr_usage_kind)k;
			return true;
		}
	}
	return false;
}

int ccr_usage_model_check(const struct ccr_usage_model *m, struct ccr_error *err)
{
	switch (m->kind) {
	case CCR_USAGE_HALFLIFE:
		if (!isfinite(m->half_life_s) || m->half_life_s < 0)
			return ccr_error_set(
			    err, CCR_EINVAL, 0,
			    "half_life_s is %g: expected seconds, 0 (no decay) or more",
			    m->half_life_s);
		return CCR_OK;
	case CCR_USAGE_WINDOWS:
		if (m->interval_s < 1)
			return ccr_error_set(
			    err, CCR_EINVAL, 0,
			    "interval_s is %lld: expected whole seconds, 1 or more",
			    (long long)m->interval_s);
		if (m->depth < 1 || m->depth > CCR_USAGE_DEPTH_MAX)
			return ccr_error_set(
			    err, CCR_EINVAL, 0,
			    "depth is %u: expected a number of windows from 1 to %d", m->depth,
			    CCR_USAGE_DEPTH_MAX);
		if (!(m->decay >= 0 && m->decay <= 1))
			return ccr_error_set(err, CCR_EINVAL, 0, "decay is %g: expected 0 to 1",
					     m->decay);
		return CCR_OK;
	case CCR_USAGE_LSF:
		if (!isfinite(m->hist_hours) || m->hist_hours < 0)
			return ccr_error_set(
			    err, CCR_EINVAL, 0,
			    "hist_hours is %g: expected hours, 0 (no decay) or more",
			    m->hist_hours);
		return CCR_OK;
	}
	return ccr_error_set(err, CCR_EINVAL, 0,
			     "usage model %d: expected halflife, windows or lsf", (int)m->kind);
}

bool ccr_usage_model_equal(const struct ccr_usage_model *a, const struct ccr_usage_model *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case CCR_USAGE_HALFLIFE:
		return a->half_life_s == b->half_life_s;
	case CCR_USAGE_WINDOWS:
		return a->interval_s == b->interval_s && a->depth == b->depth &&
		       a->decay == b->decay;
	case CCR_USAGE_LSF:
		return a->hist_hours == b->hist_hours;
	}
	return false;
}

size_t ccr_usage_bins(const struct ccr_usage_model *m)
{
	return m->kind == CCR_USAGE_WINDOWS ? m->depth : 1;
}

double ccr_usage_lambda(const struct ccr_usage_model *m)
{
	if (m->kind == CCR_USAGE_HALFLIFE && m->half_life_s > 0)
		return M_LN2 / m->half_life_s;
	if (m->kind == CCR_USAGE_LSF && m->hist_hours > 0)
		return M_LN10 / (m->hist_hours * 3600.0);
	return 0;
}

bool ccr_usage_decays(const struct ccr_usage_model *m)
{
	return m->kind == CCR_USAGE_WINDOWS || ccr_usage_lambda(m) > 0;
}

double ccr_usage_left(const struct ccr_usage_model *m, double age_s)
{
	if (!(age_s > 0))
		return 1;
	switch (m->kind) {
	case CCR_USAGE_HALFLIFE:
		/* exp2 makes whole half-lives exact, which exp(-lambda * age) would not. */
		return m->half_life_s > 0 ? exp2(-age_s / m->half_life_s) : 1;
	case CCR_USAGE_WINDOWS: {
		double window = floor(age_s / (double)m->interval_s);
		return window < m->depth ? pow(m->decay, window) : 0;
	}
	case CCR_USAGE_LSF:
		return m->hist_hours > 0 ? pow(10, -age_s / (m->hist_hours * 3600.0)) : 1;
	}
	return 1;
}

double ccr_usage_accrued(const struct ccr_usage_model *m, double age_s, double dur_s)
{
	double lambda = ccr_usage_lambda(m);

	if (!(dur_s > 0))
		return 0;
	if (lambda == 0)
		return dur_s;
	/* expm1: a second under a half-life of weeks would lose nine digits in 1 - exp(). */
	return ccr_usage_left(m, age_s) * (-expm1(-lambda * dur_s) / lambda);
}

int64_t ccr_usage_window(const struct ccr_usage_model *m, int64_t t)
{
	return t / m->interval_s - (t % m->interval_s < 0);
}

double ccr_usage_worth(const struct ccr_usage_model *m, const double *bins)
{
	double sum = 0;

	if (m->kind != CCR_USAGE_WINDOWS)
		return bins[0];
	/* Horner, oldest first. */
	for (size_t i = m->depth; i-- > 0;)
		sum = sum * m->decay + bins[i];
	return sum;
}
