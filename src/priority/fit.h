/*
 * fit - holds slurmctld's records against our headers before the plugin touches them (slurm/fits.h)
 *
 * False from any of these means that they are not alike, which is in the log by then: the plugin
 * does not start, or, where that shows only with the first job, leaves every record alone.
 */
#ifndef CCR_PRIORITY_FIT_H
#define CCR_PRIORITY_FIT_H

#include "slurm/compat.h"

/* In init, before slurm_conf is read. Takes assoc_mgr's assoc and qos R. */
bool ccr_fit_start(void);

/* Before a job is looked at. Job R, part R. */
bool ccr_fit_job(const job_record_t *job);

/* The first job that slurmctld has, if any. Takes slurmctld's job and part R. */
bool ccr_fit_jobs(void);

/* The answer so far. */
bool ccr_fit(void);

#endif
