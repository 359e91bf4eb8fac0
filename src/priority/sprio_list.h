/*
 * sprio_list - what sprio is told
 */
#ifndef CCR_PRIORITY_SPRIO_LIST_H
#define CCR_PRIORITY_SPRIO_LIST_H

#include "priority/settings.h"

/* What the list depends on, copied. */
struct ccr_sprio_rule {
	uint32_t flags; /* PriorityFlags */
	double weight_partition, weight_qos;
	bool whole;	   /* points are whole: see core/score.h */
	bool by_partition; /* the policy has a term for the owner in the partition: LSF's */
};

/*
 * A row for each pending job (and partition) that uid may see and the request wants, NULL if there
 * is none. The columns are those of the last scoring (kept.h), so that their sum is squeue's
 * number. Locks: those of ccr_slurm_factors_list_lock().
 */
ccr_slurm_list_t *ccr_sprio_list(const struct ccr_sprio_rule *rule,
				 const ccr_slurm_request_t *request, uid_t uid);

#endif
