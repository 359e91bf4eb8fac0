/*
 * groups - who shares a target: groups of accounts and users, their targets and financial factors
 *
 * Filled by the policy file's loader (config_groups.c) and constant from then on.
 */
#ifndef CCR_CORE_GROUPS_H
#define CCR_CORE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/contributions.h"
#include "core/error.h"

/* The kinds of fairshare target, with the suffixes that Maui's FSTARGET has for them. */
enum ccr_target_kind {
	CCR_TARGET_NONE,    /* no target: no points */
	CCR_TARGET_BOTH,    /* 25    points for use below the target, and off for use above it */
	CCR_TARGET_CEILING, /* 25-   only off: above the target */
	CCR_TARGET_FLOOR,   /* 25+   only for: below the target */
	CCR_TARGET_CAP,	    /* 25%   a cap, which carries no points */
	CCR_TARGET_CAP_ALL, /* 25^   a cap of everything that was there, which carries no points */
};

struct ccr_target {
	enum ccr_target_kind kind;
	double percent; /* of all delivered, 0 to 100 */
};

struct ccr_group {
	char *name;    /* as in the file; also the account of that name */
	unsigned line; /* in the file */
	size_t index;  /* place in ccr_groups.list */
	struct ccr_target target;
	bool target_inherited; /* from the default group */
	char *tier;	       /* the tier's name, or NULL */
	double financial;      /* the factor, however it came about; 0 without any */
	char *financial_words; /* how it came about, for people; never NULL after loading */
	bool has_shares;
	double shares;	 /* for policies that know shares; 1 unless given */
	char **accounts; /* further accounts of the group */
	size_t n_accounts;
	char **users; /* users who belong to the group whatever their account */
	size_t n_users;
	struct ccr_contributions *contributions; /* NULL unless given */

	/* For the loader: what the file said, before defaults. */
	bool has_financial;
	unsigned tier_line, target_line;
};

struct ccr_tier {
	char *name;
	double factor;
	unsigned line;
	bool used;
};

struct ccr__member;

struct ccr_groups {
	struct ccr_group **list; /* in the order of the file */
	size_t count;
	struct ccr_group *fallback; /* the default group, one of list, or NULL */
	struct ccr_tier *tiers;
	size_t n_tiers;
	struct ccr__member *accounts; /* hash: account, in small letters -> group */
	struct ccr__member *users;    /* hash: user -> group */
};

enum ccr_group_by {
	CCR_GROUP_BY_NONE,    /* no group at all */
	CCR_GROUP_BY_USER,    /* the group lists the user */
	CCR_GROUP_BY_ACCOUNT, /* the job's account or an ancestor */
	CCR_GROUP_BY_DEFAULT, /* the default group */
};

/*
 * Fairshare points of a target, in percent of everything delivered (the CCR page's Target - Usage,
 * 25 - 5 = 20): positive raises a job. target and usage in percent.
 */
double ccr_target_points(enum ccr_target_kind kind, double target, double usage);

/*
 * All shares that the file gives its groups, one that has none counting 1; 0 where no group has
 * any.
 */
double ccr_groups_shares(const struct ccr_groups *groups);

/* The suffix of a kind as the file has it, "" for CCR_TARGET_BOTH and _NONE. Static. */
const char *ccr_target_suffix(enum ccr_target_kind kind);

/*
 * Reads `25`, `25.5-`, `25+`, `25%` or `25^`. 0, or -1 if text is none of these. The range is not
 * checked.
 */
int ccr_target_parse(const char *text, struct ccr_target *target);

/* The group of exactly this account (case does not matter, as in Slurm), or NULL. */
const struct ccr_group *ccr_groups_find(const struct ccr_groups *groups, const char *account);

/* The group that lists this user under "users", or NULL. */
const struct ccr_group *ccr_groups_find_user(const struct ccr_groups *groups, const char *user);

/*
 * The group of a job: one that lists its user; else the one of the first of accounts[0..count), the
 * job's account and then its ancestors upwards, that any group names; else the default group; else
 * NULL. user may be NULL. *by and *which (the account's index), if not NULL, say how it was found.
 */
const struct ccr_group *ccr_groups_climb(const struct ccr_groups *groups, const char *user,
					 const char *const *accounts, size_t count,
					 enum ccr_group_by *by, size_t *which);

/*
 * Loader: enters an account or a user. If another group has it already, *other is that group and
 * the result CCR_EINVAL with no message; CCR_ENOMEM.
 */
int ccr__groups_enter_account(struct ccr_groups *groups, const char *account,
			      struct ccr_group *group, struct ccr_group **other,
			      struct ccr_error *err);
int ccr__groups_enter_user(struct ccr_groups *groups, const char *user, struct ccr_group *group,
			   struct ccr_group **other, struct ccr_error *err);

void ccr__group_free(struct ccr_group *group);
/* Frees what groups holds, not groups itself. */
void ccr__groups_clear(struct ccr_groups *groups);
void ccr__tiers_clear(struct ccr_groups *groups);

#endif
