/*
 * json_lines - the strict second reading of a text that json-c accepted
 */
#ifndef CCR_CORE_JSON_LINES_H
#define CCR_CORE_JSON_LINES_H

#include <json-c/json.h>
#include <stddef.h>

#include "core/error.h"

/*
 * Walks text beside the tree that json-c made of it and attaches the lines of the members to each
 * container (see ccr_json_member_line). CCR_EINVAL: a key appears twice, NaN or Infinity, a number
 * or string that is not JSON's.
 */
int ccr__json_lines(const char *text, size_t len, const char *name, struct json_object *root,
		    struct ccr_error *err);

/* What is attached to a container as its json-c user data. */
struct ccr__lines {
	unsigned self;
	size_t count;
	unsigned member[];
};

#endif
