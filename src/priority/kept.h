/*
 * kept - what the last cycle knew of each job, so that the next need not find it out again
 *
 * Most of what a long queue costs is the reading of records that are as they were, and of what is
 * known of them. A row stands for a job in slurmctld's list, in the list's order. It is good for as
 * long as
 *   - nobody else scored the job since (ccr_kept_touch: every update of a job ends there, also one
 *     that is refused),
 *   - its record has the same parts (enum ccr_kept_part), job id and time of eligibility, and a
 *     priority that we stored,
 *   - the site, its partitions, QOS, settings and the policy are the same (ccr_kept_begin).
 * Any doubt, and the job is gathered and scored as if it were new.
 *
 * What else a score reads of a record (enum ccr_kept_detail) changes by an update of the job, by
 * its start, or with its priority (`scontrol top`, which changes nice). As a net under that, for
 * what slurmctld may do besides - its select plugin multiplies the CPUs of a few jobs when it tries
 * them
 * - these are compared in an eighth of the rows in each cycle, another one each time. A site_factor
 * plugin writes its field whenever it likes: with one, that is compared always.
 *
 * What moves by itself - time, usage, shares, associations, groups - is read anew in any case, and
 * the columns of sprio that read any of that are evaluated anew; the others keep their points.
 *
 * These points are what sprio is told. The record's own columns (job->prio_factors) are behind for
 * as long as a row `owes` them: slurmctld reads them for a QOS's UsageThreshold, whose jobs are
 * never kept, and copies them when it takes a task out of an array, so that the record of a whole
 * array is never behind. They are brought up to date when a row is given up.
 *
 * One table, the decay thread's. slurmctld's job lock orders all uses but that of free: W changes
 * rows and touches jobs, R suffices for ccr_kept_columns.
 */
#ifndef CCR_PRIORITY_KEPT_H
#define CCR_PRIORITY_KEPT_H

#include "priority/scored.h"

/* Parts of a record, by address: what is never looked at without comparing the address first. */
enum ccr_kept_part {
	CCR_KEPT_DETAILS,
	CCR_KEPT_ASSOC,
	CCR_KEPT_QOS,
	CCR_KEPT_PART,
	CCR_KEPT_PARTS,
	CCR_KEPT_FACTORS,
	CCR_KEPT_SLOTS,
	CCR_KEPT_PARTS_OF
};

/*
 * What else of the job's own records a score reads. (The TRES and GRES that it asks for change by
 * an update alone, in every version of Slurm, or with the number of TRES that there are.)
 */
enum ccr_kept_detail {
	CCR_KEPT_ALLOC, /* NULL in all rows that are known: not running, and never was */
	CCR_KEPT_NICE,
	CCR_KEPT_NODES,
	CCR_KEPT_CPUS,
	CCR_KEPT_LIMIT,
	CCR_KEPT_SITE,
	CCR_KEPT_DETAILS_OF
};

#define CCR_KEPT_REQUEST 7

/* What a cycle reads of every job that is as it was: no more than that, as it is read from memory.
 */
struct ccr_kept_row {
	job_record_t *job; /* an address to compare; in a walk's rows a record */
	const void *part[CCR_KEPT_PARTS_OF];
	uint32_t job_id;
	uint32_t present; /* the record's priority, at this walk */
	uint32_t priority;
	uint32_t slot; /* the first; see ccr_kept_slot() */
	uint16_t n_slots;
	bool scored : 1; /* is to be, in this cycle */
	bool known : 1;	 /* the rest is what was stored last */
	bool same : 1;	 /* known, and nothing speaks against it */
	bool cut : 1;	 /* see struct ccr_score; of this cycle */
	bool quick : 1;	 /* columns that read nothing that moves have the points that they had */
	bool array : 1;	 /* a whole array: its record's columns are never behind */
	bool owes : 1;	 /* the record's columns are behind the points */
	time_t accrue;
	int64_t nice;
	double tres;
	uint64_t who; /* user and account */
	double points[CCR_COLUMNS];
};

/* The rest, seldom asked. */
struct ccr_kept_rest {
	uint64_t in[CCR_KEPT_DETAILS_OF];
	double request[CCR_KEPT_REQUEST]; /* variables that the request and the site alone decide */
};

/* A job's pair of partition and QOS. */
struct ccr_kept_slot {
	double partition, qos, tres; /* points there */
	uint32_t priority;	     /* what the record has */
	bool main;		     /* the pair that the job's own score is of */
};

struct ccr_kept_pair {
	const part_record_t *part;
	const slurmdb_qos_rec_t *qos;
};

/*
 * Before a walk over all jobs: are the rows of use at all? `serial` tells policies apart, and
 * `fresh` that the settings are new. Job W, part R, assoc_mgr qos R.
 */
void ccr_kept_begin(const struct ccr_facts_site *site, unsigned serial, bool fresh, bool usable);

/*
 * The row of the next job of the walk, `scored` as given; NULL: out of memory. Rows move at the
 * next call. Asks for the records of jobs that come soon.
 */
struct ccr_kept_row *ccr_kept_next(job_record_t *job, bool scored);
/* After the walk: the rows of jobs that are gone are dropped. The rows in order, *n of them. */
struct ccr_kept_row *ccr_kept_end(size_t *n);

/* What belongs to a row of a walk that has ended. */
struct ccr_kept_rest *ccr_kept_rest(const struct ccr_kept_row *row);
struct ccr_kept_slot *ccr_kept_slot(const struct ccr_kept_row *row);
struct ccr_kept_pair *ccr_kept_pair(const struct ccr_kept_row *row);

/* Somebody else scored the job, and stored its columns. Job W. */
void ccr_kept_touch(uint32_t job_id);

/*
 * Takes down what was found and stored for a job that was scored in full, in `whole` points or not.
 * Locks as below.
 */
void ccr_kept_note(const struct ccr_sources *sources, const struct ccr_scored *s,
		   const struct ccr_arena *arena, bool whole, struct ccr_kept_row *row);

/* --- for sprio -------------------------------------------------------------------------------- */

/* For a walk over slurmctld's list, in its order, with all or some of the jobs. All 0 to begin. */
struct ccr_kept_cursor {
	size_t at, in_vain;
};

struct ccr_kept_known {
	const double *points; /* of the job's columns; NULL: they are those of its record */
	bool adrift;	      /* either may be older than its priority */
	/*
	 * Stands for all that sprio shows of the job's priority, partitions included; NULL: the
	 * record has to be asked.
	 */
	const struct ccr_kept_row *row;
};

/* The walk's next job. Job R, part R; several threads may ask at a time. */
void ccr_kept_look(struct ccr_kept_cursor *cursor, const job_record_t *job,
		   struct ccr_kept_known *out);

/* The TRES weights that all rows were made with, *n of them, or none. Job R. */
double *ccr_kept_weights(uint32_t *n);
/* The points of so many TRES of a row that stands for its job, in that partition. Job R, part R. */
void ccr_kept_tres_points(const struct ccr_kept_row *row, const part_record_t *part,
			  double *points);

/* Asks for the record of the row of that number, which sprio's first look is at. Job R. */
void ccr_kept_fetch(size_t i);

/* --- what all rows depend on (kept_site.c) ---------------------------------------------------- */

/* Nodes, CPUs, partitions and QOS, as a score reads them. Part R, assoc_mgr qos R. */
uint64_t ccr_kept_site(const struct ccr_facts_site *site);

/* --- bringing rows up to date (kept_score.c) -------------------------------------------------- */

/* Once for a policy, before its first walk: what moves in it? */
void ccr_kept_plan(const struct ccr_policy *policy);
/* Before the rows of a cycle. */
void ccr_kept_score_begin(void);
/* Which user and account a row is of: to ask for their standing once a cycle. */
uint64_t ccr_kept_who(const job_record_t *job);
/* The variables that the request and the site decide. */
void ccr_kept_take_request(const struct ccr_scored *s, double *request);
/* Makes room for a row of so many slots; false: out of memory. */
bool ccr_kept_score_room(size_t n_slots);

/* May the columns that read nothing that moves keep their points, in a job scored just now? */
bool ccr_kept_is_quick(const struct ccr_scored *s);

/*
 * Brings a row that is the same up to date and says whether there is anything to store.
 * Locks: those of ccr_scored_gather().
 */
bool ccr_kept_score(const struct ccr_sources *sources, struct ccr_policy *policy,
		    const struct ccr_score_rule *rule, struct ccr_kept_row *row, unsigned *faults);

/* Stores what ccr_kept_score() changed. Job W. */
void ccr_kept_store(struct ccr_kept_row *row);

void ccr_kept_score_free(void);
void ccr_kept_free(void);

#endif
