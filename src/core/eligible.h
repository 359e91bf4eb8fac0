/*
 * eligible - a job's eligible time, as PBS counts it
 *
 * Time for which the job could have run had there been resources. It accrues or stands still, which
 * one is seen from time to time; between two looks what the first one saw holds. It only grows,
 * whatever the clock does, and lives as long as the job: a requeue does not touch it.
 *
 * Times are seconds since the epoch, amounts are seconds.
 */
#ifndef CCR_CORE_ELIGIBLE_H
#define CCR_CORE_ELIGIBLE_H

#include <stdbool.h>
#include <stdint.h>

/* The farthest moment and the largest amount: a double still counts every second up to it. */
#define CCR_ELIGIBLE_MAX (INT64_C(1) << 53)

struct ccr_eligible {
	int64_t accrued; /* up to `since` */
	int64_t since;	 /* the last look */
	bool accruing;	 /* since then */
};

/*
 * A job that is seen for the first time. from is when it became eligible, 0 if that is not known
 * or has not happened: what has passed since counts if it accrues now.
 */
void ccr_eligible_start(struct ccr_eligible *e, int64_t from, int64_t now, bool accruing);

/*
 * A look at the job: does it accrue from now on? True if that is a change that a state file should
 * know of: the state changed, or the clock was set back behind the last one.
 */
bool ccr_eligible_look(struct ccr_eligible *e, int64_t now, bool accruing);

/* The eligible time at `now`. A clock behind the last look takes nothing away. */
int64_t ccr_eligible_seconds(const struct ccr_eligible *e, int64_t now);

#endif
