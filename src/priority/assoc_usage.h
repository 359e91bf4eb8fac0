/*
 * assoc_usage - the usage that Slurm keeps for associations and QOS, brought up to date
 *
 * The priority plugin owns usage_raw, usage_tres_raw and grp_used_wall: nothing else in Slurm adds
 * to them or lets them decay, and GrpTRESMins, GrpWall, sshare and assoc_usage in the state folder
 * all read them. Units: billable TRES x seconds, TRES x seconds, seconds.
 *
 * Locks: "usage lock" is ccr_usage_lock(): assoc_mgr's assoc W, qos W, tres R, to be taken after
 * slurmctld's own locks.
 */
#ifndef CCR_PRIORITY_ASSOC_USAGE_H
#define CCR_PRIORITY_ASSOC_USAGE_H

#include "slurm/compat_priority.h"

/* A stretch of time that is accounted for, and how fast usage decays in it. */
struct ccr_usage_window {
	time_t last_ran;     /* usage is up to date till then; 0: no cycle yet */
	time_t now;	     /* and is brought up to date till then */
	double decay_factor; /* what is left of a usage after one second, ccr_decay_factor() */
};

void ccr_usage_lock(void);
void ccr_usage_unlock(void);

/* 1 - 0.693 / half-life (s); 1 for a half-life of 0: no decay. */
double ccr_decay_factor(double half_life);

/* What is left after `seconds`; never 0, that would forget everything. */
double ccr_decay_over(double decay_factor, double seconds);

/*
 * Multiplies the usage of every association, what deleted users left to their account included,
 * and of every QOS without NoDecay by `left`. Usage lock held.
 */
void ccr_usage_decay(double left);

/* Usage of every association and every QOS becomes 0. Usage lock held. */
void ccr_usage_reset(void);

/*
 * Begins a pass over all jobs: run-seconds are counted anew by it (run_secs.h). Then
 * ccr_usage_job() for every job. Job W, node R, part R and usage lock held through the whole pass.
 */
void ccr_usage_pass_begin(void);

/* Adds what a running or suspended job used in the window; nothing for any other job. */
void ccr_usage_job(job_record_t *job, const struct ccr_usage_window *w);

/*
 * After slurmctld was killed: adds what a job that has ended since used from w->last_ran to its
 * end, as its job_end had, which is not in the usage that was kept. Locks as ccr_usage_job().
 */
void ccr_usage_recover(job_record_t *job, const struct ccr_usage_window *w);

/*
 * The last stretch of a job that ends, is requeued or resized: counted until its end, its
 * run-seconds removed, and end_time_exp set to what tells core that this was done. Does nothing a
 * second time. Job W held, takes the usage lock.
 */
void ccr_usage_job_end(job_record_t *job, const struct ccr_usage_window *w);

#endif
