/*
 * config_groups - the policy file's groups and tiers
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_internal.h"

#define A_TARGET                                                                                   \
	"a percentage from 0 to 100, as a number or as a text with one of the suffixes "           \
	"+ - % ^ (\"25+\")"
#define A_FACTOR "a factor from -1000000000 to 1000000000"
#define A_GROUP	 "an object with the group's target, and its tier, financial factor or contributions"

/* --- tiers --- */

static int read_tier(struct ccr__reader *r, const char *key, const struct ccr__value *v, void *into)
{
	struct ccr_groups *g = into;
	double factor;
	int rc = ccr__check_name(r, key, v->line, "the name of a tier");

	if (!rc)
		rc = ccr__number(r, v, -1e9, 1e9, A_FACTOR, &factor);
	if (!rc)
		rc = ccr__check_room(r, v->line, g->n_tiers, "tiers");
	if (!rc)
		rc = ccr__grow(r, &g->tiers, g->n_tiers, sizeof(*g->tiers));
	if (!rc)
		rc = ccr__copy(r, key, &g->tiers[g->n_tiers].name);
	if (rc)
		return rc;
	g->tiers[g->n_tiers].line = v->line;
	g->tiers[g->n_tiers++].factor = factor;
	return 0;
}

int ccr__read_tiers(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config *c = into;

	(void)arg;
	ccr__tiers_clear(&c->groups);
	return ccr__each(r, v, "an object with a factor for each tier, such as {\"gold\": 4.0}",
			 read_tier, &c->groups);
}

/* --- one group --- */

static int read_target(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_group *g = into;
	const char *text;

	(void)arg;
	g->target_line = v->line;
	if (json_object_is_type(v->json, json_type_string)) {
		text = json_object_get_string(v->json);
		if (!text || ccr_target_parse(text, &g->target) || g->target.percent > 100)
			return ccr__bad_value(r, v, "%s", A_TARGET);
		return 0;
	}
	g->target.kind = CCR_TARGET_BOTH;
	return ccr__number(r, v, 0, 100, A_TARGET, &g->target.percent);
}

static int read_tier_name(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_group *g = into;

	(void)arg;
	g->tier_line = v->line;
	return ccr__text(r, v, 255, "the name of one of the tiers", &g->tier);
}

static int read_factor(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_group *g = into;

	(void)arg;
	g->has_financial = true;
	return ccr__number(r, v, -1e9, 1e9, A_FACTOR, &g->financial);
}

static int read_given(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_group *g = into;

	(void)arg;
	return ccr__read_contributions(r, v, &g->contributions);
}

static int read_shares(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_group *g = into;

	(void)arg;
	g->has_shares = true;
	return ccr__number(r, v, 1e-9, 1e9, "shares, a number above 0", &g->shares);
}

struct names {
	char ***list;
	size_t *count;
	const char *what;
};

static int read_name(struct ccr__reader *r, const char *key, const struct ccr__value *v, void *into)
{
	struct names *names = into;
	char *name = NULL;
	int rc = ccr__text(r, v, 255, names->what, &name);

	(void)key;
	if (!rc)
		rc = ccr__check_name(r, name, v->line, names->what);
	if (!rc)
		rc = ccr__grow(r, names->list, *names->count, sizeof(char *));
	if (rc) {
		free(name);
		return rc;
	}
	(*names->list)[(*names->count)++] = name;
	return 0;
}

static int read_accounts(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_group *g = into;
	struct names names = {&g->accounts, &g->n_accounts, "the name of an account"};

	(void)arg;
	return ccr__list(r, v, "a list of account names", read_name, &names);
}

static int read_users(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_group *g = into;
	struct names names = {&g->users, &g->n_users, "the name of a user"};

	(void)arg;
	return ccr__list(r, v, "a list of user names", read_name, &names);
}

static const struct ccr__key group_keys[] = {
    {"target", read_target, 0},	      {"tier", read_tier_name, 0}, {"financial", read_factor, 0},
    {"contributions", read_given, 0}, {"shares", read_shares, 0},  {"accounts", read_accounts, 0},
    {"users", read_users, 0},
};

static int enter_names(struct ccr__reader *r, struct ccr_groups *groups, struct ccr_group *g)
{
	struct ccr_group *other = NULL;
	const char *name = g->name, *kind = "account";
	char found[350];
	int rc = ccr__groups_enter_account(groups, name, g, &other, r->err);

	for (size_t i = 0; i < g->n_accounts && !rc; i++) {
		name = g->accounts[i];
		rc = ccr__groups_enter_account(groups, name, g, &other, r->err);
	}
	for (size_t i = 0; i < g->n_users && !rc; i++) {
		kind = "user";
		name = g->users[i];
		rc = ccr__groups_enter_user(groups, name, g, &other, r->err);
	}
	if (!rc || !other)
		return rc;
	snprintf(found, sizeof(found), "the %s \"%s\", which is in %s \"%s\"%s", kind, name,
		 other == g ? "this group" : "the group", other->name,
		 other == g ? " already" : "");
	return ccr__bad(r, g->line, found, "each %s in one group, once", kind);
}

static int read_group(struct ccr__reader *r, const char *key, const struct ccr__value *v,
		      void *into)
{
	struct ccr_groups *groups = into;
	struct ccr_group *g;
	int rc, ways;

	rc = ccr__check_name(r, key, v->line, "the name of an account as the group's name");
	if (!rc)
		rc = ccr__grow(r, &groups->list, groups->count, sizeof(struct ccr_group *));
	if (rc)
		return rc;
	g = calloc(1, sizeof(*g));
	if (!g)
		return ccr_error_nomem(r->err);
	g->line = v->line;
	g->index = groups->count;
	g->shares = 1;
	groups->list[groups->count++] = g;
	rc = ccr__copy(r, key, &g->name);
	if (!rc)
		rc = ccr__object(r, v, A_GROUP, group_keys, CCR__COUNT(group_keys), g);
	if (rc)
		return rc;
	ways = (g->tier != NULL) + g->has_financial + (g->contributions != NULL);
	if (ways > 1)
		return ccr__bad(r, v->line,
				g->tier ? "a tier and another financial factor"
					: "a financial factor and contributions",
				"only one of \"tier\", \"financial\" and \"contributions\"");
	return enter_names(r, groups, g);
}

int ccr__read_groups(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config *c = into;

	(void)arg;
	ccr__groups_clear(&c->groups);
	return ccr__each(r, v, "an object with an object for each group", read_group, &c->groups);
}

int ccr__read_default_group(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config *c = into;

	(void)arg;
	c->default_group_line = v->line;
	return ccr__text(r, v, 255, "the name of one of the groups", &c->default_group);
}

/* --- when all is read --- */

static struct ccr_tier *find_tier(struct ccr_groups *groups, const char *name)
{
	for (size_t i = 0; i < groups->n_tiers; i++)
		if (strcmp(groups->tiers[i].name, name) == 0)
			return &groups->tiers[i];
	return NULL;
}

/* The message for a name that is none of those of a list; name_of() gives the i-th. */
static int dangling(struct ccr__reader *r, unsigned line, const char *path, const char *name,
		    const char *what, const char *const *known, size_t count)
{
	char hint[120], found[100];

	snprintf(found, sizeof(found), "\"%.80s\"", name);
	ccr__leave(r, 0);
	ccr__enter(r, path);
	return ccr__bad(r, line, found, "%s%s%s", what, count ? "" : ", of which there is none",
			ccr__did_you_mean(name, known, count, hint, sizeof(hint)));
}

static int dangling_tier(struct ccr__reader *r, const struct ccr_group *g)
{
	const struct ccr_groups *groups = &r->config->groups;
	const char **known = calloc(groups->n_tiers + 1, sizeof(*known));
	char path[200];
	int rc;

	if (!known)
		return ccr_error_nomem(r->err);
	for (size_t i = 0; i < groups->n_tiers; i++)
		known[i] = groups->tiers[i].name;
	snprintf(path, sizeof(path), "groups.%.60s.tier", g->name);
	rc = dangling(r, g->tier_line, path, g->tier, "the name of one of the tiers", known,
		      groups->n_tiers);
	free(known);
	return rc;
}

static int find_default(struct ccr__reader *r)
{
	struct ccr_config *c = r->config;
	const char **known;
	int rc;

	if (!c->default_group)
		return 0;
	for (size_t i = 0; i < c->groups.count; i++)
		if (strcmp(c->groups.list[i]->name, c->default_group) == 0)
			c->groups.fallback = c->groups.list[i];
	if (c->groups.fallback)
		return 0;
	known = calloc(c->groups.count + 1, sizeof(*known));
	if (!known)
		return ccr_error_nomem(r->err);
	for (size_t i = 0; i < c->groups.count; i++)
		known[i] = c->groups.list[i]->name;
	rc = dangling(r, c->default_group_line, "default_group", c->default_group,
		      "the name of one of the groups", known, c->groups.count);
	free(known);
	return rc;
}

/* A group's own factor, in words. Sets has_financial where the group has one. */
static int own_factor(struct ccr__reader *r, struct ccr_group *g)
{
	struct ccr_config *c = r->config;
	struct ccr_tier *tier;
	char words[400], path[200];
	int rc;

	if (g->contributions) {
		g->has_financial = true;
		rc = ccr_contributions_factor(c->financial, g->contributions, r->year,
					      &g->financial, &g->financial_words, r->err);
		for (int i = 0; i < CCR_SUPPORT_COUNT && !rc; i++) {
			if (!g->contributions->given[i] || c->financial[i].given)
				continue;
			snprintf(path, sizeof(path), "groups.%.60s.contributions.%s", g->name,
				 ccr_support_name(i));
			rc = ccr__warn(r, g->line, path,
				       "earns nothing: \"financial\" has no rule for it");
		}
		return rc;
	}
	if (g->tier) {
		tier = find_tier(&c->groups, g->tier);
		if (!tier)
			return dangling_tier(r, g);
		tier->used = true;
		g->has_financial = true;
		g->financial = tier->factor;
		snprintf(words, sizeof(words), "the tier %s", g->tier);
	} else if (g->has_financial) {
		snprintf(words, sizeof(words), "given as a number");
	} else {
		return 0;
	}
	return ccr__copy(r, words, &g->financial_words);
}

static int inherit(struct ccr__reader *r, struct ccr_group *g)
{
	const struct ccr_group *from = r->config->groups.fallback;
	char words[400], path[200];
	int rc = 0;

	if (from == g)
		from = NULL;
	if (!g->has_financial) {
		if (from && from->has_financial) {
			g->financial = from->financial;
			snprintf(words, sizeof(words), "as the default group %s: %.200s",
				 from->name, from->financial_words);
		} else {
			snprintf(words, sizeof(words), "no contribution");
		}
		rc = ccr__copy(r, words, &g->financial_words);
	}
	if (rc || g->target.kind != CCR_TARGET_NONE)
		return rc;
	if (from && from->target.kind != CCR_TARGET_NONE) {
		g->target = from->target;
		g->target_inherited = true;
		return 0;
	}
	if (!r->reads_target)
		return 0;
	snprintf(path, sizeof(path), "groups.%.60s", g->name);
	return ccr__warn(
	    r, g->line, path,
	    "has no target%s: unless a database has shares for its account, it neither "
	    "gains nor loses by its usage",
	    r->config->default_group ? ", and neither has the default group" : "");
}

/* Targets are parts of one whole; ceilings and caps are limits, which may overlap. */
static int check_sum(struct ccr__reader *r)
{
	const struct ccr_groups *groups = &r->config->groups;
	const struct ccr_group *g, *last = NULL;
	double sum = 0;
	char found[300];

	for (size_t i = 0; i < groups->count; i++) {
		g = groups->list[i];
		if (g->target.kind != CCR_TARGET_BOTH && g->target.kind != CCR_TARGET_FLOOR)
			continue;
		sum += g->target.percent;
		last = g;
		if (sum <= 100 + 1e-6)
			continue;
		ccr__leave(r, 0);
		ccr__enter(r, "groups");
		ccr__enter(r, g->name);
		ccr__enter(r, "target");
		snprintf(found, sizeof(found),
			 "%.10g, with which the targets sum up to %.10g percent", g->target.percent,
			 sum);
		return ccr__bad(r, g->target_line, found, "at most 100 percent together");
	}
	if (last && sum < 100 - 1e-6 && r->reads_target)
		return ccr__warn(r, 0, "groups",
				 "the targets sum up to %.10g percent: the other %.10g are no "
				 "group's of this file",
				 sum, 100 - sum);
	return 0;
}

int ccr__finish_groups(struct ccr__reader *r)
{
	struct ccr_groups *groups = &r->config->groups;
	char path[200];
	int rc = find_default(r);

	for (size_t i = 0; i < groups->count && !rc; i++)
		rc = own_factor(r, groups->list[i]);
	if (!rc) /* before inheritance: what the default group lends is not counted again */
		rc = check_sum(r);
	for (size_t i = 0; i < groups->count && !rc; i++)
		rc = inherit(r, groups->list[i]);
	for (size_t i = 0; i < groups->n_tiers && !rc; i++) {
		if (groups->tiers[i].used)
			continue;
		snprintf(path, sizeof(path), "tiers.%.60s", groups->tiers[i].name);
		rc = ccr__warn(r, groups->tiers[i].line, path, "no group has this tier");
	}
	if (!rc && r->reads_fairshare && !groups->fallback && ccr_groups_shares(groups) > 0)
		rc = ccr__warn(r, 0, "default_group",
			       "not given, but groups have shares: a user of no group has none of "
			       "them, so that without shares in sacctmgr the user's "
			       "fairshare_factor is 1, above that of every group that has used "
			       "anything");
	if (rc || (!r->reads_target && !r->reads_financial) || groups->fallback)
		return rc;
	if (!groups->count)
		return ccr__warn(
		    r, 0, "groups",
		    "there are none, but the policy reads a group's %s: it is 0 for every "
		    "job",
		    r->reads_target ? "target (shares in a database apart)" : "financial factor");
	return ccr__warn(
	    r, 0, "default_group",
	    "not given: jobs of other accounts have no financial factor, and no target but their "
	    "account's shares where there is a database");
}

const struct ccr__section *ccr__group_sections(size_t *count)
{
	static const struct ccr__section sections[] = {
	    {"groups.*", group_keys, CCR__COUNT(group_keys)},
	};

	*count = CCR__COUNT(sections);
	return sections;
}
