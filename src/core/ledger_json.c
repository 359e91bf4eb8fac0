/* ledger_json - see ledger_json.h */
#include "core/ledger_json.h"

#include "core/crc32.h"
#include "core/json.h"

#include <ctype.h>
#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ccr__measure_names[CCR_MEASURES] = {
    [CCR_BILLED] = "billed_s", [CCR_SLOT] = "slot_s"};

static const char *type_name(const json_object *v)
{
	return json_type_to_name(json_object_get_type(v));
}

static bool is_number(const json_object *v)
{
	return json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double);
}

static int get_number(const char *where, const char *name, const json_object *v, double *out,
		      struct ccr_error *err)
{
	if (!is_number(v))
		return ccr_error_set(err, CCR_EINVAL, 0, "%s%s is of type %s: expected a number",
				     where, name, type_name(v));
	*out = json_object_get_double(v);
	return CCR_OK;
}

static int get_whole(const char *where, const char *name, const json_object *v, int64_t *out,
		     struct ccr_error *err)
{
	if (!json_object_is_type(v, json_type_int) || json_object_get_int64(v) > CCR_TIME_MAX ||
	    json_object_get_int64(v) < -CCR_TIME_MAX)
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "%s%s is %s: expected a whole number of seconds", where, name,
				     json_object_to_json_string((json_object *)v));
	*out = json_object_get_int64(v);
	return CCR_OK;
}

static int unknown(const char *where, const char *name, const char *known, struct ccr_error *err)
{
	return ccr_error_set(err, CCR_EINVAL, 0, "%s%.100s is not known: expected %s", where, name,
			     known);
}

static int read_model(json_object *o, struct ccr_usage_model *m, struct ccr_error *err)
{
	json_object *v;
	enum ccr_usage_kind kind;
	double depth = 0;
	int rc = CCR_OK;

	if (!json_object_is_type(o, json_type_object))
		return ccr_error_set(err, CCR_EINVAL, 0, "model is of type %s: expected an object",
				     type_name(o));
	v = json_object_object_get(o, "kind");
	if (!json_object_is_type(v, json_type_string) ||
	    !ccr_usage_kind_parse(json_object_get_string(v), &kind))
		return ccr_error_set(
		    err, CCR_EINVAL, 0,
		    "model.kind is %.100s: expected \"halflife\", \"windows\" or \"lsf\"",
		    v ? json_object_to_json_string(v) : "missing");
	*m = ccr_usage_model_default(kind);
	json_object_object_foreach(o, name, value)
	{
		if (!strcmp(name, "kind"))
			continue;
		if (kind == CCR_USAGE_HALFLIFE && !strcmp(name, "half_life_s"))
			rc = get_number("model.", name, value, &m->half_life_s, err);
		else if (kind == CCR_USAGE_LSF && !strcmp(name, "hist_hours"))
			rc = get_number("model.", name, value, &m->hist_hours, err);
		else if (kind == CCR_USAGE_WINDOWS && !strcmp(name, "interval_s"))
			rc = get_whole("model.", name, value, &m->interval_s, err);
		else if (kind == CCR_USAGE_WINDOWS && !strcmp(name, "decay"))
			rc = get_number("model.", name, value, &m->decay, err);
		else if (kind == CCR_USAGE_WINDOWS && !strcmp(name, "depth")) {
			rc = get_number("model.", name, value, &depth, err);
			if (!rc &&
			    !(depth >= 1 && depth <= CCR_USAGE_DEPTH_MAX && depth == floor(depth)))
				rc = ccr_error_set(
				    err, CCR_EINVAL, 0,
				    "model.depth is %g: expected a whole number from 1 to %d",
				    depth, CCR_USAGE_DEPTH_MAX);
			if (!rc)
				m->depth = (unsigned)depth;
		} else
			rc = unknown("model.", name,
				     kind == CCR_USAGE_HALFLIFE ? "kind, half_life_s"
				     : kind == CCR_USAGE_LSF	? "kind, hist_hours"
								: "kind, interval_s, depth, decay",
				     err);
		if (rc)
			return rc;
	}
	return ccr_usage_model_check(m, err);
}

/* The numbers of one measure: a number or, under windows, an array of up to the depth. */
static int read_bins(const struct ccr_usage_model *model, const char *where, const char *name,
		     json_object *v, double *bins, struct ccr_error *err)
{
	size_t n = 1, depth = ccr_usage_bins(model);
	bool array = json_object_is_type(v, json_type_array);

	if (array) {
		if (model->kind != CCR_USAGE_WINDOWS)
			return ccr_error_set(
			    err, CCR_EINVAL, 0,
			    "%s%s is an array: expected a number, as the model is \"%s\"", where,
			    name, ccr_usage_kind_name(model->kind));
		n = json_object_array_length(v);
		if (n > depth)
			return ccr_error_set(
			    err, CCR_EINVAL, 0,
			    "%s%s has %zu numbers: expected at most the model's depth of %zu",
			    where, name, n, depth);
	}
	for (size_t i = 0; i < n; i++) {
		int rc = get_number(where, name, array ? json_object_array_get_idx(v, i) : v,
				    &bins[i], err);

		if (rc)
			return rc;
		if (!isfinite(bins[i]) || bins[i] < 0 || bins[i] > CCR_LEDGER_AMOUNT_MAX)
			return ccr_error_set(err, CCR_EINVAL, 0,
					     "%s%s is %g: expected seconds, 0 to %g", where, name,
					     bins[i], CCR_LEDGER_AMOUNT_MAX);
	}
	return CCR_OK;
}

/* bins has room for CCR_MEASURES x the model's bins. */
static int read_entry(struct ccr_ledger *l, size_t at, json_object *o, double *bins,
		      struct ccr_error *err)
{
	size_t n = ccr_usage_bins(ccr_ledger_model(l));
	struct ccr_usage_key key = {0};
	const double *measures[CCR_MEASURES] = {bins, bins + n};
	char where[50];
	int rc;

	snprintf(where, sizeof(where), "usage[%zu].", at);
	if (!json_object_is_type(o, json_type_object))
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "usage[%zu] is of type %s: expected an object", at,
				     type_name(o));
	memset(bins, 0, CCR_MEASURES * n * sizeof(*bins));
	json_object_object_foreach(o, name, v)
	{
		const char **text = !strcmp(name, "account")	 ? &key.account
				    : !strcmp(name, "user")	 ? &key.user
				    : !strcmp(name, "partition") ? &key.partition
				    : !strcmp(name, "qos")	 ? &key.qos
								 : NULL;
		int m = !strcmp(name, ccr__measure_names[CCR_BILLED]) ? CCR_BILLED
			: !strcmp(name, ccr__measure_names[CCR_SLOT]) ? CCR_SLOT
								      : -1;

		if (m >= 0) {
			rc = read_bins(ccr_ledger_model(l), where, name, v, bins + (size_t)m * n,
				       err);
			if (rc)
				return rc;
		} else if (!text) {
			return unknown(where, name,
				       "account, user, partition, qos, billed_s, slot_s", err);
		} else if (!json_object_is_type(v, json_type_string)) {
			return ccr_error_set(err, CCR_EINVAL, 0,
					     "%s%s is of type %s: expected a name", where, name,
					     type_name(v));
		} else {
			*text = json_object_get_string(v);
		}
	}
	if (ccr_ledger_find(l, &key))
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "usage[%zu] is there twice: account \"%.100s\", user "
				     "\"%.100s\", partition \"%.100s\", "
				     "qos \"%.100s\"",
				     at, key.account ? key.account : "", key.user ? key.user : "",
				     key.partition ? key.partition : "", key.qos ? key.qos : "");
	return ccr_ledger_add(l, &key, measures, n, err);
}

static int read_entries(struct ccr_ledger *l, json_object *a, struct ccr_error *err)
{
	double *bins = malloc(CCR_MEASURES * ccr_usage_bins(ccr_ledger_model(l)) * sizeof(*bins));
	int rc = CCR_OK;

	if (!bins)
		return ccr_error_nomem(err);
	for (size_t i = 0; !rc && i < json_object_array_length(a); i++) {
		rc = read_entry(l, i, json_object_array_get_idx(a, i), bins, err);
		if (rc)
			err->line = ccr_json_member_line(a, i);
	}
	free(bins);
	return rc;
}

/* Where the last "check" member's comma is: what the sum covers. NULL if there is none. */
static const char *find_check(const char *text, size_t len)
{
	static const char word[] = "\"check\"";

	for (const char *p = text + len; p > text;) {
		p--;
		if ((size_t)(text + len - p) < sizeof(word) - 1 ||
		    memcmp(p, word, sizeof(word) - 1) != 0)
			continue;
		while (p > text && isspace((unsigned char)p[-1]))
			p--;
		return p > text && p[-1] == ',' ? p - 1 : NULL;
	}
	return NULL;
}

static int hold_check(const char *text, size_t len, const char *name, json_object *v,
		      struct ccr_error *err)
{
	const char *end = find_check(text, len);
	char found[9];

	if (!json_object_is_type(v, json_type_string) || !end)
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "%.300s: check is not a text at the end of the file: leave it "
				     "out of a file written by hand",
				     name);
	snprintf(found, sizeof(found), "%08x", (unsigned)ccr__crc32(0, text, (size_t)(end - text)));
	if (strcmp(found, json_object_get_string(v)) != 0)
		return ccr_error_set(
		    err, CCR_EINVAL, 0,
		    "%.300s: check is %.20s, but what precedes it sums up to %s: the file "
		    "is damaged, or was edited without taking the check member out",
		    name, json_object_get_string(v), found);
	return CCR_OK;
}

/* Sets *err, which is not NULL, without the file's name but with the line where it is known. */
static int read_ledger(json_object *o, int64_t now, const struct ccr_usage_model *model,
		       struct ccr_ledger **out, struct ccr_error *err)
{
	struct ccr_usage_model m = model ? *model : ccr_usage_model_default(CCR_USAGE_HALFLIFE);
	json_object *version = json_object_object_get(o, "version"), *v, *usage = NULL;
	int64_t time = now, charged;
	size_t i = 0;
	int rc = CCR_OK;

	if (!json_object_is_type(version, json_type_int) || json_object_get_int64(version) != 1)
		return ccr_error_set(err, CCR_EINVAL, 0, "version is %.50s: expected 1",
				     version ? json_object_to_json_string(version) : "missing");
	if (json_object_object_get_ex(o, "time", &v) && (rc = get_whole("", "time", v, &time, err)))
		return rc;
	charged = time;
	json_object_object_foreach(o, name, value)
	{
		if (!strcmp(name, "charged_until"))
			rc = get_whole("", name, value, &charged, err);
		else if (!strcmp(name, "model"))
			rc = read_model(value, &m, err);
		else if (!strcmp(name, "usage") && json_object_is_type(value, json_type_array))
			usage = value;
		else if (!strcmp(name, "usage"))
			rc = ccr_error_set(err, CCR_EINVAL, 0,
					   "usage is of type %s: expected an array",
					   type_name(value));
		else if (strcmp(name, "version") != 0 && strcmp(name, "time") != 0 &&
			 strcmp(name, "check") != 0)
			rc = unknown("", name, "version, time, charged_until, model, usage, check",
				     err);
		if (rc) {
			err->line = ccr_json_member_line(o, i);
			return rc;
		}
		i++;
	}
	if (charged > time)
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "charged_until is %lld: expected at most time, %lld",
				     (long long)charged, (long long)time);
	if (!usage)
		return ccr_error_set(err, CCR_EINVAL, 0, "usage is missing: expected an array");
	*out = ccr_ledger_new(&m, time, err);
	if (!*out)
		return err->code;
	ccr_ledger_set_charged_until(*out, charged);
	rc = read_entries(*out, usage, err);
	if (rc) {
		ccr_ledger_free(*out);
		*out = NULL;
		return rc;
	}
	ccr_ledger_roll_up(*out);
	return CCR_OK;
}

/*
 * The document of a text; NULL with *rc set. A saved file is held against its check and is then
 * what was written. One written by hand is read strictly: a key that appears twice is a mistake,
 * and each value knows its line.
 */
static json_object *parse_text(const char *text, size_t len, const char *name, int *rc,
			       struct ccr_error *err)
{
	struct json_tokener *tok = json_tokener_new_ex(CCR_JSON_DEPTH);
	json_object *o, *check;
	size_t end;

	if (!tok) {
		*rc = ccr_error_nomem(err);
		return NULL;
	}
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	o = len < INT_MAX ? json_tokener_parse_ex(tok, text, (int)len) : NULL;
	end = json_tokener_get_parse_end(tok);
	if (o && end < len && json_tokener_get_error(tok) == json_tokener_success) {
		while (end < len && isspace((unsigned char)text[end]))
			end++;
		/* Else json-c says so: it stops without an error when it is out of memory. */
		if (end < len) {
			json_object_put(o);
			json_tokener_free(tok);
			*rc = ccr_error_nomem(err);
			return NULL;
		}
	}
	json_tokener_free(tok);
	if (json_object_is_type(o, json_type_object) &&
	    json_object_object_get_ex(o, "check", &check)) {
		*rc = hold_check(text, len, name, check, err);
		if (!*rc)
			return o;
		json_object_put(o);
		return NULL;
	}
	json_object_put(o);
	*rc = ccr_json_parse(text, len, name, &o, err);
	if (!*rc && !json_object_is_type(o, json_type_object)) {
		*rc = ccr_error_set(err, CCR_EINVAL, 1,
				    "%.300s:1: found a value of type %s, expected an object", name,
				    type_name(o));
		json_object_put(o);
		return NULL;
	}
	return o;
}

int ccr_ledger_parse(const char *text, size_t len, const char *name, int64_t now,
		     const struct ccr_usage_model *model, struct ccr_ledger **out,
		     struct ccr_error *err)
{
	struct ccr_error why = {0};
	json_object *o;
	int rc;

	*out = NULL;
	o = parse_text(text, len, name, &rc, err);
	if (!o)
		return rc;
	rc = read_ledger(o, now, model, out, &why);
	json_object_put(o);
	if (rc == CCR_ENOMEM)
		return ccr_error_nomem(err);
	if (rc && why.line)
		return ccr_error_set(err, rc, why.line, "%.300s:%u: %s", name, why.line, why.text);
	if (rc)
		return ccr_error_set(err, rc, 0, "%.300s: %s", name, why.text);
	return CCR_OK;
}
