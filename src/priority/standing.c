/* standing - see standing.h */
#define HASH_NONFATAL_OOM 1
#include "priority/standing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "core/fairshare.h"

/* An account of the tree and whose standing its jobs have. */
struct account {
	UT_hash_handle hh;
	struct ccr_standing *standing;
	struct ccr_standing own; /* used where it stands for itself */
	double share;		 /* of the whole cluster by sacctmgr's shares, 0 to 1 */
	char name[];
};

struct ccr_standings {
	const struct ccr_config *config;
	struct account *accounts;
	size_t count;
	struct ccr_standing empty;
	struct ccr_standing group[]; /* by ccr_group.index */
};

static const struct ccr_standing nobody = {.fairshare_factor = 1};

/* Slurm's account names are not case sensitive; the tree has them in small letters. */
static struct account *find(const struct ccr_standings *s, const char *account)
{
	struct account *a = NULL;
	char low[256];
	size_t n = 0;

	while (account[n] && n < sizeof(low) - 1) {
		low[n] = (char)tolower((unsigned char)account[n]);
		n++;
	}
	HASH_FIND(hh, s->accounts, low, n, a);
	return a;
}

static struct account *enter(struct ccr_standings *s, const char *account)
{
	size_t n = strlen(account);
	struct account *a = find(s, account);

	if (a || n > 254)
		return a;
	a = calloc(1, sizeof(*a) + n + 1);
	if (!a)
		return NULL;
	for (size_t i = 0; i < n; i++)
		a->name[i] = (char)tolower((unsigned char)account[i]);
	HASH_ADD_KEYPTR(hh, s->accounts, a->name, n, a);
	if (!a->hh.tbl) { /* uthash had no memory for its table */
		free(a);
		return NULL;
	}
	return a;
}

static void finish(struct ccr_standing *st, const struct ccr_target *target)
{
	if (target->kind != CCR_TARGET_NONE) {
		st->target = target->percent;
		st->delta = ccr_target_points(target->kind, target->percent, st->usage);
	}
	st->fairshare_factor =
	    st->target > 0 ? ccr_fs_factor(st->usage / 100, st->target / 100, 1) : 1;
}

/* --- usage from Slurm's associations -----------------------------------------------------------
 */

static double percent_of_root(const slurmdb_assoc_rec_t *a)
{
	long double root = assoc_mgr_root_assoc && assoc_mgr_root_assoc->usage
			       ? assoc_mgr_root_assoc->usage->usage_raw
			       : 0;

	if (!(root > 0) || !a->usage)
		return 0;
	double p = (double)(100 * a->usage->usage_raw / root);
	return p < 0 ? 0 : p > 100 ? 100 : p;
}

static const struct ccr_group *named(const struct ccr_standings *s, const char *account)
{
	return account ? ccr_groups_find(&s->config->groups, account) : NULL;
}

/*
 * The association's part of its parent's share. Not usage->shares_norm: under Fair Tree that is the
 * part within the level, else of the whole.
 */
static double share_of(const slurmdb_assoc_rec_t *a, double parent_share)
{
	if (a->shares_raw == SLURMDB_FS_USE_PARENT)
		return parent_share;
	if (!a->usage || !a->usage->level_shares)
		return 0;
	return parent_share * a->shares_raw / a->usage->level_shares;
}

/*
 * Walks down the tree. `group` is what the ancestors gave. A group's usage is that of the topmost
 * of its accounts, as sshare shows them: what lies below is in there already.
 */
static bool walk(struct ccr_standings *s, const slurmdb_assoc_rec_t *assoc,
		 const struct ccr_group *group, double share, int depth)
{
	ccr_slurm_list_itr_t *it;
	slurmdb_assoc_rec_t *child;
	bool ok = true;

	if (!assoc->usage || !assoc->usage->children_list || depth > 256)
		return true;
	it = list_iterator_create(assoc->usage->children_list);
	while (ok && (child = list_next(it))) {
		const struct ccr_group *g = child->user ? NULL : named(s, child->acct);
		struct account *a;

		if (child->user) { /* counted unless its account is the group's already */
			g = ccr_groups_find_user(&s->config->groups, child->user);
			if (g && g != group)
				s->group[g->index].usage += percent_of_root(child);
			continue;
		}
		a = enter(s, child->acct);
		ok = a != NULL;
		if (!ok)
			break;
		if (!g)
			g = group;
		else if (g != group)
			s->group[g->index].usage += percent_of_root(child);
		a->own.usage = percent_of_root(child);
		a->share = share_of(child, share);
		if (g) {
			a->standing = &s->group[g->index];
		} else if (s->config->groups.fallback) {
			size_t i = s->config->groups.fallback->index;

			/* an account directly under one that is no group's is counted up there */
			if (assoc == assoc_mgr_root_assoc)
				s->group[i].usage += a->own.usage;
			a->standing = &s->group[i];
		} else {
			const struct ccr_target shares = {.kind = CCR_TARGET_BOTH,
							  .percent = 100 * a->share};

			finish(&a->own, &shares);
			a->standing = &a->own;
		}
		ok = walk(s, child, g, a->share, depth + 1);
	}
	list_iterator_destroy(it);
	return ok;
}

/* A group that the file gives no target gets its account's shares as one. */
static struct ccr_target target_of(const struct ccr_standings *s, const struct ccr_group *g)
{
	struct ccr_target t = g->target;
	const struct account *a = find(s, g->name);

	if (t.kind == CCR_TARGET_NONE && a && a->share > 0) {
		t.kind = CCR_TARGET_BOTH;
		t.percent = 100 * a->share;
	}
	return t;
}

/* --- usage from the ledger ---------------------------------------------------------------------
 */

static void from_ledger(struct ccr_standings *s, const struct ccr_ledger *ledger)
{
	enum ccr_measure m = CCR_BILLED;
	double total = ccr_ledger_total(ledger).s[m];
	const struct ccr_ledger_entry *e = NULL;

	if (!(total > 0))
		return;
	while ((e = ccr_ledger_next(ledger, e))) {
		struct ccr_usage_key key = ccr_ledger_entry_key(e);
		const struct ccr_standing *st = ccr_standings_find(s, key.user, key.account);

		if (st->group)
			s->group[st->group->index].usage +=
			    100 * ccr_ledger_entry_usage(ledger, e).s[m] / total;
	}
}

struct ccr_standings *ccr_standings_make(const struct ccr_config *config, bool with_assocs,
					 const struct ccr_ledger *ledger)
{
	size_t n = config->groups.count;
	struct ccr_standings *s = calloc(1, sizeof(*s) + n * sizeof(s->group[0]));

	if (!s)
		return NULL;
	s->config = config;
	s->count = n;
	s->empty = nobody;
	for (size_t i = 0; i < n; i++) {
		s->group[i].group = config->groups.list[i];
		s->group[i].financial = config->groups.list[i]->financial;
	}
	if (with_assocs && assoc_mgr_root_assoc &&
	    !walk(s, assoc_mgr_root_assoc, named(s, "root"), 1, 0)) {
		ccr_standings_free(s);
		return NULL;
	}
	if (!with_assocs && ledger)
		from_ledger(s, ledger);
	for (size_t i = 0; i < n; i++) {
		struct ccr_target t = target_of(s, s->group[i].group);

		finish(&s->group[i], &t);
	}
	return s;
}

void ccr_standings_free(struct ccr_standings *s)
{
	struct account *a, *next;

	if (!s)
		return;
	HASH_ITER (hh, s->accounts, a, next) {
		HASH_DEL(s->accounts, a);
		free(a);
	}
	free(s);
}

const struct ccr_standing *ccr_standings_find(const struct ccr_standings *s, const char *user,
					      const char *account)
{
	const struct ccr_group *g;
	struct account *a;

	if (!s)
		return &nobody;
	g = user ? ccr_groups_find_user(&s->config->groups, user) : NULL;
	if (g)
		return &s->group[g->index];
	a = account ? find(s, account) : NULL;
	if (a)
		return a->standing;
	g = ccr_groups_climb(&s->config->groups, NULL, &account, account ? 1 : 0, NULL, NULL);
	return g ? &s->group[g->index] : &s->empty;
}
