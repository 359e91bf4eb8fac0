/* explain_text - what is known of a job, in words; see explain.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sccr/common.h"
#include "sccr/explain.h"
#include "sccr/queue_tasks.h"
#include "sccr/safe.h"

#define SHOWN_AHEAD 5

static void print_ahead(const struct explain *x, FILE *out)
{
	size_t from = x->n_ahead > SHOWN_AHEAD ? x->n_ahead - SHOWN_AHEAD : 0, tasks = 0;

	for (size_t i = 0; i < x->n_ahead; i++)
		tasks += queue_tasks(x->ahead[i]);
	if (tasks > x->n_ahead)
		fprintf(out, "; an array counts as one: task by task, %zu are ahead", tasks);
	fputs(". Ahead of it:\n", out);
	if (from)
		fprintf(out, "    ... and %zu more\n", from);
	for (size_t i = from; i < x->n_ahead; i++) {
		const struct queue_job *j = x->ahead[i];

		fprintf(out, "    %-12.20s %10.0f  %-10.20s %-12.20s %ld node%s, limit %s\n", j->id,
			j->priority, j->user, j->account, j->n_nodes, j->n_nodes == 1 ? "" : "s",
			j->limit);
	}
}

static void print_rank(const struct explain *x, FILE *out)
{
	const char *doubt = x->queue->partial ? ", counting only the jobs that you may see"
			    : x->limit_unseen ? ", as far as you may see (its time limit is hidden)"
					      : "";

	fprintf(out, "Rank %zu of %zu pending in partition %s%s", x->rank, x->of, x->job->partition,
		doubt);
	if (x->n_ahead)
		print_ahead(x, out);
	else
		fputs(*doubt ? ".\n" : "; nobody is ahead.\n", out);
	if (!x->otherwise)
		return;
	fprintf(out,
		"Not counted there: %zu that cannot start for now, as a dependency, a time or a "
		"limit keeps %s back",
		x->otherwise, x->otherwise == 1 ? "it" : "them");
	if (x->otherwise_higher)
		fprintf(out, "; %zu rank%s higher", x->otherwise_higher,
			x->otherwise_higher == 1 ? "s" : "");
	fputs(".\n", out);
}

/* A line for each: sprio has whole points and no factors. */
static void print_tres(const char *tres, const char *weights, FILE *out)
{
	for (const char *p = tres; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
		size_t name = strcspn(p, "=,");
		double points = queue_tres(p, p, name), weight = queue_tres(weights, p, name);

		fprintf(out, "    %-10s %12.6g x %10.10g = %14.0f  %.*s\n", "TRES",
			weight > 0 ? points / weight : 0, weight, points, (int)name, p);
	}
}

static void print_terms(const struct explain *x, FILE *out)
{
	const struct queue_terms *t = &x->job->terms;

	if (x->queue->no_terms) {
		fprintf(out, "Priority %.0f (priority/basic has no terms).\n", x->job->priority);
		return;
	}
	if (!t->found) {
		fprintf(out, "Priority %.0f (sprio shows no terms of it).\n", x->job->priority);
		return;
	}
	if (t->by_hand) {
		fprintf(out, "Priority %.0f, set by hand: the policy has no say in it.\n",
			x->job->priority);
		return;
	}
	fprintf(out, "Priority %.0f", x->job->priority);
	if (x->job->several && x->job->shown != x->job->priority)
		fprintf(out, " in this partition (squeue shows %.0f for all of them)",
			x->job->shown);
	/* Numbers of one policy beside the expressions of another would be two halves of nothing.
	 */
	if (x->policy == POLICY_OTHER)
		fprintf(out, ", by the cluster's own policy and not by %s",
			sccr_safe(x->policy_name).text);
	else if (x->policy == POLICY_UNSURE)
		fprintf(out, " (the expressions are those of %s, which the cluster may not use)",
			sccr_safe(x->policy_name).text);
	fputs(":\n", out);
	for (int i = 0; i < CCR_COLUMNS; i++) {
		const char *expr =
		    x->config && x->policy != POLICY_OTHER ? x->config->column[i].text : NULL;

		if (t->points[i] == 0 && x->queue->weight[i] == 0)
			continue;
		if (i == CCR_COL_SITE && t->points[i] == 0)
			continue;
		fprintf(out, "    %-10s", sccr_column_title(i));
		if (i == CCR_COL_SITE)
			fprintf(out, " %12s   %10s   %14.0f  %s", "", "", t->points[i],
				"the policy's base, and what lifts a score to 1");
		else
			fprintf(out, " %12.6g x %10.10g = %14.0f%s%s", t->factor[i],
				x->queue->weight[i], t->points[i], expr ? "  " : "",
				expr ? sccr_safe(expr).text : "");
		fputs("\n", out);
	}
	if (x->eligible_s >= 0)
		fprintf(out,
			"    (eligible for %ld:%02ld:%02ld: the time for which it lacked nothing "
			"but resources)\n",
			(long)x->eligible_s / 3600, (long)x->eligible_s / 60 % 60,
			(long)x->eligible_s % 60);
	print_tres(t->tres, x->queue->tres_weights, out);
	if (t->nice != 0)
		fprintf(out, "    %-10s %44.0f\n", "NICE", -t->nice);
}

/* Does the distance from the target move the jobs? Not where the weight of its column is 0. */
static bool moves_by_target(const struct explain *x)
{
	struct ccr_policy *policy = NULL;
	struct ccr_error err;
	bool moves = false;

	if (x->policy != POLICY_THEIRS)
		return false;
	for (int i = 0; i < CCR_COLUMNS && !moves; i++) {
		if (x->queue->weight[i] == 0 || sccr_policy_compile(x->config, i, &policy, &err))
			continue;
		moves = ccr_policy_uses(policy, CCR_VAR_FS_DELTA);
		ccr_policy_free(policy);
		policy = NULL;
	}
	return moves;
}

static void print_group(const struct explain *x, FILE *out)
{
	const struct ccr_group *g = x->group;
	double d;

	if (!x->config)
		return;
	if (x->policy != POLICY_THEIRS)
		fprintf(out, "By %s: ", sccr_safe(x->policy_name).text);
	if (x->group_hidden) {
		fputs(
		    "Its group cannot be told: Slurm hides the accounts above its own from you.\n",
		    out);
		return;
	}
	if (!g) {
		fprintf(out, "Account %.60s has no group in the policy%s.\n",
			x->job->account[0] ? x->job->account : "(none)",
			x->policy == POLICY_THEIRS ? ": its group terms are 0" : "");
		return;
	}
	fprintf(out, "Group %s: ", sccr_safe(g->name).text);
	if (x->target_hidden)
		fputs("whether it has a target is hidden from you", out);
	else if (x->target.kind == CCR_TARGET_NONE)
		fputs("no target", out);
	else
		fprintf(out, "target %.4g %%%s", x->target.percent,
			x->target.kind == CCR_TARGET_BOTH      ? ""
			: x->target.kind == CCR_TARGET_CEILING ? " (a ceiling)"
			: x->target.kind == CCR_TARGET_FLOOR   ? " (a floor)"
							       : " (a cap, no points)");
	if (x->usage_known) {
		d = x->target.percent - x->usage;
		fprintf(out, ", usage %.2f %%", x->usage);
		if (x->target.kind != CCR_TARGET_NONE)
			fprintf(out, ": %.2f points %s its target", fabs(d),
				d >= 0 ? "below" : "above");
		if (x->target.kind != CCR_TARGET_NONE && moves_by_target(x))
			fprintf(out, ", which %s its jobs",
				ccr_target_points(x->target.kind, x->target.percent, x->usage) == 0
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

/* ": job 3 (by 2026-...), job 4 (by ...) and 2 more" of what runs, or of what is booked. */
static size_t print_last(const struct explain *x, bool booked, const char *words, FILE *out)
{
	size_t n = 0;

	for (size_t i = 0; i < x->n_last; i++) {
		const struct explain_wait *w = &x->before[i];

		if (w->booked != booked)
			continue;
		if (n < SHOWN_AHEAD && booked)
			fprintf(out, "%s job %s (from %s)", n ? "," : words, w->job->id,
				w->job->start);
		else if (n < SHOWN_AHEAD)
			fprintf(out, "%s job %s (by %s)", n ? "," : words, w->job->id, w->job->end);
		n++;
	}
	if (n > SHOWN_AHEAD)
		fprintf(out, " and %zu more", n - SHOWN_AHEAD);
	return n;
}

/* What ends on its nodes earlier still. */
static void print_earlier(const struct explain *x, FILE *out)
{
	size_t n = x->n_before - x->n_last, shown = n < SHOWN_AHEAD ? n : SHOWN_AHEAD;

	for (size_t i = 0; i < shown; i++) {
		const struct explain_wait *w = &x->before[x->n_last + i];

		fprintf(out, "%s job %s (%s %s)", i ? "," : "Before that, there:", w->job->id,
			w->booked ? "booked from" : "runs till",
			w->booked ? w->job->start : w->job->end);
	}
	if (n > shown)
		fprintf(out, " and %zu more", n - shown);
	if (n)
		fputs(".\n", out);
}

static void print_booked(const struct explain *x, FILE *out)
{
	size_t n;

	if (!x->job->sched_nodes[0] || queue_time(x->job->start) <= 0) { /* between two reports */
		fprintf(out, "It waits (%s).\n", x->reason);
		return;
	}
	fprintf(out, "%s to start at %s on %s", x->promised ? "Booked" : "Expected", x->job->start,
		x->job->sched_nodes);
	if (strchr(x->job->id, '+'))
		fputs(", with the hetjob's other components on theirs", out);
	n = print_last(x, false, ", when what runs there ends:", out);
	(void)print_last(
	    x, true,
	    n ? ", and what is booked there:" : ", when what is booked there before it ends:", out);
	if (x->resv.name[0])
		fprintf(out, ", when the reservation %s there ends", x->resv.name);
	fputs(".\n", out);
	if (queue_tasks(x->job) > 1)
		fprintf(out,
			"That is the booking of the array's next task; the other %zu follow it.\n",
			queue_tasks(x->job) - 1);
	if (x->suspended)
		fprintf(out,
			"Job %s there is suspended: when it will have ended is not known, so this "
			"moves on.\n",
			x->suspended->id);
	print_earlier(x, out);
	if (x->n_last)
		fputs("It starts earlier if jobs end before their limits", out);
	if (x->promised)
		fputs(x->n_last ? "; nobody behind it may delay it.\n"
				: "Nobody behind it may delay it.\n",
		      out);
	else if (x->n_last)
		fputs(".\n", out);
}

/* The advice is for a job that fits what is free, and holds where all bookings are known. */
static void print_minutes(const struct explain *x, FILE *out)
{
	time_t first = x->earliest;
	long minutes;

	if (x->smaller[0] || x->unsure)
		return;
	if (x->plan == PLAN_WOULD_DELAY && x->booked > 0 && (first < 0 || x->booked < first))
		first = x->booked;
	minutes = minutes_before(x->now, first);
	if (!minutes)
		return;
	fprintf(out,
		x->plan == PLAN_WOULD_DELAY
		    ? "With a limit of at most %ld minute%s it would end before every booking on "
		      "the partition's nodes.\n"
		    : "A job that fits what is free now and ends within %ld minute%s delays no "
		      "booking on the partition's nodes.\n",
		minutes, minutes == 1 ? "" : "s");
}

static void print_behind(const struct explain *x, FILE *out)
{
	bool more = strchr(x->reason, ',') != NULL; /* the gate says why */

	if (strchr(x->job->id, '+'))
		fprintf(out,
			"It waits (%s) and has no booking. The components of a hetjob are booked "
			"and start together.\n",
			x->reason);
	else if (more)
		fprintf(out, "It waits (%s).\n", x->reason);
	else if (x->beyond_depth && x->depth == 1)
		fprintf(out,
			"It waits (%s) and has no booking: a job ahead has the one that the policy "
			"makes in partition %s.\n",
			x->reason, x->job->partition);
	else if (x->beyond_depth && x->depth > 1)
		fprintf(out,
			"It waits (%s) and has no booking: jobs ahead have the %d that the policy "
			"makes in partition %s.\n",
			x->reason, x->depth, x->job->partition);
	else if (x->beyond_depth)
		fprintf(out,
			"It waits (%s) and has no booking: the policy makes none in partition "
			"%s.\n",
			x->reason, x->job->partition);
	else if (x->backfill_off)
		fprintf(out, "It waits (%s) and has no booking: the policy's backfill is off.\n",
			x->reason);
	else if (x->n_ahead || x->queue->partial)
		fprintf(out,
			"It waits (%s) and has no booking: the highest of a partition get one, "
			"where their start can be foreseen.\n",
			x->reason);
	else if (!strcmp(x->reason, "Resources"))
		fprintf(out,
			"It waits (%s) for what it asks for to become free; it is the first of "
			"its partition.\n",
			x->reason);
	else
		fprintf(out, "It waits (%s); it is the first of its partition.\n", x->reason);
	if (!more)
		print_minutes(x, out);
}

/* slurmctld says so of nodes that are up, too, as long as a job ahead of it waits for them. */
static void print_nodes(const struct explain *x, FILE *out)
{
	const struct explain_states *s = &x->states;

	fprintf(out, "It waits for nodes that it asks for (%s)", x->reason);
	if (s->not_up)
		fprintf(out, ": %s is %s%s", s->first_not_up, s->its_state,
			s->not_up > 1 ? ", and others are not in service either" : "");
	if (s->up)
		fprintf(out, "%s up, and in use or kept for others",
			s->not_up   ? "; the rest are"
			: s->up > 1 ? ". For all that, they are"
				    : ". For all that, it is");
	fputs(".\n", out);
	if (x->resv.name[0])
		fprintf(out, "There is a reservation of them (%s) from %s to %s.\n", x->resv.name,
			x->resv.start, x->resv.end);
}

static void print_limit(const struct explain *x, FILE *out)
{
	if (x->job->several && x->of_partition)
		fprintf(out, "It waits (%s).\n", x->reason);
	else if (x->held)
		fprintf(out, "It is held (%s): %s.\n", x->reason, x->words);
	else
		fprintf(out, "It does not wait for its turn but for something else (%s): %s.\n",
			x->reason, x->words);
}

static void print_deadline(const struct explain *x, FILE *out)
{
	char at[20];
	struct tm tm;

	if (x->deadline <= 0 || !localtime_r(&x->deadline, &tm) ||
	    !strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%S", &tm))
		return;
	fprintf(out, "Its deadline is %s: Slurm ends it when it can no longer be done by then.\n",
		at);
}

static void print_plan(const struct explain *x, FILE *out)
{
	switch (x->plan) {
	case PLAN_NONE:
		break;
	case PLAN_BOOKED:
		print_booked(x, out);
		break;
	case PLAN_WOULD_DELAY:
		fprintf(out,
			"When it was last tried it fitted what was free, but would have delayed a "
			"booking: %s.\n",
			x->reason);
		print_minutes(x, out);
		break;
	case PLAN_BEHIND:
		print_behind(x, out);
		break;
	case PLAN_NODES:
		print_nodes(x, out);
		break;
	case PLAN_OTHER:
		fprintf(out, "It waits, and Slurm gives as the reason: %s.\n", x->reason);
		break;
	case PLAN_LIMIT:
		print_limit(x, out);
		break;
	}
	if (x->job->several && x->plan != PLAN_NONE && (x->plan != PLAN_LIMIT || x->of_partition))
		fputs("It is in several partitions: Slurm has one reason and one start for all of "
		      "them, those of the one that it tried last.\n",
		      out);
	print_deadline(x, out);
	if (x->smaller[0])
		fprintf(out, "By the plan of this moment it could start at once with %s.\n",
			x->smaller);
}

/* Till when a job has its nodes. That of a suspended one moves on with the clock. */
static void print_end(const struct explain *x, FILE *out)
{
	const struct queue_job *j = x->job;
	time_t end = queue_time(j->end);

	if (x->over || !strcmp(j->state, "COMPLETING")) {
		if (end > 0)
			fprintf(out, ", ended %s", j->end);
	} else if (queue_runs(j)) {
		if (!strcmp(j->limit, "UNLIMITED"))
			fputs(", without a time limit", out);
		else if (end > 0)
			fprintf(out, end > x->now ? ", until %s" : ", past its time limit of %s",
				j->end);
	} else if (!strcmp(j->state, "SUSPENDED")) {
		fputs("; its time limit stands still", out);
	}
}

void explain_print(const struct explain *x, FILE *out)
{
	const struct queue_job *j = x->job;

	fprintf(out, "Job %.200s%s (%.60s) of %s, account %.60s, partition %s: %s", j->id,
		strlen(j->id) > 200 ? "..." : "", j->name, j->user,
		j->account[0] ? j->account : "(none)", j->partition, j->state);
	if (!queue_waits(j) && j->nodes[0]) {
		fprintf(out, " on %s since %s", j->nodes, j->start);
		print_end(x, out);
	}
	fputs(".\n", out);
	if (x->over)
		ended_print(&x->ended, out);
	if (x->rank)
		print_rank(x, out);
	if (x->too_long)
		fprintf(out,
			"It has no rank in partition %s: its time limit of %s is above the %s "
			"there, and so it does not start there, unless its QOS lets it.\n",
			j->partition, j->limit, x->part_limit);
	print_terms(x, out);
	print_group(x, out);
	print_plan(x, out);
}
