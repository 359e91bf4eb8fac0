/* oom - see oom.h */
#include "oom.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long left;
static bool failed;

void oom_fail_at(unsigned long n)
{
	left = n;
	failed = false;
}

bool oom_end(void)
{
	left = 0;
	return failed;
}

static bool fails(void)
{
	if (!left || --left)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

#define WRAP(type, name, params, args)                                                             \
	type __real_##name params;                                                                 \
	type __wrap_##name params;                                                                 \
	type __wrap_##name params                                                                  \
	{                                                                                          \
		return fails() ? NULL : __real_##name args;                                        \
	}

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(char *, strdup, (const char *s), (s))
WRAP(FILE *, open_memstream, (char **buf, size_t *len), (buf, len))
WRAP(json_tokener *, json_tokener_new_ex, (int depth), (depth))
WRAP(json_object *, json_object_new_string, (const char *s), (s))
