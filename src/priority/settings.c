/* settings - see settings.h */
#include "priority/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "slurm/policy_path.h"

/*
 * PriorityCalcPeriod knows minutes only; ccr_calc_seconds=N lets a site (Aqua re-ranks every 60 s)
 * and a test go below.
 */
static uint32_t period(void)
{
	char *given = ccr_slurm_option("ccr_calc_seconds"), *end = NULL;
	long s = given ? strtol(given, &end, 10) : 0;
	bool good = given && end != given && !*end && s >= 1 && s <= 86400;

	if (given && !good && ccr_slurm_in_slurmctld())
		error("priority/ccr: PriorityParameters: ccr_calc_seconds: found \"%s\", expected "
		      "whole seconds from 1 to 86400; PriorityCalcPeriod holds",
		      given);
	free(given);
	if (good)
		return (uint32_t)s;
	return slurm_conf.priority_calc_period ? slurm_conf.priority_calc_period : 300;
}

/* Of what is ours by its name; the rest may be another plugin's. */
static void warn_of_options(void)
{
	static const char *const known[] = {"ccr_conf", "ccr_calc_seconds"};
	char *all = slurm_conf.priority_params ? strdup(slurm_conf.priority_params) : NULL, *rest;

	for (char *o = all ? strtok_r(all, ",", &rest) : NULL; o; o = strtok_r(NULL, ",", &rest)) {
		size_t n = strcspn(o, "=");
		bool found = strncasecmp(o, "ccr_", 4) != 0;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			found = found || (strlen(known[i]) == n && !strncasecmp(o, known[i], n));
		if (!found)
			error("priority/ccr: PriorityParameters: there is no option %.*s", (int)n,
			      o);
	}
	free(all);
}

/*
 * A finished job stays in slurmctld's list for MinJobAge. Looking twice as often means that the
 * ledger misses no job, however short.
 */
static uint32_t tick(uint32_t period)
{
	uint32_t keep = slurm_conf.min_job_age;

	if (!keep || keep / 2 >= period)
		return period;
	return keep / 2 ? keep / 2 : 1;
}

/* The weights of TRES as an array by index, and as the rule that is worked with. */
static bool set_tres(struct ccr_settings *s, const double *weights, int count)
{
	size_t n = sizeof(*weights) * (size_t)(count > 0 ? count : 0);

	s->weight_tres = NULL;
	memset(&s->tres, 0, sizeof(s->tres));
	if (!weights || !n)
		return true;
	s->weight_tres = malloc(n);
	if (!s->weight_tres)
		return false;
	memcpy(s->weight_tres, weights, n);
	return ccr_tres_rule_make(&s->tres, weights, count,
				  (s->flags & PRIORITY_FLAGS_NO_NORMAL_TRES) != 0);
}

static bool read_tres(struct ccr_settings *s)
{
	double *w;
	bool ok;

	/* sshare loads the plugin too: no scores there, and no TRES that are counted. */
	if (!slurm_conf.priority_weight_tres || !ccr_slurm_in_slurmctld())
		return true;
	w = slurm_get_tres_weight_array(slurm_conf.priority_weight_tres, slurmctld_tres_cnt, false);
	for (int i = 0; w && i < slurmctld_tres_cnt; i++) {
		if (isfinite(w[i]))
			continue;
		error("priority/ccr: PriorityWeightTRES=%s: a weight that is no number counts 0",
		      slurm_conf.priority_weight_tres);
		w[i] = 0;
	}
	ok = set_tres(s, w, slurmctld_tres_cnt);
	xfree(w);
	return ok;
}

bool ccr_settings_read(struct ccr_settings *s)
{
	const uint16_t hidden = PRIVATE_DATA_USAGE | PRIVATE_DATA_USERS | PRIVATE_DATA_ACCOUNTS;

	memset(s, 0, sizeof(*s));
	s->weight[CCR_COL_SITE] = 1;
	s->weight[CCR_COL_AGE] = slurm_conf.priority_weight_age;
	s->weight[CCR_COL_ASSOC] = slurm_conf.priority_weight_assoc;
	s->weight[CCR_COL_FAIRSHARE] = slurm_conf.priority_weight_fs;
	s->weight[CCR_COL_JOBSIZE] = slurm_conf.priority_weight_js;
	s->weight[CCR_COL_PARTITION] = slurm_conf.priority_weight_part;
	s->weight[CCR_COL_QOS] = slurm_conf.priority_weight_qos;
	s->flags = slurm_conf.priority_flags;
	s->fs.fair_tree = (s->flags & PRIORITY_FLAGS_FAIR_TREE) != 0;
	s->fs.depth_oblivious = (s->flags & PRIORITY_FLAGS_DEPTH_OBLIVIOUS) != 0;
	s->fs.dampening = slurm_conf.fs_dampening_factor;
	s->max_age = slurm_conf.priority_max_age;
	s->period = period();
	if (ccr_slurm_in_slurmctld())
		warn_of_options();
	s->tick = tick(s->period);
	s->half_life = slurm_conf.priority_decay_hl;
	s->reset_period = slurm_conf.priority_reset_period;
	s->favor_small = slurm_conf.priority_favor_small != 0;
	s->with_dbd = slurm_with_slurmdbd();
	s->ledger_mode = slurm_conf.private_data & hidden ? 0600 : 0644;
	s->has_site_plugin = slurm_conf.site_factor_plugin &&
			     xstrcmp(slurm_conf.site_factor_plugin, "site_factor/none") != 0;
	s->debug = (slurm_conf.debug_flags & DEBUG_FLAG_PRIO) != 0;
	s->slurm_uid = slurm_conf.slurm_user_id;
	s->conf_path = ccr_slurm_policy_path();
	s->state_dir = strdup(slurm_conf.state_save_location ? slurm_conf.state_save_location : "");
	if (!read_tres(s) || !s->conf_path || !s->state_dir) {
		ccr_settings_free(s);
		return false;
	}
	return true;
}

bool ccr_settings_copy(struct ccr_settings *to, const struct ccr_settings *from)
{
	*to = *from;
	to->conf_path = strdup(from->conf_path);
	to->state_dir = strdup(from->state_dir);
	if (set_tres(to, from->weight_tres, from->tres.tres_cnt) && to->conf_path && to->state_dir)
		return true;
	ccr_settings_free(to);
	return false;
}

void ccr_settings_free(struct ccr_settings *s)
{
	free(s->weight_tres);
	ccr_tres_rule_free(&s->tres);
	free(s->conf_path);
	free(s->state_dir);
	memset(s, 0, sizeof(*s));
}
