/* booking_state - see booking_state.h */
#include "core/booking_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/atomic_file.h"
#include "core/json.h"

#define VERSION 1
#define HEAD	5 /* numbers before the parts */
#define PART	3 /* members of a part before its GPUs */

static bool plain_name(const char *s)
{
	if (!s || !*s)
		return false;
	for (; *s; s++)
		if (*s == '"' || *s == '\\' || (unsigned char)*s < ' ' || (unsigned char)*s > '~')
			return false;
	return true;
}

static void write_part(FILE *out, const struct ccr_booking_part *p)
{
	fprintf(out, ", [\"%s\", %" PRId32 ", %" PRId64, p->nodes, p->cpus, p->mem);
	for (int g = 0; g < CCR_GPU_SLOTS && p->gpus[g]; g++)
		fprintf(out, ", %" PRIu32 ", %d", p->type[g], p->gpus[g]);
	fputs("]", out);
}

int ccr_bookings_save(const char *path, const struct ccr_booking_saved *list, size_t n,
		      struct ccr_error *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	int rc;

	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < list[i].parts; k++)
			if (!plain_name(list[i].part[k].nodes))
				return ccr_error_set(err, CCR_EINVAL, 0,
						     "a booking's nodes have no plain names");
	out = open_memstream(&text, &len);
	if (!out)
		return ccr_error_nomem(err);
	fprintf(out, "{\"version\": %d, \"bookings\": [", VERSION);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%s\n[%" PRIu32 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64,
			i ? "," : "", list[i].job, list[i].start, list[i].limit,
			list[i].first_start, list[i].made);
		for (uint32_t k = 0; k < list[i].parts; k++)
			write_part(out, &list[i].part[k]);
		fputs("]", out);
	}
	fputs("\n]}\n", out);
	rc = fclose(out) ? ccr_error_nomem(err) : CCR_OK;
	if (!rc)
		rc = ccr_atomic_write(path, text, len, 0600, err);
	free(text);
	return rc;
}

/* Number i of a list, low to max. */
static bool number(const struct json_object *list, size_t i, int64_t low, int64_t max, int64_t *out)
{
	struct json_object *v = json_object_array_get_idx(list, i);

	if (!json_object_is_type(v, json_type_int))
		return false;
	*out = json_object_get_int64(v);
	return *out >= low && *out <= max;
}

/* False: something else than a part. */
static bool read_part(const struct json_object *row, struct ccr_booking_part *p, bool *nomem)
{
	struct json_object *name;
	int64_t cpus, type, count;
	size_t len;

	if (!json_object_is_type(row, json_type_array))
		return false;
	len = json_object_array_length(row);
	name = json_object_array_get_idx(row, 0);
	if (len < PART || (len - PART) % 2 || (len - PART) / 2 > CCR_GPU_SLOTS ||
	    !json_object_is_type(name, json_type_string) ||
	    !plain_name(json_object_get_string(name)) || !number(row, 1, 0, INT32_MAX, &cpus) ||
	    !number(row, 2, 0, CCR_FOREVER, &p->mem))
		return false;
	p->cpus = (int32_t)cpus;
	for (size_t g = 0; g < (len - PART) / 2; g++) {
		if (!number(row, PART + 2 * g, 0, UINT32_MAX, &type) ||
		    !number(row, PART + 2 * g + 1, 1, INT16_MAX, &count))
			return false;
		p->type[g] = (uint32_t)type;
		p->gpus[g] = (int16_t)count;
	}
	p->nodes = strdup(json_object_get_string(name));
	*nomem = !p->nodes;
	return true;
}

static bool read_row(const struct json_object *row, struct ccr_booking_saved *b, bool *nomem)
{
	int64_t id;
	size_t len;

	if (!json_object_is_type(row, json_type_array))
		return false;
	len = json_object_array_length(row);
	if (len <= HEAD || len > UINT32_MAX || !number(row, 0, 1, UINT32_MAX, &id) ||
	    !number(row, 1, 0, CCR_FOREVER, &b->start) ||
	    !number(row, 2, 1, CCR_FOREVER, &b->limit) ||
	    !number(row, 3, 0, CCR_FOREVER, &b->first_start) ||
	    !number(row, 4, 0, CCR_FOREVER, &b->made))
		return false;
	b->job = (uint32_t)id;
	b->part = calloc(len - HEAD, sizeof(*b->part));
	if (!b->part) {
		*nomem = true;
		return true;
	}
	b->parts = (uint32_t)(len - HEAD);
	for (uint32_t k = 0; k < b->parts && !*nomem; k++)
		if (!read_part(json_object_array_get_idx(row, HEAD + k), &b->part[k], nomem))
			return false;
	return true;
}

static int read_rows(const char *path, const struct json_object *rows,
		     struct ccr_booking_saved **list, size_t *n, struct ccr_error *err)
{
	size_t count = json_object_array_length(rows);
	struct ccr_booking_saved *read = NULL;
	bool nomem = false;

	if (count) {
		read = calloc(count, sizeof(*read));
		if (!read)
			return ccr_error_nomem(err);
	}
	for (size_t i = 0; i < count; i++) {
		bool ok = read_row(json_object_array_get_idx(rows, i), &read[i], &nomem);
		unsigned line = ccr_json_member_line(rows, i);

		if (ok && !nomem)
			continue;
		ccr_bookings_free(read, count);
		return nomem ? ccr_error_nomem(err)
			     : ccr_error_set(err, CCR_EINVAL, line,
					     "%s:%u: bookings[%zu]: found something else, expected "
					     "[job, start, limit, first start, made, [nodes, CPUs, "
					     "MB, type, GPUs ...] ...]",
					     path, line, i);
	}
	*list = read;
	*n = count;
	return CCR_OK;
}

int ccr_bookings_load(const char *path, struct ccr_booking_saved **list, size_t *n,
		      struct ccr_error *err)
{
	struct json_object *root, *rows;
	int rc =
	    ccr_json_read_list(path, CCR_BOOKING_FILE_MAX, VERSION, "bookings", &root, &rows, err);

	if (!rc)
		rc = read_rows(path, rows, list, n, err);
	json_object_put(root);
	return rc;
}

void ccr_bookings_free(struct ccr_booking_saved *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++) {
		for (uint32_t k = 0; k < list[i].parts; k++)
			free(list[i].part[k].nodes);
		free(list[i].part);
	}
	free(list);
}
