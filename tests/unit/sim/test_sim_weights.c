#include <criterion/criterion.h>
#include "sccr/sim_weights.h"

Test(sim_weights, bill)
{
	struct sim_weights w;
	struct ccr_error e = {0};

	cr_assert_eq(sim_weights_parse("CPU=1.0,Mem=0.25G,GRES/gpu=2,license/x=9", &w, &e), 0);
	cr_assert_float_eq(sim_weights_bill(&w, 4, 8192, 1, 3), 4 + 2 + 6, 1e-12);
	cr_assert_eq(sim_weights_parse("", &w, &e), 0);
	cr_assert_float_eq(sim_weights_bill(&w, 4, 8192, 1, 3), 4, 1e-12);
}

Test(sim_weights, refuses_what_is_no_weight)
{
	struct sim_weights w;
	struct ccr_error e = {0};

	cr_assert_eq(sim_weights_parse("CPU=one", &w, &e), CCR_EINVAL);
	cr_assert_not_null(strstr(e.text, "no weight in \"CPU=one\""));
	cr_assert_eq(sim_weights_parse("CPU", &w, &e), CCR_EINVAL);
	cr_assert_eq(sim_weights_parse("Mem=1GB", &w, &e), CCR_EINVAL);
}
