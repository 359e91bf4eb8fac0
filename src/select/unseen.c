/*
 * unseen - jobs that came since the main cycle last went through the queue; see gate_impl.h
 *
 * The main cycle goes down the queue in rank order, so whoever it lets start has all jobs above
 * booked or blocked before. sched/backfill's thread and a user's srun come in between: a job above
 * that was submitted a moment ago (or all of them, after a restart) has no booking yet, and has
 * closed no strict partition. They wait for the main cycle then, which is next in any case.
 */
#include "select/gate_impl.h"

#define G ccr__gate

/* The two partitions have a node in common. */
static bool share_nodes(const part_record_t *a, const part_record_t *b)
{
	if (a == b)
		return true;
	if (!a || !b || !a->node_bitmap || !b->node_bitmap ||
	    bit_size(a->node_bitmap) != bit_size(b->node_bitmap))
		return false;
	return bit_overlap_any(a->node_bitmap, b->node_bitmap);
}

static bool is_unseen(const job_record_t *job, time_t now)
{
	int64_t since;

	if (!IS_JOB_PENDING(job) || !job->priority || !job->details || job->het_job_id ||
	    !ccr__waits_for_resources(job))
		return false;
	since = ccr_job_since(job);
	return since >= G.seen_at && since <= now;
}

/* The highest of them in each partition; of the jobs in several, for which any may count, too. */
static void gather(void)
{
	ccr_slurm_list_itr_t *it;
	time_t now = time(NULL);
	const job_record_t *job;

	G.het_waits = false;
	for (uint32_t i = 0; i <= G.parts; i++)
		G.unseen[i].any = G.unseen[i].any_het = false;
	it = list_iterator_create(job_list);
	while ((job = list_next(it))) {
		struct ccr_rank rank;
		int part = ccr__gate_partition(job->part_ptr);
		struct ccr__unseen *u =
		    &G.unseen[job->part_ptr_list || part < 0 ? G.parts : (uint32_t)part];

		if (job->het_job_id && IS_JOB_PENDING(job) && job->priority && job->details) {
			rank = ccr_job_rank(job);
			if (!u->any_het || ccr_rank_cmp(&rank, &u->het) < 0)
				u->het = rank;
			u->any_het = G.het_waits = true;
		}
		if (!is_unseen(job, now))
			continue;
		rank = ccr_job_rank(job);
		if (!u->any || ccr_rank_cmp(&rank, &u->rank) < 0)
			u->rank = rank;
		u->any = true;
	}
	list_iterator_destroy(it);
}

void ccr__look_for_hets(void)
{
	if (G.het_waits)
		gather();
}

bool ccr__unseen_above(const job_record_t *job)
{
	struct ccr_rank rank = ccr_job_rank(job);
	time_t now = time(NULL);
	int jobs = list_count(job_list);
	uint32_t cycles = slurmctld_diag_stats.schedule_cycle_counter;

	/*
	 * A main cycle may ask about no job at all: one behind a hetjob goes no further. It has
	 * come and gone when its counter moved, and began after our last look, as none of them runs
	 * beside us.
	 */
	if (cycles != G.looked_cycles && G.looked_at > G.seen_at)
		G.seen_at = G.looked_at;
	G.looked_cycles = cycles;
	G.looked_at = now;
	/* A long queue is asked about job by job: gathered once a second or when one came. */
	if (G.unseen_at != now || G.unseen_jobs != jobs || G.unseen_since != G.seen_at) {
		gather();
		G.unseen_at = now;
		G.unseen_jobs = jobs;
		G.unseen_since = G.seen_at;
	}
	for (uint32_t i = 0; i <= G.parts; i++)
		if (G.unseen[i].any && G.unseen[i].rank.job != job->job_id &&
		    ccr_rank_cmp(&G.unseen[i].rank, &rank) < 0 &&
		    (i == G.parts || share_nodes(G.part[i], job->part_ptr)))
			return true;
	return false;
}

bool ccr__behind_het(const job_record_t *job)
{
	struct ccr_rank rank = ccr_job_rank(job);

	for (uint32_t i = 0; i <= G.parts; i++)
		if (G.unseen[i].any_het && ccr_rank_cmp(&G.unseen[i].het, &rank) < 0 &&
		    (i == G.parts || share_nodes(G.part[i], job->part_ptr)))
			return true;
	return false;
}

/*
 * Neither of slurmctld's schedulers comes again of itself where nothing has happened since (and its
 * main cycle turns back at a hetjob): without this, who was sent away to wait for them would wait
 * until the next event.
 */
void ccr__unseen_ask_again(void)
{
	static time_t asked;
	time_t now = time(NULL);

	if (asked == now)
		return;
	asked = now;
	ccr__main_asked();
	last_job_update = now; /* sched/backfill's sign that there is more to do */
	queue_job_scheduler();
}
