/*
 * config_policy - the policy file's expressions: policy, job_sort_formula and constants
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_internal.h"

#define FORMULA_MAX   4096
#define BLANKS	      " \t\r\n"
#define AN_EXPRESSION "an expression as a text, such as \"queue_minutes\""

void ccr__formula_clear(struct ccr_formula *f)
{
	free(f->text);
	free(f->where);
	memset(f, 0, sizeof(*f));
}

static int read_formula(struct ccr__reader *r, const struct ccr__value *v, struct ccr_formula *f)
{
	int rc;

	ccr__formula_clear(f);
	f->line = v->line;
	f->preset = r->preset;
	rc = ccr__text(r, v, FORMULA_MAX, AN_EXPRESSION, &f->text);
	if (!rc)
		rc = ccr__copy(r, r->name, &f->where);
	return rc;
}

static int read_column(struct ccr__reader *r, const struct ccr__value *v, void *into, int column)
{
	struct ccr_config *c = into;

	return read_formula(r, v, &c->column[column]);
}

static const struct ccr__key policy_keys[] = {
    {"age", read_column, CCR_COL_AGE},
    {"assoc", read_column, CCR_COL_ASSOC},
    {"fairshare", read_column, CCR_COL_FAIRSHARE},
    {"jobsize", read_column, CCR_COL_JOBSIZE},
    {"partition", read_column, CCR_COL_PARTITION},
    {"qos", read_column, CCR_COL_QOS},
    {"site", read_column, CCR_COL_SITE},
};

int ccr__read_policy(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	(void)arg;
	return ccr__object(r, v, "an object with an expression for each column", policy_keys,
			   CCR__COUNT(policy_keys), into);
}

/* Behind the blanks and, if it comes next, the word. */
static const char *past(const char *at, const char *word, bool *found)
{
	size_t n = strlen(word);

	at += strspn(at, BLANKS);
	*found = *found && strncmp(at, word, n) == 0;
	return *found ? at + n : at;
}

/*
 * What `qmgr -c "print server"` prints and qmgr reads is `set server job_sort_formula = F`, with F
 * in quotes or not: what is kept is F.
 */
static void strip_qmgr(char *text)
{
	bool found = true;
	const char *at = past(text, "set", &found);
	size_t n;

	found = found && strspn(at, BLANKS);
	at = past(at, "server", &found);
	found = found && strspn(at, BLANKS);
	at = past(at, "job_sort_formula", &found);
	at = past(at, "=", &found);
	if (!found || *at == '=')
		at = text;
	at += strspn(at, BLANKS);
	n = strlen(at);
	while (n && strchr(BLANKS, at[n - 1]))
		n--;
	if (n > 1 && (*at == '"' || *at == '\'') && at[n - 1] == *at) {
		at++;
		n -= 2;
	}
	memmove(text, at, n);
	text[n] = '\0';
}

int ccr__read_job_sort(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	int rc = read_formula(r, v, &r->job_sort);

	(void)into;
	(void)arg;
	if (!rc)
		strip_qmgr(r->job_sort.text);
	return rc;
}

int ccr__read_formula_column(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	const char *names[CCR_COLUMNS];

	(void)into;
	(void)arg;
	for (int i = 0; i < CCR_COLUMNS; i++)
		names[i] = ccr_column_name(i);
	r->formula_column_line = v->line;
	return ccr__choice(r, v, names, CCR_COLUMNS, &r->formula_column);
}

int ccr__finish_job_sort(struct ccr__reader *r)
{
	struct ccr_config *c = r->config;
	struct ccr_formula *f;
	int column = r->formula_column >= 0 ? r->formula_column : CCR_COL_JOBSIZE;

	if (!r->job_sort.text) {
		if (r->formula_column < 0)
			return 0;
		ccr__enter(r, "formula_column");
		return ccr__bad(r, r->formula_column_line, "it without a job_sort_formula",
				"both or neither");
	}
	for (int i = 0; i < CCR_COLUMNS; i++)
		if (c->column[i].preset != r->preset)
			ccr__formula_clear(&c->column[i]);
	f = &c->column[column];
	if (f->text) {
		ccr__enter(r, "policy");
		ccr__enter(r, ccr_column_name(column));
		return ccr__bad(r, f->line, "an expression for the column of job_sort_formula",
				"another \"formula_column\", or no \"%s\"",
				ccr_column_name(column));
	}
	*f = r->job_sort;
	f->job_sort = true;
	memset(&r->job_sort, 0, sizeof(r->job_sort));
	return 0;
}

static int read_constant(struct ccr__reader *r, const char *key, const struct ccr__value *v,
			 void *into)
{
	static const char small[] = "abcdefghijklmnopqrstuvwxyz_", all[] =
								       "abcdefghijklmnopqrstuvwxyz"
								       "_0123456789";
	struct ccr_config *c = into;
	struct ccr_constant *k = NULL;
	char *name = NULL;
	double value;
	int rc;

	if (!key[0] || !strchr(small, key[0]) || strspn(key, all) != strlen(key) ||
	    strlen(key) > 64) {
		char found[100];

		snprintf(found, sizeof(found), "the name \"%.60s\"", key);
		return ccr__bad(r, v->line, found,
				"small letters, digits and _, not with a digit first, at most 64");
	}
	rc = ccr__number(r, v, -1e300, 1e300, "a number from -1e300 to 1e300", &value);
	if (rc)
		return rc;
	for (size_t i = 0; i < c->n_constants; i++)
		if (strcmp(c->constants[i].name, key) == 0)
			k = &c->constants[i];
	if (!k) {
		rc = ccr__check_room(r, v->line, c->n_constants, "constants");
		if (!rc)
			rc = ccr__grow(r, &c->constants, c->n_constants, sizeof(*c->constants));
		if (!rc)
			rc = ccr__copy(r, key, &name);
		if (rc)
			return rc;
		k = &c->constants[c->n_constants++];
		k->name = name;
	}
	k->value = value;
	k->line = r->preset ? 0 : v->line;
	return 0;
}

int ccr__read_constants(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	(void)arg;
	return ccr__each(r, v, "an object with a number for each name", read_constant, into);
}

void ccr_config_policy_spec(const struct ccr_config *config, struct ccr_policy_spec *spec)
{
	memset(spec, 0, sizeof(*spec));
	spec->file = config->name;
	for (int i = 0; i < CCR_COLUMNS; i++) {
		spec->expr[i] = config->column[i].text;
		spec->line[i] = config->column[i].preset ? 0 : config->column[i].line;
		spec->job_sort[i] = config->column[i].job_sort;
	}
	spec->constants = config->constants;
	spec->n_constants = config->n_constants;
}

int ccr__finish_policy(struct ccr__reader *r)
{
	struct ccr_policy_spec spec;
	struct ccr_policy *policy = NULL;
	bool any = false;
	int rc;

	for (int i = 0; i < CCR_COLUMNS; i++)
		any = any || r->config->column[i].text;
	if (!any && r->rank_optional)
		return CCR_OK;
	if (!any)
		return ccr__bad(r, 1, "nothing to rank jobs by",
				"one of \"preset\", \"policy\" and \"job_sort_formula\"");
	ccr_config_policy_spec(r->config, &spec);
	rc = ccr_policy_compile(&spec, &policy, r->err);
	if (!rc) {
		r->reads_target = ccr_policy_uses(policy, CCR_VAR_TARGET) ||
				  ccr_policy_uses(policy, CCR_VAR_FS_DELTA);
		r->reads_financial = ccr_policy_uses(policy, CCR_VAR_FINANCIAL);
		r->reads_fairshare = ccr_policy_uses(policy, CCR_VAR_FAIRSHARE_FACTOR);
	}
	ccr_policy_free(policy);
	return rc;
}

const struct ccr__section *ccr__policy_sections(size_t *count)
{
	static const struct ccr__section sections[] = {
	    {"policy", policy_keys, CCR__COUNT(policy_keys)},
	};

	*count = CCR__COUNT(sections);
	return sections;
}
