/* sim_weights - see sim_weights.h */
#include "sccr/sim_weights.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A weight for memory counts for a unit of its suffix: 0.25G is 0.25 for each GiB. */
static double per_mib(char suffix)
{
	switch (toupper((unsigned char)suffix)) {
	case 'K':
		return 1024;
	case 'G':
		return 1.0 / 1024;
	case 'T':
		return 1.0 / (1024.0 * 1024);
	case 'P':
		return 1.0 / (1024.0 * 1024 * 1024);
	default:
		return 1;
	}
}

int sim_weights_parse(const char *text, struct sim_weights *out, struct ccr_error *err)
{
	char copy[512], *save = NULL;

	memset(out, 0, sizeof(*out));
	if (!text || !*text)
		return CCR_OK;
	out->given = true;
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *t = strtok_r(copy, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		char *eq = strchr(t, '='), *end = NULL;
		double v = eq ? strtod(eq + 1, &end) : NAN;

		if (!eq || end == eq + 1 || !isfinite(v) || (*end && end[1]))
			return ccr_error_set(err, CCR_EINVAL, 0,
					     "TRES weights \"%.200s\": no weight in \"%.60s\"",
					     text, t);
		*eq = '\0';
		if (!strcasecmp(t, "CPU"))
			out->cpu = v;
		else if (!strcasecmp(t, "Mem"))
			out->mem = v * per_mib(*end);
		else if (!strcasecmp(t, "Node"))
			out->node = v;
		else if (!strncasecmp(t, "GRES/gpu", 8))
			out->gpu = v;
	}
	return CCR_OK;
}

double sim_weights_bill(const struct sim_weights *w, uint64_t cpus, uint64_t mem, uint64_t nodes,
			uint64_t gpus)
{
	if (!w->given)
		return (double)cpus;
	return w->cpu * (double)cpus + w->mem * (double)mem + w->node * (double)nodes +
	       w->gpu * (double)gpus;
}
