#include <criterion/criterion.h>
#include "sccr/sim_workload.h"

static enum sim_line_kind line(const char *text, struct sim_line *l, struct sim_message *m)
{
	char copy[512];

	snprintf(copy, sizeof(copy), "%s", text);
	return sim_swf_line(copy, l, m);
}

Test(sim_swf, all_eighteen_fields)
{
	struct sim_line l;
	struct sim_message m = {""};

	cr_assert_eq(line("7 100 20 3000.5 4 2900 -1 8 7200 2048 1 3 4 5 2 1 6 30\n", &l, &m),
		     SIM_LINE_JOB);
	cr_assert_str_eq(l.id, "7");
	cr_assert_eq(l.submit, 100000);
	cr_assert_eq(l.recorded_wait, 20000);
	cr_assert_eq(l.runtime, 3000500);
	cr_assert_eq(l.want.cpus, 8);
	cr_assert_eq(l.limit, 7200000);
	cr_assert_eq(l.want.mem, 16); /* 2048 kB a processor */
	cr_assert_str_eq(l.user, "u3");
	cr_assert_str_eq(l.account, "g4");
	cr_assert_str_eq(l.partition, "2");
	cr_assert_eq(l.after, 6);
	cr_assert_eq(l.think, 30000);
}

Test(sim_swf, what_is_not_known_is_left_out)
{
	struct sim_line l;
	struct sim_message m = {""};

	cr_assert_eq(line("1 0 -1 10 4 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1", &l, &m),
		     SIM_LINE_JOB);
	cr_assert_eq(l.want.cpus, 4); /* those that it got */
	cr_assert_eq(l.limit, -1);
	cr_assert_eq(l.recorded_wait, -1);
	cr_assert_str_eq(l.user, "");
	cr_assert_eq(l.after, 0);
}

Test(sim_swf, lines_that_are_no_job)
{
	struct sim_line l;
	struct sim_message m = {""};
	int64_t v = 0;

	cr_assert_eq(line("; Computer: x", &l, &m), SIM_LINE_NONE);
	cr_assert_eq(line("  \n", &l, &m), SIM_LINE_NONE);
	cr_assert_eq(line("1 0 5 0 -1 -1 -1 4 60 -1 5 1 1 1 1 1 -1 -1", &l, &m), SIM_LINE_SKIP);
	cr_assert_eq(sim_swf_header("; MaxNodes: 240", "MaxNodes", &v), 0);
	cr_assert_eq(v, 240);
	cr_assert_eq(sim_swf_header("; MaxNodes: many", "MaxNodes", &v), -1);
	cr_assert_eq(sim_swf_header("; Note: MaxNodes: 3", "MaxNodes", &v), -1);
}

Test(sim_swf, bad_lines_are_told)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
	    {"1 2 3", "18 fields are expected, found 3"},
	    {"1 0 5 10 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1 9", "found more than 18"},
	    {"1 0 5 ten 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1", "field 4 is no number: \"ten\""},
	    {"1 -9 5 10 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1", "field 2 (submit time) is -9"},
	    {"1 0 5 -1 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1", "field 4 (run time) is -1"},
	    {"1 0 5 10 -1 -1 -1 -1 60 -1 1 1 1 1 1 1 -1 -1",
	     "field 8 (requested processors) is -1"},
	    {"1 0 5 10 4 -1 -1 4e9 60 -1 1 1 1 1 1 1 -1 -1", "field 8 (processors)"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sim_line l;
		struct sim_message m = {""};

		cr_assert_eq(line(rows[i].text, &l, &m), SIM_LINE_BAD, "%s", rows[i].text);
		cr_assert_not_null(strstr(m.text, rows[i].said), "%s", m.text);
	}
}
