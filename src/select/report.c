/* report - see report.h */
#include "select/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/duration.h"
#include "select/gate.h"
#include "select/hidden.h"

/* What one is told that has a booking, and, in the place of its time, when that has come. */
#define BOOKED "Resources, booked for "
#define NOW    "now"
/* What one is told that is due a booking and finds no start. */
#define BEYOND "Resources, cannot be booked "
#define LOOK   2 /* s between looks at whether what was told still stands */
/* ms between looks at whether a main cycle has gone by; the second where it leaves wrong words */
#define CYCLES 500
#define SOON   10

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool runs, work, stop;
	/* the thread's own */
	bool begun;	 /* it knows who was told before slurmctld started */
	bool hides;	 /* slurmctld tells jobs that nodes are missing */
	uint32_t cycles; /* main cycles, as of the last report or look */
	time_t looked;
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
static const char *const tells[] = {BOOKED,
				    BEYOND,
				    "Priority, would delay ",
				    "Priority, a job ahead is blocked ",
				    "Priority, long jobs have ",
				    CCR_HIDDEN_AHEAD,
				    "Resources; could start now ",
				    "Priority; could start now "};

static bool begins(const char *desc, const char *with)
{
	return desc && !strncmp(desc, with, strlen(with));
}

static bool is_ours(const char *desc)
{
	for (size_t i = 0; i < sizeof(tells) / sizeof(*tells); i++)
		if (begins(desc, tells[i]))
			return true;
	return false;
}

/* Takes back what was told of a job before, if it still stands. */
static void untell(job_record_t *job)
{
	/* (slurmctld takes that back when it comes to the job again) */
	if (is_ours(job->state_desc) && !begins(job->state_desc, CCR_HIDDEN_AHEAD))
		xfree(job->state_desc);
}

/* Goes on with what would let the job start at once. */
static void tell_smaller(job_record_t *job, const struct ccr_notice *n)
{
	if (*n->smaller)
		xstrfmtcat(job->state_desc, "; could start now with %s", n->smaller);
}

/*
 * slurmctld shows no start in the past, but the time of day: no moment in words would agree with
 * that for longer than until the next report.
 */
static bool is_now(int64_t start)
{
	return start <= (int64_t)time(NULL) + LOOK;
}

static void tell_booked(job_record_t *job, const struct ccr_notice *n, struct told *told)
{
	char *names = node_list(n), at[32] = NOW;

	if (!is_now(n->start))
		when(n->start, at, sizeof(at));
	job->start_time = (time_t)n->start;
	xfree(job->sched_nodes);
	job->sched_nodes = names;
	add(told, job->job_id);
	/* An advance reservation is what it waits for: slurmctld says so. */
	if (job->state_reason == WAIT_NODE_NOT_AVAIL && ccr_hidden_reserved(job))
		return;
	if (job->state_reason == WAIT_NODE_NOT_AVAIL)
		job->state_reason = WAIT_RESOURCES;
	xfree(job->state_desc);
	xstrfmtcat(job->state_desc, BOOKED "%s on %s", at, names);
	tell_smaller(job, n);
}

/* It is due a booking, and none of its starts is near enough to be one, or to be of use. */
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
	if (n->late)
		xstrfmtcat(job->state_desc, BEYOND "to end by its deadline");
	else
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
	else if (n->beyond || n->late)
		tell_beyond(job, n, data);
	else
		tell_waiting(job, n);
}

/* The words are saved with the job: a restart may lose the booking and keep them. */
static int told_before(void *x, void *told)
{
	const job_record_t *job = x;

	if (IS_JOB_PENDING(job) &&
	    (begins(job->state_desc, BOOKED) || begins(job->state_desc, BEYOND)))
		add(told, job->job_id);
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
	R.cycles = slurmctld_diag_stats.schedule_cycle_counter;
	/* (sched/backfill may have wiped the words of the last cycle, and the next has them again)
	 */
	R.hides = ccr_gate_named();
	if (ccr_gate_decides() && ccr_hidden_tell(R.hides))
		R.hides = true;
	ccr_gate_notices(tell, &now);
	changed = ccr_gate_snapshot(&list, &n);
	if (!R.begun)
		list_for_each(job_list, told_before, told);
	R.begun = true;
	for (uint32_t i = 0; i < told->n; i++) {
		job_record_t *job = find_job_record(told->job[i]);

		if (!job || !IS_JOB_PENDING(job) || has(&now, told->job[i]))
			continue;
		job->start_time = 0;
		xfree(job->sched_nodes);
		/* (would delay somebody: that has just been told) */
		if (begins(job->state_desc, BOOKED) || begins(job->state_desc, BEYOND))
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
static bool is_wiped(const job_record_t *job)
{
	return (!job->start_time || !job->sched_nodes) && !begins(job->state_desc, BEYOND);
}

/* Its time has come since it was told. */
static bool is_due(const job_record_t *job)
{
	return begins(job->state_desc, BOOKED) && !begins(job->state_desc, BOOKED NOW) &&
	       is_now(job->start_time);
}

static bool outdated(const struct told *told)
{
	slurmctld_lock_t locks = {.job = READ_LOCK};
	bool found = false;

	if (!told->n)
		return false;
	lock_slurmctld(locks);
	for (uint32_t i = 0; i < told->n && !found; i++) {
		const job_record_t *job = find_job_record(told->job[i]);

		found =
		    job && IS_JOB_PENDING(job) && job->priority && (is_wiped(job) || is_due(job));
	}
	unlock_slurmctld(locks);
	return found;
}

static int is_told_hidden(void *job, void *arg)
{
	(void)arg;
	return ccr_hidden_told(job);
}

/*
 * A main cycle has gone by without asking the plugin about anybody. It may have turned jobs away
 * all the same: beside an advance reservation, or behind a job for which it hid nodes.
 */
static bool gone_by(void)
{
	slurmctld_lock_t locks = {.job = READ_LOCK};
	bool turned_away;

	if (slurmctld_diag_stats.schedule_cycle_counter == R.cycles)
		return false;
	lock_slurmctld(locks);
	R.cycles = slurmctld_diag_stats.schedule_cycle_counter;
	turned_away =
	    (resv_list && list_count(resv_list)) || list_find_first(job_list, is_told_hidden, NULL);
	unlock_slurmctld(locks);
	return turned_away;
}

/* Whether there is something to tell; what costs more is looked at every LOOK seconds alone. */
static bool look(const struct told *told)
{
	time_t now = time(NULL);

	if (gone_by())
		return true;
	if (now >= R.looked && now - R.looked < LOOK)
		return false;
	R.looked = now;
	ccr_gate_watch_rules();
	return outdated(told);
}

/* Waits for work, or a moment; false: to stop. The lock is held. */
static bool await(const struct told *told)
{
	struct timespec until;
	bool again;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (R.hides ? SOON : CYCLES) * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	if (!R.work && !R.stop && pthread_cond_timedwait(&R.wake, &R.lock, &until) == ETIMEDOUT) {
		pthread_mutex_unlock(&R.lock);
		again = look(told);
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
