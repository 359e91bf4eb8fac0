/*
 * compat_priority - what the versions of Slurm do differently for a priority plugin
 *
 * Built on the table in compat.h. The entry points are declared here for every version: one that
 * a version does not look up is never called there and harmless. Locks: "job W" is slurmctld's
 * job write lock and so on; slurmctld's locks come before assoc_mgr's.
 */
#ifndef CCR_SLURM_COMPAT_PRIORITY_H
#define CCR_SLURM_COMPAT_PRIORITY_H

#include "slurm/compat.h"

#if CCR_SLURM_INTERFACES
#include "src/interfaces/mcs.h"
#include "src/interfaces/priority.h"
#include "src/interfaces/site_factor.h"
#else
#include "src/common/site_factor.h"
#include "src/common/slurm_mcs.h"
#include "src/common/slurm_priority.h"
#endif
#include "src/slurmctld/acct_policy.h"

#pragma weak acct_policy_get_acct_used_limits
#pragma weak acct_policy_get_user_used_limits
#pragma weak acct_policy_job_runnable_post_select
#pragma weak acct_policy_job_runnable_pre_select
#pragma weak mcs_g_check_mcs_label
#pragma weak slurm_mcs_get_privatedata
#pragma weak job_array_split
#pragma weak priority_sort_part_tier
#if CCR_SLURM_PRIO_NAMES
#pragma weak part_list_to_xstr
#endif

/* --- entry points ---------------------------------------------------------------------------- */

/* sprio's question. Up to 23.11 the client's filter comes along (NULL from new clients). */
#if CCR_SLURM_FACTORS_UNFILTERED
typedef void ccr_slurm_request_t;
#define CCR_SLURM_FACTORS_LIST_PARAMS uid_t uid
#define CCR_SLURM_FACTORS_REQUEST     NULL
#else
typedef priority_factors_request_msg_t ccr_slurm_request_t;
#define CCR_SLURM_FACTORS_LIST_PARAMS priority_factors_request_msg_t *request, uid_t uid
#define CCR_SLURM_FACTORS_REQUEST     request
#endif

CCR_SLURM_EXPORT int init(void);
CCR_SLURM_EXPORT CCR_SLURM_FINI fini(void);
CCR_SLURM_EXPORT uint32_t priority_p_set(uint32_t last_prio, job_record_t *job);
CCR_SLURM_EXPORT void priority_p_reconfig(bool assoc_clear);
CCR_SLURM_EXPORT void priority_p_set_assoc_usage(slurmdb_assoc_rec_t *assoc);
CCR_SLURM_EXPORT double priority_p_calc_fs_factor(long double usage_efctv, long double shares_norm);
CCR_SLURM_EXPORT ccr_slurm_list_t *
    priority_p_get_priority_factors_list(CCR_SLURM_FACTORS_LIST_PARAMS);
CCR_SLURM_EXPORT void priority_p_job_end(job_record_t *job);
CCR_SLURM_EXPORT uint32_t priority_p_recover(uint32_t prio_boost);
CCR_SLURM_EXPORT void priority_p_thread_start(void);

/* --- site_factor ------------------------------------------------------------------------------ */

/* To be called in init; Slurm's result. From 24.11 _set and _update do nothing useful before. */
static inline int ccr_slurm_site_init(void)
{
#if CCR_SLURM_SITE_G
	return site_factor_g_init();
#else
	return site_factor_plugin_init();
#endif
}

static inline void ccr_slurm_site_fini(void)
{
#if CCR_SLURM_SITE_G
	(void)site_factor_g_fini();
#else
	(void)site_factor_plugin_fini();
#endif
}

/* In priority_p_reconfig; nothing where a reconfigure starts the plugin anew. */
static inline void ccr_slurm_site_reconfig(void)
{
#if CCR_SLURM_SITE_RECONFIG
	site_factor_g_reconfig();
#endif
}

/* --- job records ------------------------------------------------------------------------------ */

/* What job->prio_factors points to; sprio's columns. */
#if CCR_SLURM_FACTORS_SPLIT
typedef priority_factors_t ccr_slurm_factors_t;
#else
typedef priority_factors_object_t ccr_slurm_factors_t;
#endif

/*
 * job->prio_factors, made if need be, every column 0, its arrays freed (priority_tres and
 * tres_weights are the caller's to xcalloc anew, with tres_cnt). Job W.
 */
ccr_slurm_factors_t *ccr_slurm_factors_reset(job_record_t *job);

/* Zeroes what job->prio_factors has, if there is any: a priority set by hand has no columns. Job W.
 */
static inline void ccr_slurm_factors_clear(job_record_t *job)
{
	if (job->prio_factors)
		(void)ccr_slurm_factors_reset(job);
}

/*
 * The QOS that the job would run under: the first of its list where it named several (24.11),
 * else job->qos_ptr; NULL without accounting. assoc_mgr qos R.
 */
slurmdb_qos_rec_t *ccr_slurm_job_qos(const job_record_t *job);

/*
 * Would a limit of its associations or QOS keep the pending job from starting now, were there
 * resources? slurmctld's own answer, to what the job asks for; its Reason says so only once the
 * scheduler came to the job. The job stays as it is. Job W, part R, assoc_mgr assoc R, qos R, tres
 * R; one thread at a time.
 */
bool ccr_slurm_over_limit(job_record_t *job);

/* Does the record stand for more than one pending task of a job array? Job R. */
bool ccr_slurm_is_array_rest(const job_record_t *job);

/*
 * Gives the next task of such a record a record of its own, as slurmctld does when the task starts.
 * The old record becomes the task's; returned is a new one for the rest, or NULL where slurmctld
 * has no room for another. Appends to job_list: never inside list_for_each. Job W.
 */
job_record_t *ccr_slurm_array_split(job_record_t *job);

/* --- the priorities of a job with several partitions or QOS ----------------------------------- */

/*
 * How many (partition, QOS) pairs such a job is queued with; 0 for a job with one partition and
 * one QOS, whose only priority is job->priority.
 */
int ccr_slurm_slot_count(const job_record_t *job);

/* Puts the job's partitions in slurmctld's order, where it does not itself (up to 24.05). Job W. */
void ccr_slurm_sort_parts(job_record_t *job);

/*
 * The job's array of priorities, one for each of its n pairs: partitions in slurmctld's order,
 * under each its QOS. Made or made anew when it is absent, too short, or older than the last change
 * of a partition (then all 0); released, and NULL returned, when n is 0. The array is slurmctld's:
 * fill it in place. Job W, part R.
 */
uint32_t *ccr_slurm_slots(job_record_t *job, int n);

/* The array as it is, for reading; NULL with *count 0 where there is none. Job R. */
const uint32_t *ccr_slurm_slots_peek(const job_record_t *job, int *count);

/* What tells one array from another that took its place: an address, never to look at. Job R. */
static inline const void *ccr_slurm_slots_now(const job_record_t *job)
{
#if !CCR_SLURM_PRIO_NAMES
	return job->priority_array;
#elif CCR_SLURM_PRIO_MULT
	return job->prio_mult;
#else
	return job->part_prio;
#endif
}

/* Did the job name several QOS? */
static inline bool ccr_slurm_names_qos(const job_record_t *job)
{
#if CCR_SLURM_QOS_LIST
	return job->qos_list != NULL;
#else
	(void)job;
	return false;
#endif
}

/* part and qos of pair `index`; qos is job->qos_ptr (may be NULL) where the job names one QOS. */
typedef void (*ccr_slurm_slot_fn)(job_record_t *job, part_record_t *part, slurmdb_qos_rec_t *qos,
				  int index, void *arg);

/*
 * Calls fn for each pair, index from 0 in the array's order; for a job without pairs once, index
 * -1, with its partition (may be NULL: it was deleted) and QOS. Part R, assoc_mgr qos R, job R. Up
 * to 24.05 the order is slurmctld's only after ccr_slurm_sort_parts().
 */
void ccr_slurm_each_slot(job_record_t *job, ccr_slurm_slot_fn fn, void *arg);

/* --- sprio's list ----------------------------------------------------------------------------- */

/*
 * Brings every version to the same locks in priority_p_get_priority_factors_list: job R, node R,
 * part R and assoc_mgr qos R. Taken here where the caller does not hold them, else nothing.
 */
void ccr_slurm_factors_list_lock(void);
void ccr_slurm_factors_list_unlock(void);

/* Does the client want that job in that partition? Always, with no request. */
bool ccr_slurm_request_wants(const ccr_slurm_request_t *request, const job_record_t *job,
			     const part_record_t *part);

/* May uid see the job, by PrivateData, operators, coordinators and MCS? Job R. */
bool ccr_slurm_may_see(const job_record_t *job, uid_t uid);

/* --- limits ----------------------------------------------------------------------------------- */

/*
 * The run-seconds (an array of slurmctld_tres_cnt) that a QOS counts for the job's account and
 * user, which the plugin must lower together with the QOS's own from 24.05 on. False, and both
 * NULL, where the version counts none or the job has no association. assoc_mgr qos W, assoc R.
 */
bool ccr_slurm_qos_run_secs(slurmdb_qos_rec_t *qos, const job_record_t *job, uint64_t **account,
			    uint64_t **user);

#endif
