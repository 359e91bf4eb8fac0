/* search - see search.h */
#include "core/search_impl.h"

#include <stdlib.h>
#include <string.h>

int ccr_search_new(struct ccr_search **out, uint32_t nodes, struct ccr_error *err)
{
	struct ccr_search *s = calloc(1, sizeof(*s));
	size_t n = nodes ? nodes : 1;

	*out = NULL;
	if (!s)
		return ccr_error_nomem(err);
	s->n = nodes;
	s->heap = calloc(n, sizeof(*s->heap));
	s->able = calloc(n, sizeof(*s->able));
	s->order = calloc(n, sizeof(*s->order));
	s->chosen = calloc(n, sizeof(*s->chosen));
	s->share = calloc(n, sizeof(*s->share));
	s->units = calloc(n, sizeof(*s->units));
	s->gpus = calloc(n, sizeof(*s->gpus));
	if (!s->heap || !s->able || !s->order || !s->chosen || !s->share || !s->units || !s->gpus) {
		ccr_search_free(s);
		return ccr_error_nomem(err);
	}
	*out = s;
	return 0;
}

void ccr_search_free(struct ccr_search *s)
{
	if (!s)
		return;
	free(s->heap);
	free(s->able);
	free(s->order);
	free(s->chosen);
	free(s->share);
	free(s->change);
	free(s->units);
	free(s->gpus);
	free(s);
}

/* Sinks heap[i] of a heap whose greatest is first. */
static void sink(int64_t *heap, uint32_t n, uint32_t i)
{
	for (;;) {
		uint32_t big = i, l = 2 * i + 1, r = l + 1;
		int64_t x;

		if (l < n && heap[l] > heap[big])
			big = l;
		if (r < n && heap[r] > heap[big])
			big = r;
		if (big == i)
			return;
		x = heap[i];
		heap[i] = heap[big];
		heap[big] = x;
		i = big;
	}
}

/* The k-th smallest of all nodes' next start times from `from` on; CCR_FOREVER if there are fewer.
 */
static int64_t kth_next(struct ccr_search *s, const struct ccr_timeline *tl,
			const struct ccr_query *q, uint32_t units, uint32_t k, int64_t from,
			int64_t until)
{
	uint32_t have = 0, last = UINT32_MAX;
	struct ccr_quick quick;

	CCR_BITS_EACH(i, q->candidates, tl->n)
	{
		int64_t t;

		ccr_timeline_quick(tl, i, q->demand, units, &quick, &last);
		if (ccr_timeline_closed(&tl->track[i], &quick, until) || !tl->node[i].up)
			continue;
		t = ccr_timeline_next(tl, i, q->demand, units, &quick, q->limit, from, until);
		if (t >= until)
			continue;
		if (have < k) {
			s->heap[have++] = t;
			if (have < k)
				continue;
			for (uint32_t h = k / 2; h-- > 0;)
				sink(s->heap, k, h);
		} else {
			s->heap[0] = t;
			sink(s->heap, k, 0);
		}
		/* Later ones than the k-th best so far are of no interest. */
		until = s->heap[0];
		if (until <= from)
			return from;
	}
	return have < k ? CCR_FOREVER : s->heap[0];
}

static uint32_t count_at(const struct ccr_timeline *tl, const struct ccr_query *q, uint32_t units,
			 uint32_t enough, int64_t t)
{
	uint32_t c = 0, last = UINT32_MAX;
	struct ccr_quick quick;

	CCR_BITS_EACH(i, q->candidates, tl->n)
	{
		if (c >= enough)
			break;
		ccr_timeline_quick(tl, i, q->demand, units, &quick, &last);
		if (ccr_timeline_closed(&tl->track[i], &quick, t + 1) || !tl->node[i].up)
			continue;
		c += ccr_timeline_next(tl, i, q->demand, units, &quick, q->limit, t, t + 1) == t;
	}
	return c;
}

/* The latest of the required nodes' next starts from t on; t where none is required. */
static int64_t required_next(const struct ccr_timeline *tl, const struct ccr_query *q,
			     uint32_t units, int64_t t, int64_t until)
{
	uint32_t last = UINT32_MAX;
	struct ccr_quick quick;
	int64_t all = t;

	if (!q->required)
		return t;
	CCR_BITS_EACH(i, q->required, tl->n)
	{
		int64_t next = CCR_FOREVER;

		ccr_timeline_quick(tl, i, q->demand, units, &quick, &last);
		if (tl->node[i].up)
			next =
			    ccr_timeline_next(tl, i, q->demand, units, &quick, q->limit, t, until);
		all = next > all ? next : all;
	}
	return all;
}

/* Earliest time at which k nodes at once, the required ones among them, hold so many units each. */
static int64_t earliest_nodes(struct ccr_search *s, const struct ccr_timeline *tl,
			      const struct ccr_query *q, uint32_t units, uint32_t k, int64_t from,
			      int64_t until)
{
	if (k > tl->n)
		return CCR_FOREVER;
	/*
	 * The k-th smallest next start is a lower bound of the answer, and so is the last of the
	 * required nodes'; at that time some of them may have closed again, then the search goes on
	 * from there.
	 */
	for (int64_t t = from; t < until;) {
		int64_t next = kth_next(s, tl, q, units, k, t, until), all;

		if (next >= until)
			return CCR_FOREVER;
		all = required_next(tl, q, units, next, until);
		if (all == next && (k == 1 || count_at(tl, q, units, k, next) >= k))
			return next;
		t = all;
	}
	return CCR_FOREVER;
}

/* The most units that any of the candidates holds when it is empty. */
static uint32_t most_units(const struct ccr_timeline *tl, const struct ccr_query *q)
{
	const struct ccr_demand *d = q->demand;
	uint32_t most = 0, last = UINT32_MAX;

	if (!d->units)
		return 1;
	CCR_BITS_EACH(i, q->candidates, tl->n)
	{
		uint32_t u;

		if (tl->kind[i] == last)
			continue;
		last = tl->kind[i];
		u = ccr_demand_most(d, &tl->node[i], &tl->node[i].total);
		most = u > most ? u : most;
	}
	return most;
}

/* Adds an equal part of the GPUs in total, for each of k nodes, to the node's wants. */
static bool split_total(const struct ccr_demand *d, uint32_t k, struct ccr_demand *out)
{
	int to = 0;

	*out = *d;
	memset(out->total, 0, sizeof(out->total));
	while (to < CCR_GPU_WANTS && out->node.gpu[to].count)
		to++;
	for (int w = 0; w < CCR_GPU_WANTS && d->total[w].count; w++) {
		if (to == CCR_GPU_WANTS)
			return false;
		out->node.gpu[to].type = d->total[w].type;
		out->node.gpu[to++].count = (uint16_t)((d->total[w].count + k - 1) / k);
	}
	return true;
}

static uint32_t count_required(const struct ccr_query *q, uint32_t n)
{
	return q->required ? ccr_bit_count(q->required, n) : 0;
}

/*
 * The earliest start with an even deal: k nodes that take the same, for the fewest nodes that can
 * hold the demand and for twice, four times, ... as many. Exact where every node takes the same
 * (plain), else an upper bound that is near the best as a rule and costs little.
 */
static int64_t even(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_query *q,
		    int64_t from, int64_t until)
{
	const struct ccr_demand *d = q->demand;
	uint32_t units = ccr_demand_units(d), most = most_units(tl, q),
		 required = count_required(q, tl->n);
	uint32_t low = d->min_nodes ? d->min_nodes : 1, high = d->max_nodes ? d->max_nodes : tl->n;
	int64_t best = until, gpus = 0;

	low = required > low ? required : low;
	if (ccr__plain(d))
		return earliest_nodes(s, tl, q, 1, low, from, until);
	for (int w = 0; w < CCR_GPU_WANTS && d->total[w].count; w++)
		gpus += d->total[w].count;
	if (gpus && gpus < high)
		high = (uint32_t)gpus;
	if (d->units && most && (units + most - 1) / most > low)
		low = (units + most - 1) / most;
	for (uint64_t k = low; most && k <= high; k *= 2) {
		uint32_t each = d->units ? (uint32_t)((units + k - 1) / k) : 1;
		struct ccr_demand part;
		struct ccr_query even = *q;
		int64_t t;

		if (each < ccr_demand_node_min(d) || !split_total(d, (uint32_t)k, &part))
			break;
		even.demand = &part;
		t = earliest_nodes(s, tl, &even, each, (uint32_t)k, from, best);
		best = t < best ? t : best;
		if (best <= from || (each == 1 && k >= (uint64_t)gpus))
			break;
	}
	return best < until ? best : CCR_FOREVER;
}

static int add_change(struct ccr_search *s, const struct ccr__change *c)
{
	if (s->changes == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 1024;
		struct ccr__change *p = realloc(s->change, cap * sizeof(*p));

		if (!p)
			return CCR_ENOMEM;
		s->change = p;
		s->cap = cap;
	}
	s->change[s->changes++] = *c;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct ccr__change *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* The contribution of a node at a start time. */
static struct ccr__change at(const struct ccr_timeline *tl, const struct ccr_query *q, uint32_t i,
			     int64_t t)
{
	const struct ccr_demand *d = q->demand;
	struct ccr__change c = {.t = t, .node = i};
	struct ccr_amount least;
	int32_t g[CCR_GPU_WANTS];

	c.units = ccr__offers(tl, q, i, t, &least, g);
	for (int w = 0; c.units && w < CCR_GPU_WANTS && d->total[w].count; w++)
		c.gpus += g[w];
	return c;
}

/* Whether something is taken away from the node at a later time. */
static bool falls(const struct ccr_track *tr)
{
	for (uint32_t j = 1; j < tr->n; j++)
		if (ccr_amount_short(&tr->step[j].free, &tr->step[j - 1].free))
			return true;
	return false;
}

/* One node whose free amounts only rise: a change where one more step makes a difference. */
static int gather_rising(struct ccr_search *s, const struct ccr_timeline *tl,
			 const struct ccr_query *q, uint32_t i, int64_t from, int64_t until)
{
	const struct ccr_track *tr = &tl->track[i];
	struct ccr__change last = at(tl, q, i, from);
	int rc = last.units ? add_change(s, &last) : 0;

	for (uint32_t j = 1; j < tr->n && !rc; j++) {
		struct ccr__change c;

		if (tr->step[j].t <= from || tr->step[j].t >= until)
			continue;
		c = at(tl, q, i, tr->step[j].t);
		if (c.units != last.units || c.gpus != last.gpus)
			rc = add_change(s, &c);
		last = c;
	}
	return rc;
}

static int gather_any(struct ccr_search *s, const struct ccr_timeline *tl,
		      const struct ccr_query *q, uint32_t i, int64_t from, int64_t until)
{
	int64_t limit = q->limit;
	const struct ccr_track *tr = &tl->track[i];
	struct ccr__change c = at(tl, q, i, from);
	int rc = add_change(s, &c);

	/* What is booked for now is taken to run from the next second on. */
	if (!rc && q->sure && from <= tl->now && tr->booked_now > 0 && from + 1 < until) {
		c = at(tl, q, i, from + 1);
		rc = add_change(s, &c);
	}
	for (uint32_t j = 1; j < tr->n && !rc; j++) {
		int64_t t = tr->step[j].t;

		if (t > from && t < until) {
			c = at(tl, q, i, t);
			rc = add_change(s, &c);
		}
		t -= limit - 1;
		if (!rc && limit < CCR_FOREVER && t > from && t < until &&
		    ccr_amount_short(&tr->step[j].free, &tr->step[j - 1].free)) {
			c = at(tl, q, i, t);
			rc = add_change(s, &c);
		}
	}
	return rc;
}

/*
 * Gathers for each node the times when its contribution may change: the beginnings of its steps
 * (something came back) and, for steps with less than the one before, limit seconds earlier.
 */
static int gather(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_query *q,
		  int64_t from, int64_t until)
{
	uint32_t last = UINT32_MAX, least = ccr_demand_node_min(q->demand);
	struct ccr_quick quick;
	int rc = 0;

	s->changes = 0;
	CCR_BITS_EACH(i, q->candidates, tl->n)
	{
		ccr_timeline_quick(tl, i, q->demand, least, &quick, &last);
		if (ccr_timeline_closed(&tl->track[i], &quick, until) || !tl->node[i].up)
			continue;
		rc = falls(&tl->track[i]) || (q->sure && tl->track[i].booked_now > 0)
			 ? gather_any(s, tl, q, i, from, until)
			 : gather_rising(s, tl, q, i, from, until);
		if (rc)
			return rc;
	}
	if (s->changes)
		qsort(s->change, s->changes, sizeof(*s->change), by_time);
	return 0;
}

/* Goes through the changes in time; where the sums suffice, looks closer. */
static int sweep(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_query *q,
		 int64_t from, int64_t until, const struct ccr_place_options *place,
		 struct ccr_slot *slot)
{
	const struct ccr_demand *d = q->demand;
	int rc = gather(s, tl, q, from, until);
	uint64_t units = 0, want = ccr_demand_units(d), nodes = 0;
	int64_t gpus = 0, want_gpus = 0;

	for (int w = 0; w < CCR_GPU_WANTS && d->total[w].count; w++)
		want_gpus += d->total[w].count;
	if (rc)
		return rc;
	memset(s->units, 0, s->n * sizeof(*s->units));
	memset(s->gpus, 0, s->n * sizeof(*s->gpus));
	for (size_t c = 0; c < s->changes;) {
		int64_t t = s->change[c].t;
		bool rose = false;

		for (; c < s->changes && s->change[c].t == t; c++) {
			const struct ccr__change *ch = &s->change[c];

			rose =
			    rose || ch->units > s->units[ch->node] || ch->gpus > s->gpus[ch->node];
			units += (uint64_t)ch->units - s->units[ch->node];
			nodes += (uint64_t)(ch->units > 0) - (s->units[ch->node] > 0);
			gpus += ch->gpus - s->gpus[ch->node];
			s->units[ch->node] = ch->units;
			s->gpus[ch->node] = ch->gpus;
		}
		if (!rose || units < want || gpus < want_gpus || nodes < d->min_nodes)
			continue;
		slot->n = ccr__choose(s, q, ccr__able_at(s, tl, q, t, place));
		if (slot->n) {
			slot->start = t;
			return 0;
		}
	}
	return 0;
}

int ccr_search_earliest(struct ccr_search *s, const struct ccr_timeline *tl,
			const struct ccr_query *q, int64_t from, int64_t until,
			const struct ccr_place_options *place, struct ccr_slot *slot)
{
	const struct ccr_demand *d = q->demand;
	bool exact =
	    ccr__plain(d) || (d->min_nodes <= 1 && d->max_nodes == 1 && !d->total[0].count);
	int64_t t;
	int rc = 0;

	slot->start = CCR_FOREVER;
	slot->n = 0;
	slot->share = s->share;
	if (from < tl->now)
		from = tl->now;
	if (from >= until)
		return 0;
	t = even(s, tl, q, from, until);
	exact = exact && !(q->sure && ccr__many_types(tl, q));
	if (exact) {
		if (t < until)
			slot->n = ccr__choose(s, q, ccr__able_at(s, tl, q, t, place));
		slot->start = t;
	} else {
		/*
		 * An uneven deal may be earlier. A sure one may be later, as a rule not by much: so
		 * twice as far each time.
		 */
		int64_t to = t < until ? t + 1 : until, width = to - from;

		while (!rc && !slot->n && from < until) {
			rc = sweep(s, tl, q, from, to, place, slot);
			from = to;
			width = width < until ? 2 * width : until;
			to = width < until - from ? from + width : until;
		}
	}
	if (rc || !slot->n) {
		slot->start = CCR_FOREVER;
		slot->n = 0;
		return rc;
	}
	ccr__deal(s, tl, q, slot->n);
	return 0;
}

/* No required node is missing in the set. */
static bool all_in(const struct ccr_query *q, const uint64_t *set, uint32_t n)
{
	for (size_t w = 0; q->required && w < CCR_WORDS(n); w++)
		if (q->required[w] & ~set[w])
			return false;
	return true;
}

bool ccr_search_at(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_query *q,
		   int64_t start, uint64_t *out)
{
	const struct ccr_demand *d = q->demand;
	uint32_t n = 0, last = UINT32_MAX;
	struct ccr_quick quick;

	memset(out, 0, CCR_WORDS(tl->n) * sizeof(*out));
	if (!ccr__plain(d) || q->sure) {
		n = ccr__able_at(s, tl, q, start, NULL);
		for (uint32_t j = 0; j < n; j++)
			ccr_bit_set(out, s->able[j].node);
		return ccr__choose(s, q, n) > 0;
	}
	CCR_BITS_EACH(i, q->candidates, tl->n)
	{
		ccr_timeline_quick(tl, i, d, 1, &quick, &last);
		if (ccr_timeline_closed(&tl->track[i], &quick, start + 1) || !tl->node[i].up)
			continue;
		if (ccr_timeline_next(tl, i, d, 1, &quick, q->limit, start, start + 1) == start) {
			ccr_bit_set(out, i);
			n++;
		}
	}
	return n >= (d->min_nodes ? d->min_nodes : 1) && all_in(q, out, tl->n) &&
	       (!d->max_nodes || count_required(q, tl->n) <= d->max_nodes);
}

bool ccr_search_now(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_query *q,
		    void (*more)(const void *from, uint32_t node, struct ccr_amount *free),
		    const void *from)
{
	const struct ccr_demand *d = q->demand;
	uint32_t n = 0, last = UINT32_MAX, least = ccr_demand_node_min(d);
	struct ccr_quick quick;

	CCR_BITS_EACH(i, q->candidates, tl->n)
	{
		const struct ccr_track *tr = &tl->track[i];
		struct ccr__able *a = &s->able[n];

		ccr_timeline_quick(tl, i, d, least, &quick, &last);
		if (quick.never || !tl->node[i].up ||
		    (!tr->booked_now && quick.ok && !ccr_quick_fits(&quick, &tr->now)))
			continue;
		*a = (struct ccr__able){
		    .node = i, .least = tr->now, .required = ccr__in(q->required, i)};
		if (tr->booked_now)
			more(from, i, &a->least);
		a->units = ccr_demand_most(d, &tl->node[i], &a->least);
		if (!a->units)
			continue;
		if (d->total[0].count)
			ccr__gives(d, &tl->node[i], &a->least, least, a->gpus);
		n++;
	}
	return ccr__choose(s, q, n) > 0;
}

bool ccr_search_possible(struct ccr_search *s, const struct ccr_timeline *tl,
			 const struct ccr_query *q)
{
	const struct ccr_demand *d = q->demand;
	uint32_t n = 0, last = UINT32_MAX, most = 0, low = d->min_nodes ? d->min_nodes : 1;
	bool any = !q->required && !d->total[0].count && (ccr__plain(d) || !d->max_nodes);
	uint64_t units = 0;

	CCR_BITS_EACH(i, q->candidates, tl->n)
	{
		struct ccr__able *a = &s->able[n];

		if (tl->kind[i] != last)
			most = ccr_demand_most(d, &tl->node[i], &tl->node[i].total);
		last = tl->kind[i];
		if (!most)
			continue;
		*a = (struct ccr__able){
		    .node = i, .units = most, .required = ccr__in(q->required, i)};
		if (d->total[0].count)
			ccr__gives(d, &tl->node[i], &tl->node[i].total, ccr_demand_node_min(d),
				   a->gpus);
		n++;
		units += most;
		if (any && n >= low && units >= ccr_demand_units(d))
			return true;
	}
	return ccr__choose(s, q, n) > 0;
}

bool ccr_search_covers(struct ccr_search *s, const struct ccr_timeline *tl,
		       const struct ccr_query *q, const struct ccr_share *share, uint32_t n)
{
	const struct ccr_demand *d = q->demand;

	if (n > s->n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct ccr_node *node = &tl->node[share[i].node];

		if (!ccr_bit(q->candidates, share[i].node))
			return false;
		s->able[i] = (struct ccr__able){
		    .node = share[i].node,
		    .units = ccr_demand_most(d, node, &share[i].a),
		    .required = ccr__in(q->required, share[i].node),
		};
		if (!s->able[i].units)
			return false;
		if (d->total[0].count)
			ccr__gives(d, node, &share[i].a, ccr_demand_node_min(d), s->able[i].gpus);
	}
	return ccr__choose(s, q, n) == n;
}
