/* ledger - see ledger.h */
#include "core/ledger.h"

#include "core/ledger_rebin.h"
#include "core/shares.h"

#include <stdlib.h>
#include <string.h>

#define NAMES	4
#define KEY_MAX (NAMES * (CCR_USAGE_NAME_MAX + 1))

struct ccr_ledger_entry {
	UT_hash_handle hh;
	struct ccr_total *totals[CCR_BY_COUNT]; /* where it is added up */
	double *bins;				/* CCR_MEASURES x bins of the model */
	const char *names[NAMES];		/* into key */
	char key[];				/* the names in order, each with its end */
};

struct ccr_ledger {
	struct ccr_usage_model model;
	size_t bins; /* of the model, for one measure */
	int64_t time, charged_until;
	struct ccr_ledger_entry *head;
	struct ccr_totals by[CCR_BY_COUNT];
	struct ccr_usage total;
};

static int check_time(int64_t t, const char *what, struct ccr_error *err)
{
	if (t < -CCR_TIME_MAX || t > CCR_TIME_MAX)
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "%s %lld is no moment: expected seconds since 1970", what,
				     (long long)t);
	return CCR_OK;
}

struct ccr_ledger *ccr_ledger_new(const struct ccr_usage_model *model, int64_t time,
				  struct ccr_error *err)
{
	struct ccr_ledger *l;

	if (ccr_usage_model_check(model, err) || check_time(time, "time", err))
		return NULL;
	l = calloc(1, sizeof(*l));
	if (!l) {
		ccr_error_nomem(err);
		return NULL;
	}
	l->model = *model;
	l->bins = ccr_usage_bins(model);
	l->time = l->charged_until = time;
	return l;
}

static void entry_free(struct ccr_ledger *l, struct ccr_ledger_entry *e)
{
	for (int by = 0; by < CCR_BY_COUNT; by++)
		ccr__totals_release(&l->by[by], e->totals[by]);
	free(e->bins);
	free(e);
}

static void entry_drop(struct ccr_ledger *l, struct ccr_ledger_entry *e)
{
	HASH_DEL(l->head, e);
	entry_free(l, e);
}

void ccr_ledger_free(struct ccr_ledger *l)
{
	struct ccr_ledger_entry *e, *next;

	if (!l)
		return;
	e = l->head;
	HASH_CLEAR(hh, l->head);
	for (; e; e = next) {
		next = e->hh.next;
		free(e->bins);
		free(e);
	}
	for (int by = 0; by < CCR_BY_COUNT; by++)
		ccr__totals_clear(&l->by[by]);
	free(l);
}

const struct ccr_usage_model *ccr_ledger_model(const struct ccr_ledger *l)
{
	return &l->model;
}

int64_t ccr_ledger_time(const struct ccr_ledger *l)
{
	return l->time;
}

int64_t ccr_ledger_charged_until(const struct ccr_ledger *l)
{
	return l->charged_until;
}

void ccr_ledger_set_charged_until(struct ccr_ledger *l, int64_t t)
{
	l->charged_until = t < l->time ? t : l->time;
}

/* Moves every amount n windows into the past. */
static void entry_shift(const struct ccr_ledger *l, struct ccr_ledger_entry *e, size_t n)
{
	for (int m = 0; m < CCR_MEASURES; m++) {
		double *bins = e->bins + (size_t)m * l->bins;

		memmove(bins + n, bins, (l->bins - n) * sizeof(*bins));
		memset(bins, 0, n * sizeof(*bins));
	}
}

static bool entry_is_tiny(const struct ccr_ledger *l, const struct ccr_ledger_entry *e)
{
	/* Undecayed: under a decay of 0 an old window may yet count, in other windows. */
	for (size_t i = 0; i < CCR_MEASURES * l->bins; i++) {
		if (e->bins[i] >= CCR_LEDGER_TINY_S)
			return false;
	}
	return true;
}

static void age_windows(struct ccr_ledger *l, int64_t now)
{
	int64_t passed = ccr_usage_window(&l->model, now) - ccr_usage_window(&l->model, l->time);
	size_t n = passed < (int64_t)l->bins ? (size_t)passed : l->bins;
	struct ccr_ledger_entry *e, *tmp;

	if (!n)
		return;
	HASH_ITER (hh, l->head, e, tmp) {
		entry_shift(l, e, n);
		if (entry_is_tiny(l, e))
			entry_drop(l, e);
	}
}

static void age_amounts(struct ccr_ledger *l, int64_t now)
{
	double left = ccr_usage_left(&l->model, (double)(now - l->time));
	struct ccr_ledger_entry *e, *tmp;

	HASH_ITER (hh, l->head, e, tmp) {
		for (int m = 0; m < CCR_MEASURES; m++)
			e->bins[m] *= left;
		if (entry_is_tiny(l, e))
			entry_drop(l, e);
	}
}

int ccr_ledger_advance(struct ccr_ledger *l, int64_t now, struct ccr_error *err)
{
	int rc = check_time(now, "now", err);

	if (rc)
		return rc;
	if (now > l->time && l->model.kind == CCR_USAGE_WINDOWS)
		age_windows(l, now);
	else if (now > l->time && ccr_usage_decays(&l->model))
		age_amounts(l, now);
	l->time = now;
	if (l->charged_until > now)
		l->charged_until = now;
	return CCR_OK;
}

/* The names of a key in order, in one piece; 0 if one is too long. */
static size_t make_key(char buf[KEY_MAX], const struct ccr_usage_key *key)
{
	const char *names[NAMES] = {key->account, key->user, key->partition, key->qos};
	size_t len = 0;

	for (int i = 0; i < NAMES; i++) {
		const char *name = names[i] ? names[i] : "";
		size_t n = strnlen(name, CCR_USAGE_NAME_MAX + 1);

		if (n > CCR_USAGE_NAME_MAX)
			return 0;
		memcpy(buf + len, name, n);
		buf[len + n] = '\0';
		len += n + 1;
	}
	return len;
}

static bool entry_hold_totals(struct ccr_ledger *l, struct ccr_ledger_entry *e)
{
	const char *account = e->names[0], *user = e->names[1], *partition = e->names[2];
	const char *const pairs[CCR_BY_COUNT][2] = {
	    [CCR_BY_ACCOUNT] = {account, ""},
	    [CCR_BY_USER] = {user, ""},
	    [CCR_BY_PARTITION] = {partition, ""},
	    [CCR_BY_QOS] = {e->names[3], ""},
	    [CCR_BY_USER_PARTITION] = {user, partition},
	    [CCR_BY_ACCOUNT_PARTITION] = {account, partition},
	};

	for (int by = 0; by < CCR_BY_COUNT; by++) {
		e->totals[by] = ccr__totals_hold(&l->by[by], pairs[by][0], pairs[by][1]);
		if (!e->totals[by])
			return false;
	}
	return true;
}

static struct ccr_ledger_entry *entry_new(struct ccr_ledger *l, const char *key, size_t len)
{
	struct ccr_ledger_entry *e = calloc(1, sizeof(*e) + len);
	size_t at = 0;

	if (!e)
		return NULL;
	memcpy(e->key, key, len);
	for (int i = 0; i < NAMES; i++) {
		e->names[i] = e->key + at;
		at += strlen(e->names[i]) + 1;
	}
	e->bins = calloc(CCR_MEASURES * l->bins, sizeof(*e->bins));
	if (!e->bins || !entry_hold_totals(l, e)) {
		entry_free(l, e);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, l->head, e->key, len, e);
	if (!e->hh.tbl) {
		entry_free(l, e);
		return NULL;
	}
	return e;
}

/* The entry of a key, made if need be; NULL with *rc set. */
static struct ccr_ledger_entry *entry_get(struct ccr_ledger *l, const struct ccr_usage_key *key,
					  int *rc, struct ccr_error *err)
{
	char buf[KEY_MAX];
	size_t len = make_key(buf, key);
	struct ccr_ledger_entry *e;

	if (!len) {
		*rc = ccr_error_set(
		    err, CCR_EINVAL, 0,
		    "a name of account, user, partition or QOS is longer than %d bytes",
		    CCR_USAGE_NAME_MAX);
		return NULL;
	}
	HASH_FIND(hh, l->head, buf, len, e);
	if (!e)
		e = entry_new(l, buf, len);
	*rc = e ? CCR_OK : ccr_error_nomem(err);
	return e;
}

/* A charge under windows: each window takes the part of [t0, t1) that lies in it. */
static void charge_windows(struct ccr_ledger *l, struct ccr_ledger_entry *e, int64_t t0, int64_t t1,
			   const double rates[CCR_MEASURES])
{
	int64_t present = ccr_usage_window(&l->model, l->time),
		last = ccr_usage_window(&l->model, t1);

	for (int64_t w = last; present - w < (int64_t)l->bins; w--) {
		/* window x interval cannot overflow: both ends are moments, and the loop ends at
		 * t0's. */
		int64_t begin = w * l->model.interval_s;
		int64_t from = t0 > begin ? t0 : begin;
		int64_t to = w == last ? t1 : begin + l->model.interval_s;

		for (int m = 0; m < CCR_MEASURES; m++)
			e->bins[(size_t)m * l->bins + (size_t)(present - w)] +=
			    rates[m] * (double)(to - from);
		if (begin <= t0)
			break;
	}
}

int ccr_ledger_charge(struct ccr_ledger *l, const struct ccr_usage_key *key, int64_t t0, int64_t t1,
		      double billed_rate, double slot_rate, struct ccr_error *err)
{
	const double rates[CCR_MEASURES] = {[CCR_BILLED] = billed_rate, [CCR_SLOT] = slot_rate};
	struct ccr_ledger_entry *e;
	double worth;
	int rc;

	if ((rc = check_time(t0, "start", err)) || (rc = check_time(t1, "end", err)))
		return rc;
	for (int m = 0; m < CCR_MEASURES; m++) {
		if (!(rates[m] >= 0 && rates[m] <= CCR_LEDGER_RATE_MAX))
			return ccr_error_set(
			    err, CCR_EINVAL, 0,
			    "a rate of %g per second cannot be charged: expected 0 to %g", rates[m],
			    CCR_LEDGER_RATE_MAX);
	}
	if (t1 > l->time)
		return ccr_error_set(
		    err, CCR_EINVAL, 0,
		    "a charge until %lld is after the ledger's time %lld: advance the ledger first",
		    (long long)t1, (long long)l->time);
	if (t1 <= t0 || (billed_rate == 0 && slot_rate == 0))
		return CCR_OK;
	e = entry_get(l, key, &rc, err);
	if (!e)
		return rc;
	if (l->model.kind == CCR_USAGE_WINDOWS) {
		charge_windows(l, e, t0, t1, rates);
		return CCR_OK;
	}
	worth = ccr_usage_accrued(&l->model, (double)(l->time - t1), (double)(t1 - t0));
	for (int m = 0; m < CCR_MEASURES; m++)
		e->bins[m] += rates[m] * worth;
	return CCR_OK;
}

int ccr_ledger_add(struct ccr_ledger *l, const struct ccr_usage_key *key,
		   const double *const bins[CCR_MEASURES], size_t n, struct ccr_error *err)
{
	struct ccr_ledger_entry *e;
	int rc;

	for (int m = 0; m < CCR_MEASURES; m++) {
		for (size_t i = 0; i < n; i++) {
			if (!(bins[m][i] >= 0 && bins[m][i] <= CCR_LEDGER_AMOUNT_MAX))
				return ccr_error_set(
				    err, CCR_EINVAL, 0,
				    "an amount of %g cannot be added: expected seconds, 0 to %g",
				    bins[m][i], CCR_LEDGER_AMOUNT_MAX);
		}
	}
	e = entry_get(l, key, &rc, err);
	if (!e)
		return rc;
	for (int m = 0; m < CCR_MEASURES; m++) {
		for (size_t i = 0; i < n && i < l->bins; i++)
			e->bins[(size_t)m * l->bins + i] += bins[m][i];
	}
	return CCR_OK;
}

int ccr_ledger_set_model(struct ccr_ledger *l, const struct ccr_usage_model *model,
			 struct ccr_error *err)
{
	size_t bins = ccr_usage_bins(model), n = HASH_COUNT(l->head), i = 0;
	struct ccr_ledger_entry *e;
	double **fresh;
	int rc = ccr_usage_model_check(model, err);

	if (rc)
		return rc;
	/* All memory first: after that nothing can fail half-way. */
	fresh = calloc(n + 1, sizeof(*fresh));
	if (!fresh)
		return ccr_error_nomem(err);
	for (i = 0; i < n; i++) {
		fresh[i] = calloc(CCR_MEASURES * bins, sizeof(**fresh));
		if (!fresh[i]) {
			while (i--)
				free(fresh[i]);
			free(fresh);
			return ccr_error_nomem(err);
		}
	}
	for (i = 0, e = l->head; e; e = e->hh.next, i++) {
		for (int m = 0; m < CCR_MEASURES; m++)
			ccr__ledger_rebin(&l->model, model, l->time, e->bins + (size_t)m * l->bins,
					  fresh[i] + (size_t)m * bins);
		free(e->bins);
		e->bins = fresh[i];
	}
	free(fresh);
	l->model = *model;
	l->bins = bins;
	return CCR_OK;
}

void ccr_ledger_roll_up(struct ccr_ledger *l)
{
	for (int by = 0; by < CCR_BY_COUNT; by++)
		ccr__totals_zero(&l->by[by]);
	l->total = (struct ccr_usage){0};
	for (struct ccr_ledger_entry *e = l->head; e; e = e->hh.next) {
		struct ccr_usage u = ccr_ledger_entry_usage(l, e);

		for (int m = 0; m < CCR_MEASURES; m++) {
			for (int by = 0; by < CCR_BY_COUNT; by++)
				e->totals[by]->usage.s[m] += u.s[m];
			l->total.s[m] += u.s[m];
		}
	}
}

struct ccr_usage ccr_ledger_by(const struct ccr_ledger *l, enum ccr_by by, const char *name,
			       const char *partition)
{
	bool pair = by == CCR_BY_USER_PARTITION || by == CCR_BY_ACCOUNT_PARTITION;
	const struct ccr_total *t;

	if ((unsigned)by >= CCR_BY_COUNT)
		return (struct ccr_usage){0};
	t = ccr__totals_find(&l->by[by], name ? name : "", pair && partition ? partition : "");
	return t ? t->usage : (struct ccr_usage){0};
}

struct ccr_usage ccr_ledger_total(const struct ccr_ledger *l)
{
	return l->total;
}

double ccr_ledger_percent(const struct ccr_ledger *l, enum ccr_by by, const char *name,
			  const char *partition, enum ccr_measure m)
{
	return ccr_percent(ccr_ledger_by(l, by, name, partition).s[m], l->total.s[m]);
}

const struct ccr_total *ccr_ledger_next_total(const struct ccr_ledger *l, enum ccr_by by,
					      const struct ccr_total *prev)
{
	if ((unsigned)by >= CCR_BY_COUNT)
		return NULL;
	return prev ? prev->hh.next : l->by[by].head;
}

const struct ccr_ledger_entry *ccr_ledger_next(const struct ccr_ledger *l,
					       const struct ccr_ledger_entry *prev)
{
	return prev ? prev->hh.next : l->head;
}

size_t ccr_ledger_count(const struct ccr_ledger *l)
{
	return HASH_COUNT(l->head);
}

const struct ccr_ledger_entry *ccr_ledger_find(const struct ccr_ledger *l,
					       const struct ccr_usage_key *key)
{
	char buf[KEY_MAX];
	size_t len = make_key(buf, key);
	struct ccr_ledger_entry *e;

	if (!len)
		return NULL;
	HASH_FIND(hh, l->head, buf, len, e);
	return e;
}

struct ccr_usage_key ccr_ledger_entry_key(const struct ccr_ledger_entry *e)
{
	return (struct ccr_usage_key){e->names[0], e->names[1], e->names[2], e->names[3]};
}

struct ccr_usage ccr_ledger_entry_usage(const struct ccr_ledger *l,
					const struct ccr_ledger_entry *e)
{
	struct ccr_usage u;

	for (int m = 0; m < CCR_MEASURES; m++)
		u.s[m] = ccr_usage_worth(&l->model, e->bins + (size_t)m * l->bins);
	return u;
}

const double *ccr_ledger_entry_bins(const struct ccr_ledger *l, const struct ccr_ledger_entry *e,
				    enum ccr_measure m)
{
	return e->bins + (size_t)m * l->bins;
}
