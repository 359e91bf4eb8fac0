/* Who competes with a job, and who ranks higher but cannot start. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sccr/explain.h"

#define JOBS 8

static struct queue Q;
static struct queue_job J[JOBS];
static struct explain_line Line;
static char Id[JOBS][4];
static char Part[] = "p", Nodes[] = "n[1-2]", Limit[] = "10:00";
static char *Row[] = {Part, Nodes, Limit}, **Rows[] = {Row};
static struct client_rows Parts = {.row = Rows, .n = 1};

static struct queue_job *add(double priority, const char *reason)
{
	size_t i = Q.n++;

	Q.job = J;
	snprintf(Id[i], sizeof(Id[i]), "%zu", i + 1);
	J[i] = (struct queue_job){.id = Id[i],
				  .number = Id[i],
				  .state = "PENDING",
				  .partition = "p",
				  .user = "u",
				  .account = "a",
				  .name = "n",
				  .limit = "5:00",
				  .submit = "2001-09-09T01:00:00",
				  .start = "N/A",
				  .end = "N/A",
				  .sched_nodes = "",
				  .nodes = "",
				  .resv = "",
				  .req_nodes = "",
				  .dependency = "",
				  .priority = priority,
				  .reason = reason};
	return &J[i];
}

static struct explain ranked(const struct queue_job *j)
{
	struct explain x = {
	    .queue = &Q, .line = &Line, .job = j, .parts = &Parts, .eligible_s = -1};
	struct ccr_error err;

	explain_line_free(&Line); /* the jobs may be others */
	cr_assert_eq(explain_rank(&x, &err), 0);
	return x;
}

static void says(const struct queue_job *j, bool json, const char *part)
{
	struct explain x = ranked(j);
	struct ccr_error err;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	cr_assert(f);
	cr_assert_eq(explain_plan(&x, &err), 0);
	if (json)
		explain_print_json(&x, f);
	else
		explain_print(&x, f);
	fclose(f);
	cr_expect_not_null(strstr(text, part), "%s\nexpected: %s", text, part);
	free(text);
}

Test(explain_rank, what_waits_for_something_else_is_no_competition)
{
	struct queue_job *j = add(100, "Priority");
	struct explain x;

	add(300, "BeginTime");
	add(200, "Resources");
	add(200, "Dependency")->dependency = "afterok:4(unfulfilled)";
	add(50, "QOSMaxJobsPerUserLimit");
	add(40, "Priority");
	x = ranked(j);
	cr_expect_eq(x.rank, 2);
	cr_expect_eq(x.of, 3);
	cr_expect_eq(x.n_ahead, 1);
	cr_expect_str_eq(x.ahead[0]->id, "3");
	says(j, false, "Rank 2 of 3 pending in partition p. Ahead of it:\n    3 ");
	says(j, false,
	     "Not counted there: 3 that cannot start for now, as a dependency, a time or a limit "
	     "keeps them back; 2 rank higher.\n");
	says(j, true, "\"ahead\": [\"3\"], \"not_counted\": {\"jobs\": 3, \"higher\": 2}");
	/* among those that compete, one that waits itself has a place as well */
	says(&J[3], false, "Rank 2 of 4 pending in partition p.");
	says(&J[3], false, "as its dependency says (afterok:4(unfulfilled)).\n");
	says(&J[1], false, "Rank 1 of 4 pending in partition p; nobody is ahead.\n");
}

Test(explain_rank, an_array_is_one)
{
	struct queue_job *j = add(100, "Priority");

	add(200, "Priority")->id = "2_[1-9]";
	says(j, false,
	     "Rank 2 of 2 pending in partition p; an array counts as one: task by task, 9 are "
	     "ahead. Ahead of it:\n    2_[1-9] ");
}

Test(explain_rank, in_a_partition_that_is_down_all_wait_alike)
{
	struct queue_job *j = add(100, "PartitionDown");

	add(200, "PartitionDown");
	says(j, false, "Rank 2 of 2 pending in partition p.");
}

Test(explain_rank, of_a_job_in_several_partitions_the_reason_is_not_known)
{
	struct queue_job *j = add(100, "Priority"), *other = add(200, "PartitionDown");

	other->several = true;
	says(j, false, "Rank 2 of 2");
	says(other, false,
	     "It waits (PartitionDown).\nIt is in several partitions: Slurm has one reason and "
	     "one start for all of them, those of the one that it tried last.\n");
	says(other, true, "\"several_partitions\": true");
	other->reason = "Dependency"; /* of the job, whatever the partition */
	says(other, false, "something else (Dependency): it waits for another job");
}

Test(explain_rank, of_a_job_in_several_partitions_some_reasons_are_known)
{
	static const char *const own[] = {"BeginTime", "Dependency", "DependencyNeverSatisfied"};
	struct queue_job *j = add(100, "Priority"), *other = add(200, "Resources");

	other->several = true;
	says(j, false, "Rank 2 of 2");
	for (size_t i = 0; i < 3; i++) {
		other->reason = own[i];
		says(j, false, "Rank 1 of 1 pending in partition p; nobody is ahead.\n");
		says(j, true, "\"not_counted\": {\"jobs\": 1, \"higher\": 1}");
	}
	other->reason = "PartitionConfig";
	says(j, false, "Rank 2 of 2");
}

Test(explain_rank, a_limit_above_the_partitions)
{
	struct queue_job *j = add(100, "Priority"), *other = add(200, "Priority");

	other->several = true;
	other->limit = "10:01";
	says(j, false, "Rank 1 of 1");
	says(other, false,
	     "It has no rank in partition p: its time limit of 10:01 is above the 10:00 there");
	says(other, true, "\"time_limit\": \"10:01\", \"partition_time_limit\": \"10:00\"");
	other->limit = "10:00";
	says(other, false, "Rank 1 of 2");
	j->limit = "UNLIMITED";
	j->reason = "PartitionTimeLimit";
	says(j, false, "tells what it takes (UNLIMITED, and at most 10:00 there).\n");
}

Test(explain_rank, a_limit_that_is_hidden)
{
	struct queue_job *j = add(100, "Priority"), *other = add(50, "Priority");

	Parts.n = 0; /* PrivateData=partitions */
	says(j, false, "Rank 1 of 2 pending in partition p; nobody is ahead.\n");
	other->several = true;
	says(
	    other, false,
	    "Rank 2 of 2 pending in partition p, as far as you may see (its time limit is hidden). "
	    "Ahead of it:\n");
	says(j, false, "partition p, as far as you may see (its time limit is hidden).\n");
	says(j, true, "\"all_visible\": false");
	Q.partial = true;
	says(j, false, "partition p, counting only the jobs that you may see.\n");
}

Test(explain_rank, a_line_serves_all_rows_of_a_partition)
{
	struct queue_job *j = add(100, "Priority"), *out = add(150, "BeginTime"),
			 *top = add(200, "Priority"), *there = add(300, "Priority");
	struct explain x = ranked(j), y = x;
	struct ccr_error err;

	there->partition = "q";
	x = y = ranked(j);
	cr_expect_eq(x.rank, 2);
	y.job = top;
	cr_assert_eq(explain_rank(&y, &err), 0);
	cr_expect_eq(y.rank, 1);
	cr_expect_eq(y.otherwise_higher, 0);
	cr_expect_eq(y.ahead, x.ahead);
	y.job = out;
	cr_assert_eq(explain_rank(&y, &err), 0);
	cr_expect_eq(y.rank, 2);
	cr_expect_eq(y.of, 3);
	cr_expect_eq(y.otherwise, 0);
	y.job = there;
	cr_assert_eq(explain_rank(&y, &err), 0);
	cr_expect_eq(y.rank, 1);
	cr_expect_eq(y.of, 1);
	explain_line_free(&Line);
}

Test(explain_rank, when_it_may_begin)
{
	struct queue_job *j = add(100, "BeginTime");

	setenv("TZ", "UTC", 1);
	j->start = "2001-09-09T01:46:40";
	says(j, false, "the time at which it may begin has not come: it is 2001-09-09T01:46:40.\n");
	says(j, true, "\"begin\": 1000000000");
}
