/*
 * mf - the factors of Slurm's multifactor priority, as arithmetic over plain numbers
 *
 * Sources: the "Multifactor Priority Plugin" guide and slurm.conf(5). Each factor is 0 to 1 unless
 * a NO_NORMAL flag asks for the raw number.
 */
#ifndef CCR_CORE_MF_H
#define CCR_CORE_MF_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Waiting over PriorityMaxAge, at most 1; 0 as long as the job does not accrue age (accrue 0). */
double ccr_mf_age(time_t now, time_t accrue, uint32_t max_age);

/* What the size of a job is measured against, the same for all jobs of a cycle. */
struct ccr_mf_size {
	uint32_t cluster_cpus;
	uint32_t nodes;
	bool favor_small; /* PriorityFavorSmall */
	bool relative;	  /* PriorityFlags=SMALL_RELATIVE_TO_TIME */
	bool
	    wide_counts_all; /* up to 22.05 a job of more nodes than there are counts as smallest */
};

#define CCR_MF_NO_CPUS 0 /* the job's number of CPUs is not known: only nodes count */

/*
 * Size factor of a job of that many nodes and CPUs. minutes is its time limit, used with
 * `relative` only. 0 for a cluster without nodes or CPUs.
 */
double ccr_mf_size(const struct ccr_mf_size *site, uint32_t nodes, uint32_t cpus, uint32_t minutes);

/* One TRES: the job's count over the partition's, or the count itself (NO_NORMAL_TRES). */
static inline double ccr_mf_tres(uint64_t count, uint64_t part_count, bool no_normal)
{
	if (no_normal)
		return (double)count;
	return count && part_count ? (double)count / (double)part_count : 0;
}

#endif
