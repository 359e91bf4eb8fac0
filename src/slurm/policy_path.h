/*
 * policy_path - our options in PriorityParameters, and where the policy file is
 */
#ifndef CCR_SLURM_POLICY_PATH_H
#define CCR_SLURM_POLICY_PATH_H

/*
 * The value of NAME= in PriorityParameters, malloc'd; NULL if it is not there or out of memory.
 * slurm_conf must be readable.
 */
char *ccr_slurm_option(const char *name);

/*
 * PriorityParameters=ccr_conf=PATH, else ccr.json beside slurm.conf. malloc'd; NULL when out of
 * memory. slurm_conf must be readable.
 */
char *ccr_slurm_policy_path(void);

#endif
