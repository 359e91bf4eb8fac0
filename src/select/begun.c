/* begun - a job has started; see gate.h */
#include "select/gate_impl.h"

#define G ccr__gate

/* Whether a job of its partition that ranks above is waiting for its booking. */
static bool is_filler(void)
{
	const struct ccr_booking *b;

	for (uint32_t i = 0; (b = ccr_plan_nth(G.plan, i)); i++)
		if (b->partition == G.passed_partition && b->job != G.passed_id &&
		    ccr_rank_cmp(&b->rank, &G.passed_rank) < 0)
			return true;
	return false;
}

void ccr_gate_begun(const job_record_t *job, bool ok)
{
	static const struct ccr_demand none;
	struct ccr_plan_job pj;

	pthread_mutex_lock(&G.lock);
	if (G.on && !G.aside && G.plan && ok && ccr_caller() == CCR_MAIN_CYCLE)
		ccr__show_masked();
	if (!G.on || G.aside || !G.plan || G.passed != job || !ok || G.stale) {
		G.stale = true;
		G.passed = NULL;
		pthread_mutex_unlock(&G.lock);
		return;
	}
	pj = (struct ccr_plan_job){.id = G.passed_id,
				   .rank = G.passed_rank,
				   .partition = G.passed_partition,
				   .limit = G.passed_limit,
				   .since = G.passed_since,
				   .demand = &none};
	if (is_filler() && ccr_caller() == CCR_MAIN_CYCLE) {
		slurmctld_diag_stats.backfilled_jobs++;
		/* sdiag's "since last stats cycle start" counts on, as sched/backfill's does. */
		slurmctld_diag_stats.last_backfilled_jobs++;
		G.filled++;
	}
	if (ccr_plan_start(G.plan, &pj, G.pick, G.passed_n, NULL))
		ccr__gate_aside("out of memory");
	G.passed = NULL;
	pthread_mutex_unlock(&G.lock);
}
