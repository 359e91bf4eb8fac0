/* sim_scorer - the scores of a simulation, with the plugin's own arithmetic; see sim_policy.h */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/ledger.h"
#include "core/mf.h"
#include "core/policy.h"
#include "core/score.h"
#include "core/shares.h"
#include "sccr/sim_policy.h"
#include "sccr/common.h"
#include "sccr/sim_text.h"
#include "sccr/sim_weights.h"

#define TERM_TRES CCR_COLUMNS /* the TRES column comes after the policy's */

/* Where a group stands, as of the last tick. */
struct standing {
	double target, usage, delta, financial, fairshare_factor;
};

/* A job's stretch that is still to be charged. */
struct stretch {
	uint32_t user, account, partition, qos;
	int64_t from, to;
	double billed, slots;
};

struct scorer {
	const struct ccr_config *config;
	const struct sim_cluster *cluster;
	const struct sim_workload *workload;
	struct ccr_policy *expr;
	struct ccr_score_rule rule;
	struct ccr_ledger *ledger;
	struct standing *group; /* by ccr_group.index */
	struct sim_weights *billing, tres;
	struct stretch *ended;
	uint32_t nended, ended_room;
	uint32_t *running, *waiting; /* jobs by user and partition */
	struct sim_job **by_age;
	uint32_t by_age_room;
	double max_job_factor;
	uint32_t max_age; /* s */
	bool counts_ahead;
	bool favor_small, relative, whole_part; /* PriorityFavorSmall, and of PriorityFlags */
	unsigned faults[CCR_COLUMNS];
};

/* --- usage -------------------------------------------------------------------------------------
 */

static int64_t seconds(const struct scorer *c, sim_time t)
{
	return t / SIM_SECOND + c->workload->unix_zero;
}

static double rate_of(const struct scorer *c, const struct sim_job *j)
{
	uint64_t cpus = sim_job_cpus(j), gpus = sim_job_gpus(j);

	switch (c->config->usage.charge) {
	case CCR_CHARGE_CPUS:
		return (double)cpus;
	case CCR_CHARGE_NODES:
		return j->demand.nodes;
	case CCR_CHARGE_GPUS:
		return (double)gpus;
	case CCR_CHARGE_BILLING:
		break;
	}
	return sim_weights_bill(&c->billing[j->home], cpus,
				(uint64_t)j->demand.mem * j->demand.nodes, j->demand.nodes, gpus);
}

static struct stretch stretch_of(const struct scorer *c, const struct sim_job *j, sim_time to)
{
	int64_t from = seconds(c, j->start), charged = ccr_ledger_charged_until(c->ledger);

	return (struct stretch){.user = j->user,
				.account = j->account,
				.partition = j->partition,
				.qos = j->qos,
				.from = from > charged ? from : charged,
				.to = seconds(c, to),
				.billed = rate_of(c, j),
				.slots = (double)sim_job_cpus(j)};
}

static int charge(struct scorer *c, const struct stretch *x, struct ccr_error *err)
{
	const struct sim_workload *w = c->workload;
	struct ccr_usage_key key = {.account = sim_names_get(w->accounts, x->account),
				    .user = sim_names_get(w->users, x->user),
				    .partition = sim_names_get(w->partitions, x->partition),
				    .qos = sim_names_get(w->qos, x->qos)};

	return ccr_ledger_charge(c->ledger, &key, x->from, x->to, x->billed, x->slots, err);
}

/*
 * The factor is the plugin's: by the group's part of the file's shares if there are any, else by
 * its target. In between come a user's shares in sacctmgr, which a simulation does not know.
 */
static void finish_standing(struct standing *s, const struct ccr_group *g, double shares)
{
	s->target = s->delta = 0;
	if (g->target.kind != CCR_TARGET_NONE) {
		s->target = g->target.percent;
		s->delta = ccr_target_points(g->target.kind, g->target.percent, s->usage);
	}
	s->financial = g->financial;
	s->fairshare_factor = 1;
	if (shares > 0)
		s->fairshare_factor =
		    ccr_pbs_fairshare_factor(s->usage / 100, ccr_fraction(g->shares, shares));
	else if (s->target > 0)
		s->fairshare_factor = ccr_pbs_fairshare_factor(s->usage / 100, s->target / 100);
}

static const struct ccr_group *climb(const struct scorer *c, const char *user, const char *account)
{
	return ccr_groups_climb(&c->config->groups, user, &account, *account ? 1 : 0, NULL, NULL);
}

/* Every entry of the ledger counts for the group of its account and user. */
static void stand(struct scorer *c)
{
	const struct ccr_groups *groups = &c->config->groups;
	double all = ccr_ledger_total(c->ledger).s[CCR_BILLED];

	for (size_t i = 0; i < groups->count; i++)
		c->group[i].usage = 0;
	for (const struct ccr_ledger_entry *e = ccr_ledger_next(c->ledger, NULL); e && all > 0;
	     e = ccr_ledger_next(c->ledger, e)) {
		struct ccr_usage_key key = ccr_ledger_entry_key(e);
		const struct ccr_group *g = climb(c, key.user, key.account);

		if (g)
			c->group[g->index].usage +=
			    100 * ccr_ledger_entry_usage(c->ledger, e).s[CCR_BILLED] / all;
	}
	for (size_t i = 0; i < groups->count; i++)
		finish_standing(&c->group[i], groups->list[i], ccr_groups_shares(groups));
}

static int by_age(const void *a, const void *b)
{
	const struct sim_job *x = *(struct sim_job *const *)a, *y = *(struct sim_job *const *)b;

	if (x->submit != y->submit)
		return x->submit < y->submit ? -1 : 1;
	return x->serial != y->serial ? (x->serial < y->serial ? -1 : 1)
				      : (x->home < y->home ? -1 : x->home > y->home);
}

static uint32_t owner(const struct scorer *c, const struct sim_job *j)
{
	uint32_t user = j->user == SIM_NO_NAME ? sim_names_count(c->workload->users) : j->user;

	return user * c->cluster->parts + j->home;
}

/* The k-th waiting job of a user is ranked as if the k - 1 before it had started. */
static int count_ahead(struct scorer *c, struct sim *s, struct ccr_error *err)
{
	uint32_t owners = (sim_names_count(c->workload->users) + 1) * c->cluster->parts;

	if (s->queued > c->by_age_room) {
		struct sim_job **p = realloc(c->by_age, 2 * s->queued * sizeof(void *));

		if (!p)
			return ccr_error_nomem(err);
		c->by_age = p;
		c->by_age_room = 2 * s->queued;
	}
	memcpy(c->by_age, s->queue, s->queued * sizeof(void *));
	qsort(c->by_age, s->queued, sizeof(void *), by_age);
	memset(c->waiting, 0, owners * sizeof(*c->waiting));
	for (uint32_t i = 0; i < s->queued; i++)
		c->by_age[i]->ahead = c->waiting[owner(c, c->by_age[i])]++;
	return CCR_OK;
}

static int tick(void *state, struct sim *s, struct ccr_error *err)
{
	struct scorer *c = state;
	int64_t now = seconds(c, s->now);
	int rc = ccr_ledger_advance(c->ledger, now, err);

	for (uint32_t i = 0; !rc && i < c->nended; i++)
		rc = charge(c, &c->ended[i], err);
	c->nended = 0;
	for (uint32_t i = 0; !rc && i < s->nrunning; i++) {
		struct stretch x = stretch_of(c, s->running[i], s->now);

		rc = charge(c, &x, err);
	}
	if (rc)
		return rc;
	ccr_ledger_set_charged_until(c->ledger, now);
	ccr_ledger_roll_up(c->ledger);
	stand(c);
	return c->counts_ahead ? count_ahead(c, s, err) : CCR_OK;
}

static void started(void *state, struct sim *s, struct sim_job *j)
{
	struct scorer *c = state;
	uint32_t o = owner(c, j);

	(void)s;
	c->running[o]++;
	if (c->waiting[o])
		c->waiting[o]--;
}

static void withdrawn(void *state, struct sim *s, const struct sim_job *j)
{
	struct scorer *c = state;
	uint32_t o = owner(c, j);

	(void)s;
	if (c->waiting[o])
		c->waiting[o]--;
}

static void ended(void *state, struct sim *s, struct sim_job *j)
{
	struct scorer *c = state;

	c->running[owner(c, j)]--;
	if (c->nended == c->ended_room) {
		uint32_t room = c->ended_room ? 2 * c->ended_room : 256;
		struct stretch *p = realloc(c->ended, room * sizeof(*p));
		struct ccr_error err;

		if (!p) { /* without room for later it is charged at once */
			struct stretch x = stretch_of(c, j, s->now);

			if (!ccr_ledger_advance(c->ledger, seconds(c, s->now), &err))
				charge(c, &x, &err);
			return;
		}
		c->ended = p;
		c->ended_room = room;
	}
	c->ended[c->nended++] = stretch_of(c, j, s->now);
}

/* --- scores ------------------------------------------------------------------------------------
 */

static double lsf_priority(const struct scorer *c, const struct sim_job *j, double run_hours,
			   double count)
{
	const struct ccr_config_lsf *l = &c->config->lsf;
	double below = l->constant + l->run_time_factor * run_hours + l->run_job_factor * count;

	return below > 0
		   ? ccr_config_lsf_shares(c->config, sim_names_get(c->workload->users, j->user)) /
			 below
		   : 0;
}

static void owner_vars(const struct scorer *c, const struct sim_job *j, double *v)
{
	const char *user = sim_names_get(c->workload->users, j->user);
	const char *part = sim_names_get(c->workload->partitions, j->partition);

	v[CCR_VAR_STARTED] = (double)c->running[owner(c, j)] + j->ahead;
	if (ccr_policy_uses(c->expr, CCR_VAR_USER_USAGE))
		v[CCR_VAR_USER_USAGE] =
		    ccr_ledger_percent(c->ledger, CCR_BY_USER, user, NULL, CCR_BILLED);
	if (ccr_policy_uses(c->expr, CCR_VAR_QOS_USAGE) && j->qos != SIM_NO_NAME)
		v[CCR_VAR_QOS_USAGE] =
		    ccr_ledger_percent(c->ledger, CCR_BY_QOS,
				       sim_names_get(c->workload->qos, j->qos), NULL, CCR_BILLED);
	if (!ccr_policy_uses(c->expr, CCR_VAR_RUN_HOURS) &&
	    !ccr_policy_uses(c->expr, CCR_VAR_LSF_PRIORITY))
		return;
	v[CCR_VAR_RUN_HOURS] =
	    ccr_ledger_by(c->ledger, CCR_BY_USER_PARTITION, user, part).s[CCR_SLOT] / 3600;
	v[CCR_VAR_LSF_PRIORITY] = lsf_priority(c, j, v[CCR_VAR_RUN_HOURS], v[CCR_VAR_STARTED]);
}

static void fill_vars(const struct scorer *c, const struct sim *s, const struct sim_job *j,
		      double *v)
{
	const struct ccr_group *g = j->group;
	const struct ccr_mf_size size = {.cluster_cpus = (uint32_t)c->cluster->cpus,
					 .nodes = c->cluster->nodes,
					 .favor_small = c->favor_small,
					 .relative = c->relative,
					 .wide_counts_all = true};
	double waited = (double)(s->now - j->eligible) / (double)SIM_SECOND;

	memset(v, 0, CCR_VAR_COUNT * sizeof(*v));
	v[CCR_VAR_NODES] = j->demand.nodes;
	v[CCR_VAR_NCPUS] = (double)sim_job_cpus(j);
	v[CCR_VAR_NGPUS] = (double)sim_job_gpus(j);
	v[CCR_VAR_MEM] = 1024.0 * j->demand.mem * j->demand.nodes;
	v[CCR_VAR_NTASKS] = 1;
	v[CCR_VAR_WALLTIME] =
	    j->limit >= SIM_NEVER ? 365 * 86400.0 : (double)j->limit / (double)SIM_SECOND;
	v[CCR_VAR_QUEUE_MINUTES] = waited / 60;
	v[CCR_VAR_ELIGIBLE_TIME] = waited;
	v[CCR_VAR_FAIRSHARE_FACTOR] = 1;
	if (g) {
		const struct standing *st = &c->group[g->index];

		v[CCR_VAR_TARGET] = st->target;
		v[CCR_VAR_USAGE] = st->usage;
		v[CCR_VAR_FS_DELTA] = st->delta;
		v[CCR_VAR_FINANCIAL] = st->financial;
		v[CCR_VAR_FAIRSHARE_FACTOR] = st->fairshare_factor;
	}
	owner_vars(c, j, v);
	v[CCR_VAR_QUEUE_PRIORITY] = c->cluster->part[j->home].job_factor;
	v[CCR_VAR_PARTITION_FACTOR] =
	    v[CCR_VAR_QUEUE_PRIORITY] / (c->whole_part ? 1 : c->max_job_factor);
	v[CCR_VAR_AGE_FACTOR] = ccr_mf_age((time_t)(s->now / SIM_SECOND) + 1,
					   (time_t)(j->eligible / SIM_SECOND) + 1, c->max_age);
	v[CCR_VAR_SIZE_FACTOR] = ccr_mf_size(
	    &size, j->demand.nodes, (uint32_t)sim_job_cpus(j),
	    j->limit >= SIM_NEVER ? UINT32_MAX : (uint32_t)(j->limit / SIM_SECOND / 60));
}

static double tres_points(const struct scorer *c, const struct sim_job *j)
{
	const struct sim_weights *w = &c->tres;

	if (!w->given)
		return 0;
	return w->cpu * ccr_mf_tres(sim_job_cpus(j), c->cluster->cpus, false) +
	       w->mem *
		   ccr_mf_tres((uint64_t)j->demand.mem * j->demand.nodes, c->cluster->mem, false) +
	       w->node * ccr_mf_tres(j->demand.nodes, c->cluster->nodes, false) +
	       w->gpu * ccr_mf_tres(sim_job_gpus(j), c->cluster->gpus, false);
}

static int score(void *state, struct sim *s, struct sim_job *j, struct ccr_error *err)
{
	struct scorer *c = state;
	double v[CCR_VAR_COUNT], factor[CCR_COLUMNS];
	struct ccr_score_extra extra = {0};
	struct ccr_score out;

	(void)err;
	if (!j->seen) {
		j->seen = true;
		j->group = climb(c, sim_names_get(c->workload->users, j->user),
				 sim_names_get(c->workload->accounts, j->account));
		j->ahead = c->waiting[owner(c, j)]++;
	}
	fill_vars(c, s, j, v);
	ccr_policy_eval(c->expr, v, factor, c->faults);
	extra.tres = tres_points(c, j);
	ccr_score(&c->rule, factor, &extra, &out);
	j->score = out.priority;
	for (int i = 0; i < CCR_COLUMNS; i++)
		j->terms[i] = out.points[i];
	j->terms[TERM_TRES] = extra.tres;
	return CCR_OK;
}

/* --- making one --------------------------------------------------------------------------------
 */

static const struct {
	const char *key;
	enum ccr_column column;
} weight_keys[] = {{"PriorityWeightAge", CCR_COL_AGE},
		   {"PriorityWeightAssoc", CCR_COL_ASSOC},
		   {"PriorityWeightFairshare", CCR_COL_FAIRSHARE},
		   {"PriorityWeightJobSize", CCR_COL_JOBSIZE},
		   {"PriorityWeightPartition", CCR_COL_PARTITION},
		   {"PriorityWeightQOS", CCR_COL_QOS}};

static int make_weights(struct scorer *c, struct ccr_error *err)
{
	const struct ccr_config *config = c->config;
	bool any = false;

	for (size_t i = 0; i < sizeof(weight_keys) / sizeof(weight_keys[0]); i++)
		any |= sim_cluster_setting(c->cluster, weight_keys[i].key) != NULL;
	for (size_t i = 0; i < sizeof(weight_keys) / sizeof(weight_keys[0]); i++) {
		const char *text = sim_cluster_setting(c->cluster, weight_keys[i].key);
		uint64_t v = 0;

		if (text && !sim_text_u64(text, 0, UINT32_MAX, &v))
			return ccr_error_set(err, CCR_EINVAL, 0,
					     "%s=%.60s: a whole number is expected",
					     weight_keys[i].key, text);
		c->rule.weight[weight_keys[i].column] =
		    any ? (double)v : sccr_usual_weight(config->preset, weight_keys[i].column);
	}
	c->rule.weight[CCR_COL_SITE] = 1;
	c->rule.base = config->base;
	c->rule.whole = !config->exact_points;
	return sim_weights_parse(sim_cluster_setting(c->cluster, "PriorityWeightTRES"), &c->tres,
				 err);
}

static int period_of(const struct sim_cluster *cl, const char *key, sim_time usual, sim_time *out,
		     struct ccr_error *err)
{
	const char *text = sim_cluster_setting(cl, key);

	*out = usual;
	if (text && (!sim_text_limit(text, out) || *out >= SIM_NEVER))
		return ccr_error_set(err, CCR_EINVAL, 0, "%s=%.60s: a duration is expected", key,
				     text);
	return CCR_OK;
}

static void read_flags(struct scorer *c)
{
	const char *small = sim_cluster_setting(c->cluster, "PriorityFavorSmall");
	const char *flags = sim_cluster_setting(c->cluster, "PriorityFlags");

	c->favor_small = small && !strcasecmp(small, "yes");
	c->relative = flags && strcasestr(flags, "SMALL_RELATIVE_TO_TIME");
	c->whole_part =
	    flags && (strcasestr(flags, "NO_NORMAL_ALL") || strcasestr(flags, "NO_NORMAL_PART"));
}

static int make_ledger(struct scorer *c, struct ccr_error *err)
{
	const struct ccr_config_usage *u = &c->config->usage;
	sim_time half = 0;
	struct ccr_usage_model m = {.interval_s = u->interval,
				    .depth = (unsigned)u->depth,
				    .decay = u->decay,
				    .hist_hours = u->hist_hours};
	int rc = period_of(c->cluster, "PriorityDecayHalfLife", 7 * 86400 * SIM_SECOND, &half, err);

	if (rc)
		return rc;
	m.kind = (enum ccr_usage_kind)u->model;
	m.half_life_s = (double)half / (double)SIM_SECOND;
	c->ledger = ccr_ledger_new(&m, seconds(c, c->workload->counts.first_submit), err);
	return c->ledger ? CCR_OK : CCR_ENOMEM;
}

static int make_arrays(struct scorer *c, struct ccr_error *err)
{
	const struct sim_cluster *cl = c->cluster;
	size_t owners = ((size_t)sim_names_count(c->workload->users) + 1) * cl->parts;

	c->group = calloc(c->config->groups.count + 1, sizeof(*c->group));
	c->running = calloc(owners, sizeof(*c->running));
	c->waiting = calloc(owners, sizeof(*c->waiting));
	c->billing = calloc(cl->parts, sizeof(*c->billing));
	if (!c->group || !c->running || !c->waiting || !c->billing)
		return ccr_error_nomem(err);
	for (uint32_t i = 0; i < cl->parts; i++) {
		int rc = sim_weights_parse(cl->part[i].billing, &c->billing[i], err);

		if (rc)
			return rc;
		if (cl->part[i].job_factor > c->max_job_factor)
			c->max_job_factor = cl->part[i].job_factor;
	}
	if (c->max_job_factor <= 0)
		c->max_job_factor = 1;
	return CCR_OK;
}

static void scorer_free(void *state)
{
	struct scorer *c = state;

	if (!c)
		return;
	ccr_policy_free(c->expr);
	ccr_ledger_free(c->ledger);
	free(c->group);
	free(c->running);
	free(c->waiting);
	free(c->billing);
	free(c->ended);
	free(c->by_age);
	free(c);
}

int sim_policy_scorer(const struct sim_policy *p, const struct sim_cluster *cl,
		      const struct sim_workload *w, struct sim_scorer *out, struct ccr_error *err)
{
	static const char *const names[SIM_TERMS] = {"SITE",	"AGE",	     "ASSOC", "FAIRSHARE",
						     "JOBSIZE", "PARTITION", "QOS",   "TRES"};
	struct scorer *c = calloc(1, sizeof(*c));
	struct ccr_policy_spec spec = {0};
	sim_time age;
	int rc;

	memset(out, 0, sizeof(*out));
	if (!c)
		return ccr_error_nomem(err);
	out->state = c;
	out->free = scorer_free;
	out->ncolumns = SIM_TERMS;
	memcpy(out->column, names, sizeof(names));
	out->score = score;
	out->tick = tick;
	out->started = started;
	out->ended = ended;
	out->withdrawn = withdrawn;
	c->config = sim_policy_config(p);
	c->cluster = cl;
	c->workload = w;
	ccr_config_policy_spec(c->config, &spec);
	rc = ccr_policy_compile(&spec, &c->expr, err);
	if (!rc)
		rc = make_weights(c, err);
	if (!rc)
		rc = period_of(cl, "PriorityCalcPeriod", 300 * SIM_SECOND, &out->period, err);
	if (!rc)
		rc = period_of(cl, "PriorityMaxAge", 7 * 86400 * SIM_SECOND, &age, err);
	if (!rc)
		rc = make_ledger(c, err);
	if (!rc)
		rc = make_arrays(c, err);
	if (rc)
		return rc;
	read_flags(c);
	c->max_age = (uint32_t)(age / SIM_SECOND);
	c->counts_ahead = ccr_policy_uses(c->expr, CCR_VAR_STARTED) ||
			  ccr_policy_uses(c->expr, CCR_VAR_LSF_PRIORITY);
	stand(c);
	return CCR_OK;
}
