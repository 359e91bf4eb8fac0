/* hidden - see hidden.h */
#include "select/hidden.h"

#include <stdlib.h>
#include <string.h>

/* How slurmctld begins what it tells a job of whose partition it sees too few nodes in a cycle. */
#define HIDDEN "Nodes required for job are DOWN"

bool ccr_hidden_told(const job_record_t *job)
{
	return IS_JOB_PENDING(job) && job->state_desc &&
	       !strncmp(job->state_desc, HIDDEN, strlen(HIDDEN));
}

bool ccr_hidden_reserved(const job_record_t *job)
{
	return job->state_desc && strstr(job->state_desc, "eserved") && resv_list &&
	       list_count(resv_list);
}

static bool all_usable(const bitstr_t *nodes)
{
	for (int64_t i = 0; i < bit_size((bitstr_t *)nodes); i++)
		if (bit_test((bitstr_t *)nodes, i) && !ccr_node_usable(node_record_table_ptr[i]))
			return false;
	return true;
}

/* The nodes that are in service and in no advance reservation; bit_free(). */
static bitstr_t *in_service(void)
{
	bitstr_t *set = bit_alloc(node_record_count);
	ccr_slurm_list_itr_t *it;
	slurmctld_resv_t *r;

	for (int i = 0; i < node_record_count; i++)
		if (ccr_node_usable(node_record_table_ptr[i]) &&
		    ((avail_node_bitmap && bit_test(avail_node_bitmap, i)) ||
		     (rs_node_bitmap && bit_test(rs_node_bitmap, i))))
			bit_set(set, i);
	if (!resv_list || !list_count(resv_list))
		return set;
	it = list_iterator_create(resv_list);
	while ((r = list_next(it)))
		if (r->node_bitmap && bit_size(r->node_bitmap) == bit_size(set))
			bit_and_not(set, r->node_bitmap);
	list_iterator_destroy(it);
	return set;
}

/* A partition in which a job waits. */
static bool is_wanted(const part_record_t *part)
{
	ccr_slurm_list_itr_t *it = list_iterator_create(job_list), *parts;
	const job_record_t *job;
	const part_record_t *one;
	bool found = false;

	while (!found && (job = list_next(it))) {
		if (!IS_JOB_PENDING(job) || !job->priority)
			continue;
		found = job->part_ptr == part;
		if (found || !job->part_ptr_list)
			continue;
		parts = list_iterator_create(job->part_ptr_list);
		while (!found && (one = list_next(parts)))
			found = one == part;
		list_iterator_destroy(parts);
	}
	list_iterator_destroy(it);
	return found;
}

/* What is known of a partition's nodes; jobs of one come in a row, or of a few in turn. */
struct known {
	const part_record_t *part;
	int64_t usable; /* of its nodes */
	bool kept;	/* a job waits in one of a higher tier that shares nodes with it */
};

struct look {
	bool named, any;
	bitstr_t *up; /* NULL: not yet needed */
	struct known *known;
	uint32_t n, room;
};

static bool kept_for_higher(const part_record_t *part)
{
	ccr_slurm_list_itr_t *it = list_iterator_create(part_list);
	const part_record_t *p;
	bool kept = false;

	while (!kept && (p = list_next(it)))
		kept = p->priority_tier > part->priority_tier && p->node_bitmap &&
		       bit_overlap_any(p->node_bitmap, part->node_bitmap) && is_wanted(p);
	list_iterator_destroy(it);
	return kept;
}

static const struct known *know(struct look *l, const part_record_t *part)
{
	struct known *k;

	for (uint32_t i = 0; i < l->n; i++)
		if (l->known[i].part == part)
			return &l->known[i];
	if (l->n == l->room) {
		uint32_t room = l->room ? 2 * l->room : 16;
		struct known *p = realloc(l->known, room * sizeof(*p));

		if (!p)
			return NULL;
		l->known = p;
		l->room = room;
	}
	if (!l->up)
		l->up = in_service();
	k = &l->known[l->n++];
	*k = (struct known){.part = part,
			    .usable = bit_overlap(l->up, part->node_bitmap),
			    .kept = kept_for_higher(part)};
	return k;
}

/* Its partition has as many nodes in service as it needs, and nobody of a higher tier for them. */
static bool only_hidden(struct look *l, const job_record_t *job)
{
	const part_record_t *part = job->part_ptr;
	const struct known *k;

	if (!part || !part->node_bitmap || bit_size(part->node_bitmap) != node_record_count)
		return false;
	k = know(l, part);
	return k && !k->kept && k->usable > 0 &&
	       (!job->details || job->details->min_nodes == NO_VAL ||
		k->usable >= job->details->min_nodes);
}

static void tell(job_record_t *job, struct look *l)
{
	const char *for_what;
	const bitstr_t *req;

	if (!IS_JOB_PENDING(job) || !job->priority)
		return;
	req = job->details ? job->details->req_node_bitmap : NULL;
	if (ccr_hidden_told(job)) {
		l->any = true;
		if (!only_hidden(l, job))
			return;
		for_what = "for nodes of its partition";
	} else if (l->named && job->state_reason == WAIT_NODE_NOT_AVAIL && req &&
		   !ccr_hidden_reserved(job) && all_usable(req)) {
		for_what = "for a node that it names";
	} else {
		return;
	}
	job->state_reason = WAIT_PRIORITY;
	xfree(job->state_desc);
	xstrfmtcat(job->state_desc, CCR_HIDDEN_AHEAD "%s", for_what);
}

bool ccr_hidden_tell(bool named)
{
	struct look l = {.named = named};
	ccr_slurm_list_itr_t *it;
	job_record_t *job;

	/* (an iterator: list_for_each would hold the list's own lock against is_wanted) */
	it = list_iterator_create(job_list);
	while ((job = list_next(it)))
		tell(job, &l);
	list_iterator_destroy(it);
	if (l.up)
		bit_free(l.up);
	free(l.known);
	return l.any;
}
