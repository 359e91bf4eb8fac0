/* queue_tasks - see queue_tasks.h */
#include "sccr/queue_tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t queue_same_record(char **const *row, size_t n)
{
	size_t like = 1;

	while (like < n && strchr(row[0][0], '_') && strchr(row[like][0], '_') &&
	       !strcmp(row[0][1], row[like][1]))
		like++;
	return like;
}

/* The number behind the last mark of an id. */
static long task_of(const char *id)
{
	return strtol(strchr(id, '_') + 1, NULL, 10);
}

size_t queue_join_tasks(char *out, char **const *row, size_t n)
{
	size_t at = strcspn(row[0][0], "_");

	memcpy(out, row[0][0], at);
	at += (size_t)sprintf(out + at, "_[");
	for (size_t i = 0, last; i < n; i = last + 1) {
		long from = task_of(row[i][0]);

		last = i;
		while (last + 1 < n && task_of(row[last + 1][0]) == task_of(row[last][0]) + 1)
			last++;
		at += (size_t)sprintf(out + at, "%s%ld", i ? "," : "", from);
		if (last > i)
			at += (size_t)sprintf(out + at, "-%ld", task_of(row[last][0]));
	}
	return at + (size_t)sprintf(out + at, "]");
}

bool queue_has_task(const struct queue_job *j, long n)
{
	const char *p = strchr(j->id, '[');

	for (p = p ? p + 1 : ""; *p && *p != ']';) {
		char *end;
		long from = strtol(p, &end, 10), to = from;

		if (end == p)
			return false;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (n >= from && n <= to)
			return true;
		p = *end == ',' ? end + 1 : end;
	}
	return false;
}

size_t queue_tasks(const struct queue_job *j)
{
	const char *p = strchr(j->id, '[');
	size_t tasks = 0;

	while (p && *p && *p != ']') {
		char *end;
		long from = strtol(++p, &end, 10), to = from;

		if (end == p)
			break;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (to >= from)
			tasks += (size_t)(to - from) + 1;
		p = end;
	}
	return tasks ? tasks : 1;
}
