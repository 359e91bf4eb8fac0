#include <criterion/criterion.h>
#include <stdlib.h>
#include "sccr/sim_plan.h"
#include "sccr/sim_start.h"

/*
 * The plan against a count second by second of the same small machine: whatever sim_plan_earliest
 * says must be the first second at which enough nodes are free for the whole length.
 */
#define NODES	3
#define HORIZON 200

static struct sim_cluster cluster;
static struct sim_free idle[NODES];
static int used[NODES][HORIZON + 100], gpus_used[NODES][HORIZON + 100];

static struct sim_job make(uint64_t serial, uint32_t nodes, uint32_t cpus, uint32_t gpus, int limit)
{
	struct sim_job j = {.serial = serial,
			    .limit = limit,
			    .demand = {.nodes = nodes,
				       .cpus = cpus,
				       .last_cpus = cpus,
				       .gpus = gpus,
				       .gpu_type = SIM_ANY_TYPE}};
	return j;
}

static bool fits(uint32_t node, const struct sim_job *j, int t)
{
	for (int k = t; k < t + (int)j->limit; k++) {
		int at = k < HORIZON + 100 ? k : HORIZON + 99;

		if (used[node][at] + (int)j->demand.cpus > (int)cluster.node[node].cpus ||
		    gpus_used[node][at] + (int)j->demand.gpus >
			(int)sim_gpus(cluster.node[node].gpus))
			return false;
	}
	return true;
}

static int first_second(const struct sim_job *j)
{
	for (int t = 0; t < HORIZON; t++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < NODES; i++)
			n += fits(i, j, t);
		if (n >= j->demand.nodes)
			return t;
	}
	return -1;
}

static void hold(const struct sim_pick *p, int from, int to)
{
	for (int k = from; k < to && k < HORIZON + 100; k++) {
		used[p->node][k] += (int)p->cpus;
		gpus_used[p->node][k] += (int)sim_gpus(p->gpus);
	}
}

static void one_world(unsigned seed)
{
	struct sim s = {.cluster = &cluster, .free = idle};
	struct sim_plan *plan = sim_plan_new(&s);
	struct sim_job running[4];
	struct sim_pick pick[NODES], held[4];

	srand(seed);
	memset(used, 0, sizeof(used));
	memset(gpus_used, 0, sizeof(gpus_used));
	for (uint32_t i = 0; i < NODES; i++) {
		idle[i] =
		    (struct sim_free){.cpus = cluster.node[i].cpus, .mem = cluster.node[i].mem};
		memcpy(idle[i].gpus, cluster.node[i].gpus, sizeof(idle[i].gpus));
	}
	for (int i = 0; i < 4; i++) {
		struct sim_job *j = &running[i];

		*j = make((uint64_t)i, 1, 1 + (unsigned)rand() % 3, (unsigned)rand() % 2, 1);
		if (!sim_take(&cluster, (unsigned)rand() % NODES, &idle[(unsigned)rand() % NODES],
			      &j->demand, false, &held[i]) ||
		    !sim_take(&cluster, held[i].node, &idle[held[i].node], &j->demand, false,
			      &held[i]))
			continue;
		j->pick = &held[i];
		j->npick = 1;
		j->planned_end = 1 + rand() % 30;
		idle[held[i].node].cpus -= held[i].cpus;
		for (int k = 0; k < SIM_NODE_TYPES; k++)
			idle[held[i].node].gpus[k] =
			    (uint16_t)(idle[held[i].node].gpus[k] - held[i].gpus[k]);
		cr_assert_eq(sim_plan_run(plan, j), 0);
		hold(&held[i], 0, (int)j->planned_end);
	}
	for (int i = 0; i < 8; i++) {
		struct sim_job j =
		    make(10 + (uint64_t)i, 1 + (unsigned)rand() % NODES, 1 + (unsigned)rand() % 4,
			 (unsigned)rand() % 3, 1 + rand() % 20);
		int expect = first_second(&j);
		sim_time got = sim_plan_earliest(plan, &s, &j, pick);

		cr_assert_eq(sim_plan_now(plan, &s, &j, (struct sim_pick[NODES]){{0}}), expect == 0,
			     "seed %u job %d", seed, i);
		if (expect < 0) {
			cr_assert_eq(got, SIM_NEVER, "seed %u job %d", seed, i);
			continue;
		}
		cr_assert_eq(got, expect, "seed %u job %d: %lld for %d", seed, i, (long long)got,
			     expect);
		for (uint32_t k = 0; k < j.demand.nodes; k++) {
			cr_assert(fits(pick[k].node, &j, expect), "seed %u job %d node %u", seed, i,
				  pick[k].node);
			cr_assert(!k || pick[k].node > pick[k - 1].node);
		}
		cr_assert_eq(sim_plan_book(plan, &j, got, pick, j.demand.nodes, false), 0);
		for (uint32_t k = 0; k < j.demand.nodes; k++)
			hold(&pick[k], expect, expect + (int)j.limit);
		if (rand() % 4 == 0) {
			sim_plan_unbook(plan, &j, pick, j.demand.nodes);
			for (uint32_t k = 0; k < j.demand.nodes; k++) {
				pick[k].cpus = (uint32_t) - (int)pick[k].cpus;
				for (int t = expect; t < expect + (int)j.limit; t++) {
					used[pick[k].node][t] += (int)pick[k].cpus;
					gpus_used[pick[k].node][t] -= (int)sim_gpus(pick[k].gpus);
				}
			}
		}
	}
	sim_plan_free(plan);
}

Test(sim_plan, agrees_with_counting)
{
	struct ccr_error e;

	sim_cluster_plain(&cluster, NODES, 4, 2, 0, &e);
	for (unsigned seed = 1; seed <= 3000; seed++)
		one_world(seed);
	sim_cluster_free(&cluster);
}

/* What was found of a node holds no longer than the node stays as it is. */
Test(sim_plan, what_changes_a_node_is_seen)
{
	struct sim s = {.cluster = &cluster, .free = idle};
	struct sim_job j = make(1, 1, 4, 0, 5), runs = make(2, 1, 4, 0, 10);
	struct sim_pick pick[NODES], held;
	struct sim_plan *plan;
	struct ccr_error e;

	sim_cluster_plain(&cluster, 1, 4, 0, 0, &e);
	idle[0] = (struct sim_free){.cpus = 4};
	plan = sim_plan_new(&s);
	cr_expect_eq(sim_plan_earliest(plan, &s, &j, pick), 0);
	cr_assert(sim_take(&cluster, 0, &idle[0], &runs.demand, false, &held));
	runs.pick = &held;
	runs.npick = 1;
	runs.planned_end = 10;
	idle[0].cpus = 0;
	cr_assert_eq(sim_plan_run(plan, &runs), 0);
	cr_expect_eq(sim_plan_earliest(plan, &s, &j, pick), 10);
	cr_assert_eq(sim_plan_book(plan, &j, 10, pick, 1, false), 0);
	cr_expect_eq(sim_plan_earliest(plan, &s, &j, pick), 15);
	sim_plan_unbook(plan, &j, pick, 1);
	cr_expect_eq(sim_plan_earliest(plan, &s, &j, pick), 10);
	cr_assert_eq(sim_plan_book(plan, &j, 10, pick, 1, true), 0);
	cr_expect_eq(sim_plan_earliest(plan, &s, &j, pick), 15);
	sim_plan_clear(plan);
	cr_expect_eq(sim_plan_earliest(plan, &s, &j, pick), 10);
	s.now = 12; /* it is late, and there for one more moment */
	cr_expect_eq(sim_plan_earliest(plan, &s, &j, pick), 13);
	idle[0].cpus = 4;
	sim_plan_end(plan, &runs);
	cr_expect_eq(sim_plan_earliest(plan, &s, &j, pick), 12);
	sim_plan_free(plan);
	sim_cluster_free(&cluster);
}
