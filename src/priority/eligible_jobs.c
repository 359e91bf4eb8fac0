/* eligible_jobs - see eligible_jobs.h */
#define HASH_NONFATAL_OOM 1
#include "priority/eligible_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <uthash.h>

#include "core/eligible_state.h"

/*
 * A job that is not found any more is forgotten after this long: at a start the thread may look
 * before slurmctld has read its jobs. s.
 */
#define FORGET_AFTER 600

struct record {
	UT_hash_handle hh;
	uint32_t id;
	struct ccr_eligible e;
	time_t seen; /* when slurmctld last had the job */
};

static struct record *records;
static bool dirty;
static bool complained;

static struct record *find(uint32_t id)
{
	struct record *r;

	HASH_FIND(hh, records, &id, sizeof(id), r);
	return r;
}

static struct record *enter(uint32_t id)
{
	struct record *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->id = id;
	HASH_ADD(hh, records, id, sizeof(id), r);
	if (!r->hh.tbl) { /* uthash had no memory for its table */
		free(r);
		return NULL;
	}
	return r;
}

static char *path_of(const struct ccr_settings *settings)
{
	char *path = NULL;

	if (asprintf(&path, "%s/ccr_eligible.json", settings->state_dir) < 0)
		return NULL;
	return path;
}

/* So that it can be looked at, and is not overwritten. */
static void set_aside(const char *path)
{
	char *aside = NULL;

	if (asprintf(&aside, "%s.damaged", path) < 0)
		return;
	if (rename(path, aside) == 0)
		error("priority/ccr: eligible times: the file is now %s, they begin anew", aside);
	free(aside);
}

void ccr_eligible_jobs_init(const struct ccr_settings *settings)
{
	struct ccr_eligible_job *jobs = NULL;
	char *path = path_of(settings);
	time_t now = time(NULL);
	struct ccr_error err = {0};
	size_t n = 0;
	int rc;

	if (!path)
		return;
	if (access(path, F_OK) == 0) {
		rc = ccr_eligible_load(path, &jobs, &n, &err);
		if (rc)
			error("priority/ccr: eligible times: %s", err.text);
		if (rc == CCR_EINVAL)
			set_aside(path);
	}
	for (size_t i = 0; i < n; i++) {
		struct record *r = find(jobs[i].id) ? NULL : enter(jobs[i].id);

		if (!r)
			continue;
		r->e = jobs[i].e;
		r->seen = now;
	}
	free(jobs);
	free(path);
	dirty = false;
}

void ccr_eligible_jobs_fini(void)
{
	struct record *r, *next;

	HASH_ITER (hh, records, r, next) {
		HASH_DEL(records, r);
		free(r);
	}
	dirty = complained = false;
}

/* As far as the job's Reason tells: the scheduler has not come to most jobs of a long queue. */
static bool lacks_resources(const job_record_t *job, time_t now)
{
	if (!IS_JOB_PENDING(job) || !job->details || job->priority == 0)
		return false;
	/* 0: depends on another job, or was never looked at */
	if (!job->details->begin_time || job->details->begin_time > now)
		return false;
	switch (job->state_reason) {
	case WAIT_NO_REASON: /* not reached yet: there are enough jobs before it */
	case WAIT_PRIORITY:
	case WAIT_RESOURCES:
	case WAIT_NODE_NOT_AVAIL:
	case WAIT_LICENSES:
	case WAIT_BURST_BUFFER_RESOURCE:
		return true;
	default:
		return false;
	}
}

/* The moment up to which the last look's state held. */
static time_t held_until(const job_record_t *job, time_t now)
{
	if (!IS_JOB_PENDING(job) && job->start_time && job->start_time < now)
		return job->start_time;
	return now;
}

static void begin(const job_record_t *job, time_t now, bool accruing)
{
	const struct record *array = NULL;
	struct record *r;

	if (job->array_job_id && job->array_job_id != job->job_id)
		array = find(job->array_job_id);
	if (!array && !IS_JOB_PENDING(job)) /* ran before we came to look */
		return;
	r = enter(job->job_id);
	if (!r) {
		if (!complained)
			error("priority/ccr: out of memory, eligible times are incomplete");
		complained = true;
		return;
	}
	r->seen = now;
	dirty = true;
	if (array) {
		r->e = array->e;
		(void)ccr_eligible_look(&r->e, held_until(job, now), accruing);
	} else {
		ccr_eligible_start(&r->e, job->details ? job->details->accrue_time : 0, now,
				   accruing);
	}
}

static void look_at(job_record_t *job, time_t now)
{
	bool accruing = lacks_resources(job, now) && !ccr_slurm_over_limit(job);
	struct record *r = find(job->job_id);

	if (!r) {
		begin(job, now, accruing);
		return;
	}
	r->seen = now;
	/* what ran and was requeued meanwhile has a start time no more: nothing is lost by that */
	if (ccr_eligible_look(&r->e, accruing ? now : held_until(job, now), accruing))
		dirty = true;
}

void ccr_eligible_jobs_look(time_t now)
{
	struct record *r, *next;
	ccr_slurm_list_itr_t *it;
	job_record_t *job;

	it = list_iterator_create(job_list);
	while ((job = list_next(it)))
		look_at(job, now);
	list_iterator_destroy(it);
	HASH_ITER (hh, records, r, next) {
		if (r->seen > now) /* the clock was set back */
			r->seen = now;
		if (now - r->seen <= FORGET_AFTER)
			continue;
		HASH_DEL(records, r);
		free(r);
		dirty = true;
	}
}

double ccr_eligible_jobs_seconds(const job_record_t *job, time_t now)
{
	const struct record *r = find(job->job_id);
	struct ccr_eligible e;

	if (!r && job->array_job_id)
		r = find(job->array_job_id);
	if (r)
		return (double)ccr_eligible_seconds(&r->e, now);
	ccr_eligible_start(&e, job->details ? job->details->accrue_time : 0, now,
			   lacks_resources(job, now));
	return (double)ccr_eligible_seconds(&e, now);
}

void ccr_eligible_jobs_save(const struct ccr_settings *settings, bool all)
{
	size_t n = 0, count = HASH_COUNT(records);
	struct ccr_eligible_job *jobs;
	const struct record *r;
	struct ccr_error err = {0};
	char *path;
	int rc;

	if (!dirty && !(all && count))
		return;
	jobs = calloc(count ? count : 1, sizeof(*jobs));
	path = path_of(settings);
	rc = jobs && path ? CCR_OK : ccr_error_nomem(&err);
	if (!rc) {
		for (r = records; r; r = r->hh.next) {
			jobs[n].id = r->id;
			jobs[n++].e = r->e;
		}
		rc = ccr_eligible_save(path, jobs, n, &err);
	}
	free(jobs);
	free(path);
	if (!rc)
		dirty = false;
	else if (!complained)
		error("priority/ccr: eligible times are not saved: %s", err.text);
	complained = rc != CCR_OK;
}
