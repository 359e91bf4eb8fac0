/*
 * clients - what stock Slurm's own commands tell: sprio, squeue, scontrol, sshare
 *
 * sccr asks slurmctld through them instead of linking Slurm's library: it then works on every host
 * that has the clients, whatever their version, with the rights and the privacy of whoever calls
 * it.
 */
#ifndef SCCR_CLIENTS_H
#define SCCR_CLIENTS_H

#include <stddef.h>

#include "core/error.h"

/* A command's lines, each cut into fields at `|`. */
struct client_rows {
	char *text;
	char ***row; /* row[i][k], fields_min fields at least, missing ones "" */
	size_t n;
};

/*
 * Runs argv (argv[0] is looked up in PATH; no shell) and cuts what it prints. CCR_EIO: it cannot be
 * run or exits other than 0; the message has the last line that it wrote to standard error.
 */
int client_run(char *const argv[], size_t fields_min, struct client_rows *out,
	       struct ccr_error *err);
/*
 * The same for output whose format begins each record with CLIENT_RECORD and parts fields with
 * CLIENT_FIELD: names may then hold bars and line ends. Control characters come out as `?`.
 */
#define CLIENT_RECORD "\x1e"
#define CLIENT_FIELD  "\x1f"
int client_run_safe(char *const argv[], size_t fields_min, struct client_rows *out,
		    struct ccr_error *err);
/* A line a record, whose fields are parted with CLIENT_FIELD. */
int client_run_lines(char *const argv[], size_t fields_min, struct client_rows *out,
		     struct ccr_error *err);
/* The same of a command that is ended, and has failed, when it has not answered by then. */
int client_run_lines_within(char *const argv[], size_t fields_min, int seconds,
			    struct client_rows *out, struct ccr_error *err);
void client_rows_free(struct client_rows *rows);

/* The value of KEY = VALUE in `scontrol show config`, malloc'd; NULL where it is not there. */
char *client_config(const struct client_rows *config, const char *key);

/* `scontrol show config`, one row a line, one field. */
int client_show_config(struct client_rows *out, struct ccr_error *err);

#endif
