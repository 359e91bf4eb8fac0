/*
 * fuzz_config - any bytes as a policy file
 *
 * What has to hold: no crash, no leak, a message for every refusal, and a text that was accepted is
 * accepted again with the same outcome. Built and run by tests/fuzz/run.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ccr_config_options options = {.year = 2026};

static void look_up(const struct ccr_config *c)
{
	const char *accounts[] = {"physics", "b", "root"};
	int depth;
	bool strict;

	if (!c->name || c->text[c->text_len])
		abort();
	for (size_t i = 0; i < c->groups.count; i++) {
		const struct ccr_group *g = c->groups.list[i];

		if (ccr_groups_find(&c->groups, g->name) != g || !g->financial_words)
			abort();
	}
	if (c->default_group && !c->groups.fallback)
		abort();
	(void)ccr_groups_climb(&c->groups, "ada", accounts, 3, NULL, NULL);
	ccr_config_backfill_of(c, "gpu_batch_exec", &depth, &strict);
	if (depth < 0 || ccr_config_lsf_shares(c, "ada") <= 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ccr_config *c = NULL, *again = NULL;
	struct ccr_error err = {0};
	int rc = ccr_config_parse((const char *)data, size, "ccr.json", &options, &c, &err);

	if (rc) {
		if (c || rc != err.code || strncmp(err.text, "ccr.json", 8) ||
		    (!strstr(err.text, "found ") && !strstr(err.text, "policy.")))
			abort();
		return 0;
	}
	look_up(c);
	if (ccr_config_parse(c->text, c->text_len, "ccr.json", &options, &again, &err) ||
	    again->n_warnings != c->n_warnings)
		abort();
	ccr_config_free(again);
	ccr_config_free(c);
	return 0;
}
