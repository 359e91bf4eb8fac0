/*
 * sim_cluster - the machine of a simulation: nodes, partitions, and the lines of slurm.conf that
 * matter
 */
#ifndef SCCR_SIM_CLUSTER_H
#define SCCR_SIM_CLUSTER_H

#include "core/error.h"
#include "sccr/sim_names.h"
#include "sccr/sim_types.h"

struct sim_partition {
	char name[64];
	bool is_default;
	bool *has_node;		/* by node index; NULL: every node */
	sim_time default_limit; /* -1: none given */
	sim_time max_limit;	/* SIM_NEVER: none */
	uint32_t tier;		/* PriorityTier */
	uint32_t job_factor;	/* PriorityJobFactor */
	char billing[512];	/* TRESBillingWeights as written */
};

struct sim_cluster {
	struct sim_node *node;
	uint32_t nodes;
	struct sim_partition *part; /* never empty after loading: "all" if none was named */
	uint32_t parts;
	struct sim_names *gpu_types;
	/* PriorityWeight* and other settings of slurm.conf that the policy needs, as written */
	struct sim_setting {
		char key[64];
		char value[512];
		unsigned line;
	} * setting;
	uint32_t settings;
	uint64_t cpus, gpus, mem; /* totals */
};

/*
 * Reads a slurm.conf or a part of one. NodeName (CPUs or Sockets, CoresPerSocket, ThreadsPerCore,
 * RealMemory, Gres, Weight, Feature; DEFAULT lines), NodeSet (Feature, Nodes), PartitionName
 * (Nodes, Default, DefaultTime, MaxTime, PriorityTier, PriorityJobFactor, TRESBillingWeights) are
 * understood; keys of other lines are kept in setting; anything else is Slurm's business and passed
 * over. Comments and lines continued with a backslash as in slurm.conf. The cluster is zeroed
 * first; sim_cluster_free also after an error.
 */
int sim_cluster_load(struct sim_cluster *c, const char *path, struct ccr_error *err);

/* The same for a file that may have no nodes at all, such as a snippet with weights alone. */
int sim_cluster_settings(struct sim_cluster *c, const char *path, struct ccr_error *err);

/* n like nodes n1..n<count> with cpus, gpus of no particular type, and mem MiB each. */
int sim_cluster_plain(struct sim_cluster *c, uint32_t count, uint32_t cpus, uint32_t gpus,
		      uint32_t mem, struct ccr_error *err);

/* The partition of that name, or the default one if name is empty; UINT32_MAX: not there. */
uint32_t sim_cluster_part(const struct sim_cluster *c, const char *name);

/* The value of a setting (any case), or NULL. */
const char *sim_cluster_setting(const struct sim_cluster *c, const char *key);

/* Can this node ever give one node's share of the demand? */
bool sim_node_holds(const struct sim_node *n, const struct sim_demand *d);

void sim_cluster_free(struct sim_cluster *c);

#endif
