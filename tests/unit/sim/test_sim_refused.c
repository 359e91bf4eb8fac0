#include <criterion/criterion.h>
#include "sccr/sim_refused.h"

static struct sim_job job(uint32_t nodes, uint32_t cpus, sim_time limit, sim_time submit)
{
	struct sim_job j = {
	    .eligible = submit,
	    .limit = limit,
	    .demand = {.nodes = nodes, .cpus = cpus, .last_cpus = cpus, .gpu_type = SIM_ANY_TYPE}};
	return j;
}

Test(sim_refused, covers_only_what_asks_for_as_much)
{
	struct sim_cluster c;
	struct ccr_error e;
	struct sim_refused r = {0};
	struct sim_job x = job(2, 4, 100, 50), same = job(2, 4, 100, 50),
		       longer = job(2, 4, 200, 50), shorter = job(2, 4, 99, 50),
		       fewer = job(1, 4, 100, 50), less = job(2, 3, 100, 50),
		       later = job(2, 4, 100, 51);

	sim_cluster_plain(&c, 4, 8, 0, 0, &e);
	cr_assert_not(sim_refused_match(&r, &c, &same, true));
	cr_assert_eq(sim_refused_add(&r, &x, false), 0);
	cr_assert(sim_refused_match(&r, &c, &same, true));
	cr_assert(sim_refused_match(&r, &c, &longer, true));
	cr_assert_not(sim_refused_match(&r, &c, &shorter, true));
	cr_assert_not(sim_refused_match(&r, &c, &fewer, true));
	cr_assert_not(sim_refused_match(&r, &c, &less, true));
	cr_assert_not(sim_refused_match(&r, &c, &later, true));
	cr_assert(sim_refused_match(&r, &c, &later, false));
	/* refused for want of room: then for any length and age */
	sim_refused_add(&r, &x, true);
	cr_assert(sim_refused_match(&r, &c, &shorter, true));
	cr_assert(sim_refused_match(&r, &c, &later, true));
	/* a booking moved: what it was refused for may be gone, what is not free is not */
	sim_refused_clear(&r);
	sim_refused_add(&r, &x, false);
	sim_refused_add(&r, &longer, true);
	sim_refused_keep_any_age(&r);
	cr_assert_eq(r.n, 1);
	cr_assert(r.list[0].any_age);
	sim_refused_clear(&r);
	cr_assert_not(sim_refused_match(&r, &c, &same, false));
	sim_refused_free(&r);
	sim_cluster_free(&c);
}
