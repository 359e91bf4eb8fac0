/*
 * saved - the bookings in StateSaveLocation/ccr_bookings.json; see gate_impl.h
 *
 * Written by the reporter when a cycle changed them, read when a plan is made: after a restart, and
 * when nodes were added. What was promised to users stays so.
 */
#include "select/gate_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/booking_state.h"

#define G ccr__gate

#define BOOKINGS "ccr_bookings.json"

char *ccr__state_path(const char *name)
{
	char *path;

	if (!slurm_conf.state_save_location ||
	    asprintf(&path, "%s/%s", slurm_conf.state_save_location, name) < 0)
		return NULL;
	return path;
}

static bool same_part(const struct ccr_share *a, const struct ccr_share *b)
{
	const struct ccr_node *x = &G.cluster.node[a->node], *y = &G.cluster.node[b->node];

	return a->a.cpus == b->a.cpus && a->a.mem == b->a.mem && x->gpu_types == y->gpu_types &&
	       !memcmp(a->a.gpus, b->a.gpus, sizeof(a->a.gpus)) &&
	       !memcmp(x->gpu_type, y->gpu_type, x->gpu_types * sizeof(x->gpu_type[0]));
}

/* The names of n shares' nodes, joined by commas. */
static char *names_of(const struct ccr_share *share, uint32_t n)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? "," : "", node_record_table_ptr[share[i].node]->name);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static bool to_part(const struct ccr_share *share, uint32_t n, struct ccr_booking_part *p)
{
	const struct ccr_node *node = &G.cluster.node[share->node];
	int to = 0;

	p->cpus = share->a.cpus;
	p->mem = share->a.mem;
	for (int g = 0; g < node->gpu_types; g++) {
		if (share->a.gpus[g] <= 0)
			continue;
		p->type[to] = G.cluster.type_id[node->gpu_type[g]];
		p->gpus[to++] = share->a.gpus[g];
	}
	p->nodes = names_of(share, n);
	return p->nodes;
}

/* When it could have started: what it may be late (CCR_LATE_MAX) goes on over a restart. */
static int64_t due_at(const struct ccr_booking *b)
{
	return b->due && b->due > b->start - CCR_LATE_MAX ? b->due
	       : b->due					  ? b->start - CCR_LATE_MAX
							  : b->start;
}

/* Fills *s; false: out of memory, or a node is gone. */
static bool to_saved(const struct ccr_booking *b, struct ccr_booking_saved *s)
{
	uint32_t end;

	for (uint32_t i = 0; i < b->n; i++)
		if (b->share[i].node >= G.cluster.n || !node_record_table_ptr[b->share[i].node])
			return false;
	s->part = calloc(b->n, sizeof(*s->part));
	if (!s->part)
		return false;
	s->job = b->job;
	s->start = due_at(b);
	s->limit = b->end >= CCR_FOREVER ? CCR_FOREVER : b->end - s->start;
	s->first_start = b->first_start;
	s->made = b->made;
	for (uint32_t i = 0; i < b->n; i = end) {
		for (end = i + 1; end < b->n && same_part(&b->share[i], &b->share[end]);)
			end++;
		if (!to_part(&b->share[i], end - i, &s->part[s->parts++]))
			return false;
	}
	return true;
}

/* What tells one set of bookings from another. */
static uint64_t digest(void)
{
	const struct ccr_booking *b;
	uint64_t h = 1;

	for (uint32_t i = 0; (b = ccr_plan_nth(G.plan, i)); i++) {
		if (!b->n)
			continue;
		h = (h ^ b->job) * UINT64_C(0x9e3779b97f4a7c15);
		h = (h ^ (uint64_t)b->start ^ (h >> 29)) * UINT64_C(0x9e3779b97f4a7c15);
		h = (h ^ (uint64_t)b->end ^ (h >> 31)) * UINT64_C(0x9e3779b97f4a7c15);
		for (uint32_t k = 0; k < b->n; k++)
			h = (h ^ b->share[k].node ^ (h >> 30)) * UINT64_C(0x9e3779b97f4a7c15);
	}
	return h;
}

bool ccr_gate_snapshot(struct ccr_booking_saved **list, size_t *n)
{
	const struct ccr_booking *b;
	struct ccr_booking_saved *s = NULL;
	uint32_t count = 0, used = 0;
	bool ok = false;
	uint64_t h;

	pthread_mutex_lock(&G.lock);
	if (G.on && !G.aside && G.plan && !G.stale && (h = digest()) != G.saved) {
		while (ccr_plan_nth(G.plan, count))
			count++;
		s = calloc(count + 1, sizeof(*s));
		ok = s;
		for (uint32_t i = 0; ok && (b = ccr_plan_nth(G.plan, i)); i++)
			if (b->n)
				ok = to_saved(b, &s[used++]);
		if (ok)
			G.saved = h;
	}
	pthread_mutex_unlock(&G.lock);
	if (!ok)
		ccr_bookings_free(s, used);
	*list = ok ? s : NULL;
	*n = ok ? used : 0;
	return ok;
}

void ccr_gate_write(struct ccr_booking_saved *list, size_t n)
{
	static bool complained; /* the reporter's alone */
	struct ccr_error err = {.text = "out of memory"};
	char *path = ccr__state_path(BOOKINGS);
	bool failed = !path || ccr_bookings_save(path, list, n, &err);

	if (failed && !complained)
		error("select/cons_tres (slurm-ccr): bookings are not saved: %s", err.text);
	complained = failed;
	if (failed) {
		pthread_mutex_lock(&G.lock);
		G.saved = 0;
		pthread_mutex_unlock(&G.lock);
	}
	free(path);
	ccr_bookings_free(list, n);
}

/* One row of nodes that give the same; returns how many shares there are then. */
static uint32_t from_part(const struct ccr_booking_part *p, struct ccr_share *out, uint32_t n)
{
	char *rest = NULL;

	for (char *name = strtok_r(p->nodes, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		const node_record_t *r = find_node_record(name);
		const struct ccr_node *node;
		struct ccr_share *s = &out[n];

		if (!r || r->index >= G.cluster.n || n >= G.cluster.n)
			return 0;
		node = &G.cluster.node[r->index];
		*s = (struct ccr_share){.node = r->index, .a = {.cpus = p->cpus, .mem = p->mem}};
		for (int g = 0; g < CCR_GPU_SLOTS && p->gpus[g]; g++) {
			int16_t type = ccr_cluster_type(&G.cluster, p->type[g]);
			int at = 0;

			while (at < node->gpu_types && node->gpu_type[at] != type)
				at++;
			if (at == node->gpu_types)
				return 0;
			s->a.gpus[at] = p->gpus[g];
		}
		n++;
	}
	return n;
}

/* The number of the partition if it has all these nodes, else -1. */
static int holds_all(const part_record_t *part, const struct ccr_share *share, uint32_t n)
{
	if (!part || !part->node_bitmap)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (share[i].node >= (uint32_t)bit_size(part->node_bitmap) ||
		    !bit_test(part->node_bitmap, share[i].node))
			return -1;
	return ccr__gate_partition(part);
}

/* The number of a partition of the job that has all these nodes; -1: none has. */
static int partition_of(const job_record_t *job, const struct ccr_share *share, uint32_t n)
{
	int number = holds_all(job->part_ptr, share, n);
	ccr_slurm_list_itr_t *it;
	const part_record_t *part;

	if (number >= 0 || !job->part_ptr_list)
		return number;
	it = list_iterator_create(job->part_ptr_list);
	while (number < 0 && (part = list_next(it)))
		number = holds_all(part, share, n);
	list_iterator_destroy(it);
	return number;
}

static bool restore(const struct ccr_booking_saved *s, struct ccr_error *err)
{
	const job_record_t *job = find_job_record(s->job);
	struct ccr_booking b = {.first_start = s->first_start, .made = s->made};
	struct ccr_plan_job pj = {.id = s->job, .limit = s->limit};
	bool gone = false; /* a node */
	int part;

	if (!job || !IS_JOB_PENDING(job) || !job->details || !job->priority ||
	    job->details->submit_time > s->made)
		return true;
	b.share = G.pick;
	for (uint32_t k = 0; k < s->parts && !gone; k++)
		gone = !(b.n = from_part(&s->part[k], G.pick, b.n));
	part = gone ? ccr__gate_partition(job->part_ptr) : partition_of(job, b.share, b.n);
	if (part < 0)
		return true;
	b.start = s->start;
	pj.partition = (uint16_t)part;
	pj.rank = ccr_job_rank(job);
	pj.since = ccr_job_since(job);
	pj.together = job->het_job_id;
	return (gone ? ccr_plan_lost(G.plan, &pj, &b, err)
		     : ccr_plan_restore(G.plan, &pj, &b, err)) != CCR_ENOMEM;
}

bool ccr__restore_bookings(struct ccr_error *err)
{
	struct ccr_booking_saved *list = NULL;
	char *path = ccr__state_path(BOOKINGS);
	bool ok = path;
	size_t n = 0;
	int rc;

	if (!ok) {
		ccr_error_nomem(err);
		return false;
	}
	if (access(path, F_OK)) {
		free(path);
		return true;
	}
	rc = ccr_bookings_load(path, &list, &n, err);
	if (rc)
		error("select/cons_tres (slurm-ccr): %s: all bookings are made anew", err->text);
	for (size_t i = 0; ok && i < n; i++)
		ok = restore(&list[i], err);
	if (n && ok)
		verbose("select/cons_tres (slurm-ccr): the bookings in %s are kept", path);
	ccr_bookings_free(list, n);
	free(path);
	return ok;
}

void ccr__keep_own_nodes(const job_record_t *job)
{
	const struct ccr_booking *b = ccr_plan_booking(G.plan, job->job_id);

	for (uint32_t i = 0; b && i < b->n; i++) {
		uint32_t node = b->share[i].node;

		if (node >= G.cluster.n || !node_record_table_ptr[node])
			continue;
		if (IS_NODE_UNKNOWN(node_record_table_ptr[node]) ||
		    IS_NODE_POWERING_DOWN(node_record_table_ptr[node]) ||
		    IS_NODE_POWER_DOWN(node_record_table_ptr[node]) ||
		    (G.has_masked && G.has_base && ccr_bit(G.masked, node) &&
		     ccr_bit(G.base, node)))
			ccr_bit_set(G.candidates, node);
	}
}
