/* How a job ended is told as far as it is known, and no further. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sccr/ended.h"

static void says(const struct ended *e, bool there, const char *part)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	cr_assert(f);
	ended_print(e, f);
	fclose(f);
	cr_expect_eq(strstr(text, part) != NULL, there, "%s%s: %s", text,
		     there ? "expected" : "not expected", part);
	free(text);
}

Test(ended, at_its_time_limit_or_by_another_one)
{
	struct ended e = {.state = "TIMEOUT",
			  .limit = "1:00:00",
			  .reason = "TimeLimit",
			  .start = 1000,
			  .end = 1000 + 3570};

	says(&e, true, "It was ended at its time limit after 00:59:30 of a time limit of 1:00:00");
	says(&e, false, "minutes of a limit");
	e.end = 1015;
	says(&e, true,
	     "It was ended before its time limit after 00:00:15 of a time limit of 1:00:00 "
	     "(TimeLimit).\nThat is done when the minutes of a limit of its association or QOS");
	says(&e, false, "at its time limit");
	e.limit = "UNLIMITED";
	says(&e, true, "It was ended before its time limit after 00:00:15");
	e.limit = "Partition_Limit"; /* not known */
	says(&e, false, "before its time limit");
}

Test(ended, a_deadline_that_cannot_be_met)
{
	struct ended e = {.state = "DEADLINE", .limit = "30:00", .reason = "DeadLine", .start = -1};

	says(&e, true,
	     "It could not be done by its deadline any more, and ended before it started "
	     "(DeadLine).\n");
	e.start = 1000;
	e.end = 1060;
	says(&e, true, "It was ended at its deadline after 00:01:00");
}

Test(ended, who_cancelled_it)
{
	struct ended e = {
	    .state = "CANCELLED", .limit = "", .reason = "DependencyNeverSatisfied", .start = -1};

	says(&e, true,
	     "Slurm cancelled it as its dependency could not be fulfilled any more, "
	     "before it started (DependencyNeverSatisfied).\n");
	says(&e, false, "By whom");
	e.reason = "None";
	says(&e, true, "does not tell; a database would (sacct).\n");
	e.silent = "Connection refused";
	says(&e, true, "does not tell, and the database does not answer: Connection refused.\n");
}

/* What is said of a job of the database, of which slurmctld shows nothing. */
static void gone_says(const char *state, bool partial, const char *expected)
{
	char word[20], buf[8][24], *text = NULL;
	char *f[] = {buf[0], word,   buf[1], buf[2], buf[3], buf[4],
		     buf[5], buf[6], buf[6], buf[6], buf[7]},
	     **rows[] = {f};
	static const char *const values[] = {
	    "7", "0:0", "2001-09-09T01:00:00", "Unknown", "1:00", "n1", "u", "x"};
	struct ended_source s = {.sacct = {.row = rows, .n = 1}};
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert(out);
	snprintf(word, sizeof(word), "%s", state);
	for (size_t i = 0; i < 8; i++)
		snprintf(buf[i], sizeof(buf[i]), "%s", values[i]);
	if (strncmp(state, "RUN", 3) != 0)
		snprintf(buf[3], sizeof(buf[3]), "2001-09-09T01:00:05");
	cr_expect_eq(ended_print_gone(&s, false, partial, out), 1);
	fclose(out);
	cr_expect_str_eq(text, expected);
	free(text);
}

Test(ended, what_is_hidden_is_not_called_forgotten)
{
	static const char running[] =
	    "Job 7 (x) of u, account u, partition u: RUNNING on n1 since 2001-09-09T01:00:00.\n"
	    "slurmctld does not show it to you: it is hidden or gone; this is from the database, "
	    "which knows of no end.\n";

	gone_says("RUNNING", true, running);
	gone_says("RUNNING", false, running);
	gone_says(
	    "COMPLETED", true,
	    "Job 7 (x) of u, account u, partition u: COMPLETED on n1 since "
	    "2001-09-09T01:00:00, ended 2001-09-09T01:00:05.\nslurmctld has forgotten it, or "
	    "hides it from you; this is from the database.\nIt ended by itself and well after "
	    "00:00:05 of a time limit of 1:00.\n");
	gone_says(
	    "COMPLETED", false,
	    "Job 7 (x) of u, account u, partition u: COMPLETED on n1 since "
	    "2001-09-09T01:00:00, ended 2001-09-09T01:00:05.\nslurmctld has forgotten it; this "
	    "is from the database.\nIt ended by itself and well after 00:00:05 of a time limit "
	    "of 1:00.\n");
}
