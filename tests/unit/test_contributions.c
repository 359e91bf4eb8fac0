#include <criterion/criterion.h>
#include <stdlib.h>

#include "core/contributions.h"

static struct ccr_step steps[] = {{10, 1}, {20, 3}};

Test(contributions, a_rule_is_points_a_unit_or_the_step_reached)
{
	struct ccr_support_rule none = {0}, each = {.given = true, .per_unit = 0.5};
	struct ccr_support_rule table = {.given = true, .steps = steps, .n_steps = 2};

	cr_expect_eq(ccr_support_points(&none, 100), 0);
	cr_expect_eq(ccr_support_points(&each, 7), 3.5);
	cr_expect_eq(ccr_support_points(&table, 9.99), 0);
	cr_expect_eq(ccr_support_points(&table, 10), 1);
	cr_expect_eq(ccr_support_points(&table, 19.99), 1);
	cr_expect_eq(ccr_support_points(&table, 20), 3);
	cr_expect_eq(ccr_support_points(&table, 1e12), 3);
}

Test(contributions, dollars_are_averaged_over_the_last_three_full_years)
{
	struct ccr_yearly years[] = {{2026, 900}, {2024, 60}, {2023, 30}, {2022, 1000}};
	struct ccr_contributions given = {.years = years, .n_years = 4};
	unsigned missing = 99;

	cr_expect_eq(ccr_dollars_average(&given, 2026, &missing), 30); /* (30 + 60 + 0) / 3 */
	cr_expect_eq(missing, 1);
	cr_expect_eq(ccr_dollars_average(&given, 2025, &missing), (1000 + 30 + 60) / 3.0);
	cr_expect_eq(missing, 0);
	cr_expect_eq(ccr_dollars_average(&given, 2027, &missing), 320); /* (60 + 0 + 900) / 3 */
	cr_expect_eq(ccr_dollars_average(&given, 1990, &missing), 0);
	cr_expect_eq(missing, 3);
}

Test(contributions, the_factor_is_the_sum_and_says_how_it_came_about)
{
	struct ccr_yearly years[] = {{2023, 30}, {2024, 30}};
	struct ccr_support_rule rules[CCR_SUPPORT_COUNT] = {
	    [CCR_DECANAL] = {.given = true, .per_unit = 2},
	    [CCR_PI_SUBMISSIONS] = {.given = true, .steps = steps, .n_steps = 2},
	    [CCR_DOLLARS] = {.given = true, .steps = steps, .n_steps = 2},
	};
	struct ccr_contributions given = {
	    .given = {[CCR_DECANAL] = true,
		      [CCR_PI_SUBMISSIONS] = true,
		      [CCR_PI_FUNDABLE] = true,
		      [CCR_DOLLARS] = true},
	    .amount = {[CCR_DECANAL] = 1, [CCR_PI_SUBMISSIONS] = 3, [CCR_PI_FUNDABLE] = 4},
	    .years = years,
	    .n_years = 2,
	};
	struct ccr_error err = {0};
	double factor = -1;
	char *words = NULL;

	cr_assert_eq(ccr_contributions_factor(rules, &given, 2026, &factor, &words, &err), 0);
	cr_expect_eq(factor, 2 + 0 + 0 + 3);
	cr_expect_str_eq(words,
			 "decanal 1 earns 2 (2 each); pi_submissions 3 earns 0 (below the first "
			 "step, 10); pi_fundable 4 earns nothing: financial has no rule for it; "
			 "dollars 20 a year (average of 30 (2023), 30 (2024) and 0 (2025: nothing "
			 "given)) earns 3 (step from 20)");
	free(words);
}

Test(contributions, a_group_with_none_has_the_factor_0)
{
	struct ccr_support_rule rules[CCR_SUPPORT_COUNT] = {0};
	struct ccr_contributions given = {0};
	double factor = -1;
	char *words = NULL;

	cr_assert_eq(ccr_contributions_factor(rules, &given, 2026, &factor, &words, NULL), 0);
	cr_expect_eq(factor, 0);
	cr_expect_str_eq(words, "no contribution");
	free(words);
}
