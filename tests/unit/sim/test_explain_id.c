/* Which jobs can be asked for, and what is passed on to squeue and sacct. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "sccr/explain_id.h"

static void becomes(const char *given, const char *expected)
{
	char text[64];

	snprintf(text, sizeof(text), "%s", given);
	cr_expect(explain_id(text), "%s", given);
	cr_expect_str_eq(text, expected);
}

static void is_none(const char *given)
{
	char text[64];

	snprintf(text, sizeof(text), "%s", given);
	cr_expect_not(explain_id(text), "%s became %s", given, text);
}

Test(explain_id, squeues_form)
{
	becomes("12", "12");
	becomes("12_3", "12_3");
	becomes("12_0", "12_0");
	becomes("12+0", "12+0");
	becomes("12_[4-9,11:2%2]", "12");
	becomes("012", "12");
	becomes("0012_03", "12_3");
	becomes("12+00", "12+0");
	becomes("4294967293", "4294967293");
}

Test(explain_id, what_sacct_takes_for_other_jobs)
{
	is_none("0");
	is_none("00");
	is_none("0_1");
	is_none("0+1");
	is_none("0_[1-2]");
	is_none("4294967294");
	is_none("4294967296");
	is_none("4294967297");
	is_none("12_4294967297");
	is_none("99999999999999999999999999");
}

Test(explain_id, no_job)
{
	is_none("");
	is_none("x");
	is_none("12x");
	is_none("12_");
	is_none("12+");
	is_none("12_x");
	is_none("12_[4-9");
	is_none("12.batch");
	is_none("-1");
}
