/* sim_workload - see sim_workload.h */
#include "sccr/sim_workload.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bad lines named one by one; the rest are counted. */
#define NAMED_MAX 20

static int io_error(struct sim_workload *w, struct ccr_error *err)
{
	return ccr_error_set(err, CCR_EIO, 0, "%s: %s", w->path, strerror(errno));
}

static bool next_line(struct sim_workload *w)
{
	ssize_t n = getline(&w->buf, &w->room, w->in.file);

	if (n < 0)
		return false;
	w->line++;
	w->bytes += (uint64_t)n;
	w->has_zero = strlen(w->buf) != (size_t)n;
	return true;
}

/* During a pass over the whole file: has somebody had enough of it? Tells how far it is. */
static bool stopped(const struct sim_workload *w, const char *doing)
{
	if (!(w->line & 1023))
		sim_watch_tell(w->watch, doing, w->bytes, w->in.size);
	return sim_watch_stopped(w->watch);
}

/* A byte that is 0 ends a text: what stands behind it would go unseen. */
static enum sim_line_kind refuse_zero(struct sim_message *m)
{
	snprintf(m->text, sizeof(m->text), "a byte that is 0 is in it");
	return SIM_LINE_BAD;
}

/* SIM_FORMAT_AUTO: it is none of them. */
static enum sim_format guess(const char *line)
{
	const char *s = line + strspn(line, " \t\"");

	if (*s == '{' || *s == '[')
		return SIM_FORMAT_AUTO;
	if (strchr(line, '|'))
		return SIM_FORMAT_SACCT;
	if (strchr(line, ',') || isalpha((unsigned char)*s))
		return SIM_FORMAT_CSV;
	return strspn(s, "+-.0123456789") ? SIM_FORMAT_SWF : SIM_FORMAT_AUTO;
}

static int unknown_format(const struct sim_workload *w, const char *line, struct ccr_error *err)
{
	int n = (int)strcspn(line, "\r\n");

	return ccr_error_set(err, CCR_EINVAL, (unsigned)w->line,
			     "%s:%llu: SWF, CSV or the output of `sacct --parsable2` is expected, "
			     "found %s\"%.*s\"",
			     w->path, (unsigned long long)w->line,
			     *line == '{' || *line == '[' ? "JSON: " : "", n < 20 ? n : 20, line);
}

/* Reads up to the first line that is a job, and what stands before it. */
static int read_head(struct sim_workload *w, struct ccr_error *err)
{
	struct sim_message m = {""};

	while (!stopped(w, "reading") && next_line(w)) {
		const char *s = w->buf + strspn(w->buf, " \t\r\n");

		if (*s == ';') {
			if (w->format == SIM_FORMAT_AUTO)
				w->format = SIM_FORMAT_SWF;
			sim_swf_header(s, "MaxNodes", &w->max_nodes);
			sim_swf_header(s, "MaxProcs", &w->max_procs);
			sim_swf_header(s, "UnixStartTime", &w->unix_zero);
			continue;
		}
		if (!*s || (*s == '#' && w->format != SIM_FORMAT_SWF))
			continue;
		if (w->format == SIM_FORMAT_AUTO)
			w->format = guess(s);
		if (w->format == SIM_FORMAT_AUTO)
			return unknown_format(w, s, err);
		if (w->format == SIM_FORMAT_SWF)
			return CCR_OK;
		if (w->has_zero)
			refuse_zero(&m);
		w->columns = w->has_zero ? NULL : sim_columns_new(w->format, s, &m);
		if (!w->columns)
			return ccr_error_set(err, CCR_EINVAL, (unsigned)w->line, "%s:%llu: %s",
					     w->path, (unsigned long long)w->line, m.text);
		return CCR_OK;
	}
	if (ferror(w->in.file))
		return io_error(w, err);
	if (sim_watch_stopped(w->watch))
		return sim_input_interrupted(&w->in, w->path, err);
	return ccr_error_set(err, CCR_EINVAL, 0, "%s: no job in it", w->path);
}

/* To the first byte of its text. */
static int to_start(struct sim_workload *w, struct ccr_error *err)
{
	if (fseek(w->in.file, w->in.start, SEEK_SET))
		return io_error(w, err);
	w->line = w->bytes = 0;
	return CCR_OK;
}

int sim_workload_open(struct sim_workload *w, const char *path, enum sim_format format,
		      const struct sim_watch *watch, struct ccr_error *err)
{
	int rc;

	memset(w, 0, sizeof(*w));
	w->path = strcmp(path, "-") ? path : "standard input";
	w->format = format;
	w->watch = watch;
	rc = sim_input_open(&w->in, path, w->path, watch, err);
	if (rc)
		return rc;
	w->users = sim_names_new();
	w->accounts = sim_names_new();
	w->qos = sim_names_new();
	w->partitions = sim_names_new();
	w->lists = sim_names_new();
	if (!w->users || !w->accounts || !w->qos || !w->partitions || !w->lists)
		return ccr_error_nomem(err);
	rc = read_head(w, err);
	return rc ? rc : to_start(w, err);
}

/*
 * The partitions of a list that the cluster has, each once, from the k-th name on: *k is moved
 * behind the one that is given. UINT32_MAX: no more.
 */
static uint32_t next_home(const struct sim_workload *w, const char *list, uint32_t *k)
{
	char copy[sizeof(((struct sim_line *)0)->partition)], *save = NULL;
	uint32_t at = 0;

	snprintf(copy, sizeof(copy), "%s", list);
	for (char *t = strtok_r(copy, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		uint32_t p;

		if (at++ < *k)
			continue;
		*k = at;
		p = sim_cluster_part(w->cluster, t);
		if (p != UINT32_MAX)
			return p;
	}
	return UINT32_MAX;
}

/* Where a job without a partition of the cluster goes; UINT32_MAX: nowhere. */
static uint32_t other_home(const struct sim_workload *w, const struct sim_line *l)
{
	/* a cluster given without partitions takes everybody */
	if (!l->partition[0] || l->any_partition ||
	    (w->cluster->parts == 1 && !strcmp(w->cluster->part[0].name, "all")))
		return sim_cluster_part(w->cluster, "");
	return UINT32_MAX;
}

static uint32_t name_of(struct sim_names *names, const char *text)
{
	return *text ? sim_names_add(names, text) : SIM_NO_NAME;
}

/* A limit that is missing is the partition's default, else its maximum (R27); never more than that.
 */
static sim_time limit_of(const struct sim_partition *p, sim_time limit)
{
	if (limit < 0)
		limit = p->default_limit >= 0 ? p->default_limit : p->max_limit;
	return limit < p->max_limit ? limit : p->max_limit;
}

/* Puts the job into a partition; false: it can never run there, *why says what is too much. */
static bool settle(const struct sim_workload *w, struct sim_job *j, uint32_t home, const char **why)
{
	const struct sim_partition *p = &w->cluster->part[home];

	if (!sim_layout(w->cluster, home, &j->want, &j->demand, why))
		return false;
	j->home = home;
	j->limit = limit_of(p, j->asked_limit);
	j->runtime = j->asked_runtime;
	if (j->runtime > j->limit && !w->no_kill)
		j->runtime = j->limit;
	j->partition = name_of(w->partitions, p->name);
	return true;
}

/* Slurm leaves a job in the queue of a partition whose MaxTime it exceeds. */
static bool short_enough(const struct sim_workload *w, const struct sim_job *j, uint32_t home)
{
	return j->asked_limit <= w->cluster->part[home].max_limit;
}

/* The first of its partitions that may run it, else the first that could if its limit were cut. */
static bool find_home(const struct sim_workload *w, struct sim_line *l, struct sim_job *j,
		      const char **why)
{
	uint32_t k = 0, home, other = UINT32_MAX;

	while ((home = next_home(w, l->partition, &k)) != UINT32_MAX) {
		if (!settle(w, j, home, why))
			continue;
		if (short_enough(w, j, home))
			return true;
		if (other == UINT32_MAX)
			other = home;
	}
	return other != UINT32_MAX && settle(w, j, other, why);
}

bool sim_workload_twin(const struct sim_workload *w, const struct sim_job *j, uint32_t *from,
		       struct sim_job *twin)
{
	const char *list = j->list == SIM_NO_NAME ? "" : sim_names_get(w->lists, j->list), *why;
	uint32_t home;

	while ((home = next_home(w, list, from)) != UINT32_MAX) {
		*twin = *j;
		if (home != j->home && short_enough(w, j, home) && settle(w, twin, home, &why))
			return true;
	}
	return false;
}

static enum sim_line_kind to_job(struct sim_workload *w, struct sim_line *l, struct sim_job *j,
				 struct sim_message *m)
{
	uint32_t k = 0, home;
	const char *why = "";

	memset(j, 0, sizeof(*j));
	home = next_home(w, l->partition, &k);
	if (home == UINT32_MAX)
		home = other_home(w, l);
	if (home == UINT32_MAX) {
		snprintf(m->text, sizeof(m->text), "partition \"%.60s\" is not in the cluster",
			 l->partition);
		return SIM_LINE_BAD;
	}
	if (l->gpu_type[0] && l->want.gpus) {
		uint32_t t = sim_names_find(w->cluster->gpu_types, l->gpu_type);

		if (t == UINT32_MAX) {
			snprintf(m->text, sizeof(m->text),
				 "no node of the cluster has a GPU of type \"%.60s\"", l->gpu_type);
			return SIM_LINE_BAD;
		}
		l->want.gpu_type = (int32_t)t;
	}
	if (w->need_start && l->recorded_wait < 0) {
		snprintf(m->text, sizeof(m->text),
			 "%s%s: no start at or after its submission is recorded",
			 l->id[0] ? "job " : "the job", l->id);
		return SIM_LINE_BAD;
	}
	if (!w->keep_memory)
		l->want.mem = 0;
	j->want = l->want;
	j->asked_limit = l->limit;
	j->asked_runtime = l->runtime;
	j->list = SIM_NO_NAME;
	if (next_home(w, l->partition, &k) == UINT32_MAX ? !settle(w, j, home, &why)
							 : !find_home(w, l, j, &why)) {
		snprintf(m->text, sizeof(m->text),
			 "%s%s can never run: it asks for %s (%llu CPUs, %llu GPUs, %llu MiB)",
			 l->id[0] ? "job " : "the job", l->id, why,
			 (unsigned long long)l->want.cpus, (unsigned long long)l->want.gpus,
			 (unsigned long long)l->want.mem);
		return SIM_LINE_BAD;
	}
	if (strchr(l->partition, ','))
		j->list = name_of(w->lists, l->partition);
	j->submit = l->submit;
	j->recorded_wait = l->recorded_wait;
	j->after = l->after;
	j->think = l->think;
	j->user = name_of(w->users, l->user);
	j->account = name_of(w->accounts, l->account);
	j->qos = name_of(w->qos, l->qos);
	j->first_booking = j->booking = -1;
	j->start = j->end = j->planned_end = -1;
	if (l->id[0])
		snprintf(j->id, sizeof(j->id), "%s", l->id);
	else
		snprintf(j->id, sizeof(j->id), "%llu", (unsigned long long)w->serial + 1);
	j->serial = w->serial++;
	return SIM_LINE_JOB;
}

/* The next line of the file as a job or what else it is; SIM_LINE_NONE with *end at the file's end.
 */
static enum sim_line_kind read_job(struct sim_workload *w, struct sim_job *j, struct sim_message *m,
				   bool *end)
{
	struct sim_line l;
	enum sim_line_kind kind;
	const char *s;

	*end = !next_line(w);
	if (*end)
		return SIM_LINE_NONE;
	if (w->has_zero)
		return refuse_zero(m);
	if (w->format == SIM_FORMAT_SWF) {
		kind = sim_swf_line(w->buf, &l, m);
	} else {
		s = w->buf + strspn(w->buf, " \t\r\n");
		if (!*s || *s == '#')
			return SIM_LINE_NONE;
		if (w->serial == UINT64_MAX) { /* the header line */
			w->serial = 0;
			return SIM_LINE_NONE;
		}
		kind = sim_columns_line(w->columns, w->buf, &l, m);
	}
	return kind == SIM_LINE_JOB ? to_job(w, &l, j, m) : kind;
}

bool sim_workload_has_starts(const struct sim_workload *w)
{
	return !w->columns || sim_columns_have_starts(w->columns);
}

int sim_workload_rewind(struct sim_workload *w, struct ccr_error *err)
{
	w->next = 0;
	if (w->sorted)
		return CCR_OK;
	/* job numbers start after the header line, see read_job */
	w->serial = w->format == SIM_FORMAT_SWF ? 0 : UINT64_MAX;
	return to_start(w, err);
}

static int by_submit(const void *a, const void *b)
{
	const struct sim_job *x = a, *y = b;

	if (x->submit != y->submit)
		return x->submit < y->submit ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static int load_sorted(struct sim_workload *w, struct ccr_error *err)
{
	struct sim_job *jobs = calloc(w->counts.jobs, sizeof(*jobs));
	struct sim_message m = {""};
	uint64_t n = 0;
	bool end = false;
	int rc;

	if (!jobs)
		return ccr_error_nomem(err);
	rc = sim_workload_rewind(w, err);
	while (!rc && !end && n < w->counts.jobs) {
		if (stopped(w, "sorting"))
			rc = sim_input_interrupted(&w->in, w->path, err);
		else
			n += read_job(w, &jobs[n], &m, &end) == SIM_LINE_JOB;
	}
	if (rc) {
		free(jobs);
		return rc;
	}
	qsort(jobs, n, sizeof(*jobs), by_submit);
	for (uint64_t i = 0; i < n; i++)
		jobs[i].serial = i;
	w->counts.jobs = n;
	w->sorted = jobs;
	return CCR_OK;
}

static void count(struct sim_workload *w, const struct sim_job *j)
{
	struct sim_workload_counts *c = &w->counts;
	bool longer = j->asked_runtime > j->limit;

	if (!c->jobs || j->submit < c->first_submit)
		c->first_submit = j->submit;
	if (!c->jobs || j->submit > c->last_submit)
		c->last_submit = j->submit;
	c->jobs++;
	/* in its home, which allows it if any of its partitions does */
	if (!short_enough(w, j, j->home)) {
		c->over_max++;
		c->over_max_cut += longer;
	} else {
		c->cut += longer;
	}
}

int sim_workload_check(struct sim_workload *w, sim_complain complain, void *arg,
		       struct ccr_error *err)
{
	struct sim_workload_counts *c = &w->counts;
	struct sim_message m = {""};
	struct sim_job j;
	bool end = false, in_order = true;
	int rc = sim_workload_rewind(w, err);

	w->keep_memory = false;
	for (uint32_t i = 0; i < w->cluster->nodes; i++)
		w->keep_memory |= w->cluster->node[i].mem > 1;
	memset(c, 0, sizeof(*c));
	while (!rc && !end) {
		if (stopped(w, "reading"))
			return sim_input_interrupted(&w->in, w->path, err);
		switch (read_job(w, &j, &m, &end)) {
		case SIM_LINE_JOB:
			in_order &= !c->jobs || j.submit >= c->last_submit;
			count(w, &j);
			break;
		case SIM_LINE_SKIP:
			c->skipped++;
			break;
		case SIM_LINE_BAD:
			if (++c->bad <= NAMED_MAX && complain)
				complain(w->line, m.text, arg);
			break;
		case SIM_LINE_NONE:
			break;
		}
	}
	if (!rc && ferror(w->in.file))
		rc = io_error(w, err);
	if (rc)
		return rc;
	c->lines = w->line;
	if (c->bad > NAMED_MAX && complain) {
		snprintf(m.text, sizeof(m.text), "and %llu more bad line%s",
			 (unsigned long long)(c->bad - NAMED_MAX),
			 c->bad == NAMED_MAX + 1 ? "" : "s");
		complain(0, m.text, arg);
	}
	if (!c->jobs)
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "%s: no job in it that can run on this cluster", w->path);
	if (!in_order)
		rc = load_sorted(w, err);
	return rc ? rc : sim_workload_rewind(w, err);
}

int sim_workload_next(struct sim_workload *w, struct sim_job *job, struct ccr_error *err)
{
	struct sim_message m = {""};
	bool end = false;

	if (w->sorted) {
		if (w->next >= w->counts.jobs)
			return 0;
		*job = w->sorted[w->next++];
		return 1;
	}
	while (!end) {
		if (read_job(w, job, &m, &end) == SIM_LINE_JOB)
			return 1;
	}
	if (ferror(w->in.file)) {
		io_error(w, err);
		return -1;
	}
	return 0;
}

void sim_workload_close(struct sim_workload *w)
{
	if (w->in.file)
		fclose(w->in.file);
	sim_columns_free(w->columns);
	sim_names_free(w->users);
	sim_names_free(w->accounts);
	sim_names_free(w->qos);
	sim_names_free(w->partitions);
	sim_names_free(w->lists);
	free(w->sorted);
	free(w->buf);
	memset(w, 0, sizeof(*w));
}
