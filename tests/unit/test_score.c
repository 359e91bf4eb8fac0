#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include "core/score.h"

static struct ccr_score_rule rule = {
    .weight = {[CCR_COL_AGE] = 1,
	       [CCR_COL_ASSOC] = 800,
	       [CCR_COL_FAIRSHARE] = 500,
	       [CCR_COL_JOBSIZE] = 16},
    .whole = true,
};
static const struct ccr_score_extra none;

Test(score, the_ccr_pages_example)
{
	double f[CCR_COLUMNS] = {[CCR_COL_AGE] = 1440,
				 [CCR_COL_ASSOC] = 4.0,
				 [CCR_COL_FAIRSHARE] = 25 - 5,
				 [CCR_COL_JOBSIZE] = 64};
	struct ccr_score s;

	ccr_score(&rule, f, &none, &s);
	cr_assert_eq(s.points[CCR_COL_JOBSIZE], 1024);
	cr_assert_eq(s.points[CCR_COL_AGE], 1440);
	cr_assert_eq(s.points[CCR_COL_FAIRSHARE], 10000);
	cr_assert_eq(s.points[CCR_COL_ASSOC], 3200);
	cr_assert_eq(s.priority, 15664);
	cr_assert_not(s.cut);
}

Test(score, a_base_keeps_the_order_of_negative_scores)
{
	struct ccr_score_rule r = rule;
	double a[CCR_COLUMNS] = {[CCR_COL_FAIRSHARE] = -80}, b[CCR_COLUMNS] = {0};
	struct ccr_score sa, sb;

	b[CCR_COL_FAIRSHARE] = -79;
	ccr_score(&r, a, &none, &sa);
	ccr_score(&r, b, &none, &sb);
	cr_assert_eq(sa.priority, 1); /* never 0: that is a held job */
	cr_assert_eq(sa.points[CCR_COL_SITE] + sa.points[CCR_COL_FAIRSHARE], 1);
	cr_assert(sa.cut);
	cr_assert_eq(sb.priority, 1);
	r.base = 1000000;
	ccr_score(&r, a, &none, &sa);
	ccr_score(&r, b, &none, &sb);
	cr_assert_eq(sa.priority, 960000);
	cr_assert_eq(sb.priority, 960500);
	cr_assert_eq(sa.points[CCR_COL_SITE], 1000000);
}

Test(score, whole_points_add_up_and_zero_has_no_sign)
{
	double f[CCR_COLUMNS] = {[CCR_COL_AGE] = 0.6, [CCR_COL_FAIRSHARE] = -0.0004};
	struct ccr_score s;

	ccr_score(&rule, f, &none, &s);
	cr_assert_eq(s.points[CCR_COL_AGE], 1);
	cr_assert_eq(s.points[CCR_COL_FAIRSHARE], 0);
	cr_assert_not(signbit(s.points[CCR_COL_FAIRSHARE]));
	cr_assert_eq(s.priority, 1);
}

Test(score, fractions_are_kept_where_the_policy_says_so)
{
	struct ccr_score_rule r = rule;
	double f[CCR_COLUMNS] = {[CCR_COL_AGE] = 100.6, [CCR_COL_JOBSIZE] = 0.05};
	struct ccr_score s;

	r.whole = false;
	ccr_score(&r, f, &none, &s);
	cr_assert_float_eq(s.points[CCR_COL_AGE], 100.6, 1e-9);
	cr_assert_eq(s.priority, 101); /* 101.4 cut */
}

Test(score, site_nice_and_tres_count)
{
	struct ccr_score_extra x = {.site = -40, .nice = 100, .tres = 7};
	double f[CCR_COLUMNS] = {[CCR_COL_AGE] = 1000, [CCR_COL_SITE] = 3};
	struct ccr_score s;

	ccr_score(&rule, f, &x, &s);
	cr_assert_eq(s.points[CCR_COL_SITE], -37);
	cr_assert_eq(s.priority, 1000 - 37 - 100 + 7);
	x.nice = -100;
	ccr_score(&rule, f, &x, &s);
	cr_assert_eq(s.priority, 1000 - 37 + 100 + 7);
}

Test(score, too_high_a_sum_is_taken_off_site)
{
	double f[CCR_COLUMNS] = {[CCR_COL_AGE] = 4294967000.0, [CCR_COL_JOBSIZE] = 100};
	struct ccr_score s;

	ccr_score(&rule, f, &none, &s);
	cr_assert(s.cut);
	cr_assert_eq(s.priority, UINT32_MAX);
	cr_assert_eq(s.points[CCR_COL_AGE] + s.points[CCR_COL_JOBSIZE] + s.points[CCR_COL_SITE],
		     4294967295.0);
	f[CCR_COL_AGE] = 1e300;
	ccr_score(&rule, f, &none, &s);
	cr_assert_eq(s.priority, UINT32_MAX);
	f[CCR_COL_AGE] = -1e300;
	ccr_score(&rule, f, &none, &s);
	cr_assert_eq(s.priority, 1);
}

Test(score, another_partition_changes_its_column_alone)
{
	struct ccr_score_rule r = rule;
	double f[CCR_COLUMNS] = {[CCR_COL_AGE] = 10, [CCR_COL_PARTITION] = 0.5};
	struct ccr_score s;

	r.weight[CCR_COL_PARTITION] = 1000;
	ccr_score(&r, f, &none, &s);
	cr_assert_eq(s.priority, 510);
	cr_assert_eq(ccr_score_elsewhere(&s, &none, 1000, 0), 1010);
	cr_assert_eq(
	    ccr_score_elsewhere(&s, &none, s.points[CCR_COL_PARTITION], s.points[CCR_COL_QOS]),
	    s.priority);
	cr_assert_eq(ccr_score_elsewhere(&s, &none, -1e9, 0), 1);
}

/* What sprio's columns add up to. */
static double shown(const struct ccr_score *s, const struct ccr_score_extra *x)
{
	double total = x->tres - (double)x->nice;

	for (int i = 0; i < CCR_COLUMNS; i++)
		total += s->points[i];
	return total;
}

Test(score, columns_add_up_however_far_out_a_weight_puts_them)
{
	static const double values[] = {-1e300, -1e12, -3e9, -5, 0, 7, 3e9, 1e12, 1e300};
	const size_t n = sizeof(values) / sizeof(values[0]);
	struct ccr_score s;

	for (size_t i = 0; i < n * n * 3; i++) {
		const struct ccr_score_extra x = {.nice = i / (n * n) == 2   ? 2147483645
							  : i / (n * n) == 1 ? -2147483645
									     : 0};
		double f[CCR_COLUMNS] = {[CCR_COL_FAIRSHARE] = values[i % n] / 500,
					 [CCR_COL_JOBSIZE] = values[i / n % n] / 16};

		ccr_score(&rule, f, &x, &s);
		cr_assert_eq(shown(&s, &x), s.priority, "case %zu: %f is not %u", i, shown(&s, &x),
			     s.priority);
	}
}

/* Whatever the factors, weights and columns: what ccr_score() says, or no answer. */
Test(score, other_columns_give_what_the_whole_would)
{
	unsigned seed = 7, answered = 0;

	for (int n = 0; n < 20000; n++) {
		struct ccr_score_rule r = {.whole = rand_r(&seed) % 2,
					   .base = rand_r(&seed) % 3000};
		struct ccr_score_extra x = {.nice = rand_r(&seed) % 200 - 100, .tres = n % 17};
		double f[CCR_COLUMNS];
		struct ccr_score was, is, again;
		unsigned columns = (unsigned)rand_r(&seed) % (1u << CCR_COLUMNS);

		for (int i = 0; i < CCR_COLUMNS; i++) {
			r.weight[i] = n % 50 ? rand_r(&seed) % 1000 : 4e9;
			f[i] = (rand_r(&seed) % 2000 - 900) / 1000.0;
		}
		ccr_score(&r, f, &x, &was);
		for (int i = 0; i < CCR_COLUMNS; i++) {
			if (columns & 1u << i)
				f[i] = (rand_r(&seed) % 2000 - 900) / 1000.0;
		}
		x.tres = rand_r(&seed) % 100;
		ccr_score(&r, f, &x, &is);
		if (!ccr_score_again(&r, f, columns, &was, &x, &again))
			continue;
		answered++;
		cr_assert_eq(again.priority, is.priority, "%d: %u, not %u", n, again.priority,
			     is.priority);
		cr_assert_arr_eq(again.points, is.points, sizeof(is.points), "%d", n);
	}
	cr_assert_gt(answered, 5000);
	cr_assert_lt(answered, 19000);
}
