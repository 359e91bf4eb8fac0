/*
 * json_lines - see json_lines.h
 *
 * Two passes. The first reads the text alone, strictly, and writes the lines of the containers and
 * their members into one array in the order of the text; a key that appears twice ends it. With no
 * such key the tree has exactly the text's members in the text's order, so that the second pass can
 * hand the lines out to the containers by walking the tree the same way.
 */
#include "core/json_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

/* JSON's white space; a 0 byte cannot be inside a text that json-c accepted to its end. */
#define BLANKS " \t\r\n"

struct frame {
	struct json_object *keys; /* of an object: key -> line of its first appearance */
	char name[48];		  /* of the member being read, for the path in messages */
};

struct walk {
	const char *p, *end;
	const char *name;
	unsigned line;
	unsigned *note; /* per container: own line, member count, the members' lines */
	size_t used, room;
	struct frame frame[CCR_JSON_DEPTH + 1];
	int depth;
	struct ccr_error *err;
};

static int walk_value(struct walk *w);

static void path_of(const struct walk *w, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (int i = 0; i < w->depth && n < size; i++) {
		int wrote = snprintf(out + n, size - n, "%s%s",
				     i && w->frame[i].name[0] != '[' ? "." : "", w->frame[i].name);

		n += wrote > 0 ? (size_t)wrote : 0;
	}
	if (!out[0])
		snprintf(out, size, "the value");
}

static int refuse_piece(struct walk *w, const char *found, size_t len, const char *expected)
{
	char path[400], piece[80];

	path_of(w, path, sizeof(path));
	return ccr_error_set(w->err, CCR_EINVAL, w->line, "%s:%u: %s: found %s, expected %s",
			     w->name, w->line, path,
			     ccr_json_printable(found, len, piece, sizeof(piece)), expected);
}

static int refuse(struct walk *w, const char *found, const char *expected)
{
	return refuse_piece(w, found, strlen(found), expected);
}

static int note(struct walk *w, unsigned value)
{
	if (w->used == w->room) {
		size_t room = w->room ? w->room * 2 : 256;
		unsigned *more = realloc(w->note, room * sizeof(*more));

		if (!more)
			return ccr_error_nomem(w->err);
		w->note = more;
		w->room = room;
	}
	w->note[w->used++] = value;
	return 0;
}

static void blanks(struct walk *w)
{
	for (; w->p < w->end && *w->p && strchr(BLANKS, *w->p); w->p++)
		if (*w->p == '\n')
			w->line++;
}

static int out_of_step(struct walk *w)
{
	return refuse_piece(w, w->p, w->p < w->end ? 1 : 0, "JSON as RFC 8259 has it");
}

/* A string; *start is its first quote, w->p ends behind its last. */
static int walk_string(struct walk *w, const char **start)
{
	*start = w->p;
	if (w->p >= w->end || *w->p != '"')
		return refuse_piece(w, w->p, w->p < w->end ? 1 : 0, "a text in double quotes");
	for (w->p++; w->p < w->end && *w->p != '"'; w->p++) {
		if ((unsigned char)*w->p < 0x20)
			return refuse(w,
				      *w->p == '\n' ? "a line break inside a text"
						    : "a control character inside a text",
				      "\\n, \\t or \\u00XX for it");
		if (*w->p != '\\')
			continue;
		if (++w->p >= w->end)
			return out_of_step(w);
		if (w->end - w->p > 4 && !memcmp(w->p, "u0000", 5))
			return refuse(w, "\\u0000 inside a text", "characters other than NUL");
	}
	if (w->p >= w->end)
		return out_of_step(w);
	w->p++;
	return 0;
}

static size_t digits(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && p[n] >= '0' && p[n] <= '9')
		n++;
	return n;
}

static int walk_number(struct walk *w)
{
	const char *start = w->p, *p = w->p;
	size_t len = 0, n;
	bool whole = true, good;

	while (start + len < w->end && strchr("+-.0123456789eEINafinty", start[len]) && start[len])
		len++;
	p += p < w->end && *p == '-';
	n = digits(p, w->end);
	good = n == 1 || (n > 1 && *p != '0');
	p += n;
	if (good && p < w->end && *p == '.') {
		whole = false;
		n = digits(++p, w->end);
		good = n > 0;
		p += n;
	}
	if (good && p < w->end && (*p == 'e' || *p == 'E')) {
		whole = false;
		p++;
		p += p < w->end && (*p == '-' || *p == '+');
		n = digits(p, w->end);
		good = n > 0;
		p += n;
	}
	if (!good || p != start + len)
		return refuse_piece(w, start, len,
				    "a finite number as JSON writes it, such as 25 or 0.5");
	/* json-c clamps what 64 bits do not hold, without a word. */
	if (whole && len >= 19) {
		char copy[24] = "";

		errno = 0;
		if (len < sizeof(copy)) {
			memcpy(copy, start, len);
			(void)strtoll(copy, NULL, 10);
		}
		if (errno || len >= sizeof(copy))
			return refuse_piece(w, start, len, "a whole number of at most 18 digits");
	}
	w->p = p;
	return 0;
}

/* The key as json-c understands it, entered into the frame's keys; a second one is refused. */
static int enter_key(struct walk *w, struct frame *f, const char *start, size_t len)
{
	struct json_tokener *tok = json_tokener_new_ex(2);
	struct json_object *key = NULL, *first = NULL, *line;
	const char *text;
	int rc = 0;

	if (!tok)
		return ccr_error_nomem(w->err);
	key = json_tokener_parse_ex(tok, start, (int)len);
	json_tokener_free(tok);
	if (!key)
		return ccr_error_nomem(w->err);
	text = json_object_get_string(key);
	if (!text) {
		json_object_put(key);
		return ccr_error_nomem(w->err);
	}
	ccr_json_printable(text, strlen(text), f->name, sizeof(f->name));
	if (json_object_object_get_ex(f->keys, text, &first)) {
		char found[80];

		snprintf(found, sizeof(found), "a second time (first on line %d)",
			 json_object_get_int(first));
		rc = refuse(w, found, "each key once");
	} else {
		line = json_object_new_int((int)w->line);
		if (!line || json_object_object_add(f->keys, text, line)) {
			json_object_put(line);
			rc = ccr_error_nomem(w->err);
		}
	}
	json_object_put(key);
	return rc;
}

/* One member of the container: for an object its key and ':' first. Notes its line. */
static int walk_member(struct walk *w, struct frame *f, unsigned count)
{
	const char *key;
	int rc;

	if (!f->keys) {
		snprintf(f->name, sizeof(f->name), "[%u]", count);
		return (rc = note(w, w->line)) ? rc : walk_value(w);
	}
	rc = walk_string(w, &key);
	if (!rc)
		rc = note(w, w->line);
	if (!rc)
		rc = enter_key(w, f, key, (size_t)(w->p - key));
	if (rc)
		return rc;
	blanks(w);
	if (w->p >= w->end || *w->p != ':')
		return out_of_step(w);
	w->p++;
	return walk_value(w);
}

/* Notes the container's line, its number of members, then for each member its line and its notes.
 */
static int walk_container(struct walk *w, char close)
{
	struct frame *f;
	size_t at = w->used;
	unsigned count = 0;
	int rc;

	if (w->depth > CCR_JSON_DEPTH)
		return out_of_step(w);
	f = &w->frame[w->depth];
	memset(f, 0, sizeof(*f));
	rc = note(w, w->line);
	if (!rc)
		rc = note(w, 0);
	if (rc)
		return rc;
	if (close == '}') {
		f->keys = json_object_new_object();
		if (!f->keys)
			return ccr_error_nomem(w->err);
	}
	w->depth++;
	w->p++;
	blanks(w);
	while (!rc && w->p < w->end && *w->p != close) {
		rc = walk_member(w, f, count++);
		if (rc)
			break;
		blanks(w);
		if (w->p < w->end && *w->p == ',') {
			w->p++;
			blanks(w);
			if (w->p < w->end && *w->p == close)
				rc = out_of_step(w);
		} else if (w->p < w->end && *w->p != close) {
			rc = out_of_step(w);
		}
	}
	if (!rc && w->p >= w->end)
		rc = out_of_step(w);
	w->p++;
	w->depth--;
	json_object_put(f->keys);
	f->keys = NULL;
	w->note[at + 1] = count;
	return rc;
}

static int walk_value(struct walk *w)
{
	const char *ignored;
	size_t left;

	blanks(w);
	if (w->p >= w->end)
		return out_of_step(w);
	left = (size_t)(w->end - w->p);
	switch (*w->p) {
	case '{':
		return walk_container(w, '}');
	case '[':
		return walk_container(w, ']');
	case '"':
	case '\'':
		return walk_string(w, &ignored);
	case 't':
	case 'n':
	case 'f': {
		size_t len = *w->p == 'f' ? 5 : 4;

		if (len > left)
			return out_of_step(w);
		w->p += len;
		return 0;
	}
	default:
		return walk_number(w);
	}
}

/* --- handing the lines out --- */

static void free_lines(struct json_object *obj, void *data)
{
	(void)obj;
	free(data);
}

static int attach(struct json_object *obj, const unsigned *notes, size_t used, size_t *at,
		  struct ccr_error *err)
{
	enum json_type type = json_object_get_type(obj);
	struct json_object_iterator it, end;
	struct ccr__lines *lines;
	size_t count;
	int rc = 0;

	if (type != json_type_object && type != json_type_array)
		return 0;
	count = type == json_type_object ? (size_t)json_object_object_length(obj)
					 : json_object_array_length(obj);
	if (*at + 2 > used || notes[*at + 1] != count)
		return ccr_error_set(
		    err, CCR_EINVAL, 0,
		    "the two readings of the text differ, which is an error of this program");
	lines = malloc(sizeof(*lines) + count * sizeof(lines->member[0]));
	if (!lines)
		return ccr_error_nomem(err);
	lines->self = notes[*at];
	lines->count = count;
	*at += 2;
	json_object_set_userdata(obj, lines, free_lines);
	if (type == json_type_array) {
		for (size_t i = 0; i < count && !rc; i++) {
			lines->member[i] = *at < used ? notes[(*at)++] : 0;
			rc = attach(json_object_array_get_idx(obj, i), notes, used, at, err);
		}
		return rc;
	}
	it = json_object_iter_begin(obj);
	end = json_object_iter_end(obj);
	for (size_t i = 0; i < count && !rc && !json_object_iter_equal(&it, &end); i++) {
		lines->member[i] = *at < used ? notes[(*at)++] : 0;
		rc = attach(json_object_iter_peek_value(&it), notes, used, at, err);
		json_object_iter_next(&it);
	}
	return rc;
}

int ccr__json_lines(const char *text, size_t len, const char *name, struct json_object *root,
		    struct ccr_error *err)
{
	struct walk w = {.p = text, .end = text + len, .name = name, .line = 1, .err = err};
	size_t at = 0;
	int rc = walk_value(&w);

	if (!rc)
		rc = attach(root, w.note, w.used, &at, err);
	free(w.note);
	return rc;
}
