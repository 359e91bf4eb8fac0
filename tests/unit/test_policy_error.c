#include <criterion/criterion.h>
#include <string.h>

#include "core/policy.h"
#include "core/policy_error.h"

Test(policy_error, says_what_and_where)
{
	char out[300];

	cr_expect_str_eq(ccr__policy_error(2, 3, "1 +", out, sizeof(out)),
			 "found the end (behind '1 +'), expected a value");
	cr_expect_str_eq(
	    ccr__policy_error(5, 2, "2 3", out, sizeof(out)),
	    "found a number at character 3 (near '3'), expected an operator before it");
	cr_expect_str_eq(ccr__policy_error(11, -1, "(1", out, sizeof(out)),
			 "found a missing parenthesis, expected as many ')' as '('");
	cr_expect_str_eq(ccr__policy_error(1, 0, "\x01@", out, sizeof(out)),
			 "found something unknown at character 1 (near '?@'), expected a number, a "
			 "variable, a function or an operator");
	cr_expect_str_eq(ccr__policy_error(999, 1000, "x", out, sizeof(out)),
			 "found something that muParser refuses at the end (behind 'x'), expected "
			 "an expression");
	cr_expect_str_eq(
	    ccr__policy_error(39, 31, "a long expression with nodes ++", out, sizeof(out)),
	    "found an operator without a value behind it at the end (behind 'expression with nodes "
	    "++'), expected a value on both of its sides");
	cr_expect_eq(ccr__policy_find_name("nodes2 + 3nodes + nodes_ + nodes", "nodes"), 28);
	cr_expect_eq(ccr__policy_find_name("nodes2", "nodes"), 0);
	cr_expect_str_eq(ccr__policy_error(-1, 0, "", out, sizeof(out)),
			 "found something that muParser refuses, expected an expression");
}

/* muParser's codes are not in its C header: each is provoked once, so that a change shows. */
Test(policy_error, muparsers_codes_mean_what_they_are_taken_for)
{
	static const struct {
		const char *expr, *found;
	} cases[] = {
	    {"nodes + * 2", "found an operator"},
	    {"nodes @ 2", "found something unknown"},
	    {"nodes +", "found the end"},
	    {"nodes++",
	     "found an operator without a value behind it at the end (behind 'nodes++')"},
	    {"1 + nodess * 2", "the unknown variable 'nodess' at character 5,"},
	    {"nodes , 3", "found 2 values"},
	    {"(nodes, 3)", "found several values in parentheses"},
	    {"nodes 3", "found a number"},
	    {"3 nodes", "found a variable"},
	    {"nodes)", "found a parenthesis"},
	    {"(nodes", "found a missing parenthesis"},
	    {"3 sin(2)", "found a function"},
	    {"log(1, 2)", "found too many arguments"},
	    {"pow(2)", "found too few arguments"},
	    {"1 ? 2", "found a '?' without ':'"},
	    {"1 : 2", "found a ':'"},
	    {"1 + maximum(2, 3)", "found the unknown function 'maximum' at character 5"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ccr_policy_spec spec = {.file = "f"};
		struct ccr_policy *policy = NULL;
		struct ccr_error err = {0};

		spec.expr[CCR_COL_AGE] = cases[i].expr;
		cr_expect_eq(ccr_policy_compile(&spec, &policy, &err), CCR_EINVAL, "%s",
			     cases[i].expr);
		cr_expect_not_null(strstr(err.text, cases[i].found), "%s: %s", cases[i].expr,
				   err.text);
		ccr_policy_free(policy);
	}
}

/* muParser would quote all of it, beyond the end of its buffer. */
Test(policy_error, a_long_expression_is_quoted_in_part)
{
	static char expr[4001];
	struct ccr_policy_spec spec = {.file = "f", .expr = {[CCR_COL_AGE] = expr}};
	struct ccr_policy *policy = NULL;
	struct ccr_error err = {0};

	memset(expr, '@', sizeof(expr) - 1);
	cr_expect_eq(ccr_policy_compile(&spec, &policy, &err), CCR_EINVAL);
	cr_expect_lt(strlen(err.text), 200, "%s", err.text);
}
