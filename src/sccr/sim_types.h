/*
 * sim_types - the nouns of the simulator: time, demand, job, node
 *
 * Times are milliseconds in int64_t, counted from whatever zero the workload has: published logs of
 * simulators carry fractions of a second, and sums of integers come out the same on every machine.
 * Memory is in MiB, as in slurm.conf.
 */
#ifndef SCCR_SIM_TYPES_H
#define SCCR_SIM_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

typedef int64_t sim_time;

#define SIM_SECOND     ((sim_time)1000)
#define SIM_NEVER      (INT64_MAX / 4) /* later than any event; leaves room for sums */
#define SIM_NODE_TYPES 4	       /* kinds of GPU in one node */
#define SIM_ANY_TYPE   (-1)
#define SIM_NO_NAME    UINT32_MAX
#define SIM_TERMS      8

/*
 * What a job asks for. All its nodes give the same amounts but the last, which may give fewer CPUs:
 * 5 tasks on nodes of 2 CPUs are 2 + 2 + 1.
 */
struct sim_demand {
	uint32_t nodes;
	uint32_t cpus; /* per node */
	uint32_t last_cpus;
	uint32_t gpus;	  /* per node */
	int32_t gpu_type; /* index in sim_cluster.gpu_types, or SIM_ANY_TYPE */
	uint32_t mem;	  /* MiB per node */
};

/* What a job asks for in all, before it is laid out on nodes. */
struct sim_totals {
	uint64_t nodes; /* 0: as few as hold it */
	uint64_t cpus, gpus;
	uint64_t mem; /* MiB in all */
	int32_t gpu_type;
};

/* What a job holds on one node. */
struct sim_pick {
	uint32_t node;
	uint32_t cpus;
	uint32_t mem;
	uint16_t gpus[SIM_NODE_TYPES]; /* by the node's own list of types */
};

enum sim_job_state { SIM_FUTURE, SIM_PENDING, SIM_RUNNING, SIM_ENDED };

struct sim_job {
	uint64_t serial; /* 0, 1, ... in order of submission */
	char id[40];
	sim_time submit;
	sim_time runtime; /* how long it really runs; the scheduler never sees it */
	sim_time limit;
	sim_time recorded_wait; /* the log's own, or -1 */
	uint64_t after;		/* SWF field 17: submitted `think` after that job ended; 0: none */
	sim_time think;
	uint32_t user, account, qos, partition; /* index in the workload's names, or SIM_NO_NAME */
	struct sim_demand demand;
	/* of a job that may run in several partitions: their list in sim_workload.lists, and what
	 * is laid out in each of them */
	uint32_t list;
	struct sim_totals want;
	sim_time asked_limit, asked_runtime;

	enum sim_job_state state;
	bool filler;		/* started while a job above it stayed behind */
	uint32_t home;		/* index in the cluster's partitions */
	sim_time start, end;	/* end: when it will really end, known to the engine alone */
	sim_time planned_end;	/* start + limit */
	sim_time first_booking; /* the first start that it was promised, or -1 */
	uint64_t promised;	/* in which cycle that was */
	sim_time booking;	/* the present one, or -1 */
	sim_time eligible;	/* since when it has waited */
	double score;
	double terms[SIM_TERMS]; /* points by column, see sim_scorer.column */
	struct sim_pick *pick;	 /* while running */
	uint32_t npick;
	uint32_t slot; /* place in the running list */
	uint32_t mark; /* free for the scheduler */
	/* free for the scorer: group, and the owner's jobs ahead of this one */
	const void *group;
	bool seen;
	uint32_t ahead;
	/*
	 * In the queue a job stands once for each of its partitions, as slurmctld has it. The
	 * others are twins of the first; one that starts lends it its place, see sim_start.
	 */
	struct sim_job *of;	 /* a twin's first; NULL: it is no twin */
	struct sim_job *twin;	 /* the first's twins, each twin's next */
	struct sim_job *waiting; /* jobs that are submitted after this one's end */
	struct sim_job *next;	 /* in such a list, or among the unused */
	UT_hash_handle hh;	 /* live jobs by number, where a workload has such jobs */
	uint64_t number;
};

struct sim_node {
	char name[64];
	uint32_t cpus, mem;
	uint8_t ntypes;
	int16_t type[SIM_NODE_TYPES]; /* index in sim_cluster.gpu_types */
	uint16_t gpus[SIM_NODE_TYPES];
	uint32_t weight; /* Slurm's: lower is taken first */
};

/* The job that stands for all of its places in the queue. */
static inline struct sim_job *sim_first(struct sim_job *j)
{
	return j->of ? j->of : j;
}

/* All GPUs of a node or a pick, whatever their type. */
static inline uint32_t sim_gpus(const uint16_t *g)
{
	uint32_t n = 0;

	for (int i = 0; i < SIM_NODE_TYPES; i++)
		n += g[i];
	return n;
}

#endif
