#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/usage_totals.h"
#include "oom.h"

Test(usage_totals, one_total_a_name)
{
	struct ccr_totals t = {0};
	struct ccr_total *a = ccr__totals_hold(&t, "physics", ""),
			 *b = ccr__totals_hold(&t, "physics", "");

	cr_assert_not_null(a);
	cr_assert_eq(a, b);
	cr_assert_eq(a->refs, 2u);
	cr_assert_str_eq(a->name, "physics");
	cr_assert_str_eq(a->name2, "");
	cr_assert_eq(ccr__totals_find(&t, "physics", ""), a);
	cr_assert_null(ccr__totals_find(&t, "physic", ""));
	ccr__totals_release(&t, a);
	cr_assert_eq(ccr__totals_find(&t, "physics", ""), a);
	ccr__totals_release(&t, a);
	cr_assert_null(ccr__totals_find(&t, "physics", ""));
	ccr__totals_release(&t, NULL);
	cr_assert_null(t.head);
}

Test(usage_totals, pairs_do_not_run_into_each_other)
{
	struct ccr_totals t = {0};
	struct ccr_total *a = ccr__totals_hold(&t, "ab", "c"), *b = ccr__totals_hold(&t, "a", "bc");

	cr_assert_neq(a, b);
	cr_assert_eq(ccr__totals_find(&t, "ab", "c"), a);
	cr_assert_eq(ccr__totals_find(&t, "a", "bc"), b);
	cr_assert_null(ccr__totals_find(&t, "abc", ""));
	ccr__totals_clear(&t);
	cr_assert_null(t.head);
}

Test(usage_totals, longest_names_and_one_byte_more)
{
	struct ccr_totals t = {0};
	char name[CCR_USAGE_NAME_MAX + 2];

	memset(name, 'x', sizeof(name));
	name[CCR_USAGE_NAME_MAX + 1] = '\0';
	cr_assert_null(ccr__totals_find(&t, name, name));
	cr_assert_null(ccr__totals_hold(&t, name, ""));
	name[CCR_USAGE_NAME_MAX] = '\0';
	cr_assert_not_null(ccr__totals_hold(&t, name, name));
	cr_assert_str_eq(ccr__totals_find(&t, name, name)->name2, name);
	ccr__totals_clear(&t);
}

Test(usage_totals, zero)
{
	struct ccr_totals t = {0};

	ccr__totals_hold(&t, "a", "")->usage.s[CCR_SLOT] = 3;
	ccr__totals_hold(&t, "b", "")->usage.s[CCR_BILLED] = 4;
	ccr__totals_zero(&t);
	cr_assert_eq(ccr__totals_find(&t, "a", "")->usage.s[CCR_SLOT], 0.0);
	cr_assert_eq(ccr__totals_find(&t, "b", "")->usage.s[CCR_BILLED], 0.0);
	ccr__totals_clear(&t);
}

/* Also through the growth of the hash table at 11 names and more in one bucket. */
Test(usage_totals, out_of_memory_changes_nothing)
{
	struct ccr_totals t = {0};
	char name[30];
	unsigned failures = 0;

	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "account%d", i);
		for (unsigned long n = 1;; n++) {
			oom_fail_at(n);
			struct ccr_total *total = ccr__totals_hold(&t, name, "");
			if (!oom_end()) {
				cr_assert_not_null(total);
				break;
			}
			failures++;
			cr_assert_null(total);
			cr_assert_null(ccr__totals_find(&t, name, ""));
		}
	}
	cr_assert_gt(failures, 2000u, "the growth of the table was among them");
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "account%d", i);
		cr_assert_not_null(ccr__totals_find(&t, name, ""));
	}
	ccr__totals_clear(&t);
}
