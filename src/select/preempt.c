/*
 * preempt - jobs that start when others have made way; see gate_impl.h
 *
 * Who preempts whom, and how, is Slurm's to say. When it has picked nodes for a job on which others
 * are to be ended first, the job waits for them (grace time, KillWait, epilog), and is asked about
 * again in each cycle. Under bf_min_prio_reserve slurmctld keeps nobody else from what is free
 * already meanwhile, and lower jobs that took it would be preempted next: so the gate holds all of
 * the pick. And a job that waits for what it may not preempt is booked as if all others ended now.
 */
#include "select/gate_impl.h"

#include <stdlib.h>
#include <string.h>

#define G ccr__gate

/* Ended by preemption: one that is suspended is still there, and shares. */
static bool is_ended(job_record_t *victim)
{
	uint16_t mode = slurm_job_preempt_mode(victim);

	return mode == PREEMPT_MODE_REQUEUE || mode == PREEMPT_MODE_CANCEL;
}

/* Adds what the job holds of the nodes in the set. False: out of memory. */
static bool add(const job_record_t *victim, const uint64_t *set, struct ccr_share *room)
{
	static uint32_t cap; /* of G.lent, under the gate's lock */
	int64_t now = ccr_plan_timeline(G.plan)->now;
	int64_t end = ccr__reserved_end(victim, ccr_job_end(victim, now));
	int n = ccr_job_shares(&G.cluster, victim, false, room, G.cluster.n);

	if (!G.lent)
		cap = 0;
	for (int i = 0; i < n; i++) {
		if (!ccr_bit(set, room[i].node))
			continue;
		if (G.lents == cap) {
			uint32_t more = cap ? 2 * cap : 64;
			struct ccr_lent *p = realloc(G.lent, more * sizeof(*p));

			if (!p)
				return false;
			G.lent = p;
			cap = more;
		}
		G.lent[G.lents++] = (struct ccr_lent){.share = room[i], .end = end};
	}
	return true;
}

/* What those hold that may be preempted for the job, of the nodes in the set. */
static void lend(ccr_slurm_list_t *candidates, const uint64_t *set)
{
	struct ccr_share *room = calloc(G.cluster.n + 1, sizeof(*room));
	ccr_slurm_list_itr_t *it;
	job_record_t *victim, *part;
	bool ok = room;

	G.lents = 0;
	if (!ok)
		return;
	it = list_iterator_create(candidates);
	while (ok && (victim = list_next(it))) {
		if (!is_ended(victim))
			continue;
		if (victim->het_job_list) {
			ccr_slurm_list_itr_t *parts = list_iterator_create(victim->het_job_list);

			while (ok && (part = list_next(parts)))
				ok = !IS_JOB_RUNNING(part) || add(part, set, room);
			list_iterator_destroy(parts);
		} else if (IS_JOB_RUNNING(victim)) {
			ok = add(victim, set, room);
		}
	}
	list_iterator_destroy(it);
	free(room);
}

bool ccr__preempts(const struct ccr_slurm_test *t)
{
	return t->preempted && *t->preempted && list_count(*t->preempted) > 0;
}

int ccr__preempting_pick(const struct ccr_slurm_test *t, const struct ccr_plan_job *pj)
{
	struct ccr_plan_job alone = *pj;
	uint32_t n;

	ccr_set_from_bits(G.bad, t->nodes, G.cluster.n); /* (of no other use before the check) */
	lend(*t->preempted, G.bad);
	alone.demand = G.need;
	alone.candidates = G.bad;
	alone.lent = G.lent;
	alone.lents = G.lents;
	n = ccr_plan_amounts(G.plan, &alone, G.pick);
	ccr__lent_end();
	return (int)n;
}

void ccr__preempting_fit(const struct ccr_slurm_test *t, const struct ccr_plan_job *pj)
{
	struct ccr_plan_job alone = *pj;

	if (!t->candidates || !list_count(t->candidates))
		return;
	lend(t->candidates, G.fit);
	alone.lent = G.lent;
	alone.lents = G.lents;
	alone.over_lower = true;
	if (ccr_plan_may_fit(G.plan, &alone, G.attempt, NULL) == CCR_START)
		for (size_t w = 0; w < CCR_WORDS(G.cluster.n); w++)
			G.fit[w] &= G.attempt[w];
	ccr__lent_end();
}

void ccr__lent_begin(const struct ccr_slurm_test *t, uint16_t partition)
{
	struct ccr_rank rank;

	if (!t->candidates || !list_count(t->candidates) || ccr__stuck(t->job))
		return;
	rank = ccr_job_rank(t->job);
	rank.preemptor = G.preemptor;
	/* (those beyond the depth get no booking, and there may be many) */
	if (ccr_plan_booking(G.plan, t->job->job_id) || !ccr_plan_deep(G.plan, partition, &rank))
		lend(t->candidates, G.candidates);
}

void ccr__lent_end(void)
{
	G.lents = 0;
}

enum ccr_verdict ccr__may_preempt_now(const struct ccr_slurm_test *t, uint16_t partition,
				      struct ccr_ask *ask, struct ccr_conflict *why)
{
	struct ccr_slurm_test start = *t;
	ccr_slurm_list_t *victims = NULL;
	uint64_t memory = t->job->details->pn_min_memory;
	struct ccr_plan_job pj;
	enum ccr_verdict v;

	start.mode = SELECT_MODE_RUN_NOW;
	start.preempted = &victims;
	ask->need.whole = ask->need.whole || ccr__stuck(t->job);
	G.need = &ask->need;
	pj = ccr__plan_job(t->job, partition, ask);
	ccr__less_late(&pj);
	memcpy(G.fit, G.candidates, CCR_WORDS(G.cluster.n) * sizeof(uint64_t));
	v = ccr__find_pick(&start, &pj, false, why);
	if (v == CCR_START)
		free_job_resources(&t->job->job_resrcs);
	else if (!t->job->het_job_id && (v == CCR_WAIT_FREE || v == CCR_WAIT_BOOKING))
		ccr_plan_blocked(G.plan, &pj);
	FREE_NULL_LIST(victims);
	G.passed = NULL;
	t->job->details->pn_min_memory = memory;
	return v;
}

/*
 * When they are gone. Slurm sets the end of a job that it preempts once, by its grace time. since:
 * when the others were to be preempted. (A QOS's own grace time is not looked up: it is known from
 * their ends in the next cycle.)
 */
static int64_t gone_at(ccr_slurm_list_t *victims, int64_t since)
{
	ccr_slurm_list_itr_t *it = list_iterator_create(victims);
	int64_t at = since;
	job_record_t *victim;

	while ((victim = list_next(it))) {
		int64_t end = victim->end_time;

		if (!victim->preempt_time && victim->part_ptr &&
		    end > since + (int64_t)victim->part_ptr->grace_time)
			end = since + (int64_t)victim->part_ptr->grace_time;
		at = end > at ? end : at;
	}
	list_iterator_destroy(it);
	return at + slurm_conf.kill_wait;
}

static bool is_in(const bitstr_t *set, uint32_t node)
{
	return set && node < (uint32_t)bit_size((bitstr_t *)set) && bit_test((bitstr_t *)set, node);
}

bool ccr__claim_fits(const job_record_t *job, const struct ccr_booking *b)
{
	const part_record_t *part = b->partition < G.parts ? G.part[b->partition] : NULL;
	bitstr_t *named = job->details->req_node_bitmap;
	ccr_slurm_list_itr_t *it;
	const part_record_t *p;
	bool fits = part && job->part_ptr == part;
	int64_t missing = named ? bit_set_count(named) : 0;

	if (part && job->part_ptr_list) {
		it = list_iterator_create(job->part_ptr_list);
		while (!fits && (p = list_next(it)))
			fits = p == part;
		list_iterator_destroy(it);
	}
	for (uint32_t i = 0; fits && i < b->n; i++) {
		uint32_t node = b->share[i].node;

		fits =
		    is_in(part->node_bitmap, node) && !is_in(job->details->exc_node_bitmap, node);
		missing -= is_in(named, node);
	}
	return fits && !missing;
}

bool ccr__claim(const struct ccr_slurm_test *t, uint16_t partition, struct ccr_ask *ask)
{
	job_record_t *job = t->job;
	const struct ccr_booking *own;
	struct ccr_plan_job pj;
	int64_t start, before, since = ccr_plan_timeline(G.plan)->now;

	if (!ccr__preempts(t) || G.aside || G.passed != job || job->het_job_id || job->resv_name ||
	    job->resv_ptr || ask->mixed || ccr__stuck(job) > 1)
		return false;
	own = ccr_plan_booking(G.plan, job->job_id);
	before = own ? own->start : 0;
	if (own && own->claim) {
		since = own->made;
		memset(G.attempt, 0, CCR_WORDS(G.cluster.n) * sizeof(uint64_t));
		for (uint32_t i = 0; i < own->n; i++)
			ccr_bit_set(G.attempt, own->share[i].node);
		lend(t->candidates, G.attempt);
	}
	pj = ccr__plan_job(job, partition, ask);
	pj.demand = &ask->need;
	pj.lent = G.lent;
	pj.lents = G.lents;
	pj.over_lower = true;
	start = gone_at(*t->preempted, since);
	if (ccr_plan_claim(G.plan, &pj, G.pick, G.passed_n, start, NULL))
		ccr__gate_aside("out of memory");
	ccr__lent_end();
	G.booked_last = job->job_id;
	if (before != start)
		ccr__answers_forget();
	if (ccr__just_said(CCR__SAID_CLAIM, job->job_id, (int)start))
		return true;
	start -= time(NULL);
	log_flag(BACKFILL,
		 "slurm-ccr: %pJ may start when %d job(s) are preempted, in %lld s or so on %u "
		 "node(s), %s first",
		 job, list_count(*t->preempted), (long long)(start > 0 ? start : 0), G.passed_n,
		 node_record_table_ptr[G.pick[0].node]->name);
	return true;
}
