#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ledger.h"
#include "core/lsf.h"
#include "oom.h"

static const struct ccr_lsf_params defaults = {3.0, 0.7, 0.7, 3.0};

/*
 * The table of `bqueues -l p4-long` in the document: STARTED, CPU_TIME and RUN_TIME in seconds, and
 * the PRIORITY that it prints. HIST_HOURS there is 10; it does not enter here, as the times are
 * decayed already.
 */
static const struct {
	uint32_t started;
	double cpu_time_s, run_time_s;
	const char *priority;
} table[] = {
    {0, 0, 0, "0.333"},
    {0, 0, 0, "0.333"},
    {0, 0, 0, "0.333"},
    {0, 29.4, 0, "0.333"},
    {0, 821.9, 0, "0.316"},
    {0, 18781.0, 0, "0.150"},
    {1, 2288.2, 2696, "0.143"},
    {0, 67178.7, 0, "0.062"},
    {3, 34856.3, 65633, "0.032"},
    {0, 158440.7, 0, "0.030"},
    {4, 73265.0, 33534, "0.028"},
    {1, 100969.1, 70430, "0.025"},
    {2, 52842.4, 103421, "0.025"},
    {0, 305000.0, 0, "0.016"},
    {3, 91714.2, 211038, "0.014"},
};
#define ROWS (sizeof(table) / sizeof(table[0]))

/* Each column weighed by its own factor, or both as run time: the same, as the factors are equal.
 */
Test(lsf, the_documents_table)
{
	struct ccr_lsf_params p = defaults;
	char text[20];

	cr_assert_eq(ROWS, 15u);
	for (size_t i = 0; i < ROWS; i++) {
		struct ccr_lsf_standing apart = {1, table[i].cpu_time_s, table[i].run_time_s,
						 table[i].started};
		struct ccr_lsf_standing summed = {1, 0, table[i].cpu_time_s + table[i].run_time_s,
						  table[i].started};
		snprintf(text, sizeof(text), "%.3f", ccr_lsf_priority(&p, &apart, 0));
		cr_expect_str_eq(text, table[i].priority, "row %zu: %s", i + 1, text);
		snprintf(text, sizeof(text), "%.3f", ccr_lsf_priority(&p, &summed, 0));
		cr_expect_str_eq(text, table[i].priority, "row %zu summed: %s", i + 1, text);
	}
}

/* With either column alone rows of the table do not come out: both are counted. */
Test(lsf, neither_column_alone_gives_the_table)
{
	struct ccr_lsf_params p = defaults;
	int wrong[2] = {0, 0};
	char text[20];

	for (size_t i = 0; i < ROWS; i++) {
		struct ccr_lsf_standing only[2] = {{1, table[i].cpu_time_s, 0, table[i].started},
						   {1, 0, table[i].run_time_s, table[i].started}};
		for (int k = 0; k < 2; k++) {
			snprintf(text, sizeof(text), "%.3f", ccr_lsf_priority(&p, &only[k], 0));
			wrong[k] += strcmp(text, table[i].priority) != 0;
		}
	}
	cr_assert_geq(wrong[0], 6);
	cr_assert_geq(wrong[1], 10);
}

Test(lsf, the_documents_formula)
{
	struct ccr_lsf_params p = defaults;
	struct ccr_lsf_standing s = {1, 0, 2.5 * 3600, 4};

	cr_assert_float_eq(1 / ccr_lsf_priority(&p, &s, 0), 3.0 + 0.7 * 2.5 + 3.0 * 4, 1e-12);
	cr_assert_float_eq(1 / ccr_lsf_priority(&p, &s, 3), 3.0 + 0.7 * 2.5 + 3.0 * 7, 1e-12);
	s.shares = 5;
	cr_assert_float_eq(ccr_lsf_priority(&p, &s, 0), 5 / (3.0 + 0.7 * 2.5 + 3.0 * 4), 1e-12);
}

Test(lsf, the_sites_own_constants)
{
	struct ccr_lsf_params p = {.constant = 1, .run_time_factor = 2, .run_job_factor = 0.5};
	struct ccr_lsf_standing s = {3, 9e9, 7200, 1};

	cr_assert_eq(ccr_lsf_priority(&p, &s, 0), 3 / (1 + 2 * 2 + 0.5));
	p.cpu_time_factor = 1;
	s.cpu_time_s = 3600;
	cr_assert_eq(ccr_lsf_priority(&p, &s, 2), 3 / (1 + 1 + 2 * 2 + 0.5 * 3));
}

/* What the ledger measures in the LSF model is the RUN_TIME that the formula takes. */
Test(lsf, from_the_ledger)
{
	struct ccr_lsf_params p = defaults;
	struct ccr_usage_key k = {"a", "user9", "p4-long", ""};
	char text[20];

	struct ccr_usage_model m = {.kind = CCR_USAGE_LSF, .hist_hours = 10};
	struct ccr_ledger *l = ccr_ledger_new(&m, 1000000, NULL);
	/* 10 hours ago, 10 x 100489.3 s: the sum of the 9th row. */
	cr_assert_eq(ccr_ledger_charge(l, &k, 1000000 - 1, 1000000, 0, 1004893, NULL), CCR_OK);
	ccr_ledger_advance(l, 1000000 + 36000, NULL);
	ccr_ledger_roll_up(l);
	struct ccr_lsf_standing s = {
	    1, 0, ccr_ledger_by(l, CCR_BY_USER_PARTITION, "user9", "p4-long").s[CCR_SLOT], 3};
	cr_assert_float_eq(s.run_time_s, 100489.3, 5);
	snprintf(text, sizeof(text), "%.3f", ccr_lsf_priority(&p, &s, 0));
	cr_assert_str_eq(text, "0.032");
	ccr_ledger_free(l);
}

Test(lsf, always_a_number)
{
	struct ccr_lsf_params zero = {0}, p = defaults;
	struct ccr_lsf_standing s = {2, 0, 0, 0}, odd = {NAN, NAN, -1, UINT32_MAX};

	cr_assert_eq(ccr_lsf_priority(&zero, &s, 0), 2 / CCR_LSF_DIVISOR_MIN);
	cr_assert_eq(ccr_lsf_priority(&p, &odd, UINT32_MAX), 0.0);
	odd.shares = 1;
	odd.run_time_s = INFINITY;
	cr_assert(isfinite(ccr_lsf_priority(&p, &odd, UINT32_MAX)));
	cr_assert_gt(ccr_lsf_priority(&p, &odd, UINT32_MAX), 0.0);
}

Test(lsf, the_kth_job_as_if_those_before_it_ran)
{
	struct ccr_lsf_params p = defaults;
	struct ccr_lsf_standing ann = {1, 0, 0, 0}, bob = {1, 0, 3600 * 5, 0};
	struct ccr_lsf_job jobs[] = {
	    {&ann, 300, 3}, {&bob, 50, 9}, {&ann, 100, 7}, {&ann, 300, 2}, {&bob, 40, 8}};

	cr_assert_eq(ccr_lsf_rank(&p, jobs, 5, NULL), CCR_OK);
	cr_assert_eq(jobs[2].ahead, 0u);
	cr_assert_eq(jobs[3].ahead, 1u, "as long as job 3, but the lower number");
	cr_assert_eq(jobs[0].ahead, 2u);
	cr_assert_eq(jobs[4].ahead, 0u);
	cr_assert_eq(jobs[1].ahead, 1u);
	for (int i = 0; i < 5; i++)
		cr_assert_eq(jobs[i].priority,
			     ccr_lsf_priority(&p, jobs[i].standing, jobs[i].ahead));
	/* ann 1/3, ann 1/6, bob 1/6.5, ann 1/9, bob 1/9.5 */
	cr_assert(jobs[2].priority > jobs[3].priority && jobs[3].priority > jobs[4].priority);
	cr_assert(jobs[4].priority > jobs[0].priority && jobs[0].priority > jobs[1].priority);
}

Test(lsf, partitions_do_not_know_of_each_other)
{
	struct ccr_lsf_params p = defaults;
	struct ccr_lsf_standing gpu = {1, 0, 0, 2}, cpu = {1, 0, 0, 0};
	struct ccr_lsf_job jobs[] = {{&gpu, 1, 1}, {&cpu, 1, 1}, {&cpu, 2, 2}};

	cr_assert_eq(ccr_lsf_rank(&p, jobs, 3, NULL), CCR_OK);
	cr_assert_eq(jobs[0].priority, 1 / 9.0);
	cr_assert_eq(jobs[1].priority, 1 / 3.0);
	cr_assert_eq(jobs[2].priority, 1 / 6.0);
	cr_assert_eq(ccr_lsf_rank(&p, NULL, 0, NULL), CCR_OK);
}

static unsigned seed = 12345;

static unsigned next_random(void)
{
	seed = seed * 1103515245u + 12345u;
	return seed >> 16;
}

static int by_priority(const void *a, const void *b)
{
	const struct ccr_lsf_job *x = a, *y = b;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	if (x->since != y->since)
		return x->since < y->since ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

/* LSF by the letter: after each start, the user of the highest priority, then its longest waiting
 * job. */
Test(lsf, slots_go_out_as_one_by_one)
{
	enum { USERS = 7, JOBS = 60 };
	struct ccr_lsf_params p = defaults;

	for (int round = 0; round < 50; round++) {
		struct ccr_lsf_standing users[USERS], now[USERS];
		struct ccr_lsf_job jobs[JOBS], left[JOBS];
		p.run_job_factor = round % 5 ? 3 : 0.25 * (round % 3);
		for (int u = 0; u < USERS; u++)
			users[u] = now[u] = (struct ccr_lsf_standing){
			    1 + next_random() % 3, 0, next_random() % 400000 + 1e-3 * u,
			    next_random() % 5};
		for (int j = 0; j < JOBS; j++)
			jobs[j] = left[j] = (struct ccr_lsf_job){&users[next_random() % USERS],
								 next_random() % 1000, (uint32_t)j};
		cr_assert_eq(ccr_lsf_rank(&p, jobs, JOBS, NULL), CCR_OK);
		qsort(jobs, JOBS, sizeof(jobs[0]), by_priority);
		for (int j = 0; j < JOBS; j++) {
			int best = -1;
			for (int c = 0; c < JOBS; c++) {
				if (!left[c].standing)
					continue;
				left[c].priority =
				    ccr_lsf_priority(&p, &now[left[c].standing - users], 0);
				if (best < 0 || by_priority(&left[c], &left[best]) < 0)
					best = c;
			}
			cr_assert_eq(jobs[j].id, left[best].id, "round %d, start %d", round, j);
			now[left[best].standing - users].started++;
			left[best].standing = NULL;
		}
	}
}

Test(lsf, many_jobs_of_one_user)
{
	enum { N = 200000 };
	struct ccr_lsf_params p = defaults;
	struct ccr_lsf_standing ann = {1, 0, 0, 0};
	struct ccr_lsf_job *jobs = calloc(N, sizeof(*jobs));

	for (uint32_t i = 0; i < N; i++)
		jobs[i] = (struct ccr_lsf_job){&ann, (int64_t)(i * 7919u % N), i};
	cr_assert_eq(ccr_lsf_rank(&p, jobs, N, NULL), CCR_OK);
	for (uint32_t i = 0; i < N; i++)
		cr_assert_eq(jobs[i].ahead, i * 7919u % N);
	free(jobs);
}

/* An array's tasks go in their order, its rest after them, and the next job after that. */
Test(lsf, the_tasks_of_an_array_are_in_line)
{
	struct ccr_lsf_params p = defaults;
	struct ccr_lsf_standing ann = {1, 0, 0, 0};
	struct ccr_lsf_job jobs[] = {
	    {.standing = &ann, .since = 9, .id = 8},
	    {.standing = &ann, .since = 9, .id = 7, .task = UINT32_MAX, .handle = 7},
	    {.standing = &ann, .since = 9, .id = 7, .task = 1, .handle = 20},
	    {.standing = &ann, .since = 9, .id = 7, .task = 0, .handle = 21}};

	cr_assert_eq(ccr_lsf_rank(&p, jobs, 4, NULL), CCR_OK);
	cr_expect_eq(jobs[3].ahead, 0u);
	cr_expect_eq(jobs[2].ahead, 1u);
	cr_expect_eq(jobs[1].ahead, 2u);
	cr_expect_eq(jobs[0].ahead, 3u);
	cr_expect_eq(jobs[2].handle, 20u);
}

Test(lsf, out_of_memory_sets_nothing)
{
	struct ccr_lsf_params p = defaults;
	struct ccr_lsf_standing ann = {1, 0, 0, 0};
	struct ccr_lsf_job job = {
	    .standing = &ann, .since = 1, .id = 1, .ahead = 77, .priority = 88};
	struct ccr_error e = {0};

	oom_fail_at(1);
	cr_assert_eq(ccr_lsf_rank(&p, &job, 1, &e), CCR_ENOMEM);
	cr_assert(oom_end());
	cr_assert_eq(e.code, CCR_ENOMEM);
	cr_assert_eq(job.ahead, 77u);
	cr_assert_eq(job.priority, 88.0);
}
