/*
 * live - where the running cluster keeps its policy and usage, and what sshare tells of usage
 */
#ifndef SCCR_LIVE_H
#define SCCR_LIVE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "core/groups.h"
#include "core/ledger.h"
#include "sccr/clients.h"

/* The policy file that the running slurmctld uses: ccr_conf of PriorityParameters, else ccr.json
 * beside slurm.conf. malloc'd. */
int live_policy_path(char **out, struct ccr_error *err);

/* The policy file that is the default for a slurm.conf: ccr.json beside it. malloc'd. */
int live_policy_beside(const char *conf, char **out, struct ccr_error *err);

/* Usage of a group in percent of all, from a ledger that is rolled up. */
double live_ledger_of_group(const struct ccr_ledger *ledger, const struct ccr_groups *groups,
			    const struct ccr_group *group);

/* The plugin's ledger: ccr_usage.json in StateSaveLocation, malloc'd; and who SlurmUser is. */
int live_ledger_path(char **out, uid_t *slurm_user, struct ccr_error *err);

/* An association of sshare's tree. */
struct live_assoc {
	const char *account, *user; /* user "" for an account */
	int depth;
	double raw;   /* billed seconds, decayed */
	double part;  /* of all usage, 0 to 1 */
	double share; /* of the whole cluster by the shares in sacctmgr, 0 to 1 */
};

struct live_usage {
	struct client_rows rows;
	struct live_assoc *assoc; /* in the tree's order; the first is root */
	size_t n;		  /* 0: there is no database */
	bool whole;		  /* it begins at the root: PrivateData hides no account */
};

/* Asks sshare. Without a database that is no error: n is 0. */
int live_usage_read(struct live_usage *u, struct ccr_error *err);
void live_usage_free(struct live_usage *u);

/* Usage of a group in percent of all, as the plugin counts it, where the tree is whole. */
double live_usage_of_group(const struct live_usage *u, const struct ccr_groups *groups,
			   const struct ccr_group *group);

/*
 * A group's target as the plugin has it: its own, or its account's shares in percent where the file
 * gives it none.
 */
struct ccr_target live_target_of_group(const struct live_usage *u, const struct ccr_group *group);

/* The share of an account that stands for itself; 0 where it is not known. */
double live_share_of_account(const struct live_usage *u, const char *account);

/*
 * The group of a job's user and account, by the account's ancestors too; NULL for none. *sure (may
 * be NULL): no account that might name another group is hidden.
 */
const struct ccr_group *live_group_of(const struct live_usage *u, const struct ccr_groups *groups,
				      const char *user, const char *account, bool *sure);

void live_usage_print_users(const struct live_usage *u, FILE *out);

#endif
