/* kept - see kept.h */
#include "priority/kept.h"

#include <stdlib.h>
#include <string.h>

#include "core/ids.h"

#define LOOK_AHEAD   24
#define GONE_AT_ONCE 64	 /* so many jobs in a row may have left the list */
#define MISSES_MAX   200 /* past that the order is another one: no searching any more */
#define IN_FULL	     8	 /* each time one of so many rows is compared in all details */

static struct {
	struct ccr_kept_row *row;
	struct ccr_kept_rest *rest; /* of the row of the same number */
	size_t n, room;
	/* the slots of all rows, and between them those of rows that are gone */
	struct ccr_kept_slot *slot;
	struct ccr_kept_pair *pair;
	size_t n_slots, room_slots, live_slots;
	size_t read, write; /* of a walk: rows before `write` are this walk's */
	unsigned misses;
	unsigned turn; /* which rows are compared in all details */
	bool usable;
	/* TRES weights that all rows were made with, and what each job asks for of these TRES */
	double *weights;
	struct ccr_tres_rule tres;
	uint64_t *counts; /* tres.count a row */
	bool weights_known;
	bool site_moves; /* a plugin writes to job->site_factor */
	/* what the rows were made under */
	unsigned serial, planned;
	uint64_t site;
	time_t begun;
} table;

/* Scored elsewhere since the last walk. */
static struct ccr_ids touched;

/* --- what all rows depend on ------------------------------------------------------------------ */

static void forget(void)
{
	for (size_t i = 0; i < table.n; i++)
		table.row[i].known = false;
}

static void drop_weights(void)
{
	free(table.weights);
	free(table.counts);
	ccr_tres_rule_free(&table.tres);
	table.weights = NULL;
	table.counts = NULL;
	table.weights_known = false;
}

static bool room_for_counts(size_t rows)
{
	size_t n = rows * (size_t)table.tres.count;
	uint64_t *more = n ? realloc(table.counts, n * sizeof(*more)) : NULL;

	if (more)
		table.counts = more;
	return more || !n;
}

/* When all rows were forgotten. Without memory sprio asks the records. */
static void keep_weights(const struct ccr_settings *s)
{
	size_t n = s->tres.count ? (size_t)s->tres.tres_cnt : 0;

	drop_weights();
	table.weights = n ? malloc(n * sizeof(*table.weights)) : NULL;
	if (n && !table.weights)
		return;
	if (n)
		memcpy(table.weights, s->weight_tres, n * sizeof(*table.weights));
	table.weights_known =
	    ccr_tres_rule_make(&table.tres, table.weights, (int)n, s->tres.no_normal) &&
	    room_for_counts(table.room);
}

void ccr_kept_begin(const struct ccr_facts_site *site, unsigned serial, bool fresh, bool usable)
{
	uint64_t now = ccr_kept_site(site);

	/* times are whole seconds: a change within the one of the last walk could look like none */
	if (!usable || fresh || serial != table.serial || now != table.site ||
	    last_part_update >= table.begun)
		forget();
	if (usable && serial != table.planned) {
		ccr_kept_plan(site->policy);
		table.planned = serial;
	}
	if (fresh || !table.begun)
		keep_weights(site->settings);
	table.usable = usable;
	table.serial = serial;
	table.site = now;
	table.begun = site->now;
	table.site_moves = site->settings->has_site_plugin;
	table.read = table.write = 0;
	table.misses = 0;
	table.turn++;
	ccr_kept_score_begin();
}

/* --- one job's inputs ------------------------------------------------------------------------- */

/* One look at each; the same lists for taking down and for comparing. */
#define PARTS(X)                                                                                   \
	X(CCR_KEPT_DETAILS, job->details)                                                          \
	X(CCR_KEPT_ASSOC, job->assoc_ptr)                                                          \
	X(CCR_KEPT_QOS, job->qos_ptr)                                                              \
	X(CCR_KEPT_PART, job->part_ptr)                                                            \
	X(CCR_KEPT_PARTS, job->part_ptr_list)                                                      \
	X(CCR_KEPT_FACTORS, job->prio_factors)                                                     \
	X(CCR_KEPT_SLOTS, ccr_slurm_slots_now(job))

#define DETAILS(X)                                                                                 \
	X(CCR_KEPT_ALLOC, (uintptr_t)job->tres_alloc_cnt)                                          \
	X(CCR_KEPT_NICE, d->nice)                                                                  \
	X(CCR_KEPT_NODES, (uint64_t)d->min_nodes << 32 | d->num_tasks)                             \
	X(CCR_KEPT_CPUS, (uint64_t)d->min_cpus << 32 | d->max_cpus)                                \
	X(CCR_KEPT_LIMIT, (uint64_t)job->time_limit << 32 | job->total_cpus)                       \
	X(CCR_KEPT_SITE, job->site_factor)

static void take(const job_record_t *job, struct ccr_kept_row *row, uint64_t *in)
{
	const ccr_slurm_details_t *d = job->details;

#define TAKE(i, value) row->part[i] = (value);
	PARTS(TAKE)
#undef TAKE
#define TAKE(i, value) in[i] = (value);
	DETAILS(TAKE)
#undef TAKE
	row->accrue = d->accrue_time;
	row->nice = (int64_t)d->nice - NICE_OFFSET;
}

static bool has_other_parts(const job_record_t *job, const struct ccr_kept_row *row)
{
	uintptr_t differences = 0;

#define COMPARE(i, value) differences |= (uintptr_t)row->part[i] ^ (uintptr_t)(value);
	PARTS(COMPARE)
#undef COMPARE
	/* slurmctld sets the time when the job becomes eligible, and takes it back when it is made
	 * to depend on another: neither is an update of the job */
	return differences || row->accrue != job->details->accrue_time;
}

static bool has_other_details(const job_record_t *job, const uint64_t *in)
{
	const ccr_slurm_details_t *d = job->details;
	uint64_t differences = 0;

#define COMPARE(i, value) differences |= in[i] ^ (value);
	DETAILS(COMPARE)
#undef COMPARE
	return differences != 0;
}

void ccr_kept_touch(uint32_t job_id)
{
	ccr_ids_add(&touched, job_id);
}

/* The scheduler puts the priority of the partition that it tries into the record: ours as well. */
static bool is_ours(const struct ccr_kept_row *row, uint32_t priority)
{
	if (priority == row->priority)
		return true;
	for (int i = 0; i < row->n_slots; i++) {
		if (table.slot[row->slot + (size_t)i].priority == priority)
			return true;
	}
	return false;
}

static bool in_full(size_t i)
{
	return (i + table.turn) % IN_FULL == 0;
}

static bool unchanged(size_t i)
{
	const struct ccr_kept_row *row = &table.row[i];

	if (!row->known || ccr_ids_has(&touched, row->job_id) || !is_ours(row, row->present) ||
	    has_other_parts(row->job, row))
		return false;
	if (in_full(i))
		return !has_other_details(row->job, table.rest[i].in);
	return !table.site_moves || table.rest[i].in[CCR_KEPT_SITE] == row->job->site_factor;
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Asks for the parts of a record that are read before they are needed. */
static void fetch(size_t i)
{
	const struct ccr_kept_row *row = &table.row[i];
	const job_record_t *job = row->job;
	const ccr_slurm_details_t *d = row->part[CCR_KEPT_DETAILS];

	/* an address that is wrong by now costs nothing */
	__builtin_prefetch(&job->job_state);
	__builtin_prefetch(&job->details);
	__builtin_prefetch(&job->priority);
	__builtin_prefetch(&job->job_id);
	if (!row->known)
		return;
	__builtin_prefetch(&job->assoc_ptr);
	__builtin_prefetch(&job->part_ptr);
	__builtin_prefetch(&d->accrue_time);
	if (table.site_moves)
		__builtin_prefetch(&job->site_factor);
	if (!in_full(i))
		return;
	__builtin_prefetch(&job->site_factor);
	__builtin_prefetch(&job->total_cpus);
	__builtin_prefetch(&job->tres_alloc_cnt);
	__builtin_prefetch(&d->max_cpus);
	__builtin_prefetch(&d->nice);
}

static bool more_room(void)
{
	size_t room = table.room * 2 + 1024;
	struct ccr_kept_row *row = realloc(table.row, room * sizeof(*row));
	struct ccr_kept_rest *rest;

	if (!row)
		return false;
	table.row = row;
	rest = realloc(table.rest, room * sizeof(*rest));
	if (!rest)
		return false;
	table.rest = rest;
	if (table.weights_known && !room_for_counts(room))
		drop_weights();
	memset(row + table.room, 0, (room - table.room) * sizeof(*row));
	table.room = room;
	return true;
}

static bool is_row_of(size_t i, const job_record_t *job)
{
	return i < table.n && table.row[i].job == job && table.row[i].job_id == job->job_id;
}

/* Where the job's row is, at or shortly behind `read`: jobs between have left the list. */
static bool find(const job_record_t *job)
{
	if (is_row_of(table.read, job))
		return true;
	if (table.read >= table.n || table.misses > MISSES_MAX)
		return false;
	for (size_t k = 1; k <= GONE_AT_ONCE; k++) {
		if (is_row_of(table.read + k, job)) {
			table.read += k;
			return true;
		}
	}
	table.misses++;
	return false;
}

static void end_row(struct ccr_kept_row *row)
{
	table.live_slots -= row->n_slots;
	memset(row, 0, sizeof(*row));
}

static void swap_rows(size_t i, size_t j)
{
	struct ccr_kept_row row = table.row[i];
	struct ccr_kept_rest rest = table.rest[i];

	table.row[i] = table.row[j];
	table.rest[i] = table.rest[j];
	table.row[j] = row;
	table.rest[j] = rest;
	for (size_t k = 0, n = (size_t)table.tres.count; table.counts && k < n; k++) {
		uint64_t count = table.counts[i * n + k];

		table.counts[i * n + k] = table.counts[j * n + k];
		table.counts[j * n + k] = count;
	}
}

/* The row is of no use any more: what the record still lacks goes into it. */
static void give_up(struct ccr_kept_row *row)
{
	job_record_t *job = row->job;

	if (row->owes && job->prio_factors && !ccr_ids_has(&touched, row->job_id))
		ccr_scored_columns(row->points, ~0u, job->prio_factors);
	row->owes = false;
	row->known = false;
}

struct ccr_kept_row *ccr_kept_next(job_record_t *job, bool scored)
{
	struct ccr_kept_row *row;

	if (find(job)) {
		if (table.write != table.read) /* the row that is there is one of the gone */
			swap_rows(table.write, table.read);
		table.read++;
	} else {
		if (table.write == table.room && !more_room())
			return NULL;
		/* New jobs are at the list's end. One elsewhere takes the next row's place. */
		if (table.write == table.read && table.read < table.n)
			table.read++;
		end_row(&table.row[table.write]);
		table.row[table.write].job = job;
		table.row[table.write].job_id = job->job_id;
		if (table.write >= table.n)
			table.n = table.read = table.write + 1;
	}
	if (table.write + LOOK_AHEAD < table.n)
		fetch(table.write + LOOK_AHEAD);
	row = &table.row[table.write];
	row->scored = scored;
	row->present = job->priority;
	row->same = scored && unchanged(table.write);
	table.write++;
	if (!row->same)
		give_up(row);
	return row;
}

/* Leaves out the slots of rows that are gone; without memory they stay. */
static void pack_slots(void)
{
	size_t room = table.live_slots + table.live_slots / 4 + 1, at = 0;
	struct ccr_kept_slot *slot = malloc(room * sizeof(*slot));
	struct ccr_kept_pair *pair = malloc(room * sizeof(*pair));

	if (!slot || !pair) {
		free(slot);
		free(pair);
		return;
	}
	for (size_t i = 0; i < table.n; i++) {
		struct ccr_kept_row *row = &table.row[i];

		if (!row->n_slots)
			continue;
		memcpy(slot + at, table.slot + row->slot, row->n_slots * sizeof(*slot));
		memcpy(pair + at, table.pair + row->slot, row->n_slots * sizeof(*pair));
		row->slot = (uint32_t)at;
		at += row->n_slots;
	}
	free(table.slot);
	free(table.pair);
	table.slot = slot;
	table.pair = pair;
	table.n_slots = at;
	table.room_slots = room;
}

struct ccr_kept_row *ccr_kept_end(size_t *n)
{
	for (size_t i = table.write; i < table.n; i++)
		end_row(&table.row[i]);
	*n = table.n = table.write;
	if (table.n_slots > 2 * table.live_slots + 1024)
		pack_slots();
	ccr_ids_clear(&touched);
	return table.row;
}

void ccr_kept_free(void)
{
	free(table.row);
	free(table.rest);
	free(table.slot);
	free(table.pair);
	drop_weights();
	memset(&table, 0, sizeof(table));
	ccr_ids_clear(&touched);
	ccr_kept_score_free();
}

/* --- rows ------------------------------------------------------------------------------------- */

struct ccr_kept_rest *ccr_kept_rest(const struct ccr_kept_row *row)
{
	return &table.rest[row - table.row];
}

/* Where its counts are. */
static size_t place(const struct ccr_kept_row *row)
{
	return (size_t)(row - table.row) * (size_t)table.tres.count;
}

struct ccr_kept_slot *ccr_kept_slot(const struct ccr_kept_row *row)
{
	return table.slot + row->slot;
}

struct ccr_kept_pair *ccr_kept_pair(const struct ccr_kept_row *row)
{
	return table.pair + row->slot;
}

/* Is there anything in such a job that the inputs do not tell of? */
static bool is_simple(const struct ccr_scored *s, const job_record_t *job)
{
	return IS_JOB_PENDING(job) && !s->threshold && !job->tres_alloc_cnt &&
	       !ccr_slurm_names_qos(job);
}

/* Room for n slots more; where the first of them is, or SIZE_MAX. */
static size_t take_slots(size_t n)
{
	size_t at = table.n_slots, room = (at + n) * 2;

	if (n > UINT16_MAX || at + n > UINT32_MAX)
		return SIZE_MAX;
	if (at + n > table.room_slots) {
		struct ccr_kept_slot *slot = realloc(table.slot, room * sizeof(*slot));
		struct ccr_kept_pair *pair;

		if (!slot)
			return SIZE_MAX;
		table.slot = slot;
		pair = realloc(table.pair, room * sizeof(*pair));
		if (!pair)
			return SIZE_MAX;
		table.pair = pair;
		table.room_slots = room;
	}
	table.n_slots += n;
	return at;
}

static bool keep_slots(const struct ccr_scored *s, const struct ccr_arena *arena, bool whole,
		       struct ccr_kept_row *row)
{
	size_t n = (size_t)s->n_slots;

	if (n != row->n_slots) {
		size_t at = n ? take_slots(n) : 0;

		if (at == SIZE_MAX)
			return false;
		table.live_slots += n;
		table.live_slots -= row->n_slots;
		row->slot = (uint32_t)at;
		row->n_slots = (uint16_t)n;
	}
	for (size_t i = 0; i < n; i++) {
		const struct ccr_slot *from = &arena->slot[s->slot + i];

		table.pair[row->slot + i] =
		    (struct ccr_kept_pair){.part = from->part, .qos = from->qos};
		table.slot[row->slot + i] =
		    (struct ccr_kept_slot){.partition = from->partition,
					   .qos = from->qos_points,
					   .tres = from->main ? s->extra.tres
						   : whole    ? ccr_score_round(from->tres)
							      : from->tres,
					   .priority = from->priority,
					   .main = from->main};
	}
	return ccr_kept_score_room(n);
}

void ccr_kept_note(const struct ccr_sources *sources, const struct ccr_scored *s,
		   const struct ccr_arena *arena, bool whole, struct ccr_kept_row *row)
{
	struct ccr_kept_rest *rest = ccr_kept_rest(row);

	if (!table.usable || !is_simple(s, row->job) || !keep_slots(s, arena, whole, row))
		return;
	take(row->job, row, rest->in);
	ccr_kept_take_request(s, rest->request);
	if (table.counts)
		ccr_tres_counts(&table.tres, row->job, table.counts + place(row));
	row->tres = s->extra.tres;
	row->who = sources->groups_wanted ? ccr_kept_who(row->job) : 0;
	memcpy(row->points, s->score.points, sizeof(row->points));
	row->priority = s->score.priority;
	row->quick = ccr_kept_is_quick(s);
	row->array = ccr_slurm_is_array_rest(row->job);
	row->known = true;
}

/* --- for sprio -------------------------------------------------------------------------------- */

/*
 * The row of the job, at or behind the cursor; NULL: none. Jobs without one are new and at the
 * list's end, where little is left to search, or few.
 */
static const struct ccr_kept_row *seek(struct ccr_kept_cursor *c, const job_record_t *job)
{
	size_t end = c->in_vain < table.n ? table.n : c->at + GONE_AT_ONCE;

	for (size_t i = c->at; i < end && i < table.n; i++) {
		if (is_row_of(i, job)) {
			c->at = i + 1;
			return &table.row[i];
		}
	}
	c->in_vain += end - c->at;
	return NULL;
}

void ccr_kept_look(struct ccr_kept_cursor *cursor, const job_record_t *job,
		   struct ccr_kept_known *out)
{
	const struct ccr_kept_row *row;

	memset(out, 0, sizeof(*out));
	if (!table.begun || ccr_ids_has(&touched, job->job_id))
		return;
	row = seek(cursor, job);
	if (row && !row->known)
		return;
	out->adrift = !row || !is_ours(row, job->priority);
	out->points = row ? row->points : NULL;
	/* A partition that was changed since may be gone: its address is not to be looked at. Which
	 * one of several the scheduler tried last does not matter. */
	if (!out->adrift && row->quick && table.weights_known && last_part_update < table.begun &&
	    row->part[CCR_KEPT_PARTS] == job->part_ptr_list &&
	    (row->n_slots || row->part[CCR_KEPT_PART] == job->part_ptr) &&
	    row->part[CCR_KEPT_QOS] == job->qos_ptr)
		out->row = row;
}

double *ccr_kept_weights(uint32_t *n)
{
	*n = (uint32_t)table.tres.tres_cnt;
	return table.weights;
}

void ccr_kept_tres_points(const struct ccr_kept_row *row, const part_record_t *part, double *points)
{
	if (table.counts)
		ccr_tres_points_of(&table.tres, table.counts + place(row), part, points);
}

void ccr_kept_fetch(size_t i)
{
	const ccr_slurm_details_t *d;
	const job_record_t *job;

	if (i >= table.n)
		return;
	job = table.row[i].job;
	d = table.row[i].part[CCR_KEPT_DETAILS];
	__builtin_prefetch(&job->details);
	__builtin_prefetch(&job->job_state);
	__builtin_prefetch(&job->part_ptr);
	__builtin_prefetch(&job->priority);
	__builtin_prefetch(&d->begin_time);
}
