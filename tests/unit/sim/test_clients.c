/* What a client prints is cut into fields, and nothing in it is a command to a terminal. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sccr/clients.h"

static void comes_out(const char *in, const char *out)
{
	char text[200];
	char *argv[] = {"printf", "%b", text, NULL};
	struct client_rows rows;
	struct ccr_error err;

	snprintf(text, sizeof(text), "%s", in);
	cr_assert_eq(client_run(argv, 1, &rows, &err), 0, "%s", err.text);
	cr_assert_eq(rows.n, 1);
	cr_expect_str_eq(rows.row[0][0], out);
	client_rows_free(&rows);
}

Test(clients, no_commands_to_a_terminal)
{
	comes_out("a\\033[31mred\\a\\177b", "a?[31mred??b");
	comes_out("\\0302\\023331m", "??31m");	     /* CSI of one byte, in UTF-8 */
	comes_out("\\023331m", "?31m");		     /* and bare */
	comes_out("\\0303\\0274ber", "\303\274ber"); /* a letter stays */
	comes_out("\\0342\\0202\\0254", "\342\202\254");
	comes_out("\\0342\\0202x", "??x"); /* cut short */
	comes_out("x\\0303", "x?");
}

Test(clients, an_error_message_is_no_command_either)
{
	char *argv[] = {"sh", "-c", "printf '\\033[31mno such job' >&2; exit 1", NULL};
	struct client_rows rows;
	struct ccr_error err;

	cr_expect_eq(client_run(argv, 1, &rows, &err), CCR_EIO);
	cr_expect_str_eq(err.text, "sh: ?[31mno such job");
}

Test(clients, one_that_does_not_answer_is_not_waited_for)
{
	char *slow[] = {"sh", "-c", "echo begun; exec sleep 60", NULL};
	char *fast[] = {"echo", "done", NULL};
	struct client_rows rows;
	struct ccr_error err;

	cr_expect_eq(client_run_lines_within(slow, 1, 1, &rows, &err), CCR_EIO);
	cr_expect_str_eq(err.text, "sh: nothing came within 1 s");
	cr_expect_eq(client_run_lines_within(fast, 1, 10, &rows, &err), 0);
	cr_expect_str_eq(rows.row[0][0], "done");
	client_rows_free(&rows);
}

Test(clients, what_the_caller_has_set_for_his_own_eyes_does_not_reach_them)
{
	char *argv[] = {"sh", "-c",
			"echo \"$SQUEUE_USERS$SLURM_TIME_FORMAT$SINFO_PARTITION|$SLURM_CONF|"
			"$SLURM_BITSTR_LEN\"",
			NULL};
	struct client_rows rows;
	struct ccr_error err;

	setenv("SQUEUE_USERS", "me", 1);
	setenv("SINFO_PARTITION", "mine", 1);
	setenv("SLURM_TIME_FORMAT", "relative", 1);
	setenv("SLURM_CONF", "/x", 1);
	setenv("SLURM_BITSTR_LEN", "8", 1);
	cr_assert_eq(client_run(argv, 3, &rows, &err), 0, "%s", err.text);
	cr_expect_str_eq(rows.row[0][0], "");
	cr_expect_str_eq(rows.row[0][1], "/x");
	cr_expect_str_eq(rows.row[0][2], "0");
	client_rows_free(&rows);
}
