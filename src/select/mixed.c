/*
 * mixed - a job that wants so many nodes of one feature and so many of another; see gate_impl.h
 *
 * slurmctld asks about such a job feature by feature, each time for that feature's nodes alone. Its
 * booking is of whole nodes, all at once: of each feature those that are empty first. Another mix
 * may be ready a little earlier, none that is booked too early is chosen.
 */
#include "select/gate_impl.h"

#include <string.h>

#define G ccr__gate

static const struct ccr_demand one_node = {.min_nodes = 1, .max_nodes = 1, .whole = true};

static bool usable(const job_record_t *job, const job_feature_t *f, uint32_t node)
{
	const struct ccr_timeline *tl = ccr_plan_timeline(G.plan);
	const bitstr_t *part = job->part_ptr ? job->part_ptr->node_bitmap : NULL;
	const bitstr_t *not = job->details->exc_node_bitmap;

	return part && tl->node[node].up && bit_test((bitstr_t *)part, node) &&
	       bit_test(f->node_bitmap_active, node) && !(not &&bit_test((bitstr_t *)not, node)) &&
	       !ccr_bit(G.candidates, node);
}

/* Adds the node with the feature that is empty first for the job's whole limit. */
static bool add_first(const job_record_t *job, const job_feature_t *f, int64_t limit)
{
	const struct ccr_timeline *tl = ccr_plan_timeline(G.plan);
	int64_t first = CCR_FOREVER;
	uint32_t at = 0;

	for (uint32_t i = 0; i < tl->n; i++) {
		struct ccr_quick q;
		int64_t t;

		if (!usable(job, f, i))
			continue;
		ccr_quick_make(&one_node, &tl->node[i], 1, &q);
		t = ccr_timeline_next(tl, i, &one_node, 1, &q, limit, tl->now, first);
		if (t < first) {
			first = t;
			at = i;
		}
	}
	if (first < CCR_FOREVER)
		ccr_bit_set(G.candidates, at);
	return first < CCR_FOREVER;
}

bool ccr__mixed(const job_record_t *job, int64_t limit, struct ccr_demand *d)
{
	const struct ccr_booking *own = ccr_plan_booking(G.plan, job->job_id);
	ccr_slurm_list_itr_t *it;
	uint32_t n = 0;
	job_feature_t *f;
	bool ok = true;

	memset(G.candidates, 0, CCR_WORDS(G.cluster.n) * sizeof(uint64_t));
	/* What is promised stays on its nodes. */
	for (uint32_t i = 0; own && i < own->n; i++, n++)
		ccr_bit_set(G.candidates, own->share[i].node);
	if (!own) {
		it = list_iterator_create(job->details->feature_list);
		while (ok && (f = list_next(it))) {
			ok = f->count && f->node_bitmap_active &&
			     (uint32_t)bit_size(f->node_bitmap_active) == G.cluster.n;
			for (uint32_t k = 0; ok && k < f->count; k++, n++)
				ok = add_first(job, f, limit);
		}
		list_iterator_destroy(it);
	}
	*d = one_node;
	d->min_nodes = d->max_nodes = n;
	return ok && n;
}
