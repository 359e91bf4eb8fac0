/*
 * sim_progress - how far a run is, on a terminal
 */
#ifndef SCCR_SIM_PROGRESS_H
#define SCCR_SIM_PROGRESS_H

#include "sccr/sim_engine.h"

struct sim_progress {
	bool on, drawn;
	double start, shown; /* seconds, monotonic */
};

/* On only if standard error is a terminal and quiet is false. */
void sim_progress_begin(struct sim_progress *p, bool quiet);

/* Draws at most four times a second. Fits sim.progress. */
void sim_progress_step(void *p, const struct sim *s);

/* The same while a file is read: bytes of size, which is 0 if not known. Fits sim_watch.progress.
 */
void sim_progress_read(void *p, const char *doing, uint64_t bytes, uint64_t size);

/* Takes the line away till it is drawn again: something else is to be written. */
void sim_progress_hide(struct sim_progress *p);

/* Takes it away for good. */
void sim_progress_end(struct sim_progress *p);

#endif
