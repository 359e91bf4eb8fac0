/*
 * records - slurmctld's nodes and allocations as the core's amounts
 *
 * The plan's node i is slurmctld's node i; where that has a gap the plan has an empty node that is
 * never up. CPUs are counted in whole cores with all their threads, as cons_tres gives them. Types
 * of GPU get small numbers in the order in which they are met.
 */
#ifndef CCR_SELECT_RECORDS_H
#define CCR_SELECT_RECORDS_H

#include "core/planner.h"
#include "slurm/compat_select.h"

#define CCR_TYPES_MAX 512

struct ccr_cluster {
	struct ccr_node *node;
	uint32_t n;
	uint32_t threads;		 /* most threads a core that are in use on any node */
	bool memory;			 /* memory is given out (CR_*_Memory) */
	uint32_t type_id[CCR_TYPES_MAX]; /* of gres, by our number */
	int16_t types;
	uint32_t gpu;	    /* plugin id of gres/gpu */
	uint32_t shared[2]; /* and of those that are parts of GPUs: gres/shard, gres/mps */
	bool crowded;	    /* a node has more types than the core holds */
};

/* Reads all nodes afresh; node R. False: out of memory or more types than there is room for. */
bool ccr_cluster_read(struct ccr_cluster *c);
void ccr_cluster_free(struct ccr_cluster *c);

/* Our number of a type of GPU (0: no type); -2 if no node has it. */
int16_t ccr_cluster_type(const struct ccr_cluster *c, uint32_t type_id);

/* Takes out of the set the nodes that have too little of a gres, other than GPUs, for the job. */
void ccr_cluster_with_gres(const struct ccr_cluster *c, const job_record_t *job, uint64_t *set);

/* Whether slurmctld would start jobs on it. */
bool ccr_node_usable(const node_record_t *node);

/*
 * What a running job holds, or (picked) what a job just picked by RUN_NOW would. Writes at most
 * `room` shares and returns how many there are; -1 if the records do not fit together.
 */
int ccr_job_shares(const struct ccr_cluster *c, const job_record_t *job, bool picked,
		   struct ccr_share *out, uint32_t room);

/* A GPU of which a job has a part: no job has the whole of it until all of these have ended. */
struct ccr_part_of_gpu {
	uint32_t node;
	int32_t gpu;  /* the device's number on the node */
	uint8_t slot; /* its type there, as in ccr_amount.gpus */
	int64_t end, limit;
};
struct ccr_parts_of_gpus {
	struct ccr_part_of_gpu *part;
	size_t n, room;
};

/* Adds those of a running job, which ccr_job_shares leaves out. False: out of memory. */
bool ccr_job_parts_of_gpus(const struct ccr_cluster *c, const job_record_t *job, int64_t end,
			   int64_t limit, struct ccr_parts_of_gpus *to);
/* Leaves of each GPU one, the last to end. */
void ccr_parts_of_gpus_join(struct ccr_parts_of_gpus *parts);

/* Whether a reservation sets aside parts of its nodes (CoreCnt=, TRES=); then what of one node. */
bool ccr_resv_partial(const slurmctld_resv_t *r);
void ccr_resv_amount(const struct ccr_cluster *c, const slurmctld_resv_t *r, uint32_t node,
		     struct ccr_amount *a);

#endif
