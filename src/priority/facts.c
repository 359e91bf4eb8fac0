/* facts - see facts.h */
#include "priority/facts.h"

#include <string.h>

#include "core/mf.h"
#include "priority/eligible_jobs.h"
#include "slurm/compat_gres.h"

#define YEAR_S (365.0 * 86400)

void ccr_facts_site(struct ccr_facts_site *site, const struct ccr_settings *settings, time_t now)
{
	site->settings = settings;
	site->now = now;
	site->nodes = ccr_slurm_node_count();
	site->cpus = cluster_cpus;
	site->policy = NULL;
}

bool ccr_facts_wanted(const struct ccr_facts_site *site, enum ccr_var var)
{
	return !site->policy || ccr_policy_uses(site->policy, var);
}

uint64_t ccr_facts_gpus(const job_record_t *job)
{
	static uint32_t gpu_id; /* a hash of the name: the same value whoever computes it */
	ccr_slurm_list_itr_t *it;
	gres_state_t *g;
	uint64_t total = 0;

	if (!job->gres_list_req)
		return 0;
	if (!gpu_id)
		gpu_id = gres_build_id("gpu");
	it = list_iterator_create(job->gres_list_req);
	while ((g = list_next(it))) {
		const gres_job_state_t *js = g->gres_data;
		uint64_t nodes = job->details ? job->details->min_nodes : 1;
		uint64_t tasks = job->details ? job->details->num_tasks : 1;

		if (g->plugin_id != gpu_id || !js)
			continue;
		if (js->gres_per_job)
			total += js->gres_per_job;
		else if (js->gres_per_node)
			total += js->gres_per_node * (nodes ? nodes : 1);
		else if (js->gres_per_task)
			total += js->gres_per_task * (tasks ? tasks : 1);
		else if (js->gres_per_socket)
			total += js->gres_per_socket * (nodes ? nodes : 1);
	}
	list_iterator_destroy(it);
	return total;
}

/* The time limit in seconds; what the partition allows where the job names none (R27). */
static double walltime(const job_record_t *job)
{
	uint32_t minutes = job->time_limit;

	if (minutes == NO_VAL && job->part_ptr)
		minutes = job->part_ptr->default_time != NO_VAL ? job->part_ptr->default_time
								: job->part_ptr->max_time;
	return minutes == NO_VAL || minutes == INFINITE ? YEAR_S : 60.0 * minutes;
}

static uint32_t cpus_for_size(const job_record_t *job)
{
	if (job->total_cpus)
		return job->total_cpus;
	if (job->details->max_cpus != NO_VAL)
		return job->details->max_cpus;
	return job->details->min_cpus;
}

void ccr_facts_waiting(const struct ccr_facts_site *site, const job_record_t *job, time_t accrue,
		       double *var)
{
	double waited = 0;

	if (accrue && site->now > accrue)
		waited = (double)(site->now - accrue);
	var[CCR_VAR_QUEUE_MINUTES] = waited / 60;
	if (ccr_facts_wanted(site, CCR_VAR_ELIGIBLE_TIME))
		var[CCR_VAR_ELIGIBLE_TIME] = ccr_eligible_jobs_seconds(job, site->now);
	var[CCR_VAR_AGE_FACTOR] = ccr_mf_age(site->now, accrue, site->settings->max_age);
}

void ccr_facts_job(const struct ccr_facts_site *site, const job_record_t *job, double *var,
		   struct ccr_score_extra *extra)
{
	const ccr_slurm_details_t *d = job->details;
	uint64_t mem = 0;

	if (job->tres_req_cnt && job->tres_req_cnt[TRES_ARRAY_MEM] != NO_CONSUME_VAL64)
		mem = job->tres_req_cnt[TRES_ARRAY_MEM];
	var[CCR_VAR_NODES] = d->min_nodes;
	var[CCR_VAR_NCPUS] = job->tres_req_cnt && job->tres_req_cnt[TRES_ARRAY_CPU]
				 ? (double)job->tres_req_cnt[TRES_ARRAY_CPU]
				 : d->min_cpus;
	if (ccr_facts_wanted(site, CCR_VAR_NGPUS))
		var[CCR_VAR_NGPUS] = (double)ccr_facts_gpus(job);
	var[CCR_VAR_MEM] = 1024.0 * (double)mem;
	var[CCR_VAR_NTASKS] = d->num_tasks && d->num_tasks != NO_VAL ? d->num_tasks : 1;
	var[CCR_VAR_WALLTIME] = walltime(job);
	ccr_facts_waiting(site, job, d->accrue_time, var);
	var[CCR_VAR_JOB_PRIORITY] = -((double)d->nice - NICE_OFFSET);
	extra->nice = (int64_t)d->nice - NICE_OFFSET;
	extra->site = (int64_t)job->site_factor - NICE_OFFSET;
}

void ccr_facts_size(const struct ccr_facts_site *site, const job_record_t *job,
		    const part_record_t *part, double *var)
{
	const struct ccr_settings *s = site->settings;
	const struct ccr_mf_size size = {
	    .cluster_cpus = site->cpus,
	    .nodes = site->nodes,
	    .favor_small = s->favor_small,
	    .relative = (s->flags & PRIORITY_FLAGS_SIZE_RELATIVE) != 0,
	    .wide_counts_all = !CCR_SLURM_ACTIVE_NODES,
	};
	uint32_t minutes = job->time_limit;

	if (minutes == NO_VAL)
		minutes = part ? part->max_time : 1;
	var[CCR_VAR_SIZE_FACTOR] =
	    ccr_mf_size(&size, job->details->min_nodes, cpus_for_size(job), minutes);
}

void ccr_facts_partition(const struct ccr_facts_site *site, const part_record_t *part, double *var)
{
	if (!part) {
		var[CCR_VAR_QUEUE_PRIORITY] = var[CCR_VAR_PARTITION_FACTOR] = 0;
		return;
	}
	var[CCR_VAR_QUEUE_PRIORITY] = part->priority_job_factor;
	var[CCR_VAR_PARTITION_FACTOR] = site->settings->flags & PRIORITY_FLAGS_NO_NORMAL_PART
					    ? part->priority_job_factor
					    : part->norm_priority;
}

const char *ccr_facts_user(const job_record_t *job)
{
	if (job->assoc_ptr && job->assoc_ptr->user)
		return job->assoc_ptr->user;
	return job->user_name ? job->user_name : uid_to_string_cached(job->user_id);
}

void ccr_facts_qos(const struct ccr_facts_site *site, const slurmdb_qos_rec_t *q, double *var)
{
	if (!q || !q->usage || !q->priority) {
		var[CCR_VAR_QOS_PRIORITY] = var[CCR_VAR_QOS_FACTOR] = 0;
		return;
	}
	var[CCR_VAR_QOS_PRIORITY] = q->priority;
	var[CCR_VAR_QOS_FACTOR] = site->settings->flags & PRIORITY_FLAGS_NO_NORMAL_QOS
				      ? (double)q->priority
				      : q->usage->norm_priority;
}

void ccr_facts_assoc(const struct ccr_facts_site *site, const job_record_t *job, double *var)
{
	ccr_facts_qos(site, ccr_slurm_job_qos(job), var);
	ccr_facts_account(site, job->assoc_ptr, var);
}

void ccr_facts_account(const struct ccr_facts_site *site, slurmdb_assoc_rec_t *a, double *var)
{
	if (!a || !a->usage) {
		var[CCR_VAR_ASSOC_FACTOR] = var[CCR_VAR_FS_FACTOR] = 0;
		return;
	}
	var[CCR_VAR_ASSOC_FACTOR] = site->settings->flags & PRIORITY_FLAGS_NO_NORMAL_ASSOC
					? (double)a->priority
					: a->usage->priority_norm;
	var[CCR_VAR_FS_FACTOR] = ccr_fairshare_of(a, &site->settings->fs);
}

void ccr_facts_standing(const struct ccr_standing *standing, const struct ccr_owner *owner,
			double *var)
{
	var[CCR_VAR_TARGET] = standing->target;
	var[CCR_VAR_USAGE] = standing->usage;
	var[CCR_VAR_FS_DELTA] = standing->delta;
	var[CCR_VAR_FINANCIAL] = standing->financial;
	var[CCR_VAR_FAIRSHARE_FACTOR] = ccr_standing_fairshare(standing, owner);
	var[CCR_VAR_USER_USAGE] = owner->usage;
}
