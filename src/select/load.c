/* load - the gate's plan out of slurmctld's records and the policy file; see gate_impl.h */
#include "select/gate_impl.h"

#include <stdlib.h>
#include <string.h>

#include "core/config.h"

#define G ccr__gate
/* s that a booking may be due without a start: beyond its grace, and the same of one of whole
 * nodes, which is sure but for what holds up slurmctld itself */
#define DUE_MOST       (CCR_LATE_MAX + 5)
#define DUE_MOST_WHOLE 180

void ccr__gate_aside(const char *why)
{
	if (!G.aside)
		error("select/cons_tres (slurm-ccr): %s: the stock plugin decides alone until the "
		      "next reconfigure; under bf_min_prio_reserve it books nothing",
		      why);
	G.aside = true;
}

static void free_room(void)
{
	free(G.candidates);
	free(G.fit);
	free(G.attempt);
	free(G.bad);
	free(G.required);
	free(G.base);
	free(G.masked);
	free(G.open);
	free(G.turns);
	free(G.kind_set);
	free(G.pick);
	free(G.lent);
	G.lent = NULL;
	G.lents = 0;
	ccr__het_free();
	G.candidates = G.fit = G.attempt = G.bad = G.required = G.base = G.masked = G.open =
	    G.kind_set = NULL;
	G.turns = NULL;
	G.n_turns = G.next_turn = G.turns_room = 0;
	G.kinds = 0;
	G.pick = NULL;
	G.has_masked = G.has_base = false;
	G.open_at = 0;
	G.passed = G.refused = NULL;
	memset(G.proof, 0, sizeof(G.proof)); /* nodes are told by their places */
}

void ccr_gate_end(void)
{
	pthread_mutex_lock(&G.lock);
	ccr__answers_forget();
	ccr_plan_free(G.plan);
	G.plan = NULL;
	ccr_cluster_free(&G.cluster);
	ccr_config_free(G.config);
	G.config = NULL;
	free_room();
	free(G.part);
	free(G.unseen);
	free(G.list);
	G.part = NULL;
	G.unseen = NULL;
	G.list = NULL;
	G.parts = G.listed = G.list_cap = 0;
	G.on = false;
	pthread_mutex_unlock(&G.lock);
}

static bool make_plan(struct ccr_error *err)
{
	size_t words = CCR_WORDS(G.cluster.n) + 1;

	ccr_plan_free(G.plan);
	G.plan = NULL;
	free_room();
	if (ccr_plan_new(&G.plan, G.cluster.node, G.cluster.n, &G.opt, err))
		return false;
	G.candidates = calloc(words, sizeof(uint64_t));
	G.fit = calloc(words, sizeof(uint64_t));
	G.attempt = calloc(words, sizeof(uint64_t));
	G.bad = calloc(words, sizeof(uint64_t));
	G.required = calloc(words, sizeof(uint64_t));
	G.base = calloc(words, sizeof(uint64_t));
	G.masked = calloc(words, sizeof(uint64_t));
	G.open = calloc(words, sizeof(uint64_t));
	G.kind_set = calloc(CCR__KINDS * words, sizeof(uint64_t));
	G.pick = calloc(G.cluster.n + 1, sizeof(*G.pick));
	if (!G.candidates || !G.fit || !G.attempt || !G.bad || !G.required || !G.base ||
	    !G.masked || !G.open || !G.pick || !G.kind_set) {
		ccr_error_nomem(err);
		return false;
	}
	return true;
}

/* Rules for a partition that is not there are likely meant for one that is. */
static void warn_of_names(void)
{
	const struct ccr_config_backfill *b = G.config ? &G.config->backfill : NULL;

	for (size_t i = 0; b && G.new_config && i < b->n_partitions; i++)
		if (!find_part_record(b->partitions[i].name))
			info("select/cons_tres (slurm-ccr): warning: backfill.partitions.%s: there "
			     "is no such partition",
			     b->partitions[i].name);
	G.new_config = false;
}

static bool set_partitions(struct ccr_error *err)
{
	ccr_slurm_list_itr_t *it;
	part_record_t *part;
	uint32_t n = 0, count = (uint32_t)list_count(part_list);
	part_record_t **table = calloc(count + 1, sizeof(*table));
	struct ccr__unseen *unseen = calloc(count + 1, sizeof(*unseen));

	if (!table || !unseen) {
		free(table);
		free(unseen);
		ccr_error_nomem(err);
		return false;
	}
	free(G.part);
	free(G.unseen);
	G.part = table;
	G.unseen = unseen;
	G.unseen_at = 0;
	it = list_iterator_create(part_list);
	while ((part = list_next(it)) && n < count && n < UINT16_MAX) {
		int depth = (int)G.opt.depth;
		bool strict = false;

		if (G.config)
			ccr_config_backfill_of(G.config, part->name, &depth, &strict);
		G.part[n] = part;
		if (ccr_plan_partition(G.plan, (uint16_t)n, (uint32_t)depth, strict, err))
			break;
		n++;
	}
	list_iterator_destroy(it);
	G.parts = n;
	warn_of_names();
	return n == count;
}

int ccr__gate_partition(const part_record_t *part)
{
	static uint32_t last;

	if (last < G.parts && G.part[last] == part)
		return (int)last;
	for (uint32_t i = 0; i < G.parts; i++) {
		if (G.part[i] == part) {
			last = i;
			return (int)i;
		}
	}
	return -1;
}

/* Reasons under which a job waits for resources and for nothing else. */
bool ccr__waits_for_resources(const job_record_t *job)
{
	switch (job->state_reason) {
	case WAIT_NO_REASON:
	case WAIT_PRIORITY:
	case WAIT_RESOURCES:
	case WAIT_NODE_NOT_AVAIL:
	case WAIT_RESERVATION:
	case WAIT_LICENSES:
#if CCR_SLURM_FRONT_END
	case WAIT_FRONT_END:
#endif
		return true;
	default:
		return false;
	}
}

bool ccr_reason_of_one_part(const job_record_t *job)
{
	return job->part_ptr_list && list_count(job->part_ptr_list) > 1 &&
	       (job->state_reason == WAIT_PART_NODE_LIMIT ||
		job->state_reason == WAIT_PART_TIME_LIMIT || job->state_reason == WAIT_PART_DOWN ||
		job->state_reason == WAIT_PART_INACTIVE);
}

/* Jobs can still start in the partition that they are booked in. */
static bool is_up(uint16_t partition)
{
	return partition < G.parts && (G.part[partition]->state_up & PARTITION_SCHED);
}

uint32_t ccr__stuck(const job_record_t *job)
{
	if (!ccr_stuck_any(&G.stuck))
		return 0;
	return ccr_stuck_times(&G.stuck, job->job_id, ccr_job_asked(job), time(NULL));
}

/*
 * Drops bookings of jobs that went, are held, or wait for something else now (R23, R41), and those
 * that were due for a while without a start: holding resources idle for them would help nobody.
 */
static void review(void)
{
	const struct ccr_booking *b;
	time_t now = time(NULL);

	for (uint32_t i = 0; (b = ccr_plan_nth(G.plan, i));) {
		const job_record_t *job = find_job_record(b->job);
		bool stays = job && IS_JOB_PENDING(job) && job->priority && job->details &&
			     (ccr__waits_for_resources(job) ||
			      (ccr_reason_of_one_part(job) && is_up(b->partition)));

		/* (of one like it, a moment ago, it was found that it does not start) */
		stays = stays && (b->claim ? ccr__claim_fits(job, b) : ccr__stuck(job) < 2);
		if (stays && b->due &&
		    now - b->due > (b->claim || ccr__stuck(job) ? DUE_MOST_WHOLE : DUE_MOST)) {
			info("select/cons_tres (slurm-ccr): %pJ was to start %lld s ago and did "
			     "not: "
			     "it gets %s",
			     job, (long long)(now - b->due),
			     ccr__stuck(job) ? "no booking" : "a booking of whole nodes");
			ccr_stuck_note(&G.stuck, b->job, ccr_job_asked(job), now);
			stays = false;
		}
		if (stays)
			i++;
		else
			ccr_plan_drop(G.plan, b->job);
	}
}

static bool add_running(void)
{
	ccr_slurm_list_itr_t *it = list_iterator_create(job_list);
	struct ccr_parts_of_gpus parts = {0};
	int64_t now = time(NULL);
	job_record_t *job;
	bool ok = true;

	while (ok && (job = list_next(it))) {
		int64_t end, limit;
		int n;

		if (!IS_JOB_RUNNING(job) && !IS_JOB_SUSPENDED(job) && !IS_JOB_COMPLETING(job))
			continue;
		n = ccr_job_shares(&G.cluster, job, false, G.pick, G.cluster.n);
		if (n < 0) {
			/* A resize or a node that went leaves such records for a moment. */
			debug("select/cons_tres (slurm-ccr): %pJ's resources do not fit the nodes",
			      job);
			continue;
		}
		end = ccr__reserved_end(job, ccr_job_end(job, now));
		limit = ccr_job_limit(job);
		for (int i = 0; i < n && ok; i++)
			ok = !ccr_plan_running(G.plan, G.pick[i].node, &G.pick[i].a, end, limit);
		ok = ok && ccr_job_parts_of_gpus(&G.cluster, job, end, limit, &parts);
	}
	list_iterator_destroy(it);
	ccr_parts_of_gpus_join(&parts);
	for (size_t i = 0; i < parts.n && ok; i++) {
		struct ccr_amount a = {.gpus = {0}};

		a.gpus[parts.part[i].slot] = 1;
		ok = !ccr_plan_running(G.plan, parts.part[i].node, &a, parts.part[i].end,
				       parts.part[i].limit);
	}
	free(parts.part);
	return ok;
}

bool ccr__gate_load(bool cycle)
{
	struct ccr_error err = {.text = "out of memory"};
	uint32_t before = G.plan ? G.cluster.n : 0;
	time_t now = time(NULL);
	bool ok, made;

	if (!ccr_cluster_read(&G.cluster)) {
		ccr__gate_aside(
		    "the nodes or their GPUs cannot be read (more than 8 types on one?)");
		return false;
	}
	made = !G.plan || before != G.cluster.n;
	if (made)
		ok = make_plan(&err);
	else
		ok = !ccr_plan_set_nodes(G.plan, G.cluster.node, &err);
	ok = ok && set_partitions(&err) && (!made || ccr__restore_bookings(&err));
	if (ok) {
		review();
		ccr_plan_begin(G.plan, now, cycle);
		ok = add_running() && ccr__add_reservations(now) && !ccr_plan_ready(G.plan, &err);
	}
	ccr__answers_forget();
	if (ok)
		ccr__look_for_hets();
	G.open_at = 0;
	G.passed = G.refused = NULL;
	G.booked_last = 0;
	G.stale = false;
	if (!ok)
		ccr__gate_aside(err.text);
	return ok;
}
