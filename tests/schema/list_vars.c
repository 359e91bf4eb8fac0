/*
 * list_vars - the table of variables in docs/man/ccr.json.5, from the code's own list
 *
 * What it prints stands in the page between the marks; after a change of core/vars.c:
 *	tests/schema/variables.py build/tests/schema/list_vars
 */
#include <stdio.h>

#include "core/vars.h"

int main(void)
{
	const struct ccr_var_info *v;
	const char *alias;
	enum ccr_var var;

	puts(".Bl -tag -width \"fairshare_factor\"");
	for (int i = 0; (v = ccr_var_info(i)); i++) {
		printf(".It Va %s", v->name);
		for (int k = 0; (alias = ccr_var_alias(k, &var)); k++) {
			if ((int)var == i)
				printf(" , %s", alias);
		}
		/* a sentence a line, as mdoc wants it */
		printf("\n(%s)\n%s\n", v->unit, v->source);
	}
	puts(".El");
	return 0;
}
