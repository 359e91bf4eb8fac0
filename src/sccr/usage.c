/*
 * sccr usage - each group's target and usage, and what that is worth now
 *
 * From the live cluster: what sshare shows, where there is a database, else the plugin's ledger in
 * StateSaveLocation (its owner and root can read that); or from a ledger file that is named.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/ledger_state.h"
#include "core/policy.h"
#include "core/shares.h"
#include "sccr/clients.h"
#include "sccr/common.h"
#include "sccr/live.h"
#include "sccr/options.h"
#include "sccr/sccr.h"

#define FAR_OFF 5.0 /* percent points off the target: marked */

struct report {
	struct ccr_config *config;
	struct ccr_ledger *ledger; /* NULL: from sshare */
	struct live_usage assoc;   /* from sshare */
	struct sccr_weights weights;
	bool users, json;
	const char *source;
	struct ccr_policy *column; /* FAIRSHARE's expression alone; NULL: see no_points */
	const char *no_points;	   /* why a group has no points: what the column needs beside it */
};

static const char help[] =
    "usage: sccr usage [OPTIONS] [LEDGER]\n\n"
    "Prints each group's target, usage, what is left of it, and the points that it is worth.\n"
    "A group that is off its target by more than five points is marked with *, one with a\n"
    "ceiling (5-) only above it, one with a floor (5+) only below.\n\n"
    "  -p, --policy FILE      a policy file or preset (default: the cluster's)\n"
    "  -l, --ledger FILE      a ledger (ccr_usage.json(5)) instead of the live cluster\n"
    "  -s, --slurm-conf FILE  weights (default: $SLURM_CONF, /etc/slurm/slurm.conf)\n"
    "  -u, --users            each user as well\n"
    "      --json             the same as JSON\n"
    "  -h, --help\n\n"
    "Exit status: 0 success, 1 nothing to be had, 2 wrong use.\n";

/* Usage of a group in percent of all. */
static double usage_of(const struct report *r, const struct ccr_group *g)
{
	return r->ledger ? live_ledger_of_group(r->ledger, &r->config->groups, g)
			 : live_usage_of_group(&r->assoc, &r->config->groups, g);
}

/*
 * Compiles the FAIRSHARE column, if a group's standing is all that it reads. What goes by the user
 * or the job is no group's.
 */
static int find_column(struct report *r, struct ccr_error *err)
{
	static const enum ccr_var of_groups[] = {CCR_VAR_TARGET, CCR_VAR_USAGE, CCR_VAR_FS_DELTA,
						 CCR_VAR_FINANCIAL, CCR_VAR_FAIRSHARE_FACTOR};
	bool known[CCR_VAR_COUNT] = {false};
	int rc;

	if (!r->config->column[CCR_COL_FAIRSHARE].text) {
		r->no_points = "the policy has nothing in FAIRSHARE";
		return CCR_OK;
	}
	rc = sccr_policy_compile(r->config, CCR_COL_FAIRSHARE, &r->column, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < sizeof(of_groups) / sizeof(of_groups[0]); i++)
		known[of_groups[i]] = true;
	/* with a database and no shares in the file, PBS's factor goes by the user */
	if (!r->ledger && !(ccr_groups_shares(&r->config->groups) > 0))
		known[CCR_VAR_FAIRSHARE_FACTOR] = false;
	for (int i = 0; i < CCR_VAR_COUNT && r->column; i++) {
		if (known[i] || !ccr_policy_uses(r->column, (enum ccr_var)i))
			continue;
		r->no_points = ccr_var_info(i)->name;
		ccr_policy_free(r->column);
		r->column = NULL;
	}
	return CCR_OK;
}

/* As the plugin has it (standing.h): by the group's shares, else by its target. */
static double fairshare_factor(const struct report *r, const struct ccr_group *g,
			       const struct ccr_target *t, double usage)
{
	double shares = ccr_groups_shares(&r->config->groups);

	if (shares > 0)
		return ccr_pbs_fairshare_factor(usage / 100, ccr_fraction(g->shares, shares));
	return t->percent > 0 ? ccr_pbs_fairshare_factor(usage / 100, t->percent / 100) : 1;
}

/* Of the slurm.conf, else the preset's usual one. */
static double fairshare_weight(const struct report *r)
{
	return r->weights.known ? r->weights.value[CCR_COL_FAIRSHARE]
				: sccr_usual_weight(r->config->preset, CCR_COL_FAIRSHARE);
}

/* The points of the FAIRSHARE column of every job of the group; only with a r->column. */
static double worth_of(const struct report *r, const struct ccr_group *g,
		       const struct ccr_target *t, double usage)
{
	double var[CCR_VAR_COUNT] = {0}, factor[CCR_COLUMNS];
	unsigned faults[CCR_COLUMNS] = {0};

	var[CCR_VAR_TARGET] = t->percent;
	var[CCR_VAR_USAGE] = usage;
	var[CCR_VAR_FS_DELTA] = ccr_target_points(t->kind, t->percent, usage);
	var[CCR_VAR_FINANCIAL] = g->financial;
	var[CCR_VAR_FAIRSHARE_FACTOR] = fairshare_factor(r, g, t, usage);
	ccr_policy_eval(r->column, var, factor, faults);
	return ccr_score_round(factor[CCR_COL_FAIRSHARE] * fairshare_weight(r));
}

static const char *words(const struct ccr_target *t, double usage, char *buf, size_t size)
{
	double d = t->percent - usage;

	if (t->kind == CCR_TARGET_NONE)
		snprintf(buf, size, "no target");
	else if (fabs(d) < 0.005)
		snprintf(buf, size, "at its target");
	else
		snprintf(buf, size, "%.2f %s its target", fabs(d), d > 0 ? "below" : "above");
	return buf;
}

static void print_group(const struct report *r, const struct ccr_group *g)
{
	struct ccr_target t = live_target_of_group(&r->assoc, g);
	double usage = usage_of(r, g), points;
	char buf[64], target[32] = "-", worth[40] = "-";
	bool off;

	points = ccr_target_points(t.kind, t.percent, usage);
	if (r->column)
		snprintf(worth, sizeof(worth), r->json ? "%.17g" : "%.0f",
			 worth_of(r, g, &t, usage));
	/* what a ceiling is not reached by, or a floor is passed by, is no fault */
	off =
	    t.kind == CCR_TARGET_BOTH ? fabs(t.percent - usage) > FAR_OFF : fabs(points) > FAR_OFF;
	if (t.kind != CCR_TARGET_NONE)
		snprintf(target, sizeof(target), "%.4g%s", t.percent, ccr_target_suffix(t.kind));
	if (r->json) {
		printf("%s\n  {\"group\": ", g->index ? "," : "");
		sccr_json_string(stdout, g->name);
		printf(
		    ", \"target\": %.17g, \"kind\": \"%s\", \"usage\": %.17g, \"fs_delta\": %.17g, "
		    "\"points\": %s, \"financial\": %.17g, \"off\": %s, \"tier\": ",
		    t.percent, ccr_target_suffix(t.kind), usage, points, r->column ? worth : "null",
		    g->financial, off ? "true" : "false");
		if (g->tier)
			sccr_json_string(stdout, g->tier);
		printf(g->tier ? "}" : "null}");
		return;
	}
	printf("%-20s %8s %8.2f %8.2f %c %10s %8.4g  %-12s %s\n", sccr_safe(g->name).text, target,
	       usage, points, off ? '*' : ' ', worth, g->financial,
	       sccr_safe(g->tier ? g->tier : "-").text, words(&t, usage, buf, sizeof(buf)));
}

static void print_users(const struct report *r)
{
	const struct ccr_total *t = NULL;

	if (!r->ledger) {
		live_usage_print_users(&r->assoc, stdout);
		return;
	}
	printf("\n%-20s %8s %14s %14s\n", "USER", "USAGE", "BILLED_HOURS", "CPU_HOURS");
	while ((t = ccr_ledger_next_total(r->ledger, CCR_BY_USER, t)))
		printf("%-20s %8.2f %14.2f %14.2f\n", sccr_safe(t->name).text,
		       ccr_ledger_percent(r->ledger, CCR_BY_USER, t->name, NULL, CCR_BILLED),
		       t->usage.s[CCR_BILLED] / 3600, t->usage.s[CCR_SLOT] / 3600);
}

static void print_users_json(const struct report *r)
{
	const struct ccr_total *t = NULL;
	const char *sep = "";

	printf(", \"users\": [");
	for (size_t i = 0; !r->ledger && i < r->assoc.n; i++) {
		const struct live_assoc *a = &r->assoc.assoc[i];

		if (!*a->user)
			continue;
		printf("%s\n  {\"user\": ", sep);
		sccr_json_string(stdout, a->user);
		printf(", \"account\": ");
		sccr_json_string(stdout, a->account);
		printf(", \"billed_s\": %.17g}", a->raw);
		sep = ",";
	}
	while (r->ledger && (t = ccr_ledger_next_total(r->ledger, CCR_BY_USER, t))) {
		printf("%s\n  {\"user\": ", sep);
		sccr_json_string(stdout, t->name);
		printf(", \"billed_s\": %.17g, \"slot_s\": %.17g}", t->usage.s[CCR_BILLED],
		       t->usage.s[CCR_SLOT]);
		sep = ",";
	}
	printf("\n]");
}

static void print_model(const struct report *r)
{
	const struct ccr_usage_model *m;
	char at[40] = "?";
	time_t when;
	struct tm tm;

	if (!r->ledger) {
		printf("usage from Slurm's associations (sshare), halved every "
		       "PriorityDecayHalfLife\n\n");
		return;
	}
	m = ccr_ledger_model(r->ledger);
	when = (time_t)ccr_ledger_time(r->ledger);
	if (localtime_r(&when, &tm))
		strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%S", &tm);
	printf("usage from %s as of %s, ", sccr_safe(r->source).text, at);
	switch (m->kind) {
	case CCR_USAGE_HALFLIFE:
		printf("halved every %.4g days\n\n", m->half_life_s / 86400);
		break;
	case CCR_USAGE_WINDOWS:
		printf("%u windows of %.4g h, each worth %.4g of the one after it\n\n", m->depth,
		       (double)m->interval_s / 3600, m->decay);
		break;
	case CCR_USAGE_LSF:
		printf("an hour now worth ten of %.4g hours ago\n\n", m->hist_hours);
		break;
	}
}

/* Where the usage comes from, of when it is, and how it decays. */
static void print_model_json(const struct report *r)
{
	const struct ccr_usage_model *m;

	if (!r->ledger) {
		printf(
		    "\"source\": \"sshare\", \"ledger\": null, \"as_of\": null, \"model\": null, ");
		return;
	}
	m = ccr_ledger_model(r->ledger);
	printf("\"source\": \"ledger\", \"ledger\": ");
	sccr_json_string(stdout, r->source);
	printf(", \"as_of\": %lld, \"model\": {\"kind\": \"%s\"",
	       (long long)ccr_ledger_time(r->ledger), ccr_usage_kind_name(m->kind));
	switch (m->kind) {
	case CCR_USAGE_HALFLIFE:
		printf(", \"half_life_s\": %.17g}, ", m->half_life_s);
		break;
	case CCR_USAGE_WINDOWS:
		printf(", \"interval_s\": %lld, \"depth\": %u, \"decay\": %.17g}, ",
		       (long long)m->interval_s, m->depth, m->decay);
		break;
	case CCR_USAGE_LSF:
		printf(", \"hist_hours\": %.17g}, ", m->hist_hours);
		break;
	}
}

static void print_all(const struct report *r)
{
	const struct ccr_groups *g = &r->config->groups;

	if (r->json) {
		printf("{");
		print_model_json(r);
		printf("\"groups\": [");
	} else {
		print_model(r);
		printf("%-20s %8s %8s %8s   %10s %8s  %s\n", "GROUP", "TARGET", "USAGE", "DELTA",
		       "POINTS", "FACTOR", "TIER");
	}
	for (size_t i = 0; i < g->count; i++)
		print_group(r, g->list[i]);
	if (r->json) {
		printf("\n]");
		if (r->users)
			print_users_json(r);
		printf("}\n");
	} else {
		if (!r->column && strchr(r->no_points, ' '))
			printf("POINTS are none: %s.\n", r->no_points);
		else if (!r->column)
			printf("POINTS are not a group's: the policy's FAIRSHARE reads %s, which "
			       "differs by job or user.\n",
			       r->no_points);
		else if (!r->weights.known)
			printf(
			    "POINTS are by the usual weight, %.10g, as no slurm.conf was found.\n",
			    fairshare_weight(r));
		if (r->users)
			print_users(r);
	}
}

/* The ledger that is named, or what the live cluster has. */
static int find_usage(struct report *r, const char *ledger, const char *conf, struct ccr_error *err)
{
	struct sim_cluster settings;
	char *path = NULL;
	struct stat st;
	uid_t user = 0;
	int rc;

	if (!ledger) {
		rc = live_usage_read(&r->assoc, err);
		if (!rc && r->assoc.n && r->config->usage.source != CCR_SOURCE_LEDGER &&
		    r->config->usage.model == CCR_USAGE_HALFLIFE)
			return r->assoc.whole
				   ? CCR_OK
				   : ccr_error_set(err, CCR_EINVAL, 0,
						   "Slurm hides others' usage from you "
						   "(PrivateData), so no group's can be told");
		rc = live_ledger_path(&path, &user, err);
		if (rc)
			return rc;
		ledger = path;
		if (access(path, R_OK) && errno == EACCES) {
			rc = ccr_error_set(err, CCR_EIO, 0,
					   "%s: %s: there is no database, and PrivateData or the "
					   "folder's mode hides the plugin's ledger from you",
					   path, strerror(errno));
			free(path);
			return rc;
		}
	} else if (conf) {
		rc = sim_cluster_settings(&settings, conf, err);
		user = sccr_slurm_user(&settings);
		sim_cluster_free(&settings);
		if (rc)
			return rc;
	}
	/* a copy of one's own is nobody else's business */
	if (!path && stat(ledger, &st) == 0 && st.st_uid == getuid())
		user = st.st_uid;
	sccr_warn_of_owner(ledger, user, "");
	rc = ccr_ledger_read(ledger, time(NULL), NULL, &r->ledger, err);
	if (!rc)
		ccr_ledger_roll_up(r->ledger);
	r->source = path ? "the cluster's ledger" : ledger;
	free(path);
	return rc;
}

static int usage(struct report *r, const char *policy, const char *ledger, const char *conf,
		 struct ccr_error *err)
{
	char *found = NULL;
	int rc = CCR_OK;

	if (!policy) {
		rc = live_policy_path(&found, err);
		/* with a ledger that is named no cluster need be up */
		if (rc && ledger && conf)
			rc = live_policy_beside(conf, &found, err);
		else if (rc && ledger)
			rc = ccr_error_set(err, CCR_EINVAL, 0,
					   "no cluster answers and there is no slurm.conf: give "
					   "--policy FILE");
		policy = found;
	}
	if (!rc)
		rc = sccr_policy_load(policy, &r->config, err);
	free(found);
	if (!rc)
		rc = sccr_weights_read(&r->weights, conf, NULL, err);
	if (!rc)
		rc = find_usage(r, ledger, conf, err);
	if (!rc)
		rc = find_column(r, err);
	if (!rc)
		print_all(r);
	return rc;
}

int sccr_usage(int argc, char **argv)
{
	const char *policy = NULL, *ledger = NULL, *conf = NULL;
	struct report r = {0};
	const struct sccr_option options[] = {
	    {"policy", 'p', &policy, NULL},   {"ledger", 'l', &ledger, NULL},
	    {"slurm-conf", 's', &conf, NULL}, {"users", 'u', NULL, &r.users},
	    {"json", 0, NULL, &r.json},	      {0}};
	struct ccr_error err;
	int rc = sccr_options(argc, argv, options, help);

	if (rc != SCCR_GO_ON)
		return rc;
	if (!ledger && optind + 1 == argc)
		ledger = argv[optind++];
	if (optind != argc)
		return sccr_wrong_use("usage", "give one ledger at the most");
	if (ledger && access(ledger, R_OK)) {
		sccr_say("usage", "%s: %s", ledger, strerror(errno));
		return SCCR_BAD;
	}
	rc = usage(&r, policy, ledger, sccr_find_conf(conf), &err);
	if (rc)
		sccr_say("usage", "%s", err.text);
	ccr_policy_free(r.column);
	ccr_ledger_free(r.ledger);
	live_usage_free(&r.assoc);
	ccr_config_free(r.config);
	return rc ? SCCR_BAD : SCCR_OK;
}
