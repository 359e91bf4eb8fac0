/* masked - nodes that slurmctld hides behind blocked -w jobs; see gate_impl.h */
#include "select/gate_impl.h"

#include <string.h>

#define G ccr__gate

/*
 * After a blocked job that names its nodes (-w) slurmctld hides those nodes from every later job of
 * the cycle, as it knows no bookings. They are made visible again: for the jobs to come in
 * slurmctld's own set, for this one, for which it is too late, in the nodes that it is offered. Not
 * beside advance reservations, under which that set is another one for each job.
 */
void ccr__unmask(struct ccr_slurm_test *t)
{
	const job_record_t *job = t->job;
	const ccr_slurm_details_t *d = job->details;
	uint32_t n = G.cluster.n;

	if (!G.has_masked || !G.has_base || !avail_node_bitmap || !job->part_ptr ||
	    !job->part_ptr->node_bitmap)
		return;
	for (uint32_t i = ccr_bit_next(G.masked, 0, n); i < n;
	     i = ccr_bit_next(G.masked, i + 1, n)) {
		if (!ccr_bit(G.base, i) || i >= (uint32_t)bit_size(avail_node_bitmap))
			continue;
		bit_set(avail_node_bitmap, i);
		if (d->feature_list || d->req_node_bitmap || job->resv_name || job->resv_ptr ||
		    d->whole_node || !bit_test(job->part_ptr->node_bitmap, i) ||
		    (d->exc_node_bitmap && bit_test(d->exc_node_bitmap, i)) ||
		    (share_node_bitmap && !bit_test(share_node_bitmap, i)) ||
		    (cg_node_bitmap && bit_test(cg_node_bitmap, i)) ||
		    (rs_node_bitmap && bit_test(rs_node_bitmap, i)))
			continue;
		bit_set(t->nodes, i);
	}
	memset(G.masked, 0, CCR_WORDS(n) * sizeof(uint64_t));
	G.has_masked = false;
}

void ccr__note_masked(const struct ccr_slurm_test *t)
{
	bitstr_t *req = t->job->details->req_node_bitmap;

	if (!req || !G.has_base)
		return;
	for (int64_t i = bit_ffs(req); i >= 0 && i < bit_size(req) && i < G.cluster.n; i++)
		if (bit_test(req, i))
			ccr_bit_set(G.masked, (uint32_t)i);
	G.has_masked = true;
	G.named = true;
}

bool ccr_gate_named(void)
{
	bool named;

	pthread_mutex_lock(&G.lock);
	named = G.on && !G.aside && G.named;
	pthread_mutex_unlock(&G.lock);
	return named;
}
