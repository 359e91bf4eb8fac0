/* contributions - see contributions.h */
#include "core/contributions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[CCR_SUPPORT_COUNT] = {
    [CCR_DECANAL] = "decanal",
    [CCR_PI_SUBMISSIONS] = "pi_submissions",
    [CCR_PI_FUNDABLE] = "pi_fundable",
    [CCR_DOLLARS] = "dollars",
};

/* The explanation, built up piece by piece; what does not fit is cut. */
struct words {
	char text[1200];
	size_t len;
};

static void __attribute__((format(printf, 2, 3))) say(struct words *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->text + w->len, sizeof(w->text) - w->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		w->len += (size_t)n;
	if (w->len >= sizeof(w->text))
		w->len = sizeof(w->text) - 1;
}

const char *ccr_support_name(enum ccr_support source)
{
	return (int)source >= 0 && source < CCR_SUPPORT_COUNT ? names[source] : NULL;
}

/* The step that amount reaches, or NULL below the first. */
static const struct ccr_step *step_of(const struct ccr_support_rule *rule, double amount)
{
	const struct ccr_step *reached = NULL;

	for (size_t i = 0; i < rule->n_steps && rule->steps[i].from <= amount; i++)
		reached = &rule->steps[i];
	return reached;
}

double ccr_support_points(const struct ccr_support_rule *rule, double amount)
{
	const struct ccr_step *step;

	if (!rule->given)
		return 0;
	if (!rule->steps)
		return rule->per_unit * amount;
	step = step_of(rule, amount);
	return step ? step->points : 0;
}

static const struct ccr_yearly *year_of(const struct ccr_contributions *given, int year)
{
	for (size_t i = 0; i < given->n_years; i++)
		if (given->years[i].year == year)
			return &given->years[i];
	return NULL;
}

double ccr_dollars_average(const struct ccr_contributions *given, int year, unsigned *missing)
{
	double sum = 0;
	unsigned none = 0;

	for (int back = CCR_DOLLAR_YEARS; back > 0; back--) {
		const struct ccr_yearly *y = year_of(given, year - back);

		sum += y ? y->dollars : 0;
		none += !y;
	}
	if (missing)
		*missing = none;
	return sum / CCR_DOLLAR_YEARS;
}

static void say_years(struct words *w, const struct ccr_contributions *given, int year)
{
	for (int back = CCR_DOLLAR_YEARS; back > 0; back--) {
		const struct ccr_yearly *y = year_of(given, year - back);
		const char *before = back == CCR_DOLLAR_YEARS ? "" : back == 1 ? " and " : ", ";

		say(w, "%s%.15g (%d%s)", before, y ? y->dollars : 0, year - back,
		    y ? "" : ": nothing given");
	}
}

static void say_rule(struct words *w, const struct ccr_support_rule *rule, double amount,
		     double points)
{
	const struct ccr_step *step;

	if (!rule->given) {
		say(w, " earns nothing: financial has no rule for it");
		return;
	}
	say(w, " earns %.15g", points);
	if (!rule->steps) {
		say(w, " (%.15g each)", rule->per_unit);
		return;
	}
	step = step_of(rule, amount);
	if (step)
		say(w, " (step from %.15g)", step->from);
	else
		say(w, " (below the first step, %.15g)", rule->n_steps ? rule->steps[0].from : 0);
}

int ccr_contributions_factor(const struct ccr_support_rule rules[CCR_SUPPORT_COUNT],
			     const struct ccr_contributions *given, int year, double *factor,
			     char **words, struct ccr_error *err)
{
	struct words w = {.len = 0};
	double sum = 0;

	for (int i = 0; i < CCR_SUPPORT_COUNT; i++) {
		double amount = given->amount[i], points;

		if (!given->given[i])
			continue;
		if (i == CCR_DOLLARS)
			amount = ccr_dollars_average(given, year, NULL);
		points = ccr_support_points(&rules[i], amount);
		sum += points;
		say(&w, "%s%s %.15g", w.len ? "; " : "", names[i], amount);
		if (i == CCR_DOLLARS) {
			say(&w, " a year (average of ");
			say_years(&w, given, year);
			say(&w, ")");
		}
		say_rule(&w, &rules[i], amount, points);
	}
	if (!w.len)
		say(&w, "no contribution");
	*words = strdup(w.text);
	if (!*words)
		return ccr_error_nomem(err);
	*factor = sum;
	return 0;
}

void ccr_contributions_free(struct ccr_contributions *given)
{
	if (given)
		free(given->years);
	free(given);
}

void ccr_support_rule_free(struct ccr_support_rule *rule)
{
	free(rule->steps);
	memset(rule, 0, sizeof(*rule));
}
