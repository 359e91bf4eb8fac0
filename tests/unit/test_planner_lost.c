#include "planner_help.h"

/* Job 1 has two nodes, of which one goes; job 2 was promised the other for a long time. */
static const struct ccr_demand two = {
    .min_nodes = 2, .max_nodes = 2, .node = {.cpus = 1, .gpu = {{CCR_GPU_ANY, 2}}}};
static const struct ccr_demand one = {
    .min_nodes = 1, .max_nodes = 1, .node = {.cpus = 1, .gpu = {{CCR_GPU_ANY, 1}}}};

static void load(struct ccr_plan *p, int64_t now)
{
	ccr_plan_begin(p, now, true);
	runs(p, 0, 4, 2, 100);
	runs(p, 1, 4, 2, 200);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
}

static void check(struct ccr_plan *p)
{
	struct ccr_plan_job top = job(1, &two, 60), low = job(2, &one, 5000);
	const struct ccr_booking *b;

	cr_assert_eq(ccr_plan_book(p, &top, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 200, "before whoever ranks below, whatever that was promised");
	cr_assert_eq(b->made, 1);
	cr_assert_eq(ccr_plan_book(p, &low, &b, NULL), CCR_BOOKED);
	cr_assert_geq(b->start, 260);
	ccr_plan_free(p);
}

Test(planner_lost, a_node_that_is_no_more)
{
	struct ccr_node n[3] = {node(4, 2), node(4, 2), node(4, 2)};
	struct ccr_plan *p = plan_of(n, 3, 5);
	struct ccr_plan_job top = job(1, &two, 60), low = job(2, &one, 5000);
	const struct ccr_booking *b;

	load(p, 1);
	cr_assert_eq(ccr_plan_book(p, &top, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 100);
	cr_assert_eq(ccr_plan_book(p, &low, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 160);
	memset(&n[2], 0, sizeof(n[2]));
	cr_assert_eq(ccr_plan_set_nodes(p, n, NULL), 0);
	load(p, 5);
	check(p);
}

Test(planner_lost, a_node_that_a_new_plan_does_not_know)
{
	struct ccr_node n[2] = {node(4, 2), node(4, 2)};
	struct ccr_plan *p = plan_of(n, 2, 5);
	struct ccr_plan_job top = job(1, &two, 60), low = job(2, &one, 5000);
	struct ccr_share share = {.node = 0, .a = {.cpus = 1, .gpus = {1}}};
	struct ccr_booking was = {
	    .start = 160, .first_start = 100, .made = 1, .n = 1, .share = &share};

	cr_assert_eq(ccr_plan_restore(p, &low, &was, NULL), 0);
	cr_assert_eq(ccr_plan_lost(p, &top, &was, NULL), 0);
	cr_assert_eq(ccr_plan_lost(p, &top, &was, NULL), CCR_EINVAL, "twice");
	cr_assert_null(ccr_plan_booking(p, 1));
	load(p, 5);
	check(p);
}

Test(planner_lost, a_restored_place_that_is_not_whole)
{
	struct ccr_node n[2] = {node(4, 2), node(4, 2)};
	struct ccr_plan *p = plan_of(n, 2, 5);
	struct ccr_plan_job top = job(1, &two, 60), low = job(2, &one, 5000);
	struct ccr_share share = {.node = 0, .a = {.cpus = 1, .gpus = {1}}}, both[2];
	struct ccr_booking was = {
	    .start = 160, .first_start = 100, .made = 1, .n = 1, .share = &share};

	cr_assert_eq(ccr_plan_restore(p, &low, &was, NULL), 0);
	both[0] = both[1] = share;
	both[1].node = 1;
	both[0].a.gpus[0] = both[1].a.gpus[0] = 2;
	was.share = both;
	was.n = 2;
	was.start = 100;
	cr_assert_eq(ccr_plan_restore(p, &top, &was, NULL), 0);
	load(p, 5);
	check(p);
}
