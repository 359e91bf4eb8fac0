/*
 * demand - what a node has, what a job needs of it, and whether the one holds the other
 *
 * Memory is in MB, CPUs are what Slurm calls CPUs (hardware threads where it schedules those), GPUs
 * are counted by type. A type is a small number of the caller's choosing, equal on all nodes;
 * CCR_GPU_ANY in a want is served by GPUs of any type.
 *
 * A job's demand is: min_nodes to max_nodes nodes, on each of them `node` (whatever lands there),
 * plus `units` units (tasks, or GPUs with what goes with each) over all of them, plus `total` GPUs
 * dealt over the nodes in any way. Most jobs need only some of it:
 *   -N2 --gpus-per-node=4 --cpus-per-task=8   min = max = 2, node = {8 CPUs, 4 GPUs}
 *   -n12 -c4 --mem-per-cpu=2G                 units = 12, unit = {4 CPUs}, mem_per_cpu = 2048
 *   --gpus=16 --cpus-per-gpu=4                units = 16, unit = {4 CPUs, 1 GPU}
 */
#ifndef CCR_CORE_DEMAND_H
#define CCR_CORE_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

#define CCR_GPU_SLOTS 8		      /* GPU types on one node */
#define CCR_GPU_WANTS 4		      /* GPU types in one request */
#define CCR_GPU_ANY   (-1)	      /* in a want: any type will do */
#define CCR_FOREVER   (INT64_MAX / 4) /* "no limit"; the sum of two still is a number */

/* An amount on one particular node; gpus[i] belongs to that node's gpu_type[i]. */
struct ccr_amount {
	int64_t mem;
	int32_t cpus;
	int32_t
	    open; /* those of the CPUs that no GPU keeps; counted only where a node keeps some */
	int16_t gpus[CCR_GPU_SLOTS];
};

struct ccr_node {
	struct ccr_amount total;
	int16_t gpu_type[CCR_GPU_SLOTS]; /* each at most once; only the first gpu_types count */
	uint8_t gpu_types;
	bool up;	   /* false: jobs may still run there, none is planned to start */
	uint16_t cpu_step; /* CPUs are given in multiples of this (threads per core); 0 is 1 */
	uint16_t kept;	   /* CPUs beside each GPU that only a job with this GPU may have; with
			    * it, total.open counts */
	uint32_t weight;   /* placement takes lower ones first, as Slurm does */
};

struct ccr_want {
	int16_t type; /* or CCR_GPU_ANY */
	uint16_t count;
};

struct ccr_need {
	int64_t mem;
	int32_t cpus;
	struct ccr_want gpu[CCR_GPU_WANTS]; /* the first with count 0 ends the list */
};

struct ccr_demand {
	uint32_t min_nodes; /* 0 is 1 */
	uint32_t max_nodes; /* 0: as many as it takes */
	struct ccr_need node;
	struct ccr_need unit;
	uint32_t units;		 /* over all nodes; 0: none */
	uint32_t node_min_units; /* on each node that is used; 0 is 1 */
	uint32_t node_max_units; /* 0: no cap */
	int64_t mem_per_cpu;	 /* MB with each CPU that is given, rounded-up ones included */
	struct ccr_want total[CCR_GPU_WANTS]; /* each node that is used gives at least one GPU */
	bool all_mem; /* --mem=0: all of a node's memory, of which nobody may hold any */
	bool kept;    /* may have CPUs that GPUs keep, whatever it asks for (a shard of a GPU) */
	bool whole;   /* takes whole nodes: only empty ones will do and nothing is left of them */
};

/* a += b, a -= b, a = min(a, b) component by component. */
void ccr_amount_add(struct ccr_amount *a, const struct ccr_amount *b);
void ccr_amount_sub(struct ccr_amount *a, const struct ccr_amount *b);
void ccr_amount_min(struct ccr_amount *a, const struct ccr_amount *b);

/*
 * 0 if a holds b; else the first thing that is short: 'c' CPUs, 'm' memory, 'g' GPUs. Amounts in a
 * may be negative (more was given than there is): what is not asked for cannot be short.
 */
char ccr_amount_short(const struct ccr_amount *a, const struct ccr_amount *b);

int32_t ccr_amount_gpus(const struct ccr_amount *a);

/* Free GPUs that a want may take: of its type, or all for CCR_GPU_ANY; never negative. */
int32_t ccr_node_gpus(const struct ccr_node *node, const struct ccr_amount *free, int16_t type);

/* Whether any part of the demand asks for GPUs. */
bool ccr_demand_has_gpus(const struct ccr_demand *d);

/* How many units the whole demand counts: units, or min_nodes where it has none. */
uint32_t ccr_demand_units(const struct ccr_demand *d);

/* The least units that a node must take to be of use. */
uint32_t ccr_demand_node_min(const struct ccr_demand *d);

/* Whether `free` of this node holds the node part and so many units (one GPU of `total` too). */
bool ccr_demand_fits(const struct ccr_demand *d, const struct ccr_node *node,
		     const struct ccr_amount *free, uint32_t units);

/*
 * The same question asked of many moments of one node: worked out once, then a few comparisons.
 * ok false: this demand needs ccr_demand_fits (GPUs in total beside it).
 */
struct ccr_quick {
	bool ok;
	bool never; /* the node lacks a type */
	uint8_t gpu_types;
	int32_t any; /* GPUs of all types together, where an untyped want has a choice; else 0 */
	struct ccr_amount need;
};
void ccr_quick_make(const struct ccr_demand *d, const struct ccr_node *node, uint32_t units,
		    struct ccr_quick *q);

static inline bool ccr_quick_fits(const struct ccr_quick *q, const struct ccr_amount *free)
{
	int32_t sum = 0;

	if ((q->need.cpus > 0 && free->cpus < q->need.cpus) ||
	    (q->need.mem > 0 && free->mem < q->need.mem) ||
	    (q->need.open > 0 && free->open < q->need.open))
		return false;
	for (int i = 0; i < q->gpu_types; i++)
		if (q->need.gpus[i] > 0 && free->gpus[i] < q->need.gpus[i])
			return false;
	if (!q->any)
		return true;
	for (int i = 0; i < q->gpu_types; i++)
		sum += free->gpus[i] > 0 ? free->gpus[i] : 0;
	return sum >= q->any;
}

/*
 * The most units that `free` holds, at least node_min_units and at most node_max_units and the
 * whole demand's; 0 if the node is of no use. A demand without units counts 1 for each node.
 */
uint32_t ccr_demand_most(const struct ccr_demand *d, const struct ccr_node *node,
			 const struct ccr_amount *free);

/*
 * What the node part and so many units take of a node with `free` there: types are dealt to untyped
 * wants (largest stock first), CPUs rounded up. `dealt` GPUs of total[i] are added, dealt[i] each;
 * NULL is none. A whole-node demand takes the node's total. The caller has checked that it fits.
 */
void ccr_demand_take(const struct ccr_demand *d, const struct ccr_node *node,
		     const struct ccr_amount *free, uint32_t units, const uint16_t *dealt,
		     struct ccr_amount *out);

bool ccr_demand_equal(const struct ccr_demand *a, const struct ccr_demand *b);

/* The same for equal demands, whatever padding holds. */
uint64_t ccr_demand_hash(const struct ccr_demand *d);

#endif
