/*
 * outputs - the files that a command is to write: opened at once, written when there is a result
 *
 * None of them is touched before all are known to be writable and to be files of their own: neither
 * an input nor another output, by whatever name or link. What stood in them stays there until the
 * first result is written.
 */
#ifndef SCCR_OUTPUTS_H
#define SCCR_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "core/error.h"

struct sccr_output {
	const char *option; /* as it is said in messages: "--jobs" */
	const char *path;   /* NULL: not asked for; "-": standard output */
	/* private */
	FILE *file;
	char *made; /* its path, where it was not there before */
	bool begun;
};

/* What must not be written: a file, or where path is NULL one that is open. */
struct sccr_kept {
	const char *what; /* "the workload" */
	const char *path;
	int fd; /* -1: none */
};

/*
 * Opens all outputs, which the caller gives back with sccr_outputs_close() whatever comes of it.
 * CCR_EINVAL: two are the same file, or one is among `kept`; /dev/null and terminals may be several
 * at once, but not by the name "-". CCR_EIO: one cannot be written.
 */
int sccr_outputs_open(struct sccr_output *out, size_t n, const struct sccr_kept *kept,
		      size_t n_kept, struct ccr_error *err);

/* The file to write, emptied. NULL: see err (CCR_EIO). */
FILE *sccr_output_begin(struct sccr_output *o, struct ccr_error *err);

/* All is written. CCR_EIO: it is not, as on a full disk. */
int sccr_output_end(struct sccr_output *o, struct ccr_error *err);

/* Closes what is still open. A file that was made and never begun is taken away again. */
void sccr_outputs_close(struct sccr_output *out, size_t n);

#endif
