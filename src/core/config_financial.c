/*
 * config_financial - the policy file's rules for direct financial support, and groups'
 * contributions
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_internal.h"

#define POINTS "points from -1000000000 to 1000000000"
#define AMOUNT "an amount from 0 to 1e15"
#define MOST   1e15
#define A_RULE                                                                                     \
	"points for each unit as a number, or a list of steps such as "                            \
	"{\"from\": 50000, \"points\": 1}"

struct step_read {
	struct ccr_step step;
	bool has_from, has_points;
};

static int read_from(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct step_read *s = into;

	(void)arg;
	s->has_from = true;
	return ccr__number(r, v, 0, MOST, AMOUNT, &s->step.from);
}

static int read_points(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct step_read *s = into;

	(void)arg;
	s->has_points = true;
	return ccr__number(r, v, -1e9, 1e9, POINTS, &s->step.points);
}

static const struct ccr__key step_keys[] = {
    {"from", read_from, 0},
    {"points", read_points, 0},
};

static int read_step(struct ccr__reader *r, const char *key, const struct ccr__value *v, void *into)
{
	struct ccr_support_rule *rule = into;
	struct step_read s = {.has_from = false};
	int rc;

	(void)key;
	rc = ccr__object(r, v, "an object with \"from\" and \"points\"", step_keys,
			 CCR__COUNT(step_keys), &s);
	if (rc)
		return rc;
	if (!s.has_from || !s.has_points)
		return ccr__bad(r, v->line, s.has_from ? "no points" : "no from",
				"an object with both \"from\" and \"points\"");
	if (rule->n_steps && rule->steps[rule->n_steps - 1].from >= s.step.from) {
		char found[40];

		snprintf(found, sizeof(found), "from %.15g", s.step.from);
		return ccr__bad(r, v->line, found, "more than the step before it, %.15g",
				rule->steps[rule->n_steps - 1].from);
	}
	rc = ccr__grow(r, &rule->steps, rule->n_steps, sizeof(*rule->steps));
	if (!rc)
		rule->steps[rule->n_steps++] = s.step;
	return rc;
}

static int read_rule(struct ccr__reader *r, const struct ccr__value *v, void *into, int source)
{
	struct ccr_config *c = into;
	struct ccr_support_rule *rule = &c->financial[source];
	int rc;

	ccr_support_rule_free(rule);
	if (json_object_is_type(v->json, json_type_array)) {
		rc = ccr__list(r, v, A_RULE, read_step, rule);
		if (!rc && !rule->n_steps)
			rc = ccr__bad(r, v->line, "an empty list", "%s", A_RULE);
	} else {
		rc = ccr__number(r, v, -1e9, 1e9, A_RULE, &rule->per_unit);
	}
	if (!rc)
		rule->given = true;
	return rc;
}

static const struct ccr__key rule_keys[] = {
    {"decanal", read_rule, CCR_DECANAL},
    {"pi_submissions", read_rule, CCR_PI_SUBMISSIONS},
    {"pi_fundable", read_rule, CCR_PI_FUNDABLE},
    {"dollars", read_rule, CCR_DOLLARS},
};

int ccr__read_financial(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	(void)arg;
	return ccr__object(r, v, "an object with a rule for each source of support", rule_keys,
			   CCR__COUNT(rule_keys), into);
}

/* A count; true is one, false none. */
static int read_amount(struct ccr__reader *r, const struct ccr__value *v, void *into, int source)
{
	struct ccr_contributions *given = into;

	given->given[source] = true;
	if (json_object_is_type(v->json, json_type_boolean)) {
		given->amount[source] = json_object_get_boolean(v->json) ? 1 : 0;
		return 0;
	}
	return ccr__number(r, v, 0, MOST, AMOUNT ", or true or false", &given->amount[source]);
}

static int read_year(struct ccr__reader *r, const char *key, const struct ccr__value *v, void *into)
{
	struct ccr_contributions *given = into;
	struct ccr_yearly y;
	int rc;

	if (strlen(key) != 4 || strspn(key, "0123456789") != 4 || key[0] < '1' || key[0] > '2') {
		char found[100];

		snprintf(found, sizeof(found), "the key \"%.60s\"", key);
		return ccr__bad(r, v->line, found, "a year such as \"2024\"");
	}
	y.year = (key[0] - '0') * 1000 + (key[1] - '0') * 100 + (key[2] - '0') * 10 + key[3] - '0';
	rc = ccr__number(r, v, 0, MOST, "dollars from 0 to 1e15", &y.dollars);
	if (!rc)
		rc = ccr__grow(r, &given->years, given->n_years, sizeof(*given->years));
	if (rc)
		return rc;
	given->years[given->n_years++] = y;
	if (r->year && y.year >= r->year)
		return ccr__warn(
		    r, v->line, r->path,
		    "%d is not over: the average is of the last three full years, %d to %d", y.year,
		    r->year - CCR_DOLLAR_YEARS, r->year - 1);
	if (r->year && y.year < r->year - CCR_DOLLAR_YEARS)
		return ccr__warn(
		    r, v->line, r->path,
		    "%d no longer counts: the average is of the last three full years, %d to %d",
		    y.year, r->year - CCR_DOLLAR_YEARS, r->year - 1);
	return 0;
}

/* Years of the average that are not given count 0: said, as somebody may have forgotten one. */
static int warn_missing(struct ccr__reader *r, unsigned line, const struct ccr_contributions *given)
{
	for (int year = r->year - CCR_DOLLAR_YEARS; year < r->year; year++) {
		bool there = false;
		int rc;

		for (size_t i = 0; i < given->n_years; i++)
			there = there || given->years[i].year == year;
		if (there)
			continue;
		rc = ccr__warn(r, line, r->path,
			       "%d is not given and counts 0: the average is of the last three "
			       "full years, %d to %d",
			       year, r->year - CCR_DOLLAR_YEARS, r->year - 1);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_dollars(struct ccr__reader *r, const struct ccr__value *v, void *into, int source)
{
	struct ccr_contributions *given = into;

	int rc;

	given->given[source] = true;
	rc = ccr__each(r, v, "an object with dollars by year, such as {\"2024\": 150000}",
		       read_year, given);
	return rc || !r->year ? rc : warn_missing(r, v->line, given);
}

static const struct ccr__key given_keys[] = {
    {"decanal", read_amount, CCR_DECANAL},
    {"pi_submissions", read_amount, CCR_PI_SUBMISSIONS},
    {"pi_fundable", read_amount, CCR_PI_FUNDABLE},
    {"dollars", read_dollars, CCR_DOLLARS},
};

int ccr__read_contributions(struct ccr__reader *r, const struct ccr__value *v,
			    struct ccr_contributions **out)
{
	struct ccr_contributions *given = calloc(1, sizeof(*given));
	int rc;

	if (!given)
		return ccr_error_nomem(r->err);
	rc = ccr__object(r, v, "an object with what the group has given", given_keys,
			 CCR__COUNT(given_keys), given);
	if (!rc && given->given[CCR_DOLLARS] && !r->year)
		rc = ccr__bad(r, v->line, "dollars by year",
			      "the reader of the file to say which year it is");
	if (rc) {
		ccr_contributions_free(given);
		return rc;
	}
	ccr_contributions_free(*out);
	*out = given;
	return 0;
}

const struct ccr__section *ccr__financial_sections(size_t *count)
{
	static const struct ccr__section sections[] = {
	    {"financial", rule_keys, CCR__COUNT(rule_keys)},
	    {"financial.*[]", step_keys, CCR__COUNT(step_keys)},
	    {"groups.*.contributions", given_keys, CCR__COUNT(given_keys)},
	};

	*count = CCR__COUNT(sections);
	return sections;
}
