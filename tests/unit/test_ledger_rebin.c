#include <criterion/criterion.h>
#include <math.h>

#include "core/ledger_rebin.h"

static const struct ccr_usage_model w1000 = {
    .kind = CCR_USAGE_WINDOWS, .interval_s = 1000, .depth = 4, .decay = 0.5};
static const struct ccr_usage_model w500 = {
    .kind = CCR_USAGE_WINDOWS, .interval_s = 500, .depth = 8, .decay = 0.5};
static const struct ccr_usage_model w3000 = {
    .kind = CCR_USAGE_WINDOWS, .interval_s = 3000, .depth = 3, .decay = 0.5};
static const struct ccr_usage_model hour = {.kind = CCR_USAGE_HALFLIFE, .half_life_s = 3600};
static const struct ccr_usage_model lsf = {.kind = CCR_USAGE_LSF, .hist_hours = 5};

static void near(double got, double want)
{
	cr_assert(fabs(got - want) <= 1e-12 * fmax(1, fabs(want)), "%.17g is not %.17g", got, want);
}

/* At 4250, the windows of 1000 are [4000, 4250], [3000, 4000), ... */
Test(ledger_rebin, halves_of_windows)
{
	const double src[4] = {25, 100, 200, 400};
	double dst[8];

	ccr__ledger_rebin(&w1000, &w500, 4250, src, dst);
	/* [4000, 4250], [3500, 4000), [3000, 3500), ... */
	const double want[8] = {25, 50, 50, 100, 100, 200, 200, 0};
	for (int i = 0; i < 8; i++)
		near(dst[i], want[i]);
}

Test(ledger_rebin, the_present_window_is_its_passed_part)
{
	const double src[4] = {80, 0, 0, 0};
	double dst[8];

	/* [4000, 4800] becomes [4500, 4800] and [4000, 4500). */
	ccr__ledger_rebin(&w1000, &w500, 4800, src, dst);
	near(dst[0], 30);
	near(dst[1], 50);
	near(dst[2], 0);
}

Test(ledger_rebin, three_in_one)
{
	const double src[4] = {25, 100, 200, 400};
	double dst[3];

	/* At 4250: [3000, 4250] and [0, 3000). */
	ccr__ledger_rebin(&w1000, &w3000, 4250, src, dst);
	near(dst[0], 125);
	near(dst[1], 600);
	near(dst[2], 0);
}

Test(ledger_rebin, at_a_borders_first_second)
{
	const double src[4] = {7, 100, 0, 0};
	double dst[8];

	ccr__ledger_rebin(&w1000, &w500, 4000, src, dst);
	near(dst[0], 7);
	near(dst[1], 50);
	near(dst[2], 50);
}

Test(ledger_rebin, a_new_depth_or_decay_moves_nothing)
{
	struct ccr_usage_model to = w1000;
	const double src[4] = {1.1, 2.2, 3.3, 4.4};
	double dst[9];

	to.depth = 9;
	to.decay = 0.9;
	ccr__ledger_rebin(&w1000, &to, 4321, src, dst);
	for (int i = 0; i < 9; i++)
		cr_assert_eq(dst[i], i < 4 ? src[i] : 0);
	to.depth = 2;
	ccr__ledger_rebin(&w1000, &to, 4321, src, dst);
	cr_assert_eq(dst[0], 1.1);
	cr_assert_eq(dst[1], 2.2);
}

/* Whatever the intervals and the moment: nothing is lost while the new windows reach back far
 * enough. */
Test(ledger_rebin, conserves)
{
	const int64_t intervals[] = {1, 7, 60, 999, 1000, 1001, 86400};
	double src[30], dst[1000];

	for (size_t a = 0; a < 7; a++) {
		for (size_t b = 0; b < 7; b++) {
			struct ccr_usage_model from = {.kind = CCR_USAGE_WINDOWS,
						       .interval_s = intervals[a]};
			struct ccr_usage_model to = {.kind = CCR_USAGE_WINDOWS,
						     .interval_s = intervals[b]};
			from.depth = 30;
			to.depth = 1000;
			from.decay = to.decay = 1;
			if (30 * intervals[a] > 999 * intervals[b])
				continue;
			for (int64_t time = -3000; time < 5000; time += 411) {
				for (int i = 0; i < 30; i++)
					src[i] = (i * 7919) % 100;
				ccr__ledger_rebin(&from, &to, time, src, dst);
				near(ccr_usage_worth(&to, dst), ccr_usage_worth(&from, src));
				for (int i = 0; i < 1000; i++)
					cr_assert_geq(dst[i], 0);
			}
		}
	}
}

Test(ledger_rebin, what_is_too_old_goes)
{
	struct ccr_usage_model to = w500;
	const double src[4] = {0, 0, 0, 400};
	double dst[2] = {9, 9};

	to.depth = 2;
	ccr__ledger_rebin(&w1000, &to, 4250, src, dst);
	cr_assert_eq(dst[0], 0);
	cr_assert_eq(dst[1], 0);
}

/* Half a window on either side of the new depth's end. */
Test(ledger_rebin, what_straddles_the_end_is_cut)
{
	struct ccr_usage_model to = w500;
	const double src[4] = {0, 100, 0, 0};
	double dst[2];

	to.depth = 2;
	ccr__ledger_rebin(&w1000, &to, 4250, src, dst);
	near(dst[0], 0);
	near(dst[1], 50);
}

Test(ledger_rebin, windows_decay_to_one_number)
{
	const double src[4] = {25, 100, 200, 400};
	double dst, want = 0;

	ccr__ledger_rebin(&w1000, &hour, 4250, src, &dst);
	want += 25 * ccr_usage_accrued(&hour, 0, 250) / 250;
	for (int i = 1; i < 4; i++)
		want += src[i] * ccr_usage_accrued(&hour, 250 + 1000 * (i - 1), 1000) / 1000;
	near(dst, want);
	/* 725 s, none older than 3250 s. */
	cr_assert(dst > 725 * ccr_usage_left(&hour, 3250) && dst < 725);
	ccr__ledger_rebin(&w1000, &hour, 4000, (const double[]){9, 0, 0, 0}, &dst);
	near(dst, 9);
}

Test(ledger_rebin, one_number_stays_or_is_of_now)
{
	double src = 123.5, dst[4] = {1, 2, 3, 4};

	ccr__ledger_rebin(&hour, &lsf, 4250, &src, dst);
	cr_assert_eq(dst[0], 123.5);
	cr_assert_eq(dst[1], 2, "one bin alone is written");
	ccr__ledger_rebin(&lsf, &w1000, 4250, &src, dst);
	cr_assert_eq(dst[0], 123.5);
	for (int i = 1; i < 4; i++)
		cr_assert_eq(dst[i], 0);
}
