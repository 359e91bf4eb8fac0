#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ledger_json.h"
#include "core/ledger_print.h"
#include "oom.h"

#define NOW 1764485520

static const struct ccr_usage_model hour = {.kind = CCR_USAGE_HALFLIFE, .half_life_s = 3600};
static const struct ccr_usage_model lsf = {.kind = CCR_USAGE_LSF, .hist_hours = 10};
static const struct ccr_usage_model windows = {
    .kind = CCR_USAGE_WINDOWS, .interval_s = 1000, .depth = 4, .decay = 0.1};

static struct ccr_ledger *parse(const char *text, const struct ccr_usage_model *m)
{
	struct ccr_ledger *l;
	struct ccr_error e = {0};

	cr_assert_eq(ccr_ledger_parse(text, strlen(text), "usage.json", NOW, m, &l, &e), CCR_OK,
		     "%s: %s", e.text, text);
	cr_assert_not_null(l);
	return l;
}

static char *print(const struct ccr_ledger *l)
{
	struct ccr_error e = {0};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	cr_assert_eq(ccr_ledger_print(l, f, &e), CCR_OK, "%s", e.text);
	fclose(f);
	cr_assert_eq(strlen(text), len);
	return text;
}

static struct ccr_ledger *sample(const struct ccr_usage_model *m)
{
	struct ccr_ledger *l = ccr_ledger_new(m, NOW, NULL);
	const char *const names[][4] = {
	    {"physics", "ann", "gpu", "normal"},
	    {"", "", "", ""},
	    {"tab\there", "quote\"back\\slash/", "new\nline", "caf\xc3\xa9"},
	    {"check", "\"check\": \"00000000\"", "latin1 \xe9", ","}};

	for (int i = 0; i < 4; i++) {
		struct ccr_usage_key k = {names[i][0], names[i][1], names[i][2], names[i][3]};
		ccr_ledger_charge(l, &k, NOW - 4321 * (i + 1), NOW - 13 * i, M_PI * (i + 1),
				  1.0 / 3, NULL);
	}
	ccr_ledger_set_charged_until(l, NOW - 60);
	ccr_ledger_roll_up(l);
	return l;
}

static void same(const struct ccr_ledger *a, const struct ccr_ledger *b)
{
	const struct ccr_ledger_entry *ea = NULL, *eb;

	cr_assert(ccr_usage_model_equal(ccr_ledger_model(a), ccr_ledger_model(b)));
	cr_assert_eq(ccr_ledger_time(a), ccr_ledger_time(b));
	cr_assert_eq(ccr_ledger_charged_until(a), ccr_ledger_charged_until(b));
	cr_assert_eq(ccr_ledger_count(a), ccr_ledger_count(b));
	while ((ea = ccr_ledger_next(a, ea))) {
		struct ccr_usage_key k = ccr_ledger_entry_key(ea);
		eb = ccr_ledger_find(b, &k);
		cr_assert_not_null(eb, "%s %s %s %s", k.account, k.user, k.partition, k.qos);
		for (int m = 0; m < CCR_MEASURES; m++) {
			for (size_t i = 0; i < ccr_usage_bins(ccr_ledger_model(a)); i++)
				cr_assert_eq(ccr_ledger_entry_bins(a, ea, (enum ccr_measure)m)[i],
					     ccr_ledger_entry_bins(b, eb, (enum ccr_measure)m)[i]);
		}
	}
}

Test(ledger_json, comes_back_bit_for_bit)
{
	const struct ccr_usage_model *models[] = {&hour, &lsf, &windows};

	for (int k = 0; k < 3; k++) {
		struct ccr_ledger *l = sample(models[k]), *back;
		char *text = print(l), *again;
		back = parse(text, NULL);
		same(l, back);
		cr_assert_eq(ccr_ledger_total(back).s[CCR_SLOT], ccr_ledger_total(l).s[CCR_SLOT]);
		again = print(back);
		cr_assert_str_eq(text, again);
		free(text);
		free(again);
		ccr_ledger_free(l);
		ccr_ledger_free(back);
	}
}

/* Random doubles of every size that an amount may have. */
Test(ledger_json, every_double_comes_back)
{
	struct ccr_ledger *l = ccr_ledger_new(&hour, NOW, NULL), *back;
	unsigned long long r = 88172645463325252ull;
	char user[20], *text;

	for (int i = 0; i < 5000; i++) {
		double v;
		r ^= r << 13;
		r ^= r >> 7;
		r ^= r << 17;
		v = ldexp((double)(r >> 11), (int)(r % 130) - 60);
		const double *bins[CCR_MEASURES] = {&v, &v};
		snprintf(user, sizeof(user), "u%d", i);
		struct ccr_usage_key k = {"a", user, "", ""};
		cr_assert_eq(ccr_ledger_add(l, &k, bins, 1, NULL), CCR_OK);
	}
	text = print(l);
	back = parse(text, NULL);
	same(l, back);
	free(text);
	ccr_ledger_free(l);
	ccr_ledger_free(back);
}

Test(ledger_json, a_seed_is_short)
{
	struct ccr_ledger *l = parse(
	    "{\"version\": 1, \"usage\": [{\"account\": \"physics\", \"billed_s\": 5},"
	    "{\"account\": \"maths\", \"user\": \"cat\", \"billed_s\": 95.0, \"slot_s\": 7}]}",
	    NULL);

	cr_assert_eq(ccr_ledger_time(l), NOW);
	cr_assert_eq(ccr_ledger_charged_until(l), NOW);
	cr_assert_eq(ccr_ledger_model(l)->half_life_s, 604800.0);
	cr_assert_eq(ccr_ledger_percent(l, CCR_BY_ACCOUNT, "physics", NULL, CCR_BILLED), 5.0);
	cr_assert_eq(ccr_ledger_by(l, CCR_BY_USER, "cat", NULL).s[CCR_SLOT], 7.0);
	ccr_ledger_free(l);
}

Test(ledger_json, a_seed_for_windows)
{
	struct ccr_ledger *l = parse(
	    "{\"version\": 1, \"time\": 5000, \"usage\": ["
	    "{\"account\": \"a\", \"billed_s\": [1, 2.5]}, {\"account\": \"b\", \"billed_s\": 3}]}",
	    &windows);

	cr_assert_eq(ccr_ledger_time(l), 5000);
	cr_assert_eq(ccr_ledger_by(l, CCR_BY_ACCOUNT, "a", NULL).s[CCR_BILLED], 1.25);
	cr_assert_eq(ccr_ledger_by(l, CCR_BY_ACCOUNT, "b", NULL).s[CCR_BILLED], 3.0);
	ccr_ledger_free(l);
}

Test(ledger_json, the_files_model_goes_before_the_readers)
{
	struct ccr_ledger *l =
	    parse("{\"version\": 1, \"model\": {\"kind\": \"lsf\"}, \"usage\": []}", &windows);

	cr_assert_eq(ccr_ledger_model(l)->kind, CCR_USAGE_LSF);
	cr_assert_eq(ccr_ledger_model(l)->hist_hours, 10.0);
	ccr_ledger_free(l);
}

Test(ledger_json, every_mistake_is_named)
{
#define USAGE(x)  "{\"version\": 1, \"usage\": [{" x "}]}"
#define MEMBER(x) "{\"version\": 1, \"usage\": [], " x "}"
	static const char *const bad[][2] = {
	    {"", "usage.json:1: found an empty file"},
	    {"{\"version\": 1,\n \"usage\": [",
	     "usage.json:2: found the end of the file in the middle"},
	    {"{\"version\": 1,\n\n \"usage\" [",
	     "usage.json:3: column 10: found '[', expected ':'"},
	    {"null\n", "usage.json:1: found a value of type null, expected an object"},
	    {"[]", "usage.json:1: found a value of type array"},
	    {"{\"version\": 1, \"usage\": []} x", "usage.json:1: column 29: found 'x'"},
	    {"{\"usage\": []}", "version is missing"},
	    {"{\"version\": 2, \"usage\": []}", "version is 2: expected 1"},
	    {"{\"version\": \"1\", \"usage\": []}", "version is \"1\""},
	    {"{\"version\": 1}", "usage.json: usage is missing"},
	    {"{\"version\": 1,\n \"time\": 7,\n \"time\": 8}", "usage.json:3: "},
	    {"{\"version\": 1,\n \"usage\": [\n  {\"user\": \"a\"},\n  {\"user\": 7}]}",
	     "usage.json:4: usage[1].user is of type int"},
	    {"{\"version\": 1,\n \"usage\": [],\n \"usages\": 1}",
	     "usage.json:3: usages is not known"},
	    {USAGE("\"user\": \"caf\xe9\""), "not UTF-8"},
	    {"{\"version\": 1, \"usage\": {}}", "usage is of type object"},
	    {MEMBER("\"time\": 1.5"), "time is 1.5"},
	    {MEMBER("\"time\": \"now\""), "time is \"now\""},
	    {MEMBER("\"time\": 9223372036854775807"), "time is 9223372036854775807"},
	    {MEMBER("\"time\": 5, \"charged_until\": 6"),
	     "charged_until is 6: expected at most time, 5"},
	    {MEMBER("\"usages\": 1"), "usages is not known: expected version"},
	    {MEMBER("\"check\": 5"), "check is not a text"},
	    {MEMBER("\"check\": \"00000000\""), "check is 00000000, but"},
	    {MEMBER("\"model\": 3"), "model is of type int"},
	    {MEMBER("\"model\": {}"), "model.kind is missing"},
	    {MEMBER("\"model\": {\"kind\": \"maui\"}"), "model.kind is \"maui\""},
	    {MEMBER("\"model\": {\"kind\": 4}"), "model.kind is 4"},
	    {MEMBER("\"model\": {\"kind\": \"lsf\", \"half_life_s\": 4}"),
	     "model.half_life_s is not known"},
	    {MEMBER("\"model\": {\"kind\": \"halflife\", \"depth\": 4}"),
	     "model.depth is not known"},
	    {MEMBER("\"model\": {\"kind\": \"halflife\", \"half_life_s\": \"1d\"}"),
	     "is of type string"},
	    {MEMBER("\"model\": {\"kind\": \"halflife\", \"half_life_s\": -4}"),
	     "half_life_s is -4"},
	    {MEMBER("\"model\": {\"kind\": \"windows\", \"depth\": 2.5}"), "model.depth is 2.5"},
	    {MEMBER("\"model\": {\"kind\": \"windows\", \"depth\": -1}"), "model.depth is -1"},
	    {MEMBER("\"model\": {\"kind\": \"windows\", \"depth\": 1e99}"), "model.depth is 1e+99"},
	    {MEMBER("\"model\": {\"kind\": \"windows\", \"interval_s\": 0}"), "interval_s is 0"},
	    {MEMBER("\"model\": {\"kind\": \"windows\", \"interval_s\": 0.5}"),
	     "model.interval_s is 0.5"},
	    {MEMBER("\"model\": {\"kind\": \"windows\", \"decay\": 7}"), "decay is 7"},
	    {"{\"version\": 1, \"usage\": [5]}", "usage[0] is of type int"},
	    {"{\"version\": 1, \"usage\": [{}, null]}", "usage[1] is of type null"},
	    {USAGE("\"acount\": \"a\""), "usage[0].acount is not known: expected account, user"},
	    {USAGE("\"account\": 5"), "usage[0].account is of type int"},
	    {USAGE("\"account\": \"a\\u0000b\""), "expected characters other than NUL"},
	    {USAGE("\"billed_s\": \"5\""), "usage[0].billed_s is of type string"},
	    {USAGE("\"billed_s\": -5"), "usage[0].billed_s is -5"},
	    {USAGE("\"slot_s\": 1e999"), "usage[0].slot_s is inf"},
	    {USAGE("\"slot_s\": NaN"), "usage.json:1: "},
	    {USAGE("\"slot_s\": null"), "usage[0].slot_s is of type null"},
	    {USAGE("\"slot_s\": [1, 2]"),
	     "usage[0].slot_s is an array: expected a number, as the model is"},
	    {"{\"version\": 1, \"usage\": [{\"user\": \"a\"}, {\"user\": \"a\"}]}",
	     "usage[1] is there twice"},
	    {"{\"version\": 1, \"model\": {\"kind\": \"windows\", \"depth\": 2}, \"usage\": "
	     "[{\"slot_s\": [1, 2, 3]}]}",
	     "has 3 numbers: expected at most the model's depth of 2"},
	    {"{\"version\": 1, \"model\": {\"kind\": \"windows\"}, \"usage\": [{\"slot_s\": [1, "
	     "\"x\"]}]}",
	     "usage[0].slot_s is of type string"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ccr_ledger *l = (void *)&i;
		struct ccr_error e = {0};
		int rc = ccr_ledger_parse(bad[i][0], strlen(bad[i][0]), "usage.json", NOW, &hour,
					  &l, &e);
		cr_expect_eq(rc, CCR_EINVAL, "%s", bad[i][0]);
		cr_expect_null(l);
		cr_expect(strstr(e.text, bad[i][1]), "%s: \"%s\" has no \"%s\"", bad[i][0], e.text,
			  bad[i][1]);
		cr_expect_eq(ccr_ledger_parse(bad[i][0], strlen(bad[i][0]), "usage.json", NOW,
					      &hour, &l, NULL),
			     CCR_EINVAL);
	}
}

Test(ledger_json, names_too_long)
{
	char text[1000], name[CCR_USAGE_NAME_MAX + 2];
	struct ccr_ledger *l;
	struct ccr_error e = {0};

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text), USAGE("\"account\": \"%s\""), name);
	cr_assert_eq(ccr_ledger_parse(text, strlen(text), "usage.json", NOW, NULL, &l, &e),
		     CCR_EINVAL);
	cr_assert(strstr(e.text, "longer than 511 bytes"), "%s", e.text);
}

/* Each byte of a saved file changed or cut off: never another ledger, never a crash. */
Test(ledger_json, damage_is_seen)
{
	struct ccr_ledger *l = sample(&windows), *back;
	char *text = print(l);
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++) {
		char was = text[i];
		text[i] ^= 0x10;
		if (ccr_ledger_parse(text, len, "usage.json", NOW, NULL, &back, NULL) == CCR_OK) {
			/* White space after the sum's end, or a sum's letter that means the same.
			 */
			same(l, back);
			ccr_ledger_free(back);
			cr_assert_gt(i, len - 30);
		}
		text[i] = was;
		if (ccr_ledger_parse(text, i, "usage.json", NOW, NULL, &back, NULL) == CCR_OK) {
			same(l, back);
			ccr_ledger_free(back);
			cr_assert_geq(i, len - 1);
		}
	}
	free(text);
	ccr_ledger_free(l);
}

/* A disk that lost the end gives zeros. */
Test(ledger_json, zeros_at_the_end_are_damage)
{
	struct ccr_ledger *l = sample(&hour), *back;
	char *text = print(l);
	size_t len = strlen(text);

	memset(text + len - 20, 0, 20);
	cr_assert_eq(ccr_ledger_parse(text, len, "usage.json", NOW, NULL, &back, NULL), CCR_EINVAL);
	free(text);
	text = calloc(1, 5000);
	cr_assert_eq(ccr_ledger_parse(text, 5000, "usage.json", NOW, NULL, &back, NULL),
		     CCR_EINVAL);
	free(text);
	ccr_ledger_free(l);
}

Test(ledger_json, an_edited_file_without_its_check_is_taken)
{
	struct ccr_ledger *l = sample(&hour), *back;
	char *text = print(l), *at = strstr(text, "physics");
	struct ccr_error e = {0};

	at[0] = 'f';
	cr_assert_eq(ccr_ledger_parse(text, strlen(text), "usage.json", NOW, NULL, &back, &e),
		     CCR_EINVAL);
	cr_assert(strstr(e.text, "without taking the check member out"), "%s", e.text);
	at = strstr(text, ",\n  \"check\"");
	strcpy(at, "}");
	/* By hand, names are UTF-8. */
	*strchr(text, '\xe9') = 'e';
	back = parse(text, NULL);
	cr_assert_gt(ccr_ledger_by(back, CCR_BY_ACCOUNT, "fhysics", NULL).s[CCR_BILLED], 0.0);
	free(text);
	ccr_ledger_free(l);
	ccr_ledger_free(back);
}

/* The examples of ccr_usage.json(5): a file with its check, and a seed. */
Test(ledger_json, the_man_pages_examples)
{
	FILE *f = fopen(CCR_TESTS_DIR "/../../docs/man/ccr_usage.json.5", "r");
	char line[300], text[3000] = "";
	bool inside = false;
	int examples = 0;

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, ".Bd", 3)) {
			inside = true;
			text[0] = '\0';
		} else if (!strncmp(line, ".Ed", 3)) {
			struct ccr_ledger *l = parse(text, NULL);
			inside = false;
			cr_assert_gt(ccr_ledger_total(l).s[CCR_BILLED], 0.0);
			if (examples++) {
				char *again = print(l);
				cr_assert_str_eq(again, text, "written as the page shows it");
				free(again);
			} else {
				cr_assert_eq(ccr_ledger_percent(l, CCR_BY_ACCOUNT, "physics", NULL,
								CCR_BILLED),
					     5.0);
			}
			ccr_ledger_free(l);
		} else if (inside) {
			cr_assert_lt(strlen(text) + strlen(line), sizeof(text));
			strcat(text, line);
		}
	}
	fclose(f);
	cr_assert_eq(examples, 2);
}

Test(ledger_json, out_of_memory_is_said)
{
	struct ccr_ledger *l = sample(&hour), *back;
	char *text = print(l);
	unsigned long n;

	for (n = 1;; n++) {
		oom_fail_at(n);
		struct ccr_error e = {0};
		int rc = ccr_ledger_parse(text, strlen(text), "usage.json", NOW, NULL, &back, &e);
		if (!oom_end()) {
			cr_assert_eq(rc, CCR_OK);
			same(l, back);
			ccr_ledger_free(back);
			break;
		}
		cr_assert_eq(rc, CCR_ENOMEM, "%lu: %s", n, e.text);
		cr_assert_null(back);
	}
	cr_assert_gt(n, 20u);
	free(text);
	ccr_ledger_free(l);
}
