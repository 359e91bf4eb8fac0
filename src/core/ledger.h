/*
 * ledger - who used how much, losing weight with age
 *
 * The one store of usage. An entry is what one user used in one account, partition and QOS; sums by
 * account, user and so on are made of the entries once a cycle. Amounts are billed seconds and slot
 * seconds (enum ccr_measure), each decayed by the ledger's model (usage_model.h).
 *
 * A ledger has two moments:
 *   time             what its amounts are worth is meant as of this moment;
 *   charged_until    running jobs have been charged up to here.
 *
 * How a daemon uses it. Each cycle:
 *	from = ccr_ledger_charged_until(l);
 *	ccr_ledger_advance(l, now);
 *	for each running job: ccr_ledger_charge(l, &key, max(start, from), now, billed_rate,
 *slot_rate); ccr_ledger_set_charged_until(l, now); ccr_ledger_roll_up(l); When a job ends between
 *cycles: ccr_ledger_advance(l, now), then charge it from max(start, charged_until) to its end;
 *charged_until stays, as the others are still to be charged from there. Saved and loaded with both
 *moments, the ledger goes on over a restart with nothing lost or counted twice.
 *
 * Clocks jump. Forward, everything decays as if the time had passed. Backward, amounts keep their
 *worth and their window (nothing grows, nothing is negative), both moments go back with the clock,
 *and what runs from then on is charged by the new clock.
 *
 * A ledger is not locked: one thread at a time. Times are seconds since the epoch; a function that
 *takes one refuses what lies outside +-CCR_TIME_MAX.
 */
#ifndef CCR_CORE_LEDGER_H
#define CCR_CORE_LEDGER_H

#include "core/error.h"
#include "core/usage_model.h"
#include "core/usage_totals.h"

/* The farthest moment from the epoch, in seconds: a double still counts every second up to it. */
#define CCR_TIME_MAX (INT64_C(1) << 53)

/* Under a model that decays, an entry with less than this of both measures is dropped. */
#define CCR_LEDGER_TINY_S 1e-6

/* The highest rate and amount that is taken, per second and in seconds: no sum ever overflows. */
#define CCR_LEDGER_RATE_MAX   1e15
#define CCR_LEDGER_AMOUNT_MAX 1e40

/* Who is charged. NULL is the same as "": no such thing (no database, no QOS). */
struct ccr_usage_key {
	const char *account;
	const char *user;
	const char *partition;
	const char *qos;
};

/* How totals are formed. Pairs are (first, partition). */
enum ccr_by {
	CCR_BY_ACCOUNT = 0,
	CCR_BY_USER = 1,
	CCR_BY_PARTITION = 2,
	CCR_BY_QOS = 3,
	CCR_BY_USER_PARTITION = 4,
	CCR_BY_ACCOUNT_PARTITION = 5,
	CCR_BY_COUNT = 6,
};

struct ccr_ledger;
struct ccr_ledger_entry;

/* An empty ledger of that model at that moment; NULL with *err set. End it with ccr_ledger_free. */
struct ccr_ledger *ccr_ledger_new(const struct ccr_usage_model *model, int64_t time,
				  struct ccr_error *err);

/* l may be NULL. */
void ccr_ledger_free(struct ccr_ledger *l);

const struct ccr_usage_model *ccr_ledger_model(const struct ccr_ledger *l);
int64_t ccr_ledger_time(const struct ccr_ledger *l);
int64_t ccr_ledger_charged_until(const struct ccr_ledger *l);

/* t is cut to the ledger's time: nothing has been charged beyond it. */
void ccr_ledger_set_charged_until(struct ccr_ledger *l, int64_t t);

/*
 * Decays to now and drops entries that have become tiny. A now before the ledger's time is a clock
 * that was set back, see above. CCR_EINVAL if now is no possible moment.
 */
int ccr_ledger_advance(struct ccr_ledger *l, int64_t now, struct ccr_error *err);

/*
 * Adds rate x time for [t0, t1), each part decayed by its own age and put in its own window, so
 * that a long interval gives the same in one piece as in many. billed_rate and slot_rate are per
 * second. t1 <= t0 adds nothing and is no error. CCR_EINVAL: t1 is after the ledger's time (advance
 * it first), a rate is negative, no number or over CCR_LEDGER_RATE_MAX, a name is longer than
 * CCR_USAGE_NAME_MAX. On an error nothing changes.
 */
int ccr_ledger_charge(struct ccr_ledger *l, const struct ccr_usage_key *key, int64_t t0, int64_t t1,
		      double billed_rate, double slot_rate, struct ccr_error *err);

/*
 * Adds amounts as they are: bins[m] has n numbers for measure m, the first of them the newest; what
 * is beyond the model's bins is ignored. Errors as for ccr_ledger_charge.
 */
int ccr_ledger_add(struct ccr_ledger *l, const struct ccr_usage_key *key,
		   const double *const bins[CCR_MEASURES], size_t n, struct ccr_error *err);

/*
 * Another model from now on; amounts are converted as ledger_rebin.h says. On an error (CCR_EINVAL,
 * CCR_ENOMEM) the ledger is as it was.
 */
int ccr_ledger_set_model(struct ccr_ledger *l, const struct ccr_usage_model *model,
			 struct ccr_error *err);

/* Forms all totals anew from the entries, in one pass. The functions below see this state. */
void ccr_ledger_roll_up(struct ccr_ledger *l);

/*
 * A total as of the last roll-up, found in constant time; zeros for a name without usage. partition
 * counts for the pairs only.
 */
struct ccr_usage ccr_ledger_by(const struct ccr_ledger *l, enum ccr_by by, const char *name,
			       const char *partition);

/* The sum over all entries as of the last roll-up. */
struct ccr_usage ccr_ledger_total(const struct ccr_ledger *l);

/* A name's share of all usage in percent, 0..100; 0 if there is none. */
double ccr_ledger_percent(const struct ccr_ledger *l, enum ccr_by by, const char *name,
			  const char *partition, enum ccr_measure m);

/* The totals one by one, in the order in which their names came up: the first for NULL, NULL at the
 * end. */
const struct ccr_total *ccr_ledger_next_total(const struct ccr_ledger *l, enum ccr_by by,
					      const struct ccr_total *prev);

/*
 * The entries one by one, in the order in which they came up: the first for NULL, NULL at the end.
 * An entry lives until the ledger is changed.
 */
const struct ccr_ledger_entry *ccr_ledger_next(const struct ccr_ledger *l,
					       const struct ccr_ledger_entry *prev);
size_t ccr_ledger_count(const struct ccr_ledger *l);

/* The entry of a key, NULL if there is none. */
const struct ccr_ledger_entry *ccr_ledger_find(const struct ccr_ledger *l,
					       const struct ccr_usage_key *key);

/* Its names; never NULL, they live as long as the entry. */
struct ccr_usage_key ccr_ledger_entry_key(const struct ccr_ledger_entry *e);

/* What it is worth at the ledger's time (no roll-up needed). */
struct ccr_usage ccr_ledger_entry_usage(const struct ccr_ledger *l,
					const struct ccr_ledger_entry *e);

/* Its ccr_usage_bins(model) numbers of a measure, newest first. */
const double *ccr_ledger_entry_bins(const struct ccr_ledger *l, const struct ccr_ledger_entry *e,
				    enum ccr_measure m);

#endif
