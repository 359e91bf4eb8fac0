/* sim_options - see sim_options.h */
#include "sccr/sim_options.h"

#include <getopt.h>
#include <string.h>

#include "sccr/options.h"
#include "sccr/safe.h"
#include "sccr/sccr.h"
#include "sccr/sim_model.h"
#include "sccr/sim_text.h"

#define COMMAND "simulate"

static const char help[] =
    "usage: sccr simulate [OPTIONS] WORKLOAD\n\n"
    "Replays WORKLOAD (SWF, CSV or `sacct --parsable2`; - is standard input) on a cluster and "
    "prints what\n"
    "it comes to.\n\n"
    "The cluster:\n"
    "  -c, --cluster FILE      NodeName, PartitionName and Priority lines as in slurm.conf\n"
    "  -N, --nodes N           so many nodes instead, each with\n"
    "      --cpus N            CPUs (default 1),\n"
    "      --gpus N            GPUs (default 0) and\n"
    "      --mem SIZE          memory (default: not counted)\n"
    "The scheduler:\n"
    "  -s, --scheduler LIST    ccr, fcfs, easy, conservative, whole-node, recorded (default ccr)\n"
    "  -p, --policy FILE       order of the queue: a policy file, or the preset ccr, aqua, lsf or "
    "multifactor\n"
    "  -d, --depth N           bookings in a partition (default: the policy's; conservative: "
    "everybody)\n"
    "      --cycle SECONDS     time between scheduling cycles (default 0: whenever something "
    "changes)\n"
    "      --period SECONDS    time between recalculations of all scores (default "
    "PriorityCalcPeriod)\n"
    "      --max-test N        jobs that a cycle looks at (default: all)\n"
    "      --no-kill           jobs run on past their limit, as the log has it\n"
    "The workload:\n"
    "  -f, --format FORMAT     swf, csv or sacct (default: found out)\n"
    "      --strict            refuse a file with bad lines\n"
    "What is written:\n"
    "      --json, --csv       figures in that form instead of text\n"
    "  -o, --output FILE       figures there instead of standard output\n"
    "      --jobs FILE         the schedule, a line of CSV for each job\n"
    "      --html FILE         the picture: one self-contained page of the first scheduler's run\n"
    "      --title TEXT        its heading\n"
    "  -q, --quiet             no progress bar\n"
    "  -h, --help\n\n"
    "Exit status: 0 success, 1 bad input or result, 2 wrong use, 130 interrupted (figures so far "
    "are printed).\n";

/* Values as they were given; NULL: not at all. */
struct given {
	const char *nodes, *cpus, *gpus, *mem, *schedulers, *depth, *cycle, *period, *max_test,
	    *format;
};

static int bad(const char *option, const char *found, const char *expected)
{
	return sccr_wrong_use(COMMAND, "--%s: found \"%.200s\", expected %s", option, found,
			      expected);
}

static int whole(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char expected[80];

	if (!text || sim_text_u64(text, min, max, out))
		return SCCR_GO_ON;
	snprintf(expected, sizeof(expected), "a whole number from %llu to %llu",
		 (unsigned long long)min, (unsigned long long)max);
	return bad(option, text, expected);
}

static int seconds(const char *option, const char *text, sim_time *out)
{
	if (!text || (sim_text_seconds(text, out) && *out >= 0))
		return SCCR_GO_ON;
	return bad(option, text, "a number of seconds, at least 0");
}

static int format(const char *text, enum sim_format *out)
{
	static const char *const names[] = {"auto", "swf", "csv", "sacct"};

	for (int i = 0; text && i < 4; i++)
		if (!strcmp(text, names[i])) {
			*out = (enum sim_format)i;
			return SCCR_GO_ON;
		}
	return text ? bad("format", text, "swf, csv or sacct") : SCCR_GO_ON;
}

bool sim_options_has(const struct sim_options *o, const char *scheduler)
{
	for (int i = 0; i < o->schedulers; i++)
		if (!strcmp(o->scheduler[i], scheduler))
			return true;
	return false;
}

static int schedulers(struct sim_options *o, const char *text)
{
	char *save = NULL;

	if (snprintf(o->names, sizeof(o->names), "%s", text) >= (int)sizeof(o->names))
		return bad("scheduler", text, "a shorter list");
	for (char *name = strtok_r(o->names, ", ", &save); name;
	     name = strtok_r(NULL, ", ", &save)) {
		if (strcmp(name, "ccr") != 0 && !sim_model_known(name))
			return bad("scheduler", name,
				   "ccr, fcfs, easy, conservative, whole-node or recorded");
		if (sim_options_has(o, name))
			return bad("scheduler", name, "it once");
		o->scheduler[o->schedulers++] = name;
	}
	return o->schedulers ? SCCR_GO_ON : bad("scheduler", text, "at least one");
}

static int values(struct sim_options *o, const struct given *g)
{
	int rc = whole("nodes", g->nodes, 1, 100000, &o->nodes);

	if (rc == SCCR_GO_ON)
		rc = whole("cpus", g->cpus, 1, 65535, &o->cpus);
	if (rc == SCCR_GO_ON)
		rc = whole("gpus", g->gpus, 0, 64, &o->gpus);
	if (rc == SCCR_GO_ON && g->mem && !sim_text_mem(g->mem, &o->mem))
		rc = bad("mem", g->mem, "a size such as 64G");
	if (rc == SCCR_GO_ON)
		rc = schedulers(o, g->schedulers);
	if (rc == SCCR_GO_ON)
		rc = whole("depth", g->depth, 0, 1000000, &o->depth);
	if (rc == SCCR_GO_ON)
		rc = whole("max-test", g->max_test, 1, UINT32_MAX, &o->max_test);
	if (rc == SCCR_GO_ON)
		rc = seconds("cycle", g->cycle, &o->cycle);
	if (rc == SCCR_GO_ON)
		rc = seconds("period", g->period, &o->period);
	if (rc == SCCR_GO_ON)
		rc = format(g->format, &o->format);
	o->has_depth = g->depth != NULL;
	o->has_period = g->period != NULL;
	return rc;
}

/* What cannot stand beside another option, or not alone. */
static int together(const struct sim_options *o, const struct given *g)
{
	const char *node = g->cpus ? "cpus" : g->gpus ? "gpus" : g->mem ? "mem" : NULL;

	if (o->cluster && g->nodes)
		return sccr_wrong_use(COMMAND, "--cluster and --nodes exclude each other");
	if (node && !g->nodes)
		return sccr_wrong_use(COMMAND, "--%s describes the nodes of --nodes%s", node,
				      o->cluster ? ": with --cluster the file does" : "");
	if (o->json && o->csv)
		return sccr_wrong_use(COMMAND, "--json and --csv exclude each other");
	if (o->title && !o->html)
		return sccr_wrong_use(COMMAND, "--title is the heading of --html's page");
	return SCCR_GO_ON;
}

/* fcfs and recorded have an order of their own, and make no bookings. */
static bool planned(const char *scheduler)
{
	return strcmp(scheduler, "fcfs") != 0 && strcmp(scheduler, "recorded") != 0;
}

/* conservative books everybody, or it would not be what it is called. */
bool sim_options_bounded(const char *scheduler)
{
	return planned(scheduler) && strcmp(scheduler, "conservative") != 0;
}

bool sim_options_ordered(const struct sim_options *o, const char *scheduler)
{
	return !strcmp(scheduler, "ccr") || (o->policy && planned(scheduler));
}

/* An option without effect is no fault where the same line serves several lists of schedulers. */
static void without_effect(const struct sim_options *o, const char *schedulers)
{
	bool any_planned = false, any_ordered = false, any_bounded = false;

	for (int i = 0; i < o->schedulers; i++) {
		any_planned |= planned(o->scheduler[i]);
		any_ordered |= sim_options_ordered(o, o->scheduler[i]);
		any_bounded |= sim_options_bounded(o->scheduler[i]);
	}
	if (o->policy && !any_ordered)
		sccr_say(COMMAND, "--policy is not used: no policy orders the queue of %s",
			 schedulers);
	if (o->has_period && !any_ordered)
		sccr_say(COMMAND, "--period is not used: there are no scores with %s%s", schedulers,
			 any_planned ? " without --policy" : "");
	if (o->has_depth && !any_bounded)
		sccr_say(COMMAND,
			 "--depth is not used with %s: conservative books everybody, fcfs "
			 "and recorded nobody",
			 schedulers);
}

int sim_options_read(struct sim_options *o, int argc, char **argv)
{
	struct given g = {.schedulers = "ccr"};
	const struct sccr_option table[] = {{"cluster", 'c', &o->cluster, NULL},
					    {"nodes", 'N', &g.nodes, NULL},
					    {"cpus", 0, &g.cpus, NULL},
					    {"gpus", 0, &g.gpus, NULL},
					    {"mem", 0, &g.mem, NULL},
					    {"scheduler", 's', &g.schedulers, NULL},
					    {"policy", 'p', &o->policy, NULL},
					    {"depth", 'd', &g.depth, NULL},
					    {"cycle", 0, &g.cycle, NULL},
					    {"period", 0, &g.period, NULL},
					    {"max-test", 0, &g.max_test, NULL},
					    {"no-kill", 0, NULL, &o->no_kill},
					    {"format", 'f', &g.format, NULL},
					    {"strict", 0, NULL, &o->strict},
					    {"json", 0, NULL, &o->json},
					    {"csv", 0, NULL, &o->csv},
					    {"output", 'o', &o->out, NULL},
					    {"jobs", 0, &o->jobs, NULL},
					    {"html", 0, &o->html, NULL},
					    {"title", 0, &o->title, NULL},
					    {"quiet", 'q', NULL, &o->quiet},
					    {0}};
	int rc;

	*o = (struct sim_options){.cpus = 1, .max_test = UINT32_MAX};
	rc = sccr_options(argc, argv, table, help);
	if (rc != SCCR_GO_ON)
		return rc;
	if (optind == argc)
		return sccr_wrong_use(COMMAND, "no workload is given");
	if (optind + 1 != argc)
		return sccr_wrong_use(COMMAND, "more than one workload is given");
	o->workload = argv[optind];
	if (o->out && !strcmp(o->out, "-"))
		o->out = NULL;
	rc = values(o, &g);
	if (rc == SCCR_GO_ON)
		rc = together(o, &g);
	if (rc == SCCR_GO_ON)
		without_effect(o, g.schedulers);
	return rc;
}
