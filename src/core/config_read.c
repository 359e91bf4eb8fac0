/* config_read - see config_read.h */
#include "core/config_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/duration.h"
#include "core/json.h"
#include "core/nearest.h"

/* The largest whole number up to which a double has them all. */
#define WHOLE_MAX 9007199254740992.0

static void place(const struct ccr__reader *r, unsigned line, char *out, size_t size)
{
	if (r->preset || !line)
		snprintf(out, size, "%s", r->name);
	else
		snprintf(out, size, "%s:%u", r->name, line);
}

static int bad(struct ccr__reader *r, unsigned line, const char *found, const char *fmt, va_list ap)
{
	char where[300], expected[500];

	place(r, line, where, sizeof(where));
	vsnprintf(expected, sizeof(expected), fmt, ap);
	return ccr_error_set(r->err, CCR_EINVAL, line, "%s: %s: found %s, expected %s", where,
			     r->path_len ? r->path : "the file", found, expected);
}

int ccr__bad(struct ccr__reader *r, unsigned line, const char *found, const char *expected, ...)
{
	va_list ap;
	int rc;

	va_start(ap, expected);
	rc = bad(r, line, found, expected, ap);
	va_end(ap);
	return rc;
}

static void describe(const struct ccr__value *v, char *out, size_t size)
{
	const char *text;
	char piece[80];

	switch (json_object_get_type(v->json)) {
	case json_type_null:
		snprintf(out, size, "null");
		break;
	case json_type_object:
		snprintf(out, size, "an object");
		break;
	case json_type_array:
		snprintf(out, size, "a list");
		break;
	case json_type_string:
		text = json_object_get_string(v->json);
		snprintf(out, size, "\"%s\"",
			 ccr_json_printable(text ? text : "", text ? strlen(text) : 0, piece,
					    sizeof(piece)));
		break;
	default: /* a number as the file has it, true, false */
		text = json_object_to_json_string_ext(v->json, JSON_C_TO_STRING_PLAIN);
		snprintf(out, size, "%s",
			 text ? ccr_json_printable(text, strlen(text), piece, sizeof(piece))
			      : "a value");
	}
}

int ccr__bad_value(struct ccr__reader *r, const struct ccr__value *v, const char *expected, ...)
{
	char found[100];
	va_list ap;
	int rc;

	describe(v, found, sizeof(found));
	va_start(ap, expected);
	rc = bad(r, v->line, found, expected, ap);
	va_end(ap);
	return rc;
}

int ccr__warn(struct ccr__reader *r, unsigned line, const char *path, const char *fmt, ...)
{
	struct ccr_config *c = r->config;
	char where[300], text[700], *full = NULL;
	va_list ap;
	int rc;

	place(r, line, where, sizeof(where));
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rc = ccr__grow(r, &c->warnings, c->n_warnings, sizeof(*c->warnings));
	if (rc)
		return rc;
	full = malloc(strlen(where) + strlen(path) + strlen(text) + 5);
	if (!full)
		return ccr_error_nomem(r->err);
	sprintf(full, "%s: %s: %s", where, path, text);
	c->warnings[c->n_warnings].line = line;
	c->warnings[c->n_warnings++].text = full;
	return 0;
}

size_t ccr__enter(struct ccr__reader *r, const char *key)
{
	size_t mark = r->path_len, room = sizeof(r->path) - mark;
	char piece[80];
	int n;

	ccr_json_printable(key, strlen(key), piece, sizeof(piece));
	if (!*key)
		strcpy(piece, "\"\"");
	n = snprintf(r->path + mark, room, "%s%s", mark && piece[0] != '[' ? "." : "", piece);
	if (n > 0)
		r->path_len = mark + ((size_t)n < room ? (size_t)n : room - 1);
	return mark;
}

void ccr__leave(struct ccr__reader *r, size_t mark)
{
	r->path_len = mark;
	r->path[mark] = '\0';
}

const char *ccr__did_you_mean(const char *word, const char *const *known, size_t count, char *out,
			      size_t size)
{
	char small[65];
	const char *near;
	size_t n = 0;

	/* Upper case, as in LSF's and Maui's own names, is no difference that matters here. */
	for (; word[n] && n + 1 < sizeof(small); n++)
		small[n] = word[n] >= 'A' && word[n] <= 'Z' ? (char)(word[n] - 'A' + 'a') : word[n];
	small[n] = '\0';
	near = ccr_nearest(word, known, count);
	if (!near)
		near = ccr_nearest(small, known, count);
	out[0] = '\0';
	if (near)
		snprintf(out, size, " (did you mean \"%s\"?)", near);
	return out;
}

/* "a", "b" or "c", from names; what does not fit is left off. */
static void enumerate(const char *const *names, size_t count, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < count && n < size; i++) {
		int wrote = snprintf(out + n, size - n, "%s\"%s\"",
				     !i		     ? ""
				     : i + 1 < count ? ", "
						     : " or ",
				     names[i]);

		n += wrote > 0 ? (size_t)wrote : 0;
	}
}

static int unknown_key(struct ccr__reader *r, unsigned line, const char *key,
		       const struct ccr__key *keys, size_t count)
{
	const char *names[32];
	char hint[100], all[400], found[100], piece[80];

	if (count > 32)
		count = 32;
	for (size_t i = 0; i < count; i++)
		names[i] = keys[i].name;
	enumerate(names, count, all, sizeof(all));
	snprintf(found, sizeof(found), "the unknown key \"%s\"",
		 ccr_json_printable(key, strlen(key), piece, sizeof(piece)));
	return ccr__bad(r, line, found, "one of %s%s", all,
			ccr__did_you_mean(key, names, count, hint, sizeof(hint)));
}

struct known {
	const struct ccr__key *keys;
	size_t count;
	void *into;
};

/* Members in the order of the text; each() is called with the path at the container's. */
static int members(struct ccr__reader *r, const struct ccr__value *v,
		   int (*each)(struct ccr__reader *r, const char *key, const struct ccr__value *v,
			       void *into),
		   void *into)
{
	struct json_object_iterator it = json_object_iter_begin(v->json),
				    end = json_object_iter_end(v->json);
	int rc = 0;

	for (size_t i = 0; !rc && !json_object_iter_equal(&it, &end); i++) {
		struct ccr__value member = {json_object_iter_peek_value(&it),
					    ccr_json_member_line(v->json, i)};

		rc = each(r, json_object_iter_peek_name(&it), &member, into);
		json_object_iter_next(&it);
	}
	return rc;
}

static int known_member(struct ccr__reader *r, const char *key, const struct ccr__value *v,
			void *into)
{
	const struct known *known = into;
	size_t mark;
	int rc;

	for (size_t i = 0; i < known->count; i++) {
		if (strcmp(key, known->keys[i].name) != 0)
			continue;
		mark = ccr__enter(r, key);
		rc = known->keys[i].read(r, v, known->into, known->keys[i].arg);
		ccr__leave(r, mark);
		return rc;
	}
	return unknown_key(r, v->line, key, known->keys, known->count);
}

int ccr__object(struct ccr__reader *r, const struct ccr__value *v, const char *what,
		const struct ccr__key *keys, size_t count, void *into)
{
	struct known known = {keys, count, into};

	if (!json_object_is_type(v->json, json_type_object))
		return ccr__bad_value(r, v, "%s", what);
	return members(r, v, known_member, &known);
}

struct free_members {
	int (*each)(struct ccr__reader *r, const char *key, const struct ccr__value *v, void *into);
	void *into;
};

static int free_member(struct ccr__reader *r, const char *key, const struct ccr__value *v,
		       void *into)
{
	const struct free_members *m = into;
	size_t mark = ccr__enter(r, key);
	int rc = m->each(r, key, v, m->into);

	ccr__leave(r, mark);
	return rc;
}

int ccr__each(struct ccr__reader *r, const struct ccr__value *v, const char *what,
	      int (*each)(struct ccr__reader *r, const char *key, const struct ccr__value *v,
			  void *into),
	      void *into)
{
	struct free_members m = {each, into};

	if (!json_object_is_type(v->json, json_type_object))
		return ccr__bad_value(r, v, "%s", what);
	return members(r, v, free_member, &m);
}

int ccr__list(struct ccr__reader *r, const struct ccr__value *v, const char *what,
	      int (*each)(struct ccr__reader *r, const char *key, const struct ccr__value *v,
			  void *into),
	      void *into)
{
	struct free_members m = {each, into};
	size_t count;
	int rc = 0;

	if (!json_object_is_type(v->json, json_type_array))
		return ccr__bad_value(r, v, "%s", what);
	count = json_object_array_length(v->json);
	for (size_t i = 0; i < count && !rc; i++) {
		struct ccr__value element = {json_object_array_get_idx(v->json, i),
					     ccr_json_member_line(v->json, i)};
		char key[24];

		snprintf(key, sizeof(key), "[%zu]", i);
		rc = free_member(r, key, &element, &m);
	}
	return rc;
}

static bool is_number(const struct ccr__value *v)
{
	return json_object_is_type(v->json, json_type_int) ||
	       json_object_is_type(v->json, json_type_double);
}

int ccr__number(struct ccr__reader *r, const struct ccr__value *v, double least, double most,
		const char *what, double *out)
{
	double x;

	if (!is_number(v))
		return ccr__bad_value(r, v, "%s", what);
	x = json_object_get_double(v->json);
	if (!isfinite(x) || x < least || x > most)
		return ccr__bad_value(r, v, "%s", what);
	*out = x + 0.0; /* no negative zero */
	return 0;
}

int ccr__integer(struct ccr__reader *r, const struct ccr__value *v, int64_t least, int64_t most,
		 const char *what, int64_t *out)
{
	double x;

	if (!is_number(v))
		return ccr__bad_value(r, v, "%s", what);
	x = json_object_get_double(v->json);
	if (!isfinite(x) || x != floor(x) || fabs(x) > WHOLE_MAX || x < (double)least ||
	    x > (double)most)
		return ccr__bad_value(r, v, "%s", what);
	*out = (int64_t)x;
	return 0;
}

int ccr__boolean(struct ccr__reader *r, const struct ccr__value *v, bool *out)
{
	if (!json_object_is_type(v->json, json_type_boolean))
		return ccr__bad_value(r, v, "true or false");
	*out = json_object_get_boolean(v->json);
	return 0;
}

int ccr__copy(struct ccr__reader *r, const char *text, char **out)
{
	char *copy = strdup(text);

	if (!copy)
		return ccr_error_nomem(r->err);
	free(*out);
	*out = copy;
	return 0;
}

int ccr__text(struct ccr__reader *r, const struct ccr__value *v, size_t most, const char *what,
	      char **out)
{
	const char *text;
	size_t len;

	if (!json_object_is_type(v->json, json_type_string))
		return ccr__bad_value(r, v, "%s", what);
	text = json_object_get_string(v->json);
	len = text ? strlen(text) : 0;
	if (!len)
		return ccr__bad(r, v->line, "an empty text", "%s", what);
	if (len > most)
		return ccr__bad_value(r, v, "%s, of at most %zu bytes", what, most);
	return ccr__copy(r, text, out);
}

int ccr__choice(struct ccr__reader *r, const struct ccr__value *v, const char *const *names,
		size_t count, int *out)
{
	char all[400], hint[100] = "";
	const char *text = NULL;

	if (json_object_is_type(v->json, json_type_string))
		text = json_object_get_string(v->json);
	for (size_t i = 0; text && i < count; i++) {
		if (strcmp(text, names[i]) == 0) {
			*out = (int)i;
			return 0;
		}
	}
	enumerate(names, count, all, sizeof(all));
	if (text)
		ccr__did_you_mean(text, names, count, hint, sizeof(hint));
	return ccr__bad_value(r, v, "one of %s%s", all, hint);
}

int ccr__duration(struct ccr__reader *r, const struct ccr__value *v, int64_t least, int64_t *out)
{
	static const char form[] = "seconds as a whole number, or a text HH:MM:SS or D-HH:MM:SS,";
	char from[32], to[32];
	int64_t s = -1;

	if (is_number(v)) {
		double x = json_object_get_double(v->json);

		if (isfinite(x) && x == floor(x) && x >= 0 && x <= (double)CCR_DURATION_MAX)
			s = (int64_t)x;
	} else if (json_object_is_type(v->json, json_type_string)) {
		const char *text = json_object_get_string(v->json);

		if (!text || ccr_duration_parse(text, &s))
			s = -1;
	}
	if (s < least)
		return ccr__bad_value(r, v, "%s from %s to %s", form,
				      ccr_duration_print(least, from, sizeof(from)),
				      ccr_duration_print(CCR_DURATION_MAX, to, sizeof(to)));
	*out = s;
	return 0;
}

int ccr__check_name(struct ccr__reader *r, const char *key, unsigned line, const char *what)
{
	size_t len = strlen(key);

	if (!len)
		return ccr__bad(r, line, "an empty name", "%s", what);
	if (len > 255)
		return ccr__bad(r, line, "a name of more than 255 bytes", "%s", what);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)key[i];

		if (c <= ' ' || c == 0x7f || c == ',' || c == '"')
			return ccr__bad(r, line,
					"a name with a space, comma, quote or control character",
					"%s", what);
	}
	return 0;
}

int ccr__check_room(struct ccr__reader *r, unsigned line, size_t count, const char *what)
{
	if (count < CCR__MOST_NAMES)
		return 0;
	return ccr__bad(r, line, "one more", "at most %d %s", CCR__MOST_NAMES, what);
}

int ccr__grow(struct ccr__reader *r, void *list, size_t count, size_t size)
{
	void *old, *more;

	memcpy(&old, list, sizeof(old));
	more = realloc(old, (count + 1) * size);
	if (!more)
		return ccr_error_nomem(r->err);
	memset((char *)more + count * size, 0, size);
	memcpy(list, &more, sizeof(more));
	/* cppcheck-suppress memleak ; it is the caller's */
	return 0;
}
