#include <criterion/criterion.h>
#include "core/vars.h"

Test(vars, every_row_is_complete_and_found_by_its_name)
{
	for (int i = 0; i < CCR_VAR_COUNT; i++) {
		const struct ccr_var_info *v = ccr_var_info(i);

		cr_assert(v && v->name && v->unit && v->source, "row %d", i);
		cr_assert_eq(ccr_var_find(v->name), i, "%s", v->name);
	}
	cr_assert_null(ccr_var_info(-1));
	cr_assert_null(ccr_var_info(CCR_VAR_COUNT));
}

Test(vars, knows_aliases_and_no_other_name)
{
	cr_assert_eq(ccr_var_find("cpus"), CCR_VAR_NCPUS);
	cr_assert_eq(ccr_var_find("gpus"), CCR_VAR_NGPUS);
	cr_assert_eq(ccr_var_find("Nodes"), -1);
	cr_assert_str_eq(ccr_var_nearest("targett"), "target");
	cr_assert_null(ccr_var_nearest("xyzzy_plugh"));
}
