/*
 * compat_select - what the versions of Slurm do differently for a select plugin
 *
 * Built on the table in compat.h. Types that a select plugin only hands on are void pointers here:
 * their names and homes changed, the calling convention did not.
 */
#ifndef CCR_SLURM_COMPAT_SELECT_H
#define CCR_SLURM_COMPAT_SELECT_H

#include "slurm/compat_gres.h"

#if CCR_SLURM_INTERFACES
#include "src/interfaces/preempt.h"
#include "src/interfaces/select.h"
#else
#include "src/slurmctld/preempt.h"
#include "src/common/select.h"
#endif
#include "src/common/job_resources.h"

/* clang-format off */
/*      name                          since                                  what it means */
#define CCR_SLURM_RESV_EXC            CCR_SLURM_AT_LEAST(23, 11, 0)  /* job_test's 9th argument is a resv_exc_t *; before a bitmap */
#define CCR_SLURM_SOCKET_CAP          CCR_SLURM_AT_LEAST(23, 2, 0)   /* partitions have MaxCPUsPerSocket */
#define CCR_SLURM_RESV_GRES           CCR_SLURM_AT_LEAST(23, 11, 0)  /* a reservation may hold GPUs: its gres_list_alloc */
#define CCR_SLURM_KEPT_CORES          CCR_SLURM_AT_LEAST(24, 5, 0)   /* RestrictedCoresPerGPU: a node's gpu_spec_bitmap */
#define CCR_SLURM_TOPOLOGY_ID         CCR_SLURM_AT_LEAST(24, 5, 0)   /* topology_get_plugin_id: of the cluster's topology */
#define CCR_SLURM_WILL_RUN_DATA       CCR_SLURM_AT_LEAST(24, 11, 0)  /* job_test has a 10th argument */
#define CCR_SLURM_PART_TOPOLOGY       CCR_SLURM_AT_LEAST(25, 5, 0)   /* topology.yaml: partitions may have their own, topology_idx;
                                                                        slurm_conf.topology_plugin is not used then */
/* clang-format on */

#if CCR_SLURM_TOPOLOGY_ID
#include "src/interfaces/topology.h"
#endif

/* A reservation that comes again. (Slurm's own name for these flags is spelled in two ways.) */
#define CCR_SLURM_RESV_AGAIN                                                                       \
	(RESERVE_FLAG_HOURLY | RESERVE_FLAG_DAILY | RESERVE_FLAG_WEEKDAY | RESERVE_FLAG_WEEKEND |  \
	 RESERVE_FLAG_WEEKLY)

/* job_test's arguments, and the same to hand on; the first eight never changed. */
#if CCR_SLURM_RESV_EXC
typedef resv_exc_t ccr_slurm_exclude_t;
#else
typedef bitstr_t ccr_slurm_exclude_t;
#endif

#define CCR_SLURM_TEST_FIRST                                                                       \
	job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes,                \
	    uint32_t req_nodes, uint16_t mode, ccr_slurm_list_t *candidates,                       \
	    ccr_slurm_list_t **preempted, ccr_slurm_exclude_t *exclude
#if CCR_SLURM_WILL_RUN_DATA
#define CCR_SLURM_TEST_PARAMS CCR_SLURM_TEST_FIRST, will_run_data_t *will_run
#define CCR_SLURM_TEST_ARGS                                                                        \
	job, nodes, min_nodes, max_nodes, req_nodes, mode, candidates, preempted, exclude, will_run
#define CCR_SLURM_TEST_LAST(call) ((call)->will_run)
typedef will_run_data_t ccr_slurm_will_run_t;
#else
#define CCR_SLURM_TEST_PARAMS CCR_SLURM_TEST_FIRST
#define CCR_SLURM_TEST_ARGS                                                                        \
	job, nodes, min_nodes, max_nodes, req_nodes, mode, candidates, preempted, exclude
typedef void ccr_slurm_will_run_t;
#endif

/* A call of job_test as a value, so that it can be repeated with another mode or set of nodes. */
struct ccr_slurm_test {
	job_record_t *job;
	bitstr_t *nodes;
	uint32_t min_nodes, max_nodes, req_nodes;
	uint16_t mode;
	ccr_slurm_list_t *candidates;
	ccr_slurm_list_t **preempted;
	ccr_slurm_exclude_t *exclude;
	ccr_slurm_will_run_t *will_run;
};

/* slurmctld's own data that the gate reads: NULL in the clients that open the plugin (22.05). */
#pragma weak avail_node_bitmap
#pragma weak queue_job_scheduler
#pragma weak cg_node_bitmap
#pragma weak rs_node_bitmap
#pragma weak share_node_bitmap
#pragma weak resv_list
#pragma weak bitmap2node_name
#pragma weak find_job_record
#pragma weak slurm_job_preempt_mode
#pragma weak job_get_tres_mem
#pragma weak cr_get_coremap_offset
#if CCR_SLURM_TOPOLOGY_ID
#pragma weak topology_get_plugin_id
#endif

/* The network under the partition's nodes has parts, by which the stock plugin chooses them. */
static inline bool ccr_slurm_has_topology(const part_record_t *part)
{
	const char *name = slurm_conf.topology_plugin;

#if CCR_SLURM_PART_TOPOLOGY
	if (part && part->topology_idx > 0)
		return true;
#else
	(void)part;
#endif
#if CCR_SLURM_TOPOLOGY_ID
	/* (that of the plugin without any has always been 100, its name has changed) */
	if (topology_get_plugin_id && topology_get_plugin_id() != 100)
		return true;
#endif
	return name && !xstrcasestr(name, "none") && !xstrcasestr(name, "default") &&
	       !xstrcasestr(name, "flat");
}

#endif
