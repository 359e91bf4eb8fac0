/*
 * sim_progress - how far a run is, on a terminal
 */
#ifndef SCCR_SIM_PROGRESS_H
#define SCCR_SIM_PROGRESS_H

#include "sccr/sim_engine.h"

struct sim_progress {
	bool on;
	double start, shown; /* seconds, monotonic */
};

/* On only if standard error is a terminal and quiet is false. */
void sim_progress_begin(struct sim_progress *p, bool quiet);

/* Draws at most four times a second. Fits sim.progress. */
void sim_progress_step(void *p, const struct sim *s);

/* Takes the line away. */
void sim_progress_end(struct sim_progress *p);

#endif
