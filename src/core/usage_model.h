/*
 * usage_model - how past usage loses its weight
 *
 * Three models, one of which a site chooses for its whole ledger:
 *
 *   HALFLIFE  an amount is worth amount * 2^(-age/half_life_s); a half-life of 0 means no decay
 *             (PriorityDecayHalfLife's meaning in slurm.conf).
 *   WINDOWS   Maui's FSINTERVAL, FSDEPTH, FSDECAY: time is cut into windows of interval_s seconds,
 *             aligned to the epoch as Maui aligns its own; window 0 is the present one, and an
 * amount in window i is worth amount * decay^i, or nothing from window `depth` on. LSF HIST_HOURS
 * of lsb.params: an hour is worth 0.1 hours after hist_hours hours, that is amount *
 * 10^(-age/hist_hours); 0 means no decay. With 10, an hour now weighs as much as ten hours ten
 * hours ago.
 *
 * Ages are in seconds, amounts in any unit. Everything here is a pure function.
 */
#ifndef CCR_CORE_USAGE_MODEL_H
#define CCR_CORE_USAGE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

/* The most windows that a model may have. */
#define CCR_USAGE_DEPTH_MAX 1000

enum ccr_usage_kind {
	CCR_USAGE_HALFLIFE = 0,
	CCR_USAGE_WINDOWS = 1,
	CCR_USAGE_LSF = 2,
};

/* Only the members of its kind count; the others are ignored. */
struct ccr_usage_model {
	enum ccr_usage_kind kind;
	double half_life_s; /* HALFLIFE: seconds, 0 for no decay */
	int64_t interval_s; /* WINDOWS: seconds, at least 1 */
	unsigned depth;	    /* WINDOWS: 1..CCR_USAGE_DEPTH_MAX */
	double decay;	    /* WINDOWS: 0..1 */
	double hist_hours;  /* LSF: hours, 0 for no decay */
};

/*
 * The parameters of a kind where none are given, in the policy file and in the ledger: a half-life
 * of 7 days (slurm.conf's default); 7 windows of a day with decay 0.8; 10 hours.
 */
struct ccr_usage_model ccr_usage_model_default(enum ccr_usage_kind kind);

/* "halflife", "windows", "lsf"; NULL for any other number. */
const char *ccr_usage_kind_name(enum ccr_usage_kind kind);

/* The kind of that name; false, and *kind untouched, if there is none. */
bool ccr_usage_kind_parse(const char *name, enum ccr_usage_kind *kind);

/* CCR_EINVAL with the parameter, its value and its range if the model cannot be used. */
int ccr_usage_model_check(const struct ccr_usage_model *m, struct ccr_error *err);

/* Whether both decay in the same way: same kind and same parameters of that kind. */
bool ccr_usage_model_equal(const struct ccr_usage_model *a, const struct ccr_usage_model *b);

/* How many numbers a measure of an entry takes: the depth, or 1 without windows. */
size_t ccr_usage_bins(const struct ccr_usage_model *m);

/*
 * The decay constant in 1/s: an amount is worth amount * exp(-lambda * age). 0 without decay and
 * for windows, which do not decay within a window.
 */
double ccr_usage_lambda(const struct ccr_usage_model *m);

/* Whether anything ever loses weight under the model. */
bool ccr_usage_decays(const struct ccr_usage_model *m);

/* What is left of a unit after age_s seconds: 1 at age 0 and (no usage grows) at any negative age.
 */
double ccr_usage_left(const struct ccr_usage_model *m, double age_s);

/*
 * What a unit a second, given for dur_s seconds that ended age_s seconds ago, is worth now: the
 * integral of ccr_usage_left over [age_s, age_s + dur_s], in closed form. 0 for a duration of 0 or
 * less. Not for windows, whose amounts are kept undecayed.
 */
double ccr_usage_accrued(const struct ccr_usage_model *m, double age_s, double dur_s);

/* The window that holds the moment t: floor(t / interval_s), also before the epoch. */
int64_t ccr_usage_window(const struct ccr_usage_model *m, int64_t t);

/* The worth of a measure's bins: sum of bins[i] * decay^i for windows, bins[0] for the others. */
double ccr_usage_worth(const struct ccr_usage_model *m, const double *bins);

#endif
