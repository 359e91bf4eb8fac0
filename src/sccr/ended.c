/* ended - see ended.h */
#include "sccr/ended.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "sccr/common.h"
#include "sccr/queue.h"
#include "sccr/sim_text.h"

/* What sacct is asked for. */
enum {
	AT_ID,
	AT_STATE,
	AT_CODE,
	AT_START,
	AT_END,
	AT_LIMIT,
	AT_NODES,
	AT_USER,
	AT_ACCOUNT,
	AT_PARTITION,
	AT_NAME,
	SACCT_FIELDS
};
#define SACCT_FORMAT                                                                               \
	"JobID,State,ExitCode,Start,End,Timelimit,NodeList,User,Account,Partition,JobName"

/* sacct itself waits three quarters of a minute for a slurmdbd that is stopped. */
#define SACCT_SECONDS 10

static const struct {
	const char *state, *words; /* NULL: said with more */
} states[] = {
    {"COMPLETED", NULL},
    {"FAILED", NULL},
    {"CANCELLED", NULL},
    {"TIMEOUT", NULL},
    {"OUT_OF_MEMORY", "It was ended for using more memory than it had asked for"},
    {"NODE_FAIL", "It was ended because a node of it failed"},
    {"PREEMPTED", "It was ended to make room for a job that may preempt it"},
    {"DEADLINE", NULL},
    {"BOOT_FAIL", "Its nodes could not be booted"},
    {"REVOKED", "It was started by another cluster of the federation"},
};

/* The state is that one, whatever stands behind it. */
static bool is(const char *state, const char *name)
{
	size_t n = strcspn(state, " +");

	return !strncmp(state, name, n) && !name[n];
}

bool ended_state(const char *state)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (is(state, states[i].state))
			return true;
	return false;
}

/* sacct's word for it, without "sacct: error: ". */
static void keep_silence(struct ended_source *s, const char *text)
{
	static const char *const prefixes[] = {"sacct: ", "error: ", "fatal: "};

	if (strstr(text, "storage is disabled")) /* there is no database */
		return;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		while (!strncmp(text, prefixes[i], strlen(prefixes[i])))
			text += strlen(prefixes[i]);
	snprintf(s->silent, sizeof(s->silent), "%.299s", text);
}

void ended_source_read(struct ended_source *s, const char *asked)
{
	char id[64], delimiter[] = "--delimiter=" CLIENT_FIELD, format[] = SACCT_FORMAT;
	char *const scontrol[] = {"scontrol", "show", "job", id, NULL};
	char *const sacct[] = {"sacct", "-XnP", delimiter, "-j", id, "-o", format, NULL};
	struct ccr_error err;

	memset(s, 0, sizeof(*s));
	snprintf(id, sizeof(id), "%s", asked);
	(void)client_run(scontrol, 1, &s->scontrol, &err);
	if (client_run_lines_within(sacct, SACCT_FIELDS, SACCT_SECONDS, &s->sacct, &err))
		keep_silence(s, err.text);
}

void ended_source_free(struct ended_source *s)
{
	client_rows_free(&s->scontrol);
	client_rows_free(&s->sacct);
}

/* "3:9" */
static void take_code(struct ended *out, const char *text)
{
	out->has_code = sscanf(text, "%d:%d", &out->code, &out->signal) == 2;
}

/* The user of "CANCELLED by 1000". */
static void take_canceller(struct ended *out, const char *state)
{
	const char *by = strstr(state, " by ");
	const struct passwd *who;
	char *end;
	unsigned long uid;

	if (!by)
		return;
	by += strlen(" by ");
	uid = strtoul(by, &end, 10);
	who = end != by && !*end ? getpwuid((uid_t)uid) : NULL;
	snprintf(out->by, sizeof(out->by), "%s%.50s", who || end == by ? "" : "uid ",
		 who ? who->pw_name : by);
}

/* The line of a record that has the exit code; the record begins with the job's number. */
static void from_scontrol(const struct client_rows *rows, const char *number, struct ended *out)
{
	size_t len = strlen(number);
	bool mine = false;

	for (size_t i = 0; i < rows->n; i++) {
		const char *line = rows->row[i][0], *code;

		if (!strncmp(line, "JobId=", 6))
			mine = !strncmp(line + 6, number, len) && line[6 + len] == ' ';
		if (!mine || strncmp(line, "   Requeue=", 11) != 0)
			continue;
		code = strstr(line, " ExitCode=");
		if (code)
			take_code(out, code + strlen(" ExitCode="));
		return;
	}
}

void ended_find(const struct ended_source *s, const char *id, const char *number, struct ended *out)
{
	out->silent = s->silent[0] ? s->silent : NULL;
	from_scontrol(&s->scontrol, number, out);
	for (size_t i = 0; i < s->sacct.n; i++) {
		char **f = s->sacct.row[i];

		if (strcmp(f[AT_ID], id) != 0)
			continue;
		take_canceller(out, f[AT_STATE]);
		if (!out->has_code)
			take_code(out, f[AT_CODE]);
	}
}

static bool started(const struct ended *e)
{
	return e->start > 0 && e->end >= e->start;
}

/* Does its state speak of a time limit that it is well below? slurmctld looks once a minute. */
static bool other_limit(const struct ended *e)
{
	sim_time limit;

	return is(e->state, "TIMEOUT") && started(e) && sim_text_limit(e->limit, &limit) &&
	       (sim_time)(e->end - e->start) * SIM_SECOND < limit - 60 * SIM_SECOND;
}

/* Did Slurm cancel it, as it was told to for a dependency that cannot be fulfilled? */
static bool by_dependency(const struct ended *e)
{
	return is(e->state, "CANCELLED") && !strncmp(e->reason, "DependencyNeverSatisfied", 24);
}

/* " after D-HH:MM:SS", or that it never began. */
static void print_length(const struct ended *e, FILE *out)
{
	long s;

	if (!started(e)) {
		fputs(" before it started", out);
		return;
	}
	s = (long)(e->end - e->start);
	fputs(" after ", out);
	if (s >= 86400)
		fprintf(out, "%ld-", s / 86400);
	fprintf(out, "%02ld:%02ld:%02ld", s / 3600 % 24, s / 60 % 60, s % 60);
	if (e->limit[0])
		fprintf(out, " of a time limit of %s", e->limit);
}

static void print_code(const struct ended *e, FILE *out)
{
	if (!e->has_code)
		fputs("It failed", out);
	else if (e->signal)
		fprintf(out, "It was ended by signal %d (%s)", e->signal, strsignal(e->signal));
	else
		fprintf(out, "It failed with the exit code %d", e->code);
}

void ended_print(const struct ended *e, FILE *out)
{
	if (is(e->state, "COMPLETED")) {
		fputs("It ended by itself and well", out);
	} else if (is(e->state, "FAILED")) {
		print_code(e, out);
	} else if (is(e->state, "TIMEOUT")) {
		fputs(other_limit(e) ? "It was ended before its time limit"
				     : "It was ended at its time limit",
		      out);
	} else if (is(e->state, "DEADLINE")) {
		fputs(started(e) ? "It was ended at its deadline"
				 : "It could not be done by its deadline any more, and ended",
		      out);
	} else if (by_dependency(e)) {
		fputs("Slurm cancelled it as its dependency could not be fulfilled any more,", out);
	} else if (is(e->state, "CANCELLED")) {
		fprintf(out, "It was cancelled%s%s", e->by[0] ? " by " : "", e->by);
	} else {
		for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
			if (states[i].words && is(e->state, states[i].state))
				fputs(states[i].words, out);
	}
	print_length(e, out);
	if (e->reason[0] && strcmp(e->reason, "None") != 0)
		fprintf(out, " (%s)", e->reason);
	fputs(".\n", out);
	if (other_limit(e))
		fputs("That is done when the minutes of a limit of its association or QOS are used "
		      "up, or when its reservation ends.\n",
		      out);
	if (!is(e->state, "CANCELLED") || e->by[0] || by_dependency(e))
		return;
	if (e->silent)
		fprintf(out,
			"By whom, slurmctld does not tell, and the database does not answer: "
			"%s.\n",
			e->silent);
	else
		fputs("By whom, slurmctld does not tell; a database would (sacct).\n", out);
}

void ended_print_json(const struct ended *e, FILE *out)
{
	if (e->has_code)
		fprintf(out, ", \"exit_code\": %d, \"signal\": %d", e->code, e->signal);
	if (e->reason[0] && strcmp(e->reason, "None") != 0) {
		fputs(", \"reason\": ", out);
		sccr_json_string(out, e->reason);
	}
	if (e->start > 0)
		fprintf(out, ", \"started\": %lld", (long long)e->start);
	if (e->end > 0)
		fprintf(out, ", \"ended\": %lld", (long long)e->end);
	if (e->by[0]) {
		fputs(", \"cancelled_by\": ", out);
		sccr_json_string(out, e->by);
	}
}

/* Where it was, and why there is nothing of slurmctld's. */
static void print_record(char **f, bool never, bool partial, FILE *out)
{
	bool over = ended_state(f[AT_STATE]);

	fprintf(out, "Job %s (%.60s) of %s, account %.60s, partition %s: %s", f[AT_ID], f[AT_NAME],
		f[AT_USER], f[AT_ACCOUNT][0] ? f[AT_ACCOUNT] : "(none)", f[AT_PARTITION],
		f[AT_STATE]);
	if (!never)
		fprintf(out, " on %s since %s", f[AT_NODES], f[AT_START]);
	if (!never && over)
		fprintf(out, ", ended %s", f[AT_END]);
	if (!over)
		fputs(
		    ".\nslurmctld does not show it to you: it is hidden or gone; this is from the "
		    "database, which knows of no end.\n",
		    out);
	else
		fprintf(out, ".\nslurmctld has forgotten it%s; this is from the database.\n",
			partial ? ", or hides it from you" : "");
}

static void print_gone(char **f, bool json, bool partial, FILE *out)
{
	struct ended e = {.state = f[AT_STATE],
			  .limit = f[AT_LIMIT],
			  .start = queue_time(f[AT_START]),
			  .end = queue_time(f[AT_END]),
			  .reason = ""};
	bool never = !f[AT_NODES][0] || !strcmp(f[AT_NODES], "None assigned");
	const struct {
		const char *key;
		int at;
	} texts[] = {{"name", AT_NAME},
		     {"user", AT_USER},
		     {"account", AT_ACCOUNT},
		     {"partition", AT_PARTITION}};

	if (never)
		e.start = -1;
	take_code(&e, f[AT_CODE]);
	take_canceller(&e, f[AT_STATE]);
	f[AT_STATE][strcspn(f[AT_STATE], " +")] = '\0';
	if (!json) {
		print_record(f, never, partial, out);
		if (ended_state(f[AT_STATE]))
			ended_print(&e, out);
		return;
	}
	fputs("{\"job\": ", out);
	sccr_json_string(out, f[AT_ID]);
	fputs(", \"state\": ", out);
	sccr_json_string(out, f[AT_STATE]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fprintf(out, ", \"%s\": ", texts[i].key);
		sccr_json_string(out, f[texts[i].at]);
	}
	ended_print_json(&e, out);
	fputs(", \"plan\": \"none\", \"from\": \"database\"}", out);
}

size_t ended_print_gone(const struct ended_source *s, bool json, bool partial, FILE *out)
{
	for (size_t i = 0; i < s->sacct.n; i++) {
		if (i)
			fputs(json ? ",\n" : "\n", out);
		print_gone(s->sacct.row[i], json, partial, out);
	}
	return s->sacct.n;
}
