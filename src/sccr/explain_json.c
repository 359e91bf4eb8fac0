/* explain_json - what is known of a job, as JSON; see explain.h */
#include <stdlib.h>
#include <string.h>

#include "sccr/common.h"
#include "sccr/explain.h"
#include "sccr/queue_tasks.h"

static void json_time(FILE *out, const char *key, time_t t)
{
	if (t > 0)
		fprintf(out, ", \"%s\": %lld", key, (long long)t);
}

static void json_text(FILE *out, const char *key, const char *value)
{
	fprintf(out, ", \"%s\": ", key);
	sccr_json_string(out, value);
}

/* "2 GPUs a node instead of 4, or 29 minutes instead of no limit" as a list of objects. */
static void json_smaller(FILE *out, const char *smaller)
{
	bool first = true;

	if (!*smaller)
		return;
	fputs(", \"could_start_with\": [", out);
	for (const char *p = smaller; *p;) {
		const char *next = strstr(p, ", or "), *was = strstr(p, " instead of ");
		char *what, *end, text[60];
		unsigned long amount = strtoul(p, &what, 10), asked;
		size_t unit;

		if (what == p || !was || was <= what)
			break;
		unit = strcspn(what + 1, " ");
		/* a program is to find the same word for one and for many */
		snprintf(text, sizeof(text), "%.*s%s%.*s", (int)unit, what + 1,
			 what[unit] == 's' || what[unit] == 'B' ? "" : "s",
			 (int)(was - what - 1) - (int)unit, what + 1 + unit);
		fprintf(out, "%s{\"amount\": %lu, \"what\": ", first ? "" : ", ", amount);
		sccr_json_string(out, text);
		asked = strtoul(was + strlen(" instead of "), &end, 10);
		if (end == was + strlen(" instead of "))
			fputs(", \"instead_of\": null}", out);
		else
			fprintf(out, ", \"instead_of\": %lu}", asked);
		first = false;
		p = next ? next + strlen(", or ") : "";
	}
	fputs("]", out);
}

/* sprio's "cpu=31,gres/gpu=188" as an object; nothing where TRES have no weights. */
static void json_tres(const char *tres, const char *weights, FILE *out)
{
	if (!*tres)
		return;
	fputs(", \"tres\": {", out);
	for (const char *p = tres, *sep = ""; *p; sep = ", ") {
		size_t n = strcspn(p, ","), name = strcspn(p, "=");
		char text[sizeof(((struct queue_terms *)0)->tres)];
		double points, weight;

		if (name < n) {
			snprintf(text, sizeof(text), "%.*s", (int)name, p);
			fputs(sep, out);
			sccr_json_string(out, text);
			points = strtod(p + name + 1, NULL);
			weight = queue_tres(weights, text, name);
			fprintf(out, ": {\"factor\": %.10g, \"weight\": %.10g, \"points\": %.10g}",
				weight > 0 ? points / weight : 0, weight, points);
		}
		p += n + (p[n] == ',');
	}
	fputs("}", out);
}

static void json_rank(const struct explain *x, FILE *out)
{
	fprintf(out, ", \"rank\": %zu, \"of\": %zu, \"all_visible\": %s", x->rank, x->of,
		x->queue->partial || x->limit_unseen ? "false" : "true");
	if (!x->ahead_told) {
		fputs(", \"ahead\": [", out);
		for (size_t i = 0; i < x->n_ahead; i++) {
			fputs(i ? ", " : "", out);
			sccr_json_string(out, x->ahead[i]->id);
		}
		fputs("]", out);
	}
	fprintf(out, ", \"not_counted\": {\"jobs\": %zu, \"higher\": %zu}", x->otherwise,
		x->otherwise_higher);
}

void explain_print_json(const struct explain *x, FILE *out)
{
	static const char *const plans[] = {"none",  "booked", "would_delay", "behind",
					    "limit", "nodes",  "other"};
	const struct queue_job *j = x->job;

	fputs("{\"job\": ", out);
	sccr_json_string(out, j->id);
	json_text(out, "name", j->name);
	json_text(out, "state", j->state);
	json_text(out, "user", j->user);
	if (j->account[0])
		json_text(out, "account", j->account);
	json_text(out, "partition", j->partition);
	if (queue_waits(j))
		json_text(out, "reason", x->reason);
	if (queue_tasks(j) > 1)
		fprintf(out, ", \"tasks\": %zu", queue_tasks(j));
	fprintf(out, ", \"priority\": %.0f", j->priority);
	if (j->several)
		fprintf(out, ", \"squeue_priority\": %.0f", j->shown);
	if (x->rank)
		json_rank(x, out);
	if (j->several)
		fputs(", \"several_partitions\": true", out);
	if (x->too_long) {
		json_text(out, "time_limit", j->limit);
		json_text(out, "partition_time_limit", x->part_limit);
	}
	if (x->job->terms.found && x->job->terms.by_hand)
		fputs(", \"by_hand\": true", out);
	else if (x->job->terms.found) {
		fputs(", \"columns\": {", out);
		for (int i = 0; i < CCR_COLUMNS; i++)
			fprintf(out,
				"%s\"%s\": {\"factor\": %.10g, \"weight\": %.10g, \"points\": "
				"%.10g}",
				i ? ", " : "", ccr_column_name(i), x->job->terms.factor[i],
				x->queue->weight[i], x->job->terms.points[i]);
		fputs("}", out);
		json_tres(x->job->terms.tres, x->queue->tres_weights, out);
		fprintf(out, ", \"nice\": %.0f", x->job->terms.nice);
	}
	if (x->eligible_s >= 0)
		fprintf(out, ", \"eligible_time\": %.0f", x->eligible_s);
	if (x->group) {
		json_text(out, "group", x->group->name);
		fprintf(out, ", \"target\": %.10g, \"financial\": %.10g", x->target.percent,
			x->group->financial);
		if (x->usage_known)
			fprintf(out, ", \"usage\": %.10g", x->usage);
	}
	if (x->over)
		ended_print_json(&x->ended, out);
	if (x->policy != POLICY_THEIRS)
		fprintf(out, ", \"policy_in_use\": %s",
			x->policy == POLICY_OTHER ? "false" : "null");
	json_text(out, "plan", plans[x->plan]);
	if (x->held)
		fputs(", \"held\": true", out);
	if (x->dependency)
		json_text(out, "dependency", x->dependency);
	json_time(out, "begin", x->begin);
	json_time(out, "deadline", x->deadline);
	json_time(out, "booked", x->booked);
	if (x->plan == PLAN_BOOKED)
		json_text(out, "nodes", j->sched_nodes);
	if (x->plan == PLAN_BOOKED && queue_tasks(j) > 1)
		fputs(", \"booked_tasks\": 1", out); /* the next one's */
	if (x->n_last) {
		fputs(", \"waits_for\": [", out);
		for (size_t i = 0; i < x->n_last; i++) {
			fputs(i ? ", " : "", out);
			sccr_json_string(out, x->before[i].job->id);
		}
		fputs("]", out);
	}
	if (x->resv.name[0])
		json_text(out, x->plan == PLAN_BOOKED ? "waits_for_reservation" : "reservation",
			  x->resv.name);
	if (x->blocker)
		fprintf(out, ", \"would_delay\": %lu", x->blocker);
	if (!x->unsure)
		json_time(out, "earliest_booking", x->earliest);
	if (x->backfill_off)
		fputs(", \"backfill\": false", out);
	if (queue_waits(j) && x->depth >= 0)
		fprintf(out, ", \"depth\": %d, \"beyond_depth\": %s", x->depth,
			x->beyond_depth ? "true" : "false");
	json_smaller(out, x->smaller);
	fputs("}", out);
}
