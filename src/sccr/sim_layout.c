/* sim_layout - see sim_layout.h */
#include "sccr/sim_layout.h"

#include <stddef.h>

static bool in_part(const struct sim_cluster *c, uint32_t part, uint32_t node)
{
	return !c->part[part].has_node || c->part[part].has_node[node];
}

/* Whether so many nodes of the partition can ever hold one node's share of d. */
static bool enough(const struct sim_cluster *c, uint32_t part, const struct sim_demand *d,
		   uint64_t need)
{
	for (uint32_t i = 0; need && i < c->nodes; i++)
		need -= in_part(c, part, i) && sim_node_holds(&c->node[i], d);
	return !need;
}

static uint64_t share(uint64_t total, uint64_t n)
{
	return (total + n - 1) / n;
}

/* The even share of t on n nodes; false if a share does not fit its field. */
static bool spread(const struct sim_totals *t, uint64_t n, struct sim_demand *d)
{
	uint64_t cpus = share(t->cpus, n), used = cpus * (n - 1);

	if (cpus > UINT32_MAX || share(t->gpus, n) > UINT16_MAX || share(t->mem, n) > UINT32_MAX)
		return false;
	*d = (struct sim_demand){.nodes = (uint32_t)n,
				 .cpus = (uint32_t)cpus,
				 .gpus = (uint32_t)share(t->gpus, n),
				 .mem = (uint32_t)share(t->mem, n),
				 .gpu_type = t->gpu_type};
	d->last_cpus = used < t->cpus ? (uint32_t)(t->cpus - used) : t->cpus ? 1 : 0;
	return true;
}

static const char *too_much(const struct sim_cluster *c, uint32_t part, const struct sim_totals *t)
{
	uint64_t cpus = 0, gpus = 0, nodes = 0;

	for (uint32_t i = 0; i < c->nodes; i++) {
		if (!in_part(c, part, i))
			continue;
		nodes++;
		cpus += c->node[i].cpus;
		for (int k = 0; k < c->node[i].ntypes; k++)
			if (t->gpu_type == SIM_ANY_TYPE || t->gpu_type == c->node[i].type[k])
				gpus += c->node[i].gpus[k];
	}
	if (t->nodes > nodes)
		return "more nodes than its partition has";
	if (t->cpus > cpus)
		return "more CPUs than its partition has";
	if (t->gpus > gpus)
		return "more GPUs of its type than its partition has";
	return "more on a node than any node of its partition has";
}

bool sim_layout(const struct sim_cluster *c, uint32_t part, const struct sim_totals *t,
		struct sim_demand *d, const char **why)
{
	uint64_t from = t->nodes ? t->nodes : 1, to = t->nodes ? t->nodes : c->nodes;
	struct sim_demand first = {0};

	for (uint64_t n = from; n <= to && n <= c->nodes; n++) {
		if (!spread(t, n, d) || !enough(c, part, d, n))
			continue;
		if (t->gpus % n == 0)
			return true;
		if (!first.nodes)
			first = *d;
		if (n > t->gpus)
			break;
	}
	if (first.nodes) {
		*d = first;
		return true;
	}
	*why = too_much(c, part, t);
	return false;
}
