#include <criterion/criterion.h>
#include "sccr/sim_workload.h"

static struct sim_columns *columns(enum sim_format f, const char *header)
{
	struct sim_message m = {""};
	struct sim_columns *c = sim_columns_new(f, header, &m);

	cr_assert_not_null(c, "%s", m.text);
	return c;
}

Test(sim_columns, csv_in_any_order_with_quotes)
{
	struct sim_columns *c =
	    columns(SIM_FORMAT_CSV, "user,submit,runtime,limit,cpus,gpus,gpu_type,mem,nodes,id\n");
	struct sim_line l;
	struct sim_message m = {""};

	cr_assert_eq(
	    sim_columns_line(c, "\"a, b\",2026-01-01T00:00:00,90,1-00:00:00,16,2,h100,64G,1,j1\n",
			     &l, &m),
	    SIM_LINE_JOB, "%s", m.text);
	cr_assert_str_eq(l.user, "a, b");
	cr_assert_eq(l.submit, INT64_C(1767225600000));
	cr_assert_eq(l.runtime, 90000);
	cr_assert_eq(l.limit, 86400000);
	cr_assert_eq(l.want.cpus, 16);
	cr_assert_eq(l.want.gpus, 2);
	cr_assert_str_eq(l.gpu_type, "h100");
	cr_assert_eq(l.want.mem, 65536);
	cr_assert_eq(l.want.nodes, 1);
	cr_assert_eq(sim_columns_line(c, "x,2026-01-01T00:00:05,1,60,1,,,,,\n", &l, &m),
		     SIM_LINE_JOB);
	cr_assert_eq(l.limit, 60000); /* a plain number is seconds */
	cr_assert_eq(l.want.gpus, 0);
	cr_assert_eq(sim_columns_line(c, "# a comment", &l, &m), SIM_LINE_NONE);
	sim_columns_free(c);
}

/* Their zeros lie decades apart. */
Test(sim_columns, seconds_and_dates_do_not_mix)
{
	static const char *const lines[] = {"5,1,1\n", "2026-01-01T00:00:00,1,1\n"},
				 *const said[] = {"seconds as before is expected",
						  "a date as before is"};
	struct sim_message m;
	struct sim_line l;

	for (int first = 0; first < 2; first++) {
		struct sim_columns *c = columns(SIM_FORMAT_CSV, "submit,runtime,cpus");

		cr_assert_eq(sim_columns_line(c, "soon,1,1\n", &l, &m), SIM_LINE_BAD);
		for (int i = 0; i < 2; i++) {
			cr_assert_eq(sim_columns_line(c, lines[first], &l, &m), SIM_LINE_JOB);
			cr_assert_eq(sim_columns_line(c, lines[!first], &l, &m), SIM_LINE_BAD);
			cr_assert_not_null(strstr(m.text, said[first]), "%s", m.text);
		}
		sim_columns_free(c);
	}
}

Test(sim_columns, csv_says_what_is_wrong)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
	    {"1,2,3\n", "4 fields are expected as in the header, found 3"},
	    {"now,2,60,1\n", "submit: seconds or YYYY-MM-DDTHH:MM:SS is expected, found \"now\""},
	    {"-5,2,60,1\n", "submit: seconds"},
	    {"0,-2,60,1\n", "runtime: a number of seconds is expected, found \"-2\""},
	    {"0,2,soon,1\n", "limit: seconds or D-HH:MM:SS"},
	    {"0,2,60,many\n", "cpus: a whole number"},
	    {"0,2,60,0\n", "asks for no CPU and no GPU"},
	    {"0,2,60,\"1\n", "a quoted field that is not closed"}};
	struct sim_columns *c = columns(SIM_FORMAT_CSV, "submit,runtime,limit,cpus");
	struct sim_line l;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sim_message m = {""};

		cr_assert_eq(sim_columns_line(c, rows[i].text, &l, &m), SIM_LINE_BAD, "%s",
			     rows[i].text);
		cr_assert_not_null(strstr(m.text, rows[i].said), "%s", m.text);
		/* the parser is itself again */
		cr_assert_eq(sim_columns_line(c, "0,2,60,1\n", &l, &m), SIM_LINE_JOB, "after %s",
			     rows[i].text);
	}
	sim_columns_free(c);
}

Test(sim_columns, headers_that_do_not_do)
{
	struct sim_message m = {""};

	cr_assert_null(sim_columns_new(SIM_FORMAT_CSV, "submit,runtime", &m));
	cr_assert_not_null(strstr(m.text, "no column cpus"));
	cr_assert_null(sim_columns_new(SIM_FORMAT_CSV, "submit,runtime,cpus,color", &m));
	cr_assert_not_null(strstr(m.text, "unknown column \"color\""));
	cr_assert_null(sim_columns_new(SIM_FORMAT_SACCT, "JobID|Elapsed|NCPUS", &m));
	cr_assert_not_null(strstr(m.text, "no column Submit"));
}

Test(sim_columns, sacct)
{
	struct sim_columns *c =
	    columns(SIM_FORMAT_SACCT, "JobID|JobName|User|Account|QOS|Partition|Submit|Start|End|"
				      "ElapsedRaw|TimelimitRaw|State|NNodes|ReqTRES");
	struct sim_line l;
	struct sim_message m = {""};

	cr_assert_eq(
	    sim_columns_line(c,
			     "12_3|say \"hi\", "
			     "you|ana|phys|normal|gpu,all|2026-01-01T00:00:00|2026-01-01T00:01:00|"
			     "2026-01-01T01:01:00|3600|120|COMPLETED|2|billing=8,cpu=8,gres/"
			     "gpu:h100=4,gres/gpu=4,mem=64G,node=2",
			     &l, &m),
	    SIM_LINE_JOB, "%s", m.text);
	cr_assert_str_eq(l.id, "12_3");
	cr_assert_eq(l.runtime, 3600000);
	cr_assert_eq(l.limit, 7200000);
	cr_assert_eq(l.recorded_wait, 60000);
	cr_assert_eq(l.want.nodes, 2);
	cr_assert_eq(l.want.cpus, 8);
	cr_assert_eq(l.want.gpus, 4);
	cr_assert_str_eq(l.gpu_type, "h100");
	cr_assert_eq(l.want.mem, 65536);
	cr_assert_str_eq(l.partition, "gpu,all");
	/* a step, a job that still runs, one that was cancelled before it started */
	cr_assert_eq(sim_columns_line(c,
				      "12_3.batch|b||phys|||2026-01-01T00:00:00|2026-01-01T00:01:"
				      "00|2026-01-01T01:01:00|3600||COMPLETED|2|cpu=8",
				      &l, &m),
		     SIM_LINE_NONE);
	cr_assert_eq(sim_columns_line(c,
				      "13|b|ana|phys|||2026-01-01T00:00:00|2026-01-01T00:01:00|"
				      "Unknown|60||RUNNING|1|cpu=8",
				      &l, &m),
		     SIM_LINE_SKIP);
	cr_assert_eq(sim_columns_line(c,
				      "14|b|ana|phys|||2026-01-01T00:00:00|None|2026-01-01T00:01:"
				      "00|0||CANCELLED by 5|1|cpu=8",
				      &l, &m),
		     SIM_LINE_SKIP);
	cr_assert_eq(sim_columns_line(c,
				      "15|b|ana|phys|||2026-01-01T00:00:00|2026-01-01T00:01:00|"
				      "2026-01-01T00:02:00|60||COMPLETED|1|cpu=x",
				      &l, &m),
		     SIM_LINE_BAD);
	sim_columns_free(c);
}

/* What each state comes to with the times that sacct has beside it. */
Test(sim_columns, every_state_of_sacct)
{
	static const char from[] = "2026-01-01T00:01:00", to[] = "2026-01-01T00:02:00";
	const struct {
		const char *state, *start, *end, *elapsed;
		enum sim_line_kind kind;
	} rows[] = {
	    {"COMPLETED", from, to, "60", SIM_LINE_JOB},
	    {"FAILED", from, from, "0", SIM_LINE_JOB}, /* it ran, for less than a second */
	    {"TIMEOUT", from, to, "60", SIM_LINE_JOB},
	    {"NODE_FAIL", from, to, "60", SIM_LINE_JOB},
	    {"OUT_OF_MEMORY", from, to, "60", SIM_LINE_JOB},
	    {"PREEMPTED", from, to, "60", SIM_LINE_JOB},
	    {"REQUEUED", from, to, "60", SIM_LINE_JOB},
	    {"RESIZING", from, to, "60", SIM_LINE_JOB},
	    {"BOOT_FAIL", from, to, "60", SIM_LINE_JOB},
	    {"CANCELLED by 5", from, to, "60", SIM_LINE_JOB},
	    {"CANCELLED+", from, to, "60", SIM_LINE_JOB},
	    {"DEADLINE", from, to, "60", SIM_LINE_JOB},
	    {"a state of the future", from, to, "60", SIM_LINE_JOB},
	    {"", from, to, "60", SIM_LINE_JOB},
	    /* it left the queue without running */
	    {"DEADLINE", "None", to, "0", SIM_LINE_SKIP},
	    {"DEADLINE", "Unknown", to, "0", SIM_LINE_SKIP},
	    {"DEADLINE", to, to, "0", SIM_LINE_SKIP},
	    {"CANCELLED", "None", to, "0", SIM_LINE_SKIP},
	    {"CANCELLED by 5", to, to, "0", SIM_LINE_SKIP},
	    {"FAILED", "None", to, "0", SIM_LINE_SKIP},
	    {"NODE_FAIL", "None", to, "0", SIM_LINE_SKIP},
	    {"BOOT_FAIL", from, from, "0", SIM_LINE_SKIP},
	    {"REQUEUED", "None", to, "0", SIM_LINE_SKIP},
	    {"", "None", to, "0", SIM_LINE_SKIP},
	    {"REVOKED", from, to, "60", SIM_LINE_SKIP}, /* it ran on another cluster */
	    /* it has not ended */
	    {"PENDING", "Unknown", "Unknown", "0", SIM_LINE_SKIP},
	    {"RUNNING", from, "Unknown", "60", SIM_LINE_SKIP},
	    {"SUSPENDED", from, "Unknown", "60", SIM_LINE_SKIP},
	    {"RESIZING", from, "Unknown", "60", SIM_LINE_SKIP},
	    {"REQUEUE_HOLD", "Unknown", "Unknown", "0", SIM_LINE_SKIP},
	    {"COMPLETING", from, to, "60", SIM_LINE_SKIP},
	    /* nothing that sacct says */
	    {"COMPLETED", "soon", to, "60", SIM_LINE_BAD},
	    {"COMPLETED", from, "later", "60", SIM_LINE_BAD},
	    {"COMPLETED", from, to, "INVALID", SIM_LINE_BAD},
	    {"COMPLETED", from, to, "-60", SIM_LINE_BAD},
	    {"COMPLETED", to, from, "", SIM_LINE_BAD},
	};
	struct sim_columns *c =
	    columns(SIM_FORMAT_SACCT, "JobID|Submit|Start|End|ElapsedRaw|State|NCPUS");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sim_line l;
		struct sim_message m = {""};
		char line[300];

		snprintf(line, sizeof(line), "1|2026-01-01T00:00:00|%s|%s|%s|%s|1", rows[i].start,
			 rows[i].end, rows[i].elapsed, rows[i].state);
		cr_assert_eq(sim_columns_line(c, line, &l, &m), rows[i].kind, "%s %s", line,
			     m.text);
		if (rows[i].kind == SIM_LINE_JOB)
			cr_assert_eq(l.recorded_wait, 60 * SIM_SECOND, "%s", line);
	}
	sim_columns_free(c);
}

/* Without Start and End a job that has no length says what it is by its state. */
Test(sim_columns, states_of_sacct_without_times)
{
	struct sim_columns *c = columns(SIM_FORMAT_SACCT, "JobID|Submit|ElapsedRaw|State|NCPUS");
	struct sim_line l;
	struct sim_message m;

	cr_assert_eq(sim_columns_line(c, "1|2026-01-01T00:00:00|0|DEADLINE|1", &l, &m),
		     SIM_LINE_SKIP);
	cr_assert_eq(sim_columns_line(c, "1|2026-01-01T00:00:00|0|COMPLETED|1", &l, &m),
		     SIM_LINE_JOB);
	cr_assert_eq(l.recorded_wait, -1);
	sim_columns_free(c);
}

Test(sim_columns, limits_of_sacct_that_are_no_number)
{
	struct sim_columns *c =
	    columns(SIM_FORMAT_SACCT, "JobID|Submit|ElapsedRaw|TimelimitRaw|State|NCPUS");
	struct sim_line l;
	struct sim_message m;

	cr_assert_eq(sim_columns_line(c, "1|2026-01-01T00:00:00|9|UNLIMITED|COMPLETED|1", &l, &m),
		     SIM_LINE_JOB);
	cr_assert_eq(l.limit, SIM_NEVER);
	cr_assert_eq(
	    sim_columns_line(c, "1|2026-01-01T00:00:00|9|Partition_Limit|COMPLETED|1", &l, &m),
	    SIM_LINE_JOB);
	cr_assert_eq(l.limit, -1);
	cr_assert_eq(sim_columns_line(c, "1|2026-01-01T00:00:00|9|soon|COMPLETED|1", &l, &m),
		     SIM_LINE_BAD);
	sim_columns_free(c);
}

Test(sim_columns, sacct_of_before_2021)
{
	struct sim_columns *c =
	    columns(SIM_FORMAT_SACCT, "JobID|Submit|Elapsed|Timelimit|State|NCPUS|NNodes|ReqMem");
	struct sim_line l;
	struct sim_message m = {""};

	cr_assert_eq(sim_columns_line(
			 c, "5|2026-01-01T00:00:00|1-01:00:00|2-00:00:00|TIMEOUT|8|2|2Gc", &l, &m),
		     SIM_LINE_JOB, "%s", m.text);
	cr_assert_eq(l.runtime, 90000000);
	cr_assert_eq(l.limit, 172800000);
	cr_assert_eq(l.want.mem, 16384);
	cr_assert_eq(
	    sim_columns_line(c, "5|2026-01-01T00:00:00|00:10:00|Partition_Limit|TIMEOUT|8|2|2Gn",
			     &l, &m),
	    SIM_LINE_JOB);
	cr_assert_eq(l.limit, -1);
	cr_assert_eq(l.want.mem, 4096);
	sim_columns_free(c);
}
