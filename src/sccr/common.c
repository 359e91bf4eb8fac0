/* common - see common.h */
#include "sccr/common.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sccr/sim_text.h"

#define DEFAULT_CONF "/etc/slurm/slurm.conf"

static const struct {
	const char *title, *weight;
} columns[CCR_COLUMNS] = {
    [CCR_COL_SITE] = {"SITE", NULL},
    [CCR_COL_AGE] = {"AGE", "PriorityWeightAge"},
    [CCR_COL_ASSOC] = {"ASSOC", "PriorityWeightAssoc"},
    [CCR_COL_FAIRSHARE] = {"FAIRSHARE", "PriorityWeightFairshare"},
    [CCR_COL_JOBSIZE] = {"JOBSIZE", "PriorityWeightJobSize"},
    [CCR_COL_PARTITION] = {"PARTITION", "PriorityWeightPartition"},
    [CCR_COL_QOS] = {"QOS", "PriorityWeightQOS"},
};

int sccr_this_year(void)
{
	time_t now = time(NULL);
	struct tm tm;

	return localtime_r(&now, &tm) ? tm.tm_year + 1900 : 1970;
}

int sccr_policy_load(const char *name, struct ccr_config **out, struct ccr_error *err)
{
	const struct ccr_config_options options = {.year = sccr_this_year()};
	char text[128];

	if (access(name, F_OK) != 0 && ccr_config_preset_text(name, NULL)) {
		int n = snprintf(text, sizeof(text), "{\"version\": 1, \"preset\": \"%s\"}", name);

		return ccr_config_parse(text, (size_t)n, name, &options, out, err);
	}
	return ccr_config_load(name, &options, out, err);
}

int sccr_policy_compile(const struct ccr_config *config, int column, struct ccr_policy **out,
			struct ccr_error *err)
{
	struct ccr_policy_spec spec;

	ccr_config_policy_spec(config, &spec);
	for (int i = 0; i < CCR_COLUMNS && column >= 0; i++)
		if (i != column)
			spec.expr[i] = NULL;
	return ccr_policy_compile(&spec, out, err);
}

void sccr_warn_of_owner(const char *path, uid_t slurm_user, const char *words)
{
	struct ccr_error err;
	struct stat st;

	if (stat(path, &st) == 0 && ccr_config_check_owner(&st, path, slurm_user, &err))
		sccr_warn("%s%s", words, err.text);
}

uid_t sccr_slurm_user(const struct sim_cluster *settings)
{
	const char *user = sim_cluster_setting(settings, "SlurmUser");
	const struct passwd *pw = user ? getpwnam(user) : NULL;

	return pw ? pw->pw_uid : 0;
}

const char *sccr_column_title(int column)
{
	return columns[column].title;
}

const char *sccr_column_weight(int column)
{
	return columns[column].weight;
}

const char *sccr_find_conf(const char *given)
{
	const char *env = getenv("SLURM_CONF");

	if (given)
		return given;
	if (env && *env)
		return env;
	return access(DEFAULT_CONF, R_OK) == 0 ? DEFAULT_CONF : NULL;
}

double sccr_usual_weight(const char *preset, enum ccr_column column)
{
	if (column == CCR_COL_SITE)
		return 1;
	if (preset && !strcmp(preset, "lsf"))
		return 1000000;
	if (preset && (!strcmp(preset, "aqua") || !strcmp(preset, "multifactor")))
		return 1000;
	switch (column) {
	case CCR_COL_ASSOC:
		return 800;
	case CCR_COL_FAIRSHARE:
		return 500;
	case CCR_COL_JOBSIZE:
		return 16;
	default:
		return 1;
	}
}

static int from_conf(struct sccr_weights *w, const char *conf, struct ccr_error *err)
{
	struct sim_cluster c;
	int rc = sim_cluster_settings(&c, conf, err);
	const char *age = rc ? NULL : sim_cluster_setting(&c, "PriorityMaxAge");
	sim_time t;

	if (age && (!sim_text_limit(age, &t) || t <= 0 || t == SIM_NEVER))
		rc = ccr_error_set(err, CCR_EINVAL, 0,
				   "%s: PriorityMaxAge: found %.40s, expected a time such as 7-0",
				   conf, age);
	else if (age)
		w->max_age = (double)t / SIM_SECOND;
	for (int i = 0; !rc && i < CCR_COLUMNS; i++) {
		const char *value =
		    columns[i].weight ? sim_cluster_setting(&c, columns[i].weight) : NULL;

		w->any = w->any || value;
		if (value && !sim_text_double(value, &w->value[i]))
			rc = ccr_error_set(err, CCR_EINVAL, 0,
					   "%s: %s: found %.40s, expected a number", conf,
					   columns[i].weight, value);
	}
	w->known = !rc;
	sim_cluster_free(&c);
	return rc;
}

static int from_option(struct sccr_weights *w, const char *given, struct ccr_error *err)
{
	char copy[512], *save = NULL;
	bool had[CCR_COLUMNS] = {false};

	if (snprintf(copy, sizeof(copy), "%s", given) >= (int)sizeof(copy))
		return ccr_error_set(err, CCR_EINVAL, 0, "--weights: too long");
	for (char *t = strtok_r(copy, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		char *value = strchr(t, '=');
		int column = -1;

		if (value) {
			*value++ = '\0';
			column = ccr_column_find(t);
		}
		if (column < 0 || column == CCR_COL_SITE)
			return ccr_error_set(err, CCR_EINVAL, 0,
					     "--weights: found \"%.60s\", expected age, assoc, "
					     "fairshare, jobsize, partition or qos, = and a number",
					     t);
		if (!sim_text_double(value, &w->value[column]) || w->value[column] < 0)
			return ccr_error_set(err, CCR_EINVAL, 0,
					     "--weights: %s: found \"%.60s\", expected a number of "
					     "at least 0",
					     t, value);
		if (had[column])
			return ccr_error_set(err, CCR_EINVAL, 0,
					     "--weights: %s: found \"%.60s\", expected it once", t,
					     value);
		had[column] = w->known = w->any = true;
	}
	return CCR_OK;
}

int sccr_weights_read(struct sccr_weights *w, const char *conf, const char *given,
		      struct ccr_error *err)
{
	int rc = CCR_OK;

	memset(w, 0, sizeof(*w));
	w->value[CCR_COL_SITE] = 1;
	w->max_age = 7 * 86400;
	if (conf)
		rc = from_conf(w, conf, err);
	if (!rc && given)
		rc = from_option(w, given, err);
	return rc;
}
