/*
 * sim_figures - what a run comes to: waits, slowdowns, use of the machine, errors of the estimates
 */
#ifndef SCCR_SIM_FIGURES_H
#define SCCR_SIM_FIGURES_H

#include "core/error.h"
#include "sccr/sim_cluster.h"
#include "sccr/sim_quantile.h"

/* Run times below this count as this in the bounded slowdown. */
#define SIM_BOUND (10 * SIM_SECOND)

/* Of all jobs, or of a group or size class. */
struct sim_class {
	uint64_t jobs, fillers;
	struct sim_quantile wait;     /* ms */
	struct sim_quantile slowdown; /* in thousandths */
	long double slowdown_sum;
	double cpu_ms, gpu_ms;
};

/* How full the machine is; kept up to date by the engine. */
struct sim_levels {
	uint64_t cpus_used, gpus_used;
	uint64_t gpus_whole;	/* free, on nodes where all are free */
	uint64_t gpus_stranded; /* free, on nodes without a free CPU or without free memory */
	bool gpu_job_waits, job_waits;
};

#define SIM_CPU_CLASSES 6
#define SIM_GPU_CLASSES 6

struct sim_figures {
	uint64_t cpus, gpus; /* the machine's */
	struct sim_class all;
	struct sim_class cpu_size[SIM_CPU_CLASSES]; /* jobs without GPUs, by CPUs */
	struct sim_class gpu_size[SIM_GPU_CLASSES]; /* by GPUs; [0] is unused */
	struct sim_class *group; /* by number of the account; one more for none */
	uint32_t groups;
	uint64_t submitted;
	sim_time first_submit, last; /* what is measured lies between them */
	bool begun;
	/* integrals over time, unit x ms */
	double cpu_used, gpu_used, gpu_idle_waiting, gpu_waiting, gpu_idle, gpu_broken,
	    gpu_stranded;
	double queue_length;
	/* start estimates: first booking against the real start */
	struct sim_quantile estimate; /* absolute error, ms */
	uint64_t estimate_late;	      /* started after the first estimate */
	long double estimate_signed;
	uint64_t bookings, cycles;
	sim_time longest_late;
	uint64_t queue_max, live_max;
	bool interrupted;
	bool nowhere; /* jobs ran on no particular node: what counts nodes means nothing */
};

int sim_figures_init(struct sim_figures *f, const struct sim_cluster *c, uint32_t groups);

/* Time passed from f->last to now at these levels. */
void sim_figures_pass(struct sim_figures *f, sim_time now, const struct sim_levels *l,
		      uint32_t queued);

/* A job started: its wait counts from here on, whether or not it ends before the run does. */
int sim_figures_start(struct sim_figures *f, const struct sim_job *j);

void sim_figures_end(struct sim_figures *f, const struct sim_job *j, sim_time now);

/* "1", "2-8", ... of the size classes; NULL beyond them. */
const char *sim_figures_cpu_class(int i);
const char *sim_figures_gpu_class(int i);

uint64_t sim_job_cpus(const struct sim_job *j);
uint64_t sim_job_gpus(const struct sim_job *j);

void sim_figures_free(struct sim_figures *f);

#endif
