/* lsf_arrays - see lsf_arrays.h */
#define HASH_NONFATAL_OOM 1
#include "priority/lsf_arrays.h"

#include <stdlib.h>
#include <uthash.h>

#include "priority/lsf_rows.h"

/* The waiting jobs with a record of their own, of a user or of an array. */
struct count {
	UT_hash_handle hh;
	uint32_t id;
	int alone;
};

struct waiting {
	struct count *users, *arrays;
	job_record_t **rest; /* records that stand for several tasks */
	size_t n, room;
};

static struct count *count_of(struct count **table, uint32_t id)
{
	struct count *c;

	HASH_FIND(hh, *table, &id, sizeof(id), c);
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->id = id;
	HASH_ADD(hh, *table, id, sizeof(id), c);
	if (!c->hh.tbl) { /* uthash had no memory for its table */
		free(c);
		return NULL;
	}
	return c;
}

static void free_counts(struct count **table)
{
	struct count *c, *next;

	HASH_ITER (hh, *table, c, next) {
		HASH_DEL(*table, c);
		free(c);
	}
}

static bool add_rest(struct waiting *w, job_record_t *job)
{
	if (w->n == w->room) {
		size_t room = w->room * 2 + 64;
		job_record_t **more = realloc(w->rest, room * sizeof(*more));

		if (!more)
			return false;
		w->rest = more;
		w->room = room;
	}
	w->rest[w->n++] = job;
	return true;
}

/* slurmctld splits arrays for burst buffers itself, as their stages are counted. */
static bool may_split(const job_record_t *job)
{
	return ccr_slurm_is_array_rest(job) && !job->burst_buffer;
}

static bool look_at(struct waiting *w, job_record_t *job)
{
	struct count *user = count_of(&w->users, job->user_id), *array = NULL;

	if (job->array_job_id)
		array = count_of(&w->arrays, job->array_job_id);
	if (!user || (job->array_job_id && !array))
		return false;
	if (may_split(job))
		return add_rest(w, job);
	user->alone++;
	if (array)
		array->alone++;
	return true;
}

/* false: out of memory */
static bool look(struct waiting *w, time_t now)
{
	assoc_mgr_lock_t a = {.assoc = READ_LOCK, .qos = READ_LOCK, .tres = READ_LOCK};
	ccr_slurm_list_itr_t *it = list_iterator_create(job_list);
	job_record_t *job;
	bool ok = true;

	assoc_mgr_lock(&a);
	while (ok && (job = list_next(it))) {
		if (ccr_lsf_rows_counts(job, now))
			ok = look_at(w, job);
	}
	list_iterator_destroy(it);
	assoc_mgr_unlock(&a);
	return ok;
}

static int longest_waiting_first(const void *a, const void *b)
{
	const job_record_t *x = *(job_record_t *const *)a, *y = *(job_record_t *const *)b;

	if (x->details->submit_time != y->details->submit_time)
		return x->details->submit_time < y->details->submit_time ? -1 : 1;
	return (x->array_job_id > y->array_job_id) - (x->array_job_id < y->array_job_id);
}

/* How many tasks of that array may start beside those that run; all have a record at the most. */
static int may_start(const job_record_t *job)
{
	uint32_t most = job->array_recs->max_run_tasks, run = job->array_recs->tot_run_tasks;

	if (!most)
		return INT32_MAX;
	return most > run && most - run < INT32_MAX ? (int)(most - run) : 0;
}

static size_t split(struct waiting *w, int most)
{
	size_t done = 0;

	qsort(w->rest, w->n, sizeof(*w->rest), longest_waiting_first);
	for (size_t i = 0; i < w->n; i++) {
		job_record_t *job = w->rest[i];
		struct count *user = count_of(&w->users, job->user_id);
		struct count *array = count_of(&w->arrays, job->array_job_id);
		int may = may_start(job);

		while (user && array && user->alone < most && array->alone < may &&
		       ccr_slurm_is_array_rest(job)) {
			job = ccr_slurm_array_split(job);
			if (!job) {
				error("priority/ccr: no record for another task of a job array");
				return done;
			}
			user->alone++;
			array->alone++;
			done++;
		}
	}
	return done;
}

size_t ccr_lsf_arrays_split(const struct ccr_config_lsf *lsf, time_t now)
{
	struct waiting w = {0};
	size_t done = 0;

	if (lsf->array_tasks <= 0)
		return 0;
	if (look(&w, now) && w.n && HASH_COUNT(w.users) > 1)
		done = split(&w, lsf->array_tasks);
	free_counts(&w.users);
	free_counts(&w.arrays);
	free(w.rest);
	return done;
}
