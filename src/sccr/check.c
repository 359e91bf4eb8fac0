/*
 * sccr check - a policy file, validated and told as it was understood
 *
 * Every error is the loader's own (FILE:LINE: FIELD: found X, expected Y): what passes here is what
 * the plugin takes. Weights come from slurm.conf, where one is found.
 */
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "core/config.h"
#include "core/duration.h"
#include "sccr/common.h"
#include "sccr/options.h"
#include "sccr/sccr.h"
#include "sccr/sim_cluster.h"

struct check {
	const struct ccr_config *config;
	struct sim_cluster slurm; /* slurm.conf, where there is one */
	const char *conf_path;	  /* NULL: none */
};

static const char help[] =
    "usage: sccr check [OPTIONS] POLICY\n\n"
    "Validates a policy file and prints it as it is understood: each column with its\n"
    "expression and weight, each group with its target and factor, usage and backfill.\n\n"
    "  -s, --slurm-conf FILE  where the weights are read (default: $SLURM_CONF, else\n"
    "                         /etc/slurm/slurm.conf if it is there)\n"
    "  -q, --quiet            print errors and warnings only\n"
    "  -h, --help\n\n"
    "Exit status: 0 a good policy, 1 a bad one, 2 wrong use.\n";

/* --- columns ---------------------------------------------------------------------------------- */

static const char *weight_of(const struct check *c, int column)
{
	const char *value;

	if (column == CCR_COL_SITE)
		return "1";
	if (!c->conf_path)
		return "?";
	value = sim_cluster_setting(&c->slurm, sccr_column_weight(column));
	return value ? value : "0";
}

static void print_columns(const struct check *c)
{
	bool hidden = false;

	printf("%-10s %10s  %-44s %s\n", "COLUMN", "WEIGHT", "EXPRESSION", "FROM");
	for (int i = 0; i < CCR_COLUMNS; i++) {
		const struct ccr_formula *f = &c->config->column[i];
		const char *weight = weight_of(c, i);

		printf("%-10s %10s  %-44s ", sccr_column_title(i), weight, f->text ? f->text : "0");
		if (f->text && !f->preset)
			printf("line %u\n", f->line);
		else
			printf("%s\n", f->text ? f->where : "-");
		hidden = hidden || (f->text && strcmp(f->text, "0") && !strcmp(weight, "0"));
	}
	if (hidden)
		printf("A column of weight 0 counts nothing, and sprio hides it: set its "
		       "PriorityWeight in slurm.conf.\n");
	printf("TRES and NICE are as in priority/multifactor.\n\n");
}

/* Does Slurm have a database? */
enum has_dbd { UNKNOWN, NO, YES };

static enum has_dbd has_dbd(const struct check *c)
{
	const char *type;

	if (!c->conf_path)
		return UNKNOWN;
	type = sim_cluster_setting(&c->slurm, "AccountingStorageType");
	return type && strstr(type, "slurmdbd") ? YES : NO;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Where a group gets its target from when the file has none. */
static const char *no_target(const struct check *c)
{
	switch (has_dbd(c)) {
	case NO:
		return "no target: its fairshare term is 0";
	case YES:
		return "target from its account's shares in sacctmgr, normalised, in percent";
	default:
		return "target from its account's shares in sacctmgr with a database, else none: "
		       "its fairshare term is 0 then";
	}
}

static void print_target(const struct check *c, const struct ccr_target *t, bool inherited)
{
	static const char *const words[] = {
	    [CCR_TARGET_NONE] = "",
	    [CCR_TARGET_BOTH] = "points for usage below it, and off for usage above it",
	    [CCR_TARGET_CEILING] = "a ceiling: points off for usage above it, none for below",
	    [CCR_TARGET_FLOOR] = "a floor: points for usage below it, none off for above",
	    [CCR_TARGET_CAP] = "a cap, which carries no points",
	    [CCR_TARGET_CAP_ALL] = "a cap of all there was, which carries no points",
	};

	if (t->kind == CCR_TARGET_NONE)
		fputs(no_target(c), stdout);
	else
		printf("target %.10g %%, %s%s", t->percent, words[t->kind],
		       inherited ? " (from the default group)" : "");
}

static void print_names(const char *what, char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s%s", i ? ", " : what, names[i]);
	if (n)
		putchar('\n');
}

static void print_groups(const struct check *c)
{
	const struct ccr_groups *g = &c->config->groups;

	if (!g->count)
		printf("There are no groups.\n");
	for (size_t i = 0; i < g->count; i++) {
		const struct ccr_group *one = g->list[i];

		printf("group %s%s\n    ", one->name,
		       one == g->fallback ? " (the default group)" : "");
		print_target(c, &one->target, one->target_inherited);
		printf("\n    financial factor %.10g: %s\n", one->financial, one->financial_words);
		print_names("    also the accounts ", one->accounts, one->n_accounts);
		print_names("    the users ", one->users, one->n_users);
	}
	if (has_dbd(c) != NO && (g->count || !g->fallback))
		printf(
		    "A job whose account no group names goes by its nearest named ancestor%s.\n\n",
		    g->fallback ? ", else the default group"
		    : has_dbd(c) == YES
			? ", else its own account's shares in sacctmgr"
			: " and else by\nits own account's shares in sacctmgr, with a database; "
			  "without one it has no group");
	else if (g->fallback)
		printf("A job whose account no group names belongs to %s.\n\n", g->fallback->name);
	else
		printf("A job whose account no group names has no group: its target, usage and "
		       "financial terms are 0.\n\n");
}

/* --- usage, backfill -------------------------------------------------------------------------- */

static void print_usage_source(const struct check *c)
{
	const struct ccr_config_usage *u = &c->config->usage;
	bool dbd = has_dbd(c) == YES;

	if (u->source == CCR_SOURCE_LEDGER || u->model != CCR_USAGE_HALFLIFE)
		printf("usage from slurm-ccr's own ledger");
	else if (!c->conf_path)
		printf("usage from Slurm's associations with a database, else from the ledger");
	else
		printf("usage from %s (%s)",
		       dbd ? "Slurm's associations, as sshare shows it" : "slurm-ccr's own ledger",
		       dbd ? "slurm.conf names slurmdbd" : "slurm.conf names no database");
}

static void print_usage(const struct check *c)
{
	const struct ccr_config_usage *u = &c->config->usage;
	char interval[32];

	print_usage_source(c);
	printf(", charged by %s", ccr_usage_charge_name(u->charge));
	switch (u->model) {
	case CCR_USAGE_HALFLIFE:
		printf(", halved every PriorityDecayHalfLife\n");
		break;
	case CCR_USAGE_WINDOWS:
		ccr_duration_print(u->interval, interval, sizeof(interval));
		printf(", in %d windows of %s, each worth %.10g of the one after it\n", u->depth,
		       interval, u->decay);
		break;
	case CCR_USAGE_LSF:
		printf(", an hour now worth ten of %.10g hours ago\n", u->hist_hours);
		break;
	}
}

static void print_backfill(const struct check *c)
{
	const struct ccr_config_backfill *b = &c->config->backfill;
	char window[32];

	if (!b->enabled) {
		printf("backfill by the GPU gate is off\n");
		return;
	}
	ccr_duration_print(b->window, window, sizeof(window));
	printf("backfill: %d bookings a partition, within %s%s%s\n", b->depth, window,
	       b->strict ? ", nobody passes a blocked job" : "",
	       b->placement ? ", jobs placed where they strand the fewest GPUs" : "");
	for (size_t i = 0; i < b->n_partitions; i++) {
		int depth;
		bool strict;

		ccr_config_backfill_of(c->config, b->partitions[i].name, &depth, &strict);
		printf("    partition %s: %d bookings%s\n", b->partitions[i].name, depth,
		       strict ? ", strict" : "");
	}
}

static void print_all(const struct check *c)
{
	printf("%s is good%s%s.\n", c->config->name, c->config->preset ? ", on the preset " : "",
	       c->config->preset ? c->config->preset : "");
	if (c->conf_path)
		printf("Weights are those of %s.\n", c->conf_path);
	else
		printf("No slurm.conf was found: weights are not known.\n");
	printf("Each score is lifted by %lld points, in SITE. Points are %s.\n\n",
	       (long long)c->config->base,
	       c->config->exact_points ? "kept exact" : "rounded to whole ones in each column");
	print_columns(c);
	print_groups(c);
	print_usage(c);
	print_backfill(c);
}

/* --- the command ------------------------------------------------------------------------------ */

/*
 * slurmctld takes no policy that others than root and SlurmUser can write: said before it refuses.
 * It does take such a ledger, as usage must not be lost.
 */
static void warn_of_owners(const struct check *c, const char *policy)
{
	const char *state = sim_cluster_setting(&c->slurm, "StateSaveLocation");
	uid_t user = sccr_slurm_user(&c->slurm);
	char path[PATH_MAX];

	sccr_warn_of_owner(policy, user, "slurmctld would refuse it: ");
	if (state && snprintf(path, sizeof(path), "%s/ccr_usage.json", state) < PATH_MAX)
		sccr_warn_of_owner(path, user, "slurmctld uses it all the same: ");
}

static int check(const char *policy, const char *conf, bool quiet)
{
	struct ccr_config_options options = {.year = sccr_this_year()};
	struct ccr_config *config = NULL;
	struct check c = {.conf_path = sccr_find_conf(conf)};
	struct ccr_error err;
	int rc = SCCR_OK;

	if (ccr_config_load(policy, &options, &config, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return SCCR_BAD;
	}
	c.config = config;
	if (c.conf_path && sim_cluster_settings(&c.slurm, c.conf_path, &err)) {
		fprintf(stderr, "sccr check: %s\n", err.text);
		rc = SCCR_BAD;
	} else if (!quiet) {
		print_all(&c);
	}
	warn_of_owners(&c, policy);
	for (size_t i = 0; i < config->n_warnings; i++)
		fprintf(stderr, "warning: %s\n", config->warnings[i].text);
	sim_cluster_free(&c.slurm);
	ccr_config_free(config);
	return rc;
}

int sccr_check(int argc, char **argv)
{
	const char *conf = NULL;
	bool quiet = false;
	const struct sccr_option options[] = {
	    {"slurm-conf", 's', &conf, NULL}, {"quiet", 'q', NULL, &quiet}, {0}};
	int rc = sccr_options(argc, argv, options, help);

	if (rc != SCCR_GO_ON)
		return rc;
	if (optind + 1 != argc)
		return sccr_wrong_use("check", "give one policy file");
	return check(argv[optind], conf, quiet);
}
