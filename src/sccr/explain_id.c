/* explain_id - see explain_id.h */
#include "sccr/explain_id.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define NO_ID  4294967294UL /* Slurm's NO_VAL: it is no id, and none is above it */

/* Takes a number of Slurm's off the front, and its leading zeros away; NULL if there is none. */
static char *take_number(char *text, unsigned long least)
{
	size_t zeros = strspn(text, "0"), n = strspn(text, DIGITS);
	unsigned long value;

	if (!n)
		return NULL;
	if (zeros == n) /* one of them is the number */
		zeros--;
	memmove(text, text + zeros, strlen(text + zeros) + 1);
	errno = 0;
	value = strtoul(text, NULL, 10);
	return errno || value < least || value >= NO_ID ? NULL : text + n - zeros;
}

bool explain_id(char *text)
{
	char *rest = take_number(text, 1);

	if (rest && !strncmp(rest, "_[", 2)) {
		if (strcmp(rest + 2 + strspn(rest + 2, DIGITS "-,:%."), "]") != 0)
			return false;
		*rest = '\0';
	} else if (rest && (*rest == '_' || *rest == '+')) {
		rest = take_number(rest + 1, 0);
	}
	return rest && !*rest;
}
