/* lsf_rows - see lsf_rows.h */
#define HASH_NONFATAL_OOM 1
#include "priority/lsf_rows.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "core/lsf.h"
#include "priority/facts.h"

/* Names are at most 511 bytes in the ledger; longer ones are cut, so that a key has a bound. */
#define NAME_MAX_BYTES 511

struct ccr_lsf_pair {
	UT_hash_handle hh;
	struct ccr_lsf_standing standing;
	uint32_t pending; /* jobs that could start */
	char key[];	  /* user, 0, partition, 0 */
};

struct place_key {
	const struct ccr_lsf_pair *pair;
	uint64_t job_id;
};

/* What is ahead of one job in one pair. */
struct place {
	UT_hash_handle hh;
	struct place_key key;
	uint32_t ahead;
};

struct ccr_lsf_table {
	struct ccr_lsf_params params;
	const struct ccr_config *config;
	struct ccr_lsf_pair *pairs;
	struct place *places;
	struct ccr_lsf_job *jobs; /* while the table is made */
	size_t n_jobs, room;
	bool later; /* of the job that is being added */
	time_t now;
	bool failed;
};

static struct ccr_lsf_pair *pair_of(struct ccr_lsf_table *t, const char *user,
				    const char *partition)
{
	char key[2 * (NAME_MAX_BYTES + 1)];
	size_t u = strnlen(user, NAME_MAX_BYTES), p = strnlen(partition, NAME_MAX_BYTES);
	size_t n = u + p + 2;
	struct ccr_lsf_pair *pair;

	memcpy(key, user, u);
	key[u] = '\0';
	memcpy(key + u + 1, partition, p);
	key[n - 1] = '\0';
	HASH_FIND(hh, t->pairs, key, n, pair);
	if (pair)
		return pair;
	pair = calloc(1, sizeof(*pair) + n);
	if (!pair)
		return NULL;
	memcpy(pair->key, key, n);
	pair->standing.shares = ccr_config_lsf_shares(t->config, pair->key);
	HASH_ADD_KEYPTR(hh, t->pairs, pair->key, n, pair);
	if (!pair->hh.tbl) { /* uthash had no memory for its table */
		free(pair);
		return NULL;
	}
	return pair;
}

struct ccr_lsf_pair *ccr_lsf_rows_pair(struct ccr_lsf_table *t, const job_record_t *job,
				       const part_record_t *part)
{
	const char *user, *partition = part ? part->name : job->partition;

	if (!t)
		return NULL;
	user = ccr_facts_user(job);
	return pair_of(t, user ? user : "", partition ? partition : "");
}

bool ccr_lsf_rows_joins(const job_record_t *job, time_t now)
{
	const ccr_slurm_details_t *d = job->details;

	/* slurmctld scores a new job before it gives it a begin time; it has no priority yet */
	return IS_JOB_PENDING(job) && d && d->begin_time <= now &&
	       (d->begin_time || !d->dependency);
}

bool ccr_lsf_rows_counts(job_record_t *job, time_t now)
{
	if (!IS_JOB_PENDING(job) || !job->details || job->priority == 0)
		return false;
	/* a new job has no begin time until the scheduler has looked at it */
	if (job->details->begin_time ? job->details->begin_time > now
				     : job->details->dependency != NULL)
		return false;
	switch (job->state_reason) {
	case WAIT_DEPENDENCY:
	case WAIT_DEP_INVALID:
	case WAIT_ARRAY_TASK_LIMIT:
		return false;
	default:
		return !ccr_slurm_over_limit(job);
	}
}

/* --- making a table ----------------------------------------------------------------------------
 */

static void add_run_times(struct ccr_lsf_table *t, const struct ccr_ledger *ledger)
{
	const struct ccr_total *total = NULL;

	while (ledger && (total = ccr_ledger_next_total(ledger, CCR_BY_USER_PARTITION, total))) {
		struct ccr_lsf_pair *pair = pair_of(t, total->name, total->name2);

		if (!pair) {
			t->failed = true;
			return;
		}
		pair->standing.run_time_s = total->usage.s[CCR_SLOT];
	}
}

static void add_waiting(job_record_t *job, part_record_t *part, slurmdb_qos_rec_t *qos, int index,
			void *arg)
{
	struct ccr_lsf_table *t = arg;
	struct ccr_lsf_pair *pair = ccr_lsf_rows_pair(t, job, part);

	(void)qos;
	(void)index;
	if (!pair) {
		t->failed = true;
		return;
	}
	/* the same partition again, under another QOS */
	for (size_t i = t->n_jobs; i && t->jobs[i - 1].handle == job->job_id; i--) {
		if (t->jobs[i - 1].standing == &pair->standing)
			return;
	}
	if (t->n_jobs == t->room) {
		size_t room = t->room * 2 + 256;
		struct ccr_lsf_job *more = realloc(t->jobs, room * sizeof(*more));

		if (!more) {
			t->failed = true;
			return;
		}
		t->jobs = more;
		t->room = room;
	}
	/* An array's record of all further tasks has the task NO_VAL: it goes after the others. */
	t->jobs[t->n_jobs++] =
	    (struct ccr_lsf_job){.standing = &pair->standing,
				 .since = job->details->submit_time,
				 .id = job->array_job_id ? job->array_job_id : job->job_id,
				 .task = job->array_task_id,
				 .handle = job->job_id,
				 .later = t->later};
	if (!t->later)
		pair->pending++;
}

static void add_job(struct ccr_lsf_table *t, job_record_t *job)
{
	if (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) {
		struct ccr_lsf_pair *pair = ccr_lsf_rows_pair(t, job, job->part_ptr);

		if (pair)
			pair->standing.started++;
		else
			t->failed = true;
	} else if (IS_JOB_PENDING(job) && job->details && job->priority) {
		t->later = !ccr_lsf_rows_counts(job, t->now);
		ccr_slurm_each_slot(job, add_waiting, t);
	}
}

static struct ccr_lsf_pair *pair_with(const struct ccr_lsf_standing *standing)
{
	return (struct ccr_lsf_pair *)((char *)standing - offsetof(struct ccr_lsf_pair, standing));
}

static bool put_place(struct ccr_lsf_table *t, const struct ccr_lsf_pair *pair, uint32_t job_id,
		      uint32_t ahead)
{
	struct place *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	p->key.pair = pair;
	p->key.job_id = job_id;
	p->ahead = ahead;
	HASH_ADD(hh, t->places, key, sizeof(p->key), p);
	if (!p->hh.tbl) {
		free(p);
		return false;
	}
	return true;
}

static bool rank(struct ccr_lsf_table *t)
{
	if (ccr_lsf_rank(&t->params, t->jobs, t->n_jobs, NULL))
		return false;
	for (size_t i = 0; i < t->n_jobs; i++) {
		const struct ccr_lsf_job *j = &t->jobs[i];

		if (!put_place(t, pair_with(j->standing), j->handle, j->ahead))
			return false;
	}
	free(t->jobs);
	t->jobs = NULL;
	t->n_jobs = t->room = 0;
	return true;
}

struct ccr_lsf_table *ccr_lsf_rows_make(const struct ccr_config *config,
					const struct ccr_ledger *ledger, time_t now)
{
	struct ccr_lsf_table *t = calloc(1, sizeof(*t));
	ccr_slurm_list_itr_t *it;
	job_record_t *job;

	if (!t)
		return NULL;
	t->config = config;
	t->now = now;
	t->params = (struct ccr_lsf_params){.constant = config->lsf.constant,
					    .cpu_time_factor = config->lsf.cpu_time_factor,
					    .run_time_factor = config->lsf.run_time_factor,
					    .run_job_factor = config->lsf.run_job_factor};
	add_run_times(t, ledger);
	it = list_iterator_create(job_list);
	while (!t->failed && (job = list_next(it)))
		add_job(t, job);
	list_iterator_destroy(it);
	if (t->failed || !rank(t)) {
		ccr_lsf_rows_free(t);
		return NULL;
	}
	return t;
}

void ccr_lsf_rows_free(struct ccr_lsf_table *t)
{
	struct ccr_lsf_pair *pair, *next_pair;
	struct place *place, *next_place;

	if (!t)
		return;
	HASH_ITER (hh, t->places, place, next_place) {
		HASH_DEL(t->places, place);
		free(place);
	}
	HASH_ITER (hh, t->pairs, pair, next_pair) {
		HASH_DEL(t->pairs, pair);
		free(pair);
	}
	free(t->jobs);
	free(t);
}

/* --- asking ------------------------------------------------------------------------------------
 */

struct ccr_lsf_place ccr_lsf_rows_place(struct ccr_lsf_table *t, struct ccr_lsf_pair *pair,
					uint32_t job_id, bool join)
{
	struct ccr_lsf_place out = {0};
	struct place_key key;
	struct place *p;
	uint32_t ahead;

	if (!t || !pair)
		return out;
	memset(&key, 0, sizeof(key));
	key.pair = pair;
	key.job_id = job_id;
	HASH_FIND(hh, t->places, &key, sizeof(key), p);
	ahead = p ? p->ahead : pair->pending;
	if (!p && join && put_place(t, pair, job_id, ahead))
		pair->pending++;
	out.run_hours = pair->standing.run_time_s / 3600;
	out.started = (double)pair->standing.started + ahead;
	out.priority = ccr_lsf_priority(&t->params, &pair->standing, ahead);
	return out;
}
