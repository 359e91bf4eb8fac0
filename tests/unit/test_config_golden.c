/*
 * Every directory of tests/golden/config: input.json read under the name ccr.json has to give
 * expected.txt: the error, or what was understood in a few lines with every warning.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config.h"
#include "core/duration.h"
#include "core/json.h"

#define GOLDEN CCR_TESTS_DIR "/../golden/config"

static void say_groups(FILE *f, const struct ccr_config *c)
{
	for (size_t i = 0; i < c->groups.count; i++) {
		const struct ccr_group *g = c->groups.list[i];

		fprintf(f, "group %s: line %u, target ", g->name, g->line);
		if (g->target.kind == CCR_TARGET_NONE)
			fprintf(f, "none");
		else
			fprintf(f, "%.10g%s", g->target.percent, ccr_target_suffix(g->target.kind));
		fprintf(f, "%s, shares %.10g, factor %.10g (%s)%s",
			g->target_inherited ? " (default's)" : "", g->shares, g->financial,
			g->financial_words, g == c->groups.fallback ? ", the default" : "");
		for (size_t k = 0; k < g->n_accounts; k++)
			fprintf(f, ", account %s", g->accounts[k]);
		for (size_t k = 0; k < g->n_users; k++)
			fprintf(f, ", user %s", g->users[k]);
		fprintf(f, "\n");
	}
}

static void say(FILE *f, const struct ccr_config *c)
{
	char text[32];

	fprintf(f, "right: preset %s, base %lld, %s points\n", c->preset ? c->preset : "none",
		(long long)c->base, c->exact_points ? "exact" : "whole");
	for (int i = 0; i < CCR_COLUMNS; i++)
		if (c->column[i].text)
			fprintf(f, "%s: %s (%s, line %u%s)\n", ccr_column_name(i),
				c->column[i].text, c->column[i].where, c->column[i].line,
				c->column[i].job_sort ? ", job_sort_formula" : "");
	for (size_t i = 0; i < c->n_constants; i++)
		fprintf(f, "constant %s: %.10g\n", c->constants[i].name, c->constants[i].value);
	say_groups(f, c);
	fprintf(f, "usage: %s, interval %s, depth %d, decay %.10g, ",
		ccr_usage_kind_name(c->usage.model),
		ccr_duration_print(c->usage.interval, text, sizeof(text)), c->usage.depth,
		c->usage.decay);
	fprintf(f, "hist_hours %.10g, charge %s, source %s\n", c->usage.hist_hours,
		ccr_usage_charge_name(c->usage.charge), ccr_usage_source_name(c->usage.source));
	fprintf(f, "lsf: %.10g + %.10g h + %.10g cpu h + %.10g started, shares %.10g",
		c->lsf.constant, c->lsf.run_time_factor, c->lsf.cpu_time_factor,
		c->lsf.run_job_factor, c->lsf.user_shares);
	if (c->lsf.array_tasks != 32)
		fprintf(f, ", tasks %d", c->lsf.array_tasks);
	for (size_t i = 0; i < c->lsf.n_users; i++)
		fprintf(f, ", %s %.10g", c->lsf.users[i].user, c->lsf.users[i].shares);
	fprintf(f, "\nbackfill: %s, depth %d%s, window %s, placement %s",
		c->backfill.enabled ? "on" : "off", c->backfill.depth,
		c->backfill.strict ? " strict" : "",
		ccr_duration_print(c->backfill.window, text, sizeof(text)),
		c->backfill.placement ? "on" : "off");
	for (size_t i = 0; i < c->backfill.n_partitions; i++) {
		int depth;
		bool strict;

		ccr_config_backfill_of(c, c->backfill.partitions[i].name, &depth, &strict);
		fprintf(f, ", %s %d%s", c->backfill.partitions[i].name, depth,
			strict ? " strict" : "");
	}
	if (c->backfill.has_long_jobs)
		fprintf(f, ", over %s at most %.10g",
			ccr_duration_print(c->backfill.long_over, text, sizeof(text)),
			c->backfill.long_gpu_fraction);
	fprintf(f, "\n");
	for (size_t i = 0; i < c->n_warnings; i++)
		fprintf(f, "warning: %s\n", c->warnings[i].text);
}

static char *outcome(const char *dir)
{
	char path[600], *text = NULL, *result = NULL;
	const struct ccr_config_options options = {.year = 2026};
	struct ccr_config *c = NULL;
	struct ccr_error err = {0};
	size_t len, size;
	FILE *f;
	int rc;

	snprintf(path, sizeof(path), GOLDEN "/%s/input.json", dir);
	cr_assert_eq(ccr_json_read_file(path, 1 << 20, &text, &len, NULL, &err), 0, "%s", err.text);
	f = open_memstream(&result, &size);
	cr_assert(f);
	rc = ccr_config_parse(text, len, "ccr.json", &options, &c, &err);
	if (rc) {
		cr_expect_null(c);
		cr_expect_eq(rc, err.code);
		fprintf(f, "%s\n", err.text);
	} else {
		say(f, c);
	}
	fclose(f);
	ccr_config_free(c);
	free(text);
	return result;
}

Test(config_golden, every_case_says_what_is_expected)
{
	struct dirent **names;
	int n = scandir(GOLDEN, &names, NULL, alphasort), cases = 0;
	const char *update = getenv("CCR_GOLDEN_UPDATE");

	cr_assert_gt(n, 0);
	for (int i = 0; i < n; i++) {
		char path[600], *text = NULL, *got;
		size_t len;

		if (names[i]->d_name[0] != '.') {
			cases++;
			got = outcome(names[i]->d_name);
			snprintf(path, sizeof(path), GOLDEN "/%s/expected.txt", names[i]->d_name);
			if (update) {
				FILE *f = fopen(path, "w");

				fputs(got, f);
				fclose(f);
			}
			ccr_json_read_file(path, 1 << 20, &text, &len, NULL, NULL);
			cr_expect(text && !strcmp(text, got), "%s\nexpected: %sfound:    %s",
				  names[i]->d_name, text ? text : "nothing\n", got);
			free(text);
			free(got);
		}
		free(names[i]);
	}
	free(names);
	cr_expect_gt(cases, 100);
}
