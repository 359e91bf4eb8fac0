/* sprio_list - see sprio_list.h */
#include "priority/sprio_list.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/policy.h"
#include "core/score.h"
#include "priority/kept.h"
#include "priority/tres_points.h"
#include "slurm/compat_rows.h"

struct context {
	const struct ccr_sprio_rule *rule;
	const ccr_slurm_request_t *request;
	struct ccr_rows rows;
	bool failed;
	double *tres; /* room for one job's points in one partition */
	uint32_t room;
	struct ccr_kept_cursor cursor;
	struct ccr_kept_known known; /* of the job at hand */
	double *weights;	     /* of TRES, those of all known rows */
	uint32_t n_weights;
};

/* The sum of all columns but one partition's and the fairshare column. */
static double rest(const ccr_slurm_factors_t *f)
{
	double s = f->priority_age + f->priority_assoc + f->priority_js + f->priority_qos +
		   ((double)f->priority_site - NICE_OFFSET) - ((double)f->nice - NICE_OFFSET);

	for (uint32_t i = 0; i < f->tres_cnt; i++)
		s += f->priority_tres[i];
	return s;
}

/* slurmctld keeps another number in the fairshare field of such a job (scored.c). */
static bool has_threshold(const job_record_t *job)
{
	return job->qos_ptr && (job->qos_ptr->flags & QOS_FLAG_ENFORCE_USAGE_THRES);
}

/*
 * A priority that somebody else put there (`scontrol top`), or columns older than it: AGE, which
 * moves most, gets the difference. A fraction is none, and at the ends of what a priority can be
 * columns need not add up.
 */
static void add_up(const job_record_t *job, ccr_slurm_factors_t *f)
{
	double missing = job->priority - (rest(f) + f->priority_part + f->priority_fs);

	if (job->priority > 1 && job->priority < UINT32_MAX && (missing <= -1 || missing >= 1))
		f->priority_age += missing;
}

static double partition_points(const struct ccr_sprio_rule *rule, const part_record_t *part)
{
	return rule->weight_partition * (rule->flags & PRIORITY_FLAGS_NO_NORMAL_PART
					     ? part->priority_job_factor
					     : part->norm_priority);
}

static double qos_points(const struct ccr_sprio_rule *rule, const slurmdb_qos_rec_t *qos)
{
	double p;

	if (!qos || !qos->usage)
		return 0;
	p = rule->weight_qos * (rule->flags & PRIORITY_FLAGS_NO_NORMAL_QOS
				    ? (double)qos->priority
				    : qos->usage->norm_priority);
	return rule->whole ? ccr_score_round(p) : p;
}

static bool make_room(struct context *c, uint32_t n)
{
	double *more;

	if (c->room >= n)
		return true;
	more = realloc(c->tres, n * sizeof(*more));
	if (!more)
		return false;
	c->tres = more;
	c->room = n;
	return true;
}

/* The TRES points in that partition; they stay those of the first where there is no memory. */
static void fit_tres(struct context *c, const job_record_t *job, const part_record_t *part,
		     ccr_slurm_factors_t *f)
{
	if (!f->tres_cnt || !f->tres_weights || !make_room(c, f->tres_cnt))
		return;
	ccr_tres_points_kept(f->tres_weights, f->tres_cnt,
			     (c->rule->flags & PRIORITY_FLAGS_NO_NORMAL_TRES) != 0, job, part,
			     c->tres);
	for (uint32_t i = 0; c->rule->whole && i < f->tres_cnt; i++)
		c->tres[i] = ccr_score_round(c->tres[i]);
	f->priority_tres = c->tres;
}

/*
 * The columns of a job in one of its partitions. Its priority there is known, the points of that
 * partition alone are not kept: they are what is missing. They belong to FAIRSHARE where it is the
 * owner's standing in the partition that differs, else to PARTITION.
 */
static void fit_slot(struct context *c, const job_record_t *job, const part_record_t *part,
		     const slurmdb_qos_rec_t *qos, int index, ccr_slurm_factors_t *f)
{
	int count = 0;
	const uint32_t *slots = ccr_slurm_slots_peek(job, &count);

	if (!slots || index >= count)
		return;
	/* what is kept is of the first QOS of a list, which need not be the one that it ran under
	 */
	if (qos != job->qos_ptr || qos != ccr_slurm_job_qos(job))
		f->priority_qos = qos_points(c->rule, qos);
	if (f->priority_tres)
		fit_tres(c, job, part, f);
	if (c->rule->by_partition)
		f->priority_fs = slots[index] - rest(f) - f->priority_part;
	else if (c->rule->whole)
		f->priority_part = slots[index] - rest(f) - f->priority_fs;
	else
		f->priority_part = partition_points(c->rule, part);
}

static void add_slot(job_record_t *job, part_record_t *part, slurmdb_qos_rec_t *qos, int index,
		     void *arg)
{
	struct context *c = arg;
	ccr_slurm_factors_t f;

	if (!part || !ccr_slurm_request_wants(c->request, job, part))
		return;
	if (job->direct_set_prio || !job->prio_factors) {
		c->failed = !ccr_rows_add(&c->rows, job, part, qos, NULL) || c->failed;
		return;
	}
	f = *job->prio_factors; /* its arrays stay the job's: rows copy them */
	if (c->known.points)
		ccr_scored_columns(c->known.points, ~0u, &f);
	else if (has_threshold(job))
		f.priority_fs = job->priority - rest(&f) - f.priority_part;
	if (index >= 0)
		fit_slot(c, job, part, qos, index, &f);
	else if (c->known.adrift)
		add_up(job, &f);
	c->failed = !ccr_rows_add(&c->rows, job, part, qos, &f) || c->failed;
}

/* A job of which everything is known: its record's columns need not be read. */
static void add_known(struct context *c, const job_record_t *job)
{
	const struct ccr_kept_row *row = c->known.row;
	const struct ccr_kept_slot *slot = ccr_kept_slot(row);
	const struct ccr_kept_pair *pair = ccr_kept_pair(row);
	int n = row->n_slots ? row->n_slots : 1;
	ccr_slurm_factors_t f = {0};

	ccr_scored_columns(row->points, ~0u, &f);
	f.nice = (uint32_t)(row->nice + NICE_OFFSET);
	f.tres_weights = c->weights;
	f.priority_tres = c->n_weights ? c->tres : NULL;
	f.tres_cnt = c->n_weights;
	for (int i = 0; i < n; i++) {
		const part_record_t *part = row->n_slots ? pair[i].part : job->part_ptr;

		if (!part || !ccr_slurm_request_wants(c->request, job, part))
			continue;
		ccr_kept_tres_points(row, part, c->tres);
		for (uint32_t k = 0; c->rule->whole && k < c->n_weights; k++)
			c->tres[k] = ccr_score_round(c->tres[k]);
		if (row->n_slots) {
			f.priority_qos = slot[i].qos;
			f.priority_part = c->rule->whole
					      ? slot[i].priority - rest(&f) - f.priority_fs
					      : slot[i].partition;
		}
		c->failed = !ccr_rows_add(&c->rows, job, part, job->qos_ptr, &f) || c->failed;
	}
}

static void add_job(struct context *c, job_record_t *job)
{
	ccr_kept_look(&c->cursor, job, &c->known);
	if (c->known.row && !job->direct_set_prio && make_room(c, c->n_weights))
		add_known(c, job);
	else
		ccr_slurm_each_slot(job, add_slot, c);
}

static bool shown(const struct ccr_sprio_rule *s, const job_record_t *job, time_t now)
{
	time_t eligible;

	if (!job->details || job->priority == 0 || IS_JOB_REVOKED(job))
		return false;
	if (!(s->flags & PRIORITY_FLAGS_CALCULATE_RUNNING) && !IS_JOB_PENDING(job))
		return false;
	if (!job->part_ptr && !job->part_ptr_list)
		return false;
	eligible = s->flags & PRIORITY_FLAGS_ACCRUE_ALWAYS ? job->details->submit_time
							   : job->details->begin_time;
	return eligible && eligible <= now;
}

#define FETCH_AHEAD 12
#define PARTS_AHEAD 6

/* Pending jobs, or whichever are shown, in the list's order. */
struct shown_jobs {
	const struct ccr_sprio_rule *rule;
	time_t now;
	job_record_t **job;
	size_t n, room;
	size_t seen;
};

static int add_shown(void *x, void *arg)
{
	struct shown_jobs *all = arg;

	ccr_kept_fetch(all->seen++ + FETCH_AHEAD);
	if (all->n < all->room && shown(all->rule, x, all->now))
		all->job[all->n++] = x;
	return 0;
}

/*
 * Asks for what a row is made of before it is its turn: jobs lie all over the memory. `known`: as
 * the job before it, so that little of its record will be looked at.
 */
static void fetch(const job_record_t *job, bool known)
{
	__builtin_prefetch(&job->job_id);
	__builtin_prefetch(&job->priority);
	__builtin_prefetch(&job->user_id);
	__builtin_prefetch(&job->part_ptr);
	if (!known)
		__builtin_prefetch(&job->tres_req_cnt);
}

static void fetch_parts(const job_record_t *job)
{
	if (job->tres_req_cnt) {
		__builtin_prefetch(job->tres_req_cnt);
		__builtin_prefetch(job->tres_req_cnt + 8);
	}
	if (job->prio_factors) {
		__builtin_prefetch(&job->prio_factors->priority_age);
		__builtin_prefetch(&job->prio_factors->priority_tres);
	}
	if (job->part_ptr_list) {
		__builtin_prefetch(job->part_ptr_list);
		__builtin_prefetch(ccr_slurm_slots_now(job));
	}
}

ccr_slurm_list_t *ccr_sprio_list(const struct ccr_sprio_rule *rule,
				 const ccr_slurm_request_t *request, uid_t uid)
{
	struct context c = {.rule = rule, .request = request};
	struct shown_jobs all = {.rule = rule, .now = time(NULL)};

	if (!job_list || !list_count(job_list))
		return NULL;
	all.room = (size_t)list_count(job_list);
	all.job = calloc(all.room, sizeof(*all.job));
	if (!all.job) {
		error("priority/ccr: out of memory, sprio is told of no job");
		return NULL;
	}
	list_for_each(job_list, add_shown, &all);
	c.weights = ccr_kept_weights(&c.n_weights);
	ccr_rows_begin(&c.rows);
	for (size_t i = 0; i < all.n; i++) {
		bool known = c.known.row != NULL;

		if (i + FETCH_AHEAD < all.n)
			fetch(all.job[i + FETCH_AHEAD], known);
		if (i + PARTS_AHEAD < all.n && !known)
			fetch_parts(all.job[i + PARTS_AHEAD]);
		if (ccr_slurm_may_see(all.job[i], uid))
			add_job(&c, all.job[i]);
	}
	free(all.job);
	free(c.tres);
	if (c.failed)
		error("priority/ccr: out of memory, sprio is not told of all jobs");
	return ccr_rows_end(&c.rows);
}
