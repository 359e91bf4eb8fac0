/*
 * explain_reason - what Slurm's reason for a pending job means, in words for who waits
 */
#ifndef SCCR_EXPLAIN_REASON_H
#define SCCR_EXPLAIN_REASON_H

#include <stdbool.h>
#include <stddef.h>

enum explain_kind {
	KIND_UNKNOWN, /* not one of Slurm's reasons, or one that tells nothing */
	KIND_TURN,    /* it is in the running: None, Priority, Resources */
	KIND_NODES,   /* nodes that it asks for are said not to be available */
	KIND_HELD,    /* somebody or something has to let it go */
	KIND_OTHER,   /* a limit, a dependency, a time: not its turn */
	KIND_REFUSED, /* its partition does not take it as it is */
	KIND_CLOSED,  /* its partition lets no job start */
};

/*
 * Reads a reason as squeue writes it (blanks or _ between words) and puts its meaning into words
 * (size bytes; "" for KIND_TURN, KIND_NODES and KIND_UNKNOWN). The words go on behind a colon, with
 * no stop at their end. held: the job's priority is 0, so it is not in the running whatever the
 * reason says.
 */
enum explain_kind explain_reason(const char *reason, bool held, char *words, size_t size);

#endif
