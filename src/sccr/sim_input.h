/*
 * sim_input - the bytes of a workload: a file that can be read more than once
 */
#ifndef SCCR_SIM_INPUT_H
#define SCCR_SIM_INPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/error.h"

/* Looked at while a file is read, which may take long. */
struct sim_watch {
	const volatile sig_atomic_t *stop; /* reading ends when this is set; or NULL */
	/* what is being done ("reading"), with how many of how many bytes (0: not known); or NULL
	 */
	void (*progress)(void *arg, const char *doing, uint64_t bytes, uint64_t size);
	void *arg;
};

struct sim_input {
	FILE *file;
	long start;	  /* where its text begins: behind a byte order mark */
	uint64_t size;	  /* in bytes */
	bool interrupted; /* it was not read to its end, as *stop was set */
};

static inline bool sim_watch_stopped(const struct sim_watch *w)
{
	return w && w->stop && *w->stop;
}

static inline void sim_watch_tell(const struct sim_watch *w, const char *doing, uint64_t bytes,
				  uint64_t size)
{
	if (w && w->progress)
		w->progress(w->arg, doing, bytes, size);
}

/*
 * Opens path ("-": standard input, copied to a temporary file) at the start of its text. name is
 * what messages call it; watch may be NULL. CCR_EIO: it cannot be read, or that was interrupted;
 * CCR_EINVAL: it is compressed. in->file is the caller's to close, also after an error.
 */
int sim_input_open(struct sim_input *in, const char *path, const char *name,
		   const struct sim_watch *watch, struct ccr_error *err);

/* The error of a file that was not read to its end because of *stop. */
int sim_input_interrupted(struct sim_input *in, const char *name, struct ccr_error *err);

#endif
