#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/ledger_state.h"
#include "oom.h"

#define NOW 1764485520 /* 2025-11-30T06:52:00Z */

static const struct ccr_usage_model hour = {.kind = CCR_USAGE_HALFLIFE, .half_life_s = 3600};
static const struct ccr_usage_model windows = {
    .kind = CCR_USAGE_WINDOWS, .interval_s = 1000, .depth = 4, .decay = 0.5};
static const struct ccr_usage_key ann = {"physics", "ann", "gpu", "normal"};

static char dir[] = "/tmp/ccr_ledger_XXXXXX";
static char path[100];

static void setup(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/usage.json", dir);
}

static void teardown(void)
{
	char name[400];
	struct dirent *d;
	DIR *dp = opendir(dir);

	while (dp && (d = readdir(dp))) {
		snprintf(name, sizeof(name), "%s/%s", dir, d->d_name);
		if (unlink(name))
			rmdir(name);
	}
	closedir(dp);
	rmdir(dir);
}

TestSuite(ledger_state, .init = setup, .fini = teardown);

/* How many files there are, and whether one has this in its name. */
static int files(const char *part)
{
	DIR *dp = opendir(dir);
	struct dirent *d;
	int n = 0;

	while ((d = readdir(dp)))
		n += d->d_name[0] != '.' && strstr(d->d_name, part);
	closedir(dp);
	return n;
}

static const char *with(const char *suffix)
{
	static char buf[200];

	snprintf(buf, sizeof(buf), "%s%s", path, suffix);
	return buf;
}

static void put(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
}

/* Saves a ledger in which ann has that many seconds. */
static void save(double billed)
{
	struct ccr_ledger *l = ccr_ledger_new(&hour, NOW, NULL);
	const double *bins[CCR_MEASURES] = {&billed, &billed};
	struct ccr_error e = {0};

	ccr_ledger_add(l, &ann, bins, 1, NULL);
	cr_assert_eq(ccr_ledger_save(l, path, 0600, &e), CCR_OK, "%s", e.text);
	ccr_ledger_free(l);
}

static double anns(const struct ccr_ledger *l)
{
	return ccr_ledger_by(l, CCR_BY_USER, "ann", NULL).s[CCR_BILLED];
}

static struct ccr_ledger *restore(struct ccr_ledger_notes *notes)
{
	struct ccr_ledger *l;
	struct ccr_error e = {0};

	cr_assert_eq(ccr_ledger_restore(path, &hour, NOW + 5, &l, notes, &e), CCR_OK, "%s", e.text);
	cr_assert_not_null(l);
	return l;
}

Test(ledger_state, missing_is_empty)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l = restore(&notes);

	cr_assert_eq(notes.source, CCR_LEDGER_EMPTY);
	cr_assert_str_eq(notes.text, "");
	cr_assert_eq(ccr_ledger_count(l), 0u);
	cr_assert_eq(ccr_ledger_time(l), NOW + 5);
	ccr_ledger_free(l);
}

Test(ledger_state, saved_and_restored)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l;
	struct stat st;

	save(111);
	cr_assert_eq(files(""), 1);
	save(222);
	cr_assert_eq(files(""), 2);
	l = restore(&notes);
	cr_assert_eq(notes.source, CCR_LEDGER_SAVED);
	cr_assert_str_eq(notes.text, "");
	cr_assert_eq(anns(l), 222.0);
	cr_assert_eq(ccr_ledger_time(l), NOW, "the caller advances it");
	ccr_ledger_free(l);
	cr_assert_eq(ccr_ledger_read(with(".old"), NOW, NULL, &l, NULL), CCR_OK);
	cr_assert_eq(anns(l), 111.0);
	ccr_ledger_free(l);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0600u);
}

Test(ledger_state, damaged_uses_old)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l;

	save(111);
	save(222);
	cr_assert_eq(truncate(path, 100), 0);
	l = restore(&notes);
	cr_assert_eq(notes.source, CCR_LEDGER_OLD);
	cr_assert_eq(anns(l), 111.0);
	cr_assert(strstr(notes.text, "usage.json:5: found the end of the file in the middle"), "%s",
		  notes.text);
	cr_assert(strstr(notes.text, "usage.json.damaged-20251130T065205Z.\n"), "%s", notes.text);
	cr_assert(strstr(notes.text, "usage.json.old is used instead"), "%s", notes.text);
	cr_assert_eq(access(with(".damaged-20251130T065205Z"), F_OK), 0);
	cr_assert_neq(access(path, F_OK), 0);
	/* The next save does not lose the good one. */
	cr_assert_eq(ccr_ledger_save(l, path, 0600, NULL), CCR_OK);
	ccr_ledger_free(l);
	cr_assert_eq(ccr_ledger_read(with(".old"), NOW, NULL, &l, NULL), CCR_OK);
	ccr_ledger_free(l);
}

Test(ledger_state, both_damaged_is_empty)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l;

	put(path, "{\"version\": 7}");
	put(with(".old"), "");
	l = restore(&notes);
	cr_assert_eq(notes.source, CCR_LEDGER_EMPTY);
	cr_assert_eq(ccr_ledger_count(l), 0u);
	cr_assert_eq(ccr_ledger_time(l), NOW + 5);
	cr_assert(strstr(notes.text, "version is 7"), "%s", notes.text);
	cr_assert(strstr(notes.text, "usage.json.old:1: found an empty file"), "%s", notes.text);
	cr_assert(strstr(notes.text, "all begin with none"), "%s", notes.text);
	cr_assert_eq(files(".damaged-"), 2);
	cr_assert_eq(files(""), 2);
	ccr_ledger_free(l);
}

Test(ledger_state, damaged_twice_in_a_second_keeps_both)
{
	struct ccr_ledger_notes notes;

	for (int i = 0; i < 3; i++) {
		put(path, "x");
		ccr_ledger_free(restore(&notes));
	}
	cr_assert_eq(files(".damaged-20251130T065205Z"), 3);
}

Test(ledger_state, missing_with_old_uses_old)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l;

	save(111);
	save(222);
	unlink(path);
	l = restore(&notes);
	cr_assert_eq(notes.source, CCR_LEDGER_OLD);
	cr_assert_eq(anns(l), 111.0);
	cr_assert(strstr(notes.text, "usage.json is missing.\n"), "%s", notes.text);
	ccr_ledger_free(l);
}

Test(ledger_state, a_seed_needs_no_check)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l;

	put(path, "{\"version\": 1, \"usage\": [{\"account\": \"physics\", \"user\": \"ann\", "
		  "\"billed_s\": 5}]}\n");
	l = restore(&notes);
	cr_assert_eq(notes.source, CCR_LEDGER_SAVED);
	cr_assert_str_eq(notes.text, "");
	cr_assert_eq(anns(l), 5.0);
	cr_assert(ccr_usage_model_equal(ccr_ledger_model(l), &hour));
	ccr_ledger_free(l);
}

Test(ledger_state, another_model_is_converted_and_said)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l;
	struct ccr_usage_model two_hours = hour;

	save(222);
	cr_assert_eq(ccr_ledger_restore(path, &windows, NOW, &l, &notes, NULL), CCR_OK);
	cr_assert_eq(notes.source, CCR_LEDGER_SAVED);
	cr_assert(strstr(notes.text, "kept under halflife; it has been converted to windows."),
		  "%s", notes.text);
	cr_assert_eq(anns(l), 222.0);
	ccr_ledger_free(l);
	two_hours.half_life_s = 7200;
	cr_assert_eq(ccr_ledger_restore(path, &two_hours, NOW, &l, &notes, NULL), CCR_OK);
	cr_assert(strstr(notes.text, "with its present parameters"), "%s", notes.text);
	cr_assert_eq(ccr_ledger_model(l)->half_life_s, 7200.0);
	ccr_ledger_free(l);
}

/* A link that leads round to itself cannot be opened, by root neither, and is not missing. */
Test(ledger_state, what_cannot_be_read_is_not_overwritten)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l = NULL;
	struct ccr_error e = {0};

	cr_assert_eq(symlink("usage.json", path), 0);
	cr_assert_eq(ccr_ledger_restore(path, &hour, NOW, &l, &notes, &e), CCR_EIO);
	cr_assert(strstr(e.text, "usage.json: cannot be opened: Too many levels"), "%s", e.text);
	cr_assert_null(l);
	cr_assert_eq(files(""), 1);
	cr_assert_eq(ccr_ledger_read(with(".none"), NOW, NULL, &l, &e), CCR_EIO);
	cr_assert(strstr(e.text, "usage.json.none: cannot be opened: No such file"), "%s", e.text);
	cr_assert_eq(mkfifo(with(".fifo"), 0600), 0);
	cr_assert_eq(ccr_ledger_read(with(".fifo"), NOW, NULL, &l, &e), CCR_EINVAL,
		     "and does not wait");
}

/* A folder in its place is damage: it is set aside like a damaged file. */
Test(ledger_state, a_folder_in_its_place)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l;

	cr_assert_eq(mkdir(path, 0700), 0);
	l = restore(&notes);
	cr_assert_eq(notes.source, CCR_LEDGER_EMPTY);
	cr_assert(strstr(notes.text, "found a directory, expected a regular file"), "%s",
		  notes.text);
	cr_assert_eq(ccr_ledger_save(l, path, 0600, NULL), CCR_OK);
	cr_assert_eq(files(".damaged-"), 1);
	ccr_ledger_free(l);
}

Test(ledger_state, bad_use)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l = ccr_ledger_new(&hour, NOW, NULL), *none;
	struct ccr_error e = {0};
	char *longest = malloc(9000);

	memset(longest, 'x', 8999);
	longest[8999] = '\0';
	cr_assert_eq(ccr_ledger_save(l, longest, 0600, &e), CCR_EIO);
	cr_assert_eq(ccr_ledger_restore(longest, &hour, NOW, &none, &notes, &e), CCR_EIO);
	cr_assert_eq(ccr_ledger_save(l, with(".no/such"), 0600, &e), CCR_EIO);
	cr_assert(strstr(e.text, "No such file"), "%s", e.text);
	cr_assert_eq(
	    ccr_ledger_restore(path, &(struct ccr_usage_model){.kind = 9}, NOW, &none, &notes, &e),
	    CCR_EINVAL);
	cr_assert_eq(ccr_ledger_restore(path, &hour, INT64_MIN, &none, &notes, &e), CCR_EINVAL);
	cr_assert_null(none);
	free(longest);
	ccr_ledger_free(l);
}

Test(ledger_state, a_full_disk_leaves_the_files)
{
	struct rlimit was, small;
	struct ccr_ledger *l = ccr_ledger_new(&hour, NOW, NULL);
	struct ccr_error e = {0};
	char user[20];

	save(111);
	save(222);
	for (int i = 0; i < 100; i++) {
		struct ccr_usage_key k = {"a", user, "b", "c"};
		snprintf(user, sizeof(user), "u%d", i);
		ccr_ledger_charge(l, &k, NOW - 10, NOW, 1, 1, NULL);
	}
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	small = was;
	small.rlim_cur = 3000;
	setrlimit(RLIMIT_FSIZE, &small);
	int rc = ccr_ledger_save(l, path, 0600, &e);
	setrlimit(RLIMIT_FSIZE, &was);
	cr_assert_eq(rc, CCR_EIO);
	cr_assert(strstr(e.text, "File too large"), "%s", e.text);
	ccr_ledger_free(l);
	cr_assert_eq(files(""), 2, "nothing half-written stays");
	cr_assert_eq(ccr_ledger_read(path, NOW, NULL, &l, NULL), CCR_OK);
	cr_assert_eq(anns(l), 222.0);
	ccr_ledger_free(l);
	cr_assert_eq(ccr_ledger_read(with(".old"), NOW, NULL, &l, NULL), CCR_OK);
	cr_assert_eq(anns(l), 111.0);
	ccr_ledger_free(l);
}

/* Windows, a restart, a clock that jumps and an interval that changes, one after the other. */
Test(ledger_state, windows_through_a_restart_with_all_that_can_change)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l = ccr_ledger_new(&windows, 10500, NULL);
	struct ccr_usage_model halves = windows;

	cr_assert_eq(ccr_ledger_charge(l, &ann, 8000, 10500, 2, 0, NULL), CCR_OK);
	cr_assert_eq(ccr_ledger_save(l, path, 0600, NULL), CCR_OK);
	ccr_ledger_free(l);
	/* [10000, 10500] 1000, [9000, 10000) 2000, [8000, 9000) 2000: as it was. */
	cr_assert_eq(ccr_ledger_restore(path, &windows, 11200, &l, &notes, NULL), CCR_OK);
	cr_assert_str_eq(notes.text, "");
	cr_assert_eq(anns(l), 1000 + 2000 * 0.5 + 2000 * 0.25);
	ccr_ledger_advance(l, 11200, NULL);
	ccr_ledger_roll_up(l);
	cr_assert_eq(anns(l), 1000 * 0.5 + 2000 * 0.25 + 2000 * 0.125);
	cr_assert_eq(ccr_ledger_save(l, path, 0600, NULL), CCR_OK);
	ccr_ledger_free(l);
	/* Windows of 500: [11000, 11200] 0, then 0, 0 and 500, 500 in [10000, 11000), 1000 ... */
	halves.interval_s = 500;
	halves.depth = 8;
	halves.decay = 1;
	cr_assert_eq(ccr_ledger_restore(path, &halves, 11200, &l, &notes, NULL), CCR_OK);
	const double *bins = ccr_ledger_entry_bins(l, ccr_ledger_find(l, &ann), CCR_BILLED);
	const double want[8] = {0, 500, 500, 1000, 1000, 1000, 1000, 0};
	for (int i = 0; i < 8; i++)
		cr_assert_float_eq(bins[i], want[i], 1e-9, "%d: %g", i, bins[i]);
	cr_assert_float_eq(anns(l), 5000, 1e-9);
	/* The clock back by a year, saved, and forward again by more than all windows. */
	ccr_ledger_advance(l, 11200 - 365 * 86400, NULL);
	cr_assert_eq(ccr_ledger_save(l, path, 0600, NULL), CCR_OK);
	ccr_ledger_free(l);
	cr_assert_eq(ccr_ledger_restore(path, &halves, 11200, &l, &notes, NULL), CCR_OK);
	cr_assert_float_eq(anns(l), 5000, 1e-9);
	ccr_ledger_advance(l, 11200, NULL);
	cr_assert_eq(ccr_ledger_count(l), 0u);
	ccr_ledger_free(l);
}

struct a_job {
	int64_t start, end;
	double rate;
};

/* What a daemon does in a cycle: see ledger.h. */
static void cycle(struct ccr_ledger *l, const struct a_job *jobs, int n, int64_t now)
{
	int64_t from = ccr_ledger_charged_until(l);

	ccr_ledger_advance(l, now, NULL);
	for (int i = 0; i < n; i++) {
		int64_t a = jobs[i].start > from ? jobs[i].start : from;
		int64_t b = jobs[i].end < now ? jobs[i].end : now;
		cr_assert_eq(ccr_ledger_charge(l, &ann, a, b, jobs[i].rate, 1, NULL), CCR_OK);
	}
	ccr_ledger_set_charged_until(l, now);
}

/*
 * A daemon that goes on for a day, and one that is ended or killed on its way: the same usage. (A
 * daemon that was killed goes on from what it saved last; jobs are charged again from there.)
 */
Test(ledger_state, no_second_is_lost_or_counted_twice)
{
	enum { JOBS = 40, DAY = 86400 };
	const struct ccr_usage_model never = {.kind = CCR_USAGE_HALFLIFE};
	const struct ccr_usage_model *models[] = {&never, &hour, &windows};
	struct ccr_ledger_notes notes;
	struct a_job jobs[JOBS];
	unsigned seed = 99;

	for (int k = 0; k < 3; k++) {
		struct ccr_usage_model m = *models[k];
		m.interval_s = 7200;
		struct ccr_ledger *on = ccr_ledger_new(&m, NOW, NULL),
				  *off = ccr_ledger_new(&m, NOW, NULL);
		double all = 0;
		for (int i = 0; i < JOBS; i++) {
			jobs[i].start = NOW + rand_r(&seed) % DAY;
			jobs[i].end = jobs[i].start + rand_r(&seed) % 20000;
			jobs[i].rate = rand_r(&seed) % 100;
			int64_t end = jobs[i].end < NOW + DAY ? jobs[i].end : NOW + DAY;
			all += jobs[i].rate * (double)(end - jobs[i].start);
		}
		for (int64_t t = NOW + 300; t <= NOW + DAY; t += 300) {
			cycle(on, jobs, JOBS, t);
			cycle(off, jobs, JOBS, t);
			if (rand_r(&seed) % 16 == 0)
				cr_assert_eq(ccr_ledger_save(off, path, 0600, NULL), CCR_OK);
			if (t < NOW + DAY && rand_r(&seed) % 16 == 0 && access(path, F_OK) == 0) {
				ccr_ledger_free(off);
				cr_assert_eq(
				    ccr_ledger_restore(path, &m, t + 100, &off, &notes, NULL),
				    CCR_OK);
				cr_assert_str_eq(notes.text, "");
			}
		}
		const struct ccr_ledger_entry *a = ccr_ledger_find(on, &ann),
					      *b = ccr_ledger_find(off, &ann);
		double x = ccr_ledger_entry_usage(on, a).s[CCR_BILLED];
		double y = ccr_ledger_entry_usage(off, b).s[CCR_BILLED];
		cr_assert_float_eq(x, y, 1e-9 * x, "%.17g and %.17g", x, y);
		if (k == 0)
			cr_assert_eq(x, all);
		ccr_ledger_free(on);
		ccr_ledger_free(off);
		unlink(path);
		unlink(with(".old"));
	}
}

/* What a crash in the middle of a save leaves is in nobody's way. */
Test(ledger_state, remains_of_a_crash)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l;

	save(111);
	save(222);
	put(with(".new"), "{\"vers");
	cr_assert_eq(link(path, with(".prev")), 0);
	l = restore(&notes);
	cr_assert_eq(anns(l), 222.0);
	cr_assert_str_eq(notes.text, "");
	ccr_ledger_free(l);
	save(333);
	cr_assert_eq(files(""), 2);
	l = restore(&notes);
	cr_assert_eq(anns(l), 333.0);
	ccr_ledger_free(l);
}

Test(ledger_state, out_of_memory_touches_no_file)
{
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l;
	struct ccr_error e = {0};
	unsigned long n;

	save(111);
	save(222);
	cr_assert_eq(truncate(path, 100), 0);
	for (n = 1;; n++) {
		oom_fail_at(n);
		int rc = ccr_ledger_restore(path, &windows, NOW, &l, &notes, &e);
		if (!oom_end()) {
			cr_assert_eq(rc, CCR_OK);
			break;
		}
		cr_assert_eq(rc, CCR_ENOMEM, "%lu", n);
		cr_assert_null(l);
		cr_assert_eq(files(".damaged-"), 0);
	}
	cr_assert_gt(n, 10u);
	cr_assert_eq(anns(l), 111.0);
	for (n = 1;; n++) {
		oom_fail_at(n);
		int rc = ccr_ledger_save(l, path, 0600, &e);
		if (!oom_end()) {
			cr_assert_eq(rc, CCR_OK);
			break;
		}
		cr_assert_eq(rc, CCR_ENOMEM);
		cr_assert_neq(access(path, F_OK), 0);
	}
	cr_assert_eq(n, 6u, "the stream and four names");
	ccr_ledger_free(l);
}
