#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>
#include "sccr/sim_workload.h"

static char path[64];

static void put(const char *text)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/sim_workload_XXXXXX");
	fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static char said[1000];

static void complain(uint64_t line, const char *text, void *arg)
{
	size_t n = strlen(said);

	(void)arg;
	snprintf(said + n, sizeof(said) - n, "%llu: %s\n", (unsigned long long)line, text);
}

static void open_all(struct sim_workload *w, struct sim_cluster *c, const char *text)
{
	struct ccr_error e = {0};

	put(text);
	cr_assert_eq(sim_workload_open(w, path, SIM_FORMAT_AUTO, NULL, &e), 0, "%s", e.text);
	w->cluster = c;
	cr_assert_eq(sim_workload_check(w, complain, NULL, &e), 0, "%s", e.text);
}

/* The jobs' ids in their order, twice over: a second pass gives the same. */
static void ids(struct sim_workload *w, char *out)
{
	for (int pass = 0; pass < 2; pass++) {
		struct sim_job j;
		struct ccr_error e = {0};
		uint64_t n = 0;

		out[0] = '\0';
		cr_assert_eq(sim_workload_rewind(w, &e), 0);
		while (sim_workload_next(w, &j, &e) > 0) {
			cr_assert_eq(j.serial, n++);
			strcat(strcat(out, j.id), " ");
		}
		cr_assert_eq(n, w->counts.jobs);
	}
}

Test(sim_workload, streams_what_is_in_order)
{
	struct sim_workload w;
	struct sim_cluster c;
	struct ccr_error e;
	char out[100];

	sim_cluster_plain(&c, 2, 4, 0, 0, &e);
	open_all(&w, &c,
		 "submit,runtime,limit,cpus,id\n0,5,10,1,a\n\n3,5,10,9,big\n3,50,10,1,b\nx,1,1,1,"
		 "c\n4,1,1,8,d\n");
	cr_assert_null(w.sorted);
	ids(&w, out);
	cr_assert_str_eq(out, "a b d ");
	cr_assert_eq(w.counts.bad, 2);
	cr_assert_eq(w.counts.cut, 1);
	cr_assert_not_null(strstr(said, "4: job big can never run: it asks for more CPUs"));
	cr_assert_not_null(strstr(said, "6: submit: seconds"));
	sim_workload_close(&w);
	sim_cluster_free(&c);
	unlink(path);
}

Test(sim_workload, sorts_what_is_not)
{
	struct sim_workload w;
	struct sim_cluster c;
	struct ccr_error e;
	char out[100];

	sim_cluster_plain(&c, 2, 4, 0, 0, &e);
	open_all(&w, &c, "submit,runtime,cpus,id\n9,5,1,a\n3,5,1,b\n3,5,1,c\n1,5,1,d\n");
	cr_assert_not_null(w.sorted);
	ids(&w, out);
	cr_assert_str_eq(out, "d b c a ");
	cr_assert_eq(w.counts.first_submit, 1000);
	cr_assert_eq(w.counts.last_submit, 9000);
	sim_workload_close(&w);
	sim_cluster_free(&c);
	unlink(path);
}

Test(sim_workload, a_missing_limit_is_the_partitions)
{
	struct sim_workload w;
	struct sim_cluster c;
	struct ccr_error e;
	struct sim_job j;

	sim_cluster_plain(&c, 2, 4, 0, 0, &e);
	c.part[0].max_limit = 60 * SIM_SECOND;
	open_all(&w, &c,
		 "; MaxNodes: 2\n; MaxProcs: 8\n1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n"
		 "2 0 0 10 1 -1 -1 1 7200 -1 1 1 1 1 1 1 -1 -1\n");
	cr_assert_eq(w.max_nodes, 2);
	cr_assert_eq(w.max_procs, 8);
	cr_assert_eq(sim_workload_next(&w, &j, &e), 1);
	cr_assert_eq(j.limit, 60 * SIM_SECOND);
	cr_assert_eq(sim_workload_next(&w, &j, &e), 1);
	cr_assert_eq(j.limit, 60 * SIM_SECOND);
	cr_assert_eq(sim_workload_next(&w, &j, &e), 0);
	c.part[0].default_limit = 30 * SIM_SECOND;
	sim_workload_rewind(&w, &e);
	cr_assert_eq(sim_workload_next(&w, &j, &e), 1);
	cr_assert_eq(j.limit, 30 * SIM_SECOND);
	sim_workload_close(&w);
	sim_cluster_free(&c);
	unlink(path);
}

Test(sim_workload, a_limit_above_the_partitions_is_counted_as_that)
{
	struct sim_workload w;
	struct sim_cluster c;
	struct ccr_error e;
	struct sim_job j;

	sim_cluster_plain(&c, 2, 4, 0, 0, &e);
	c.part[0].max_limit = 60 * SIM_SECOND;
	said[0] = '\0';
	/* within both; over its own limit; over MaxTime, within and beyond it; no limit of its own
	 */
	open_all(&w, &c,
		 "submit,runtime,limit,cpus,wait\n0,5,10,1,0\n0,20,10,1,\n0,50,90,1,7\n"
		 "0,80,1-0,1,\n0,80,,1,0\n0,1,1,99,0\n");
	cr_assert_eq(w.counts.jobs, 5);
	cr_assert_eq(w.counts.cut, 2);
	cr_assert_eq(w.counts.over_max, 2);
	cr_assert_eq(w.counts.over_max_cut, 1);
	cr_assert_not_null(strstr(said, "7: the job can never run: it asks for"), "%s", said);
	while (sim_workload_next(&w, &j, &e) > 0)
		cr_assert_leq(j.limit, 60 * SIM_SECOND);
	cr_assert_eq(w.counts.cut, 2); /* a pass more counts nothing twice */
	cr_assert_eq(w.counts.over_max, 2);
	sim_workload_close(&w);
	sim_cluster_free(&c);
	unlink(path);
}

Test(sim_workload, files_without_jobs)
{
	struct sim_workload w;
	struct ccr_error e = {0};

	put("; only a comment\n");
	cr_assert_eq(sim_workload_open(&w, path, SIM_FORMAT_AUTO, NULL, &e), CCR_EINVAL);
	cr_assert_not_null(strstr(e.text, "no job in it"));
	sim_workload_close(&w);
	cr_assert_eq(sim_workload_open(&w, "/nowhere/x.swf", SIM_FORMAT_AUTO, NULL, &e), CCR_EIO);
	sim_workload_close(&w);
	unlink(path);
}
