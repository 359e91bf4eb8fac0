/*
 * facts - a job record, translated into the variables of a policy
 *
 * Reads, never writes. Values that need another lock than the job's are gathered by functions of
 * their own, so that no lock is held for longer than its own values need.
 */
#ifndef CCR_PRIORITY_FACTS_H
#define CCR_PRIORITY_FACTS_H

#include "core/score.h"
#include "core/vars.h"
#include "priority/settings.h"
#include "priority/standing.h"

/* The same for every job of a cycle. */
struct ccr_facts_site {
	const struct ccr_settings *settings;
	time_t now;
	uint32_t nodes; /* of the cluster */
	uint32_t cpus;
	/*
	 * What reads the facts: those that are costly and that it does not ask for stay 0. NULL:
	 * all are wanted.
	 */
	const struct ccr_policy *policy;
};

/* What only slurmctld can tell: call under node R (or in priority_p_set, whose caller has it). */
void ccr_facts_site(struct ccr_facts_site *site, const struct ccr_settings *settings, time_t now);

/* What the job itself says: request, waiting, nice, site. Job R. Fills var[] and *extra. */
void ccr_facts_job(const struct ccr_facts_site *site, const job_record_t *job, double *var,
		   struct ccr_score_extra *extra);

/* How long it has waited, by its accrue_time; the variables that time alone moves. Job R. */
void ccr_facts_waiting(const struct ccr_facts_site *site, const job_record_t *job, time_t accrue,
		       double *var);

/* How large it is, in the partition that it is looked at in (may be NULL). Node R, part R. */
void ccr_facts_size(const struct ccr_facts_site *site, const job_record_t *job,
		    const part_record_t *part, double *var);

/* What depends on the partition that it is looked at in. Part R. part may be NULL. */
void ccr_facts_partition(const struct ccr_facts_site *site, const part_record_t *part, double *var);

/* What its association and QOS say. assoc_mgr assoc R and qos R. */
void ccr_facts_assoc(const struct ccr_facts_site *site, const job_record_t *job, double *var);

/* What an association says; may be NULL. assoc_mgr assoc R. */
void ccr_facts_account(const struct ccr_facts_site *site, slurmdb_assoc_rec_t *assoc, double *var);

/* What a QOS says; qos may be NULL. assoc_mgr qos R. */
void ccr_facts_qos(const struct ccr_facts_site *site, const slurmdb_qos_rec_t *qos, double *var);

/* What its group and its owner's usage say. No lock but that of the standings. */
void ccr_facts_standing(const struct ccr_standing *standing, const struct ccr_owner *owner,
			double *var);

/*
 * The user's name, also where there is no association; NULL for a user without one. Slurm asks the
 * system once a user. assoc_mgr assoc R.
 */
const char *ccr_facts_user(const job_record_t *job);

/* Does anybody ask for that variable? */
bool ccr_facts_wanted(const struct ccr_facts_site *site, enum ccr_var var);

/* GPUs, all nodes together, that the job asks for. Job R. */
uint64_t ccr_facts_gpus(const job_record_t *job);

#endif
