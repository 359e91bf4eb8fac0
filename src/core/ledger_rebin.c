/* ledger_rebin - see ledger_rebin.h */
#include "core/ledger_rebin.h"

#include <math.h>

/*
 * Where window i of a model lies, as ages in seconds before `time`: from *young to *old. The
 * present window has only its passed part; at its very first second that is empty, and what it
 * holds is of now.
 */
static void window_ages(const struct ccr_usage_model *m, int64_t time, size_t i, double *young,
			double *old)
{
	double passed = (double)(time - ccr_usage_window(m, time) * m->interval_s);

	*young = i ? passed + ((double)i - 1) * (double)m->interval_s : 0;
	*old = passed + (double)i * (double)m->interval_s;
}

static void windows_to_windows(const struct ccr_usage_model *from, const struct ccr_usage_model *to,
			       int64_t time, const double *src, double *dst)
{
	for (size_t i = 0; i < from->depth; i++) {
		double young, old, rest = src[i];

		if (src[i] == 0)
			continue;
		window_ages(from, time, i, &young, &old);
		if (!(old > young)) {
			dst[0] += src[i];
			continue;
		}
		for (size_t k = 0; k < to->depth; k++) {
			double y2, o2, part;

			window_ages(to, time, k, &y2, &o2);
			if (o2 <= young)
				continue;
			if (y2 >= old)
				break;
			if (o2 >= old) {
				/* The last that it reaches takes the rest: rounding loses nothing.
				 */
				dst[k] += rest;
				break;
			}
			part = src[i] * ((fmin(old, o2) - fmax(young, y2)) / (old - young));
			part = fmin(part, rest);
			dst[k] += part;
			rest -= part;
		}
	}
}

void ccr__ledger_rebin(const struct ccr_usage_model *from, const struct ccr_usage_model *to,
		       int64_t time, const double *src, double *dst)
{
	for (size_t k = 0; k < ccr_usage_bins(to); k++)
		dst[k] = 0;
	if (from->kind != CCR_USAGE_WINDOWS) {
		dst[0] = src[0];
	} else if (to->kind == CCR_USAGE_WINDOWS) {
		if (from->interval_s == to->interval_s) {
			for (size_t i = 0; i < from->depth && i < to->depth; i++)
				dst[i] = src[i];
			return;
		}
		windows_to_windows(from, to, time, src, dst);
	} else {
		for (size_t i = 0; i < from->depth; i++) {
			double young, old;

			window_ages(from, time, i, &young, &old);
			if (old > young)
				dst[0] += src[i] * (ccr_usage_accrued(to, young, old - young) /
						    (old - young));
			else
				dst[0] += src[i];
		}
	}
}
