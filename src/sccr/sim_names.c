/* sim_names - see sim_names.h */
#include "sccr/sim_names.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct name {
	UT_hash_handle hh;
	uint32_t number;
	char text[];
};

struct sim_names {
	struct name *hash;
	struct name **by_number;
	uint32_t count, room;
};

struct sim_names *sim_names_new(void)
{
	return calloc(1, sizeof(struct sim_names));
}

void sim_names_free(struct sim_names *n)
{
	if (!n)
		return;
	HASH_CLEAR(hh, n->hash);
	for (uint32_t i = 0; i < n->count; i++)
		free(n->by_number[i]);
	free(n->by_number);
	free(n);
}

uint32_t sim_names_find(const struct sim_names *n, const char *name)
{
	struct name *e;

	HASH_FIND_STR(n->hash, name, e);
	return e ? e->number : UINT32_MAX;
}

uint32_t sim_names_add(struct sim_names *n, const char *name)
{
	uint32_t number = sim_names_find(n, name);
	size_t len = strlen(name);
	struct name *e;

	if (number != UINT32_MAX)
		return number;
	if (n->count == n->room) {
		uint32_t room = n->room ? 2 * n->room : 16;
		struct name **p = realloc(n->by_number, room * sizeof(struct name *));

		if (!p)
			return UINT32_MAX;
		n->by_number = p;
		n->room = room;
	}
	e = calloc(1, sizeof(*e) + len + 1);
	if (!e)
		return UINT32_MAX;
	memcpy(e->text, name, len + 1);
	e->number = n->count;
	HASH_ADD_KEYPTR(hh, n->hash, e->text, len, e);
	if (!e->hh.tbl) { /* uthash had no memory and left it out */
		free(e);
		return UINT32_MAX;
	}
	n->by_number[n->count++] = e;
	return e->number;
}

const char *sim_names_get(const struct sim_names *n, uint32_t number)
{
	return number < n->count ? n->by_number[number]->text : "";
}

uint32_t sim_names_count(const struct sim_names *n)
{
	return n->count;
}
