/*
 * sim_text - numbers as workload files and slurm.conf write them
 */
#ifndef SCCR_SIM_TEXT_H
#define SCCR_SIM_TEXT_H

#include "sccr/sim_types.h"

/* A whole number from min to max and nothing else; false if it is not one. */
bool sim_text_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* A finite decimal number and nothing else. */
bool sim_text_double(const char *text, double *out);

/* Seconds with or without a fraction, to the nearest millisecond; at most 300 years either side of
 * 0. */
bool sim_text_seconds(const char *text, sim_time *out);

/*
 * A time limit as Slurm writes it: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS, UNLIMITED
 * or INFINITE (SIM_NEVER).
 */
bool sim_text_limit(const char *text, sim_time *out);

/* A point in time: YYYY-MM-DDTHH:MM:SS (as UTC), or seconds since 1970. */
bool sim_text_date(const char *text, sim_time *out);

/* A size with Slurm's suffix K, M, G, T or P (none: M), rounded up to MiB. */
bool sim_text_mem(const char *text, uint32_t *mib);

/* "3d 04:05:06", "4:05:06", "12.5 s" or "12 s" for people, as the page has it; returns out. */
const char *sim_text_span(sim_time t, char *out, unsigned size);

#endif
