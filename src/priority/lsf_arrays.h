/*
 * lsf_arrays - the waiting tasks of job arrays one by one, for LSF's dynamic priority
 *
 * slurmctld keeps all waiting tasks of an array in one record with one priority, and starts as many
 * of them as fit when the record's turn comes. LSF looks for the best user anew after each start.
 * So where more than one user waits, the next tasks of an array get records of their own, which
 * lsf_rows.h then ranks as it ranks any jobs: task k as if the k - 1 before it had started.
 *
 * Only as many as a scheduling cycle may start: each user's waiting jobs that have a record of
 * their own are topped up to lsf.array_tasks of the policy file, from the longest waiting array on,
 * and of an array with a limit (--array=0-99%4) no more than may still start. The rest stays one
 * record, ranked behind them.
 */
#ifndef CCR_PRIORITY_LSF_ARRAYS_H
#define CCR_PRIORITY_LSF_ARRAYS_H

#include "core/config.h"
#include "slurm/compat_priority.h"

/*
 * Splits what is to be split; returns how many tasks got a record. Linear in the jobs, and
 * O(a log a) in the arrays. Out of memory: arrays stay as they are. Job W, part R.
 */
size_t ccr_lsf_arrays_split(const struct ccr_config_lsf *lsf, time_t now);

#endif
