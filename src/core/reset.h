/*
 * reset - when the recorded usage is thrown away (PriorityUsageResetPeriod)
 *
 * Pure calendar arithmetic in the local time zone: a reset falls on local midnight, also on the
 * days when clocks change.
 */
#ifndef CCR_CORE_RESET_H
#define CCR_CORE_RESET_H

#include <stdbool.h>
#include <time.h>

/* The values are those of slurm.conf's PriorityUsageResetPeriod in Slurm's own headers. */
enum ccr_reset_period {
	CCR_RESET_NONE = 0,
	CCR_RESET_NOW = 1, /* once, at the first look after start or reconfiguration */
	CCR_RESET_DAILY = 2,
	CCR_RESET_WEEKLY = 3,	 /* Sunday 00:00 */
	CCR_RESET_MONTHLY = 4,	 /* the 1st, 00:00 */
	CCR_RESET_QUARTERLY = 5, /* 1 January, April, July, October */
	CCR_RESET_YEARLY = 6,	 /* 1 January */
};

struct ccr_reset {
	enum ccr_reset_period period;
	time_t last; /* when usage was last thrown away: kept in the state file */
	time_t next; /* 0: not known yet */
};

/*
 * The first reset after `last`. Daily and weekly resets that were missed (slurmctld was down) count
 * as one: the result is then the latest that is not after `now`. Returns 0 where the period has no
 * next reset (none, now) or the time cannot be expressed.
 */
time_t ccr_reset_next(enum ccr_reset_period period, time_t last, time_t now);

/* Takes a (new) period over; `last` stays. Call at start and whenever slurm.conf was read. */
void ccr_reset_configure(struct ccr_reset *r, enum ccr_reset_period period);

/*
 * Is a reset due at `now`? If so `last` and `next` move on and the caller throws the usage away.
 * `last` 0 (no state file) is taken as `now`. At most one reset a call.
 */
bool ccr_reset_due(struct ccr_reset *r, time_t now);

#endif
