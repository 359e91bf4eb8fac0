/* options - see options.h */
#include "sccr/options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sccr/safe.h"
#include "sccr/sccr.h"

/* getopt's numbers of options without a letter begin here. */
#define NO_LETTER 256

int sccr_wrong_use(const char *command, const char *what, ...)
{
	char text[2000];
	va_list ap;

	va_start(ap, what);
	vsnprintf(text, sizeof(text), what, ap);
	va_end(ap);
	sccr_say(command, "%s (see `sccr %s --help`)", text, command);
	return SCCR_USAGE;
}

static int number_of(const struct sccr_option *table, int i)
{
	return table[i].letter ? table[i].letter : NO_LETTER + i;
}

static const char *command_of(const char *argv0)
{
	const char *blank = strchr(argv0, ' ');

	return blank ? blank + 1 : argv0;
}

/* What getopt could not take: `o` is its answer, `word` the argument that it stands in. */
static int complain(const char *command, const struct sccr_option *table, int n, int o,
		    const char *word)
{
	const char *value = strchr(word, '=');
	int i = 0;

	while (i < n && number_of(table, i) != optopt)
		i++;
	if (o == ':' && i < n)
		return sccr_wrong_use(command, "--%s: a value is expected", table[i].name);
	/* an option that is known complains of a value that it does not take */
	if (optopt && value && (i < n || optopt == 'h'))
		return sccr_wrong_use(command, "--%s: no value is expected, found \"%.200s\"",
				      i < n ? table[i].name : "help", value + 1);
	if (optopt)
		return sccr_wrong_use(command, "an option that is not known: \"-%c\"", optopt);
	return sccr_wrong_use(command, "an option that is not known: \"%.200s\"", word);
}

int sccr_options(int argc, char **argv, const struct sccr_option *table, const char *help)
{
	struct option longs[SCCR_OPTIONS_MAX + 2] = {{"help", no_argument, NULL, 'h'}};
	char letters[2 * SCCR_OPTIONS_MAX + 3] = ":h";
	int n = 0, at = 2, o;

	for (; n < SCCR_OPTIONS_MAX && table[n].name; n++) {
		longs[n + 1] =
		    (struct option){table[n].name, table[n].text ? required_argument : no_argument,
				    NULL, number_of(table, n)};
		if (!table[n].letter)
			continue;
		letters[at++] = table[n].letter;
		if (table[n].text)
			letters[at++] = ':';
	}
	optind = 1;
	opterr = 0;
	while ((o = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		int i = 0;

		if (o == 'h') {
			fputs(help, stdout);
			return SCCR_OK;
		}
		while (i < n && o != number_of(table, i))
			i++;
		if (i == n)
			return complain(command_of(argv[0]), table, n, o, argv[optind - 1]);
		if (table[i].text)
			*table[i].text = optarg;
		else
			*table[i].flag = true;
	}
	return SCCR_GO_ON;
}
