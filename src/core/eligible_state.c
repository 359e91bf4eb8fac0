/* eligible_state - see eligible_state.h */
#include "core/eligible_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/atomic_file.h"
#include "core/json.h"

#define VERSION 1

int ccr_eligible_save(const char *path, const struct ccr_eligible_job *jobs, size_t n,
		      struct ccr_error *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int rc;

	if (!out)
		return ccr_error_nomem(err);
	fprintf(out, "{\"version\": %d, \"jobs\": [", VERSION);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s\n[%" PRIu32 ", %" PRId64 ", %" PRId64 ", %d]", i ? "," : "",
			jobs[i].id, jobs[i].e.accrued, jobs[i].e.since, jobs[i].e.accruing);
	fprintf(out, "\n]}\n");
	rc = fclose(out) ? ccr_error_nomem(err) : CCR_OK;
	if (!rc)
		rc = ccr_atomic_write(path, text, len, 0600, err);
	free(text);
	return rc;
}

/* Number i of a row, 0 to max. */
static bool number(const struct json_object *row, size_t i, int64_t max, int64_t *out)
{
	struct json_object *v = json_object_array_get_idx(row, i);

	if (!json_object_is_type(v, json_type_int))
		return false;
	*out = json_object_get_int64(v);
	return *out >= 0 && *out <= max;
}

static bool read_row(const struct json_object *row, struct ccr_eligible_job *job)
{
	int64_t id, on;

	if (!json_object_is_type(row, json_type_array) || json_object_array_length(row) != 4 ||
	    !number(row, 0, UINT32_MAX, &id) ||
	    !number(row, 1, CCR_ELIGIBLE_MAX, &job->e.accrued) ||
	    !number(row, 2, CCR_ELIGIBLE_MAX, &job->e.since) || !number(row, 3, 1, &on))
		return false;
	job->id = (uint32_t)id;
	job->e.accruing = on == 1;
	return id != 0;
}

static int read_rows(const char *path, const struct json_object *list,
		     struct ccr_eligible_job **jobs, size_t *n, struct ccr_error *err)
{
	size_t count = json_object_array_length(list);
	struct ccr_eligible_job *read = NULL;

	if (count) {
		read = calloc(count, sizeof(*read));
		if (!read)
			return ccr_error_nomem(err);
	}
	for (size_t i = 0; i < count; i++) {
		if (!read_row(json_object_array_get_idx(list, i), &read[i])) {
			unsigned line = ccr_json_member_line(list, i);

			free(read);
			return ccr_error_set(err, CCR_EINVAL, line,
					     "%s:%u: jobs[%zu]: found something else, expected "
					     "[id, seconds, since, 0 or 1]",
					     path, line, i);
		}
	}
	*jobs = read;
	*n = count;
	return CCR_OK;
}

int ccr_eligible_load(const char *path, struct ccr_eligible_job **jobs, size_t *n,
		      struct ccr_error *err)
{
	struct json_object *root, *rows;
	int rc =
	    ccr_json_read_list(path, CCR_ELIGIBLE_FILE_MAX, VERSION, "jobs", &root, &rows, err);

	if (!rc)
		rc = read_rows(path, rows, jobs, n, err);
	json_object_put(root);
	return rc;
}
