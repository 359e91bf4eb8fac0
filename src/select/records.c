/* records - see records.h */
#include "select/records.h"

#include <stdlib.h>
#include <string.h>

#include "core/bits.h"

int16_t ccr_cluster_type(const struct ccr_cluster *c, uint32_t type_id)
{
	for (int16_t i = 0; i < c->types; i++)
		if (c->type_id[i] == type_id)
			return i;
	return -2;
}

static int16_t number_of(struct ccr_cluster *c, uint32_t type_id)
{
	int16_t t = ccr_cluster_type(c, type_id);

	if (t >= 0)
		return t;
	if (c->types >= CCR_TYPES_MAX)
		return -2;
	c->type_id[c->types] = type_id;
	return c->types++;
}

/* Asleep, or on the way there or back: slurmctld wakes it for a job and expects no answer before.
 */
static bool is_asleep(const node_record_t *node)
{
	return IS_NODE_POWERED_DOWN(node) || IS_NODE_POWERING_DOWN(node) ||
	       IS_NODE_POWERING_UP(node);
}

bool ccr_node_usable(const node_record_t *node)
{
	return node && !IS_NODE_DOWN(node) && !IS_NODE_DRAIN(node) && !IS_NODE_FAIL(node) &&
	       !IS_NODE_FUTURE(node) && (!IS_NODE_NO_RESPOND(node) || is_asleep(node));
}

/* One gres of a node; NULL without it. */
static gres_node_state_t *node_gres(const node_record_t *node, uint32_t plugin_id)
{
	ccr_slurm_list_itr_t *it;
	gres_state_t *g;

	if (!node->gres_list)
		return NULL;
	it = list_iterator_create(node->gres_list);
	while ((g = list_next(it)))
		if (g->plugin_id == plugin_id)
			break;
	list_iterator_destroy(it);
	return g ? g->gres_data : NULL;
}

void ccr_cluster_with_gres(const struct ccr_cluster *c, const job_record_t *job, uint64_t *set)
{
	ccr_slurm_list_itr_t *it;
	gres_state_t *g;

	if (!job->gres_list_req)
		return;
	it = list_iterator_create(job->gres_list_req);
	while ((g = list_next(it))) {
		const gres_job_state_t *asked = g->gres_data;
		uint64_t least = asked && asked->gres_per_node ? asked->gres_per_node : 1;

		if (g->plugin_id == c->gpu)
			continue;
		CCR_BITS_EACH(i, set, c->n)
		{
			const node_record_t *node = node_record_table_ptr[i];
			const gres_node_state_t *has = node ? node_gres(node, g->plugin_id) : NULL;

			if (!has || has->gres_cnt_avail < least)
				ccr_bit_clear(set, i);
		}
	}
	list_iterator_destroy(it);
}

static bool add_type(struct ccr_cluster *c, struct ccr_node *n, uint32_t type_id, uint64_t count)
{
	int16_t t = number_of(c, type_id);

	if (!count)
		return true;
	if (t < 0 || count > INT16_MAX)
		return false;
	for (int i = 0; i < n->gpu_types; i++) {
		if (n->gpu_type[i] == t) {
			n->total.gpus[i] = (int16_t)(n->total.gpus[i] + (int16_t)count);
			return true;
		}
	}
	if (n->gpu_types == CCR_GPU_SLOTS)
		return false;
	n->gpu_type[n->gpu_types] = t;
	n->total.gpus[n->gpu_types++] = (int16_t)count;
	return true;
}

/* Cores that no GPU keeps for its jobs (RestrictedCoresPerGPU); NULL: none is kept. */
static bitstr_t *open_cores(const node_record_t *r)
{
#if CCR_SLURM_KEPT_CORES
	return r->res_cores_per_gpu ? r->gpu_spec_bitmap : NULL;
#else
	(void)r;
	return NULL;
#endif
}

/* How many cores of [from, to) of a bitmap no GPU of the node keeps. */
static int32_t count_open(const node_record_t *r, bitstr_t *cores, uint32_t from, uint32_t to)
{
	bitstr_t *open = open_cores(r);
	int32_t n = 0;

	for (uint32_t i = from; i < to; i++)
		if (bit_test(cores, i) && i - from < (uint32_t)bit_size(open) &&
		    bit_test(open, i - from))
			n++;
	return n;
}

/* CPUs that are kept for each GPU, and how many of the node's are not. */
static void read_kept(struct ccr_node *n, const node_record_t *r)
{
#if CCR_SLURM_KEPT_CORES
	bitstr_t *open = open_cores(r);
	int32_t cores;

	if (!open)
		return;
	cores = r->node_spec_bitmap && bit_size(r->node_spec_bitmap) == bit_size(open)
		    ? bit_overlap(open, r->node_spec_bitmap)
		    : bit_set_count(open);
	n->kept = (uint16_t)(r->res_cores_per_gpu * n->cpu_step);
	n->total.open = cores * n->cpu_step;
	if (n->total.open > n->total.cpus)
		n->total.open = n->total.cpus;
#else
	(void)n;
	(void)r;
#endif
}

static bool read_node(struct ccr_cluster *c, struct ccr_node *n, const node_record_t *r)
{
	gres_node_state_t *g = node_gres(r, c->gpu);
	uint64_t typed = 0;

	n->up = ccr_node_usable(r);
	n->total.cpus = r->cpus_efctv;
	n->cpu_step = r->tpc ? r->tpc : 1;
	if (n->cpu_step > c->threads)
		c->threads = n->cpu_step;
	if (c->memory && r->real_memory > r->mem_spec_limit)
		n->total.mem = (int64_t)(r->real_memory - r->mem_spec_limit);
	n->weight = r->config_ptr ? r->config_ptr->weight : 0;
	read_kept(n, r);
	if (!g || g->no_consume)
		return true;
	for (int i = 0; i < g->type_cnt; i++) {
		if (!add_type(c, n, g->type_id[i], g->type_cnt_avail[i]))
			return false;
		typed += g->type_cnt_avail[i];
	}
	return typed >= g->gres_cnt_avail || add_type(c, n, 0, g->gres_cnt_avail - typed);
}

bool ccr_cluster_read(struct ccr_cluster *c)
{
	ccr_cluster_free(c);
	c->gpu = gres_build_id("gpu");
	c->shared[0] = gres_build_id("shard");
	c->shared[1] = gres_build_id("mps");
	c->memory = (slurm_conf.select_type_param & CCR_SLURM_MEMORY_BIT) != 0;
	c->threads = 1;
	c->n = node_record_count > 0 ? (uint32_t)node_record_count : 0;
	c->node = calloc(c->n ? c->n : 1, sizeof(*c->node));
	if (!c->node) {
		c->n = 0;
		return false;
	}
	(void)number_of(c, 0);
	for (uint32_t i = 0; i < c->n; i++)
		if (node_record_table_ptr[i] &&
		    !read_node(c, &c->node[i], node_record_table_ptr[i]))
			return false;
	return true;
}

void ccr_cluster_free(struct ccr_cluster *c)
{
	free(c->node);
	memset(c, 0, sizeof(*c));
}

/* GPUs of one job's request on a node, by the node's types: from the devices' bits if they have. */
static void add_gpus(const struct ccr_cluster *c, uint32_t node, const gres_node_state_t *ns,
		     bitstr_t *bits, uint64_t count, uint32_t type_id, struct ccr_amount *a)
{
	const struct ccr_node *n = &c->node[node];
	int16_t type = type_id ? ccr_cluster_type(c, type_id) : -2;
	int best = -1;

	if (bits && ns && ns->topo_cnt) {
		uint64_t found = 0;

		for (int t = 0; t < ns->topo_cnt; t++) {
			int16_t tt =
			    ccr_cluster_type(c, ns->topo_type_id ? ns->topo_type_id[t] : 0);
			int hit;

			if (!ns->topo_gres_bitmap || !ns->topo_gres_bitmap[t] ||
			    bit_size(ns->topo_gres_bitmap[t]) != bit_size(bits))
				continue;
			hit = bit_overlap(ns->topo_gres_bitmap[t], bits);
			for (int i = 0; hit && i < n->gpu_types; i++)
				if (n->gpu_type[i] == tt)
					a->gpus[i] = (int16_t)(a->gpus[i] + hit);
			found += (uint64_t)hit;
		}
		if (found >= count)
			return;
		count -= found;
	}
	/* No bits: its own type, or the node's most frequent one where nothing tells. */
	for (int i = 0; i < n->gpu_types; i++) {
		if (type >= 0 && n->gpu_type[i] == type) {
			best = i;
			break;
		}
		if (type < 0 && (best < 0 || n->total.gpus[i] - a->gpus[i] >
						 n->total.gpus[best] - a->gpus[best]))
			best = i;
	}
	if (best >= 0)
		a->gpus[best] = (int16_t)(a->gpus[best] + (int16_t)count);
}

static bool is_part_of_gpu(const struct ccr_cluster *c, const gres_state_t *g)
{
	return g->plugin_id == c->shared[0] || g->plugin_id == c->shared[1];
}

/*
 * Adds the GPUs of all requests of a list on one node: of a pick, which counts the cluster's nodes,
 * or of an allocation, which counts its own. A pick of parts of a GPU takes the GPU.
 */
static void list_gpus(const struct ccr_cluster *c, ccr_slurm_list_t *list, bool picked,
		      uint32_t node, uint32_t in_job, struct ccr_amount *a)
{
	gres_node_state_t *ns;
	ccr_slurm_list_itr_t *it;
	gres_state_t *g;

	if (!list || !c->node[node].gpu_types)
		return;
	ns = node_gres(node_record_table_ptr[node], c->gpu);
	it = list_iterator_create(list);
	while ((g = list_next(it))) {
		gres_job_state_t *js = g->gres_data;
		uint64_t count = 0;
		bitstr_t *bits = NULL;

		if (!js || (g->plugin_id != c->gpu && !(picked && is_part_of_gpu(c, g))))
			continue;
		if (picked && node < js->total_node_cnt) {
			bits = js->gres_bit_select ? js->gres_bit_select[node] : NULL;
			count = js->gres_cnt_node_select ? js->gres_cnt_node_select[node] : 0;
		} else if (!picked && in_job < js->node_cnt) {
			bits = js->gres_bit_alloc ? js->gres_bit_alloc[in_job] : NULL;
			count = js->gres_cnt_node_alloc ? js->gres_cnt_node_alloc[in_job] : 0;
		}
		if (bits && (!count || g->plugin_id != c->gpu))
			count = (uint64_t)bit_set_count(bits);
		else if (count && g->plugin_id != c->gpu)
			count = 1;
		if (count && count <= INT16_MAX)
			add_gpus(c, node, ns, bits, count, js->type_id, a);
	}
	list_iterator_destroy(it);
}

/* Where a device of the node stands in its amounts; 0 where nothing tells. */
static uint8_t slot_of(const struct ccr_cluster *c, uint32_t node, const gres_node_state_t *ns,
		       int64_t gpu)
{
	const struct ccr_node *n = &c->node[node];

	for (int t = 0; ns && ns->topo_gres_bitmap && t < ns->topo_cnt; t++) {
		bitstr_t *of = ns->topo_gres_bitmap[t];
		int16_t type = ccr_cluster_type(c, ns->topo_type_id ? ns->topo_type_id[t] : 0);

		if (!of || gpu >= bit_size(of) || !bit_test(of, gpu))
			continue;
		for (uint8_t i = 0; i < n->gpu_types; i++)
			if (n->gpu_type[i] == type)
				return i;
	}
	return 0;
}

static bool add_part(struct ccr_parts_of_gpus *to, const struct ccr_part_of_gpu *part)
{
	if (to->n == to->room) {
		size_t room = to->room ? 2 * to->room : 64;
		struct ccr_part_of_gpu *more = realloc(to->part, room * sizeof(*more));

		if (!more)
			return false;
		to->part = more;
		to->room = room;
	}
	to->part[to->n++] = *part;
	return true;
}

static bool add_parts(const struct ccr_cluster *c, const job_resources_t *r, bitstr_t **bits,
		      uint32_t nodes, struct ccr_part_of_gpu part, struct ccr_parts_of_gpus *to)
{
	uint32_t n = 0;

	for (int64_t i = bit_ffs(r->node_bitmap); i >= 0 && i < bit_size(r->node_bitmap); i++) {
		bitstr_t *b;

		if (!bit_test(r->node_bitmap, i))
			continue;
		if (n >= nodes || i >= c->n)
			break;
		b = bits[n++];
		if (!b || !node_record_table_ptr[i] || !c->node[i].gpu_types)
			continue;
		part.node = (uint32_t)i;
		for (part.gpu = 0; part.gpu < bit_size(b); part.gpu++) {
			if (!bit_test(b, part.gpu))
				continue;
			part.slot = slot_of(c, part.node,
					    node_gres(node_record_table_ptr[i], c->gpu), part.gpu);
			if (!add_part(to, &part))
				return false;
		}
	}
	return true;
}

bool ccr_job_parts_of_gpus(const struct ccr_cluster *c, const job_record_t *job, int64_t end,
			   int64_t limit, struct ccr_parts_of_gpus *to)
{
	const struct ccr_part_of_gpu part = {.end = end, .limit = limit};
	ccr_slurm_list_itr_t *it;
	gres_state_t *g;
	bool ok = true;

	if (!job->gres_list_alloc || !job->job_resrcs || !job->job_resrcs->node_bitmap)
		return true;
	it = list_iterator_create(job->gres_list_alloc);
	while (ok && (g = list_next(it))) {
		const gres_job_state_t *js = g->gres_data;

		if (js && js->gres_bit_alloc && is_part_of_gpu(c, g))
			ok = add_parts(c, job->job_resrcs, js->gres_bit_alloc, js->node_cnt, part,
				       to);
	}
	list_iterator_destroy(it);
	return ok;
}

static int by_gpu_last_first(const void *x, const void *y)
{
	const struct ccr_part_of_gpu *a = x, *b = y;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->gpu != b->gpu)
		return a->gpu < b->gpu ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

void ccr_parts_of_gpus_join(struct ccr_parts_of_gpus *parts)
{
	size_t n = 0;

	if (!parts->n)
		return;
	qsort(parts->part, parts->n, sizeof(*parts->part), by_gpu_last_first);
	for (size_t i = 0; i < parts->n; i++)
		if (!n || parts->part[i].node != parts->part[n - 1].node ||
		    parts->part[i].gpu != parts->part[n - 1].gpu)
			parts->part[n++] = parts->part[i];
	parts->n = n;
}

/* The partition gives out a CPU several times (OverSubscribe=YES:2 and the like). */
static bool gives_twice(const job_record_t *job)
{
	return job->part_ptr && (job->part_ptr->max_share & ~SHARED_FORCE) > 1;
}

int ccr_job_shares(const struct ccr_cluster *c, const job_record_t *job, bool picked,
		   struct ccr_share *out, uint32_t room)
{
	const job_resources_t *r = job->job_resrcs;
	uint32_t n = 0, core = 0, run = 0, left = 0;
	bool all_cpus = gives_twice(job);

	if (!r || !r->node_bitmap || !r->cpus)
		return 0;
	for (int64_t i = bit_ffs(r->node_bitmap); i >= 0 && i < bit_size(r->node_bitmap); i++) {
		struct ccr_share *s;
		uint32_t cores = 0, given = 0;

		if (!bit_test(r->node_bitmap, i))
			continue;
		if (n >= r->nhosts || n >= room || i >= c->n || !node_record_table_ptr[i])
			return -1;
		/* Cores of the job's nodes lie one behind the other in core_bitmap, run-length
		 * coded. */
		if (r->sock_core_rep_count && r->sockets_per_node && r->cores_per_socket) {
			if (!left)
				left = r->sock_core_rep_count[run];
			cores = (uint32_t)r->sockets_per_node[run] * r->cores_per_socket[run];
			if (left && !--left)
				run++;
		}
		if (r->core_bitmap && cores && core + cores <= (uint32_t)bit_size(r->core_bitmap))
			given = (uint32_t)bit_set_count_range(r->core_bitmap, (int)core,
							      (int)(core + cores));
		s = &out[n];
		memset(s, 0, sizeof(*s));
		if (given && c->node[i].kept)
			s->a.open = count_open(node_record_table_ptr[i], r->core_bitmap, core,
					       core + cores) *
				    c->node[i].cpu_step;
		core += cores;
		s->node = (uint32_t)i;
		s->a.cpus = (int32_t)(given * c->node[i].cpu_step);
		if (s->a.cpus < r->cpus[n])
			s->a.cpus = r->cpus[n];
		if (all_cpus || s->a.cpus > c->node[i].total.cpus)
			s->a.cpus = c->node[i].total.cpus;
		if (all_cpus)
			s->a.open = c->node[i].total.open;
		if (c->memory && r->memory_allocated)
			s->a.mem = (int64_t)r->memory_allocated[n];
		list_gpus(c, picked ? job->gres_list_req : job->gres_list_alloc, picked, s->node, n,
			  &s->a);
		n++;
	}
	return (int)n;
}

bool ccr_resv_partial(const slurmctld_resv_t *r)
{
	return r->core_bitmap && !(r->ctld_flags & RESV_CTLD_FULL_NODE);
}

void ccr_resv_amount(const struct ccr_cluster *c, const slurmctld_resv_t *r, uint32_t node,
		     struct ccr_amount *a)
{
	uint32_t from = cr_get_coremap_offset(node), to = cr_get_coremap_offset(node + 1);

	memset(a, 0, sizeof(*a));
	if (to > (uint32_t)bit_size(r->core_bitmap) || from > to) {
		*a = c->node[node].total;
		return;
	}
	a->cpus = bit_set_count_range(r->core_bitmap, (int)from, (int)to) * c->node[node].cpu_step;
	if (c->node[node].kept)
		a->open = count_open(node_record_table_ptr[node], r->core_bitmap, from, to) *
			  c->node[node].cpu_step;
#if CCR_SLURM_RESV_GRES
	list_gpus(c, r->gres_list_alloc, false, node, node, a);
#endif
}
