/* Tasks of an array of which the same is to be said are one. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sccr/explain_tasks.h"

static struct queue_job task(const char *id, const char *partition)
{
	return (struct queue_job){.id = id,
				  .number = "",
				  .state = "PENDING",
				  .partition = partition,
				  .account = "a",
				  .reason = "Priority",
				  .sched_nodes = "",
				  .limit = "5:00",
				  .dependency = "",
				  .req_nodes = "",
				  .resv = "",
				  .start = "N/A",
				  .priority = 5};
}

Test(explain_tasks, a_partition_after_the_other)
{
	struct queue_job j[] = {task("7_10", "p"), task("7_10", "q"), task("7_9", "q"),
				task("7_9", "p"),  task("7_11", "p"), task("8_1", "p")};
	const struct queue q = {.job = j, .n = 6};
	static const size_t order[] = {4, 3, 0, 2, 1};
	const struct queue_job **row;
	size_t n;

	for (size_t i = 0; i < 4; i++)
		j[i].several = true;
	row = explain_tasks(&q, "7", &n);
	cr_assert_eq(n, 5);
	for (size_t i = 0; i < n; i++)
		cr_expect_eq(row[i], &j[order[i]], "%zu: %s %s", i, row[i]->id, row[i]->partition);
	free(row);
}

Test(explain_tasks, parts_of_a_hetjob_stay_in_their_order)
{
	struct queue_job j[] = {task("7+1", "p"), task("7+0", "z"), task("7+0", "q")};
	const struct queue q = {.job = j, .n = 3};
	const struct queue_job **row;
	size_t n;

	j[1].several = j[2].several = true;
	row = explain_tasks(&q, "7", &n);
	cr_assert_eq(n, 3);
	cr_expect(row[0] == &j[2] && row[1] == &j[1] && row[2] == &j[0]);
	cr_expect_eq(explain_tasks_like(row, n), 0);
	free(row);
}

static void summed_up(const struct queue_job *const *row, size_t n, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	cr_assert(f);
	explain_tasks_print(row, explain_tasks_like(row, n), f);
	fclose(f);
	cr_expect_str_eq(text, expected);
	free(text);
}

Test(explain_tasks, what_is_alike)
{
	struct queue_job j[] = {task("7_1", "p"), task("7_2", "p"), task("7_3", "p"),
				task("7_[4-9]", "p")};
	const struct queue_job *row[] = {&j[0], &j[1], &j[2], &j[3]};

	summed_up(row, 1, "");
	summed_up(row, 2, "... and 1 more task like it: 7_2.\n");
	j[1].start = "2001-09-09T01:00:00"; /* Slurm's guess, of which nothing is said */
	summed_up(row, 4, "... and 8 more tasks like it: 7_2 to 7_[4-9].\n");
	j[2].reason = "Resources";
	summed_up(row, 4, "... and 1 more task like it: 7_2.\n");
	j[1].priority = 6;
	summed_up(row, 4, "");
	j[1].priority = 5;
	j[0].sched_nodes = j[1].sched_nodes = "n1";
	summed_up(row, 4, "");
	j[0].start = j[1].start;
	summed_up(row, 4, "... and 1 more task like it: 7_2.\n");
	j[0].state = j[1].state = "RUNNING";
	summed_up(row, 4, "");
}
