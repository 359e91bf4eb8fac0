#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/last_ran.h"

static char dir[] = "/tmp/ccr_last_ran.XXXXXX";
static char path[100], old[110], fresh[110];

static void setup(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/priority_last_decay_ran", dir);
	snprintf(old, sizeof(old), "%s.old", path);
	snprintf(fresh, sizeof(fresh), "%s.new", path);
}

static void teardown(void)
{
	unlink(path);
	unlink(old);
	unlink(fresh);
	rmdir(dir);
}

static void put(const void *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	cr_assert_eq(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

TestSuite(last_ran, .init = setup, .fini = teardown);

/* 1700000000 and 1699920000 as priority/multifactor of Slurm 22.05.8 writes them */
static const unsigned char stock[16] = {0, 0, 0, 0, 0x65, 0x53, 0xf1, 0x00,
					0, 0, 0, 0, 0x65, 0x52, 0xb8, 0x80};

Test(last_ran, reads_what_multifactor_wrote)
{
	struct ccr_last_ran t;
	struct ccr_error e;

	put(stock, sizeof(stock));
	cr_assert_eq(ccr_last_ran_read(path, &t, &e), CCR_OK);
	cr_expect_eq(t.ran, 1700000000);
	cr_expect_eq(t.reset, 1699920000);
}

Test(last_ran, writes_the_same_bytes_and_keeps_the_old_file)
{
	struct ccr_last_ran t = {.ran = 1700000000, .reset = 1699920000},
			    u = {.ran = 5, .reset = 6};
	unsigned char got[32];
	struct ccr_error e;
	struct stat st;
	FILE *f;

	cr_assert_eq(ccr_last_ran_write(path, &u, &e), CCR_OK, "%s", e.text);
	cr_assert_eq(ccr_last_ran_write(path, &t, &e), CCR_OK, "%s", e.text);
	f = fopen(path, "r");
	cr_assert_eq(fread(got, 1, sizeof(got), f), 16);
	fclose(f);
	cr_expect_arr_eq(got, stock, 16);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0600);
	cr_assert_eq(ccr_last_ran_read(old, &t, &e), CCR_OK);
	cr_expect_eq(t.ran, 5);
	cr_expect_neq(access(fresh, F_OK), 0);
}

Test(last_ran, no_file_is_a_first_start)
{
	struct ccr_last_ran t = {.ran = 1, .reset = 1};

	cr_assert_eq(ccr_last_ran_read(path, &t, NULL), CCR_OK);
	cr_expect_eq(t.ran, 0);
	cr_expect_eq(t.reset, 0);
}

Test(last_ran, damaged_files_start_from_zero)
{
	static const unsigned char negative[16] = {0xff, 1, 2};
	struct ccr_last_ran t = {.ran = 1, .reset = 1};
	struct ccr_error e;

	put(stock, 15);
	cr_expect_eq(ccr_last_ran_read(path, &t, &e), CCR_EINVAL);
	cr_expect_not_null(strstr(e.text, "15 bytes"));
	put(stock, 0);
	cr_expect_eq(ccr_last_ran_read(path, &t, &e), CCR_EINVAL);
	put(negative, 16);
	cr_expect_eq(ccr_last_ran_read(path, &t, &e), CCR_EINVAL);
	cr_expect_eq(t.ran, 0);
	cr_expect_eq(t.reset, 0);
	unlink(path);
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_expect_eq(ccr_last_ran_read(path, &t, &e), CCR_EIO);
	rmdir(path);
}

Test(last_ran, a_failed_write_says_why)
{
	struct ccr_last_ran t = {.ran = 1};
	struct ccr_error e;
	char *longer = calloc(1, 5000);

	cr_expect_eq(ccr_last_ran_write("/nonexistent/x", &t, &e), CCR_EIO);
	cr_expect_not_null(strstr(e.text, "No such file"));
	memset(longer, 'a', 4999);
	cr_expect_eq(ccr_last_ran_write(longer, &t, &e), CCR_EINVAL);
	free(longer);
	/* the target is a folder: the rename fails, nothing is left behind */
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_expect_eq(ccr_last_ran_write(path, &t, &e), CCR_EIO);
	cr_expect_neq(access(fresh, F_OK), 0);
	rmdir(path);
}
