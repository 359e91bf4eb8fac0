/* engine - see engine.h */
#include "priority/engine.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/atomic_file.h"
#include "priority/scored.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ccr_engine *engine; /* NULL until the first policy was accepted */
/*
 * What single jobs are scored by: the engine, but for the time between the acceptance of a new
 * policy and the end of the first cycle under it. A job that is submitted just then is scored by
 * the old policy and its standings, not by the new one without any.
 */
static struct ccr_engine *in_force;
static struct stat good_file; /* the policy file, when it was last found good; st_ino 0: never */
static char *seen;	      /* the text last looked at, accepted or not */
static size_t seen_len;
static int seen_year;	 /* in which it was accepted: averages go by it */
static unsigned n_built; /* policies so far */
static char *complaint;	 /* what is wrong with the file now; NULL when it is in force */

struct ccr_engine *ccr_engine_now(void)
{
	return engine;
}

struct ccr_engine *ccr_engine_lock(void)
{
	pthread_mutex_lock(&lock);
	return in_force;
}

void ccr_engine_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static void engine_free(struct ccr_engine *e)
{
	if (!e)
		return;
	ccr_policy_free(e->cycle);
	ccr_policy_free(e->set);
	ccr_standings_free(e->standings);
	ccr_lsf_rows_free(e->lsf);
	ccr_config_free(e->config);
	free(e);
}

bool ccr_engine_uses_lsf(const struct ccr_engine *e)
{
	return ccr_policy_uses(e->cycle, CCR_VAR_LSF_PRIORITY) ||
	       ccr_policy_uses(e->cycle, CCR_VAR_RUN_HOURS) ||
	       ccr_policy_uses(e->cycle, CCR_VAR_STARTED);
}

void ccr_engine_put_standings(struct ccr_standings *standings, struct ccr_lsf_table *lsf)
{
	struct ccr_lsf_table *old_lsf = lsf;
	struct ccr_standings *old = standings;
	struct ccr_engine *left = NULL;

	pthread_mutex_lock(&lock);
	if (engine) {
		old = engine->standings;
		old_lsf = engine->lsf;
		engine->standings = standings;
		engine->lsf = lsf;
		left = in_force != engine ? in_force : NULL;
		in_force = engine;
	}
	pthread_mutex_unlock(&lock);
	ccr_standings_free(old);
	ccr_lsf_rows_free(old_lsf);
	engine_free(left);
}

void ccr_engine_rule(const struct ccr_engine *e, const struct ccr_settings *s,
		     struct ccr_score_rule *rule)
{
	memcpy(rule->weight, s->weight, sizeof(rule->weight));
	rule->base = e->config->base;
	rule->whole = e->whole;
}

/* Compiles a read policy; the config belongs to *out afterwards, or is freed. */
static int build(struct ccr_config *config, struct ccr_engine **out, struct ccr_error *err)
{
	struct ccr_engine *e = calloc(1, sizeof(*e));
	struct ccr_policy_spec spec;
	int rc;

	if (!e) {
		ccr_config_free(config);
		return ccr_error_nomem(err);
	}
	e->config = config;
	e->whole = !config->exact_points;
	e->serial = ++n_built;
	ccr_config_policy_spec(config, &spec);
	rc = ccr_policy_compile(&spec, &e->cycle, err);
	if (!rc)
		rc = ccr_policy_compile(&spec, &e->set, err);
	if (rc) {
		engine_free(e);
		return rc;
	}
	ccr_scored_watch(e->cycle);
	ccr_scored_watch(e->set);
	*out = e;
	return CCR_OK;
}

static int this_year(void)
{
	time_t now = time(NULL);
	struct tm tm;

	return localtime_r(&now, &tm) ? tm.tm_year + 1900 : 1970;
}

static struct ccr_config_options options(const struct ccr_settings *s)
{
	return (struct ccr_config_options){
	    .check_owner = true, .owner = s->slurm_uid, .year = this_year()};
}

static char *accepted_path(const struct ccr_settings *s)
{
	char *path = NULL;

	if (asprintf(&path, "%s/ccr_policy.json", s->state_dir) < 0)
		return NULL;
	return path;
}

/* Keeps the text of the policy now in force for the next start. */
static void keep(const struct ccr_settings *s, const struct ccr_config *config)
{
	struct ccr_error err;
	char *path = accepted_path(s);

	if (!path)
		error("priority/ccr: out of memory, the accepted policy is not kept");
	else if (ccr_atomic_write(path, config->text, config->text_len, 0600, &err))
		error("priority/ccr: the accepted policy is not kept: %s", err.text);
	free(path);
}

/* The decay thread's from now on; everybody's with the standings of its next cycle. */
static void put(struct ccr_engine *e)
{
	struct ccr_engine *old = NULL;

	pthread_mutex_lock(&lock);
	if (engine != in_force) /* never came into force */
		old = engine;
	engine = e;
	if (!in_force)
		in_force = e;
	pthread_mutex_unlock(&lock);
	engine_free(old);
}

static void set_complaint(const char *text)
{
	free(complaint);
	complaint = text ? strdup(text) : NULL;
}

/* The first start with a bad file: the policy that was last accepted, if one is kept. */
static bool fall_back(const struct ccr_settings *s, struct ccr_error *err)
{
	struct ccr_config_options o = options(s);
	struct ccr_config *config = NULL;
	struct ccr_engine *e = NULL;
	struct ccr_error again;
	char *path = accepted_path(s);
	int rc;

	if (!path)
		return false;
	rc = ccr_config_load(path, &o, &config, &again);
	if (!rc)
		rc = build(config, &e, &again);
	free(path);
	if (rc) {
		error("priority/ccr: no policy that was accepted before can be used: %s",
		      again.text);
		return false;
	}
	put(e);
	error("priority/ccr: %s", err->text);
	error("priority/ccr: running on with the last accepted policy");
	return true;
}

/* True if this is, byte for byte, what was looked at last. */
static bool known(const struct ccr_config *config)
{
	return seen && config->text_len == seen_len && memcmp(config->text, seen, seen_len) == 0;
}

static void remember(const struct ccr_config *config)
{
	free(seen);
	seen_len = config->text_len;
	seen = malloc(seen_len + 1);
	if (seen)
		memcpy(seen, config->text, seen_len);
}

/* These of priority/multifactor's factors live on associations; the stock plugin says so, too. */
static void warn_without_dbd(const struct ccr_settings *s, const struct ccr_engine *e)
{
	static const enum ccr_var theirs[] = {CCR_VAR_AGE_FACTOR, CCR_VAR_ASSOC_FACTOR,
					      CCR_VAR_FS_FACTOR};

	for (size_t i = 0; !s->with_dbd && i < sizeof(theirs) / sizeof(theirs[0]); i++) {
		bool always =
		    theirs[i] == CCR_VAR_AGE_FACTOR && (s->flags & PRIORITY_FLAGS_ACCRUE_ALWAYS);

		if (ccr_policy_uses(e->cycle, theirs[i]) && !always)
			info("priority/ccr: warning: without slurmdbd %s is 0 for every job",
			     ccr_var_info(theirs[i])->name);
	}
}

static void accept_policy(const struct ccr_settings *s, struct ccr_engine *e, int year)
{
	bool first = engine == NULL;

	for (size_t i = 0; i < e->config->n_warnings; i++)
		info("priority/ccr: warning: %s", e->config->warnings[i].text);
	warn_without_dbd(s, e);
	info("priority/ccr: %s policy %s (%zu groups, base %" PRId64 ")",
	     first ? "using" : "now using", s->conf_path, e->config->groups.count, e->config->base);
	remember(e->config);
	seen_year = year;
	keep(s, e->config);
	put(e);
	set_complaint(NULL);
}

/*
 * Is the file as it was when it was last found good? Its change time tells of every change of
 * content and of permissions.
 */
static bool untouched(const struct ccr_settings *s, struct stat *now)
{
	if (stat(s->conf_path, now)) {
		memset(now, 0, sizeof(*now));
		return false;
	}
	return engine && !complaint && this_year() == seen_year && good_file.st_ino &&
	       now->st_dev == good_file.st_dev && now->st_ino == good_file.st_ino &&
	       now->st_size == good_file.st_size &&
	       now->st_ctim.tv_sec == good_file.st_ctim.tv_sec &&
	       now->st_ctim.tv_nsec == good_file.st_ctim.tv_nsec;
}

bool ccr_engine_load(const struct ccr_settings *s, bool periodic, struct ccr_error *err)
{
	struct ccr_config_options o = options(s);
	struct stat st;
	struct ccr_config *config = NULL;
	struct ccr_engine *e = NULL;
	struct ccr_error mine;
	int rc;

	if (!err)
		err = &mine;
	if (untouched(s, &st))
		return true;
	memset(&good_file, 0, sizeof(good_file));
	rc = ccr_config_load(s->conf_path, &o, &config, err);
	if (!rc && engine && !complaint && o.year == seen_year && known(config)) {
		good_file = st;
		ccr_config_free(config);
		return true;
	}
	if (!rc)
		rc = build(config, &e, err);
	if (!rc) {
		accept_policy(s, e, o.year);
		return true;
	}
	if (!engine) {
		set_complaint(err->text);
		return fall_back(s, err);
	}
	if (!complaint || strcmp(complaint, err->text) != 0 || !periodic) {
		error("priority/ccr: %s", err->text);
		error("priority/ccr: %s is refused, the policy in force stays", s->conf_path);
	} else {
		error("priority/ccr: still running on the last accepted policy, as %s", err->text);
	}
	set_complaint(err->text);
	return true;
}

void ccr_engine_fini(void)
{
	struct ccr_engine *left;

	put(NULL);
	pthread_mutex_lock(&lock);
	left = in_force;
	in_force = NULL;
	pthread_mutex_unlock(&lock);
	engine_free(left);
	free(seen);
	seen = NULL;
	seen_len = 0;
	set_complaint(NULL);
}
