#include <criterion/criterion.h>
#include <math.h>

#include "core/shares.h"

Test(shares, fractions)
{
	cr_assert_eq(ccr_fraction(1, 4), 0.25);
	cr_assert_eq(ccr_percent(5, 100), 5.0);
	cr_assert_eq(ccr_percent(0, 100), 0.0);
	cr_assert_eq(ccr_percent(7, 7), 100.0);
	cr_assert_eq(ccr_fraction(1 + 1e-12, 1), 1.0);
}

Test(shares, fractions_of_nothing_and_of_no_number)
{
	cr_assert_eq(ccr_percent(0, 0), 0.0);
	cr_assert_eq(ccr_percent(5, 0), 0.0);
	cr_assert_eq(ccr_percent(5, -1), 0.0);
	cr_assert_eq(ccr_percent(-5, 10), 0.0);
	cr_assert_eq(ccr_percent(NAN, 10), 0.0);
	cr_assert_eq(ccr_percent(5, NAN), 0.0);
	cr_assert_eq(ccr_percent(INFINITY, INFINITY), 0.0);
}

/* The four points that Aqua's page names. */
Test(shares, pbs_factor)
{
	cr_assert_eq(ccr_pbs_fairshare_factor(0, 0.1), 1.0);
	cr_assert_eq(ccr_pbs_fairshare_factor(0.1, 0.1), 0.5);
	cr_assert_eq(ccr_pbs_fairshare_factor(0.2, 0.1), 0.25);
	cr_assert_gt(ccr_pbs_fairshare_factor(1e-6, 0.1), 0.99999);
	cr_assert_float_eq(ccr_pbs_fairshare_factor(0.05, 0.1), sqrt(0.5), 1e-15);
}

Test(shares, pbs_factor_at_the_ends)
{
	cr_assert_eq(ccr_pbs_fairshare_factor(0.5, 0), 0.0);
	cr_assert_eq(ccr_pbs_fairshare_factor(0, 0), 0.0);
	cr_assert_eq(ccr_pbs_fairshare_factor(0.5, -1), 0.0);
	cr_assert_eq(ccr_pbs_fairshare_factor(-0.5, 0.1), 1.0);
	cr_assert_eq(ccr_pbs_fairshare_factor(NAN, 0.1), 1.0);
	cr_assert_eq(ccr_pbs_fairshare_factor(0.1, NAN), 0.0);
	cr_assert_eq(ccr_pbs_fairshare_factor(1, 1e-308), 0.0);
	cr_assert_eq(ccr_pbs_fairshare_factor(1e308, 1e-308), 0.0);
	/* Between its ends it falls with usage and rises with share. */
	for (double u = 0.01; u < 1; u += 0.01) {
		cr_assert_lt(ccr_pbs_fairshare_factor(u, 0.3),
			     ccr_pbs_fairshare_factor(u - 0.01, 0.3));
		cr_assert_gt(ccr_pbs_fairshare_factor(0.3, u),
			     ccr_pbs_fairshare_factor(0.3, u - 0.01));
	}
}
