/*
 * sim_weights - lists of weights by TRES, as TRESBillingWeights and PriorityWeightTRES have them
 */
#ifndef SCCR_SIM_WEIGHTS_H
#define SCCR_SIM_WEIGHTS_H

#include "core/error.h"
#include "sccr/sim_types.h"

struct sim_weights {
	bool given;
	double cpu, mem, node, gpu; /* mem: a MiB */
};

/* "CPU=1.0,Mem=0.25G,GRES/gpu=8": other TRES are passed over. CCR_EINVAL names what is no weight.
 */
int sim_weights_parse(const char *text, struct sim_weights *out, struct ccr_error *err);

/* The billing value of a job of that size; its CPUs where no weights are given, as in Slurm. */
double sim_weights_bill(const struct sim_weights *w, uint64_t cpus, uint64_t mem, uint64_t nodes,
			uint64_t gpus);

#endif
