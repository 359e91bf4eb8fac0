/* Partitions in which nobody passes a blocked job. */
#include "planner_help.h"

Test(planner_strict, depth_and_strictness_are_per_partition)
{
	struct ccr_node n[1] = {node(4, 0)};
	struct ccr_plan *p = plan_of(n, 1, 9);
	struct ccr_demand three = wants(1, 3, 0), one = wants(1, 1, 0);
	struct ccr_plan_job j;
	uint32_t id = 1;
	enum ccr_book book;

	/* R22: depths 2, 1, 0; the last is strict: it stops at its first blocked job. */
	cr_assert_eq(ccr_plan_partition(p, 0, 2, false, NULL), 0);
	cr_assert_eq(ccr_plan_partition(p, 1, 1, false, NULL), 0);
	cr_assert_eq(ccr_plan_partition(p, 2, 0, true, NULL), 0);
	runs(p, 0, 2, 0, 100);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	for (uint16_t part = 0; part < 3; part++) {
		for (uint32_t k = 0; k < 3; k++) {
			j = job(id++, &three, 1000);
			j.partition = part;
			cr_assert_neq(turn(p, &j, &book), CCR_START);
			cr_assert_eq(book, k < 2u - part ? CCR_BOOKED : CCR_BOOK_DEPTH,
				     "partition %d job %u: %d", part, k, book);
		}
	}
	for (uint16_t part = 0; part < 3; part++) {
		j = job(id++, &one, 50);
		j.partition = part;
		cr_assert_eq(turn(p, &j, NULL), part < 2 ? CCR_START : CCR_WAIT_STRICT);
	}
	ccr_plan_free(p);
}

Test(planner_strict, a_job_that_was_tried_elsewhere_closes_its_strict_partition_too)
{
	struct ccr_node n[1] = {node(4, 0)};
	struct ccr_plan *p = plan_of(n, 1, 9);
	struct ccr_demand never = wants(1, 5, 0), three = wants(1, 3, 0), one = wants(1, 1, 0);
	struct ccr_plan_job top = job(1, &never, 50), j = job(2, &three, 50),
			    low = job(3, &one, 50);

	cr_assert_eq(ccr_plan_partition(p, 0, 0, true, NULL), 0);
	runs(p, 0, 2, 0, 100);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	ccr_plan_blocked(p, &top); /* one that can never run holds nobody back */
	cr_assert_eq(ccr_plan_pick(p, &low, false, &(struct ccr_slot){0}, NULL), CCR_START);
	ccr_plan_blocked(p, &j);
	cr_assert_eq(ccr_plan_pick(p, &low, false, &(struct ccr_slot){0}, NULL), CCR_WAIT_STRICT);
	cr_assert_eq(ccr_plan_partition(p, 0, 0, false, NULL), 0);
	ccr_plan_begin(p, 1, true);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	ccr_plan_blocked(p, &j); /* not strict any more */
	cr_assert_eq(ccr_plan_pick(p, &low, false, &(struct ccr_slot){0}, NULL), CCR_START);
	ccr_plan_free(p);
}

Test(planner_strict, behind_a_blocked_job_of_a_strict_partition_nothing_is_held_for_now)
{
	struct ccr_node n[1] = {node(4, 0)};
	struct ccr_plan *p = plan_of(n, 1, 9);
	struct ccr_demand three = wants(1, 3, 0), one = wants(1, 1, 0), two = wants(1, 2, 0);
	struct ccr_plan_job top = job(1, &three, 50), behind = job(2, &one, 50),
			    elsewhere = job(3, &two, 60);
	const struct ccr_booking *b;

	cr_assert_eq(ccr_plan_partition(p, 0, 9, true, NULL), 0);
	cr_assert_eq(ccr_plan_partition(p, 1, 9, false, NULL), 0);
	elsewhere.partition = 1;
	runs(p, 0, 2, 0, 100);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book(p, &top, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 100);
	cr_assert_eq(ccr_plan_pick(p, &behind, false, &(struct ccr_slot){0}, NULL),
		     CCR_WAIT_STRICT);
	cr_assert_eq(ccr_plan_book(p, &behind, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 100, "not before the one ahead");
	cr_assert_eq(ccr_plan_pick(p, &elsewhere, false, &(struct ccr_slot){0}, NULL), CCR_START);
	/* One that was booked while the partition was not strict moves behind, too. */
	ccr_plan_drop(p, 1);
	ccr_plan_drop(p, 2);
	cr_assert_eq(ccr_plan_partition(p, 0, 9, false, NULL), 0);
	cr_assert_eq(ccr_plan_book(p, &behind, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 0);
	cr_assert_eq(ccr_plan_partition(p, 0, 9, true, NULL), 0);
	cr_assert_eq(ccr_plan_book(p, &top, NULL, NULL), CCR_BOOKED);
	cr_assert_eq(ccr_plan_book(p, &behind, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 100);
	ccr_plan_free(p);
}
