/* explain_reason - see explain_reason.h */
#include "sccr/explain_reason.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Who may let a held job go: slurmctld takes `scontrol release` from its user for some holds only.
 */
#define RELEASE_USER  "`scontrol release` lets it go"
#define RELEASE_ADMIN "only an operator or administrator can release it"
#define SEE_PARTITION "`scontrol show partition` tells what it takes"
#define SEE_USED      "`scontrol show assoc_mgr` shows the limit and what is used"

/* Slurm's names, of every release from 22.05 to 26.05, but for the limits (below). */
static const struct {
	const char *name;
	enum explain_kind kind;
	const char *words;
} reasons[] = {
    {"None", KIND_TURN, ""},
    {"Priority", KIND_TURN, ""},
    {"Resources", KIND_TURN, ""},
    {"ReqNodeNotAvail", KIND_NODES, ""},
    {"JobHeldUser", KIND_HELD, "its user or an operator holds it, and " RELEASE_USER},
    {"JobHeldAdmin", KIND_HELD, "an administrator holds it, and " RELEASE_ADMIN},
    {"JobHoldMaxRequeue", KIND_HELD,
     "it was requeued as often as the cluster allows, and " RELEASE_ADMIN},
    {"BadConstraints", KIND_HELD,
     "no node can give what it asks for: change the request (`scontrol update`) or cancel it"},
    {"ReservationDeleted", KIND_HELD,
     "its reservation was deleted: " RELEASE_USER
     ", once it has another reservation or none (`scontrol update`)"},
    {"Dependency", KIND_OTHER, "it waits for another job, as its dependency says"},
    {"DependencyNeverSatisfied", KIND_OTHER,
     "its dependency can never be fulfilled any more, so it will never start: cancel it, or change "
     "the dependency (`scontrol update`)"},
    {"BeginTime", KIND_OTHER, "the time at which it may begin has not come"},
    {"Prolog", KIND_OTHER, "the prolog runs on its nodes"},
    {"Cleaning", KIND_OTHER, "its last run is being cleaned up"},
    {"SchedDefer", KIND_OTHER, "slurmctld puts off the first try of each job"},
    {"Licenses", KIND_OTHER, "licences that it asks for are in use"},
    {"Reservation", KIND_OTHER,
     "the reservation that it is in has not begun, or has nothing free for it"},
    {"ReservationInvalid", KIND_OTHER,
     "the reservation that it asks for is not valid: give it another or none (`scontrol update`)"},
    {"PartitionNodeLimit", KIND_REFUSED,
     "it asks for more nodes than its partition allows, or fewer than it needs, or than are up "
     "there; " SEE_PARTITION},
    {"PartitionTimeLimit", KIND_REFUSED,
     "its time limit is longer than its partition allows; " SEE_PARTITION},
    {"PartitionDown", KIND_CLOSED, "its partition is down: no job starts there"},
    {"PartitionInactive", KIND_CLOSED, "its partition is inactive: no job starts there"},
    {"PartitionConfig", KIND_REFUSED, "its partition does not take it as it is; " SEE_PARTITION},
    {"MaxMemPerLimit", KIND_REFUSED,
     "it asks for more memory a CPU or a node than is allowed; " SEE_PARTITION},
    {"AccountNotAllowed", KIND_REFUSED, "its partition does not take its account; " SEE_PARTITION},
    {"QOSNotAllowed", KIND_OTHER, "its partition or account does not allow its QOS"},
    {"InvalidAccount", KIND_OTHER, "its account is not valid for its user"},
    {"InvalidQOS", KIND_OTHER, "its QOS is not valid for its account"},
    {"AccountingPolicy", KIND_OTHER, "a limit of its account or QOS; " SEE_USED},
    {"QOSUsageThreshold", KIND_OTHER,
     "its user or account has used more than its QOS lets start (UsageThreshold)"},
    {"JobArrayTaskLimit", KIND_OTHER, "its array runs as many tasks at a time as it may"},
    {"BurstBufferResources", KIND_OTHER, "there is not enough free in the burst buffer"},
    {"BurstBufferStageIn", KIND_OTHER, "its files are being copied into the burst buffer"},
    {"BurstBufferOperation", KIND_OTHER, "an operation on its burst buffer failed"},
    {"Constraints", KIND_OTHER, "what it asks for cannot be given at present"},
    {"FrontEndDown", KIND_OTHER, "no front end node is up"},
    {"NodeDown", KIND_OTHER, "a node of its last run failed"},
    {"SystemFailure", KIND_OTHER, "something in Slurm failed; slurmctld's log tells more"},
    {"JobLaunchFailure", KIND_OTHER, "its last start failed; slurmctld's log tells more"},
    {"FedJobLock", KIND_OTHER, "its federation has not settled where it starts"},
    {"PowerNotAvail", KIND_OTHER, "there is not enough power"},
    {"PowerReserved", KIND_OTHER, "power is kept for a reservation"},
    {"MaxPoweredUpNodes", KIND_OTHER, "as many nodes are powered up as may be"},
    {"MpiPortsBusy", KIND_OTHER, "the ports that its MPI needs are in use"},
    {"NvidiaImexChannels", KIND_OTHER, "no IMEX channel is free"},
    {"BlockMaxError", KIND_OTHER, "too much of its block is in error"},
    {"BlockFreeAction", KIND_OTHER, "its block is being freed"},
    {"DeadLine", KIND_OTHER, "it can no longer end before its deadline"},
    /* of the last run of a job that was requeued */
    {"NonZeroExitCode", KIND_OTHER, "its last run failed"},
    {"RaisedSignal", KIND_OTHER, "its last run was ended by a signal"},
    {"OutOfMemory", KIND_OTHER, "its last run used more memory than it had asked for"},
    {"TimeLimit", KIND_OTHER, "its last run reached its time limit"},
    {"InactiveLimit", KIND_OTHER, "its last run was inactive for too long"},
};

/* Descriptions that slurmctld writes where the reason would be; they begin with these words. */
static const struct {
	const char *begins;
	enum explain_kind kind;
	const char *words;
} descriptions[] = {
    {"job requeued in held state", KIND_HELD, "it was requeued to be held, and " RELEASE_USER},
    {"job requeued in special exit state", KIND_HELD,
     "it ended with an exit code that holds it, and " RELEASE_USER},
    {"launch failed requeued held", KIND_HELD,
     "it could not be launched, so it was requeued and is held; `scontrol release` lets it try "
     "again"},
    {"Nodes required for job are DOWN", KIND_NODES, ""},
    {"Job is at or exceeds", KIND_OTHER, "a limit of its account or QOS; " SEE_USED},
    {"Job's account not permitted", KIND_REFUSED,
     "its partition does not take its account; " SEE_PARTITION},
    {"Job's QOS not permitted", KIND_REFUSED,
     "its partition does not take its QOS; " SEE_PARTITION},
};

/* The resources of limits, by Slurm's name. */
static const struct {
	const char *name, *words;
} resources[] = {
    {"BB", "burst buffer"},
    {"Billing", "billing units"},
    {"CPU", "CPUs"}, /* and Cpu */
    {"Energy", "energy"},
    {"GRES", "GPUs or other GRES"},
    {"Jobs", "jobs"},
    {"License", "licences"},
    {"Memory", "memory"},
    {"Mem", "memory"},
    {"Node", "nodes"},
    {"SubmitJobs", "submitted jobs"},
    {"SubmitJob", "submitted jobs"},
    {"Unknown", "a resource"},
    {"WallDuration", "time"},
    {"Wall", "wall time"},
    {"Resource", "resources"},
    {"Time", "time"},
    {"Job", "jobs"},
};

/* Takes the word off the front of the text; false if it does not begin so. */
static bool eat(const char **text, const char *word)
{
	size_t n = strlen(word);

	if (strncasecmp(*text, word, n) != 0)
		return false;
	*text += n;
	return true;
}

/*
 * A limit of an association or QOS, such as AssocGrpCPURunMinutesLimit, QOSMaxGRESPerUser or
 * MaxJobsPerAccount: whose, of whom together, of what.
 */
static bool limit(const char *name, char *words, size_t size)
{
	bool assoc = eat(&name, "Association") || eat(&name, "Assoc"), qos = eat(&name, "QOS"),
	     grp = eat(&name, "Grp"), max = eat(&name, "Max"), min = eat(&name, "Min");
	const char *what = NULL, *of;
	bool run, minutes;

	for (size_t i = 0; !what && i < sizeof(resources) / sizeof(resources[0]); i++)
		if (eat(&name, resources[i].name))
			what = resources[i].words;
	run = eat(&name, "Run");
	minutes = eat(&name, "Minutes") || eat(&name, "Mins");
	if (!what || !(assoc || qos || max))
		return false;
	of = eat(&name, "PerJob")	? "one job"
	     : eat(&name, "PerNode")	? "one job on one node"
	     : eat(&name, "PerUser")	? "one user's jobs"
	     : eat(&name, "PerAccount") ? "one account's jobs"
	     : grp			? "all jobs together"
					: "";
	(void)(eat(&name, "Limit") || eat(&name, "NotSatisfied"));
	if (*name || (!assoc && !qos && !*of))
		return false;
	snprintf(words, size, "%s limit of its %s: %s%s%s%s%s%s; %s", min ? "the lower" : "a",
		 assoc ? "association (or one above it)" : "QOS", what,
		 minutes ? ", times minutes" : "", run ? " left to run" : "", *of ? ", of " : "",
		 of, min ? ", which it does not reach" : "", SEE_USED);
	return true;
}

/* The reason's name in a buffer of its own; "" where it is a sentence instead. */
static void name_of(const char *reason, char *out, size_t size)
{
	size_t n = 0;

	while (n + 1 < size && isalnum((unsigned char)reason[n]))
		n++;
	memcpy(out, reason, n);
	out[strchr(",:;(", reason[n]) ? n : 0] = '\0'; /* or at its end */
}

/* "Reservation maint was deleted" has a name of somebody's choosing in it. */
static const char *of_reservation(const char *reason)
{
	if (strncmp(reason, "Reservation", 11) != 0 || (reason[11] != ' ' && reason[11] != '_'))
		return NULL;
	return strstr(reason, "deleted")   ? "ReservationDeleted"
	       : strstr(reason, "invalid") ? "ReservationInvalid"
					   : NULL;
}

/* Does the text begin with these words, with _ or blanks between them? */
static bool begins(const char *text, const char *words)
{
	for (; *words; text++, words++)
		if (*text != *words && !(*words == ' ' && *text == '_'))
			return false;
	return true;
}

static enum explain_kind find(const char *reason, const char **words, char *made, size_t size)
{
	char name[64];

	*words = "";
	for (size_t i = 0; i < sizeof(descriptions) / sizeof(descriptions[0]); i++)
		if (begins(reason, descriptions[i].begins)) {
			*words = descriptions[i].words;
			return descriptions[i].kind;
		}
	name_of(of_reservation(reason) ? of_reservation(reason) : reason, name, sizeof(name));
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (!strcasecmp(name, reasons[i].name)) {
			*words = reasons[i].words;
			return reasons[i].kind;
		}
	if (!limit(name, made, size))
		return KIND_UNKNOWN;
	*words = made;
	return KIND_OTHER;
}

enum explain_kind explain_reason(const char *reason, bool held, char *words, size_t size)
{
	char made[200] = "";
	const char *found;
	enum explain_kind kind = find(reason, &found, made, sizeof(made));

	if (held && kind != KIND_HELD) {
		snprintf(words, size,
			 "its priority is 0, which keeps it out of the running until it is "
			 "released%s%s",
			 *found ? "; besides, " : "", found);
		return KIND_HELD;
	}
	snprintf(words, size, "%s", found);
	return kind;
}
