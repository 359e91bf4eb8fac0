/*
 * explain_times - when a booking is, in the zone of who asks; see explain.h
 *
 * slurmctld writes the times in a reason in its own zone, which nobody else can tell from the text.
 * squeue's start column is in the caller's: the booking that a reason speaks of is looked up there,
 * and without that no time is given.
 */
#include <stdlib.h>
#include <string.h>

#include "sccr/explain.h"

#define TIME_LEN 19 /* 2026-11-30T09:05:50 */

/* Puts `with` in the place of n characters of the reason; its end is cut if that is too long. */
static void replace(struct explain *x, char *at, size_t n, const char *with)
{
	char rest[sizeof(x->reason)];

	snprintf(rest, sizeof(rest), "%s", at + n);
	snprintf(at, sizeof(x->reason) - (size_t)(at - x->reason), "%s%s", with, rest);
}

/* Gives the reason that start for slurmctld's, or none. */
static void put_time(struct explain *x, const char *start)
{
	static const char own[] = "booked for ";
	char *at = strstr(x->reason, own), *time, text[TIME_LEN + 1];

	if (!at)
		return;
	time = at + strlen(own);
	snprintf(text, sizeof(text), "%s", time);
	if (queue_time(text) < 0)
		return;
	if (start)
		replace(x, time, TIME_LEN, start);
	else if (!x->blocker) /* booked on n1 */
		replace(x, time - strlen("for "),
			strlen("for ") + TIME_LEN + (time[TIME_LEN] == ' '), "");
	else /* would delay job 5: GPUs on n1 */
		replace(x, at - 1, 1 + strlen(own) + TIME_LEN, "");
}

/* The job's row if it has a booking that squeue tells. */
static bool is_booked(const struct queue_job *j)
{
	return queue_waits(j) && j->sched_nodes[0] && queue_time(j->start) > 0;
}

void explain_times(struct explain *x)
{
	const struct queue_job *found = NULL;

	if (x->plan == PLAN_BOOKED && is_booked(x->job))
		found = x->job;
	for (size_t i = 0; x->blocker && !found && i < x->queue->n; i++) {
		const struct queue_job *j = &x->queue->job[i];

		if (strtoul(j->number, NULL, 10) == x->blocker && is_booked(j))
			found = j;
	}
	x->booked = found ? queue_time(found->start) : -1;
	put_time(x, found ? found->start : NULL);
}
