/* standing - see standing.h */
#define HASH_NONFATAL_OOM 1
#include "priority/standing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "core/shares.h"

/* An account of the tree and whose standing its jobs have. */
struct account {
	UT_hash_handle hh;
	struct account *parent; /* NULL below the root */
	struct ccr_standing *standing;
	struct ccr_standing own; /* used where it stands for itself */
	double share;		 /* of the whole cluster by sacctmgr's shares, 0 to 1 */
	bool as_parent;		 /* Fairshare=parent: it has no share of its own */
	double usage;		 /* percent, what is below included */
	char name[];
};

struct person {
	UT_hash_handle hh;
	struct ccr_owner owner;
	const struct account *as_parent; /* an association with Fairshare=parent */
	char name[];
};

struct ccr_standings {
	const struct ccr_config *config;
	bool from_assocs;
	struct account *accounts;
	struct person *persons;
	struct person *qos; /* their usage alone */
	size_t count;
	struct ccr_standing empty;
	struct ccr_standing group[]; /* by ccr_group.index */
};

static const struct ccr_standing nobody;
static const struct ccr_owner stranger;

/* Slurm's account names are not case sensitive; the tree has them in small letters. */
static struct account *find(const struct ccr_standings *s, const char *account)
{
	struct account *a = NULL;
	char low[256];
	size_t n = 0;

	while (n < sizeof(low) - 1 && account[n]) {
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

static struct person *find_person(struct person *head, const char *name)
{
	struct person *p = NULL;

	HASH_FIND(hh, head, name, strlen(name), p);
	return p;
}

static struct person *enter_person(struct person **head, const char *name)
{
	size_t n = strlen(name);
	struct person *p = find_person(*head, name);

	if (p)
		return p;
	p = calloc(1, sizeof(*p) + n + 1);
	if (!p)
		return NULL;
	memcpy(p->name, name, n);
	HASH_ADD_KEYPTR(hh, *head, p->name, n, p);
	if (!p->hh.tbl) {
		free(p);
		return NULL;
	}
	return p;
}

static void finish(struct ccr_standing *st, const struct ccr_target *target)
{
	if (target->kind != CCR_TARGET_NONE) {
		st->target = target->percent;
		st->delta = ccr_target_points(target->kind, target->percent, st->usage);
	}
}

/* --- Slurm's associations ----------------------------------------------------------------------
 */

/* 0 where the usage is the ledger's. */
static double percent_of_root(const struct ccr_standings *s, const slurmdb_assoc_rec_t *a)
{
	const slurmdb_assoc_rec_t *root = assoc_mgr_root_assoc;

	if (!s->from_assocs || !root || !root->usage || !a->usage)
		return 0;
	return ccr_percent((double)a->usage->usage_raw, (double)root->usage->usage_raw);
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

static bool add_user(struct ccr_standings *s, const slurmdb_assoc_rec_t *assoc,
		     const struct account *account, const struct ccr_group *group, double share)
{
	const struct ccr_group *g = ccr_groups_find_user(&s->config->groups, assoc->user);
	double used = percent_of_root(s, assoc);
	struct person *p = enter_person(&s->persons, assoc->user);

	if (!p)
		return false;
	if (g && g != group) /* else it is counted with its account */
		s->group[g->index].usage += used;
	p->owner.usage += used;
	p->owner.has_share = true;
	p->owner.share += share_of(assoc, share);
	if (assoc->shares_raw == SLURMDB_FS_USE_PARENT)
		p->as_parent = account;
	return true;
}

/*
 * Walks down the tree. `account` and `group` are what the ancestors gave. A group's usage is that
 * of the topmost of its accounts, as sshare shows them: what lies below is in there already.
 */
static bool walk(struct ccr_standings *s, const slurmdb_assoc_rec_t *assoc, struct account *account,
		 const struct ccr_group *group, double share, int depth)
{
	ccr_slurm_list_itr_t *it;
	slurmdb_assoc_rec_t *child;
	bool ok = true;

	if (!assoc->usage || !assoc->usage->children_list || depth > 256)
		return true;
	it = list_iterator_create(assoc->usage->children_list);
	while (ok && (child = list_next(it))) {
		const struct ccr_group *g;
		struct account *a;
		double below;

		if (child->user) {
			ok = add_user(s, child, account, group, share);
			continue;
		}
		a = enter(s, child->acct);
		ok = a != NULL;
		if (!ok)
			break;
		g = named(s, child->acct);
		if (!g)
			g = group;
		else if (g != group)
			s->group[g->index].usage += percent_of_root(s, child);
		a->parent = account;
		a->usage = percent_of_root(s, child);
		below = share_of(child, share);
		a->as_parent = child->shares_raw == SLURMDB_FS_USE_PARENT;
		a->share = a->as_parent ? 0 : below;
		if (g) {
			a->standing = &s->group[g->index];
		} else if (s->config->groups.fallback) {
			size_t i = s->config->groups.fallback->index;

			/* an account directly under one that is no group's is counted up there */
			if (assoc == assoc_mgr_root_assoc)
				s->group[i].usage += a->usage;
			a->standing = &s->group[i];
		} else if (a->as_parent && account) {
			a->standing = account->standing;
		} else {
			a->standing = &a->own;
		}
		ok = walk(s, child, a, g, below, depth + 1);
	}
	list_iterator_destroy(it);
	return ok;
}

static bool add_qos(struct ccr_standings *s)
{
	const slurmdb_assoc_rec_t *root = assoc_mgr_root_assoc;
	ccr_slurm_list_itr_t *it;
	slurmdb_qos_rec_t *qos;
	bool ok = true;

	if (!root || !root->usage || !assoc_mgr_qos_list)
		return true;
	it = list_iterator_create(assoc_mgr_qos_list);
	while (ok && (qos = list_next(it))) {
		struct person *q =
		    qos->name && qos->usage ? enter_person(&s->qos, qos->name) : NULL;

		ok = q || !qos->name || !qos->usage;
		if (q)
			q->owner.usage = ccr_percent((double)qos->usage->usage_raw,
						     (double)root->usage->usage_raw);
	}
	list_iterator_destroy(it);
	return ok;
}

/* Accounts that stand for themselves, and users' numbers, once all usage is known. */
static void finish_tree(struct ccr_standings *s)
{
	for (struct account *a = s->accounts; a; a = a->hh.next) {
		const struct ccr_target shares = {.kind = a->share > 0 ? CCR_TARGET_BOTH
								       : CCR_TARGET_NONE,
						  .percent = 100 * a->share};

		a->own.usage = a->usage;
		finish(&a->own, &shares);
	}
	for (struct person *p = s->persons; p; p = p->hh.next)
		p->owner.fs_usage = p->as_parent ? p->as_parent->usage : p->owner.usage;
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

static bool from_ledger(struct ccr_standings *s, const struct ccr_ledger *ledger)
{
	enum ccr_measure m = CCR_BILLED;
	double total = ccr_ledger_total(ledger).s[m];
	const struct ccr_ledger_entry *e = NULL;

	while ((e = ccr_ledger_next(ledger, e))) {
		struct ccr_usage_key key = ccr_ledger_entry_key(e);
		const struct ccr_standing *st = ccr_standings_find(s, key.user, key.account);
		double used = ccr_percent(ccr_ledger_entry_usage(ledger, e).s[m], total);
		struct person *p = enter_person(&s->persons, key.user);
		struct person *q = enter_person(&s->qos, key.qos);

		if (!p || !q)
			return false;
		p->owner.usage += used;
		q->owner.usage += used;
		if (st->group)
			s->group[st->group->index].usage += used;
		for (struct account *a = find(s, key.account); a; a = a->parent)
			a->usage += used;
	}
	return true;
}

/* --- all together ------------------------------------------------------------------------------
 */

/* Shares that the file gives its groups. */
static void share_out(struct ccr_standings *s)
{
	double sum = ccr_groups_shares(&s->config->groups);

	for (size_t i = 0; i < s->count && sum > 0; i++) {
		s->group[i].has_share = true;
		s->group[i].share = ccr_fraction(s->group[i].group->shares, sum);
	}
}

struct ccr_standings *ccr_standings_make(const struct ccr_config *config, bool from_assocs,
					 const struct ccr_ledger *ledger)
{
	size_t n = config->groups.count;
	struct ccr_standings *s = calloc(1, sizeof(*s) + n * sizeof(s->group[0]));
	bool ok = true;

	if (!s)
		return NULL;
	s->config = config;
	s->from_assocs = from_assocs;
	s->count = n;
	for (size_t i = 0; i < n; i++) {
		s->group[i].group = config->groups.list[i];
		s->group[i].financial = config->groups.list[i]->financial;
	}
	share_out(s);
	if (assoc_mgr_root_assoc)
		ok = walk(s, assoc_mgr_root_assoc, NULL, named(s, "root"), 1, 0);
	if (ok && from_assocs)
		ok = add_qos(s);
	else if (ok && ledger)
		ok = from_ledger(s, ledger);
	if (!ok) {
		ccr_standings_free(s);
		return NULL;
	}
	finish_tree(s);
	for (size_t i = 0; i < n; i++) {
		struct ccr_target t = target_of(s, s->group[i].group);

		finish(&s->group[i], &t);
	}
	return s;
}

void ccr_standings_free(struct ccr_standings *s)
{
	struct account *a, *next;
	struct person *p, *next_p;

	if (!s)
		return;
	HASH_ITER (hh, s->persons, p, next_p) {
		HASH_DEL(s->persons, p);
		free(p);
	}
	HASH_ITER (hh, s->qos, p, next_p) {
		HASH_DEL(s->qos, p);
		free(p);
	}
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

double ccr_standings_qos(const struct ccr_standings *s, const char *qos)
{
	const struct person *q = s && qos ? find_person(s->qos, qos) : NULL;

	return q ? q->owner.usage : 0;
}

const struct ccr_owner *ccr_standings_owner(const struct ccr_standings *s, const char *user)
{
	const struct person *p = s && user ? find_person(s->persons, user) : NULL;

	return p ? &p->owner : &stranger;
}

double ccr_standing_fairshare(const struct ccr_standing *standing, const struct ccr_owner *owner)
{
	if (standing->has_share)
		return ccr_pbs_fairshare_factor(standing->usage / 100, standing->share);
	if (owner->has_share)
		return ccr_pbs_fairshare_factor(owner->fs_usage / 100, owner->share);
	if (standing->target > 0)
		return ccr_pbs_fairshare_factor(standing->usage / 100, standing->target / 100);
	return 1;
}
