#include <criterion/criterion.h>
#include "core/mf.h"

Test(mf, age)
{
	cr_expect_float_eq(ccr_mf_age(1000, 400, 6000), 0.1, 1e-12);
	cr_expect_eq(ccr_mf_age(1000, 0, 6000), 0.0);
	cr_expect_eq(ccr_mf_age(1000, 2000, 6000), 0.0);
	cr_expect_eq(ccr_mf_age(90000, 1, 6000), 1.0);
	cr_expect_eq(ccr_mf_age(90000, 1, 0), 1.0);
}

static const struct {
	bool small, relative, all;
	uint32_t nodes, cpus, minutes;
	double want;
} row[] = {
    {false, false, false, 4, 32, 60, (0.4 + 0.2) / 2},
    {false, false, false, 4, CCR_MF_NO_CPUS, 60, 0.4},
    {false, false, false, 40, 800, 60, 1},
    {true, false, false, 4, 32, 60, (0.6 + 0.8) / 2},
    {true, false, false, 4, CCR_MF_NO_CPUS, 60, 0.6},
    {true, false, false, 11, 32, 60, 0.4},
    {true, false, true, 11, 32, 60, 1},	  /* 22.05: unsigned, so more than all */
    {true, false, false, 4, 200, 60, 1},  /* more CPUs than there are: likewise everywhere */
    {false, true, false, 1, 2, 4, 0.025}, /* one node is 16 CPUs on average */
    {false, true, false, 1, 64, 4, 0.1},
    {true, true, false, 1, 64, 4, 0.9},
    {false, true, false, 1, 64, 0, 1},
    {true, true, false, 1, 64, 0, 0},
    {false, true, false, 0, 0, 0, 0},
};

Test(mf, size)
{
	struct ccr_mf_size none = {0};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct ccr_mf_size s = {.cluster_cpus = 160,
					.nodes = 10,
					.favor_small = row[i].small,
					.relative = row[i].relative,
					.wide_counts_all = row[i].all};
		double got = ccr_mf_size(&s, row[i].nodes, row[i].cpus, row[i].minutes);

		cr_expect_float_eq(got, row[i].want, 1e-12, "row %zu: %g", i, got);
	}
	cr_expect_eq(ccr_mf_size(&none, 1, 1, 1), 0.0);
}

Test(mf, tres)
{
	cr_expect_float_eq(ccr_mf_tres(3, 12, false), 0.25, 1e-12);
	cr_expect_eq(ccr_mf_tres(3, 0, false), 0.0);
	cr_expect_eq(ccr_mf_tres(0, 12, false), 0.0);
	cr_expect_eq(ccr_mf_tres(3, 12, true), 3.0);
}
