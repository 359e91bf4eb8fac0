/*
 * explain_id - a job as it is given on the command line
 */
#ifndef SCCR_EXPLAIN_ID_H
#define SCCR_EXPLAIN_ID_H

#include <stdbool.h>

/*
 * Brings 12, 12_3 or 12+1 into squeue's form, in place: without leading zeros, and 12_[4-9%2],
 * squeue's way to write tasks of an array, as 12. False if it is none, or has a number that Slurm
 * cannot have: sacct lets those wrap around to other jobs, and takes 0 for all of them.
 */
bool explain_id(char *text);

#endif
