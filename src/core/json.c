/* json - see json.h */
#include "core/json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json_lines.h"

const char *ccr_json_printable(const char *text, size_t len, char *out, size_t size)
{
	const size_t longest = size > 64 ? 60 : size > 4 ? size - 4 : 0;
	size_t n = 0;

	if (!size)
		return out;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (n >= longest) {
			/* not in the middle of a UTF-8 character */
			while (n && ((unsigned char)out[n - 1] & 0xc0) == 0x80)
				n--;
			if (n && (unsigned char)out[n - 1] >= 0xc0)
				n--;
			for (int dot = 0; dot < 3 && n + 1 < size; dot++)
				out[n++] = '.';
			break;
		}
		out[n++] = c < 0x20 || c == 0x7f ? '?' : (char)c;
	}
	out[n] = '\0';
	return out;
}

/*
 * The place of the first byte that is no UTF-8, or len. json-c looks at lead bytes only: it takes
 * overlong forms, surrogates and what lies above U+10FFFF. The ranges are those of RFC 3629.
 */
static size_t not_utf8(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	for (size_t i = 0; i < len;) {
		unsigned char c = s[i], low = 0x80, high = 0xbf;
		size_t more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;

		if ((c >= 0x80 && c < 0xc2) || c > 0xf4)
			return i;
		if (c == 0xe0)
			low = 0xa0;
		else if (c == 0xed)
			high = 0x9f;
		else if (c == 0xf0)
			low = 0x90;
		else if (c == 0xf4)
			high = 0x8f;
		if (more > len - i - 1)
			return i;
		for (size_t k = 1; k <= more; k++) {
			if (s[i + k] < low || s[i + k] > high)
				return i;
			low = 0x80;
			high = 0xbf;
		}
		i += more + 1;
	}
	return len;
}

static void position(const char *text, size_t at, unsigned *line, unsigned *column)
{
	*line = 1;
	*column = 1;
	for (size_t i = 0; i < at; i++) {
		if (text[i] == '\n') {
			++*line;
			*column = 1;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			++*column;
		}
	}
}

/* What a person would expect where json-c stopped. */
static const char *expectation(enum json_tokener_error code)
{
	switch (code) {
	case json_tokener_error_parse_boolean:
		return "true or false in small letters";
	case json_tokener_error_parse_number:
		return "a number such as 25 or 0.5, with no 0 before it and no sign after it";
	case json_tokener_error_parse_array:
		return "',' or ']' after a value";
	case json_tokener_error_parse_object_key_name:
		return "a key in double quotes, or '}'";
	case json_tokener_error_parse_object_key_sep:
		return "':' after a key";
	case json_tokener_error_parse_object_value_sep:
		return "',' or '}' after a value";
	case json_tokener_error_parse_string:
		return "a text in double quotes with no \\ but JSON's own escapes";
	default:
		return "a text in double quotes, a number, true, false, an object or a list";
	}
}

/* What stands at a place, in words. */
static void describe(const char *text, size_t len, size_t at, char *out, size_t size)
{
	unsigned char c = (unsigned char)text[at];
	char piece[80];
	size_t n;

	if (c == '\n' || c == '\r') {
		snprintf(out, size, "the end of the line");
	} else if (c < 0x20 || c == 0x7f) {
		snprintf(out, size, "a control character (0x%02x)", (unsigned)c);
	} else if (c == '/' && at + 1 < len && (text[at + 1] == '/' || text[at + 1] == '*')) {
		snprintf(out, size, "a comment");
	} else {
		n = strcspn(text + at, " \t\r\n,:]}");
		if (n > len - at)
			n = len - at;
		ccr_json_printable(text + at, n ? n : 1, piece, sizeof(piece));
		snprintf(out, size, "'%s'", piece);
	}
}

static bool in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '-' || c == '+' || c == '_';
}

/* json-c stops inside a word that is no number or literal: go back to where the word starts. */
static size_t start_of(const char *text, size_t at, enum json_tokener_error code)
{
	if (code != json_tokener_error_parse_number && code != json_tokener_error_parse_null &&
	    code != json_tokener_error_parse_boolean)
		return at;
	while (at && in_word(text[at - 1]))
		at--;
	return at;
}

static const char *expectation_at(const char *text, size_t at, enum json_tokener_error code)
{
	size_t before = at;

	while (before && strchr(" \t\r\n", text[before - 1]))
		before--;
	if (text[at] == '/')
		return "JSON, which has no comments";
	if (text[at] == '\'')
		return "double quotes, the only ones of JSON";
	if (code == json_tokener_error_parse_unexpected && before && text[before - 1] == ',' &&
	    (text[at] == '}' || text[at] == ']'))
		return "another value after the comma, or no comma";
	return expectation(code);
}

static int syntax_error(const char *text, size_t len, size_t at, const char *name,
			enum json_tokener_error code, struct ccr_error *err)
{
	unsigned line, column;
	char found[120];

	at = start_of(text, at > len ? len : at, code);
	position(text, at, &line, &column);
	if (code == json_tokener_error_depth)
		return ccr_error_set(
		    err, CCR_EINVAL, line,
		    "%s:%u: column %u: found objects and lists nested more than %d deep, expected "
		    "the few levels of a policy file",
		    name, line, column, CCR_JSON_DEPTH);
	if (code == json_tokener_error_parse_utf8_string && len >= 3 &&
	    !memcmp(text, "\xef\xbb\xbf", 3))
		return ccr_error_set(
		    err, CCR_EINVAL, 1,
		    "%s:1: found a byte order mark before the text, expected plain UTF-8 without "
		    "one",
		    name);
	if (code == json_tokener_error_parse_utf8_string)
		return ccr_error_set(
		    err, CCR_EINVAL, line,
		    "%s:%u: column %u: found bytes that are not UTF-8, expected UTF-8 text", name,
		    line, column);
	if (at == len || code == json_tokener_continue)
		return ccr_error_set(
		    err, CCR_EINVAL, line,
		    "%s:%u: found the end of the file in the middle of a value, expected the rest "
		    "of it (was the file cut off?)",
		    name, line);
	describe(text, len, at, found, sizeof(found));
	return ccr_error_set(err, CCR_EINVAL, line, "%s:%u: column %u: found %s, expected %s", name,
			     line, column, found,
			     code == json_tokener_success ? "nothing more after the first value"
							  : expectation_at(text, at, code));
}

int ccr_json_parse(const char *text, size_t len, const char *name, struct json_object **root,
		   struct ccr_error *err)
{
	struct json_tokener *tok;
	enum json_tokener_error code;
	size_t at, first = 0;
	int rc;

	*root = NULL;
	while (first < len && strchr(" \t\r\n", text[first]) && text[first])
		first++;
	if (first == len)
		return ccr_error_set(err, CCR_EINVAL, 1,
				     "%s:1: found an empty file, expected a JSON object", name);
	if (len > INT_MAX - 1)
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "%s: found %zu bytes, expected less than 2 GB", name, len);
	tok = json_tokener_new_ex(CCR_JSON_DEPTH);
	if (!tok)
		return ccr_error_nomem(err);
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8 |
					JSON_TOKENER_ALLOW_TRAILING_CHARS);
	*root = json_tokener_parse_ex(tok, text, (int)len);
	code = json_tokener_get_error(tok);
	at = json_tokener_get_parse_end(tok);
	/* A bare number at the end is complete only when something follows, such as a 0. */
	if (code == json_tokener_continue && !*root && at == len) {
		*root = json_tokener_parse_ex(tok, "", 1);
		code = json_tokener_get_error(tok);
		at = len;
		if (code != json_tokener_success)
			code = json_tokener_continue;
	}
	json_tokener_free(tok);
	while (code == json_tokener_success && at < len && text[at] && strchr(" \t\r\n", text[at]))
		at++;
	if (code != json_tokener_success || at < len) {
		json_object_put(*root);
		*root = NULL;
		return syntax_error(text, len, at, name, code, err);
	}
	at = not_utf8(text, len);
	if (at < len)
		rc = syntax_error(text, len, at, name, json_tokener_error_parse_utf8_string, err);
	else
		rc = ccr__json_lines(text, len, name, *root, err);
	if (rc) {
		json_object_put(*root);
		*root = NULL;
	}
	return rc;
}

static const struct ccr__lines *lines_of(const struct json_object *container)
{
	enum json_type type = json_object_get_type(container);

	if (type != json_type_object && type != json_type_array)
		return NULL;
	return json_object_get_userdata((struct json_object *)container);
}

unsigned ccr_json_line(const struct json_object *container)
{
	const struct ccr__lines *lines = lines_of(container);

	return lines ? lines->self : 0;
}

unsigned ccr_json_member_line(const struct json_object *container, size_t i)
{
	const struct ccr__lines *lines = lines_of(container);

	return lines && i < lines->count ? lines->member[i] : 0;
}

/* size is what the file had when it was opened; it may yet grow, and files of the kernel's have 0.
 */
static int read_all(int fd, const char *path, size_t size, size_t max, char **text, size_t *len,
		    struct ccr_error *err)
{
	/* One byte more than expected, so that a file that grows under our hands is noticed too. */
	size_t room = (size < max ? size : max) + 1, n = 0;
	char *buf = malloc(room + 1);

	if (!buf)
		return ccr_error_nomem(err);
	while (n <= max) {
		ssize_t got;

		if (n == room) {
			char *more;

			room = room > max / 2 ? max + 1 : room * 2;
			more = realloc(buf, room + 1);
			if (!more) {
				free(buf);
				return ccr_error_nomem(err);
			}
			buf = more;
		}
		got = read(fd, buf + n, room - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(buf);
			return ccr_error_set(err, CCR_EIO, 0, "%s: cannot be read: %s", path,
					     strerror(errno));
		}
		if (got == 0)
			break;
		n += (size_t)got;
	}
	if (n > max) {
		free(buf);
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "%s: found more than %zu bytes, expected at most %zu", path,
				     max, max);
	}
	buf[n] = '\0';
	*text = buf;
	*len = n;
	return 0;
}

int ccr_json_read_file(const char *path, size_t max, char **text, size_t *len, struct stat *st,
		       struct ccr_error *err)
{
	struct stat own;
	int rc, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	*text = NULL;
	*len = 0;
	if (!st)
		st = &own;
	if (fd < 0)
		return ccr_error_set(err, CCR_EIO, 0, "%s: cannot be opened: %s", path,
				     strerror(errno));
	if (fstat(fd, st))
		rc =
		    ccr_error_set(err, CCR_EIO, 0, "%s: cannot be read: %s", path, strerror(errno));
	else if (!S_ISREG(st->st_mode))
		rc = ccr_error_set(err, CCR_EINVAL, 0, "%s: found a %s, expected a regular file",
				   path,
				   S_ISDIR(st->st_mode)	   ? "directory"
				   : S_ISFIFO(st->st_mode) ? "pipe"
				   : S_ISCHR(st->st_mode)  ? "device"
							   : "special file");
	else if (st->st_size > 0 && (unsigned long long)st->st_size > max)
		rc = ccr_error_set(err, CCR_EINVAL, 0,
				   "%s: found a file of %llu bytes, expected at most %zu", path,
				   (unsigned long long)st->st_size, max);
	else
		rc = read_all(fd, path, st->st_size > 0 ? (size_t)st->st_size : 0, max, text, len,
			      err);
	close(fd);
	return rc;
}

int ccr_json_read_list(const char *path, size_t max, int is, const char *key,
		       struct json_object **root, struct json_object **list, struct ccr_error *err)
{
	struct json_object *version = NULL;
	char *text = NULL;
	size_t len = 0;
	int rc = ccr_json_read_file(path, max, &text, &len, NULL, err);

	*root = *list = NULL;
	if (!rc)
		rc = ccr_json_parse(text, len, path, root, err);
	free(text);
	if (rc)
		return rc;
	if (!json_object_is_type(*root, json_type_object) ||
	    !json_object_object_get_ex(*root, "version", &version) ||
	    !json_object_is_type(version, json_type_int) || json_object_get_int64(version) != is)
		rc = ccr_error_set(err, CCR_EINVAL, 1,
				   "%s:1: version: expected an object with version %d", path, is);
	else if (!json_object_object_get_ex(*root, key, list) ||
		 !json_object_is_type(*list, json_type_array))
		rc = ccr_error_set(err, CCR_EINVAL, 1, "%s:1: %s: expected a list", path, key);
	if (rc) {
		json_object_put(*root);
		*root = *list = NULL;
	}
	return rc;
}
