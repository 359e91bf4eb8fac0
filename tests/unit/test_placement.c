/* R01 to R06: where a job goes. */
#include <criterion/criterion.h>
#include "core/gate.h"

static struct ccr_node node(int cpus, int gpus, int64_t mem)
{
	return (struct ccr_node){.total = {.cpus = cpus, .mem = mem, .gpus = {(int16_t)gpus}},
				 .gpu_types = gpus ? 1 : 0,
				 .up = true};
}

static struct ccr_demand wants(int cpus, int gpus, int64_t mem)
{
	return (struct ccr_demand){
	    .min_nodes = 1,
	    .max_nodes = 1,
	    .node = {.cpus = cpus, .mem = mem, .gpu = {{CCR_GPU_ANY, (uint16_t)gpus}}},
	};
}

static struct ccr_plan *plan_of(const struct ccr_node *nodes, uint32_t n)
{
	struct ccr_plan *p;

	cr_assert_eq(ccr_plan_new(&p, nodes, n, NULL, NULL), 0);
	ccr_plan_begin(p, 0, true);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	return p;
}

/* Starts it and tells where; -1: it waits. Checks that the narrowed set is of that node's kind. */
static int go(struct ccr_plan *p, uint32_t id, const struct ccr_demand *d)
{
	struct ccr_plan_job j = {.id = id, .demand = d, .limit = 100, .rank = {.job = id}};
	struct ccr_slot slot;
	uint64_t set;
	int at;

	if (ccr_plan_may_fit(p, &j, &set, NULL) != CCR_START)
		return -1;
	ccr_plan_place(p, &j, &set);
	cr_assert_eq(ccr_plan_pick(p, &j, false, &slot, NULL), CCR_START);
	at = (int)slot.share[0].node;
	cr_assert(set >> at & 1, "the search and the narrowing differ");
	cr_assert_eq(ccr_plan_start(p, &j, slot.share, slot.n, NULL), 0);
	return at;
}

Test(placement, sixteen_jobs_run_at_once)
{
	struct ccr_node n[2] = {node(16, 8, 64), node(32, 8, 64)};
	struct ccr_plan *p = plan_of(n, 2);
	struct ccr_demand big = wants(12, 1, 0), small = wants(1, 1, 0);

	/* R01 */
	cr_assert_eq(go(p, 1, &big), 1);
	for (uint32_t i = 2; i <= 16; i++)
		cr_assert_geq(go(p, i, &small), 0, "job %u waits", i);
	ccr_plan_free(p);
}

Test(placement, small_jobs_pack)
{
	struct ccr_node n[2] = {node(16, 4, 64), node(16, 4, 64)};
	struct ccr_plan *p = plan_of(n, 2);
	struct ccr_demand one = wants(1, 1, 0), four = wants(4, 4, 0);
	int a, b;

	/* R02, R04 */
	a = go(p, 1, &one);
	b = go(p, 2, &one);
	cr_assert_eq(a, b);
	cr_assert_eq(go(p, 3, &four), 1 - a);
	ccr_plan_free(p);
}

Test(placement, memory_decides_where_it_must)
{
	struct ccr_node n[2] = {node(32, 8, 256), node(32, 8, 256)};
	struct ccr_plan *p = plan_of(n, 2);
	struct ccr_demand three = wants(3, 3, 150), one = wants(1, 1, 0), fat = wants(1, 1, 128);

	/* R03 */
	cr_assert_eq(go(p, 1, &three), 0);
	cr_assert_eq(go(p, 2, &one), 0);
	cr_assert_eq(go(p, 3, &fat), 1);
	ccr_plan_free(p);
}

Test(placement, cpu_jobs_leave_gpu_nodes_alone)
{
	/* R05, R06: in either order of the nodes. */
	for (int swap = 0; swap < 2; swap++) {
		struct ccr_node n[2] = {swap ? node(32, 0, 64) : node(32, 4, 64),
					swap ? node(32, 4, 64) : node(32, 0, 64)};
		struct ccr_plan *p = plan_of(n, 2);
		struct ccr_demand cpu = wants(32, 0, 0), gpu = wants(4, 4, 0);

		cr_assert_eq(go(p, 1, &cpu), swap ? 0 : 1);
		cr_assert_eq(go(p, 2, &gpu), swap ? 1 : 0);
		ccr_plan_free(p);
	}
}

Test(placement, weight_comes_first)
{
	struct ccr_node n[2] = {node(32, 4, 64), node(32, 0, 64)};
	struct ccr_plan *p;
	struct ccr_demand cpu = wants(1, 0, 0);

	n[1].weight = 10;
	p = plan_of(n, 2);
	cr_assert_eq(go(p, 1, &cpu), 0);
	ccr_plan_free(p);
}

Test(placement, counts_stranded_gpus)
{
	struct ccr_node n = node(16, 8, 64);
	struct ccr_amount free = {.cpus = 4, .mem = 64, .gpus = {7}};
	struct ccr_place_options opt = {.gpu_cpus = 1};

	cr_assert_eq(ccr_place_stranded(&n, &free, NULL), 3);
	cr_assert_eq(ccr_place_stranded(&n, &free, &opt), 3);
	opt.gpu_mem = 32;
	cr_assert_eq(ccr_place_stranded(&n, &free, &opt), 5);
	free.cpus = -2;
	cr_assert_eq(ccr_place_stranded(&n, &free, &opt), 7);
}

/*
 * R26: the queue 1 1 2 8x1 4 3 3x2 3 nodes of 4. By rank alone a wave ends where the next job does
 * not fit; with time limits (80 down to 25 s) the gaps are filled.
 */
Test(placement, packs_the_waves_of_r26)
{
	uint32_t size[17] = {1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 4, 3, 2, 2, 2, 3}, started = 0;
	struct ccr_node n[4];
	int64_t ends[17] = {0}, area = 0, now = 0;
	struct ccr_share at[17][4];
	uint32_t cnt[17] = {0};
	struct ccr_plan *p;

	for (int i = 0; i < 4; i++)
		n[i] = node(1, 0, 64);
	p = plan_of(n, 4);
	while (started < 17 && now < 10000) {
		int64_t next = CCR_FOREVER;

		ccr_plan_begin(p, now, true);
		for (int i = 0; i < 17; i++)
			for (uint32_t k = 0; ends[i] > now && k < cnt[i]; k++)
				ccr_plan_running(p, at[i][k].node, &at[i][k].a, ends[i], 80);
		cr_assert_eq(ccr_plan_ready(p, NULL), 0);
		for (uint32_t i = 0; i < 17; i++) {
			struct ccr_demand d = {
			    .min_nodes = size[i], .max_nodes = size[i], .node = {.cpus = 1}};
			struct ccr_plan_job j = {.id = i + 1,
						 .rank = {.job = i + 1},
						 .demand = &d,
						 .limit = 80 - (int64_t)i * 55 / 16};
			struct ccr_slot slot;

			if (ends[i])
				continue;
			if (ccr_plan_pick(p, &j, false, &slot, NULL) != CCR_START) {
				ccr_plan_book(p, &j, NULL, NULL);
				continue;
			}
			for (uint32_t k = 0; k < slot.n; k++)
				at[i][k] = slot.share[k];
			cnt[i] = slot.n;
			ends[i] = now + j.limit;
			area += j.limit * size[i];
			cr_assert_eq(ccr_plan_start(p, &j, slot.share, slot.n, NULL), 0);
			started++;
		}
		for (int i = 0; i < 17; i++)
			if (ends[i] > now && ends[i] < next)
				next = ends[i];
		now = next;
	}
	for (int i = 0; i < 17; i++)
		now = ends[i] > now ? ends[i] : now;
	cr_assert_eq(started, 17);
	/* Seven waves of at most 80 s, and no more than a fifth of the machine idle. */
	cr_assert_leq(now, 7 * 80);
	cr_assert_geq((double)area / (4.0 * (double)now), 0.8, "%f of %lld s used",
		      (double)area / (4.0 * (double)now), (long long)now);
	ccr_plan_free(p);
}
