#include <criterion/criterion.h>
#include "sccr/sim_figures.h"

static struct sim_job job(sim_time submit, sim_time start, sim_time run, uint32_t cpus,
			  uint32_t gpus)
{
	struct sim_job j = {.submit = submit,
			    .start = start,
			    .runtime = run,
			    .account = SIM_NO_NAME,
			    .first_booking = -1,
			    .booking = -1,
			    .demand = {.nodes = 1, .cpus = cpus, .last_cpus = cpus, .gpus = gpus}};
	return j;
}

Test(sim_figures, waits_and_bounded_slowdowns)
{
	struct sim_cluster c;
	struct sim_figures f;
	struct ccr_error e;
	/* slowdowns: 1 at least, (10 + 5) / 10 below the bound, (100 + 100) / 100 */
	struct sim_job a = job(0, 0, 5000, 1, 0), b = job(0, 10000, 5000, 4, 0),
		       d = job(0, 100000, 100000, 1, 4);

	sim_cluster_plain(&c, 1, 8, 4, 0, &e);
	cr_assert_eq(sim_figures_init(&f, &c, 0), 0);
	cr_assert_eq(sim_figures_start(&f, &a), 0);
	cr_assert_eq(sim_figures_start(&f, &b), 0);
	cr_assert_eq(sim_figures_start(&f, &d), 0);
	cr_assert_eq(f.all.jobs, 3);
	cr_assert_float_eq(sim_quantile_mean(&f.all.wait), 110000.0 / 3, 1e-9);
	cr_assert_float_eq((double)f.all.slowdown_sum, 1 + 1.5 + 2, 1e-9);
	cr_assert_eq(f.cpu_size[0].jobs, 1);
	cr_assert_eq(f.cpu_size[1].jobs, 1);
	cr_assert_eq(f.gpu_size[3].jobs, 1);
	cr_assert_str_eq(sim_figures_gpu_class(3), "4-7");
	cr_assert_eq(f.group[0].jobs, 3);
	sim_figures_free(&f);
	sim_cluster_free(&c);
}

Test(sim_figures, integrals_over_time)
{
	struct sim_cluster c;
	struct sim_figures f;
	struct ccr_error e;
	struct sim_levels l = {.cpus_used = 4,
			       .gpus_used = 1,
			       .gpus_whole = 0,
			       .gpus_stranded = 2,
			       .gpu_job_waits = true};

	sim_cluster_plain(&c, 1, 8, 4, 0, &e);
	sim_figures_init(&f, &c, 0);
	sim_figures_pass(&f, 5000, &l, 3); /* only begins */
	sim_figures_pass(&f, 15000, &l, 3);
	l.gpu_job_waits = false;
	sim_figures_pass(&f, 25000, &l, 1);
	cr_assert_float_eq(f.cpu_used, 80000, 1e-9);
	cr_assert_float_eq(f.gpu_idle, 60000, 1e-9);
	cr_assert_float_eq(f.gpu_idle_waiting, 30000, 1e-9);
	cr_assert_float_eq(f.gpu_waiting, 40000, 1e-9);
	cr_assert_float_eq(f.gpu_broken, 60000, 1e-9);
	cr_assert_float_eq(f.gpu_stranded, 40000, 1e-9);
	cr_assert_float_eq(f.queue_length, 40000, 1e-9);
	sim_figures_free(&f);
	sim_cluster_free(&c);
}

Test(sim_figures, estimates)
{
	struct sim_cluster c;
	struct sim_figures f;
	struct ccr_error e;
	struct sim_job a = job(0, 10000, 1000, 1, 0), b = job(0, 20000, 1000, 1, 0);

	sim_cluster_plain(&c, 1, 8, 0, 0, &e);
	sim_figures_init(&f, &c, 0);
	a.first_booking = 15000;
	b.first_booking = 19000;
	sim_figures_start(&f, &a);
	sim_figures_start(&f, &b);
	cr_assert_eq(f.estimate.n, 2);
	cr_assert_float_eq(sim_quantile_mean(&f.estimate), 3000, 1e-9);
	cr_assert_float_eq((double)f.estimate_signed, -4000, 1e-9);
	cr_assert_eq(f.estimate_late, 1);
	cr_assert_eq(f.longest_late, 1000);
	sim_figures_free(&f);
	sim_cluster_free(&c);
}
