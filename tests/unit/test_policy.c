#include <criterion/criterion.h>
#include <math.h>
#include "core/policy.h"

static struct ccr_error err;

static struct ccr_policy *compile(int column, const char *expr)
{
	struct ccr_policy_spec spec = {.file = "p.json"};
	struct ccr_policy *p;

	spec.expr[column] = expr;
	spec.line[column] = 12;
	memset(&err, 0, sizeof(err));
	ccr_policy_compile(&spec, &p, &err);
	return p;
}

/* The value of one expression for vars that are 0 but those given. */
static double value(const char *expr, double *vars)
{
	struct ccr_policy *p = compile(CCR_COL_AGE, expr);
	double f[CCR_COLUMNS];
	unsigned faults[CCR_COLUMNS] = {0};

	cr_assert_not_null(p, "%s: %s", expr, err.text);
	ccr_policy_eval(p, vars, f, faults);
	ccr_policy_free(p);
	return faults[CCR_COL_AGE] ? NAN : f[CCR_COL_AGE];
}

static void refused(const char *expr, const char *message)
{
	struct ccr_policy *p = compile(CCR_COL_JOBSIZE, expr);

	cr_assert_null(p, "%s was taken", expr);
	cr_assert_eq(err.code, CCR_EINVAL);
	cr_assert_eq(err.line, 12);
	cr_assert_str_eq(err.text, message);
}

Test(policy, evaluates_variables_constants_and_expressions)
{
	double v[CCR_VAR_COUNT] = {0};

	v[CCR_VAR_NODES] = 64;
	v[CCR_VAR_NGPUS] = 2;
	cr_assert_eq(value("nodes", v), 64);
	cr_assert_eq(value("  nodes ", v), 64);
	cr_assert_eq(value("2.5", v), 2.5);
	cr_assert_eq(value("16 * nodes + gpus", v), 1026);
	cr_assert_eq(value("nodes > 3 ? 7 : 8", v), 7);
	cr_assert_eq(value("nodes == 64 && gpus >= 2 && gpus != 3", v), 1);
	cr_assert_eq(value("2**3**2", v), 512);
	cr_assert_eq(value("-2**2", v), -4);
	cr_assert_eq(value("7 % 4 * 2", v), 6);
	cr_assert_eq(value("ceil(1.2) + floor(1.8) + pow(2, 5)", v), 35);
	cr_assert_eq(value("max(1, min(nodes, 9), 3)", v), 9);
	cr_assert_float_eq(value("log(max(nodes, 1e-7))", v), log(64), 1e-12);
}

Test(policy, takes_a_formula_from_qmgr_unchanged)
{
	double v[CCR_VAR_COUNT] = {0};

	v[CCR_VAR_FAIRSHARE_FACTOR] = 0.5;
	v[CCR_VAR_NCPUS] = 12;
	v[CCR_VAR_NGPUS] = 1;
	v[CCR_VAR_MEM] = 64 * 1048576.0;
	v[CCR_VAR_ELIGIBLE_TIME] = 3600;
	/* 12 cores + 1 GPU + 64 GB are 52 points of size */
	cr_assert_float_eq(value("(48 * fairshare_factor) + ((6 * fairshare_factor) * "
				 "((mem/1048576/8) + ncpus + (ngpus*32))) + (0.000278 * "
				 "eligible_time) + (4 * log(max(fairshare_factor, 1e-7)))",
				 v),
			   24 + 3 * 52 + 1.0008 + 4 * log(0.5), 1e-9);
}

Test(policy, counts_what_is_no_number_as_zero_and_says_how_often)
{
	struct ccr_policy *p = compile(CCR_COL_QOS, "1/nodes + log(usage)");
	double v[CCR_VAR_COUNT] = {0}, f[CCR_COLUMNS];
	unsigned faults[CCR_COLUMNS] = {0};

	cr_assert_not_null(p, "%s", err.text);
	ccr_policy_eval(p, v, f, faults);
	ccr_policy_eval(p, v, f, faults);
	cr_assert_eq(f[CCR_COL_QOS], 0);
	cr_assert_eq(faults[CCR_COL_QOS], 2);
	v[CCR_VAR_NODES] = v[CCR_VAR_USAGE] = 1;
	ccr_policy_eval(p, v, f, faults);
	cr_assert_eq(f[CCR_COL_QOS], 1);
	cr_assert_eq(faults[CCR_COL_QOS], 2);
	v[CCR_VAR_USAGE] = NAN;
	ccr_policy_eval(p, v, f, faults);
	cr_assert_eq(faults[CCR_COL_QOS], 3);
	ccr_policy_free(p);
}

Test(policy, knows_what_it_uses)
{
	struct ccr_policy *p = compile(CCR_COL_AGE, "queue_minutes + cpus");

	cr_assert(ccr_policy_uses(p, CCR_VAR_QUEUE_MINUTES));
	cr_assert(ccr_policy_uses(p, CCR_VAR_NCPUS));
	cr_assert_not(ccr_policy_uses(p, CCR_VAR_NODES));
	cr_assert_str_eq(ccr_policy_expr(p, CCR_COL_AGE), "queue_minutes + cpus");
	cr_assert_str_eq(ccr_policy_expr(p, CCR_COL_QOS), "0");
	ccr_policy_free(p);
}

Test(policy, refuses_side_effects)
{
	refused("nodes = 3", "p.json:12: policy.jobsize: found an assignment (=) at character 7, "
			     "expected an expression without side effects");
	refused("a=nodes", "p.json:12: policy.jobsize: found an assignment (=) at character 2, "
			   "expected an expression without side effects");
	refused("\"a\"", "p.json:12: policy.jobsize: found a string at character 1, expected "
			 "numbers only");
}

Test(policy, names_the_unknown_and_the_nearest)
{
	refused("16*nodez",
		"p.json:12: policy.jobsize: found the unknown variable 'nodez' at character "
		"4, expected one of ccr.json(5); did you mean 'nodes'?");
	refused("frobnication", "p.json:12: policy.jobsize: found the unknown variable "
				"'frobnication' at character 1, expected one of ccr.json(5)");
}

Test(policy, refuses_what_cannot_be_evaluated)
{
	static const char *const bad[] = {
	    "nodes +",	   "(nodes",	"nodes)",   "max()",	"pow(2)",  "log(1, 2)",
	    "nodes nodes", "2 3",	"nodes, 3", "sin",	"foo(3)",  "1/0",
	    "log(-1)",	   "0 ? ",	"\xff",	    "@",	":",	   "1e999",
	    "_",	   "__class__", "nodes; 3", "nodes[0]", "if(1,2)",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ccr_policy *p = compile(CCR_COL_JOBSIZE, bad[i]);

		cr_assert_null(p, "%s was taken", bad[i]);
		cr_assert(strstr(err.text, "p.json:12: policy.jobsize: ") == err.text, "%s",
			  err.text);
	}
	cr_assert_null(compile(CCR_COL_AGE, " "));
}

Test(policy, bounds_the_length)
{
	char *big = malloc(10002);
	struct ccr_policy *p;

	memset(big, '1', 10001);
	big[10001] = 0;
	p = compile(CCR_COL_AGE, big);
	cr_assert_null(p);
	memset(big, '(', 4000);
	big[4000] = 0;
	p = compile(CCR_COL_AGE, big);
	cr_assert_null(p);
	free(big);
}

Test(policy, constants_work_and_cannot_hide_a_name)
{
	struct ccr_constant k[] = {{"gpu_worth", 32, 3}};
	struct ccr_policy_spec spec = {.file = "p.json", .constants = k, .n_constants = 1};
	struct ccr_policy *p;
	double v[CCR_VAR_COUNT] = {0}, f[CCR_COLUMNS];
	unsigned faults[CCR_COLUMNS] = {0};

	spec.expr[CCR_COL_JOBSIZE] = "gpu_worth * ngpus";
	cr_assert_eq(ccr_policy_compile(&spec, &p, &err), 0, "%s", err.text);
	v[CCR_VAR_NGPUS] = 2;
	ccr_policy_eval(p, v, f, faults);
	cr_assert_eq(f[CCR_COL_JOBSIZE], 64);
	ccr_policy_free(p);

	k[0].name = "nodes";
	cr_assert_eq(ccr_policy_compile(&spec, &p, &err), CCR_EINVAL);
	cr_assert_eq(err.line, 3);
	k[0].name = "max";
	cr_assert_eq(ccr_policy_compile(&spec, &p, &err), CCR_EINVAL);
	k[0].name = "a b";
	cr_assert_eq(ccr_policy_compile(&spec, &p, &err), CCR_EINVAL);
}

Test(policy, columns_have_names)
{
	for (int i = 0; i < CCR_COLUMNS; i++)
		cr_assert_eq(ccr_column_find(ccr_column_name(i)), i);
	cr_assert_eq(ccr_column_find("nice"), -1);
	cr_assert_null(ccr_column_name(CCR_COLUMNS));
}

Test(policy, columns_that_read_a_watched_variable_are_evaluated_again)
{
	static const enum ccr_var watch[] = {CCR_VAR_PARTITION_FACTOR, CCR_VAR_QOS_FACTOR};
	struct ccr_policy_spec spec = {.file = "p.json"};
	double v[CCR_VAR_COUNT] = {0}, f[CCR_COLUMNS], again[] = {7, 0};
	unsigned faults[CCR_COLUMNS] = {0};
	struct ccr_policy *p;

	spec.expr[CCR_COL_AGE] = "age_factor";
	spec.expr[CCR_COL_PARTITION] = "partition_factor";
	spec.expr[CCR_COL_QOS] = "age_factor / qos_factor";
	spec.expr[CCR_COL_JOBSIZE] = "nodes + partition_factor";
	spec.expr[CCR_COL_ASSOC] = "3";
	cr_assert_eq(ccr_policy_compile(&spec, &p, &err), 0, "%s", err.text);
	v[CCR_VAR_AGE_FACTOR] = 0.5;
	v[CCR_VAR_PARTITION_FACTOR] = 2;
	v[CCR_VAR_QOS_FACTOR] = 0.25;
	v[CCR_VAR_NODES] = 10;
	ccr_policy_eval(p, v, f, faults);
	cr_expect_eq(ccr_policy_eval_again(p, again, f), 0, "nothing is watched");
	cr_expect_eq(f[CCR_COL_PARTITION], 2);
	ccr_policy_watch(p, watch, 2);
	ccr_policy_eval(p, v, f, faults);
	cr_expect_eq(f[CCR_COL_QOS], 2);
	cr_expect_eq(ccr_policy_eval_again(p, again, f),
		     1u << CCR_COL_PARTITION | 1u << CCR_COL_QOS | 1u << CCR_COL_JOBSIZE);
	cr_expect_eq(f[CCR_COL_PARTITION], 7);
	cr_expect_eq(f[CCR_COL_JOBSIZE], 17);
	cr_expect_eq(f[CCR_COL_QOS], 0, "divided by zero");
	cr_expect_eq(f[CCR_COL_AGE], 0.5);
	cr_expect_eq(f[CCR_COL_ASSOC], 3);
	cr_expect_eq(faults[CCR_COL_QOS], 0, "counted for the job itself alone");
	ccr_policy_free(p);
}

/* Columns evaluated one after another, in any order, are what one evaluation of all gives. */
Test(policy, some_columns_are_evaluated_as_all_are)
{
	static const enum ccr_var moving[] = {CCR_VAR_AGE_FACTOR, CCR_VAR_FS_FACTOR};
	struct ccr_policy_spec spec = {.file = "p.json"};
	double v[CCR_VAR_COUNT] = {0}, f[CCR_COLUMNS], all[CCR_COLUMNS];
	unsigned faults[CCR_COLUMNS] = {0}, whole[CCR_COLUMNS] = {0}, columns;
	struct ccr_policy *p;

	spec.expr[CCR_COL_AGE] = "age_factor";
	spec.expr[CCR_COL_FAIRSHARE] = "1 / fs_factor + cpus";
	spec.expr[CCR_COL_PARTITION] = "partition_factor";
	spec.expr[CCR_COL_JOBSIZE] = "log(nodes)";
	spec.expr[CCR_COL_ASSOC] = "3";
	cr_assert_eq(ccr_policy_compile(&spec, &p, &err), 0, "%s", err.text);
	columns = ccr_policy_readers(p, moving, 2);
	cr_expect_eq(columns, 1u << CCR_COL_AGE | 1u << CCR_COL_FAIRSHARE);
	cr_expect_eq(ccr_policy_readers(p, moving, 0), 0);
	v[CCR_VAR_NODES] = 3;
	v[CCR_VAR_NCPUS] = 5;
	v[CCR_VAR_PARTITION_FACTOR] = 0.1;
	ccr_policy_eval(p, v, f, faults);
	cr_expect_eq(faults[CCR_COL_FAIRSHARE], 1, "divided by zero");
	for (int i = 1; i < 50; i++) {
		v[CCR_VAR_AGE_FACTOR] = i / 7.0;
		v[CCR_VAR_FS_FACTOR] = i % 9 / 3.0;
		ccr_policy_eval_columns(p, columns, v, f, faults);
		ccr_policy_eval(p, v, all, whole);
		cr_assert_arr_eq(f, all, sizeof(all), "%d", i);
	}
	cr_expect_eq(faults[CCR_COL_FAIRSHARE], 1 + whole[CCR_COL_FAIRSHARE]);
	v[CCR_VAR_NODES] = 0;
	ccr_policy_eval_columns(p, columns, v, f, faults);
	cr_expect_eq(faults[CCR_COL_JOBSIZE], 0, "not asked for");
	cr_expect_eq(f[CCR_COL_JOBSIZE], log(3));
	ccr_policy_free(p);
}
