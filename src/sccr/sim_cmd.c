/* sccr simulate - replays a workload and says what it comes to; docs/man/sccr-simulate.1 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sccr/sccr.h"
#include "sccr/sim_core.h"
#include "sccr/sim_html.h"
#include "sccr/sim_model.h"
#include "sccr/sim_policy.h"
#include "sccr/sim_progress.h"
#include "sccr/sim_record.h"
#include "sccr/sim_report.h"
#include "sccr/sim_text.h"

struct options {
	const char *workload, *cluster, *policy, *out, *jobs, *html, *title;
	enum sim_format format;
	char schedulers[512];
	uint64_t nodes, cpus, gpus, depth, max_test;
	uint32_t mem;
	sim_time cycle, period;
	bool json, csv, strict, no_kill, quiet, has_depth, has_period;
};

struct run {
	struct options o;
	struct sim_cluster cluster;
	struct sim_workload workload;
	struct sim_policy *policy; /* or NULL */
	FILE *jobs;
	json_object *figures;
	bool interrupted;
};

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

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
    "  -d, --depth N           bookings in a partition (default: the policy's)\n"
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

static void say(const char *text)
{
	fprintf(stderr, "sccr simulate: %s\n", text);
}

static int usage(const char *what, const char *found)
{
	fprintf(stderr, "sccr simulate: %s%s%s%s (see `sccr simulate --help`)\n", what,
		found ? ": \"" : "", found ? found : "", found ? "\"" : "");
	return SCCR_USAGE;
}

enum {
	OPT_CPUS = 256,
	OPT_GPUS,
	OPT_MEM,
	OPT_CYCLE,
	OPT_PERIOD,
	OPT_MAX_TEST,
	OPT_NO_KILL,
	OPT_STRICT,
	OPT_JSON,
	OPT_CSV,
	OPT_JOBS,
	OPT_HTML,
	OPT_TITLE
};

static const struct option longs[] = {{"cluster", required_argument, NULL, 'c'},
				      {"nodes", required_argument, NULL, 'N'},
				      {"cpus", required_argument, NULL, OPT_CPUS},
				      {"gpus", required_argument, NULL, OPT_GPUS},
				      {"mem", required_argument, NULL, OPT_MEM},
				      {"scheduler", required_argument, NULL, 's'},
				      {"policy", required_argument, NULL, 'p'},
				      {"depth", required_argument, NULL, 'd'},
				      {"cycle", required_argument, NULL, OPT_CYCLE},
				      {"period", required_argument, NULL, OPT_PERIOD},
				      {"max-test", required_argument, NULL, OPT_MAX_TEST},
				      {"no-kill", no_argument, NULL, OPT_NO_KILL},
				      {"format", required_argument, NULL, 'f'},
				      {"strict", no_argument, NULL, OPT_STRICT},
				      {"json", no_argument, NULL, OPT_JSON},
				      {"csv", no_argument, NULL, OPT_CSV},
				      {"output", required_argument, NULL, 'o'},
				      {"jobs", required_argument, NULL, OPT_JOBS},
				      {"html", required_argument, NULL, OPT_HTML},
				      {"title", required_argument, NULL, OPT_TITLE},
				      {"quiet", no_argument, NULL, 'q'},
				      {"help", no_argument, NULL, 'h'},
				      {NULL, 0, NULL, 0}};

static bool format_of(const char *name, enum sim_format *out)
{
	static const char *const names[] = {"auto", "swf", "csv", "sacct"};

	for (int i = 0; i < 4; i++)
		if (!strcmp(name, names[i])) {
			*out = (enum sim_format)i;
			return true;
		}
	return false;
}

static int one_option(struct options *o, int c)
{
	bool ok = true;

	switch (c) {
	case 'c':
		o->cluster = optarg;
		break;
	case 'N':
		ok = sim_text_u64(optarg, 1, 100000, &o->nodes);
		break;
	case OPT_CPUS:
		ok = sim_text_u64(optarg, 1, 65535, &o->cpus);
		break;
	case OPT_GPUS:
		ok = sim_text_u64(optarg, 0, 64, &o->gpus);
		break;
	case OPT_MEM:
		ok = sim_text_mem(optarg, &o->mem);
		break;
	case 's':
		ok = strlen(optarg) < sizeof(o->schedulers);
		snprintf(o->schedulers, sizeof(o->schedulers), "%s", optarg);
		break;
	case 'p':
		o->policy = optarg;
		break;
	case 'd':
		ok = o->has_depth = sim_text_u64(optarg, 0, 1000000, &o->depth);
		break;
	case OPT_CYCLE:
		ok = sim_text_seconds(optarg, &o->cycle) && o->cycle >= 0;
		break;
	case OPT_PERIOD:
		ok = o->has_period = sim_text_seconds(optarg, &o->period) && o->period >= 0;
		break;
	case OPT_MAX_TEST:
		ok = sim_text_u64(optarg, 1, UINT32_MAX, &o->max_test);
		break;
	case 'f':
		ok = format_of(optarg, &o->format);
		break;
	case OPT_NO_KILL:
		o->no_kill = true;
		break;
	case OPT_STRICT:
		o->strict = true;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case OPT_CSV:
		o->csv = true;
		break;
	case 'o':
		o->out = optarg;
		break;
	case OPT_JOBS:
		o->jobs = optarg;
		break;
	case OPT_HTML:
		o->html = optarg;
		break;
	case OPT_TITLE:
		o->title = optarg;
		break;
	case 'q':
		o->quiet = true;
		break;
	default:
		return -1;
	}
	return ok;
}

/* SCCR_OK, SCCR_USAGE, or -1: help was printed. */
static int parse(struct options *o, int argc, char **argv)
{
	int c;

	*o = (struct options){.cpus = 1, .max_test = UINT32_MAX};
	snprintf(o->schedulers, sizeof(o->schedulers), "ccr");
	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":c:N:s:p:d:f:o:qh", longs, NULL)) != -1) {
		int ok;

		if (c == 'h') {
			fputs(help, stdout);
			return -1;
		}
		if (c == ':')
			return usage("an option without its value", argv[optind - 1]);
		if (c == '?')
			return usage("an option that is not known", argv[optind - 1]);
		ok = one_option(o, c);
		if (ok <= 0)
			return usage("a value that is not understood", optarg);
	}
	if (optind + 1 != argc)
		return usage(optind == argc ? "no workload is given"
					    : "more than one workload is given",
			     NULL);
	if (o->cluster && o->nodes)
		return usage("--cluster and --nodes exclude each other", NULL);
	if (o->json && o->csv)
		return usage("--json and --csv exclude each other", NULL);
	o->workload = argv[optind];
	return SCCR_OK;
}

static void complain(uint64_t line, const char *text, void *arg)
{
	struct run *r = arg;

	if (line)
		fprintf(stderr, "sccr simulate: %s:%llu: %s\n", r->workload.path,
			(unsigned long long)line, text);
	else
		fprintf(stderr, "sccr simulate: %s: %s\n", r->workload.path, text);
}

/* The cluster of --cluster, --nodes or, failing both, of the SWF header. */
static int get_cluster(struct run *r, struct ccr_error *err)
{
	const struct options *o = &r->o;
	const struct sim_workload *w = &r->workload;

	if (o->cluster)
		return sim_cluster_load(&r->cluster, o->cluster, err);
	if (o->nodes)
		return sim_cluster_plain(&r->cluster, (uint32_t)o->nodes, (uint32_t)o->cpus,
					 (uint32_t)o->gpus, o->mem, err);
	if (w->max_nodes > 0 && w->max_nodes <= 100000 && w->max_procs >= w->max_nodes)
		return sim_cluster_plain(&r->cluster, (uint32_t)w->max_nodes,
					 (uint32_t)(w->max_procs / w->max_nodes), 0, 0, err);
	return ccr_error_set(err, CCR_EINVAL, 0,
			     "no cluster is given: --cluster FILE or --nodes N --cpus N");
}

static void name_losses(const struct run *r)
{
	const struct sim_workload_counts *c = &r->workload.counts;

	if (c->bad)
		fprintf(stderr, "sccr simulate: %s: %llu of %llu lines are bad and left out\n",
			r->workload.path, (unsigned long long)c->bad, (unsigned long long)c->lines);
	if (c->skipped)
		fprintf(
		    stderr,
		    "sccr simulate: %s: %llu jobs never ran or have not ended and are left out\n",
		    r->workload.path, (unsigned long long)c->skipped);
	if (c->cut)
		fprintf(stderr, "sccr simulate: %s: %llu jobs ran longer than their limit: %s\n",
			r->workload.path, (unsigned long long)c->cut,
			r->o.no_kill ? "they run on" : "ended at it");
}

static int add_workload(json_object *o, const struct run *r)
{
	const struct sim_workload_counts *c = &r->workload.counts;
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {{"lines", c->lines},
		      {"jobs", c->jobs},
		      {"bad", c->bad},
		      {"skipped", c->skipped},
		      {"cut", c->cut}};

	json_object_object_add(o, "path", json_object_new_string(r->workload.path));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		json_object_object_add(o, counts[i].key,
				       json_object_new_int64((int64_t)counts[i].value));
	return CCR_OK;
}

static int add_cluster(json_object *o, const struct run *r)
{
	json_object_object_add(o, "nodes", json_object_new_int64(r->cluster.nodes));
	json_object_object_add(o, "cpus", json_object_new_int64((int64_t)r->cluster.cpus));
	json_object_object_add(o, "gpus", json_object_new_int64((int64_t)r->cluster.gpus));
	return CCR_OK;
}

static void put_text_head(FILE *out, const struct run *r)
{
	const struct sim_workload_counts *c = &r->workload.counts;

	fprintf(out, "%s: %llu jobs on %u nodes, %llu CPUs, %llu GPUs\n", r->workload.path,
		(unsigned long long)c->jobs, r->cluster.nodes, (unsigned long long)r->cluster.cpus,
		(unsigned long long)r->cluster.gpus);
	if (r->policy)
		fprintf(out, "policy: %s\n", sim_policy_words(r->policy));
	if (r->interrupted)
		fputs("interrupted: figures up to then\n", out);
	fputc('\n', out);
}

static int put_figures(const struct run *r, struct ccr_error *err)
{
	const struct options *o = &r->o;
	FILE *out = o->out ? fopen(o->out, "we") : stdout;

	if (!out)
		return ccr_error_set(err, CCR_EIO, 0, "%s: %s", o->out, strerror(errno));
	if (o->json) {
		json_object *all = json_object_new_object(), *w = json_object_new_object(),
			    *c = json_object_new_object();

		add_workload(w, r);
		add_cluster(c, r);
		json_object_object_add(all, "version", json_object_new_string(CCR_VERSION));
		json_object_object_add(all, "workload", w);
		json_object_object_add(all, "cluster", c);
		json_object_object_add(
		    all, "policy",
		    r->policy ? json_object_new_string(sim_policy_words(r->policy)) : NULL);
		json_object_object_add(all, "runs", json_object_get(r->figures));
		fprintf(out, "%s\n",
			json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY |
								JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(all);
	} else if (o->csv) {
		sim_report_csv(out, r->figures);
	} else {
		put_text_head(out, r);
		sim_report_text(out, r->figures);
	}
	if (fflush(out) || ferror(out))
		return ccr_error_set(err, CCR_EIO, 0, "%s: %s", o->out ? o->out : "standard output",
				     strerror(errno));
	if (o->out)
		fclose(out);
	return CCR_OK;
}

/* One scheduler's run. The first is kept until the page is written. */
struct trial {
	struct sim_scheduler sched;
	struct sim_scorer scorer;
	struct sim_figures figures;
	struct sim_record record;
	struct sim sim;
	bool core, ordered;
};

static void trial_free(struct trial *t)
{
	if (!t)
		return;
	if (t->sched.free)
		t->sched.free(t->sched.state);
	if (t->scorer.free)
		t->scorer.free(t->scorer.state);
	sim_free(&t->sim);
	sim_record_free(&t->record);
	sim_figures_free(&t->figures);
	free(t);
}

static int set_up(struct run *r, struct trial *t, const char *name, bool first,
		  struct ccr_error *err)
{
	const struct options *o = &r->o;
	struct sim_model_options mo = {o->has_depth ? (uint32_t)o->depth : UINT32_MAX,
				       (uint32_t)o->max_test};
	struct sim *s = &t->sim;
	int rc = sim_workload_rewind(&r->workload, err);

	*s = (struct sim){.cluster = &r->cluster,
			  .workload = &r->workload,
			  .sched = &t->sched,
			  .figures = &t->figures,
			  .jobs_out = r->jobs,
			  .cycle = o->cycle,
			  .stop = &stop};
	t->core = !strcmp(name, "ccr");
	/* models keep to the order of submission unless a policy was asked for */
	t->ordered =
	    t->core || (o->policy && strcmp(name, "fcfs") != 0 && strcmp(name, "recorded") != 0);
	if (!rc &&
	    sim_figures_init(&t->figures, &r->cluster, sim_names_count(r->workload.accounts)))
		rc = ccr_error_nomem(err);
	if (!rc && o->html && first) {
		s->record = &t->record;
		if (sim_record_init(&t->record, &r->cluster))
			rc = ccr_error_nomem(err);
	}
	if (!rc && r->policy && t->ordered) {
		rc = sim_policy_scorer(r->policy, &r->cluster, &r->workload, &t->scorer, err);
		if (o->has_period)
			t->scorer.period = o->period;
		s->scorer = rc ? NULL : &t->scorer;
	}
	if (rc)
		return rc;
	return t->core ? sim_core_new(&t->sched, s, r->policy, &mo, err)
		       : sim_model_new(&t->sched, name, s, &mo, err);
}

static int simulate(struct run *r, struct trial *t, const char *name, bool first,
		    struct ccr_error *err)
{
	struct sim_progress progress;
	int rc = set_up(r, t, name, first, err);

	if (rc)
		return rc;
	sim_progress_begin(&progress, r->o.quiet);
	t->sim.progress = sim_progress_step;
	t->sim.progress_arg = &progress;
	rc = sim_run(&t->sim, err);
	sim_progress_end(&progress);
	if (rc)
		return rc;
	r->interrupted |= t->sim.interrupted;
	json_object_array_add(r->figures, sim_report_json(&t->figures, &r->workload, name));
	return CCR_OK;
}

static int put_page(const struct run *r, const struct trial *t, struct ccr_error *err)
{
	const struct options *o = &r->o;
	const char *slash = strrchr(r->workload.path, '/');
	struct sim_html h = {.path = o->html,
			     .title = o->title ? o->title
				      : slash  ? slash + 1
					       : r->workload.path,
			     .policy = r->policy && t->ordered ? sim_policy_words(r->policy)
							       : "in order of submission",
			     .depth = t->core	     ? sim_core_depth(&t->sched)
				      : o->has_depth ? (int)o->depth
						     : -1};

	return sim_html_write(&h, &t->sim, r->figures, err);
}

static int run_all(struct run *r, struct ccr_error *err)
{
	struct trial *kept = NULL;
	char *save = NULL;
	int rc = CCR_OK;

	for (char *name = strtok_r(r->o.schedulers, ", ", &save); name && !rc && !r->interrupted;
	     name = strtok_r(NULL, ", ", &save)) {
		struct trial *t = calloc(1, sizeof(*t));

		if (!t)
			rc = ccr_error_nomem(err);
		else
			rc = simulate(r, t, name, !kept, err);
		if (!kept)
			kept = t;
		else
			trial_free(t);
	}
	if (!rc && !kept)
		rc = ccr_error_set(err, CCR_EINVAL, 0, "--scheduler names none");
	if (!rc && kept && r->o.html)
		rc = put_page(r, kept, err);
	trial_free(kept);
	return rc;
}

static int prepare(struct run *r, struct ccr_error *err)
{
	const struct options *o = &r->o;
	bool needs = strstr(o->schedulers, "ccr") || o->policy;
	int rc = sim_workload_open(&r->workload, o->workload, o->format, err);

	if (!rc)
		rc = get_cluster(r, err);
	if (rc)
		return rc;
	r->workload.cluster = &r->cluster;
	r->workload.no_kill = o->no_kill;
	rc = sim_workload_check(&r->workload, complain, r, err);
	if (rc)
		return rc;
	name_losses(r);
	if (o->strict && r->workload.counts.bad)
		return ccr_error_set(err, CCR_EINVAL, 0, "%s: refused for its bad lines (--strict)",
				     r->workload.path);
	if (needs)
		rc = sim_policy_load(&r->policy, o->policy ? o->policy : "ccr", err);
	if (!rc && o->jobs) {
		r->jobs = fopen(o->jobs, "we");
		if (!r->jobs)
			return ccr_error_set(err, CCR_EIO, 0, "%s: %s", o->jobs, strerror(errno));
		sim_record_csv_head(r->jobs);
	}
	return rc;
}

int sccr_simulate(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = on_signal};
	struct run r = {0};
	struct ccr_error err = {0};
	int rc = parse(&r.o, argc, argv);

	if (rc)
		return rc < 0 ? SCCR_OK : rc;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	r.figures = json_object_new_array();
	rc = prepare(&r, &err);
	if (!rc)
		rc = run_all(&r, &err);
	if (!rc)
		rc = put_figures(&r, &err);
	if (r.jobs && fclose(r.jobs) && !rc)
		rc = ccr_error_set(&err, CCR_EIO, 0, "%s: %s", r.o.jobs, strerror(errno));
	if (rc)
		say(err.text);
	json_object_put(r.figures);
	sim_policy_free(r.policy);
	sim_workload_close(&r.workload);
	sim_cluster_free(&r.cluster);
	return rc ? SCCR_BAD : r.interrupted ? SCCR_INTERRUPTED : SCCR_OK;
}
