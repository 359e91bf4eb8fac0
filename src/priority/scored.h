/*
 * scored - a job on its way from facts to points and back into its record
 *
 * Gathered, scored and stored in one go, as the three touch the same records: what a long queue
 * costs is bringing each record into the cache, once.
 *
 * A job queued with several (partition, QOS) pairs has a slot for each; slots and TRES points lie
 * in an arena, so that nothing is allocated for a job once it has grown.
 */
#ifndef CCR_PRIORITY_SCORED_H
#define CCR_PRIORITY_SCORED_H

#include "core/score.h"
#include "priority/facts.h"
#include "priority/lsf_rows.h"

/* The variables that another partition or QOS changes. */
#define CCR_SLOT_VARS 8

struct ccr_slot {
	double var[CCR_SLOT_VARS]; /* see swap_slot() */
	double tres;		   /* weighted sum in that partition */
	struct ccr_lsf_pair *lsf;
	const part_record_t *part; /* may be NULL */
	const slurmdb_qos_rec_t *qos;
	bool main; /* the pair that the job's own score is of */
	uint32_t priority;
	double partition, qos_points; /* of its columns, in this pair */
};

struct ccr_scored {
	uint32_t job_id;
	uint32_t nice;
	uint32_t site;
	int n_slots; /* 0: one partition */
	size_t slot; /* first in the arena */
	size_t tres; /* first in the arena; tres_cnt doubles */
	bool has_tres;
	bool threshold;		  /* QOS with EnforceUsageThreshold: see store.c */
	struct ccr_lsf_pair *lsf; /* NULL where the policy does not ask for it */
	double var[CCR_VAR_COUNT];
	struct ccr_score_extra extra;
	struct ccr_score score;
	unsigned faulty; /* columns that had no finite value, a bit each */
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
/* Room for n slots more, the first of them; NULL: out of memory. */
struct ccr_slot *ccr_arena_slots(struct ccr_arena *a, size_t n);

/* Where the facts come from besides the job. */
struct ccr_sources {
	struct ccr_facts_site site;
	const struct ccr_standings *standings; /* NULL: none, all group terms are 0 */
	struct ccr_lsf_table *lsf;	       /* NULL: not asked for */
	bool groups_wanted;		       /* ccr_sources_want_groups() */
	bool weights_kept; /* the records have the present TRES weights already */
};

/* Does the policy read anything that the standings know? */
bool ccr_sources_want_groups(const struct ccr_facts_site *site);

/*
 * Gathers a pending job into *out, all 0 before the first use: what the policy does not ask for is
 * not touched. Locks: job W, node R, part R,
 * assoc_mgr assoc R and qos R. False: out of memory.
 */
bool ccr_scored_gather(const struct ccr_sources *sources, job_record_t *job, struct ccr_scored *out,
		       struct ccr_arena *arena);

/* The variables of a slot that is not the main one. Locks: part R, assoc_mgr qos R. */
void ccr_scored_slot_facts(const struct ccr_sources *sources, struct ccr_slot *slot);

/* Puts the points of the columns whose bits are set into a record, but TRES. Job W. */
void ccr_scored_columns(const double *points, unsigned columns, ccr_slurm_factors_t *to);

/* CCR_VAR_QOS_USAGE, where anybody asks for it. */
void ccr_scored_qos_usage(const struct ccr_sources *sources, const slurmdb_qos_rec_t *qos,
			  double *var);

/*
 * Fills in LSF's variables: between gathering and scoring. No lock but the table's. join: a job
 * that the table does not know is counted there from now on.
 */
void ccr_scored_lsf(struct ccr_lsf_table *lsf, struct ccr_scored *s, struct ccr_arena *arena,
		    bool join);

/* The columns of a policy that read what another partition or QOS changes, a bit each. */
unsigned ccr_scored_slot_columns(const struct ccr_policy *policy);

/* Once for a policy, before it scores. */
void ccr_scored_watch(struct ccr_policy *policy);

/* Scores it; no lock. faults[CCR_COLUMNS] counts what had no finite value. */
void ccr_scored_compute(struct ccr_policy *policy, const struct ccr_score_rule *rule,
			const struct ccr_settings *settings, struct ccr_scored *s,
			struct ccr_arena *arena, unsigned *faults);

/*
 * Writes the columns to the job's record and returns its priority, which the caller stores (or
 * hands back to slurmctld). Slots are written here. Job W, part R.
 */
uint32_t ccr_scored_store(const struct ccr_sources *sources, const struct ccr_scored *s,
			  const struct ccr_arena *arena, job_record_t *job);

#endif
