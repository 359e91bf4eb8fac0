#include <criterion/criterion.h>
#include "core/demand.h"

#include <string.h>

/* 3 GPUs of type 0, 2 of type 5. */
static const struct ccr_node mixed = {.total = {.cpus = 16, .mem = 100, .gpus = {3, 2}},
				      .gpu_types = 2,
				      .gpu_type = {0, 5},
				      .up = true,
				      .cpu_step = 2};

Test(demand, untyped_gpus_are_served_by_any_type)
{
	struct ccr_demand d = {.node = {.gpu = {{CCR_GPU_ANY, 4}, {5, 1}}}};
	struct ccr_amount take;

	cr_assert(ccr_demand_fits(&d, &mixed, &mixed.total, 1));
	ccr_demand_take(&d, &mixed, &mixed.total, 1, NULL, &take);
	cr_assert_eq(take.gpus[0], 3);
	cr_assert_eq(take.gpus[1], 2);
	d.node.gpu[1].count = 2;
	cr_assert_not(ccr_demand_fits(&d, &mixed, &mixed.total, 1));
	d = (struct ccr_demand){.node = {.gpu = {{7, 1}}}};
	cr_assert_not(ccr_demand_fits(&d, &mixed, &mixed.total, 1));
}

Test(demand, cpus_are_given_in_steps)
{
	struct ccr_demand d = {.units = 5, .unit = {.cpus = 1}, .mem_per_cpu = 10};
	struct ccr_amount take;

	ccr_demand_take(&d, &mixed, &mixed.total, 5, NULL, &take);
	cr_assert_eq(take.cpus, 6);
	cr_assert_eq(take.mem, 60);
	cr_assert_eq(ccr_demand_most(&d, &mixed, &mixed.total), 5);
	d.units = 40;
	cr_assert_eq(ccr_demand_most(&d, &mixed, &mixed.total), 10, "memory ends it");
	d.node_max_units = 3;
	cr_assert_eq(ccr_demand_most(&d, &mixed, &mixed.total), 3);
	d.node_max_units = 0;
	d.node_min_units = 11;
	cr_assert_eq(ccr_demand_most(&d, &mixed, &mixed.total), 0);
}

Test(demand, whole_nodes_must_be_empty)
{
	struct ccr_demand d = {.node = {.cpus = 1}, .whole = true};
	struct ccr_amount free = mixed.total, take;

	cr_assert(ccr_demand_fits(&d, &mixed, &free, 1));
	ccr_demand_take(&d, &mixed, &free, 1, NULL, &take);
	cr_assert_eq(take.cpus, 16);
	cr_assert_eq(take.gpus[1], 2);
	free.gpus[1]--;
	cr_assert_not(ccr_demand_fits(&d, &mixed, &free, 1));
}

Test(demand, all_memory_of_a_node_is_had_where_nobody_holds_any)
{
	struct ccr_demand d = {.units = 2, .unit = {.cpus = 2}, .all_mem = true}, other = d;
	struct ccr_amount free = mixed.total, take;
	struct ccr_quick q;

	free.cpus = 6;
	free.gpus[0] = 0;
	cr_assert(ccr_demand_fits(&d, &mixed, &free, 2), "CPUs and GPUs may be in use");
	ccr_demand_take(&d, &mixed, &free, 2, NULL, &take);
	cr_assert_eq(take.mem, 100);
	cr_assert_eq(take.cpus, 4);
	free.mem--;
	cr_assert_not(ccr_demand_fits(&d, &mixed, &free, 2));
	ccr_quick_make(&d, &mixed, 2, &q);
	cr_assert(q.ok && !ccr_quick_fits(&q, &free));
	other.all_mem = false;
	cr_assert_not(ccr_demand_equal(&d, &other));
}

Test(demand, what_is_not_asked_for_is_never_short)
{
	struct ccr_amount have = {.cpus = -1, .mem = -1}, want = {.gpus = {0}};

	cr_assert_eq(ccr_amount_short(&have, &want), 0);
	want.gpus[3] = 1;
	cr_assert_eq(ccr_amount_short(&have, &want), 'g');
	want = (struct ccr_amount){.cpus = 1};
	cr_assert_eq(ccr_amount_short(&have, &want), 'c');
	want = (struct ccr_amount){.mem = 1};
	cr_assert_eq(ccr_amount_short(&have, &want), 'm');
}

Test(demand, equal_demands_hash_equally_whatever_the_padding)
{
	struct ccr_demand a, b;

	memset(&a, 0, sizeof(a));
	memset(&b, 0xff, sizeof(b));
	b = (struct ccr_demand){.min_nodes = 2, .node = {.gpu = {{1, 4}}}};
	a.min_nodes = 2;
	a.node.gpu[0] = (struct ccr_want){1, 4};
	/* What lies behind the end of the list is not part of it. */
	b.node.gpu[2].type = 9;
	cr_assert(ccr_demand_equal(&a, &b));
	cr_assert_eq(ccr_demand_hash(&a), ccr_demand_hash(&b));
	b.total[0] = (struct ccr_want){1, 1};
	cr_assert_not(ccr_demand_equal(&a, &b));
	cr_assert_neq(ccr_demand_hash(&a), ccr_demand_hash(&b));
}

/* Two CPUs beside each of four GPUs are for jobs with GPUs: 8 of 16 are open. */
static const struct ccr_node keeps = {
    .total = {.cpus = 16, .open = 8, .gpus = {4}}, .gpu_types = 1, .up = true, .kept = 2};

Test(demand, kept_cpus_are_for_jobs_with_gpus)
{
	struct ccr_demand plain = {.node = {.cpus = 8}}, gpu = {.node = {.cpus = 5}};
	struct ccr_amount free = keeps.total, take;
	struct ccr_quick q;

	gpu.node.gpu[0] = (struct ccr_want){CCR_GPU_ANY, 2};
	cr_assert(ccr_demand_fits(&plain, &keeps, &free, 1));
	ccr_demand_take(&gpu, &keeps, &free, 1, NULL, &take);
	cr_assert_eq(take.cpus, 5);
	cr_assert_eq(take.open, 1, "four are beside its GPUs");
	ccr_amount_sub(&free, &take);
	ccr_quick_make(&plain, &keeps, 1, &q);
	cr_assert(q.ok && !q.never);
	cr_assert_not(ccr_demand_fits(&plain, &keeps, &free, 1), "11 are free, 7 of them open");
	cr_assert_not(ccr_quick_fits(&q, &free));
	plain.node.cpus = 7;
	ccr_quick_make(&plain, &keeps, 1, &q);
	cr_assert(ccr_demand_fits(&plain, &keeps, &free, 1));
	cr_assert(ccr_quick_fits(&q, &free));
	ccr_demand_take(&plain, &keeps, &free, 1, NULL, &take);
	cr_assert_eq(ccr_amount_short(&free, &take), 0);
	take.open++;
	cr_assert_eq(ccr_amount_short(&free, &take), 'c');
	plain.node.cpus = 9;
	plain.kept = true;
	cr_assert(ccr_demand_fits(&plain, &keeps, &free, 1), "a shard of a GPU may have them");
	plain.kept = false;
	ccr_quick_make(&plain, &keeps, 1, &q);
	cr_assert(q.never, "never more than the open ones");
}

Test(demand, units_that_need_fewer_open_cpus_the_more_they_are_still_count_up)
{
	/* 6 CPUs for the node and a GPU with one CPU in each unit, which keeps two. */
	struct ccr_demand d = {.units = 4, .node = {.cpus = 6}, .unit = {.cpus = 1}};
	struct ccr_amount free = keeps.total;

	d.unit.gpu[0] = (struct ccr_want){CCR_GPU_ANY, 1};
	free.open = 2;
	cr_assert_eq(ccr_demand_most(&d, &keeps, &free), 4);
	free.open = 1;
	cr_assert_eq(ccr_demand_most(&d, &keeps, &free), 0);
	d.unit.cpus = 3;
	d.node.cpus = 0;
	free.open = 2;
	cr_assert_eq(ccr_demand_most(&d, &keeps, &free), 2, "one open CPU for each unit");
}
