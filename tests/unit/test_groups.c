#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/config.h"
#include "core/groups.h"

static struct ccr_config *load(const char *text)
{
	struct ccr_config *c = NULL;
	struct ccr_error err = {0};

	cr_assert_eq(ccr_config_parse(text, strlen(text), "ccr.json", NULL, &c, &err), 0, "%s",
		     err.text);
	return c;
}

Test(groups, target_points_have_the_sign_of_the_page_and_mauis_suffixes)
{
	/* R42: below the target raises; the CCR page's 25 - 5 */
	cr_expect_eq(ccr_target_points(CCR_TARGET_BOTH, 25, 5), 20);
	cr_expect_eq(ccr_target_points(CCR_TARGET_BOTH, 10, 90), -80);
	cr_expect_eq(ccr_target_points(CCR_TARGET_CEILING, 25, 5), 0);
	cr_expect_eq(ccr_target_points(CCR_TARGET_CEILING, 25, 30), -5);
	cr_expect_eq(ccr_target_points(CCR_TARGET_FLOOR, 25, 5), 20);
	cr_expect_eq(ccr_target_points(CCR_TARGET_FLOOR, 25, 30), 0);
	cr_expect_eq(ccr_target_points(CCR_TARGET_CAP, 25, 5), 0);
	cr_expect_eq(ccr_target_points(CCR_TARGET_CAP_ALL, 25, 99), 0);
	cr_expect_eq(ccr_target_points(CCR_TARGET_NONE, 0, 99), 0);
}

Test(groups, targets_are_read_with_their_suffix_and_written_back)
{
	static const struct {
		const char *text;
		enum ccr_target_kind kind;
		double percent;
	} good[] = {
	    {"25", CCR_TARGET_BOTH, 25},
	    {"25.5-", CCR_TARGET_CEILING, 25.5},
	    {"0+", CCR_TARGET_FLOOR, 0},
	    {"100%", CCR_TARGET_CAP, 100},
	    {"33.333^", CCR_TARGET_CAP_ALL, 33.333},
	    {"007", CCR_TARGET_BOTH, 7},
	};
	static const char *const bad[] = {
	    "",	   "-",	 "-5",	"+5",	"25*",	"25 ", " 25",	     "25%%",
	    "25.", ".5", "1e1", "25+-", "0x10", "nan", "9999999999", "1.0000000000"};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct ccr_target t;
		size_t len = strlen(good[i].text);
		const char *suffix;

		cr_assert_eq(ccr_target_parse(good[i].text, &t), 0, "%s", good[i].text);
		cr_expect_eq(t.kind, good[i].kind);
		cr_expect_float_eq(t.percent, good[i].percent, 1e-12);
		suffix = ccr_target_suffix(t.kind);
		cr_expect_str_eq(good[i].text + len - strlen(suffix), suffix);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ccr_target t;

		cr_expect_eq(ccr_target_parse(bad[i], &t), -1, "%s", bad[i]);
	}
}

static const char family[] =
    "{\"version\": 1, \"preset\": \"ccr\", \"default_group\": \"other\","
    "\"groups\": {\"physics\": {\"target\": 40, \"accounts\": [\"Optics\"],"
    "\"users\": [\"ada\"]}, \"biology\": {\"target\": 50},"
    "\"other\": {\"target\": 10}}}";

Test(groups, a_job_belongs_to_its_user_its_nearest_account_or_the_default)
{
	struct ccr_config *c = load(family);
	const char *deep[] = {"lasers", "OPTICS", "biology", "root"};
	const char *none[] = {"history", "root"};
	enum ccr_group_by by;
	size_t which = 99;

	cr_expect_str_eq(ccr_groups_climb(&c->groups, "bob", deep, 4, &by, &which)->name,
			 "physics");
	cr_expect_eq(by, CCR_GROUP_BY_ACCOUNT);
	cr_expect_eq(which, 1);
	cr_expect_str_eq(ccr_groups_climb(&c->groups, "bob", deep + 2, 2, &by, &which)->name,
			 "biology");
	cr_expect_eq(which, 0);
	/* the user's group goes before the account's */
	cr_expect_str_eq(ccr_groups_climb(&c->groups, "ada", deep + 2, 2, &by, NULL)->name,
			 "physics");
	cr_expect_eq(by, CCR_GROUP_BY_USER);
	/* user names know upper and lower case */
	cr_expect_str_eq(ccr_groups_climb(&c->groups, "Ada", deep + 2, 2, NULL, NULL)->name,
			 "biology");
	cr_expect_str_eq(ccr_groups_climb(&c->groups, "bob", none, 2, &by, &which)->name, "other");
	cr_expect_eq(by, CCR_GROUP_BY_DEFAULT);
	cr_expect_str_eq(ccr_groups_climb(&c->groups, NULL, NULL, 0, &by, NULL)->name, "other");
	ccr_config_free(c);
}

Test(groups, without_a_default_there_is_none)
{
	struct ccr_config *c = load(
	    "{\"version\": 1, \"preset\": \"ccr\", \"groups\": {\"physics\": {\"target\": 100}}}");
	const char *none[] = {"history", NULL, ""};
	char longest[400];
	enum ccr_group_by by = CCR_GROUP_BY_USER;

	memset(longest, 'p', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	cr_expect_null(ccr_groups_climb(&c->groups, "ada", none, 3, &by, NULL));
	cr_expect_eq(by, CCR_GROUP_BY_NONE);
	cr_expect_null(ccr_groups_find(&c->groups, longest));
	cr_expect_null(ccr_groups_find(&c->groups, NULL));
	cr_expect_not_null(ccr_groups_find(&c->groups, "PHYSICS"));
	ccr_config_free(c);
}

Test(groups, a_missing_target_is_the_default_groups)
{
	struct ccr_config *c =
	    load("{\"version\": 1, \"preset\": \"ccr\", \"tiers\": {\"gold\": 4, \"none\": 0},"
		 "\"default_group\": \"DEFAULT\", \"groups\": {\"a\": {}, \"b\": {\"target\": 90,"
		 "\"tier\": \"none\"}, \"DEFAULT\": {\"target\": \"10+\", \"tier\": \"gold\"}}}");
	const struct ccr_group *a = ccr_groups_find(&c->groups, "a");
	const struct ccr_group *b = ccr_groups_find(&c->groups, "b");

	cr_expect_eq(a->target.kind, CCR_TARGET_FLOOR);
	cr_expect_eq(a->target.percent, 10);
	cr_expect(a->target_inherited);
	cr_expect_eq(a->financial, 4);
	cr_expect_not(b->target_inherited);
	cr_expect_eq(b->financial, 0); /* its own factor of 0 is a factor, not a missing one */
	ccr_config_free(c);
}

Test(groups, thousands_of_groups_are_found)
{
	static char text[200000];
	struct ccr_config *c;
	size_t n = (size_t)sprintf(text, "{\"version\": 1, \"preset\": \"ccr\", \"groups\": {");

	for (int i = 0; i < 2000; i++)
		n += (size_t)sprintf(text + n, "%s\"g%d\": {\"target\": 0.05}", i ? "," : "", i);
	strcpy(text + n, "}}");
	c = load(text);
	for (int i = 0; i < 2000; i++) {
		char name[16];

		sprintf(name, "G%d", i);
		cr_assert_eq(ccr_groups_find(&c->groups, name)->index, (size_t)i);
	}
	cr_expect_null(ccr_groups_find(&c->groups, "g2000"));
	/* 2000 x 0.05 is 100 but for rounding: neither refused nor warned of */
	for (size_t i = 0; i < c->n_warnings; i++)
		cr_expect_null(strstr(c->warnings[i].text, "sum up"), "%s", c->warnings[i].text);
	ccr_config_free(c);
}
