/* sim_columns - a line of CSV or of `sacct --parsable2`, by the names of its columns; see
 * sim_workload.h */
#include "sccr/sim_workload.h"

#include <csv.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sccr/sim_text.h"

#define FIELDS_MAX 256
#define FIELD_LEN  512

enum column {
	COL_NONE,
	COL_ID,
	COL_SUBMIT,
	COL_RUNTIME,
	COL_LIMIT,
	COL_LIMIT_MINUTES,
	COL_WAIT,
	COL_START,
	COL_END,
	COL_STATE,
	COL_NODES,
	COL_CPUS,
	COL_GPUS,
	COL_GPU_TYPE,
	COL_MEM,
	COL_REQ_TRES,
	COL_ALLOC_TRES,
	COL_USER,
	COL_ACCOUNT,
	COL_QOS,
	COL_PARTITION,
	COL_COUNT
};

struct column_name {
	const char *name;
	enum column column;
};

static const struct column_name csv_names[] = {{"id", COL_ID},
					       {"submit", COL_SUBMIT},
					       {"runtime", COL_RUNTIME},
					       {"limit", COL_LIMIT},
					       {"nodes", COL_NODES},
					       {"cpus", COL_CPUS},
					       {"gpus", COL_GPUS},
					       {"mem", COL_MEM},
					       {"gpu_type", COL_GPU_TYPE},
					       {"user", COL_USER},
					       {"account", COL_ACCOUNT},
					       {"qos", COL_QOS},
					       {"partition", COL_PARTITION},
					       {"wait", COL_WAIT},
					       {NULL, COL_NONE}};

/* Where two names mean the same, the first that is there counts. */
static const struct column_name sacct_names[] = {{"JobID", COL_ID},
						 {"JobIDRaw", COL_ID},
						 {"Submit", COL_SUBMIT},
						 {"ElapsedRaw", COL_RUNTIME},
						 {"Elapsed", COL_RUNTIME},
						 {"TimelimitRaw", COL_LIMIT_MINUTES},
						 {"Timelimit", COL_LIMIT},
						 {"Start", COL_START},
						 {"End", COL_END},
						 {"State", COL_STATE},
						 {"ReqNodes", COL_NODES},
						 {"NNodes", COL_NODES},
						 {"AllocNodes", COL_NODES},
						 {"ReqCPUS", COL_CPUS},
						 {"NCPUS", COL_CPUS},
						 {"AllocCPUS", COL_CPUS},
						 {"ReqTRES", COL_REQ_TRES},
						 {"AllocTRES", COL_ALLOC_TRES},
						 {"ReqMem", COL_MEM},
						 {"User", COL_USER},
						 {"Account", COL_ACCOUNT},
						 {"QOS", COL_QOS},
						 {"Partition", COL_PARTITION},
						 {NULL, COL_NONE}};

struct sim_columns {
	enum sim_format format;
	struct csv_parser parser;
	int at[COL_COUNT]; /* index of the field, or -1 */
	int fields;
	enum { NO_SUBMIT, IN_SECONDS, AS_DATES } submits; /* of the first line that has one */
	/* the line at hand */
	char field[FIELDS_MAX][FIELD_LEN];
	int count;
};

static void on_field(void *text, size_t len, void *arg)
{
	struct sim_columns *c = arg;
	char *to;

	if (c->count < FIELDS_MAX) {
		to = c->field[c->count];
		if (len >= FIELD_LEN)
			len = FIELD_LEN - 1;
		memcpy(to, text, len);
		to[len] = '\0';
	}
	c->count++;
}

static void on_row(int c, void *arg)
{
	(void)c;
	(void)arg;
}

/* Splits one line; false if it is not well-formed. */
static bool split(struct sim_columns *c, const char *text)
{
	size_t len = strlen(text);

	c->count = 0;
	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	return csv_parse(&c->parser, text, len, on_field, on_row, c) == len &&
	       !csv_fini(&c->parser, on_field, on_row, c);
}

static int no_blank(unsigned char ch)
{
	(void)ch;
	return 0;
}

/* A parser that starts afresh; -1: out of memory. */
static int start_parser(struct sim_columns *c)
{
	if (csv_init(&c->parser, CSV_STRICT | CSV_STRICT_FINI))
		return -1;
	if (c->format == SIM_FORMAT_SACCT) {
		/* sacct quotes nothing: a quote is part of a job's name */
		csv_set_delim(&c->parser, '|');
		csv_set_quote(&c->parser, '\1');
		csv_set_space_func(&c->parser, no_blank);
	}
	return 0;
}

/* A name that stands in the header twice: which of them is meant nobody can tell. NULL: none. */
static const char *named_twice(const struct sim_columns *c, const struct column_name *names)
{
	for (const struct column_name *n = names; n->name; n++) {
		int times = 0;

		for (int i = 0; i < c->fields; i++)
			times += !strcasecmp(c->field[i], n->name);
		if (times > 1)
			return n->name;
	}
	return NULL;
}

struct sim_columns *sim_columns_new(enum sim_format format, const char *header,
				    struct sim_message *m)
{
	const struct column_name *names = format == SIM_FORMAT_CSV ? csv_names : sacct_names, *n;
	struct sim_columns *c = calloc(1, sizeof(*c));
	const char *missing = NULL, *twice;

	if (c)
		c->format = format;
	if (!c || start_parser(c)) {
		snprintf(m->text, sizeof(m->text), "out of memory");
		free(c);
		return NULL;
	}
	for (int i = 0; i < COL_COUNT; i++)
		c->at[i] = -1;
	if (!split(c, header) || c->count > FIELDS_MAX) {
		snprintf(m->text, sizeof(m->text), "the header line cannot be split into columns");
		sim_columns_free(c);
		return NULL;
	}
	c->fields = c->count;
	twice = named_twice(c, names);
	if (twice) {
		snprintf(m->text, sizeof(m->text), "the header has column %s twice", twice);
		sim_columns_free(c);
		return NULL;
	}
	for (n = names; n->name; n++)
		for (int i = 0; i < c->fields; i++)
			if (!strcasecmp(c->field[i], n->name) && c->at[n->column] < 0)
				c->at[n->column] = i;
	for (int i = 0; format == SIM_FORMAT_CSV && i < c->fields; i++) {
		for (n = names; n->name && strcasecmp(c->field[i], n->name) != 0; n++)
			;
		if (!n->name) {
			snprintf(m->text, sizeof(m->text),
				 "unknown column \"%.40s\" (known: id, submit, runtime, limit, "
				 "nodes, cpus, "
				 "gpus, gpu_type, mem, user, account, qos, partition, wait)",
				 c->field[i]);
			sim_columns_free(c);
			return NULL;
		}
	}
	if (c->at[COL_SUBMIT] < 0)
		missing = format == SIM_FORMAT_CSV ? "submit" : "Submit";
	else if (c->at[COL_RUNTIME] < 0 && format == SIM_FORMAT_CSV)
		missing = "runtime";
	else if (c->at[COL_RUNTIME] < 0 && (c->at[COL_START] < 0 || c->at[COL_END] < 0))
		missing = "ElapsedRaw (or Elapsed, or Start and End)";
	else if (c->at[COL_CPUS] < 0 && c->at[COL_REQ_TRES] < 0 && c->at[COL_ALLOC_TRES] < 0 &&
		 c->at[COL_GPUS] < 0)
		missing =
		    format == SIM_FORMAT_CSV ? "cpus" : "ReqTRES (or AllocTRES, ReqCPUS, NCPUS)";
	if (missing) {
		snprintf(m->text, sizeof(m->text), "the header has no column %s", missing);
		sim_columns_free(c);
		return NULL;
	}
	return c;
}

void sim_columns_free(struct sim_columns *c)
{
	if (!c)
		return;
	csv_free(&c->parser);
	free(c);
}

bool sim_columns_have_starts(const struct sim_columns *c)
{
	return c->at[COL_WAIT] >= 0 || c->at[COL_START] >= 0;
}

/* The field of a column, or "" where the file has no such column. */
static const char *get(const struct sim_columns *c, enum column column)
{
	return c->at[column] < 0 ? "" : c->field[c->at[column]];
}

static enum sim_line_kind bad(struct sim_message *m, const char *column, const char *expected,
			      const char *found)
{
	snprintf(m->text, sizeof(m->text), "%s: %s is expected, found \"%.60s\"", column, expected,
		 found);
	return SIM_LINE_BAD;
}

/* An optional count: empty is 0. */
static bool count(const char *text, uint64_t *out)
{
	*out = 0;
	return !*text || sim_text_u64(text, 0, 1000000000, out);
}

/* "cpu=4,mem=16G,node=1,gres/gpu:h100=2"; a typed and an untyped GPU entry are the same GPUs. */
static bool tres(const char *text, struct sim_line *out)
{
	char copy[FIELD_LEN], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *t = strtok_r(copy, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		char *v = strchr(t, '=');
		uint64_t n = 0;
		uint32_t mib = 0;

		if (!v)
			return false;
		*v++ = '\0';
		if (!strcmp(t, "mem")) {
			if (!sim_text_mem(v, &mib))
				return false;
			out->want.mem = mib;
			continue;
		}
		if (strcmp(t, "cpu") != 0 && strcmp(t, "node") != 0 &&
		    strncmp(t, "gres/gpu", 8) != 0)
			continue;
		if (!sim_text_u64(v, 0, 1000000000, &n))
			return false;
		if (!strcmp(t, "cpu"))
			out->want.cpus = n;
		else if (!strcmp(t, "node"))
			out->want.nodes = n;
		else if (!strcmp(t, "gres/gpu"))
			out->want.gpus = n > out->want.gpus ? n : out->want.gpus;
		else if (t[8] == ':') {
			out->want.gpus = n > out->want.gpus ? n : out->want.gpus;
			snprintf(out->gpu_type, sizeof(out->gpu_type), "%s", t + 9);
		}
	}
	return true;
}

/* ReqMem before 21.08 ends in c (a CPU) or n (a node); after, it is the total. */
static bool req_mem(const char *text, struct sim_line *out)
{
	char copy[64];
	size_t len = strlen(text);
	uint64_t times = 1;
	uint32_t mib;

	if (!len || len >= sizeof(copy))
		return !len;
	memcpy(copy, text, len + 1);
	if (copy[len - 1] == 'c' || copy[len - 1] == 'n') {
		times = copy[len - 1] == 'c' ? out->want.cpus
			: out->want.nodes    ? out->want.nodes
					     : 1;
		copy[len - 1] = '\0';
	}
	if (!sim_text_mem(copy, &mib))
		return false;
	out->want.mem = times * mib;
	return true;
}

static void names(const struct sim_columns *c, struct sim_line *out)
{
	snprintf(out->user, sizeof(out->user), "%.127s", get(c, COL_USER));
	snprintf(out->account, sizeof(out->account), "%.127s", get(c, COL_ACCOUNT));
	snprintf(out->qos, sizeof(out->qos), "%.127s", get(c, COL_QOS));
	snprintf(out->partition, sizeof(out->partition), "%.255s", get(c, COL_PARTITION));
	snprintf(out->id, sizeof(out->id), "%.39s", get(c, COL_ID));
}

/*
 * When the job was submitted. Seconds count from any zero and dates from 1970: in one file they
 * would lie decades apart.
 */
static enum sim_line_kind submit(struct sim_columns *c, const char *column, const char *expected,
				 struct sim_line *out, struct sim_message *m)
{
	const char *text = get(c, COL_SUBMIT);
	bool dated = strchr(text, 'T') != NULL;

	if (!sim_text_date(text, &out->submit) || out->submit < 0)
		return bad(m, column, expected, text);
	if (c->submits == NO_SUBMIT)
		c->submits = dated ? AS_DATES : IN_SECONDS;
	if (dated != (c->submits == AS_DATES))
		return bad(m, column, dated ? "seconds as before" : "a date as before", text);
	return SIM_LINE_JOB;
}

static enum sim_line_kind csv_line(struct sim_columns *c, struct sim_line *out,
				   struct sim_message *m)
{
	uint32_t mib = 0;

	if (submit(c, "submit", "seconds or YYYY-MM-DDTHH:MM:SS", out, m) != SIM_LINE_JOB)
		return SIM_LINE_BAD;
	if (!sim_text_seconds(get(c, COL_RUNTIME), &out->runtime) || out->runtime < 0)
		return bad(m, "runtime", "a number of seconds", get(c, COL_RUNTIME));
	if (*get(c, COL_LIMIT) && !strchr(get(c, COL_LIMIT), ':') &&
	    !strchr(get(c, COL_LIMIT), '-')) {
		if (!sim_text_seconds(get(c, COL_LIMIT), &out->limit) || out->limit <= 0)
			return bad(m, "limit", "seconds or D-HH:MM:SS", get(c, COL_LIMIT));
	} else if (*get(c, COL_LIMIT) && !sim_text_limit(get(c, COL_LIMIT), &out->limit)) {
		return bad(m, "limit", "seconds or D-HH:MM:SS", get(c, COL_LIMIT));
	}
	if (*get(c, COL_WAIT) && !sim_text_seconds(get(c, COL_WAIT), &out->recorded_wait))
		return bad(m, "wait", "a number of seconds", get(c, COL_WAIT));
	if (!count(get(c, COL_NODES), &out->want.nodes))
		return bad(m, "nodes", "a whole number", get(c, COL_NODES));
	if (!count(get(c, COL_CPUS), &out->want.cpus))
		return bad(m, "cpus", "a whole number", get(c, COL_CPUS));
	if (!count(get(c, COL_GPUS), &out->want.gpus))
		return bad(m, "gpus", "a whole number", get(c, COL_GPUS));
	if (*get(c, COL_MEM) && !sim_text_mem(get(c, COL_MEM), &mib))
		return bad(m, "mem", "a size such as 64G", get(c, COL_MEM));
	out->want.mem = mib;
	snprintf(out->gpu_type, sizeof(out->gpu_type), "%.63s", get(c, COL_GPU_TYPE));
	names(c, out);
	return SIM_LINE_JOB;
}

/*
 * States of sacct that say more than the job's times. `live`: it has not ended. `elsewhere`: it
 * never ran here. `unstarted`: if it has no length it left the queue without running, and a Start
 * that it has is when it left. "CANCELLED by 5" is one, too. Jobs of other states have ended, and
 * their times say whether they ran; what a requeue, a preemption or a new size cut short is a job.
 */
static const struct {
	const char *name;
	bool live, elsewhere, unstarted;
} states[] = {
    {"PENDING", .live = true},	      {"RUNNING", .live = true},
    {"SUSPENDED", .live = true},      {"CONFIGURING", .live = true},
    {"COMPLETING", .live = true},     {"STAGE_OUT", .live = true},
    {"SIGNALING", .live = true},      {"STOPPED", .live = true},
    {"REQUEUE_HOLD", .live = true},   {"REQUEUE_FED", .live = true},
    {"RESV_DEL_HOLD", .live = true},  {"SPECIAL_EXIT", .live = true},
    {"REVOKED", .elsewhere = true}, /* another cluster of the federation took it */
    {"CANCELLED", .unstarted = true}, {"DEADLINE", .unstarted = true},
    {"REQUEUED", .unstarted = true},  {"BOOT_FAIL", .unstarted = true},
};

/* A point in time, or -1 where it says that there is none or nothing. False: it is neither. */
static bool point(const char *text, sim_time *out)
{
	*out = -1;
	return !*text || !strcasecmp(text, "Unknown") || !strcasecmp(text, "None") ||
	       (sim_text_date(text, out) && *out >= 0);
}

/* How long the job ran, and whether it did and is over. */
static enum sim_line_kind sacct_times(const struct sim_columns *c, struct sim_line *out,
				      struct sim_message *m)
{
	const char *state = get(c, COL_STATE), *run = get(c, COL_RUNTIME);
	const char *from = get(c, COL_START), *to = get(c, COL_END);
	sim_time start, end;
	size_t k = 0, n = sizeof(states) / sizeof(states[0]);

	while (k < n && strncmp(state, states[k].name, strcspn(state, " +")) != 0)
		k++;
	if (!*state)
		k = n;
	if (!point(from, &start))
		return bad(m, "Start", "YYYY-MM-DDTHH:MM:SS, None or Unknown", from);
	if (!point(to, &end))
		return bad(m, "End", "YYYY-MM-DDTHH:MM:SS or Unknown", to);
	if ((k < n && (states[k].live || states[k].elsewhere)) || (*to && end < 0) ||
	    (*from && start < 0))
		return SIM_LINE_SKIP;
	/* Elapsed is D-HH:MM:SS or HH:MM:SS, ElapsedRaw seconds */
	if (*run && (!(strchr(run, ':') ? sim_text_limit(run, &out->runtime)
					: sim_text_seconds(run, &out->runtime)) ||
		     out->runtime < 0))
		return bad(m, "Elapsed", "a duration", run);
	if (!*run && (start < 0 || end < start))
		return bad(m, "Start, End", "two points in time in this order", to);
	if (!*run)
		out->runtime = end - start;
	if (!out->runtime && k < n && states[k].unstarted)
		return SIM_LINE_SKIP;
	if (start >= out->submit)
		out->recorded_wait = start - out->submit;
	return SIM_LINE_JOB;
}

static enum sim_line_kind sacct_line(struct sim_columns *c, struct sim_line *out,
				     struct sim_message *m)
{
	const char *s;
	enum sim_line_kind kind;

	if (strchr(get(c, COL_ID), '.')) /* a step of a job */
		return SIM_LINE_NONE;
	if (submit(c, "Submit", "YYYY-MM-DDTHH:MM:SS", out, m) != SIM_LINE_JOB)
		return SIM_LINE_BAD;
	kind = sacct_times(c, out, m);
	if (kind != SIM_LINE_JOB)
		return kind;
	s = get(c, COL_LIMIT_MINUTES);
	if (*s && sim_text_seconds(s, &out->limit))
		out->limit *= 60;
	else if ((*s || (s = get(c, COL_LIMIT), *s)) && strcasecmp(s, "Partition_Limit") != 0 &&
		 !sim_text_limit(s, &out->limit))
		return bad(m, "Timelimit", "a time limit", s);
	if (!count(get(c, COL_NODES), &out->want.nodes))
		return bad(m, "NNodes", "a whole number", get(c, COL_NODES));
	if (!count(get(c, COL_CPUS), &out->want.cpus))
		return bad(m, "NCPUS", "a whole number", get(c, COL_CPUS));
	if (!req_mem(get(c, COL_MEM), out))
		return bad(m, "ReqMem", "a size such as 64G", get(c, COL_MEM));
	s = *get(c, COL_REQ_TRES) ? get(c, COL_REQ_TRES) : get(c, COL_ALLOC_TRES);
	if (*s && !tres(s, out))
		return bad(m, "ReqTRES", "cpu=N,mem=SIZE,node=N,gres/gpu=N", s);
	names(c, out);
	return SIM_LINE_JOB;
}

enum sim_line_kind sim_columns_line(struct sim_columns *c, const char *text, struct sim_line *out,
				    struct sim_message *m)
{
	enum sim_line_kind kind;

	while (isspace((unsigned char)*text))
		text++;
	if (!*text || (*text == '#' && c->format == SIM_FORMAT_CSV))
		return SIM_LINE_NONE;
	if (!split(c, text)) {
		/* a failed parse leaves the parser inside the field */
		csv_free(&c->parser);
		start_parser(c);
		snprintf(m->text, sizeof(m->text),
			 "a quoted field that is not closed or not alone");
		return SIM_LINE_BAD;
	}
	if (c->count != c->fields) {
		snprintf(m->text, sizeof(m->text),
			 "%d fields are expected as in the header, found %d", c->fields, c->count);
		return SIM_LINE_BAD;
	}
	memset(out, 0, sizeof(*out));
	out->limit = out->recorded_wait = -1;
	out->want.gpu_type = SIM_ANY_TYPE;
	kind = c->format == SIM_FORMAT_CSV ? csv_line(c, out, m) : sacct_line(c, out, m);
	if (kind == SIM_LINE_JOB && !out->want.cpus && !out->want.gpus) {
		snprintf(m->text, sizeof(m->text), "the job asks for no CPU and no GPU");
		return SIM_LINE_BAD;
	}
	if (kind == SIM_LINE_JOB && !out->want.cpus) /* Slurm gives a task at least one */
		out->want.cpus = 1;
	return kind;
}
