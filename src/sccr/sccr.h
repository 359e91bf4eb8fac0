/*
 * sccr - the subcommands of the sccr command
 *
 * A subcommand gets argv[0] as its own name and answers with an exit status: SCCR_OK, SCCR_BAD for
 * input or a result that is not good, SCCR_USAGE for wrong use of options. It prints results to
 * standard output and messages ("sccr simulate: ...") to standard error.
 */
#ifndef SCCR_SCCR_H
#define SCCR_SCCR_H

enum { SCCR_OK = 0, SCCR_BAD = 1, SCCR_USAGE = 2, SCCR_INTERRUPTED = 130 };

struct sccr_command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary; /* one line for `sccr --help` */
};

int sccr_check(int argc, char **argv);
int sccr_explain(int argc, char **argv);
int sccr_score(int argc, char **argv);
int sccr_usage(int argc, char **argv);
int sccr_simulate(int argc, char **argv);

#endif
