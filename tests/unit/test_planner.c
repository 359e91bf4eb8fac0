/* The backfill cases of the field (R08 to R41) that the planner decides. */
#include "planner_help.h"

Test(planner, books_the_earliest_node_not_the_last)
{
	struct ccr_node n[4] = {node(4, 4), node(4, 4), node(4, 4), node(4, 4)};
	struct ccr_plan *p = plan_of(n, 4, 5);
	struct ccr_demand d = wants(1, 4, 4);
	struct ccr_plan_job j = job(1, &d, 86400);
	const struct ccr_booking *b;

	/* R08 */
	runs(p, 0, 1, 1, 25 * 3600);
	runs(p, 1, 1, 1, 9 * 3600);
	runs(p, 2, 1, 1, 3600);
	runs(p, 3, 1, 1, 17 * 3600);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &j, NULL), CCR_WAIT_FREE);
	b = ccr_plan_booking(p, 1);
	cr_assert(b);
	cr_assert_eq(b->start, 3600);
	cr_assert_eq(b->share[0].node, 2);
	cr_assert_eq(b->share[0].a.gpus[0], 4);
	ccr_plan_free(p);
}

Test(planner, fills_what_no_booking_needs)
{
	struct ccr_node n[2] = {node(16, 4), node(16, 4)};
	struct ccr_plan *p = plan_of(n, 2, 1);
	struct ccr_demand a = wants(1, 3, 3), f1 = wants(1, 1, 1), c1 = wants(1, 1, 0);
	struct ccr_plan_job ja = job(1, &a, 3600), jf = job(2, &f1, 3600), jc = job(3, &c1, 3600),
			    jg = job(4, &f1, 3600), jh = job(5, &f1, 60);
	struct ccr_conflict why;
	struct ccr_slot slot;

	/* Case A of the notes: R1 holds 2 GPUs of n1 for 3 minutes, R2 all of n2 for 30. */
	runs(p, 0, 2, 2, 180);
	runs(p, 1, 4, 4, 1800);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &ja, NULL), CCR_WAIT_FREE);
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 180);
	/* 1 of the 4 GPUs is left beside A: one filler may stay, a second must end before. */
	cr_assert_eq(turn(p, &jf, NULL), CCR_START);
	cr_assert_eq(turn(p, &jc, NULL), CCR_START);
	cr_assert_eq(ccr_plan_pick(p, &jg, false, &slot, &why), CCR_WAIT_BOOKING);
	cr_assert_eq(why.job, 1);
	cr_assert_eq(why.node, 0);
	cr_assert_eq(why.start, 180);
	cr_assert_eq(why.what, 'g');
	cr_assert_eq(turn(p, &jh, NULL), CCR_START);
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 180);
	ccr_plan_free(p);
}

Test(planner, names_the_booking_that_is_in_the_way_where_it_could_start)
{
	struct ccr_node n[3] = {node(8, 2), node(8, 2), node(8, 2)};
	struct ccr_plan *p = plan_of(n, 3, 4);
	struct ccr_demand both = wants(1, 8, 2), all = wants(3, 1, 2), one = wants(1, 1, 1);
	struct ccr_plan_job top = job(1, &both, 3600), wide = job(2, &all, 3600),
			    j = job(3, &one, 6000);
	struct ccr_conflict why;
	uint64_t fit[1];

	runs(p, 0, 1, 2, 1200);
	runs(p, 1, 1, 2, 1800);
	runs(p, 2, 1, 1, 2400); /* one GPU is free */
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	turn(p, &top, NULL);
	turn(p, &wide, NULL);
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 1200);
	cr_assert_eq(ccr_plan_booking(p, 2)->start, 4800);
	cr_assert_eq(ccr_plan_may_fit(p, &j, fit, &why), CCR_WAIT_BOOKING);
	cr_expect_eq(why.node, 2);
	cr_expect_eq(why.job, 2);
	cr_expect_eq(why.what, 'g');
	ccr_plan_free(p);
}

Test(planner, short_jobs_fill_below_the_depth)
{
	struct ccr_node n[1] = {node(32, 8)};
	struct ccr_plan *p = plan_of(n, 1, 1);
	struct ccr_demand big = wants(1, 1, 5), four = wants(1, 1, 4);
	struct ccr_plan_job j800 = job(1, &big, 800 * 3600), j500 = job(2, &big, 500 * 3600),
			    j2 = job(3, &four, 2 * 3600), j3m = job(4, &four, 159);
	enum ccr_book book;

	/* R10: 4 GPUs are free for 3 h; the 800 h job is booked, the 500 h job is not. */
	runs(p, 0, 1, 4, 3 * 3600);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &j800, &book), CCR_WAIT_FREE);
	cr_assert_eq(book, CCR_BOOKED);
	cr_assert_neq(turn(p, &j500, &book), CCR_START);
	cr_assert_eq(book, CCR_BOOK_DEPTH);
	cr_assert_eq(turn(p, &j2, NULL), CCR_START);
	cr_assert_eq(turn(p, &j3m, &book), CCR_WAIT_FREE);
	ccr_plan_free(p);
}

Test(planner, counts_tasks_not_nodes)
{
	struct ccr_node n[10];
	struct ccr_plan *p;
	struct ccr_demand d = {.units = 12, .unit = {.cpus = 4, .mem = 800}},
			  e = {.units = 10, .unit = {.cpus = 4, .mem = 800}};
	struct ccr_plan_job j = job(1, &d, 60), k = job(2, &e, 60);
	enum ccr_book book;

	/* R14: 10 nodes of 6 CPUs hold one task of 4 each. */
	for (int i = 0; i < 10; i++)
		n[i] = node(6, 0);
	p = plan_of(n, 10, 2);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &j, &book), CCR_WAIT_NEVER);
	cr_assert_eq(book, CCR_BOOK_NEVER);
	cr_assert_eq(turn(p, &k, NULL), CCR_START);
	ccr_plan_free(p);
}

Test(planner, an_impossible_job_takes_no_booking)
{
	struct ccr_node n[2] = {node(1, 0), node(1, 0)};
	struct ccr_plan *p = plan_of(n, 2, 1);
	struct ccr_demand two = wants(1, 2, 0), one = wants(1, 1, 0);
	struct ccr_plan_job j1 = job(1, &two, 60), j2 = job(2, &one, 60);
	enum ccr_book book;

	/* R15, R20 */
	runs(p, 0, 1, 0, 3600);
	runs(p, 1, 1, 0, 3600);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &j1, &book), CCR_WAIT_NEVER);
	cr_assert_eq(book, CCR_BOOK_NEVER);
	cr_assert_eq(turn(p, &j2, &book), CCR_WAIT_FREE);
	cr_assert_eq(book, CCR_BOOKED);
	cr_assert_eq(ccr_plan_booking(p, 2)->start, 3600);
	ccr_plan_free(p);
}

Test(planner, beyond_the_window_nothing_is_held)
{
	struct ccr_node n[1] = {node(4, 4)};
	struct ccr_plan_options opt = ccr_plan_defaults();
	struct ccr_plan *p;
	struct ccr_demand all = wants(1, 4, 4), two = wants(1, 2, 2);
	struct ccr_plan_job j = job(1, &all, 60), f = job(2, &two, 100000);
	enum ccr_book book;

	/* R17 */
	opt.window = 3600;
	cr_assert_eq(ccr_plan_new(&p, n, 1, &opt, NULL), 0);
	ccr_plan_begin(p, 0, true);
	runs(p, 0, 2, 2, 3601);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	turn(p, &j, &book);
	cr_assert_eq(book, CCR_BOOK_WINDOW);
	cr_assert_null(ccr_plan_booking(p, 1));
	cr_assert_eq(turn(p, &f, NULL), CCR_START);
	ccr_plan_free(p);
}

Test(planner, the_depth_counts_those_above)
{
	struct ccr_node n = node(4, 0);
	struct ccr_plan *p = plan_of(&n, 1, 2);
	struct ccr_demand d = wants(1, 4, 0), far = wants(1, 3, 0);
	struct ccr_plan_job first = job(1, &d, 10), second = job(2, &far, 10),
			    last = job(3, &d, 10);
	struct ccr_error err = {0};

	runs(p, 0, 4, 0, 100);
	cr_assert_eq(ccr_plan_partition(p, 1, 1, false, &err), 0);
	cr_expect(!ccr_plan_deep(p, 0, &first.rank));
	cr_assert_eq(ccr_plan_book(p, &second, NULL, &err), CCR_BOOKED);
	cr_expect(!ccr_plan_deep(p, 0, &last.rank));
	cr_assert_eq(ccr_plan_book(p, &first, NULL, &err), CCR_BOOKED);
	cr_expect(ccr_plan_deep(p, 0, &last.rank));
	cr_expect(!ccr_plan_deep(p, 0, &second.rank), "itself does not count");
	cr_expect(!ccr_plan_deep(p, 1, &last.rank), "another partition");
	cr_assert_eq(ccr_plan_partition(p, 1, 0, false, &err), 0);
	cr_expect(ccr_plan_deep(p, 1, &first.rank));
	cr_expect(!ccr_plan_deep(p, 1000, &last.rank), "one that is not known has the default");
	ccr_plan_free(p);
}

Test(planner, long_jobs_have_their_share)
{
	struct ccr_node n[1] = {node(8, 8)};
	struct ccr_plan_options opt = ccr_plan_defaults();
	struct ccr_plan *p;
	struct ccr_demand two = wants(1, 1, 2);
	struct ccr_plan_job j1 = job(1, &two, 7200), j2 = job(2, &two, 7200),
			    j3 = job(3, &two, 3600);
	struct ccr_slot slot;

	/* R18: half of the GPUs for jobs of more than an hour; 2 are taken by such. */
	opt.long_limit = 3600;
	opt.long_share = 0.5;
	cr_assert_eq(ccr_plan_new(&p, n, 1, &opt, NULL), 0);
	ccr_plan_begin(p, 0, true);
	runs(p, 0, 1, 2, 7000);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &j1, NULL), CCR_START);
	cr_assert_eq(ccr_plan_pick(p, &j2, false, &slot, NULL), CCR_WAIT_LONG);
	cr_assert_eq(ccr_plan_book(p, &j2, NULL, NULL), CCR_BOOK_NEVER);
	cr_assert(!ccr_plan_booking(p, 2), "what it held would be nobody's");
	cr_assert_eq(turn(p, &j3, NULL), CCR_START);
	ccr_plan_free(p);
}

Test(planner, without_depth_anybody_passes)
{
	struct ccr_node n[1] = {node(8, 0)};
	struct ccr_plan *p = plan_of(n, 1, 0);
	struct ccr_demand four = wants(1, 5, 0), one = wants(1, 1, 0);
	struct ccr_plan_job j1 = job(1, &four, 1000), j2 = job(2, &one, 5000);
	enum ccr_book book;

	runs(p, 0, 4, 0, 100);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &j1, &book), CCR_WAIT_FREE);
	cr_assert_eq(book, CCR_BOOK_DEPTH);
	cr_assert_eq(turn(p, &j2, NULL), CCR_START);
	ccr_plan_free(p);
}

Test(planner, overdue_and_unlimited_jobs_hold_what_they_have)
{
	struct ccr_node n[2] = {node(4, 0), node(4, 0)};
	struct ccr_plan *p = plan_of(n, 2, 5);
	struct ccr_demand four = wants(1, 4, 0), both = wants(2, 1, 0);
	struct ccr_plan_job j1 = job(1, &four, 100), j2 = job(2, &both, 100);
	enum ccr_book book;

	/* R25: one should have ended long ago, the other never will. */
	ccr_plan_begin(p, 1000, true);
	runs(p, 0, 4, 0, 10);
	runs(p, 1, 4, 0, CCR_FOREVER);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &j1, &book), CCR_WAIT_FREE);
	cr_assert_eq(book, CCR_BOOKED);
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 1001);
	turn(p, &j2, &book);
	cr_assert_eq(book, CCR_BOOK_WINDOW);
	ccr_plan_free(p);
}

Test(planner, a_filler_that_ends_before_may_pass)
{
	struct ccr_node n[1] = {node(8, 0)};
	struct ccr_plan *p = plan_of(n, 1, 1);
	struct ccr_demand four = wants(1, 5, 0), one = wants(1, 4, 0);
	struct ccr_plan_job j1 = job(1, &four, 1000), j2 = job(2, &one, 101),
			    j3 = job(3, &one, 100);

	/* R36 */
	runs(p, 0, 4, 0, 100);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &j1, NULL), CCR_WAIT_FREE);
	cr_assert_eq(turn(p, &j2, NULL), CCR_WAIT_BOOKING);
	cr_assert_eq(turn(p, &j3, NULL), CCR_START);
	ccr_plan_free(p);
}

Test(planner, an_early_end_keeps_the_promise)
{
	struct ccr_node n[1] = {node(2, 0)};
	struct ccr_plan *p = plan_of(n, 1, 1);
	struct ccr_demand one = wants(1, 1, 0), two = wants(1, 2, 0);
	struct ccr_plan_job b = job(1, &two, 3600), c = job(2, &one, 7200);
	const struct ccr_booking *bk;

	/* R37: A runs until 3 h, C fills until 2 h, A ends at 1 h: B starts at 2 h. */
	runs(p, 0, 1, 0, 3 * 3600);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &b, NULL), CCR_WAIT_FREE);
	cr_assert_eq(turn(p, &c, NULL), CCR_START);
	ccr_plan_begin(p, 3600, true);
	runs(p, 0, 1, 0, 7200);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &b, NULL), CCR_WAIT_FREE);
	bk = ccr_plan_booking(p, 1);
	cr_assert_eq(bk->start, 7200);
	cr_assert_eq(bk->first_start, 3 * 3600);
	ccr_plan_begin(p, 7200, true);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &b, NULL), CCR_START);
	ccr_plan_free(p);
}

Test(planner, a_drained_node_moves_the_booking)
{
	struct ccr_node n[2] = {node(4, 0), node(4, 0)};
	struct ccr_plan *p = plan_of(n, 2, 1);
	struct ccr_demand four = wants(1, 4, 0), one = wants(1, 1, 0);
	struct ccr_plan_job j = job(1, &four, 100), f = job(2, &one, 1000);

	/* R28: booked on node 0, which goes; R39: a node comes and it starts there. */
	runs(p, 0, 2, 0, 100);
	runs(p, 1, 2, 0, 300);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &j, NULL), CCR_WAIT_FREE);
	cr_assert_eq(ccr_plan_booking(p, 1)->share[0].node, 0);
	ccr_plan_node_up(p, 0, false);
	ccr_plan_begin(p, 10, true);
	runs(p, 0, 2, 0, 100);
	runs(p, 1, 2, 0, 300);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_booking(p, 1)->share[0].node, 1);
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 300);
	cr_assert_neq(turn(p, &f, NULL), CCR_START);
	ccr_plan_node_up(p, 0, true);
	ccr_plan_begin(p, 110, true);
	runs(p, 1, 2, 0, 300);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &j, NULL), CCR_START);
	cr_assert_null(ccr_plan_booking(p, 1));
	ccr_plan_free(p);
}

Test(planner, a_job_in_two_partitions_has_one_booking)
{
	struct ccr_node n[2] = {node(4, 0), node(4, 0)};
	struct ccr_plan *p = plan_of(n, 2, 1);
	struct ccr_demand four = wants(1, 4, 0);
	struct ccr_plan_job j = job(1, &four, 100), k = job(2, &four, 100);
	uint64_t first = 1, second = 2;
	enum ccr_book book;

	runs(p, 0, 4, 0, 500);
	runs(p, 1, 4, 0, 300);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	j.candidates = &first;
	turn(p, &j, &book);
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 500);
	j.partition = 1;
	j.candidates = &second;
	turn(p, &j, &book);
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 300);
	cr_assert_eq(ccr_plan_booking(p, 1)->partition, 1);
	cr_assert_null(ccr_plan_nth(p, 1));
	/* Its place in the first partition's depth is free again. */
	k.candidates = &first;
	turn(p, &k, &book);
	cr_assert_eq(book, CCR_BOOKED);
	cr_assert_eq(ccr_plan_booking(p, 2)->start, 500);
	ccr_plan_free(p);
}

Test(planner, who_came_later_but_ranks_above_goes_first)
{
	struct ccr_node n[1] = {node(4, 0)};
	struct ccr_plan *p = plan_of(n, 1, 2);
	struct ccr_demand four = wants(1, 4, 0);
	struct ccr_plan_job old = job(5, &four, 100), young = job(1, &four, 100);

	runs(p, 0, 4, 0, 500);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	turn(p, &old, NULL);
	cr_assert_eq(ccr_plan_booking(p, 5)->start, 500);
	ccr_plan_begin(p, 10, true);
	runs(p, 0, 4, 0, 500);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	young.since = 10;
	turn(p, &young, NULL);
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 500);
	cr_assert_eq(ccr_plan_booking(p, 5)->start, 600);
	ccr_plan_free(p);
}

Test(planner, blocked_nodes_are_planned_around)
{
	struct ccr_node n[1] = {node(4, 0)};
	struct ccr_plan *p = plan_of(n, 1, 2);
	struct ccr_demand one = wants(1, 1, 0);
	struct ccr_plan_job longer = job(1, &one, 101), j = job(2, &one, 100);

	cr_assert_eq(ccr_plan_block(p, 0, 100, 200, NULL), 0);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(turn(p, &longer, NULL), CCR_WAIT_FREE);
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 200);
	cr_assert_eq(turn(p, &j, NULL), CCR_START);
	ccr_plan_free(p);
}

Test(planner, part_of_a_node_can_be_blocked)
{
	struct ccr_node n[1] = {node(4, 2)};
	struct ccr_plan *p = plan_of(n, 1, 4);
	struct ccr_amount part = {.cpus = 1, .gpus = {1}};
	struct ccr_demand one = wants(1, 2, 1), both = wants(1, 1, 2);
	struct ccr_plan_job rest = job(1, &one, 100), all = job(2, &both, 100);

	runs(p, 0, 3, 1, 50);
	cr_assert_eq(ccr_plan_block(p, 0, 0, 200, &part), 0);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	turn(p, &rest, NULL);
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 50, "what is not blocked is to be had");
	turn(p, &all, NULL);
	cr_assert_eq(ccr_plan_booking(p, 2)->start, 200);
	ccr_plan_free(p);
}

static void stays_due(const struct ccr_demand *d)
{
	struct ccr_node n[2] = {node(4, 0), node(4, 0)};
	struct ccr_plan *p = plan_of(n, 2, 2);
	struct ccr_plan_job j = job(1, d, 60);
	const struct ccr_booking *b;

	/* Whoever picks the nodes refuses it time after time although there is room. */
	runs(p, 0, 4, 0, 100);
	runs(p, 1, 4, 0, 900);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book(p, &j, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 100);
	cr_assert_eq(b->due, 0);
	for (int64_t now = 100; now < 400; now += 30) {
		ccr_plan_begin(p, now, true);
		runs(p, 1, 4, 0, 900);
		cr_assert_eq(ccr_plan_ready(p, NULL), 0);
		cr_assert_eq(ccr_plan_book(p, &j, &b, NULL), CCR_BOOKED);
		cr_assert_eq(b->start, now);
		cr_assert_eq(b->due, 100, "at %lld since %lld", (long long)now, (long long)b->due);
		cr_assert_eq(b->first_start, 100);
	}
	/* Its node is taken: it is planned anew, and not due. */
	ccr_plan_begin(p, 400, true);
	runs(p, 0, 4, 0, 500);
	runs(p, 1, 4, 0, 900);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 500);
	cr_assert_eq(ccr_plan_booking(p, 1)->due, 0);
	ccr_plan_free(p);
}

Test(planner, tells_since_when_a_booking_is_due)
{
	struct ccr_demand nodes = wants(1, 4, 0), tasks = {.units = 4, .unit = {.cpus = 1}},
			  pairs = {.units = 2, .unit = {.cpus = 2}, .max_nodes = 1};

	stays_due(&nodes);
	stays_due(&tasks);
	stays_due(&pairs);
}

Test(planner, a_restored_promise_is_kept_and_taken_over)
{
	struct ccr_node n[2] = {node(4, 2), node(4, 2)};
	struct ccr_plan *p = plan_of(n, 2, 2);
	struct ccr_demand two = wants(1, 2, 2), more = wants(1, 3, 2);
	struct ccr_plan_job j = job(1, &two, 60), k = job(2, &more, 60);
	struct ccr_share share = {.node = 1, .a = {.cpus = 2, .gpus = {2}}}, odd = {.node = 2};
	struct ccr_booking saved = {
	    .start = 300, .first_start = 500, .made = 1, .n = 1, .share = &share};
	const struct ccr_booking *b;

	cr_assert_eq(ccr_plan_restore(p, &j, &saved, NULL), 0);
	cr_assert_eq(ccr_plan_restore(p, &j, &saved, NULL), CCR_EINVAL, "twice");
	cr_assert_eq(ccr_plan_restore(p, &k, &saved, NULL), 0);
	saved.share = &odd;
	k.id = 3;
	cr_assert_eq(ccr_plan_restore(p, &k, &saved, NULL), CCR_EINVAL, "no such node");
	k.id = 2;
	ccr_plan_begin(p, 10, true);
	runs(p, 0, 4, 2, 1000);
	runs(p, 1, 1, 2, 200);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	/* The second is not whole beside the first: it has lost its place. */
	cr_assert_null(ccr_plan_booking(p, 2));
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 300);
	cr_assert_eq(ccr_plan_book(p, &j, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 200, "it moves to an earlier time");
	cr_assert_eq(b->first_start, 500);
	cr_assert_eq(b->made, 1);
	/* The job asks for more than what was saved. */
	ccr_plan_drop(p, 1);
	ccr_plan_drop(p, 2);
	saved.share = &share;
	cr_assert_eq(ccr_plan_restore(p, &k, &saved, NULL), 0);
	cr_assert_eq(ccr_plan_book(p, &k, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->first_start, 200);
	cr_assert_eq(b->share[0].a.cpus, 3);
	ccr_plan_free(p);
}

Test(planner, named_nodes_are_in_the_booking)
{
	struct ccr_node n[4] = {node(4, 0), node(4, 0), node(4, 0), node(4, 0)};
	struct ccr_plan *p = plan_of(n, 4, 2);
	struct ccr_demand three = wants(3, 4, 0);
	struct ccr_plan_job j = job(1, &three, 60);
	uint64_t named = 1, fit;
	const struct ccr_booking *b;
	enum ccr_book book;

	j.required = &named;
	runs(p, 0, 1, 0, 500);
	runs(p, 1, 1, 0, 300);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_neq(turn(p, &j, &book), CCR_START);
	b = ccr_plan_booking(p, 1);
	cr_assert_eq(b->start, 500);
	cr_assert_eq(b->n, 3);
	cr_assert_eq(b->share[0].node, 0);
	/* Another name is another job. */
	named = 2;
	cr_assert_neq(turn(p, &j, &book), CCR_START);
	cr_assert_eq(ccr_plan_booking(p, 1)->start, 300);
	named = 12;
	cr_assert_eq(ccr_plan_may_fit(p, &j, &fit, NULL), CCR_WAIT_FREE);
	named = 15;
	cr_assert_eq(turn(p, &j, &book), CCR_WAIT_NEVER, "more names than nodes");
	ccr_plan_free(p);
}

Test(planner, says_what_is_wrong_with_options)
{
	struct ccr_plan_options opt = ccr_plan_defaults();
	struct ccr_error err = {0};
	struct ccr_plan *p;

	opt.long_share = 1.5;
	cr_assert_eq(ccr_plan_new(&p, NULL, 0, &opt, &err), CCR_EINVAL);
	cr_assert(strstr(err.text, "between 0 and 1"));
	opt = ccr_plan_defaults();
	opt.window = -1;
	cr_assert_eq(ccr_plan_new(&p, NULL, 0, &opt, &err), CCR_EINVAL);
}

Test(planner, no_booking_is_made_or_moved_before_the_time_that_its_job_names)
{
	struct ccr_node n[1] = {node(4, 0)};
	struct ccr_plan *p = plan_of(n, 1, 9);
	struct ccr_demand all = wants(1, 4, 0);
	struct ccr_plan_job j = job(1, &all, 50);
	const struct ccr_booking *b;

	j.not_before = 100;
	runs(p, 0, 4, 0, 300);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book(p, &j, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 300);
	/* who ran has ended early */
	ccr_plan_begin(p, 10, true);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book(p, &j, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 100);
	cr_assert_eq(b->first_start, 300);
	/* what is promised stays */
	j.not_before = 200;
	cr_assert_eq(ccr_plan_book(p, &j, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 100);
	ccr_plan_drop(p, 1);
	cr_assert_eq(ccr_plan_book(p, &j, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 200);
	ccr_plan_free(p);
}
