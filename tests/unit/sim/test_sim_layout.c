#include <criterion/criterion.h>
#include "sccr/sim_layout.h"

static struct sim_demand lay(struct sim_cluster *c, struct sim_totals t)
{
	struct sim_demand d = {0};
	const char *why = "";

	cr_assert(sim_layout(c, 0, &t, &d, &why), "%s", why);
	return d;
}

Test(sim_layout, fewest_nodes)
{
	struct sim_cluster c;
	struct ccr_error e;
	struct sim_demand d;

	sim_cluster_plain(&c, 10, 8, 4, 1000, &e);
	d = lay(&c, (struct sim_totals){.cpus = 5, .gpu_type = SIM_ANY_TYPE});
	cr_assert(d.nodes == 1 && d.cpus == 5 && d.last_cpus == 5);
	d = lay(&c, (struct sim_totals){.cpus = 20, .gpu_type = SIM_ANY_TYPE});
	cr_assert(d.nodes == 3 && d.cpus == 7 && d.last_cpus == 6);
	d = lay(&c, (struct sim_totals){.nodes = 5, .cpus = 6, .gpu_type = SIM_ANY_TYPE});
	cr_assert(d.nodes == 5 && d.cpus == 2 && d.last_cpus == 1);
	/* 6 GPUs are 2 x 3, 9 are 3 x 3 rather than 2 x 5, which no node has anyway */
	d = lay(&c, (struct sim_totals){.cpus = 1, .gpus = 6, .gpu_type = SIM_ANY_TYPE});
	cr_assert(d.nodes == 2 && d.gpus == 3);
	d = lay(&c, (struct sim_totals){.cpus = 1, .gpus = 9, .gpu_type = SIM_ANY_TYPE});
	cr_assert(d.nodes == 3 && d.gpus == 3);
	/* 7 have no divisor: 2 x 4 */
	d = lay(&c,
		(struct sim_totals){.nodes = 2, .cpus = 2, .gpus = 7, .gpu_type = SIM_ANY_TYPE});
	cr_assert(d.nodes == 2 && d.gpus == 4);
	d = lay(&c, (struct sim_totals){.cpus = 1, .mem = 2500, .gpu_type = SIM_ANY_TYPE});
	cr_assert(d.nodes == 3 && d.mem == 834);
	sim_cluster_free(&c);
}

Test(sim_layout, says_what_is_too_much)
{
	static const struct {
		struct sim_totals t;
		const char *why;
	} rows[] = {{{.nodes = 11, .cpus = 11, .gpu_type = SIM_ANY_TYPE}, "nodes"},
		    {{.cpus = 81, .gpu_type = SIM_ANY_TYPE}, "CPUs"},
		    {{.cpus = 1, .gpus = 41, .gpu_type = SIM_ANY_TYPE}, "GPUs"},
		    {{.cpus = 1, .gpus = 1, .gpu_type = 5}, "GPUs of its type"},
		    {{.nodes = 1, .cpus = 9, .gpu_type = SIM_ANY_TYPE}, "on a node"}};
	struct sim_cluster c;
	struct ccr_error e;

	sim_cluster_plain(&c, 10, 8, 4, 1000, &e);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sim_demand d;
		const char *why = "";

		cr_assert_not(sim_layout(&c, 0, &rows[i].t, &d, &why));
		cr_assert_not_null(strstr(why, rows[i].why), "%s", why);
	}
	sim_cluster_free(&c);
}
