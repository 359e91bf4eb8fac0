/* config - see config.h */
#include "core/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_internal.h"
#include "core/json.h"
#include "core/presets.h"

#define BASE_MAX INT64_C(2147483647)

static int read_text(struct ccr__reader *r, const char *text, size_t len);

/* --- presets --- */

const char *const *ccr_config_presets(void)
{
	/* The order of the manual page; test_config holds it against the embedded ones. */
	static const char *const names[] = {"ccr", "aqua", "lsf", "multifactor", NULL};

	return names;
}

const char *ccr_config_preset_text(const char *name, size_t *len)
{
	for (const struct ccr__preset *p = ccr__presets; p->name; p++) {
		if (strcmp(p->name, name) != 0)
			continue;
		if (len)
			*len = p->len;
		return p->text;
	}
	return NULL;
}

static int read_preset(struct ccr__reader *r, const struct ccr__value *v)
{
	const char *const *names = ccr_config_presets();
	char where[64];
	struct ccr__reader inner = {.config = r->config,
				    .name = where,
				    .preset = true,
				    .year = r->year,
				    .err = r->err,
				    .formula_column = -1};
	const char *text;
	size_t len = 0, count = 0;
	int which = 0, rc;

	while (names[count])
		count++;
	if (r->preset)
		return ccr__bad(r, v->line, "a preset inside a preset", "the policy itself");
	rc = ccr__choice(r, v, names, count, &which);
	if (!rc)
		rc = ccr__copy(r, names[which], &r->config->preset);
	if (rc)
		return rc;
	snprintf(where, sizeof(where), "preset %s", names[which]);
	text = ccr_config_preset_text(names[which], &len);
	if (!text)
		return ccr__bad_value(r, v, "a preset that this program was built with");
	return read_text(&inner, text, len);
}

static int read_base(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	struct ccr_config *c = into;

	(void)arg;
	return ccr__integer(r, v, 0, BASE_MAX, "a whole number from 0 to 2147483647", &c->base);
}

static int read_points(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	static const char *const names[] = {"whole", "exact"};
	struct ccr_config *c = into;
	int which = 0, rc = ccr__choice(r, v, names, CCR__COUNT(names), &which);

	(void)arg;
	if (!rc)
		c->exact_points = which == 1;
	return rc;
}

/* Read before everything else: see read_object(). */
static int read_already(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg)
{
	(void)r;
	(void)v;
	(void)into;
	(void)arg;
	return 0;
}

/* --- the whole --- */

static const struct ccr__key top_keys[] = {
    {"version", read_already, 0},
    {"preset", read_already, 0},
    {"policy", ccr__read_policy, 0},
    {"job_sort_formula", ccr__read_job_sort, 0},
    {"formula_column", ccr__read_formula_column, 0},
    {"constants", ccr__read_constants, 0},
    {"base", read_base, 0},
    {"points", read_points, 0},
    {"tiers", ccr__read_tiers, 0},
    {"default_group", ccr__read_default_group, 0},
    {"groups", ccr__read_groups, 0},
    {"financial", ccr__read_financial, 0},
    {"usage", ccr__read_usage, 0},
    {"lsf", ccr__read_lsf, 0},
    {"backfill", ccr__read_backfill, 0},
};

/* The member of that key wherever it stands, or false. */
static bool find_member(struct json_object *root, const char *key, struct ccr__value *v)
{
	struct json_object_iterator it = json_object_iter_begin(root),
				    end = json_object_iter_end(root);

	for (size_t i = 0; !json_object_iter_equal(&it, &end); i++) {
		if (strcmp(json_object_iter_peek_name(&it), key) == 0) {
			v->json = json_object_iter_peek_value(&it);
			v->line = ccr_json_member_line(root, i);
			return true;
		}
		json_object_iter_next(&it);
	}
	return false;
}

static int read_version(struct ccr__reader *r, struct json_object *root)
{
	struct ccr__value v;
	int64_t version = 0;
	size_t mark = ccr__enter(r, "version");
	int rc;

	if (!find_member(root, "version", &v))
		return ccr__bad(r, ccr_json_line(root), "no such key", "\"version\": 1");
	rc = ccr__integer(r, &v, CCR_CONFIG_VERSION, CCR_CONFIG_VERSION,
			  "1, the version of the format that this program reads", &version);
	if (!rc)
		ccr__leave(r, mark);
	return rc;
}

static int read_object(struct ccr__reader *r, struct json_object *root)
{
	struct ccr__value whole = {root, ccr_json_line(root)}, v;
	size_t mark;
	int rc;

	if (!json_object_is_type(root, json_type_object)) {
		whole.line = 1;
		return ccr__bad_value(r, &whole, "a JSON object");
	}
	rc = read_version(r, root);
	if (!rc && find_member(root, "preset", &v)) {
		mark = ccr__enter(r, "preset");
		rc = read_preset(r, &v);
		if (!rc)
			ccr__leave(r, mark);
	}
	if (!rc)
		rc = ccr__object(r, &whole, "a JSON object", top_keys, CCR__COUNT(top_keys),
				 r->config);
	if (!rc)
		rc = ccr__finish_job_sort(r);
	ccr__formula_clear(&r->job_sort);
	return rc;
}

static int read_text(struct ccr__reader *r, const char *text, size_t len)
{
	struct json_object *root;
	int rc = ccr_json_parse(text, len, r->name, &root, r->err);

	if (rc)
		return rc;
	rc = read_object(r, root);
	json_object_put(root);
	return rc;
}

static void set_defaults(struct ccr_config *c)
{
	const struct ccr_usage_model m = ccr_usage_model_default(CCR_USAGE_HALFLIFE);

	c->base = 1000000;
	c->usage = (struct ccr_config_usage){.model = m.kind,
					     .interval = m.interval_s,
					     .depth = (int)m.depth,
					     .decay = m.decay,
					     .hist_hours = m.hist_hours,
					     .charge = CCR_CHARGE_BILLING,
					     .source = CCR_SOURCE_AUTO,
					     .gpu_weight = 32};
	c->lsf = (struct ccr_config_lsf){.constant = 3.0,
					 .cpu_time_factor = 0,
					 .run_time_factor = 0.7,
					 .run_job_factor = 3.0,
					 .user_shares = 1,
					 .array_tasks = 32};
	c->backfill = (struct ccr_config_backfill){.enabled = true,
						   .depth = 10,
						   .window = 7 * 86400,
						   .placement = true,
						   .long_gpu_fraction = 1};
}

static int read_config(struct ccr_config *c, const struct ccr_config_options *options,
		       struct ccr_error *err)
{
	struct ccr__reader r = {.config = c,
				.name = c->name,
				.err = err,
				.formula_column = -1,
				.year = options ? options->year : 0,
				.rank_optional = options && options->rank_optional};
	int rc = read_text(&r, c->text, c->text_len);

	if (!rc)
		rc = ccr__finish_policy(&r);
	if (!rc)
		rc = ccr__finish_groups(&r);
	if (!rc)
		rc = ccr__finish_usage(&r);
	return rc;
}

/* Takes text over. */
static int parse_owned(char *text, size_t len, const char *name,
		       const struct ccr_config_options *options, struct ccr_config **out,
		       struct ccr_error *err)
{
	struct ccr_config *c = calloc(1, sizeof(*c));
	int rc = 0;

	if (!c) {
		free(text);
		return ccr_error_nomem(err);
	}
	c->text = text;
	c->text_len = len;
	c->name = strdup(name);
	set_defaults(c);
	rc = c->name ? read_config(c, options, err) : ccr_error_nomem(err);
	if (rc) {
		ccr_config_free(c);
		return rc;
	}
	*out = c;
	return 0;
}

int ccr_config_parse(const char *text, size_t len, const char *name,
		     const struct ccr_config_options *options, struct ccr_config **out,
		     struct ccr_error *err)
{
	char *copy;

	if (len > CCR_CONFIG_MAX_BYTES)
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "%s: found a file of %zu bytes, expected at most %zu", name,
				     len, CCR_CONFIG_MAX_BYTES);
	copy = malloc(len + 1);
	if (!copy)
		return ccr_error_nomem(err);
	memcpy(copy, text, len);
	copy[len] = '\0';
	return parse_owned(copy, len, name, options, out, err);
}

int ccr_config_load(const char *path, const struct ccr_config_options *options,
		    struct ccr_config **out, struct ccr_error *err)
{
	struct stat st;
	char *text;
	size_t len;
	int rc = ccr_json_read_file(path, CCR_CONFIG_MAX_BYTES, &text, &len, &st, err);

	if (rc)
		return rc;
	if (options && options->check_owner) {
		rc = ccr_config_check_owner(&st, path, options->owner, err);
		if (rc) {
			free(text);
			return rc;
		}
	}
	return parse_owned(text, len, path, options, out, err);
}

int ccr_config_check_owner(const struct stat *st, const char *name, uid_t owner,
			   struct ccr_error *err)
{
	if (st->st_uid != 0 && st->st_uid != owner)
		return ccr_error_set(
		    err, CCR_EINVAL, 0,
		    "%s: the owner: found user %lu, expected root or user %lu (SlurmUser): whoever "
		    "writes this file decides who runs",
		    name, (unsigned long)st->st_uid, (unsigned long)owner);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return ccr_error_set(
		    err, CCR_EINVAL, 0,
		    "%s: the mode: found %04o, which lets others write, expected one such as 0644",
		    name, (unsigned)(st->st_mode & 07777));
	return 0;
}

void ccr_config_free(struct ccr_config *config)
{
	if (!config)
		return;
	for (int i = 0; i < CCR_COLUMNS; i++)
		ccr__formula_clear(&config->column[i]);
	for (size_t i = 0; i < config->n_constants; i++)
		free((char *)config->constants[i].name);
	free(config->constants);
	for (int i = 0; i < CCR_SUPPORT_COUNT; i++)
		ccr_support_rule_free(&config->financial[i]);
	for (size_t i = 0; i < config->n_warnings; i++)
		free(config->warnings[i].text);
	free(config->warnings);
	ccr__groups_clear(&config->groups);
	ccr__tiers_clear(&config->groups);
	ccr__lsf_clear(&config->lsf);
	ccr__backfill_clear(&config->backfill);
	free(config->default_group);
	free(config->name);
	free(config->preset);
	free(config->text);
	free(config);
}

typedef const struct ccr__section *sections_fn(size_t *count);

static const struct ccr__section *own_sections(size_t *count)
{
	static const struct ccr__section sections[] = {
	    {"", top_keys, CCR__COUNT(top_keys)},
	};

	*count = CCR__COUNT(sections);
	return sections;
}

void ccr_config_keys(void (*each)(const char *section, const char *key, void *data), void *data)
{
	static sections_fn *const parts[] = {own_sections,	  ccr__policy_sections,
					     ccr__group_sections, ccr__financial_sections,
					     ccr__usage_sections, ccr__backfill_sections};

	for (size_t part = 0; part < CCR__COUNT(parts); part++) {
		size_t count = 0;
		const struct ccr__section *sections = parts[part](&count);

		for (size_t i = 0; i < count; i++)
			for (size_t k = 0; k < sections[i].count; k++)
				each(sections[i].name, sections[i].keys[k].name, data);
	}
}

const char *ccr_config_formula_key(const struct ccr_config *config, int column)
{
	static const char *const keys[CCR_COLUMNS] = {
	    [CCR_COL_SITE] = "policy.site",	  [CCR_COL_AGE] = "policy.age",
	    [CCR_COL_ASSOC] = "policy.assoc",	  [CCR_COL_FAIRSHARE] = "policy.fairshare",
	    [CCR_COL_JOBSIZE] = "policy.jobsize", [CCR_COL_PARTITION] = "policy.partition",
	    [CCR_COL_QOS] = "policy.qos"};

	if (column < 0 || column >= CCR_COLUMNS)
		return "policy";
	return config->column[column].job_sort ? "job_sort_formula" : keys[column];
}
