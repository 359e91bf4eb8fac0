/*
 * claim - jobs that start where running ones make way for them (preemption)
 *
 * Who makes way is decided elsewhere. A job that may start only when others are gone waits for a
 * moment while they are ended, and what is free already must not be given away in that time: they
 * would be ended for nothing, and who got it next. Its claim holds all that it was given from now
 * on until its end. It takes no part in the depth.
 *
 * Claims, and bookings that are planned over jobs that would make way (ccr_plan_job.lent), overlap
 * what still runs. They stay where they are from one load to the next; whether their place is whole
 * without the others is looked at when their job has its turn.
 */
#ifndef CCR_CORE_CLAIM_H
#define CCR_CORE_CLAIM_H

#include "core/planner.h"

/*
 * The job was given this pick, which ccr_plan_check has let pass, and starts on it when others have
 * made way, at about `start`. A claim that it has stays where it is if its nodes hold what they are
 * to once all in job->lent are gone; whether it still may have these nodes is for the caller to
 * know. 0, CCR_ENOMEM.
 */
int ccr_plan_claim(struct ccr_plan *plan, const struct ccr_plan_job *job,
		   const struct ccr_share *pick, uint32_t n, int64_t start, struct ccr_error *err);

/*
 * Of a pick only the nodes are known (job->candidates), as others are to go first: what the job
 * takes of each when all in job->lent are gone, the most that it can be dealt; all of a node where
 * that cannot be told. Writes a share for each node in the set and returns how many.
 */
uint32_t ccr_plan_amounts(struct ccr_plan *plan, const struct ccr_plan_job *job,
			  struct ccr_share *out);

#endif
