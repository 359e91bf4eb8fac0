#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/atomic_file.h"

static char dir[] = "/tmp/ccr-atomic-XXXXXX";
static char path[64], new_path[70];
static struct ccr_error err;

static void setup(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/f", dir);
	snprintf(new_path, sizeof(new_path), "%s.new", path);
}

static void teardown(void)
{
	unlink(path);
	rmdir(new_path);
	unlink(new_path);
	rmdir(dir);
}

TestSuite(atomic_file, .init = setup, .fini = teardown);

static void content(const char *want)
{
	char got[64] = "";
	FILE *f = fopen(path, "r");

	cr_assert_not_null(f);
	cr_assert(fread(got, 1, sizeof(got) - 1, f) == strlen(want));
	fclose(f);
	cr_assert_str_eq(got, want);
}

Test(atomic_file, creates_and_replaces)
{
	struct stat st;

	cr_assert_eq(ccr_atomic_write(path, "one", 3, 0600, &err), 0, "%s", err.text);
	content("one");
	cr_assert_eq(ccr_atomic_write(path, "second", 6, 0600, &err), 0);
	content("second");
	cr_assert_eq(ccr_atomic_replace(path, "3rd", 3, 0600, &err), 0);
	content("3rd");
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 0777, 0600);
	cr_assert_neq(access(new_path, F_OK), 0);
}

Test(atomic_file, leaves_the_old_file_on_failure)
{
	cr_assert_eq(ccr_atomic_write(path, "one", 3, 0600, &err), 0);
	cr_assert_eq(mkdir(new_path, 0700), 0); /* cannot be replaced by a file */
	cr_assert_eq(ccr_atomic_write(path, "two", 3, 0600, &err), CCR_EIO);
	content("one");
	cr_assert(strstr(err.text, path) == err.text, "%s", err.text);
}

Test(atomic_file, says_why_a_folder_that_is_not_there_will_not_do)
{
	cr_assert_eq(ccr_atomic_write("/nonexistent/f", "", 0, 0600, &err), CCR_EIO);
	cr_assert_str_eq(err.text, "/nonexistent/f: cannot create /nonexistent/f.new: No such "
				   "file or directory");
}

Test(atomic_file, does_not_follow_a_planted_link)
{
	char victim[70];
	struct stat st;

	snprintf(victim, sizeof(victim), "%s/victim", dir);
	cr_assert_eq(symlink(victim, new_path), 0);
	cr_assert_eq(ccr_atomic_write(path, "x", 1, 0600, &err), 0);
	cr_assert_neq(stat(victim, &st), 0);
}
