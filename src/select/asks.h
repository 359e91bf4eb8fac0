/*
 * asks - what a pending job asks for, as the core's demands
 *
 * Two of them. The floor is what the job needs at the very least: where that is not free, the
 * stock plugin need not be asked. The need is what it is planned with: at least what the stock
 * plugin would give it, whole nodes where counts do not tell (exclusive, contiguous, switches,
 * enforced binding, sockets, other gres, licences, features with counts).
 */
#ifndef CCR_SELECT_ASKS_H
#define CCR_SELECT_ASKS_H

#include "select/records.h"

struct ccr_ask {
	struct ccr_demand floor, need;
	int64_t limit; /* s */
	bool exact;    /* the floor says all that there is to say */
	bool mixed;    /* so many nodes of one feature, so many of another */
	bool same;     /* at least to tell that two requests of a partition are equal */
};

/* min_nodes and max_nodes as job_test got them. Job R. */
void ccr_ask_read(const struct ccr_cluster *c, const job_record_t *job, uint32_t min_nodes,
		  uint32_t max_nodes, struct ccr_ask *ask);

/* The job's time limit in seconds: its own, else its partition's default, else its maximum (R27).
 */
int64_t ccr_job_limit(const job_record_t *job);

/* The site has the job's nodes chosen by their load: SelectTypeParameters=CR_LLN or LLN=YES. */
bool ccr_job_by_load(const job_record_t *job);

/* When a running or completing job is expected to end. */
int64_t ccr_job_end(const job_record_t *job, int64_t now);

/* Its place in the queue. */
struct ccr_rank ccr_job_rank(const job_record_t *job);

/*
 * What tells the job's request from what somebody makes of it later, and from another's: those of
 * one user in one partition who ask for the same have the same.
 */
uint64_t ccr_job_asked(const job_record_t *job);

/* An operator gave it its priority, or a nice value that raises it (scontrol top does, too). */
bool ccr_job_raised(const job_record_t *job);

/* When it came to compete. */
int64_t ccr_job_since(const job_record_t *job);

#endif
