/* The order of a queue as slurmctld has it, and which jobs wait or run. */
#include <criterion/criterion.h>

#include "sccr/queue.h"

static struct queue_job job(double priority, const char *submit, const char *number)
{
	return (struct queue_job){
	    .priority = priority, .submit = submit, .number = number, .resv = "", .state = ""};
}

#define FIRST(a, b)                                                                                \
	do {                                                                                       \
		cr_expect(queue_before(&(a), &(b)));                                               \
		cr_expect_not(queue_before(&(b), &(a)));                                           \
	} while (0)

Test(queue, priority_then_submission_then_id)
{
	struct queue_job high = job(200, "2001-09-09T02:00:00", "30");
	struct queue_job early = job(100, "2001-09-09T01:00:00", "20");
	struct queue_job late = job(100, "2001-09-09T01:00:01", "9");
	struct queue_job ninth = job(100, "2001-09-09T01:00:01", "10");
	struct queue_job inside = job(1, "2001-09-09T09:00:00", "99");

	FIRST(high, early);
	FIRST(early, late);
	FIRST(late, ninth); /* numbers, not texts */
	inside.resv = "maint";
	FIRST(inside, high);
	cr_expect_not(queue_before(&high, &high));
}

Test(queue, what_waits_and_what_runs)
{
	struct queue_job j = job(1, "", "1");
	static const char *const waits[] = {"PENDING", "REQUEUE_HOLD", "SPECIAL_EXIT",
					    "RESV_DEL_HOLD"},
				 *const runs[] = {"RUNNING", "COMPLETING", "CONFIGURING"},
				 *const neither[] = {"SUSPENDED", "FAILED", "PEND", ""};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		j.state = waits[i];
		cr_expect(queue_waits(&j) && !queue_runs(&j), "%s", j.state);
	}
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		j.state = runs[i];
		cr_expect(!queue_waits(&j) && queue_runs(&j), "%s", j.state);
	}
	for (size_t i = 0; i < sizeof(neither) / sizeof(neither[0]); i++) {
		j.state = neither[i];
		cr_expect(!queue_waits(&j) && !queue_runs(&j), "%s", j.state);
	}
}

Test(queue, a_row_for_each_partition)
{
	struct queue_job j = job(7, "", "12"), rows[3];
	char several[] = "p,q,long", one[] = "p", none[] = "";

	cr_expect_eq(queue_split(rows, &j, several), 3);
	cr_expect_str_eq(rows[0].partition, "p");
	cr_expect_str_eq(rows[2].partition, "long");
	cr_expect_str_eq(rows[2].number, "12");
	cr_expect_eq(queue_split(rows, &j, one), 1);
	cr_expect_str_eq(rows[0].partition, "p");
	cr_expect_eq(queue_split(rows, &j, none), 1);
	cr_expect_str_eq(rows[0].partition, "");
}
