/* sim_figures - see sim_figures.h */
#include "sccr/sim_figures.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint64_t upto;
} cpu_classes[SIM_CPU_CLASSES] = {{"1", 1},	   {"2-8", 8},	     {"9-32", 32},
				  {"33-128", 128}, {"129-512", 512}, {"513+", UINT64_MAX}},
  gpu_classes[SIM_GPU_CLASSES] = {{NULL, 0},  {"1", 1}, {"2-3", 3},
				  {"4-7", 7}, {"8", 8}, {"9+", UINT64_MAX}};

const char *sim_figures_cpu_class(int i)
{
	return i >= 0 && i < SIM_CPU_CLASSES ? cpu_classes[i].name : NULL;
}

const char *sim_figures_gpu_class(int i)
{
	return i >= 0 && i < SIM_GPU_CLASSES ? gpu_classes[i].name : NULL;
}

uint64_t sim_job_cpus(const struct sim_job *j)
{
	return (uint64_t)(j->demand.nodes - 1) * j->demand.cpus + j->demand.last_cpus;
}

uint64_t sim_job_gpus(const struct sim_job *j)
{
	return (uint64_t)j->demand.nodes * j->demand.gpus;
}

int sim_figures_init(struct sim_figures *f, const struct sim_cluster *c, uint32_t groups)
{
	memset(f, 0, sizeof(*f));
	f->cpus = c->cpus;
	f->gpus = c->gpus;
	f->group = calloc(groups + 1, sizeof(*f->group));
	if (!f->group)
		return -1;
	f->groups = groups;
	return 0;
}

void sim_figures_pass(struct sim_figures *f, sim_time now, const struct sim_levels *l,
		      uint32_t queued)
{
	double dt = (double)(now - f->last);
	/* a log may have had more GPUs than the cluster has that is told for it */
	double idle = l->gpus_used < f->gpus ? (double)(f->gpus - l->gpus_used) : 0;

	if (!f->begun) {
		f->begun = true;
		f->first_submit = f->last = now;
		return;
	}
	f->last = now;
	f->cpu_used += dt * (double)l->cpus_used;
	f->gpu_used += dt * (double)l->gpus_used;
	f->queue_length += dt * queued;
	f->gpu_idle += dt * idle;
	f->gpu_broken += dt * (idle - (double)l->gpus_whole);
	f->gpu_stranded += dt * (double)l->gpus_stranded;
	if (l->gpu_job_waits) {
		f->gpu_waiting += dt * (double)f->gpus;
		f->gpu_idle_waiting += dt * idle;
	}
}

static struct sim_class *size_class(struct sim_figures *f, const struct sim_job *j)
{
	uint64_t gpus = sim_job_gpus(j), cpus = sim_job_cpus(j);
	int i = 0;

	if (gpus) {
		while (gpus > gpu_classes[i].upto)
			i++;
		return &f->gpu_size[i];
	}
	while (cpus > cpu_classes[i].upto)
		i++;
	return &f->cpu_size[i];
}

static int class_add(struct sim_class *c, const struct sim_job *j)
{
	sim_time wait = j->start - j->submit, run = j->runtime > SIM_BOUND ? j->runtime : SIM_BOUND;
	double slowdown = (double)(wait + j->runtime) / (double)run;

	if (slowdown < 1)
		slowdown = 1;
	c->jobs++;
	c->fillers += j->filler;
	c->slowdown_sum += slowdown;
	return sim_quantile_add(&c->wait, wait) ||
	       sim_quantile_add(&c->slowdown, (int64_t)(slowdown * 1000 + 0.5));
}

static struct sim_class *group_of(struct sim_figures *f, const struct sim_job *j)
{
	return &f->group[j->account < f->groups ? j->account : f->groups];
}

int sim_figures_start(struct sim_figures *f, const struct sim_job *j)
{
	if (class_add(&f->all, j) || class_add(size_class(f, j), j) || class_add(group_of(f, j), j))
		return -1;
	if (j->first_booking >= 0) {
		sim_time late = j->start - j->first_booking;

		f->estimate_late += late > 0;
		f->estimate_signed += (long double)late;
		if (late > f->longest_late)
			f->longest_late = late;
		if (sim_quantile_add(&f->estimate, late < 0 ? -late : late))
			return -1;
	}
	return 0;
}

void sim_figures_end(struct sim_figures *f, const struct sim_job *j, sim_time now)
{
	double ms = (double)(now - j->start);
	struct sim_class *all[] = {&f->all, size_class(f, j), group_of(f, j)};

	for (int i = 0; i < 3; i++) {
		all[i]->cpu_ms += ms * (double)sim_job_cpus(j);
		all[i]->gpu_ms += ms * (double)sim_job_gpus(j);
	}
}

static void class_free(struct sim_class *c)
{
	sim_quantile_free(&c->wait);
	sim_quantile_free(&c->slowdown);
}

void sim_figures_free(struct sim_figures *f)
{
	class_free(&f->all);
	for (int i = 0; i < SIM_CPU_CLASSES; i++)
		class_free(&f->cpu_size[i]);
	for (int i = 0; i < SIM_GPU_CLASSES; i++)
		class_free(&f->gpu_size[i]);
	for (uint32_t i = 0; f->group && i <= f->groups; i++)
		class_free(&f->group[i]);
	free(f->group);
	sim_quantile_free(&f->estimate);
	memset(f, 0, sizeof(*f));
}
