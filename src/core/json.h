/*
 * json - a JSON text read strictly, and where in it each value stands
 *
 * json-c does the parsing. It gives no positions and accepts some things that RFC 8259 does not
 * (NaN, single quotes, control characters in strings, whole numbers that it clamps), so the
 * accepted text is walked once more (json_lines.c) to note the line of each member and to refuse
 * those, and keys that appear twice.
 */
#ifndef CCR_CORE_JSON_H
#define CCR_CORE_JSON_H

#include <json-c/json.h>
#include <stddef.h>
#include <sys/stat.h>

#include "core/error.h"

/* Nesting that is read; a policy file needs six levels. */
#define CCR_JSON_DEPTH 24

/*
 * Parses text[0..len) as one JSON value. name is the file's name for messages. On success *root has
 * one reference that the caller drops with json_object_put(). CCR_EINVAL: not JSON, with
 * `NAME:LINE: ...` as the message; CCR_ENOMEM.
 */
int ccr_json_parse(const char *text, size_t len, const char *name, struct json_object **root,
		   struct ccr_error *err);

/* The line on which a container that ccr_json_parse() made starts (its '{' or '['); 0 if unknown.
 */
unsigned ccr_json_line(const struct json_object *container);

/*
 * The line of member i (0-based, in the order of the text) of an object or array: that of the key
 * in an object, of the value in an array; 0 if unknown.
 */
unsigned ccr_json_member_line(const struct json_object *container, size_t i);

/*
 * Reads a whole regular file from one descriptor. *text is malloc'd, terminated by a 0 that *len
 * does not count; free() it. st, if not NULL, is the state of the very file that was read. CCR_EIO:
 * cannot be opened or read; CCR_EINVAL: not a regular file, empty, or more than max bytes;
 * CCR_ENOMEM.
 */
int ccr_json_read_file(const char *path, size_t max, char **text, size_t *len, struct stat *st,
		       struct ccr_error *err);

/*
 * A piece of foreign text made fit for a message: at most 60 bytes and only printable characters,
 * `...` where it was cut. out holds size bytes (80 are enough). Returns out.
 */
const char *ccr_json_printable(const char *text, size_t len, char *out, size_t size);

/*
 * A state file: an object with "version": is and a list under key, of max bytes at the most. The
 * list belongs to *root, which the caller drops with json_object_put(). Errors as of the two above,
 * and CCR_EINVAL with `PATH:1: ...` for another version or no list; *root is NULL then.
 */
int ccr_json_read_list(const char *path, size_t max, int is, const char *key,
		       struct json_object **root, struct json_object **list, struct ccr_error *err);

#endif
