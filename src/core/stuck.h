/*
 * stuck - jobs that did not start although their booking was due and whole
 *
 * What counts say is free may not be what the job can start on, and holding it idle helps nobody.
 * So a job that was found so once is booked whole nodes, and one that was found so again nothing
 * for a while: without a booking it may be passed for ever, so it is tried again, after pauses that
 * double. Slurm takes requests that can never run (more shards than one GPU has), and users send
 * many of a kind: what is known of one holds for its like, so that they idle next to nothing.
 */
#ifndef CCR_CORE_STUCK_H
#define CCR_CORE_STUCK_H

#include <stdbool.h>
#include <stdint.h>

#define CCR_STUCK_JOBS	  64   /* so many are known, the latest */
#define CCR_STUCK_AGAIN	  1800 /* s, the first pause */
#define CCR_STUCK_DOUBLED 3    /* so often it doubles */

/* All zero: nobody is stuck. */
struct ccr_stuck {
	struct ccr_stuck_row {
		uint32_t job; /* 0: free */
		uint32_t times;
		uint32_t doubled;
		uint64_t asked;
		int64_t at; /* s, the last of them */
	} row[CCR_STUCK_JOBS];
	uint32_t next;
};

/* The job did not start. `asked` tells its request from what somebody makes of it later. */
void ccr_stuck_note(struct ccr_stuck *s, uint32_t job, uint64_t asked, int64_t now);

/* Whether anybody is; else there is no need to know what a job asks for. */
bool ccr_stuck_any(const struct ccr_stuck *s);

/*
 * How often since its last pause; 0 to 2: it is booked as others are, for whole nodes, not at all.
 * Another request than the one that was noted is a new one. While one pauses its like get nothing
 * either.
 */
uint32_t ccr_stuck_times(struct ccr_stuck *s, uint32_t job, uint64_t asked, int64_t now);

#endif
