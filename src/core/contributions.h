/*
 * contributions - what a group has given, and the factor that it earns (direct financial support)
 *
 * The four sources are those of CCR's scheduling policy: decanal support, PI submissions, PI
 * fundable and actual dollars as a three-year average. How many points each is worth is the site's:
 * so many a unit, or a table of thresholds. The factor is the sum of the four.
 */
#ifndef CCR_CORE_CONTRIBUTIONS_H
#define CCR_CORE_CONTRIBUTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

enum ccr_support {
	CCR_DECANAL,
	CCR_PI_SUBMISSIONS,
	CCR_PI_FUNDABLE,
	CCR_DOLLARS,
	CCR_SUPPORT_COUNT
};

/* Years over which dollars are averaged. */
#define CCR_DOLLAR_YEARS 3

/* The key in the policy file ("pi_submissions"); NULL for a number that is no source. */
const char *ccr_support_name(enum ccr_support source);

struct ccr_step {
	double from;   /* an amount of at least this ... */
	double points; /* ... is worth this; below the first step 0 */
};

struct ccr_support_rule {
	bool given;
	double per_unit;	/* points a unit, where there are no steps */
	struct ccr_step *steps; /* ascending by from; NULL: per_unit holds */
	size_t n_steps;
};

struct ccr_yearly {
	int year;
	double dollars;
};

struct ccr_contributions {
	bool given[CCR_SUPPORT_COUNT];
	double amount[CCR_SUPPORT_COUNT]; /* not of CCR_DOLLARS: those are by year */
	struct ccr_yearly *years;
	size_t n_years;
};

/* The points that amount earns under the rule. */
double ccr_support_points(const struct ccr_support_rule *rule, double amount);

/*
 * The dollars' average over the CCR_DOLLAR_YEARS full years before `year`, a year with no entry
 * counting 0. missing, if not NULL, gets the number of such years.
 */
double ccr_dollars_average(const struct ccr_contributions *given, int year, unsigned *missing);

/*
 * The factor of a group in the calendar year `year`, and in words how it came about (malloc'd, the
 * caller frees it). A source that the group has and the site has no rule for earns nothing and is
 * said. CCR_ENOMEM.
 */
int ccr_contributions_factor(const struct ccr_support_rule rules[CCR_SUPPORT_COUNT],
			     const struct ccr_contributions *given, int year, double *factor,
			     char **words, struct ccr_error *err);

void ccr_contributions_free(struct ccr_contributions *given);
void ccr_support_rule_free(struct ccr_support_rule *rule);

#endif
