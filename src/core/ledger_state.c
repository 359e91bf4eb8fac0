/* ledger_state - see ledger_state.h */
#include "core/ledger_state.h"

#include "core/atomic_file.h"
#include "core/json.h"
#include "core/ledger_json.h"
#include "core/ledger_print.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* path with a suffix; false if it does not fit. */
static bool make_path(char out[PATH_MAX], const char *path, const char *suffix)
{
	int n = snprintf(out, PATH_MAX, "%s%s", path, suffix);

	return n > 0 && n < PATH_MAX;
}

static int io_error(struct ccr_error *err, const char *path, const char *what)
{
	return ccr_error_set(err, CCR_EIO, 0, "%.500s: %s: %m", path, what);
}

/* Saving **************************************************************************************/

/* The ledger as text, to be freed; NULL with *rc set. */
static char *print(const struct ccr_ledger *l, size_t *len, int *rc, struct ccr_error *err)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	*rc = f ? ccr_ledger_print(l, f, err) : ccr_error_nomem(err);
	/* A stream in memory fails for lack of memory alone. */
	if (f && fclose(f) && !*rc)
		*rc = ccr_error_nomem(err);
	if (*rc) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * Holds on to the present PATH, if there is one: as PATH.prev by a link, which leaves PATH in
 * place; where there are no links it becomes PATH.old at once, and *moved is set.
 */
static int hold_previous(const char *path, const char *prev, const char *old, bool *moved,
			 struct ccr_error *err)
{
	struct stat st;

	*moved = false;
	if (unlink(prev) && errno != ENOENT)
		return io_error(err, prev, "cannot be removed");
	if ((lstat(path, &st) && errno == ENOENT) || link(path, prev) == 0)
		return CCR_OK;
	if (rename(path, old))
		return io_error(err, path, "cannot be kept");
	*moved = true;
	return CCR_OK;
}

int ccr_ledger_save(const struct ccr_ledger *l, const char *path, mode_t mode,
		    struct ccr_error *err)
{
	char prev[PATH_MAX], old[PATH_MAX], *text;
	bool moved;
	size_t len;
	int rc;

	if (!make_path(prev, path, ".prev") || !make_path(old, path, ".old"))
		return ccr_error_set(err, CCR_EIO, 0, "%.500s: the path is too long", path);
	text = print(l, &len, &rc, err);
	if (!text)
		return rc;
	rc = hold_previous(path, prev, old, &moved, err);
	if (!rc) {
		rc = ccr_atomic_write(path, text, len, mode, err);
		if (rc && moved)
			rename(old, path);
		else if (rc)
			unlink(prev);
		else if (rename(prev, old) && errno != ENOENT)
			rc = io_error(err, prev, "cannot be renamed to .old");
	}
	free(text);
	return rc;
}

/* Loading *************************************************************************************/

static int read_one(const char *path, int64_t now, const struct ccr_usage_model *model,
		    struct ccr_ledger **out, struct ccr_error *err)
{
	size_t len;
	char *text;
	int rc;

	*out = NULL;
	rc = ccr_json_read_file(path, CCR_LEDGER_FILE_MAX, &text, &len, NULL, err);
	if (!rc)
		rc = ccr_ledger_parse(text, len, path, now, model, out, err);
	free(text);
	return rc;
}

int ccr_ledger_read(const char *path, int64_t now, const struct ccr_usage_model *model,
		    struct ccr_ledger **out, struct ccr_error *err)
{
	return read_one(path, now, model, out, err);
}

static bool is_missing(const char *path)
{
	struct stat st;

	return stat(path, &st) && errno == ENOENT;
}

__attribute__((format(printf, 2, 3))) static void note(struct ccr_ledger_notes *notes,
						       const char *fmt, ...)
{
	size_t len = strlen(notes->text);
	va_list ap;

	if (len && len + 1 < sizeof(notes->text)) {
		notes->text[len++] = '\n';
		notes->text[len] = '\0';
	}
	va_start(ap, fmt);
	vsnprintf(notes->text + len, sizeof(notes->text) - len, fmt, ap);
	va_end(ap);
}

/* Sets a damaged file aside under a name that is free, and notes it. */
static void set_aside(const char *path, int64_t now, struct ccr_ledger_notes *notes)
{
	time_t t = (time_t)now;
	char stamp[50] = "", suffix[90], aside[PATH_MAX];
	struct tm tm;
	struct stat st;

	if (!gmtime_r(&t, &tm) || !strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm))
		snprintf(stamp, sizeof(stamp), "%lld", (long long)now);
	for (int i = 0; i < 100; i++) {
		snprintf(suffix, sizeof(suffix), i ? ".damaged-%s.%d" : ".damaged-%s", stamp, i);
		if (!make_path(aside, path, suffix))
			break;
		if (lstat(aside, &st) == 0)
			continue;
		if (rename(path, aside))
			break;
		note(notes, "It is kept as %.400s.", aside);
		return;
	}
	note(notes, "%.400s: cannot be set aside: %m.", path);
}

int ccr_ledger_restore(const char *path, const struct ccr_usage_model *model, int64_t now,
		       struct ccr_ledger **out, struct ccr_ledger_notes *notes,
		       struct ccr_error *err)
{
	struct ccr_error why = {0}, old_why = {0};
	bool old_missing = false, damaged;
	struct ccr_usage_model had;
	char old[PATH_MAX];
	int rc;

	*out = NULL;
	notes->source = CCR_LEDGER_SAVED;
	notes->text[0] = '\0';
	if (!make_path(old, path, ".old"))
		return ccr_error_set(err, CCR_EIO, 0, "%.500s: the path is too long", path);
	rc = ccr_usage_model_check(model, err);
	if (rc)
		return rc;
	rc = read_one(path, now, model, out, &why);
	damaged = rc == CCR_EINVAL;
	if (rc && !damaged && (rc != CCR_EIO || !is_missing(path)))
		return ccr_error_set(err, rc, 0, "%s", why.text);
	if (rc) {
		/* Both are read before any is moved: out of memory must leave all as it is. */
		notes->source = CCR_LEDGER_OLD;
		rc = read_one(old, now, model, out, &old_why);
		if (rc == CCR_ENOMEM)
			return ccr_error_nomem(err);
		old_missing = rc == CCR_EIO && is_missing(old);
	}
	if (rc) {
		notes->source = CCR_LEDGER_EMPTY;
		*out = ccr_ledger_new(model, now, &old_why);
		if (!*out)
			return ccr_error_set(err, old_why.code, 0, "%s", old_why.text);
	}
	had = *ccr_ledger_model(*out);
	if (!ccr_usage_model_equal(&had, model)) {
		rc = ccr_ledger_set_model(*out, model, err);
		if (rc) {
			ccr_ledger_free(*out);
			*out = NULL;
			return rc;
		}
		ccr_ledger_roll_up(*out);
	}
	/* From here on nothing fails, so files may be moved. */
	if (damaged) {
		note(notes, "%s.", why.text);
		set_aside(path, now, notes);
	} else if (notes->source != CCR_LEDGER_SAVED && !old_missing) {
		note(notes, "%.400s is missing.", path);
	}
	if (notes->source == CCR_LEDGER_OLD) {
		note(notes, "%.400s is used instead; usage since it was saved is lost.", old);
	} else if (notes->source == CCR_LEDGER_EMPTY) {
		if (!old_missing) {
			note(notes, "%s.", old_why.text);
			if (old_why.code == CCR_EINVAL)
				set_aside(old, now, notes);
		}
		if (notes->text[0])
			note(notes, "There is no usage that can be read: all begin with none.");
	}
	if (!ccr_usage_model_equal(&had, model))
		note(notes, "%.400s: the usage was kept under %s; it has been converted to %s%s.",
		     notes->source == CCR_LEDGER_OLD ? old : path, ccr_usage_kind_name(had.kind),
		     ccr_usage_kind_name(model->kind),
		     had.kind == model->kind ? " with its present parameters" : "");
	return CCR_OK;
}
