/* policy - see policy.h */
#include "core/policy.h"
#include "core/policy_error.h"

#include <ctype.h>
#include <math.h>
#include <muParserDLL.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EXPR 4096
/* muParser's own precedences, which its C header does not name */
#define MUL_PRECEDENCE 6
#define POW_PRECEDENCE 7

enum how { CONSTANT, VARIABLE, EXPRESSION };

struct column {
	char *text;
	enum how how;
	double constant;
	enum ccr_var var;
	muParserHandle_t parser;
};

struct ccr_policy {
	struct column column[CCR_COLUMNS];
	bool uses[CCR_VAR_COUNT];
	bool parsed[CCR_VAR_COUNT];	  /* read by a parser, not as a lone variable alone */
	enum ccr_var used[CCR_VAR_COUNT]; /* those that a parser reads through bound[] */
	int n_used;
	double bound[CCR_VAR_COUNT];
	enum ccr_var watched[CCR_WATCHED];
	int place[CCR_VAR_COUNT]; /* 1 + where it stands in watched[]; 0: nowhere */
	int n_watched;
	unsigned moved; /* columns that read one of them */
};

static const char *const column_name[CCR_COLUMNS] = {
    [CCR_COL_SITE] = "site",	   [CCR_COL_AGE] = "age",
    [CCR_COL_ASSOC] = "assoc",	   [CCR_COL_FAIRSHARE] = "fairshare",
    [CCR_COL_JOBSIZE] = "jobsize", [CCR_COL_PARTITION] = "partition",
    [CCR_COL_QOS] = "qos",
};

const char *ccr_column_name(int column)
{
	return column >= 0 && column < CCR_COLUMNS ? column_name[column] : NULL;
}

int ccr_column_find(const char *name)
{
	for (int i = 0; i < CCR_COLUMNS; i++) {
		if (strcmp(column_name[i], name) == 0)
			return i;
	}
	return -1;
}

/* muParser takes plain functions; libm's own cannot be passed as their types differ by attributes
 */
static muFloat_t fun_ceil(muFloat_t x)
{
	return ceil(x);
}

static muFloat_t fun_floor(muFloat_t x)
{
	return floor(x);
}

static muFloat_t fun_pow(muFloat_t x, muFloat_t y)
{
	return pow(x, y);
}

static muFloat_t fun_mod(muFloat_t x, muFloat_t y)
{
	return fmod(x, y);
}

struct context {
	const struct ccr_policy_spec *spec;
	int column;
	struct ccr_error *err;
};

/* FILE:LINE: policy.COLUMN: MESSAGE, the field being the one that the file has. */
static int complain(const struct context *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static int complain(const struct context *c, const char *fmt, ...)
{
	char what[600], field[40];
	unsigned line = c->spec->line[c->column];
	const char *file = c->spec->file ? c->spec->file : "policy";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (c->spec->job_sort[c->column])
		snprintf(field, sizeof(field), "job_sort_formula");
	else
		snprintf(field, sizeof(field), "policy.%s", column_name[c->column]);
	if (line)
		return ccr_error_set(c->err, CCR_EINVAL, line, "%s:%u: %s: %s", file, line, field,
				     what);
	return ccr_error_set(c->err, CCR_EINVAL, 0, "%s: %s: %s", file, field, what);
}

/*
 * muParser assigns by default (`f = 3`) and its C interface cannot switch that off, so a lone `=`
 * is refused here, and with it strings, in which one could hide.
 */
static int refuse_side_effects(const struct context *c, const char *text)
{
	for (size_t i = 0; text[i]; i++) {
		if (text[i] == '"')
			return complain(c, "found a string at character %zu, expected numbers only",
					i + 1);
		if (text[i] != '=')
			continue;
		if (text[i + 1] == '=') {
			i++;
			continue;
		}
		if (i && strchr("<>!", text[i - 1]))
			continue;
		return complain(c,
				"found an assignment (=) at character %zu, expected an expression "
				"without side effects",
				i + 1);
	}
	return CCR_OK;
}

static bool is_constant(const struct ccr_policy_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->n_constants; i++) {
		if (strcmp(spec->constants[i].name, name) == 0)
			return true;
	}
	return false;
}

/* Python's operators, which PBS's formulas may have: muParser would call them unknown variables. */
static int refuse_python(const struct context *c, const char *text)
{
	static const struct {
		const char *word, *instead;
	} python[] = {
	    {"if", "CONDITION ? VALUE : VALUE"},
	    {"else", "CONDITION ? VALUE : VALUE"},
	    {"and", "&&"},
	    {"or", "||"},
	    {"not", "CONDITION == 0"},
	};
	const char *floor_of = strstr(text, "//");

	if (floor_of)
		return complain(c,
				"found Python's // at character %zu, which is not known here, "
				"expected floor(A / B)",
				(size_t)(floor_of - text) + 1);
	for (size_t i = 0; i < sizeof(python) / sizeof(python[0]); i++) {
		size_t at = ccr__policy_find_name(text, python[i].word);

		if (at && !is_constant(c->spec, python[i].word))
			return complain(c,
					"found Python's '%s' at character %zu, which is not known "
					"here, expected %s",
					python[i].word, at, python[i].instead);
	}
	return CCR_OK;
}

/* A muParser without built-in surprises, all variables bound to policy->bound[]. */
static muParserHandle_t make_parser(struct ccr_policy *policy, const struct ccr_policy_spec *spec)
{
	muParserHandle_t p = mupCreate(muBASETYPE_FLOAT);
	const char *alias;
	enum ccr_var v;

	if (!p)
		return NULL;
	mupSetArgSep(p, ',');
	mupSetDecSep(p, '.');
	mupDefineFun1(p, "ceil", fun_ceil, 1);
	mupDefineFun1(p, "floor", fun_floor, 1);
	mupDefineFun2(p, "pow", fun_pow, 1);
	mupDefineOprt(p, "**", fun_pow, POW_PRECEDENCE, muOPRT_ASCT_RIGHT, 1);
	mupDefineOprt(p, "%", fun_mod, MUL_PRECEDENCE, muOPRT_ASCT_LEFT, 1);
	for (int i = 0; i < CCR_VAR_COUNT; i++)
		mupDefineVar(p, ccr_var_info(i)->name, &policy->bound[i]);
	for (int i = 0; (alias = ccr_var_alias(i, &v)); i++)
		mupDefineVar(p, alias, &policy->bound[v]);
	for (size_t i = 0; i < spec->n_constants; i++)
		mupDefineConst(p, spec->constants[i].name, spec->constants[i].value);
	return p;
}

/* Says what muParser found. */
static int refuse(const struct context *c, const char *text, muParserHandle_t p)
{
	char what[300];

	return complain(
	    c, "%s",
	    ccr__policy_error(mupGetErrorCode(p), mupGetErrorPos(p), text, what, sizeof(what)));
}

/* Names that the expression reads: marks the known, complains of the first unknown. */
static int note_variables(const struct context *c, struct ccr_policy *policy, muParserHandle_t p,
			  int *n_vars)
{
	int n = mupGetExprVarNum(p);

	*n_vars = 0;
	if (mupError(p))
		return refuse(c, policy->column[c->column].text, p);
	for (int i = 0; i < n; i++) {
		const muChar_t *name = NULL;
		muFloat_t *value = NULL;

		mupGetExprVar(p, (unsigned)i, &name, &value);
		if (!name)
			continue;
		int v = ccr_var_find(name);
		if (v >= 0) {
			policy->uses[v] = true;
			policy->parsed[v] = true;
			(*n_vars)++;
			continue;
		}
		if (is_constant(c->spec, name))
			continue;
		if (isdigit((unsigned char)name[0]) || name[0] == '.')
			return complain(
			    c,
			    "found '%s' at character %zu, expected a number from "
			    "-1e308 to 1e308",
			    name, ccr__policy_find_name(policy->column[c->column].text, name));
		const char *near = ccr_var_nearest(name);
		return complain(c,
				"found the unknown variable '%s' at character %zu, expected one of "
				"ccr.json(5)%s%s%s",
				name, ccr__policy_find_name(policy->column[c->column].text, name),
				near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	return CCR_OK;
}

/* Runs the parser once: that is when muParser finds errors of syntax and arity. */
static int trial(const struct context *c, const char *text, muParserHandle_t p, double *value)
{
	int results = 0;
	const muFloat_t *all;

	mupErrorReset(p);
	all = mupEvalMulti(p, &results);
	if (mupError(p))
		return refuse(c, text, p);
	if (!all || results != 1)
		return complain(c, "found %d values separated by commas, expected one", results);
	*value = all[0];
	return CCR_OK;
}

static char *trimmed(const char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	return strndup(s, n);
}

static int compile_column(const struct context *c, struct ccr_policy *policy)
{
	struct column *col = &policy->column[c->column];
	const char *given = c->spec->expr[c->column];
	int n_vars, rc;

	if (given && strlen(given) > MAX_EXPR)
		return complain(c, "found %zu characters, expected at most %d", strlen(given),
				MAX_EXPR);
	col->text = trimmed(given ? given : "0");
	if (!col->text)
		return ccr_error_nomem(c->err);
	if (!*col->text)
		return complain(c, "found nothing, expected an expression (\"0\" for none)");
	int lone = ccr_var_find(col->text);
	if (lone >= 0) { /* most columns of most policies: no parser needed at all */
		col->how = VARIABLE;
		col->var = (enum ccr_var)lone;
		policy->uses[lone] = true;
		return CCR_OK;
	}
	if ((rc = refuse_side_effects(c, col->text)) || (rc = refuse_python(c, col->text)))
		return rc;
	col->parser = make_parser(policy, c->spec);
	if (!col->parser)
		return ccr_error_nomem(c->err);
	mupSetExpr(col->parser, col->text);
	if (mupError(col->parser))
		return refuse(c, col->text, col->parser);
	if ((rc = note_variables(c, policy, col->parser, &n_vars)))
		return rc;
	if ((rc = trial(c, col->text, col->parser, &col->constant)))
		return rc;
	col->how = n_vars ? EXPRESSION : CONSTANT;
	if (col->how == CONSTANT && !isfinite(col->constant))
		return complain(c, "found a value that is no finite number, expected one that is");
	return CCR_OK;
}

static int check_constants(const struct ccr_policy_spec *spec, struct ccr_error *err)
{
	const char *file = spec->file ? spec->file : "policy";

	for (size_t i = 0; i < spec->n_constants; i++) {
		const struct ccr_constant *k = &spec->constants[i];
		muParserHandle_t p;
		int bad;

		/* muParser would take a constant of a function's name, and that would be gone */
		if (k->name[0] == '_' || ccr__policy_is_function(k->name))
			return ccr_error_set(err, CCR_EINVAL, k->line,
					     "%s:%u: constants.%s: found the name of a function "
					     "or of a constant of its own, expected a new name",
					     file, k->line, k->name);
		if (ccr_var_find(k->name) >= 0)
			return ccr_error_set(err, CCR_EINVAL, k->line,
					     "%s:%u: constants.%s: found the name of a variable, "
					     "expected a new name",
					     file, k->line, k->name);
		p = mupCreate(muBASETYPE_FLOAT);
		if (!p)
			return ccr_error_nomem(err);
		mupDefineConst(p, k->name, k->value);
		bad = mupError(p);
		if (!bad) { /* a function's name is taken only when it is read */
			mupSetExpr(p, k->name);
			mupEval(p);
			bad = mupError(p);
		}
		mupRelease(p);
		if (bad)
			return ccr_error_set(
			    err, CCR_EINVAL, k->line,
			    "%s:%u: constants.%s: found a name that an expression "
			    "cannot use, expected letters, digits and _ that are no "
			    "function's name",
			    file, k->line, k->name);
	}
	return CCR_OK;
}

int ccr_policy_compile(const struct ccr_policy_spec *spec, struct ccr_policy **out,
		       struct ccr_error *err)
{
	struct ccr_policy *policy;
	struct context c = {.spec = spec, .err = err};
	int rc;

	*out = NULL;
	if ((rc = check_constants(spec, err)))
		return rc;
	policy = calloc(1, sizeof(*policy));
	if (!policy)
		return ccr_error_nomem(err);
	/* the trial must not see zeros, by which many formulas divide */
	for (int i = 0; i < CCR_VAR_COUNT; i++)
		policy->bound[i] = 1;
	for (c.column = 0; c.column < CCR_COLUMNS; c.column++) {
		if ((rc = compile_column(&c, policy))) {
			ccr_policy_free(policy);
			return rc;
		}
	}
	for (int i = 0; i < CCR_VAR_COUNT; i++) {
		if (policy->parsed[i])
			policy->used[policy->n_used++] = (enum ccr_var)i;
	}
	*out = policy;
	return CCR_OK;
}

void ccr_policy_free(struct ccr_policy *policy)
{
	if (!policy)
		return;
	for (int i = 0; i < CCR_COLUMNS; i++) {
		if (policy->column[i].parser)
			mupRelease(policy->column[i].parser);
		free(policy->column[i].text);
	}
	free(policy);
}

bool ccr_policy_uses(const struct ccr_policy *policy, enum ccr_var var)
{
	return policy->uses[var];
}

const char *ccr_policy_expr(const struct ccr_policy *policy, enum ccr_column column)
{
	return policy->column[column].text;
}

/* Does the column read one of them? What a parser reads is asked of the parser. */
static bool reads(const struct column *col, const bool *which)
{
	const muChar_t *name;
	muFloat_t *value;
	int v;

	if (col->how != EXPRESSION)
		return col->how == VARIABLE && which[col->var];
	for (int i = mupGetExprVarNum(col->parser) - 1; i >= 0; i--) {
		name = NULL;
		mupGetExprVar(col->parser, (unsigned)i, &name, &value);
		v = name ? ccr_var_find(name) : -1;
		if (v >= 0 && which[v])
			return true;
	}
	return false;
}

unsigned ccr_policy_readers(const struct ccr_policy *policy, const enum ccr_var *vars, int n)
{
	bool which[CCR_VAR_COUNT] = {false};
	unsigned columns = 0;

	for (int i = 0; i < n; i++)
		which[vars[i]] = true;
	for (int i = 0; i < CCR_COLUMNS; i++) {
		if (reads(&policy->column[i], which))
			columns |= 1u << i;
	}
	return columns;
}

void ccr_policy_watch(struct ccr_policy *policy, const enum ccr_var *vars, int n)
{
	memset(policy->place, 0, sizeof(policy->place));
	policy->n_watched = n < CCR_WATCHED ? n : CCR_WATCHED;
	for (int i = 0; i < policy->n_watched; i++) {
		policy->watched[i] = vars[i];
		policy->place[vars[i]] = i + 1;
	}
	policy->moved = ccr_policy_readers(policy, policy->watched, policy->n_watched);
}

unsigned ccr_policy_eval_again(struct ccr_policy *policy, const double *values, double *factor)
{
	for (int i = 0; i < policy->n_watched; i++)
		policy->bound[policy->watched[i]] = values[i];
	for (int i = 0; i < CCR_COLUMNS; i++) {
		const struct column *col = &policy->column[i];
		double f;

		if (!(policy->moved & 1u << i))
			continue;
		if (col->how == VARIABLE) {
			f = values[policy->place[col->var] - 1];
		} else {
			f = mupEval(col->parser);
			if (mupError(col->parser))
				f = NAN;
		}
		factor[i] = isfinite(f) ? f : 0;
	}
	return policy->moved;
}

void ccr_policy_eval_columns(struct ccr_policy *policy, unsigned columns, const double *vars,
			     double *factor, unsigned *faults)
{
	for (int i = 0; i < policy->n_used; i++)
		policy->bound[policy->used[i]] = vars[policy->used[i]];
	for (int i = 0; i < CCR_COLUMNS; i++) {
		const struct column *col = &policy->column[i];
		double f;

		if (!(columns & 1u << i))
			continue;
		if (col->how == CONSTANT)
			f = col->constant;
		else if (col->how == VARIABLE)
			f = vars[col->var];
		else {
			f = mupEval(col->parser);
			if (mupError(col->parser))
				f = NAN;
		}
		if (!isfinite(f)) {
			f = 0;
			faults[i]++;
		}
		factor[i] = f;
	}
}

void ccr_policy_eval(struct ccr_policy *policy, const double *vars, double *factor,
		     unsigned *faults)
{
	ccr_policy_eval_columns(policy, ~0u, vars, factor, faults);
}
