#include <criterion/criterion.h>
#include <math.h>
#include "core/fairshare.h"

static void near(long double got, double want)
{
	cr_expect(fabs((double)got - want) < 1e-9, "%.12Lf, not %.12f", got, want);
}

Test(fairshare, usage_norm)
{
	near(ccr_usage_norm(25, 100), 0.25);
	near(ccr_usage_norm(0, 0), 0);
	near(ccr_usage_norm(5, 0), 0);
	near(ccr_usage_norm(120, 100), 1);
}

/* The worked example of the guide: account 0.3 of the usage, 2 of 5 shares below a parent at 0.6.
 */
Test(fairshare, classic_effective_usage)
{
	near(ccr_usage_efctv(0.3L, 0.6L, 2, 5), 0.3 + 0.3 * 0.4);
	near(ccr_usage_efctv(0.3L, 0.6L, 2, 0), 0.6);
	near(ccr_usage_efctv(0, 0.6L, 5, 5), 0.6);
}

Test(fairshare, oblivious_effective_usage)
{
	/* parent exactly on its share: R is the child's own ratio */
	near(ccr_usage_efctv_oblivious(0.2L, 0.1, 0.5L, 0.5, 0.5L) / 0.1, 2.0);
	/* both over: k is 1 */
	near(ccr_usage_efctv_oblivious(0.4L, 0.1, 0.8L, 0.4, 0.8L) / 0.1, 2.0 * (4.0 / 2.0));
	/* parent over, child under: k = 1 / (1 + (5 ln 2)^2), the child stays near its parent */
	near(ccr_usage_efctv_oblivious(0.1L, 0.2, 0.8L, 0.4, 0.8L) / 0.2,
	     2.0 * pow(0.25, 1 / (1 + pow(5 * log(2), 2))));
	near(ccr_usage_efctv_oblivious(0, 0.2, 0.8L, 0.4, 0.8L), 0);
	near(ccr_usage_efctv_oblivious(0.3L, 0, 0.8L, 0.4, 0.8L), 0.3);
	near(ccr_usage_efctv_oblivious(0.3L, 0.1, 0, 0.4, 0.8L), 0.3);
	near(ccr_usage_efctv_oblivious(0.3L, 0.1, 0.8L, 0, 0.8L), 0.3);
}

Test(fairshare, factor)
{
	near(ccr_fs_factor(0.5L, 0.5L, 1), 0.5);
	near(ccr_fs_factor(0, 0.5L, 1), 1);
	near(ccr_fs_factor(1, 0.5L, 4), pow(2, -0.5));
	near(ccr_fs_factor(1, 0.5L, 0), 0.25);
	near(ccr_fs_factor(0.5L, 0, 1), 0);
}
