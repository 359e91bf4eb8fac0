#include <criterion/criterion.h>

#include "core/eligible.h"

/* Aqua's page: accrues while blocked by a lack of resources, not under a hold, a start time or a
 * run limit, only goes up, survives a requeue. */
Test(eligible, accrues_only_between_looks_that_saw_it_accrue)
{
	struct ccr_eligible e;

	ccr_eligible_start(&e, 0, 1000, false); /* held */
	cr_assert_eq(ccr_eligible_seconds(&e, 1600), 0);
	cr_assert(ccr_eligible_look(&e, 1600, true)); /* released */
	cr_assert_eq(ccr_eligible_seconds(&e, 1600), 0);
	cr_assert_eq(ccr_eligible_seconds(&e, 5200), 3600);
	cr_assert_not(ccr_eligible_look(&e, 5200, true)); /* nothing new */
	cr_assert(ccr_eligible_look(&e, 5260, false));	  /* runs */
	cr_assert_eq(ccr_eligible_seconds(&e, 99999), 3660);
	cr_assert(ccr_eligible_look(&e, 100000, true)); /* requeued */
	cr_assert_eq(ccr_eligible_seconds(&e, 100040), 3700);
}

Test(eligible, a_new_job_has_what_it_waited)
{
	struct ccr_eligible e;

	ccr_eligible_start(&e, 700, 1000, true);
	cr_assert_eq(ccr_eligible_seconds(&e, 1000), 300);
	ccr_eligible_start(&e, 700, 1000, false);
	cr_assert_eq(ccr_eligible_seconds(&e, 1000), 0);
	ccr_eligible_start(&e, 0, 1000, true);
	cr_assert_eq(ccr_eligible_seconds(&e, 1000), 0);
	ccr_eligible_start(&e, 2000, 1000, true); /* eligible in the future: a clock set back */
	cr_assert_eq(ccr_eligible_seconds(&e, 1000), 0);
}

Test(eligible, no_clock_takes_anything_away)
{
	struct ccr_eligible e;

	ccr_eligible_start(&e, 0, 10000, true);
	ccr_eligible_look(&e, 10500, true);
	cr_assert_eq(ccr_eligible_seconds(&e, 9000), 500);
	cr_assert(ccr_eligible_look(&e, 9000, true), "the file must know the new clock");
	cr_assert_eq(ccr_eligible_seconds(&e, 9000), 500);
	cr_assert_eq(ccr_eligible_seconds(&e, 9100), 600);
	ccr_eligible_look(&e, INT64_MIN, false);
	cr_assert_eq(ccr_eligible_seconds(&e, INT64_MAX), 500);
}

Test(eligible, extremes_stay_in_range)
{
	struct ccr_eligible e;

	ccr_eligible_start(&e, 1, INT64_MAX, true);
	cr_assert_eq(ccr_eligible_seconds(&e, INT64_MAX), CCR_ELIGIBLE_MAX - 1);
	e.accrued = CCR_ELIGIBLE_MAX;
	e.since = 0;
	cr_assert_eq(ccr_eligible_seconds(&e, INT64_MAX), CCR_ELIGIBLE_MAX);
	ccr_eligible_start(&e, INT64_MIN, INT64_MIN, true);
	cr_assert_eq(ccr_eligible_seconds(&e, 5), 5);
}

/* Looks in any order of states never lose and never gain more than the clock moved. */
Test(eligible, only_grows)
{
	struct ccr_eligible e;
	unsigned long r = 12345;
	int64_t now = 100000, forward = 0, last;

	ccr_eligible_start(&e, 0, now, true);
	for (int i = 0; i < 20000; i++) {
		int64_t step;

		r = r * 6364136223846793005UL + 1442695040888963407UL;
		step = (int64_t)(r >> 33) % 1000 - 200;
		last = ccr_eligible_seconds(&e, now);
		now += step;
		forward += step > 0 ? step : 0;
		cr_assert_geq(ccr_eligible_seconds(&e, now), last - (step < 0 ? -step : 0));
		ccr_eligible_look(&e, now, (r >> 20) & 1);
		cr_assert_geq(ccr_eligible_seconds(&e, now), e.accrued);
		cr_assert_geq(e.accrued, last - (step < 0 ? -step : 0));
		cr_assert_leq(e.accrued, forward);
	}
	cr_assert_gt(e.accrued, 0);
}
