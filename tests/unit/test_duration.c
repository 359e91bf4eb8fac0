#include <criterion/criterion.h>

#include "core/duration.h"

Test(duration, reads_slurms_forms_with_hours)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} good[] = {
	    {"00:00:00", 0},
	    {"00:01:00", 60},
	    {"01:00:00", 3600},
	    {"48:00:00", 172800},
	    {"1-00", 86400},
	    {"1-12", 129600},
	    {"1-12:30", 131400},
	    {"7-00:00:00", 604800},
	    {"0-00:00:01", 1},
	    {"1-1:1:1", 90061},
	    {"3660-00:00:00", CCR_DURATION_MAX},
	    {"1:2:3", 3723},
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		int64_t s = -1;

		cr_expect_eq(ccr_duration_parse(good[i].text, &s), 0, "%s", good[i].text);
		cr_expect_eq(s, good[i].seconds, "%s: %lld", good[i].text, (long long)s);
	}
}

Test(duration, refuses_what_is_ambiguous_or_wrong)
{
	static const char *const bad[] = {"",
					  "60",
					  "1:30",
					  "-",
					  "1-",
					  "-1",
					  "1-24",
					  "1-00:60",
					  "1-00:00:60",
					  "00:60:00",
					  "00:00:60",
					  "1-00:00:00:00",
					  "1-00:",
					  "00:00:",
					  " 00:01:00",
					  "00:01:00 ",
					  "1--2",
					  "1-2-3",
					  "+1-00",
					  "1-00:00:0x",
					  "9999999:00:00",
					  "3660-00:00:01",
					  "99999-00",
					  "100000-00",
					  "UNLIMITED",
					  "1-000"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t s = 42;

		cr_expect_eq(ccr_duration_parse(bad[i], &s), -1, "%s", bad[i]);
		cr_expect_eq(s, 42, "%s", bad[i]);
	}
}

Test(duration, prints_what_it_reads)
{
	for (int64_t s = 0; s <= CCR_DURATION_MAX; s = s * 3 + 1) {
		char text[24];
		int64_t back;

		cr_expect_eq(ccr_duration_parse(ccr_duration_print(s, text, sizeof(text)), &back),
			     0);
		cr_expect_eq(back, s, "%s", text);
	}
}
