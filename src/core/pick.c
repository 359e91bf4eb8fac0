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

/* GPUs of a type that the job may be given on a node, so many units there. */
static int64_t may_take(const struct ccr_demand *d, int16_t type, uint32_t units)
{
	const struct ccr_want *list[3] = {d->node.gpu, d->unit.gpu, d->total};
	int64_t times[3] = {1, d->units ? units : 0, 1}, sum = 0;

	for (int l = 0; l < 3; l++)
		for (int i = 0; i < CCR_GPU_WANTS && list[l][i].count; i++)
			if (list[l][i].type == CCR_GPU_ANY || list[l][i].type == type)
				sum += list[l][i].count * times[l];
	return sum;
}

static bool untyped(const struct ccr_demand *d)
{
	const struct ccr_want *list[3] = {d->node.gpu, d->unit.gpu, d->total};

	for (int l = 0; l < 3; l++)
		for (int i = 0; i < CCR_GPU_WANTS && list[l][i].count; i++)
			if (list[l][i].type == CCR_GPU_ANY)
				return true;
	return false;
}

/* Whether what the job takes of the node is certain if it takes any of it. */
static bool one_way(const struct ccr_demand *d, const struct ccr_node *node)
{
	return d->whole || ((!d->units || d->max_nodes == 1) && !d->total[0].count &&
			    (node->gpu_types <= 1 || !untyped(d)));
}

/* Whether all that the job can be given of what is seen of the node is there to its end. */
static bool stays(const struct ccr_demand *d, const struct ccr_node *node,
		  const struct ccr_amount *seen, const struct ccr_amount *least, uint32_t units,
		  const int32_t *gpus)
{
	uint32_t low = ccr_demand_node_min(d);
	int32_t most[CCR_GPU_WANTS];

	if (d->units && ccr_demand_most(d, node, seen) != units)
		return false;
	if (d->total[0].count)
		ccr__gives(d, node, seen, low, most);
	for (int i = 0; i < CCR_GPU_WANTS && d->total[i].count; i++)
		if (gpus[i] < most[i] && gpus[i] < d->total[i].count)
			return false;
	for (int i = 0; i < node->gpu_types && node->gpu_types > 1; i++) {
		int64_t take = may_take(d, node->gpu_type[i], units);

		take = take < seen->gpus[i] ? take : seen->gpus[i];
		if (take > 0 && take > least->gpus[i])
			return false;
	}
	return true;
}

uint32_t ccr__offers(const struct ccr_timeline *tl, const struct ccr_query *q, uint32_t node,
		     int64_t t, struct ccr_amount *least, int32_t *gpus)
{
	const struct ccr_demand *d = q->demand;
	int64_t end = ccr_end(t, q->limit);
	struct ccr_amount seen;
	uint32_t units;

	ccr_timeline_least(tl, node, t, end, least);
	units = ccr_demand_most(d, &tl->node[node], least);
	if (units && d->total[0].count)
		ccr__gives(d, &tl->node[node], least, ccr_demand_node_min(d), gpus);
	if (!units || !q->sure || one_way(d, &tl->node[node]))
		return units;
	return ccr_timeline_unbooked(tl, node, t, end, &seen) &&
		       stays(d, &tl->node[node], &seen, least, units, gpus)
		   ? units
		   : 0;
}

bool ccr__many_types(const struct ccr_timeline *tl, const struct ccr_query *q)
{
	bool any = !q->demand->whole && untyped(q->demand);

	for (uint32_t i = 0; any && i < tl->n; i++)
		if (tl->node[i].gpu_types > 1)
			return true;
	return false;
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
		a->units = ccr__offers(tl, q, i, t, &a->least, a->gpus);
		if (!a->units)
			continue;
		/* more than is asked for makes no node better */
		for (int w = 0; w < CCR_GPU_WANTS && d->total[w].count; w++)
			if (a->gpus[w] > d->total[w].count)
				a->gpus[w] = d->total[w].count;
		a->node = i;
		a->required = ccr__in(q->required, i);
		a->avoid = ccr__in(q->avoid, i);
		a->score = (struct ccr_score){.weight = tl->node[i].weight};
		if (place) {
			ccr_demand_take(d, &tl->node[i], &a->least, least, NULL, &take);
			a->score = ccr_place_score(&tl->node[i], &a->least, &take, place);
		}
		n++;
	}
	return n;
}

typedef int (*compare)(const struct ccr__able *a, const struct ccr__able *b);

/* Whether the one goes before the other whatever is on them; 0: neither does. */
static int by_wish(const struct ccr__able *a, const struct ccr__able *b)
{
	return a->required != b->required ? (int)b->required - a->required
					  : (int)a->avoid - b->avoid;
}

static int by_score(const struct ccr__able *a, const struct ccr__able *b)
{
	int wish = by_wish(a, b), c = wish ? wish : ccr_score_cmp(&a->score, &b->score);

	return c ? c : (a->node > b->node) - (a->node < b->node);
}

static int by_units(const struct ccr__able *a, const struct ccr__able *b)
{
	if (!by_wish(a, b) && a->units != b->units)
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
	if (!by_wish(a, b) && x != y)
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

static uint32_t choose(struct ccr_search *s, const struct ccr_query *q, uint32_t want, uint32_t n)
{
	const struct ccr_demand *d = q->demand;
	uint32_t k;

	/*
	 * As few nodes as will do, where more than the demand is held: a node with all that is
	 * asked for alone holds no more.
	 */
	if (q->sure && d->total[0].count && (k = first_enough(s, d, by_gpus, want, n)))
		return k;
	k = first_enough(s, d, ccr__plain(d) ? by_score : by_units, want, n);
	if (!k && d->total[0].count)
		k = first_enough(s, d, by_gpus, want, n);
	return k;
}

uint32_t ccr__choose(struct ccr_search *s, const struct ccr_query *q, uint32_t n)
{
	uint32_t k, want = q->required ? ccr_bit_count(q->required, s->n) : 0, have = 0;

	for (uint32_t i = 0; want && i < n; i++)
		have += s->able[i].required;
	if (have < want)
		return 0;
	k = choose(s, q, want, n);
	if (k || !q->avoid)
		return k;
	/* Too many small ones, where only so many may be taken. */
	for (uint32_t i = 0; i < n; i++)
		s->able[i].avoid = false;
	return choose(s, q, want, n);
}

/* The CPUs that no GPU keeps of a node's part, were it given no more GPUs than it has to be. */
static int32_t most_open(const struct ccr_demand *d, const struct ccr_node *node,
			 const struct ccr_amount *least, uint32_t units)
{
	struct ccr_amount take;

	ccr_demand_take(d, node, least, units, NULL, &take);
	take.open = take.open > node->kept ? take.open - node->kept : 0; /* it gives one */
	return take.open < least->open ? take.open : least->open;
}

/* Each of the k nodes can be given all but what the others have to be given at least. */
static void deal_most(struct ccr_search *s, const struct ccr_timeline *tl,
		      const struct ccr_demand *d, uint32_t k)
{
	uint32_t base = ccr_demand_node_min(d);
	uint64_t others = (uint64_t)(k - 1) * base, all = ccr_demand_units(d);

	for (uint32_t j = 0; j < k; j++) {
		const struct ccr__able *a = &s->able[s->chosen[j]];
		const struct ccr_node *node = &tl->node[a->node];
		uint32_t u = a->units, most = all > others + base ? (uint32_t)(all - others) : base;
		uint16_t dealt[CCR_GPU_WANTS] = {0};
		struct ccr_amount *out = &s->share[j].a;
		int32_t g[CCR_GPU_WANTS] = {0};

		u = d->units && most < u ? most : u;
		if (d->total[0].count)
			ccr__gives(d, node, &a->least, u, g);
		for (int i = 0; i < CCR_GPU_WANTS && d->total[i].count; i++)
			dealt[i] = (uint16_t)(g[i] < d->total[i].count ? g[i] : d->total[i].count);
		s->share[j].node = a->node;
		ccr_demand_take(d, node, &a->least, u, dealt, out);
		for (int i = 0; !d->whole && i < node->gpu_types && node->gpu_types > 1; i++) {
			int64_t take = may_take(d, node->gpu_type[i], u);

			take = take < a->least.gpus[i] ? take : a->least.gpus[i];
			out->gpus[i] = take > out->gpus[i] ? (int16_t)take : out->gpus[i];
		}
		if (node->kept && !d->whole && d->total[0].count)
			out->open = most_open(d, node, &a->least, u);
	}
}

void ccr__deal(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_query *q,
	       uint32_t k)
{
	const struct ccr_demand *d = q->demand;
	uint32_t base = ccr_demand_node_min(d);
	int64_t units = (int64_t)ccr_demand_units(d) - (int64_t)k * base;
	int64_t total[CCR_GPU_WANTS], all = 0;

	if (q->sure) {
		deal_most(s, tl, d, k);
		return;
	}
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
