/* report - see report.h */
#include "select/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/duration.h"
#include "select/gate.h"

/* How slurmctld begins what it tells a job of whose partition it sees no node in a cycle. */
#define HIDDEN "Nodes required for job are DOWN"
/* What it is told instead. */
#define AHEAD "Priority, a job ahead waits "
/* What one is told that is due a booking and finds no start. */
#define BEYOND "Resources, cannot be booked "
#define LOOK   2 /* s between looks at whether what was told still stands */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool runs, work, stop;
} R = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* Job ids that were given a start time, so that it can be taken away when they lose their booking.
 */
struct told {
	uint32_t *job;
	uint32_t n, cap;
};

static bool add(struct told *t, uint32_t job)
{
	if (t->n == t->cap) {
		uint32_t cap = t->cap ? 2 * t->cap : 64;
		uint32_t *p = realloc(t->job, cap * sizeof(*p));

		if (!p)
			return false;
		t->job = p;
		t->cap = cap;
	}
	t->job[t->n++] = job;
	return true;
}

static bool has(const struct told *t, uint32_t job)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->job[i] == job)
			return true;
	return false;
}

static void when(int64_t t, char *out, size_t size)
{
	time_t at = (time_t)t;
	struct tm tm;

	if (!localtime_r(&at, &tm) || !strftime(out, size, "%Y-%m-%dT%H:%M:%S", &tm))
		snprintf(out, size, "an unknown time");
}

static char *node_list(const struct ccr_notice *n)
{
	bitstr_t *bits = bit_alloc(node_record_count);
	char *names;

	for (uint32_t i = 0; i < n->shares; i++)
		if (n->share[i].node < (uint32_t)node_record_count)
			bit_set(bits, n->share[i].node);
	names = bitmap2node_name(bits);
	bit_free(bits);
	return names;
}

/* How what is told here begins or goes on: slurmctld has no such texts. */
static const char *const tells[] = {
    "Resources, booked for ",	   BEYOND,
    "Priority, would delay ",	   "Priority, a job ahead is blocked ",
    "Priority, long jobs have ",   AHEAD,
    "Resources; could start now ", "Priority; could start now "};

static bool is_ours(const char *desc)
{
	for (size_t i = 0; desc && i < sizeof(tells) / sizeof(*tells); i++)
		if (!strncmp(desc, tells[i], strlen(tells[i])))
			return true;
	return false;
}

/* Takes back what was told of a job before, if it still stands. */
static void untell(job_record_t *job)
{
	if (is_ours(job->state_desc))
		xfree(job->state_desc);
}

/* Goes on with what would let the job start at once. */
static void tell_smaller(job_record_t *job, const struct ccr_notice *n)
{
	if (*n->smaller)
		xstrfmtcat(job->state_desc, "; could start now with %s", n->smaller);
}

/*
 * slurmctld says that an advance reservation is in the way. Where there is none, it may say so as
 * well of nodes that it has hidden.
 */
static bool reserved(const job_record_t *job)
{
	return job->state_desc && strstr(job->state_desc, "eserved") && resv_list &&
	       list_count(resv_list);
}

static void tell_booked(job_record_t *job, const struct ccr_notice *n, struct told *told)
{
	char *names = node_list(n), at[32];

	when(n->start, at, sizeof(at));
	job->start_time = (time_t)n->start;
	xfree(job->sched_nodes);
	job->sched_nodes = names;
	add(told, job->job_id);
	/* An advance reservation is what it waits for: slurmctld says so. */
	if (job->state_reason == WAIT_NODE_NOT_AVAIL && reserved(job))
		return;
	if (job->state_reason == WAIT_NODE_NOT_AVAIL)
		job->state_reason = WAIT_RESOURCES;
	xfree(job->state_desc);
	xstrfmtcat(job->state_desc, "Resources, booked for %s on %s", at, names);
	tell_smaller(job, n);
}

/* It is due a booking, and none of its starts is near enough to be one. */
static void tell_beyond(job_record_t *job, const struct ccr_notice *n, struct told *told)
{
	char window[32];

	/* slurmctld knows better: nodes are down, or set aside */
	if (job->state_reason == WAIT_NODE_NOT_AVAIL ||
	    (job->state_desc && !is_ours(job->state_desc)))
		return;
	xfree(job->state_desc);
	job->start_time = 0;
	xfree(job->sched_nodes);
	add(told, job->job_id);
	xstrfmtcat(job->state_desc, BEYOND "within the window of %s",
		   ccr_duration_print(n->window, window, sizeof(window)));
	tell_smaller(job, n);
}

/* Users may not see each other's jobs, and this one is somebody else's. */
static bool is_private(const job_record_t *job, uint32_t other)
{
	const job_record_t *o = find_job_record(other);

	return (slurm_conf.private_data & PRIVATE_DATA_JOBS) && (!o || o->user_id != job->user_id);
}

static void tell_waiting(job_record_t *job, const struct ccr_notice *n)
{
	char at[32];

	if (n->verdict == CCR_WAIT_FREE) {
		/* The reason that slurmctld found says it all, but for what could be done. */
		if (!*n->smaller) {
			untell(job);
			return;
		}
		xfree(job->state_desc);
		job->state_desc =
		    xstrdup(job->state_reason == WAIT_PRIORITY ? "Priority" : "Resources");
		tell_smaller(job, n);
		return;
	}
	job->state_reason = WAIT_PRIORITY;
	xfree(job->state_desc);
	when(n->start, at, sizeof(at));
	if (n->verdict == CCR_WAIT_STRICT)
		job->state_desc =
		    xstrdup("Priority, a job ahead is blocked and the partition is strict");
	else if (n->verdict == CCR_WAIT_LONG)
		job->state_desc = xstrdup("Priority, long jobs have their share of the GPUs");
	else if (n->other && !is_private(job, n->other) && n->node < (uint32_t)node_record_count &&
		 node_record_table_ptr[n->node])
		xstrfmtcat(job->state_desc, "Priority, would delay job %u booked for %s: %s on %s",
			   n->other, at,
			   n->what == 'g'   ? "GPUs"
			   : n->what == 'c' ? "CPUs"
					    : "memory",
			   node_record_table_ptr[n->node]->name);
	else
		job->state_desc = xstrdup("Priority, would delay a booking of a job ahead");
	tell_smaller(job, n);
}

static void tell(const struct ccr_notice *n, void *data)
{
	job_record_t *job = find_job_record(n->job);

	if (!job || !IS_JOB_PENDING(job) || !job->priority)
		return;
	/* of the partition tried last: the plan knows another one */
	if (ccr_reason_of_one_part(job))
		job->state_reason = WAIT_RESOURCES;
	/* Only where slurmctld itself found nothing else to say: a limit, a hold, a dependency. */
	if (job->state_reason != WAIT_RESOURCES && job->state_reason != WAIT_PRIORITY &&
	    job->state_reason != WAIT_NO_REASON && job->state_reason != WAIT_NODE_NOT_AVAIL)
		return;
	/* Nodes may be wanting indeed, where the plan has nothing to say but that. */
	if (job->state_reason == WAIT_NODE_NOT_AVAIL && !n->booked && n->verdict == CCR_WAIT_FREE)
		return;
	if (n->booked)
		tell_booked(job, n, data);
	else if (n->beyond)
		tell_beyond(job, n, data);
	else
		tell_waiting(job, n);
}

static bool all_usable(const bitstr_t *nodes)
{
	for (int64_t i = 0; i < bit_size((bitstr_t *)nodes); i++)
		if (bit_test((bitstr_t *)nodes, i) && !ccr_node_usable(node_record_table_ptr[i]))
			return false;
	return true;
}

/*
 * In a cycle in which a job ahead is blocked that names its nodes, or is a hetjob, slurmctld hides
 * these nodes, or the partition's, and then finds them missing. That is no fault of a node.
 */
static int tell_hidden(void *x, void *arg)
{
	job_record_t *job = x;
	const char *desc = job->state_desc ? job->state_desc : "";
	const bitstr_t *req = job->details ? job->details->req_node_bitmap : NULL;

	(void)arg;
	if (!IS_JOB_PENDING(job) || !job->priority)
		return 0;
	if (job->state_reason == WAIT_NODE_NOT_AVAIL && req && !reserved(job) && all_usable(req))
		desc = AHEAD "for a node that it names";
	else if (!strncmp(desc, HIDDEN, strlen(HIDDEN)) && !reserved(job) && job->part_ptr &&
		 job->part_ptr->node_bitmap && all_usable(job->part_ptr->node_bitmap))
		desc = AHEAD "for nodes of its partition";
	else
		return 0;
	job->state_reason = WAIT_PRIORITY;
	xfree(job->state_desc);
	job->state_desc = xstrdup(desc);
	return 0;
}

static void tell_all(struct told *told)
{
	slurmctld_lock_t locks = {.job = WRITE_LOCK, .node = READ_LOCK, .part = READ_LOCK};
	struct ccr_booking_saved *list;
	struct told now = {0};
	bool changed;
	size_t n;

	lock_slurmctld(locks);
	ccr_gate_notices(tell, &now);
	if (ccr_gate_named())
		list_for_each(job_list, tell_hidden, NULL);
	changed = ccr_gate_snapshot(&list, &n);
	for (uint32_t i = 0; i < told->n; i++) {
		job_record_t *job = find_job_record(told->job[i]);

		if (!job || !IS_JOB_PENDING(job) || has(&now, told->job[i]))
			continue;
		job->start_time = 0;
		xfree(job->sched_nodes);
		/* (would delay somebody: that has just been told) */
		if (job->state_desc && (!strncmp(job->state_desc, tells[0], strlen(tells[0])) ||
					!strncmp(job->state_desc, BEYOND, strlen(BEYOND))))
			xfree(job->state_desc);
	}
	if (now.n || told->n)
		last_job_update = time(NULL);
	unlock_slurmctld(locks);
	if (changed)
		ccr_gate_write(list, n);
	free(told->job);
	*told = now;
}

/*
 * sched/backfill wipes the start times of all pending jobs when it begins; where it then asks the
 * plugin nothing, nobody would write them again before the next main cycle.
 */
static bool wiped(const struct told *told)
{
	slurmctld_lock_t locks = {.job = READ_LOCK};
	bool found = false;

	lock_slurmctld(locks);
	for (uint32_t i = 0; i < told->n && !found; i++) {
		const job_record_t *job = find_job_record(told->job[i]);

		found = job && IS_JOB_PENDING(job) && job->priority &&
			(!job->start_time || !job->sched_nodes) &&
			!(job->state_desc && !strncmp(job->state_desc, BEYOND, strlen(BEYOND)));
	}
	unlock_slurmctld(locks);
	return found;
}

/*
 * A main cycle has gone by beside an advance reservation: it may have turned jobs away without
 * asking the plugin about anybody.
 */
static bool gone_by(void)
{
	static uint32_t last; /* this thread's */
	slurmctld_lock_t locks = {.job = READ_LOCK};
	bool reserved_nodes;

	if (slurmctld_diag_stats.schedule_cycle_counter == last)
		return false;
	last = slurmctld_diag_stats.schedule_cycle_counter;
	lock_slurmctld(locks);
	reserved_nodes = resv_list && list_count(resv_list);
	unlock_slurmctld(locks);
	return reserved_nodes;
}

/* Waits for work, or a moment; false: to stop. The lock is held. */
static bool await(const struct told *told)
{
	struct timespec until;
	bool again;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LOOK;
	if (!R.work && !R.stop && pthread_cond_timedwait(&R.wake, &R.lock, &until) == ETIMEDOUT) {
		pthread_mutex_unlock(&R.lock);
		ccr_gate_watch_rules();
		again = gone_by() || (told->n && wiped(told));
		pthread_mutex_lock(&R.lock);
		R.work = R.work || again;
	}
	return !R.stop;
}

static void *reporter(void *arg)
{
	struct told told = {0};

	(void)arg;
	pthread_mutex_lock(&R.lock);
	while (await(&told)) {
		if (!R.work)
			continue;
		R.work = false;
		pthread_mutex_unlock(&R.lock);
		/* Waits for the cycle's own lock, so it finds the cycle's end. */
		tell_all(&told);
		ccr_gate_watch_rules();
		pthread_mutex_lock(&R.lock);
	}
	pthread_mutex_unlock(&R.lock);
	free(told.job);
	return NULL;
}

void ccr_report_wake(bool tell)
{
	pthread_mutex_lock(&R.lock);
	if (!R.runs && !R.stop)
		R.runs = !ccr_slurm_thread_start(&R.thread, "ccr_report", reporter, NULL);
	if (tell) {
		R.work = true;
		pthread_cond_signal(&R.wake);
	}
	pthread_mutex_unlock(&R.lock);
}

void ccr_report_end(void)
{
	struct timespec until;
	bool runs;

	pthread_mutex_lock(&R.lock);
	runs = R.runs;
	R.stop = true;
	R.runs = false;
	pthread_cond_signal(&R.wake);
	pthread_mutex_unlock(&R.lock);
	if (!runs)
		return;
	/*
	 * It may wait for locks that our caller holds. Then it is left behind: the plugin stays
	 * mapped, and the process ends or is replaced.
	 */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 3;
	if (pthread_timedjoin_np(R.thread, NULL, &until) == ETIMEDOUT)
		(void)pthread_detach(R.thread);
}
