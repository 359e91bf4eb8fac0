/*
 * ended - how a job ended: what slurmctld still knows of it, and the database where there is one
 */
#ifndef SCCR_ENDED_H
#define SCCR_ENDED_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "sccr/clients.h"

/* Both are asked once for the job, its array or its hetjob. */
struct ended_source {
	struct client_rows scontrol, sacct; /* n == 0: it does not answer, or does not know */
	char silent[300];		    /* why the database does not answer; "": it does, */
					    /* or there is none */
};

struct ended {
	bool has_code;
	int code, signal;   /* of the batch script, or the highest of its steps */
	char by[64];	    /* who cancelled it; "" where that is not known */
	time_t start, end;  /* -1: it never started; not known */
	const char *state;  /* without what stands behind it, such as CANCELLED */
	const char *limit;  /* as squeue writes it */
	const char *reason; /* squeue's; "" */
	const char *silent; /* why the database does not tell more; NULL: it does, or is none */
};

/* Asks for the job, array or hetjob. What cannot be had is left out. */
void ended_source_read(struct ended_source *s, const char *asked);
void ended_source_free(struct ended_source *s);

/* Is it a state in which a job is over? */
bool ended_state(const char *state);

/*
 * Fills what the source knows of one job: id as squeue has it (12_3), number as slurmctld has it.
 * The times, state, limit and reason are the caller's.
 */
void ended_find(const struct ended_source *s, const char *id, const char *number,
		struct ended *out);

/* One sentence or two, with the line's end. */
void ended_print(const struct ended *e, FILE *out);

/* , "key": value ... */
void ended_print_json(const struct ended *e, FILE *out);

/*
 * Jobs that only the database tells of: prints all that match what was asked for, in words or as
 * JSON objects with commas between them. partial: slurmctld hides jobs from whoever asks. Returns
 * how many there are.
 */
size_t ended_print_gone(const struct ended_source *s, bool json, bool partial, FILE *out);

#endif
