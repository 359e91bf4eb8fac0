/* asks - see asks.h */
#include "select/asks.h"

#include <string.h>

#include "core/mix.h"

static int64_t minutes(uint32_t m)
{
	return m == INFINITE || m == NO_VAL ? CCR_FOREVER : m ? (int64_t)m * 60 : 60;
}

int64_t ccr_job_limit(const job_record_t *job)
{
	if (job->time_limit != NO_VAL)
		return minutes(job->time_limit);
	if (!job->part_ptr)
		return CCR_FOREVER;
	if (job->part_ptr->default_time != NO_VAL)
		return minutes(job->part_ptr->default_time);
	return minutes(job->part_ptr->max_time);
}

int64_t ccr_job_end(const job_record_t *job, int64_t now)
{
	if (IS_JOB_COMPLETING(job))
		return now + 1;
	/* While it is suspended its end moves on; on resume slurmctld adds the time. */
	if (IS_JOB_SUSPENDED(job) && job->suspend_time && job->end_time > job->suspend_time)
		return now + (job->end_time - job->suspend_time);
	if (job->time_limit == INFINITE || !job->end_time)
		return CCR_FOREVER;
	/* Its limit counts from when the nodes are up that are being woken for it. */
	if (IS_JOB_POWER_UP_NODE(job) && job->time_limit != NO_VAL &&
	    job->end_time < now + (int64_t)job->time_limit * 60)
		return now + (int64_t)job->time_limit * 60;
	return job->end_time;
}

struct ccr_rank ccr_job_rank(const job_record_t *job)
{
	return (struct ccr_rank){
	    .reserved = job->resv_name != NULL,
	    .tier = job->part_ptr ? job->part_ptr->priority_tier : 0,
	    .prio = job->priority,
	    .submit = job->details ? job->details->submit_time : 0,
	    .job = job->job_id,
	};
}

/* (of what slurmctld and its plugins change themselves as they try the job, nothing) */
uint64_t ccr_job_asked(const job_record_t *job)
{
	const ccr_slurm_details_t *d = job->details;
	uint64_t h = ccr_mix_text(ccr_mix_text(job->user_id, job->partition), job->tres_per_job);

	h = ccr_mix_text(ccr_mix_text(h, job->tres_per_node), job->tres_per_socket);
	h = ccr_mix(ccr_mix_text(h, job->tres_per_task), job->time_min ? 0 : job->time_limit);
	if (!d)
		return h;
	h = ccr_mix(h, (uint64_t)d->min_nodes << 32 | d->max_nodes);
	h = ccr_mix(h, (uint64_t)d->orig_min_cpus << 32 | d->orig_pn_min_cpus);
	h = ccr_mix(ccr_mix(h, d->orig_pn_min_memory), d->contiguous);
	h = ccr_mix_text(ccr_mix_text(h, d->req_nodes), d->exc_nodes);
	return ccr_mix_text(h, d->features);
}

bool ccr_job_raised(const job_record_t *job)
{
	return job->direct_set_prio || (job->details && job->details->nice < NICE_OFFSET);
}

int64_t ccr_job_since(const job_record_t *job)
{
	if (!job->details)
		return 0;
	return job->details->begin_time > job->details->submit_time ? job->details->begin_time
								    : job->details->submit_time;
}

static void want(struct ccr_want *list, int16_t type, uint64_t count)
{
	for (int i = 0; i < CCR_GPU_WANTS; i++) {
		if (list[i].count && list[i].type != type)
			continue;
		count += list[i].count;
		list[i].type = type;
		list[i].count = count > UINT16_MAX ? UINT16_MAX : (uint16_t)count;
		return;
	}
}

/* By --ntasks-per-core=1, or by slurm.conf where the job does not say. */
static bool one_task_a_core(const multi_core_data_t *m)
{
	return m->ntasks_per_core == 1 ||
	       ((slurm_conf.select_type_param & CCR_SLURM_ONE_TASK_BIT) &&
		m->ntasks_per_core == INFINITE16);
}

bool ccr_job_by_load(const job_record_t *job)
{
	return (slurm_conf.select_type_param & CCR_SLURM_LLN_BIT) ||
	       (job->part_ptr && (job->part_ptr->flags & PART_FLAG_LLN));
}

/* CPUs, tasks and nodes. */
static void read_cpus(const struct ccr_cluster *c, const job_record_t *job, struct ccr_ask *ask)
{
	const ccr_slurm_details_t *d = job->details;
	uint32_t per_task = d->cpus_per_task && d->cpus_per_task != NO_VAL16 ? d->cpus_per_task : 1;
	uint32_t per_node = d->ntasks_per_node == NO_VAL16 ? 0 : d->ntasks_per_node;
	uint32_t least = d->pn_min_cpus && d->pn_min_cpus != NO_VAL ? d->pn_min_cpus : 1, tasks;
	struct ccr_demand *f = &ask->floor;

	if (d->overcommit) {
		/* CPUs are not counted by task: one a node is all that is sure. */
		f->node.cpus = 1;
		ask->need = *f;
		ask->need.node.cpus = (int32_t)least;
		ask->exact = false;
		return;
	}
	tasks = (d->min_cpus + per_task - 1) / per_task;
	if (tasks > f->min_nodes || per_node > 1 || f->max_nodes != f->min_nodes) {
		f->units = tasks > f->min_nodes ? tasks : f->min_nodes;
		f->unit.cpus = (int32_t)per_task;
		if (per_node && f->units == f->min_nodes * per_node &&
		    f->max_nodes == f->min_nodes) {
			f->node_min_units = per_node;
			f->node_max_units = per_node;
		} else if (per_node) {
			/* --ntasks-per-node is a maximum beside -n. */
			f->node_max_units = per_node;
			ask->exact = false;
		}
	} else {
		f->node.cpus = (int32_t)per_task;
	}
	ask->need = *f;
	/* pn_min_cpus is a count that the stock plugin derives; as a floor it is too high at times.
	 */
	if (!f->units && (int32_t)least > f->node.cpus)
		ask->need.node.cpus = (int32_t)least;
	/* One thread a core: each task takes whole cores. */
	if (c->threads > 1 && d->mc_ptr &&
	    (d->mc_ptr->threads_per_core < c->threads || one_task_a_core(d->mc_ptr))) {
		ask->need.node.cpus *= (int32_t)c->threads;
		ask->need.unit.cpus *= (int32_t)c->threads;
		ask->exact = false;
	}
}

static void read_memory(const struct ccr_cluster *c, const job_record_t *job, struct ccr_ask *ask)
{
	uint64_t m = job->details->pn_min_memory;
	uint16_t of_part = job->part_ptr ? job->part_ptr->cr_type : 0;

	if (!c->memory || m == NO_VAL64 || (of_part && !(of_part & CCR_SLURM_MEMORY_BIT)))
		return;
	if (!(m & ~MEM_PER_CPU)) {
		ask->need.all_mem = ask->floor.all_mem = true;
	} else if (m & MEM_PER_CPU) {
		ask->need.mem_per_cpu = (int64_t)(m & ~MEM_PER_CPU);
		ask->floor.mem_per_cpu = ask->need.mem_per_cpu;
		if (job->details->overcommit)
			ask->floor.mem_per_cpu = 0;
	} else {
		ask->need.node.mem = (int64_t)m;
		ask->floor.node.mem = (int64_t)m;
	}
}

/* One line of --gres or --gpus*. */
static void read_gpus(const struct ccr_cluster *c, const job_record_t *job,
		      const gres_job_state_t *g, struct ccr_ask *ask)
{
	int16_t type = g->type_id ? ccr_cluster_type(c, g->type_id) : CCR_GPU_ANY;
	uint64_t per_cpu = g->cpus_per_gres ? g->cpus_per_gres : g->def_cpus_per_gres;
	uint64_t per_mem = g->mem_per_gres ? g->mem_per_gres : g->def_mem_per_gres;
	struct ccr_demand *f = &ask->floor, *n = &ask->need;
	bool by_task = g->ntasks_per_gres && g->ntasks_per_gres != NO_VAL16;

	if (g->gres_per_socket) {
		const multi_core_data_t *m = job->details->mc_ptr;
		uint64_t sockets = m && m->sockets_per_node && m->sockets_per_node != NO_VAL16
				       ? m->sockets_per_node
				       : 1;

		want(f->node.gpu, type, g->gres_per_socket * sockets);
		want(n->node.gpu, type, g->gres_per_socket * sockets);
	} else if (g->gres_per_node) {
		uint64_t cpus = per_cpu * g->gres_per_node;

		want(f->node.gpu, type, g->gres_per_node);
		want(n->node.gpu, type, g->gres_per_node);
		if (per_cpu && cpus < INT32_MAX && (int64_t)cpus > n->node.cpus && !n->units)
			n->node.cpus = (int32_t)cpus;
		else if (per_cpu && n->units)
			n->whole = true;
	} else if (g->gres_per_task) {
		if (n->units) {
			want(f->unit.gpu, type, g->gres_per_task);
			want(n->unit.gpu, type, g->gres_per_task);
		} else {
			want(f->node.gpu, type, g->gres_per_task);
			want(n->node.gpu, type, g->gres_per_task);
		}
		n->whole = n->whole || per_cpu;
	} else if (g->gres_per_job) {
		if (n->min_nodes == 1 && n->max_nodes == 1) {
			want(f->node.gpu, type, g->gres_per_job);
			want(n->node.gpu, type, g->gres_per_job);
		} else {
			want(f->total, type, g->gres_per_job);
			want(n->total, type, g->gres_per_job);
		}
		/* CPUs that go with each GPU: where GPUs land decides, and only the stock one
		 * knows. */
		n->whole = n->whole || per_cpu;
	}
	if (per_mem && c->memory) {
		/* The memory is the GPUs', whatever else was said. */
		f->all_mem = n->all_mem = false;
		f->node.mem = f->mem_per_cpu = n->mem_per_cpu = 0;
		n->node.mem = (int64_t)(per_mem * g->gres_per_node);
		n->whole = n->whole || !g->gres_per_node;
	}
	if (g->gres_per_socket || by_task)
		n->whole = true;
	if (per_cpu || per_mem || g->gres_per_socket || by_task)
		ask->exact = false;
}

static bool feature_counts(const ccr_slurm_details_t *d)
{
	ccr_slurm_list_itr_t *it;
	job_feature_t *f;
	bool found = false;

	if (!d->feature_list)
		return false;
	it = list_iterator_create(d->feature_list);
	while ((f = list_next(it)))
		found = found || f->count || f->op_code == FEATURE_OP_XAND;
	list_iterator_destroy(it);
	return found;
}

static bool by_socket(const ccr_slurm_details_t *d)
{
	const multi_core_data_t *m = d->mc_ptr;

	return m && ((m->sockets_per_node && m->sockets_per_node != NO_VAL16) ||
		     (m->cores_per_socket && m->cores_per_socket != NO_VAL16) ||
		     (m->ntasks_per_socket && m->ntasks_per_socket != INFINITE16 &&
		      m->ntasks_per_socket != NO_VAL16) ||
		     (m->ntasks_per_board && m->ntasks_per_board != INFINITE16 &&
		      m->ntasks_per_board != NO_VAL16));
}

/* The partition gives out a part of a node's CPUs only, or a node to one user at a time. */
static bool part_limits_nodes(const part_record_t *part)
{
	if (!part)
		return false;
#if CCR_SLURM_SOCKET_CAP
	if (part->max_cpus_per_socket && part->max_cpus_per_socket != INFINITE)
		return true;
#endif
	return (part->max_cpus_per_node && part->max_cpus_per_node != INFINITE) ||
	       (part->flags & PART_FLAG_EXCLUSIVE_USER);
}

/* CPUs of the partition are given out more than once, or nodes as a whole. */
static void read_sharing(const job_record_t *job, struct ccr_ask *ask)
{
	uint16_t share = job->part_ptr ? job->part_ptr->max_share : 1;

	if (job->details->whole_node || share == 0)
		ask->need.whole = true;
	if ((share & ~SHARED_FORCE) > 1) {
		/* which cores it may share with whom is the stock plugin's to say */
		ask->need.whole = true;
		ask->floor.node.cpus = 0;
		ask->floor.unit.cpus = 0;
		ask->floor.mem_per_cpu = 0;
		ask->exact = false;
	}
}

void ccr_ask_read(const struct ccr_cluster *c, const job_record_t *job, uint32_t min_nodes,
		  uint32_t max_nodes, struct ccr_ask *ask)
{
	const ccr_slurm_details_t *d = job->details;
	ccr_slurm_list_itr_t *it;
	gres_state_t *g;

	memset(ask, 0, sizeof(*ask));
	ask->limit = ccr_job_limit(job);
	ask->exact = true;
	ask->floor.min_nodes = min_nodes ? min_nodes : 1;
	ask->floor.max_nodes = max_nodes >= c->n && max_nodes > min_nodes ? 0 : max_nodes;
	read_cpus(c, job, ask);
	read_memory(c, job, ask);
	if (job->gres_list_req) {
		it = list_iterator_create(job->gres_list_req);
		while ((g = list_next(it))) {
			if (g->plugin_id == c->gpu && g->gres_data)
				read_gpus(c, job, g->gres_data, ask);
			else
				ask->need.whole = ask->floor.kept = true;
		}
		list_iterator_destroy(it);
	}
	read_sharing(job, ask);
	ask->mixed = feature_counts(d);
	if (d->contiguous || job->req_switch || (job->bit_flags & GRES_ENFORCE_BIND) ||
	    job->license_list || (d->core_spec && d->core_spec != NO_VAL16) || by_socket(d) ||
	    ask->mixed)
		ask->need.whole = true;
	if (ask->need.whole)
		ask->exact = false;
	ask->same = ask->exact;
	if (part_limits_nodes(job->part_ptr)) {
		ask->need.whole = true;
		ask->exact = false;
	}
}
