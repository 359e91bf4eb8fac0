/*
 * The loader with each of its allocations failing in turn: the result is CCR_ENOMEM and nothing is
 * left behind. The linker wraps malloc, calloc, realloc, strdup and strndup as this program and the
 * core call them; json-c's and muParser's own calls, inside their libraries, are not reached.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config.h"
#include "core/json.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void __real_free(void *p);

static long calls, fail_at; /* counted from 1 while fail_at is not 0 */
static long live;	    /* blocks that the wrapped functions gave out and free() has not had */

static int fails(void)
{
	return fail_at && ++calls == fail_at;
}

static void *given(void *p)
{
	if (fail_at && p)
		live++;
	return p;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : given(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : given(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	void *q;

	if (fails())
		return NULL;
	q = __real_realloc(p, size);
	return p ? q : given(q);
}

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : given(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t n)
{
	return fails() ? NULL : given(__real_strndup(s, n));
}

void __wrap_free(void *p)
{
	if (fail_at && p)
		live--;
	__real_free(p);
}

/* Returns after how many allocations the whole succeeds. */
static long fail_each(int (*attempt)(struct ccr_error *err))
{
	struct ccr_error err;
	int rc;

	for (long n = 1;; n++) {
		memset(&err, 0, sizeof(err));
		calls = live = 0;
		fail_at = n;
		rc = attempt(&err);
		fail_at = 0;
		cr_expect_eq(live, 0, "%ld blocks are left behind when allocation %ld fails", live,
			     n);
		if (rc == 0) {
			cr_expect_lt(calls, n, "allocation %ld failed and nobody noticed", n);
			return n;
		}
		cr_assert_eq(rc, CCR_ENOMEM, "allocation %ld: %d %s", n, rc, err.text);
		cr_assert_str_eq(err.text, "out of memory");
	}
}

static char *text;
static size_t len;

static int parse(struct ccr_error *err)
{
	const struct ccr_config_options options = {.year = 2026};
	struct ccr_config *c = NULL;
	int rc = ccr_config_parse(text, len, "ccr.json", &options, &c, err);

	cr_expect_eq(c != NULL, rc == 0);
	ccr_config_free(c);
	return rc;
}

static void try_golden(const char *name, long at_least)
{
	char path[400];
	struct ccr_error err = {0};
	long n;

	snprintf(path, sizeof(path), CCR_TESTS_DIR "/../golden/config/%s/input.json", name);
	cr_assert_eq(ccr_json_read_file(path, 1 << 20, &text, &len, NULL, &err), 0, "%s", err.text);
	n = fail_each(parse);
	cr_expect_gt(n, at_least, "%s: only %ld allocations were tried", name, n);
	free(text);
}

Test(config_oom, a_file_with_everything)
{
	try_golden("ok-everything", 60);
}

Test(config_oom, files_with_warnings)
{
	try_golden("warn-years", 20);
	try_golden("warn-no-target", 15);
	try_golden("warn-unused-tier", 15);
	try_golden("ok-job-sort-formula", 10);
}

static int load(struct ccr_error *err)
{
	struct ccr_config *c = NULL;
	int rc = ccr_config_load(CCR_TESTS_DIR "/../golden/config/ok-smallest/input.json", NULL, &c,
				 err);

	ccr_config_free(c);
	return rc;
}

Test(config_oom, a_file_from_the_disk)
{
	cr_expect_gt(fail_each(load), 5);
}
