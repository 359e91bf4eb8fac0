/*
 * report - what users see of the plan
 *
 * slurmctld writes a job's reason after the plugin has answered, so what is to be seen is written
 * by a thread of its own once the cycle is over: StartTime, SchedNodeList and a description of
 * booked jobs, and for jobs that would delay a booking which one that is. The reason is Resources
 * for the first and Priority for the others (case R13).
 */
#ifndef CCR_SELECT_REPORT_H
#define CCR_SELECT_REPORT_H

#include <stdbool.h>

/* Starts the thread, once; tell: something is to be told. */
void ccr_report_wake(bool tell);

/* Ends the thread. May be called with slurmctld's locks held. */
void ccr_report_end(void);

#endif
