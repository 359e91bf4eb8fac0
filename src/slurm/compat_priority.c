/* See compat_priority.h. */
#include "slurm/compat_priority.h"

#include <string.h>
#include <time.h>

/* --- job records ------------------------------------------------------------------------------ */

ccr_slurm_factors_t *ccr_slurm_factors_reset(job_record_t *job)
{
	ccr_slurm_factors_t *f = job->prio_factors;

	if (!f) {
		f = job->prio_factors = xmalloc(sizeof(*f));
		return f;
	}
	xfree(f->priority_tres);
	xfree(f->tres_weights);
	memset(f, 0, sizeof(*f));
	return f;
}

static ccr_slurm_list_t *qos_list_of(const job_record_t *job)
{
#if CCR_SLURM_QOS_LIST
	return job->qos_list && list_count(job->qos_list) > 0 ? job->qos_list : NULL;
#else
	(void)job;
	return NULL;
#endif
}

slurmdb_qos_rec_t *ccr_slurm_job_qos(const job_record_t *job)
{
	ccr_slurm_list_t *list = qos_list_of(job);

	return list ? list_peek(list) : job->qos_ptr;
}

bool ccr_slurm_over_limit(job_record_t *job)
{
	static uint64_t *asked; /* slurmctld writes to its own copy, too */
	static size_t room;
	size_t n = slurmctld_tres_cnt > 0 ? (size_t)slurmctld_tres_cnt : 0;
	uint32_t reason = job->state_reason;
	char *words = job->state_desc;
	__typeof__(job->qos_blocking_ptr) blocking = job->qos_blocking_ptr;
	bool free_to_go;

	if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) || !job->tres_req_cnt ||
	    !job->part_ptr || !n)
		return false;
	if (room < n) {
		xfree(asked);
		asked = xcalloc(n, sizeof(*asked));
		room = n;
	}
	memcpy(asked, job->tres_req_cnt, n * sizeof(*asked));
	job->state_desc = NULL;
	free_to_go = acct_policy_job_runnable_pre_select(job, true) &&
		     acct_policy_job_runnable_post_select(job, asked, true);
	xfree(job->state_desc);
	job->state_desc = words;
	job->state_reason = reason;
	job->qos_blocking_ptr = blocking;
	return !free_to_go;
}

bool ccr_slurm_is_array_rest(const job_record_t *job)
{
	return IS_JOB_PENDING(job) && job->array_task_id == NO_VAL && job->array_recs &&
	       job->array_recs->task_id_bitmap && job->array_recs->task_cnt > 1;
}

job_record_t *ccr_slurm_array_split(job_record_t *job)
{
	int task = ccr_slurm_is_array_rest(job) ? bit_ffs(job->array_recs->task_id_bitmap) : -1;
	job_record_t *rest;

	if (task < 0)
		return NULL;
	job->array_task_id = (uint32_t)task;
#if CCR_SLURM_SPLIT_ADDS
	rest = job_array_split(job, true);
#else
	rest = job_array_split(job);
#endif
	if (!rest) {
		job->array_task_id = NO_VAL;
		return NULL;
	}
#if CCR_SLURM_SPLIT_ADDS
	job_state_set(rest, JOB_PENDING);
#else
	rest->job_state = JOB_PENDING;
#endif
	rest->start_time = 0;
	return rest;
}

/* --- the priorities of a job with several partitions or QOS ----------------------------------- */

/* Where the array of a job sits; NULL while there is none and none is to be made. */
static uint32_t **array_of(job_record_t *job, bool make)
{
#if CCR_SLURM_PRIO_NAMES
#if CCR_SLURM_PRIO_MULT
#define PRIO_STRUCT prio_mult
#else
#define PRIO_STRUCT part_prio
#endif
	if (!job->PRIO_STRUCT && make)
		job->PRIO_STRUCT = xmalloc(sizeof(*job->PRIO_STRUCT));
	return job->PRIO_STRUCT ? &job->PRIO_STRUCT->priority_array : NULL;
#else
	(void)make;
	return &job->priority_array;
#endif
}

/* Is the array from before the partitions last changed? */
static bool outdated(const job_record_t *job)
{
#if CCR_SLURM_PRIO_NAMES
	return job->PRIO_STRUCT->last_update < last_part_update;
#else
	(void)job;
	return false;
#endif
}

/* Notes for scontrol whose the numbers of the array are. */
static void name_array(job_record_t *job)
{
#if CCR_SLURM_PRIO_NAMES
#if CCR_SLURM_QOS_LIST
#define PRIO_NAMES priority_array_names
#else
#define PRIO_NAMES priority_array_parts
#endif
	xfree(job->PRIO_STRUCT->PRIO_NAMES);
	if (job->part_ptr_list)
		job->PRIO_STRUCT->PRIO_NAMES = part_list_to_xstr(job->part_ptr_list);
	job->PRIO_STRUCT->last_update = time(NULL);
#else
	(void)job;
#endif
}

static void drop_array(job_record_t *job)
{
#if CCR_SLURM_PRIO_NAMES
	if (!job->PRIO_STRUCT)
		return;
	xfree(job->PRIO_STRUCT->priority_array);
	xfree(job->PRIO_STRUCT->PRIO_NAMES);
	xfree(job->PRIO_STRUCT);
#else
	xfree(job->priority_array);
#endif
}

int ccr_slurm_slot_count(const job_record_t *job)
{
	ccr_slurm_list_t *qos = qos_list_of(job);
	int parts = job->part_ptr_list ? list_count(job->part_ptr_list) : 0;

	if (!parts && !qos)
		return 0;
	return (parts ? parts : 1) * (qos ? list_count(qos) : 1);
}

void ccr_slurm_sort_parts(job_record_t *job)
{
#if !CCR_SLURM_PARTS_SORTED
	if (job->part_ptr_list)
		list_sort(job->part_ptr_list, priority_sort_part_tier);
#else
	(void)job;
#endif
}

uint32_t *ccr_slurm_slots(job_record_t *job, int n)
{
	uint32_t **array;

	if (n <= 0) {
		drop_array(job);
		return NULL;
	}
	array = array_of(job, true);
	/* slurmctld copies list_count numbers when it splits a job array: never fewer than n. */
	if (!*array || xsize(*array) < n * sizeof(uint32_t) || outdated(job)) {
		xfree(*array);
		*array = xcalloc(n, sizeof(uint32_t));
		name_array(job);
	}
	return *array;
}

const uint32_t *ccr_slurm_slots_peek(const job_record_t *job, int *count)
{
	uint32_t **array = array_of((job_record_t *)job, false);
	size_t n = array && *array ? xsize(*array) / sizeof(uint32_t) : 0;

	*count = n > INT32_MAX ? INT32_MAX : (int)n;
	return n ? *array : NULL;
}

/*
 * No list_for_each around the caller's function: that holds the list's lock over the call, and a
 * function that so much as peeks into the list would end the daemon.
 */
static void each_qos(job_record_t *job, part_record_t *part, int *index, ccr_slurm_slot_fn fn,
		     void *arg)
{
	ccr_slurm_list_t *list = qos_list_of(job);
	ccr_slurm_list_itr_t *it;
	slurmdb_qos_rec_t *qos;

	if (!list) {
		fn(job, part, job->qos_ptr, (*index)++, arg);
		return;
	}
	it = list_iterator_create(list);
	while ((qos = list_next(it)))
		fn(job, part, qos, (*index)++, arg);
	list_iterator_destroy(it);
}

/* The partitions of a job, in the list's order. */
struct parts {
	part_record_t *part[32];
	int n, room;
};

static int add_part(void *x, void *arg)
{
	struct parts *p = arg;

	if (p->n < p->room)
		p->part[p->n] = x;
	p->n++;
	return 0;
}

void ccr_slurm_each_slot(job_record_t *job, ccr_slurm_slot_fn fn, void *arg)
{
	struct parts parts;
	ccr_slurm_list_itr_t *it;
	part_record_t *part;
	int index = 0;

	parts.n = 0;
	parts.room = sizeof(parts.part) / sizeof(parts.part[0]);
	if (job->part_ptr_list)
		list_for_each(job->part_ptr_list, add_part, &parts);
	if (!parts.n && !qos_list_of(job)) {
		fn(job, job->part_ptr, job->qos_ptr, -1, arg);
		return;
	}
	if (!parts.n) {
		each_qos(job, job->part_ptr, &index, fn, arg);
		return;
	}
	if (parts.n <= parts.room) {
		for (int i = 0; i < parts.n; i++)
			each_qos(job, parts.part[i], &index, fn, arg);
		return;
	}
	it = list_iterator_create(job->part_ptr_list);
	while ((part = list_next(it)))
		each_qos(job, part, &index, fn, arg);
	list_iterator_destroy(it);
}

/* --- sprio's list ----------------------------------------------------------------------------- */

void ccr_slurm_factors_list_lock(void)
{
#if !CCR_SLURM_FACTORS_LOCKED
	slurmctld_lock_t ctld = {.job = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK};
	assoc_mgr_lock_t assoc = {.qos = READ_LOCK};

	lock_slurmctld(ctld);
	assoc_mgr_lock(&assoc);
#endif
}

void ccr_slurm_factors_list_unlock(void)
{
#if !CCR_SLURM_FACTORS_LOCKED
	slurmctld_lock_t ctld = {.job = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK};
	assoc_mgr_lock_t assoc = {.qos = READ_LOCK};

	assoc_mgr_unlock(&assoc);
	unlock_slurmctld(ctld);
#endif
}

#if !CCR_SLURM_FACTORS_UNFILTERED
static int same_id(void *item, void *key)
{
	return *(uint32_t *)item == *(uint32_t *)key;
}

/* An absent list wants everything, an empty one nothing, as sprio's server always had it. */
static bool listed(ccr_slurm_list_t *ids, uint32_t id)
{
	return !ids || list_find_first(ids, same_id, &id);
}

/* Is name one of the comma-separated names? */
static bool named(const char *names, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = names; *p;) {
		size_t n = strcspn(p, ",");

		if (n == len && !strncmp(p, name, n))
			return true;
		p += n;
		p += *p == ',';
	}
	return false;
}
#endif

bool ccr_slurm_request_wants(const ccr_slurm_request_t *request, const job_record_t *job,
			     const part_record_t *part)
{
#if CCR_SLURM_FACTORS_UNFILTERED
	(void)request;
	(void)job;
	(void)part;
	return true;
#else
	if (!request)
		return true;
	return listed(request->job_id_list, job->job_id) &&
	       listed(request->uid_list, job->user_id) &&
	       (!request->partitions || (part && named(request->partitions, part->name)));
#endif
}

static bool coordinates(const job_record_t *job, uid_t uid)
{
#if CCR_SLURM_COORD_LOCK_ARG
	return assoc_mgr_is_user_acct_coord(acct_db_conn, uid, job->account, false);
#else
	return assoc_mgr_is_user_acct_coord(acct_db_conn, uid, job->account);
#endif
}

bool ccr_slurm_may_see(const job_record_t *job, uid_t uid)
{
	if (!(slurm_conf.private_data & PRIVATE_DATA_JOBS) || job->user_id == uid ||
	    validate_operator(uid))
		return true;
	if (slurm_mcs_get_privatedata())
		return !mcs_g_check_mcs_label(uid, job->mcs_label, false);
	return coordinates(job, uid);
}

/* --- limits ----------------------------------------------------------------------------------- */

bool ccr_slurm_qos_run_secs(slurmdb_qos_rec_t *qos, const job_record_t *job, uint64_t **account,
			    uint64_t **user)
{
#if CCR_SLURM_QOS_RUN_SECS
	slurmdb_used_limits_t *a, *u;

	*account = *user = NULL;
	if (!qos || !qos->usage || !job->assoc_ptr)
		return false;
	a = acct_policy_get_acct_used_limits(&qos->usage->acct_limit_list, job->assoc_ptr->acct);
	u = acct_policy_get_user_used_limits(&qos->usage->user_limit_list, job->user_id);
	if (!a || !u || !a->tres_run_secs || !u->tres_run_secs)
		return false;
	*account = a->tres_run_secs;
	*user = u->tres_run_secs;
	return true;
#else
	(void)qos;
	(void)job;
	*account = *user = NULL;
	return false;
#endif
}
