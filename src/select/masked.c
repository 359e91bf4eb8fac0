/* masked - nodes that slurmctld hides behind blocked -w jobs and hetjobs; see gate_impl.h */
#include "select/gate_impl.h"

#include <string.h>

#define G ccr__gate

/*
 * After a blocked job that names its nodes (-w) slurmctld hides those nodes from every later job of
 * the cycle, as it knows no bookings. Each of them is offered the nodes all the same: now, those
 * that have room, or for later. Not beside advance reservations, under which slurmctld's set of
 * nodes is another one for each job.
 */
void ccr__unmask(struct ccr_slurm_test *t, bool now)
{
	const job_record_t *job = t->job;
	const ccr_slurm_details_t *d = job->details;
	uint32_t n = G.cluster.n;

	if (!G.has_masked || !G.has_base || !job->part_ptr || !job->part_ptr->node_bitmap ||
	    d->feature_list || d->req_node_bitmap || job->resv_name || job->resv_ptr ||
	    (now && d->whole_node))
		return;
	for (uint32_t i = ccr_bit_next(G.masked, 0, n); i < n;
	     i = ccr_bit_next(G.masked, i + 1, n)) {
		if (!ccr_bit(G.base, i) || !bit_test(job->part_ptr->node_bitmap, i) ||
		    (d->exc_node_bitmap && bit_test(d->exc_node_bitmap, i)) ||
		    (now && ((share_node_bitmap && !bit_test(share_node_bitmap, i)) ||
			     (cg_node_bitmap && bit_test(cg_node_bitmap, i)) ||
			     (rs_node_bitmap && bit_test(rs_node_bitmap, i)))))
			continue;
		bit_set(t->nodes, i);
	}
}

/*
 * A job that starts on a node which slurmctld's set lacks would be taken to wait for its boot, and
 * its limit be extended by that. During a test the set is a copy; here it is the cycle's own.
 */
void ccr__show_masked(void)
{
	if (!G.has_masked || !G.has_base || !avail_node_bitmap ||
	    (uint32_t)bit_size(avail_node_bitmap) != G.cluster.n)
		return;
	for (uint32_t i = ccr_bit_next(G.masked, 0, G.cluster.n); i < G.cluster.n;
	     i = ccr_bit_next(G.masked, i + 1, G.cluster.n))
		if (ccr_bit(G.base, i))
			bit_set(avail_node_bitmap, i);
}

bool ccr__show_open(const job_record_t *job)
{
	const ccr_slurm_details_t *d = job->details;
	bitstr_t *part = job->part_ptr ? job->part_ptr->node_bitmap : NULL;
	time_t now = time(NULL);

	if (!part || (uint32_t)bit_size(part) != G.cluster.n || d->feature_list ||
	    d->req_node_bitmap || job->resv_name || job->resv_ptr)
		return false;
	if (G.open_at != now) /* thousands of blocked jobs come here in a cycle */
		ccr__unreserved(G.open);
	G.open_at = now;
	CCR_BITS_EACH(i, G.open, G.cluster.n)
	if (bit_test(part, i) && !(d->exc_node_bitmap && bit_test(d->exc_node_bitmap, i)))
		ccr_bit_set(G.candidates, i);
	return true;
}

void ccr__note_masked(const struct ccr_slurm_test *t)
{
	bitstr_t *req = t->job->details->req_node_bitmap;

	if (!req)
		return;
	G.named = true;
	if (!G.has_base)
		return;
	for (int64_t i = bit_ffs(req); i >= 0 && i < bit_size(req) && i < G.cluster.n; i++)
		if (bit_test(req, i))
			ccr_bit_set(G.masked, (uint32_t)i);
	G.has_masked = true;
}

bool ccr_gate_named(void)
{
	bool named;

	pthread_mutex_lock(&G.lock);
	named = G.on && !G.aside && (G.named || G.het_waits);
	pthread_mutex_unlock(&G.lock);
	return named;
}

bool ccr_gate_decides(void)
{
	bool decides;

	pthread_mutex_lock(&G.lock);
	decides = G.on && !G.aside;
	pthread_mutex_unlock(&G.lock);
	return decides;
}
