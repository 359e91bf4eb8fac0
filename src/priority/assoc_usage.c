/* assoc_usage - see assoc_usage.h */
#include "priority/assoc_usage.h"

#include <float.h>
#include <math.h>
#include "priority/run_secs.h"

static const assoc_mgr_lock_t usage_locks = {
    .assoc = WRITE_LOCK, .qos = WRITE_LOCK, .tres = READ_LOCK};

/* What a job used in a stretch of time. */
struct amount {
	double wall, billed;		 /* with decay */
	double wall_whole, billed_whole; /* without, for QOS with NoDecay */
	const uint64_t *tres;		 /* allocated; NULL: TRES are not counted */
	int tres_cnt;
};

void ccr_usage_lock(void)
{
	assoc_mgr_lock_t locks = usage_locks;

	assoc_mgr_lock(&locks);
}

void ccr_usage_unlock(void)
{
	assoc_mgr_lock_t locks = usage_locks;

	assoc_mgr_unlock(&locks);
}

double ccr_decay_factor(double half_life)
{
	return half_life > 0 ? 1 - 0.693 / half_life : 1;
}

double ccr_decay_over(double decay_factor, double seconds)
{
	double left = pow(decay_factor, seconds);

	return left < DBL_MIN ? DBL_MIN : left;
}

static void scale(double left, long double *raw, long double *tres, double *wall, uint32_t cnt)
{
	*raw *= left;
	*wall *= left;
	for (uint32_t i = 0; tres && i < cnt; i++)
		tres[i] *= left;
}

static void scale_assoc(slurmdb_assoc_usage_t *u, double left)
{
	if (u)
		scale(left, &u->usage_raw, u->usage_tres_raw, &u->grp_used_wall, u->tres_cnt);
}

static int decay_assoc(void *x, void *arg)
{
	slurmdb_assoc_rec_t *assoc = x;
	double left = *(double *)arg;

	scale_assoc(assoc->usage, left);
	/* An account keeps here what users that are gone have used; a user's is the same record. */
	if (assoc->leaf_usage != assoc->usage)
		scale_assoc(assoc->leaf_usage, left);
	return 0;
}

struct qos_decay {
	double left;
	bool all; /* NoDecay or not */
};

static int decay_qos(void *x, void *arg)
{
	slurmdb_qos_rec_t *qos = x;
	const struct qos_decay *d = arg;

	if (qos->usage && (d->all || !(qos->flags & QOS_FLAG_NO_DECAY)))
		scale(d->left, &qos->usage->usage_raw, qos->usage->usage_tres_raw,
		      &qos->usage->grp_used_wall, qos->usage->tres_cnt);
	return 0;
}

static void decay(double left, bool all)
{
	struct qos_decay d = {.left = left, .all = all};

	if (assoc_mgr_assoc_list)
		list_for_each(assoc_mgr_assoc_list, decay_assoc, &left);
	if (assoc_mgr_qos_list)
		list_for_each(assoc_mgr_qos_list, decay_qos, &d);
}

void ccr_usage_decay(double left)
{
	if (left != 1 && left > 0)
		decay(left, false);
}

void ccr_usage_reset(void)
{
	decay(0, true);
}

static void add_tres(long double *to, uint32_t to_cnt, const struct amount *a, double wall)
{
	if (!a->tres || !to)
		return;
	for (int i = 0; i < a->tres_cnt && (uint32_t)i < to_cnt; i++)
		if (i != TRES_ARRAY_ENERGY && a->tres[i] != NO_CONSUME_VAL64)
			to[i] += (long double)wall * (long double)a->tres[i];
}

static void add_qos(slurmdb_qos_rec_t *qos, const struct amount *a)
{
	bool whole;
	double wall;

	if (!qos || !qos->usage)
		return;
	whole = qos->flags & QOS_FLAG_NO_DECAY;
	wall = whole ? a->wall_whole : a->wall;
	qos->usage->grp_used_wall += wall;
	qos->usage->usage_raw += (long double)(whole ? a->billed_whole : a->billed);
	add_tres(qos->usage->usage_tres_raw, qos->usage->tres_cnt, a, wall);
}

static void add_assocs(slurmdb_assoc_rec_t *assoc, const struct amount *a)
{
	while (assoc && assoc->usage) {
		assoc->usage->grp_used_wall += a->wall;
		assoc->usage->usage_raw += (long double)a->billed;
		add_tres(assoc->usage->usage_tres_raw, assoc->usage->tres_cnt, a, a->wall);
		assoc = assoc->usage->parent_assoc_ptr;
	}
}

/* Usage from `start` to `end`, to the job's QOS, its partition's and up to the root. */
static void add(job_record_t *job, time_t start, time_t end, double decay_factor)
{
	slurmdb_qos_rec_t *qos = job->qos_ptr;
	double seconds = end > start ? difftime(end, start) : 0;
	double billable = calc_job_billable_tres(job, start, true);
	struct amount a = {
	    /* What was used early in the window has decayed longer; as coarse as stock. */
	    .wall = seconds * pow(decay_factor, seconds),
	    .wall_whole = seconds,
	    .tres = accounting_enforce & ACCOUNTING_ENFORCE_LIMITS ? job->tres_alloc_cnt : NULL,
	    .tres_cnt = slurmctld_tres_cnt,
	};

	a.billed = a.wall * billable;
	a.billed_whole = a.wall_whole * billable;
	if (qos && qos->usage_factor >= 0) {
		a.wall *= qos->usage_factor;
		a.billed *= qos->usage_factor;
		a.wall_whole *= qos->usage_factor;
		a.billed_whole *= qos->usage_factor;
	}
	add_qos(qos, &a);
	if (job->part_ptr && job->part_ptr->qos_ptr != qos)
		add_qos(job->part_ptr->qos_ptr, &a);
	add_assocs(job->assoc_ptr, &a);
	log_flag(PRIO, "%s: JobId=%u used %.0f s and %f billable TRES-seconds (%f after decay)",
		 __func__, job->job_id, seconds, a.billed_whole, a.billed);
}

/* Started, not ended, and known to accounting. */
static bool counts(const job_record_t *job)
{
	return (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) && !IS_JOB_COMPLETING(job) &&
	       job->start_time && job->assoc_ptr && job->end_time_exp != (time_t)NO_VAL;
}

void ccr_usage_pass_begin(void)
{
	if (accounting_enforce & ACCOUNTING_ENFORCE_LIMITS)
		ccr_run_secs_clear();
}

void ccr_usage_job(job_record_t *job, const struct ccr_usage_window *w)
{
	if (!counts(job))
		return;
	/* Its nodes are still being powered up: the job holds its run-seconds but uses nothing. */
	if (!IS_JOB_POWER_UP_NODE(job))
		add(job, MAX(job->start_time, w->last_ran), w->now, w->decay_factor);
	if (accounting_enforce & ACCOUNTING_ENFORCE_LIMITS)
		ccr_run_secs_add(job, IS_JOB_POWER_UP_NODE(job) ? job->start_time : w->now);
}

void ccr_usage_recover(job_record_t *job, const struct ccr_usage_window *w)
{
	if (!IS_JOB_FINISHED(job) || job->end_time_exp != (time_t)NO_VAL || !job->assoc_ptr ||
	    !job->start_time || job->end_time <= w->last_ran || !job->tres_alloc_cnt ||
	    !(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS))
		return;
	add(job, MAX(job->start_time, w->last_ran), job->end_time, w->decay_factor);
}

void ccr_usage_job_end(job_record_t *job, const struct ccr_usage_window *w)
{
	time_t start = MAX(job->start_time, w->last_ran), end = w->now;

	if (job->end_time_exp == (time_t)NO_VAL)
		return;
	/* end_time is when it ended; that may have been noticed late. */
	if (job->end_time && end > job->end_time)
		end = job->end_time;
	ccr_usage_lock();
	if (accounting_enforce & ACCOUNTING_ENFORCE_LIMITS)
		ccr_run_secs_remove(job, start);
	add(job, start, end, w->decay_factor);
	ccr_usage_unlock();
	job->end_time_exp = (time_t)NO_VAL;
}
