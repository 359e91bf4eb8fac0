/*
 * sim_workload - the jobs of a simulation, read one by one in order of submission
 *
 * Formats: SWF (the Standard Workload Format with its 18 fields), CSV with a header line, and the
 * output of `sacct --parsable2` (fields parted by '|', header line first). docs/man/sccr-simulate.1
 * lists the columns.
 *
 * A file whose jobs are in order of submission is streamed: only live jobs are in memory. One that
 * is not is read and sorted first.
 */
#ifndef SCCR_SIM_WORKLOAD_H
#define SCCR_SIM_WORKLOAD_H

#include "sccr/sim_cluster.h"
#include "sccr/sim_input.h"
#include "sccr/sim_layout.h"

enum sim_format { SIM_FORMAT_AUTO, SIM_FORMAT_SWF, SIM_FORMAT_CSV, SIM_FORMAT_SACCT };

/* One job as a line of a file says it, before it is laid out on the cluster. */
struct sim_line {
	char id[40];
	sim_time submit, runtime;
	sim_time limit;		/* -1: not given */
	sim_time recorded_wait; /* -1: not known */
	uint64_t after;
	sim_time think;
	struct sim_totals want;
	char gpu_type[64];
	char user[128], account[128], qos[128], partition[256];
	bool any_partition; /* one that the cluster does not have means the default one (SWF's
			       numbers) */
};

enum sim_line_kind {
	SIM_LINE_JOB,
	SIM_LINE_NONE, /* blank, comment, header, a job step */
	SIM_LINE_SKIP, /* a job that never ran here or has not ended: counted, not an error */
	SIM_LINE_BAD,  /* the message says what is wrong */
};

/* What one line can be checked against and say: filled by the readers. */
struct sim_message {
	char text[240];
};

/* Sums of a whole pass over the file. */
struct sim_workload_counts {
	uint64_t lines, jobs, bad, skipped;
	uint64_t cut;	   /* jobs that ran longer than their limit: ended at it */
	uint64_t over_max; /* jobs whose limit is above their partition's MaxTime: cut to that */
	uint64_t over_max_cut; /* those of over_max that ran longer than MaxTime */
	sim_time first_submit, last_submit;
};

struct sim_workload {
	const char *path;
	struct sim_input in;
	const struct sim_watch *watch; /* or NULL; not owned */
	enum sim_format format;
	struct sim_cluster *cluster; /* not owned */
	struct sim_names *users, *accounts, *qos, *partitions;
	struct sim_names *lists; /* of partitions, where a job names several */
	struct sim_workload_counts counts;
	bool no_kill;		      /* jobs run on past their limit */
	bool need_start;	      /* a job of which no start is recorded is a bad line */
	bool keep_memory;	      /* the cluster's nodes have memory to give */
	int64_t unix_zero;	      /* seconds since 1970 at time 0; SWF's header, else 0 */
	int64_t max_nodes, max_procs; /* SWF's header, else 0 */

	/* private */
	struct sim_columns *columns;
	struct sim_job *sorted; /* all jobs, where the file is out of order */
	uint64_t next;
	bool has_zero; /* the line in it has a byte that is 0 */
	char *buf;
	size_t room;
	uint64_t line, bytes; /* read so far */
	uint64_t serial;
};

/* Called with each bad line; line 0 with the sum of those not named. */
typedef void (*sim_complain)(uint64_t line, const char *text, void *arg);

/*
 * Opens path ("-": standard input, copied to a temporary file) and finds out its format. Does not
 * yet need the cluster: the SWF header can say how large it is. watch (or NULL) is looked at here
 * and by sim_workload_check: stopped, they give CCR_EIO and w->in.interrupted is set.
 */
int sim_workload_open(struct sim_workload *w, const char *path, enum sim_format format,
		      const struct sim_watch *watch, struct ccr_error *err);

/* Does the file have columns that say when jobs started? SWF always has. */
bool sim_workload_has_starts(const struct sim_workload *w);

/* Reads the whole file once: counts, checks, sorts if it must. w->cluster is set by then. */
int sim_workload_check(struct sim_workload *w, sim_complain complain, void *arg,
		       struct ccr_error *err);

/* Fills *job with the next one: 1; 0 at the end; -1 on an error (in err). */
int sim_workload_next(struct sim_workload *w, struct sim_job *job, struct ccr_error *err);

/*
 * Makes *twin the same job in the next of its partitions behind *from (0 at first) in which it can
 * run, other than j's own. False: there is none.
 */
bool sim_workload_twin(const struct sim_workload *w, const struct sim_job *j, uint32_t *from,
		       struct sim_job *twin);

/* From the start again. */
int sim_workload_rewind(struct sim_workload *w, struct ccr_error *err);

void sim_workload_close(struct sim_workload *w);

/* The readers: one line of each format. text may be changed. */
enum sim_line_kind sim_swf_line(char *text, struct sim_line *out, struct sim_message *m);

/* "; MaxNodes: 240" and the like; 0 and *value, or -1. */
int sim_swf_header(const char *text, const char *key, int64_t *value);

/* Columns of a header line; NULL with a message if a needed one is missing or one is unknown. */
struct sim_columns *sim_columns_new(enum sim_format format, const char *header,
				    struct sim_message *m);
void sim_columns_free(struct sim_columns *c);
/* Is there a column that says when jobs started? */
bool sim_columns_have_starts(const struct sim_columns *c);
enum sim_line_kind sim_columns_line(struct sim_columns *c, const char *text, struct sim_line *out,
				    struct sim_message *m);

#endif
