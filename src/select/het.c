/*
 * het - hetjobs, whose components start at one time or not at all; see gate_impl.h
 *
 * Only sched/backfill starts them: it asks when each component could start, and begins them all
 * where every answer is "now". What it tells of a component (nodes, counts) is remembered until all
 * are known; then they are booked together, as nothing else keeps lower jobs from passing them for
 * ever. When the time has come each is offered the nodes of its own booking. sched/backfill then
 * starts one after the other on whatever is free; if one finds nothing it ends those before it and
 * puts the hetjob off for two minutes. So each starts where it was told, and never on a node that
 * another was told.
 */
#include "select/gate_impl.h"

#include <stdlib.h>
#include <string.h>

#define G	  ccr__gate
#define KNOWN_S	  600 /* what is known of a component is asked for anew after so long */
#define LIMITED_S 120 /* one that waits for a limit is tried so often, */
#define TURN_S	  2   /* for as long as it takes to ask about all components */
#define MOST	  128 /* components of one hetjob */

static void forget(struct ccr__part_of_het *h)
{
	free(h->set);
	free(h->required);
	free(h->now);
	*h = (struct ccr__part_of_het){0};
}

void ccr__het_free(void)
{
	for (uint32_t i = 0; i < G.hets; i++)
		forget(&G.het[i]);
	free(G.het);
	G.het = NULL;
	G.hets = 0;
}

static struct ccr__part_of_het *find(uint32_t job)
{
	for (uint32_t i = 0; i < G.hets; i++)
		if (G.het[i].job == job)
			return &G.het[i];
	return NULL;
}

/* A row that is free, or of a component that was not asked about for long. */
static struct ccr__part_of_het *row(time_t now)
{
	struct ccr__part_of_het *p;

	for (uint32_t i = 0; i < G.hets; i++) {
		if (G.het[i].job && now - G.het[i].at <= KNOWN_S)
			continue;
		forget(&G.het[i]);
		return &G.het[i];
	}
	p = realloc(G.het, (G.hets + 1) * sizeof(*p));
	if (!p)
		return NULL;
	G.het = p;
	G.het[G.hets] = (struct ccr__part_of_het){0};
	return &G.het[G.hets++];
}

static uint64_t *copy(const uint64_t *set)
{
	size_t bytes = CCR_WORDS(G.cluster.n) * sizeof(uint64_t);
	uint64_t *to = malloc(bytes + 1);

	if (to)
		memcpy(to, set, bytes);
	return to;
}

/* Somebody else has it to himself (--exclusive=user): slurmctld will not start the job there. */
static bool is_anothers(const node_record_t *node, const job_record_t *job)
{
	return node->owner != NO_VAL && node->owner != job->user_id;
}

void ccr__keep_promised(const job_record_t *job)
{
	const struct ccr_booking *own = ccr_plan_booking(G.plan, job->job_id);
	const bitstr_t *part = job->part_ptr ? job->part_ptr->node_bitmap : NULL;
	const bitstr_t *not = job->details->exc_node_bitmap;

	for (uint32_t i = 0; own && part && i < own->n; i++) {
		uint32_t node = own->share[i].node;

		if (node < G.cluster.n && node < (uint32_t)bit_size((bitstr_t *)part) &&
		    bit_test((bitstr_t *)part, node) && !(not &&bit_test((bitstr_t *)not, node)) &&
		    node_record_table_ptr[node] && ccr_node_usable(node_record_table_ptr[node]) &&
		    !is_anothers(node_record_table_ptr[node], job))
			ccr_bit_set(G.candidates, node);
	}
}

static bool remember(const struct ccr_slurm_test *t, const uint64_t *required)
{
	time_t now = time(NULL);
	struct ccr__part_of_het *h = find(t->job->job_id);
	time_t tried = h ? h->tried : 0;

	if (h)
		forget(h);
	else if (!(h = row(now)))
		return false;
	ccr__keep_promised(t->job);
	h->set = copy(G.candidates);
	h->required = required ? copy(required) : NULL;
	if (!h->set || (required && !h->required)) {
		forget(h);
		return false;
	}
	ccr_ask_read(&G.cluster, t->job, t->min_nodes, t->max_nodes, &h->ask);
	h->job = t->job->job_id;
	h->nodes = G.cluster.n;
	h->at = now;
	h->tried = tried;
	return true;
}

/* A component waits for a limit: slurmctld finds that when it tries to start them all. */
static bool limited(const job_record_t *leader)
{
	ccr_slurm_list_itr_t *it = list_iterator_create(leader->het_job_list);
	const job_record_t *job;
	bool found = false;

	while ((job = list_next(it)))
		found = found || !ccr__waits_for_resources(job);
	list_iterator_destroy(it);
	return found;
}

/*
 * Whether it is tried all the same. Only that shows whether the limit is still in the way; and
 * while it is tried sched/backfill keeps the nodes from everybody else.
 */
static bool try_limited(const job_record_t *job)
{
	struct ccr__part_of_het *h = find(job->het_job_id);
	time_t now = time(NULL);

	if (!h || (now - h->tried < LIMITED_S && now - h->tried > TURN_S))
		return false;
	if (now - h->tried >= LIMITED_S)
		h->tried = now;
	return true;
}

/* All components as the plan wants them; their number, 0 if one is not known (yet). */
static uint32_t gather(const job_record_t *leader, struct ccr_plan_job *out,
		       struct ccr_demand *need)
{
	ccr_slurm_list_itr_t *it = list_iterator_create(leader->het_job_list);
	time_t now = time(NULL);
	bool known = true, whole = false;
	job_record_t *job;
	uint32_t n = 0;

	while (known && (job = list_next(it))) {
		const struct ccr__part_of_het *h = find(job->job_id);
		int partition = ccr__gate_partition(job->part_ptr);

		known = n < MOST && h && h->set && now - h->at <= KNOWN_S &&
			h->nodes == G.cluster.n && IS_JOB_PENDING(job) && partition >= 0 &&
			job->details && job->priority;
		if (!known)
			break;
		whole = whole || ccr__stuck(job);
		need[n] = h->ask.need;
		out[n] = (struct ccr_plan_job){.id = job->job_id,
					       .rank = ccr_job_rank(job),
					       .partition = (uint16_t)partition,
					       .since = ccr_job_since(job),
					       .limit = h->ask.limit,
					       .demand = &need[n],
					       .candidates = h->set,
					       .required = h->required};
		n++;
	}
	list_iterator_destroy(it);
	for (uint32_t i = 0; whole && i < n; i++)
		need[i].whole = true;
	return known ? n : 0;
}

/* A component was not asked about in this turn of sched/backfill's. */
static bool is_stale(const job_record_t *leader)
{
	ccr_slurm_list_itr_t *it = list_iterator_create(leader->het_job_list);
	time_t now = time(NULL);
	const job_record_t *job;
	bool found = false;

	while ((job = list_next(it))) {
		const struct ccr__part_of_het *h = find(job->job_id);

		found = found || !h || now - h->at >= TURN_S;
	}
	list_iterator_destroy(it);
	return found;
}

/* What was told sched/backfill for the others to be asked about is no start to be shown. */
static void no_start(const job_record_t *leader)
{
	ccr_slurm_list_itr_t *it = list_iterator_create(leader->het_job_list);
	job_record_t *job;

	while ((job = list_next(it)))
		if (IS_JOB_PENDING(job) && !ccr_plan_booking(G.plan, job->job_id))
			job->start_time = 0;
	list_iterator_destroy(it);
}

/* Offers the component the nodes of its booking. */
static int offer(struct ccr_slurm_test *t, const struct ccr_booking *own)
{
	memset(G.attempt, 0, CCR_WORDS(G.cluster.n) * sizeof(uint64_t));
	for (uint32_t i = 0; i < own->n; i++)
		ccr_bit_set(G.attempt, own->share[i].node);
	ccr_bits_from_set(t->nodes, G.attempt, G.cluster.n);
	return own->start <= ccr_plan_timeline(G.plan)->now ? ccr_inner_test(t) : SLURM_SUCCESS;
}

int ccr__het_will_run(struct ccr_slurm_test *t, const uint64_t *required)
{
	static struct ccr_plan_job list[MOST]; /* under the gate's lock */
	static struct ccr_demand need[MOST];
	job_record_t *job = t->job, *leader = find_job_record(job->het_job_id);
	const struct ccr_booking *own;
	struct ccr_error err;
	enum ccr_book book;
	int64_t start;
	uint32_t n;

	if (!leader || !leader->het_job_list || ccr__stuck(job) > 1 || !remember(t, required))
		return ccr_inner_test(t);
	if (limited(leader)) {
		ccr_plan_drop(G.plan, job->job_id); /* R23 */
		return try_limited(job) ? ccr_inner_test(t) : SLURM_ERROR;
	}
	n = gather(leader, list, need);
	if (!n) {
		/* for the others to be asked about as well */
		job->start_time = time(NULL) + 1;
		return SLURM_SUCCESS;
	}
	book = ccr_plan_book_together(G.plan, list, n, &start, &err);
	if (book == CCR_BOOK_ERROR) {
		ccr__gate_aside(err.text);
		return ccr_inner_test(t);
	}
	ccr__answers_forget();
	own = ccr_plan_booking(G.plan, job->job_id);
	/* What is known of the others may be of a time when a node was away: they are asked anew.
	 */
	if ((book != CCR_BOOKED || !own) && is_stale(leader)) {
		job->start_time = time(NULL) + 1;
		return SLURM_SUCCESS;
	}
	if (book != CCR_BOOKED || !own) {
		if (!ccr__just_said(CCR__SAID_BOOK, job->het_job_id, (int)book))
			log_flag(
			    BACKFILL, "slurm-ccr: hetjob %u gets no booking: %s", job->het_job_id,
			    book == CCR_BOOK_DEPTH ? "the depth is reached"
			    : book == CCR_BOOK_WINDOW
				? "beyond the window, a rule forbids it, or not all fit at once"
				: "one component never fits on the nodes that sched/backfill "
				  "offers it");
		no_start(leader);
		return SLURM_ERROR;
	}
	if (!ccr__just_said(CCR__SAID_BOOK, job->job_id, CCR_BOOKED))
		log_flag(BACKFILL,
			 "slurm-ccr: %pJ is booked in %lld s on %u node(s), with its hetjob", job,
			 (long long)(start - time(NULL)), own->n);
	job->start_time = (time_t)start;
	return offer(t, own);
}

void ccr__het_told(const struct ccr_slurm_test *t, int rc)
{
	struct ccr__part_of_het *h = find(t->job->job_id);
	time_t now = time(NULL);

	if (!h) {
		h = row(now);
		if (!h)
			return;
		h->job = t->job->job_id;
		h->nodes = G.cluster.n;
	}
	if (!h->set)
		h->at = now;
	free(h->now);
	h->now = NULL;
	if (rc != SLURM_SUCCESS || t->job->start_time > now)
		return;
	h->now = calloc(CCR_WORDS(G.cluster.n) + 1, sizeof(*h->now));
	if (h->now)
		ccr_set_from_bits(h->now, t->nodes, G.cluster.n);
}

const uint64_t *ccr__het_now(const job_record_t *job)
{
	const struct ccr__part_of_het *h = job->het_job_id ? find(job->job_id) : NULL;

	return h && h->nodes == G.cluster.n ? h->now : NULL;
}

/* All components; NULL for what is none. */
static ccr_slurm_list_t *parts_of(const job_record_t *job)
{
	const job_record_t *leader = job->het_job_id ? find_job_record(job->het_job_id) : NULL;

	return leader ? leader->het_job_list : NULL;
}

bool ccr__het_begun(const job_record_t *job)
{
	ccr_slurm_list_t *parts = parts_of(job);
	ccr_slurm_list_itr_t *it;
	const job_record_t *other;
	bool found = false;

	if (!parts)
		return false;
	it = list_iterator_create(parts);
	while ((other = list_next(it)))
		found = found || IS_JOB_RUNNING(other);
	list_iterator_destroy(it);
	return found;
}

bool ccr__het_begin(const job_record_t *job)
{
	const uint64_t *own = ccr__het_now(job);
	ccr_slurm_list_t *parts = parts_of(job);
	bool due = true, begun = ccr__het_begun(job);
	ccr_slurm_list_itr_t *it;
	const job_record_t *other;

	if (!parts)
		return true;
	it = list_iterator_create(parts);
	while ((other = list_next(it))) {
		const struct ccr_booking *b = ccr_plan_booking(G.plan, other->job_id);
		const uint64_t *now = ccr__het_now(other);

		if (!IS_JOB_PENDING(other))
			continue;
		due = due && (!b || b->claim || b->start <= ccr_plan_timeline(G.plan)->now);
		for (uint32_t i = 0; other != job && b && i < b->n; i++)
			if (!own || !ccr_bit(own, b->share[i].node))
				ccr_bit_clear(G.candidates, b->share[i].node);
		for (size_t w = 0; other != job && now && w < CCR_WORDS(G.cluster.n); w++)
			G.candidates[w] &= ~now[w] | (own ? own[w] : 0);
	}
	list_iterator_destroy(it);
	/* (where one has started all that is left is to try) */
	return due || begun;
}
