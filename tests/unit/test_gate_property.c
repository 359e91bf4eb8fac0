/*
 * No filler delays a booking: 100,000 random clusters and queues, each run to its end.
 * CCR_SERIES=n runs another series, CCR_WORLDS=n another number.
 */
#include <criterion/criterion.h>
#include "gate_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t setting(const char *name, uint64_t other)
{
	const char *v = getenv(name);

	return v ? strtoull(v, NULL, 10) : other;
}

/* Leaves jobs out of a failing world while it still fails. */
static void world_shrink(struct world *w, char *what, size_t size)
{
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t i = 0; i < w->jobs; i++) {
			struct world less = *w;
			char text[400];

			memmove(&less.job[i], &less.job[i + 1],
				(less.jobs - i - 1) * sizeof(less.job[0]));
			less.jobs--;
			if (less.jobs && !world_run(&less, text, sizeof(text))) {
				*w = less;
				snprintf(what, size, "%s", text);
				again = true;
				break;
			}
		}
	}
}

/*
 * Of other series: a booking that had made way for a job above was late. It waited for its own
 * nodes while a job below took its place elsewhere, or that place was not sure.
 */
Test(gate_property, worlds_that_failed_once)
{
	static const uint64_t once[][2] = {{50507, 4935}, {50512, 76996}, {60032, 16710}};

	for (size_t i = 0; i < sizeof(once) / sizeof(*once); i++) {
		struct world w;
		char what[400] = "";

		world_random(&w, once[i][0], once[i][1]);
		cr_expect(world_run(&w, what, sizeof(what)), "series %llu world %llu: %s",
			  (unsigned long long)once[i][0], (unsigned long long)once[i][1], what);
	}
}

Test(gate_property, no_booking_is_ever_delayed, .timeout = 280)
{
	uint64_t series = setting("CCR_SERIES", 1), n = setting("CCR_WORLDS", 100000);

	for (uint64_t i = 0; i < n; i++) {
		struct world w;
		char what[400], text[6000];

		world_random(&w, series, i);
		if (world_run(&w, what, sizeof(what)))
			continue;
		world_shrink(&w, what, sizeof(what));
		world_print(&w, text, sizeof(text));
		cr_assert_fail("series %llu world %llu, reduced:\n%s%s", (unsigned long long)series,
			       (unsigned long long)i, text, what);
	}
}
