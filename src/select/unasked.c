/*
 * unasked - jobs that slurmctld turns away before it asks the plugin; see gate_impl.h
 *
 * A job that names a node which an advance reservation or a blocked job ahead keeps, and those
 * behind such a job or a hetjob where it keeps all nodes of a partition, never come to the plugin:
 * nobody would book them, and lower jobs would pass them for as long as that lasts. So they are
 * booked here, if they cannot start now: when the cycle has come to a lower job, before that is
 * booked, and the rest at its end.
 */
#include "select/gate_impl.h"

#include <stdlib.h>
#include <string.h>

#define G    ccr__gate
#define MOST 500 /* of the highest, a cycle */

/* Whom this cycle has asked about, a bit each; two jobs may share one: that one is left alone. */
#define ASKED_BITS 65536
static uint64_t asked[ASKED_BITS / 64]; /* under the gate's lock */

/* The nodes that the job could have; false: not all that it names, or more than these decides. */
static bool set_candidates(const job_record_t *job)
{
	const struct ccr_node *node = ccr_plan_timeline(G.plan)->node;
	const ccr_slurm_details_t *d = job->details;
	bitstr_t *part = job->part_ptr->node_bitmap, *named = d->req_node_bitmap;
	uint32_t n = G.cluster.n;

	if (d->feature_list || !part || (uint32_t)bit_size(part) != n ||
	    (named && bit_size(named) != n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (node[i].up && bit_test(part, i) &&
		    !(d->exc_node_bitmap && bit_test(d->exc_node_bitmap, i)))
			ccr_bit_set(G.candidates, i);
		else
			ccr_bit_clear(G.candidates, i);
	}
	for (int64_t i = named ? bit_ffs(named) : -1; i >= 0 && i < n; i++)
		if (bit_test(named, i) && !ccr_bit(G.candidates, (uint32_t)i))
			return false;
	return true;
}

/* How many nodes slurmctld would ask the plugin for. */
static void count_nodes(const job_record_t *job, uint32_t *least, uint32_t *most)
{
	const ccr_slurm_details_t *d = job->details;
	const part_record_t *part = job->part_ptr;

	*least = d->min_nodes > part->min_nodes ? d->min_nodes : part->min_nodes;
	*most = d->max_nodes && d->max_nodes < part->max_nodes ? d->max_nodes : part->max_nodes;
}

static int by_rank(const void *a, const void *b)
{
	return ccr_rank_cmp(&((const struct ccr__turn *)a)->rank,
			    &((const struct ccr__turn *)b)->rank);
}

/* Waits for nodes and for nothing else, and this cycle has not asked about it. */
static bool is_unasked(const job_record_t *job)
{
	return IS_JOB_PENDING(job) && !ccr_bit(asked, job->job_id % ASKED_BITS) && job->priority &&
	       job->details && job->part_ptr && !job->het_job_id && !job->resv_name &&
	       !job->license_list && !job->burst_buffer && ccr__waits_for_resources(job) &&
	       ccr_job_since(job) <= time(NULL);
}

/* slurmctld turns nobody away without one of these. */
static bool may_turn_away(void)
{
	return G.named || G.het_waits || (resv_list && list_count(resv_list));
}

/* Fills G.turns, by rank, with all that are not below the depth. */
static void gather(void)
{
	ccr_slurm_list_itr_t *it = list_iterator_create(job_list);
	job_record_t *job;

	G.n_turns = G.next_turn = 0;
	while ((job = list_next(it))) {
		struct ccr_rank rank;
		int partition;

		if (!is_unasked(job) || (partition = ccr__gate_partition(job->part_ptr)) < 0)
			continue;
		rank = ccr_job_rank(job);
		if (ccr_plan_deep(G.plan, (uint16_t)partition, &rank))
			continue;
		if (G.n_turns == G.turns_room) {
			uint32_t more = G.turns_room ? 2 * G.turns_room : 64;
			struct ccr__turn *p = realloc(G.turns, more * sizeof(*p));

			if (!p)
				break;
			G.turns = p;
			G.turns_room = more;
		}
		G.turns[G.n_turns++] = (struct ccr__turn){.rank = rank, .job = job->job_id};
	}
	list_iterator_destroy(it);
	if (G.n_turns)
		qsort(G.turns, G.n_turns, sizeof(*G.turns), by_rank);
}

static void book(const struct ccr__turn *who)
{
	int64_t now = ccr_plan_timeline(G.plan)->now;
	job_record_t *job = find_job_record(who->job);
	const struct ccr_booking *own = ccr_plan_booking(G.plan, who->job);
	int partition = job ? ccr__gate_partition(job->part_ptr) : -1;
	uint32_t least, most;
	struct ccr_ask ask;

	if (partition < 0 || !is_unasked(job) || (own && (own->over || own->start <= now)) ||
	    ccr_plan_deep(G.plan, (uint16_t)partition, &who->rank) || !set_candidates(job))
		return;
	count_nodes(job, &least, &most);
	if (most < least || ccr_bit_count(G.candidates, G.cluster.n) < least)
		return;
	ccr_ask_read(&G.cluster, job, least, most, &ask);
	ccr_cluster_with_gres(&G.cluster, job, G.candidates);
	(void)ccr__book(job, (uint16_t)partition, &ask, NULL);
}

void ccr__unasked_begin(void)
{
	memset(asked, 0, sizeof(asked));
	G.gathered = false;
	G.n_turns = G.next_turn = 0;
}

void ccr__unasked_before(const job_record_t *job)
{
	struct ccr_rank rank = ccr_job_rank(job);

	ccr_bit_set(asked, job->job_id % ASKED_BITS);
	if (!G.gathered && may_turn_away()) {
		gather();
		G.gathered = true;
	}
	for (; G.next_turn < G.n_turns && !G.aside; G.next_turn++) {
		struct ccr__turn *who = &G.turns[G.next_turn];

		if (ccr_rank_cmp(&who->rank, &rank) >= 0)
			return;
		book(who);
	}
}

void ccr__book_unasked(void)
{
	if (!may_turn_away())
		return;
	gather();
	for (uint32_t i = 0; i < G.n_turns && i < MOST && !G.aside; i++)
		book(&G.turns[i]);
	G.n_turns = 0;
}
