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
#include "sccr/plugin_files.h"
#include "sccr/sccr.h"
#include "sccr/sim_cluster.h"

struct check {
	const struct ccr_config *config;
	bool reads[CCR_VAR_COUNT]; /* the variables that some column has */
	struct sim_cluster slurm;  /* slurm.conf, where there is one */
	const char *conf_path;	   /* NULL: none */
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

		printf("%-10s %10s  %-44s ", sccr_column_title(i), sccr_safe(weight).text,
		       sccr_safe(f->text ? f->text : "0").text);
		if (f->text && !f->preset)
			printf("line %u\n", f->line);
		else
			printf("%s\n", f->text ? sccr_safe(f->where).text : "-");
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

/* Does a group's target count, as a distance or by itself? */
static bool reads_target(const struct check *c)
{
	return c->reads[CCR_VAR_FS_DELTA] || c->reads[CCR_VAR_TARGET];
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

	if (t->kind == CCR_TARGET_NONE && reads_target(c))
		printf("    %s\n", no_target(c));
	else if (t->kind != CCR_TARGET_NONE)
		printf("    target %.10g %%%s%s%s\n", t->percent,
		       c->reads[CCR_VAR_FS_DELTA] ? ", " : "",
		       c->reads[CCR_VAR_FS_DELTA] ? words[t->kind] : "",
		       inherited ? " (from the default group)" : "");
}

/* What fairshare_factor goes by: the file's shares, those in sacctmgr, or the target. */
static void print_shares(const struct check *c, const struct ccr_group *g)
{
	double all = ccr_groups_shares(&c->config->groups);
	char else_by[60] = "1 for all";

	if (!c->reads[CCR_VAR_FAIRSHARE_FACTOR])
		return;
	if (all > 0) {
		printf("    shares %.10g of %.10g%s: fairshare_factor is 2^-(usage / %.4g %%)\n",
		       g->shares, all, g->has_shares ? "" : " (as none are given)",
		       100 * g->shares / all);
		return;
	}
	if (g->target.kind != CCR_TARGET_NONE && g->target.percent > 0)
		snprintf(else_by, sizeof(else_by), "2^-(usage / the target)");
	if (has_dbd(c) == NO)
		printf("    no shares: fairshare_factor is %s\n", else_by);
	else if (has_dbd(c) == YES)
		printf("    no shares: fairshare_factor goes by each user's shares in sacctmgr\n");
	else
		printf("    no shares: fairshare_factor goes by each user's shares in sacctmgr "
		       "with a database, else it is %s\n",
		       else_by);
}

static void print_names(const char *what, char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s%s", i ? ", " : what, sccr_safe(names[i]).text);
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

		printf("group %s%s\n", sccr_safe(one->name).text,
		       one == g->fallback ? " (the default group)" : "");
		print_target(c, &one->target, one->target_inherited);
		print_shares(c, one);
		printf("    financial factor %.10g: %s\n", one->financial,
		       sccr_safe(one->financial_words).text);
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
		printf("A job whose account no group names belongs to %s.\n\n",
		       sccr_safe(g->fallback->name).text);
	else
		printf("A job whose account no group names has no group: its target, usage and "
		       "financial terms are 0%s.\n\n",
		       c->reads[CCR_VAR_FAIRSHARE_FACTOR] ? ", and its fairshare_factor is 1" : "");
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

/* LSF's dynamic priority, with the numbers that are in force. */
static void print_lsf(const struct check *c)
{
	const struct ccr_config_lsf *l = &c->config->lsf;

	if (!c->reads[CCR_VAR_LSF_PRIORITY])
		return;
	printf("lsf_priority of a user in a partition: shares / (constant %.10g\n"
	       "    + run_time_factor %.10g x hours of run time"
	       " + cpu_time_factor %.10g x hours of CPU time\n"
	       "    + run_job_factor %.10g x jobs started)\n",
	       l->constant, l->run_time_factor, l->cpu_time_factor, l->run_job_factor);
	if (c->config->usage.model == CCR_USAGE_LSF)
		printf("    hist_hours %.10g: an hour that long ago counts a tenth\n",
		       c->config->usage.hist_hours);
	else
		printf("    hist_hours is not in force: hours decay by the usage model %s\n",
		       ccr_usage_kind_name(c->config->usage.model));
	printf("    user_shares %.10g%s", l->user_shares,
	       l->n_users ? ", but for" : " of every user\n");
	for (size_t i = 0; i < l->n_users; i++)
		printf("%s %s %.10g%s", i ? "," : "", sccr_safe(l->users[i].user).text,
		       l->users[i].shares, i + 1 < l->n_users ? "" : "\n");
	if (l->array_tasks)
		printf("    array_tasks %d: so many of a user's next jobs, tasks of arrays "
		       "included, are ranked one by one\n",
		       l->array_tasks);
	else
		printf("    array_tasks 0: the waiting tasks of an array are ranked as one job\n");
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
	printf("backfill: %d booking%s a partition, within %s%s%s\n", b->depth,
	       b->depth == 1 ? "" : "s", window, b->strict ? ", nobody passes a blocked job" : "",
	       b->placement ? ", jobs placed where they strand the fewest GPUs" : "");
	for (size_t i = 0; i < b->n_partitions; i++) {
		int depth;
		bool strict;

		ccr_config_backfill_of(c->config, b->partitions[i].name, &depth, &strict);
		printf("    partition %s: %d booking%s%s\n", sccr_safe(b->partitions[i].name).text,
		       depth, depth == 1 ? "" : "s", strict ? ", strict" : "");
	}
}

static void print_all(const struct check *c)
{
	printf("%s is good%s%s.\n", sccr_safe(c->config->name).text,
	       c->config->preset ? ", on the preset " : "",
	       c->config->preset ? c->config->preset : "");
	if (c->conf_path)
		printf("Weights are those of %s.\n", sccr_safe(c->conf_path).text);
	else
		printf("No slurm.conf was found: weights are not known.\n");
	printf("Each score is lifted by %lld points, in SITE. Points are %s.\n\n",
	       (long long)c->config->base,
	       c->config->exact_points ? "kept exact" : "rounded to whole ones in each column");
	print_columns(c);
	print_groups(c);
	print_usage(c);
	print_lsf(c);
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
	struct ccr_policy *compiled = NULL;
	struct check c = {.conf_path = sccr_find_conf(conf)};
	struct ccr_error err;
	int rc = SCCR_OK;

	if (ccr_config_load(policy, &options, &config, &err)) {
		sccr_tell("%s", err.text);
		return SCCR_BAD;
	}
	c.config = config;
	if (sccr_policy_compile(config, -1, &compiled, &err)) {
		sccr_say("check", "%s", err.text);
		ccr_config_free(config);
		return SCCR_BAD;
	}
	for (int i = 0; i < CCR_VAR_COUNT; i++)
		c.reads[i] = ccr_policy_uses(compiled, (enum ccr_var)i);
	ccr_policy_free(compiled);
	if (c.conf_path && sim_cluster_settings(&c.slurm, c.conf_path, &err)) {
		sccr_say("check", "%s", err.text);
		rc = SCCR_BAD;
	} else if (!quiet) {
		print_all(&c);
	}
	warn_of_owners(&c, policy);
	if (!rc)
		plugin_files_warn(&c.slurm);
	for (size_t i = 0; i < config->n_warnings; i++)
		sccr_warn("%s", config->warnings[i].text);
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
