/*
 * run_secs - grp_used_tres_run_secs: what running jobs may still use, for GrpTRESRunMins
 *
 * Slurm's core adds TRES x time limit x UsageFactor when a job begins, to its associations up to
 * the root, to its QOS and its partition's; the priority plugin takes away what has passed. Here
 * every cycle counts what is left of each running job from nothing instead of subtracting: what
 * core forgets (a restart adds all of it again; a time limit or UsageFactor changed during the run)
 * cannot pile up, it is gone with the next cycle.
 *
 * What is left at time t is (start + limit - t) x UsageFactor in whole seconds, rounded as core
 * rounds when it adds, so that begin and end always cancel out.
 *
 * Locks: job R (W to end), assoc_mgr's assoc W, qos W, tres R, unless said otherwise.
 */
#ifndef CCR_PRIORITY_RUN_SECS_H
#define CCR_PRIORITY_RUN_SECS_H

#include "slurm/compat_priority.h"

/* All counters become 0; ccr_run_secs_add() for every running or suspended job must follow. */
void ccr_run_secs_clear(void);

/* Adds what is left of the job at time t. */
void ccr_run_secs_add(const job_record_t *job, time_t t);

/* Takes away what was left of the job at time t; a counter that holds less becomes 0. */
void ccr_run_secs_remove(const job_record_t *job, time_t t);

/*
 * After a start, and after a reconfiguration in which core added everything anew: counts as of
 * last_ran, until which usage is up to date. Takes all locks itself (job R).
 */
void ccr_run_secs_init(time_t last_ran);

#endif
