/*
 * booking_state - bookings in a file, so that the promises survive a restart
 *
 *	{"version": 1, "bookings": [
 *	[JOB, START, LIMIT, FIRST, MADE, [NODES, CPUS, MB, TYPE, GPUS, TYPE, GPUS ...] ...], ...]}
 *
 * Nodes are named, and GPU types are the caller's numbers that stay the same over a restart: places
 * in a table do not. A booking has a part for each row of nodes that give the same.
 */
#ifndef CCR_CORE_BOOKING_STATE_H
#define CCR_CORE_BOOKING_STATE_H

#include <stddef.h>

#include "core/demand.h"
#include "core/error.h"

/* The largest file that is read, in bytes. */
#define CCR_BOOKING_FILE_MAX ((size_t)1 << 26)

struct ccr_booking_part {
	char *nodes; /* names, as a list in whatever notation the caller has */
	int32_t cpus;
	int64_t mem; /* MB */
	uint32_t type[CCR_GPU_SLOTS];
	int16_t gpus[CCR_GPU_SLOTS]; /* 0 ends the list */
};

struct ccr_booking_saved {
	uint32_t job;
	int64_t start, limit; /* s; CCR_FOREVER: unlimited */
	int64_t first_start, made;
	struct ccr_booking_part *part;
	uint32_t parts;
};

/*
 * Replaces PATH at once (atomic_file.h), readable by its owner alone. CCR_EIO, CCR_ENOMEM,
 * CCR_EINVAL: a name with a quote, a backslash or a control character.
 */
int ccr_bookings_save(const char *path, const struct ccr_booking_saved *list, size_t n,
		      struct ccr_error *err);

/*
 * Reads the file: *list for ccr_bookings_free, NULL where there are none. CCR_EIO: missing or
 * unreadable; CCR_EINVAL: damaged, with the place; CCR_ENOMEM. Nothing is set on a failure.
 */
int ccr_bookings_load(const char *path, struct ccr_booking_saved **list, size_t *n,
		      struct ccr_error *err);

void ccr_bookings_free(struct ccr_booking_saved *list, size_t n);

#endif
