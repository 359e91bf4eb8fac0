#include <criterion/criterion.h>
#include "core/error.h"

Test(error, keeps_code_line_and_text)
{
	struct ccr_error e = {0};

	cr_assert_eq(ccr_error_set(&e, CCR_EINVAL, 7, "found %d", 3), CCR_EINVAL);
	cr_assert_eq(e.code, CCR_EINVAL);
	cr_assert_eq(e.line, 7);
	cr_assert_str_eq(e.text, "found 3");
}

Test(error, takes_no_error_and_cuts_long_ones)
{
	struct ccr_error e;

	cr_assert_eq(ccr_error_nomem(NULL), CCR_ENOMEM);
	ccr_error_set(&e, CCR_EIO, 0, "%02000d", 1);
	cr_assert_eq(strlen(e.text), sizeof(e.text) - 1);
}
