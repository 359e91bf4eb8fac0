/* Waiting tasks of an array: squeue's line for each becomes slurmctld's record of them. */
#include <criterion/criterion.h>
#include <string.h>

#include "sccr/queue_tasks.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

Test(queue_tasks, a_record_stands_for_its_tasks)
{
	static const struct {
		const char *id;
		size_t tasks;
	} rows[] = {{"12", 1},		{"12_3", 1},	      {"12+1", 1},  {"12_[4-9]", 6},
		    {"12_[4-9,11]", 7}, {"12_[0-999]", 1000}, {"12_[]", 1}, {"12_[7-", 1},
		    {"12_[9-3]", 1},	{"12_[1-4,...]", 4}};

	for (size_t i = 0; i < N(rows); i++) {
		const struct queue_job j = {.id = rows[i].id};

		cr_expect_eq(queue_tasks(&j), rows[i].tasks, "%s: %zu", j.id, queue_tasks(&j));
	}
}

Test(queue_tasks, a_task_is_found_in_its_record)
{
	static const struct {
		const char *id;
		long in[3], out[3];
	} rows[] = {{"12_[4-9,11]", {4, 9, 11}, {3, 10, 12}},
		    {"12_[0,2,40-41]", {0, 2, 41}, {1, 39, 42}},
		    {"12_[7-", {7, 7, 7}, {6, 8, 70}}};
	static const char *const none[] = {"12", "12_3", "12_[]", "12_[x]"};

	for (size_t i = 0; i < N(rows); i++) {
		const struct queue_job j = {.id = rows[i].id};

		for (size_t k = 0; k < 3 && i < 2; k++) {
			cr_expect(queue_has_task(&j, rows[i].in[k]), "%s %ld", j.id, rows[i].in[k]);
			cr_expect_not(queue_has_task(&j, rows[i].out[k]), "%s %ld", j.id,
				      rows[i].out[k]);
		}
	}
	for (size_t i = 0; i < N(none); i++) {
		const struct queue_job j = {.id = none[i]};

		cr_expect_not(queue_has_task(&j, 3), "%s", j.id);
	}
}

/* Lines of squeue -r with the task and the number, and what becomes of the first ones. */
static void becomes(char *lines[][2], size_t n, size_t like, const char *id)
{
	char **row[16], out[200] = "";
	size_t room = 1, got;

	for (size_t i = 0; i < n; i++)
		row[i] = lines[i];
	cr_assert_eq(queue_same_record(row, n), like, "%s", id);
	if (like == 1)
		return;
	got = queue_join_tasks(out, row, like);
	cr_expect_str_eq(out, id);
	cr_expect_eq(got, strlen(id));
	for (size_t i = 0; i < like; i++)
		room += strlen(lines[i][0]) + QUEUE_JOINED;
	cr_expect_leq(got + 1, room);
}

Test(queue_tasks, lines_with_one_number_are_one_record)
{
	char *all[][2] = {{"12_1", "12"}, {"12_2", "12"}, {"12_3", "12"}};
	char *gaps[][2] = {{"12_0", "12"}, {"12_4", "12"}, {"12_5", "12"},
			   {"12_9", "12"}, {"12_3", "13"}, {"40", "40"}};
	char *apart[][2] = {{"12_1", "17"}, {"12_2", "18"}};
	char *no_array[][2] = {{"12", "12"}, {"12", "12"}}; /* of two partitions */
	char *far[][2] = {{"7_0", "7"}, {"7_4000001", "7"}};

	becomes(all, N(all), 3, "12_[1-3]");
	becomes(gaps, N(gaps), 4, "12_[0,4-5,9]");
	becomes(gaps + 4, 2, 1, "12_3");
	becomes(apart, N(apart), 1, "12_1");
	becomes(no_array, N(no_array), 1, "12");
	becomes(far, N(far), 2, "7_[0,4000001]");
}
