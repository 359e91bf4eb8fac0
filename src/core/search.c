/* search - see search.h */
#include "core/search.h"

#include "core/bits.h"

#include <stdlib.h>
#include <string.h>

/* A node at one start time. */
struct able {
	struct ccr_amount least;
	struct ccr_score score;
	uint32_t node, units;
	int32_t gpus[CCR_GPU_WANTS]; /* what it can give to total[i] */
};

/* From t on, a node holds so many units. */
struct change {
	int64_t t;
	uint32_t node, units;
	int32_t gpus;
};

struct ccr_search {
	uint32_t n;
	int64_t *heap;
	struct able *able;
	struct ccr_share *share;
	struct change *change;
	uint32_t *units; /* of each node, while sweeping */
	int32_t *gpus;
	size_t changes, cap;
};

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
	s->share = calloc(n, sizeof(*s->share));
	s->units = calloc(n, sizeof(*s->units));
	s->gpus = calloc(n, sizeof(*s->gpus));
	if (!s->heap || !s->able || !s->share || !s->units || !s->gpus) {
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
	free(s->share);
	free(s->change);
	free(s->units);
	free(s->gpus);
	free(s);
}

/* A constant number of nodes each of which takes the same: no units to deal out. */
static bool plain(const struct ccr_demand *d)
{
	return !d->units && !d->total[0].count;
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
			const struct ccr_demand *d, uint32_t units, int64_t limit,
			const uint64_t *cand, uint32_t k, int64_t from, int64_t until)
{
	uint32_t have = 0, last = UINT32_MAX;
	struct ccr_quick q;

	CCR_BITS_EACH(i, cand, tl->n)
	{
		int64_t t;

		if (!tl->node[i].up)
			continue;
		ccr_timeline_quick(tl, i, d, units, &q, &last);
		t = ccr_timeline_next(tl, i, d, units, &q, limit, from, until);
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

static uint32_t count_at(const struct ccr_timeline *tl, const struct ccr_demand *d, uint32_t units,
			 int64_t limit, const uint64_t *cand, uint32_t enough, int64_t t)
{
	uint32_t c = 0, last = UINT32_MAX;
	struct ccr_quick q;

	CCR_BITS_EACH(i, cand, tl->n)
	{
		if (c >= enough)
			break;
		if (!tl->node[i].up)
			continue;
		ccr_timeline_quick(tl, i, d, units, &q, &last);
		c += ccr_timeline_next(tl, i, d, units, &q, limit, t, t + 1) == t;
	}
	return c;
}

/* Earliest time at which k nodes at once hold so many units each. */
static int64_t earliest_nodes(struct ccr_search *s, const struct ccr_timeline *tl,
			      const struct ccr_demand *d, uint32_t units, int64_t limit,
			      const uint64_t *cand, uint32_t k, int64_t from, int64_t until)
{
	if (k > tl->n)
		return CCR_FOREVER;
	/*
	 * The k-th smallest next start is a lower bound of the answer; at that time some of the k
	 * may have closed again, then the search goes on from there.
	 */
	for (int64_t t = from; t < until;) {
		int64_t next = kth_next(s, tl, d, units, limit, cand, k, t, until);

		if (next >= until)
			return CCR_FOREVER;
		if (k == 1 || count_at(tl, d, units, limit, cand, k, next) >= k)
			return next;
		t = next;
	}
	return CCR_FOREVER;
}

/* GPUs that a node with `free` can give to total[i] beside its units. */
static void gives(const struct ccr_demand *d, const struct ccr_node *node,
		  const struct ccr_amount *free, uint32_t units, int32_t *gpus)
{
	struct ccr_amount left = *free, take;

	ccr_demand_take(d, node, free, units, NULL, &take);
	if (!d->whole)
		ccr_amount_sub(&left, &take);
	for (int i = 0; i < CCR_GPU_WANTS; i++)
		gpus[i] = d->total[i].count ? ccr_node_gpus(node, &left, d->total[i].type) : 0;
}

/* All nodes that can take part at t. Returns how many. */
static uint32_t able_at(struct ccr_search *s, const struct ccr_timeline *tl,
			const struct ccr_demand *d, int64_t limit, const uint64_t *cand, int64_t t,
			const struct ccr_place_options *place)
{
	uint32_t n = 0, last = UINT32_MAX;
	struct ccr_quick q;

	CCR_BITS_EACH(i, cand, tl->n)
	{
		struct able *a = &s->able[n];
		struct ccr_amount take;

		if (!tl->node[i].up)
			continue;
		ccr_timeline_quick(tl, i, d, ccr_demand_node_min(d), &q, &last);
		if (q.never || (q.ok && t == tl->now && !ccr_quick_fits(&q, &tl->track[i].now)))
			continue;
		if (plain(d) && ccr_timeline_next(tl, i, d, 1, &q, limit, t, t + 1) != t)
			continue;
		ccr_timeline_least(tl, i, t, ccr_end(t, limit), &a->least);
		a->units = ccr_demand_most(d, &tl->node[i], &a->least);
		if (!a->units)
			continue;
		a->node = i;
		a->score = (struct ccr_score){0};
		if (d->total[0].count)
			gives(d, &tl->node[i], &a->least, ccr_demand_node_min(d), a->gpus);
		if (place) {
			ccr_demand_take(d, &tl->node[i], &a->least, ccr_demand_node_min(d), NULL,
					&take);
			a->score = ccr_place_score(&tl->node[i], &a->least, &take, place);
		}
		n++;
	}
	return n;
}

static int by_score(const void *pa, const void *pb)
{
	const struct able *a = pa, *b = pb;
	int c = ccr_score_cmp(&a->score, &b->score);

	return c ? c : (a->node > b->node) - (a->node < b->node);
}

static int by_units(const void *pa, const void *pb)
{
	const struct able *a = pa, *b = pb;

	if (a->units != b->units)
		return a->units > b->units ? -1 : 1;
	return by_score(pa, pb);
}

static int by_gpus(const void *pa, const void *pb)
{
	const struct able *a = pa, *b = pb;
	int64_t x = 0, y = 0;

	for (int i = 0; i < CCR_GPU_WANTS; i++) {
		x += a->gpus[i];
		y += b->gpus[i];
	}
	if (x != y)
		return x > y ? -1 : 1;
	return by_units(pa, pb);
}

/* How many of the nodes, in their order, hold it all; 0 if they do not. */
static uint32_t first_enough(const struct ccr_search *s, const struct ccr_demand *d, uint32_t n)
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
	for (uint32_t k = 1; k <= n && k <= high; k++) {
		bool all = true;

		units += s->able[k - 1].units;
		for (int i = 0; i < CCR_GPU_WANTS; i++) {
			gpus[i] += s->able[k - 1].gpus[i];
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

/* The order of the able nodes in which a fitting number comes first; that number, or 0. */
static uint32_t choose(struct ccr_search *s, const struct ccr_demand *d, uint32_t n)
{
	uint32_t k;

	qsort(s->able, n, sizeof(*s->able), plain(d) ? by_score : by_units);
	k = first_enough(s, d, n);
	if (!k && d->total[0].count) {
		qsort(s->able, n, sizeof(*s->able), by_gpus);
		k = first_enough(s, d, n);
	}
	return k;
}

/* Deals units and GPUs over the first k able nodes and writes the shares. */
static void deal(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_demand *d,
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
		struct able *a = &s->able[j];
		uint32_t u = base;
		uint16_t dealt[CCR_GPU_WANTS] = {0};

		if (d->units && units > 0) {
			uint32_t more = a->units - base;

			more = more < units ? more : (uint32_t)units;
			u += more;
			units -= more;
		}
		if (d->total[0].count)
			gives(d, &tl->node[a->node], &a->least, u, a->gpus);
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

static int add_change(struct ccr_search *s, const struct change *c)
{
	if (s->changes == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 1024;
		struct change *p = realloc(s->change, cap * sizeof(*p));

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
	const struct change *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* The contribution of a node at a start time. */
static struct change at(const struct ccr_timeline *tl, const struct ccr_demand *d, int64_t limit,
			uint32_t i, int64_t t)
{
	struct change c = {.t = t, .node = i};
	struct ccr_amount least;
	int32_t g[CCR_GPU_WANTS];

	ccr_timeline_least(tl, i, t, ccr_end(t, limit), &least);
	c.units = ccr_demand_most(d, &tl->node[i], &least);
	if (c.units && d->total[0].count) {
		gives(d, &tl->node[i], &least, ccr_demand_node_min(d), g);
		for (int w = 0; w < CCR_GPU_WANTS; w++)
			c.gpus += g[w];
	}
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
			 const struct ccr_demand *d, int64_t limit, uint32_t i, int64_t from,
			 int64_t until)
{
	const struct ccr_track *tr = &tl->track[i];
	struct change last = at(tl, d, limit, i, from);
	int rc = last.units ? add_change(s, &last) : 0;

	for (uint32_t j = 1; j < tr->n && !rc; j++) {
		struct change c;

		if (tr->step[j].t <= from || tr->step[j].t >= until)
			continue;
		c = at(tl, d, limit, i, tr->step[j].t);
		if (c.units != last.units || c.gpus != last.gpus)
			rc = add_change(s, &c);
		last = c;
	}
	return rc;
}

static int gather_any(struct ccr_search *s, const struct ccr_timeline *tl,
		      const struct ccr_demand *d, int64_t limit, uint32_t i, int64_t from,
		      int64_t until)
{
	const struct ccr_track *tr = &tl->track[i];
	struct change c = at(tl, d, limit, i, from);
	int rc = add_change(s, &c);

	for (uint32_t j = 1; j < tr->n && !rc; j++) {
		int64_t t = tr->step[j].t;

		if (t > from && t < until) {
			c = at(tl, d, limit, i, t);
			rc = add_change(s, &c);
		}
		t -= limit - 1;
		if (!rc && limit < CCR_FOREVER && t > from && t < until &&
		    ccr_amount_short(&tr->step[j].free, &tr->step[j - 1].free)) {
			c = at(tl, d, limit, i, t);
			rc = add_change(s, &c);
		}
	}
	return rc;
}

/*
 * Gathers for each node the times when its contribution may change: the beginnings of its steps
 * (something came back) and, for steps with less than the one before, limit seconds earlier.
 */
static int gather(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_demand *d,
		  int64_t limit, const uint64_t *cand, int64_t from, int64_t until)
{
	uint32_t last = UINT32_MAX;
	struct ccr_quick q;
	int rc = 0;

	s->changes = 0;
	CCR_BITS_EACH(i, cand, tl->n)
	{
		if (!tl->node[i].up)
			continue;
		ccr_timeline_quick(tl, i, d, ccr_demand_node_min(d), &q, &last);
		if (q.never)
			continue;
		rc = falls(&tl->track[i]) ? gather_any(s, tl, d, limit, i, from, until)
					  : gather_rising(s, tl, d, limit, i, from, until);
		if (rc)
			return rc;
	}
	if (s->changes)
		qsort(s->change, s->changes, sizeof(*s->change), by_time);
	return 0;
}

/* Goes through the changes in time; where the sums suffice, looks closer. */
static int sweep(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_demand *d,
		 int64_t limit, const uint64_t *cand, const struct ccr_place_options *place,
		 struct ccr_slot *slot)
{
	uint64_t units = 0, want = ccr_demand_units(d), nodes = 0;
	int64_t gpus = 0, want_gpus = 0;

	for (int w = 0; w < CCR_GPU_WANTS && d->total[w].count; w++)
		want_gpus += d->total[w].count;
	memset(s->units, 0, s->n * sizeof(*s->units));
	memset(s->gpus, 0, s->n * sizeof(*s->gpus));
	for (size_t c = 0; c < s->changes;) {
		int64_t t = s->change[c].t;
		bool rose = false;

		for (; c < s->changes && s->change[c].t == t; c++) {
			const struct change *ch = &s->change[c];

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
		slot->n = choose(s, d, able_at(s, tl, d, limit, cand, t, place));
		if (slot->n) {
			slot->start = t;
			return 0;
		}
	}
	return 0;
}

int ccr_search_earliest(struct ccr_search *s, const struct ccr_timeline *tl,
			const struct ccr_demand *d, int64_t limit, const uint64_t *candidates,
			int64_t from, int64_t until, const struct ccr_place_options *place,
			struct ccr_slot *slot)
{
	uint32_t low = d->min_nodes ? d->min_nodes : 1;
	int64_t t = CCR_FOREVER;
	uint32_t each = d->units ? (d->units + low - 1) / low : 1;
	int rc;

	slot->start = CCR_FOREVER;
	slot->n = 0;
	slot->share = s->share;
	if (from < tl->now)
		from = tl->now;
	if (!d->total[0].count && (!d->node_max_units || each <= d->node_max_units)) {
		if (each < ccr_demand_node_min(d))
			each = ccr_demand_node_min(d);
		t = earliest_nodes(s, tl, d, each, limit, candidates, low, from, until);
	}
	/* With an even deal on the fewest nodes there is an upper bound; an uneven one may be
	 * earlier. */
	if (!plain(d) && !(low == 1 && d->max_nodes == 1 && t < until)) {
		rc = gather(s, tl, d, limit, candidates, from, t < until ? t + 1 : until);
		if (!rc)
			rc = sweep(s, tl, d, limit, candidates, place, slot);
		if (rc)
			return rc;
	} else if (t < until) {
		slot->start = t;
		slot->n = choose(s, d, able_at(s, tl, d, limit, candidates, t, place));
	}
	if (!slot->n) {
		slot->start = CCR_FOREVER;
		return 0;
	}
	deal(s, tl, d, slot->n);
	return 0;
}

bool ccr_search_at(struct ccr_search *s, const struct ccr_timeline *tl, const struct ccr_demand *d,
		   int64_t limit, const uint64_t *candidates, int64_t start, uint64_t *out)
{
	uint32_t n, low = d->min_nodes ? d->min_nodes : 1;

	memset(out, 0, CCR_WORDS(tl->n) * sizeof(*out));
	if (plain(d)) {
		struct ccr_quick q;
		uint32_t last = UINT32_MAX;

		n = 0;
		CCR_BITS_EACH(i, candidates, tl->n)
		{
			if (!tl->node[i].up)
				continue;
			ccr_timeline_quick(tl, i, d, 1, &q, &last);
			if (start == tl->now && (q.never || !ccr_quick_fits(&q, &tl->track[i].now)))
				continue;
			if (ccr_timeline_next(tl, i, d, 1, &q, limit, start, start + 1) == start) {
				ccr_bit_set(out, i);
				n++;
			}
		}
		return n >= low;
	}
	n = able_at(s, tl, d, limit, candidates, start, NULL);
	for (uint32_t j = 0; j < n; j++)
		ccr_bit_set(out, s->able[j].node);
	return choose(s, d, n) > 0;
}

bool ccr_search_possible(struct ccr_search *s, const struct ccr_timeline *tl,
			 const struct ccr_demand *d, const uint64_t *candidates)
{
	uint32_t n = 0;

	CCR_BITS_EACH(i, candidates, tl->n)
	{
		struct able *a = &s->able[n];

		a->units = ccr_demand_most(d, &tl->node[i], &tl->node[i].total);
		if (!a->units)
			continue;
		a->node = i;
		a->score = (struct ccr_score){0};
		if (d->total[0].count)
			gives(d, &tl->node[i], &tl->node[i].total, ccr_demand_node_min(d), a->gpus);
		n++;
		if (plain(d) && n >= (d->min_nodes ? d->min_nodes : 1))
			return true;
	}
	return choose(s, d, n) > 0;
}
