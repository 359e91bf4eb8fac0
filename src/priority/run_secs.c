/* run_secs - see run_secs.h */
#include "priority/run_secs.h"

/* Seconds that the job's limit leaves at time t, times its QOS's UsageFactor. */
static uint64_t left_at(const job_record_t *job, time_t t)
{
	const slurmdb_qos_rec_t *qos = job->qos_ptr;
	uint64_t end = (uint64_t)job->start_time + (uint64_t)job->time_limit * 60;
	uint64_t left = t > 0 && (uint64_t)t >= end ? 0 : end - (uint64_t)t;

	if (t < job->start_time)
		left = (uint64_t)job->time_limit * 60;
	if (qos && qos->usage_factor >= 0)
		left = (uint64_t)((double)left * qos->usage_factor);
	return left;
}

/* What is done to one array of counters. */
struct change {
	const uint64_t *tres; /* the job's */
	uint64_t seconds;
	bool remove;
};

static void apply(uint64_t *to, uint32_t cnt, const struct change *c)
{
	for (uint32_t i = 0; to && i < cnt && i < (uint32_t)slurmctld_tres_cnt; i++) {
		uint64_t by;

		if (i == TRES_ARRAY_ENERGY || c->tres[i] == NO_CONSUME_VAL64)
			continue;
		by = c->tres[i] * c->seconds;
		if (!c->remove)
			to[i] += by;
		else
			to[i] -= MIN(by, to[i]);
	}
}

static void apply_qos(slurmdb_qos_rec_t *qos, const job_record_t *job, const struct change *c)
{
	uint64_t *account, *user;

	if (!qos || !qos->usage)
		return;
	apply(qos->usage->grp_used_tres_run_secs, qos->usage->tres_cnt, c);
	if (ccr_slurm_qos_run_secs(qos, job, &account, &user)) {
		apply(account, (uint32_t)slurmctld_tres_cnt, c);
		apply(user, (uint32_t)slurmctld_tres_cnt, c);
	}
}

static void apply_all(const job_record_t *job, time_t t, bool remove)
{
	struct change c = {
	    .tres = job->tres_alloc_cnt, .seconds = left_at(job, t), .remove = remove};
	slurmdb_assoc_rec_t *assoc = job->assoc_ptr;

	if (!c.tres || !c.seconds)
		return;
	apply_qos(job->qos_ptr, job, &c);
	if (job->part_ptr && job->part_ptr->qos_ptr != job->qos_ptr)
		apply_qos(job->part_ptr->qos_ptr, job, &c);
	while (assoc && assoc->usage) {
		apply(assoc->usage->grp_used_tres_run_secs, assoc->usage->tres_cnt, &c);
		assoc = assoc->usage->parent_assoc_ptr;
	}
}

void ccr_run_secs_add(const job_record_t *job, time_t t)
{
	apply_all(job, t, false);
}

void ccr_run_secs_remove(const job_record_t *job, time_t t)
{
	apply_all(job, t, true);
}

static void zero(uint64_t *counters, uint32_t cnt)
{
	if (counters)
		memset(counters, 0, sizeof(*counters) * cnt);
}

static int clear_assoc(void *x, void *arg)
{
	slurmdb_assoc_rec_t *assoc = x;

	(void)arg;
	if (assoc->usage)
		zero(assoc->usage->grp_used_tres_run_secs, assoc->usage->tres_cnt);
	return 0;
}

#if CCR_SLURM_QOS_RUN_SECS
static int clear_used(void *x, void *arg)
{
	slurmdb_used_limits_t *used = x;

	(void)arg;
	zero(used->tres_run_secs, (uint32_t)slurmctld_tres_cnt);
	return 0;
}
#endif

static int clear_qos(void *x, void *arg)
{
	slurmdb_qos_rec_t *qos = x;

	(void)arg;
	if (!qos->usage)
		return 0;
	zero(qos->usage->grp_used_tres_run_secs, qos->usage->tres_cnt);
#if CCR_SLURM_QOS_RUN_SECS
	if (qos->usage->acct_limit_list)
		list_for_each(qos->usage->acct_limit_list, clear_used, NULL);
	if (qos->usage->user_limit_list)
		list_for_each(qos->usage->user_limit_list, clear_used, NULL);
#endif
	return 0;
}

void ccr_run_secs_clear(void)
{
	if (assoc_mgr_assoc_list)
		list_for_each(assoc_mgr_assoc_list, clear_assoc, NULL);
	if (assoc_mgr_qos_list)
		list_for_each(assoc_mgr_qos_list, clear_qos, NULL);
}

static int init_job(void *x, void *arg)
{
	const job_record_t *job = x;

	if ((IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) && !IS_JOB_COMPLETING(job) &&
	    job->assoc_ptr && job->end_time_exp != (time_t)NO_VAL)
		ccr_run_secs_add(job, *(time_t *)arg);
	return 0;
}

void ccr_run_secs_init(time_t last_ran)
{
	slurmctld_lock_t locks = {.job = READ_LOCK};
	assoc_mgr_lock_t assoc_locks = {.assoc = WRITE_LOCK, .qos = WRITE_LOCK, .tres = READ_LOCK};

	if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) || !job_list)
		return;
	lock_slurmctld(locks);
	assoc_mgr_lock(&assoc_locks);
	ccr_run_secs_clear();
	list_for_each(job_list, init_job, &last_ran);
	assoc_mgr_unlock(&assoc_locks);
	unlock_slurmctld(locks);
}
