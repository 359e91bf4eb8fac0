/* ids - see ids.h */
#define HASH_NONFATAL_OOM 1
#include "core/ids.h"

#include <stdlib.h>
#include <uthash.h>

struct ccr_id {
	uint32_t id;
	UT_hash_handle hh;
};

void ccr_ids_add(struct ccr_ids *ids, uint32_t id)
{
	struct ccr_id *e;

	if (ids->all || !id || ccr_ids_has(ids, id))
		return;
	e = calloc(1, sizeof(*e));
	if (e) {
		e->id = id;
		HASH_ADD(hh, ids->head, id, sizeof(e->id), e);
	}
	if (!e || !e->hh.tbl) {
		free(e);
		ids->all = true;
	}
}

bool ccr_ids_has(const struct ccr_ids *ids, uint32_t id)
{
	struct ccr_id *e = NULL;

	if (ids->all)
		return true;
	if (ids->head)
		HASH_FIND(hh, ids->head, &id, sizeof(id), e);
	return e;
}

void ccr_ids_clear(struct ccr_ids *ids)
{
	struct ccr_id *e, *next;

	HASH_ITER (hh, ids->head, e, next) {
		HASH_DELETE(hh, ids->head, e);
		free(e);
	}
	ids->all = false;
}
