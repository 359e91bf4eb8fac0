/*
 * tries - which nodes the stock plugin is offered for a job, until its pick delays no booking; see
 * gate_impl.h
 *
 * It cannot be told what to take of a node. So it is offered first the nodes that suit the job
 * best, then all, then all but those where a booking is in the way, then those on which no pick can
 * be, and at last the nodes that are booked for it.
 */
#include "select/gate_impl.h"

#include <stdlib.h>
#include <string.h>

#define G     ccr__gate
#define TRIES 6 /* picks of one job that are held against the bookings */

/* All required nodes are in the set. */
static bool has_required(const struct ccr_plan_job *pj, const uint64_t *set)
{
	for (size_t w = 0; pj->required && w < CCR_WORDS(G.cluster.n); w++)
		if (pj->required[w] & ~set[w])
			return false;
	return true;
}

/* What jobs that are to be preempted hold is given back while the pick is looked at. */
static void lend_preempted(const struct ccr_slurm_test *t, bool again)
{
	struct ccr_share *share;
	ccr_slurm_list_itr_t *it;
	job_record_t *victim;
	int64_t now = ccr_plan_timeline(G.plan)->now;

	if (!ccr__preempts(t))
		return;
	share = calloc(G.cluster.n + 1, sizeof(*share));
	if (!share)
		return;
	it = list_iterator_create(*t->preempted);
	while ((victim = list_next(it))) {
		int n = ccr_job_shares(&G.cluster, victim, false, share, G.cluster.n);

		for (int i = 0; i < n; i++)
			ccr_plan_lend(G.plan, &share[i], ccr_job_end(victim, now), again);
	}
	list_iterator_destroy(it);
	free(share);
}

/*
 * One try of the stock plugin on a set of nodes. START: it fits and delays no booking. That of a
 * lower job is none to who preempts.
 */
static enum ccr_verdict attempt(struct ccr_slurm_test *t, const struct ccr_plan_job *pj,
				const uint64_t *set, uint64_t memory, struct ccr_conflict *why)
{
	struct ccr_plan_job held = *pj;
	enum ccr_verdict v;
	int n;

	ccr_bits_from_set(t->nodes, set, G.cluster.n);
	t->job->details->pn_min_memory = memory;
	if (ccr_inner_test(t) != SLURM_SUCCESS)
		return CCR_WAIT_FREE;
	if (ccr__preempts(t)) {
		n = ccr__preempting_pick(t, pj);
		held.over_lower = true;
	} else {
		n = ccr_job_shares(&G.cluster, t->job, true, G.pick, G.cluster.n);
	}
	if (n < 0) {
		ccr__gate_aside("a pick of the stock plugin does not fit the nodes");
		return CCR_START;
	}
	lend_preempted(t, false);
	v = ccr_plan_check(G.plan, &held, G.pick, (uint32_t)n, G.bad, why);
	lend_preempted(t, true);
	if (v != CCR_START) {
		free_job_resources(&t->job->job_resrcs);
		if (t->preempted && *t->preempted)
			list_flush(*t->preempted);
		return v;
	}
	G.passed = t->job;
	G.passed_id = t->job->job_id;
	G.passed_n = (uint32_t)n;
	G.passed_rank = pj->rank;
	G.passed_partition = pj->partition;
	G.passed_limit = pj->limit;
	G.passed_since = pj->since;
	return CCR_START;
}

/* Only these nodes, if they are all offered. */
static bool on_nodes(struct ccr_slurm_test *t, const struct ccr_plan_job *pj,
		     const struct ccr_share *share, uint32_t n, uint64_t memory,
		     struct ccr_conflict *why)
{
	memset(G.attempt, 0, CCR_WORDS(G.cluster.n) * sizeof(uint64_t));
	for (uint32_t i = 0; i < n; i++)
		if (ccr_bit(G.candidates, share[i].node))
			ccr_bit_set(G.attempt, share[i].node);
	return ccr_bit_count(G.attempt, G.cluster.n) == n && has_required(pj, G.attempt) &&
	       attempt(t, pj, G.attempt, memory, why) == CCR_START;
}

/* Where whatever the stock plugin picks delays nobody. */
static bool on_sure(struct ccr_slurm_test *t, const struct ccr_plan_job *pj, uint64_t memory,
		    struct ccr_conflict *why)
{
	struct ccr_conflict none;
	struct ccr_slot slot;

	return ccr_plan_pick(G.plan, pj, true, &slot, &none) == CCR_START &&
	       on_nodes(t, pj, slot.share, slot.n, memory, why);
}

/*
 * A booking whose time has come: where it is booked it fits. If only by taking what one below was
 * to get, this one ranks higher.
 */
static bool on_booked(struct ccr_slurm_test *t, const struct ccr_plan_job *pj,
		      const struct ccr_booking *own, uint64_t memory, struct ccr_conflict *why)
{
	struct ccr_plan_job first = *pj;

	if (own->start > ccr_plan_timeline(G.plan)->now)
		return false;
	if (on_nodes(t, pj, own->share, own->n, memory, why))
		return true;
	first.over_lower = true;
	return on_nodes(t, &first, own->share, own->n, memory, why);
}

/* A component of a hetjob, the others of which have nodes as well: where it was told, first. */
static bool on_told(struct ccr_slurm_test *t, const struct ccr_plan_job *pj,
		    const struct ccr_booking *own, uint64_t memory, struct ccr_conflict *why)
{
	const uint64_t *now = ccr__het_now(t->job);
	bool all = now != NULL;

	for (size_t w = 0; all && w < CCR_WORDS(G.cluster.n); w++)
		all = !(now[w] & ~G.candidates[w]);
	return (all && has_required(pj, now) && attempt(t, pj, now, memory, why) == CCR_START) ||
	       (own && on_booked(t, pj, own, memory, why));
}

/*
 * Only bookings below it are in the way, and each of them would have a place in time without that.
 * G.fit becomes another set.
 */
static bool over_lower(struct ccr_slurm_test *t, const struct ccr_plan_job *pj, uint64_t memory)
{
	struct ccr_plan_job first = *pj;
	struct ccr_conflict why;

	first.over_lower = true;
	if (!ccr_plan_booking(G.plan, pj->id) || ccr__preempts(t) ||
	    ccr_plan_may_fit(G.plan, &first, G.fit, &why) != CCR_START ||
	    attempt(t, &first, G.fit, memory, &why) != CCR_START)
		return false;
	if (ccr_plan_makes_way(G.plan, pj, G.pick, G.passed_n))
		return true;
	free_job_resources(&t->job->job_resrcs);
	G.passed = NULL;
	return false;
}

/* Each of the nodes holds the whole job: it takes one of them, and no other. */
static bool on_one(const struct ccr_slurm_test *t, const struct ccr_plan_job *pj,
		   const uint64_t *set)
{
	const struct ccr_timeline *tl = ccr_plan_timeline(G.plan);
	const struct ccr_demand *d = pj->demand;

	if (t->min_nodes > 1 || t->req_nodes > 1 || (d->total[0].count && d->max_nodes != 1))
		return false;
	CCR_BITS_EACH(i, set, G.cluster.n)
	if (ccr_demand_most(d, &tl->node[i], &tl->track[i].step[0].free) < ccr_demand_units(d))
		return false;
	return true;
}

/*
 * Narrows G.attempt to the nodes that suit the job best. Not for a job of several nodes where the
 * stock plugin packs those of a job together by the network: it can do so only with all of them.
 */
static bool narrowed(const struct ccr_slurm_test *t, const struct ccr_plan_job *pj)
{
	if (!ccr_plan_place(G.plan, pj, G.attempt))
		return false;
	if (!ccr_slurm_has_topology(t->job->part_ptr) || on_one(t, pj, G.attempt))
		return true;
	memcpy(G.attempt, G.fit, CCR_WORDS(G.cluster.n) * sizeof(uint64_t));
	return false;
}

enum ccr_verdict ccr__find_pick(struct ccr_slurm_test *t, const struct ccr_plan_job *pj,
				bool narrow, struct ccr_conflict *why)
{
	const struct ccr_booking *own = ccr_plan_booking(G.plan, pj->id);
	size_t bytes = CCR_WORDS(G.cluster.n) * sizeof(uint64_t);
	uint64_t memory = t->job->details->pn_min_memory;
	enum ccr_verdict v = CCR_WAIT_FREE, last;
	bool blocked = false;
	uint32_t low = t->min_nodes ? t->min_nodes : 1;

	if (t->job->het_job_id && on_told(t, pj, own, memory, why))
		return CCR_START;
	memcpy(G.attempt, G.fit, bytes);
	narrow = narrow && narrowed(t, pj);
	for (int turn = 0; turn < TRIES; turn++) {
		last = attempt(t, pj, G.attempt, memory, why);
		if (last == CCR_START || last == CCR_WAIT_STRICT || last == CCR_WAIT_LONG)
			return last;
		if (last == CCR_WAIT_BOOKING) {
			if (!blocked)
				ccr__preempting_fit(t, pj);
			blocked = true;
			for (size_t w = 0; w < CCR_WORDS(G.cluster.n); w++)
				G.fit[w] &= ~G.bad[w];
		} else if (!narrow) {
			break;
		}
		narrow = false;
		memcpy(G.attempt, G.fit, bytes);
		if (ccr_bit_count(G.fit, G.cluster.n) < low || !has_required(pj, G.fit))
			break;
	}
	v = blocked ? CCR_WAIT_BOOKING : CCR_WAIT_FREE;
	if ((blocked && on_sure(t, pj, memory, why)) ||
	    (own && on_booked(t, pj, own, memory, why)) || (blocked && over_lower(t, pj, memory)))
		return CCR_START;
	t->job->details->pn_min_memory = memory;
	return v;
}

bool ccr__find_over_lower(struct ccr_slurm_test *t, const struct ccr_plan_job *pj)
{
	uint64_t memory = t->job->details->pn_min_memory;
	bool found = over_lower(t, pj, memory);

	if (!found)
		t->job->details->pn_min_memory = memory;
	return found;
}
