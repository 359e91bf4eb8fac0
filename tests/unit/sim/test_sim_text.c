#include <criterion/criterion.h>
#include "sccr/sim_text.h"

Test(sim_text, whole_numbers)
{
	uint64_t v = 7;

	cr_assert(sim_text_u64("0", 0, 9, &v) && v == 0);
	cr_assert(sim_text_u64("9", 0, 9, &v) && v == 9);
	cr_assert_not(sim_text_u64("10", 0, 9, &v));
	cr_assert_not(sim_text_u64("-1", 0, 9, &v));
	cr_assert_not(sim_text_u64(" 1", 0, 9, &v));
	cr_assert_not(sim_text_u64("1x", 0, 9, &v));
	cr_assert_not(sim_text_u64("", 0, 9, &v));
	cr_assert_not(sim_text_u64("99999999999999999999", 0, UINT64_MAX, &v));
}

Test(sim_text, limits_as_slurm_reads_them)
{
	static const struct {
		const char *text;
		sim_time seconds;
	} good[] = {{"90", 5400},    {"30:00", 1800},	 {"01:00:00", 3600},   {"1-0", 86400},
		    {"1-02", 93600}, {"1-02:03", 93780}, {"1-02:03:04", 93784}};
	static const char *const bad[] = {"", "x", "1-", "-1", "1:2:3:4", "1:", "1 h", "1-2-3"};
	sim_time t;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_assert(sim_text_limit(good[i].text, &t), "%s", good[i].text);
		cr_assert_eq(t, good[i].seconds * SIM_SECOND, "%s gives %lld", good[i].text,
			     (long long)t);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_not(sim_text_limit(bad[i], &t), "%s", bad[i]);
	cr_assert(sim_text_limit("UNLIMITED", &t) && t == SIM_NEVER);
}

Test(sim_text, seconds_and_dates)
{
	sim_time t;

	cr_assert(sim_text_seconds("1.5", &t) && t == 1500);
	cr_assert(sim_text_seconds("4.709164021244639", &t) && t == 4709);
	cr_assert_not(sim_text_seconds("1e99", &t));
	cr_assert_not(sim_text_seconds("nan", &t));
	cr_assert(sim_text_date("1970-01-02T00:00:01", &t) && t == 86401 * SIM_SECOND);
	cr_assert(sim_text_date("86401", &t) && t == 86401 * SIM_SECOND);
	cr_assert_not(sim_text_date("1970-13-02T00:00:01", &t));
	cr_assert_not(sim_text_date("2026-02-30T00:00:01", &t));
	cr_assert_not(sim_text_date("2026-02-29T00:00:01", &t));
	cr_assert(sim_text_date("2024-02-29T00:00:01", &t));
	cr_assert_not(sim_text_date("1970-01-02T00:00:01Z", &t));
}

Test(sim_text, memory_is_rounded_up_to_mib)
{
	uint32_t m;

	cr_assert(sim_text_mem("64G", &m) && m == 65536);
	cr_assert(sim_text_mem("500", &m) && m == 500);
	cr_assert(sim_text_mem("1025K", &m) && m == 2);
	cr_assert(sim_text_mem("1.5t", &m) && m == 1572864);
	cr_assert_not(sim_text_mem("G", &m));
	cr_assert_not(sim_text_mem("4GB", &m));
	cr_assert_not(sim_text_mem("5000P", &m));
}

Test(sim_text, spans_for_people)
{
	char s[32];

	cr_assert_str_eq(sim_text_span(1500, s, sizeof(s)), "1.5 s");
	cr_assert_str_eq(sim_text_span(42000, s, sizeof(s)), "42 s");
	cr_assert_str_eq(sim_text_span(5356000, s, sizeof(s)), "1:29:16");
	cr_assert_str_eq(sim_text_span(61000, s, sizeof(s)), "0:01:01");
	cr_assert_str_eq(sim_text_span(-90061000, s, sizeof(s)), "-1d 01:01:01");
}
