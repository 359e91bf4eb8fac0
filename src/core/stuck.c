/* stuck - see stuck.h */
#include "core/stuck.h"

#include <stddef.h>

struct ccr_stuck_row *ccr_stuck_find(struct ccr_stuck *s, uint32_t job)
{
	for (uint32_t i = 0; i < CCR_STUCK_JOBS; i++)
		if (s->row[i].job == job)
			return &s->row[i];
	return NULL;
}

void ccr_stuck_note(struct ccr_stuck *s, uint32_t job, uint64_t asked, int64_t now)
{
	struct ccr_stuck_row *row = ccr_stuck_find(s, job);

	if (!row) {
		row = &s->row[s->next];
		s->next = (s->next + 1) % CCR_STUCK_JOBS;
		*row = (struct ccr_stuck_row){.job = job};
	} else if (row->asked != asked) {
		*row = (struct ccr_stuck_row){.job = job};
	}
	row->asked = asked;
	row->at = now;
	if (row->times < 2)
		row->times++;
}

uint32_t ccr_stuck_times(struct ccr_stuck_row *row, uint64_t asked, int64_t now)
{
	if (row->asked != asked) {
		*row = (struct ccr_stuck_row){0};
		return 0;
	}
	/* (a clock that was set back is no pause) */
	if (row->times > 1 && now - row->at > (int64_t)CCR_STUCK_AGAIN << row->doubled) {
		row->times = 1;
		if (row->doubled < CCR_STUCK_DOUBLED)
			row->doubled++;
	}
	return row->times;
}
