/* last_ran - see last_ran.h */
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "priority/last_ran.h"
#include "slurm/compat.h"

static bool path_in(const char *dir, const char *name, char *path, size_t size)
{
	int n = snprintf(path, size, "%s/%s", dir ? dir : "", name);

	return n > 0 && (size_t)n < size;
}

void ccr_last_ran_load(const char *state_dir, bool with_dbd, struct ccr_last_ran *out)
{
	char path[PATH_MAX];
	struct ccr_error err;
	int rc;

	out->ran = 0;
	out->reset = 0;
	if (!path_in(state_dir, "priority_last_decay_ran", path, sizeof(path)))
		return;
	lock_state_files();
	rc = ccr_last_ran_read(path, out, &err);
	unlock_state_files();
	if (rc)
		error("priority/ccr: time of the last decay: %s; usage decays from now on",
		      err.text);
	else if (!out->ran && !with_dbd)
		debug("priority/ccr: no last decay (%s) to recover", path);
	else if (!out->ran)
		info("priority/ccr: no last decay (%s) to recover", path);
}

bool ccr_usage_saved_at(const char *state_dir, time_t *at)
{
	unsigned char head[sizeof(uint16_t) + sizeof(uint64_t)]; /* protocol version, time */
	char path[PATH_MAX];
	uint64_t when;
	size_t got;
	FILE *f;

	*at = 0;
	if (!path_in(state_dir, "assoc_usage", path, sizeof(path)))
		return false;
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT;
	got = fread(head, 1, sizeof(head), f);
	fclose(f);
	if (got != sizeof(head))
		return false;
	memcpy(&when, head + sizeof(uint16_t), sizeof(when));
	*at = (time_t)be64toh(when);
	return *at > 0;
}

bool ccr_last_ran_save(const char *state_dir, const struct ccr_last_ran *in, bool *complained)
{
	char path[PATH_MAX];
	struct ccr_error err;
	int rc;

	/* A site that keeps no state says so with /dev/null. */
	if (!state_dir || !xstrcmp(state_dir, "/dev/null"))
		return false;
	if (!path_in(state_dir, "priority_last_decay_ran", path, sizeof(path)))
		return false;
	lock_state_files();
	rc = ccr_last_ran_write(path, in, &err);
	unlock_state_files();
	if (rc && !*complained)
		error("priority/ccr: cannot save the time of the last decay: %s", err.text);
	*complained = rc != 0;
	return !rc;
}
