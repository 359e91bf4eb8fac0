/*
 * lsf_rows - LSF's dynamic priority of every pending job (core/lsf.h)
 *
 * A table knows, for each user in each partition, the decayed run time, the jobs that run and the
 * pending jobs in the order in which LSF would start them: the longest waiting (by submission)
 * first, each further one ranked as if those before it had started. So the k-th job of a user has
 * the user's priority after k - 1 more starts, and a scheduling cycle that walks down the queue
 * hands out slots as LSF would one by one. A job that cannot start yet (dependent, before its begin
 * time, over a limit) is ahead of nobody that can: such jobs are ranked behind the user's others,
 * one by one too, as they may all come free at once.
 *
 * Made once a cycle, then in the engine's care: priority_p_set ranks a new job behind those that
 * are there.
 *
 * The pending tasks of a job array are one record, and so one job here, whose priority is that of
 * its next task; lsf_arrays.h gives the next tasks records of their own.
 */
#ifndef CCR_PRIORITY_LSF_ROWS_H
#define CCR_PRIORITY_LSF_ROWS_H

#include "core/config.h"
#include "core/ledger.h"
#include "slurm/compat_priority.h"

struct ccr_lsf_table;
struct ccr_lsf_pair; /* a user in a partition */

/* The place of a job there. */
struct ccr_lsf_place {
	double run_hours; /* of the user in the partition */
	double started;	  /* the user's jobs that run there, and those ahead of this one */
	double priority;  /* 0 .. shares / constant */
};

/*
 * The run times of the ledger (NULL: none), all running jobs and all pending ones, ranked. Job R, W
 * where slots are to be sorted (compat_priority.h), part R, assoc_mgr assoc R and qos R. NULL: out
 * of memory. The config must live as long as the table.
 */
struct ccr_lsf_table *ccr_lsf_rows_make(const struct ccr_config *config,
					const struct ccr_ledger *ledger, time_t now);
void ccr_lsf_rows_free(struct ccr_lsf_table *t);

/*
 * The pair of the job's user and that partition; NULL without a table or memory. Job R, part R,
 * assoc_mgr assoc R; alone with the table.
 */
struct ccr_lsf_pair *ccr_lsf_rows_pair(struct ccr_lsf_table *t, const job_record_t *job,
				       const part_record_t *part);

/*
 * The place of a job of that pair. One that is not known yet goes last; with `join` it is counted
 * from then on. pair may be NULL: all is 0 then.
 */
struct ccr_lsf_place ccr_lsf_rows_place(struct ccr_lsf_table *t, struct ccr_lsf_pair *pair,
					uint32_t job_id, bool join);

/*
 * Could the job start at `now`, were there resources? Such jobs count, others are behind them. Job
 * W, part R, assoc_mgr assoc R, qos R, tres R.
 */
bool ccr_lsf_rows_counts(job_record_t *job, time_t now);

/* In priority_p_set: is that a job to be counted from now on? Job R. */
bool ccr_lsf_rows_joins(const job_record_t *job, time_t now);

#endif
