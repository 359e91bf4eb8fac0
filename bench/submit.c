/*
 * submit - puts many jobs into a queue, faster than one sbatch each
 *
 * usage: bench_submit COUNT KINDS   (SLURM_CONF in the environment)
 *
 * Each job is a batch job of its own. KINDS different requests take turns: 1 to 8 GPUs on 1, 2 or 4
 * nodes with some CPUs for each GPU and time limits from an hour up. KINDS 0: whole nodes of 8 GPUs
 * for ten days, to fill a machine. Prints the rate.
 */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static double now(void)
{
	struct timeval t;

	gettimeofday(&t, NULL);
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int submit(unsigned i, unsigned kinds)
{
	static char *env[] = {"PATH=/usr/bin:/bin", NULL};
	char script[] = "#!/bin/sh\nsleep 1000000\n", dir[] = "/tmp", out[] = "/dev/null", tres[64];
	unsigned k = kinds ? i % kinds : 0;
	submit_response_msg_t *answer = NULL;
	job_desc_msg_t d;
	int rc, gpus = kinds ? 1 << (k % 4) : 8;

	slurm_init_job_desc_msg(&d);
	snprintf(tres, sizeof(tres), "gres:gpu:%d", gpus);
	d.tres_per_node = tres;
	d.script = script;
	d.work_dir = dir;
	d.std_out = out;
	d.std_err = out;
	d.name = dir;
	d.environment = env;
	d.env_size = 1;
	d.user_id = getuid();
	d.group_id = getgid();
	d.min_nodes = d.max_nodes = kinds ? 1u << (k / 4 % 3) : 1;
	d.num_tasks = d.min_nodes;
	d.cpus_per_task = (uint16_t)(kinds ? gpus * (1 + (int)(k / 12 % 4)) : 32);
	d.min_cpus = d.num_tasks * d.cpus_per_task;
	d.time_limit = kinds ? 60 + 30 * (k / 48) : 14400;
	rc = slurm_submit_batch_job(&d, &answer);
	if (rc)
		fprintf(stderr, "submit: %s\n", slurm_strerror(slurm_get_errno()));
	else
		slurm_free_submit_response_response_msg(answer);
	return rc;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	unsigned kinds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
	double start = now();

	slurm_init(NULL);
	for (unsigned i = 0; i < n; i++)
		if (submit(i, kinds))
			return 1;
	printf("%u jobs, %.0f a second\n", n, n / (now() - start));
	slurm_fini();
	return 0;
}
