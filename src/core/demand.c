/* demand - see demand.h */
#include "core/demand.h"

#include <string.h>

#include "core/mix.h"

void ccr_amount_add(struct ccr_amount *a, const struct ccr_amount *b)
{
	a->mem += b->mem;
	a->cpus += b->cpus;
	a->open += b->open;
	for (int i = 0; i < CCR_GPU_SLOTS; i++)
		a->gpus[i] = (int16_t)(a->gpus[i] + b->gpus[i]);
}

void ccr_amount_sub(struct ccr_amount *a, const struct ccr_amount *b)
{
	a->mem -= b->mem;
	a->cpus -= b->cpus;
	a->open -= b->open;
	for (int i = 0; i < CCR_GPU_SLOTS; i++)
		a->gpus[i] = (int16_t)(a->gpus[i] - b->gpus[i]);
}

void ccr_amount_min(struct ccr_amount *a, const struct ccr_amount *b)
{
	if (b->mem < a->mem)
		a->mem = b->mem;
	if (b->cpus < a->cpus)
		a->cpus = b->cpus;
	if (b->open < a->open)
		a->open = b->open;
	for (int i = 0; i < CCR_GPU_SLOTS; i++)
		a->gpus[i] = b->gpus[i] < a->gpus[i] ? b->gpus[i] : a->gpus[i];
}

char ccr_amount_short(const struct ccr_amount *a, const struct ccr_amount *b)
{
	for (int i = 0; i < CCR_GPU_SLOTS; i++)
		if (b->gpus[i] > 0 && a->gpus[i] < b->gpus[i])
			return 'g';
	if ((b->cpus > 0 && a->cpus < b->cpus) || (b->open > 0 && a->open < b->open))
		return 'c';
	return b->mem > 0 && a->mem < b->mem ? 'm' : 0;
}

int32_t ccr_amount_gpus(const struct ccr_amount *a)
{
	int32_t sum = 0;

	for (int i = 0; i < CCR_GPU_SLOTS; i++)
		sum += a->gpus[i];
	return sum;
}

int32_t ccr_node_gpus(const struct ccr_node *node, const struct ccr_amount *free, int16_t type)
{
	int32_t sum = 0;

	for (int i = 0; i < node->gpu_types; i++)
		if ((type == CCR_GPU_ANY || type == node->gpu_type[i]) && free->gpus[i] > 0)
			sum += free->gpus[i];
	return sum;
}

bool ccr_demand_has_gpus(const struct ccr_demand *d)
{
	return d->node.gpu[0].count || d->unit.gpu[0].count || d->total[0].count;
}

uint32_t ccr_demand_units(const struct ccr_demand *d)
{
	uint32_t nodes = d->min_nodes ? d->min_nodes : 1;

	return d->units > nodes ? d->units : nodes;
}

uint32_t ccr_demand_node_min(const struct ccr_demand *d)
{
	return d->units && d->node_min_units ? d->node_min_units : 1;
}

/* CPUs as they are given: in whole steps. */
static int64_t rounded(int64_t cpus, const struct ccr_node *node)
{
	int64_t step = node->cpu_step > 1 ? node->cpu_step : 1;

	return (cpus + step - 1) / step * step;
}

static int64_t cpus_of(const struct ccr_demand *d, const struct ccr_node *node, uint32_t units)
{
	return rounded(d->node.cpus + (d->units ? (int64_t)units * d->unit.cpus : 0), node);
}

static int64_t mem_of(const struct ccr_demand *d, const struct ccr_node *node, uint32_t units,
		      int64_t cpus)
{
	if (d->all_mem)
		return node->total.mem;
	return d->node.mem + (d->units ? (int64_t)units * d->unit.mem : 0) + d->mem_per_cpu * cpus;
}

/* Wanted of one list, times so many units: of a type, and (type CCR_GPU_ANY) of every kind. */
static int64_t wanted(const struct ccr_want *list, int16_t type, int64_t times)
{
	int64_t sum = 0;

	for (int i = 0; i < CCR_GPU_WANTS && list[i].count; i++)
		if (type == CCR_GPU_ANY || list[i].type == type)
			sum += list[i].count * times;
	return sum;
}

/*
 * The least of the CPUs that no GPU keeps which node part and units need: what goes beyond those
 * kept by their GPUs. Fitting has to be monotone in the units: where more of them need fewer (a
 * unit's GPUs keep more CPUs than it asks for) it is what all of them together need. Of `total` one
 * GPU is certain.
 */
static int64_t open_of(const struct ccr_demand *d, const struct ccr_node *node, uint32_t units)
{
	int64_t per_unit, n = d->units ? units : 0, open, one = d->total[0].count ? 1 : 0;

	if (!node->kept || d->kept)
		return 0;
	per_unit = d->unit.cpus - node->kept * wanted(d->unit.gpu, CCR_GPU_ANY, 1);
	if (d->units && per_unit < 0)
		n = ccr_demand_units(d);
	open = cpus_of(d, node, (uint32_t)n) -
	       node->kept * (one + wanted(d->node.gpu, CCR_GPU_ANY, 1) +
			     wanted(d->unit.gpu, CCR_GPU_ANY, n));
	return open > 0 ? open : 0;
}

/*
 * Typed wants are held by their own type, and all wants together by all GPUs: with that an untyped
 * want always finds what the typed ones leave. The same holds for the one GPU of `total`.
 */
static bool gpus_fit(const struct ccr_demand *d, const struct ccr_node *node,
		     const struct ccr_amount *free, uint32_t units)
{
	const struct ccr_want *lists[2] = {d->node.gpu, d->unit.gpu};
	int64_t times[2] = {1, d->units ? units : 0}, all = 0;

	for (int l = 0; l < 2; l++) {
		for (int i = 0; i < CCR_GPU_WANTS && lists[l][i].count; i++) {
			int16_t type = lists[l][i].type;

			all += lists[l][i].count * times[l];
			if (type != CCR_GPU_ANY &&
			    wanted(d->node.gpu, type, 1) + wanted(d->unit.gpu, type, times[1]) >
				ccr_node_gpus(node, free, type))
				return false;
		}
	}
	if (!all && !d->total[0].count)
		return true;
	if (d->total[0].count) {
		bool gives = false;

		for (int i = 0; i < CCR_GPU_WANTS && d->total[i].count && !gives; i++) {
			int16_t type = d->total[i].type;
			int64_t own = type == CCR_GPU_ANY ? all
							  : wanted(d->node.gpu, type, 1) +
								wanted(d->unit.gpu, type, times[1]);

			gives = ccr_node_gpus(node, free, type) > own;
		}
		if (!gives)
			return false;
		all++;
	}
	return all <= ccr_node_gpus(node, free, CCR_GPU_ANY);
}

static bool empty(const struct ccr_node *node, const struct ccr_amount *free)
{
	for (int i = 0; i < node->gpu_types; i++)
		if (free->gpus[i] < node->total.gpus[i])
			return false;
	return free->cpus >= node->total.cpus && free->mem >= node->total.mem &&
	       free->open >= node->total.open;
}

bool ccr_demand_fits(const struct ccr_demand *d, const struct ccr_node *node,
		     const struct ccr_amount *free, uint32_t units)
{
	int64_t cpus = cpus_of(d, node, units), mem = mem_of(d, node, units, cpus),
		open = open_of(d, node, units);

	if ((cpus > 0 && free->cpus < cpus) || (mem > 0 && free->mem < mem) ||
	    (open > 0 && free->open < open))
		return false;
	if (d->whole && !empty(node, free))
		return false;
	return gpus_fit(d, node, free, units);
}

void ccr_quick_make(const struct ccr_demand *d, const struct ccr_node *node, uint32_t units,
		    struct ccr_quick *q)
{
	const struct ccr_want *lists[2] = {d->node.gpu, d->unit.gpu};
	int64_t times[2] = {1, d->units ? units : 0}, all = 0, cpus = cpus_of(d, node, units);
	bool untyped = false;

	*q = (struct ccr_quick){.ok = !d->total[0].count, .gpu_types = node->gpu_types};
	q->never = cpus > INT32_MAX || !ccr_demand_fits(d, node, &node->total, units);
	if (q->never || !q->ok)
		return;
	q->need.cpus = (int32_t)cpus;
	q->need.open = (int32_t)open_of(d, node, units);
	q->need.mem = mem_of(d, node, units, cpus);
	for (int l = 0; l < 2; l++) {
		for (int i = 0; i < CCR_GPU_WANTS && lists[l][i].count; i++) {
			int64_t n = lists[l][i].count * times[l];

			all += n;
			untyped = untyped || lists[l][i].type == CCR_GPU_ANY;
			for (int g = 0; g < node->gpu_types; g++)
				if (lists[l][i].type == node->gpu_type[g] ||
				    (lists[l][i].type == CCR_GPU_ANY && node->gpu_types == 1))
					q->need.gpus[g] = (int16_t)(q->need.gpus[g] + n);
		}
	}
	if (untyped && node->gpu_types > 1)
		q->any = (int32_t)all;
	if (d->whole)
		q->need = node->total;
}

uint32_t ccr_demand_most(const struct ccr_demand *d, const struct ccr_node *node,
			 const struct ccr_amount *free)
{
	uint32_t low = ccr_demand_node_min(d), high;

	if (!ccr_demand_fits(d, node, free, low))
		return 0;
	if (!d->units)
		return 1;
	high = ccr_demand_units(d);
	if (d->node_max_units && d->node_max_units < high)
		high = d->node_max_units;
	if (d->unit.cpus > 0 && free->cpus / d->unit.cpus < (int64_t)high)
		high = (uint32_t)(free->cpus / d->unit.cpus);
	/* Fitting is monotone in the units: halve the interval. */
	while (low < high) {
		uint32_t mid = low + (high - low + 1) / 2;

		if (ccr_demand_fits(d, node, free, mid))
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

/* Takes count GPUs of a want out of left[] into out. */
static void deal(const struct ccr_node *node, struct ccr_amount *left, int16_t type, int64_t count,
		 struct ccr_amount *out)
{
	while (count > 0) {
		int best = -1;
		int16_t n;

		for (int i = 0; i < node->gpu_types; i++)
			if ((type == CCR_GPU_ANY || type == node->gpu_type[i]) &&
			    left->gpus[i] > 0 && (best < 0 || left->gpus[i] > left->gpus[best]))
				best = i;
		if (best < 0)
			return;
		n = (int16_t)(count < left->gpus[best] ? count : left->gpus[best]);
		left->gpus[best] = (int16_t)(left->gpus[best] - n);
		out->gpus[best] = (int16_t)(out->gpus[best] + n);
		count -= n;
	}
}

void ccr_demand_take(const struct ccr_demand *d, const struct ccr_node *node,
		     const struct ccr_amount *free, uint32_t units, const uint16_t *dealt,
		     struct ccr_amount *out)
{
	const struct ccr_want *lists[2] = {d->node.gpu, d->unit.gpu};
	int64_t times[2] = {1, d->units ? units : 0};
	struct ccr_amount left = *free;
	int64_t cpus = cpus_of(d, node, units);

	if (d->whole) {
		*out = node->total;
		return;
	}
	memset(out, 0, sizeof(*out));
	out->cpus = (int32_t)cpus;
	out->mem = mem_of(d, node, units, cpus);
	/* Untyped wants last: they must not take what a typed one needs. */
	for (int untyped = 0; untyped < 2; untyped++) {
		for (int l = 0; l < 2; l++)
			for (int i = 0; i < CCR_GPU_WANTS && lists[l][i].count; i++)
				if ((lists[l][i].type == CCR_GPU_ANY) == untyped)
					deal(node, &left, lists[l][i].type,
					     lists[l][i].count * times[l], out);
		for (int i = 0; dealt && i < CCR_GPU_WANTS && d->total[i].count; i++)
			if ((d->total[i].type == CCR_GPU_ANY) == untyped)
				deal(node, &left, d->total[i].type, dealt[i], out);
	}
	if (node->kept && !d->kept && out->cpus > node->kept * ccr_amount_gpus(out))
		out->open = out->cpus - node->kept * ccr_amount_gpus(out);
}

static bool wants_equal(const struct ccr_want *a, const struct ccr_want *b)
{
	for (int i = 0; i < CCR_GPU_WANTS; i++) {
		if (a[i].count != b[i].count || (a[i].count && a[i].type != b[i].type))
			return false;
		if (!a[i].count)
			return true;
	}
	return true;
}

static bool need_equal(const struct ccr_need *a, const struct ccr_need *b)
{
	return a->mem == b->mem && a->cpus == b->cpus && wants_equal(a->gpu, b->gpu);
}

bool ccr_demand_equal(const struct ccr_demand *a, const struct ccr_demand *b)
{
	return a->min_nodes == b->min_nodes && a->max_nodes == b->max_nodes &&
	       a->units == b->units && a->node_min_units == b->node_min_units &&
	       a->node_max_units == b->node_max_units && a->mem_per_cpu == b->mem_per_cpu &&
	       a->whole == b->whole && a->all_mem == b->all_mem && a->kept == b->kept &&
	       need_equal(&a->node, &b->node) && need_equal(&a->unit, &b->unit) &&
	       wants_equal(a->total, b->total);
}

static uint64_t wants_hash(uint64_t h, const struct ccr_want *w)
{
	for (int i = 0; i < CCR_GPU_WANTS && w[i].count; i++)
		h = ccr_mix(h, (uint64_t)w[i].count << 16 | (uint16_t)w[i].type);
	return ccr_mix(h, 1);
}

uint64_t ccr_demand_hash(const struct ccr_demand *d)
{
	uint64_t h = ccr_mix(d->whole | (uint64_t)d->kept << 1 | (uint64_t)d->all_mem << 2,
			     (uint64_t)d->min_nodes << 32 | d->max_nodes);

	h = ccr_mix(h, (uint64_t)d->units << 32 | d->node_min_units);
	h = ccr_mix(h, (uint64_t)d->node_max_units << 32 | (uint32_t)d->node.cpus);
	h = ccr_mix(ccr_mix(ccr_mix(h, (uint64_t)d->mem_per_cpu), (uint64_t)d->node.mem),
		    (uint64_t)d->unit.mem);
	h = ccr_mix(h, (uint32_t)d->unit.cpus);
	return wants_hash(wants_hash(wants_hash(h, d->node.gpu), d->unit.gpu), d->total);
}
