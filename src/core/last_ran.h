/*
 * last_ran - the state file of the decay cycle
 *
 * Two times, each a signed 64-bit number in network byte order and nothing else: the format of
 * priority/multifactor's `priority_last_decay_ran`, so that a site can change the plugin in either
 * direction and lose nothing.
 */
#ifndef CCR_CORE_LAST_RAN_H
#define CCR_CORE_LAST_RAN_H

#include <time.h>
#include "core/error.h"

struct ccr_last_ran {
	time_t ran;   /* when usage was last brought up to date; 0: never */
	time_t reset; /* when it was last thrown away; 0: never */
};

/*
 * Reads the file. Whatever happens *out is valid: both times are 0 where nothing can be had.
 * CCR_OK also where there is no file (a first start). CCR_EINVAL: the file is damaged (too short,
 * or a negative time). CCR_EIO: it cannot be read.
 */
int ccr_last_ran_read(const char *path, struct ccr_last_ran *out, struct ccr_error *err);

/*
 * Replaces the file so that a crash at any moment leaves a whole one, the new or the one before
 * (ccr_atomic_replace()); what was there stays as PATH.old. CCR_EIO on failure, the file is then
 * untouched; CCR_EINVAL if the path is too long; CCR_ENOMEM.
 */
int ccr_last_ran_write(const char *path, const struct ccr_last_ran *in, struct ccr_error *err);

#endif
