/* scored - see scored.h */
#include "priority/scored.h"

#include <stdlib.h>
#include <string.h>

void ccr_arena_clear(struct ccr_arena *a)
{
	a->n_slots = a->n_tres = 0;
}

void ccr_arena_free(struct ccr_arena *a)
{
	free(a->slot);
	free(a->tres);
	memset(a, 0, sizeof(*a));
}

/* Room for n more of them; the place of the first, or SIZE_MAX. */
static size_t take(void **base, size_t *used, size_t *room, size_t n, size_t size)
{
	size_t at = *used;

	if (at + n > *room) {
		size_t want = (at + n) * 2 + 64;
		void *more = realloc(*base, want * size);

		if (!more)
			return SIZE_MAX;
		*base = more;
		*room = want;
	}
	*used += n;
	return at;
}

static size_t take_slots(struct ccr_arena *a, size_t n)
{
	void *base = a->slot;
	size_t at = take(&base, &a->n_slots, &a->room_slots, n, sizeof(*a->slot));

	a->slot = base;
	return at;
}

struct ccr_slot *ccr_arena_slots(struct ccr_arena *a, size_t n)
{
	size_t at = take_slots(a, n);

	return at == SIZE_MAX ? NULL : a->slot + at;
}

static size_t take_tres(struct ccr_arena *a, size_t n)
{
	void *base = a->tres;
	size_t at = take(&base, &a->n_tres, &a->room_tres, n, sizeof(*a->tres));

	a->tres = base;
	return at;
}

static const enum ccr_var slot_vars[CCR_SLOT_VARS] = {
    CCR_VAR_QUEUE_PRIORITY, CCR_VAR_PARTITION_FACTOR, CCR_VAR_QOS_PRIORITY, CCR_VAR_QOS_FACTOR,
    CCR_VAR_QOS_USAGE,	    CCR_VAR_LSF_PRIORITY,     CCR_VAR_RUN_HOURS,    CCR_VAR_STARTED};

/* Exchanges the variables that a slot decides with the slot's own. */
static void swap_slot(double *var, struct ccr_slot *slot)
{
	for (size_t i = 0; i < CCR_SLOT_VARS; i++) {
		double v = var[slot_vars[i]];

		var[slot_vars[i]] = slot->var[i];
		slot->var[i] = v;
	}
}

void ccr_scored_qos_usage(const struct ccr_sources *sources, const slurmdb_qos_rec_t *qos,
			  double *var)
{
	if (ccr_facts_wanted(&sources->site, CCR_VAR_QOS_USAGE))
		var[CCR_VAR_QOS_USAGE] =
		    ccr_standings_qos(sources->standings, qos ? qos->name : NULL);
}

void ccr_scored_slot_facts(const struct ccr_sources *sources, struct ccr_slot *slot)
{
	const struct ccr_facts_site *site = &sources->site;
	double var[CCR_VAR_COUNT];

	if (slot->main)
		return;
	for (size_t i = 0; i < CCR_SLOT_VARS; i++)
		var[slot_vars[i]] = 0;
	ccr_facts_partition(site, slot->part, var);
	ccr_facts_qos(site, slot->qos, var);
	if (sources->groups_wanted)
		ccr_scored_qos_usage(sources, slot->qos, var);
	swap_slot(var, slot);
}

struct slots {
	const struct ccr_sources *sources;
	const slurmdb_qos_rec_t *qos; /* the job's own */
	struct ccr_arena *arena;
	size_t first;
	int n;
	uint16_t tier; /* of the partition before */
	bool unsorted;
	bool failed;
};

static void gather_slot(job_record_t *job, part_record_t *part, slurmdb_qos_rec_t *qos, int index,
			void *arg)
{
	struct slots *c = arg;
	const struct ccr_facts_site *site = &c->sources->site;
	struct ccr_slot *slot;
	size_t at;

	if (index < 0 || c->failed)
		return;
	at = take_slots(c->arena, 1);
	if (at == SIZE_MAX) {
		c->failed = true;
		return;
	}
	if (!index)
		c->first = at;
	if (part) {
		c->unsorted = c->unsorted || (index && part->priority_tier > c->tier);
		c->tier = part->priority_tier;
	}
	slot = &c->arena->slot[at];
	*slot = (struct ccr_slot){
	    .part = part, .qos = qos, .main = part == job->part_ptr && qos == c->qos};
	c->n++;
	if (slot->main)
		return;
	ccr_scored_slot_facts(c->sources, slot);
	slot->tres = site->settings->tres.count
			 ? ccr_tres_points(&site->settings->tres, job, part, NULL)
			 : 0;
	if (c->sources->lsf)
		slot->lsf = ccr_lsf_rows_pair(c->sources->lsf, job, part);
}

/* One slot for each pair of partition and QOS, partitions in slurmctld's order. */
static bool gather_slots(const struct ccr_sources *sources, job_record_t *job,
			 struct ccr_scored *out, struct ccr_arena *arena)
{
	const struct slots fresh = {
	    .sources = sources, .qos = ccr_slurm_job_qos(job), .arena = arena};
	struct slots c = fresh;

	ccr_slurm_each_slot(job, gather_slot, &c);
	if (c.unsorted && !c.failed) {
		/* Seldom: sorting takes memory and time, so it is not done before it is needed. */
		ccr_slurm_sort_parts(job);
		arena->n_slots -= (size_t)c.n;
		c = fresh;
		ccr_slurm_each_slot(job, gather_slot, &c);
	}
	out->slot = c.first;
	out->n_slots = c.n;
	return !c.failed;
}

bool ccr_scored_gather(const struct ccr_sources *sources, job_record_t *job, struct ccr_scored *out,
		       struct ccr_arena *arena)
{
	const struct ccr_facts_site *site = &sources->site;
	const struct ccr_settings *s = site->settings;
	const slurmdb_qos_rec_t *qos = ccr_slurm_job_qos(job);

	out->has_tres = false;
	out->job_id = job->job_id;
	out->nice = job->details->nice;
	out->site = job->site_factor;
	out->threshold = qos && (qos->flags & QOS_FLAG_ENFORCE_USAGE_THRES);
	ccr_facts_job(site, job, out->var, &out->extra);
	ccr_facts_size(site, job, job->part_ptr, out->var);
	ccr_facts_partition(site, job->part_ptr, out->var);
	ccr_facts_assoc(site, job, out->var);
	if (sources->groups_wanted) {
		const char *user = ccr_facts_user(job);

		ccr_facts_standing(ccr_standings_find(sources->standings, user, job->account),
				   ccr_standings_owner(sources->standings, user), out->var);
		ccr_scored_qos_usage(sources, qos, out->var);
	}
	out->lsf = sources->lsf ? ccr_lsf_rows_pair(sources->lsf, job, job->part_ptr) : NULL;
	out->extra.tres = 0;
	if (s->tres.count) {
		out->tres = take_tres(arena, (size_t)s->tres.tres_cnt);
		if (out->tres == SIZE_MAX)
			return false;
		out->has_tres = true;
		out->extra.tres =
		    ccr_tres_points(&s->tres, job, job->part_ptr, arena->tres + out->tres);
	}
	return gather_slots(sources, job, out, arena);
}

bool ccr_sources_want_groups(const struct ccr_facts_site *site)
{
	static const enum ccr_var theirs[] = {CCR_VAR_TARGET,	  CCR_VAR_USAGE,
					      CCR_VAR_FS_DELTA,	  CCR_VAR_FINANCIAL,
					      CCR_VAR_USER_USAGE, CCR_VAR_FAIRSHARE_FACTOR,
					      CCR_VAR_QOS_USAGE};

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++) {
		if (ccr_facts_wanted(site, theirs[i]))
			return true;
	}
	return false;
}

static void put_place(struct ccr_lsf_place place, double *var)
{
	var[CCR_VAR_RUN_HOURS] = place.run_hours;
	var[CCR_VAR_STARTED] = place.started;
	var[CCR_VAR_LSF_PRIORITY] = place.priority;
}

void ccr_scored_lsf(struct ccr_lsf_table *lsf, struct ccr_scored *s, struct ccr_arena *arena,
		    bool join)
{
	if (!lsf)
		return;
	put_place(ccr_lsf_rows_place(lsf, s->lsf, s->job_id, join), s->var);
	for (int i = 0; i < s->n_slots; i++) {
		struct ccr_slot *slot = &arena->slot[s->slot + (size_t)i];

		if (slot->main)
			continue;
		swap_slot(s->var, slot);
		put_place(ccr_lsf_rows_place(lsf, slot->lsf, s->job_id, join), s->var);
		swap_slot(s->var, slot);
	}
}

/*
 * The priority that the job has in one slot; factor are the job's own. Columns that read nothing of
 * what the slot decides are what they were.
 */
static void score_slot(struct ccr_policy *policy, const struct ccr_score_rule *rule,
		       const struct ccr_scored *s, double *factor, struct ccr_slot *slot)
{
	struct ccr_score_extra x = s->extra;
	struct ccr_score score;
	unsigned moved;

	if (slot->main) {
		score = s->score;
	} else {
		moved = ccr_policy_eval_again(policy, slot->var, factor);
		x.tres = rule->whole ? ccr_score_round(slot->tres) : slot->tres;
		if (!ccr_score_again(rule, factor, moved, &s->score, &x, &score))
			ccr_score(rule, factor, &x, &score);
	}
	slot->priority = score.priority;
	slot->partition = score.points[CCR_COL_PARTITION];
	slot->qos_points = score.points[CCR_COL_QOS];
}

unsigned ccr_scored_slot_columns(const struct ccr_policy *policy)
{
	return ccr_policy_readers(policy, slot_vars, CCR_SLOT_VARS);
}

void ccr_scored_watch(struct ccr_policy *policy)
{
	ccr_policy_watch(policy, slot_vars, CCR_SLOT_VARS);
}

void ccr_scored_compute(struct ccr_policy *policy, const struct ccr_score_rule *rule,
			const struct ccr_settings *settings, struct ccr_scored *s,
			struct ccr_arena *arena, unsigned *faults)
{
	double factor[CCR_COLUMNS];
	unsigned found[CCR_COLUMNS] = {0};

	if (rule->whole && s->has_tres) {
		s->extra.tres = 0;
		for (int i = 0; i < settings->tres.tres_cnt; i++) {
			double *p = &arena->tres[s->tres + (size_t)i];

			*p = ccr_score_round(*p);
			s->extra.tres += *p;
		}
	}
	ccr_policy_eval(policy, s->var, factor, found);
	s->faulty = 0;
	for (int i = 0; i < CCR_COLUMNS; i++) {
		faults[i] += found[i];
		s->faulty |= (unsigned)(found[i] != 0) << i;
	}
	ccr_score(rule, factor, &s->extra, &s->score);
	for (int i = 0; i < s->n_slots; i++)
		score_slot(policy, rule, s, factor, &arena->slot[s->slot + (size_t)i]);
}

/* priority_tres and tres_weights, allocated once and again only when their length changes. */
static void store_tres(const struct ccr_sources *sources, const struct ccr_scored *s,
		       const struct ccr_arena *arena, ccr_slurm_factors_t *f)
{
	const struct ccr_settings *settings = sources->site.settings;
	uint32_t n = s->has_tres ? (uint32_t)settings->tres.tres_cnt : 0;
	bool kept = sources->weights_kept;

	if (f->tres_cnt != n || (n && (!f->priority_tres || !f->tres_weights))) {
		xfree(f->priority_tres);
		xfree(f->tres_weights);
		f->tres_cnt = n;
		if (n) {
			f->priority_tres = xcalloc(n, sizeof(double));
			f->tres_weights = xcalloc(n, sizeof(double));
		}
		kept = false;
	}
	if (n)
		memcpy(f->priority_tres, arena->tres + s->tres, n * sizeof(double));
	if (n && !kept)
		memcpy(f->tres_weights, settings->weight_tres, n * sizeof(double));
}

void ccr_scored_columns(const double *points, unsigned columns, ccr_slurm_factors_t *to)
{
	if (columns & 1u << CCR_COL_AGE)
		to->priority_age = points[CCR_COL_AGE];
	if (columns & 1u << CCR_COL_ASSOC)
		to->priority_assoc = points[CCR_COL_ASSOC];
	if (columns & 1u << CCR_COL_FAIRSHARE)
		to->priority_fs = points[CCR_COL_FAIRSHARE];
	if (columns & 1u << CCR_COL_JOBSIZE)
		to->priority_js = points[CCR_COL_JOBSIZE];
	if (columns & 1u << CCR_COL_PARTITION)
		to->priority_part = points[CCR_COL_PARTITION];
	if (columns & 1u << CCR_COL_QOS)
		to->priority_qos = points[CCR_COL_QOS];
	if (columns & 1u << CCR_COL_SITE)
		to->priority_site = (uint32_t)((int64_t)points[CCR_COL_SITE] + NICE_OFFSET);
}

uint32_t ccr_scored_store(const struct ccr_sources *sources, const struct ccr_scored *s,
			  const struct ccr_arena *arena, job_record_t *job)
{
	const struct ccr_settings *settings = sources->site.settings;
	bool incr = (settings->flags & PRIORITY_FLAGS_INCR_ONLY) != 0;
	const double *p = s->score.points;
	ccr_slurm_factors_t *f = job->prio_factors;
	uint32_t *slots;

	if (!f)
		f = job->prio_factors = xmalloc(sizeof(*f));
	ccr_scored_columns(p, ~0u, f);
	f->nice = s->nice;
	/*
	 * slurmctld compares this field with the QOS's UsageThreshold: there it must be what
	 * priority/multifactor would put there. sprio's list (sprio_list.c) gets the column of such
	 * a job back as what is missing to its priority.
	 */
	if (s->threshold)
		f->priority_fs = settings->weight[CCR_COL_FAIRSHARE] * s->var[CCR_VAR_FS_FACTOR];
	store_tres(sources, s, arena, f);
	slots = ccr_slurm_slots(job, s->n_slots);
	for (int i = 0; i < s->n_slots; i++) {
		uint32_t priority = arena->slot[s->slot + (size_t)i].priority;

		if (!incr || slots[i] < priority)
			slots[i] = priority;
	}
	return s->score.priority;
}
