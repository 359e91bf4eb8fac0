/*
 * ledger - what usage costs a cycle: decay, charges, roll-up, look-ups, and saving and restoring
 *
 * usage: bench_ledger [ENTRIES [JOBS [CYCLES]]]   (100000 15000 20)
 *
 * ENTRIES of one user each in one account, partition and QOS: an account for every 20 users, 8
 * partitions, 4 QOS. A cycle is what the daemon does every period, with JOBS that run: see
 * core/ledger.h. The ledger is saved to and restored from a file in the present folder, which is
 * removed. Once for each decay model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/ledger_state.h"
#include "core/lsf.h"

#define START	   1764485520
#define PERIOD	   300
#define PARTITIONS 8
#define QOS	   4

/* Processor time: the same on a busy machine, and without the disk's. */
static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void die(const char *what, const struct ccr_error *e)
{
	fprintf(stderr, "bench_ledger: %s: %s\n", what, e->text);
	exit(1);
}

/* The names of entry i. */
struct names {
	char account[20], user[20], partition[20], qos[20];
};

static struct ccr_usage_key key_of(unsigned i, struct names *n)
{
	unsigned user = i / 2;

	snprintf(n->account, sizeof(n->account), "account%u", user / 20);
	snprintf(n->user, sizeof(n->user), "user%u", user);
	snprintf(n->partition, sizeof(n->partition), "part%u", (user + i % 2) % PARTITIONS);
	snprintf(n->qos, sizeof(n->qos), "qos%u", user % QOS);
	return (struct ccr_usage_key){n->account, n->user, n->partition, n->qos};
}

static void charge_all(struct ccr_ledger *l, unsigned entries, unsigned jobs, int64_t from,
		       int64_t to)
{
	struct ccr_error e;
	struct names n;

	for (unsigned j = 0; j < jobs; j++) {
		struct ccr_usage_key k = key_of((unsigned)(j * 7919ull % entries), &n);

		if (ccr_ledger_charge(l, &k, from, to, 1 + j % 64, 1 + j % 32, &e))
			die("charge", &e);
	}
}

static void run(const struct ccr_usage_model *model, unsigned entries, unsigned jobs,
		unsigned cycles)
{
	static const char path[] = "bench_ledger.json";
	double fill, t, decay = 0, charge = 0, roll_up = 0, find = 0, save, restore, sum = 0;
	struct ccr_ledger_notes notes;
	struct ccr_ledger *l;
	struct ccr_error e;
	struct names n;
	struct stat st;
	int64_t at = START;

	l = ccr_ledger_new(model, at, &e);
	if (!l)
		die("new", &e);
	t = now_ms();
	charge_all(l, entries, entries, at - PERIOD, at);
	fill = now_ms() - t;
	for (unsigned c = 0; c < cycles; c++) {
		at += PERIOD;
		t = now_ms();
		if (ccr_ledger_advance(l, at, &e))
			die("advance", &e);
		decay += now_ms() - t;
		t = now_ms();
		charge_all(l, entries, jobs, at - PERIOD, at);
		charge += now_ms() - t;
		t = now_ms();
		ccr_ledger_roll_up(l);
		roll_up += now_ms() - t;
		t = now_ms();
		for (unsigned j = 0; j < jobs; j++) {
			struct ccr_usage_key k = key_of((unsigned)(j * 7919ull % entries), &n);

			sum += ccr_ledger_percent(l, CCR_BY_ACCOUNT, k.account, NULL, CCR_BILLED);
			sum += ccr_ledger_by(l, CCR_BY_USER_PARTITION, k.user, k.partition)
				   .s[CCR_SLOT];
		}
		find += now_ms() - t;
	}
	if (!(sum > 0))
		fprintf(stderr, "bench_ledger: no usage was found\n");
	t = now_ms();
	if (ccr_ledger_save(l, path, 0600, &e))
		die("save", &e);
	save = now_ms() - t;
	stat(path, &st);
	ccr_ledger_free(l);
	t = now_ms();
	if (ccr_ledger_restore(path, model, at, &l, &notes, &e))
		die("restore", &e);
	restore = now_ms() - t;
	if (ccr_ledger_count(l) != entries)
		fprintf(stderr, "bench_ledger: %zu entries were restored\n", ccr_ledger_count(l));
	ccr_ledger_free(l);
	unlink(path);
	printf("%-9s %8.1f %8.2f %8.2f %8.2f %8.2f %8.0f %8.0f %8.1f\n",
	       ccr_usage_kind_name(model->kind), fill, decay / cycles, charge / cycles,
	       roll_up / cycles, find / cycles, save, restore, (double)st.st_size / 1e6);
}

static void rank(unsigned jobs)
{
	struct ccr_lsf_params p = {3.0, 0.7, 0.7, 3.0};
	struct ccr_lsf_standing *users = calloc(1000, sizeof(*users));
	struct ccr_lsf_job *all = calloc(jobs, sizeof(*all));
	struct ccr_error e;
	double t;

	if (!users || !all)
		exit(1);
	for (unsigned u = 0; u < 1000; u++)
		users[u] = (struct ccr_lsf_standing){1, 0, u * 977.0, u % 7};
	for (unsigned j = 0; j < jobs; j++)
		all[j] = (struct ccr_lsf_job){&users[j * 7919ull % 1000],
					      START - j * 104729ull % 100000, j};
	t = now_ms();
	if (ccr_lsf_rank(&p, all, jobs, &e))
		die("rank", &e);
	printf("\nLSF's ranks of %u pending jobs of 1000 users: %.2f ms\n", jobs, now_ms() - t);
	free(users);
	free(all);
}

int main(int argc, char **argv)
{
	unsigned entries = argc > 1 ? (unsigned)atoi(argv[1]) : 100000;
	unsigned jobs = argc > 2 ? (unsigned)atoi(argv[2]) : 15000;
	unsigned cycles = argc > 3 ? (unsigned)atoi(argv[3]) : 20;
	struct rusage u;

	if (!entries || !cycles) {
		fprintf(stderr, "usage: bench_ledger [ENTRIES [JOBS [CYCLES]]]\n");
		return 2;
	}
	printf("%u entries, %u running jobs, %u cycles; ms of the processor, decay to find for "
	       "each cycle\n\n",
	       entries, jobs, cycles);
	printf("%-9s %8s %8s %8s %8s %8s %8s %8s %8s\n", "model", "fill", "decay", "charge",
	       "roll-up", "find", "save", "restore", "MB");
	for (int kind = 0; kind < 3; kind++) {
		struct ccr_usage_model m = ccr_usage_model_default((enum ccr_usage_kind)kind);

		m.decay = 0.8;
		run(&m, entries, jobs, cycles);
	}
	rank(jobs);
	getrusage(RUSAGE_SELF, &u);
	printf("largest memory: %ld MB\n", u.ru_maxrss / 1024);
	return 0;
}
