/* duties - see duties.h */
#include "priority/duties.h"

#include <pthread.h>
#include <string.h>

#include "priority/assoc_usage.h"
#include "priority/fair_tree.h"
#include "priority/last_ran.h"
#include "priority/reset_period.h"
#include "priority/run_secs.h"

static struct {
	pthread_mutex_t lock; /* of `window`, which job_end reads in other threads; a leaf */
	struct ccr_usage_window window;
	struct ccr_usage_window pass; /* of the pass that is under way; the cycle's own */
	bool counting;
	bool recovering; /* the usage that was kept is older than the last cycle */
	struct ccr_reset reset;
	bool configured;
	bool fair_tree; /* which algorithm the shares are normalised for */
	bool complained;
	struct ccr_fair_tree tree;
} duty = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct ccr_usage_window window_now(void)
{
	struct ccr_usage_window w;

	pthread_mutex_lock(&duty.lock);
	w = duty.window;
	pthread_mutex_unlock(&duty.lock);
	return w;
}

static void set_window(time_t last_ran, double decay_factor)
{
	pthread_mutex_lock(&duty.lock);
	duty.window.last_ran = last_ran;
	duty.window.decay_factor = decay_factor;
	pthread_mutex_unlock(&duty.lock);
}

/*
 * slurmctld writes usage seldom, the time of the last cycle is written at each. After a kill they
 * do not fit together: what was counted in between is to be counted again. Without the time of the
 * last cycle that of the usage stands for it, or what runs would be charged anew from its start.
 */
static void recover(const struct ccr_settings *settings, struct ccr_last_ran *was)
{
	time_t saved;

	duty.recovering = false;
	if (!ccr_usage_saved_at(settings->state_dir, &saved))
		return;
	if (!was->ran) {
		if (saved)
			info("priority/ccr: usage is taken to be counted up to when it was "
			     "written");
		was->ran = saved;
		return;
	}
	if (saved >= was->ran)
		return;
	if (saved)
		info("priority/ccr: the usage that was kept is %ld s older than the last cycle: it "
		     "is counted from there",
		     (long)(was->ran - saved));
	else
		info("priority/ccr: no usage was kept: it is counted from the start of what runs");
	was->ran = saved;
	duty.recovering = true;
}

void ccr_duties_init(const struct ccr_settings *settings)
{
	struct ccr_last_ran was = {0};

	duty.fair_tree = settings->fs.fair_tree;
	ccr_last_ran_load(settings->state_dir, settings->with_dbd, &was);
	if (settings->with_dbd)
		recover(settings, &was);
	duty.reset.last = was.reset;
	ccr_reset_configure(&duty.reset, ccr_reset_period_of(settings->reset_period));
	set_window(was.ran, ccr_decay_factor(settings->half_life));
	if (settings->with_dbd && assoc_mgr_root_assoc && assoc_mgr_root_assoc->usage)
		assoc_mgr_root_assoc->usage->usage_efctv = 1.0;
}

void ccr_duties_fini(void)
{
	ccr_fair_tree_free(&duty.tree);
	memset(&duty.tree, 0, sizeof(duty.tree));
}

void ccr_duties_lock(void)
{
	ccr_usage_lock();
}

void ccr_duties_unlock(void)
{
	ccr_usage_unlock();
}

bool ccr_duties_reset_due(time_t now)
{
	return ccr_reset_due(&duty.reset, now);
}

void ccr_duties_reset(const struct ccr_settings *settings)
{
	if (settings->with_dbd)
		ccr_usage_reset();
}

bool ccr_duties_usage_begin(const struct ccr_settings *settings, time_t now)
{
	struct ccr_usage_window w = window_now();

	duty.counting = settings->with_dbd && assoc_mgr_root_assoc && assoc_mgr_assoc_list;
	if (!duty.counting)
		return false;
	if (!settings->fs.fair_tree)
		ccr_classic_update(&settings->fs);
	w.now = now;
	w.decay_factor = ccr_decay_factor(settings->half_life);
	if (w.last_ran && now > w.last_ran)
		ccr_usage_decay(ccr_decay_over(w.decay_factor, difftime(now, w.last_ran)));
	ccr_usage_pass_begin();
	duty.pass = w;
	return true;
}

void ccr_duties_usage_job(job_record_t *job)
{
	ccr_usage_job(job, &duty.pass);
	if (duty.recovering)
		ccr_usage_recover(job, &duty.pass);
}

void ccr_duties_usage_end(const struct ccr_settings *settings)
{
	if (!duty.counting)
		return;
	duty.recovering = false;
	if (settings->fs.fair_tree && !ccr_fair_tree_update(&duty.tree))
		error("priority/ccr: out of memory, fairshare stays as it was");
	/*
	 * Also where the clock was set back: what ran since is counted again, at most the time that
	 * it was set back by. The later time would stop all counting until the clock is there.
	 */
	set_window(duty.pass.now, duty.pass.decay_factor);
}

void ccr_duties_relearn(const struct ccr_settings *settings)
{
	if (settings->with_dbd)
		ccr_run_secs_init(window_now().last_ran);
}

void ccr_duties_reconfigure(const struct ccr_settings *settings)
{
	ccr_reset_configure(&duty.reset, ccr_reset_period_of(settings->reset_period));
	if (settings->fs.fair_tree == duty.fair_tree)
		return;
	duty.fair_tree = settings->fs.fair_tree;
	if (!settings->with_dbd || !assoc_mgr_root_assoc)
		return;
	ccr_usage_lock();
	ccr_shares_normalize();
	ccr_usage_unlock();
}

void ccr_duties_job_end(job_record_t *job)
{
	struct ccr_usage_window w = window_now();

	w.now = time(NULL);
	ccr_usage_job_end(job, &w);
}

bool ccr_duties_give_usage(const struct ccr_settings *settings, const struct ccr_config *config)
{
	return settings->with_dbd && config->usage.source != CCR_SOURCE_LEDGER &&
	       config->usage.model == CCR_USAGE_HALFLIFE;
}

void ccr_duties_save(const struct ccr_settings *settings)
{
	struct ccr_last_ran now = {.ran = window_now().last_ran, .reset = duty.reset.last};

	(void)ccr_last_ran_save(settings->state_dir, &now, &duty.complained);
}
