/* options - see options.h */
#include "sccr/options.h"

#include <getopt.h>
#include <stdio.h>

#include "sccr/sccr.h"

/* getopt's numbers of options without a letter begin here. */
#define NO_LETTER 256

int sccr_wrong_use(const char *command, const char *what)
{
	fprintf(stderr, "sccr %s: %s (see `sccr %s --help`)\n", command, what, command);
	return SCCR_USAGE;
}

int sccr_options(int argc, char **argv, const struct sccr_option *table, const char *help)
{
	struct option longs[SCCR_OPTIONS_MAX + 2] = {{"help", no_argument, NULL, 'h'}};
	char letters[2 * SCCR_OPTIONS_MAX + 2] = "h";
	int n = 0, at = 1, o;

	for (; n < SCCR_OPTIONS_MAX && table[n].name; n++) {
		longs[n + 1] =
		    (struct option){table[n].name, table[n].text ? required_argument : no_argument,
				    NULL, table[n].letter ? table[n].letter : NO_LETTER + n};
		if (!table[n].letter)
			continue;
		letters[at++] = table[n].letter;
		if (table[n].text)
			letters[at++] = ':';
	}
	optind = 1;
	while ((o = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		int i = 0;

		if (o == 'h') {
			fputs(help, stdout);
			return SCCR_OK;
		}
		while (i < n && o != (table[i].letter ? table[i].letter : NO_LETTER + i))
			i++;
		if (i == n)
			return SCCR_USAGE;
		if (table[i].text)
			*table[i].text = optarg;
		else
			*table[i].flag = true;
	}
	return SCCR_GO_ON;
}
