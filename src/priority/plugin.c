/*
 * priority/ccr - what Slurm calls
 *
 * Translates and locks; the work is elsewhere: engine (the policy), cycle (the thread), scored (one
 * job), duties (associations), owned_usage (the ledger), sprio_list.
 *
 * Programs other than slurmctld may load this too (sshare does, for calc_fs_factor): nothing is
 * started there.
 */
#include <string.h>

#include "core/fairshare.h"
#include "priority/cycle.h"
#include "priority/duties.h"
#include "priority/eligible_jobs.h"
#include "priority/engine.h"
#include "priority/fit.h"
#include "priority/kept.h"
#include "priority/owned_usage.h"
#include "priority/scored.h"
#include "priority/sprio_list.h"

CCR_SLURM_EXPORT const char plugin_name[] =
    "Priority by group targets and policy (slurm-ccr " CCR_VERSION ")";
CCR_SLURM_EXPORT const char plugin_type[] = "priority/ccr";
CCR_SLURM_EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/*
 * The settings that priority_p_set and sprio's list go by, and the arena that priority_p_set works
 * in. Both are used inside the engine's lock.
 */
static struct ccr_settings settings;
static struct ccr_arena set_arena;
static bool in_daemon;
static bool complained_of_faults;

static bool start(void)
{
	if (ccr_cycle_start(&settings))
		return true;
	error("priority/ccr: cannot start");
	return false;
}

int init(void)
{
	struct ccr_error err = {0};

	if (!ccr_slurm_in_slurmctld()) {
		(void)ccr_settings_read(&settings);
		return SLURM_SUCCESS;
	}
	if (!ccr_fit_start())
		return SLURM_ERROR;
	if (!ccr_settings_read(&settings)) {
		error("priority/ccr: out of memory");
		return SLURM_ERROR;
	}
	if (!ccr_engine_load(&settings, false, &err)) {
		error("priority/ccr: %s", err.text);
		error("priority/ccr: there is no policy to start with");
		return SLURM_ERROR;
	}
	ccr_duties_init(&settings);
	ccr_eligible_jobs_init(&settings);
	if (!ccr_owned_usage_init(&settings, ccr_engine_now()))
		return SLURM_ERROR;
	if (ccr_slurm_site_init() != SLURM_SUCCESS)
		error("priority/ccr: no site_factor plugin");
	in_daemon = true;
#if !CCR_SLURM_THREAD_START
	if (!start())
		return SLURM_ERROR;
#endif
	verbose("%s loaded", plugin_name);
	return SLURM_SUCCESS;
}

void priority_p_thread_start(void)
{
	if (in_daemon)
		(void)start();
}

CCR_SLURM_FINI fini(void)
{
	if (in_daemon) {
		ccr_cycle_stop();
		ccr_duties_save(&settings);
		ccr_owned_usage_save(&settings);
		ccr_owned_usage_fini();
		ccr_eligible_jobs_save(&settings, true);
		ccr_eligible_jobs_fini();
		ccr_duties_fini();
		ccr_engine_fini();
		ccr_slurm_site_fini();
		ccr_arena_free(&set_arena);
		in_daemon = false;
	}
	ccr_settings_free(&settings);
	return CCR_SLURM_FINI_DONE;
}

/* Says once, until the next reconfiguration, that a formula has no value for a job. */
static void complain_of_faults(const struct ccr_config *config, const job_record_t *job,
			       const unsigned *faults)
{
	for (int i = 0; i < CCR_COLUMNS && !complained_of_faults; i++) {
		if (!faults[i])
			continue;
		complained_of_faults = true;
		error("priority/ccr: %s has no finite value for JobId=%u, it counts 0 there",
		      ccr_config_formula_key(config, i), job->job_id);
	}
}

/* Scores one job at once, by the standings of the last cycle. */
static uint32_t score_now(job_record_t *job)
{
	assoc_mgr_lock_t a = {.assoc = READ_LOCK, .qos = READ_LOCK};
	unsigned faults[CCR_COLUMNS] = {0};
	struct ccr_sources sources = {0};
	struct ccr_score_rule rule;
	struct ccr_scored scored = {0};
	struct ccr_engine *e;
	uint32_t priority = job->priority ? job->priority : 1;
	bool joins = false;

	assoc_mgr_lock(&a);
	e = ccr_engine_lock();
	ccr_facts_site(&sources.site, &settings, time(NULL));
	sources.groups_wanted = true;
	ccr_arena_clear(&set_arena);
	if (e) {
		sources.standings = e->standings;
		sources.lsf = e->lsf;
	}
	if (e && ccr_scored_gather(&sources, job, &scored, &set_arena)) {
		joins = e->lsf && ccr_lsf_rows_joins(job, sources.site.now);
		ccr_scored_lsf(e->lsf, &scored, &set_arena, joins);
		ccr_engine_rule(e, &settings, &rule);
		ccr_scored_compute(e->set, &rule, &settings, &scored, &set_arena, faults);
		priority = ccr_scored_store(&sources, &scored, &set_arena, job);
		complain_of_faults(e->config, job, faults);
	}
	ccr_engine_unlock();
	assoc_mgr_unlock(&a);
	if (joins)
		ccr_cycle_soon();
	return priority;
}

uint32_t priority_p_set(uint32_t last_prio, job_record_t *job)
{
	(void)last_prio;
	if (!in_daemon || !job || !ccr_fit_job(job))
		return 1;
	ccr_kept_touch(job->job_id);
	site_factor_g_set(job);
	if (job->direct_set_prio && job->priority > 0) {
		ccr_slurm_factors_clear(job);
		return job->priority;
	}
	if (!job->details) {
		error("priority/ccr: JobId=%u has no details", job->job_id);
		return 1;
	}
	return score_now(job);
}

/* The thread scores what was recovered in its first turn. The boost is for priority/basic alone. */
uint32_t priority_p_recover(uint32_t prio_boost)
{
	(void)prio_boost;
	return 0;
}

void priority_p_reconfig(bool assoc_clear)
{
	struct ccr_settings fresh, old;

	if (!in_daemon)
		return;
	if (!ccr_settings_read(&fresh)) {
		error("priority/ccr: out of memory, the settings stay as they were");
		return;
	}
	(void)ccr_engine_lock();
	old = settings;
	settings = fresh;
	complained_of_faults = false;
	ccr_engine_unlock();
	ccr_settings_free(&old);
	ccr_cycle_reconfigure(&settings, assoc_clear);
	ccr_slurm_site_reconfig();
}

void priority_p_set_assoc_usage(slurmdb_assoc_rec_t *assoc)
{
	if (assoc)
		ccr_assoc_usage_set(assoc, &settings.fs);
}

double priority_p_calc_fs_factor(long double usage_efctv, long double shares_norm)
{
	return ccr_fs_factor(usage_efctv, shares_norm, settings.fs.dampening);
}

ccr_slurm_list_t *priority_p_get_priority_factors_list(CCR_SLURM_FACTORS_LIST_PARAMS)
{
	struct ccr_sprio_rule rule;
	ccr_slurm_list_t *rows;
	struct ccr_engine *e;

	if (!in_daemon || !ccr_fit())
		return NULL;
	e = ccr_engine_lock();
	rule.flags = settings.flags;
	rule.weight_partition = settings.weight[CCR_COL_PARTITION];
	rule.weight_qos = settings.weight[CCR_COL_QOS];
	rule.whole = e && e->whole;
	rule.by_partition = e && ccr_engine_uses_lsf(e);
	ccr_engine_unlock();
	ccr_slurm_factors_list_lock();
	rows = ccr_sprio_list(&rule, CCR_SLURM_FACTORS_REQUEST, uid);
	ccr_slurm_factors_list_unlock();
	return rows;
}

void priority_p_job_end(job_record_t *job)
{
	if (in_daemon && job && ccr_fit_job(job)) {
		ccr_duties_job_end(job);
		ccr_cycle_soon();
	}
}
