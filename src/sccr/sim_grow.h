/*
 * sim_grow - room for more elements in an array of the run
 */
#ifndef SCCR_SIM_GROW_H
#define SCCR_SIM_GROW_H

#include <stdint.h>
#include <stdlib.h>

/*
 * Room for `need` elements of `size` bytes behind *array, a pointer of whatever kind; *room is how
 * many there is room for. -1: out of memory, and nothing has changed.
 */
static inline int sim_grow(void *array, uint32_t *room, uint32_t need, size_t size)
{
	void **p = array, *q;
	uint64_t to = *room ? *room : 64;

	if (need <= *room)
		return 0;
	while (to < need)
		to *= 2;
	if (to > UINT32_MAX)
		return -1;
	q = realloc(*p, to * size);
	if (!q)
		return -1;
	*p = q;
	*room = (uint32_t)to;
	return 0;
}

#endif
