/*
 * ledger_state - the ledger's file: saved so that no crash loses it, loaded so that no damage stops
 * us
 *
 * PATH is the present state, PATH.old the one saved before it, PATH.damaged-TIME (UTC, as
 * 20261130T072000Z) one that could not be read. PATH.new and PATH.prev exist while a state is
 * saved; a crash may leave them, and nothing reads them. The format is ledger_json.h's, also
 * ccr_usage.json(5).
 */
#ifndef CCR_CORE_LEDGER_STATE_H
#define CCR_CORE_LEDGER_STATE_H

#include <sys/types.h>

#include "core/ledger.h"

/* The largest file that is read, in bytes: more than a million entries. */
#define CCR_LEDGER_FILE_MAX ((size_t)256 << 20)

/* Where a restored ledger came from. */
enum ccr_ledger_source {
	CCR_LEDGER_SAVED = 0, /* PATH */
	CCR_LEDGER_OLD = 1,   /* PATH.old */
	CCR_LEDGER_EMPTY = 2, /* nothing could be used: it is empty */
};

/* What an admin should know of a restore: whole sentences, one a line; "" where all was well. */
struct ccr_ledger_notes {
	enum ccr_ledger_source source;
	char text[6000];
};

/*
 * Replaces PATH, on the disk and not only in its cache, and keeps the state before as PATH.old.
 * PATH is whole at every moment of it (where a file system has no links, there is a moment without
 * it: a restore then takes PATH.old). mode: as of open(2). CCR_EIO with the file and the
 * system's reason, CCR_ENOMEM; PATH and PATH.old are then as they were, or the newer state is in
 * place and PATH.old is not.
 */
int ccr_ledger_save(const struct ccr_ledger *l, const char *path, mode_t mode,
		    struct ccr_error *err);

/*
 * Reads one file and changes none: for a tool. now, model and *out as for ccr_ledger_parse. CCR_EIO
 * (missing or unreadable), CCR_EINVAL (damaged, no regular file) or CCR_ENOMEM; the message begins
 * with path.
 */
int ccr_ledger_read(const char *path, int64_t now, const struct ccr_usage_model *model,
		    struct ccr_ledger **out, struct ccr_error *err);

/*
 * The state to go on from: PATH; if that is damaged, it is set aside and PATH.old is used; if PATH
 * is missing, PATH.old likewise (a rename was cut off); if neither can be used the ledger is empty
 * as of now. A ledger under another model than `model` is converted (ledger_rebin.h). The ledger
 * keeps its own time and charged_until: the caller charges what ran since and advances it. notes
 * says what was not as usual.
 *
 * Fails only with CCR_ENOMEM, CCR_EINVAL (model or now unusable) or CCR_EIO (PATH is there and
 * cannot be read, as for lack of permission: going on would overwrite it): then *out is NULL and no
 * file was touched.
 */
int ccr_ledger_restore(const char *path, const struct ccr_usage_model *model, int64_t now,
		       struct ccr_ledger **out, struct ccr_ledger_notes *notes,
		       struct ccr_error *err);

#endif
