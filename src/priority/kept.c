/* kept - see kept.h */
#include "priority/kept.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_AHEAD   24
#define GONE_AT_ONCE 64	 /* so many jobs in a row may have left the list */
#define MISSES_MAX   200 /* past that the order is another one: no searching any more */
#define TOUCHED_BITS 65536
#define WHO_SLOTS    1024

static struct {
	struct ccr_kept_row *row;
	size_t n, room;
	size_t read, write; /* of a walk: rows before `write` are this walk's */
	unsigned misses;
	bool usable;
	/* what the rows were made under */
	unsigned serial;
	uint64_t site;
	time_t begun;
} table;

/* A bit a job that was scored elsewhere; two jobs may share one, which costs no more than time. */
static uint64_t touched[TOUCHED_BITS / 64];
static bool any_touched;

/* Standings of (user, account) pairs that were looked up in this cycle. */
static struct {
	uint64_t who;
	const struct ccr_standing *standing;
	const struct ccr_owner *owner;
} known_who[WHO_SLOTS];

static const enum ccr_var request_vars[CCR_KEPT_REQUEST] = {
    CCR_VAR_NODES,  CCR_VAR_NCPUS,    CCR_VAR_NGPUS,	   CCR_VAR_MEM,
    CCR_VAR_NTASKS, CCR_VAR_WALLTIME, CCR_VAR_SIZE_FACTOR,
};

/* One of the inputs that are addresses. */
static void *input(const struct ccr_kept_row *row, enum ccr_kept_input i)
{
	return (void *)(uintptr_t)row->in[i];
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
	return h ^ (h >> 32);
}

static uint64_t mix_double(uint64_t h, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return mix(h, bits);
}

static uint64_t mix_text(uint64_t h, const char *s)
{
	for (; s && *s; s++)
		h = mix(h, (unsigned char)*s);
	return mix(h, 256);
}

/* --- what all rows depend on ------------------------------------------------------------------ */

static uint64_t mix_part(uint64_t h, const struct ccr_tres_rule *tres, const part_record_t *part)
{
	h = mix(h, (uintptr_t)part);
	h = mix(h, part->priority_job_factor);
	h = mix_double(h, part->norm_priority);
	h = mix(h, ((uint64_t)part->max_time << 32) | part->default_time);
	h = mix(h, part->priority_tier);
	for (int k = 0; k < tres->count; k++)
		h = mix(h, part->tres_cnt ? part->tres_cnt[tres->item[k].index] : 0);
	return h;
}

static uint64_t mix_qos(uint64_t h, const slurmdb_qos_rec_t *qos)
{
	h = mix(h, (uintptr_t)qos);
	h = mix(h, ((uint64_t)qos->flags << 32) | qos->priority);
	return mix_double(h, qos->usage ? qos->usage->norm_priority : 0);
}

static uint64_t site_of(const struct ccr_facts_site *site)
{
	uint64_t h = mix(site->nodes, site->cpus);
	ccr_slurm_list_itr_t *it;
	slurmdb_qos_rec_t *qos;
	part_record_t *part;

	h = mix(h, (uint64_t)slurmctld_tres_cnt);
	h = mix(h, (uint64_t)last_part_update);
	if (part_list) {
		it = list_iterator_create(part_list);
		while ((part = list_next(it)))
			h = mix_part(h, &site->settings->tres, part);
		list_iterator_destroy(it);
	}
	if (assoc_mgr_qos_list) {
		it = list_iterator_create(assoc_mgr_qos_list);
		while ((qos = list_next(it)))
			h = mix_qos(h, qos);
		list_iterator_destroy(it);
	}
	return h;
}

static void forget(void)
{
	for (size_t i = 0; i < table.n; i++)
		table.row[i].known = false;
}

void ccr_kept_begin(const struct ccr_facts_site *site, unsigned serial, bool fresh, bool usable)
{
	uint64_t now = site_of(site);

	/* times are whole seconds: a change within the one of the last walk could look like none */
	if (!usable || fresh || serial != table.serial || now != table.site ||
	    last_part_update >= table.begun)
		forget();
	table.usable = usable;
	table.serial = serial;
	table.site = now;
	table.begun = site->now;
	table.read = table.write = 0;
	table.misses = 0;
	memset(known_who, 0, sizeof(known_who));
}

/* --- one job's inputs ------------------------------------------------------------------------- */

/* One look at each; the same list for taking down and for comparing. */
#define INPUTS(X)                                                                                  \
	X(CCR_KEPT_DETAILS, (uintptr_t)d)                                                          \
	X(CCR_KEPT_ASSOC, (uintptr_t)job->assoc_ptr)                                               \
	X(CCR_KEPT_QOS, (uintptr_t)job->qos_ptr)                                                   \
	X(CCR_KEPT_PART, (uintptr_t)job->part_ptr)                                                 \
	X(CCR_KEPT_PARTS, (uintptr_t)job->part_ptr_list)                                           \
	X(CCR_KEPT_ALLOC, (uintptr_t)job->tres_alloc_cnt)                                          \
	X(CCR_KEPT_FACTORS, (uintptr_t)job->prio_factors)                                          \
	X(CCR_KEPT_SLOTS, (uintptr_t)ccr_slurm_slots_now(job))                                     \
	X(CCR_KEPT_ACCRUE, (uint64_t)d->accrue_time)                                               \
	X(CCR_KEPT_NICE, d->nice)                                                                  \
	X(CCR_KEPT_NODES, (uint64_t)d->min_nodes << 32 | d->num_tasks)                             \
	X(CCR_KEPT_CPUS, (uint64_t)d->min_cpus << 32 | d->max_cpus)                                \
	X(CCR_KEPT_LIMIT, (uint64_t)job->time_limit << 32 | job->total_cpus)                       \
	X(CCR_KEPT_SITE, job->site_factor)

static void take(const job_record_t *job, uint64_t *in)
{
	const ccr_slurm_details_t *d = job->details;

#define TAKE(i, value) in[i] = (value);
	INPUTS(TAKE)
#undef TAKE
}

static bool differs(const job_record_t *job, const uint64_t *in)
{
	const ccr_slurm_details_t *d = job->details;
	uint64_t differences = 0;

#define COMPARE(i, value) differences |= in[i] ^ (value);
	INPUTS(COMPARE)
#undef COMPARE
	return differences != 0;
}

static bool is_touched(uint32_t job_id)
{
	uint32_t bit = job_id % TOUCHED_BITS;

	return any_touched && (touched[bit / 64] >> (bit % 64) & 1);
}

void ccr_kept_touch(uint32_t job_id)
{
	uint32_t bit = job_id % TOUCHED_BITS;

	touched[bit / 64] |= UINT64_C(1) << (bit % 64);
	any_touched = true;
}

/* The scheduler puts the priority of the partition that it tries into the record: ours as well. */
static bool is_ours(const struct ccr_kept_row *row, uint32_t priority)
{
	if (priority == row->priority)
		return true;
	for (int i = 0; i < row->n_slots; i++) {
		if (row->slot[i].stored == priority)
			return true;
	}
	return false;
}

static bool unchanged(const struct ccr_kept_row *row)
{
	return row->known && !is_touched(row->job_id) && is_ours(row, row->present) &&
	       !differs(row->job, row->in);
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Asks for the parts of a record that are read before they are needed. */
static void fetch(const struct ccr_kept_row *row)
{
	const job_record_t *job = row->job;
	const ccr_slurm_details_t *d = input(row, CCR_KEPT_DETAILS);

	/* an address that is wrong by now costs nothing */
	__builtin_prefetch(&job->job_state);
	__builtin_prefetch(&job->details);
	__builtin_prefetch(&job->priority);
	if (!row->known)
		return;
	__builtin_prefetch(&job->assoc_ptr);
	__builtin_prefetch(&job->job_id);
	__builtin_prefetch(&job->part_ptr);
	__builtin_prefetch(&job->site_factor);
	__builtin_prefetch(&job->total_cpus);
	__builtin_prefetch(&job->tres_alloc_cnt);
	__builtin_prefetch(&d->accrue_time);
	__builtin_prefetch(&d->max_cpus);
	__builtin_prefetch(&d->nice);
}

static bool more_room(void)
{
	size_t room = table.room * 2 + 1024;
	struct ccr_kept_row *more = realloc(table.row, room * sizeof(*more));

	if (!more)
		return false;
	memset(more + table.room, 0, (room - table.room) * sizeof(*more));
	table.row = more;
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

static void start_row(struct ccr_kept_row *row, job_record_t *job)
{
	free(row->slot);
	memset(row, 0, sizeof(*row));
	row->job = job;
	row->job_id = job->job_id;
}

struct ccr_kept_row *ccr_kept_next(job_record_t *job, bool scored)
{
	struct ccr_kept_row *row;

	if (find(job)) {
		if (table.write != table.read) { /* the row that is there is one of the gone */
			struct ccr_kept_row gone = table.row[table.write];

			table.row[table.write] = table.row[table.read];
			table.row[table.read] = gone;
		}
		table.read++;
	} else {
		if (table.write == table.room && !more_room())
			return NULL;
		/* New jobs are at the list's end. One elsewhere takes the next row's place. */
		if (table.write == table.read && table.read < table.n)
			table.read++;
		start_row(&table.row[table.write], job);
		if (table.write >= table.n)
			table.n = table.read = table.write + 1;
	}
	if (table.read + LOOK_AHEAD < table.n)
		fetch(&table.row[table.read + LOOK_AHEAD]);
	row = &table.row[table.write++];
	row->scored = scored;
	row->present = job->priority;
	row->same = scored && unchanged(row);
	if (!row->same)
		row->known = false;
	return row;
}

struct ccr_kept_row *ccr_kept_end(size_t *n)
{
	for (size_t i = table.write; i < table.n; i++) {
		free(table.row[i].slot);
		memset(&table.row[i], 0, sizeof(table.row[i]));
	}
	*n = table.n = table.write;
	if (any_touched)
		memset(touched, 0, sizeof(touched));
	any_touched = false;
	return table.row;
}

void ccr_kept_free(void)
{
	for (size_t i = 0; i < table.n; i++)
		free(table.row[i].slot);
	free(table.row);
	memset(&table, 0, sizeof(table));
}

/* --- scores ----------------------------------------------------------------------------------- */

static uint64_t who_is(const job_record_t *job)
{
	uint64_t h = mix_text(mix_text(1, ccr_facts_user(job)), job->account);

	return h ? h : 1; /* 0 is an empty place */
}

static void standing_facts(const struct ccr_sources *sources, const struct ccr_kept_row *row,
			   double *var)
{
	size_t i = row->who % WHO_SLOTS;

	if (known_who[i].who != row->who) {
		const char *user = ccr_facts_user(row->job);

		known_who[i].who = row->who;
		known_who[i].standing =
		    ccr_standings_find(sources->standings, user, row->job->account);
		known_who[i].owner = ccr_standings_owner(sources->standings, user);
	}
	ccr_facts_standing(known_who[i].standing, known_who[i].owner, var);
}

/* The variables, from the row and from what moves by itself. */
static void refresh(const struct ccr_sources *sources, const struct ccr_kept_row *row,
		    struct ccr_scored *s)
{
	const struct ccr_facts_site *site = &sources->site;

	for (size_t i = 0; i < CCR_KEPT_REQUEST; i++)
		s->var[request_vars[i]] = row->request[i];
	ccr_facts_waiting(site, row->job, (time_t)row->in[CCR_KEPT_ACCRUE], s->var);
	s->var[CCR_VAR_JOB_PRIORITY] = -((double)row->in[CCR_KEPT_NICE] - NICE_OFFSET);
	s->extra.nice = (int64_t)row->in[CCR_KEPT_NICE] - NICE_OFFSET;
	s->extra.site = (int64_t)row->in[CCR_KEPT_SITE] - NICE_OFFSET;
	s->extra.tres = row->tres;
	ccr_facts_partition(site, input(row, CCR_KEPT_PART), s->var);
	ccr_facts_account(site, input(row, CCR_KEPT_ASSOC), s->var);
	ccr_facts_qos(site, input(row, CCR_KEPT_QOS), s->var);
	if (sources->groups_wanted) {
		standing_facts(sources, row, s->var);
		ccr_scored_qos_usage(sources, input(row, CCR_KEPT_QOS), s->var);
	}
	/* what else a slot decides, its partition and QOS, is part of the site */
	if (sources->groups_wanted && ccr_facts_wanted(site, CCR_VAR_QOS_USAGE))
		for (int i = 0; i < row->n_slots; i++)
			ccr_scored_slot_facts(sources, &row->slot[i]);
}

bool ccr_kept_score(const struct ccr_sources *sources, struct ccr_policy *policy,
		    const struct ccr_score_rule *rule, struct ccr_kept_row *row, unsigned *faults)
{
	static struct ccr_scored s; /* this thread's alone */
	struct ccr_arena own = {.slot = row->slot, .n_slots = (size_t)row->n_slots};
	bool store = false;

	s.n_slots = row->n_slots;
	refresh(sources, row, &s);
	ccr_scored_compute(policy, rule, sources->site.settings, &s, &own, faults);
	for (int i = 0; i < row->n_slots; i++)
		store = store || row->slot[i].priority != row->slot[i].stored;
	row->priority = s.score.priority;
	row->cut = s.score.cut;
	row->changed = 0;
	for (int i = 0; i < CCR_COLUMNS; i++) {
		if (row->points[i] != s.score.points[i]) {
			row->points[i] = s.score.points[i];
			row->changed |= 1u << i;
		}
	}
	store = store || row->changed || row->present != row->priority;
	if (store) {
		const ccr_slurm_factors_t *f = input(row, CCR_KEPT_FACTORS);

		__builtin_prefetch(&row->job->priority, 1);
		__builtin_prefetch(&f->priority_age, 1);
		__builtin_prefetch(input(row, CCR_KEPT_SLOTS), 1);
	}
	return store;
}

void ccr_kept_store(struct ccr_kept_row *row)
{
	job_record_t *job = row->job;

	if (row->changed)
		ccr_scored_columns(row->points, row->changed, job->prio_factors);
	if (row->n_slots) {
		uint32_t *slots = ccr_slurm_slots(job, row->n_slots);

		for (int i = 0; i < row->n_slots; i++)
			slots[i] = row->slot[i].stored = row->slot[i].priority;
	}
	job->priority = row->priority;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Is there anything in such a job that the inputs do not tell of? */
static bool is_simple(const struct ccr_scored *s, const job_record_t *job)
{
	return IS_JOB_PENDING(job) && !s->threshold && !job->tres_alloc_cnt &&
	       !ccr_slurm_names_qos(job);
}

static bool keep_slots(const struct ccr_scored *s, const struct ccr_arena *arena,
		       struct ccr_kept_row *row)
{
	size_t size = sizeof(*row->slot) * (size_t)s->n_slots;

	if (s->n_slots != row->n_slots) {
		struct ccr_slot *more = size ? realloc(row->slot, size) : NULL;

		if (size && !more)
			return false;
		if (!size)
			free(row->slot);
		row->slot = more;
		row->n_slots = s->n_slots;
	}
	for (int i = 0; i < row->n_slots; i++) {
		row->slot[i] = arena->slot[s->slot + (size_t)i];
		row->slot[i].stored = row->slot[i].priority;
	}
	return true;
}

void ccr_kept_note(const struct ccr_sources *sources, const struct ccr_scored *s,
		   const struct ccr_arena *arena, struct ccr_kept_row *row)
{
	row->known = false;
	if (!table.usable || !is_simple(s, row->job) || !keep_slots(s, arena, row))
		return;
	take(row->job, row->in);
	for (size_t i = 0; i < CCR_KEPT_REQUEST; i++)
		row->request[i] = s->var[request_vars[i]];
	row->tres = s->extra.tres;
	row->who = sources->groups_wanted ? who_is(row->job) : 0;
	memcpy(row->points, s->score.points, sizeof(row->points));
	row->priority = s->score.priority;
	row->known = true;
}
