/* planned - jobs as the plan wants them; see gate_impl.h */
#include "select/gate_impl.h"

#define G ccr__gate

const uint64_t *ccr__required(const job_record_t *job)
{
	bitstr_t *req = job->details->req_node_bitmap;

	if (!req || bit_size(req) != G.cluster.n || bit_ffs(req) < 0)
		return NULL;
	ccr_set_from_bits(G.required, req, G.cluster.n);
	return G.required;
}

/*
 * Since when it competes. Whom somebody raises by hand has his way against whoever was booked
 * before, as if he had just come: that is what raising is for.
 */
static int64_t since(const job_record_t *job, const struct ccr_rank *rank)
{
	const struct ccr_booking *own, *b;
	bool passes = false;

	if (!ccr_job_raised(job))
		return ccr_job_since(job);
	own = ccr_plan_booking(G.plan, job->job_id);
	for (uint32_t i = 0; own && !own->claim && (b = ccr_plan_nth(G.plan, i)); i++)
		passes = passes || (ccr_rank_cmp(&b->rank, &own->rank) < 0 &&
				    ccr_rank_cmp(rank, &b->rank) < 0);
	if (passes)
		ccr_plan_drop(G.plan, job->job_id);
	/* later than what was booked in this second, too: this is looked at once */
	return ccr_plan_timeline(G.plan)->now + 1;
}

/* Both QOS may preempt jobs of a third. */
static bool preempt_alike(const job_record_t *a, const job_record_t *b)
{
	bitstr_t *x = a->qos_ptr ? a->qos_ptr->preempt_bitstr : NULL;
	bitstr_t *y = b->qos_ptr ? b->qos_ptr->preempt_bitstr : NULL;

	return x && y && bit_size(x) == bit_size(y) && bit_overlap_any(x, y);
}

bool ccr__behind_preemptor(const job_record_t *job)
{
	struct ccr_rank rank = ccr_job_rank(job);
	const struct ccr_booking *b;
	const job_record_t *other;

	for (uint32_t i = 0; (b = ccr_plan_nth(G.plan, i)); i++) {
		if (b->rank.preemptor || ccr_rank_cmp(&b->rank, &rank) >= 0)
			continue;
		other = find_job_record(b->job);
		if (other && other != job && preempt_alike(job, other))
			return true;
	}
	return false;
}

struct ccr_plan_job ccr__plan_job(const job_record_t *job, uint16_t partition,
				  const struct ccr_ask *ask)
{
	struct ccr_rank rank = ccr_job_rank(job);

	rank.preemptor = G.preemptor;
	return (struct ccr_plan_job){
	    .id = job->job_id,
	    .rank = rank,
	    .partition = partition,
	    .since = since(job, &rank),
	    .limit = ask->limit,
	    .demand = &ask->floor,
	    .candidates = G.candidates,
	    .required = ccr__required(job),
	};
}

void ccr__less_late(struct ccr_plan_job *pj)
{
	int64_t late = ccr_plan_late(G.plan, pj->id);

	if (pj->limit < CCR_FOREVER)
		pj->limit = pj->limit > late ? pj->limit - late : 1;
}
