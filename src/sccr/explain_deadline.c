/*
 * explain_deadline - by when a pending job has to be done; see explain.h
 *
 * squeue has no column for it: scontrol is asked, once for all records of the job.
 */
#include <stdlib.h>
#include <string.h>

#include "sccr/explain.h"

void explain_deadlines_read(struct client_rows *out, const char *asked)
{
	char job[16];
	char *const argv[] = {"scontrol", "-o", "show", "job", job, NULL};
	struct ccr_error err;

	memset(out, 0, sizeof(*out));
	if (strspn(asked, "0123456789") >= sizeof(job))
		return;
	snprintf(job, sizeof(job), "%.*s", (int)strspn(asked, "0123456789"), asked);
	/* without an answer nothing is said of deadlines */
	if (client_run_lines(argv, 1, out, &err))
		memset(out, 0, sizeof(*out));
}

void explain_deadline(struct explain *x, const struct client_rows *jobs)
{
	static const char own[] = " Deadline=";
	char start[32], text[20];

	x->deadline = -1;
	if (!queue_waits(x->job))
		return;
	snprintf(start, sizeof(start), "JobId=%s ", x->job->number);
	for (size_t i = 0; i < jobs->n; i++) {
		const char *line = jobs->row[i][0], *at = strstr(line, own);

		if (strncmp(line, start, strlen(start)) != 0 || !at)
			continue;
		snprintf(text, sizeof(text), "%.19s", at + strlen(own));
		x->deadline = queue_time(text); /* N/A: -1 */
		return;
	}
}
