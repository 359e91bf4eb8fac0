/* sim_refused - see sim_refused.h */
#include "sccr/sim_refused.h"

#include <stdlib.h>
#include <string.h>

/* More are not looked through: testing is then as cheap. */
#define REFUSED_MAX 128

void sim_refused_clear(struct sim_refused *r)
{
	r->n = 0;
}

int sim_refused_add(struct sim_refused *r, const struct sim_job *j, bool for_any_time)
{
	if (r->n == REFUSED_MAX)
		return 0;
	if (!r->list) {
		r->list = calloc(REFUSED_MAX, sizeof(*r->list));
		if (!r->list)
			return -1;
	}
	r->list[r->n++] = (struct sim_refusal){.demand = j->demand,
					       .limit = for_any_time ? 0 : j->limit,
					       .home = j->home,
					       .since = j->eligible,
					       .any_age = for_any_time};
	return 0;
}

static bool at_least(const struct sim_demand *a, const struct sim_demand *b)
{
	return a->nodes >= b->nodes && a->cpus >= b->cpus && a->last_cpus >= b->last_cpus &&
	       a->mem >= b->mem && a->gpus >= b->gpus &&
	       (b->gpu_type == SIM_ANY_TYPE || a->gpu_type == b->gpu_type);
}

bool sim_refused_match(const struct sim_refused *r, const struct sim_cluster *c,
		       const struct sim_job *j, bool by_age)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct sim_refusal *x = &r->list[i];

		if ((x->home == j->home || !c->part[x->home].has_node) && j->limit >= x->limit &&
		    at_least(&j->demand, &x->demand) &&
		    (!by_age || x->any_age || j->eligible <= x->since))
			return true;
	}
	return false;
}

void sim_refused_keep_any_age(struct sim_refused *r)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < r->n; i++)
		if (r->list[i].any_age)
			r->list[kept++] = r->list[i];
	r->n = kept;
}

void sim_refused_free(struct sim_refused *r)
{
	free(r->list);
	memset(r, 0, sizeof(*r));
}
