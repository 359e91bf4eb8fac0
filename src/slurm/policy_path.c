/* policy_path - see policy_path.h */
#include "slurm/policy_path.h"

#include <stdlib.h>
#include <string.h>

#include "slurm/compat.h"

char *ccr_slurm_option(const char *name)
{
	size_t n = strlen(name);

	for (const char *p = slurm_conf.priority_params; p && *p;
	     p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		if (!strncasecmp(p, name, n) && p[n] == '=')
			return strndup(p + n + 1, strcspn(p + n + 1, ","));
	}
	return NULL;
}

char *ccr_slurm_policy_path(void)
{
	char *given = ccr_slurm_option("ccr_conf"), *beside, *path;

	if (given)
		return given;
	beside = get_extra_conf_path("ccr.json");
	path = beside ? strdup(beside) : NULL;
	xfree(beside);
	return path;
}
