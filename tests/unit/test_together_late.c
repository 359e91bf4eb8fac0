/* Jobs that are booked together keep one start: late starts, nodes that go, restarts. */
#include "core/together.h"
#include "planner_help.h"

static const uint64_t node_0 = 1, node_1 = 2, nodes_1_2 = 6;

/*
 * Three nodes of 4 CPUs. Node 0 is busy till 60, node 1 till 20, node 2 for long. Booked: jobs 2
 * and 3 together, on node 0 and, from when that is free, on node 1; job 1, above them, on node 1
 * and 2 from 120 on; behind them, on node 0, job 4.
 */
struct pair {
	struct ccr_node n[3];
	struct ccr_demand one, two;
	struct ccr_plan_job above, party[2], below;
	struct ccr_plan *p;
};

static void load(struct pair *c, int64_t now, int64_t late)
{
	ccr_plan_begin(c->p, now, true);
	runs(c->p, 0, 4, 0, 60 + late);
	if (now < 20)
		runs(c->p, 1, 4, 0, 20);
	runs(c->p, 2, 4, 0, 120);
	cr_assert_eq(ccr_plan_ready(c->p, NULL), 0);
}

static void take_turns(struct pair *c, int64_t expected)
{
	int64_t start;

	c->above.demand = &c->two;
	c->party[0].demand = c->party[1].demand = c->below.demand = &c->one;
	if (ccr_plan_booking(c->p, 1) || !ccr_plan_timeline(c->p)->now)
		turn(c->p, &c->above, NULL);
	cr_assert_eq(ccr_plan_book_together(c->p, c->party, 2, &start, NULL), CCR_BOOKED);
	cr_assert_eq(start, expected, "at %lld", (long long)start);
	turn(c->p, &c->below, NULL);
}

static struct pair pair_of(void)
{
	struct pair c = {.n = {node(4, 0), node(4, 0), node(4, 0)},
			 .one = wants(1, 4, 0),
			 .two = wants(2, 4, 0)};

	c.p = plan_of(c.n, 3, 5);
	c.above = job(1, NULL, 300);
	c.above.candidates = &nodes_1_2;
	c.party[0] = job(2, NULL, 60);
	c.party[0].candidates = &node_0;
	c.party[1] = job(3, NULL, 60);
	c.party[1].candidates = &node_1;
	c.below = job(4, NULL, 1000);
	c.below.candidates = &node_0;
	load(&c, 0, 0);
	take_turns(&c, 60);
	return c;
}

static void expect(const struct pair *c, uint32_t id, int64_t start, int64_t end, int64_t due)
{
	const struct ccr_booking *b = ccr_plan_booking(c->p, id);

	cr_assert(b, "job %u", id);
	cr_expect_eq(b->start, start, "job %u starts at %lld", id, (long long)b->start);
	cr_expect_eq(b->end, end, "job %u ends at %lld", id, (long long)b->end);
	cr_expect_eq(b->due, due, "job %u is due at %lld", id, (long long)b->due);
}

static void all_in_place(const struct pair *c)
{
	expect(c, 1, 120, 420, 0);
	expect(c, 2, 60, 120, 0);
	expect(c, 3, 60, 120, 0);
	expect(c, 4, 120, 1120, 0);
}

/* Behind a start that was 7 s late: the second, whose node is free, waits for the first. */
static void all_slid(const struct pair *c)
{
	expect(c, 1, 120, 420, 0);
	expect(c, 2, 67, 127, 0);
	expect(c, 3, 67, 120, 60);
	expect(c, 4, 127, 1127, 0);
}

Test(together_late, they_slide_together)
{
	struct pair c = pair_of();

	all_in_place(&c);
	for (int64_t now = 25; now < 40; now += 5) {
		load(&c, now, 7);
		all_slid(&c);
		take_turns(&c, 67);
		all_slid(&c);
		cr_expect_eq(ccr_plan_booking(c.p, 3)->made, 0);
	}
	/* Later still, and their time has come. */
	load(&c, 70, 20);
	expect(&c, 2, 80, 140, 0);
	expect(&c, 3, 80, 120, 60);
	cr_expect_eq(ccr_plan_late(c.p, 3), 10);
	ccr_plan_begin(c.p, 80, true);
	runs(c.p, 2, 4, 0, 120);
	cr_assert_eq(ccr_plan_ready(c.p, NULL), 0);
	take_turns(&c, 80);
	cr_expect_eq(ccr_plan_late(c.p, 3), 20);
	ccr_plan_free(c.p);
}

/* More than half a minute: together, behind whoever ranks above, before whoever ranks below. */
Test(together_late, who_are_later_than_that_are_placed_anew_together)
{
	struct pair c = pair_of();

	load(&c, 25, CCR_LATE_MAX + 1);
	expect(&c, 1, 120, 420, 0);
	expect(&c, 2, 420, 480, 0);
	expect(&c, 3, 420, 480, 0);
	expect(&c, 4, 480, 1480, 0);
	take_turns(&c, 420);
	ccr_plan_free(c.p);
}

Test(together_late, a_node_that_is_gone)
{
	struct pair c = pair_of();

	ccr_plan_node_up(c.p, 1, false);
	load(&c, 25, 0);
	cr_assert_null(ccr_plan_booking(c.p, 2), "one has no place, so none has");
	cr_assert_null(ccr_plan_booking(c.p, 3));
	expect(&c, 4, 120, 1120, 0);
	ccr_plan_free(c.p);
	c = pair_of();
	c.party[1].candidates = &nodes_1_2;
	ccr_plan_drop(c.p, 2);
	ccr_plan_drop(c.p, 1);
	take_turns(&c, 60);
	ccr_plan_node_up(c.p, 1, false);
	load(&c, 25, 0);
	expect(&c, 2, 120, 180, 0);
	expect(&c, 3, 120, 180, 0);
	expect(&c, 4, 180, 1180, 0);
	ccr_plan_free(c.p);
}

/* What nodes have of GPUs has another name: all lose their place, and none their turn. */
Test(together_late, lost_places)
{
	struct pair c = pair_of();
	struct ccr_booking b;
	uint32_t at = 0;

	c.n[1].gpu_types = 1;
	c.n[1].gpu_type[0] = 5;
	cr_assert_eq(ccr_plan_set_nodes(c.p, c.n, NULL), 0);
	cr_assert_null(ccr_plan_booking(c.p, 2));
	cr_assert_null(ccr_plan_booking(c.p, 3));
	while (ccr_plan_nth(c.p, at))
		at++;
	cr_expect_eq(at, 4);
	ccr_plan_drop(c.p, 1);
	load(&c, 5, 70);
	expect(&c, 4, 130, 1130, 0);
	take_turns(&c, 130);
	b = *ccr_plan_booking(c.p, 3);
	cr_expect_eq(b.made, 0);
	cr_expect_eq(b.first_start, 60);
	expect(&c, 4, 190, 1190, 0);
	ccr_plan_free(c.p);
}

/* The bookings of the pair and of who is below in a new plan; not all: the second's node is no
 * more. */
static void restart(struct pair *c, int64_t late_of_first, bool all)
{
	struct ccr_share share = {.node = 0, .a = {.cpus = 4}};
	struct ccr_booking b = {.first_start = 60, .made = 1, .n = 1, .share = &share};
	struct ccr_error err;

	ccr_plan_free(c->p);
	c->p = plan_of(c->n, 3, 5);
	c->party[0].together = c->party[1].together = 2;
	b.start = 60 + late_of_first;
	cr_assert_eq(ccr_plan_restore(c->p, &c->party[0], &b, &err), 0);
	b.start = 120;
	cr_assert_eq(ccr_plan_restore(c->p, &c->below, &b, &err), 0);
	share.node = 1;
	b.start = 60;
	cr_assert_eq(all ? ccr_plan_restore(c->p, &c->party[1], &b, &err)
			 : ccr_plan_lost(c->p, &c->party[1], &b, &err),
		     0);
}

Test(together_late, over_a_restart)
{
	struct pair c = pair_of();

	/* The first ended later and the second did not: their starts are saved apart. */
	restart(&c, 7, true);
	load(&c, 30, 7);
	expect(&c, 2, 67, 127, 0);
	expect(&c, 3, 67, 120, 60);
	take_turns(&c, 67);
	cr_expect_eq(ccr_plan_booking(c.p, 2)->made, 1);
	/* From then on their demand is known. */
	ccr_plan_drop(c.p, 1);
	load(&c, 35, 100);
	expect(&c, 2, 160, 220, 0);
	expect(&c, 3, 160, 220, 0);
	/* One of them was lost: so are all. */
	restart(&c, 0, false);
	load(&c, 30, 0);
	cr_assert_null(ccr_plan_booking(c.p, 2));
	ccr_plan_drop(c.p, 1);
	take_turns(&c, 60);
	cr_expect_eq(ccr_plan_booking(c.p, 2)->made, 1);
	cr_expect_eq(ccr_plan_booking(c.p, 3)->made, 1);
	ccr_plan_free(c.p);
}

/* --- at random --- */

#define NODES	4
#define PARTIES 4
#define MEMBERS 3
#define SINGLES 3
#define JOBS	(PARTIES * MEMBERS + SINGLES)

struct chance {
	struct ccr_plan *p;
	struct ccr_plan_job job[JOBS];
	struct ccr_demand demand[JOBS];
	uint64_t candidates[JOBS], seed;
	int64_t ends[JOBS]; /* by the limit, when it runs; 0: it waits */
	int64_t over[JOBS]; /* when it does end */
	uint32_t on[JOBS];
	bool done[JOBS];
	uint32_t booked, later;
};

static uint32_t below(struct chance *c, uint32_t n)
{
	c->seed = c->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(c->seed >> 33) % n;
}

/* One start for all, on nodes of their own, or none; and nothing is given twice. */
static void check(struct chance *c)
{
	const struct ccr_timeline *tl = ccr_plan_timeline(c->p);

	for (uint32_t k = 0; k < PARTIES; k++) {
		const struct ccr_booking *first = ccr_plan_booking(c->p, k * MEMBERS + 1);
		uint64_t nodes = 0;

		for (uint32_t i = 0; i < MEMBERS; i++) {
			const struct ccr_booking *b = ccr_plan_booking(c->p, k * MEMBERS + i + 1);

			cr_assert_eq(!b, !first);
			cr_assert(!b || b->start == first->start);
			cr_assert(!b || !(nodes & UINT64_C(1) << b->share[0].node));
			nodes |= b ? UINT64_C(1) << b->share[0].node : 0;
		}
	}
	for (uint32_t n = 0; n < tl->n; n++)
		for (uint32_t s = 0; s < tl->track[n].n; s++)
			cr_assert_geq(tl->track[n].step[s].free.cpus, 0);
}

static void start(struct chance *c, uint32_t i, int64_t now)
{
	const struct ccr_booking *b = ccr_plan_booking(c->p, i + 1);
	struct ccr_plan_job j = c->job[i];
	struct ccr_share share = b->share[0];

	c->ends[i] = now + j.limit;
	c->over[i] = now + 1 + below(c, (uint32_t)j.limit);
	if (below(c, 2))
		c->over[i] = c->ends[i] + below(c, 2) * below(c, 9);
	c->on[i] = share.node;
	j.limit -= ccr_plan_late(c->p, j.id);
	j.limit = j.limit > 0 ? j.limit : 1;
	cr_assert_eq(ccr_plan_start(c->p, &j, &share, 1, NULL), 0);
}

/* Who is due starts, or a little later. */
static void start_due(struct chance *c, uint32_t i, uint32_t n, int64_t now)
{
	bool idle[NODES];

	memset(idle, true, sizeof(idle));
	for (uint32_t k = 0; k < JOBS; k++)
		if (c->ends[k])
			idle[c->on[k]] = false;
	for (uint32_t k = i; k < i + n; k++) {
		const struct ccr_booking *b = ccr_plan_booking(c->p, k + 1);

		if (!b || b->start > now || !idle[b->share[0].node])
			return;
	}
	for (uint32_t k = i; k < i + n; k++)
		start(c, k, now);
}

static void one_step(struct chance *c, int64_t now)
{
	if (!below(c, 30))
		ccr_plan_node_up(c->p, below(c, NODES), below(c, 3));
	ccr_plan_begin(c->p, now, true);
	for (uint32_t i = 0; i < JOBS; i++) {
		if (c->ends[i] && c->over[i] <= now) {
			c->ends[i] = 0;
			c->done[i] = true;
		} else if (c->ends[i]) {
			runs(c->p, c->on[i], 4, 0, c->ends[i] > now ? c->ends[i] : now + 1);
		}
	}
	cr_assert_eq(ccr_plan_ready(c->p, NULL), 0);
	check(c);
	for (uint32_t i = 0; i < JOBS; i += i < PARTIES * MEMBERS ? MEMBERS : 1) {
		uint32_t n = i < PARTIES * MEMBERS ? MEMBERS : 1;
		int64_t at;

		if (c->done[i] || c->ends[i] || c->job[i].since > now)
			continue;
		if (n > 1)
			c->booked +=
			    ccr_plan_book_together(c->p, &c->job[i], n, &at, NULL) == CCR_BOOKED;
		else
			ccr_plan_book(c->p, &c->job[i], NULL, NULL);
		check(c);
		if (below(c, 3))
			start_due(c, i, n, now);
		check(c);
	}
}

Test(together_late, one_start_for_all_whatever_happens, .timeout = 120)
{
	uint32_t booked = 0, done = 0;

	for (uint32_t world = 0; world < 400; world++) {
		struct ccr_node n[NODES] = {node(4, 0), node(4, 0), node(4, 0), node(4, 0)};
		struct chance c = {.p = plan_of(n, NODES, 20), .seed = world};

		for (uint32_t i = 0; i < JOBS; i++) {
			uint32_t prio = 1 + below(&c, 6); /* of a party others may be between */

			c.demand[i] = wants(1, 4, 0);
			c.candidates[i] = below(&c, 3) ? 15 : 1 + below(&c, 15);
			c.job[i] = job(i + 1, &c.demand[i], 20 + below(&c, 100));
			c.job[i].rank.prio = prio;
			c.job[i].since = below(&c, 2) * below(&c, 100);
			c.job[i].candidates = &c.candidates[i];
			if (i < PARTIES * MEMBERS)
				c.job[i].since = c.job[i - i % MEMBERS].since;
		}
		for (int64_t now = 1; now < 600; now += 1 + below(&c, 8))
			one_step(&c, now);
		for (uint32_t i = 0; i < JOBS; i++)
			done += c.done[i];
		booked += c.booked;
		ccr_plan_free(c.p);
	}
	cr_expect_gt(booked, 10000, "%u", booked);
	cr_expect_gt(done, 3000, "%u", done);
}
