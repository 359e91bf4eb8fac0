/*
 * atomic_file - replaces a file so that a crash at any moment leaves the old or the new one whole
 */
#ifndef CCR_CORE_ATOMIC_FILE_H
#define CCR_CORE_ATOMIC_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "core/error.h"

/*
 * Writes len bytes to PATH.new with that mode, syncs it and renames it over PATH, then syncs the
 * folder. CCR_EIO with the system's reason: PATH is then as it was, PATH.new is gone. CCR_ENOMEM.
 */
int ccr_atomic_write(const char *path, const void *data, size_t len, mode_t mode,
		     struct ccr_error *err);

/*
 * The same without the folder: after a crash of the machine it may be the old file that is there,
 * whole, though the new one had been written. For what is written often and may be a little old.
 */
int ccr_atomic_replace(const char *path, const void *data, size_t len, mode_t mode,
		       struct ccr_error *err);

#endif
