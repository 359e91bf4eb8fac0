/* gate - see gate.h */
#include "select/gate_impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define G ccr__gate

struct ccr__gate ccr__gate = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* slurmctld's threads get their name before their work and keep it: asked once a thread. */
enum ccr_caller ccr_caller(void)
{
	static __thread int known; /* 1 + the caller */
	char name[17] = "";

	if (!known) {
		(void)prctl(PR_GET_NAME, name, 0, 0, 0);
		known = 1 + (!strcmp(name, "sched_agent") ? CCR_MAIN_CYCLE
			     : !strcmp(name, "bckfl")	  ? CCR_BACKFILL
							  : CCR_OTHER);
	}
	return (enum ccr_caller)(known - 1);
}

void ccr_gate_stale(void)
{
	pthread_mutex_lock(&G.lock);
	G.stale = true;
	pthread_mutex_unlock(&G.lock);
}

/*
 * Brings the plan up to date for this caller. A main cycle is told by its counter, which slurmctld
 * raises at the end of each, and by time, as sdiag can reset that counter.
 */
static bool ready(enum ccr_caller who)
{
	time_t now = time(NULL);
	bool fresh = (who == CCR_MAIN_CYCLE &&
		      (!G.in_cycle || G.cycle != slurmctld_diag_stats.schedule_cycle_counter ||
		       now - G.cycle_at > 60)) ||
		     (who == CCR_BACKFILL && ccr__turn_begins());

	if (fresh) {
		G.in_cycle = true;
		G.cycle = slurmctld_diag_stats.schedule_cycle_counter;
		G.cycle_at = now;
		G.seen_at = now;
		G.listed = G.kinds = 0;
		G.filled = 0;
		G.has_masked = G.has_base = G.named = false;
	}
	if ((fresh || G.stale || !G.plan ||
	     (who != CCR_MAIN_CYCLE && now != ccr_plan_timeline(G.plan)->now)) &&
	    !ccr__gate_load(fresh))
		return false;
	if (fresh && avail_node_bitmap) {
		ccr_set_from_bits(G.base, avail_node_bitmap, G.cluster.n);
		memset(G.masked, 0, CCR_WORDS(G.cluster.n) * sizeof(uint64_t));
		G.has_base = true;
		/* for each job slurmctld takes other nodes out then, and puts them back */
		if (resv_list && list_count(resv_list))
			ccr__unreserved(G.base);
	}
	if (fresh)
		ccr__unasked_begin();
	return true;
}

/* What slurmctld offers is up, whatever the state said when the plan was loaded. */
static void all_up(const uint64_t *set)
{
	const struct ccr_node *node = ccr_plan_timeline(G.plan)->node;

	CCR_BITS_EACH(i, set, G.cluster.n)
	if (!node[i].up)
		ccr_plan_node_up(G.plan, i, true);
}

static const char *word(char what)
{
	return what == 'g' ? "GPUs" : what == 'c' ? "CPUs" : "memory";
}

bool ccr__just_said(enum ccr__said kind, uint32_t job, int what)
{
	static struct {
		uint32_t job;
		int what;
		time_t at;
	} last[CCR__SAID_KINDS], now; /* under the gate's lock, as all of this */
	bool again;

	now.job = job;
	now.what = what;
	now.at = time(NULL);
	again = last[kind].job == job && last[kind].what == what && last[kind].at == now.at;
	last[kind] = now;
	return again;
}

static int refuse(const job_record_t *job, enum ccr_verdict v, const struct ccr_conflict *why)
{
	G.refused = job;
	G.refused_as = v;
	G.refused_why = *why;
	if (ccr__just_said(CCR__SAID_WAITS, job->job_id, v))
		return SLURM_ERROR;
	if (v == CCR_WAIT_BOOKING && why->job && why->node < G.cluster.n &&
	    node_record_table_ptr[why->node])
		log_flag(BACKFILL,
			 "slurm-ccr: %pJ waits: it would delay job %u, booked in %lld s, "
			 "short of %s on %s",
			 job, why->job, (long long)(why->start - time(NULL)), word(why->what),
			 node_record_table_ptr[why->node]->name);
	else
		log_flag(BACKFILL, "slurm-ccr: %pJ waits: %s", job,
			 v == CCR_WAIT_BOOKING ? "it would delay a booking"
			 : v == CCR_WAIT_STRICT
			     ? "a job ahead is blocked and the partition is strict"
			 : v == CCR_WAIT_LONG ? "long jobs have their share of the GPUs"
					      : "not enough is free");
	return SLURM_ERROR;
}

/* Below every booking: then an equal job was held against the same ones. */
static bool below_all(const struct ccr_plan_job *pj)
{
	const struct ccr_booking *b, *last = NULL;

	if (ccr_plan_booking(G.plan, pj->id))
		return false;
	for (uint32_t i = 0; (b = ccr_plan_nth(G.plan, i)); i++)
		last = b;
	return !last || ccr_rank_cmp(&last->rank, &pj->rank) < 0;
}

static void remember_refusal(struct ccr__answer *a, const struct ccr_slurm_test *t,
			     const struct ccr_plan_job *pj, enum ccr_verdict v,
			     const struct ccr_conflict *why)
{
	if (!a)
		a = ccr__answer_add(t, pj->demand, pj->partition, G.candidates);
	if (!a)
		return;
	if (!a->limit || pj->limit < a->limit)
		a->limit = pj->limit;
	a->verdict = v;
	a->why = *why;
	a->rc = SLURM_ERROR;
}

static bool may_preempt(const struct ccr_slurm_test *t)
{
	return t->candidates && list_count(t->candidates) > 0;
}

/* What the plan may judge of a smaller request of this job: where the stock plugin would agree. */
static unsigned judged(const job_record_t *job, const struct ccr_ask *ask, bool loose)
{
	if (loose || job->details->req_node_bitmap || ask->need.whole)
		return 0;
	return ask->exact ? CCR_LESS_ALL
			  : 1u << CCR_LESS_TIME | 1u << CCR_LESS_NODES | 1u << CCR_LESS_GPUS;
}

/* Where it is to go is open: placement may choose. */
static bool is_movable(const job_record_t *job)
{
	return !job->details->req_node_bitmap && !job->details->contiguous && !job->req_switch &&
	       !ccr_job_by_load(job);
}

static int run_now(struct ccr_slurm_test *t, enum ccr_caller who, uint16_t partition)
{
	job_record_t *job = t->job;
	bool loose = job->resv_name || job->resv_ptr || may_preempt(t) || job->reboot;
	bool narrow = !loose && is_movable(job);
	struct ccr_conflict why = {0};
	struct ccr__answer *a = NULL;
	struct ccr_plan_job pj;
	struct ccr_ask ask;
	enum ccr_verdict v;
	bool low, asked = false;

	G.passed = NULL;
	if (who == CCR_MAIN_CYCLE)
		ccr__unmask(t, true);
	ccr_set_from_bits(G.candidates, t->nodes, G.cluster.n);
	all_up(G.candidates);
	if (job->het_job_id && !ccr__het_begin(job))
		return refuse(job, CCR_WAIT_FREE, &why);
	ccr_ask_read(&G.cluster, job, t->min_nodes, t->max_nodes, &ask);
	/* as it is booked: see ccr__book */
	ask.need.whole = ask.need.whole || (may_preempt(t) && ccr__stuck(job));
	G.need = &ask.need;
	pj = ccr__plan_job(job, partition, &ask);
	/* The plan's clock stands since the cycle began; the job would end that much later. */
	if (pj.limit < CCR_FOREVER)
		pj.limit += time(NULL) - ccr_plan_timeline(G.plan)->now;
	ccr__less_late(&pj);
	/* Named nodes are no part of what makes requests equal. */
	low = !loose && !pj.required && below_all(&pj);
	if (low && (a = ccr__answer_find(t, pj.demand, partition, G.candidates)) &&
	    pj.limit >= a->limit) {
		if (who == CCR_MAIN_CYCLE)
			ccr__list_refused(t, &ask, partition, a->verdict, &a->why,
					  judged(job, &ask, loose));
		return refuse(job, a->verdict, &a->why);
	}
	if (loose) {
		memcpy(G.fit, G.candidates, CCR_WORDS(G.cluster.n) * sizeof(uint64_t));
		v = CCR_START;
	} else {
		v = ccr_plan_may_fit(G.plan, &pj, G.fit, &why);
	}
	if (v == CCR_START) {
		asked = true;
		v = ccr__find_pick(t, &pj, narrow, &why);
	} else if (v == CCR_WAIT_BOOKING && ccr__find_over_lower(t, &pj)) {
		v = CCR_START;
	}
	if (v == CCR_START) {
		if (!ccr__claim(t, partition, &ask))
			log_flag(BACKFILL, "slurm-ccr: %pJ may start", job);
		G.refused = NULL;
		return SLURM_SUCCESS;
	}
	/* What the stock plugin found may hang on more than the demand tells. */
	if (low && (!asked || ask.same))
		remember_refusal(a, t, &pj, v, &why);
	if (who == CCR_MAIN_CYCLE)
		ccr__list_refused(t, &ask, partition, v, &why, judged(job, &ask, loose));
	return refuse(job, v, &why);
}

/* Whether, and on which nodes, an exactly known demand could run if nothing did. */
static bool could_run(const struct ccr_slurm_test *t, const struct ccr_ask *ask)
{
	const struct ccr_node *node = G.cluster.node;
	uint32_t want = t->req_nodes > t->min_nodes ? t->req_nodes : t->min_nodes, n = 0;
	uint64_t units = 0;

	if (!ask->exact || t->job->details->req_node_bitmap || ask->floor.total[0].count)
		return false;
	memset(G.attempt, 0, CCR_WORDS(G.cluster.n) * sizeof(uint64_t));
	for (uint32_t i = ccr_bit_next(G.candidates, 0, G.cluster.n); i < G.cluster.n;
	     i = ccr_bit_next(G.candidates, i + 1, G.cluster.n)) {
		uint32_t u = ccr_demand_most(&ask->floor, &node[i], &node[i].total);

		if (!u)
			continue;
		ccr_bit_set(G.attempt, i);
		units += u;
		if (++n >= want && units >= ccr_demand_units(&ask->floor))
			return n <= t->max_nodes;
	}
	return false;
}

static int test_nodes(struct ccr_slurm_test *t, const struct ccr_ask *ask, uint16_t partition)
{
	bool known = ask->exact && !t->job->details->req_node_bitmap;
	struct ccr__answer *a = NULL;
	int rc;

	if (known) {
		a = ccr__answer_find(t, &ask->floor, partition, G.candidates);
		if (a) {
			if (a->rc == SLURM_SUCCESS)
				ccr_bits_from_set(t->nodes, a->result, G.cluster.n);
			return a->rc;
		}
	}
	if (could_run(t, ask)) {
		ccr_bits_from_set(t->nodes, G.attempt, G.cluster.n);
		rc = SLURM_SUCCESS;
	} else {
		rc = ccr_inner_test(t);
	}
	if (known && (a = ccr__answer_add(t, &ask->floor, partition, G.candidates))) {
		a->rc = rc;
		ccr_set_from_bits(a->result, t->nodes, G.cluster.n);
	}
	return rc;
}

/* slurmctld ends a job that can no longer be done by its --deadline. */
static bool after_deadline(const job_record_t *job, const struct ccr_booking *b,
			   const struct ccr_ask *ask)
{
	int64_t least = job->time_min ? (int64_t)job->time_min * 60 : ask->limit;

	return job->deadline && job->deadline != NO_VAL &&
	       ccr_end(b->start, least) > (int64_t)job->deadline;
}

/* Books the job where counts say that it fits, and, where they do not tell, it really can run. */
static enum ccr_book book_proven(const job_record_t *job, uint16_t partition, struct ccr_ask *ask,
				 const struct ccr_slurm_test *t, const struct ccr_booking **b,
				 struct ccr_error *err)
{
	struct ccr__proving proving;
	enum ccr_book book = CCR_BOOK_NEVER;
	struct ccr_plan_job pj;

	if (ccr__proof_begin(&proving, job, ask)) {
		pj = ccr__plan_job(job, partition, ask);
		pj.demand = &ask->need;
		pj.not_before = proving.from;
		pj.lent = G.lent;
		pj.lents = ask->mixed ? 0 : G.lents;
		/* its first place: of those below it may end who runs, so bookings are no bar */
		pj.over_lower = pj.lents > 0;
		book = ccr_plan_book(G.plan, &pj, b, err);
	} else {
		ccr_plan_drop(G.plan, job->job_id);
	}
	if (book == CCR_BOOKED && !ccr__proof_holds(&proving, t, *b)) {
		ccr_plan_drop(G.plan, job->job_id);
		book = CCR_BOOK_NEVER;
		if (ccr__proof_search(&proving, t, ask)) {
			pj.required = NULL;
			pj.not_before = proving.from;
			book = ccr_plan_book(G.plan, &pj, b, err);
		}
	}
	ccr__proof_end(&proving, job->job_id);
	return book;
}

enum ccr_book ccr__book(job_record_t *job, uint16_t partition, struct ccr_ask *ask,
			const struct ccr_slurm_test *t)
{
	const struct ccr_booking *b;
	enum ccr_book book;
	struct ccr_error err;
	int64_t before;

	if (job->het_job_id || job->resv_name || job->resv_ptr || !job->priority ||
	    ccr__stuck(job) > 1)
		return CCR_BOOK_NEVER;
	ccr__keep_own_nodes(job);
	ccr__after_reservations(job);
	if (G.refused == job && G.refused_as == CCR_WAIT_LONG) {
		ccr_plan_drop(G.plan, job->job_id);
		return CCR_BOOK_NEVER;
	}
	/* What the plan said would fit did not: counts do not tell it all, whole nodes do. */
	if (ccr__stuck(job)) {
		ask->need.whole = true;
		ask->exact = false;
	}
	if (ask->mixed && !ccr__mixed(job, ask->limit, &ask->need))
		return CCR_BOOK_NEVER;
	b = ccr_plan_booking(G.plan, job->job_id);
	before = b ? b->start : 0;
	book = book_proven(job, partition, ask, t, &b, &err);
	if (book == CCR_BOOK_ERROR)
		ccr__gate_aside(err.text);
	if (book == CCR_BOOKED && !t && !before && b->start <= ccr_plan_timeline(G.plan)->now) {
		ccr_plan_drop(G.plan, job->job_id);
		return CCR_BOOK_NEVER;
	}
	if (book == CCR_BOOKED && after_deadline(job, b, ask)) {
		ccr_plan_drop(G.plan, job->job_id);
		ccr__list_late(job);
		book = CCR_BOOK_WINDOW;
	}
	G.booked_last = book == CCR_BOOKED ? job->job_id : 0;
	if (book == CCR_BOOKED && before && b->start != before)
		ccr__answers_forget();
	if (ccr__just_said(CCR__SAID_BOOK, job->job_id, book))
		return book;
	if (book == CCR_BOOKED && b->share[0].node < G.cluster.n)
		log_flag(BACKFILL, "slurm-ccr: %pJ is booked in %lld s on %u node(s), %s first",
			 job, (long long)(b->start - time(NULL)), b->n,
			 node_record_table_ptr[b->share[0].node]->name);
	else
		log_flag(BACKFILL, "slurm-ccr: %pJ gets no booking: %s", job,
			 book == CCR_BOOK_DEPTH	   ? "the depth is reached"
			 : book == CCR_BOOK_WINDOW ? "beyond the window, or its deadline"
						   : "it never fits");
	return book;
}

/* After its RUN_NOW failed, slurmctld asks where the job could ever run: the time to book it. */
static int test_only(struct ccr_slurm_test *t, uint16_t partition)
{
	struct ccr_ask ask;
	int rc;

	ccr_ask_read(&G.cluster, t->job, t->min_nodes, t->max_nodes, &ask);
	ccr__unmask(t, false);
	ccr_set_from_bits(G.candidates, t->nodes, G.cluster.n);
	if (ccr__behind_het(t->job) && ccr__show_open(t->job))
		ccr_bits_from_set(t->nodes, G.candidates, G.cluster.n);
	rc = test_nodes(t, &ask, partition);
	ccr__note_masked(t);
	if (rc == SLURM_SUCCESS) {
		ccr_cluster_with_gres(&G.cluster, t->job, G.candidates);
		ccr__lent_begin(t, partition);
		(void)ccr__book(t->job, partition, &ask, t);
		ccr__lent_end();
	}
	return rc;
}

/*
 * sched/backfill asks when a job could start. For a job that may not start now it gets no answer:
 * it would reserve whole nodes for it and overwrite the start time that the gate promises. And for
 * one that may it is the pick that will be taken: one that the next question finds to delay a
 * booking would be reserved for nothing, from now on and each time anew, and those behind a hetjob
 * start by sched/backfill alone.
 */
static int backfill_asks(struct ccr_slurm_test *t, uint16_t partition, struct ccr_ask *ask)
{
	struct ccr_slurm_test start = *t;
	uint64_t memory = t->job->details->pn_min_memory;
	struct ccr_conflict why = {0};
	job_record_t *job = t->job;
	struct ccr_plan_job pj;
	enum ccr_verdict v;

	ccr_ask_read(&G.cluster, job, t->min_nodes, t->max_nodes, ask);
	G.need = &ask->need;
	pj = ccr__plan_job(job, partition, ask);
	ccr__less_late(&pj);
	start.mode = SELECT_MODE_RUN_NOW;
	v = ccr_plan_may_fit(G.plan, &pj, G.fit, &why);
	if (v == CCR_START)
		v = ccr__find_pick(&start, &pj, is_movable(job), &why);
	else if (v == CCR_WAIT_BOOKING && ccr__find_over_lower(&start, &pj))
		v = CCR_START;
	G.passed = NULL;
	job->details->pn_min_memory = memory;
	if (v == CCR_START) {
		free_job_resources(&job->job_resrcs);
		job->start_time = time(NULL);
		return SLURM_SUCCESS;
	}
	ccr_bits_from_set(t->nodes, G.candidates, G.cluster.n);
	/* it may come before the main cycle: nobody passes this job here either */
	if (v == CCR_WAIT_FREE || v == CCR_WAIT_BOOKING)
		ccr_plan_blocked(G.plan, &pj);
	return refuse(job, v, &why);
}

/*
 * Who may preempt gets the stock plugin's answer; but "now" only if it then may start. Told "now"
 * and then refused it would have these nodes reserved, whole and for all of its time, in each turn
 * of sched/backfill: nobody behind a hetjob would be asked about them.
 */
static int preemptor_asks(struct ccr_slurm_test *t, uint16_t partition, struct ccr_ask *ask)
{
	job_record_t *job = t->job;
	struct ccr_conflict why = {0};
	bitstr_t *offered = bit_copy(t->nodes), *answer;
	enum ccr_verdict v = CCR_START;
	int rc = ccr_inner_test(t);
	time_t start = job->start_time;

	ccr_ask_read(&G.cluster, job, t->min_nodes, t->max_nodes, ask);
	if (rc == SLURM_SUCCESS && start <= time(NULL)) {
		answer = bit_copy(t->nodes);
		bit_copybits(t->nodes, offered);
		v = ccr__may_preempt_now(t, partition, ask, &why);
		bit_copybits(t->nodes, v == CCR_START ? answer : offered);
		bit_free(answer);
		job->start_time = start;
	}
	bit_free(offered);
	return v == CCR_START ? rc : refuse(job, v, &why);
}

static int will_run(struct ccr_slurm_test *t, uint16_t partition)
{
	job_record_t *job = t->job;
	bool preempts = may_preempt(t);
	struct ccr_ask ask;
	int rc;

	if (job->resv_name || job->resv_ptr)
		return ccr_inner_test(t);
	ccr_set_from_bits(G.candidates, t->nodes, G.cluster.n);
	if (preempts) {
		rc = preemptor_asks(t, partition, &ask);
		if (rc == SLURM_SUCCESS || job->het_job_id)
			return rc;
	} else if (job->het_job_id) {
		ccr_cluster_with_gres(&G.cluster, job, G.candidates);
		return ccr__het_will_run(t, ccr__required(job));
	} else {
		rc = backfill_asks(t, partition, &ask);
	}
	if (rc != SLURM_SUCCESS && G.stands_in)
		ccr__list_refused(t, &ask, partition, G.refused_as, &G.refused_why,
				  judged(job, &ask, preempts));
	/* The main cycle does not come to it: nobody else would book it. */
	if (rc != SLURM_SUCCESS && (G.stands_in || ccr__behind_het(job))) {
		ccr__keep_promised(job);
		(void)ccr__show_open(job);
		ccr_cluster_with_gres(&G.cluster, job, G.candidates);
		ccr__lent_begin(t, partition);
		(void)ccr__book(job, partition, &ask, t);
		ccr__lent_end();
	}
	return rc;
}

/*
 * Limits on accounts and QOS are checked after the plugin has answered: a job that turns out to
 * wait for one of them must not keep the booking that it was just given (R23, R41).
 */
static void look_back(void)
{
	const job_record_t *job;

	if (!G.booked_last)
		return;
	job = find_job_record(G.booked_last);
	if (!job || !(ccr__waits_for_resources(job) || ccr_reason_of_one_part(job))) {
		ccr_plan_drop(G.plan, G.booked_last);
		ccr__answers_forget();
	}
	G.booked_last = 0;
}

int ccr_gate_test(struct ccr_slurm_test *t)
{
	enum ccr_caller who = ccr_caller();
	int partition, rc;

	if (!G.on || G.aside || !t->job || !t->job->job_id || !t->job->details || !t->min_nodes ||
	    !t->nodes || (t->mode != SELECT_MODE_RUN_NOW && who == CCR_OTHER) ||
	    (t->mode == SELECT_MODE_TEST_ONLY && who != CCR_MAIN_CYCLE))
		return ccr_inner_test(t);
	pthread_mutex_lock(&G.lock);
	if (!G.on || G.aside || !ready(who) ||
	    (partition = ccr__gate_partition(t->job->part_ptr)) < 0 ||
	    (uint32_t)bit_size(t->nodes) != G.cluster.n) {
		/* A partition that came since the plan was loaded. */
		G.stale = true;
		pthread_mutex_unlock(&G.lock);
		return ccr_inner_test(t);
	}
	look_back();
	if (who != CCR_MAIN_CYCLE && !(who == CCR_BACKFILL && G.stands_in) && !t->job->resv_name &&
	    !ccr__het_begun(t->job) && ccr__unseen_above(t->job)) {
		/* sched/backfill asks twice in a row */
		if (G.sent_away != t->job->job_id || G.sent_at != time(NULL))
			log_flag(BACKFILL,
				 "slurm-ccr: %pJ waits for the main cycle: a job above is new",
				 t->job);
		G.sent_away = t->job->job_id;
		G.sent_at = time(NULL);
		ccr__unseen_ask_again();
		pthread_mutex_unlock(&G.lock);
		return SLURM_ERROR;
	}
	if (who == CCR_MAIN_CYCLE || (who == CCR_BACKFILL && G.stands_in))
		ccr__unasked_before(t->job);
	/* (by its partition: that has the higher tier) */
	G.preemptor = may_preempt(t) && xstrcasestr(slurm_conf.preempt_type, "qos") &&
		      !ccr__behind_preemptor(t->job);
	if (t->mode == SELECT_MODE_RUN_NOW)
		rc = run_now(t, who, (uint16_t)partition);
	else if (t->mode == SELECT_MODE_TEST_ONLY)
		rc = test_only(t, (uint16_t)partition);
	else
		rc = who == CCR_BACKFILL ? will_run(t, (uint16_t)partition) : ccr_inner_test(t);
	if (t->mode == SELECT_MODE_WILL_RUN && who == CCR_BACKFILL && t->job->het_job_id)
		ccr__het_told(t, rc);
	G.preemptor = false;
	pthread_mutex_unlock(&G.lock);
	return rc;
}
