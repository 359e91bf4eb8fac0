#include <criterion/criterion.h>
#include <math.h>
#include "sccr/sim_quantile.h"

Test(sim_quantile, exact_while_few)
{
	struct sim_quantile q = {0};

	cr_assert_eq(sim_quantile_get(&q, 0.5), 0);
	for (int i = 10; i >= 1; i--)
		cr_assert_eq(sim_quantile_add(&q, i), 0);
	cr_assert_eq(sim_quantile_get(&q, 0.5), 5);
	cr_assert_eq(sim_quantile_get(&q, 0.95), 10);
	cr_assert_eq(sim_quantile_get(&q, 0), 1);
	cr_assert_eq(sim_quantile_get(&q, 1), 10);
	cr_assert_float_eq(sim_quantile_mean(&q), 5.5, 1e-12);
	sim_quantile_add(&q, -100);
	cr_assert_eq(sim_quantile_get(&q, 0), -100);
	sim_quantile_free(&q);
}

Test(sim_quantile, within_a_fifth_of_a_percent_when_many)
{
	struct sim_quantile q = {0};
	int64_t n = 300000;

	for (int64_t i = 1; i <= n; i++)
		cr_assert_eq(sim_quantile_add(&q, i * i), 0);
	cr_assert_not_null(q.bucket);
	for (double p = 0.01; p < 1; p += 0.01) {
		double exact = floor(p * (double)n) * floor(p * (double)n);

		cr_assert_float_eq((double)sim_quantile_get(&q, p) / exact, 1, 0.002, "%g", p);
	}
	cr_assert_eq(sim_quantile_get(&q, 1), n * n);
	sim_quantile_free(&q);
}
