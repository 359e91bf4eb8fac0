#include <criterion/criterion.h>
#include "core/timeline.h"

static int64_t next(const struct ccr_timeline *tl, const struct ccr_demand *d, int64_t limit,
		    int64_t from, int64_t until)
{
	struct ccr_quick q;

	ccr_quick_make(d, &tl->node[0], 1, &q);
	return ccr_timeline_next(tl, 0, d, 1, &q, limit, from, until);
}

static struct ccr_timeline *one(void)
{
	struct ccr_node n = {
	    .total = {.cpus = 8, .mem = 80, .gpus = {4}}, .gpu_types = 1, .up = true};
	struct ccr_timeline *tl;

	cr_assert_eq(ccr_timeline_new(&tl, &n, 1, NULL), 0);
	ccr_timeline_begin(tl, 1000);
	return tl;
}

Test(timeline, what_runs_comes_back_at_its_end)
{
	struct ccr_timeline *tl = one();
	struct ccr_amount a = {.cpus = 2, .gpus = {1}}, out;

	/* In any order; one overdue, two at the same time, one for ever. */
	cr_assert_eq(ccr_timeline_run(tl, 0, &a, 1500), 0);
	cr_assert_eq(ccr_timeline_run(tl, 0, &a, 900), 0);
	cr_assert_eq(ccr_timeline_run(tl, 0, &a, 1500), 0);
	cr_assert_eq(ccr_timeline_run(tl, 0, &a, CCR_FOREVER), 0);
	ccr_timeline_ready(tl);
	cr_assert_eq(tl->track[0].n, 3);
	ccr_timeline_least(tl, 0, 1000, 1001, &out);
	cr_assert_eq(out.gpus[0], 0);
	ccr_timeline_least(tl, 0, 1001, 1501, &out);
	cr_assert_eq(out.gpus[0], 1);
	ccr_timeline_least(tl, 0, 1500, 9999, &out);
	cr_assert_eq(out.gpus[0], 3);
	cr_assert_eq(out.cpus, 6);
	ccr_timeline_free(tl);
}

Test(timeline, unhold_is_the_reverse_of_hold)
{
	struct ccr_timeline *tl = one();
	struct ccr_amount a = {.cpus = 3}, b = {.cpus = 5}, out;

	ccr_timeline_ready(tl);
	cr_assert_eq(ccr_timeline_hold(tl, 0, 1100, 1200, &a, true), 0);
	cr_assert_eq(ccr_timeline_hold(tl, 0, 500, 1150, &b, false), 0);
	cr_assert(ccr_timeline_holds(tl, 0, 1000, 1100, &a));
	cr_assert_not(ccr_timeline_holds(tl, 0, 1000, 1101, &a));
	ccr_timeline_least(tl, 0, 1149, 1150, &out);
	cr_assert_eq(out.cpus, 0);
	cr_assert_eq(ccr_timeline_unhold(tl, 0, 1100, 1200, &a, true), 0);
	cr_assert_eq(ccr_timeline_unhold(tl, 0, 500, 1150, &b, false), 0);
	for (uint32_t i = 0; i < tl->track[0].n; i++) {
		cr_assert_eq(tl->track[0].step[i].free.cpus, 8);
		cr_assert_eq(tl->track[0].step[i].booked, 0);
	}
	cr_assert_eq(ccr_timeline_hold(tl, 7, 0, 1, &a, true), CCR_EINVAL);
	ccr_timeline_free(tl);
}

Test(timeline, the_next_start_skips_what_is_too_short)
{
	struct ccr_timeline *tl = one();
	struct ccr_amount run = {.cpus = 8}, book = {.cpus = 4};
	struct ccr_demand d = {.node = {.cpus = 6}};

	cr_assert_eq(ccr_timeline_run(tl, 0, &run, 1010), 0);
	ccr_timeline_ready(tl);
	cr_assert_eq(ccr_timeline_hold(tl, 0, 1050, 1100, &book, true), 0);
	cr_assert_eq(next(tl, &d, 40, 1000, CCR_FOREVER), 1010);
	cr_assert_eq(next(tl, &d, 41, 1000, CCR_FOREVER), 1100);
	cr_assert_eq(next(tl, &d, 40, 1011, CCR_FOREVER), 1100);
	cr_assert_eq(next(tl, &d, 41, 1000, 1100), CCR_FOREVER);
	d.node.cpus = 9;
	cr_assert_eq(next(tl, &d, 1, 1000, CCR_FOREVER), CCR_FOREVER);
	ccr_timeline_free(tl);
}

Test(timeline, an_untyped_want_needs_the_same_gpus_all_along)
{
	struct ccr_node n = {
	    .total = {.gpus = {1, 1}}, .gpu_types = 2, .gpu_type = {0, 1}, .up = true};
	struct ccr_amount first = {.gpus = {1, 0}}, second = {.gpus = {0, 1}};
	struct ccr_demand d = {.node = {.gpu = {{CCR_GPU_ANY, 1}}}};
	struct ccr_timeline *tl;

	cr_assert_eq(ccr_timeline_new(&tl, &n, 1, NULL), 0);
	ccr_timeline_ready(tl);
	cr_assert_eq(ccr_timeline_hold(tl, 0, 0, 10, &first, true), 0);
	cr_assert_eq(ccr_timeline_hold(tl, 0, 10, 20, &second, true), 0);
	cr_assert_eq(next(tl, &d, 11, 0, CCR_FOREVER), 10);
	ccr_timeline_free(tl);
}

Test(timeline, names_what_is_wrong_with_a_node)
{
	struct ccr_node n = {.total = {.gpus = {1, 1}}, .gpu_types = 2, .gpu_type = {4, 4}};
	struct ccr_error err = {0};
	struct ccr_timeline *tl;

	cr_assert_eq(ccr_timeline_new(&tl, &n, 1, &err), CCR_EINVAL);
	cr_assert_str_eq(err.text, "node 0 names GPU type 4 twice");
	n = (struct ccr_node){.total = {.gpus = {1}}};
	cr_assert_eq(ccr_timeline_new(&tl, &n, 1, &err), CCR_EINVAL);
	n = (struct ccr_node){.gpu_types = 9};
	cr_assert_eq(ccr_timeline_new(&tl, &n, 1, &err), CCR_EINVAL);
	n = (struct ccr_node){.total = {.cpus = -1}};
	cr_assert_eq(ccr_timeline_new(&tl, &n, 1, &err), CCR_EINVAL);
}
