/* With how much less a job could start now: each answer starts, one more of it does not. */
#include <criterion/criterion.h>
#include "core/smaller.h"

#include <string.h>

static struct ccr_plan *plan_of(uint32_t n, int cpus, int64_t mem, int gpus)
{
	struct ccr_plan_options opt = ccr_plan_defaults();
	struct ccr_node node[8];
	struct ccr_plan *p;

	memset(node, 0, sizeof(node));
	for (uint32_t i = 0; i < n; i++)
		node[i] = (struct ccr_node){
		    .total = {.cpus = cpus, .mem = mem, .gpus = {(int16_t)gpus}},
		    .gpu_types = gpus > 0,
		    .up = true,
		};
	opt.depth = 2;
	cr_assert_eq(ccr_plan_new(&p, node, n, &opt, NULL), 0);
	ccr_plan_begin(p, 0, true);
	return p;
}

static void runs(struct ccr_plan *p, uint32_t n, int cpus, int64_t mem, int gpus, int64_t end)
{
	struct ccr_amount a = {.cpus = cpus, .mem = mem, .gpus = {(int16_t)gpus}};

	cr_assert_eq(ccr_plan_running(p, n, &a, end, end), 0);
}

static struct ccr_plan_job job(uint32_t id, const struct ccr_demand *d, int64_t limit)
{
	return (struct ccr_plan_job){
	    .id = id, .rank = {.prio = 1000 - id, .job = id}, .demand = d, .limit = limit};
}

static const char *words(struct ccr_plan *p, const struct ccr_plan_job *j, unsigned which)
{
	static char text[300];
	struct ccr_smaller s;
	uint64_t room[1];

	ccr_plan_smaller(p, j, which, room, &s);
	cr_assert_eq(ccr_smaller_words(&s, j->demand, text, sizeof(text)), strlen(text));
	return text;
}

Test(smaller, gpus_that_are_free)
{
	struct ccr_plan *p = plan_of(2, 16, 1000, 4);
	struct ccr_demand d = {
	    .min_nodes = 1, .max_nodes = 1, .node = {.cpus = 1, .gpu = {{CCR_GPU_ANY, 4}}}};
	struct ccr_plan_job j = job(1, &d, 3600);

	runs(p, 0, 1, 1, 1, 9000);
	runs(p, 1, 1, 1, 2, 9000);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_str_eq(words(p, &j, CCR_LESS_ALL), "3 GPUs instead of 4");
	cr_assert_str_eq(words(p, &j, 1u << CCR_LESS_NODES), "");
	/* the same of two nodes: what the poorer one has */
	d.min_nodes = d.max_nodes = 2;
	cr_assert_str_eq(words(p, &j, CCR_LESS_ALL), "2 GPUs a node instead of 4");
	ccr_plan_free(p);
}

Test(smaller, a_booking_is_in_the_way)
{
	struct ccr_plan *p = plan_of(1, 16, 1000, 4);
	struct ccr_demand top = {.min_nodes = 1,
				 .max_nodes = 1,
				 .node = {.cpus = 1, .gpu = {{CCR_GPU_ANY, 3}}}},
			  d = top;
	struct ccr_plan_job first = job(1, &top, 3600), j = job(2, &d, 7200);

	runs(p, 0, 1, 1, 2, 1800);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book(p, &first, NULL, NULL), CCR_BOOKED);
	d.node.gpu[0].count = 2;
	/* 2 are free for half an hour, 1 beside the booking; a minute is left for the next cycle */
	cr_assert_str_eq(words(p, &j, CCR_LESS_ALL),
			 "29 minutes instead of 120, or 1 GPU instead of 2");
	j.limit = CCR_FOREVER;
	cr_assert_str_eq(words(p, &j, 1u << CCR_LESS_TIME), "29 minutes instead of no limit");
	/* the rank of what asks for less is not known: a lower booking is respected too */
	j.rank.prio = 2000;
	j.since = 100;
	cr_assert_str_eq(words(p, &j, 1u << CCR_LESS_GPUS), "1 GPU instead of 2");
	/* its own booking is none */
	cr_assert_str_eq(words(p, &first, CCR_LESS_ALL), "2 GPUs instead of 3");
	ccr_plan_free(p);
}

Test(smaller, nodes_and_tasks)
{
	struct ccr_plan *p = plan_of(4, 8, 1000, 0);
	struct ccr_demand by_node = {.min_nodes = 4,
				     .max_nodes = 4,
				     .unit = {.cpus = 1},
				     .units = 16,
				     .node_min_units = 4,
				     .node_max_units = 4},
			  tasks = {.min_nodes = 1, .unit = {.cpus = 2}, .units = 16};
	struct ccr_plan_job j = job(1, &by_node, 600), t = job(2, &tasks, 600);

	runs(p, 0, 8, 1, 0, 9000);
	runs(p, 1, 5, 1, 0, 9000);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_str_eq(words(p, &j, CCR_LESS_ALL), "2 nodes instead of 4");
	/* 1 + 4 + 4 tasks of 2 CPUs; with 1 CPU each there is room for all */
	cr_assert_str_eq(words(p, &t, CCR_LESS_ALL),
			 "9 tasks instead of 16, or 1 CPU a task instead of 2");
	cr_assert_str_eq(words(p, &t, CCR_LESS_ALL & ~(1u << CCR_LESS_TASKS)),
			 "1 CPU a task instead of 2");
	ccr_plan_free(p);
}

Test(smaller, cpus_and_memory)
{
	struct ccr_plan *p = plan_of(1, 16, 64000, 0);
	struct ccr_demand d = {.min_nodes = 1, .max_nodes = 1, .node = {.cpus = 4, .mem = 60000}};
	struct ccr_plan_job j = job(1, &d, 600);

	runs(p, 0, 2, 20000, 0, 9000);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	/* in whole GB where it is many */
	cr_assert_str_eq(words(p, &j, CCR_LESS_ALL), "43008 MB instead of 60000");
	d.node.mem = 1000;
	d.node.cpus = 16;
	cr_assert_str_eq(words(p, &j, CCR_LESS_ALL), "14 CPUs instead of 16");
	d.node.mem = 0;
	d.mem_per_cpu = 4000;
	d.node.cpus = 14;
	cr_assert_str_eq(words(p, &j, CCR_LESS_ALL),
			 "11 CPUs instead of 14, or 3142 MB a CPU instead of 4000");
	ccr_plan_free(p);
}

Test(smaller, gpus_in_all_and_several_types)
{
	struct ccr_plan *p = plan_of(2, 16, 1000, 4);
	struct ccr_demand d = {.min_nodes = 2, .node = {.cpus = 1}, .total = {{CCR_GPU_ANY, 8}}};
	struct ccr_plan_job j = job(1, &d, 600);

	runs(p, 0, 1, 1, 3, 9000);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_str_eq(words(p, &j, CCR_LESS_ALL), "5 GPUs instead of 8");
	/* which of two types to ask less of is not ours to say */
	d.total[1] = (struct ccr_want){0, 1};
	cr_assert_str_eq(words(p, &j, 1u << CCR_LESS_GPUS), "");
	ccr_plan_free(p);
}

Test(smaller, nothing_is_free_at_all)
{
	struct ccr_plan *p = plan_of(1, 4, 1000, 1);
	struct ccr_demand d = {.min_nodes = 1, .max_nodes = 1, .node = {.cpus = 4}};
	struct ccr_plan_job j = job(1, &d, 600);
	char few[9];
	struct ccr_smaller s = {.fits = {[CCR_LESS_CPUS] = 2}, .asked = {[CCR_LESS_CPUS] = 4}};

	runs(p, 0, 4, 1000, 1, 9000);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_str_eq(words(p, &j, CCR_LESS_ALL), "");
	cr_assert_eq(ccr_smaller_words(&s, &d, few, sizeof(few)), sizeof(few) - 1);
	cr_assert_str_eq(few, "2 CPUs i");
	ccr_plan_free(p);
}
