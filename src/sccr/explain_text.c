/* explain_text - what is known of a job, in words; see explain.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sccr/common.h"
#include "sccr/explain.h"

#define SHOWN_AHEAD 5

static const struct {
	const char *prefix, *words;
} limits[] = {
    {"Assoc", "a limit of its association: `scontrol show assoc_mgr` shows it and what is used"},
    {"QOS", "a limit of its QOS: `sacctmgr show qos` shows it"},
    {"MaxJobs", "a limit of jobs"},
    {"JobHeld", "it is held: `scontrol release` lets it go"},
    {"Dependency", "it waits for another job"},
    {"BeginTime", "its begin time has not come"},
    {"Reservation", "it waits for its reservation"},
    {"Licenses", "it waits for licences"},
    {"Partition", "its partition does not take it as it is: `scontrol show partition` tells why"},
    {"InvalidAccount", "its account is not valid"},
    {"InvalidQOS", "its QOS is not valid"},
    {"Cleaning", "its last run is being cleaned up"},
    {"JobArrayTaskLimit", "its array runs as many tasks as it may"},
    {"DependencyNeverSatisfied", "the job that it waits for cannot fulfil its dependency any more"},
    {"BadConstraints", "no node can give what it asks for"},
};

const char *explain_limit(const char *reason)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (!strncasecmp(reason, limits[i].prefix, strlen(limits[i].prefix)))
			return limits[i].words;
	}
	return NULL;
}

/* The time behind a word of the reason (squeue may write _ for blanks); -1 if there is none. */
static time_t time_behind(const char *reason, const char *word)
{
	const char *at = strstr(reason, word);
	char text[20];

	if (!at)
		return -1;
	at += strlen(word);
	snprintf(text, sizeof(text), "%.19s", at);
	return queue_time(text);
}

/* What the gate says behind a reason, see src/select/report.c. */
static const char could[] = "; could start now with ";

static void read_reason(struct explain *x)
{
	char *reason = x->reason, *more;
	const char *job;

	snprintf(x->reason, sizeof(x->reason), "%s", x->job->reason);
	for (char *c = reason; *c; c++) {
		if (*c == '_')
			*c = ' ';
	}
	more = strstr(reason, could);
	if (more) {
		*more = '\0';
		snprintf(x->smaller, sizeof(x->smaller), "%s", more + strlen(could));
	}
	job = strstr(reason, "would delay job ");
	if (job) {
		x->plan = PLAN_WOULD_DELAY;
		x->blocker = strtoul(job + strlen("would delay job "), NULL, 10);
		x->booked = time_behind(reason, "booked for ");
	} else if (strstr(reason, "would delay")) {
		x->plan = PLAN_WOULD_DELAY;
	} else if (strstr(reason, "booked for ")) {
		x->plan = PLAN_BOOKED;
		x->booked = time_behind(reason, "booked for ");
	} else if (explain_limit(reason)) {
		x->plan = PLAN_LIMIT;
	} else {
		x->plan = PLAN_BEHIND;
	}
}

void explain_plan(struct explain *x)
{
	x->booked = x->earliest = -1;
	x->plan = PLAN_NONE;
	if (strcmp(x->job->state, "PENDING"))
		return;
	read_reason(x);
	if (x->plan == PLAN_BEHIND && x->job->sched_nodes[0]) {
		x->booked = queue_time(x->job->start);
		if (x->booked > 0)
			x->plan = PLAN_BOOKED;
	}
	for (size_t i = 0; i < x->queue->n; i++) {
		const struct queue_job *j = &x->queue->job[i];
		time_t at = queue_time(j->start);

		if (j == x->job || strcmp(j->state, "PENDING") || at <= x->now ||
		    strcmp(j->partition, x->job->partition) || !j->sched_nodes[0])
			continue;
		if (x->earliest < 0 || at < x->earliest)
			x->earliest = at;
	}
}

static void print_rank(const struct explain *x, FILE *out)
{
	size_t from = x->n_ahead > SHOWN_AHEAD ? x->n_ahead - SHOWN_AHEAD : 0;

	fprintf(out, "Rank %zu of %zu pending in partition %s%s", x->rank, x->of, x->job->partition,
		x->queue->partial ? ", counting only the jobs that you may see" : "");
	if (!x->n_ahead) {
		fputs("; nobody is ahead.\n", out);
		return;
	}
	fputs(". Ahead of it:\n", out);
	if (from)
		fprintf(out, "    ... and %zu more\n", from);
	for (size_t i = from; i < x->n_ahead; i++) {
		const struct queue_job *j = x->ahead[i];

		fprintf(out, "    %-12.20s %10.0f  %-10.20s %-12.20s %ld nodes, limit %s\n", j->id,
			j->priority, j->user, j->account, j->n_nodes, j->limit);
	}
}

static void print_terms(const struct explain *x, FILE *out)
{
	const struct queue_terms *t = &x->job->terms;

	if (!t->found) {
		fprintf(out, "Priority %.0f (sprio tells the terms of waiting jobs only).\n",
			x->job->priority);
		return;
	}
	if (t->by_hand) {
		fprintf(out, "Priority %.0f, set by hand: the policy has no say in it.\n",
			x->job->priority);
		return;
	}
	fprintf(out, "Priority %.0f:\n", x->job->priority);
	for (int i = 0; i < CCR_COLUMNS; i++) {
		const char *expr = x->config ? x->config->column[i].text : NULL;

		if (t->points[i] == 0 && x->queue->weight[i] == 0)
			continue;
		if (i == CCR_COL_SITE && t->points[i] == 0)
			continue;
		fprintf(out, "    %-10s", sccr_column_title(i));
		if (i == CCR_COL_SITE)
			fprintf(out, " %12s   %10s   %14.0f  %s\n", "", "", t->points[i],
				"the policy's base, and what lifts a score to 1");
		else
			fprintf(out, " %12.6g x %10.10g = %14.0f  %s\n", t->factor[i],
				x->queue->weight[i], t->points[i], expr ? expr : "");
	}
	if (x->eligible_s >= 0)
		fprintf(out,
			"    (eligible for %ld:%02ld:%02ld: the time for which it lacked nothing "
			"but resources)\n",
			(long)x->eligible_s / 3600, (long)x->eligible_s / 60 % 60,
			(long)x->eligible_s % 60);
	if (t->tres[0])
		fprintf(out, "    %-10s %s\n", "TRES", t->tres);
	if (t->nice != 0)
		fprintf(out, "    %-10s %44.0f\n", "NICE", -t->nice);
}

/* Under another policy the distance from the target says nothing of the jobs. */
static bool moves_by_target(const struct ccr_config *config)
{
	struct ccr_policy *policy = NULL;
	struct ccr_error err;
	bool moves = !sccr_policy_compile(config, -1, &policy, &err) &&
		     ccr_policy_uses(policy, CCR_VAR_FS_DELTA);

	ccr_policy_free(policy);
	return moves;
}

static void print_group(const struct explain *x, FILE *out)
{
	const struct ccr_group *g = x->group;
	double d;

	if (!x->config)
		return;
	if (!g) {
		fprintf(out, "Account %.60s has no group in the policy: its group terms are 0.\n",
			x->job->account[0] ? x->job->account : "(none)");
		return;
	}
	fprintf(out, "Group %s: ", g->name);
	if (g->target.kind == CCR_TARGET_NONE)
		fputs("no target", out);
	else
		fprintf(out, "target %.4g %%%s", g->target.percent,
			g->target.kind == CCR_TARGET_BOTH      ? ""
			: g->target.kind == CCR_TARGET_CEILING ? " (a ceiling)"
			: g->target.kind == CCR_TARGET_FLOOR   ? " (a floor)"
							       : " (a cap, no points)");
	if (x->usage_known) {
		d = g->target.percent - x->usage;
		fprintf(out, ", usage %.2f %%", x->usage);
		if (g->target.kind != CCR_TARGET_NONE)
			fprintf(out, ": %.2f points %s its target", fabs(d),
				d >= 0 ? "below" : "above");
		if (g->target.kind != CCR_TARGET_NONE && moves_by_target(x->config))
			fprintf(out, ", which %s its jobs",
				ccr_target_points(g->target.kind, g->target.percent, x->usage) == 0
				    ? "does not move"
				: d > 0 ? "raises"
					: "lowers");
	}
	fprintf(out, ". Financial factor %.4g.\n", g->financial);
}

/* Whole minutes that end before `at`, a little spare included; 0 if there are none. */
static long minutes_before(time_t now, time_t at)
{
	long m = (long)((at - now - 30) / 60);

	return at > now && m > 0 ? m : 0;
}

/* ": job 3 (2026-...), job 4 (...) and 2 more" */
static void print_waits_for(const struct explain *x, FILE *out)
{
	size_t shown = x->n_waits_for < SHOWN_AHEAD ? x->n_waits_for : SHOWN_AHEAD;

	for (size_t i = 0; i < shown; i++)
		fprintf(out, "%s job %s (by %s)", i ? "," : ":", x->waits_for[i]->id,
			x->waits_for[i]->end);
	if (x->n_waits_for > shown)
		fprintf(out, " and %zu more", x->n_waits_for - shown);
}

static void print_plan(const struct explain *x, FILE *out)
{
	long minutes;

	switch (x->plan) {
	case PLAN_NONE:
		break;
	case PLAN_BOOKED:
		fprintf(out, "Booked to start at %s on %s, when what runs there ends",
			x->job->start, x->job->sched_nodes);
		print_waits_for(x, out);
		fputs(".\n", out);
		fputs("It starts earlier if jobs end before their limits; nobody behind it may "
		      "delay it.\n",
		      out);
		break;
	case PLAN_WOULD_DELAY:
		fprintf(out, "It fits now, but would delay a booking: %s.\n", x->reason);
		if (x->smaller[0])
			break;
		minutes = minutes_before(
		    x->now, x->earliest > 0 && x->earliest < x->booked ? x->earliest : x->booked);
		if (minutes)
			fprintf(out,
				"A job of at most %ld minutes would end before every booking of "
				"the partition.\n",
				minutes);
		break;
	case PLAN_BEHIND:
		if (strchr(x->job->id, '+')) {
			fprintf(out,
				"It waits (%s). Parts of a hetjob start together: Slurm's own "
				"backfill finds their time, the gate gives them no booking.\n",
				x->reason);
			break;
		}
		fprintf(out,
			x->n_ahead ? "It waits (%s) and has no booking: those ahead of it fill the "
				     "partition's bookings, or nothing fits it soon.\n"
				   : "It waits (%s) for what it asks for to become free; it is the "
				     "first of its partition.\n",
			x->reason);
		if (x->smaller[0])
			break;
		minutes = minutes_before(x->now, x->earliest);
		if (minutes)
			fprintf(out,
				"A job that fits what is free now and ends within %ld minutes "
				"delays no booking.\n",
				minutes);
		break;
	case PLAN_LIMIT:
		fprintf(out, "It does not wait for its turn but for something else (%s): %s.\n",
			x->reason, explain_limit(x->reason));
		break;
	}
	if (x->smaller[0])
		fprintf(out, "By the plan of this moment it could start at once with %s.\n",
			x->smaller);
}

void explain_print(const struct explain *x, FILE *out)
{
	const struct queue_job *j = x->job;

	fprintf(out, "Job %s (%.60s) of %s, account %.60s, partition %s: %s", j->id, j->name,
		j->user, j->account[0] ? j->account : "(none)", j->partition, j->state);
	if (strcmp(j->state, "PENDING") && j->nodes[0])
		fprintf(out, " on %s since %s, %s %s", j->nodes, j->start,
			strcmp(j->state, "RUNNING") ? "ended" : "until", j->end);
	fputs(".\n", out);
	if (x->over)
		ended_print(&x->ended, out);
	if (x->rank)
		print_rank(x, out);
	print_terms(x, out);
	print_group(x, out);
	print_plan(x, out);
}
