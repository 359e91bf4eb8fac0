/* sim_policy - see sim_policy.h */
#include "sccr/sim_policy.h"

#include <stdlib.h>
#include <unistd.h>

#include "sccr/common.h"

struct sim_policy {
	struct ccr_config *config;
	char words[300];
};

int sim_policy_load(struct sim_policy **out, const char *name, struct ccr_error *err)
{
	struct sim_policy *p = calloc(1, sizeof(*p));
	int rc;

	*out = NULL;
	if (!p)
		return ccr_error_nomem(err);
	rc = sccr_policy_load(name, &p->config, err);
	if (rc) {
		free(p);
		return rc;
	}
	snprintf(p->words, sizeof(p->words), "%s%s", access(name, F_OK) ? "preset " : "", name);
	*out = p;
	return CCR_OK;
}

void sim_policy_free(struct sim_policy *p)
{
	if (!p)
		return;
	ccr_config_free(p->config);
	free(p);
}

void sim_policy_backfill(const struct sim_policy *p, const char *partition,
			 struct sim_backfill *out)
{
	const struct ccr_config_backfill *b = &p->config->backfill;

	*out = (struct sim_backfill){.enabled = b->enabled,
				     .strict = b->strict,
				     .placement = b->placement,
				     .has_long_jobs = b->has_long_jobs,
				     .depth = b->depth,
				     .window = b->window,
				     .long_over = b->long_over,
				     .long_gpu_fraction = b->long_gpu_fraction};
	if (partition)
		ccr_config_backfill_of(p->config, partition, &out->depth, &out->strict);
}

const char *sim_policy_words(const struct sim_policy *p)
{
	return p->words;
}

const struct ccr_config *sim_policy_config(const struct sim_policy *p)
{
	return p->config;
}
