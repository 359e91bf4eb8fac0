/*
 * vars - the variables that a policy's expressions may use
 *
 * One table says for each its name, unit and where its value comes from. The policy compiler, the
 * plugin's translator, `sccr` and the manual page ccr.json(5) all go by it. Every value is a
 * double; a value that does not exist for a job (no association, no group) is 0 unless the table
 * says otherwise.
 */
#ifndef CCR_CORE_VARS_H
#define CCR_CORE_VARS_H

enum ccr_var {
	/* what the job asks for */
	CCR_VAR_NODES,
	CCR_VAR_NCPUS,
	CCR_VAR_NGPUS,
	CCR_VAR_MEM,
	CCR_VAR_NTASKS,
	CCR_VAR_WALLTIME,
	/* how long it has waited */
	CCR_VAR_QUEUE_MINUTES,
	CCR_VAR_ELIGIBLE_TIME,
	/* its group */
	CCR_VAR_TARGET,
	CCR_VAR_USAGE,
	CCR_VAR_FS_DELTA,
	CCR_VAR_FINANCIAL,
	/* its owner */
	CCR_VAR_FAIRSHARE_FACTOR,
	CCR_VAR_USER_USAGE,
	CCR_VAR_QOS_USAGE,
	CCR_VAR_LSF_PRIORITY,
	CCR_VAR_RUN_HOURS,
	CCR_VAR_STARTED,
	/* what the site or the user set */
	CCR_VAR_QUEUE_PRIORITY,
	CCR_VAR_QOS_PRIORITY,
	CCR_VAR_JOB_PRIORITY,
	/* priority/multifactor's factors */
	CCR_VAR_AGE_FACTOR,
	CCR_VAR_ASSOC_FACTOR,
	CCR_VAR_FS_FACTOR,
	CCR_VAR_SIZE_FACTOR,
	CCR_VAR_PARTITION_FACTOR,
	CCR_VAR_QOS_FACTOR,
	CCR_VAR_COUNT
};

struct ccr_var_info {
	const char *name;
	const char *unit;
	const char *source; /* where the value comes from, one sentence */
};

/* The table's row of `var`; NULL for anything out of range. Static storage. */
const struct ccr_var_info *ccr_var_info(int var);

/* The variable of that name (an alias such as `cpus` counts), or -1. */
int ccr_var_find(const char *name);

/* The known name that is nearest to `name` in spelling, or NULL when none is near. */
const char *ccr_var_nearest(const char *name);

/* Alias number i (0, 1, ...) and the variable that it stands for, or NULL past the last. */
const char *ccr_var_alias(int i, enum ccr_var *var);

#endif
