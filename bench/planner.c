/*
 * planner - what planning costs: one cycle of the core on a large machine
 *
 * usage: bench_planner [NODES [RUNNING [DEPTH [CYCLES [MORE]]]]]   (10000 20000 100 5 10000)
 *
 * Nodes of 64 CPUs and 8 GPUs, kept full by RUNNING jobs of mixed shape; DEPTH blocked jobs of one
 * to 64 nodes are booked, in the first cycle afresh, later again each with a second gone by. Prints
 * the processor time of loading, of booking and of testing MORE blocked jobs. The seed is
 * fixed.
 */
#include "core/gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t state = 1;

static uint64_t rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

static double ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct running {
	uint32_t node;
	struct ccr_amount a;
	int64_t end;
};

/* A queue as on a GPU machine: mostly GPUs by node, some counted by task, some whole nodes. */
static struct ccr_demand random_demand(void)
{
	struct ccr_demand d = {0};
	uint32_t nodes = 1u << rnd(7);
	uint16_t gpus = (uint16_t)(1u << rnd(4));

	switch (rnd(8)) {
	case 0:
		d.units = nodes * 4;
		d.unit = (struct ccr_need){.cpus = 8, .gpu = {{CCR_GPU_ANY, 1}}};
		break;
	case 1:
		d.min_nodes = d.max_nodes = nodes;
		d.whole = true;
		break;
	default:
		d.min_nodes = d.max_nodes = nodes;
		d.node = (struct ccr_need){
		    .cpus = 8 * gpus, .mem = 1000, .gpu = {{(int16_t)((int)rnd(3) - 1), gpus}}};
	}
	return d;
}

int main(int argc, char **argv)
{
	uint32_t nodes = argc > 1 ? (uint32_t)atoi(argv[1]) : 10000;
	uint32_t running = argc > 2 ? (uint32_t)atoi(argv[2]) : 20000;
	uint32_t depth = argc > 3 ? (uint32_t)atoi(argv[3]) : 100;
	uint32_t cycles = argc > 4 ? (uint32_t)atoi(argv[4]) : 5, n = 0;
	uint32_t more = argc > 5 ? (uint32_t)atoi(argv[5]) : 10000;
	struct ccr_node *node = calloc(nodes, sizeof(*node));
	struct running *run = calloc(running, sizeof(*run));
	struct ccr_demand *d = calloc(depth + more, sizeof(*d));
	uint64_t *set = calloc(nodes / 64 + 1, sizeof(*set));
	struct ccr_plan_options opt = ccr_plan_defaults();
	struct ccr_error err = {0};
	struct ccr_plan *plan;

	if (!node || !run || !d || !set || !nodes)
		return 1;
	for (uint32_t i = 0; i < nodes; i++)
		node[i] = (struct ccr_node){.total = {.cpus = 64, .mem = 500000, .gpus = {8}},
					    .gpu_types = 1,
					    .gpu_type = {i < nodes / 2 ? 0 : 1},
					    .up = true};
	for (; n < running; n++) {
		uint32_t at = n % nodes;
		uint32_t per = running / nodes ? running / nodes : 1;
		int16_t g = (int16_t)(8 / per > 0 ? 8 / per : 1);

		run[n] = (struct running){
		    at, {.cpus = g * 8, .mem = 1000, .gpus = {g}}, (int64_t)rnd(86400) + 10};
	}
	for (uint32_t i = 0; i < depth + more; i++)
		d[i] = random_demand();
	opt.depth = depth;
	opt.window = 7 * 86400;
	if (ccr_plan_new(&plan, node, nodes, &opt, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("%u nodes x 8 GPUs, %u running jobs, depth %u\n", nodes, running, depth);
	for (uint32_t c = 0; c < cycles; c++) {
		double t0 = ms(), t1, t2;
		uint32_t booked = 0;

		ccr_plan_begin(plan, c, true);
		for (uint32_t i = 0; i < n; i++)
			ccr_plan_running(plan, run[i].node, &run[i].a, run[i].end, 86400);
		if (ccr_plan_ready(plan, &err))
			return 1;
		t1 = ms();
		for (uint32_t i = 0; i < depth; i++) {
			struct ccr_plan_job j = {.id = i + 1,
						 .rank = {.job = i + 1},
						 .limit = 3600 * (1 + (int64_t)i % 24),
						 .demand = &d[i]};

			booked += ccr_plan_book(plan, &j, NULL, NULL) == CCR_BOOKED;
		}
		t2 = ms();
		for (uint32_t i = depth; i < depth + more; i++) {
			struct ccr_plan_job j = {
			    .id = i + 1, .rank = {.job = i + 1}, .limit = 3600, .demand = &d[i]};

			ccr_plan_may_fit(plan, &j, set, NULL);
		}
		printf(
		    "cycle %u: load %.1f ms, %u booked %.1f ms, together %.1f ms; %u more tested "
		    "%.1f ms (%.1f us each)\n",
		    c, t1 - t0, booked, t2 - t1, t2 - t0, more, ms() - t2,
		    (ms() - t2) * 1e3 / (more ? more : 1));
	}
	ccr_plan_free(plan);
	free(node);
	free(run);
	free(d);
	free(set);
	return 0;
}
