/* owned_usage - see owned_usage.h */
#include "priority/owned_usage.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "core/ledger_state.h"
#include "priority/facts.h"

/* The decay thread's alone, but for init and fini, which run without it. */
static struct ccr_ledger *ledger;
static bool complained;

const struct ccr_ledger *ccr_owned_usage(void)
{
	return ledger;
}

bool ccr_owned_usage_wanted(const struct ccr_settings *settings, const struct ccr_engine *engine)
{
	const struct ccr_config_usage *u = &engine->config->usage;

	return !settings->with_dbd || u->source == CCR_SOURCE_LEDGER ||
	       u->model != CCR_USAGE_HALFLIFE || ccr_engine_uses_lsf(engine);
}

static struct ccr_usage_model model_of(const struct ccr_settings *settings,
				       const struct ccr_config *config)
{
	const struct ccr_config_usage *u = &config->usage;

	return (struct ccr_usage_model){
	    .kind = u->model,
	    .half_life_s = settings->half_life,
	    .interval_s = u->interval,
	    .depth = (unsigned)u->depth,
	    .decay = u->decay,
	    .hist_hours = u->hist_hours,
	};
}

static char *path_of(const struct ccr_settings *settings)
{
	char *path = NULL;

	if (asprintf(&path, "%s/ccr_usage.json", settings->state_dir) < 0)
		return NULL;
	return path;
}

/*
 * Refusing the file would lose the usage, which nobody can put back; so it is used, and an admin
 * can see that it may have been changed. The next save makes it ours.
 */
static void warn_of_owner(const char *path, enum ccr_ledger_source source)
{
	struct ccr_error err;
	char old[PATH_MAX];
	struct stat st;

	if (source == CCR_LEDGER_EMPTY)
		return;
	if (source == CCR_LEDGER_OLD) {
		snprintf(old, sizeof(old), "%s.old", path);
		path = old;
	}
	if (stat(path, &st) == 0 &&
	    ccr_config_check_owner(&st, path, slurm_conf.slurm_user_id, &err))
		error("priority/ccr: usage: %s; it is used all the same, so that no usage is lost: "
		      "see that it is right",
		      err.text);
}

bool ccr_owned_usage_init(const struct ccr_settings *settings, const struct ccr_engine *engine)
{
	struct ccr_usage_model model = model_of(settings, engine->config);
	struct ccr_ledger_notes notes;
	struct ccr_error err;
	char *path;
	int rc;

	if (ledger || !ccr_owned_usage_wanted(settings, engine))
		return true;
	path = path_of(settings);
	if (!path)
		return false;
	rc = ccr_ledger_restore(path, &model, time(NULL), &ledger, &notes, &err);
	if (rc)
		error("priority/ccr: usage: %s", err.text);
	else
		warn_of_owner(path, notes.source);
	free(path);
	if (rc)
		return false;
	if (notes.text[0])
		error("priority/ccr: usage: %s", notes.text);
	return true;
}

void ccr_owned_usage_fini(void)
{
	ccr_ledger_free(ledger);
	ledger = NULL;
	complained = false;
}

void ccr_owned_usage_reset(time_t now)
{
	struct ccr_ledger *fresh;
	struct ccr_error err;

	if (!ledger)
		return;
	fresh = ccr_ledger_new(ccr_ledger_model(ledger), now, &err);
	if (!fresh) {
		error("priority/ccr: usage is not reset: %s", err.text);
		return;
	}
	ccr_ledger_set_charged_until(fresh, ccr_ledger_charged_until(ledger));
	ccr_ledger_free(ledger);
	ledger = fresh;
}

/* Units a second that the policy charges the job. */
static double charge_rate(const job_record_t *job, const struct ccr_config *config, bool with_dbd)
{
	const slurmdb_qos_rec_t *qos = job->qos_ptr;
	double rate = 0, factor = qos && qos->usage_factor >= 0 ? qos->usage_factor : 1;

	switch (config->usage.charge) {
	case CCR_CHARGE_BILLING:
		rate = calc_job_billable_tres((job_record_t *)job, job->start_time, true);
		if (!with_dbd) /* Slurm has no gres/gpu to bill then */
			rate += config->usage.gpu_weight * (double)ccr_facts_gpus(job);
		break;
	case CCR_CHARGE_CPUS:
		rate = job->total_cpus;
		break;
	case CCR_CHARGE_NODES:
		rate = job->node_cnt;
		break;
	case CCR_CHARGE_GPUS:
		rate = (double)ccr_facts_gpus(job);
		break;
	}
	return rate > 0 && factor >= 0 ? rate * factor : 0;
}

/* From its start or the last look to its end or now. */
static int charge(const job_record_t *job, const struct ccr_config *config, bool with_dbd,
		  time_t from, time_t now, struct ccr_error *err)
{
	struct ccr_usage_key key = {
	    .account = job->account,
	    .user = ccr_facts_user(job),
	    .partition = job->part_ptr ? job->part_ptr->name : job->partition,
	    .qos = job->qos_ptr ? job->qos_ptr->name : NULL,
	};
	bool ended = IS_JOB_FINISHED(job) || IS_JOB_COMPLETING(job);
	time_t start = job->start_time, end = now;

	if (!start || start >= now || IS_JOB_PENDING(job) || !job->tres_alloc_cnt)
		return CCR_OK;
	if (ended && job->end_time && job->end_time < end)
		end = job->end_time;
	if (start < from)
		start = from;
	if (start >= end)
		return CCR_OK;
	return ccr_ledger_charge(ledger, &key, start, end, charge_rate(job, config, with_dbd),
				 job->total_cpus, err);
}

void ccr_owned_usage_count(const struct ccr_settings *settings, const struct ccr_engine *engine,
			   time_t now)
{
	const struct ccr_config *config = engine->config;
	struct ccr_usage_model model = model_of(settings, config);
	ccr_slurm_list_itr_t *it;
	struct ccr_error err;
	job_record_t *job;
	time_t from;
	int rc;

	if (!ccr_owned_usage_wanted(settings, engine)) {
		ccr_owned_usage_fini();
		return;
	}
	if (!ledger && !ccr_owned_usage_init(settings, engine))
		return;
	rc = ccr_usage_model_equal(&model, ccr_ledger_model(ledger))
		 ? CCR_OK
		 : ccr_ledger_set_model(ledger, &model, &err);
	from = ccr_ledger_charged_until(ledger);
	if (!rc)
		rc = ccr_ledger_advance(ledger, now, &err);
	if (rc) { /* charged_until stays: what was missed is counted next time */
		error("priority/ccr: usage: %s", err.text);
		return;
	}
	it = list_iterator_create(job_list);
	while ((job = list_next(it))) {
		/* one job that cannot be charged must not have the others charged twice */
		if (charge(job, config, settings->with_dbd, from, now, &err))
			error("priority/ccr: usage of JobId=%u is not counted: %s", job->job_id,
			      err.text);
	}
	list_iterator_destroy(it);
	ccr_ledger_set_charged_until(ledger, now);
	ccr_ledger_roll_up(ledger);
}

void ccr_owned_usage_save(const struct ccr_settings *settings)
{
	struct ccr_error err;
	char *path;

	if (!ledger)
		return;
	path = path_of(settings);
	if (path && ccr_ledger_save(ledger, path, settings->ledger_mode, &err) == CCR_OK) {
		complained = false;
	} else if (!complained) {
		error("priority/ccr: usage is not saved: %s", path ? err.text : "out of memory");
		complained = true;
	}
	free(path);
}
