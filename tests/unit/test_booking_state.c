#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/booking_state.h"
#include "oom.h"

static char dir[] = "/tmp/ccr_bookings.XXXXXX";
static char path[100];

static void setup(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/ccr_bookings.json", dir);
}

static void teardown(void)
{
	unlink(path);
	rmdir(dir);
}

TestSuite(booking_state, .init = setup, .fini = teardown);

static int load_text(const char *text, struct ccr_error *err)
{
	struct ccr_booking_saved *list = NULL;
	FILE *f = fopen(path, "w");
	size_t n = 0;
	int rc;

	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
	rc = ccr_bookings_load(path, &list, &n, err);
	if (!rc)
		ccr_bookings_free(list, n);
	else
		cr_assert_null(list);
	return rc;
}

static struct ccr_booking_part parts[2] = {
    {.nodes = "n[1-2]", .cpus = 8, .mem = 4000, .type = {7, UINT32_MAX}, .gpus = {2, 1}},
    {.nodes = "n7", .cpus = 1}};
static const struct ccr_booking_saved two[2] = {
    {12, 1700000000, 3600, 1700000100, 1699990000, parts, 2},
    {UINT32_MAX, 1700000000, CCR_FOREVER, 1700000000, 1, parts + 1, 1}};

Test(booking_state, what_is_saved_is_loaded)
{
	struct ccr_booking_saved *got = NULL;
	struct ccr_error err = {0};
	size_t n = 99;

	cr_assert_eq(ccr_bookings_save(path, two, 2, &err), CCR_OK, "%s", err.text);
	cr_assert_eq(ccr_bookings_load(path, &got, &n, &err), CCR_OK, "%s", err.text);
	cr_assert_eq(n, 2);
	for (size_t i = 0; i < 2; i++) {
		cr_assert_eq(got[i].job, two[i].job);
		cr_assert_eq(got[i].start, two[i].start);
		cr_assert_eq(got[i].limit, two[i].limit);
		cr_assert_eq(got[i].first_start, two[i].first_start);
		cr_assert_eq(got[i].made, two[i].made);
		cr_assert_eq(got[i].parts, two[i].parts);
		for (uint32_t k = 0; k < two[i].parts; k++) {
			cr_assert_str_eq(got[i].part[k].nodes, two[i].part[k].nodes);
			cr_assert_eq(got[i].part[k].cpus, two[i].part[k].cpus);
			cr_assert_eq(got[i].part[k].mem, two[i].part[k].mem);
			cr_assert_arr_eq(got[i].part[k].type, two[i].part[k].type,
					 sizeof(two[i].part[k].type));
			cr_assert_arr_eq(got[i].part[k].gpus, two[i].part[k].gpus,
					 sizeof(two[i].part[k].gpus));
		}
	}
	ccr_bookings_free(got, n);
	cr_assert_eq(ccr_bookings_save(path, NULL, 0, &err), CCR_OK);
	cr_assert_eq(ccr_bookings_load(path, &got, &n, &err), CCR_OK);
	cr_assert_eq(n, 0);
	cr_assert_null(got);
}

Test(booking_state, a_damaged_file_is_refused_with_the_place)
{
	static const char *const rows[] = {
	    "7",
	    "[]",
	    "[1, 2, 3, 4, 5]",
	    "[0, 2, 3, 4, 5, [\"n1\", 1, 1]]",
	    "[1, -2, 3, 4, 5, [\"n1\", 1, 1]]",
	    "[1, 2, 0, 4, 5, [\"n1\", 1, 1]]",
	    "[1, 2, 3, 4.5, 5, [\"n1\", 1, 1]]",
	    "[1, 2, 3, 4, 5, \"n1\"]",
	    "[1, 2, 3, 4, 5, [1, 1, 1]]",
	    "[1, 2, 3, 4, 5, [\"\", 1, 1]]",
	    "[1, 2, 3, 4, 5, [\"n\\\"1\", 1, 1]]",
	    "[1, 2, 3, 4, 5, [\"n1\", -1, 1]]",
	    "[1, 2, 3, 4, 5, [\"n1\", 1]]",
	    "[1, 2, 3, 4, 5, [\"n1\", 1, 1, 9]]",
	    "[1, 2, 3, 4, 5, [\"n1\", 1, 1, 9, 0]]",
	    "[1, 2, 3, 4, 5, [\"n1\", 1, 1, 9, 40000]]",
	    "[1, 2, 3, 4, 5, [\"n1\", 1, 1, 1,1,2,1,3,1,4,1,5,1,6,1,7,1,8,1,9,1]]",
	};
	struct ccr_error err;
	char text[400];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text),
			 "{\"version\": 1, \"bookings\": [\n[5, 1, 1, 1, 1, [\"n1\", 1, 0]],\n%s]}",
			 rows[i]);
		err = (struct ccr_error){0};
		cr_assert_eq(load_text(text, &err), CCR_EINVAL, "%s", rows[i]);
		cr_assert(strstr(err.text, ":3: bookings[1]: "), "%s: %s", rows[i], err.text);
	}
	cr_assert_eq(load_text("{\"version\": 2, \"bookings\": []}", &err), CCR_EINVAL);
	cr_assert_eq(load_text("{\"version\": 1}", &err), CCR_EINVAL);
	cr_assert_eq(load_text("{\"version\": 1, \"book", &err), CCR_EINVAL);
	unlink(path);
	cr_assert_eq(
	    ccr_bookings_load(path, &(struct ccr_booking_saved *){NULL}, &(size_t){0}, &err),
	    CCR_EIO);
}

Test(booking_state, only_plain_names_are_written)
{
	struct ccr_booking_part odd = {.nodes = (char *)"n\"1"};
	struct ccr_booking_saved b = {1, 1, 1, 1, 1, &odd, 1};
	struct ccr_error err = {0};

	cr_assert_eq(ccr_bookings_save(path, &b, 1, &err), CCR_EINVAL);
	cr_assert_neq(access(path, F_OK), 0);
}

Test(booking_state, no_memory_is_an_error_like_any_other)
{
	struct ccr_error err = {0};

	for (unsigned long i = 1;; i++) {
		int rc;

		oom_fail_at(i);
		rc = ccr_bookings_save(path, two, 2, &err);
		if (!oom_end()) {
			cr_assert_eq(rc, CCR_OK);
			break;
		}
		cr_assert_eq(rc, CCR_ENOMEM);
	}
	for (unsigned long i = 1;; i++) {
		struct ccr_booking_saved *list = NULL;
		size_t n = 0;
		int rc;

		oom_fail_at(i);
		rc = ccr_bookings_load(path, &list, &n, &err);
		if (!oom_end()) {
			cr_assert_eq(rc, CCR_OK);
			ccr_bookings_free(list, n);
			break;
		}
		cr_assert_eq(rc, CCR_ENOMEM, "%lu: %s", i, err.text);
		cr_assert_null(list);
	}
}
