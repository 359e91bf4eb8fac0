/*
 * config_usage - the policy file's sections on how usage is counted: usage and lsf
 */
#include <stdlib.h>
#include <string.h>

#include "core/config_internal.h"

#define MOST_HOURS 1e6

static const char *const model_names[] = {"halflife", "windows", "lsf"};
static const char *const charge_names[] = {"billing", "cpus", "nodes", "gpus"};
static const char *const source_names[] = {"auto", "slurm", "ledger"};

const char *ccr_usage_charge_name(enum ccr_usage_charge charge)
{
	return (size_t)charge < CCR__COUNT(charge_names) ? charge_names[charge] : NULL;
}

const char *ccr_usage_source_name(enum ccr_usage_source source)
{
	return (size_t)source < CCR__COUNT(source_names) ? source_names[source] : NULL;
}

/* --- usage --- */

static int read_model(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config_usage *u = into;
	int i = 0, rc = ccr__choice(r, v, model_names, CCR__COUNT(model_names), &i);

	(void)arg;
	if (!rc)
		u->model = (enum ccr_usage_kind)i;
	return rc;
}

static int read_charge(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config_usage *u = into;
	int i = 0, rc = ccr__choice(r, v, charge_names, CCR__COUNT(charge_names), &i);

	(void)arg;
	if (!rc)
		u->charge = (enum ccr_usage_charge)i;
	return rc;
}

static int read_source(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config_usage *u = into;
	int i = 0, rc = ccr__choice(r, v, source_names, CCR__COUNT(source_names), &i);

	(void)arg;
	if (!rc)
		u->source = (enum ccr_usage_source)i;
	return rc;
}

/* A key that the windows model alone reads: remembered, to warn if it is not the model. */
static void note_windows(struct ccr__reader *r, const struct ccr__value *v, const char *key)
{
	if (!r->windows_line) {
		r->windows_line = v->line;
		r->windows_key = key;
	}
}

static int read_interval(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config_usage *u = into;

	(void)arg;
	note_windows(r, v, "usage.interval");
	return ccr__duration(r, v, 60, &u->interval);
}

static int read_depth(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config_usage *u = into;
	int64_t n;
	int rc = ccr__integer(r, v, 1, 366, "a number of windows from 1 to 366", &n);

	(void)arg;
	note_windows(r, v, "usage.depth");
	if (!rc)
		u->depth = (int)n;
	return rc;
}

static int read_decay(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config_usage *u = into;

	(void)arg;
	note_windows(r, v, "usage.decay");
	return ccr__number(r, v, 0, 1, "a factor from 0 to 1", &u->decay);
}

/* LSF's name for it is HIST_HOURS of lsb.params: it may stand in either section, in one of them. */
static int read_hist_hours(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	(void)into;
	(void)arg;
	if (r->hist_line)
		return ccr__bad(r, v->line, "a second hist_hours",
				"it once, in \"usage\" or in \"lsf\" (it is on line %u already)",
				r->hist_line);
	r->hist_line = v->line;
	return ccr__number(r, v, 0.01, MOST_HOURS, "hours from 0.01 to 1000000",
			   &r->config->usage.hist_hours);
}

static int read_gpu_weight(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config_usage *u = into;

	(void)arg;
	return ccr__number(r, v, 0, 1e6, "a weight from 0 to 1000000", &u->gpu_weight);
}

static const struct ccr__key usage_keys[] = {
    {"model", read_model, 0},	{"interval", read_interval, 0},	    {"depth", read_depth, 0},
    {"decay", read_decay, 0},	{"hist_hours", read_hist_hours, 0}, {"charge", read_charge, 0},
    {"source", read_source, 0}, {"gpu_weight", read_gpu_weight, 0},
};

int ccr__read_usage(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config *c = into;

	(void)arg;
	return ccr__object(r, v, "an object with the usage model and its parameters", usage_keys,
			   CCR__COUNT(usage_keys), &c->usage);
}

/* --- lsf --- */

enum lsf_field { CONSTANT, CPU_TIME, RUN_TIME, RUN_JOB };

static int read_lsf_factor(struct ccr__reader *r, const struct ccr__value *v, void *into, int field)
{
	struct ccr_config_lsf *lsf = into;
	double *out = field == CONSTANT	  ? &lsf->constant
		      : field == CPU_TIME ? &lsf->cpu_time_factor
		      : field == RUN_TIME ? &lsf->run_time_factor
					  : &lsf->run_job_factor;

	/* The constant keeps the priority of an idle user finite. */
	if (field == CONSTANT)
		return ccr__number(r, v, 1e-9, 1e9, "a number above 0", out);
	return ccr__number(r, v, 0, 1e9, "a factor of at least 0", out);
}

static int read_array_tasks(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config_lsf *lsf = into;
	int64_t n = 0;
	int rc = ccr__integer(r, v, 0, 10000, "a number of jobs from 0 to 10000", &n);

	(void)arg;
	if (!rc)
		lsf->array_tasks = (int)n;
	return rc;
}

static int read_one_share(struct ccr__reader *r, const char *key, const struct ccr__value *v,
			  void *into)
{
	struct ccr_config_lsf *lsf = into;
	double shares;
	int rc = ccr__check_name(r, key, v->line, "the name of a user, or \"default\"");

	if (!rc)
		rc = ccr__number(r, v, 1e-9, 1e9, "shares, a number above 0", &shares);
	if (rc)
		return rc;
	if (strcmp(key, "default") == 0) {
		lsf->user_shares = shares;
		return 0;
	}
	rc = ccr__check_room(r, v->line, lsf->n_users, "users");
	if (!rc)
		rc = ccr__grow(r, &lsf->users, lsf->n_users, sizeof(*lsf->users));
	if (!rc)
		rc = ccr__copy(r, key, &lsf->users[lsf->n_users].user);
	if (!rc)
		lsf->users[lsf->n_users++].shares = shares;
	return rc;
}

static int read_user_shares(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	static const char what[] = "shares, a number above 0, or an object with shares by user and "
				   "\"default\"";
	struct ccr_config_lsf *lsf = into;

	(void)arg;
	ccr__lsf_clear(lsf);
	if (json_object_is_type(v->json, json_type_object))
		return ccr__each(r, v, what, read_one_share, lsf);
	return ccr__number(r, v, 1e-9, 1e9, what, &lsf->user_shares);
}

static const struct ccr__key lsf_keys[] = {
    {"constant", read_lsf_factor, CONSTANT},	    {"cpu_time_factor", read_lsf_factor, CPU_TIME},
    {"run_time_factor", read_lsf_factor, RUN_TIME}, {"run_job_factor", read_lsf_factor, RUN_JOB},
    {"user_shares", read_user_shares, 0},	    {"hist_hours", read_hist_hours, 0},
    {"array_tasks", read_array_tasks, 0},
};

int ccr__read_lsf(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config *c = into;

	(void)arg;
	return ccr__object(r, v, "an object with the factors of LSF's dynamic priority", lsf_keys,
			   CCR__COUNT(lsf_keys), &c->lsf);
}

void ccr__lsf_clear(struct ccr_config_lsf *lsf)
{
	for (size_t i = 0; i < lsf->n_users; i++)
		free(lsf->users[i].user);
	free(lsf->users);
	lsf->users = NULL;
	lsf->n_users = 0;
}

double ccr_config_lsf_shares(const struct ccr_config *config, const char *user)
{
	for (size_t i = 0; user && i < config->lsf.n_users; i++)
		if (strcmp(config->lsf.users[i].user, user) == 0)
			return config->lsf.users[i].shares;
	return config->lsf.user_shares;
}

int ccr__finish_usage(struct ccr__reader *r)
{
	const struct ccr_config_usage *u = &r->config->usage;
	int rc = 0;

	if (r->windows_line && u->model != CCR_USAGE_WINDOWS)
		rc = ccr__warn(r, r->windows_line, r->windows_key,
			       "is read by the model \"windows\" alone, and the model is \"%s\"",
			       ccr_usage_kind_name(u->model));
	if (!rc && r->hist_line && u->model != CCR_USAGE_LSF)
		rc = ccr__warn(r, r->hist_line, "hist_hours",
			       "is read by the usage model \"lsf\" alone, and the model is \"%s\"",
			       ccr_usage_kind_name(u->model));
	return rc;
}

const struct ccr__section *ccr__usage_sections(size_t *count)
{
	static const struct ccr__section sections[] = {
	    {"usage", usage_keys, CCR__COUNT(usage_keys)},
	    {"lsf", lsf_keys, CCR__COUNT(lsf_keys)},
	};

	*count = CCR__COUNT(sections);
	return sections;
}
