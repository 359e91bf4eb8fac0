/* gate_world - see gate_world.h */
#include "gate_world.h"
#include "core/bits.h"

#include <stdio.h>
#include <string.h>

uint64_t world_random_next(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static int64_t between(uint64_t *s, int64_t low, int64_t high)
{
	return low + (int64_t)(world_random_next(s) % (uint64_t)(high - low + 1));
}

static void random_demand(struct world *w, struct ccr_demand *d, uint64_t *s)
{
	uint32_t n = w->nodes;

	memset(d, 0, sizeof(*d));
	switch (between(s, 0, 9)) {
	case 0: /* CPUs on some nodes */
		d->min_nodes = d->max_nodes = (uint32_t)between(s, 1, n);
		d->node.cpus = (int32_t)between(s, 1, 8);
		break;
	case 1: /* tasks anywhere */
		d->units = (uint32_t)between(s, 1, 6);
		d->unit.cpus = (int32_t)between(s, 1, 4);
		d->mem_per_cpu = between(s, 0, 2);
		break;
	case 2: /* tasks on few nodes */
		d->units = (uint32_t)between(s, 1, 6);
		d->unit.cpus = (int32_t)between(s, 1, 3);
		d->unit.gpu[0] = (struct ccr_want){CCR_GPU_ANY, 1};
		d->max_nodes = (uint32_t)between(s, 1, n);
		break;
	case 3: /* GPUs in total */
		d->units = (uint32_t)between(s, 1, 3);
		d->unit.cpus = 1;
		d->total[0] =
		    (struct ccr_want){(int16_t)between(s, -1, 1), (uint16_t)between(s, 1, 6)};
		break;
	case 4:
		d->whole = true;
		d->min_nodes = d->max_nodes = (uint32_t)between(s, 1, n);
		d->node.cpus = 1;
		break;
	case 5: /* two types at once */
		d->min_nodes = d->max_nodes = 1;
		d->node.cpus = 1;
		d->node.gpu[0] = (struct ccr_want){0, 1};
		d->node.gpu[1] = (struct ccr_want){CCR_GPU_ANY, (uint16_t)between(s, 1, 2)};
		break;
	default: /* the usual: some GPUs on each node */
		d->min_nodes = d->max_nodes = (uint32_t)between(s, 1, between(s, 1, n));
		d->node.cpus = (int32_t)between(s, 1, 6);
		d->node.mem = between(s, 0, 20);
		d->node.gpu[0] =
		    (struct ccr_want){(int16_t)between(s, -1, 1), (uint16_t)between(s, 1, 4)};
	}
}

void world_random(struct world *w, uint64_t series, uint64_t n)
{
	uint64_t s = series * UINT64_C(1000003) + n;
	int64_t mode = between(&s, 0, 4);

	memset(w, 0, sizeof(*w));
	w->nodes = (uint32_t)between(&s, 1, W_NODES);
	w->jobs = (uint32_t)between(&s, 2, W_JOBS);
	w->parts = (uint32_t)between(&s, 1, W_PARTS);
	for (uint32_t i = 0; i < w->nodes; i++) {
		struct ccr_node *nd = &w->node[i];

		nd->up = true;
		nd->total.cpus = (int32_t)between(&s, 1, 4) * 4;
		nd->total.mem = between(&s, 8, 64);
		nd->cpu_step = (uint16_t)between(&s, 1, 2);
		nd->gpu_types = (uint8_t)between(&s, 0, 2);
		for (int t = 0; t < nd->gpu_types; t++) {
			nd->gpu_type[t] = (int16_t)t;
			nd->total.gpus[t] = (int16_t)between(&s, 1, 4);
		}
		/* Whole cores are kept for each GPU. */
		nd->total.open = nd->total.cpus - nd->cpu_step * ccr_amount_gpus(&nd->total);
		if (!between(&s, 0, 5) && nd->total.open >= 0)
			nd->kept = nd->cpu_step;
		else
			nd->total.open = 0;
	}
	for (uint32_t i = 0; i < w->jobs; i++) {
		struct w_job *j = &w->job[i];

		j->arrives = between(&s, 0, 3) ? 0 : between(&s, 1, 40);
		j->limit = between(&s, 1, 30);
		/* Limits that are kept, over-estimated, both, absent, or outlived. */
		j->runs = mode == 0 || between(&s, 0, 1) ? j->limit : between(&s, 1, j->limit);
		if (mode == 2 && !between(&s, 0, 3))
			j->limit = CCR_FOREVER;
		if (mode == 4 && !between(&s, 0, 2))
			j->runs = j->limit + between(&s, 1, 12);
		j->prio = (uint32_t)between(&s, 1, 100);
		j->partition = (uint16_t)between(&s, 0, w->parts - 1);
		random_demand(w, &j->demand, &s);
		j->candidates = between(&s, 0, 2) ? ~UINT64_C(0) : world_random_next(&s);
		j->candidates &= (UINT64_C(1) << w->nodes) - 1;
		if (!between(&s, 0, 4))
			j->required = j->candidates & world_random_next(&s) & world_random_next(&s);
	}
	for (uint32_t p = 0; p < w->parts; p++)
		w->depth[p] = (uint32_t)between(&s, 0, 4);
	w->window = between(&s, 0, 5) ? 1000000 : between(&s, 5, 60);
	w->fails_at = between(&s, 0, 9) ? 0 : between(&s, 1, 40);
	w->restarts_at = between(&s, 0, 3) ? 0 : between(&s, 1, 60);
	w->placement = between(&s, 0, 1);
	w->own_picks = between(&s, 0, 1);
	w->seed = world_random_next(&s);
}

/* A pick as any select plugin might make it: random nodes of the set, what is needed of each. */
uint32_t world_pick(const struct world *w, uint64_t *seed, const struct ccr_amount *idle,
		    const struct ccr_demand *d, uint64_t fit, uint64_t required,
		    struct ccr_share *pick)
{
	uint32_t order[W_NODES], n = 0, k, low = d->min_nodes ? d->min_nodes : 1;
	uint32_t high = d->max_nodes ? d->max_nodes : W_NODES, base = ccr_demand_node_min(d);
	int64_t units = ccr_demand_units(d), gpus = d->total[0].count;
	uint32_t most[W_NODES];

	if (required & ~fit)
		return 0;
	for (uint32_t i = 0; i < w->nodes; i++)
		if (fit >> i & 1)
			order[n++] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = (uint32_t)between(seed, 0, i - 1), x = order[i - 1];

		order[i - 1] = order[j];
		order[j] = x;
	}
	for (uint32_t i = 0, to = 0; i < n; i++) {
		uint32_t x = order[i];

		if (!(required >> x & 1))
			continue;
		order[i] = order[to];
		order[to++] = x;
		low = to > low ? to : low;
	}
	for (k = 0; k < n && k < high && (k < low || units > 0 || gpus > 0); k++) {
		uint32_t i = order[k];

		most[k] = ccr_demand_most(d, &w->node[i], &idle[i]);
		if (!most[k])
			return 0;
		units -= most[k];
		if (gpus > 0) {
			struct ccr_amount left = idle[i], take;

			ccr_demand_take(d, &w->node[i], &idle[i], base, NULL, &take);
			ccr_amount_sub(&left, &take);
			gpus -= ccr_node_gpus(&w->node[i], &left, d->total[0].type);
		}
	}
	if (k < low || units > 0 || gpus > 0 || (d->total[0].count && k > d->total[0].count))
		return 0;
	units = (int64_t)ccr_demand_units(d) - (int64_t)k * base;
	gpus = d->total[0].count;
	for (uint32_t j = 0; j < k; j++) {
		uint32_t u = base;
		uint16_t dealt[CCR_GPU_WANTS] = {0};

		if (d->units && units > 0) {
			int64_t more = most[j] - base < units ? most[j] - base : units;

			u += (uint32_t)more;
			units -= more;
		}
		if (gpus > 0) {
			struct ccr_amount left = idle[order[j]], take;
			int64_t g;

			ccr_demand_take(d, &w->node[order[j]], &idle[order[j]], u, NULL, &take);
			ccr_amount_sub(&left, &take);
			g = ccr_node_gpus(&w->node[order[j]], &left, d->total[0].type);
			/* One stays for each node that follows. */
			g = g < gpus - (k - 1 - j) ? g : gpus - (k - 1 - j);
			dealt[0] = (uint16_t)g;
			gpus -= dealt[0];
		}
		pick[j].node = order[j];
		ccr_demand_take(d, &w->node[order[j]], &idle[order[j]], u, dealt, &pick[j].a);
	}
	return gpus > 0 ? 0 : k;
}

void world_print(const struct world *w, char *out, size_t size)
{
	size_t n = 0;

#define P(...) n += n < size ? (size_t)snprintf(out + n, size - n, __VA_ARGS__) : 0
	P("window %lld, node 0 fails at %lld, restart at %lld, pick seed %llu, depths",
	  (long long)w->window, (long long)w->fails_at, (long long)w->restarts_at,
	  (unsigned long long)w->seed);
	for (uint32_t p = 0; p < w->parts; p++)
		P(" %u", w->depth[p]);
	P("\n");
	for (uint32_t i = 0; i < w->nodes; i++)
		P("node %u: %d CPUs by %u, %u kept a GPU, %lld MB, GPUs %d %d\n", i,
		  w->node[i].total.cpus, w->node[i].cpu_step, w->node[i].kept,
		  (long long)w->node[i].total.mem, w->node[i].total.gpus[0],
		  w->node[i].total.gpus[1]);
	for (uint32_t i = 0; i < w->jobs; i++) {
		const struct w_job *j = &w->job[i];
		const struct ccr_demand *d = &j->demand;

		P("job %u: arrives %lld prio %u part %u limit %lld runs %lld on %llx: nodes %u-%u "
		  "node %dc %lldM %ux%d %ux%d units %u of %dc %ux%d /cpu %lld total %ux%d%s, must "
		  "%llx\n",
		  i + 1, (long long)j->arrives, j->prio, j->partition, (long long)j->limit,
		  (long long)j->runs, (unsigned long long)j->candidates, d->min_nodes, d->max_nodes,
		  d->node.cpus, (long long)d->node.mem, d->node.gpu[0].count, d->node.gpu[0].type,
		  d->node.gpu[1].count, d->node.gpu[1].type, d->units, d->unit.cpus,
		  d->unit.gpu[0].count, d->unit.gpu[0].type, (long long)d->mem_per_cpu,
		  d->total[0].count, d->total[0].type, d->whole ? " whole" : "",
		  (unsigned long long)j->required);
	}
#undef P
}
