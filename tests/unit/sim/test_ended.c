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
