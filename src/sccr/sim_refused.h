/*
 * sim_refused - demands that were refused in a cycle, so that the like of them need not be tested
 *
 * Within a cycle what is free only shrinks: a job that asks for at least as much as a refused one,
 * on no fewer nodes, for at least as long, is refused too.
 */
#ifndef SCCR_SIM_REFUSED_H
#define SCCR_SIM_REFUSED_H

#include "sccr/sim_engine.h"

struct sim_refused {
	struct sim_refusal {
		struct sim_demand demand;
		sim_time limit; /* 0: it is not free at all, however short the job */
		uint32_t home;
		sim_time since;
		bool any_age; /* holds for jobs that came later, too */
	} * list;
	uint32_t n, room;
};

void sim_refused_clear(struct sim_refused *r);

/* for_any_time: the demand is not free now, whatever is booked. -1: out of memory. */
int sim_refused_add(struct sim_refused *r, const struct sim_job *j, bool for_any_time);

/*
 * Is j surely refused? by_age: a refusal for a booking's sake counts only for jobs that came no
 * later than the refused one, since a job need not respect a booking that is older and ranks lower.
 */
bool sim_refused_match(const struct sim_refused *r, const struct sim_cluster *c,
		       const struct sim_job *j, bool by_age);

/* Leaves only what is not free now, whatever is booked. */
void sim_refused_keep_any_age(struct sim_refused *r);

void sim_refused_free(struct sim_refused *r);

#endif
