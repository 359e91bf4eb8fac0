#include "planner_help.h"

/* Two nodes of 4 CPUs. Jobs 1 and 2 were booked a whole one each, from 100 on. */
static const struct ccr_demand whole = {.min_nodes = 1, .max_nodes = 1, .node = {.cpus = 4}};
static const struct ccr_share on_second = {.node = 1, .a = {.cpus = 4}};

static struct ccr_plan_job first, second;

/* pinned: the lower one can use the second node alone; limit: of the higher one */
static struct ccr_plan *booked(bool pinned, int64_t limit)
{
	static const uint64_t only_second = 2;
	struct ccr_node n[2] = {node(4, 0), node(4, 0)};
	struct ccr_plan *p = plan_of(n, 2, 5);
	const struct ccr_booking *b;

	first = job(1, &whole, limit);
	second = job(2, &whole, 50);
	second.candidates = pinned ? &only_second : NULL;
	runs(p, 0, 4, 0, 100);
	runs(p, 1, 4, 0, 100);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book(p, &first, &b, NULL), CCR_BOOKED);
	cr_assert(b->start == 100 && b->share[0].node == 0);
	cr_assert_eq(ccr_plan_book(p, &second, &b, NULL), CCR_BOOKED);
	cr_assert(b->start == 100 && b->share[0].node == 1);
	return p;
}

/* All is free early. */
static void free_early(struct ccr_plan *p)
{
	ccr_plan_begin(p, 10, true);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_expect_eq(ccr_plan_check(p, &first, &on_second, 1, NULL, NULL), CCR_WAIT_BOOKING);
}

/* All is as it was. */
static void unchanged(struct ccr_plan *p)
{
	const struct ccr_booking *b = ccr_plan_booking(p, 2);

	cr_expect(b->start == 100 && b->n == 1 && b->share[0].node == 1 && !b->due);
	cr_expect_eq(ccr_plan_booking(p, 1)->start, 100);
	cr_expect_eq(ccr_plan_check(p, &first, &on_second, 1, NULL, NULL), CCR_WAIT_BOOKING);
}

Test(way, a_booking_below_that_has_a_place_elsewhere)
{
	struct ccr_plan *p = booked(false, 300);

	free_early(p);
	cr_expect(ccr_plan_makes_way(p, &first, &on_second, 1));
	unchanged(p);
	/* and it has it, at once */
	cr_assert_eq(ccr_plan_start(p, &first, &on_second, 1, NULL), 0);
	cr_expect_eq(ccr_plan_booking(p, 2)->start, 10);
	cr_expect_eq(ccr_plan_booking(p, 2)->share[0].node, 0);
	ccr_plan_free(p);
}

/* It would be late by as little as a booking may slide, on its own node. A third job would have the
 * other one before it. */
Test(way, it_has_its_place_and_does_not_wait_for_its_own)
{
	struct ccr_plan *p = booked(false, 90 + CCR_LATE_MAX);
	struct ccr_plan_job third = job(3, &whole, 300);
	const struct ccr_booking *b;
	struct ccr_slot slot;

	free_early(p);
	cr_assert(ccr_plan_makes_way(p, &first, &on_second, 1));
	cr_assert_eq(ccr_plan_start(p, &first, &on_second, 1, NULL), 0);
	b = ccr_plan_booking(p, 2);
	cr_expect(b->start == 10 && !b->due && b->n == 1 && b->share[0].node == 0);
	cr_expect_eq(ccr_plan_pick(p, &third, false, &slot, NULL), CCR_WAIT_BOOKING);
	ccr_plan_free(p);
}

Test(way, it_would_be_later)
{
	struct ccr_plan *p = booked(true, 300);

	free_early(p);
	cr_expect(!ccr_plan_makes_way(p, &first, &on_second, 1));
	unchanged(p);
	unchanged(p);
	ccr_plan_free(p);
}

Test(way, a_node_that_is_not_there)
{
	struct ccr_plan *p = booked(false, 300);

	free_early(p);
	cr_expect(
	    !ccr_plan_makes_way(p, &first, &(struct ccr_share){.node = 7, .a = {.cpus = 1}}, 1));
	unchanged(p);
	ccr_plan_free(p);
}

/* By counts the lower job would fit on the first two nodes, in halves. Who deals might give it all
 * of the second, half of which is booked above from 200 on: it would not be placed there. */
Test(way, a_place_that_is_not_sure_is_none)
{
	struct ccr_node n[3] = {node(2, 0), node(4, 0), node(4, 0)};
	struct ccr_demand half = wants(1, 2, 0);
	struct ccr_demand units = {.max_nodes = 3, .units = 4, .unit = {.cpus = 1}};
	struct ccr_share on_node1 = {.node = 1, .a = {.cpus = 2}};
	struct ccr_share on_node2 = {.node = 2, .a = {.cpus = 4}};
	struct ccr_booking kept = {.n = 1, .share = &on_node1, .start = 200, .first_start = 200};
	struct ccr_plan_job above = job(1, &half, 1000), lower = job(3, &units, 300);
	struct ccr_plan *p = plan_of(n, 3, 5);
	const struct ccr_booking *b;

	first = job(2, &whole, 300);
	cr_assert_eq(ccr_plan_restore(p, &above, &kept, NULL), 0);
	runs(p, 0, 2, 0, 100);
	runs(p, 1, 4, 0, 100);
	runs(p, 2, 4, 0, 100);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book(p, &lower, &b, NULL), CCR_BOOKED);
	cr_assert(b->start == 100 && b->n == 1 && b->share[0].node == 2);
	ccr_plan_begin(p, 10, true);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_check(p, &first, &on_node2, 1, NULL, NULL), CCR_WAIT_BOOKING);
	cr_expect(!ccr_plan_makes_way(p, &first, &on_node2, 1));
	cr_expect_eq(ccr_plan_booking(p, 3)->start, 100);
	ccr_plan_free(p);
}
