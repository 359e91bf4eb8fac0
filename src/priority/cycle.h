/*
 * cycle - the thread that decays usage, counts new usage and scores the queue
 */
#ifndef CCR_PRIORITY_CYCLE_H
#define CCR_PRIORITY_CYCLE_H

#include "priority/settings.h"

/*
 * Starts the thread with these settings (copied). The policy must be loaded. False: out of memory
 * or no thread to be had.
 */
bool ccr_cycle_start(const struct ccr_settings *settings);
/* Ends the thread, saving state; waits for it. */
void ccr_cycle_stop(void);

/*
 * slurm.conf was read again: from now on these settings (copied), and a cycle at once. relearn: the
 * run-seconds were counted anew by slurmctld. Takes no lock of Slurm's.
 */
void ccr_cycle_reconfigure(const struct ccr_settings *settings, bool relearn);

/*
 * A job came or ended: where jobs are ranked against each other (LSF's priority) a cycle within a
 * second, else nothing. Takes no lock of Slurm's.
 */
void ccr_cycle_soon(void);

/* The last cycle's time: usage is counted up to here. 0 before the first. */
time_t ccr_cycle_last(void);

#endif
