/*
 * kept - what the last cycle knew of each job, so that the next need not find it out again
 *
 * Most of what a long queue costs is the reading of records that are as they were. A row stands for
 * a job in slurmctld's list, in the list's order. It is good for as long as
 *   - all that a score is made of in the job's record is what it was (enum ccr_kept_input),
 *   - nobody else scored the job since (ccr_kept_touch: every update of a job ends there),
 *   - the record still has a priority that we stored, the site, its partitions, settings and the
 *     policy are the same (ccr_kept_begin).
 * Any doubt, and the job is gathered and scored as if it were new. What moves by itself - time,
 * usage, shares, QOS, groups - is read anew in any case.
 *
 * One table, the decay thread's. slurmctld's job lock (W) orders all uses but those of begin, end
 * and free.
 */
#ifndef CCR_PRIORITY_KEPT_H
#define CCR_PRIORITY_KEPT_H

#include "priority/scored.h"

/*
 * What a score reads of a job's own records and what may change there without an update of the job.
 * (The TRES and GRES that it asks for change by an update alone, in every version of Slurm, or with
 * the number of TRES that there are.)
 */
enum ccr_kept_input {
	CCR_KEPT_DETAILS,
	CCR_KEPT_ASSOC,
	CCR_KEPT_QOS,
	CCR_KEPT_PART,
	CCR_KEPT_PARTS,
	CCR_KEPT_ALLOC, /* NULL in all rows that are known: not running, and never was */
	CCR_KEPT_FACTORS,
	CCR_KEPT_SLOTS,
	CCR_KEPT_ACCRUE,
	CCR_KEPT_NICE,
	CCR_KEPT_NODES,
	CCR_KEPT_CPUS,
	CCR_KEPT_LIMIT,
	CCR_KEPT_SITE,
	CCR_KEPT_INPUTS
};

#define CCR_KEPT_REQUEST 7

struct ccr_kept_row {
	job_record_t *job; /* an address to compare; in a walk's rows a record */
	uint32_t job_id;
	bool scored;	  /* is to be, in this cycle */
	bool known;	  /* the rest is what was stored last */
	bool same;	  /* known, and nothing speaks against it */
	uint32_t present; /* the record's priority, at this walk */
	uint32_t priority;
	unsigned changed; /* columns to be stored, a bit each */
	bool cut;	  /* see struct ccr_score; of this cycle */
	int n_slots;
	uint64_t in[CCR_KEPT_INPUTS];
	double request[CCR_KEPT_REQUEST]; /* variables that the inputs alone decide */
	double tres;
	uint64_t who; /* user and account */
	double points[CCR_COLUMNS];
	struct ccr_slot *slot; /* owned */
};

/*
 * Before a walk over all jobs: are the rows of use at all? `serial` tells policies apart, and
 * `fresh` that the settings are new. Part R, assoc_mgr qos R.
 */
void ccr_kept_begin(const struct ccr_facts_site *site, unsigned serial, bool fresh, bool usable);

/*
 * The row of the next job of the walk, `scored` as given; NULL: out of memory. Rows move at the
 * next call. Asks for the records of jobs that come soon.
 */
struct ccr_kept_row *ccr_kept_next(job_record_t *job, bool scored);
/* After the walk: the rows of jobs that are gone are dropped. The rows in order, *n of them. */
struct ccr_kept_row *ccr_kept_end(size_t *n);

/* Somebody else scored the job. Job W. */
void ccr_kept_touch(uint32_t job_id);

/*
 * Brings a row that is the same up to date and says whether there is anything to store.
 * Locks: those of ccr_scored_gather().
 */
bool ccr_kept_score(const struct ccr_sources *sources, struct ccr_policy *policy,
		    const struct ccr_score_rule *rule, struct ccr_kept_row *row, unsigned *faults);
/* Asks for the slots of a row that is soon to be brought up to date. */
static inline void ccr_kept_fetch_slots(const struct ccr_kept_row *row)
{
	const char *slots = (const char *)row->slot;

	for (size_t at = 0; at < (size_t)row->n_slots * sizeof(*row->slot) && at < 512; at += 64)
		__builtin_prefetch(slots + at, 1);
}

/* Stores what ccr_kept_score() changed. Job W. */
void ccr_kept_store(struct ccr_kept_row *row);

/* Takes down what was found and stored for a job that was scored in full. Locks as above. */
void ccr_kept_note(const struct ccr_sources *sources, const struct ccr_scored *s,
		   const struct ccr_arena *arena, struct ccr_kept_row *row);

void ccr_kept_free(void);

#endif
