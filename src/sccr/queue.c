/* queue - see queue.h */
#include "sccr/queue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "sccr/queue_tasks.h"

/* sprio's letters of the weighted columns. */
static const char letters[CCR_COLUMNS] = {
    [CCR_COL_SITE] = 'S',      [CCR_COL_AGE] = 'A',	[CCR_COL_ASSOC] = 'B',
    [CCR_COL_FAIRSHARE] = 'F', [CCR_COL_JOBSIZE] = 'J', [CCR_COL_PARTITION] = 'P',
    [CCR_COL_QOS] = 'Q',
};

/* Behind the columns: job, partition, priority, nice, TRES. */
enum { AT_JOB = CCR_COLUMNS, AT_PARTITION, AT_PRIORITY, AT_NICE, AT_TRES, TERM_FIELDS };

static void sprio_format(char *format, size_t size)
{
	size_t n = (size_t)snprintf(format, size, CLIENT_RECORD);

	for (int i = 0; i < CCR_COLUMNS; i++)
		n += (size_t)snprintf(format + n, size - n, "%%%c" CLIENT_FIELD, letters[i]);
	snprintf(format + n, size - n,
		 "%%i" CLIENT_FIELD "%%r" CLIENT_FIELD "%%Y" CLIENT_FIELD "%%N" CLIENT_FIELD "%%T");
}

static char *trimmed(char *s)
{
	size_t n;

	s += strspn(s, " ");
	n = strlen(s);
	while (n && s[n - 1] == ' ')
		s[--n] = '\0';
	return s;
}

double queue_tres(const char *list, const char *name, size_t len)
{
	for (const char *p = list; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
		if (strcspn(p, "=,") == len && !strncasecmp(p, name, len) && p[len] == '=')
			return strtod(p + len + 1, NULL);
	}
	return 0;
}

static void take_terms(const struct queue *q, struct queue_job *j, char **f)
{
	struct queue_terms *t = &j->terms;
	double sum = 0;

	for (int i = 0; i < CCR_COLUMNS; i++) {
		t->points[i] = strtod(f[i], NULL);
		t->factor[i] = q->weight[i] > 0 ? t->points[i] / q->weight[i] : 0;
		sum += fabs(t->points[i]);
	}
	t->nice = strtod(f[AT_NICE], NULL);
	t->priority = strtod(f[AT_PRIORITY], NULL);
	snprintf(t->tres, sizeof(t->tres), "%.200s", trimmed(f[AT_TRES]));
	t->found = true;
	/* sprio shows such a job with its priority and zeros */
	t->by_hand = sum == 0 && t->priority > 1 && !t->tres[0];
	j->priority = t->priority;
}

static int by_number(const void *pa, const void *pb)
{
	const struct queue_job *a = *(struct queue_job *const *)pa,
			       *b = *(struct queue_job *const *)pb;
	int c = strcmp(a->number, b->number);

	return c ? c : strcmp(a->partition, b->partition);
}

/* Pending jobs in an order in which they are found; free(). NULL: out of memory. */
static struct queue_job **pending(const struct queue *q, size_t *n)
{
	struct queue_job **list = calloc(q->n + 1, sizeof(*list));

	*n = 0;
	for (size_t i = 0; list && i < q->n; i++)
		if (!strcmp(q->job[i].state, "PENDING"))
			list[(*n)++] = &q->job[i];
	if (list)
		qsort(list, *n, sizeof(*list), by_number);
	return list;
}

/* The terms of every pending job that the caller may see, with one question. */
static int read_terms(struct queue *q, struct ccr_error *err)
{
	char format[160];
	char *jobs[] = {"sprio", "-h", "-o", format, NULL};
	char *weights[] = {"sprio", "-h", "-w", "-o", format, NULL};
	struct queue_job **list;
	struct client_rows rows;
	size_t n = 0;
	int rc;

	sprio_format(format, sizeof(format));
	rc = client_run_safe(weights, TERM_FIELDS, &rows, err);
	if (rc)
		return rc;
	for (int i = 0; rows.n && i < CCR_COLUMNS; i++)
		q->weight[i] = i == CCR_COL_SITE ? 1 : strtod(rows.row[0][i], NULL);
	if (rows.n)
		snprintf(q->tres_weights, sizeof(q->tres_weights), "%.200s",
			 trimmed(rows.row[0][AT_TRES]));
	client_rows_free(&rows);
	rc = client_run_safe(jobs, TERM_FIELDS, &rows, err);
	if (rc)
		return rc;
	list = pending(q, &n);
	for (size_t i = 0; list && i < rows.n; i++) {
		char **f = rows.row[i];
		const struct queue_job asked = {.number = trimmed(f[AT_JOB]),
						.partition = trimmed(f[AT_PARTITION])};
		const struct queue_job *key = &asked;
		struct queue_job **hit = bsearch(&key, list, n, sizeof(*list), by_number);

		if (hit && !(*hit)->terms.found)
			take_terms(q, *hit, f);
	}
	client_rows_free(&rows);
	rc = list ? CCR_OK : ccr_error_nomem(err);
	free(list);
	return rc;
}

/* Others' jobs are hidden from all but root (and operators, whom a client cannot tell). */
static bool is_partial(void)
{
	struct client_rows config;
	char *hidden;
	bool partial;

	if (getuid() == 0)
		return false;
	if (client_show_config(&config, NULL))
		return true;
	hidden = client_config(&config, "PrivateData");
	partial = hidden && strstr(hidden, "jobs");
	free(hidden);
	client_rows_free(&config);
	return partial;
}

/* squeue's word for nothing. */
static const char *given(const char *s)
{
	return strcmp(s, "(null)") ? s : "";
}

/* One more than there are fields: each ends with a mark. */
static const char fields[] = "iATPuaqlbSYeNVQDCrjvnE";
#define FIELDS (sizeof(fields))

static struct queue_job job_of(char **f)
{
	return (struct queue_job){
	    .id = f[0],
	    .number = f[1],
	    .state = f[2],
	    .partition = f[3],
	    .user = f[4],
	    .account = given(f[5]),
	    .qos = f[6],
	    .limit = f[7],
	    .gres = f[8],
	    .start = f[9],
	    .sched_nodes = given(f[10]),
	    .end = f[11],
	    .nodes = f[12],
	    .submit = f[13],
	    .priority = strtod(f[14], NULL),
	    .shown = strtod(f[14], NULL),
	    .n_nodes = strtol(f[15], NULL, 10),
	    .n_cpus = strtol(f[16], NULL, 10),
	    .reason = f[17],
	    .name = f[18],
	    .resv = given(f[19]),
	    .req_nodes = given(f[20]),
	    .dependency = given(f[21]),
	};
}

/*
 * A line for each task of an array (-r): else squeue merges those that wait, whatever each of them
 * waits for. Not a line for each partition, for which squeue -P looks into the partitions and
 * crashes where PrivateData hides them.
 */
static int ask(struct queue *q, struct ccr_error *err)
{
	char format[128];
	char *const argv[] = {"squeue", "-h", "-a", "-r", "-t", "all", "-o", format, NULL};
	size_t n = (size_t)snprintf(format, sizeof(format), CLIENT_RECORD);

	for (const char *c = fields; *c; c++)
		n += (size_t)snprintf(format + n, sizeof(format) - n, "%%%c" CLIENT_FIELD, *c);
	return client_run_safe(argv, FIELDS, &q->rows, err);
}

size_t queue_split(struct queue_job *out, const struct queue_job *j, char *partitions)
{
	char *save = NULL, *p = strtok_r(partitions, ",", &save);
	size_t n = 0;

	do {
		out[n] = *j;
		out[n++].partition = p ? p : "";
	} while (p && (p = strtok_r(NULL, ",", &save)));
	for (size_t i = 0; i < n; i++)
		out[i].several = n > 1;
	return n;
}

/* The lines as jobs: one for each record, in each partition of a pending one. */
static int take_jobs(struct queue *q, struct ccr_error *err)
{
	size_t room = q->rows.n + 1, letters_max = 1, like;
	char *id;

	for (size_t i = 0; i < q->rows.n; i++) {
		for (const char *c = q->rows.row[i][3]; *c; c++)
			room += *c == ',';
		letters_max += strlen(q->rows.row[i][0]) + QUEUE_JOINED;
	}
	q->job = calloc(room, sizeof(*q->job));
	q->ids = id = malloc(letters_max);
	if (!q->job || !id)
		return ccr_error_nomem(err);
	for (size_t i = 0; i < q->rows.n; i += like) {
		struct queue_job j = job_of(q->rows.row[i]);

		like = queue_same_record(q->rows.row + i, q->rows.n - i);
		if (like > 1) {
			j.id = id;
			id += queue_join_tasks(id, q->rows.row + i, like) + 1;
		}
		q->n += queue_split(q->job + q->n, &j, q->rows.row[i][3]);
	}
	return CCR_OK;
}

/* sprio refuses to be asked of priority/basic, by which jobs go in the order of their ids. */
static bool has_no_terms(void)
{
	struct client_rows config;
	char *type;
	bool basic;

	if (client_show_config(&config, NULL))
		return false;
	type = client_config(&config, "PriorityType");
	basic = type && !strcmp(type, "priority/basic");
	free(type);
	client_rows_free(&config);
	return basic;
}

int queue_read(struct queue *q, struct ccr_error *err)
{
	int rc;

	memset(q, 0, sizeof(*q));
	rc = ask(q, err);
	if (!rc)
		rc = take_jobs(q, err);
	if (!rc) {
		q->partial = is_partial();
		rc = read_terms(q, err);
		if (rc == CCR_EIO && (q->no_terms = has_no_terms()))
			rc = CCR_OK;
	}
	if (rc)
		queue_free(q);
	return rc;
}

void queue_free(struct queue *q)
{
	free(q->job);
	free(q->ids);
	client_rows_free(&q->rows);
	memset(q, 0, sizeof(*q));
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
		return queue_has_task(j, strtol(asked + n + 1, NULL, 10));
	return false;
}

static bool is_one_of(const char *state, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(state, *list))
			return true;
	return false;
}

bool queue_waits(const struct queue_job *j)
{
	static const char *const states[] = {
	    "PENDING",	   "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD",
	    "REQUEUE_FED", NULL};

	return is_one_of(j->state, states);
}

bool queue_runs(const struct queue_job *j)
{
	static const char *const states[] = {"RUNNING",	  "CONFIGURING", "COMPLETING", "RESIZING",
					     "SIGNALING", "STOPPED",	 NULL};

	return is_one_of(j->state, states);
}

bool queue_before(const struct queue_job *a, const struct queue_job *b)
{
	int c;

	if (!a->resv[0] != !b->resv[0])
		return a->resv[0];
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
