#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ledger_json.h"
#include "core/ledger_print.h"
#include "oom.h"

/* That what is printed is read again bit for bit is test_ledger_json's. */

#define NOW 1764485520

static const struct ccr_usage_model hour = {.kind = CCR_USAGE_HALFLIFE, .half_life_s = 3600};
static const struct ccr_usage_model windows = {
    .kind = CCR_USAGE_WINDOWS, .interval_s = 1000, .depth = 4, .decay = 0.1};

static char *print(const struct ccr_ledger *l)
{
	struct ccr_error e = {0};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	cr_assert_eq(ccr_ledger_print(l, f, &e), CCR_OK, "%s", e.text);
	fclose(f);
	return text;
}

static struct ccr_ledger *sample(void)
{
	struct ccr_ledger *l = ccr_ledger_new(&hour, NOW, NULL);
	const char *const users[] = {"ann", "bob", "cat", "dan"};

	for (int i = 0; i < 4; i++) {
		struct ccr_usage_key k = {"physics", users[i], "gpu", ""};
		ccr_ledger_charge(l, &k, NOW - 1000 * (i + 1), NOW, 1.0 / 3, 2.5, NULL);
	}
	return l;
}

Test(ledger_print, numbers_are_short_where_they_can_be)
{
	struct ccr_ledger *l = ccr_ledger_new(&windows, NOW, NULL);
	const double b[] = {0.1, 0, 3600, 0}, s[] = {1.0 / 3, 0, 0, 0}, *bins[] = {b, s};
	struct ccr_usage_key k = {"a", "u", "p", "q"};
	char *text;

	ccr_ledger_add(l, &k, bins, 4, NULL);
	text = print(l);
	cr_assert(
	    strstr(
		text,
		"    {\"account\": \"a\", \"user\": \"u\", \"partition\": \"p\", \"qos\": \"q\", "
		"\"billed_s\": [0.1, 0, 3600], \"slot_s\": [0.3333333333333333]}\n"),
	    "%s", text);
	cr_assert(strstr(
	    text, "{\"kind\": \"windows\", \"interval_s\": 1000, \"depth\": 4, \"decay\": 0.1}"));
	free(text);
	ccr_ledger_free(l);
}

/* The C library never frees its copy of LOCPATH: no leak of ours, where leaks are looked for. */
extern void __lsan_disable(void) __attribute__((weak));
extern void __lsan_enable(void) __attribute__((weak));

/* A locale with a decimal comma; one is made where the system has none but could. 0 if there is
 * none. */
static locale_t comma_locale(void)
{
	char dir[] = "/tmp/ccr_locale_XXXXXX", command[300];
	locale_t found = newlocale(LC_NUMERIC_MASK, "de_DE.UTF-8", 0);

	if (found || !mkdtemp(dir))
		return found;
	snprintf(command, sizeof(command),
		 "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", dir);
	if (system(command) == 0) {
		setenv("LOCPATH", dir, 1);
		if (__lsan_disable)
			__lsan_disable();
		found = newlocale(LC_NUMERIC_MASK, "de_DE.UTF-8", 0);
		if (__lsan_enable)
			__lsan_enable();
		unsetenv("LOCPATH");
	}
	snprintf(command, sizeof(command), "rm -r %s", dir);
	cr_assert_eq(system(command), 0);
	return found;
}

Test(ledger_print, a_decimal_comma_changes_nothing)
{
	struct ccr_ledger *l = sample(), *back;
	char *point = print(l), *comma, half[10];
	locale_t german = comma_locale(), was;

	if (!german)
		cr_skip_test("no locale with a decimal comma here");
	was = uselocale(german);
	snprintf(half, sizeof(half), "%g", 0.5);
	cr_assert_str_eq(half, "0,5");
	comma = print(l);
	cr_assert_str_eq(comma, point);
	cr_assert_eq(ccr_ledger_parse(comma, strlen(comma), "usage.json", NOW, NULL, &back, NULL),
		     CCR_OK);
	const struct ccr_ledger_entry *a = ccr_ledger_next(l, NULL),
				      *b = ccr_ledger_next(back, NULL);
	cr_assert_eq(ccr_ledger_entry_usage(l, a).s[CCR_BILLED],
		     ccr_ledger_entry_usage(back, b).s[CCR_BILLED]);
	uselocale(was);
	freelocale(german);
	free(point);
	free(comma);
	ccr_ledger_free(l);
	ccr_ledger_free(back);
}

Test(ledger_print, a_full_disk_is_said)
{
	struct ccr_ledger *l = sample();
	struct ccr_error e = {0};
	FILE *f = fopen("/dev/full", "w");

	cr_assert_not_null(f);
	setvbuf(f, NULL, _IONBF, 0);
	cr_assert_eq(ccr_ledger_print(l, f, &e), CCR_EIO);
	cr_assert(strstr(e.text, "No space left on device"), "%s", e.text);
	fclose(f);
	ccr_ledger_free(l);
}

Test(ledger_print, out_of_memory_is_said)
{
	struct ccr_ledger *l = sample();
	unsigned long n;

	for (n = 1;; n++) {
		FILE *f = fopen("/dev/null", "w");
		oom_fail_at(n);
		int rc = ccr_ledger_print(l, f, NULL);
		bool failed = oom_end();
		fclose(f);
		cr_assert_eq(rc, failed ? CCR_ENOMEM : CCR_OK);
		if (!failed)
			break;
	}
	cr_assert_eq(n, 17u, "four names of four entries");
	ccr_ledger_free(l);
}
