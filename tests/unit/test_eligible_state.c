#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/eligible_state.h"
#include "oom.h"

static char dir[] = "/tmp/ccr_eligible.XXXXXX";
static char path[100];

static void setup(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/ccr_eligible.json", dir);
}

static void teardown(void)
{
	unlink(path);
	rmdir(dir);
}

TestSuite(eligible_state, .init = setup, .fini = teardown);

static int load_text(const char *text, struct ccr_eligible_job **jobs, size_t *n,
		     struct ccr_error *err)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
	return ccr_eligible_load(path, jobs, n, err);
}

Test(eligible_state, what_is_saved_is_loaded)
{
	const struct ccr_eligible_job jobs[] = {{7, {3600, 1700000000, true}},
						{UINT32_MAX, {CCR_ELIGIBLE_MAX, 0, false}}};
	struct ccr_eligible_job *got = NULL;
	struct ccr_error err = {0};
	size_t n = 99;

	cr_assert_eq(ccr_eligible_save(path, jobs, 2, &err), CCR_OK, "%s", err.text);
	cr_assert_eq(ccr_eligible_load(path, &got, &n, &err), CCR_OK, "%s", err.text);
	cr_assert_eq(n, 2);
	for (size_t i = 0; i < 2; i++) {
		cr_assert_eq(got[i].id, jobs[i].id);
		cr_assert_eq(got[i].e.accrued, jobs[i].e.accrued);
		cr_assert_eq(got[i].e.since, jobs[i].e.since);
		cr_assert_eq(got[i].e.accruing, jobs[i].e.accruing);
	}
	free(got);
	cr_assert_eq(ccr_eligible_save(path, NULL, 0, &err), CCR_OK);
	cr_assert_eq(ccr_eligible_load(path, &got, &n, &err), CCR_OK);
	cr_assert_eq(n, 0);
	cr_assert_null(got);
}

Test(eligible_state, damage_is_said_with_its_place)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
	    {"{\"version\": 1, \"jobs\": [\n[1, 2, 3, 1],\n[1, 2, 3]]}", ":3: jobs[1]"},
	    {"{\"version\": 1, \"jobs\": [\n[0, 2, 3, 1]]}", ":2: jobs[0]"},
	    {"{\"version\": 1, \"jobs\": [[1, -2, 3, 1]]}", "jobs[0]"},
	    {"{\"version\": 1, \"jobs\": [[1, 2.5, 3, 1]]}", "jobs[0]"},
	    {"{\"version\": 1, \"jobs\": [[1, 2, 3, 2]]}", "jobs[0]"},
	    {"{\"version\": 1, \"jobs\": [[1, 2, \"3\", 1]]}", "jobs[0]"},
	    {"{\"version\": 1, \"jobs\": [[1, 2, 9007199254740993, 1]]}", "jobs[0]"},
	    {"{\"version\": 1, \"jobs\": [17]}", "jobs[0]"},
	    {"{\"version\": 1, \"jobs\": {}}", "jobs: expected a list"},
	    {"{\"version\": 1}", "jobs: expected a list"},
	    {"{\"version\": 2, \"jobs\": []}", "version"},
	    {"{\"jobs\": []}", "version"},
	    {"[]", "version"},
	    {"{\"version\": 1, \"jobs\": [[1, 2", ":1:"},
	    {"", "empty"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ccr_eligible_job *jobs = NULL;
		struct ccr_error err = {0};
		size_t n = 99;

		cr_assert_eq(load_text(bad[i].text, &jobs, &n, &err), CCR_EINVAL, "%s",
			     bad[i].text);
		cr_assert_not_null(strstr(err.text, bad[i].says), "%s: %s", bad[i].text, err.text);
		cr_assert_null(jobs);
		cr_assert_eq(n, 99);
	}
}

Test(eligible_state, what_cannot_be_read_or_written_is_said)
{
	struct ccr_eligible_job *jobs = NULL;
	struct ccr_error err = {0};
	size_t n = 0;

	cr_assert_eq(ccr_eligible_load(path, &jobs, &n, &err), CCR_EIO);
	cr_assert_not_null(strstr(err.text, path));
	cr_assert_eq(ccr_eligible_save("/no/such/folder/x", NULL, 0, &err), CCR_EIO);
}

Test(eligible_state, no_memory_is_an_error_like_any_other)
{
	const struct ccr_eligible_job one = {7, {3600, 1700000000, true}};
	struct ccr_error err = {0};

	for (unsigned long i = 1;; i++) {
		int rc;

		oom_fail_at(i);
		rc = ccr_eligible_save(path, &one, 1, &err);
		if (!oom_end()) {
			cr_assert_eq(rc, CCR_OK);
			break;
		}
		cr_assert_eq(rc, CCR_ENOMEM);
	}
	for (unsigned long i = 1;; i++) {
		struct ccr_eligible_job *jobs = NULL;
		size_t n = 0;
		int rc;

		oom_fail_at(i);
		rc = ccr_eligible_load(path, &jobs, &n, &err);
		if (!oom_end()) {
			cr_assert_eq(rc, CCR_OK);
			free(jobs);
			break;
		}
		cr_assert_eq(rc, CCR_ENOMEM, "%lu: %s", i, err.text);
		cr_assert_null(jobs);
	}
}
