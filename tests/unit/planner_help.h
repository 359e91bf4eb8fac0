/*
 * planner_help - small machines and jobs for the tests of the planner
 */
#ifndef PLANNER_HELP_H
#define PLANNER_HELP_H

#include <criterion/criterion.h>
#include "core/gate.h"

#include <string.h>

static inline struct ccr_node node(int cpus, int gpus)
{
	return (struct ccr_node){.total = {.cpus = cpus, .mem = 1000, .gpus = {(int16_t)gpus}},
				 .gpu_types = gpus ? 1 : 0,
				 .up = true};
}

static inline struct ccr_demand wants(uint32_t nodes, int cpus, int gpus)
{
	return (struct ccr_demand){
	    .min_nodes = nodes,
	    .max_nodes = nodes,
	    .node = {.cpus = cpus, .gpu = {{CCR_GPU_ANY, (uint16_t)gpus}}},
	};
}

/* Lower ids rank higher. */
static inline struct ccr_plan_job job(uint32_t id, const struct ccr_demand *d, int64_t limit)
{
	return (struct ccr_plan_job){
	    .id = id, .rank = {.prio = 1000 - id, .job = id}, .demand = d, .limit = limit};
}

static inline struct ccr_plan *plan_of(const struct ccr_node *nodes, uint32_t n, uint32_t depth)
{
	struct ccr_plan_options opt = ccr_plan_defaults();
	struct ccr_error err = {0};
	struct ccr_plan *p;

	opt.depth = depth;
	cr_assert_eq(ccr_plan_new(&p, nodes, n, &opt, &err), 0, "%s", err.text);
	ccr_plan_begin(p, 0, true);
	return p;
}

static inline void runs(struct ccr_plan *p, uint32_t n, int cpus, int gpus, int64_t end)
{
	struct ccr_amount a = {.cpus = cpus, .gpus = {(int16_t)gpus}};

	cr_assert_eq(ccr_plan_running(p, n, &a, end, end), 0);
}

/* Tries a job as a cycle does: starts it, or books it. Returns its verdict. */
static inline enum ccr_verdict turn(struct ccr_plan *p, const struct ccr_plan_job *j,
				    enum ccr_book *book)
{
	struct ccr_slot slot;
	enum ccr_verdict v = ccr_plan_pick(p, j, false, &slot, NULL);

	if (v == CCR_START) {
		cr_assert_eq(ccr_plan_check(p, j, slot.share, slot.n, NULL, NULL), CCR_START);
		cr_assert_eq(ccr_plan_start(p, j, slot.share, slot.n, NULL), 0);
	} else {
		enum ccr_book b = ccr_plan_book(p, j, NULL, NULL);

		if (book)
			*book = b;
	}
	return v;
}

#endif
