/* sim_swf - a line of the Standard Workload Format; see sim_workload.h */
#include "sccr/sim_workload.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sccr/sim_text.h"

/*
 * The fields by number, as in https://www.cs.huji.ac.il/labs/parallel/workload/swf.html:
 * 1 job, 2 submit, 3 wait, 4 run time, 5 processors, 6 CPU time, 7 memory, 8 requested processors,
 * 9 requested time, 10 requested memory (kB a processor), 11 status, 12 user, 13 group, 14
 * executable, 15 queue, 16 partition, 17 preceding job, 18 think time. -1: not known.
 */
#define FIELDS 18

int sim_swf_header(const char *text, const char *key, int64_t *value)
{
	size_t len = strlen(key);
	char *end;

	while (*text == ';' || isspace((unsigned char)*text))
		text++;
	if (strncasecmp(text, key, len) != 0 || text[len] != ':')
		return -1;
	*value = strtoll(text + len + 1, &end, 10);
	return end == text + len + 1 ? -1 : 0;
}

static enum sim_line_kind bad(struct sim_message *m, const char *what, int field, double found)
{
	snprintf(m->text, sizeof(m->text), "field %d (%s) is %.15g", field, what, found);
	return SIM_LINE_BAD;
}

static void number_name(char *out, size_t size, const char *prefix, double v)
{
	if (v >= 0)
		snprintf(out, size, "%s%.0f", prefix, v);
	else
		out[0] = '\0';
}

enum sim_line_kind sim_swf_line(char *text, struct sim_line *out, struct sim_message *m)
{
	double f[FIELDS + 1];
	char *save = NULL;
	int n = 0;

	while (isspace((unsigned char)*text))
		text++;
	if (!*text || *text == ';')
		return SIM_LINE_NONE;
	for (char *t = strtok_r(text, " \t\r\n", &save); t; t = strtok_r(NULL, " \t\r\n", &save)) {
		if (++n > FIELDS)
			break;
		if (!sim_text_double(t, &f[n])) {
			snprintf(m->text, sizeof(m->text), "field %d is no number: \"%.40s\"", n,
				 t);
			return SIM_LINE_BAD;
		}
	}
	if (n != FIELDS) {
		snprintf(m->text, sizeof(m->text), "18 fields are expected, found %s%d",
			 n > FIELDS ? "more than " : "", n > FIELDS ? FIELDS : n);
		return SIM_LINE_BAD;
	}
	if (f[1] < 0 || f[1] > 9e15)
		return bad(m, "job number", 1, f[1]);
	if (f[2] < 0 || f[2] > 9e9)
		return bad(m, "submit time", 2, f[2]);
	/* cancelled before it started: nothing ran, so there is nothing to replay */
	if (f[11] == 5 && f[4] <= 0)
		return SIM_LINE_SKIP;
	if (f[4] < 0 || f[4] > 9e9)
		return bad(m, "run time", 4, f[4]);
	if (f[8] <= 0 && f[5] <= 0)
		return bad(m, "requested processors", 8, f[8]);
	if (f[8] > 1e9 || f[5] > 1e9)
		return bad(m, "processors", f[8] > 1e9 ? 8 : 5, f[8] > 1e9 ? f[8] : f[5]);
	memset(out, 0, sizeof(*out));
	snprintf(out->id, sizeof(out->id), "%.0f", f[1]);
	out->submit = (sim_time)(f[2] * (double)SIM_SECOND + 0.5);
	out->runtime = (sim_time)(f[4] * (double)SIM_SECOND + 0.5);
	out->limit = f[9] > 0 && f[9] < 9e9 ? (sim_time)(f[9] * (double)SIM_SECOND + 0.5) : -1;
	out->recorded_wait =
	    f[3] >= 0 && f[3] < 9e9 ? (sim_time)(f[3] * (double)SIM_SECOND + 0.5) : -1;
	out->want.cpus = (uint64_t)(f[8] > 0 ? f[8] : f[5]);
	out->want.gpu_type = SIM_ANY_TYPE;
	if (f[10] > 0 && f[10] < 1e12)
		out->want.mem = (uint64_t)(f[10] * (double)out->want.cpus / 1024 + 0.999);
	out->after = f[17] > 0 && f[17] < 9e15 ? (uint64_t)f[17] : 0;
	out->think = f[18] > 0 && f[18] < 9e9 ? (sim_time)(f[18] * (double)SIM_SECOND + 0.5) : 0;
	number_name(out->user, sizeof(out->user), "u", f[12]);
	number_name(out->account, sizeof(out->account), "g", f[13]);
	number_name(out->partition, sizeof(out->partition), "", f[15] >= 0 ? f[15] : f[16]);
	out->any_partition = true;
	return SIM_LINE_JOB;
}
