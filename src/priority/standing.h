/*
 * standing - where each group and account stands: target, usage, difference, financial factor
 *
 * Made once a cycle, so that a job's group terms are one look-up. The usage is Slurm's own (what
 * sshare shows) where there is a database, else the ledger's.
 *
 * With a database the account tree is walked once: an account that no group names belongs to the
 * group of its nearest ancestor. Where neither the tree nor a default group gives one, the account
 * stands for itself, its target being its shares in sacctmgr, normalised, in percent.
 */
#ifndef CCR_PRIORITY_STANDING_H
#define CCR_PRIORITY_STANDING_H

#include "core/config.h"
#include "core/ledger.h"
#include "slurm/compat_priority.h"

struct ccr_standing {
	const struct ccr_group *group; /* NULL: an account that stands for itself, or nobody */
	double target;		       /* percent; 0 without one */
	double usage;		       /* percent of all that was delivered */
	double delta;		       /* points of the target, percent */
	double financial;
	double fairshare_factor; /* 2^-(usage/target); 1 without a target */
};

struct ccr_standings;

/*
 * Computes all standings. with_assocs: take usage and the tree from assoc_mgr, which must be
 * locked (assoc R at least); else from the ledger, rolled up. ledger may be NULL (no usage at
 * all). NULL: out of memory.
 */
struct ccr_standings *ccr_standings_make(const struct ccr_config *config, bool with_assocs,
					 const struct ccr_ledger *ledger);
void ccr_standings_free(struct ccr_standings *s);

/*
 * The standing of a job of that user (NULL: unknown) and account. Never NULL: a job without a
 * group has the empty standing.
 */
const struct ccr_standing *ccr_standings_find(const struct ccr_standings *s, const char *user,
					      const char *account);

#endif
