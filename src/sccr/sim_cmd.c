/* sccr simulate - replays a workload and says what it comes to; docs/man/sccr-simulate.1 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sccr/options.h"
#include "sccr/outputs.h"
#include "sccr/safe.h"
#include "sccr/sccr.h"
#include "sccr/sim_core.h"
#include "sccr/sim_html.h"
#include "sccr/sim_model.h"
#include "sccr/sim_options.h"
#include "sccr/sim_policy.h"
#include "sccr/sim_progress.h"
#include "sccr/sim_record.h"
#include "sccr/sim_report.h"

#define COMMAND "simulate"

enum output { FIGURES, JOBS, PAGE, OUTPUTS };

struct run {
	struct sim_options o;
	struct sccr_output output[OUTPUTS];
	struct sim_cluster cluster;
	struct sim_workload workload;
	struct sim_policy *policy; /* or NULL */
	FILE *jobs;		   /* the schedule, or NULL */
	struct sim_progress progress;
	struct sim_watch watch; /* of the reading */
	json_object *figures;
	bool interrupted;
	bool failed;	/* a scheduler's run came to nothing: that was said */
	bool wrong_use; /* what is wrong is the command line */
};

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void complain(uint64_t line, const char *text, void *arg)
{
	struct run *r = arg;

	sim_progress_hide(&r->progress);
	if (line)
		sccr_say(COMMAND, "%s:%llu: %s", r->workload.path, (unsigned long long)line, text);
	else
		sccr_say(COMMAND, "%s: %s", r->workload.path, text);
}

/* The cluster of --cluster, --nodes or, failing both, of the SWF header. */
static int get_cluster(struct run *r, struct ccr_error *err)
{
	const struct sim_options *o = &r->o;
	const struct sim_workload *w = &r->workload;
	int64_t nodes = w->max_nodes > 0 ? w->max_nodes : w->max_procs;
	int64_t procs = w->max_procs > 0 ? w->max_procs : nodes;

	if (o->cluster)
		return sim_cluster_load(&r->cluster, o->cluster, err);
	if (o->nodes)
		return sim_cluster_plain(&r->cluster, (uint32_t)o->nodes, (uint32_t)o->cpus,
					 (uint32_t)o->gpus, o->mem, err);
	/* a machine of which only one number is known has nodes of one processor */
	if (nodes > 0 && nodes <= 100000 && procs >= nodes && procs / nodes <= 65535)
		return sim_cluster_plain(&r->cluster, (uint32_t)nodes, (uint32_t)(procs / nodes), 0,
					 0, err);
	r->wrong_use = true;
	return ccr_error_set(err, CCR_EINVAL, 0,
			     "no cluster is given: --cluster FILE or --nodes N --cpus N");
}

/* One is not many. */
static const char *of(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

static const char *over(const struct run *r, uint64_t n)
{
	return !r->o.no_kill ? "ended at it" : of(n, "it runs on", "they run on");
}

static void name_losses(const struct run *r)
{
	const struct sim_workload_counts *c = &r->workload.counts;
	const char *path = r->workload.path;

	if (c->bad)
		sccr_say(COMMAND, "%s: %llu of %llu line%s bad and left out", path,
			 (unsigned long long)c->bad, (unsigned long long)c->lines,
			 c->bad > 1 ? "s are" : of(c->lines, " is", "s is"));
	if (c->skipped)
		sccr_say(COMMAND, "%s: %llu %s left out", path, (unsigned long long)c->skipped,
			 of(c->skipped, "job never ran or has not ended and is",
			    "jobs never ran or have not ended and are"));
	if (c->cut)
		sccr_say(COMMAND, "%s: %llu %s limit: %s", path, (unsigned long long)c->cut,
			 of(c->cut, "job ran longer than its", "jobs ran longer than their"),
			 over(r, c->cut));
	if (c->over_max)
		sccr_say(COMMAND,
			 "%s: %llu %s partition's MaxTime, with which Slurm would not start %s: "
			 "MaxTime is taken for the limit",
			 path, (unsigned long long)c->over_max,
			 of(c->over_max, "job asks for more time than its",
			    "jobs ask for more time than their"),
			 of(c->over_max, "it", "them"));
	if (c->over_max_cut)
		sccr_say(COMMAND, "%s: %llu of these ran longer than MaxTime: %s", path,
			 (unsigned long long)c->over_max_cut, over(r, c->over_max_cut));
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
		      {"cut", c->cut},
		      {"over_max", c->over_max},
		      {"over_max_cut", c->over_max_cut}};

	json_object_object_add(o, "path", sccr_json_new(r->workload.path));
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

	fprintf(out, "%s: %llu %s on %u %s, %llu %s, %llu %s\n", sccr_safe(r->workload.path).text,
		(unsigned long long)c->jobs, of(c->jobs, "job", "jobs"), r->cluster.nodes,
		of(r->cluster.nodes, "node", "nodes"), (unsigned long long)r->cluster.cpus,
		of(r->cluster.cpus, "CPU", "CPUs"), (unsigned long long)r->cluster.gpus,
		of(r->cluster.gpus, "GPU", "GPUs"));
	if (r->policy)
		fprintf(out, "policy: %s\n", sccr_safe(sim_policy_words(r->policy)).text);
	if (r->interrupted)
		fputs("interrupted: figures up to then\n", out);
	fputc('\n', out);
}

static int put_figures(struct run *r, struct ccr_error *err)
{
	const struct sim_options *o = &r->o;
	FILE *out = o->out ? sccr_output_begin(&r->output[FIGURES], err) : stdout;

	if (!out)
		return CCR_EIO;
	if (o->json) {
		json_object *all = json_object_new_object(), *w = json_object_new_object(),
			    *c = json_object_new_object();

		add_workload(w, r);
		add_cluster(c, r);
		json_object_object_add(all, "version", json_object_new_string(CCR_VERSION));
		json_object_object_add(all, "workload", w);
		json_object_object_add(all, "cluster", c);
		json_object_object_add(
		    all, "policy", r->policy ? sccr_json_new(sim_policy_words(r->policy)) : NULL);
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
	if (o->out)
		return sccr_output_end(&r->output[FIGURES], err);
	if (fflush(out) || ferror(out))
		return ccr_error_set(err, CCR_EIO, 0, "standard output: %s", strerror(errno));
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
	const struct sim_options *o = &r->o;
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
	t->ordered = sim_options_ordered(o, name);
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

static int simulate(struct run *r, struct trial *t, const char *name, struct ccr_error *err)
{
	int rc;

	sim_progress_begin(&r->progress, r->o.quiet);
	t->sim.progress = sim_progress_step;
	t->sim.progress_arg = &r->progress;
	rc = sim_run(&t->sim, err);
	sim_progress_end(&r->progress);
	if (rc)
		return rc;
	r->interrupted |= t->sim.interrupted;
	json_object_array_add(r->figures, sim_report_json(&t->figures, &r->workload, name));
	return CCR_OK;
}

/* Bookings a partition, where it is one number. */
static int depth_of(const struct sim_options *o, const struct trial *t)
{
	if (t->core)
		return sim_core_depth(&t->sched);
	if (!o->has_depth || !sim_options_bounded(t->sched.name))
		return -1;
	return o->depth > 1 && !strcmp(t->sched.name, "easy") ? 1 : (int)o->depth;
}

static int put_page(struct run *r, const struct trial *t, struct ccr_error *err)
{
	const struct sim_options *o = &r->o;
	const char *slash = strrchr(r->workload.path, '/');
	struct sim_html h = {.title = o->title ? o->title
				      : slash  ? slash + 1
					       : r->workload.path,
			     .policy = t->sched.nowhere
					   ? "starts of the log, on no particular node: nodes "
					     "stay empty"
				       : r->policy && t->ordered ? sim_policy_words(r->policy)
								 : "in order of submission",
			     .depth = depth_of(o, t)};
	FILE *out = sccr_output_begin(&r->output[PAGE], err);

	if (!out)
		return CCR_EIO;
	sim_html_write(out, &h, &t->sim, r->figures);
	return sccr_output_end(&r->output[PAGE], err);
}

/* One that fails takes nothing away from the others: it is said, and they are told. */
static int run_all(struct run *r, struct ccr_error *err)
{
	struct trial *kept = NULL;
	bool go_on = true;
	int rc = CCR_OK;

	for (int i = 0; i < r->o.schedulers && go_on && !r->interrupted; i++) {
		const char *name = r->o.scheduler[i];
		struct trial *t = calloc(1, sizeof(*t));

		rc = t ? set_up(r, t, name, !kept, err) : ccr_error_nomem(err);
		go_on = !rc;
		if (!rc) {
			rc = simulate(r, t, name, err);
			/* what is of this scheduler alone */
			go_on = !rc || rc == CCR_EINVAL;
		}
		if (rc) {
			sccr_say(COMMAND, "%s", err->text);
			r->failed = true;
		}
		if (!rc && !kept)
			kept = t;
		else
			trial_free(t);
	}
	rc = CCR_OK;
	if (kept && r->o.html)
		rc = put_page(r, kept, err);
	trial_free(kept);
	return rc;
}

/* Whatever can be refused without reading the workload is refused first. */
static int open_outputs(struct run *r, struct ccr_error *err)
{
	const struct sim_options *o = &r->o;
	bool piped = !strcmp(o->workload, "-"), file = o->policy && !access(o->policy, F_OK);
	const struct sccr_kept kept[] = {
	    {"the workload", piped ? NULL : o->workload, piped ? 0 : -1},
	    {"the cluster", o->cluster, -1},
	    {"the policy", file ? o->policy : NULL, -1},
	    {"standard output, where the figures go", NULL, o->out ? -1 : 1}};
	int rc;

	r->output[FIGURES] = (struct sccr_output){.option = "--output", .path = o->out};
	r->output[JOBS] = (struct sccr_output){.option = "--jobs", .path = o->jobs};
	r->output[PAGE] = (struct sccr_output){.option = "--html", .path = o->html};
	rc = sccr_outputs_open(r->output, OUTPUTS, kept, sizeof(kept) / sizeof(kept[0]), err);
	r->wrong_use = rc == CCR_EINVAL;
	return rc;
}

static int read_workload(struct run *r, struct ccr_error *err)
{
	const struct sim_options *o = &r->o;
	const struct sim_workload_counts *c = &r->workload.counts;
	int rc;

	r->watch = (struct sim_watch){&stop, sim_progress_read, &r->progress};
	rc = sim_workload_open(&r->workload, o->workload, o->format, &r->watch, err);
	if (!rc)
		rc = get_cluster(r, err);
	if (rc)
		return rc;
	r->workload.cluster = &r->cluster;
	r->workload.no_kill = o->no_kill;
	/* without them nothing could be held against it: they are in no scheduler's figures */
	r->workload.need_start = sim_options_has(o, "recorded");
	if (r->workload.need_start && !sim_workload_has_starts(&r->workload))
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "%s: scheduler recorded: no column says when jobs started",
				     r->workload.path);
	rc = sim_workload_check(&r->workload, complain, r, err);
	if (rc)
		return rc;
	sim_progress_end(&r->progress);
	name_losses(r);
	if (o->strict && c->bad)
		return ccr_error_set(err, CCR_EINVAL, 0, "%s: refused for its bad lines (--strict)",
				     r->workload.path);
	return CCR_OK;
}

/* slurmctld would then be left to itself, which is another scheduler. */
static void say_switched_off(const struct sim_policy *policy)
{
	struct sim_backfill b;

	sim_policy_backfill(policy, NULL, &b);
	if (!b.enabled)
		sccr_say(COMMAND, "the policy switches backfill off: ccr runs without bookings, "
				  "where slurmctld does its own backfill (see whole-node)");
}

static int prepare(struct run *r, struct ccr_error *err)
{
	const struct sim_options *o = &r->o;
	bool needs = sim_options_has(o, "ccr") || o->policy;
	int rc = CCR_OK;

	/* before a file of that name can be made */
	if (needs)
		rc = sim_policy_load(&r->policy, o->policy ? o->policy : "ccr", err);
	if (!rc && r->policy && sim_options_has(o, "ccr"))
		say_switched_off(r->policy);
	if (!rc)
		rc = open_outputs(r, err);
	if (!rc) {
		sim_progress_begin(&r->progress, o->quiet);
		rc = read_workload(r, err);
		sim_progress_end(&r->progress);
	}
	if (!rc && o->jobs) {
		r->jobs = sccr_output_begin(&r->output[JOBS], err);
		if (!r->jobs)
			return CCR_EIO;
		sim_record_csv_head(r->jobs);
	}
	return rc;
}

static int status(const struct run *r, int rc)
{
	if (r->workload.in.interrupted)
		return SCCR_INTERRUPTED;
	if (rc)
		return r->wrong_use ? SCCR_USAGE : SCCR_BAD;
	return r->interrupted ? SCCR_INTERRUPTED : r->failed ? SCCR_BAD : SCCR_OK;
}

int sccr_simulate(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = on_signal};
	struct run r = {0};
	struct ccr_error err = {0};
	int rc = sim_options_read(&r.o, argc, argv), exit_status;

	if (rc != SCCR_GO_ON)
		return rc;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	r.figures = json_object_new_array();
	rc = prepare(&r, &err);
	if (!rc)
		rc = run_all(&r, &err);
	if (!rc && json_object_array_length(r.figures))
		rc = put_figures(&r, &err);
	if (!rc && r.jobs)
		rc = sccr_output_end(&r.output[JOBS], &err);
	if (rc && r.wrong_use)
		sccr_wrong_use(COMMAND, "%s", err.text);
	else if (rc)
		sccr_say(COMMAND, "%s", err.text);
	sccr_outputs_close(r.output, OUTPUTS);
	exit_status = status(&r, rc);
	json_object_put(r.figures);
	sim_policy_free(r.policy);
	sim_workload_close(&r.workload);
	sim_cluster_free(&r.cluster);
	return exit_status;
}
