/*
 * together - jobs that start at one time or not at all (the components of a hetjob)
 */
#ifndef CCR_CORE_TOGETHER_H
#define CCR_CORE_TOGETHER_H

#include "core/planner.h"

/*
 * Books all n jobs (n > 0, different ids, the first of which stands for all: its rank, partition
 * and since) at the earliest time at which each holds its demand beside the others and all bookings
 * that they have to respect; or moves the bookings that they have to an earlier time. They count as
 * one for the depth. *start: when; CCR_FOREVER if not booked. As ccr_plan_book otherwise; beyond
 * the depth they are booked only if all can start now. Who can do without a node that another needs
 * leaves it to that one: two, each of a fixed number of nodes, always find theirs if there are
 * some, more of them as a rule. The cost is n searches for each time that is looked at, four times
 * as many where they are in each other's way, 64 times at most; what does not come together by then
 * is beyond the window. Which nodes one takes depends on the time, so now and then there is an
 * earlier one that is not looked at.
 */
enum ccr_book ccr_plan_book_together(struct ccr_plan *plan, const struct ccr_plan_job *job,
				     uint32_t n, int64_t *start, struct ccr_error *err);

#endif
