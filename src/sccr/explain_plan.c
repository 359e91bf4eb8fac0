/* explain_plan - what a pending job's reason and the bookings beside it say; see explain.h */
#include <stdlib.h>
#include <string.h>

#include "sccr/explain.h"
#include "sccr/explain_reason.h"

/* What the gate says behind a reason, see src/select/report.c. */
static const char could[] = "; could start now with ";

/* What of it squeue and sinfo tell in numbers goes behind the words. */
static void add_numbers(struct explain *x)
{
	size_t n = strlen(x->words), size = sizeof(x->words) - n;
	const struct queue_job *j = x->job;

	if (!strncmp(x->reason, "BeginTime", 9) && queue_time(j->start) > 0) {
		x->begin = queue_time(j->start);
		snprintf(x->words + n, size, ": it is %s", j->start);
	} else if (!strncmp(x->reason, "Dependency", 10) && j->dependency[0]) {
		x->dependency = j->dependency;
		snprintf(x->words + n, size, " (%.120s)", j->dependency);
	} else if (!strncmp(x->reason, "PartitionTimeLimit", 18) && x->part_limit) {
		snprintf(x->words + n, size, " (%s, and at most %s there)", j->limit,
			 x->part_limit);
	}
}

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
	switch (explain_reason(reason, x->job->priority <= 0, x->words, sizeof(x->words))) {
	case KIND_HELD:
		x->held = true;
		x->plan = PLAN_LIMIT;
		return;
	case KIND_REFUSED:
	case KIND_CLOSED:
		x->of_partition = true;
		/* fallthrough */
	case KIND_OTHER:
		x->plan = PLAN_LIMIT;
		add_numbers(x);
		return;
	case KIND_NODES:
		x->plan = PLAN_NODES;
		return;
	case KIND_UNKNOWN:
		x->plan = PLAN_OTHER;
		return;
	case KIND_TURN:
		break;
	}
	job = strstr(reason, "would delay job ");
	if (job) {
		x->plan = PLAN_WOULD_DELAY;
		x->blocker = strtoul(job + strlen("would delay job "), NULL, 10);
	} else if (strstr(reason, "would delay")) {
		x->plan = PLAN_WOULD_DELAY;
	} else if (strstr(reason, "booked for ")) {
		x->plan = PLAN_BOOKED;
		x->promised = true;
	} else {
		x->plan = PLAN_BEHIND;
	}
}

/* Might the job be put on one of the nodes? hosts: its own; NULL: not known. */
static bool meets(const struct explain_nodes *nodes, const char *hosts)
{
	return !nodes->list || !hosts || explain_nodes_share(nodes, hosts);
}

/* Of a job whose nodes are said not to be available no booking is shown, though it may have one. */
static bool is_silent(const struct queue_job *j)
{
	char words[400];

	return explain_reason(j->reason, false, words, sizeof(words)) == KIND_NODES;
}

/* The first booking on nodes of the job's partition, whatever partition it is of. */
static void find_earliest(struct explain *x, const struct explain_nodes *nodes)
{
	for (size_t i = 0; i < x->queue->n; i++) {
		const struct queue_job *j = &x->queue->job[i];
		time_t at = queue_time(j->start);

		if (!strcmp(j->number, x->job->number) || !queue_waits(j) || j->priority <= 0)
			continue;
		if (!j->sched_nodes[0]) {
			if (!x->unsure && is_silent(j) &&
			    meets(nodes,
				  x->parts ? explain_parts_find(x->parts, j->partition) : NULL))
				x->unsure = true;
			continue;
		}
		if (!meets(nodes, j->sched_nodes))
			continue;
		if (at <= x->now)
			x->unsure = true;
		else if (x->earliest < 0 || at < x->earliest)
			x->earliest = at;
	}
}

/*
 * Does the job have one of its partition's bookings, or count for them all the same? Of a hetjob
 * the first component does.
 */
static bool counts(const struct queue_job *j)
{
	const char *component = strchr(j->id, '+');
	char word[48];

	if (component && strcmp(component, "+0") != 0)
		return false;

	snprintf(word, sizeof(word), "%.*s", (int)sizeof(word) - 1, j->reason);
	for (char *c = word; *c; c++) {
		if (*c == '_')
			*c = ' ';
	}
	return !strncmp(word, "Resources, booked for ", 22) ||
	       !strncmp(word, "Resources, cannot be booked within ", 35);
}

/* Do jobs ahead have all the bookings of the partition? In doubt not. */
static void look_at_depth(struct explain *x)
{
	int n = 0;

	x->depth = -1;
	if (!x->config || x->policy != POLICY_THEIRS)
		return;
	x->backfill_off = !x->config->backfill.enabled;
	if (x->backfill_off)
		return;
	ccr_config_backfill_of(x->config, x->job->partition, &x->depth, NULL);
	for (size_t i = 0; i < x->n_ahead; i++) {
		const struct queue_job *j = x->ahead[i];

		n += counts(j) && !j->several; /* it may be another one's */
	}
	x->beyond_depth = n >= x->depth;
}

void explain_nodes_asked(const struct explain *x, char *out, size_t size)
{
	static const char names[] = "UnavailableNodes:";
	const char *at = strstr(x->job->reason, names);
	const char *part = x->parts ? explain_parts_find(x->parts, x->job->partition) : NULL;

	if (at)
		at += strlen(names);
	else if (x->job->req_nodes[0])
		at = x->job->req_nodes;
	else
		at = part ? part : "";
	snprintf(out, size, "%.*s", (int)strcspn(at, "; "), at);
}

int explain_plan(struct explain *x, struct ccr_error *err)
{
	const char *hosts = x->parts ? explain_parts_find(x->parts, x->job->partition) : NULL;
	struct explain_nodes nodes = {NULL};
	int rc = CCR_OK;

	x->booked = x->earliest = -1;
	x->plan = PLAN_NONE;
	x->unsure = x->queue->partial;
	if (!queue_waits(x->job))
		return CCR_OK;
	read_reason(x);
	explain_times(x);
	look_at_depth(x);
	if ((x->plan == PLAN_BEHIND || x->plan == PLAN_NODES) && x->job->sched_nodes[0]) {
		x->booked = queue_time(x->job->start);
		if (x->booked > 0)
			x->plan = PLAN_BOOKED;
	}
	/* Where they cannot be had, all bookings count. */
	if (hosts)
		rc = explain_nodes_add(&nodes, hosts, err);
	if (rc != CCR_ENOMEM) {
		rc = CCR_OK;
		find_earliest(x, &nodes);
	}
	explain_nodes_free(&nodes);
	return rc;
}
