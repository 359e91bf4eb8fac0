/*
 * policy - an expression for each column of sprio, compiled
 *
 * A policy maps a job's variables (vars.h) to one factor a column. The points of a column are its
 * PriorityWeight times this factor (score.h). Expressions are muParser's, with the functions and
 * the `**` and `%` operators of PBS's job_sort_formula added, and with everything that has a side
 * effect refused.
 *
 * A compiled policy is not changed by use, but an evaluation writes to its bound variables: one
 * thread at a time. Compile one for each thread that scores.
 */
#ifndef CCR_CORE_POLICY_H
#define CCR_CORE_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "core/vars.h"

/* The columns that a policy fills, in the order in which sprio shows them. */
enum ccr_column {
	CCR_COL_SITE,
	CCR_COL_AGE,
	CCR_COL_ASSOC,
	CCR_COL_FAIRSHARE,
	CCR_COL_JOBSIZE,
	CCR_COL_PARTITION,
	CCR_COL_QOS,
	CCR_COLUMNS
};

/* The column's name in a policy file ("jobsize"), or NULL. */
const char *ccr_column_name(int column);
/* The column of that name, or -1. */
int ccr_column_find(const char *name);

struct ccr_constant {
	const char *name; /* [a-z_][a-z0-9_]*, not a variable's or function's name */
	double value;
	unsigned line;
};

/* What to compile. Strings are read during the call alone. */
struct ccr_policy_spec {
	const char *file;	       /* for messages; may be NULL */
	const char *expr[CCR_COLUMNS]; /* NULL or "" counts 0 */
	unsigned line[CCR_COLUMNS];    /* where each stands in the file, 0 if nowhere */
	bool job_sort[CCR_COLUMNS];    /* it stands there as job_sort_formula */
	const struct ccr_constant *constants;
	size_t n_constants;
};

struct ccr_policy;

/*
 * Compiles; the caller frees *out with ccr_policy_free(). On CCR_EINVAL the message names file,
 * line, column, position, what was found and, for an unknown variable, the nearest known name.
 */
int ccr_policy_compile(const struct ccr_policy_spec *spec, struct ccr_policy **out,
		       struct ccr_error *err);
void ccr_policy_free(struct ccr_policy *policy);

/* Does any column read that variable? What is not used need not be gathered. */
bool ccr_policy_uses(const struct ccr_policy *policy, enum ccr_var var);
/* The expression of a column as it was given; "0" for none. Owned by the policy. */
const char *ccr_policy_expr(const struct ccr_policy *policy, enum ccr_column column);

/*
 * Evaluates every column for one job: vars[CCR_VAR_COUNT] in, factor[CCR_COLUMNS] out. A result
 * that is no finite number (division by zero, log of a negative number) counts 0 and adds one to
 * faults[column]. O(length of the expressions), allocates nothing.
 */
void ccr_policy_eval(struct ccr_policy *policy, const double *vars, double *factor,
		     unsigned *faults);

/* The columns that read any of n variables, a bit each. It asks the parsers: once, not for each
 * job. */
unsigned ccr_policy_readers(const struct ccr_policy *policy, const enum ccr_var *vars, int n);

/*
 * The same for the columns whose bits are set: the factors and faults of the others stay. Of vars
 * only those that these columns read need be right.
 */
void ccr_policy_eval_columns(struct ccr_policy *policy, unsigned columns, const double *vars,
			     double *factor, unsigned *faults);

/*
 * Names the variables (at most CCR_WATCHED) that ccr_policy_eval_again() may give other values: a
 * job queued in several partitions differs from one to the other in a few of them.
 */
#define CCR_WATCHED 8
void ccr_policy_watch(struct ccr_policy *policy, const enum ccr_var *vars, int n);

/*
 * Right after ccr_policy_eval() of the same job: overwrites the factors of the columns that read a
 * watched variable, these having values[n] now, and returns these columns, a bit each. What has no
 * finite value counts 0. O(length of these expressions).
 */
unsigned ccr_policy_eval_again(struct ccr_policy *policy, const double *values, double *factor);

#endif
