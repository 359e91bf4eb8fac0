/*
 * eligible_jobs - the eligible time of every job that slurmctld knows (core/eligible.h)
 *
 * A job accrues while it is pending and, by slurmctld's Reason, nothing but a lack of resources
 * keeps it from starting: Priority, Resources, nodes that are down, licences, burst buffer space.
 * It does not while it is held, depends on another job, waits for its begin time or a reservation,
 * is stopped by a limit of its association, QOS, partition or array, and while it runs. Reasons are
 * looked at once a turn of the decay thread: that is how exact it is.
 *
 * Kept for as long as slurmctld has the job, so through requeue, hold and update; saved in
 * StateSaveLocation/ccr_eligible.json. The tasks of an array start with what the array had.
 *
 * Locks: slurmctld's job lock orders all uses but init, fini and save, which are the decay thread's
 * own or run without it.
 */
#ifndef CCR_PRIORITY_ELIGIBLE_JOBS_H
#define CCR_PRIORITY_ELIGIBLE_JOBS_H

#include "priority/settings.h"

/* Loads the state file; a damaged one is set aside, and said. */
void ccr_eligible_jobs_init(const struct ccr_settings *settings);
void ccr_eligible_jobs_fini(void);

/* Looks at all jobs. Job W. */
void ccr_eligible_jobs_look(time_t now);

/* Seconds; for a job that was not looked at yet, what it would have if it accrued. Job R. */
double ccr_eligible_jobs_seconds(const job_record_t *job, time_t now);

/*
 * Writes the state file if a state has changed; with `all`, as at the end, also if times alone
 * have: a clock that is set back meanwhile takes nothing away then. No lock.
 */
void ccr_eligible_jobs_save(const struct ccr_settings *settings, bool all);

#endif
