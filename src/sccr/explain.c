/*
 * sccr explain - a job's rank, its score term by term, its group, and what it waits for
 *
 * Everything comes from stock squeue, sprio, sshare and scontrol, run as whoever asks: what Slurm
 * hides from a user stays hidden. The total is squeue's number.
 */
#include "sccr/explain.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ledger_state.h"
#include "sccr/common.h"
#include "sccr/explain_id.h"
#include "sccr/explain_tasks.h"
#include "sccr/options.h"
#include "sccr/safe.h"
#include "sccr/sccr.h"

static const char help[] =
    "usage: sccr explain [OPTIONS] JOB\n\n"
    "Says where a job stands in its partition and who is ahead of it, how its priority\n"
    "comes about, how far its group is from its target, what the job waits for, and what\n"
    "would change that; of a job that is over, how it ended. JOB is a job id, an array\n"
    "task (12_3) or a part of a hetjob (12+1); 12_[4-9] stands for the whole array 12.\n\n"
    "  -p, --policy FILE  the policy (default: the cluster's, where it can be read)\n"
    "      --json         the same as JSON\n"
    "  -h, --help\n\n"
    "Exit status: 0 success, 1 there is no such job, a FILE that is bad, or Slurm does not\n"
    "answer, 2 wrong use.\n";

/* Target and usage of the job's group, as far as they can be had by this user. */
static void find_group(struct explain *x, const struct live_usage *usage)
{
	double delta = x->job->terms.factor[CCR_COL_FAIRSHARE];
	const char *expr;
	bool sure;

	if (!x->config)
		return;
	x->group = live_group_of(usage, &x->config->groups, x->job->user, x->job->account, &sure);
	x->group_hidden = !sure;
	if (!sure)
		x->group = NULL;
	if (!x->group)
		return;
	x->target = live_target_of_group(usage, x->group);
	x->target_hidden = x->target.kind == CCR_TARGET_NONE && usage->n && !usage->whole;
	if (usage->n && usage->whole && x->config->usage.source != CCR_SOURCE_LEDGER &&
	    x->config->usage.model == CCR_USAGE_HALFLIFE) {
		x->usage = live_usage_of_group(usage, &x->config->groups, x->group);
		x->usage_known = true;
		return;
	}
	if (x->ledger) {
		x->usage = live_ledger_of_group(x->ledger, &x->config->groups, x->group);
		x->usage_known = true;
		return;
	}
	/* Without a database the ledger is root's, and PrivateData may hide what there is; the
	 * fairshare factor of the job tells the rest.
	 */
	expr = x->config->column[CCR_COL_FAIRSHARE].text;
	if (x->policy == POLICY_THEIRS && expr && !strcmp(expr, "fs_delta") &&
	    x->job->terms.found && !x->job->terms.by_hand &&
	    x->queue->weight[CCR_COL_FAIRSHARE] > 0 &&
	    (x->target.kind == CCR_TARGET_BOTH || delta != 0)) {
		x->usage = x->target.percent - delta;
		x->usage_known = x->target.kind != CCR_TARGET_NONE;
	}
}

/*
 * The job's eligible_time, where the AGE column is made of nothing else: the column's factor is
 * known, and so is the line that it lies on. Seconds; -1 where it cannot be told.
 */
static double eligible_time(const struct explain *x)
{
	struct ccr_policy_spec spec, age = {0};
	struct ccr_policy *policy = NULL;
	double var[CCR_VAR_COUNT] = {0}, none[CCR_COLUMNS], hour[CCR_COLUMNS], found = -1;
	unsigned faults[CCR_COLUMNS] = {0};
	bool alone = true;

	if (!x->config || x->policy != POLICY_THEIRS || !x->job->terms.found ||
	    x->job->terms.by_hand || !(x->queue->weight[CCR_COL_AGE] > 0))
		return -1;
	ccr_config_policy_spec(x->config, &spec);
	age.constants = spec.constants;
	age.n_constants = spec.n_constants;
	age.expr[CCR_COL_AGE] = spec.expr[CCR_COL_AGE];
	if (ccr_policy_compile(&age, &policy, NULL))
		return -1;
	for (int v = 0; v < CCR_VAR_COUNT; v++)
		alone = alone &&
			ccr_policy_uses(policy, (enum ccr_var)v) == (v == CCR_VAR_ELIGIBLE_TIME);
	ccr_policy_eval(policy, var, none, faults);
	var[CCR_VAR_ELIGIBLE_TIME] = 3600;
	ccr_policy_eval(policy, var, hour, faults);
	if (alone && hour[CCR_COL_AGE] > none[CCR_COL_AGE])
		found = 3600 * (x->job->terms.factor[CCR_COL_AGE] - none[CCR_COL_AGE]) /
			(hour[CCR_COL_AGE] - none[CCR_COL_AGE]);
	ccr_policy_free(policy);
	return found;
}

static int explain_row(struct explain *x, const struct live_usage *usage,
		       const struct ended_source *past, const struct client_rows *jobs, bool json,
		       struct ccr_error *err)
{
	const struct queue_job *j = x->job;
	int rc = explain_rank(x, err);

	if (rc)
		return rc;
	x->over = ended_state(j->state);
	if (x->over) {
		x->ended = (struct ended){.state = j->state,
					  .limit = j->limit,
					  .reason = j->reason,
					  /* slurmctld gives one that never started a start */
					  .start = j->nodes[0] ? queue_time(j->start) : -1,
					  .end = queue_time(j->end)};
		ended_find(past, j->id, j->number, &x->ended);
	}
	find_group(x, usage);
	x->eligible_s = eligible_time(x);
	explain_deadline(x, jobs);
	rc = explain_plan(x, err);
	if (!rc)
		rc = explain_waits_for(x, NULL, err);
	if (!rc && x->plan == PLAN_NODES) {
		char nodes[4096];

		explain_nodes_asked(x, nodes, sizeof(nodes));
		if (nodes[0]) {
			explain_states_read(&x->states, nodes);
			rc = explain_kept_for(x, nodes, NULL, err);
		}
	}
	if (!rc && json)
		explain_print_json(x, stdout);
	else if (!rc)
		explain_print(x, stdout);
	free(x->before);
	x->before = NULL;
	return rc;
}

static int not_there(const char *asked, const struct ended_source *past, struct ccr_error *err)
{
	if (past->silent[0])
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "slurmctld knows no job %s that is yours to see, and the "
				     "database does not answer: %s",
				     asked, past->silent);
	return ccr_error_set(err, CCR_EINVAL, 0,
			     "there is no job %s: it never was, is not yours to see, or ended more "
			     "than MinJobAge ago and no database knows it",
			     asked);
}

/* what: all that is the same for every row. */
static int explain_all(const struct explain *what, const struct live_usage *usage,
		       const char *asked, bool json, struct ccr_error *err)
{
	struct ended_source past = {0};
	bool asked_past = false;
	size_t found, like;
	struct explain_line line = {NULL};
	const char *told = NULL; /* the partition of which it is told who is ahead */
	const struct queue_job **row = explain_tasks(what->queue, asked, &found);
	struct client_rows jobs = {0};
	int rc = row ? CCR_OK : ccr_error_nomem(err);

	if (found)
		explain_deadlines_read(&jobs, asked);
	if (json)
		fputs("[", stdout);
	for (size_t i = 0; !rc && i < found; i += 1 + like) {
		struct explain x = *what;

		x.line = &line;
		x.job = row[i];
		x.ahead_told = told && !strcmp(told, x.job->partition);
		if (i)
			fputs(json ? ",\n" : "\n", stdout);
		if (ended_state(x.job->state) && !asked_past) {
			ended_source_read(&past, asked);
			asked_past = true;
		}
		rc = explain_row(&x, usage, &past, &jobs, json, err);
		if (x.rank)
			told = x.job->partition;
		like = json || rc ? 0 : explain_tasks_like(row + i, found - i);
		explain_tasks_print(row + i, like, stdout);
	}
	explain_line_free(&line);
	client_rows_free(&jobs);
	free(row);
	if (!rc && !found) {
		ended_source_read(&past, asked);
		found = ended_print_gone(&past, json, what->queue->partial, stdout);
	}
	if (json)
		fputs("]\n", stdout);
	if (!rc && !found)
		rc = not_there(asked, &past, err);
	ended_source_free(&past);
	return rc;
}

/* The plugin's ledger, where this user may read it. */
static struct ccr_ledger *load_ledger(void)
{
	struct ccr_ledger *ledger = NULL;
	char *path = NULL;
	uid_t user;

	if (live_ledger_path(&path, &user, NULL) == CCR_OK && access(path, R_OK) == 0 &&
	    ccr_ledger_read(path, time(NULL), NULL, &ledger, NULL) == CCR_OK)
		ccr_ledger_roll_up(ledger);
	free(path);
	return ledger;
}

/* Is what the two files hold the same, byte for byte? -1: one of them cannot be read. */
static int same_file(const char *a, const char *b)
{
	FILE *f = fopen(a, "r"), *g = fopen(b, "r");
	int same = f && g ? 1 : -1, c = 0;

	while (same == 1 && c != EOF) {
		c = getc(f);
		same = c == getc(g);
	}
	if (f)
		fclose(f);
	if (g)
		fclose(g);
	return same;
}

/* How a policy that was given stands to slurmctld's (NULL: that is not known). */
static enum explain_policy compare(const char *given, const char *live)
{
	if (!live || access(live, R_OK) != 0)
		return POLICY_UNSURE;
	return same_file(given, live) == 1 ? POLICY_THEIRS : POLICY_OTHER;
}

/*
 * The policy, for names and targets. The cluster's own may be unreadable: that is no reason not to
 * explain, and *config is NULL then. One that was given is to be read.
 */
static int load_policy(const char *given, struct explain *x, char **path,
		       struct ccr_config **config, struct ccr_error *err)
{
	int rc = live_policy_path(path, err), bad = rc;

	if (!rc)
		x->policy_live = *path;
	if (given || x->policy_live)
		bad = sccr_policy_load(given ? given : x->policy_live, config, err);
	if (bad && given)
		return bad;
	if (bad)
		sccr_say("explain", "no group terms: %s", err->text);
	if (bad || !given)
		return CCR_OK;
	x->policy_name = given;
	/* CCR_EINVAL: its priorities are not made by a policy at all */
	x->policy = rc == CCR_EINVAL ? POLICY_OTHER : compare(given, x->policy_live);
	if (x->policy == POLICY_OTHER)
		sccr_say("explain", "warning: %s is not the policy that slurmctld uses%s%s", given,
			 *path ? ", which is " : "", *path ? *path : "");
	else if (x->policy == POLICY_UNSURE)
		sccr_say("explain", "warning: whether slurmctld uses %s cannot be told", given);
	return CCR_OK;
}

int sccr_explain(int argc, char **argv)
{
	const char *policy = NULL;
	bool json = false;
	const struct sccr_option options[] = {
	    {"policy", 'p', &policy, NULL}, {"json", 0, NULL, &json}, {0}};
	struct explain what = {.now = time(NULL)};
	struct ccr_config *config = NULL;
	struct ccr_ledger *ledger;
	struct client_rows parts;
	struct live_usage usage;
	struct ccr_error err;
	struct queue q;
	char *path = NULL;
	int rc = sccr_options(argc, argv, options, help);

	if (rc != SCCR_GO_ON)
		return rc;
	if (optind + 1 != argc || !explain_id(argv[optind]))
		return sccr_wrong_use("explain", "give one job, such as 12, 12_3 or 12+1");
	rc = queue_read(&q, &err);
	if (rc) {
		sccr_say("explain", "%s", err.text);
		return SCCR_BAD;
	}
	what.queue = &q;
	rc = load_policy(policy, &what, &path, &config, &err);
	what.config = config;
	what.ledger = ledger = load_ledger();
	explain_parts_read(&parts);
	what.parts = &parts;
	memset(&usage, 0, sizeof(usage));
	if (!rc)
		rc = live_usage_read(&usage, &err);
	if (!rc)
		rc = explain_all(&what, &usage, argv[optind], json, &err);
	if (rc)
		sccr_say("explain", "%s", err.text);
	live_usage_free(&usage);
	client_rows_free(&parts);
	ccr_ledger_free(ledger);
	ccr_config_free(config);
	free(path);
	queue_free(&q);
	return rc ? SCCR_BAD : SCCR_OK;
}
