/*
 * classic - Slurm's classic fairshare (PriorityFlags=NO_FAIR_TREE), depth-oblivious or not
 *
 * Accounts are brought up to date once a cycle, users when somebody asks: usage_efctv NO_VAL marks
 * a user that nobody has asked for since.
 */
#ifndef CCR_PRIORITY_CLASSIC_H
#define CCR_PRIORITY_CLASSIC_H

#include "slurm/compat_priority.h"

/* How slurm.conf wants fairshare computed. */
struct ccr_fs_rule {
	bool fair_tree;	      /* the default; not with PriorityFlags=NO_FAIR_TREE */
	bool depth_oblivious; /* PriorityFlags=DEPTH_OBLIVIOUS */
	uint16_t dampening;   /* FairShareDampeningFactor */
};

/*
 * usage_norm, usage_efctv and fs_factor of every account, usage_efctv NO_VAL for users. Not with
 * the fair tree. assoc W held.
 */
void ccr_classic_update(const struct ccr_fs_rule *rule);

/*
 * usage_norm and usage_efctv of one association from its parent's, with the classic algorithm its
 * fs_factor as well: what priority_p_set_assoc_usage does. No lock: the caller's.
 */
void ccr_assoc_usage_set(slurmdb_assoc_rec_t *assoc, const struct ccr_fs_rule *rule);

/*
 * The fairshare factor of a job of that association, 0 to 1; 0 without an association. assoc W or
 * R held.
 */
double ccr_fairshare_of(slurmdb_assoc_rec_t *assoc, const struct ccr_fs_rule *rule);

/*
 * Shares are normalised differently by the two algorithms: to be called when a reconfiguration
 * changed from one to the other. assoc W held.
 */
void ccr_shares_normalize(void);

#endif
