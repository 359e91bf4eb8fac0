#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ledger.h"
#include "oom.h"

#define T0 1764485520

static const struct ccr_usage_model hour = {.kind = CCR_USAGE_HALFLIFE, .half_life_s = 3600};
static const struct ccr_usage_model never = {.kind = CCR_USAGE_HALFLIFE, .half_life_s = 0};
static const struct ccr_usage_model lsf = {.kind = CCR_USAGE_LSF, .hist_hours = 10};
static const struct ccr_usage_model windows = {
    .kind = CCR_USAGE_WINDOWS, .interval_s = 1000, .depth = 4, .decay = 0.5};
static const struct ccr_usage_key ann = {"physics", "ann", "gpu", "normal"};
static const struct ccr_usage_key bob = {"physics", "bob", "gpu", "high"};
static const struct ccr_usage_key cat = {"maths", "cat", "cpu", NULL};

static struct ccr_ledger *new_at(const struct ccr_usage_model *m, int64_t t)
{
	struct ccr_error e = {0};
	struct ccr_ledger *l = ccr_ledger_new(m, t, &e);

	cr_assert_not_null(l, "%s", e.text);
	return l;
}

static void advance(struct ccr_ledger *l, int64_t t)
{
	struct ccr_error e = {0};

	cr_assert_eq(ccr_ledger_advance(l, t, &e), CCR_OK, "%s", e.text);
}

static void charge(struct ccr_ledger *l, const struct ccr_usage_key *k, int64_t from, int64_t to,
		   double billed, double slots)
{
	struct ccr_error e = {0};

	cr_assert_eq(ccr_ledger_charge(l, k, from, to, billed, slots, &e), CCR_OK, "%s", e.text);
}

static struct ccr_usage used(const struct ccr_ledger *l, const struct ccr_usage_key *k)
{
	const struct ccr_ledger_entry *e = ccr_ledger_find(l, k);

	return e ? ccr_ledger_entry_usage(l, e) : (struct ccr_usage){0};
}

static double billed(const struct ccr_ledger *l, const struct ccr_usage_key *k)
{
	return used(l, k).s[CCR_BILLED];
}

static void near(double got, double want, double rel)
{
	cr_assert(fabs(got - want) <= rel * fmax(1, fabs(want)), "%.17g is not %.17g", got, want);
}

Test(ledger, counts_both_measures_per_entry)
{
	struct ccr_ledger *l = new_at(&never, T0);

	advance(l, T0 + 100);
	charge(l, &ann, T0, T0 + 100, 5, 2);
	charge(l, &ann, T0 + 50, T0 + 100, 1, 0);
	charge(l, &bob, T0, T0 + 10, 0, 4);
	charge(l, &cat, T0, T0, 9, 9);
	charge(l, &cat, T0 + 50, T0, 9, 9);
	charge(l, &cat, T0, T0 + 50, 0, 0);
	cr_assert_eq(used(l, &ann).s[CCR_BILLED], 550.0);
	cr_assert_eq(used(l, &ann).s[CCR_SLOT], 200.0);
	cr_assert_eq(used(l, &bob).s[CCR_BILLED], 0.0);
	cr_assert_eq(used(l, &bob).s[CCR_SLOT], 40.0);
	cr_assert_eq(ccr_ledger_count(l), 2u);
	cr_assert_null(ccr_ledger_find(l, &cat));
	ccr_ledger_free(l);
	ccr_ledger_free(NULL);
}

Test(ledger, names_are_copied_and_kept_apart)
{
	struct ccr_ledger *l = new_at(&never, T0 + 1);
	char account[] = "a", user[] = "bc";
	struct ccr_usage_key k = {account, user, NULL, NULL}, other = {"ab", "c", "", ""};

	charge(l, &k, T0, T0 + 1, 1, 1);
	charge(l, &other, T0, T0 + 1, 2, 1);
	account[0] = user[0] = 'z';
	cr_assert_eq(billed(l, &(struct ccr_usage_key){"a", "bc", "", NULL}), 1.0);
	cr_assert_eq(billed(l, &other), 2.0);
	struct ccr_usage_key first = ccr_ledger_entry_key(ccr_ledger_next(l, NULL));
	cr_assert_str_eq(first.account, "a");
	cr_assert_str_eq(first.user, "bc");
	cr_assert_str_eq(first.partition, "");
	cr_assert_str_eq(first.qos, "");
	ccr_ledger_free(l);
}

Test(ledger, halves_every_half_life)
{
	struct ccr_ledger *l = new_at(&hour, T0);

	advance(l, T0 + 1);
	charge(l, &ann, T0, T0 + 1, 1000, 10);
	double start = billed(l, &ann);
	for (int i = 1; i <= 10; i++) {
		advance(l, T0 + 1 + i * 3600);
		cr_assert_eq(billed(l, &ann), ldexp(start, -i));
	}
	ccr_ledger_free(l);
}

Test(ledger, lsf_hour_is_a_tenth_after_hist_hours)
{
	struct ccr_ledger *l = new_at(&lsf, T0);

	advance(l, T0 + 1);
	charge(l, &ann, T0, T0 + 1, 0, 3600);
	double start = used(l, &ann).s[CCR_SLOT];
	advance(l, T0 + 1 + 36000);
	near(used(l, &ann).s[CCR_SLOT], start / 10, 1e-14);
	ccr_ledger_free(l);
}

Test(ledger, late_charge_is_worth_what_it_would_be_by_now)
{
	const struct ccr_usage_model *models[] = {&hour, &lsf, &windows, &never};

	for (int k = 0; k < 4; k++) {
		struct ccr_ledger *a = new_at(models[k], T0), *b = new_at(models[k], T0);
		advance(a, T0 + 1500);
		charge(a, &ann, T0 + 200, T0 + 1500, 3, 1);
		advance(a, T0 + 3333);
		advance(b, T0 + 3333);
		charge(b, &ann, T0 + 200, T0 + 1500, 3, 1);
		near(billed(a, &ann), billed(b, &ann), 1e-12);
		cr_assert_gt(billed(a, &ann), 100.0);
		ccr_ledger_free(a);
		ccr_ledger_free(b);
	}
}

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16;
}

/* One long charge, or many with the ledger advanced between them: the same to 1e-9. */
Test(ledger, one_piece_or_many)
{
	const struct ccr_usage_model *models[] = {&hour, &lsf, &windows, &never};

	for (unsigned seed = 1; seed <= 40; seed++) {
		const struct ccr_usage_model *m = models[seed % 4];
		struct ccr_ledger *whole = new_at(m, T0), *parts = new_at(m, T0);
		unsigned r = seed;
		int64_t t = T0, end = T0 + 3000 + next_random(&r) % 20000;
		while (t < end) {
			int64_t to = t + 1 + next_random(&r) % 700;
			to = to < end ? to : end;
			advance(parts, to);
			charge(parts, &ann, t, to, 7.25, 2);
			t = to;
		}
		advance(whole, end);
		charge(whole, &ann, T0, end, 7.25, 2);
		for (int i = 0; i < CCR_MEASURES; i++)
			near(used(parts, &ann).s[i], used(whole, &ann).s[i], 1e-9);
		ccr_ledger_free(whole);
		ccr_ledger_free(parts);
	}
}

/* Without decay nothing is lost, and every way of adding up gives the total. */
Test(ledger, conservation)
{
	struct ccr_ledger *l = new_at(&never, T0);
	char names[4][20];
	unsigned r = 7;
	double sum[CCR_MEASURES] = {0};

	for (int i = 0; i < 5000; i++) {
		struct ccr_usage_key k = {names[0], names[1], names[2], names[3]};
		for (int j = 0; j < 4; j++)
			snprintf(names[j], sizeof(names[j]), "n%u",
				 next_random(&r) % (unsigned)(20 >> j));
		int64_t from = T0 + i * 10 - next_random(&r) % 100, to = T0 + i * 10;
		double b = next_random(&r) % 64, s = next_random(&r) % 16;
		advance(l, to);
		charge(l, &k, from, to, b, s);
		sum[CCR_BILLED] += b * (double)(to - from);
		sum[CCR_SLOT] += s * (double)(to - from);
	}
	ccr_ledger_roll_up(l);
	for (int m = 0; m < CCR_MEASURES; m++) {
		/* Whole numbers: exact in any order. */
		cr_assert_eq(ccr_ledger_total(l).s[m], sum[m]);
		for (int by = 0; by < CCR_BY_COUNT; by++) {
			double total = 0;
			const struct ccr_total *t = NULL;
			while ((t = ccr_ledger_next_total(l, (enum ccr_by)by, t)))
				total += t->usage.s[m];
			cr_assert_eq(total, sum[m], "%d", by);
		}
	}
	ccr_ledger_free(l);
}

Test(ledger, rolls_up_by_every_name)
{
	struct ccr_ledger *l = new_at(&never, T0 + 10);
	struct ccr_usage_key ann_cpu = {"physics", "ann", "cpu", "normal"};

	charge(l, &ann, T0, T0 + 10, 1, 10);
	charge(l, &bob, T0, T0 + 10, 2, 20);
	charge(l, &cat, T0, T0 + 10, 4, 40);
	charge(l, &ann_cpu, T0, T0 + 10, 8, 80);
	cr_assert_eq(ccr_ledger_total(l).s[CCR_BILLED], 0.0, "not before the roll-up");
	for (int twice = 0; twice < 2; twice++) {
		ccr_ledger_roll_up(l);
		cr_assert_eq(ccr_ledger_by(l, CCR_BY_ACCOUNT, "physics", NULL).s[CCR_BILLED],
			     110.0);
		cr_assert_eq(ccr_ledger_by(l, CCR_BY_ACCOUNT, "physics", NULL).s[CCR_SLOT], 1100.0);
		cr_assert_eq(ccr_ledger_by(l, CCR_BY_USER, "ann", "ignored").s[CCR_BILLED], 90.0);
		cr_assert_eq(ccr_ledger_by(l, CCR_BY_PARTITION, "gpu", NULL).s[CCR_BILLED], 30.0);
		cr_assert_eq(ccr_ledger_by(l, CCR_BY_QOS, "", NULL).s[CCR_BILLED], 40.0);
		cr_assert_eq(ccr_ledger_by(l, CCR_BY_QOS, NULL, NULL).s[CCR_BILLED], 40.0);
		cr_assert_eq(ccr_ledger_by(l, CCR_BY_USER_PARTITION, "ann", "gpu").s[CCR_BILLED],
			     10.0);
		cr_assert_eq(ccr_ledger_by(l, CCR_BY_USER_PARTITION, "ann", "cpu").s[CCR_BILLED],
			     80.0);
		cr_assert_eq(ccr_ledger_by(l, CCR_BY_USER_PARTITION, "bob", "cpu").s[CCR_BILLED],
			     0.0);
		cr_assert_eq(
		    ccr_ledger_by(l, CCR_BY_ACCOUNT_PARTITION, "physics", "gpu").s[CCR_BILLED],
		    30.0);
		cr_assert_eq(ccr_ledger_by(l, (enum ccr_by)17, "ann", NULL).s[CCR_BILLED], 0.0);
		cr_assert_null(ccr_ledger_next_total(l, (enum ccr_by)17, NULL));
		cr_assert_eq(ccr_ledger_total(l).s[CCR_BILLED], 150.0);
	}
	cr_assert_eq(ccr_ledger_percent(l, CCR_BY_ACCOUNT, "maths", NULL, CCR_BILLED),
		     100 * (40.0 / 150));
	cr_assert_eq(ccr_ledger_percent(l, CCR_BY_ACCOUNT, "nobody", NULL, CCR_BILLED), 0.0);
	ccr_ledger_free(l);
}

Test(ledger, percent_of_nothing_is_nothing)
{
	struct ccr_ledger *l = new_at(&never, T0);

	ccr_ledger_roll_up(l);
	cr_assert_eq(ccr_ledger_percent(l, CCR_BY_USER, "ann", NULL, CCR_SLOT), 0.0);
	cr_assert_null(ccr_ledger_next(l, NULL));
	cr_assert_null(ccr_ledger_next_total(l, CCR_BY_USER, NULL));
	ccr_ledger_free(l);
}

Test(ledger, drops_what_has_faded)
{
	struct ccr_ledger *l = new_at(&hour, T0 + 1), *kept = new_at(&never, T0 + 1);

	charge(l, &ann, T0, T0 + 1, 1, 1);
	charge(l, &bob, T0, T0 + 1, 1e6, 1);
	charge(kept, &ann, T0, T0 + 1, 1e-9, 0);
	advance(l, T0 + 3600 * 21);
	advance(kept, T0 + 3600 * 10000);
	cr_assert_null(ccr_ledger_find(l, &ann));
	cr_assert_eq(ccr_ledger_count(l), 1u);
	ccr_ledger_roll_up(l);
	cr_assert_eq(ccr_ledger_by(l, CCR_BY_USER, "ann", NULL).s[CCR_BILLED], 0.0);
	cr_assert_gt(ccr_ledger_by(l, CCR_BY_USER, "bob", NULL).s[CCR_BILLED], 0.0);
	cr_assert_eq(ccr_ledger_count(kept), 1u);
	/* What has gone can come again. */
	charge(l, &ann, T0, T0 + 3600 * 21, 1, 1);
	ccr_ledger_roll_up(l);
	cr_assert_gt(ccr_ledger_by(l, CCR_BY_USER, "ann", NULL).s[CCR_BILLED], 0.0);
	ccr_ledger_free(l);
	ccr_ledger_free(kept);
}

Test(ledger, windows_take_their_parts_of_a_charge)
{
	/* Window 0 is [4000, 5000). */
	struct ccr_ledger *l = new_at(&windows, 4500);

	charge(l, &ann, 500, 4500, 2, 1);
	const double *bins = ccr_ledger_entry_bins(l, ccr_ledger_find(l, &ann), CCR_BILLED);
	cr_assert_eq(bins[0], 1000.0);
	cr_assert_eq(bins[1], 2000.0);
	cr_assert_eq(bins[2], 2000.0);
	cr_assert_eq(bins[3], 2000.0);
	cr_assert_eq(billed(l, &ann), 1000 + 2000 * (0.5 + 0.25 + 0.125));
	cr_assert_eq(used(l, &ann).s[CCR_SLOT], billed(l, &ann) / 2);
	/* Up to a border: nothing in the window that begins there. */
	charge(l, &bob, 3000, 4000, 1, 0);
	bins = ccr_ledger_entry_bins(l, ccr_ledger_find(l, &bob), CCR_BILLED);
	cr_assert_eq(bins[0], 0.0);
	cr_assert_eq(bins[1], 1000.0);
	cr_assert_eq(bins[2], 0.0);
	ccr_ledger_free(l);
}

Test(ledger, windows_move_on_at_the_border)
{
	struct ccr_ledger *l = new_at(&windows, 4999);

	charge(l, &ann, 4989, 4999, 1, 0);
	advance(l, 4999);
	cr_assert_eq(billed(l, &ann), 10.0);
	advance(l, 5000);
	cr_assert_eq(billed(l, &ann), 5.0);
	advance(l, 5999);
	cr_assert_eq(billed(l, &ann), 5.0);
	advance(l, 7500);
	cr_assert_eq(billed(l, &ann), 1.25);
	advance(l, 8000);
	cr_assert_eq(ccr_ledger_count(l), 0u);
	ccr_ledger_free(l);
}

/* The same as test_usage_model's golden values, through charges, a roll-up and percent. */
Test(ledger, mauis_example_by_charges)
{
	const double user[] = {60, 0, 10, 50}, all[] = {110, 125, 100, 150};
	struct ccr_ledger *l = new_at(&windows, 0);

	for (int i = 3; i >= 0; i--) {
		int64_t begin = (3 - i) * 1000;
		advance(l, begin + 500);
		charge(l, &ann, begin, begin + 500, user[i] / 500, 0);
		charge(l, &cat, begin, begin + 500, (all[i] - user[i]) / 500, 0);
	}
	ccr_ledger_roll_up(l);
	near(ccr_ledger_percent(l, CCR_BY_USER, "ann", NULL, CCR_BILLED), 100 * 68.75 / 216.25,
	     1e-12);
	near(ccr_ledger_percent(l, CCR_BY_ACCOUNT, "physics", NULL, CCR_BILLED), 31.79,
	     0.005 / 31.79);
	near(ccr_ledger_percent(l, CCR_BY_QOS, "normal", NULL, CCR_BILLED), 31.79, 0.005 / 31.79);
	ccr_ledger_free(l);
}

Test(ledger, clock_forward_by_more_than_all_windows)
{
	struct ccr_ledger *l = new_at(&windows, 4500);

	charge(l, &ann, 500, 4500, 2, 1);
	advance(l, INT64_C(1) << 40);
	cr_assert_eq(ccr_ledger_count(l), 0u);
	ccr_ledger_free(l);
}

Test(ledger, clock_back_changes_no_worth)
{
	const struct ccr_usage_model *models[] = {&hour, &lsf, &windows, &never};

	for (int k = 0; k < 4; k++) {
		struct ccr_ledger *l = new_at(models[k], 500000);
		charge(l, &ann, 498000, 500000, 2, 1);
		ccr_ledger_set_charged_until(l, 500000);
		double before = billed(l, &ann);
		advance(l, 123456);
		cr_assert_eq(billed(l, &ann), before);
		cr_assert_eq(ccr_ledger_time(l), 123456);
		cr_assert_eq(ccr_ledger_charged_until(l), 123456);
		/* A job since 498000 by the old clock: the next cycle charges the minute that
		 * passed, once. */
		advance(l, 123516);
		double faded = billed(l, &ann);
		charge(l, &ann, ccr_ledger_charged_until(l), 123516, 2, 1);
		near(billed(l, &ann) - faded, 120, 0.02);
		ccr_ledger_free(l);
	}
}

Test(ledger, charged_until_waits_for_the_caller)
{
	struct ccr_ledger *l = new_at(&hour, T0);

	advance(l, T0 + 60);
	cr_assert_eq(ccr_ledger_charged_until(l), T0);
	ccr_ledger_set_charged_until(l, T0 + 60);
	cr_assert_eq(ccr_ledger_charged_until(l), T0 + 60);
	ccr_ledger_set_charged_until(l, T0 + 6000);
	cr_assert_eq(ccr_ledger_charged_until(l), T0 + 60);
	ccr_ledger_free(l);
}

Test(ledger, refuses_what_cannot_be)
{
	struct ccr_ledger *l = new_at(&hour, T0);
	struct ccr_error e = {0};
	char name[CCR_USAGE_NAME_MAX + 2];
	const double amount = -1, *bins[CCR_MEASURES] = {&amount, &amount};

	cr_assert_eq(ccr_ledger_charge(l, &ann, T0, T0 + 1, 1, 1, &e), CCR_EINVAL);
	cr_assert(strstr(e.text, "advance the ledger first"));
	cr_assert_eq(ccr_ledger_charge(l, &ann, T0 - 9, T0, -1, 1, &e), CCR_EINVAL);
	cr_assert_eq(ccr_ledger_charge(l, &ann, T0 - 9, T0, 1, NAN, &e), CCR_EINVAL);
	cr_assert_eq(ccr_ledger_charge(l, &ann, T0 - 9, T0, INFINITY, 1, &e), CCR_EINVAL);
	cr_assert_eq(ccr_ledger_charge(l, &ann, INT64_MIN, T0, 1, 1, &e), CCR_EINVAL);
	cr_assert_eq(ccr_ledger_charge(l, &ann, 0, INT64_MAX, 1, 1, &e), CCR_EINVAL);
	cr_assert_eq(ccr_ledger_advance(l, INT64_MAX, &e), CCR_EINVAL);
	cr_assert_eq(ccr_ledger_add(l, &ann, bins, 1, &e), CCR_EINVAL);
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	struct ccr_usage_key k = {"a", name, "b", "c"};
	cr_assert_eq(ccr_ledger_charge(l, &k, T0 - 9, T0, 1, 1, &e), CCR_EINVAL);
	cr_assert_null(ccr_ledger_find(l, &k));
	cr_assert_eq(ccr_ledger_count(l), 0u);
	cr_assert_eq(ccr_ledger_time(l), T0);
	struct ccr_usage_model bad = {.kind = CCR_USAGE_WINDOWS};
	cr_assert_null(ccr_ledger_new(&bad, T0, &e));
	cr_assert_null(ccr_ledger_new(&hour, INT64_MIN, &e));
	cr_assert_eq(ccr_ledger_set_model(l, &bad, &e), CCR_EINVAL);
	cr_assert(ccr_usage_model_equal(ccr_ledger_model(l), &hour));
	name[CCR_USAGE_NAME_MAX] = '\0';
	charge(l, &k, T0 - 9, T0, 1, 1);
	cr_assert_str_eq(ccr_ledger_entry_key(ccr_ledger_find(l, &k)).user, name);
	ccr_ledger_free(l);
}

Test(ledger, model_changes_convert_every_entry)
{
	struct ccr_ledger *l = new_at(&windows, 4500);
	struct ccr_error e = {0};

	charge(l, &ann, 3000, 4500, 2, 1);
	charge(l, &bob, 4000, 4500, 2, 1);
	struct ccr_usage_model longer = windows;
	longer.depth = 8;
	cr_assert_eq(ccr_ledger_set_model(l, &longer, &e), CCR_OK);
	cr_assert_eq(billed(l, &ann), 2000.0);
	cr_assert_eq(ccr_ledger_set_model(l, &never, &e), CCR_OK);
	cr_assert_eq(billed(l, &ann), 3000.0, "undecayed amounts are all there");
	cr_assert_eq(used(l, &bob).s[CCR_SLOT], 500.0);
	cr_assert_eq(ccr_ledger_set_model(l, &hour, &e), CCR_OK);
	advance(l, 4500 + 3600);
	cr_assert_eq(billed(l, &ann), 1500.0);
	cr_assert_eq(ccr_ledger_set_model(l, &windows, &e), CCR_OK);
	cr_assert_eq(billed(l, &ann), 1500.0);
	advance(l, 9000);
	cr_assert_eq(billed(l, &ann), 750.0);
	ccr_ledger_free(l);
}

Test(ledger, out_of_memory_changes_nothing)
{
	struct ccr_error e = {0};
	struct ccr_ledger *l = NULL;
	unsigned failures = 0;

	for (unsigned long n = 1; !l; n++) {
		oom_fail_at(n);
		l = ccr_ledger_new(&hour, T0, &e);
		cr_assert_eq(oom_end(), l == NULL);
		cr_assert(l || e.code == CCR_ENOMEM);
	}
	for (int i = 0; i < 300; i++) {
		char user[20];
		struct ccr_usage_key k = {"physics", user, "gpu", "normal"};
		snprintf(user, sizeof(user), "u%d", i);
		for (unsigned long n = 1;; n++) {
			oom_fail_at(n);
			int rc = ccr_ledger_charge(l, &k, T0 - 10, T0, 1, 1, &e);
			if (!oom_end()) {
				cr_assert_eq(rc, CCR_OK);
				break;
			}
			failures++;
			cr_assert_eq(rc, CCR_ENOMEM);
			cr_assert_eq(ccr_ledger_count(l), (size_t)i);
			cr_assert_null(ccr_ledger_find(l, &k));
		}
	}
	cr_assert_gt(failures, 300u * 4);
	for (unsigned long n = 1;; n++) {
		oom_fail_at(n);
		int rc = ccr_ledger_set_model(l, &windows, &e);
		if (!oom_end()) {
			cr_assert_eq(rc, CCR_OK);
			cr_assert_eq(n, 302u);
			break;
		}
		cr_assert_eq(rc, CCR_ENOMEM);
		cr_assert(ccr_usage_model_equal(ccr_ledger_model(l), &hour));
	}
	ccr_ledger_roll_up(l);
	near(ccr_ledger_total(l).s[CCR_SLOT], 3000, 0.01);
	ccr_ledger_free(l);
}
