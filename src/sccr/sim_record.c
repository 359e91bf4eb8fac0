/* sim_record - see sim_record.h */
#include "sccr/sim_record.h"

#include <stdlib.h>
#include <string.h>

#include "sccr/safe.h"
#include "sccr/sim_hostlist.h"

/* Room for n more elements. */
static int more(void *array, uint32_t have, uint32_t *room, uint32_t n, size_t size)
{
	void **a = array, *q;
	uint64_t to = *room ? *room : 256;

	while (to < (uint64_t)have + n)
		to *= 2;
	if ((uint64_t)have + n <= *room)
		return 0;
	if (to > UINT32_MAX)
		return -1;
	q = realloc(*a, to * size);
	if (!q)
		return -1;
	*a = q;
	*room = (uint32_t)to;
	return 0;
}

#define MORE(r, array, n, field_room, k)                                                           \
	more(&(r)->array, (r)->n, &(r)->field_room, (k), sizeof(*(r)->array))

int sim_record_init(struct sim_record *r, const struct sim_cluster *c)
{
	memset(r, 0, sizeof(*r));
	r->last_look = -SIM_NEVER;
	r->gpu = calloc(c->nodes, sizeof(*r->gpu));
	r->core = calloc(c->nodes, sizeof(*r->core));
	if (!r->gpu || !r->core)
		return -1;
	r->nodes = c->nodes;
	for (uint32_t i = 0; i < c->nodes; i++) {
		r->gpu[i] = calloc(sim_gpus(c->node[i].gpus) + 1, sizeof(uint32_t));
		r->core[i] = calloc(c->node[i].cpus + 1, sizeof(uint32_t));
		if (!r->gpu[i] || !r->core[i])
			return -1;
	}
	return 0;
}

int sim_record_submit(struct sim_record *r, const struct sim *s, const struct sim_job *j,
		      struct ccr_error *err)
{
	struct sim_record_job *o;
	uint32_t need = (uint32_t)j->serial + 1;

	(void)s;
	if (need > r->jobs) {
		if (MORE(r, job, jobs, job_room, need - r->jobs))
			return ccr_error_nomem(err);
		/* one that is held back for another is not there yet */
		for (; r->jobs < need; r->jobs++) {
			memset(&r->job[r->jobs], 0, sizeof(*o));
			r->job[r->jobs].start = r->job[r->jobs].end = -1;
			r->job[r->jobs].submit = -1;
		}
	}
	o = &r->job[j->serial];
	memcpy(o->id, j->id, sizeof(o->id));
	o->user = j->user;
	o->account = j->account;
	o->partition = j->partition;
	o->submit = j->submit;
	o->limit = j->limit;
	o->first_booking = -1;
	o->demand = j->demand;
	return CCR_OK;
}

/* Marks the job's GPUs of one node: the lowest free ones of each type. */
static uint64_t mark_gpus(struct sim_record *r, const struct sim_node *n, const struct sim_pick *p,
			  uint32_t mark)
{
	uint64_t bits = 0;
	uint32_t base = 0;

	for (int k = 0; k < n->ntypes; k++) {
		uint32_t need = p->gpus[k];

		for (uint32_t i = base; need && i < base + n->gpus[k]; i++) {
			if (r->gpu[p->node][i])
				continue;
			r->gpu[p->node][i] = mark;
			need--;
			if (i < 64)
				bits |= 1ull << i;
		}
		base += n->gpus[k];
	}
	return bits;
}

/* The best run of free CPUs from `from` on: the first of at least `need`, else the longest. */
static void free_run(const uint32_t *core, uint32_t cpus, uint32_t need, uint32_t *at,
		     uint32_t *len)
{
	uint32_t i = 0;

	*len = *at = 0;
	while (i < cpus) {
		uint32_t from = i;

		while (i < cpus && !core[i])
			i++;
		if (i - from > *len) {
			*at = from;
			*len = i - from;
			if (*len >= need) {
				*len = need;
				return;
			}
		}
		while (i < cpus && core[i])
			i++;
	}
}

int sim_record_start(struct sim_record *r, const struct sim *s, const struct sim_job *j,
		     struct ccr_error *err)
{
	struct sim_record_job *o = &r->job[j->serial];
	uint32_t mark = (uint32_t)j->serial + 1;

	o->start = j->start;
	o->filler = j->filler;
	o->first_booking = j->first_booking;
	o->score = j->score;
	memcpy(o->terms, j->terms, sizeof(o->terms));
	for (uint32_t i = 0; i < j->npick; i++) {
		const struct sim_pick *p = &j->pick[i];
		const struct sim_node *n = &s->cluster->node[p->node];
		uint64_t bits = mark_gpus(r, n, p, mark);
		uint32_t need = p->cpus, at, len;

		do {
			struct sim_place *q;

			free_run(r->core[p->node], n->cpus, need, &at, &len);
			for (uint32_t k = at; k < at + len; k++)
				r->core[p->node][k] = mark;
			if (MORE(r, place, places, place_room, 1))
				return ccr_error_nomem(err);
			q = &r->place[r->places++];
			*q = (struct sim_place){(uint32_t)j->serial, p->node,	    bits,
						(uint16_t)at,	     (uint16_t)len, 0};
			need -= len;
			q->next = need && len;
			bits = 0;
		} while (need && len);
	}
	return CCR_OK;
}

int sim_record_end(struct sim_record *r, const struct sim *s, const struct sim_job *j,
		   struct ccr_error *err)
{
	uint32_t mark = (uint32_t)j->serial + 1;

	(void)err;
	r->job[j->serial].end = s->now;
	for (uint32_t i = 0; i < j->npick; i++) {
		const struct sim_node *n = &s->cluster->node[j->pick[i].node];
		uint32_t *gpu = r->gpu[j->pick[i].node], *core = r->core[j->pick[i].node];

		for (uint32_t k = 0; k < sim_gpus(n->gpus); k++)
			gpu[k] = gpu[k] == mark ? 0 : gpu[k];
		for (uint32_t k = 0; k < n->cpus; k++)
			core[k] = core[k] == mark ? 0 : core[k];
	}
	return CCR_OK;
}

/* Every second look goes; what they pointed to stays, it is small beside the rest. */
static void thin_out(struct sim_record *r)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < r->looks; i += 2)
		r->look[kept++] = r->look[i];
	r->looks = kept;
	r->every =
	    r->every ? 2 * r->every : (r->look[kept - 1].t - r->look[0].t) / (kept ? kept : 1);
	if (r->every < 1)
		r->every = 1;
}

static bool same_booking(const struct sim_record *r, uint32_t index, const struct sim_booking *b)
{
	const struct sim_record_booking *o = &r->booking[index];

	return o->job == b->job->serial && o->start == b->start && o->n == b->npick &&
	       !memcmp(r->share + o->first, b->pick, b->npick * sizeof(*b->pick));
}

/* The booking's index: that of the look before if it is the same. */
static int keep_booking(struct sim_record *r, const struct sim_booking *b, uint32_t *index)
{
	const struct sim_look *last = r->looks ? &r->look[r->looks - 1] : NULL;

	for (uint32_t i = 0; last && i < last->bookings; i++)
		if (same_booking(r, r->booked[last->booking + i], b)) {
			*index = r->booked[last->booking + i];
			return 0;
		}
	if (MORE(r, booking, bookings, booking_room, 1) ||
	    MORE(r, share, shares, share_room, b->npick))
		return -1;
	r->booking[r->bookings] =
	    (struct sim_record_booking){(uint32_t)b->job->serial, b->start, r->shares, b->npick};
	memcpy(r->share + r->shares, b->pick, b->npick * sizeof(*b->pick));
	r->shares += b->npick;
	*index = r->bookings++;
	return 0;
}

static void keep_row(struct sim_record *r, const struct sim_job *j)
{
	double *v = r->row + (size_t)r->rows * SIM_ROW_VALUES;

	v[0] = (double)j->serial;
	v[1] = j->score;
	for (int k = 0; k < SIM_ROW_VALUES - 2; k++)
		v[2 + k] = j->terms[k];
	r->rows++;
}

int sim_record_cycle(struct sim_record *r, const struct sim *s, struct ccr_error *err)
{
	struct sim_look look = {
	    .t = s->now, .queued = sim_waiting(s), .row = r->rows, .booking = r->nbooked};

	if (r->looks && s->now - r->last_look < r->every)
		return CCR_OK;
	if (r->looks && r->look[r->looks - 1].t == s->now)
		r->looks--; /* a later cycle of the same moment counts */
	r->last_look = s->now;
	look.rows = look.queued < SIM_LOOK_ROWS ? look.queued : SIM_LOOK_ROWS;
	look.bookings = s->bookings < SIM_LOOK_ROWS * 4 ? s->bookings : SIM_LOOK_ROWS * 4;
	if (MORE(r, look, looks, look_room, 1) ||
	    more(&r->row, r->rows, &r->row_room, look.rows, sizeof(double) * SIM_ROW_VALUES) ||
	    MORE(r, booked, nbooked, booked_room, look.bookings))
		return ccr_error_nomem(err);
	for (uint32_t i = 0, kept = 0; i < s->queued && kept < look.rows; i++) {
		if (sim_places_above(s, s->queue[i]))
			continue;
		keep_row(r, s->queue[i]);
		kept++;
	}
	for (uint32_t i = 0; i < look.bookings; i++) {
		uint32_t index;

		if (keep_booking(r, &s->booking[i], &index))
			return ccr_error_nomem(err);
		r->booked[r->nbooked++] = index;
	}
	r->look[r->looks++] = look;
	if (r->looks >= SIM_LOOKS_MAX)
		thin_out(r);
	return CCR_OK;
}

void sim_record_free(struct sim_record *r)
{
	for (uint32_t i = 0; i < r->nodes; i++) {
		free(r->gpu[i]);
		free(r->core[i]);
	}
	free(r->gpu);
	free(r->core);
	free(r->job);
	free(r->place);
	free(r->share);
	free(r->booking);
	free(r->look);
	free(r->row);
	free(r->booked);
	memset(r, 0, sizeof(*r));
}

void sim_record_csv_head(FILE *f)
{
	fputs("scheduler,id,user,account,partition,submit,start,end,wait,limit,nodes,cpus,gpus,"
	      "filler,"
	      "first_estimate,priority,node_list\n",
	      f);
}

/* Milliseconds as seconds, without a fraction where there is none; empty for never. */
static void put_time(FILE *f, sim_time t)
{
	if (t < 0 || t >= SIM_NEVER)
		fputc(',', f);
	else if (t % 1000)
		fprintf(f, ",%lld.%03lld", (long long)(t / 1000), (long long)(t % 1000));
	else
		fprintf(f, ",%lld", (long long)(t / 1000));
}

static void put_text(FILE *f, const char *text)
{
	fputc(',', f);
	sccr_put_csv(f, text);
}

void sim_record_csv(FILE *f, const struct sim *s, const struct sim_job *j)
{
	const char *names[256];
	char list[4096] = "";
	uint32_t n = j->npick < 256 ? j->npick : 256;

	for (uint32_t i = 0; i < n; i++)
		names[i] = s->cluster->node[j->pick[i].node].name;
	sim_hostlist_print(names, n, list, sizeof(list));
	fputs(s->sched->name, f);
	put_text(f, j->id);
	put_text(f, sim_names_get(s->workload->users, j->user));
	put_text(f, sim_names_get(s->workload->accounts, j->account));
	put_text(f, sim_names_get(s->workload->partitions, j->partition));
	put_time(f, j->submit);
	put_time(f, j->start);
	put_time(f, s->now);
	put_time(f, j->start - j->submit);
	put_time(f, j->limit);
	fprintf(f, ",%u,%llu,%llu,%d", j->demand.nodes, (unsigned long long)sim_job_cpus(j),
		(unsigned long long)sim_job_gpus(j), j->filler);
	put_time(f, j->first_booking);
	fprintf(f, ",%.0f", j->score);
	put_text(f, list);
	fputc('\n', f);
}
