/*
 * ids - a set of job ids that is filled, asked and emptied as a whole
 *
 * Exact, and no memory for as long as it is empty. Where there is none to be had, the set has every
 * id until it is emptied: its askers take that for "maybe".
 */
#ifndef CCR_CORE_IDS_H
#define CCR_CORE_IDS_H

#include <stdbool.h>
#include <stdint.h>

struct ccr_id;

/* All zero is the empty set. */
struct ccr_ids {
	struct ccr_id *head;
	bool all;
};

/* Adds an id; 0, which is no job's, is not kept. O(1). */
void ccr_ids_add(struct ccr_ids *ids, uint32_t id);
/* Is it there? O(1); any number of threads at a time. */
bool ccr_ids_has(const struct ccr_ids *ids, uint32_t id);
/* Empties the set; its memory goes. */
void ccr_ids_clear(struct ccr_ids *ids);

#endif
