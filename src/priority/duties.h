/*
 * duties - what Slurm expects of a priority plugin besides the score, in the order of a cycle
 *
 * The parts are assoc_usage, run_secs, classic, fair_tree and last_ran; this is their one user.
 * Without a database there are no associations and nothing of this is done.
 */
#ifndef CCR_PRIORITY_DUTIES_H
#define CCR_PRIORITY_DUTIES_H

#include "core/config.h"
#include "priority/settings.h"

/* Reads the state file. Once, before the thread starts. */
void ccr_duties_init(const struct ccr_settings *settings);
void ccr_duties_fini(void);

/* assoc_mgr's locks for what follows, also without a database. After slurmctld's. */
void ccr_duties_lock(void);
void ccr_duties_unlock(void);

/* PriorityUsageResetPeriod: is recorded usage to be thrown away now? Once each time. */
bool ccr_duties_reset_due(time_t now);

/* Throws away the usage of associations and QOS. ccr_duties_lock(). */
void ccr_duties_reset(const struct ccr_settings *settings);

/*
 * Brings usage up to `now` and computes fairshare: begin, then job for every job that slurmctld has
 * (false: there is no need to), then end. Job W, node R, part R and ccr_duties_lock() throughout.
 */
bool ccr_duties_usage_begin(const struct ccr_settings *settings, time_t now);
void ccr_duties_usage_job(job_record_t *job);
void ccr_duties_usage_end(const struct ccr_settings *settings);

/* slurmctld counted all run-seconds anew. Takes all locks itself. */
void ccr_duties_relearn(const struct ccr_settings *settings);

/* slurm.conf changed: the algorithm of shares may have. No lock of assoc_mgr's held. */
void ccr_duties_reconfigure(const struct ccr_settings *settings);

/* A job ends, is requeued or resized. Job W. */
void ccr_duties_job_end(job_record_t *job);

/* Does a policy take its groups' usage from the associations? */
bool ccr_duties_give_usage(const struct ccr_settings *settings, const struct ccr_config *config);

/* Writes the state file; no lock. */
void ccr_duties_save(const struct ccr_settings *settings);

#endif
