/* live - see live.h */
#include "sccr/live.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEPTH_MAX 64

/* Columns of sshare. */
enum { ACCOUNT, USER, RAW_USAGE, RAW_SHARES, NORM_USAGE, COLUMNS };

/* Billed seconds from which whole ones tell more of a part than sshare's six decimals do. */
#define RAW_IS_FINER 2e6

/* The value of NAME= in a comma separated list, malloc'd; NULL if it is not there. */
static char *option(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		if (!strncasecmp(p, name, n) && p[n] == '=')
			return strndup(p + n + 1, strcspn(p + n + 1, ","));
	}
	return NULL;
}

static char *beside(const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');
	char *out = NULL;

	if (asprintf(&out, "%.*s%s", slash ? (int)(slash - file + 1) : 0, file, name) < 0)
		return NULL;
	return out;
}

int live_policy_path(char **out, struct ccr_error *err)
{
	struct client_rows config;
	char *type, *params, *conf;
	int rc = client_show_config(&config, err);

	*out = NULL;
	if (rc)
		return rc;
	type = client_config(&config, "PriorityType");
	params = client_config(&config, "PriorityParameters");
	conf = client_config(&config, "SLURM_CONF");
	client_rows_free(&config);
	if (!type || strcmp(type, "priority/ccr")) {
		rc = ccr_error_set(err, CCR_EINVAL, 0,
				   "the cluster has PriorityType=%s, expected priority/ccr (or "
				   "give --policy)",
				   type ? type : "?");
	} else {
		*out = option(params, "ccr_conf");
		if (!*out && conf)
			*out = beside(conf, "ccr.json");
		if (!*out)
			rc = ccr_error_nomem(err);
	}
	free(type);
	free(params);
	free(conf);
	return rc;
}

int live_policy_beside(const char *conf, char **out, struct ccr_error *err)
{
	*out = beside(conf, "ccr.json");
	return *out ? CCR_OK : ccr_error_nomem(err);
}

double live_ledger_of_group(const struct ccr_ledger *ledger, const struct ccr_groups *groups,
			    const struct ccr_group *group)
{
	const struct ccr_ledger_entry *e = NULL;
	double sum = 0, total = ccr_ledger_total(ledger).s[CCR_BILLED];

	while ((e = ccr_ledger_next(ledger, e))) {
		struct ccr_usage_key k = ccr_ledger_entry_key(e);
		const char *account = k.account;

		if (ccr_groups_climb(groups, k.user, &account, 1, NULL, NULL) == group)
			sum += ccr_ledger_entry_usage(ledger, e).s[CCR_BILLED];
	}
	return total > 0 ? 100 * sum / total : 0;
}

int live_ledger_path(char **out, uid_t *slurm_user, struct ccr_error *err)
{
	struct client_rows config;
	char *dir, *user, *number;
	int rc = client_show_config(&config, err);

	*out = NULL;
	if (rc)
		return rc;
	dir = client_config(&config, "StateSaveLocation");
	user = client_config(&config, "SlurmUser"); /* slurm(64030) */
	number = user ? strchr(user, '(') : NULL;
	*slurm_user = number ? (uid_t)strtoul(number + 1, NULL, 10) : 0;
	free(user);
	client_rows_free(&config);
	if (!dir || asprintf(out, "%s/ccr_usage.json", dir) < 0) {
		*out = NULL;
		rc = ccr_error_nomem(err);
	}
	free(dir);
	return rc;
}

/* Shares of those directly below association i, added up; who has its parent's has none. */
static double level_of(const struct live_usage *u, size_t i)
{
	double sum = 0;

	for (size_t k = i + 1; k < u->n && u->assoc[k].depth > u->assoc[i].depth; k++)
		if (u->assoc[k].depth == u->assoc[i].depth + 1)
			sum += strtod(u->rows.row[k][RAW_SHARES], NULL); /* "parent" is 0 */
	return sum;
}

/* As src/priority/standing.c has it: each has a part of its parent's share. */
static void set_shares(struct live_usage *u)
{
	double share[DEPTH_MAX + 1] = {0}, level[DEPTH_MAX + 1] = {0};

	for (size_t i = 0; i < u->n; i++) {
		struct live_assoc *a = &u->assoc[i];
		const char *raw = u->rows.row[i][RAW_SHARES];

		/* users are printed one deeper than the account that they are in, as accounts are
		 */
		if (!a->depth)
			a->share = 1;
		else if (level[a->depth - 1] > 0)
			a->share = share[a->depth - 1] * strtod(raw, NULL) / level[a->depth - 1];
		if (*a->user)
			continue;
		/* what is its parent's is no share of its own, but what those below share */
		share[a->depth] = strcmp(raw, "parent") ? a->share : share[a->depth - 1];
		level[a->depth] = level_of(u, i);
	}
}

/* RawUsage is cut to whole seconds: of a cluster that has used little that is much. */
static void set_parts(struct live_usage *u)
{
	double all = u->assoc[0].raw;
	bool norm = false;

	for (size_t i = 1; i < u->n && all < RAW_IS_FINER && !norm; i++)
		norm = strtod(u->rows.row[i][NORM_USAGE], NULL) > 0;
	for (size_t i = 0; i < u->n; i++)
		u->assoc[i].part = i && norm ? strtod(u->rows.row[i][NORM_USAGE], NULL)
				   : all > 0 ? u->assoc[i].raw / all
					     : 0;
}

int live_usage_read(struct live_usage *u, struct ccr_error *err)
{
	char *const argv[] = {
	    "sshare", "-h", "-a", "-P", "-o", "Account,User,RawUsage,RawShares,NormUsage", NULL};
	int rc;

	memset(u, 0, sizeof(*u));
	rc = client_run(argv, COLUMNS, &u->rows, NULL);
	if (rc == CCR_ENOMEM)
		return ccr_error_nomem(err);
	if (rc || !u->rows.n) /* no database, or none of its business */
		return CCR_OK;
	u->assoc = calloc(u->rows.n, sizeof(*u->assoc));
	if (!u->assoc)
		return ccr_error_nomem(err);
	for (size_t i = 0; i < u->rows.n; i++) {
		char **f = u->rows.row[i];
		size_t blanks = strspn(f[ACCOUNT], " ");

		u->assoc[i] = (struct live_assoc){
		    .account = f[ACCOUNT] + blanks,
		    .user = f[USER],
		    .depth = blanks < DEPTH_MAX ? (int)blanks : DEPTH_MAX - 1,
		    .raw = strtod(f[RAW_USAGE], NULL),
		};
	}
	u->n = u->rows.n;
	u->whole = !*u->assoc[0].user && !u->assoc[0].depth && !strcmp(u->assoc[0].account, "root");
	set_shares(u);
	set_parts(u);
	return CCR_OK;
}

void live_usage_free(struct live_usage *u)
{
	free(u->assoc);
	client_rows_free(&u->rows);
	memset(u, 0, sizeof(*u));
}

/*
 * Walks the tree as the plugin does (src/priority/standing.c): an account that no group names is
 * its parent's group's; a group's usage is that of the topmost of its accounts, and of its users
 * elsewhere.
 */
double live_usage_of_group(const struct live_usage *u, const struct ccr_groups *groups,
			   const struct ccr_group *group)
{
	const struct ccr_group *at[DEPTH_MAX + 1] = {NULL};
	double sum = 0;

	for (size_t i = 0; i < u->n; i++) {
		const struct live_assoc *a = &u->assoc[i];
		const struct ccr_group *up = a->depth ? at[a->depth - 1] : NULL, *g;

		if (*a->user) {
			g = ccr_groups_find_user(groups, a->user);
			if (g == group && g != up)
				sum += a->part;
			continue;
		}
		g = ccr_groups_find(groups, a->account);
		if (!g)
			g = up;
		at[a->depth] = g;
		if (g == group && g != up)
			sum += a->part;
		else if (!g && a->depth == 1 && groups->fallback == group)
			sum += a->part;
	}
	return 100 * sum;
}

double live_share_of_account(const struct live_usage *u, const char *account)
{
	for (size_t i = 0; i < u->n; i++)
		if (!*u->assoc[i].user && !strcasecmp(u->assoc[i].account, account))
			return u->assoc[i].share;
	return 0;
}

struct ccr_target live_target_of_group(const struct live_usage *u, const struct ccr_group *group)
{
	struct ccr_target t = group->target;
	double share = t.kind == CCR_TARGET_NONE ? live_share_of_account(u, group->name) : 0;

	if (share > 0)
		t = (struct ccr_target){.kind = CCR_TARGET_BOTH, .percent = 100 * share};
	return t;
}

const struct ccr_group *live_group_of(const struct live_usage *u, const struct ccr_groups *groups,
				      const char *user, const char *account, bool *sure)
{
	const char *chain[DEPTH_MAX + 1], *at[DEPTH_MAX + 1] = {NULL};
	size_t n = 0;

	chain[n++] = account;
	for (size_t i = 0; i < u->n; i++) {
		const struct live_assoc *a = &u->assoc[i];

		if (*a->user)
			continue;
		at[a->depth] = a->account;
		if (strcasecmp(a->account, account))
			continue;
		for (int d = a->depth - 1; d >= 0 && n <= DEPTH_MAX; d--) {
			if (at[d])
				chain[n++] = at[d];
		}
		break;
	}
	if (sure)
		*sure = !u->n || u->whole || ccr_groups_find_user(groups, user) ||
			ccr_groups_find(groups, account);
	return ccr_groups_climb(groups, user, chain, n, NULL, NULL);
}

void live_usage_print_users(const struct live_usage *u, FILE *out)
{
	fprintf(out, "\n%-20s %-20s %8s %14s\n", "USER", "ACCOUNT", "USAGE", "BILLED_HOURS");
	for (size_t i = 0; i < u->n; i++) {
		const struct live_assoc *a = &u->assoc[i];

		if (*a->user)
			fprintf(out, "%-20s %-20s %8.2f %14.2f\n", a->user, a->account,
				100 * a->part, a->raw / 3600);
	}
}
