#include <criterion/criterion.h>
#include <math.h>

#include "core/usage_model.h"

static void near(double got, double want, double rel)
{
	cr_assert(fabs(got - want) <= rel * fmax(1, fabs(want)), "%.17g is not %.17g", got, want);
}

static const struct ccr_usage_model hour = {.kind = CCR_USAGE_HALFLIFE, .half_life_s = 3600};
static const struct ccr_usage_model never = {.kind = CCR_USAGE_HALFLIFE, .half_life_s = 0};
static const struct ccr_usage_model lsf = {.kind = CCR_USAGE_LSF, .hist_hours = 10};
static const struct ccr_usage_model windows = {
    .kind = CCR_USAGE_WINDOWS, .interval_s = 100, .depth = 4, .decay = 0.5};

Test(usage_model, half_life_is_exact)
{
	cr_assert_eq(ccr_usage_left(&hour, 0), 1.0);
	cr_assert_eq(ccr_usage_left(&hour, 3600), 0.5);
	cr_assert_eq(ccr_usage_left(&hour, 36000), 1.0 / 1024);
	near(ccr_usage_left(&hour, 1800), sqrt(0.5), 1e-15);
	/* Two steps are one. */
	near(ccr_usage_left(&hour, 1234) * ccr_usage_left(&hour, 4321), ccr_usage_left(&hour, 5555),
	     1e-15);
	cr_assert_eq(ccr_usage_left(&never, 1e12), 1.0);
}

Test(usage_model, an_hour_now_is_ten_hours_ten_hours_ago)
{
	near(10 * ccr_usage_left(&lsf, 36000), 1, 1e-15);
	near(ccr_usage_left(&lsf, 18000), 1 / sqrt(10), 1e-15);
	struct ccr_usage_model off = {.kind = CCR_USAGE_LSF};
	cr_assert_eq(ccr_usage_left(&off, 1e9), 1.0);
	cr_assert_not(ccr_usage_decays(&off));
	cr_assert(ccr_usage_decays(&lsf));
}

Test(usage_model, nothing_grows_when_a_clock_goes_back)
{
	cr_assert_eq(ccr_usage_left(&hour, -3600), 1.0);
	cr_assert_eq(ccr_usage_left(&lsf, -1), 1.0);
	cr_assert_eq(ccr_usage_left(&windows, -1000), 1.0);
	cr_assert_eq(ccr_usage_accrued(&hour, 0, -5), 0.0);
	cr_assert_eq(ccr_usage_left(&hour, NAN), 1.0);
}

Test(usage_model, windows_step_and_end)
{
	cr_assert_eq(ccr_usage_left(&windows, 99), 1.0);
	cr_assert_eq(ccr_usage_left(&windows, 100), 0.5);
	cr_assert_eq(ccr_usage_left(&windows, 399), 0.125);
	cr_assert_eq(ccr_usage_left(&windows, 400), 0.0);
}

Test(usage_model, accrued_is_the_integral)
{
	const struct ccr_usage_model *models[] = {&hour, &lsf};

	for (int k = 0; k < 2; k++) {
		double sum = 0, step = 0.5;
		for (double t = 0; t < 7200; t += step)
			sum += step * ccr_usage_left(models[k], 300 + t + step / 2);
		near(ccr_usage_accrued(models[k], 300, 7200), sum, 1e-8);
	}
	/* A stationary rate of 1 for ever is worth H / ln 2. */
	near(ccr_usage_accrued(&hour, 0, 1e9), 3600 / M_LN2, 1e-14);
	cr_assert_eq(ccr_usage_accrued(&never, 500, 7200), 7200.0);
	/* A second under a half-life of years keeps its digits. */
	struct ccr_usage_model years = {.kind = CCR_USAGE_HALFLIFE, .half_life_s = 1e9};
	near(ccr_usage_accrued(&years, 0, 1), 1 - M_LN2 / 1e9 / 2, 1e-16);
}

Test(usage_model, windows_are_aligned_to_the_epoch)
{
	cr_assert_eq(ccr_usage_window(&windows, 0), 0);
	cr_assert_eq(ccr_usage_window(&windows, 99), 0);
	cr_assert_eq(ccr_usage_window(&windows, 100), 1);
	cr_assert_eq(ccr_usage_window(&windows, -1), -1);
	cr_assert_eq(ccr_usage_window(&windows, -100), -1);
	cr_assert_eq(ccr_usage_window(&windows, -101), -2);
}

/* Maui's manual, 6.3: a user's 60, 0, 10, 50 of all users' 110, 125, 100, 150 at FSDECAY 0.5. */
Test(usage_model, mauis_example)
{
	const double user[] = {60, 0, 10, 50}, all[] = {110, 125, 100, 150};

	near(100 * ccr_usage_worth(&windows, user) / ccr_usage_worth(&windows, all), 31.79,
	     0.005 / 31.79);
	cr_assert_eq(ccr_usage_worth(&windows, user), 60 + 0 + 2.5 + 6.25);
	cr_assert_eq(ccr_usage_worth(&windows, all), 110 + 62.5 + 25 + 18.75);
}

/* A group's percentages of a cluster's hours in four windows, as `diagnose -f` prints them. */
Test(usage_model, percentages_of_hours)
{
	const double percent[] = {55.81, 51.16, 44.05, 21.45},
		     hours[] = {8154.4, 11532.8, 10236.3, 9345.5};
	double group[4];

	for (int i = 0; i < 4; i++)
		group[i] = percent[i] / 100 * hours[i];
	near(100 * ccr_usage_worth(&windows, group) / ccr_usage_worth(&windows, hours), 50.31,
	     0.005 / 50.31);
}

Test(usage_model, worth_without_windows_is_the_number)
{
	const double bin = 12.5;

	cr_assert_eq(ccr_usage_worth(&hour, &bin), 12.5);
	cr_assert_eq(ccr_usage_bins(&hour), 1u);
	cr_assert_eq(ccr_usage_bins(&windows), 4u);
	cr_assert_eq(ccr_usage_lambda(&windows), 0.0);
}

Test(usage_model, names)
{
	for (int k = 0; k < 3; k++) {
		enum ccr_usage_kind kind = (enum ccr_usage_kind)99;
		cr_assert(ccr_usage_kind_parse(ccr_usage_kind_name((enum ccr_usage_kind)k), &kind));
		cr_assert_eq((int)kind, k);
	}
	enum ccr_usage_kind kind = CCR_USAGE_LSF;
	cr_assert_not(ccr_usage_kind_parse("maui", &kind));
	cr_assert_not(ccr_usage_kind_parse(NULL, &kind));
	cr_assert_eq(kind, CCR_USAGE_LSF);
	cr_assert_null(ccr_usage_kind_name((enum ccr_usage_kind)7));
}

Test(usage_model, bad_parameters_are_named)
{
	static const struct {
		struct ccr_usage_model m;
		const char *says;
	} bad[] = {
	    {{.kind = CCR_USAGE_HALFLIFE, .half_life_s = -1}, "half_life_s is -1"},
	    {{.kind = CCR_USAGE_HALFLIFE, .half_life_s = NAN}, "half_life_s is nan"},
	    {{.kind = CCR_USAGE_HALFLIFE, .half_life_s = INFINITY}, "half_life_s is inf"},
	    {{.kind = CCR_USAGE_WINDOWS, .interval_s = 0, .depth = 1}, "interval_s is 0"},
	    {{.kind = CCR_USAGE_WINDOWS, .interval_s = 1, .depth = 0}, "depth is 0"},
	    {{.kind = CCR_USAGE_WINDOWS, .interval_s = 1, .depth = 1001}, "depth is 1001"},
	    {{.kind = CCR_USAGE_WINDOWS, .interval_s = 1, .depth = 1, .decay = 1.5},
	     "decay is 1.5"},
	    {{.kind = CCR_USAGE_WINDOWS, .interval_s = 1, .depth = 1, .decay = NAN},
	     "decay is nan"},
	    {{.kind = CCR_USAGE_LSF, .hist_hours = -3}, "hist_hours is -3"},
	    {{.kind = (enum ccr_usage_kind)5}, "usage model 5"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ccr_error e = {0};
		cr_assert_eq(ccr_usage_model_check(&bad[i].m, &e), CCR_EINVAL, "%s", bad[i].says);
		cr_assert(strstr(e.text, bad[i].says), "%s has no %s", e.text, bad[i].says);
		cr_assert(strstr(e.text, "expected"), "%s", e.text);
	}
	for (int k = 0; k < 3; k++) {
		struct ccr_usage_model m = ccr_usage_model_default((enum ccr_usage_kind)k);
		cr_assert_eq(ccr_usage_model_check(&m, NULL), CCR_OK);
		cr_assert(ccr_usage_model_equal(&m, &m));
	}
}

Test(usage_model, equality_sees_only_the_kinds_own_parameters)
{
	struct ccr_usage_model a = hour, b = hour;

	b.hist_hours = 3;
	b.depth = 9;
	cr_assert(ccr_usage_model_equal(&a, &b));
	b.half_life_s++;
	cr_assert_not(ccr_usage_model_equal(&a, &b));
	cr_assert_not(ccr_usage_model_equal(&a, &lsf));
	a = b = windows;
	b.decay = 0.25;
	cr_assert_not(ccr_usage_model_equal(&a, &b));
}
