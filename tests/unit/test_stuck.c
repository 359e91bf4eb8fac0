#include <criterion/criterion.h>

#include "core/stuck.h"

static struct ccr_stuck s;

/* What it is to be booked at that moment. */
static uint32_t times(uint32_t job, uint64_t asked, int64_t now)
{
	return ccr_stuck_times(&s, job, asked, now);
}

Test(stuck, whole_nodes_then_nothing_then_whole_nodes_after_pauses_that_double)
{
	int64_t now = 1000;

	cr_expect_eq(times(7, 1, now), 0);
	ccr_stuck_note(&s, 7, 1, now);
	cr_expect_eq(times(7, 1, now), 1);
	cr_expect_eq(times(7, 1, now + 1000000), 1, "no pause before the second time");
	cr_expect_eq(times(8, 1, now), 0);
	for (int pause = 0; pause < 6; pause++) {
		int64_t length = (int64_t)CCR_STUCK_AGAIN
				 << (pause < CCR_STUCK_DOUBLED ? pause : CCR_STUCK_DOUBLED);

		ccr_stuck_note(&s, 7, 1, now);
		cr_expect_eq(times(7, 1, now), 2, "pause %d", pause);
		cr_expect_eq(times(7, 1, now + length), 2, "pause %d", pause);
		cr_expect_eq(times(7, 1, now + length + 1), 1, "pause %d", pause);
		cr_expect_eq(times(7, 1, now + 2 * length), 1, "it stays so until it is noted");
		now += length + 1;
	}
	cr_expect_eq(CCR_STUCK_AGAIN << CCR_STUCK_DOUBLED, 4 * 3600);
}

Test(stuck, another_request_is_a_new_one)
{
	ccr_stuck_note(&s, 7, 1, 0);
	ccr_stuck_note(&s, 7, 1, 0);
	cr_expect_eq(times(7, 1, 5), 2);
	cr_expect_eq(times(7, 2, 5), 0);
	cr_expect_eq(times(7, 1, 5), 0, "the old one was forgotten");
	ccr_stuck_note(&s, 7, 1, 6);
	ccr_stuck_note(&s, 7, 2, 7);
	cr_expect_eq(times(7, 2, 7), 1);
}

Test(stuck, the_latest_are_known)
{
	for (uint32_t job = 1; job <= CCR_STUCK_JOBS + 3; job++)
		ccr_stuck_note(&s, job, 1, job);
	for (uint32_t job = 1; job <= CCR_STUCK_JOBS + 3; job++)
		cr_expect_eq(times(job, 1, 100), job > 3, "job %u", job);
}

Test(stuck, a_clock_that_is_set_back_ends_no_pause)
{
	ccr_stuck_note(&s, 7, 1, 100000);
	ccr_stuck_note(&s, 7, 1, 100000);
	cr_expect_eq(times(7, 1, 10), 2);
}

Test(stuck, those_alike_pause_as_well)
{
	cr_expect(!ccr_stuck_any(&s));
	ccr_stuck_note(&s, 7, 1, 0);
	cr_expect(ccr_stuck_any(&s));
	cr_expect_eq(times(8, 1, 0), 0, "once proves little");
	ccr_stuck_note(&s, 7, 1, 100);
	cr_expect_eq(times(8, 1, 100), 2);
	cr_expect_eq(times(8, 2, 100), 0, "another request");
	cr_expect_eq(times(8, 1, 100 + CCR_STUCK_AGAIN), 2);
	cr_expect_eq(times(8, 1, 101 + CCR_STUCK_AGAIN), 0);
	cr_expect_eq(times(7, 1, 101 + CCR_STUCK_AGAIN), 1);
	/* whatever is known of it itself */
	ccr_stuck_note(&s, 8, 1, 3000);
	cr_expect_eq(times(8, 1, 3000), 1);
	ccr_stuck_note(&s, 7, 1, 3000);
	cr_expect_eq(times(8, 1, 3000), 2);
	cr_expect_eq(times(9, 1, 3000), 2);
	/* a request that was changed to one that is known */
	cr_expect_eq(times(8, 5, 3000), 0);
	cr_expect_eq(times(8, 1, 3000), 2);
}
