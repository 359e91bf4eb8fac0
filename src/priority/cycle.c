/*
 * cycle - see cycle.h
 *
 * One turn of the thread, with what it holds meanwhile (S: slurmctld's locks, A: assoc_mgr's):
 *
 *   reload      nothing     the policy file, if its content changed
 *   usage       S, A        decay, what ran since the last turn, eligible times, group standings
 *   score       S, A        pending jobs: facts, LSF's places, points, into the records
 *   save        nothing     state files
 *
 * Usage needs the job write lock anyhow, and a second round over all records, for storing alone,
 * costs as much as the first: so jobs are scored in the same hold.
 */
#include "priority/cycle.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/remind.h"
#include "priority/duties.h"
#include "priority/eligible_jobs.h"
#include "priority/engine.h"
#include "priority/fit.h"
#include "priority/kept.h"
#include "priority/lsf_arrays.h"
#include "priority/owned_usage.h"
#include "priority/scored.h"

static struct {
	pthread_t id;
	bool running;
	pthread_mutex_t lock; /* of what follows; a leaf */
	pthread_cond_t wake;
	bool stop;
	bool now;		  /* a cycle at once: slurm.conf was read again */
	bool ranks;		  /* jobs are ranked against each other: LSF's priority */
	bool soon;		  /* a cycle when the last is a second old: see ccr_cycle_soon() */
	bool relearn;		  /* see ccr_cycle_reconfigure() */
	struct ccr_settings next; /* where `now` is set */
	time_t last;
} thread = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* The thread's own. */
static struct ccr_settings settings;
static struct ccr_scored *said; /* what is logged afterwards, with DebugFlags=Priority */
static size_t n_said;
static struct ccr_arena arena;
static bool weights_kept; /* all records have the TRES weights of these settings */

/* Priority 0 is a held job's; a priority set by hand stays. */
static bool is_scored(const job_record_t *job)
{
	if (!job->details || job->priority == 0 || IS_JOB_POWER_UP_NODE(job) ||
	    job->direct_set_prio)
		return false;
	return IS_JOB_PENDING(job) ||
	       ((settings.flags & PRIORITY_FLAGS_CALCULATE_RUNNING) && IS_JOB_RUNNING(job));
}

struct collecting {
	bool usage, scoring, failed;
};

/* Usage of those that run, and which are to be scored, in one walk over the jobs. */
static int collect(void *x, void *arg)
{
	struct collecting *c = arg;
	job_record_t *job = x;

	if (c->usage)
		ccr_duties_usage_job(job);
	if (c->scoring && !ccr_kept_next(job, is_scored(job)))
		c->failed = true;
	return 0;
}

/*
 * Asks for the parts of a record that scoring reads before it needs them: records lie all over the
 * memory, and waiting for them one after another is most of what a long queue costs.
 */
static void fetch(const job_record_t *job)
{
	__builtin_prefetch(&job->assoc_ptr);
	__builtin_prefetch(&job->details);
	__builtin_prefetch(&job->part_ptr);
	__builtin_prefetch(&job->prio_factors);
	__builtin_prefetch(&job->qos_ptr);
	__builtin_prefetch(&job->site_factor);
	__builtin_prefetch(&job->time_limit);
	__builtin_prefetch(&job->total_cpus);
	__builtin_prefetch(&job->tres_req_cnt);
	__builtin_prefetch(&job->tres_alloc_cnt);
}

static void fetch_parts(const job_record_t *job)
{
	__builtin_prefetch(&job->details->accrue_time);
	__builtin_prefetch(&job->details->min_nodes);
	__builtin_prefetch(&job->details->nice);
	if (job->prio_factors) {
		__builtin_prefetch(&job->prio_factors->priority_age, 1);
		__builtin_prefetch(&job->prio_factors->priority_tres, 1);
	}
	if (job->tres_req_cnt) {
		__builtin_prefetch(job->tres_req_cnt);
		__builtin_prefetch(job->tres_req_cnt +
				   8); /* GPUs come after the 8 that all sites have */
	}
	if (job->part_ptr_list) {
		__builtin_prefetch(job->part_ptr_list);
		__builtin_prefetch((const char *)job->part_ptr_list + 64);
	}
}

#define FETCH_AHEAD  12
#define PARTS_AHEAD  6
#define STORED_LATER 16

struct scoring {
	struct ccr_engine *engine;
	const struct ccr_sources *sources;
	struct ccr_score_rule rule;
	unsigned *faults;
	bool incr;
	unsigned n_anew, n_same;   /* jobs, this time */
	unsigned n_above, n_below; /* scores that a priority cannot hold */
};

static void count_cut(struct scoring *c, bool cut, uint32_t priority)
{
	if (cut && priority == 1)
		c->n_below++;
	else if (cut)
		c->n_above++;
}

/* A job of which nothing is known. False: out of memory. */
static bool score_anew(struct scoring *c, struct ccr_kept_row *row)
{
	static struct ccr_scored s; /* this thread's alone */
	job_record_t *job = row->job;
	uint32_t priority;

	c->n_anew++;
	ccr_arena_clear(&arena);
	if (!ccr_scored_gather(c->sources, job, &s, &arena))
		return false;
	ccr_scored_lsf(c->sources->lsf, &s, &arena, false);
	ccr_scored_compute(c->engine->cycle, &c->rule, &settings, &s, &arena, c->faults);
	priority = ccr_scored_store(c->sources, &s, &arena, job);
	count_cut(c, s.score.cut, s.score.priority);
	if (!c->incr || job->priority < priority)
		job->priority = priority;
	ccr_kept_note(c->sources, &s, &arena, c->rule.whole, row);
	if (said)
		said[n_said++] = s;
	return true;
}

static bool is_new(const struct ccr_kept_row *row)
{
	return row->scored && !row->same;
}

/*
 * All rows in their order: LSF's places depend on it. What there is to store of the jobs that are
 * as they were waits for a while, so that their records are there when they are written to.
 */
static void score(struct scoring *c, struct ccr_kept_row *row, size_t n)
{
	struct ccr_kept_row *late[STORED_LATER];
	size_t n_late = 0, n_stored = 0;
	bool failed = false;

	if (settings.debug)
		said = calloc(n, sizeof(*said)); /* without memory nothing is logged */
	for (size_t i = 0; i < n; i++) {
		if (i + FETCH_AHEAD < n && is_new(&row[i + FETCH_AHEAD]))
			fetch(row[i + FETCH_AHEAD].job);
		if (i + PARTS_AHEAD < n && is_new(&row[i + PARTS_AHEAD]))
			fetch_parts(row[i + PARTS_AHEAD].job);
		if (!row[i].scored)
			continue;
		if (!row[i].same) {
			failed = failed || !score_anew(c, &row[i]);
			continue;
		}
		c->n_same++;
		if (ccr_kept_score(c->sources, c->engine->cycle, &c->rule, &row[i], c->faults)) {
			if (n_late - n_stored == STORED_LATER)
				ccr_kept_store(late[n_stored++ % STORED_LATER]);
			late[n_late++ % STORED_LATER] = &row[i];
		}
		count_cut(c, row[i].cut, row[i].priority);
	}
	while (n_stored < n_late)
		ccr_kept_store(late[n_stored++ % STORED_LATER]);
	if (failed)
		error("priority/ccr: out of memory, not all jobs are scored this time");
	if (c->n_anew || c->n_same)
		last_job_update = time(NULL);
}

static void report(const struct ccr_config *config, const unsigned *faults)
{
	for (int i = 0; i < CCR_COLUMNS; i++) {
		if (faults[i])
			error("priority/ccr: %s had no finite value for %u jobs, which count 0 "
			      "there",
			      ccr_config_formula_key(config, i), faults[i]);
	}
}

/* Jobs whose order the policy does not decide any more. */
static void report_cut(const struct scoring *c, time_t now)
{
	static struct ccr_remind above, below; /* this thread's alone */

	if (ccr_remind(&above, c->n_above, now))
		error("priority/ccr: %u of %u jobs score above %u, the largest priority that there "
		      "is, and tie there: lower the PriorityWeights of slurm.conf or the "
		      "policy's base",
		      c->n_above, c->n_anew + c->n_same, UINT32_MAX);
	if (ccr_remind(&below, c->n_below, now))
		info("priority/ccr: warning: %u of %u jobs score below 1 and tie there: raise the "
		     "policy's base",
		     c->n_below, c->n_anew + c->n_same);
}

/* DebugFlags=Priority: afterwards, as writing a long log under the job lock stops the cluster. */
static void log_scores(void)
{
	for (size_t i = 0; i < n_said; i++) {
		const struct ccr_scored *r = &said[i];
		const double *p = r->score.points;

		info("priority/ccr: JobId=%u priority %u = site %.2f + age %.2f + assoc %.2f + "
		     "fairshare %.2f + jobsize %.2f + partition %.2f + qos %.2f + tres %.2f - "
		     "nice %" PRId64 " (target %.2f, usage %.4f)",
		     r->job_id, r->score.priority, p[CCR_COL_SITE], p[CCR_COL_AGE],
		     p[CCR_COL_ASSOC], p[CCR_COL_FAIRSHARE], p[CCR_COL_JOBSIZE],
		     p[CCR_COL_PARTITION], p[CCR_COL_QOS], r->extra.tres, r->extra.nice,
		     r->var[CCR_VAR_TARGET], r->var[CCR_VAR_USAGE]);
	}
	free(said);
	said = NULL;
	n_said = 0;
}

/* Where the order of jobs, the log or the number before counts, every job is looked at anew. */
static bool may_keep(const struct ccr_engine *e)
{
	return !settings.debug && !(settings.flags & PRIORITY_FLAGS_INCR_ONLY) &&
	       !ccr_engine_uses_lsf(e);
}

/* Usage up to now and the scores of all jobs, under one set of locks. */
static void look(time_t now, bool scoring, struct ccr_standings **standings,
		 struct ccr_lsf_table **lsf, unsigned *faults)
{
	slurmctld_lock_t s = {
	    .conf = READ_LOCK, .job = WRITE_LOCK, .node = READ_LOCK, .part = READ_LOCK};
	struct ccr_engine *e = ccr_engine_now();
	struct ccr_sources sources = {0};
	struct collecting c = {.scoring = scoring};
	struct scoring how = {.engine = e,
			      .sources = &sources,
			      .faults = faults,
			      .incr = (settings.flags & PRIORITY_FLAGS_INCR_ONLY) != 0};
	struct ccr_kept_row *rows = NULL;
	size_t n_rows = 0;

	lock_slurmctld(s);
	if (!ccr_fit()) {
		unlock_slurmctld(s);
		return;
	}
	if (settings.has_site_plugin && scoring)
		site_factor_g_update();
	/* before the walk, which holds the list's lock; and the new records are scored with the
	 * rest */
	if (scoring && ccr_engine_uses_lsf(e))
		(void)ccr_lsf_arrays_split(&e->config->lsf, now);
	ccr_duties_lock();
	ccr_facts_site(&sources.site, &settings, now);
	if (!settings.debug) /* the log shows more than the policy asks for */
		sources.site.policy = e->cycle;
	if (ccr_duties_reset_due(now)) {
		ccr_duties_reset(&settings);
		ccr_owned_usage_reset(now);
	}
	if (scoring) {
		c.usage = ccr_duties_usage_begin(&settings, now);
		ccr_kept_begin(&sources.site, e->serial, !weights_kept, may_keep(e));
		list_for_each(job_list, collect, &c);
		rows = ccr_kept_end(&n_rows);
		ccr_duties_usage_end(&settings);
		if (c.failed)
			error("priority/ccr: out of memory, not all jobs are scored this time");
	}
	if (ccr_policy_uses(e->cycle, CCR_VAR_ELIGIBLE_TIME))
		ccr_eligible_jobs_look(now);
	ccr_owned_usage_count(&settings, e, now);
	if (scoring) {
		*standings = ccr_standings_make(
		    e->config, ccr_duties_give_usage(&settings, e->config), ccr_owned_usage());
		if (!*standings)
			error("priority/ccr: out of memory, group terms count 0 this time");
		if (ccr_engine_uses_lsf(e)) {
			*lsf = ccr_lsf_rows_make(e->config, ccr_owned_usage(), now);
			if (!*lsf)
				error("priority/ccr: out of memory, LSF's terms count 0 this time");
		}
		sources.standings = *standings;
		sources.lsf = *lsf;
		sources.weights_kept = weights_kept;
		weights_kept = true;
		sources.groups_wanted = ccr_sources_want_groups(&sources.site);
		ccr_engine_rule(e, &settings, &how.rule);
		score(&how, rows, n_rows);
	}
	ccr_duties_unlock();
	unlock_slurmctld(s);
	if (scoring) {
		debug("priority/ccr: %u jobs scored anew, %u as they were", how.n_anew, how.n_same);
		report_cut(&how, now);
	}
}

static void cycle(time_t now, bool scoring)
{
	struct ccr_standings *standings = NULL;
	struct ccr_lsf_table *lsf = NULL;
	unsigned faults[CCR_COLUMNS] = {0};

	if (scoring)
		(void)ccr_engine_load(&settings, true, NULL);
	look(now, scoring, &standings, &lsf, faults);
	if (scoring) {
		report(ccr_engine_now()->config, faults);
		log_scores();
		if (standings)
			ccr_engine_put_standings(standings, lsf);
		else
			ccr_lsf_rows_free(lsf);
		ccr_eligible_jobs_save(&settings, false);
	}
	ccr_duties_save(&settings);
	ccr_owned_usage_save(&settings);
}

/* New settings, if Slurm reconfigured; true: this turn scores whatever the time. */
static bool take_orders(bool *relearn)
{
	bool now = thread.now;

	*relearn = thread.relearn;
	thread.now = thread.relearn = thread.soon = false;
	if (now && thread.next.conf_path) {
		ccr_settings_free(&settings);
		settings = thread.next;
		weights_kept = false;
		memset(&thread.next, 0, sizeof(thread.next));
	}
	return now;
}

/* Waits until `until`, an order or the end. */
static void wait_until(time_t until)
{
	while (!thread.stop && !thread.now) {
		time_t end = thread.soon && until > thread.last + 1 ? thread.last + 1 : until;
		struct timespec at = {.tv_sec = end};

		if (pthread_cond_timedwait(&thread.wake, &thread.lock, &at) == ETIMEDOUT)
			break;
	}
}

static void *run(void *unused)
{
	time_t due = time(NULL);

	(void)unused;
	pthread_mutex_lock(&thread.lock);
	while (!thread.stop) {
		time_t now = time(NULL);
		bool relearn, soon = thread.soon, ordered = take_orders(&relearn);
		/* a clock that was set back must not silence the thread until it is caught up */
		bool scoring = ordered || soon || now >= due || due > now + (time_t)settings.period;

		pthread_mutex_unlock(&thread.lock);
		if (ccr_fit_jobs()) {
			if (ordered)
				ccr_duties_reconfigure(&settings);
			if (relearn)
				ccr_duties_relearn(&settings);
			cycle(now, scoring);
		}
		if (scoring)
			due = now + (time_t)settings.period;
		pthread_mutex_lock(&thread.lock);
		thread.last = now;
		thread.ranks = ccr_engine_uses_lsf(ccr_engine_now());
		now = time(NULL);
		wait_until(due < now + (time_t)settings.tick ? due : now + (time_t)settings.tick);
	}
	pthread_mutex_unlock(&thread.lock);
	return NULL;
}

bool ccr_cycle_start(const struct ccr_settings *from)
{
	int rc;

	if (thread.running)
		return true;
	if (!ccr_settings_copy(&settings, from))
		return false;
	thread.stop = false;
	thread.relearn = true; /* slurmctld counted what runs as if it had just begun */
	rc = ccr_slurm_thread_start(&thread.id, "decay", run, NULL);
	if (rc) {
		error("priority/ccr: no thread: %s", strerror(rc));
		ccr_settings_free(&settings);
		return false;
	}
	thread.running = true;
	return true;
}

void ccr_cycle_stop(void)
{
	if (thread.running) {
		pthread_mutex_lock(&thread.lock);
		thread.stop = true;
		pthread_cond_signal(&thread.wake);
		pthread_mutex_unlock(&thread.lock);
		pthread_join(thread.id, NULL);
		thread.running = false;
	}
	ccr_settings_free(&settings);
	ccr_settings_free(&thread.next);
	ccr_kept_free();
	ccr_arena_free(&arena);
}

void ccr_cycle_reconfigure(const struct ccr_settings *from, bool relearn)
{
	struct ccr_settings copy;

	if (!ccr_settings_copy(&copy, from)) {
		error("priority/ccr: out of memory, the settings stay as they were");
		return;
	}
	pthread_mutex_lock(&thread.lock);
	ccr_settings_free(&thread.next);
	thread.next = copy;
	thread.now = true;
	thread.relearn = thread.relearn || relearn;
	pthread_cond_signal(&thread.wake);
	pthread_mutex_unlock(&thread.lock);
}

void ccr_cycle_soon(void)
{
	pthread_mutex_lock(&thread.lock);
	if (thread.ranks) {
		thread.soon = true;
		pthread_cond_signal(&thread.wake);
	}
	pthread_mutex_unlock(&thread.lock);
}

time_t ccr_cycle_last(void)
{
	time_t last;

	pthread_mutex_lock(&thread.lock);
	last = thread.last;
	pthread_mutex_unlock(&thread.lock);
	return last;
}
