/* score_inputs - see score_inputs.h */
#include "sccr/score_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/lsf.h"
#include "core/nearest.h"
#include "core/shares.h"
#include "sccr/sim_text.h"

#define NICE_MOST  2147483645.0 /* Slurm's: sbatch(1), --nice */
#define COUNT_MOST 4294967293.0 /* Slurm's, of 32 bits less the numbers that mean none */

static int bad(struct ccr_error *err, const char *name, const char *found, const char *expected)
{
	return ccr_error_set(err, CCR_EINVAL, 0, "%.60s: found \"%.80s\", expected %s", name, found,
			     expected);
}

static int add(struct score_input *v, double value, struct ccr_error *err)
{
	double *more;

	if (v->n >= SCORE_VALUES_MAX)
		return ccr_error_set(err, CCR_EINVAL, 0, "found more than %d values of a variable",
				     SCORE_VALUES_MAX);
	more = realloc(v->value, (size_t)(v->n + 1) * sizeof(*more));
	if (!more)
		return ccr_error_nomem(err);
	v->value = more;
	v->value[v->n++] = value;
	return CCR_OK;
}

/* One value of a variable in the variable's own unit. */
static bool parse_value(int var, const char *text, double *out)
{
	uint32_t mib;
	sim_time t;

	if (sim_text_double(text, out))
		return true;
	if (var == CCR_VAR_MEM && sim_text_mem(text, &mib)) {
		*out = 1024.0 * mib;
		return true;
	}
	if ((var == CCR_VAR_WALLTIME || var == CCR_VAR_ELIGIBLE_TIME ||
	     var == CCR_VAR_QUEUE_MINUTES) &&
	    strchr(text, ':') && sim_text_limit(text, &t) && t != SIM_NEVER) {
		*out = (double)t / SIM_SECOND / (var == CCR_VAR_QUEUE_MINUTES ? 60 : 1);
		return true;
	}
	return false;
}

/* Is this a count of something, or a whole number of Slurm's? */
static bool counts(int var)
{
	switch (var) {
	case CCR_VAR_NODES:
	case CCR_VAR_NCPUS:
	case CCR_VAR_NGPUS:
	case CCR_VAR_NTASKS:
	case CCR_VAR_STARTED:
	case CCR_VAR_QUEUE_PRIORITY:
	case CCR_VAR_QOS_PRIORITY:
		return true;
	default:
		return false;
	}
}

/*
 * What a variable can be: what Slurm or the policy file would let through. A count may be 0, for
 * the start of a range.
 */
static void limits_of(int var, double *low, double *high, const char **words)
{
	if (counts(var)) {
		*low = 0;
		*high = COUNT_MOST;
		*words = "a whole number from 0 to 4294967293";
		return;
	}
	*low = 0;
	*high = INFINITY;
	*words = "a number of at least 0";
	switch (var) {
	case CCR_VAR_TARGET:
	case CCR_VAR_USAGE:
	case CCR_VAR_USER_USAGE:
	case CCR_VAR_QOS_USAGE:
		*high = 100;
		*words = "a percentage from 0 to 100";
		return;
	case CCR_VAR_FS_DELTA:
		*low = -100;
		*high = 100;
		*words = "percent points from -100 to 100";
		return;
	case CCR_VAR_AGE_FACTOR:
	case CCR_VAR_FS_FACTOR:
	case CCR_VAR_SIZE_FACTOR:
	case CCR_VAR_FAIRSHARE_FACTOR:
		*high = 1;
		*words = "a factor from 0 to 1";
		return;
	case CCR_VAR_MEM:
		*words = "kB, or an amount such as 64G";
		return;
	case CCR_VAR_WALLTIME:
	case CCR_VAR_ELIGIBLE_TIME:
		*words = "seconds, or a time such as 1-00:00:00";
		return;
	case CCR_VAR_QUEUE_MINUTES:
		*words = "minutes, or a time such as 1-00:00:00";
		return;
	case CCR_VAR_JOB_PRIORITY:
		*low = -NICE_MOST;
		*high = NICE_MOST;
		*words = "a whole number from -2147483645 to 2147483645";
		return;
	default:
		return;
	}
}

static bool allowed(int var, double value, const char **words)
{
	double low, high;

	limits_of(var, &low, &high, words);
	return isfinite(value) && value >= low && value <= high &&
	       ((!counts(var) && var != CCR_VAR_JOB_PRIORITY) || value == floor(value));
}

/* FROM..TO[..STEP]: both ends count; about ten steps where none is given, of a count whole ones. */
static int add_range(struct score_input *v, int var, const char *name, char *text,
		     struct ccr_error *err)
{
	char *to = strstr(text, ".."), *step = NULL;
	const char *words;
	double a, b, s;
	int rc = CCR_OK;

	*to = '\0';
	to += 2;
	step = strstr(to, "..");
	if (step) {
		*step = '\0';
		step += 2;
	}
	if (!parse_value(var, text, &a) || !parse_value(var, to, &b) || b < a) {
		to[-2] = '.';
		if (step)
			step[-2] = '.';
		return bad(err, name, text, "a range such as 0..100 or 0..100..5");
	}
	if (!allowed(var, a, &words) || !allowed(var, b, &words))
		return bad(err, name, allowed(var, a, &words) ? to : text, words);
	s = counts(var) ? ceil((b - a) / 10) : (b - a) / 10;
	if (step && (!parse_value(var, step, &s) || !(s > 0)))
		return bad(err, name, step, "a step above 0");
	if (step && counts(var) && s != floor(s))
		return bad(err, name, step, "a step that is a whole number");
	if (!(s > 0))
		return add(v, a, err);
	for (int i = 0; !rc && a + i * s <= b + s * 1e-9; i++)
		rc = add(v, a + i * s, err);
	if (!rc && !step && v->value[v->n - 1] < b - s * 1e-9)
		rc = add(v, b, err);
	return rc;
}

static int add_values(struct score_inputs *in, int var, const char *name, char *list,
		      struct ccr_error *err)
{
	struct score_input *v = &in->var[var];
	char *save = NULL;
	int rc = CCR_OK;

	if (v->n)
		return bad(err, name, list, "it once");
	for (char *t = strtok_r(list, ",", &save); !rc && t; t = strtok_r(NULL, ",", &save)) {
		const char *words;
		double value, low, high;

		limits_of(var, &low, &high, &words);
		if (strstr(t, ".."))
			rc = add_range(v, var, name, t, err);
		else if (parse_value(var, t, &value) && allowed(var, value, &words))
			rc = add(v, value, err);
		else
			rc = bad(err, name, t, words);
	}
	if (!rc && !v->n)
		rc = bad(err, name, "", "a number");
	if (!rc && v->n > 1)
		in->order[in->n_several++] = var;
	return rc;
}

static int add_group(struct score_inputs *in, const struct ccr_config *config, const char *name,
		     struct ccr_error *err)
{
	struct score_input *v = &in->var[SCORE_GROUP];
	enum ccr_group_by by = CCR_GROUP_BY_NONE;
	const struct ccr_group *g = ccr_groups_climb(&config->groups, name, &name, 1, &by, NULL);
	int rc;

	if (!g || by == CCR_GROUP_BY_DEFAULT)
		return bad(err, "group", name, "a group, account or user of the policy");
	rc = add(v, v->n, err);
	if (!rc)
		in->group[v->n - 1] = g;
	return rc;
}

static int add_nice(struct score_inputs *in, const struct ccr_config *unused, const char *text,
		    struct ccr_error *err)
{
	double value;

	(void)unused;
	if (!sim_text_double(text, &value) || !(fabs(value) <= NICE_MOST) || value != floor(value))
		return bad(err, "nice", text, "a whole number from -2147483645 to 2147483645");
	return add(&in->var[SCORE_NICE], value, err);
}

/* Tiers are names of financial factors. */
static int add_tier(struct score_inputs *in, const struct ccr_config *config, const char *name,
		    struct ccr_error *err)
{
	struct score_input *v = &in->var[CCR_VAR_FINANCIAL];
	int rc;

	for (size_t i = 0; i < config->groups.n_tiers; i++) {
		if (strcmp(config->groups.tiers[i].name, name) != 0)
			continue;
		rc = add(v, config->groups.tiers[i].factor, err);
		if (!rc)
			in->tier[v->n - 1] = config->groups.tiers[i].name;
		return rc;
	}
	return bad(err, "tier", name, "a tier of the policy");
}

/* What is no variable, or has names for its values. */
static const struct {
	const char *name;
	int input;
	int (*add)(struct score_inputs *, const struct ccr_config *, const char *,
		   struct ccr_error *);
	const char *once, *one;
} others[] = {{"group", SCORE_GROUP, add_group, "it once", "a group of the policy"},
	      {"tier", CCR_VAR_FINANCIAL, add_tier, "it once, and no financial beside it",
	       "a tier of the policy"},
	      {"nice", SCORE_NICE, add_nice, "it once", "a number"}};

/* Which of them a name is; -1: none. */
static int other(const char *name)
{
	for (int k = 0; k < (int)(sizeof(others) / sizeof(others[0])); k++)
		if (!strcmp(others[k].name, name))
			return k;
	return -1;
}

static int take_other(struct score_inputs *in, int k, const struct ccr_config *config, char *list,
		      struct ccr_error *err)
{
	const struct score_input *v = &in->var[others[k].input];
	char *save = NULL;
	int rc = CCR_OK;

	if (v->n)
		return bad(err, others[k].name, list, others[k].once);
	for (char *t = strtok_r(list, ",", &save); !rc && t; t = strtok_r(NULL, ",", &save))
		rc = others[k].add(in, config, t, err);
	if (!rc && !v->n)
		rc = bad(err, others[k].name, "", others[k].one);
	if (!rc && v->n > 1)
		in->order[in->n_several++] = others[k].input;
	return rc;
}

/* Targets with a suffix, which is that of all of them. */
static int take_targets(struct score_inputs *in, char *list, struct ccr_error *err)
{
	struct ccr_target t = {.kind = CCR_TARGET_NONE};
	double low, high;
	const char *words;
	char *save = NULL;
	int rc = CCR_OK;

	limits_of(CCR_VAR_TARGET, &low, &high, &words);
	for (char *w = strtok_r(list, ",", &save); !rc && w; w = strtok_r(NULL, ",", &save)) {
		if (ccr_target_parse(w, &t) || !allowed(CCR_VAR_TARGET, t.percent, &words))
			return bad(err, "target", w, words);
		if (in->var[CCR_VAR_TARGET].n && t.kind != in->target.kind)
			return bad(err, "target", w, "the same suffix with all targets");
		in->target = t;
		rc = add(&in->var[CCR_VAR_TARGET], t.percent, err);
	}
	if (!rc && in->var[CCR_VAR_TARGET].n > 1)
		in->order[in->n_several++] = CCR_VAR_TARGET;
	return rc;
}

static int unknown(const char *name, struct ccr_error *err)
{
	const char *near = ccr_var_nearest(name);

	return ccr_error_set(err, CCR_EINVAL, 0,
			     "%.60s: no such variable (ccr.json(5) lists them; also wait, tier, "
			     "group, nice)%s%s%s",
			     name, near ? "; did you mean " : "", near ? near : "",
			     near ? "?" : "");
}

int score_inputs_take(struct score_inputs *in, const struct ccr_config *config, const char *word,
		      struct ccr_error *err)
{
	char name[64], *list;
	const char *eq = strchr(word, '=');
	int rc, var;

	if (!eq || eq == word || (size_t)(eq - word) >= sizeof(name))
		return bad(err, "argument", word, "NAME=VALUE");
	memcpy(name, word, (size_t)(eq - word));
	name[eq - word] = '\0';
	list = strdup(eq + 1);
	if (!list)
		return ccr_error_nomem(err);
	var = !strcmp(name, "wait") ? CCR_VAR_QUEUE_MINUTES : ccr_var_find(name);
	if (other(name) >= 0)
		rc = take_other(in, other(name), config, list, err);
	else if (var < 0)
		rc = unknown(name, err);
	else if (var == CCR_VAR_TARGET && in->var[var].n)
		rc = bad(err, name, list, "it once");
	else if (var == CCR_VAR_TARGET && strpbrk(list, "+-^%") && !strstr(list, ".."))
		rc = take_targets(in, list, err);
	else
		rc = add_values(in, var, name, list, err);
	free(list);
	return rc;
}

void score_inputs_free(struct score_inputs *in)
{
	for (int i = 0; i < SCORE_INPUTS; i++)
		free(in->var[i].value);
	memset(in, 0, sizeof(*in));
}

static bool given(const struct score_inputs *in, int v)
{
	return in->var[v].n > 0;
}

const char *score_inputs_name(const struct score_inputs *in, int input)
{
	if (input == CCR_VAR_FINANCIAL && in->tier[0])
		return "tier";
	if (input < CCR_VAR_COUNT)
		return ccr_var_info((enum ccr_var)input)->name;
	return input == SCORE_GROUP ? "group" : "nice";
}

const struct ccr_group *score_inputs_group(const struct score_inputs *in, const int *which)
{
	return given(in, SCORE_GROUP) ? in->group[which[SCORE_GROUP]] : NULL;
}

double score_inputs_nice(const struct score_inputs *in, const int *which)
{
	return given(in, SCORE_NICE) ? in->var[SCORE_NICE].value[which[SCORE_NICE]] : 0;
}

/* What score_inputs_vars() makes of what is given, where it is not given itself. */
static const struct {
	enum ccr_var from, to;
} follows[] = {{CCR_VAR_TARGET, CCR_VAR_FS_DELTA},
	       {CCR_VAR_TARGET, CCR_VAR_FAIRSHARE_FACTOR},
	       {CCR_VAR_USAGE, CCR_VAR_FS_DELTA},
	       {CCR_VAR_USAGE, CCR_VAR_FAIRSHARE_FACTOR},
	       {CCR_VAR_NODES, CCR_VAR_NCPUS},
	       {CCR_VAR_QUEUE_MINUTES, CCR_VAR_ELIGIBLE_TIME},
	       {CCR_VAR_ELIGIBLE_TIME, CCR_VAR_QUEUE_MINUTES},
	       {CCR_VAR_QUEUE_MINUTES, CCR_VAR_AGE_FACTOR},
	       {CCR_VAR_ELIGIBLE_TIME, CCR_VAR_AGE_FACTOR},
	       {CCR_VAR_RUN_HOURS, CCR_VAR_LSF_PRIORITY},
	       {CCR_VAR_STARTED, CCR_VAR_LSF_PRIORITY}};

bool score_inputs_matter(const struct score_inputs *in, const struct ccr_policy *policy,
			 enum ccr_var v)
{
	bool read = ccr_policy_uses(policy, v);

	for (size_t i = 0; i < sizeof(follows) / sizeof(follows[0]); i++)
		read = read || (follows[i].from == v && !given(in, follows[i].to) &&
				ccr_policy_uses(policy, follows[i].to));
	return read;
}

bool score_inputs_group_matters(const struct score_inputs *in, const struct ccr_policy *policy)
{
	return (!given(in, CCR_VAR_TARGET) && score_inputs_matter(in, policy, CCR_VAR_TARGET)) ||
	       (!given(in, CCR_VAR_FINANCIAL) && ccr_policy_uses(policy, CCR_VAR_FINANCIAL)) ||
	       (!given(in, CCR_VAR_FAIRSHARE_FACTOR) &&
		ccr_policy_uses(policy, CCR_VAR_FAIRSHARE_FACTOR));
}

/* PBS's factor as the plugin has it, but for users' shares in sacctmgr, which nobody gave. */
static double fairshare_factor(const struct ccr_group *group, const struct ccr_groups *groups,
			       const double *var)
{
	double usage = var[CCR_VAR_USAGE] / 100, shares = ccr_groups_shares(groups);

	if (group && shares > 0)
		return ccr_pbs_fairshare_factor(usage, ccr_fraction(group->shares, shares));
	if (var[CCR_VAR_TARGET] > 0)
		return ccr_pbs_fairshare_factor(usage, var[CCR_VAR_TARGET] / 100);
	return 1;
}

/* Target, usage and what follows from the two. */
static void group_vars(const struct score_inputs *in, const struct ccr_group *group,
		       const struct ccr_groups *groups, double *var)
{
	struct ccr_target t = in->target;

	if (group && !given(in, CCR_VAR_TARGET))
		t = group->target;
	else if (given(in, CCR_VAR_TARGET)) {
		t.percent = var[CCR_VAR_TARGET];
		if (t.kind == CCR_TARGET_NONE)
			t.kind = CCR_TARGET_BOTH;
	}
	if (group && !given(in, CCR_VAR_FINANCIAL))
		var[CCR_VAR_FINANCIAL] = group->financial;
	if (t.kind != CCR_TARGET_NONE)
		var[CCR_VAR_TARGET] = t.percent;
	if (!given(in, CCR_VAR_FS_DELTA))
		var[CCR_VAR_FS_DELTA] =
		    ccr_target_points(t.kind, var[CCR_VAR_TARGET], var[CCR_VAR_USAGE]);
	if (!given(in, CCR_VAR_FAIRSHARE_FACTOR))
		var[CCR_VAR_FAIRSHARE_FACTOR] = fairshare_factor(group, groups, var);
}

static double lsf(const struct ccr_config *config, const double *var)
{
	const struct ccr_config_lsf *l = &config->lsf;
	const struct ccr_lsf_params p = {.constant = l->constant,
					 .cpu_time_factor = l->cpu_time_factor,
					 .run_time_factor = l->run_time_factor,
					 .run_job_factor = l->run_job_factor};
	const struct ccr_lsf_standing s = {.shares = l->user_shares,
					   .run_time_s = 3600 * var[CCR_VAR_RUN_HOURS]};
	double started = var[CCR_VAR_STARTED];

	return ccr_lsf_priority(&p, &s, started > 0 && started < 1e9 ? (uint32_t)started : 0);
}

void score_inputs_vars(const struct score_inputs *in, const struct ccr_config *config,
		       const int *which, double *var)
{
	double nice = score_inputs_nice(in, which);

	for (int i = 0; i < CCR_VAR_COUNT; i++)
		var[i] = given(in, i) ? in->var[i].value[which[i]] : 0;
	if (!given(in, CCR_VAR_NODES))
		var[CCR_VAR_NODES] = 1;
	if (!given(in, CCR_VAR_NCPUS))
		var[CCR_VAR_NCPUS] = var[CCR_VAR_NODES];
	if (!given(in, CCR_VAR_QUEUE_MINUTES))
		var[CCR_VAR_QUEUE_MINUTES] = var[CCR_VAR_ELIGIBLE_TIME] / 60;
	if (!given(in, CCR_VAR_ELIGIBLE_TIME))
		var[CCR_VAR_ELIGIBLE_TIME] = 60 * var[CCR_VAR_QUEUE_MINUTES];
	if (!given(in, CCR_VAR_AGE_FACTOR) && in->max_age > 0)
		var[CCR_VAR_AGE_FACTOR] = fmin(60 * var[CCR_VAR_QUEUE_MINUTES] / in->max_age, 1);
	group_vars(in, score_inputs_group(in, which), &config->groups, var);
	if (!given(in, CCR_VAR_LSF_PRIORITY))
		var[CCR_VAR_LSF_PRIORITY] = lsf(config, var);
	if (nice != 0 && !given(in, CCR_VAR_JOB_PRIORITY))
		var[CCR_VAR_JOB_PRIORITY] = -nice;
}
