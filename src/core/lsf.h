/*
 * lsf - LSF's dynamic user priority
 *
 *	PRIORITY = SHARES / (constant + CPU_TIME_FACTOR x cpu hours + RUN_TIME_FACTOR x run hours
 *			     + RUN_JOB_FACTOR x STARTED)
 *
 * of a user in a queue (here: a partition), with the parameters of lsb.params under LSF's names
 *("Dynamic user priority" in Administering Platform LSF; there the constant is RUN_JOB_FACTOR
 *itself, as LSF has 1 + STARTED). With LSF's defaults and one share this is 1 / PRIORITY = 3.0 +
 *0.7 x hours + 3.0 x STARTED.
 *
 * The ledger's slot seconds are the run time of running and finished jobs together, decayed by
 *HIST_HOURS (usage_model.h): they are the run hours, and no cpu hours are left. `bqueues -l` shows
 *them in two columns, CPU_TIME and RUN_TIME; its PRIORITY comes out when both are counted.
 *
 * Higher goes first. Queues do not know of each other: a standing is for one user in one partition.
 */
#ifndef CCR_CORE_LSF_H
#define CCR_CORE_LSF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

/* The least divisor: where constant and factors are all 0, shares alone still rank. */
#define CCR_LSF_DIVISOR_MIN 0.01

/* Each 0 or more; LSF's defaults in brackets. */
struct ccr_lsf_params {
	double constant;	/* what an idle user has (3.0) */
	double cpu_time_factor; /* CPU_TIME_FACTOR, per hour (0.7) */
	double run_time_factor; /* RUN_TIME_FACTOR, per hour (0.7) */
	double run_job_factor;	/* RUN_JOB_FACTOR, per started job (3.0) */
};

/* A user in a partition. */
struct ccr_lsf_standing {
	double shares; /* USER_SHARES, 1 where all are equal */
	double
	    cpu_time_s; /* seconds, weighed by CPU_TIME_FACTOR; 0 where the run time has it all */
	double run_time_s; /* slot seconds, weighed by RUN_TIME_FACTOR */
	uint32_t started;  /* jobs that run now */
};

/* A pending job in a partition; a job of several partitions is one of these in each. */
struct ccr_lsf_job {
	const struct ccr_lsf_standing
	    *standing;	 /* the same pointer: the same user in the same partition */
	int64_t since;	 /* waiting since, seconds since 1970 */
	uint32_t id;	 /* goes first among those that wait equally long: the lower */
	uint32_t task;	 /* of a job array, whose tasks have one id here: the lower goes first */
	uint32_t handle; /* the caller's, not looked at */
	bool later;	 /* cannot start yet: behind all that can, in the same order */
	uint32_t ahead;	 /* set: jobs of the same standing that go before it */
	double priority; /* set: its PRIORITY once those have been started */
};

/*
 * PRIORITY when `more` jobs beside those that run had been started. Always a finite number, 0 or
 * more: what is negative or no number in the standing counts as 0.
 */
double ccr_lsf_priority(const struct ccr_lsf_params *p, const struct ccr_lsf_standing *s,
			uint32_t more);

/*
 * Sets ahead and priority of n jobs, given in any order. The longest waiting job of a standing goes
 * first and is ranked by the standing as it is, each further one as if those before it had started.
 * As a standing's priority only falls with each start, taking the jobs by priority, highest first,
 * starts them in the order in which LSF would, looking for the best user anew after each start;
 * jobs of equal priority by waiting time. O(n log n). CCR_ENOMEM: nothing is set.
 */
int ccr_lsf_rank(const struct ccr_lsf_params *p, struct ccr_lsf_job *jobs, size_t n,
		 struct ccr_error *err);

#endif
