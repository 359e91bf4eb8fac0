/* usage_totals - see usage_totals.h */
#include "core/usage_totals.h"

#include <stdlib.h>
#include <string.h>

/* A key is both names, each with its end, in one piece; returns its length. */
static size_t make_key(char key[2 * (CCR_USAGE_NAME_MAX + 1)], const char *name, const char *name2)
{
	size_t n1 = strlen(name) + 1, n2 = strlen(name2) + 1;

	if (n1 > CCR_USAGE_NAME_MAX + 1 || n2 > CCR_USAGE_NAME_MAX + 1)
		return 0;
	memcpy(key, name, n1);
	memcpy(key + n1, name2, n2);
	return n1 + n2;
}

struct ccr_total *ccr__totals_hold(struct ccr_totals *t, const char *name, const char *name2)
{
	char key[2 * (CCR_USAGE_NAME_MAX + 1)];
	size_t len = make_key(key, name, name2);
	struct ccr_total *total;

	HASH_FIND(hh, t->head, key, len, total);
	if (total) {
		total->refs++;
		return total;
	}
	total = len ? calloc(1, sizeof(*total) + len) : NULL;
	if (!total)
		return NULL;
	memcpy(total->key, key, len);
	total->name = total->key;
	total->name2 = total->key + strlen(name) + 1;
	total->refs = 1;
	HASH_ADD_KEYPTR(hh, t->head, total->key, len, total);
	if (!total->hh.tbl) {
		free(total);
		return NULL;
	}
	return total;
}

void ccr__totals_release(struct ccr_totals *t, struct ccr_total *total)
{
	if (!total || --total->refs)
		return;
	HASH_DEL(t->head, total);
	free(total);
}

const struct ccr_total *ccr__totals_find(const struct ccr_totals *t, const char *name,
					 const char *name2)
{
	char key[2 * (CCR_USAGE_NAME_MAX + 1)];
	size_t len = make_key(key, name, name2);
	struct ccr_total *total;

	HASH_FIND(hh, t->head, key, len, total);
	return total;
}

void ccr__totals_zero(struct ccr_totals *t)
{
	for (struct ccr_total *total = t->head; total; total = total->hh.next)
		total->usage = (struct ccr_usage){0};
}

void ccr__totals_clear(struct ccr_totals *t)
{
	struct ccr_total *total = t->head;

	/* Ends the table and leaves the list of what was in it. */
	HASH_CLEAR(hh, t->head);
	while (total) {
		struct ccr_total *next = total->hh.next;

		free(total);
		total = next;
	}
}
