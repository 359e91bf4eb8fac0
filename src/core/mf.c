/* mf - see mf.h */
#include "core/mf.h"

double ccr_mf_age(time_t now, time_t accrue, uint32_t max_age)
{
	uint32_t waited = 0;

	if (!accrue)
		return 0;
	if (now > accrue)
		waited = (uint32_t)(now - accrue);
	return waited < max_age ? (double)waited / max_age : 1.0;
}

/* Node and CPU part of a size that counts up to 1 for the whole cluster. */
static double large(const struct ccr_mf_size *s, uint32_t nodes, uint32_t cpus)
{
	double part = (double)nodes / s->nodes;

	if (cpus == CCR_MF_NO_CPUS)
		return part;
	return (part + (double)cpus / s->cluster_cpus) / 2;
}

/*
 * The reverse. Differences are unsigned as in multifactor: a job of more CPUs than the cluster has
 * gets a huge number, which the limit makes 1.
 */
static double small(const struct ccr_mf_size *s, uint32_t nodes, uint32_t cpus)
{
	double part = 0;

	if (nodes < s->nodes || s->wide_counts_all)
		part = (double)(uint32_t)(s->nodes - nodes) / s->nodes;
	if (cpus == CCR_MF_NO_CPUS)
		return part;
	return (part + (double)(uint32_t)(s->cluster_cpus - cpus) / s->cluster_cpus) / 2;
}

/* CPUs a minute: the larger of the asked ones and the average share of the asked nodes. */
static double relative(const struct ccr_mf_size *s, uint32_t nodes, uint32_t cpus, uint32_t minutes)
{
	double size = (double)nodes * s->cluster_cpus / s->nodes;

	if (cpus > size)
		size = cpus;
	size = size / minutes / s->cluster_cpus;
	return s->favor_small ? 1.0 - size : size;
}

double ccr_mf_size(const struct ccr_mf_size *site, uint32_t nodes, uint32_t cpus, uint32_t minutes)
{
	double f;

	if (!site->cluster_cpus || !site->nodes)
		return 0;
	if (site->relative)
		f = relative(site, nodes, cpus, minutes);
	else
		f = site->favor_small ? small(site, nodes, cpus) : large(site, nodes, cpus);
	if (!(f > 0))
		return 0;
	return f > 1 ? 1 : f;
}
