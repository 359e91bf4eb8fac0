/*
 * eligible_state - eligible times in a file, so that they survive a restart
 *
 *	{"version": 1, "jobs": [[ID, SECONDS, SINCE, ACCRUING], ...]}
 *
 * ACCRUING is 1 or 0: a job that accrued when the file was written goes on from SINCE, so the file
 * has to be written only when that changes.
 */
#ifndef CCR_CORE_ELIGIBLE_STATE_H
#define CCR_CORE_ELIGIBLE_STATE_H

#include <stddef.h>

#include "core/eligible.h"
#include "core/error.h"

/* The largest file that is read, in bytes: more than a million jobs. */
#define CCR_ELIGIBLE_FILE_MAX ((size_t)1 << 26)

struct ccr_eligible_job {
	uint32_t id;
	struct ccr_eligible e;
};

/* Replaces PATH at once (atomic_file.h), readable by its owner alone. CCR_EIO, CCR_ENOMEM. */
int ccr_eligible_save(const char *path, const struct ccr_eligible_job *jobs, size_t n,
		      struct ccr_error *err);

/*
 * Reads the file: *jobs is malloc'd, for the caller to free, NULL where there are none. CCR_EIO:
 * missing or unreadable; CCR_EINVAL: damaged, with the place; CCR_ENOMEM. Nothing is set on a
 * failure.
 */
int ccr_eligible_load(const char *path, struct ccr_eligible_job **jobs, size_t *n,
		      struct ccr_error *err);

#endif
