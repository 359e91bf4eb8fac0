/*
 * scored - a job on its way from facts to points and back into its record
 *
 * Gathered under read locks, scored without any, stored under the job write lock. priority_p_set
 * does the three in one go for a single job.
 *
 * A job queued with several (partition, QOS) pairs has a slot for each; slots and TRES points of
 * all jobs of a cycle lie in one arena, so that a cycle allocates nothing once it has grown.
 */
#ifndef CCR_PRIORITY_SCORED_H
#define CCR_PRIORITY_SCORED_H

#include "core/score.h"
#include "priority/facts.h"

struct ccr_slot {
	double queue_priority, partition_factor;
	double qos_priority, qos_factor;
	double tres; /* weighted sum in that partition */
	uint32_t priority;
};

struct ccr_scored {
	uint32_t job_id;
	uint32_t nice; /* as in the record: a change since then makes the score stale */
	uint32_t site; /* likewise */
	time_t accrue; /* likewise */
	int n_slots;   /* 0: one partition */
	size_t slot;   /* first in the arena */
	size_t tres;   /* first in the arena; tres_cnt doubles */
	bool has_tres;
	bool threshold; /* QOS with EnforceUsageThreshold: see store.c */
	const struct ccr_standing *standing;
	double var[CCR_VAR_COUNT];
	struct ccr_score_extra extra;
	struct ccr_score score;
};

/* Grows by itself; zero to start with. */
struct ccr_arena {
	struct ccr_slot *slot;
	size_t n_slots, room_slots;
	double *tres;
	size_t n_tres, room_tres;
};

void ccr_arena_clear(struct ccr_arena *a);
void ccr_arena_free(struct ccr_arena *a);

/*
 * Gathers a pending job. Locks: job R (W where slots are to be sorted: up to 24.05), node R, part
 * R, assoc_mgr assoc R and qos R. False: out of memory.
 */
bool ccr_scored_gather(const struct ccr_facts_site *site, const struct ccr_standings *standings,
		       job_record_t *job, struct ccr_scored *out, struct ccr_arena *arena);

/* Scores it; no lock. faults[CCR_COLUMNS] counts what had no finite value. */
void ccr_scored_compute(struct ccr_policy *policy, const struct ccr_score_rule *rule,
			const struct ccr_settings *settings, struct ccr_scored *s,
			struct ccr_arena *arena, unsigned *faults);

/*
 * Writes the columns to the job's record and returns its priority, which the caller stores (or
 * hands back to slurmctld). Slots are written here. Job W, part R.
 */
uint32_t ccr_scored_store(const struct ccr_settings *settings, const struct ccr_scored *s,
			  const struct ccr_arena *arena, job_record_t *job);

/* Is the record still what was gathered? Job R. */
bool ccr_scored_fresh(const struct ccr_scored *s, const job_record_t *job);

#endif
