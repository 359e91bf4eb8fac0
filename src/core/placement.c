/* placement - see placement.h */
#include "core/placement.h"

int32_t ccr_place_stranded(const struct ccr_node *node, const struct ccr_amount *free,
			   const struct ccr_place_options *opt)
{
	int64_t gpus = ccr_node_gpus(node, free, CCR_GPU_ANY), usable;
	int32_t cpus = opt && opt->gpu_cpus > 0 ? opt->gpu_cpus : 1;

	usable = free->cpus > 0 ? free->cpus / cpus : 0;
	if (opt && opt->gpu_mem > 0) {
		int64_t by_mem = free->mem > 0 ? free->mem / opt->gpu_mem : 0;

		usable = by_mem < usable ? by_mem : usable;
	}
	return gpus > usable ? (int32_t)(gpus - usable) : 0;
}

struct ccr_score ccr_place_score(const struct ccr_node *node, const struct ccr_amount *free,
				 const struct ccr_amount *take, const struct ccr_place_options *opt)
{
	struct ccr_amount after = *free;
	struct ccr_score s = {.weight = node->weight};

	ccr_amount_sub(&after, take);
	s.misplaced = ccr_amount_gpus(take) == 0 && ccr_amount_gpus(&node->total) > 0;
	s.stranded = ccr_place_stranded(node, &after, opt) - ccr_place_stranded(node, free, opt);
	s.left = ccr_node_gpus(node, &after, CCR_GPU_ANY);
	return s;
}

int ccr_score_cmp(const struct ccr_score *a, const struct ccr_score *b)
{
	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	if (a->misplaced != b->misplaced)
		return a->misplaced - b->misplaced;
	if (a->stranded != b->stranded)
		return a->stranded < b->stranded ? -1 : 1;
	return a->left < b->left ? -1 : a->left > b->left;
}
