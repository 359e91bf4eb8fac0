/* reserved - what advance reservations take out of the gate's plan; see gate_impl.h */
#include "select/gate_impl.h"

#include <stdlib.h>

#define G ccr__gate

/* Not those that move on with time, nor those that take whatever node is idle. */
static bool counts(const slurmctld_resv_t *r, time_t now)
{
	return r->node_bitmap && r->end_time > now &&
	       !(r->flags & (RESERVE_FLAG_TIME_FLOAT | RESERVE_FLAG_ANY_NODES));
}

/* A reservation that comes again is planned for its next time alone. */
static bool is_over_then(const slurmctld_resv_t *r, time_t now)
{
	return counts(r, now) && !(r->flags & CCR_SLURM_RESV_AGAIN);
}

void ccr__unreserved(uint64_t *set)
{
	const struct ccr_node *node = ccr_plan_timeline(G.plan)->node;
	ccr_slurm_list_itr_t *it;
	slurmctld_resv_t *r;

	for (uint32_t i = 0; i < G.cluster.n; i++) {
		if (node[i].up)
			ccr_bit_set(set, i);
		else
			ccr_bit_clear(set, i);
	}
	if (!resv_list)
		return;
	it = list_iterator_create(resv_list);
	while ((r = list_next(it)))
		for (int64_t i = 0;
		     r->node_bitmap && i < bit_size(r->node_bitmap) && i < G.cluster.n; i++)
			if (bit_test(r->node_bitmap, i))
				ccr_bit_clear(set, (uint32_t)i);
	list_iterator_destroy(it);
}

void ccr__after_reservations(const job_record_t *job)
{
	const struct ccr_node *node = ccr_plan_timeline(G.plan)->node;
	bitstr_t *part = job->part_ptr->node_bitmap, *not = job->details->exc_node_bitmap;
	time_t now = time(NULL);
	ccr_slurm_list_itr_t *it;
	slurmctld_resv_t *r;

	if (!resv_list || !list_count(resv_list) || job->details->feature_list || !part ||
	    (uint32_t)bit_size(part) != G.cluster.n)
		return;
	it = list_iterator_create(resv_list);
	while ((r = list_next(it))) {
		if (!is_over_then(r, now) || (uint32_t)bit_size(r->node_bitmap) != G.cluster.n)
			continue;
		for (uint32_t i = 0; i < G.cluster.n; i++)
			if (bit_test(r->node_bitmap, i) && bit_test(part, i) && node[i].up &&
			    !(not &&bit_test(not, i)))
				ccr_bit_set(G.candidates, i);
	}
	list_iterator_destroy(it);
}

int64_t ccr__reserved_end(const job_record_t *job, int64_t end)
{
	const slurmctld_resv_t *r = job->resv_ptr;

	return r && counts(r, 0) && ccr_resv_partial(r) && r->end_time > end ? r->end_time : end;
}

static void less(int32_t *a, int32_t b)
{
	*a = *a > b ? *a - b : 0;
}

/* What jobs inside hold is in the plan already. */
static void without_jobs(const slurmctld_resv_t *r, struct ccr_amount *left)
{
	ccr_slurm_list_itr_t *it = list_iterator_create(job_list);
	job_record_t *job;

	while ((job = list_next(it))) {
		int n;

		if (job->resv_ptr != r || (!IS_JOB_RUNNING(job) && !IS_JOB_SUSPENDED(job)))
			continue;
		n = ccr_job_shares(&G.cluster, job, false, G.pick, G.cluster.n);
		for (int i = 0; i < n; i++) {
			struct ccr_amount *a = &left[G.pick[i].node], *b = &G.pick[i].a;

			less(&a->cpus, b->cpus);
			less(&a->open, b->open);
			for (int g = 0; g < CCR_GPU_SLOTS; g++)
				a->gpus[g] =
				    (int16_t)(a->gpus[g] > b->gpus[g] ? a->gpus[g] - b->gpus[g]
								      : 0);
		}
	}
	list_iterator_destroy(it);
}

/* Jobs inside a reservation are not planned here, so whole nodes of it are not to be had at all. */
static bool add(const slurmctld_resv_t *r)
{
	struct ccr_amount *part = NULL;
	bool ok = true;

	if (ccr_resv_partial(r)) {
		part = calloc(G.cluster.n + 1, sizeof(*part));
		if (!part)
			return false;
		for (int64_t i = 0; i < bit_size(r->node_bitmap) && i < G.cluster.n; i++)
			if (bit_test(r->node_bitmap, i))
				ccr_resv_amount(&G.cluster, r, (uint32_t)i, &part[i]);
		without_jobs(r, part);
	}
	for (int64_t i = bit_ffs(r->node_bitmap);
	     ok && i >= 0 && i < bit_size(r->node_bitmap) && i < G.cluster.n; i++)
		if (bit_test(r->node_bitmap, i))
			ok = !ccr_plan_block(G.plan, (uint32_t)i, r->start_time, r->end_time,
					     part ? &part[i] : NULL);
	free(part);
	return ok;
}

bool ccr__add_reservations(time_t now)
{
	ccr_slurm_list_itr_t *it;
	slurmctld_resv_t *r;
	bool ok = true;

	if (!resv_list || !list_count(resv_list))
		return true;
	it = list_iterator_create(resv_list);
	while (ok && (r = list_next(it)))
		if (counts(r, now))
			ok = add(r);
	list_iterator_destroy(it);
	return ok;
}
