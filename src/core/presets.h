/*
 * presets - the ready-made policies, as the texts of policy files
 *
 * They are files of src/core/presets/ and are read by the same loader as a site's own.
 */
#ifndef CCR_CORE_PRESETS_H
#define CCR_CORE_PRESETS_H

#include <stddef.h>

struct ccr__preset {
	const char *name;
	const char *text; /* ends in a 0 that len does not count */
	size_t len;
};

/* Ends with a name that is NULL. */
extern const struct ccr__preset ccr__presets[];

#endif
