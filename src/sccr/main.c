/* sccr - one command, several tools: scores, explanations and simulations of the queue */
#include <stdio.h>
#include <string.h>

#include "sccr/safe.h"
#include "sccr/sccr.h"

static const struct sccr_command commands[] = {
    {"check", sccr_check, "validate a policy file and print it as it is understood"},
    {"explain", sccr_explain, "why a job is where it is, who is ahead, what would change it"},
    {"score", sccr_score, "a job's score, term by term, under any policy"},
    {"usage", sccr_usage, "each group's target and usage, and what that is worth"},
    {"simulate", sccr_simulate, "replay a workload under a policy and see what it comes to"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *out)
{
	fputs("usage: sccr COMMAND [OPTIONS]\n\n", out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\n`sccr COMMAND --help` lists a command's options, `man sccr` explains them.\n"
	      "Exit status: 0 success, 1 bad input or result, 2 wrong use.\n",
	      out);
}

/* A result that could not be written is none: a full disk must not look like success. */
static int written(const char *name, int rc)
{
	if ((fflush(stdout) || ferror(stdout)) && rc == SCCR_OK) {
		perror(name);
		return SCCR_BAD;
	}
	return rc;
}

static int run(const struct sccr_command *command, int argc, char **argv)
{
	char name[32];

	snprintf(name, sizeof(name), "sccr %s", command->name);
	argv[0] = name; /* getopt's messages begin with it */
	return written(name, command->run(argc, argv));
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		help(stderr);
		return SCCR_USAGE;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		help(stdout);
		return written("sccr", SCCR_OK);
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("sccr " CCR_VERSION);
		return written("sccr", SCCR_OK);
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		if (!strcmp(name, commands[i].name))
			return run(&commands[i], argc - 1, argv + 1);
	}
	sccr_say(NULL, "no command \"%s\": see `sccr --help`", name);
	return SCCR_USAGE;
}
