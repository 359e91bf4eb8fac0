/* groups - see groups.h */
#include "core/groups.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Account names beyond this are never found; Slurm's own are far shorter. */
#define NAME_MAX_BYTES 255

struct ccr__member {
	struct ccr_group *group;
	UT_hash_handle hh;
	char name[];
};

double ccr_target_points(enum ccr_target_kind kind, double target, double usage)
{
	double delta = target - usage;

	switch (kind) {
	case CCR_TARGET_BOTH:
		return delta;
	case CCR_TARGET_CEILING:
		return delta < 0 ? delta : 0;
	case CCR_TARGET_FLOOR:
		return delta > 0 ? delta : 0;
	case CCR_TARGET_NONE:
	case CCR_TARGET_CAP:
	case CCR_TARGET_CAP_ALL:
		break;
	}
	return 0;
}

double ccr_groups_shares(const struct ccr_groups *groups)
{
	double sum = 0;
	bool any = false;

	for (size_t i = 0; i < groups->count; i++) {
		any = any || groups->list[i]->has_shares;
		sum += groups->list[i]->shares;
	}
	return any ? sum : 0;
}

const char *ccr_target_suffix(enum ccr_target_kind kind)
{
	switch (kind) {
	case CCR_TARGET_CEILING:
		return "-";
	case CCR_TARGET_FLOOR:
		return "+";
	case CCR_TARGET_CAP:
		return "%";
	case CCR_TARGET_CAP_ALL:
		return "^";
	case CCR_TARGET_NONE:
	case CCR_TARGET_BOTH:
		break;
	}
	return "";
}

int ccr_target_parse(const char *text, struct ccr_target *target)
{
	static const enum ccr_target_kind kinds[] = {CCR_TARGET_CEILING, CCR_TARGET_FLOOR,
						     CCR_TARGET_CAP, CCR_TARGET_CAP_ALL};
	size_t whole = strspn(text, "0123456789"), len = whole;
	double scale = 1;

	if (!whole || whole > 9)
		return -1;
	target->percent = 0;
	for (size_t i = 0; i < whole; i++)
		target->percent = target->percent * 10 + (text[i] - '0');
	if (text[len] == '.') {
		size_t fraction = strspn(text + len + 1, "0123456789");

		if (!fraction || fraction > 9)
			return -1;
		/* By hand, since strtod() would follow the daemon's locale. */
		for (size_t i = 0; i < fraction; i++) {
			target->percent = target->percent * 10 + (text[len + 1 + i] - '0');
			scale *= 10;
		}
		target->percent /= scale;
		len += 1 + fraction;
	}
	target->kind = CCR_TARGET_BOTH;
	for (size_t i = 0; text[len] && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (text[len] == ccr_target_suffix(kinds[i])[0]) {
			target->kind = kinds[i];
			len++;
			break;
		}
	}
	return text[len] ? -1 : 0;
}

/* account in small letters, as slurmdbd keeps them; NULL if too long. */
static const char *fold(const char *account, char out[NAME_MAX_BYTES + 1])
{
	size_t n = 0;

	for (; account[n]; n++) {
		if (n == NAME_MAX_BYTES)
			return NULL;
		out[n] = account[n] >= 'A' && account[n] <= 'Z' ? (char)(account[n] - 'A' + 'a')
								: account[n];
	}
	out[n] = '\0';
	return out;
}

static const struct ccr__member *look_up(const struct ccr__member *hash, const char *name)
{
	const struct ccr__member *m = NULL;

	if (hash)
		HASH_FIND_STR(hash, name, m);
	return m;
}

const struct ccr_group *ccr_groups_find(const struct ccr_groups *groups, const char *account)
{
	char folded[NAME_MAX_BYTES + 1];
	const struct ccr__member *m;

	if (!account || !fold(account, folded))
		return NULL;
	m = look_up(groups->accounts, folded);
	return m ? m->group : NULL;
}

const struct ccr_group *ccr_groups_find_user(const struct ccr_groups *groups, const char *user)
{
	const struct ccr__member *m = user ? look_up(groups->users, user) : NULL;

	return m ? m->group : NULL;
}

const struct ccr_group *ccr_groups_climb(const struct ccr_groups *groups, const char *user,
					 const char *const *accounts, size_t count,
					 enum ccr_group_by *by, size_t *which)
{
	const struct ccr_group *group = ccr_groups_find_user(groups, user);
	enum ccr_group_by how = group ? CCR_GROUP_BY_USER : CCR_GROUP_BY_NONE;
	size_t i = 0;

	for (; !group && i < count; i++) {
		group = ccr_groups_find(groups, accounts[i]);
		if (group) {
			how = CCR_GROUP_BY_ACCOUNT;
			break;
		}
	}
	if (!group && groups->fallback) {
		group = groups->fallback;
		how = CCR_GROUP_BY_DEFAULT;
	}
	if (by)
		*by = how;
	if (which)
		*which = how == CCR_GROUP_BY_ACCOUNT ? i : 0;
	return group;
}

static int enter(struct ccr__member **hash, const char *name, struct ccr_group *group,
		 struct ccr_group **other, struct ccr_error *err)
{
	const struct ccr__member *there = look_up(*hash, name);
	size_t len = strlen(name);
	struct ccr__member *m;

	if (there) {
		*other = there->group;
		return CCR_EINVAL;
	}
	m = calloc(1, sizeof(*m) + len + 1);
	if (!m)
		return ccr_error_nomem(err);
	memcpy(m->name, name, len + 1);
	m->group = group;
	HASH_ADD_KEYPTR(hh, *hash, m->name, len, m);
	if (!m->hh.tbl) {
		free(m);
		return ccr_error_nomem(err);
	}
	return 0;
}

int ccr__groups_enter_account(struct ccr_groups *groups, const char *account,
			      struct ccr_group *group, struct ccr_group **other,
			      struct ccr_error *err)
{
	char folded[NAME_MAX_BYTES + 1];

	if (!fold(account, folded))
		return ccr_error_set(err, CCR_EINVAL, group->line, "an account name is too long");
	return enter(&groups->accounts, folded, group, other, err);
}

int ccr__groups_enter_user(struct ccr_groups *groups, const char *user, struct ccr_group *group,
			   struct ccr_group **other, struct ccr_error *err)
{
	return enter(&groups->users, user, group, other, err);
}

static void clear_hash(struct ccr__member **hash)
{
	struct ccr__member *m = *hash, *next;

	HASH_CLEAR(hh, *hash); /* the table; the members are still in their list */
	for (; m; m = next) {
		next = m->hh.next;
		free(m);
	}
}

static void free_names(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

void ccr__group_free(struct ccr_group *group)
{
	if (!group)
		return;
	free(group->name);
	free(group->tier);
	free(group->financial_words);
	free_names(group->accounts, group->n_accounts);
	free_names(group->users, group->n_users);
	ccr_contributions_free(group->contributions);
	free(group);
}

void ccr__groups_clear(struct ccr_groups *groups)
{
	clear_hash(&groups->accounts);
	clear_hash(&groups->users);
	for (size_t i = 0; i < groups->count; i++)
		ccr__group_free(groups->list[i]);
	free(groups->list);
	groups->list = NULL;
	groups->count = 0;
	groups->fallback = NULL;
}

void ccr__tiers_clear(struct ccr_groups *groups)
{
	for (size_t i = 0; i < groups->n_tiers; i++)
		free(groups->tiers[i].name);
	free(groups->tiers);
	groups->tiers = NULL;
	groups->n_tiers = 0;
}
