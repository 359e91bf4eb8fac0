/* The search against trying every second. */
#include <criterion/criterion.h>
#include "core/search.h"
#include "gate_world.h"

#include <stdlib.h>
#include <string.h>

#define HORIZON 80

/* Whether the demand holds at t: all sets of nodes are tried. */
static bool possible_at(const struct ccr_timeline *tl, const struct ccr_query *q, int64_t t)
{
	const struct ccr_demand *d = q->demand;
	uint64_t cand = *q->candidates, required = q->required ? *q->required : 0;
	int64_t limit = q->limit;

	for (uint32_t set = 1; set < 1u << tl->n; set++) {
		uint64_t units = 0;
		uint32_t n = 0;
		int64_t gpus = 0;
		bool ok = !(required & ~(uint64_t)set);

		for (uint32_t i = 0; i < tl->n && ok; i++) {
			struct ccr_amount least = tl->node[i].total, take;
			uint32_t u;

			if (!(set >> i & 1))
				continue;
			for (int64_t s = t; s < t + limit && s < 3 * HORIZON; s++) {
				struct ccr_amount at;

				ccr_timeline_least(tl, i, s, s + 1, &at);
				ccr_amount_min(&least, &at);
			}
			u = ccr_demand_most(d, &tl->node[i], &least);
			ok = u && (cand >> i & 1) && tl->node[i].up;
			units += u;
			n++;
			if (!ok || !d->total[0].count)
				continue;
			ccr_demand_take(d, &tl->node[i], &least, ccr_demand_node_min(d), NULL,
					&take);
			ccr_amount_sub(&least, &take);
			gpus += ccr_node_gpus(&tl->node[i], &least, d->total[0].type);
		}
		if (ok && units >= ccr_demand_units(d) && n >= (d->min_nodes ? d->min_nodes : 1) &&
		    (!d->max_nodes || n <= d->max_nodes) &&
		    (!d->total[0].count || n <= d->total[0].count) && gpus >= d->total[0].count)
			return true;
	}
	return false;
}

/* The first second at which nodes are enough where somebody else deals. */
static int64_t first_sure(struct ccr_search *s, const struct ccr_timeline *tl,
			  const struct ccr_query *q)
{
	uint64_t out;
	int64_t t = 0;

	while (t < 2 * HORIZON && !ccr_search_at(s, tl, q, t, &out))
		t++;
	return t;
}

static void random_load(struct ccr_timeline *tl, uint64_t *s)
{
	ccr_timeline_begin(tl, 0);
	for (uint32_t i = 0; i < tl->n; i++) {
		for (uint64_t k = world_random_next(s) % 4; k > 0; k--) {
			struct ccr_amount a = {.cpus = (int32_t)(world_random_next(s) % 5),
					       .mem = (int64_t)(world_random_next(s) % 9)};

			for (int g = 0; g < tl->node[i].gpu_types; g++)
				a.gpus[g] = (int16_t)(world_random_next(s) % 3);
			cr_assert_eq(
			    ccr_timeline_run(tl, i, &a, (int64_t)(world_random_next(s) % HORIZON)),
			    0);
		}
	}
	ccr_timeline_ready(tl);
	for (uint32_t i = 0; i < tl->n; i++) {
		for (uint64_t k = world_random_next(s) % 3; k > 0; k--) {
			struct ccr_amount a = {.cpus = (int32_t)(world_random_next(s) % 5)};
			int64_t from = (int64_t)(world_random_next(s) % HORIZON);

			for (int g = 0; g < tl->node[i].gpu_types; g++)
				a.gpus[g] = (int16_t)(world_random_next(s) % 3);
			cr_assert_eq(ccr_timeline_hold(tl, i, from, from + 15, &a, true), 0);
		}
	}
}

Test(search, finds_the_earliest_second, .timeout = 280)
{
	for (uint64_t n = 0; n < 3000; n++) {
		struct world w;
		struct ccr_timeline *tl;
		struct ccr_search *s;
		struct ccr_slot slot;
		uint64_t seed = n, some, must;

		world_random(&w, 77, n);
		w.nodes = w.nodes > 4 ? 4 : w.nodes;
		cr_assert_eq(ccr_timeline_new(&tl, w.node, w.nodes, NULL), 0);
		cr_assert_eq(ccr_search_new(&s, w.nodes, NULL), 0);
		random_load(tl, &seed);
		for (uint32_t j = 0; j < w.jobs && j < 3; j++) {
			const struct ccr_demand *d = &w.job[j].demand;
			int64_t t = 0, limit = w.job[j].limit < 100 ? w.job[j].limit : 100;
			struct ccr_query q = {.demand = d, .limit = limit, .candidates = &some};
			uint64_t out = 0;

			some = w.job[j].candidates & ((1u << w.nodes) - 1);
			must = some & world_random_next(&seed) & world_random_next(&seed);
			if (must && n % 2)
				q.required = &must;
			while (t < 2 * HORIZON && !possible_at(tl, &q, t))
				t++;
			cr_assert_eq(ccr_search_earliest(s, tl, &q, 0, 2 * HORIZON, NULL, &slot),
				     0);
			/* A cap on the nodes beside two totals is searched on the safe side. */
			if (d->total[0].count && (d->max_nodes || q.required))
				cr_assert_geq(slot.start, t);
			else
				cr_assert_eq(slot.start < 2 * HORIZON ? slot.start : 2 * HORIZON, t,
					     "world %llu job %u: %lld, by trial %lld",
					     (unsigned long long)n, j, (long long)slot.start,
					     (long long)t);
			for (uint32_t k = 0; k < slot.n; k++)
				cr_assert(ccr_timeline_holds(tl, slot.share[k].node, slot.start,
							     slot.start + limit, &slot.share[k].a),
					  "world %llu job %u: a share is not free",
					  (unsigned long long)n, j);
			for (uint32_t k = 0; k < slot.n; k++)
				out |= UINT64_C(1) << slot.share[k].node;
			cr_assert(!slot.n || !q.required || !(must & ~out),
				  "world %llu job %u: a required node is missing",
				  (unsigned long long)n, j);
			cr_assert_eq(ccr_search_at(s, tl, &q, 0, &out), slot.start == 0);
			q.sure = true;
			t = first_sure(s, tl, &q);
			cr_assert_geq(t, slot.start < 2 * HORIZON ? slot.start : 2 * HORIZON);
			cr_assert_eq(ccr_search_earliest(s, tl, &q, 0, 2 * HORIZON, NULL, &slot),
				     0);
			cr_assert_eq(slot.start < 2 * HORIZON ? slot.start : 2 * HORIZON, t,
				     "world %llu job %u: sure at %lld, by trial %lld",
				     (unsigned long long)n, j, (long long)slot.start, (long long)t);
			for (uint32_t k = 0; k < slot.n; k++)
				cr_assert(ccr_timeline_holds(tl, slot.share[k].node, slot.start,
							     slot.start + limit, &slot.share[k].a),
					  "world %llu job %u: a sure share is not free",
					  (unsigned long long)n, j);
		}
		ccr_search_free(s);
		ccr_timeline_free(tl);
	}
}

Test(search, a_share_is_what_the_demand_says)
{
	struct ccr_node n[2] = {{.total = {.cpus = 8, .mem = 64, .gpus = {2}},
				 .gpu_types = 1,
				 .gpu_type = {3},
				 .cpu_step = 2,
				 .up = true},
				{.total = {.cpus = 8, .mem = 64, .gpus = {4}},
				 .gpu_types = 1,
				 .gpu_type = {3},
				 .cpu_step = 2,
				 .up = true}};
	struct ccr_demand d = {.units = 5, .unit = {.cpus = 1, .gpu = {{3, 1}}}, .mem_per_cpu = 2};
	struct ccr_query q = {.demand = &d, .limit = 60};
	struct ccr_timeline *tl;
	struct ccr_search *s;
	struct ccr_slot slot;

	cr_assert_eq(ccr_timeline_new(&tl, n, 2, NULL), 0);
	cr_assert_eq(ccr_search_new(&s, 2, NULL), 0);
	cr_assert_eq(ccr_search_earliest(s, tl, &q, 0, 1, NULL, &slot), 0);
	cr_assert_eq(slot.start, 0);
	cr_assert_eq(slot.n, 2);
	cr_assert_eq(slot.share[0].node, 1);
	cr_assert_eq(slot.share[0].a.gpus[0], 4);
	cr_assert_eq(slot.share[0].a.cpus, 4);
	cr_assert_eq(slot.share[1].a.gpus[0], 1);
	cr_assert_eq(slot.share[1].a.cpus, 2, "one task takes a whole core");
	cr_assert_eq(slot.share[1].a.mem, 4);
	ccr_search_free(s);
	ccr_timeline_free(tl);
}

Test(search, a_sure_place_is_on_as_few_nodes_as_will_do)
{
	struct ccr_node n[3];
	struct ccr_demand d = {.units = 1, .unit = {.cpus = 1}, .total = {{CCR_GPU_ANY, 4}}};
	struct ccr_query q = {.demand = &d, .limit = 60, .sure = true};
	struct ccr_timeline *tl;
	struct ccr_search *s;
	struct ccr_slot slot;

	for (int i = 0; i < 3; i++)
		n[i] = (struct ccr_node){
		    .total = {.cpus = 8, .gpus = {i == 2 ? 4 : 2}}, .gpu_types = 1, .up = true};
	cr_assert_eq(ccr_timeline_new(&tl, n, 3, NULL), 0);
	cr_assert_eq(ccr_search_new(&s, 3, NULL), 0);
	cr_assert_eq(ccr_search_earliest(s, tl, &q, 0, 1, NULL, &slot), 0);
	cr_assert_eq(slot.n, 1);
	cr_assert_eq(slot.share[0].node, 2);
	cr_assert_eq(slot.share[0].a.gpus[0], 4);
	ccr_search_free(s);
	ccr_timeline_free(tl);
}

Test(search, every_node_gives_a_gpu_of_the_total)
{
	struct ccr_node n[2];
	struct ccr_demand d = {.units = 3, .unit = {.cpus = 1}, .total = {{CCR_GPU_ANY, 3}}};
	struct ccr_query q = {.demand = &d, .limit = 60};
	struct ccr_timeline *tl;
	struct ccr_search *s;
	struct ccr_slot slot;

	for (int i = 0; i < 2; i++)
		n[i] = (struct ccr_node){
		    .total = {.cpus = 2, .gpus = {4}}, .gpu_types = 1, .up = true};
	cr_assert_eq(ccr_timeline_new(&tl, n, 2, NULL), 0);
	cr_assert_eq(ccr_search_new(&s, 2, NULL), 0);
	cr_assert_eq(ccr_search_earliest(s, tl, &q, 0, 1, NULL, &slot), 0);
	cr_assert_eq(slot.n, 2);
	cr_assert_eq(slot.share[0].a.gpus[0], 2);
	cr_assert_eq(slot.share[1].a.gpus[0], 1);
	ccr_search_free(s);
	ccr_timeline_free(tl);
}

Test(search, nodes_to_avoid_are_taken_where_the_others_do_not_do)
{
	struct ccr_node n[3];
	struct ccr_demand d = {.min_nodes = 1, .max_nodes = 1, .node = {.cpus = 1}};
	uint64_t first = 1, two = 3, last = 4;
	struct ccr_query q = {.demand = &d, .limit = 60, .avoid = &two};
	struct ccr_timeline *tl;
	struct ccr_search *s;
	struct ccr_slot slot;

	for (int i = 0; i < 3; i++)
		n[i] = (struct ccr_node){.total = {.cpus = i ? 2 : 4}, .up = true};
	cr_assert_eq(ccr_timeline_new(&tl, n, 3, NULL), 0);
	cr_assert_eq(ccr_search_new(&s, 3, NULL), 0);
	cr_assert_eq(ccr_search_earliest(s, tl, &q, 0, 1, NULL, &slot), 0);
	cr_assert_eq(slot.share[0].node, 2);
	d.min_nodes = d.max_nodes = 2;
	cr_assert_eq(ccr_search_earliest(s, tl, &q, 0, 1, NULL, &slot), 0);
	cr_assert_eq(slot.n, 2);
	cr_assert_eq(slot.share[0].node, 2, "before those to avoid");
	cr_assert_eq(slot.share[1].node, 0);
	q.required = &two;
	q.avoid = &last;
	cr_assert_eq(ccr_search_earliest(s, tl, &q, 0, 1, NULL, &slot), 0);
	cr_assert_eq(slot.share[0].node + slot.share[1].node, 1, "required ones are");
	/* The small ones are too many, so the large one it is. */
	d = (struct ccr_demand){.units = 5, .unit = {.cpus = 1}, .max_nodes = 2};
	q.required = NULL;
	q.avoid = &first;
	cr_assert_eq(ccr_search_earliest(s, tl, &q, 0, 1, NULL, &slot), 0);
	cr_assert_eq(slot.start, 0);
	cr_assert_eq(slot.n, 2);
	ccr_search_free(s);
	ccr_timeline_free(tl);
}
