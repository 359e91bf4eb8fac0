/*
 * gate - the plan of slurmctld's cluster, kept in step with slurmctld
 *
 * One plan for the process. It is loaded from slurmctld's records when a scheduling cycle begins,
 * and again when something changed outside of one. Every function takes the gate's own lock, which
 * comes after slurmctld's and assoc_mgr's; none takes those. Where anything is wrong with the
 * gate's own state it steps aside: it says so once, and the stock plugin decides alone until the
 * next reconfigure.
 */
#ifndef CCR_SELECT_GATE_H
#define CCR_SELECT_GATE_H

#include "core/booking_state.h"
#include "core/gate.h"
#include "select/asks.h"

/* Who calls job_test. */
enum ccr_caller {
	CCR_MAIN_CYCLE,
	CCR_BACKFILL, /* sched/backfill's thread */
	CCR_OTHER,    /* a user's request */
};

enum ccr_caller ccr_caller(void);

/* Reads slurm.conf and the policy file; at the start and on reconfigure. Conf R. */
void ccr_gate_configure(void);
/* Reads the file again if it changed, and keeps a good one; to be called without locks, often. */
void ccr_gate_watch_rules(void);
void ccr_gate_end(void);

/* Something changed that the plan does not know: it is loaded afresh before it is next used. */
void ccr_gate_stale(void);

/* job_test, of whatever mode and caller. Job W, node W as slurmctld holds them. */
int ccr_gate_test(struct ccr_slurm_test *t);

/* The job that just passed a test starts (ok) or does not. */
void ccr_gate_begun(const job_record_t *job, bool ok);

/*
 * For the reporter: what is booked and what waits for a booking. Calls each with what to say of a
 * job; slurmctld's job W held by the caller.
 */
struct ccr_notice {
	uint32_t job;
	bool booked;		  /* else it waits for a booking */
	bool beyond;		  /* it counts for the depth, but has no start within the window */
	bool late;		  /* it has none as it would end after its deadline */
	int64_t start;		  /* of its own booking, or of the one that it would delay */
	uint32_t other;		  /* the job whose booking it would delay */
	uint32_t node;		  /* that booking's node where it would be short */
	char what;		  /* of 'c' CPUs, 'm' memory, 'g' GPUs */
	enum ccr_verdict verdict; /* why it waits, if not booked */
	const struct ccr_share *share; /* of its own booking */
	uint32_t shares;
	int64_t window;	     /* s; of the policy */
	const char *smaller; /* with what it could start now; "" where nothing is known */
};
void ccr_gate_notices(void (*each)(const struct ccr_notice *n, void *data), void *data);

/*
 * A job of several partitions has one reason, that of the partition it was tried in last. Whether
 * that is a rule of that partition, which says nothing of the others.
 */
bool ccr_reason_of_one_part(const job_record_t *job);

/*
 * Whether a job that names its nodes was blocked in this cycle, or a hetjob waits: slurmctld then
 * tells those behind it that their nodes are not available.
 */
bool ccr_gate_named(void);

/* It is on and has not stepped aside. */
bool ccr_gate_decides(void);

/*
 * The bookings for the state file, if they are not those of the last call. Node R. *list is handed
 * to ccr_gate_write, which needs no lock.
 */
bool ccr_gate_snapshot(struct ccr_booking_saved **list, size_t *n);
void ccr_gate_write(struct ccr_booking_saved *list, size_t n);

#endif
