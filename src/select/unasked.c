/*
 * unasked - jobs that slurmctld turns away before it asks the plugin; see gate_impl.h
 *
 * A job that names a node which an advance reservation or a blocked job ahead keeps, and those
 * behind such a job or a hetjob where it keeps all nodes of a partition, never come to the plugin:
 * nobody would book them, and lower jobs would pass them for as long as that lasts. So they are
 * booked at the end of a cycle, if they cannot start now.
 */
#include "select/gate_impl.h"

#include <stdlib.h>
#include <string.h>

#define G    ccr__gate
#define MOST 500 /* of the highest, a cycle */

struct away {
	struct ccr_rank rank;
	job_record_t *job;
	uint16_t partition;
};

/* The nodes that the job could have; false: not all that it names, or more than these decides. */
static bool set_candidates(const job_record_t *job)
{
	const ccr_slurm_details_t *d = job->details;
	bitstr_t *part = job->part_ptr->node_bitmap, *named = d->req_node_bitmap;
	uint32_t n = G.cluster.n;

	if (d->feature_list || !part || !avail_node_bitmap || (uint32_t)bit_size(part) != n ||
	    (uint32_t)bit_size(avail_node_bitmap) != n || (named && bit_size(named) != n))
		return false;
	ccr_set_from_bits(G.candidates, avail_node_bitmap, n);
	CCR_BITS_EACH(i, G.candidates, n)
	if (!bit_test(part, i) || (d->exc_node_bitmap && bit_test(d->exc_node_bitmap, i)))
		ccr_bit_clear(G.candidates, i);
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
	return ccr_rank_cmp(&((const struct away *)a)->rank, &((const struct away *)b)->rank);
}

/* Waits for nodes and for nothing else, asked about or not. */
static bool may_be_unasked(const job_record_t *job)
{
	return IS_JOB_PENDING(job) && job->priority && job->details && job->part_ptr &&
	       !job->het_job_id && !job->resv_name && !job->license_list && !job->burst_buffer &&
	       ccr__waits_for_resources(job) && ccr_job_since(job) <= time(NULL);
}

/* free(); NULL where there are none, or no memory. */
static struct away *gather(size_t *n)
{
	ccr_slurm_list_itr_t *it = list_iterator_create(job_list);
	struct away *list = NULL;
	job_record_t *job;
	size_t room = 0;

	*n = 0;
	while ((job = list_next(it))) {
		struct ccr_rank rank = ccr_job_rank(job);
		int partition;

		if (!may_be_unasked(job) || (partition = ccr__gate_partition(job->part_ptr)) < 0 ||
		    ccr_plan_deep(G.plan, (uint16_t)partition, &rank))
			continue;
		if (*n == room) {
			size_t more = room ? 2 * room : 64;
			struct away *p = realloc(list, more * sizeof(*p));

			if (!p)
				break;
			list = p;
			room = more;
		}
		list[(*n)++] =
		    (struct away){.rank = rank, .job = job, .partition = (uint16_t)partition};
	}
	list_iterator_destroy(it);
	return list;
}

static void book(const struct away *away)
{
	int64_t now = ccr_plan_timeline(G.plan)->now;
	job_record_t *job = away->job;
	const struct ccr_booking *own = ccr_plan_booking(G.plan, job->job_id);
	bool had = own != NULL;
	uint32_t least, most;
	struct ccr_ask ask;

	if ((own && own->start <= now) || ccr_plan_deep(G.plan, away->partition, &away->rank) ||
	    !set_candidates(job))
		return;
	count_nodes(job, &least, &most);
	if (most < least || ccr_bit_count(G.candidates, G.cluster.n) < least)
		return;
	ccr_ask_read(&G.cluster, job, least, most, &ask);
	ccr_cluster_with_gres(&G.cluster, job, G.candidates);
	(void)ccr__book(job, away->partition, &ask);
	own = ccr_plan_booking(G.plan, job->job_id);
	if (!had && own && own->start <= now)
		ccr_plan_drop(G.plan, job->job_id);
}

void ccr__book_unasked(void)
{
	struct away *list;
	size_t n;

	if (!G.named && !G.het_waits && (!resv_list || !list_count(resv_list)))
		return;
	list = gather(&n);
	if (list)
		qsort(list, n, sizeof(*list), by_rank);
	for (size_t i = 0; i < n && i < MOST && !G.aside; i++)
		book(&list[i]);
	free(list);
}
