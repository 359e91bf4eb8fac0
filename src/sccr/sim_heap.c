/* sim_heap - see sim_heap.h */
#include "sccr/sim_heap.h"

#include <stdlib.h>
#include <string.h>

static bool before(const struct sim_heap *h, uint32_t a, uint32_t b)
{
	if (h->at[a].t != h->at[b].t)
		return h->at[a].t < h->at[b].t;
	return h->at[a].job->serial < h->at[b].job->serial;
}

static uint32_t swap(struct sim_heap *h, uint32_t a, uint32_t b)
{
	__typeof__(h->at[0]) x = h->at[a];

	h->at[a] = h->at[b];
	h->at[b] = x;
	return b;
}

int sim_heap_push(struct sim_heap *h, sim_time t, struct sim_job *job)
{
	uint32_t i = h->n;

	if (h->n == h->room) {
		uint32_t room = h->room ? 2 * h->room : 64;
		void *p = realloc(h->at, room * sizeof(h->at[0]));

		if (!p)
			return -1;
		h->at = p;
		h->room = room;
	}
	h->at[i].t = t;
	h->at[i].job = job;
	h->n++;
	while (i && before(h, i, (i - 1) / 2))
		i = swap(h, i, (i - 1) / 2);
	return 0;
}

sim_time sim_heap_time(const struct sim_heap *h)
{
	return h->n ? h->at[0].t : SIM_NEVER;
}

struct sim_job *sim_heap_pop(struct sim_heap *h)
{
	struct sim_job *job = h->at[0].job;
	uint32_t i = 0;

	h->at[0] = h->at[--h->n];
	for (;;) {
		uint32_t l = 2 * i + 1, least = i;

		if (l < h->n && before(h, l, least))
			least = l;
		if (l + 1 < h->n && before(h, l + 1, least))
			least = l + 1;
		if (least == i)
			return job;
		i = swap(h, i, least);
	}
}

void sim_heap_free(struct sim_heap *h)
{
	free(h->at);
	memset(h, 0, sizeof(*h));
}
