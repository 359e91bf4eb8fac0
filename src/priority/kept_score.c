/* kept_score - brings the rows of kept.h up to date */
#include <stdlib.h>
#include <string.h>

#include "priority/kept.h"

#define WHO_SLOTS 1024

/* What a policy makes of the variables that move by themselves. */
static struct {
	unsigned columns; /* that read one of them */
	bool waiting;	  /* which of them these are */
	bool eligible;
	bool account;
	bool groups;
	bool qos_usage;
	bool request; /* and they read what does not move besides */
	bool slots;   /* another partition or QOS changes their two columns alone, and for good */
} plan;

/* Standings of (user, account) pairs that were looked up in this cycle. */
static struct {
	uint64_t who;
	const struct ccr_standing *standing;
	const struct ccr_owner *owner;
} known_who[WHO_SLOTS];

/* The variables of the row before, of which the next often has the same. The thread's alone. */
static struct {
	double var[CCR_VAR_COUNT];
	const void *assoc;
	time_t accrue;
	uint64_t who;
	bool any;
} last;

static struct ccr_arena arena; /* the slots of the row that is scored in full */

static const enum ccr_var request_vars[CCR_KEPT_REQUEST] = {
    CCR_VAR_NODES,  CCR_VAR_NCPUS,    CCR_VAR_NGPUS,	   CCR_VAR_MEM,
    CCR_VAR_NTASKS, CCR_VAR_WALLTIME, CCR_VAR_SIZE_FACTOR,
};

#define WAITING CCR_VAR_QUEUE_MINUTES, CCR_VAR_ELIGIBLE_TIME, CCR_VAR_AGE_FACTOR
#define ACCOUNT CCR_VAR_ASSOC_FACTOR, CCR_VAR_FS_FACTOR
#define GROUPS                                                                                     \
	CCR_VAR_TARGET, CCR_VAR_USAGE, CCR_VAR_FS_DELTA, CCR_VAR_FINANCIAL, CCR_VAR_USER_USAGE,    \
	    CCR_VAR_FAIRSHARE_FACTOR
#define LSF CCR_VAR_LSF_PRIORITY, CCR_VAR_RUN_HOURS, CCR_VAR_STARTED

#define READERS(policy, ...)                                                                       \
	ccr_policy_readers((policy), (const enum ccr_var[]){__VA_ARGS__},                          \
			   (int)(sizeof((enum ccr_var[]){__VA_ARGS__}) / sizeof(enum ccr_var)))

/* Everything that is not named here stays what it is for as long as the job and the site do. */
void ccr_kept_plan(const struct ccr_policy *policy)
{
	const unsigned theirs = 1u << CCR_COL_PARTITION | 1u << CCR_COL_QOS;
	unsigned moving = READERS(policy, WAITING, ACCOUNT, GROUPS, CCR_VAR_QOS_USAGE, LSF);
	unsigned slots = ccr_scored_slot_columns(policy);
	bool moves[CCR_VAR_COUNT] = {false};
	static const enum ccr_var all[] = {WAITING, ACCOUNT, GROUPS, CCR_VAR_QOS_USAGE, LSF};

	plan.columns = moving;
	plan.waiting = READERS(policy, WAITING) != 0;
	plan.eligible = READERS(policy, CCR_VAR_ELIGIBLE_TIME) != 0;
	plan.account = READERS(policy, ACCOUNT) != 0;
	plan.groups = READERS(policy, GROUPS) != 0;
	plan.qos_usage = READERS(policy, CCR_VAR_QOS_USAGE) != 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		moves[all[i]] = true;
	plan.request = false;
	for (int v = 0; v < CCR_VAR_COUNT; v++) {
		if (!moves[v] && READERS(policy, (enum ccr_var)v) & moving)
			plan.request = true;
	}
	plan.slots = !(slots & ~theirs) && !(slots & moving);
}

void ccr_kept_score_begin(void)
{
	memset(known_who, 0, sizeof(known_who));
	last.any = false;
}

void ccr_kept_score_free(void)
{
	ccr_arena_free(&arena);
}

bool ccr_kept_score_room(size_t n_slots)
{
	ccr_arena_clear(&arena);
	return !n_slots || ccr_arena_slots(&arena, n_slots);
}

void ccr_kept_take_request(const struct ccr_scored *s, double *request)
{
	for (size_t i = 0; i < CCR_KEPT_REQUEST; i++)
		request[i] = s->var[request_vars[i]];
}

bool ccr_kept_is_quick(const struct ccr_scored *s)
{
	return !s->score.cut && !(s->faulty & ~plan.columns) && (plan.slots || !s->n_slots);
}

/* --- whose it is ------------------------------------------------------------------------------ */

static uint64_t mix_text(uint64_t h, const char *s)
{
	for (; s && *s; s++) {
		h = (h ^ (unsigned char)*s) * UINT64_C(0x9E3779B97F4A7C15);
		h ^= h >> 32;
	}
	h = (h ^ 256) * UINT64_C(0x9E3779B97F4A7C15);
	return h ^ h >> 32;
}

uint64_t ccr_kept_who(const job_record_t *job)
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

/* --- the variables ---------------------------------------------------------------------------- */

/* Their addresses were compared in this walk, so that they are records. */
static slurmdb_assoc_rec_t *assoc_of(const struct ccr_kept_row *row)
{
	return (slurmdb_assoc_rec_t *)row->part[CCR_KEPT_ASSOC];
}

/* What does not move. */
static void still_facts(const struct ccr_facts_site *site, const struct ccr_kept_row *row,
			double *var)
{
	const struct ccr_kept_rest *rest = ccr_kept_rest(row);

	for (size_t i = 0; i < CCR_KEPT_REQUEST; i++)
		var[request_vars[i]] = rest->request[i];
	var[CCR_VAR_JOB_PRIORITY] = -(double)row->nice;
	ccr_facts_partition(site, row->part[CCR_KEPT_PART], var);
	ccr_facts_qos(site, row->part[CCR_KEPT_QOS], var);
}

/* What moves, as far as the policy asks for it. */
static void moving_facts(const struct ccr_sources *sources, const struct ccr_kept_row *row)
{
	const struct ccr_facts_site *site = &sources->site;
	double *var = last.var;

	if (plan.waiting && (!last.any || plan.eligible || last.accrue != row->accrue))
		ccr_facts_waiting(site, row->job, row->accrue, var);
	if (plan.account && (!last.any || last.assoc != row->part[CCR_KEPT_ASSOC]))
		ccr_facts_account(site, assoc_of(row), var);
	if (plan.groups && (!last.any || last.who != row->who))
		standing_facts(sources, row, var);
	if (plan.qos_usage)
		ccr_scored_qos_usage(sources, row->part[CCR_KEPT_QOS], var);
	last.accrue = row->accrue;
	last.assoc = row->part[CCR_KEPT_ASSOC];
	last.who = row->who;
	last.any = true;
}

/* --- scores ----------------------------------------------------------------------------------- */

/* The columns that move alone. False: a sum is outside the range, all of it has to be done. */
static bool score_quickly(const struct ccr_sources *sources, struct ccr_policy *policy,
			  const struct ccr_score_rule *rule, struct ccr_kept_row *row,
			  unsigned *faults, bool *changed)
{
	struct ccr_score_extra x = {.nice = row->nice, .tres = row->tres};
	struct ccr_kept_slot *slot = ccr_kept_slot(row);
	double factor[CCR_COLUMNS], *points = row->points;
	uint32_t priority;

	if (plan.columns & 1u << CCR_COL_SITE)
		x.site = (int64_t)ccr_kept_rest(row)->in[CCR_KEPT_SITE] - NICE_OFFSET;
	moving_facts(sources, row);
	if (plan.request)
		still_facts(&sources->site, row, last.var);
	ccr_policy_eval_columns(policy, plan.columns, last.var, factor, faults);
	ccr_score_points(rule, factor, plan.columns, &x, points);
	if (!ccr_score_sum(rule, points, points[CCR_COL_PARTITION], points[CCR_COL_QOS], &x,
			   &priority))
		return false;
	*changed = priority != row->priority;
	row->priority = priority;
	for (int i = 0; i < row->n_slots; i++) {
		if (!slot[i].main) {
			x.tres = slot[i].tres;
			if (!ccr_score_sum(rule, points, slot[i].partition, slot[i].qos, &x,
					   &priority))
				return false;
		} else {
			priority = row->priority;
		}
		*changed = *changed || priority != slot[i].priority;
		slot[i].priority = priority;
	}
	return true;
}

/* Everything but the look at the job's own records. */
static void score_in_full(const struct ccr_sources *sources, struct ccr_policy *policy,
			  const struct ccr_score_rule *rule, struct ccr_kept_row *row,
			  unsigned *faults)
{
	static struct ccr_scored s; /* this thread's alone */
	const struct ccr_kept_pair *pair = ccr_kept_pair(row);
	struct ccr_kept_slot *slot = ccr_kept_slot(row);

	still_facts(&sources->site, row, s.var);
	ccr_facts_waiting(&sources->site, row->job, row->accrue, s.var);
	ccr_facts_account(&sources->site, assoc_of(row), s.var);
	if (sources->groups_wanted) {
		standing_facts(sources, row, s.var);
		ccr_scored_qos_usage(sources, row->part[CCR_KEPT_QOS], s.var);
	}
	s.extra.nice = row->nice;
	s.extra.site = (int64_t)ccr_kept_rest(row)->in[CCR_KEPT_SITE] - NICE_OFFSET;
	s.extra.tres = row->tres;
	s.n_slots = row->n_slots;
	for (int i = 0; i < row->n_slots; i++) {
		arena.slot[i] = (struct ccr_slot){.part = pair[i].part,
						  .qos = pair[i].qos,
						  .main = slot[i].main,
						  .tres = slot[i].tres};
		ccr_scored_slot_facts(sources, &arena.slot[i]);
	}
	ccr_scored_compute(policy, rule, sources->site.settings, &s, &arena, faults);
	for (int i = 0; i < row->n_slots; i++) {
		slot[i].priority = arena.slot[i].priority;
		slot[i].partition = arena.slot[i].partition;
		slot[i].qos = arena.slot[i].qos_points;
	}
	memcpy(row->points, s.score.points, sizeof(row->points));
	row->priority = s.score.priority;
	row->cut = s.score.cut;
	row->quick = ccr_kept_is_quick(&s);
}

bool ccr_kept_score(const struct ccr_sources *sources, struct ccr_policy *policy,
		    const struct ccr_score_rule *rule, struct ccr_kept_row *row, unsigned *faults)
{
	unsigned counted[CCR_COLUMNS] = {0};
	bool changed = true;

	row->cut = false;
	if (!row->quick) {
		score_in_full(sources, policy, rule, row, faults);
	} else if (!score_quickly(sources, policy, rule, row, faults, &changed)) {
		changed = true;
		score_in_full(sources, policy, rule, row, counted); /* they are counted already */
	}
	changed = changed || row->present != row->priority || row->array;
	row->owes = true;
	if (changed) {
		__builtin_prefetch(&row->job->priority, 1);
		__builtin_prefetch(row->part[CCR_KEPT_SLOTS], 1);
	}
	return changed;
}

void ccr_kept_store(struct ccr_kept_row *row)
{
	const struct ccr_kept_slot *slot = ccr_kept_slot(row);
	job_record_t *job = row->job;

	if (row->array) {
		ccr_scored_columns(row->points, ~0u, job->prio_factors);
		row->owes = false;
	}
	if (row->n_slots) {
		uint32_t *slots = ccr_slurm_slots(job, row->n_slots);

		for (int i = 0; i < row->n_slots; i++)
			slots[i] = slot[i].priority;
	}
	job->priority = row->priority;
}
