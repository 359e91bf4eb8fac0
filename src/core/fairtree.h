/*
 * fairtree - Slurm's Fair Tree: users ranked by walking the account tree best-served last
 *
 * At each level associations are ordered by level_fs = shares / usage within the account; a user
 * gets rank / number of users, and no account can buy its users past those of a better placed
 * sibling. Ties get the same rank.
 *
 * Two details of priority/multifactor are kept although its documentation reads otherwise, because
 * the factors must agree: tied sibling accounts are not merged, the users of the second continue
 * with the last rank of the first; and an account with Fairshare=parent sorts behind infinitely
 * under-served siblings.
 */
#ifndef CCR_CORE_FAIRTREE_H
#define CCR_CORE_FAIRTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CCR_FT_ROOT UINT32_MAX

/* What level_fs is where it has no meaning: Slurm's NO_VAL, and what sshare takes as "none". */
#define CCR_FT_NO_LEVEL ((long double)0xfffffffe)

struct ccr_ft_assoc {
	/* in */
	uint32_t parent; /* index of the parent account, smaller than the own one; CCR_FT_ROOT */
	bool user;
	bool use_parent;	     /* Fairshare=parent */
	double shares_norm;	     /* own shares over those of the level */
	long double usage_raw;	     /* TRES-seconds */
	long double fs_parent_usage; /* usage_raw of the nearest ancestor with own shares */
	/* out */
	long double usage_efctv; /* usage within the account */
	long double usage_norm;	 /* usage of all */
	long double level_fs;
	double fs_factor; /* users only; 0 for accounts */
};

/* Room for the walk, kept between cycles so that none is asked for in each. Zero to start with. */
struct ccr_fairtree {
	struct ccr_ft_assoc **order; /* children of each association, one after another */
	uint32_t *first;	     /* where its children start in order[] */
	size_t room;
};

/*
 * Fills the out fields of all n associations. They are in an order in which parents come before
 * their children; associations with the same parent are compared in the order given. root_usage is
 * the usage of the whole cluster, users the number of user associations that ranks count from.
 * CCR_ENOMEM: nothing was changed. CCR_EINVAL: a parent that does not come before its child.
 */
int ccr_fairtree_rank(struct ccr_fairtree *ft, struct ccr_ft_assoc *assoc, size_t n,
		      long double root_usage, uint32_t users);

void ccr_fairtree_free(struct ccr_fairtree *ft);

#endif
