/*
 * policy_path - where the policy file is: PriorityParameters=ccr_conf=PATH, else ccr.json beside
 * slurm.conf
 */
#ifndef CCR_SLURM_POLICY_PATH_H
#define CCR_SLURM_POLICY_PATH_H

/* malloc'd; NULL when out of memory. slurm_conf must be readable. */
char *ccr_slurm_policy_path(void);

#endif
