/* Jobs that start where running ones make way: claims, and bookings over those. */
#include "planner_help.h"

#include "core/claim.h"

/* Three nodes of 8 CPUs and 2 GPUs. Node 0 is free, on the others a job of all GPUs runs till 2400.
 */
struct preempting {
	struct ccr_node n[3];
	struct ccr_demand three, one;
	struct ccr_plan_job high, low;
	struct ccr_lent lent[2];
	struct ccr_share pick[3];
	struct ccr_plan *p;
};

static void load(struct preempting *m, int64_t now, int64_t first_end, int64_t victims_end)
{
	ccr_plan_begin(m->p, now, true);
	if (first_end > now)
		runs(m->p, 0, 2, 2, first_end);
	for (uint32_t i = 1; i < 3 && victims_end > now; i++)
		runs(m->p, i, 2, 2, victims_end);
	cr_assert_eq(ccr_plan_ready(m->p, NULL), 0);
	for (int i = 0; i < 2; i++)
		m->lent[i].end = victims_end;
	m->high.lents = victims_end > now ? 2 : 0;
}

static struct preempting *machine(uint32_t depth, int64_t first_end)
{
	static struct preempting m;
	struct ccr_amount part = {.cpus = 2, .gpus = {2}};

	m = (struct preempting){.n = {node(8, 2), node(8, 2), node(8, 2)},
				.three = wants(3, 2, 2),
				.one = wants(1, 2, 2)};
	m.p = plan_of(m.n, 3, depth);
	m.high = job(5, &m.three, 120);
	m.low = job(9, &m.one, 300);
	m.high.lent = m.lent;
	for (uint32_t i = 0; i < 3; i++)
		m.pick[i] = (struct ccr_share){i, part};
	for (uint32_t i = 0; i < 2; i++)
		m.lent[i].share = m.pick[i + 1];
	load(&m, 0, first_end, 2400);
	return &m;
}

static const struct ccr_booking *claimed(struct preempting *m, int64_t start)
{
	const struct ccr_booking *b = ccr_plan_booking(m->p, 5);

	cr_assert(b);
	cr_expect(b->claim && b->over);
	cr_expect_eq(b->start, start, "it starts at %lld", (long long)b->start);
	cr_expect_eq(b->n, 3);
	return b;
}

static enum ccr_verdict on_node_0(struct preempting *m, int64_t limit, struct ccr_conflict *why)
{
	m->low.limit = limit;
	return ccr_plan_check(m->p, &m->low, m->pick, 1, NULL, why);
}

Test(claim, what_is_free_is_kept_while_others_make_way)
{
	struct preempting *m = machine(5, 0);
	struct ccr_amount cpus = {.cpus = 4};
	struct ccr_share beside = {0, cpus};
	struct ccr_conflict why;

	cr_assert_eq(ccr_plan_claim(m->p, &m->high, m->pick, 3, 25, NULL), 0);
	claimed(m, 25);
	cr_expect_eq(on_node_0(m, 300, &why), CCR_WAIT_BOOKING);
	cr_expect_eq(why.job, 5);
	cr_expect_eq(why.start, 25);
	cr_expect_eq(on_node_0(m, 10, &why), CCR_WAIT_BOOKING, "who ends before waits as well");
	cr_expect_eq(turn(m->p, &m->low, NULL), CCR_WAIT_BOOKING);
	cr_expect_eq(ccr_plan_check(m->p, &m->low, &beside, 1, NULL, NULL), CCR_START,
		     "what it leaves is free");
	/* They are told to go, and are completing at last: it stands, and so for its own job. */
	for (int64_t now = 5; now < 40; now += 5) {
		load(m, now, 0, now < 20 ? 20 : now + 1);
		if (now >= 20)
			m->high.lents = 0;
		cr_expect_eq(on_node_0(m, 10, &why), CCR_WAIT_BOOKING);
		cr_expect_eq(ccr_plan_book(m->p, &m->high, NULL, NULL), CCR_BOOKED);
		claimed(m, now > 25 ? now : 25);
		cr_expect_eq(ccr_plan_booking(m->p, 5)->due, now < 25 ? 0 : 25, "at %lld",
			     (long long)now);
	}
	load(m, 40, 0, 0);
	cr_expect_eq(ccr_plan_late(m->p, 5), 15,
		     "what is booked behind it is held as if it were not");
	m->high.limit -= 15;
	cr_expect_eq(turn(m->p, &m->high, NULL), CCR_START);
	cr_expect_null(ccr_plan_booking(m->p, 5));
	ccr_plan_free(m->p);
}

Test(claim, another_pick_does_not_move_it_while_it_stands)
{
	struct preempting *m = machine(5, 0);
	struct ccr_share other[3];

	memcpy(other, m->pick, sizeof(other));
	other[0].node = 2;
	m->three = wants(1, 2, 2);
	cr_assert_eq(ccr_plan_claim(m->p, &m->high, m->pick + 1, 1, 25, NULL), 0);
	load(m, 5, 0, 2400);
	cr_assert_eq(ccr_plan_claim(m->p, &m->high, other, 1, 30, NULL), 0);
	cr_expect_eq(ccr_plan_booking(m->p, 5)->share[0].node, 1);
	cr_expect_eq(ccr_plan_booking(m->p, 5)->start, 30);
	/* one that may not be preempted is there now */
	load(m, 10, 0, 2400);
	m->high.lent = m->lent + 1;
	m->high.lents = 1;
	cr_assert_eq(ccr_plan_claim(m->p, &m->high, other, 1, 35, NULL), 0);
	cr_expect_eq(ccr_plan_booking(m->p, 5)->share[0].node, 2);
	ccr_plan_free(m->p);
}

Test(claim, it_takes_no_part_in_the_depth)
{
	struct preempting *m = machine(1, 0);
	struct ccr_plan_job first = job(6, &m->three, 100), second = job(7, &m->three, 100);

	cr_assert_eq(ccr_plan_claim(m->p, &m->high, m->pick, 3, 25, NULL), 0);
	cr_expect_eq(ccr_plan_book(m->p, &first, NULL, NULL), CCR_BOOKED);
	cr_expect_eq(ccr_plan_book(m->p, &second, NULL, NULL), CCR_BOOK_DEPTH);
	claimed(m, 25);
	ccr_plan_free(m->p);
	/* nor does it need one */
	m = machine(0, 0);
	cr_assert_eq(ccr_plan_claim(m->p, &m->high, m->pick, 3, 25, NULL), 0);
	load(m, 10, 0, 20);
	cr_expect_eq(ccr_plan_book(m->p, &m->high, NULL, NULL), CCR_BOOKED);
	claimed(m, 25);
	ccr_plan_free(m->p);
}

Test(claim, it_ends_with_a_node_a_change_or_who_does_not_make_way)
{
	struct preempting *m = machine(5, 0);

	cr_assert_eq(ccr_plan_claim(m->p, &m->high, m->pick, 3, 25, NULL), 0);
	ccr_plan_node_up(m->p, 2, false);
	load(m, 5, 0, 2400);
	cr_expect_null(ccr_plan_booking(m->p, 5));
	ccr_plan_node_up(m->p, 2, true);
	for (int changed = 0; changed < 2; changed++) {
		m->high.limit = 120;
		load(m, 10, 0, 2400);
		cr_assert_eq(ccr_plan_claim(m->p, &m->high, m->pick, 3, 25, NULL), 0);
		if (changed)
			m->high.limit = 60;
		m->high.lents = 0;
		cr_expect_eq(ccr_plan_book(m->p, &m->high, NULL, NULL), CCR_BOOKED);
		cr_expect_eq(ccr_plan_booking(m->p, 5)->start, 2400);
		cr_expect_not(ccr_plan_booking(m->p, 5)->claim);
		ccr_plan_drop(m->p, 5);
	}
	ccr_plan_free(m->p);
}

Test(claim, lower_bookings_make_way)
{
	struct preempting *m = machine(5, 60);

	cr_expect_eq(turn(m->p, &m->low, NULL), CCR_WAIT_FREE);
	cr_assert_eq(ccr_plan_booking(m->p, 9)->start, 60);
	load(m, 60, 0, 2400);
	m->high.since = 30;
	m->high.over_lower = true;
	cr_assert_eq(ccr_plan_claim(m->p, &m->high, m->pick, 3, 85, NULL), 0);
	claimed(m, 85);
	cr_expect_eq(ccr_plan_booking(m->p, 9)->start, 205);
	ccr_plan_free(m->p);
}

Test(claim, in_a_strict_partition_nobody_passes)
{
	struct preempting *m = machine(5, 0);
	struct ccr_amount cpus = {.cpus = 1};
	struct ccr_share beside = {0, cpus};

	ccr_plan_partition(m->p, 0, 5, true, NULL);
	cr_assert_eq(ccr_plan_claim(m->p, &m->high, m->pick, 3, 25, NULL), 0);
	cr_expect_eq(ccr_plan_check(m->p, &m->low, &beside, 1, NULL, NULL), CCR_WAIT_STRICT);
	ccr_plan_free(m->p);
}

Test(claim, booked_when_those_end_that_do_not_make_way)
{
	struct preempting *m = machine(5, 100);
	struct ccr_plan_job next = job(6, &m->one, 120);
	const struct ccr_booking *b;

	cr_expect_eq(ccr_plan_book(m->p, &m->high, &b, NULL), CCR_BOOKED);
	cr_expect_eq(b->start, 100);
	cr_expect(b->over && !b->claim);
	/* a lower one that may preempt as well waits, if it does not end before */
	cr_assert_eq(ccr_plan_lend(m->p, &m->pick[1], 2400, false), 0);
	cr_expect_eq(ccr_plan_check(m->p, &next, &m->pick[1], 1, NULL, NULL), CCR_WAIT_BOOKING);
	next.limit = 100;
	cr_expect_eq(ccr_plan_check(m->p, &next, &m->pick[1], 1, NULL, NULL), CCR_START);
	cr_assert_eq(ccr_plan_lend(m->p, &m->pick[1], 2400, true), 0);
	/* it stays from cycle to cycle, also before its turn */
	load(m, 50, 100, 2400);
	cr_expect_eq(ccr_plan_booking(m->p, 5)->start, 100);
	cr_expect_eq(ccr_plan_book(m->p, &m->high, &b, NULL), CCR_BOOKED);
	cr_expect_eq(b->start, 100);
	/* who is in the way is late */
	load(m, 103, 104, 2400);
	cr_expect_eq(ccr_plan_book(m->p, &m->high, &b, NULL), CCR_BOOKED);
	cr_expect_eq(b->start, 104);
	/* nobody makes way any more */
	load(m, 105, 0, 2400);
	m->high.lents = 0;
	cr_expect_eq(ccr_plan_book(m->p, &m->high, &b, NULL), CCR_BOOKED);
	cr_expect_eq(b->start, 2400);
	cr_expect_not(b->over);
	/* they do again */
	m->high.lents = 2;
	cr_expect_eq(ccr_plan_book(m->p, &m->high, &b, NULL), CCR_BOOKED);
	cr_expect_eq(b->start, 105);
	/* and have: it is a booking as others are */
	load(m, 110, 0, 0);
	cr_expect_eq(ccr_plan_book(m->p, &m->high, &b, NULL), CCR_BOOKED);
	cr_expect_not(b->over);
	ccr_plan_free(m->p);
}

Test(claim, booked_behind_it_stays_behind_it_when_it_is_late)
{
	struct preempting *m = machine(5, 100);
	struct ccr_plan_job next = job(6, &m->three, 120);

	next.lent = m->lent;
	next.lents = 2;
	cr_expect_eq(ccr_plan_book(m->p, &m->high, NULL, NULL), CCR_BOOKED);
	cr_expect_eq(ccr_plan_book(m->p, &next, NULL, NULL), CCR_BOOKED);
	cr_expect_eq(ccr_plan_booking(m->p, 6)->start, 220);
	load(m, 105, 106, 2400);
	cr_expect_eq(ccr_plan_book(m->p, &m->high, NULL, NULL), CCR_BOOKED);
	cr_expect_eq(ccr_plan_book(m->p, &next, NULL, NULL), CCR_BOOKED);
	cr_expect_eq(ccr_plan_booking(m->p, 5)->start, 106);
	cr_expect_geq(ccr_plan_booking(m->p, 6)->start, 220);
	ccr_plan_free(m->p);
}

Test(claim, amounts_of_a_pick_of_nodes)
{
	struct preempting *m = machine(5, 0);
	struct ccr_share out[3];
	uint64_t nodes = 7, fit = 0;

	m->high.candidates = &nodes;
	cr_assert_eq(ccr_plan_amounts(m->p, &m->high, out), 3);
	for (uint32_t i = 0; i < 3; i++) {
		cr_expect_eq(out[i].node, i);
		cr_expect_eq(out[i].a.cpus, 2);
		cr_expect_eq(out[i].a.gpus[0], 2);
	}
	cr_expect_eq(ccr_plan_may_fit(m->p, &m->high, &fit, NULL), CCR_START);
	cr_expect_eq(fit, 7);
	/* where it is not told: all of them */
	m->high.lents = 0;
	cr_assert_eq(ccr_plan_amounts(m->p, &m->high, out), 3);
	cr_expect_eq(out[2].a.cpus, 8);
	cr_expect_eq(ccr_plan_may_fit(m->p, &m->high, &fit, NULL), CCR_WAIT_FREE);
	/* as before, not lent for good */
	cr_expect_eq(ccr_plan_timeline(m->p)->track[1].now.gpus[0], 0);
	ccr_plan_free(m->p);
}
