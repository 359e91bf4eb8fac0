/*
 * gate - may this job start here and now?
 *
 * It may if every booking that it has to respect stays whole at every moment of its run: it ends
 * before, or takes only what the booking leaves. Which ones it has to respect: all that rank above
 * it, and of the lower ones those that were made when it was there already (planner.h).
 */
#ifndef CCR_CORE_GATE_H
#define CCR_CORE_GATE_H

#include "core/planner.h"

enum ccr_verdict {
	CCR_START = 0,
	CCR_WAIT_NEVER,	  /* (ccr_plan_pick) no set of its candidates can ever hold it */
	CCR_WAIT_FREE,	  /* not enough is free now, whatever is booked */
	CCR_WAIT_BOOKING, /* it would delay a booking */
	CCR_WAIT_STRICT,  /* a job ahead in its partition is blocked and the partition is strict */
	CCR_WAIT_LONG,	  /* long jobs have their share of the GPUs */
};

/* Why not: which booking, on which node, short of what. */
struct ccr_conflict {
	uint32_t job; /* the booked job; 0 if it is not one in particular */
	uint32_t node;
	int64_t start; /* of the booking */
	int64_t when;  /* the first moment at which it would be short */
	char what;     /* 'c' CPUs, 'm' memory, 'g' GPUs */
};

/*
 * Before a pick is made: the candidates that hold the job's least share now and for its whole time
 * limit beside the bookings. CCR_START: they are enough together, `out` has them. Otherwise the
 * job cannot start now on any pick; `out` is empty and `why` (may be NULL) is filled for
 * CCR_WAIT_BOOKING. The demand given here must be what the job needs at the very least: a floor.
 */
enum ccr_verdict ccr_plan_may_fit(struct ccr_plan *plan, const struct ccr_plan_job *job,
				  uint64_t *out, struct ccr_conflict *why);

/*
 * Narrows `nodes` (from ccr_plan_may_fit) to those that strand the fewest GPUs: at least as many
 * as the job needs, all that score as well as the last of these. Returns false and leaves `nodes`
 * alone where placement is off or has no preference.
 */
bool ccr_plan_place(struct ccr_plan *plan, const struct ccr_plan_job *job, uint64_t *nodes);

/*
 * An exact pick: n nodes (each once) and what is taken of each. CCR_START, CCR_WAIT_BOOKING,
 * CCR_WAIT_STRICT or CCR_WAIT_LONG. bad (may be NULL): the nodes in conflict, overwritten. Only
 * bookings are looked at: whether the pick is free at all is for who made it.
 */
enum ccr_verdict ccr_plan_check(struct ccr_plan *plan, const struct ccr_plan_job *job,
				const struct ccr_share *pick, uint32_t n, uint64_t *bad,
				struct ccr_conflict *why);

/*
 * Whether all bookings below the job would still have a place, none later than the one it has, if
 * it started now with this pick, which need not be clear of them (ccr_plan_check with over_lower).
 * By counts: where somebody else deals units and GPUs over nodes they may turn out to be less. Then
 * it is the higher of two that has its way, as with two whose time has come. Nothing is changed;
 * false also where memory is short. One search for each booking that would move.
 */
bool ccr_plan_makes_way(struct ccr_plan *plan, const struct ccr_plan_job *job,
			const struct ccr_share *pick, uint32_t n);

/*
 * For a pick that counts on jobs being preempted: gives back what one of them holds of a node until
 * its expected end (as it was loaded), or takes it again.
 */
int ccr_plan_lend(struct ccr_plan *plan, const struct ccr_share *share, int64_t end, bool again);

/*
 * The job starts now on that pick: its booking is given up, and lower ones that no longer hold
 * (only if the job came after them) are made anew. 0 or CCR_ENOMEM.
 */
int ccr_plan_start(struct ccr_plan *plan, const struct ccr_plan_job *job,
		   const struct ccr_share *pick, uint32_t n, struct ccr_error *err);

/*
 * A pick of our own: where the job would go now. sure: on nodes where any pick of somebody else for
 * it delays no booking either (see ccr_query); CCR_WAIT_FREE then also means that there are none.
 */
enum ccr_verdict ccr_plan_pick(struct ccr_plan *plan, const struct ccr_plan_job *job, bool sure,
			       struct ccr_slot *slot, struct ccr_conflict *why);

#endif
