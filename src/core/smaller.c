/* smaller - see smaller.h */
#include "core/smaller.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MINUTE	    60
#define LONGEST	    (INT64_C(7) * 86400) /* the longest limit that is offered to an unlimited job */
#define WHOLE_GB_MB 4096		 /* from here on memory is offered in whole GB */

/* A job of which one thing is to be made smaller. */
struct asked {
	struct ccr_plan *plan;
	struct ccr_plan_job job;
	struct ccr_demand demand;
	uint64_t *room;
};

static bool one_want(const struct ccr_want *w)
{
	return w[0].count && !w[1].count;
}

/* The only want of the demand, NULL if there is none or more than one. */
static struct ccr_want *gpus(struct ccr_demand *d)
{
	int lists =
	    (d->node.gpu[0].count > 0) + (d->unit.gpu[0].count > 0) + (d->total[0].count > 0);
	struct ccr_want *w = d->node.gpu[0].count   ? d->node.gpu
			     : d->unit.gpu[0].count ? d->unit.gpu
						    : d->total;

	return lists == 1 && one_want(w) ? w : NULL;
}

static uint32_t low(const struct ccr_demand *d)
{
	return d->min_nodes ? d->min_nodes : 1;
}

/* As many tasks on each node: with fewer nodes there are fewer of them. */
static bool tasks_by_node(const struct ccr_demand *d)
{
	return d->units && d->node_min_units && d->node_min_units == d->node_max_units &&
	       (uint64_t)d->units == (uint64_t)low(d) * d->node_min_units;
}

/* What it asks for now, 0 where it asks for none of it or it is not to be made smaller. */
static uint64_t present(const struct asked *a, enum ccr_less what)
{
	struct ccr_demand d = a->demand;
	const struct ccr_want *w;

	switch (what) {
	case CCR_LESS_TIME:
		return (uint64_t)(a->job.limit >= CCR_FOREVER ? LONGEST : a->job.limit) / MINUTE;
	case CCR_LESS_NODES:
		return d.max_nodes == low(&d) && (!d.units || tasks_by_node(&d)) ? low(&d) : 0;
	case CCR_LESS_TASKS:
		return d.units && !tasks_by_node(&d) ? d.units : 0;
	case CCR_LESS_GPUS:
		w = gpus(&d);
		return w ? w->count : 0;
	case CCR_LESS_CPUS:
		return (uint64_t)(d.units ? d.unit.cpus : d.node.cpus);
	case CCR_LESS_MEM:
		return (uint64_t)(d.mem_per_cpu > 0 ? d.mem_per_cpu : d.node.mem);
	case CCR_LESS_COUNT:
		break;
	}
	return 0;
}

/* The least of it with which the request still makes sense. */
static uint64_t least(const struct asked *a, enum ccr_less what)
{
	if (what == CCR_LESS_TASKS || (what == CCR_LESS_GPUS && a->demand.total[0].count))
		return low(&a->demand);
	return 1;
}

static void set(struct ccr_plan_job *job, struct ccr_demand *d, enum ccr_less what, uint64_t to)
{
	struct ccr_want *w = gpus(d);

	switch (what) {
	case CCR_LESS_TIME:
		job->limit = (int64_t)to * MINUTE;
		break;
	case CCR_LESS_NODES:
		if (d->units)
			d->units = (uint32_t)to * d->node_min_units;
		d->min_nodes = d->max_nodes = (uint32_t)to;
		break;
	case CCR_LESS_TASKS:
		d->units = (uint32_t)to;
		break;
	case CCR_LESS_GPUS:
		if (w)
			w->count = (uint16_t)to;
		break;
	case CCR_LESS_CPUS:
		if (d->units)
			d->unit.cpus = (int32_t)to;
		else
			d->node.cpus = (int32_t)to;
		break;
	case CCR_LESS_MEM:
		if (d->mem_per_cpu > 0)
			d->mem_per_cpu = (int64_t)to;
		else
			d->node.mem = (int64_t)to;
		break;
	case CCR_LESS_COUNT:
		break;
	}
}

static bool starts(const struct asked *a, enum ccr_less what, uint64_t with)
{
	struct ccr_plan_job job = a->job;
	struct ccr_demand d = a->demand;
	struct ccr_slot slot;

	set(&job, &d, what, with);
	job.demand = &d;
	return ccr_plan_pick(a->plan, &job, true, &slot, NULL) == CCR_START;
}

/* The most below `asked` that starts; 0: none. */
static uint64_t most(const struct asked *a, enum ccr_less what, uint64_t asked)
{
	uint64_t lo = least(a, what), hi = asked;

	if (lo >= asked || !starts(a, what, lo))
		return 0;
	while (hi - lo > 1) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (starts(a, what, mid))
			lo = mid;
		else
			hi = mid;
	}
	if (what == CCR_LESS_TIME)
		return lo - 1;
	return what == CCR_LESS_MEM && lo >= WHOLE_GB_MB ? lo - lo % 1024 : lo;
}

void ccr_plan_smaller(struct ccr_plan *plan, const struct ccr_plan_job *job, unsigned which,
		      uint64_t *room, struct ccr_smaller *out)
{
	struct asked a = {.plan = plan, .job = *job, .demand = *job->demand, .room = room};

	memset(out, 0, sizeof(*out));
	/* below every booking; its own is known by its id */
	a.job.rank = (struct ccr_rank){.submit = INT64_MAX, .job = UINT32_MAX};
	if (ccr_plan_may_fit(plan, &a.job, room, NULL) == CCR_START)
		return;
	for (int what = 0; what < CCR_LESS_COUNT; what++) {
		uint64_t asked = present(&a, (enum ccr_less)what);

		out->asked[what] = asked;
		if (asked && (which >> what & 1))
			out->fits[what] = most(&a, (enum ccr_less)what, asked);
	}
	if (job->limit >= CCR_FOREVER)
		out->asked[CCR_LESS_TIME] = 0;
}

/* What is counted, and of what it is: "GPU", " a node". */
static const char *unit_of(enum ccr_less what)
{
	static const char *const unit[CCR_LESS_COUNT] = {
	    [CCR_LESS_TIME] = "minute", [CCR_LESS_NODES] = "node", [CCR_LESS_TASKS] = "task",
	    [CCR_LESS_GPUS] = "GPU",	[CCR_LESS_CPUS] = "CPU",   [CCR_LESS_MEM] = "MB",
	};

	return unit[what];
}

static const char *each_of(enum ccr_less what, const struct ccr_demand *d)
{
	bool single = low(d) == 1 && d->max_nodes == 1;

	switch (what) {
	case CCR_LESS_GPUS:
		if (d->unit.gpu[0].count)
			return " a task";
		return d->total[0].count || single ? "" : " a node";
	case CCR_LESS_CPUS:
		return d->units ? " a task" : single ? "" : " a node";
	case CCR_LESS_MEM:
		return d->mem_per_cpu > 0 ? " a CPU" : single ? "" : " a node";
	default:
		return "";
	}
}

size_t ccr_smaller_words(const struct ccr_smaller *s, const struct ccr_demand *d, char *out,
			 size_t size)
{
	size_t n = 0;

	if (size)
		out[0] = '\0';
	for (int what = 0; what < CCR_LESS_COUNT && n < size; what++) {
		char asked[24] = "no limit";

		if (!s->fits[what])
			continue;
		if (s->asked[what])
			snprintf(asked, sizeof(asked), "%" PRIu64, s->asked[what]);
		n += (size_t)snprintf(out + n, size - n, "%s%" PRIu64 " %s%s%s instead of %s",
				      n ? ", or " : "", s->fits[what], unit_of((enum ccr_less)what),
				      s->fits[what] == 1 || what == CCR_LESS_MEM ? "" : "s",
				      each_of((enum ccr_less)what, d), asked);
	}
	return n < size ? n : size ? size - 1 : 0;
}
