/* policy_path - see policy_path.h */
#include "slurm/policy_path.h"

#include <stdlib.h>
#include <string.h>

#include "slurm/compat.h"

char *ccr_slurm_policy_path(void)
{
	static const char name[] = "ccr_conf=";
	char *beside, *path;

	for (const char *p = slurm_conf.priority_params; p && *p;
	     p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (!strncasecmp(p, name, sizeof(name) - 1))
			return strndup(p + sizeof(name) - 1, strcspn(p + sizeof(name) - 1, ","));
	beside = get_extra_conf_path("ccr.json");
	path = beside ? strdup(beside) : NULL;
	xfree(beside);
	return path;
}
