#include <criterion/criterion.h>
#include "sccr/sim_report.h"

static struct sim_cluster cluster;
static struct sim_workload workload;
static struct sim_figures figures;

static void begin(void)
{
	struct ccr_error e;

	memset(&workload, 0, sizeof(workload));
	workload.accounts = sim_names_new();
	cr_assert_eq(sim_cluster_plain(&cluster, 1, 8, 4, 0, &e), 0);
	cr_assert_eq(sim_figures_init(&figures, &cluster, 0), 0);
}

static void end(void)
{
	sim_figures_free(&figures);
	sim_cluster_free(&cluster);
	sim_names_free(workload.accounts);
}

static bool is_null(json_object *run, const char *key)
{
	json_object *v;

	cr_assert(json_object_object_get_ex(run, key, &v), "%s", key);
	return !v;
}

static const char *const of_jobs[] = {"wait_mean",     "wait_median",	  "wait_p95",	 "wait_max",
				      "slowdown_mean", "slowdown_median", "slowdown_p95"},
			 *const of_time[] = {"cpu_utilisation", "gpu_utilisation", "queue_mean"},
			 *const of_nodes[] = {"gpu_fragmentation", "gpu_stranded"};

#define EACH(list, null)                                                                           \
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)                                \
	cr_assert_eq(is_null(run, (list)[i]), null, "%s", (list)[i])

/* Interrupted before anybody came. */
Test(sim_report, no_job_no_wait, .init = begin, .fini = end)
{
	struct sim_levels l = {0};
	json_object *run, *runs = json_object_new_array();
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	sim_figures_pass(&figures, 0, &l, 0);
	run = sim_report_json(&figures, &workload, "ccr");
	EACH(of_jobs, true);
	EACH(of_time, true);
	cr_assert(is_null(run, "makespan"));
	json_object_array_add(runs, run);
	sim_report_text(f, runs);
	sim_report_csv(f, runs);
	fclose(f);
	cr_assert_not_null(strstr(text, "wait, mean                                      -\n"),
			   "%s", text);
	cr_assert_not_null(strstr(text, "jobs started                                    0\n"));
	cr_assert_null(strstr(text, "wait_mean"));
	free(text);
	json_object_put(runs);
}

Test(sim_report, a_job_has_a_wait, .init = begin, .fini = end)
{
	struct sim_job j = {.account = SIM_NO_NAME,
			    .first_booking = -1,
			    .demand = {.nodes = 1, .cpus = 1, .last_cpus = 1}};
	struct sim_levels l = {.cpus_used = 1, .gpus_whole = 4};
	json_object *run;

	figures.submitted = 1;
	sim_figures_pass(&figures, 0, &l, 0);
	cr_assert_eq(sim_figures_start(&figures, &j), 0);
	sim_figures_pass(&figures, 1000, &l, 0);
	run = sim_report_json(&figures, &workload, "ccr");
	EACH(of_jobs, false);
	EACH(of_time, false);
	EACH(of_nodes, false);
	cr_assert(!is_null(run, "makespan"));
	json_object_put(run);
	figures.nowhere = true;
	run = sim_report_json(&figures, &workload, "recorded");
	EACH(of_nodes, true);
	EACH(of_time, false);
	json_object_put(run);
}
