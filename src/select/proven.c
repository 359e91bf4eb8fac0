/*
 * proven - bookings for which counts do not tell are held against the stock plugin; see gate_impl.h
 *
 * GPUs with their own CPUs, memory or tasks, neighbours, switches, sockets: the plan books empty
 * nodes for such a job (asks.c), but they can be too few or the wrong ones, and would then be kept
 * idle for a job that cannot start on them. So the stock plugin is asked whether the job could run
 * on just the nodes that are booked, were nothing there. If it says no, nodes are offered to it in
 * the order in which they come free until it says yes, and what it picks of these is booked.
 *
 * A job that asks for one switch takes the nodes of several only when it has waited for that as
 * long as it is to (--switches=1@TIME, max_switch_wait). The stock plugin says yes to them before,
 * and tells in best_switch what it means: such nodes are booked from when the wait is over.
 *
 * Cost: a test of the stock plugin for each booking of this kind that is made or moved, and for one
 * that it refuses the logarithm of the candidates more.
 */
#include "select/gate_impl.h"

#include <stdlib.h>
#include <string.h>

#include "core/mix.h"

#define G	    ccr__gate
#define WAYS	    4  /* rows among which a job finds its own */
#define NEVER_AGAIN 60 /* s after which a job for which no nodes were found is tried again */

struct when {
	int64_t free; /* the node is empty from then on, for the job's limit */
	uint32_t node;
};

static const struct ccr_demand one_node = {.min_nodes = 1, .max_nodes = 1, .whole = true};

/* When the job's wait for the switches that it asks for is over; it begins with its first test. */
static int64_t waits_until(const job_record_t *job)
{
	if (!job->req_switch)
		return 0;
	return ccr_end(job->wait4switch_start ? job->wait4switch_start : time(NULL),
		       job->wait4switch);
}

/* What tells the request from the one that the job had before somebody changed it. */
static uint64_t asked(const job_record_t *job, const struct ccr_ask *ask)
{
	const ccr_slurm_details_t *d = job->details;
	uint64_t h = ccr_mix(ccr_demand_hash(&ask->floor), (uint64_t)ask->limit);

	h = ccr_mix(ccr_mix(h, (uintptr_t)job->gres_list_req), d->pn_min_memory);
	h = ccr_mix(h, (uint64_t)job->req_switch << 32 | job->wait4switch);
	h = ccr_mix(h, waits_until(job) <= time(NULL));
	return ccr_mix(ccr_mix(h, d->num_tasks),
		       (uint64_t)d->min_cpus << 1 | (d->contiguous ? 1 : 0));
}

static uint64_t nodes_of(const struct ccr_booking *b)
{
	uint64_t h = b->n;

	for (uint32_t i = 0; i < b->n; i++)
		h = ccr_mix(h, b->share[i].node);
	return h;
}

/* The rows that may be a job's: thousands of blocked jobs look here in a cycle. */
static struct ccr__proof *rows_of(uint32_t job)
{
	return &G.proof[job % (CCR__PROOFS / WAYS) * WAYS];
}

/* What is known of the job's request as it is; NULL: nothing. */
static struct ccr__proof *known(uint32_t job, uint64_t ask)
{
	struct ccr__proof *row = rows_of(job);

	for (uint32_t i = 0; i < WAYS; i++)
		if (row[i].job == job)
			return row[i].asked == ask ? &row[i] : NULL;
	return NULL;
}

/* The same, and the job's own or another's row, emptied, where nothing is known. */
static struct ccr__proof *proof_of(uint32_t job, uint64_t ask)
{
	struct ccr__proof *row = rows_of(job), *p = known(job, ask);

	if (p)
		return p;
	for (uint32_t i = 0; i < WAYS && !p; i++)
		if (row[i].job == job)
			p = &row[i];
	if (!p)
		p = &row[G.proof_next++ % WAYS];
	*p = (struct ccr__proof){.job = job, .asked = ask};
	return p;
}

/* Just these nodes, as a whole. */
static void only(const uint64_t *set, struct ccr_ask *ask)
{
	memcpy(G.candidates, set, CCR_WORDS(G.cluster.n) * sizeof(uint64_t));
	ask->need = one_node;
	ask->need.min_nodes = ask->need.max_nodes = ccr_bit_count(set, G.cluster.n);
}

/*
 * From when on could the job run there, were nothing else? CCR_FOREVER: never. The set becomes what
 * the stock plugin picks.
 */
static int64_t runs_from(const struct ccr_slurm_test *t, uint64_t *set, uint64_t *room)
{
	struct ccr_slurm_test probe = *t;
	job_record_t *job = t->job;
	bool best = job->best_switch;
	int64_t from = CCR_FOREVER;
	uint64_t memory = job->details->pn_min_memory;
	uint32_t n = ccr_bit_count(set, G.cluster.n);

	if (n < (t->min_nodes ? t->min_nodes : 1))
		return from;
	probe.mode = SELECT_MODE_TEST_ONLY;
	if (probe.req_nodes > n)
		probe.req_nodes = n;
	ccr_set_from_bits(room, t->nodes, G.cluster.n);
	ccr_bits_from_set(t->nodes, set, G.cluster.n);
	if (ccr_inner_test(&probe) == SLURM_SUCCESS) {
		ccr_set_from_bits(set, t->nodes, G.cluster.n);
		from = job->best_switch ? 0 : waits_until(job);
	}
	ccr_bits_from_set(t->nodes, room, G.cluster.n);
	job->details->pn_min_memory = memory;
	job->best_switch = best; /* where it has no part in a test it is not set anew */
	return from;
}

static int by_time(const void *pa, const void *pb)
{
	const struct when *a = pa, *b = pb;

	if (a->free != b->free)
		return a->free < b->free ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* The candidates in the order in which they are empty within the window. */
static uint32_t in_order(int64_t limit, struct when *list)
{
	const struct ccr_timeline *tl = ccr_plan_timeline(G.plan);
	int64_t until = ccr_end(tl->now, G.opt.window);
	uint32_t n = 0;

	CCR_BITS_EACH(i, G.candidates, G.cluster.n)
	{
		struct ccr_quick q;

		if (!tl->node[i].up)
			continue;
		ccr_quick_make(&one_node, &tl->node[i], 1, &q);
		list[n].free = ccr_timeline_next(tl, i, &one_node, 1, &q, limit, tl->now, until);
		list[n].node = i;
		if (list[n].free < CCR_FOREVER)
			n++;
	}
	qsort(list, n, sizeof(*list), by_time);
	return n;
}

/* runs_from of the first n of the list, and those that are free as soon as the last of them. */
static int64_t first_run(const struct ccr_slurm_test *t, const struct when *list, uint32_t n,
			 uint32_t all, uint64_t *set, uint64_t *room)
{
	memset(set, 0, CCR_WORDS(G.cluster.n) * sizeof(uint64_t));
	for (uint32_t i = 0; i < all && (i < n || list[i].free == list[n - 1].free); i++)
		ccr_bit_set(set, list[i].node);
	return runs_from(t, set, room);
}

/*
 * The fewest of the first nodes on which it runs when they are free: out, and from when on. Where
 * all of them have to wait that long, so may the fewest.
 */
static int64_t earliest(const struct ccr_slurm_test *t, const struct when *list, uint32_t n,
			uint64_t *out, uint64_t *set, uint64_t *room)
{
	uint32_t low = 0, high = n; /* not on so many; on so many */
	int64_t from = n ? first_run(t, list, n, n, out, room) : CCR_FOREVER;

	while (from < CCR_FOREVER && high - low > 1) {
		uint32_t mid = low + (high - low) / 2;
		int64_t then = first_run(t, list, mid, n, set, room);

		if (then > list[mid - 1].free && then > from) {
			low = mid;
			continue;
		}
		memcpy(out, set, CCR_WORDS(G.cluster.n) * sizeof(uint64_t));
		from = then;
		high = mid;
	}
	return from;
}

bool ccr__proof_begin(struct ccr__proving *v, const job_record_t *job, struct ccr_ask *ask)
{
	const struct ccr_booking *own = ccr_plan_booking(G.plan, job->job_id);
	struct ccr__proof *p;

	*v = (struct ccr__proving){.wanted = !ask->exact && !ask->mixed};
	if (!v->wanted)
		return true;
	v->asked = asked(job, ask);
	p = known(job->job_id, v->asked); /* (a row is for those who are booked alone) */
	if (p && p->never && time(NULL) - p->never < NEVER_AGAIN)
		return false;
	if (!p || !own || p->good != nodes_of(own) || own->start < p->good_from)
		return true;
	v->from = p->good_from;
	for (uint32_t i = 0; i < own->n; i++)
		if (!ccr_bit(G.candidates, own->share[i].node))
			return true;
	v->old = calloc(CCR_WORDS(G.cluster.n) + 1, sizeof(*v->old));
	for (uint32_t i = 0; v->old && i < own->n; i++)
		ccr_bit_set(v->old, own->share[i].node);
	if (v->old && p->found)
		only(v->old, ask);
	return true;
}

bool ccr__proof_holds(struct ccr__proving *v, const struct ccr_slurm_test *t,
		      const struct ccr_booking *b)
{
	size_t words = CCR_WORDS(G.cluster.n) + 1;
	uint64_t *set, nodes;
	struct ccr__proof *p;

	if (!t || !v->wanted)
		return true;
	p = proof_of(t->job->job_id, v->asked);
	nodes = nodes_of(b);
	if (p->bad == nodes && b->start < p->bad_until)
		return false;
	if (p->good == nodes) {
		v->from = p->good_from;
		return b->start >= v->from;
	}
	set = calloc(2 * words, sizeof(*set));
	if (!set)
		return true;
	for (uint32_t i = 0; i < b->n; i++)
		ccr_bit_set(set, b->share[i].node);
	v->from = runs_from(t, set, set + words);
	free(set);
	if (b->start >= v->from) {
		p->good = nodes;
		p->good_from = v->from;
		return true;
	}
	p->bad = nodes;
	p->bad_until = v->from;
	return false;
}

bool ccr__proof_search(struct ccr__proving *v, const struct ccr_slurm_test *t, struct ccr_ask *ask)
{
	size_t words = CCR_WORDS(G.cluster.n) + 1;
	struct ccr__proof *p = proof_of(t->job->job_id, v->asked);
	struct when *list;
	uint64_t *sets;

	p->found = true;
	if (v->old) { /* where it was it could run */
		only(v->old, ask);
		v->from = p->good_from;
		return true;
	}
	list = malloc((G.cluster.n + 1) * sizeof(*list));
	sets = calloc(3 * words, sizeof(*sets));
	v->from = CCR_FOREVER;
	if (list && sets)
		v->from = earliest(t, list, in_order(ask->limit, list), sets, sets + words,
				   sets + 2 * words);
	if (v->from < CCR_FOREVER) {
		only(sets, ask);
	} else {
		p->found = false;
		p->never = time(NULL);
	}
	free(list);
	free(sets);
	return v->from < CCR_FOREVER;
}

void ccr__proof_end(struct ccr__proving *v, uint32_t job)
{
	const struct ccr_booking *b = ccr_plan_booking(G.plan, job);
	struct ccr__proof *p;

	free(v->old);
	v->old = NULL;
	p = v->wanted && b ? known(job, v->asked) : NULL;
	if (p && p->found) {
		p->good = nodes_of(b);
		p->good_from = v->from;
	}
}
