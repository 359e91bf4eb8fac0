/*
 * standing - where each group and account stands: target, usage, difference, financial factor
 *
 * Made once a cycle, so that a job's group terms are one look-up. The usage is Slurm's own (what
 * sshare shows) where there is a database, else the ledger's.
 *
 * With a database the account tree is walked once: an account that no group names belongs to the
 * group of its nearest ancestor. Where neither the tree nor a default group gives one, the account
 * stands for itself, its target being its shares in sacctmgr, normalised, in percent; or, with
 * Fairshare=parent, as its parent does, without a target where that is root.
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
	bool has_share; /* the file gives groups shares */
	double share;	/* the group's part of all shares of the file, 0 to 1 */
};

/* What belongs to a user, not to the job or its account. */
struct ccr_owner {
	double usage; /* percent of all that was delivered, in all accounts together */
	/*
	 * For the fair-share factor: the user's associations together. One with Fairshare=parent
	 * has its account's usage and share.
	 */
	bool has_share;
	double fs_usage; /* percent */
	double share;	 /* of the whole cluster by sacctmgr's shares, 0 to 1 */
};

struct ccr_standings;

/*
 * Computes all standings. from_assocs: take the usage from assoc_mgr, else from the ledger, rolled
 * up (NULL: no usage at all). Accounts and shares are assoc_mgr's where it has any. assoc_mgr must
 * be locked (assoc R and qos R at least). NULL: out of memory.
 */
struct ccr_standings *ccr_standings_make(const struct ccr_config *config, bool from_assocs,
					 const struct ccr_ledger *ledger);
void ccr_standings_free(struct ccr_standings *s);

/*
 * The standing of a job of that user (NULL: unknown) and account. Never NULL: a job without a
 * group has the empty standing.
 */
const struct ccr_standing *ccr_standings_find(const struct ccr_standings *s, const char *user,
					      const char *account);

/* The QOS's share of all that was delivered, percent; 0 for NULL and for one without usage. */
double ccr_standings_qos(const struct ccr_standings *s, const char *qos);

/* The user's own numbers. Never NULL: all 0 for a user who is not known. */
const struct ccr_owner *ccr_standings_owner(const struct ccr_standings *s, const char *user);

/*
 * PBS's fairshare_factor, 2^-(usage/share), 0 to 1. Usage and share are the group's where the file
 * gives groups shares; else the user's by sacctmgr's shares; else, without a database, the group's
 * usage and target; 1 where there is nothing of these.
 */
double ccr_standing_fairshare(const struct ccr_standing *standing, const struct ccr_owner *owner);

#endif
