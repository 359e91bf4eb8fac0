/*
 * sim_hostlist - Slurm's host ranges: "gpu[01-04,07],login1"
 */
#ifndef SCCR_SIM_HOSTLIST_H
#define SCCR_SIM_HOSTLIST_H

#include "core/error.h"

/* The most names that one expression may stand for. */
#define SIM_HOSTLIST_MAX 200000

/*
 * Calls each(name, arg) for every host of the expression, in its order. Several brackets in a name
 * count like digits, the last one fastest. Leading zeros give the width. A non-zero answer of
 * each() ends the walk and is returned. CCR_EINVAL: not a host expression, the message says where.
 */
int sim_hostlist_each(const char *text, int (*each)(const char *name, void *arg), void *arg,
		      struct ccr_error *err);

/*
 * Writes the shortest of the usual forms for n names into out: a common prefix and ranges of
 * numbers. Names that do not end in a number stand alone. Cut with "..." if it does not fit.
 */
void sim_hostlist_print(const char *const *names, unsigned n, char *out, unsigned size);

#endif
