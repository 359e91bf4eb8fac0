/* What becomes of bookings as time goes on. */
#include <criterion/criterion.h>
#include "core/gate.h"

#define CPUS 4

static struct ccr_demand nodes(uint32_t n)
{
	return (struct ccr_demand){.min_nodes = n, .max_nodes = n, .node = {.cpus = CPUS}};
}

static void busy(struct ccr_plan *p, uint32_t n, int64_t end)
{
	struct ccr_amount all = {.cpus = CPUS};

	cr_assert_eq(ccr_plan_running(p, n, &all, end, end), 0);
}

/* Two nodes are busy until 100 and 160: a job of both has the second booking, at 160, though it
 * ranks higher, and one of a single node and 60 s fits in before it to the second. */
static void cycle(struct ccr_plan *p, int64_t now)
{
	struct ccr_demand two = nodes(2), one = nodes(1);
	struct ccr_plan_job above = {
	    .id = 1, .rank = {.prio = 9, .job = 1}, .demand = &two, .limit = 100};
	struct ccr_plan_job below = {
	    .id = 2, .rank = {.prio = 8, .job = 2}, .demand = &one, .limit = 60};

	ccr_plan_begin(p, now, true);
	if (now < 100)
		busy(p, 0, 100);
	busy(p, 1, 160);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book(p, &above, NULL, NULL), CCR_BOOKED);
	cr_assert_eq(ccr_plan_book(p, &below, NULL, NULL), CCR_BOOKED);
	cr_expect_eq(ccr_plan_booking(p, 1)->start, 160, "at %d", (int)now);
}

Test(bookings, a_late_start_keeps_its_end)
{
	struct ccr_node node = {.total = {.cpus = CPUS, .mem = 1000}, .up = true};
	struct ccr_node two[2] = {node, node};
	struct ccr_plan *p = NULL;

	cr_assert_eq(ccr_plan_new(&p, two, 2, NULL, NULL), 0);
	cycle(p, 0);
	cr_expect_eq(ccr_plan_booking(p, 2)->start, 100);
	cr_expect_eq(ccr_plan_late(p, 2), 0);
	cycle(p, 101); /* slurmctld comes a second late */
	cr_expect_eq(ccr_plan_booking(p, 2)->start, 101);
	cr_expect_eq(ccr_plan_booking(p, 2)->end, 160);
	cr_expect_eq(ccr_plan_late(p, 2), 1);
	cycle(p, 100 + CCR_LATE_MAX);
	cr_expect_eq(ccr_plan_booking(p, 2)->end, 160);
	cr_expect_eq(ccr_plan_late(p, 2), CCR_LATE_MAX);
	cycle(p, 101 + CCR_LATE_MAX); /* too late: it would delay the other */
	cr_expect_eq(ccr_plan_booking(p, 2)->start, 260);
	cr_expect_eq(ccr_plan_late(p, 2), 0);
	cr_expect_eq(ccr_plan_late(p, 3), 0);
	ccr_plan_free(p);
}
