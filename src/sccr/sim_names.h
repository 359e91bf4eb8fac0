/*
 * sim_names - names to small numbers and back: users, accounts, partitions, GPU types
 */
#ifndef SCCR_SIM_NAMES_H
#define SCCR_SIM_NAMES_H

#include <stdint.h>

struct sim_names; /* owns its strings; a number once given stays */

struct sim_names *sim_names_new(void); /* NULL: out of memory */
void sim_names_free(struct sim_names *n);

/* The number of name, given now if it is new; UINT32_MAX: out of memory. */
uint32_t sim_names_add(struct sim_names *n, const char *name);

/* The number of name, or UINT32_MAX. */
uint32_t sim_names_find(const struct sim_names *n, const char *name);

/* The name of a number, or "" for a number that was never given. */
const char *sim_names_get(const struct sim_names *n, uint32_t number);

uint32_t sim_names_count(const struct sim_names *n);

#endif
