/* Starts that are late by a cycle or by a restart, and what is booked right behind them. */
#include "planner_help.h"

/*
 * Two nodes of 4 CPUs. Node 0 is busy till 60, node 1 till 600. Booked: first on node 0 from 60 to
 * 120, both nodes from 600, and behind the first, to the second, third from 120 to 600.
 */
struct chain {
	struct ccr_node n[2];
	struct ccr_demand one, two;
	struct ccr_plan_job first, both, third;
	struct ccr_plan *p;
};

static struct chain chain_of(int64_t limit_of_third)
{
	struct chain c = {
	    .n = {node(4, 0), node(4, 0)}, .one = wants(1, 4, 0), .two = wants(2, 4, 0)};

	c.p = plan_of(c.n, 2, 5);
	c.first = job(1, NULL, 60);
	c.both = job(2, NULL, 300);
	c.third = job(3, NULL, limit_of_third);
	runs(c.p, 0, 4, 0, 60);
	runs(c.p, 1, 4, 0, 600);
	cr_assert_eq(ccr_plan_ready(c.p, NULL), 0);
	return c;
}

static void take_turns(struct chain *c)
{
	c->first.demand = c->third.demand = &c->one;
	c->both.demand = &c->two;
	if (ccr_plan_booking(c->p, 1) || ccr_plan_timeline(c->p)->now < 60)
		turn(c->p, &c->first, NULL);
	turn(c->p, &c->both, NULL);
	turn(c->p, &c->third, NULL);
}

/* The first job started that much late, and runs to its limit. */
static void began_late(struct chain *c, int64_t now, int64_t late)
{
	ccr_plan_drop(c->p, 1);
	ccr_plan_begin(c->p, now, true);
	runs(c->p, 0, 4, 0, 120 + late);
	runs(c->p, 1, 4, 0, 600);
	cr_assert_eq(ccr_plan_ready(c->p, NULL), 0);
	take_turns(c);
}

static void expect(const struct chain *c, uint32_t id, int64_t start, int64_t end, int64_t due)
{
	const struct ccr_booking *b = ccr_plan_booking(c->p, id);

	cr_assert(b, "job %u", id);
	cr_expect_eq(b->start, start, "job %u starts at %lld", id, (long long)b->start);
	cr_expect_eq(b->end, end, "job %u ends at %lld", id, (long long)b->end);
	cr_expect_eq(b->due, due, "job %u is due at %lld", id, (long long)b->due);
}

Test(planner_late, what_fits_to_the_second_behind_a_late_start_keeps_its_end)
{
	struct chain c = chain_of(480);

	take_turns(&c);
	expect(&c, 1, 60, 120, 0);
	expect(&c, 2, 600, 900, 0);
	expect(&c, 3, 120, 600, 0);
	began_late(&c, 80, 17);
	expect(&c, 2, 600, 900, 0);
	expect(&c, 3, 137, 600, 120);
	cr_expect_eq(ccr_plan_late(c.p, 3), 0, "its time has not come");
	began_late(&c, 100, 17); /* and so in every cycle */
	expect(&c, 3, 137, 600, 120);
	/* The first job is gone, the third may start, late as it is. */
	ccr_plan_begin(c.p, 138, true);
	runs(c.p, 1, 4, 0, 600);
	cr_assert_eq(ccr_plan_ready(c.p, NULL), 0);
	cr_expect_eq(ccr_plan_late(c.p, 3), 18);
	c.third.limit -= ccr_plan_late(c.p, 3);
	cr_expect_eq(turn(c.p, &c.third, NULL), CCR_START);
	ccr_plan_free(c.p);
}

Test(planner_late, where_there_is_room_it_ends_later)
{
	struct chain c = chain_of(400);

	take_turns(&c);
	expect(&c, 3, 120, 520, 0);
	began_late(&c, 80, 17);
	expect(&c, 3, 137, 537, 0);
	ccr_plan_free(c.p);
}

Test(planner_late, who_is_later_than_that_looks_for_another_place)
{
	struct chain c = chain_of(480);

	take_turns(&c);
	began_late(&c, 95, CCR_LATE_MAX + 1);
	expect(&c, 2, 600, 900, 0);
	expect(&c, 3, 900, 1380, 0);
	ccr_plan_free(c.p);
}

Test(planner_late, an_early_end_brings_it_back)
{
	struct chain c = chain_of(480);

	take_turns(&c);
	began_late(&c, 80, 17);
	ccr_plan_begin(c.p, 110, true);
	runs(c.p, 1, 4, 0, 600);
	cr_assert_eq(ccr_plan_ready(c.p, NULL), 0);
	cr_expect_eq(turn(c.p, &c.third, NULL), CCR_START);
	ccr_plan_free(c.p);
}

Test(planner_late, a_booking_that_was_due_while_nobody_planned_keeps_its_end)
{
	struct chain c = chain_of(480);
	struct ccr_share share = {.node = 0, .a = {.cpus = 4}};
	struct ccr_booking b = {.start = 60, .first_start = 60, .n = 1, .share = &share};
	struct ccr_error err;

	ccr_plan_free(c.p);
	c.p = plan_of(c.n, 2, 5);
	c.first.limit = 60;
	cr_assert_eq(ccr_plan_restore(c.p, &c.first, &b, &err), 0);
	b.start = b.first_start = 120;
	cr_assert_eq(ccr_plan_restore(c.p, &c.third, &b, &err), 0);
	ccr_plan_begin(c.p, 72, true);
	runs(c.p, 1, 4, 0, 600);
	cr_assert_eq(ccr_plan_ready(c.p, NULL), 0);
	expect(&c, 1, 72, 120, 60);
	expect(&c, 3, 120, 600, 0);
	ccr_plan_free(c.p);
}

Test(planner_late, nobody_above_waits_for_one_that_does_not_start_when_it_can)
{
	struct ccr_node n[2] = {node(4, 0), node(4, 0)};
	struct ccr_plan *p = plan_of(n, 2, 5);
	struct ccr_demand one = wants(1, 4, 0);
	struct ccr_plan_job high = job(1, &one, 500), low = job(2, &one, 50);
	uint64_t fit[1];

	runs(p, 0, 4, 0, 100);
	runs(p, 1, 4, 0, 1000);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	turn(p, &low, NULL);
	cr_assert_eq(ccr_plan_booking(p, 2)->start, 100);
	turn(p, &high, NULL); /* was there before, and keeps to it */
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 150);
	for (int64_t now = 100; now <= 112; now += 4) {
		ccr_plan_begin(p, now, true);
		runs(p, 1, 4, 0, 1000);
		cr_assert_eq(ccr_plan_ready(p, NULL), 0);
		cr_expect_eq(ccr_plan_may_fit(p, &high, fit, NULL),
			     now - 100 > 10 ? CCR_START : CCR_WAIT_BOOKING, "at %lld",
			     (long long)now);
	}
	ccr_plan_free(p);
}
