/*
 * rules - the section `backfill` of the policy file; see gate.h
 *
 * Read at the start, on reconfigure, and when the file changed, at which the reporter looks as
 * often as priority/ccr does. A bad file, or none where there was one, changes nothing: over a
 * restart the last one that was good holds, as StateSaveLocation/ccr_policy.json has it.
 * priority/ccr writes that; beside another priority plugin the gate does.
 */
#include "select/gate_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/atomic_file.h"
#include "core/config.h"
#include "slurm/policy_path.h"

#define G	 ccr__gate
#define ACCEPTED "ccr_policy.json"

/* The file as it was when it was last read, by which a change is told; under the gate's lock. */
static struct stat seen;
static bool keep; /* the text of G.config is to be kept for the next start */

static void use_config(const struct ccr_config_backfill *b)
{
	G.on = b->enabled;
	G.opt.depth = (uint32_t)b->depth;
	G.opt.strict = false; /* by partition, see set_partitions */
	G.opt.window = b->window;
	G.opt.placement = b->placement;
	if (b->has_long_jobs) {
		G.opt.long_limit = b->long_over;
		G.opt.long_share = b->long_gpu_fraction;
	}
}

static bool beside_another(void)
{
	return xstrcmp(slurm_conf.priority_type, "priority/ccr") != 0;
}

static struct ccr_config_options options(void)
{
	/* beside another priority plugin the file is the gate's alone */
	struct ccr_config_options o = {.check_owner = true,
				       .owner = slurm_conf.slurm_user_id,
				       .rank_optional = beside_another()};
	time_t now = time(NULL);
	struct tm tm;

	o.year = localtime_r(&now, &tm) ? tm.tm_year + 1900 : 1970;
	return o;
}

/* At a start without a good file: the last that was one, or NULL. */
static struct ccr_config *accepted(void)
{
	struct ccr_config_options o = options();
	struct ccr_config *config = NULL;
	struct ccr_error err;
	char *path = ccr__state_path(ACCEPTED);

	if (!path || access(path, F_OK))
		;
	else if (ccr_config_load(path, &o, &config, &err))
		error("select/cons_tres (slurm-ccr): no policy that was accepted before can be "
		      "used: %s",
		      err.text);
	else
		error("select/cons_tres (slurm-ccr): running on with the last accepted policy");
	free(path);
	return config;
}

/*
 * There is no policy (bad: none that is valid): said once, and again when there was one or it is
 * looked for elsewhere.
 */
static void say_none(const char *path, bool bad)
{
	static char *said; /* under the gate's lock */

	if (said && path && !strcmp(said, path))
		return;
	free(said);
	said = path ? strdup(path) : NULL;
	if (path)
		info("select/cons_tres (slurm-ccr): no %spolicy in %s: the rules are the defaults",
		     bad ? "valid " : "", path);
}

/* The rules from now on; NULL: the defaults. The gate's lock is held. */
static struct ccr_config *load(const char *path)
{
	struct ccr_config_options o = options();
	struct ccr_config *config = NULL;
	struct ccr_error err = {.text = "out of memory"};
	bool there;

	memset(&seen, 0, sizeof(seen));
	there = path && !stat(path, &seen);
	if (there && !ccr_config_load(path, &o, &config, &err)) {
		keep = beside_another();
		say_none(NULL, false);
		return config;
	}
	if (there || !path)
		error("select/cons_tres (slurm-ccr): %s", err.text);
	else if (G.config)
		error("select/cons_tres (slurm-ccr): %s: cannot be read (%s): the rules that were "
		      "in force stay; a file with an empty section backfill has the defaults",
		      path, strerror(errno));
	config = G.config ? G.config : accepted();
	G.config = NULL;
	if (!config)
		say_none(path, there);
	return config;
}

static void warn_of_reserve(void)
{
	bool reserve = xstrcasestr(slurm_conf.sched_params, "bf_min_prio_reserve=");

	if (G.on && !reserve)
		error("select/cons_tres (slurm-ccr): bf_min_prio_reserve=4294967295 is not in "
		      "SchedulerParameters: the main cycle stops at each partition's first "
		      "blocked job, and only that one is booked");
	if (!G.on && reserve)
		info("select/cons_tres (slurm-ccr): warning: the policy switches the gate off and "
		     "bf_min_prio_reserve keeps sched/backfill from reserving: nothing is booked "
		     "at all");
}

void ccr_gate_configure(void)
{
	char *path = ccr_slurm_policy_path();
	struct ccr_config *config;
	struct ccr_error err = {0};

	pthread_mutex_lock(&G.lock);
	G.aside = false;
	G.stale = true;
	G.on = true;
	G.opt = ccr_plan_defaults();
	G.opt.window = 7 * 86400;
	config = load(path);
	ccr_config_free(G.config);
	G.config = config;
	G.new_config = true;
	ccr__het_free(); /* nodes may have other types of GPU now */
	if (config)
		use_config(&config->backfill);
	warn_of_reserve();
	if (G.plan && ccr_plan_set_options(G.plan, &G.opt, &err))
		ccr__gate_aside(err.text);
	pthread_mutex_unlock(&G.lock);
	free(path);
}

/* Seconds between two looks: priority/ccr's period. */
static long period(void)
{
	char *given = ccr_slurm_option("ccr_calc_seconds");
	long seconds = given ? strtol(given, NULL, 10) : 0;

	free(given);
	return seconds > 0 ? seconds : (long)slurm_conf.priority_calc_period;
}

/* Is there a file, and is it another than the one that was read? */
static bool changed(const char *path)
{
	struct stat now;
	bool other;

	if (!path || stat(path, &now))
		return false;
	pthread_mutex_lock(&G.lock);
	other = now.st_dev != seen.st_dev || now.st_ino != seen.st_ino ||
		now.st_size != seen.st_size || now.st_ctim.tv_sec != seen.st_ctim.tv_sec ||
		now.st_ctim.tv_nsec != seen.st_ctim.tv_nsec;
	pthread_mutex_unlock(&G.lock);
	return other;
}

/* The text that is to be kept, malloc'd; NULL: there is none. */
static char *take_text(size_t *len)
{
	char *text = NULL;

	pthread_mutex_lock(&G.lock);
	if (keep && G.config) {
		*len = G.config->text_len;
		text = malloc(*len + 1);
		if (text)
			memcpy(text, G.config->text, *len);
	}
	keep = keep && G.config && !text;
	pthread_mutex_unlock(&G.lock);
	return text;
}

void ccr_gate_watch_rules(void)
{
	static time_t looked; /* the reporter's alone */
	slurmctld_lock_t locks = {.conf = READ_LOCK};
	time_t now = time(NULL);
	struct ccr_error err;
	char *path, *text;
	size_t len = 0;

	lock_slurmctld(locks);
	if (now < looked || now - looked >= period()) {
		looked = now;
		path = ccr_slurm_policy_path();
		if (changed(path)) {
			info("select/cons_tres (slurm-ccr): %s has changed and is read again",
			     path);
			ccr_gate_configure();
		}
		free(path);
	}
	text = take_text(&len);
	path = text ? ccr__state_path(ACCEPTED) : NULL;
	unlock_slurmctld(locks);
	if (path && ccr_atomic_write(path, text, len, 0600, &err))
		error("select/cons_tres (slurm-ccr): the accepted policy is not kept: %s",
		      err.text);
	free(path);
	free(text);
}
