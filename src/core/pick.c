/* pick - which of the nodes that hold a demand at one time are taken; see search_impl.h */
#include "core/search_impl.h"

void ccr__gives(const struct ccr_demand *d, const struct ccr_node *node,
		const struct ccr_amount *free, uint32_t units, int32_t *gpus)
{
	struct ccr_amount left = *free, take;

	ccr_demand_take(d, node, free, units, NULL, &take);
	if (!d->whole)
		ccr_amount_sub(&left, &take);
	for (int i = 0; i < CCR_GPU_WANTS; i++)
		gpus[i] = d->total[i].count ? ccr_node_gpus(node, &left, d->total[i].type) : 0;
}

uint32_t ccr__able_at(struct ccr_search *s, const struct ccr_timeline *tl,
		      const struct ccr_query *q, int64_t t, const struct ccr_place_options *place)
{
	const struct ccr_demand *d = q->demand;
	uint32_t n = 0, last = UINT32_MAX, least = ccr_demand_node_min(d);
	struct ccr_quick quick;

	CCR_BITS_EACH(i, q->candidates, tl->n)
	{
		struct ccr__able *a = &s->able[n];
		struct ccr_amount take;

		ccr_timeline_quick(tl, i, d, least, &quick, &last);
		if (ccr_timeline_closed(&tl->track[i], &quick, t + 1) || !tl->node[i].up)
			continue;
		if (ccr__plain(d) &&
		    ccr_timeline_next(tl, i, d, 1, &quick, q->limit, t, t + 1) != t)
			continue;
		ccr_timeline_least(tl, i, t, ccr_end(t, q->limit), &a->least);
		a->units = ccr_demand_most(d, &tl->node[i], &a->least);
		if (!a->units)
			continue;
		a->node = i;
		a->required = ccr__in(q->required, i);
		a->score = (struct ccr_score){0};
		if (d->total[0].count)
			ccr__gives(d, &tl->node[i], &a->least, least, a->gpus);
		if (place) {
			ccr_demand_take(d, &tl->node[i], &a->least, least, NULL, &take);
			a->score = ccr_place_score(&tl->node[i], &a->least, &take, place);
		}
		n++;
	}
	return n;
}

typedef int (*compare)(const struct ccr__able *a, const struct ccr__able *b);

static int by_score(const struct ccr__able *a, const struct ccr__able *b)
{
	int c = ccr_score_cmp(&a->score, &b->score);

	if (a->required != b->required)
		return a->required ? -1 : 1;
	return c ? c : (a->node > b->node) - (a->node < b->node);
}

static int by_units(const struct ccr__able *a, const struct ccr__able *b)
{
	if (a->required == b->required && a->units != b->units)
		return a->units > b->units ? -1 : 1;
	return by_score(a, b);
}

static int by_gpus(const struct ccr__able *a, const struct ccr__able *b)
{
	int64_t x = 0, y = 0;

	for (int i = 0; i < CCR_GPU_WANTS; i++) {
		x += a->gpus[i];
		y += b->gpus[i];
	}
	if (a->required == b->required && x != y)
		return x > y ? -1 : 1;
	return by_units(a, b);
}

/* Sinks order[i] of a heap whose best is first. */
static void sink(struct ccr_search *s, compare cmp, uint32_t n, uint32_t i)
{
	uint32_t *o = s->order, x = o[i];

	for (;;) {
		uint32_t best = 2 * i + 1;

		if (best >= n)
			break;
		if (best + 1 < n && cmp(&s->able[o[best + 1]], &s->able[o[best]]) < 0)
			best++;
		if (cmp(&s->able[o[best]], &s->able[x]) >= 0)
			break;
		o[i] = o[best];
		i = best;
	}
	o[i] = x;
}

/* Few of many are taken as a rule, so they are not sorted but drawn one after the other. */
static uint32_t first_enough(struct ccr_search *s, const struct ccr_demand *d, compare cmp,
			     uint32_t required, uint32_t n)
{
	uint64_t units = 0, want = ccr_demand_units(d);
	uint32_t low = d->min_nodes ? d->min_nodes : 1;
	uint32_t high = d->max_nodes ? d->max_nodes : UINT32_MAX;
	int64_t gpus[CCR_GPU_WANTS] = {0}, wanted = 0;

	/* Each node gives at least one of the GPUs. */
	for (int i = 0; i < CCR_GPU_WANTS && d->total[i].count; i++)
		wanted += d->total[i].count;
	if (wanted && wanted < high)
		high = (uint32_t)wanted;
	low = required > low ? required : low;
	for (uint32_t i = 0; i < n; i++)
		s->order[i] = i;
	for (uint32_t i = n / 2; i-- > 0;)
		sink(s, cmp, n, i);
	for (uint32_t k = 1; n && k <= high; k++) {
		const struct ccr__able *a = &s->able[s->order[0]];
		bool all = true;

		s->chosen[k - 1] = s->order[0];
		s->order[0] = s->order[--n];
		sink(s, cmp, n, 0);
		units += a->units;
		for (int i = 0; i < CCR_GPU_WANTS; i++) {
			gpus[i] += a->gpus[i];
			all = all && gpus[i] >= d->total[i].count;
		}
		/*
		 * Each node takes its least, so more nodes than units is more than was asked for;
		 * it is what min_nodes says, though.
		 */
		if (all && k >= low && units >= want)
			return k;
	}
	return 0;
}

uint32_t ccr__choose(struct ccr_search *s, const struct ccr_query *q, uint32_t n)
{
	const struct ccr_demand *d = q->demand;
	uint32_t k, want = q->required ? ccr_bit_count(q->required, s->n) : 0, have = 0;

	for (uint32_t i = 0; want && i < n; i++)
		have += s->able[i].required;
	if (have < want)
		return 0;
	k = first_enough(s, d, ccr__plain(d) ? by_score : by_units, want, n);
	if (!k && d->total[0].count)
		k = first_enough(s, d, by_gpus, want, n);
	return k;
}

void ccr__deal(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_demand *d,
	       uint32_t k)
{
	uint32_t base = ccr_demand_node_min(d);
	int64_t units = (int64_t)ccr_demand_units(d) - (int64_t)k * base;
	int64_t total[CCR_GPU_WANTS], all = 0;

	for (int i = 0; i < CCR_GPU_WANTS; i++) {
		total[i] = d->total[i].count;
		all += total[i];
	}
	for (uint32_t j = 0; j < k; j++) {
		struct ccr__able *a = &s->able[s->chosen[j]];
		uint32_t u = base;
		uint16_t dealt[CCR_GPU_WANTS] = {0};

		if (d->units && units > 0) {
			uint32_t more = a->units - base;

			more = more < units ? more : (uint32_t)units;
			u += more;
			units -= more;
		}
		if (d->total[0].count)
			ccr__gives(d, &tl->node[a->node], &a->least, u, a->gpus);
		for (int i = 0; i < CCR_GPU_WANTS && d->total[i].count; i++) {
			int64_t g = a->gpus[i] < total[i] ? a->gpus[i] : total[i];

			/* One stays for each node that follows. */
			if (g > all - (k - 1 - j))
				g = all - (k - 1 - j);
			dealt[i] = (uint16_t)(g > 0 ? g : 0);
			total[i] -= dealt[i];
			all -= dealt[i];
		}
		s->share[j].node = a->node;
		ccr_demand_take(d, &tl->node[a->node], &a->least, u, dealt, &s->share[j].a);
	}
}
