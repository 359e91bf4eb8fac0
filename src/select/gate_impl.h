/*
 * gate_impl - the inside of the gate, shared by its files
 */
#ifndef CCR_SELECT_GATE_IMPL_H
#define CCR_SELECT_GATE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/claim.h"
#include "core/smaller.h"
#include "core/stuck.h"
#include "core/together.h"
#include "select/gate.h"
#include "select/inner.h"
#include "select/sets.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* What was answered to a request in this cycle; another job with an equal one gets the same. */
struct ccr__answer {
	uint64_t hash;
	struct ccr_demand demand;
	uint16_t partition;
	uint32_t min_nodes, max_nodes, req_nodes;
	bool test_only; /* else a refusal of RUN_NOW */
	int64_t limit;	/* of a refusal: the shortest that was refused */
	enum ccr_verdict verdict;
	struct ccr_conflict why;
	int rc;
	uint64_t *set;	  /* the nodes that were offered */
	uint64_t *result; /* TEST_ONLY: the nodes that were answered */
	UT_hash_handle hh;
};

struct ccr__refused {
	uint32_t job;
	enum ccr_verdict verdict;
	struct ccr_conflict why;
	int16_t kind; /* in G.kind, -1: its request is not looked at further */
	bool late;    /* it got no booking as none would end by its deadline */
};

/* A request that had to wait in this cycle, and with how much less it could start. */
#define CCR__KINDS 64
struct ccr__kind {
	uint64_t hash;
	struct ccr_demand demand;
	int64_t limit;
	uint16_t partition;
	unsigned which; /* what may be made smaller, see ccr_plan_smaller */
	bool known;	/* words are of the plan as it is told */
	char words[200];
};

/* What sched/backfill asked of a component of a hetjob; see het.c. */
struct ccr__part_of_het {
	uint32_t job; /* 0: the row is free */
	time_t at;
	time_t tried; /* (the first of its hetjob) although a limit is in the way */
	struct ccr_ask ask;
	uint32_t nodes;		  /* of the cluster then */
	uint64_t *set, *required; /* no set: it was not the plan that answered */
	uint64_t *now;		  /* where it was told to start now; NULL: it was not */
};

/* The highest job of a partition that no main cycle has looked at; see unseen.c. */
struct ccr__unseen {
	bool any, any_het;
	struct ccr_rank rank;
	struct ccr_rank het; /* of the highest component of a hetjob, seen or not */
};

/* A pending job whose turn comes in this cycle. */
struct ccr__turn {
	struct ccr_rank rank;
	uint32_t job;
};

/* What the stock plugin said of the nodes that are booked for a job; see proven.c. */
#define CCR__PROOFS 1024
struct ccr__proof {
	uint32_t job;
	uint64_t asked;	    /* a digest of its request */
	uint64_t good, bad; /* digests of sets of nodes; 0: none */
	int64_t good_from;  /* it takes the good ones from then on, */
	int64_t bad_until;  /* and the bad ones not before that; CCR_FOREVER: never */
	bool found;	    /* the good ones are no plan's: they were searched for */
	time_t never;	    /* when there were none to be found; 0: there are */
};

struct ccr__gate {
	pthread_mutex_t lock;
	atomic_bool on;	   /* in slurmctld, and the policy file does not say otherwise */
	atomic_bool aside; /* something is wrong: the stock plugin decides alone */
	bool stale;
	bool answers_wrong; /* a booking moved: what was refused may fit now */
	struct ccr_cluster cluster;
	struct ccr_plan *plan;
	struct ccr_plan_options opt;
	struct ccr_config *config;
	bool new_config;      /* its names are to be looked at */
	part_record_t **part; /* by the plan's number; valid since the last load */
	uint32_t parts;
	uint32_t cycle; /* schedule_cycle_counter of the cycle that the plan is of */
	time_t cycle_at;
	bool in_cycle;
	int64_t seen_at; /* the last main cycle began; jobs from then on it may not know. 0: none */
	struct ccr__unseen *unseen; /* by partition, then one for jobs in several of them */
	bool stands_in;		    /* sched/backfill's turns are cycles; see standin.c */
	uint32_t asked_cycles;	    /* the counter of cycles when a main cycle was asked for, */
	time_t asked_first;	    /* and since when it has stood still; 0: not asked */
	time_t turn; /* the last turn of sched/backfill that was taken for a cycle; 0: none is */
	int64_t looked_at;	/* when ccr__unseen_above last had the counter of cycles, */
	uint32_t looked_cycles; /* and that */
	time_t unseen_at;	/* when that was gathered, */
	int unseen_jobs;	/* of how many jobs, */
	int64_t unseen_since;	/* after which cycle */
	uint32_t sent_away;	/* whom the log said last to wait for that, */
	time_t sent_at;		/* and when */
	uint64_t *candidates, *fit, *attempt, *bad, *required;
	uint64_t *base;	  /* nodes that were available when the cycle began, to every job */
	uint64_t *masked; /* nodes of blocked -w jobs that slurmctld hides from later jobs */
	bool has_masked, has_base;
	uint64_t *open;		 /* nodes that are up and not reserved, */
	time_t open_at;		 /* as of then */
	bool named;		 /* there was one in this cycle */
	struct ccr__turn *turns; /* whose turn comes in this cycle, by rank; see unasked.c */
	uint32_t n_turns, next_turn, turns_room;
	bool gathered;
	bool het_waits;
	/* The job that passed a test last; it may be about to start. */
	const job_record_t *passed;
	uint32_t passed_id, passed_n;
	struct ccr_rank passed_rank;
	uint16_t passed_partition;
	int64_t passed_limit, passed_since;
	struct ccr_share *pick;
	/* Of the job whose booking is looked for: what those hold that it may preempt. */
	struct ccr_lent *lent;
	uint32_t lents;
	bool preemptor; /* the job at hand ranks first as it may preempt by its QOS */
	const struct ccr_demand *need; /* what the job is planned with whose pick is looked for */
	/* The job that was refused last, for the TEST_ONLY that follows. */
	const job_record_t *refused;
	enum ccr_verdict refused_as;
	struct ccr_conflict refused_why;
	struct ccr__refused *list;
	uint32_t listed, list_cap;
	struct ccr__kind kind[CCR__KINDS];
	uint64_t *kind_set; /* their candidates, one set after the other */
	uint32_t kinds;
	struct ccr__answer *answers;
	struct ccr_stuck stuck;
	struct ccr__proof proof[CCR__PROOFS];
	uint32_t proof_next;
	struct ccr__part_of_het *het;
	uint32_t hets;
	uint64_t saved;	      /* a digest of what is in the state file; 0: unknown */
	uint32_t booked_last; /* whom the last TEST_ONLY gave a booking */
	uint32_t filled;      /* fillers of this cycle */
};

extern struct ccr__gate ccr__gate;

/*
 * sched/backfill asks twice in a row: whether the log has just had this of the job, as the last of
 * its kind.
 */
enum ccr__said { CCR__SAID_WAITS, CCR__SAID_BOOK, CCR__SAID_CLAIM, CCR__SAID_KINDS };
bool ccr__just_said(enum ccr__said kind, uint32_t job, int what);

/* Says why once and leaves everything to the stock plugin. */
void ccr__gate_aside(const char *why);

/* Loads the plan. cycle: a new one begins. False: stepped aside. */
bool ccr__gate_load(bool cycle);

/* Takes what advance reservations set aside out of the plan that is being loaded. */
bool ccr__add_reservations(time_t now);

/*
 * Until when what a running job holds is not to be had: its end, or that of the reservation of
 * parts of nodes in which it runs, to which it falls back.
 */
int64_t ccr__reserved_end(const job_record_t *job, int64_t end);

/* The plan's number of a partition; -1 for one that is not known. */
int ccr__gate_partition(const part_record_t *part);

/*
 * After a blocked job that names its nodes slurmctld hides these from all later jobs of the cycle:
 * note_masked remembers them, unmask makes them visible for the job at hand and those behind it.
 */
void ccr__note_masked(const struct ccr_slurm_test *t);
void ccr__unmask(struct ccr_slurm_test *t, bool now);
void ccr__show_masked(void);

/*
 * Adds to the candidates all nodes that the job could ever have. A hetjob hides the nodes of its
 * partitions from jobs of others that share them too, and sched/backfill those that it has planned
 * with: bookings may be there all the same. False: of this job that is not known.
 */
bool ccr__show_open(const job_record_t *job);

/*
 * The job as the plan wants it, with G.candidates to choose from and the floor of its request.
 */
struct ccr_plan_job ccr__plan_job(const job_record_t *job, uint16_t partition,
				  const struct ccr_ask *ask);

/* The nodes that the job names (-w) as a set (G.required); NULL if it names none. */
const uint64_t *ccr__required(const job_record_t *job);

/*
 * A job above this one may preempt the same jobs, and is booked from a time when there was none of
 * them: who finds one now does not pass it for that.
 */
bool ccr__behind_preemptor(const job_record_t *job);

/* Whose time has come is held against the bookings as if he had started in time. */
void ccr__less_late(struct ccr_plan_job *pj);

/* The stock plugin has picked nodes on which others are to be preempted first. */
bool ccr__preempts(const struct ccr_slurm_test *t);

/*
 * Whether RUN_NOW, whose pick is held against the bookings, would let the job of a WILL_RUN preempt
 * now. Changes t->nodes and *ask.
 */
enum ccr_verdict ccr__may_preempt_now(const struct ccr_slurm_test *t, uint16_t partition,
				      struct ccr_ask *ask, struct ccr_conflict *why);

/*
 * Then it tells the nodes alone. Fills G.pick with what the job takes of them, by G.need; returns
 * how many there are.
 */
int ccr__preempting_pick(const struct ccr_slurm_test *t, const struct ccr_plan_job *pj);

/*
 * A pick of it delays a booking: narrows G.fit to where its request leaves them whole when those
 * that it may preempt are gone, if that is enough. G.attempt is overwritten.
 */
void ccr__preempting_fit(const struct ccr_slurm_test *t, const struct ccr_plan_job *pj);

/*
 * The job has passed RUN_NOW on the pick that is in G.pick. If others are to be preempted first, it
 * does not start yet: it gets a claim, and the log says so (true).
 */
bool ccr__claim(const struct ccr_slurm_test *t, uint16_t partition, struct ccr_ask *ask);

/* The job was not changed so that it may not have the nodes of its claim. */
bool ccr__claim_fits(const job_record_t *job, const struct ccr_booking *b);

/* Fills G.lent with what the jobs hold that this one may preempt; ccr__lent_end empties it. */
void ccr__lent_begin(const struct ccr_slurm_test *t, uint16_t partition);
void ccr__lent_end(void);

/*
 * For ccr_gate_notices: the job was refused with G.candidates to choose from. which: what of its
 * request the plan may judge if it is made smaller, none if that takes more than counts.
 */
void ccr__list_refused(const struct ccr_slurm_test *t, const struct ccr_ask *ask,
		       uint16_t partition, enum ccr_verdict v, const struct ccr_conflict *why,
		       unsigned which);

/* The same: the job gets no booking as none would end by its deadline. */
void ccr__list_late(const job_record_t *job);

/* The job's reason is one under which it waits for resources and for nothing else. */
bool ccr__waits_for_resources(const job_record_t *job);

/*
 * Outside the main cycle: whether a job that ranks above, in a partition that shares nodes, has
 * come since the last one. Job R.
 */
bool ccr__unseen_above(const job_record_t *job);
/*
 * The main cycle was asked for. If it does not come, sched/backfill's turns are the cycles until it
 * does (G.stands_in). turn_begins: of this thread's, while that is so. Conf R.
 */
void ccr__main_asked(void);
bool ccr__turn_begins(void);
/* Somebody was sent away for that: has both schedulers come again, once a second at most. Job W. */
void ccr__unseen_ask_again(void);

/*
 * Whether the main cycle does not come to the job: it turns back at a hetjob that ranks above, and
 * hides the nodes of its partition from all others.
 * After ccr__unseen_above or ccr__look_for_hets, which look at the queue.
 */
bool ccr__behind_het(const job_record_t *job);

/* When a plan is loaded; O(jobs), if a hetjob waited when somebody last looked. */
void ccr__look_for_hets(void);

/* A file in StateSaveLocation, malloc'd; NULL: out of memory. slurm_conf must be readable. */
char *ccr__state_path(const char *name);

/* Puts the bookings of the state file into the new plan. False: out of memory. */
bool ccr__restore_bookings(struct ccr_error *err);

/*
 * After a restart a node is unknown until it reports, and slurmctld offers it to nobody; nor one
 * that is being powered down, until it is; nor those that a blocked -w job names. What is booked
 * there stays: adds those nodes of the job's booking to the candidates.
 */
void ccr__keep_own_nodes(const job_record_t *job);

/*
 * For a job of features with counts: puts the nodes that it is planned on, each of which it needs,
 * into the candidates, and what to book there into *d. False: it cannot be told.
 */
bool ccr__mixed(const job_record_t *job, int64_t limit, struct ccr_demand *d);

/*
 * The steps by which a booking is held against the stock plugin (proven.c), t being its question:
 * begin: may narrow G.candidates and the need. False: there is none to be made. After it, and after
 * search: the booking is to be no earlier than from.
 * holds: is the booking one on which the job can run? True also where that need not be asked.
 * search: it is not, and was dropped: nodes on which it can, into G.candidates and the need.
 * end: in any case, when the booking is what it is.
 */
struct ccr__proving {
	bool wanted;
	uint64_t asked;
	uint64_t *old; /* where it was booked and could run */
	int64_t from;  /* on those that are known by now: from then on */
};
bool ccr__proof_begin(struct ccr__proving *v, const job_record_t *job, struct ccr_ask *ask);
bool ccr__proof_holds(struct ccr__proving *v, const struct ccr_slurm_test *t,
		      const struct ccr_booking *b);
bool ccr__proof_search(struct ccr__proving *v, const struct ccr_slurm_test *t, struct ccr_ask *ask);
void ccr__proof_end(struct ccr__proving *v, uint32_t job);

/*
 * Gives the job its booking, or a better one. G.candidates are its nodes. t: slurmctld's question;
 * NULL: it asked none, and the job gets none if it could start now. NEVER also where there is a
 * rule against one.
 */
enum ccr_book ccr__book(job_record_t *job, uint16_t partition, struct ccr_ask *ask,
			const struct ccr_slurm_test *t);

/*
 * Those whom slurmctld turns away unasked are booked when their rank comes (begin: of a main cycle;
 * before: it has come to this job), the rest at its end. Job W, node R, part R.
 */
void ccr__unasked_begin(void);
void ccr__unasked_before(const job_record_t *job);
void ccr__book_unasked(void);

/* Overwrites the set: the nodes that are up and in no advance reservation. Job W. */
void ccr__unreserved(uint64_t *set);

/*
 * Adds to the candidates the nodes that slurmctld leaves out as they are reserved while the job
 * would run now: the plan knows until when. Not for a job with features.
 */
void ccr__after_reservations(const job_record_t *job);

/*
 * How often the job's booking was due and it did not start: 0 for most, 1 where it is to be booked
 * whole nodes, 2 where nothing (core/stuck.h).
 */
uint32_t ccr__stuck(const job_record_t *job);

/*
 * Adds to the candidates what is booked for the job. sched/backfill leaves out for a while what it
 * keeps for a hetjob, or where a job is completing. A booking that is given up for that is somebody
 * else's in the next main cycle.
 */
void ccr__keep_promised(const job_record_t *job);

/*
 * sched/backfill asks when a component could start (G.candidates are its nodes): the answer is when
 * all components can, and the nodes that are booked for this one.
 */
int ccr__het_will_run(struct ccr_slurm_test *t, const uint64_t *required);
void ccr__het_free(void);

/* Notes what sched/backfill was told of the component, by whomever. */
void ccr__het_told(const struct ccr_slurm_test *t, int rc);

/*
 * The component is to start now (G.candidates are its nodes): leaves out those that another, which
 * is yet to start, was told or is booked for. False: the other's booking is later by now.
 */
bool ccr__het_begin(const job_record_t *job);

/* Where the component was told that it starts now; NULL: no hetjob, or not known. */
const uint64_t *ccr__het_now(const job_record_t *job);

/* A component of the hetjob has started: the others are to follow at once. */
bool ccr__het_begun(const job_record_t *job);

/*
 * START: the stock plugin has picked nodes for the job (narrow: of those that placement prefers, if
 * they do) and no booking is delayed. G.fit says where it may look, and is narrowed. Else
 * WAIT_FREE, or WAIT_BOOKING with why, or another reason to wait.
 */
enum ccr_verdict ccr__find_pick(struct ccr_slurm_test *t, const struct ccr_plan_job *pj,
				bool narrow, struct ccr_conflict *why);

/*
 * The same where by counts the bookings leave no room now: only those below the job are in the way,
 * and each of them would have a place in time without that (ccr_plan_makes_way). False: it waits.
 */
bool ccr__find_over_lower(struct ccr_slurm_test *t, const struct ccr_plan_job *pj);

void ccr__answers_forget(void);
struct ccr__answer *ccr__answer_find(const struct ccr_slurm_test *t, const struct ccr_demand *d,
				     uint16_t partition, const uint64_t *set);
/* Adds an empty one under that key; NULL when there is no room: nothing is lost by that. */
struct ccr__answer *ccr__answer_add(const struct ccr_slurm_test *t, const struct ccr_demand *d,
				    uint16_t partition, const uint64_t *set);

#endif
