#include <criterion/criterion.h>
#include <stdlib.h>
#include "core/reset.h"

static time_t at(int year, int month, int day, int hour)
{
	struct tm tm = {.tm_year = year - 1900,
			.tm_mon = month - 1,
			.tm_mday = day,
			.tm_hour = hour,
			.tm_isdst = -1};

	return mktime(&tm);
}

static void zone(const char *tz)
{
	setenv("TZ", tz, 1);
	tzset();
}

/* last, period, the first reset after it */
static const struct {
	enum ccr_reset_period period;
	int last[4], next[4];
} row[] = {
    {CCR_RESET_DAILY, {2023, 6, 14, 9}, {2023, 6, 15, 0}},
    {CCR_RESET_DAILY, {2023, 12, 31, 23}, {2024, 1, 1, 0}},
    {CCR_RESET_DAILY, {2024, 2, 28, 0}, {2024, 2, 29, 0}},
    {CCR_RESET_WEEKLY, {2023, 6, 14, 9}, {2023, 6, 18, 0}}, /* a Wednesday */
    {CCR_RESET_WEEKLY, {2023, 6, 18, 0}, {2023, 6, 25, 0}}, /* a Sunday */
    {CCR_RESET_MONTHLY, {2023, 6, 14, 9}, {2023, 7, 1, 0}},
    {CCR_RESET_MONTHLY, {2023, 12, 1, 0}, {2024, 1, 1, 0}},
    {CCR_RESET_QUARTERLY, {2023, 1, 1, 0}, {2023, 4, 1, 0}},
    {CCR_RESET_QUARTERLY, {2023, 5, 31, 1}, {2023, 7, 1, 0}},
    {CCR_RESET_QUARTERLY, {2023, 9, 30, 23}, {2023, 10, 1, 0}},
    {CCR_RESET_QUARTERLY, {2023, 11, 2, 3}, {2024, 1, 1, 0}},
    {CCR_RESET_YEARLY, {2023, 6, 14, 9}, {2024, 1, 1, 0}},
};

Test(reset, next_of_each_period)
{
	zone("UTC");
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		time_t last = at(row[i].last[0], row[i].last[1], row[i].last[2], row[i].last[3]);
		time_t want = at(row[i].next[0], row[i].next[1], row[i].next[2], row[i].next[3]);

		cr_expect_eq(ccr_reset_next(row[i].period, last, last + 1), want, "row %zu: %ld", i,
			     (long)ccr_reset_next(row[i].period, last, last + 1));
	}
	cr_expect_eq(ccr_reset_next(CCR_RESET_NONE, 1000000, 2000000), 0);
	cr_expect_eq(ccr_reset_next(CCR_RESET_NOW, 1000000, 2000000), 0);
	cr_expect_eq(ccr_reset_next((enum ccr_reset_period)77, 1000000, 2000000), 0);
}

Test(reset, missed_days_and_weeks_count_as_one)
{
	zone("UTC");
	cr_expect_eq(ccr_reset_next(CCR_RESET_DAILY, at(2023, 6, 1, 5), at(2023, 6, 9, 13)),
		     at(2023, 6, 9, 0));
	cr_expect_eq(ccr_reset_next(CCR_RESET_WEEKLY, at(2023, 6, 1, 5), at(2023, 7, 1, 13)),
		     at(2023, 6, 25, 0));
	/* a clock that starts in 1970 must not take thirty thousand steps to be right */
	cr_expect_eq(ccr_reset_next(CCR_RESET_DAILY, 1, at(2023, 6, 9, 13)), at(2023, 6, 9, 0));
}

/* Clocks go back on 29 October 2023 and forth on 26 March: a day of 25 and one of 23 hours. */
Test(reset, midnight_on_days_when_clocks_change)
{
	zone("CET-1CEST,M3.5.0,M10.5.0/3");
	cr_expect_eq(ccr_reset_next(CCR_RESET_DAILY, at(2023, 10, 29, 0), at(2023, 10, 29, 1)),
		     at(2023, 10, 30, 0));
	cr_expect_eq(at(2023, 10, 30, 0) - at(2023, 10, 29, 0), 25 * 3600);
	cr_expect_eq(ccr_reset_next(CCR_RESET_DAILY, at(2023, 3, 26, 0), at(2023, 3, 26, 4)),
		     at(2023, 3, 27, 0));
}

Test(reset, now_is_done_once_per_configuration)
{
	struct ccr_reset r = {.last = 500};

	ccr_reset_configure(&r, CCR_RESET_NOW);
	cr_expect(ccr_reset_due(&r, 1000));
	cr_expect_eq(r.last, 1000);
	cr_expect_not(ccr_reset_due(&r, 1001));
	ccr_reset_configure(&r, CCR_RESET_NOW);
	cr_expect(ccr_reset_due(&r, 1002));
}

Test(reset, each_boundary_once)
{
	struct ccr_reset r = {0};
	int resets = 0;

	zone("UTC");
	ccr_reset_configure(&r, CCR_RESET_DAILY);
	for (time_t t = at(2023, 6, 1, 5); t < at(2023, 6, 11, 5); t += 300)
		resets += ccr_reset_due(&r, t);
	cr_expect_eq(resets, 10);
	cr_expect_eq(r.last, at(2023, 6, 11, 0));
	ccr_reset_configure(&r, CCR_RESET_NONE);
	cr_expect_not(ccr_reset_due(&r, at(2033, 1, 1, 0)));
}

Test(reset, no_state_file_is_no_reset)
{
	struct ccr_reset r = {0};

	zone("UTC");
	ccr_reset_configure(&r, CCR_RESET_MONTHLY);
	cr_expect_not(ccr_reset_due(&r, at(2023, 6, 14, 9)));
	cr_expect_eq(r.last, at(2023, 6, 14, 9));
	cr_expect_eq(r.next, at(2023, 7, 1, 0));
}
