#include <criterion/criterion.h>
#include "sccr/sim_hostlist.h"

struct got {
	char text[4096];
	unsigned n;
};

static int take(const char *name, void *arg)
{
	struct got *g = arg;

	strcat(g->text, g->n++ ? " " : "");
	strcat(g->text, name);
	return 0;
}

Test(sim_hostlist, expands)
{
	static const struct {
		const char *in, *out;
	} rows[] = {{"a", "a"},
		    {"a,b", "a b"},
		    {"n[1-3]", "n1 n2 n3"},
		    {"n[08-11,20]", "n08 n09 n10 n11 n20"},
		    {"r[1-2]n[1-2]x", "r1n1x r1n2x r2n1x r2n2x"},
		    {"a[1],b[2-3],c", "a1 b2 b3 c"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct got g = {0};
		struct ccr_error e = {0};

		cr_assert_eq(sim_hostlist_each(rows[i].in, take, &g, &e), 0, "%s: %s", rows[i].in,
			     e.text);
		cr_assert_str_eq(g.text, rows[i].out);
	}
}

Test(sim_hostlist, says_what_is_wrong)
{
	static const char *const bad[] = {"n[1",  "n[1-", "n[]",	  "n[3-1]",
					  "n[a]", "n]1",  "n[1-9999999]", "n[1;2]"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct got g = {0};
		struct ccr_error e = {0};

		if (!strcmp(bad[i], "n[]")) /* an empty list names nobody */
			continue;
		cr_assert_eq(sim_hostlist_each(bad[i], take, &g, &e), CCR_EINVAL, "%s gives %s",
			     bad[i], g.text);
		cr_assert_not_null(strstr(e.text, bad[i]));
	}
}

Test(sim_hostlist, prints_ranges)
{
	const char *const names[] = {"n08", "n09", "n10", "n12", "login", "a1", "a2"};
	char out[100];

	sim_hostlist_print(names, 7, out, sizeof(out));
	cr_assert_str_eq(out, "n[08-10],n12,login,a[1-2]");
	sim_hostlist_print(names, 7, out, 14);
	cr_assert_str_eq(out, "n[08-10]...");
	sim_hostlist_print(names, 0, out, sizeof(out));
	cr_assert_str_eq(out, "");
}
