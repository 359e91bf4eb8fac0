/* Jobs that start at one time: against trying every second, and what becomes of them in a plan. */
#include <criterion/criterion.h>
#include "core/gate.h"
#include "core/together.h"
#include "gate_world.h"

#include <string.h>

#define HORIZON 200
#define PARTY	3

static struct ccr_plan *make(const struct ccr_node *node, uint32_t n, uint32_t depth)
{
	struct ccr_plan_options opt = ccr_plan_defaults();
	struct ccr_plan *p;

	opt.depth = depth;
	opt.window = HORIZON;
	cr_assert_eq(ccr_plan_new(&p, node, n, &opt, NULL), 0);
	ccr_plan_begin(p, 0, true);
	return p;
}

static struct ccr_plan_job job(uint32_t id, uint32_t prio, const struct ccr_demand *d,
			       int64_t limit)
{
	return (struct ccr_plan_job){
	    .id = id, .rank = {.prio = prio, .job = id}, .demand = d, .limit = limit};
}

/* Whether the job could start then on these nodes or some of them. */
static bool able(const struct ccr_timeline *tl, struct ccr_search *s, const struct ccr_plan_job *j,
		 uint64_t nodes, int64_t t)
{
	struct ccr_query q = {
	    .demand = j->demand, .limit = j->limit, .candidates = &nodes, .sure = true};
	struct ccr_slot slot;

	nodes &= *j->candidates;
	cr_assert_eq(ccr_search_earliest(s, tl, &q, t, t + 1, NULL, &slot), 0);
	return slot.n > 0;
}

/* Whether the nodes can be dealt to the jobs so that all start at t: every deal is tried. */
static bool by_trial(const struct ccr_timeline *tl, struct ccr_search *s,
		     const struct ccr_plan_job *j, uint32_t n, int64_t t)
{
	uint32_t sets = 1u << tl->n;
	bool can[PARTY][1 << W_NODES];

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t set = 0; set < sets; set++)
			can[i][set] = able(tl, s, &j[i], set, t);
		if (!can[i][sets - 1])
			return false;
	}
	for (uint32_t a = 0; a < sets; a++) {
		uint32_t rest = sets - 1 - a;

		if (!can[0][a])
			continue;
		if (n == 2 && can[1][rest])
			return true;
		for (uint32_t b = rest; n == 3 && b; b = (b - 1) & rest)
			if (can[1][b] && can[2][rest & ~b])
				return true;
	}
	return false;
}

Test(together, the_earliest_second_for_all, .timeout = 120)
{
	uint32_t booked = 0, later = 0;

	for (uint64_t i = 0; i < 2000; i++) {
		struct ccr_plan_job party[PARTY];
		uint64_t on[PARTY] = {0}, all = 0;
		const struct ccr_timeline *tl;
		struct ccr_search *s;
		struct ccr_plan *p;
		struct world w;
		uint64_t seed = i;
		uint32_t n;
		int64_t again, got;
		enum ccr_book book;

		world_random(&w, 91, i);
		p = make(w.node, w.nodes, 100);
		tl = ccr_plan_timeline(p);
		for (uint32_t k = 0; k < 6; k++) {
			struct ccr_amount a = {.cpus = (int32_t)(world_random_next(&seed) % 5)};

			a.gpus[0] = (int16_t)(world_random_next(&seed) % 3);
			ccr_plan_running(p, (uint32_t)(world_random_next(&seed) % w.nodes), &a,
					 (int64_t)(world_random_next(&seed) % 60), 60);
		}
		cr_assert_eq(ccr_plan_ready(p, NULL), 0);
		n = w.jobs < PARTY ? w.jobs : PARTY;
		for (uint32_t k = n; k < w.jobs && k < n + 3; k++) {
			struct ccr_plan_job above =
			    job(100 + k, 100, &w.job[k].demand, w.job[k].limit % 40 + 1);

			ccr_plan_book(p, &above, NULL, NULL);
		}
		for (uint32_t k = 0; k < n; k++) {
			party[k] = job(k + 1, 10, &w.job[k].demand, w.job[k].limit % 40 + 1);
			party[k].candidates = &w.job[k].candidates;
		}
		cr_assert_eq(ccr_search_new(&s, w.nodes, NULL), 0);
		book = ccr_plan_book_together(p, party, n, &got, NULL);
		cr_assert_eq(book == CCR_BOOKED, got < CCR_FOREVER);
		for (uint32_t k = 0; k < n; k++) {
			const struct ccr_booking *b = ccr_plan_booking(p, party[k].id);

			cr_assert_eq(b != NULL, book == CCR_BOOKED);
			cr_assert(!b || b->start == got, "world %llu", (unsigned long long)i);
			for (uint32_t h = 0; b && h < b->n; h++)
				on[k] |= UINT64_C(1) << b->share[h].node;
			cr_assert(!(all & on[k]), "world %llu", (unsigned long long)i);
			all |= on[k];
		}
		/* Asked again, nothing moves. */
		cr_assert_eq(ccr_plan_book_together(p, party, n, &again, NULL), book);
		cr_assert_eq(got, again);
		for (uint32_t k = 0; k < n; k++)
			ccr_plan_drop(p, party[k].id);
		for (uint32_t k = 0; book == CCR_BOOKED && k < n; k++)
			cr_assert(able(tl, s, &party[k], on[k], got), "world %llu: job %u",
				  (unsigned long long)i, k);
		booked += book == CCR_BOOKED;
		for (int64_t t = 0; t <= HORIZON && t < got; t++) {
			if (by_trial(tl, s, party, n, t)) {
				later++;
				break;
			}
		}
		ccr_search_free(s);
		ccr_plan_free(p);
	}
	/* Few ways to deal out the nodes are tried, and not at every time. */
	cr_assert_gt(booked, 180, "%u", booked);
	cr_assert_lt(later, booked / 15, "%u beside %u are later than need be", later, booked);
}

static const struct ccr_node two[2] = {{.total = {.cpus = 4}, .up = true},
				       {.total = {.cpus = 4}, .up = true}};
static const struct ccr_demand full = {.min_nodes = 1, .max_nodes = 1, .node = {.cpus = 4}};

/* Node 0 is busy until 50, node 1 until 20; a party of two nodes. */
static struct ccr_plan *busy(uint32_t depth, struct ccr_plan_job *party)
{
	struct ccr_plan *p = make(two, 2, depth);
	struct ccr_amount all = {.cpus = 4};

	ccr_plan_running(p, 0, &all, 50, 50);
	ccr_plan_running(p, 1, &all, 20, 20);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	party[0] = job(1, 10, &full, 30);
	party[1] = job(2, 10, &full, 30);
	return p;
}

Test(together, lower_jobs_keep_clear)
{
	struct ccr_plan_job party[2], low = job(9, 1, &full, 31), shorter = job(8, 1, &full, 30);
	struct ccr_plan *p = busy(10, party);
	const struct ccr_booking *b;
	int64_t start;

	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOKED);
	cr_assert_eq(start, 50);
	cr_assert_eq(ccr_plan_book(p, &low, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 80,
		     "it would last from 20 to 50 on node 1 if it were not a second "
		     "too long");
	cr_assert_eq(ccr_plan_book(p, &shorter, &b, NULL), CCR_BOOKED);
	cr_assert_eq(b->start, 20);
	ccr_plan_free(p);
}

Test(together, one_place_of_the_depth)
{
	struct ccr_plan_job party[2], other = job(9, 1, &full, 30), third = job(8, 0, &full, 30);
	struct ccr_plan *p = busy(2, party);
	int64_t start;

	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOKED);
	cr_assert_eq(ccr_plan_book(p, &other, NULL, NULL), CCR_BOOKED);
	cr_assert_eq(ccr_plan_book(p, &third, NULL, NULL), CCR_BOOK_DEPTH);
	cr_assert_not_null(ccr_plan_booking(p, 2));
	ccr_plan_free(p);
	p = busy(0, party);
	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOK_DEPTH);
	cr_assert_null(ccr_plan_booking(p, 1));
	ccr_plan_free(p);
	/* Beyond the depth they start when all can. */
	p = make(two, 2, 0);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOKED);
	cr_assert_eq(start, 0);
	ccr_plan_free(p);
}

Test(together, each_has_nodes_of_its_own)
{
	static const struct ccr_demand one = {.min_nodes = 1, .max_nodes = 1, .node = {.cpus = 1}};
	struct ccr_plan_job party[3] = {job(1, 10, &one, 30), job(2, 10, &one, 30),
					job(3, 10, &one, 30)};
	struct ccr_plan *p = make(two, 2, 10);
	int64_t start;

	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOKED);
	cr_assert_neq(ccr_plan_booking(p, 1)->share[0].node, ccr_plan_booking(p, 2)->share[0].node);
	cr_assert_eq(ccr_plan_book_together(p, party, 3, &start, NULL), CCR_BOOK_WINDOW);
	cr_assert_null(ccr_plan_nth(p, 0));
	ccr_plan_free(p);
}

/* Two GPUs of any type for the first, one of a type that few nodes have for the second. */
static const struct ccr_demand any_gpu = {.min_nodes = 2,
					  .max_nodes = 2,
					  .node = {.cpus = 1, .gpu = {{CCR_GPU_ANY, 1}}}},
			       rare_gpu = {.min_nodes = 1,
					   .max_nodes = 1,
					   .node = {.cpus = 1, .gpu = {{1, 1}}}};

/* m has the least left of GPUs: it is where placement would have any job. */
static void gpu_nodes(struct ccr_node *node, uint32_t n, uint32_t m)
{
	for (uint32_t i = 0; i < n; i++) {
		node[i] = (struct ccr_node){
		    .total = {.cpus = 8, .gpus = {4}}, .gpu_types = 1, .up = true};
		if (i == m) {
			node[i].gpu_types = 2;
			node[i].gpu_type[1] = 1;
			node[i].total.gpus[0] = node[i].total.gpus[1] = 1;
		}
	}
}

Test(together, nobody_takes_what_another_needs)
{
	struct ccr_plan_job party[2];
	struct ccr_node node[3];

	for (uint32_t first = 0; first < 2; first++) {
		for (uint32_t m = 0; m < 3; m++) {
			struct ccr_plan *p;
			int64_t start;

			gpu_nodes(node, 3, m);
			party[first] = job(first + 1, 10, &any_gpu, 30);
			party[!first] = job(2 - first, 10, &rare_gpu, 30);
			p = make(node, 3, 10);
			cr_assert_eq(ccr_plan_ready(p, NULL), 0);
			cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOKED);
			cr_assert_eq(start, 0);
			cr_assert_eq(ccr_plan_booking(p, 2 - first)->share[0].node, m);
			ccr_plan_free(p);
		}
	}
}

Test(together, who_loses_a_node_is_placed_anew_with_the_others)
{
	static const struct ccr_demand one = {.min_nodes = 1, .max_nodes = 1, .node = {.cpus = 1}};
	struct ccr_plan_job party[2] = {job(1, 10, &one, 30), job(2, 10, &one, 30)};
	struct ccr_node three[3] = {two[0], two[0], two[0]};
	struct ccr_plan *p = make(three, 3, 10);
	uint32_t at[2];
	int64_t start;

	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOKED);
	for (uint32_t i = 0; i < 2; i++)
		at[i] = ccr_plan_booking(p, i + 1)->share[0].node;
	ccr_plan_node_up(p, at[1], false);
	ccr_plan_begin(p, 1, true);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(ccr_plan_booking(p, i + 1)->start, 1);
		cr_assert_neq(ccr_plan_booking(p, i + 1)->share[0].node, at[1]);
	}
	cr_assert_neq(ccr_plan_booking(p, 1)->share[0].node, ccr_plan_booking(p, 2)->share[0].node);
	ccr_plan_free(p);
}

Test(together, the_rules_of_their_partitions)
{
	static const struct ccr_demand one = {.min_nodes = 1, .max_nodes = 1, .node = {.cpus = 1}},
				       gpu = {.min_nodes = 1,
					      .max_nodes = 1,
					      .node = {.gpu = {{CCR_GPU_ANY, 1}}}};
	struct ccr_plan_options opt = ccr_plan_defaults();
	struct ccr_plan_job party[2] = {job(1, 10, &one, 30), job(2, 10, &one, 30)},
			    top = job(9, 99, &full, 30), low = job(8, 1, &one, 30);
	struct ccr_node gpus[2] = {two[0], two[1]};
	struct ccr_amount some = {.cpus = 1};
	struct ccr_plan *p = make(two, 2, 10);
	int64_t start;

	/* Behind a blocked job of a strict partition no component starts, whatever the others may.
	 */
	party[1].partition = top.partition = low.partition = 1;
	cr_assert_eq(ccr_plan_partition(p, 1, 10, true, NULL), 0);
	ccr_plan_running(p, 0, &some, 40, 40);
	ccr_plan_running(p, 1, &some, 60, 60);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book(p, &top, NULL, NULL), CCR_BOOKED);
	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOKED);
	cr_assert_geq(start, 40);
	ccr_plan_free(p);
	/* A party that waits closes it itself. */
	p = busy(10, party);
	party[1].partition = 1;
	cr_assert_eq(ccr_plan_partition(p, 1, 10, true, NULL), 0);
	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOKED);
	cr_assert_eq(ccr_plan_pick(p, &low, false, &(struct ccr_slot){0}, NULL), CCR_WAIT_STRICT);
	ccr_plan_free(p);
	/* Long jobs have their share of the GPUs. */
	for (int i = 0; i < 2; i++) {
		gpus[i].gpu_types = 1;
		gpus[i].total.gpus[0] = 2;
		party[i] = job((uint32_t)i + 1, 10, &gpu, 100);
	}
	p = make(gpus, 2, 10);
	opt.long_limit = 50;
	opt.long_share = 0.25; /* one GPU of four, and the party takes two */
	cr_assert_eq(ccr_plan_set_options(p, &opt, NULL), 0);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOK_WINDOW);
	cr_assert_null(ccr_plan_booking(p, 1));
	ccr_plan_free(p);
}

Test(together, all_or_none)
{
	static const struct ccr_demand never = {.min_nodes = 3, .node = {.cpus = 1}};
	struct ccr_plan_job party[2];
	struct ccr_plan *p = busy(10, party);
	int64_t start;

	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOKED);
	ccr_plan_drop(p, 2);
	cr_assert_null(ccr_plan_booking(p, 1));
	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOKED);
	party[1].demand = &never;
	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOK_NEVER);
	cr_assert_null(ccr_plan_nth(p, 0));
	cr_assert_eq(start, CCR_FOREVER);
	ccr_plan_free(p);
}

Test(together, earlier_when_something_ends)
{
	struct ccr_plan_job party[2];
	struct ccr_plan *p = busy(10, party);
	struct ccr_amount all = {.cpus = 4};
	int64_t start;

	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOKED);
	ccr_plan_begin(p, 5, true);
	ccr_plan_running(p, 1, &all, 20, 20);
	cr_assert_eq(ccr_plan_ready(p, NULL), 0);
	cr_assert_eq(ccr_plan_book_together(p, party, 2, &start, NULL), CCR_BOOKED);
	cr_assert_eq(start, 20);
	cr_assert_eq(ccr_plan_booking(p, 2)->start, 20);
	cr_assert_eq(ccr_plan_booking(p, 2)->first_start, 50);
	ccr_plan_free(p);
}
