/* sim_html - see sim_html.h */
#include "sccr/sim_html.h"

#include "sccr/safe.h"
#include "sccr/sim_page.h"

/*
 * The data is JSON whose arrays of numbers run by job, by place, by look: a fifth of the size of an
 * object for each. Times are seconds.
 */

static void put_time(FILE *f, sim_time t)
{
	if (t < 0) /* not yet, or never */
		fputs("-1", f);
	else if (t >= SIM_NEVER)
		fputs("null", f);
	else if (t % 1000)
		fprintf(f, "%lld.%03lld", (long long)(t / 1000), (long long)(t % 1000));
	else
		fprintf(f, "%lld", (long long)(t / 1000));
}

/* json-c writes "/" as "\/", so that no text can end the script element that holds the data. */
static void put_text(FILE *f, const char *text)
{
	json_object *o = sccr_json_new(text);

	fputs(o ? json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN) : "\"\"", f);
	json_object_put(o);
}

static void put_names(FILE *f, const char *key, const struct sim_names *names)
{
	fprintf(f, ",\n\"%s\":[", key);
	for (uint32_t i = 0; i < sim_names_count(names); i++) {
		if (i)
			fputc(',', f);
		put_text(f, sim_names_get(names, i));
	}
	fputc(']', f);
}

static void put_nodes(FILE *f, const struct sim_cluster *c)
{
	fputs(",\n\"nodes\":[", f);
	for (uint32_t i = 0; i < c->nodes; i++) {
		const struct sim_node *n = &c->node[i];

		fputs(i ? ",[" : "[", f);
		put_text(f, n->name);
		fprintf(f, ",%u,%u,[", n->cpus, n->mem);
		for (int k = 0; k < n->ntypes; k++) {
			fputs(k ? ",[" : "[", f);
			put_text(f, sim_names_get(c->gpu_types, (uint32_t)n->type[k]));
			fprintf(f, ",%u]", n->gpus[k]);
		}
		fputs("]]", f);
	}
	fputc(']', f);
}

/* One array over all jobs: `expr` of job `o` at index i. */
#define PUT_JOBS(f, key, put)                                                                      \
	do {                                                                                       \
		fprintf(f, ",\n\"" key "\":[");                                                    \
		for (uint32_t i = 0; i < r->jobs; i++) {                                           \
			const struct sim_record_job *o = &r->job[i];                               \
			if (i)                                                                     \
				fputc(',', f);                                                     \
			put;                                                                       \
		}                                                                                  \
		fputc(']', f);                                                                     \
	} while (0)

static uint64_t cpus_of(const struct sim_record_job *o)
{
	return o->demand.nodes
		   ? (uint64_t)(o->demand.nodes - 1) * o->demand.cpus + o->demand.last_cpus
		   : 0;
}

static void put_jobs(FILE *f, const struct sim_record *r, const struct sim *s)
{
	fprintf(f, ",\n\"jobs\":{\"count\":%u", r->jobs);
	PUT_JOBS(f, "id", put_text(f, o->id));
	PUT_JOBS(f, "user", fprintf(f, "%d", o->user == SIM_NO_NAME ? -1 : (int)o->user));
	PUT_JOBS(f, "account", fprintf(f, "%d", o->account == SIM_NO_NAME ? -1 : (int)o->account));
	PUT_JOBS(f, "submit", put_time(f, o->submit));
	PUT_JOBS(f, "start", put_time(f, o->start));
	PUT_JOBS(f, "end", put_time(f, o->end));
	PUT_JOBS(f, "limit", put_time(f, o->limit));
	PUT_JOBS(f, "first", put_time(f, o->first_booking));
	PUT_JOBS(f, "nodes", fprintf(f, "%u", o->demand.nodes));
	PUT_JOBS(f, "cpus", fprintf(f, "%llu", (unsigned long long)cpus_of(o)));
	PUT_JOBS(f, "gpus",
		 fprintf(f, "%llu", (unsigned long long)o->demand.gpus * o->demand.nodes));
	PUT_JOBS(f, "mem", fprintf(f, "%llu", (unsigned long long)o->demand.mem * o->demand.nodes));
	PUT_JOBS(f, "filler", fputc(o->filler ? '1' : '0', f));
	if (s->scorer) {
		PUT_JOBS(f, "score", fprintf(f, "%.0f", o->score));
		for (int k = 0; k < s->scorer->ncolumns; k++) {
			fprintf(f, ",\n\"term%d\":[", k);
			for (uint32_t i = 0; i < r->jobs; i++)
				fprintf(f, i ? ",%.6g" : "%.6g", r->job[i].terms[k]);
			fputc(']', f);
		}
	}
	fputc('}', f);
}

/* job, node, GPUs as a number of bits in two halves, first CPU, CPUs */
static void put_places(FILE *f, const struct sim_record *r)
{
	fputs(",\n\"places\":[", f);
	for (uint32_t i = 0; i < r->places; i++) {
		const struct sim_place *p = &r->place[i];

		fprintf(f, i ? ",%u,%u,%u,%u,%u,%u" : "%u,%u,%u,%u,%u,%u", p->job, p->node,
			(unsigned)(p->gpus & 0xffffffffu), (unsigned)(p->gpus >> 32), p->core,
			p->cores);
	}
	fputc(']', f);
}

static void put_bookings(FILE *f, const struct sim_record *r)
{
	fputs(",\n\"bookings\":[", f);
	for (uint32_t i = 0; i < r->bookings; i++) {
		const struct sim_record_booking *b = &r->booking[i];

		fprintf(f, i ? ",[%u," : "[%u,", b->job);
		put_time(f, b->start);
		for (uint32_t k = 0; k < b->n; k++) {
			const struct sim_pick *p = &r->share[b->first + k];

			fprintf(f, ",%u,%u,%u", p->node, sim_gpus(p->gpus), p->cpus);
		}
		fputc(']', f);
	}
	fputc(']', f);
}

/* Each look: time, length of the queue, bookings, rows of job, priority and terms. */
static void put_looks(FILE *f, const struct sim_record *r, const struct sim *s)
{
	int values = s->scorer ? 2 + s->scorer->ncolumns : 1;

	fprintf(f, ",\n\"rowValues\":%d,\n\"looks\":[", values);
	for (uint32_t i = 0; i < r->looks; i++) {
		const struct sim_look *l = &r->look[i];

		fputs(i ? ",\n[" : "[", f);
		put_time(f, l->t);
		fprintf(f, ",%u,[", l->queued);
		for (uint32_t k = 0; k < l->bookings; k++)
			fprintf(f, k ? ",%u" : "%u", r->booked[l->booking + k]);
		fputs("],[", f);
		for (uint32_t k = 0; k < l->rows; k++) {
			const double *v = r->row + (size_t)(l->row + k) * SIM_ROW_VALUES;

			for (int n = 0; n < values; n++)
				fprintf(f, k || n ? ",%.7g" : "%.7g", v[n]);
		}
		fputs("]]", f);
	}
	fputc(']', f);
}

static void put_data(FILE *f, const struct sim_html *h, const struct sim *s, json_object *runs)
{
	const struct sim_record *r = s->record;

	fputs("{\"version\":", f);
	put_text(f, CCR_VERSION);
	fputs(",\n\"title\":", f);
	put_text(f, h->title);
	fputs(",\n\"policy\":", f);
	put_text(f, h->policy);
	fputs(",\n\"scheduler\":", f);
	put_text(f, s->sched->name);
	fprintf(f, ",\n\"depth\":%d,\n\"cycle\":", h->depth);
	put_time(f, s->cycle);
	fprintf(f, ",\n\"zero\":%lld,\n\"from\":", (long long)s->workload->unix_zero);
	put_time(f, s->figures->first_submit);
	fputs(",\n\"to\":", f);
	put_time(f, s->figures->last);
	put_names(f, "users", s->workload->users);
	put_names(f, "accounts", s->workload->accounts);
	fputs(",\n\"columns\":[", f);
	for (int k = 0; s->scorer && k < s->scorer->ncolumns; k++)
		fprintf(f, k ? ",\"%s\"" : "\"%s\"", s->scorer->column[k]);
	fputc(']', f);
	put_nodes(f, s->cluster);
	put_jobs(f, r, s);
	put_places(f, r);
	put_bookings(f, r);
	put_looks(f, r, s);
	fprintf(f, ",\n\"runs\":%s}\n",
		json_object_to_json_string_ext(runs, JSON_C_TO_STRING_PLAIN));
}

void sim_html_write(FILE *out, const struct sim_html *h, const struct sim *s, json_object *runs)
{
	fwrite(sim_page_head, 1, sim_page_head_len, out);
	put_data(out, h, s, runs);
	fwrite(sim_page_tail, 1, sim_page_tail_len, out);
}
