/*
 * timeline - what each node has free from now on
 *
 * For each node a list of steps: from steps[i].t until steps[i + 1].t (the last one for ever) so
 * much is free. It is loaded in two strokes: ccr_timeline_begin, then any number of
 * ccr_timeline_run for what running jobs hold, then ccr_timeline_ready. After that
 * ccr_timeline_hold takes amounts away for a time (a booking, a job that starts, a node that is
 * reserved) and ccr_timeline_unhold gives them back. Times are whole seconds since the epoch;
 * intervals include their start and not their end. Free amounts may become negative where more was
 * given out than there is; nothing fits there until it is back.
 */
#ifndef CCR_CORE_TIMELINE_H
#define CCR_CORE_TIMELINE_H

#include "core/demand.h"
#include "core/error.h"

struct ccr_free_step {
	int64_t t;
	struct ccr_amount free;
	int32_t booked; /* how many bookings hold something of it in this step */
};

struct ccr_track {
	struct ccr_free_step *step;
	uint32_t n, cap;
	/* Copies of the first steps' where many nodes are looked at: most need no more. */
	struct ccr_amount now;
	int64_t next; /* when the second begins, CCR_FOREVER without one */
	int32_t booked_now;
};

/* Read freely; write only through the functions below. */
struct ccr_timeline {
	uint32_t n; /* nodes */
	int64_t now;
	struct ccr_node *node;
	struct ccr_track *track;
	uint32_t *kind; /* of each node: the first of the row of equal nodes that it is in */
};

/* Takes a copy of the nodes. 0, CCR_ENOMEM, or CCR_EINVAL naming the node and what is wrong. */
int ccr_timeline_new(struct ccr_timeline **out, const struct ccr_node *nodes, uint32_t n,
		     struct ccr_error *err);
void ccr_timeline_free(struct ccr_timeline *tl);

/* As many nodes afresh; they count from the next ccr_timeline_begin on. CCR_EINVAL as above. */
int ccr_timeline_set_nodes(struct ccr_timeline *tl, const struct ccr_node *nodes,
			   struct ccr_error *err);

/* Empties every node's list: all is free from now on. */
void ccr_timeline_begin(struct ccr_timeline *tl, int64_t now);

/*
 * A running job holds `a` of a node until `end`. An end that is past or now counts as now + 1: the
 * job is still there. CCR_FOREVER and beyond: it never ends. Only between begin and ready.
 */
int ccr_timeline_run(struct ccr_timeline *tl, uint32_t node, const struct ccr_amount *a,
		     int64_t end);

/* Puts the running jobs' ends in order. Cannot fail. */
void ccr_timeline_ready(struct ccr_timeline *tl);

/*
 * Takes `a` away from [from, to); what lies before now is left out. booked: whether it counts as a
 * booking in the steps. 0, CCR_ENOMEM (nothing changed), CCR_EINVAL (no such node).
 */
int ccr_timeline_hold(struct ccr_timeline *tl, uint32_t node, int64_t from, int64_t to,
		      const struct ccr_amount *a, bool booked);

/* The exact reverse of an earlier hold with the same arguments. */
int ccr_timeline_unhold(struct ccr_timeline *tl, uint32_t node, int64_t from, int64_t to,
			const struct ccr_amount *a, bool booked);

/* What is free during all of [from, to): the least of each component. */
void ccr_timeline_least(const struct ccr_timeline *tl, uint32_t node, int64_t from, int64_t to,
			struct ccr_amount *out);

/*
 * The same to who knows no bookings: what is free at `from`, and the least of those later steps in
 * which none holds anything. A booking that has begun by then is taken for a job that runs, but if
 * `from` is now it does not: then that is not known, and false.
 */
bool ccr_timeline_unbooked(const struct ccr_timeline *tl, uint32_t node, int64_t from, int64_t to,
			   struct ccr_amount *out);

/* Whether `a` is free during all of [from, to). */
bool ccr_timeline_holds(const struct ccr_timeline *tl, uint32_t node, int64_t from, int64_t to,
			const struct ccr_amount *a);

/*
 * The first time at or after `from` and before `until` when the node holds so many units of the
 * demand for `limit` seconds; CCR_FOREVER if there is none. Linear in the node's steps. q is
 * ccr_quick_make of the same for that node, or of one that is like it.
 */
int64_t ccr_timeline_next(const struct ccr_timeline *tl, uint32_t node, const struct ccr_demand *d,
			  uint32_t units, const struct ccr_quick *q, int64_t limit, int64_t from,
			  int64_t until);

/*
 * Makes *q for the node unless it is still good: *last is the kind that it was made for, UINT32_MAX
 * at first.
 */
static inline void ccr_timeline_quick(const struct ccr_timeline *tl, uint32_t node,
				      const struct ccr_demand *d, uint32_t units,
				      struct ccr_quick *q, uint32_t *last)
{
	if (tl->kind[node] == *last)
		return;
	ccr_quick_make(d, &tl->node[node], units, q);
	*last = tl->kind[node];
}

/*
 * Whether the node is of no use in [from, until), from >= now, without a look at its steps: it is
 * too small now and stays so. False tells nothing.
 */
static inline bool ccr_timeline_closed(const struct ccr_track *tr, const struct ccr_quick *q,
				       int64_t until)
{
	return q->never || (q->ok && tr->next >= until && !ccr_quick_fits(q, &tr->now));
}

/* t + limit, at most CCR_FOREVER. */
static inline int64_t ccr_end(int64_t t, int64_t limit)
{
	return limit >= CCR_FOREVER - t ? CCR_FOREVER : t + limit;
}

#endif
