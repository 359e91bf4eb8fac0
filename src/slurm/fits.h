/*
 * fits - does the running slurmctld have the records that our headers describe?
 *
 * Slurm's loader compares version numbers only. Layouts differ between micro releases, in patched
 * builds and where a header set was mislabelled, and a plugin then reads garbage without a sound.
 * So the first record of each kind is held against the headers before it is trusted: the size that
 * slurmctld's own allocator recorded for it, its magic number, and what must hold between it and
 * slurmctld's tables. Nothing that turns out wrong is followed: memory is probed by the kernel
 * first, and the answer is a message and false, never a crash.
 *
 * All functions are cheap once the first record of the kind has been seen, and may be called from
 * several threads.
 */
#ifndef CCR_SLURM_FITS_H
#define CCR_SLURM_FITS_H

#include <stdatomic.h>

#include "slurm/compat.h"

struct ccr_slurm_fits {
	const char *who;  /* the plugin, for the log */
	const char *then; /* what it does if the records do not fit, for the log */
	atomic_uint seen; /* kinds that were checked and fit */
	atomic_bool unfit;
};

#define CCR_SLURM_FITS_INIT(plugin, consequence)                                                   \
	{                                                                                          \
		.who = (plugin), .then = (consequence)                                             \
	}

/*
 * What can be seen while the plugin starts: the sizes of slurmctld's exported structures, records
 * made for the purpose (24.05 and later have functions for that), the first association and QOS,
 * and the first partition, node and job where there are any yet. Logs once and returns false if
 * one does not fit. Call it in init, in slurmctld only; takes assoc_mgr's assoc and qos R where
 * there are associations, none of slurmctld's locks.
 */
bool ccr_slurm_fits_start(struct ccr_slurm_fits *fits);

/* A job, with its details, partition and allocation. Job R, part R. */
bool ccr_slurm_fits_job(struct ccr_slurm_fits *fits, const job_record_t *job);

/* A node, with its configuration record. Node R. */
bool ccr_slurm_fits_node(struct ccr_slurm_fits *fits, const node_record_t *node);

/* A partition. Part R. */
bool ccr_slurm_fits_part(struct ccr_slurm_fits *fits, const part_record_t *part);

/* The answer so far: false once anything did not fit. */
static inline bool ccr_slurm_fits(const struct ccr_slurm_fits *fits)
{
	return !atomic_load(&fits->unfit);
}

/*
 * The release of the running process, e.g. "24.11.5", read off another loaded Slurm plugin: the
 * loader takes only those that match it exactly. "unknown" where there is none.
 */
const char *ccr_slurm_running(char buf[32]);

#endif
