/* queue - see queue.h */
#include "sccr/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 20

int queue_read(struct queue *q, struct ccr_error *err)
{
	char *const argv[] = {
	    "squeue", "-h",  "-a", "-P",
	    "-t",     "all", "-o", "%i|%A|%T|%P|%u|%a|%q|%l|%b|%S|%Y|%e|%N|%V|%Q|%D|%C|%r|%j",
	    NULL};
	int rc;

	memset(q, 0, sizeof(*q));
	rc = client_run(argv, FIELDS, &q->rows, err);
	if (rc)
		return rc;
	q->job = calloc(q->rows.n + 1, sizeof(*q->job));
	if (!q->job) {
		queue_free(q);
		return ccr_error_nomem(err);
	}
	for (size_t i = 0; i < q->rows.n; i++) {
		char **f = q->rows.row[i];

		q->job[i] = (struct queue_job){
		    .id = f[0],
		    .number = f[1],
		    .state = f[2],
		    .partition = f[3],
		    .user = f[4],
		    .account = f[5],
		    .qos = f[6],
		    .limit = f[7],
		    .gres = f[8],
		    .start = f[9],
		    .sched_nodes = f[10],
		    .end = f[11],
		    .nodes = f[12],
		    .submit = f[13],
		    .priority = strtod(f[14], NULL),
		    .n_nodes = strtol(f[15], NULL, 10),
		    .n_cpus = strtol(f[16], NULL, 10),
		    .reason = f[17],
		    .name = f[18],
		};
	}
	q->n = q->rows.n;
	return CCR_OK;
}

void queue_free(struct queue *q)
{
	free(q->job);
	client_rows_free(&q->rows);
	memset(q, 0, sizeof(*q));
}

/* Is task number n one of squeue's list in brackets, such as 12_[4-9,11%2]? */
static bool in_list(const char *list, long n)
{
	for (const char *p = list; *p && *p != ']';) {
		char *end;
		long from = strtol(p, &end, 10), to = from, step = 1;

		if (end == p)
			return false;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (*end == ':')
			step = strtol(end + 1, &end, 10);
		if (n >= from && n <= to && step > 0 && (n - from) % step == 0)
			return true;
		p = end;
		while (*p && *p != ',' && *p != ']')
			p++;
		if (*p == ',')
			p++;
	}
	return false;
}

bool queue_matches(const struct queue_job *j, const char *asked)
{
	size_t n = strcspn(asked, "_+");

	if (!strcmp(j->id, asked) || !strcmp(j->number, asked))
		return true;
	if (strncmp(j->id, asked, n) || (j->id[n] != '_' && j->id[n] != '+'))
		return false;
	if (!asked[n]) /* the whole array or hetjob */
		return true;
	if (asked[n] == '_' && !strncmp(j->id + n, "_[", 2))
		return in_list(j->id + n + 2, strtol(asked + n + 1, NULL, 10));
	return false;
}

bool queue_before(const struct queue_job *a, const struct queue_job *b)
{
	int c;

	if (a->priority != b->priority)
		return a->priority > b->priority;
	c = strcmp(a->submit, b->submit);
	if (c)
		return c < 0;
	return strtol(a->number, NULL, 10) < strtol(b->number, NULL, 10);
}

time_t queue_time(const char *text)
{
	struct tm tm = {.tm_isdst = -1};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);

	return end && !*end ? mktime(&tm) : -1;
}

/* sprio's letters of the weighted columns; the small ones are the factors. */
static const char letters[CCR_COLUMNS] = {
    [CCR_COL_SITE] = 'S',      [CCR_COL_AGE] = 'A',	[CCR_COL_ASSOC] = 'B',
    [CCR_COL_FAIRSHARE] = 'F', [CCR_COL_JOBSIZE] = 'J', [CCR_COL_PARTITION] = 'P',
    [CCR_COL_QOS] = 'Q',
};

static void take(struct queue_terms *t, char **f, char **w)
{
	for (int i = 0; i < CCR_COLUMNS; i++) {
		t->points[i] = strtod(f[i], NULL);
		t->weight[i] = i == CCR_COL_SITE ? 1 : strtod(w[i], NULL);
		t->factor[i] = t->weight[i] > 0 ? t->points[i] / t->weight[i] : 0;
	}
	t->nice = strtod(f[CCR_COLUMNS], NULL);
	t->priority = strtod(f[CCR_COLUMNS + 1], NULL);
	snprintf(t->tres, sizeof(t->tres), "%.200s",
		 f[CCR_COLUMNS + 3] + strspn(f[CCR_COLUMNS + 3], " "));
	t->found = true;
}

int queue_terms_read(const struct queue_job *j, struct queue_terms *t, struct ccr_error *err)
{
	char format[128] = "", number[32];
	char *job[] = {"sprio", "-h", "-j", number, "-o", format, NULL};
	char *weights[] = {"sprio", "-h", "-w", "-o", format, NULL};
	struct client_rows rows, w;
	size_t n = 0;
	int rc;

	memset(t, 0, sizeof(*t));
	snprintf(number, sizeof(number), "%s", j->number);
	for (int i = 0; i < CCR_COLUMNS; i++)
		n += (size_t)snprintf(format + n, sizeof(format) - n, "%%%c|", letters[i]);
	snprintf(format + n, sizeof(format) - n, "%%N|%%Y|%%r|%%T");
	rc = client_run(weights, CCR_COLUMNS + 4, &w, err);
	if (rc)
		return rc;
	rc = client_run(job, CCR_COLUMNS + 4, &rows, err);
	for (size_t i = 0; !rc && w.n && i < rows.n; i++) {
		char *part = rows.row[i][CCR_COLUMNS + 2];

		part += strspn(part, " ");
		part[strcspn(part, " ")] = '\0';
		if (!strcmp(part, j->partition))
			take(t, rows.row[i], w.row[0]);
	}
	client_rows_free(&w);
	client_rows_free(&rows);
	return rc;
}
