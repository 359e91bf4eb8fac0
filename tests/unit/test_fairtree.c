#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/fairtree.h"

enum { ROOT = -1 };

/* A tree in rows: parent's row, user or account, shares of the level, usage. */
struct row {
	int parent;
	char kind; /* 'a'ccount, 'u'ser, 'A'/'U' with Fairshare=parent */
	double shares, usage;
};

static void build(struct ccr_ft_assoc *to, const struct row *row, size_t n, double root)
{
	memset(to, 0, n * sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		int p = row[i].parent;

		while (p != ROOT && row[p].kind == 'A')
			p = row[p].parent;
		to[i].parent = row[i].parent == ROOT ? CCR_FT_ROOT : (uint32_t)row[i].parent;
		to[i].user = row[i].kind == 'u' || row[i].kind == 'U';
		to[i].use_parent = row[i].kind == 'A' || row[i].kind == 'U';
		to[i].shares_norm = row[i].shares;
		to[i].usage_raw = row[i].usage;
		to[i].fs_parent_usage = p == ROOT ? root : row[p].usage;
	}
}

static void rank(struct ccr_ft_assoc *a, const struct row *row, size_t n, double root,
		 uint32_t users)
{
	struct ccr_fairtree ft = {0};

	build(a, row, n, root);
	cr_assert_eq(ccr_fairtree_rank(&ft, a, n, root, users), CCR_OK);
	ccr_fairtree_free(&ft);
}

/* Account p used less than its share: both its users come before those of q. */
Test(fairtree, accounts_before_users)
{
	const struct row row[] = {
	    {ROOT, 'a', 0.5, 80}, {0, 'u', 0.5, 10}, {0, 'u', 0.5, 70},
	    {ROOT, 'a', 0.5, 20}, {3, 'u', 0.1, 20}, {3, 'u', 0.9, 0},
	};
	struct ccr_ft_assoc a[6];

	rank(a, row, 6, 100, 4);
	cr_expect_float_eq(a[5].fs_factor, 1.0, 1e-12); /* no usage: first */
	cr_expect_float_eq(a[4].fs_factor, 0.75, 1e-12);
	cr_expect_float_eq(a[1].fs_factor, 0.5, 1e-12);
	cr_expect_float_eq(a[2].fs_factor, 0.25, 1e-12);
	cr_expect_float_eq((double)a[0].level_fs, 0.5 / 0.8, 1e-12);
	cr_expect_float_eq((double)a[0].usage_norm, 0.8, 1e-12);
	cr_expect_float_eq((double)a[1].usage_efctv, 10.0 / 80, 1e-12);
	cr_expect_float_eq((double)a[1].usage_norm, 0.1, 1e-12);
	cr_expect(isinf((double)a[5].level_fs));
}

Test(fairtree, tied_users_share_a_rank_and_the_next_skips)
{
	const struct row row[] = {
	    {ROOT, 'a', 1, 30},
	    {0, 'u', 0.25, 10},
	    {0, 'u', 0.25, 10},
	    {0, 'u', 0.5, 10},
	};
	struct ccr_ft_assoc a[4];

	rank(a, row, 4, 30, 3);
	cr_expect_float_eq(a[3].fs_factor, 1.0, 1e-12);
	cr_expect_float_eq(a[1].fs_factor, 2.0 / 3, 1e-12);
	cr_expect_float_eq(a[2].fs_factor, 2.0 / 3, 1e-12);
}

/* A user and an account at the same level_fs: the account's best user gets the user's rank. */
Test(fairtree, an_account_tied_with_a_user)
{
	const struct row row[] = {
	    {ROOT, 'a', 0.5, 50},
	    {0, 'u', 0.9, 10},
	    {0, 'u', 0.1, 40},
	    {ROOT, 'u', 0.5, 50},
	};
	struct ccr_ft_assoc a[4];

	rank(a, row, 4, 100, 3);
	cr_expect_float_eq(a[3].fs_factor, 1.0, 1e-12);
	cr_expect_float_eq(a[1].fs_factor, 1.0, 1e-12);
	cr_expect_float_eq(a[2].fs_factor, 1.0 / 3, 1e-12);
}

/* The users of the second of two tied accounts go on from the last rank of the first. */
Test(fairtree, tied_accounts_are_not_merged)
{
	const struct row row[] = {
	    {ROOT, 'a', 0.5, 50}, {0, 'u', 0.9, 10}, {0, 'u', 0.1, 40},
	    {ROOT, 'a', 0.5, 50}, {3, 'u', 0.9, 10}, {3, 'u', 0.1, 40},
	};
	struct ccr_ft_assoc a[6];

	rank(a, row, 6, 100, 4);
	cr_expect_float_eq(a[1].fs_factor, 1.0, 1e-12);
	cr_expect_float_eq(a[2].fs_factor, 0.75, 1e-12);
	cr_expect_float_eq(a[4].fs_factor, 0.75, 1e-12);
	cr_expect_float_eq(a[5].fs_factor, 0.25, 1e-12);
}

Test(fairtree, fairshare_parent)
{
	const struct row row[] = {
	    {ROOT, 'a', 1, 100},
	    {0, 'A', 0, 60},
	    {1, 'u', 0.5, 60},
	    {0, 'U', 0, 40},
	};
	struct ccr_ft_assoc a[4];

	rank(a, row, 4, 100, 2);
	cr_expect(isinf((double)a[3].level_fs));
	cr_expect_float_eq((double)a[1].level_fs, (double)CCR_FT_NO_LEVEL, 0.5);
	/* usage of the nearest ancestor with own shares */
	cr_expect_float_eq((double)a[2].usage_efctv, 0.6, 1e-12);
	cr_expect_float_eq(a[3].fs_factor, 1.0, 1e-12);
}

Test(fairtree, no_usage_and_no_shares)
{
	const struct row row[] = {
	    {ROOT, 'a', 0, 0}, {0, 'u', 0, 0}, {ROOT, 'a', 1, 0}, {2, 'u', 1, 0}};
	struct ccr_ft_assoc a[4];

	rank(a, row, 4, 0, 2);
	cr_expect_float_eq(a[3].fs_factor, 1.0, 1e-12);
	cr_expect_float_eq((double)a[1].level_fs, 0, 1e-12);
	cr_expect_float_eq((double)a[1].usage_norm, 0, 1e-12);
}

Test(fairtree, refuses_children_before_parents_and_grows)
{
	struct ccr_fairtree ft = {0};
	struct ccr_ft_assoc bad[2] = {{.parent = 1}, {.parent = CCR_FT_ROOT}};
	size_t n = 20000;
	struct ccr_ft_assoc *a = calloc(n, sizeof(*a));

	cr_assert_eq(ccr_fairtree_rank(&ft, bad, 2, 1, 1), CCR_EINVAL);
	cr_assert_eq(ccr_fairtree_rank(&ft, NULL, 0, 1, 1), CCR_OK);
	/* n/2 accounts of one user each, each with another usage: ranks are all different */
	for (size_t i = 0; i < n; i += 2) {
		a[i].parent = CCR_FT_ROOT;
		a[i].shares_norm = 2.0 / n;
		a[i].usage_raw = i + 1;
		a[i].fs_parent_usage = 1e8;
		a[i + 1] = (struct ccr_ft_assoc){.parent = (uint32_t)i,
						 .user = true,
						 .shares_norm = 1,
						 .usage_raw = i + 1,
						 .fs_parent_usage = i + 1};
	}
	cr_assert_eq(ccr_fairtree_rank(&ft, a, n, 1e8, (uint32_t)n / 2), CCR_OK);
	for (size_t i = 0; i < n; i += 2)
		cr_assert_float_eq(a[i + 1].fs_factor, 1.0 - (double)i / n, 1e-9);
	cr_assert_eq(ccr_fairtree_rank(&ft, a, 4, 1e8, 2), CCR_OK);
	ccr_fairtree_free(&ft);
	free(a);
}
