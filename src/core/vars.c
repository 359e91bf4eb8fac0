/* vars - see vars.h */
#include "core/vars.h"
#include "core/nearest.h"

#include <stddef.h>
#include <string.h>

static const struct ccr_var_info info[CCR_VAR_COUNT] = {
    [CCR_VAR_NODES] = {"nodes", "nodes", "The least number of nodes that the job asks for."},
    [CCR_VAR_NCPUS] = {"ncpus", "CPUs", "The CPUs that the job asks for, all nodes together."},
    [CCR_VAR_NGPUS] = {"ngpus", "GPUs", "The GPUs that the job asks for, all nodes together."},
    [CCR_VAR_MEM] =
	{"mem", "kB",
	 "The memory that the job asks for, all nodes together, in kB as PBS counts it."},
    [CCR_VAR_NTASKS] = {"ntasks", "tasks", "The tasks that the job asks for."},
    [CCR_VAR_WALLTIME] = {"walltime", "seconds",
			  "The job's time limit; the partition's where it has none."},
    [CCR_VAR_QUEUE_MINUTES] = {"queue_minutes", "minutes",
			       "Time since the job became eligible (Slurm's AccrueTime)."},
    [CCR_VAR_ELIGIBLE_TIME] =
	{"eligible_time", "seconds",
	 "Time for which a lack of resources alone kept the job from starting, as PBS counts it: "
	 "not "
	 "on hold, before its begin time, behind a dependency or over a limit; it only grows."},
    [CCR_VAR_TARGET] = {"target", "percent", "The target of the job's group."},
    [CCR_VAR_USAGE] = {"usage", "percent", "The group's share of all that was delivered, decayed."},
    [CCR_VAR_FS_DELTA] =
	{"fs_delta", "percent points",
	 "Target minus usage under the target's suffix: a ceiling only lowers, a floor only "
	 "raises; 0 for a cap or without a target."},
    [CCR_VAR_FINANCIAL] = {"financial", "factor",
			   "The group's factor: its tier's, its own or its contributions'."},
    [CCR_VAR_FAIRSHARE_FACTOR] = {"fairshare_factor", "0 to 1",
				  "PBS's fair-share factor, 2^-(usage/share): by the group's "
				  "\"shares\" where the file gives "
				  "any; else by the user's shares in sacctmgr, all accounts "
				  "together; else, without a database, "
				  "by the group's target; 1 without any of these."},
    [CCR_VAR_USER_USAGE] =
	{"user_usage", "percent",
	 "The user's share of all that was delivered, all accounts together, decayed."},
    [CCR_VAR_QOS_USAGE] = {"qos_usage", "percent",
			   "The QOS's share of all that was delivered, decayed."},
    [CCR_VAR_LSF_PRIORITY] = {"lsf_priority", "1",
			      "LSF's dynamic priority of the user in the partition, with the "
			      "user's pending jobs ahead of "
			      "this one taken as started."},
    [CCR_VAR_RUN_HOURS] = {"run_hours", "hours",
			   "The user's decayed CPU-hours in the partition, running jobs included."},
    [CCR_VAR_STARTED] = {"started", "jobs",
			 "The user's running jobs in the partition, and the user's pending jobs "
			 "ahead of this one."},
    [CCR_VAR_QUEUE_PRIORITY] = {"queue_priority", "1", "The partition's PriorityJobFactor."},
    [CCR_VAR_QOS_PRIORITY] = {"qos_priority", "1", "The QOS's Priority."},
    [CCR_VAR_JOB_PRIORITY] = {"job_priority", "1", "The user's own wish: minus the job's nice."},
    [CCR_VAR_AGE_FACTOR] = {"age_factor", "0 to 1", "priority/multifactor's age factor."},
    [CCR_VAR_ASSOC_FACTOR] = {"assoc_factor", "0 to 1",
			      "priority/multifactor's association factor."},
    [CCR_VAR_FS_FACTOR] = {"fs_factor", "0 to 1",
			   "priority/multifactor's fair-share factor (fair tree or classic)."},
    [CCR_VAR_SIZE_FACTOR] = {"size_factor", "0 to 1", "priority/multifactor's job size factor."},
    [CCR_VAR_PARTITION_FACTOR] = {"partition_factor", "0 to 1",
				  "priority/multifactor's partition factor."},
    [CCR_VAR_QOS_FACTOR] = {"qos_factor", "0 to 1", "priority/multifactor's QOS factor."},
};

static const struct {
	const char *name;
	enum ccr_var var;
} aliases[] = {
    {"cpus", CCR_VAR_NCPUS},
    {"gpus", CCR_VAR_NGPUS},
};

const struct ccr_var_info *ccr_var_info(int var)
{
	return var >= 0 && var < CCR_VAR_COUNT ? &info[var] : NULL;
}

const char *ccr_var_alias(int i, enum ccr_var *var)
{
	if (i < 0 || (size_t)i >= sizeof(aliases) / sizeof(aliases[0]))
		return NULL;
	*var = aliases[i].var;
	return aliases[i].name;
}

int ccr_var_find(const char *name)
{
	enum ccr_var v;
	const char *alias;

	for (int i = 0; i < CCR_VAR_COUNT; i++) {
		if (strcmp(info[i].name, name) == 0)
			return i;
	}
	for (int i = 0; (alias = ccr_var_alias(i, &v)); i++) {
		if (strcmp(alias, name) == 0)
			return (int)v;
	}
	return -1;
}

const char *ccr_var_nearest(const char *name)
{
	const char *names[CCR_VAR_COUNT];

	for (int i = 0; i < CCR_VAR_COUNT; i++)
		names[i] = info[i].name;
	return ccr_nearest(name, names, CCR_VAR_COUNT);
}
