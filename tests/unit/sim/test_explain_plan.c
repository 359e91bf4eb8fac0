/*
 * What explain makes of a job's reason and of the bookings beside it: a queue goes in, the
 * sentences come out. Nothing is said that the queue does not bear out.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sccr/explain.h"

#define JOBS 8
#define NOW  1000000000 /* 2001-09-09T01:46:40 UTC */

static struct world {
	struct queue queue;
	struct queue_job job[JOBS];
	char time[JOBS][2][24], id[JOBS][12];
	char *part[3][2], **rows[3];
	struct client_rows parts, resv, states;
	struct explain x;
} W;

static void set_up(void)
{
	setenv("TZ", "UTC", 1);
	memset(&W, 0, sizeof(W));
	W.queue.job = W.job;
	W.x = (struct explain){.queue = &W.queue, .parts = &W.parts, .eligible_s = -1, .now = NOW};
}

static const char *at(char *out, long t)
{
	const time_t when = NOW + t;

	strftime(out, 24, "%Y-%m-%dT%H:%M:%S", gmtime(&when));
	return out;
}

/* A job of the partition p; times in seconds from now, 0 for none. */
static struct queue_job *add(const char *state, const char *reason, const char *nodes, long start,
			     long end)
{
	size_t i = W.queue.n++;
	bool waits = !strcmp(state, "PENDING");

	snprintf(W.id[i], sizeof(W.id[i]), "%zu", i + 1);
	W.job[i] = (struct queue_job){
	    .id = W.id[i],
	    .number = W.id[i],
	    .state = state,
	    .partition = "p",
	    .user = "u",
	    .account = "a",
	    .name = "n",
	    .limit = "1:00:00",
	    .gres = "",
	    .qos = "",
	    .submit = "2001-09-09T01:00:00",
	    .resv = "",
	    .req_nodes = "",
	    .dependency = "",
	    .priority = 100,
	    .reason = reason,
	    .start = start ? at(W.time[i][0], start) : "N/A",
	    .end = end ? at(W.time[i][1], end) : "N/A",
	    .sched_nodes = waits ? nodes : "",
	    .nodes = waits ? "" : nodes,
	};
	return &W.job[i];
}

static struct queue_job *pending(const char *reason, const char *nodes, long start)
{
	return add("PENDING", reason, nodes, start, 0);
}

static void part(const char *name, const char *nodes)
{
	size_t i = W.parts.n++;

	W.part[i][0] = (char *)name;
	W.part[i][1] = (char *)nodes;
	W.rows[i] = W.part[i];
	W.parts.row = W.rows;
}

/* What is said of that job, in words or as JSON; free(). */
static char *told(const struct queue_job *j, bool json)
{
	struct explain x = W.x;
	struct ccr_error err;
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	x.job = j;
	cr_assert_eq(explain_plan(&x, &err), 0);
	cr_assert_eq(explain_waits_for(&x, &W.resv, &err), 0);
	explain_states_of(&x.states, &W.states);
	if (x.plan == PLAN_NODES)
		cr_assert_eq(explain_kept_for(&x, "n[1-2]", &W.resv, &err), 0);
	cr_assert(f);
	if (json)
		explain_print_json(&x, f);
	else
		explain_print(&x, f);
	fclose(f);
	free(x.before);
	return out;
}

static void expect(const struct queue_job *j, bool json, bool there, const char *part_of_it)
{
	char *text = told(j, json);

	cr_expect_eq(strstr(text, part_of_it) != NULL, there, "%s\n%s: %s", text,
		     there ? "expected" : "not expected", part_of_it);
	free(text);
}

#define SAYS(j, text)	  expect(j, false, true, text)
#define SAYS_NOT(j, text) expect(j, false, false, text)
#define JSON(j, text)	  expect(j, true, true, text)
#define JSON_NOT(j, text) expect(j, true, false, text)
#define BOOKED		  "Resources,_booked_for_2001-09-09T02:46:40_on_n1"

Test(explain_plan, a_booking_behind_what_runs, .init = set_up)
{
	struct queue_job *j = pending(BOOKED, "n1", 3600);

	add("RUNNING", "None", "n[1-2]", -60, 3600);
	add("RUNNING", "None", "n1", -60, 1200);
	add("RUNNING", "None", "n1", -60, 9000); /* ends too late: beside it */
	add("RUNNING", "None", "n2", -60, 3600); /* elsewhere */
	SAYS(j, "Booked to start at 2001-09-09T02:46:40 on n1, when what runs there ends: job 2 "
		"(by 2001-09-09T02:46:40).\n"
		"Before that, there: job 3 (runs till 2001-09-09T02:06:40).\n"
		"It starts earlier if jobs end before their limits; nobody behind it may delay "
		"it.\n");
}

Test(explain_plan, a_booking_of_an_array_is_its_next_tasks, .init = set_up)
{
	struct queue_job *j = pending(BOOKED, "n1", 3600);

	SAYS_NOT(j, "next task");
	j->id = "1_[2-4]";
	SAYS(j, "on n1.\nThat is the booking of the array's next task; the other 2 follow it.\n");
}

Test(explain_plan, a_booking_behind_another, .init = set_up)
{
	struct queue_job *j = pending(BOOKED, "n1", 3600);

	add("RUNNING", "None", "n1", -60, 1200);
	pending("Resources, booked for x", "n[1-2]", 1200)->limit = "40:00";
	SAYS(j, "on n1, when what is booked there before it ends: job 3 (from "
		"2001-09-09T02:06:40).\nBefore that, there: job 2 (runs till");
	SAYS_NOT(j, "what runs there ends");
}

Test(explain_plan, a_booking_behind_a_reservation_or_what_is_not_seen, .init = set_up)
{
	char line[] = "ReservationName=maint StartTime=2001-09-09T02:00:00 "
		      "EndTime=2001-09-09T02:46:40 Duration=00:46:40 Nodes=n[1-4] NodeCnt=4";
	char *fields[] = {line, NULL}, **rows[] = {fields};
	struct queue_job *j = pending(BOOKED, "n1", 3600);

	add("RUNNING", "None", "n1", -60, 1200);
	SAYS(j, "Booked to start at 2001-09-09T02:46:40 on n1.\nBefore that, there: job 2");
	SAYS(j, "Nobody behind it may delay it.\n");
	SAYS_NOT(j, "starts earlier");
	W.resv = (struct client_rows){.row = rows, .n = 1};
	SAYS(j, "on n1, when the reservation maint there ends.\n");
	fields[0] = strstr(line, "EndTime"); /* no name */
	SAYS(j, "on n1.\n");
}

Test(explain_plan, a_late_job_and_one_that_is_suspended, .init = set_up)
{
	struct queue_job *j = pending("Resources, booked for 2001-09-09T01:46:50 on n1", "n1", 10);

	add("SUSPENDED", "None", "n1", -600, -60);
	SAYS(j, "on n1.\nJob 2 there is suspended: when it will have ended is not known, so this "
		"moves on.\n");
	add("RUNNING", "None", "n1", -600, -60);
	SAYS(j, "when what runs there ends: job 3 (by");
	SAYS_NOT(j, "suspended");
}

Test(explain_plan, a_start_that_the_gate_does_not_tell_is_no_promise, .init = set_up)
{
	struct queue_job *j = pending("Resources", "n1", 3600);

	add("RUNNING", "None", "n1", -60, 3600);
	SAYS(j, "Expected to start at 2001-09-09T02:46:40 on n1, when what runs");
	SAYS(j, "It starts earlier if jobs end before their limits.\n");
	SAYS_NOT(j, "delay it");
}

Test(explain_plan, bookings_of_other_partitions_on_the_same_nodes_count, .init = set_up)
{
	struct queue_job *j = pending("Priority", "", 0), *other, *own;

	part("p", "n[1-2]");
	part("q", "n[2-3]");
	own = pending("Resources, booked", "n1", 7200);
	SAYS(j, "ends within 119 minutes delays no booking on the partition's nodes.\n");
	other = pending("Resources, booked", "n2", 1800);
	other->partition = "q";
	SAYS(j, "ends within 29 minutes delays no");
	other->sched_nodes = "n3"; /* none of p's */
	SAYS(j, "ends within 119 minutes delays no");
	W.parts.n = 0; /* sinfo does not answer: all count */
	SAYS(j, "ends within 29 minutes delays no");
	other->start = at(W.time[0][0], 100);
	SAYS(j, "ends within 1 minute delays no");
	/* due: what of it is free now is not to be known */
	own->start = at(W.time[1][0], -5);
	SAYS_NOT(j, "delays no");
}

Test(explain_plan, what_is_advised_of_a_limit_counts_them_too, .init = set_up)
{
	struct queue_job *j = pending(
	    "Priority,_would_delay_job_2_booked_for_2001-09-09T02:46:40:_GPUs_on_n1", "", 0);

	pending("Resources, booked", "n1", 3600);
	SAYS(j, "When it was last tried it fitted what was free, but would have delayed a booking: "
		"Priority, would delay job 2 booked for 2001-09-09T02:46:40: GPUs on n1.\n"
		"With a limit of at most 59 minutes it would end before every booking on the "
		"partition's nodes.\n");
	pending("Resources, booked", "n2", 600)->partition = "q";
	SAYS(j, "With a limit of at most 9 minutes");
	JSON(j, "\"earliest_booking\": 1000000600");
	W.queue.partial = true; /* others' bookings are hidden */
	SAYS_NOT(j, "With a limit");
	JSON_NOT(j, "earliest_booking");
}

Test(explain_plan, times_are_those_of_who_asks, .init = set_up)
{
	/* the reasons are slurmctld's, which is nine hours behind */
	struct queue_job *top = pending("Resources, booked for 2001-09-08T17:46:40 on n1", "n1", 0),
			 *j = pending("Priority,_would_delay_job_1_booked_for_2001-09-08T17:46:40:_"
				      "GPUs_on_n1; could start now with 30 minutes instead of 60",
				      "", 0);

	top->start = "2001-09-09T02:46:40";
	SAYS(top, "Booked to start at 2001-09-09T02:46:40 on n1");
	SAYS(j, "Priority, would delay job 1 booked for 2001-09-09T02:46:40: GPUs on n1.\n");
	SAYS(j, "with 30 minutes instead");
	JSON(top, "\"reason\": \"Resources, booked for 2001-09-09T02:46:40 on n1\"");
	JSON(top, "\"booked\": 1000003600");
	JSON(j, "\"booked\": 1000003600");
	setenv("TZ", "XYZ-9", 1); /* nine hours ahead of UTC */
	JSON(top, "\"booked\": 999971200");
	JSON(j, "\"booked\": 999971200");
	SAYS(j, "booked for 2001-09-09T02:46:40: GPUs");
}

Test(explain_plan, a_time_that_only_slurmctld_tells_is_left_out, .init = set_up)
{
	struct queue_job
	    *top = pending("Resources, booked for 2001-09-09T02:46:40 on n1", "n1", 0),
	    *j = pending("Priority, would delay job 9 booked for 2001-09-09T02:46:40: GPUs on n1",
			 "", 0);

	SAYS(top, "It waits (Resources, booked on n1).\n"); /* between two reports */
	JSON_NOT(top, "\"booked\":");
	SAYS(j, "a booking: Priority, would delay job 9: GPUs on n1.\n"); /* hidden */
	JSON_NOT(j, "\"booked\":");
	JSON(j, "\"would_delay\": 9");
	SAYS_NOT(j, "With a limit");
	j->reason = "Priority, would delay job 9 booked for an unknown time: GPUs on n1";
	SAYS(j, "would delay job 9 booked for an unknown time: GPUs");
}

Test(explain_plan, what_is_hidden_is_not_denied, .init = set_up)
{
	struct queue_job *j = pending("Resources", "", 0);

	pending("Resources, booked", "n2", 3600);
	W.x.rank = W.x.of = 1;
	SAYS(j, "it is the first of its partition.\n");
	SAYS(j, "nobody is ahead");
	SAYS(j, "delays no booking");
	W.queue.partial = true;
	SAYS(j, "counting only the jobs that you may see.\n");
	SAYS_NOT(j, "the first of");
	SAYS_NOT(j, "nobody is ahead");
	SAYS_NOT(j, "delays no booking");
}

/* Sets a job ahead of the one that is explained. */
static struct queue_job *ahead(const char *reason, const char *nodes, long start)
{
	static const struct queue_job *list[JOBS];
	struct queue_job *j = pending(reason, nodes, start);

	list[W.x.n_ahead++] = j;
	W.x.ahead = list;
	return j;
}

Test(explain_plan, the_depth_of_bookings, .init = set_up)
{
	struct ccr_config config = {.backfill = {.enabled = true, .depth = 2}};
	struct queue_job *j = pending("Priority", "", 0), *first;

	for (int i = 0; i < CCR_COLUMNS; i++)
		config.column[i].text = "0";
	first = ahead("Resources,_booked_for_2001-09-09T02:46:40_on_n1", "n1", 3600);
	ahead("Priority", "", 0);
	ahead("Resources, cannot be booked within the window of 7-00:00:00", "", 0);
	SAYS_NOT(j, "jobs ahead have");
	ahead("Resources, cannot be booked to end by its deadline", "", 0); /* counts for nothing */
	W.x.config = &config;
	SAYS(j, "It waits (Priority) and has no booking: jobs ahead have the 2 that the policy "
		"makes in partition p.\n");
	first->id = "4+1"; /* the components of a hetjob have one together */
	SAYS_NOT(j, "jobs ahead have");
	first->id = "4+0";
	SAYS(j, "jobs ahead have the 2 ");
	W.x.policy = POLICY_OTHER;
	W.x.policy_name = "other.json";
	SAYS_NOT(j, "jobs ahead have");
	W.x.policy = POLICY_THEIRS;
	config.backfill.depth = 3;
	SAYS_NOT(j, "jobs ahead have");
	config.backfill.depth = 1;
	SAYS(j, "has no booking: a job ahead has the one that the policy makes in partition p.\n");
	config.backfill.depth = 0;
	SAYS(j, "has no booking: the policy makes none in partition p.\n");
	config.backfill.enabled = false;
	SAYS(j, "It waits (Priority) and has no booking: the policy's backfill is off.\n");
	JSON(j, "\"backfill\": false");
	config.backfill.enabled = true;
	config.backfill.depth = 2;
	first->several = true; /* the booking may be another partition's */
	SAYS_NOT(j, "jobs ahead have");
}

Test(explain_plan, a_deadline, .init = set_up)
{
	char one[] =
	    "JobId=1 JobName=n Priority=1 EndTime=Unknown Deadline=2001-09-09T02:46:40 Nice=0";
	char ten[] = "JobId=10 JobName=n Deadline=2001-09-09T05:00:00",
	     *rows[2][2] = {{ten}, {one}};
	char **lines[] = {rows[0], rows[1]};
	struct client_rows jobs = {.row = lines, .n = 2};
	struct queue_job *j = pending("Priority", "", 0);

	SAYS_NOT(j, "deadline");
	W.x.job = j;
	explain_deadline(&W.x, &jobs);
	SAYS(j,
	     "Its deadline is 2001-09-09T02:46:40: Slurm ends it when it can no longer be done by "
	     "then.\n");
	memcpy(strstr(one, "2001"), "N/A 000000000000000", 19);
	explain_deadline(&W.x, &jobs);
	SAYS_NOT(j, "deadline");
	jobs.n = 0;
	explain_deadline(&W.x, &jobs);
	SAYS_NOT(j, "deadline");
}

Test(explain_plan, a_start_beyond_the_window, .init = set_up)
{
	struct queue_job *j =
	    pending("Resources, cannot be booked within the window of 7-00:00:00", "", 0);

	SAYS(j, "It waits (Resources, cannot be booked within the window of 7-00:00:00).\n");
	j->reason = "Resources, cannot be booked to end by its deadline";
	SAYS(j, "It waits (Resources, cannot be booked to end by its deadline).\n");
}

Test(explain_plan, a_booking_that_is_due, .init = set_up)
{
	struct queue_job *j = pending("Resources,_booked_for_now_on_n1", "n1", 1);

	SAYS(j, "Booked to start at 2001-09-09T01:46:41 on n1.\n");
	JSON(j, "\"reason\": \"Resources, booked for now on n1\"");
}

Test(explain_plan, a_job_that_names_a_busy_node_has_a_booking_that_is_not_shown, .init = set_up)
{
	struct queue_job *j = pending("Priority", "", 0);

	pending("Resources, booked", "n2", 3600);
	SAYS(j, "delays no booking");
	pending("ReqNodeNotAvail, UnavailableNodes:n1", "", 0);
	SAYS_NOT(j, "delays no booking");
}

Test(explain_plan, a_reason_that_is_no_turn, .init = set_up)
{
	struct queue_job *j = pending("job_requeued_in_held_state", "", 0);

	j->priority = 0;
	SAYS(j,
	     "It is held (job requeued in held state): it was requeued to be held, and `scontrol "
	     "release` lets it go.\n");
	j->reason = "DependencyNeverSatisfied";
	j->priority = 100;
	SAYS(j, "It does not wait for its turn but for something else (DependencyNeverSatisfied): "
		"its dependency can never");
	j->reason = "Something of tomorrow";
	SAYS(j, "It waits, and Slurm gives as the reason: Something of tomorrow.\n");
	SAYS_NOT(j, "first of");
	j->reason = "Priority, a job ahead is blocked and the partition is strict";
	SAYS(j, "It waits (Priority, a job ahead is blocked and the partition is strict).\n");
	SAYS_NOT(j, "first of");
	j->state = "RESV_DEL_HOLD";
	j->priority = 0;
	j->reason = "Reservation_maint_was_deleted";
	SAYS(j, "It is held (Reservation maint was deleted): its reservation was deleted");
}

Test(explain_plan, nodes_that_are_said_not_to_be_available, .init = set_up)
{
	char *up[] = {"n1", "mixed", NULL}, *down[] = {"n2", "drained*", NULL};
	char **rows[] = {up, up, down}; /* a row for each partition of a node */
	struct queue_job *j = pending("ReqNodeNotAvail,_UnavailableNodes:n[1-2]", "", 0);

	SAYS(j,
	     "It waits for nodes that it asks for (ReqNodeNotAvail, UnavailableNodes:n[1-2]).\n");
	SAYS_NOT(j, "booking");
	W.states = (struct client_rows){.row = rows, .n = 2};
	SAYS(j, "). For all that, it is up, and in use or kept for others.\n");
	W.states.n = 3;
	SAYS(j, "): n2 is drained*; the rest are up, and in use or kept for others.\n");
	up[1] = "idle*"; /* does not answer */
	SAYS(j, "): n1 is idle*, and others are not in service either.\n");
	j->reason = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher "
		    "priority partitions";
	up[1] = "idle";
	W.states.n = 1;
	SAYS(j, "priority partitions). For all that, it is up,");
}

Test(explain_plan, nodes_that_a_reservation_has, .init = set_up)
{
	char past[] = "ReservationName=old StartTime=2001-09-09T01:00:00 "
		      "EndTime=2001-09-09T01:40:00 Duration=00:40:00 Nodes=n1";
	char other[] = "ReservationName=other StartTime=2001-09-09T01:00:00 "
		       "EndTime=2001-09-09T04:40:00 Duration=00:40:00 Nodes=n3";
	char next[] = "ReservationName=mnt StartTime=2001-09-09T02:00:00 "
		      "EndTime=2001-09-09T03:00:00 Duration=01:00:00 Nodes=n[2-4]";
	char *f[][2] = {{past}, {other}, {next}}, **rows[] = {f[0], f[1], f[2]};
	struct queue_job *j = pending("ReqNodeNotAvail, May be reserved for other job", "", 0);

	W.resv = (struct client_rows){.row = rows, .n = 2};
	SAYS_NOT(j, "reservation of");
	W.resv.n = 3;
	SAYS(j, "There is a reservation of them (mnt) from 2001-09-09T02:00:00 to "
		"2001-09-09T03:00:00.\n");
}

Test(explain_plan, which_nodes_that_is_about, .init = set_up)
{
	struct queue_job *j = pending("ReqNodeNotAvail,_UnavailableNodes:n_[1-2];_could", "", 0);
	char nodes[100];

	W.x.job = j;
	part("p", "n[1-9]");
	explain_nodes_asked(&W.x, nodes, sizeof(nodes));
	cr_expect_str_eq(nodes, "n_[1-2]");
	j->reason = "ReqNodeNotAvail, May be reserved for other job";
	explain_nodes_asked(&W.x, nodes, sizeof(nodes));
	cr_expect_str_eq(nodes, "n[1-9]");
	j->req_nodes = "n3";
	explain_nodes_asked(&W.x, nodes, sizeof(nodes));
	cr_expect_str_eq(nodes, "n3");
	W.parts.n = 0;
	j->req_nodes = "";
	explain_nodes_asked(&W.x, nodes, sizeof(nodes));
	cr_expect_str_eq(nodes, "");
}

Test(explain_plan, till_when_it_has_its_nodes, .init = set_up)
{
	struct queue_job *j = add("SUSPENDED", "None", "n2", -600, 1800);

	SAYS(j, "SUSPENDED on n2 since 2001-09-09T01:36:40; its time limit stands still.\n");
	j->state = "RUNNING";
	SAYS(j, "on n2 since 2001-09-09T01:36:40, until 2001-09-09T02:16:40.\n");
	j->state = "CONFIGURING";
	SAYS(j, ", until 2001-09-09T02:16:40.\n");
	j->end = at(W.time[0][1], -60);
	SAYS(j, ", past its time limit of 2001-09-09T01:45:40.\n");
	j->state = "COMPLETING";
	SAYS(j, ", ended 2001-09-09T01:45:40.\n");
	j->state = "RUNNING";
	j->limit = "UNLIMITED";
	SAYS(j, ", without a time limit.\n");
}
