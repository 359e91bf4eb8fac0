/* list_keys - every key that the policy file's loader knows, one `SECTION<tab>KEY` a line */
#include <stdio.h>

#include "core/config.h"

static void print(const char *section, const char *key, void *data)
{
	(void)data;
	printf("%s\t%s\n", section, key);
}

int main(void)
{
	ccr_config_keys(print, NULL);
	for (const char *const *p = ccr_config_presets(); *p; p++)
		printf("preset\t%s\n", *p);
	return 0;
}
