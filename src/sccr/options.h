/*
 * options - the options of a subcommand, as a table
 */
#ifndef SCCR_OPTIONS_H
#define SCCR_OPTIONS_H

#include <stdbool.h>

/* One with a value (text) or without (flag). A table ends with one without a name. */
struct sccr_option {
	const char *name;
	char letter; /* its short form; 0: none */
	const char **text;
	bool *flag;
};

#define SCCR_OPTIONS_MAX 24
#define SCCR_GO_ON	 (-1)

/*
 * Reads the options with getopt_long and complains of what it does not know, as argv[0] ("sccr
 * check"); --help and -h print `help`. SCCR_GO_ON: what is not an option stands from argv[optind]
 * on; else the exit status.
 */
int sccr_options(int argc, char **argv, const struct sccr_option *table, const char *help);

/* Wrong use: "sccr COMMAND: WHAT (see `sccr COMMAND --help`)". Returns SCCR_USAGE. */
int sccr_wrong_use(const char *command, const char *what, ...)
    __attribute__((format(printf, 2, 3)));

#endif
