/* stuck - see stuck.h */
#include "core/stuck.h"

#include <stddef.h>

static struct ccr_stuck_row *find(struct ccr_stuck *s, uint32_t job)
{
	for (uint32_t i = 0; i < CCR_STUCK_JOBS; i++)
		if (s->row[i].job == job)
			return &s->row[i];
	return NULL;
}

void ccr_stuck_note(struct ccr_stuck *s, uint32_t job, uint64_t asked, int64_t now)
{
	struct ccr_stuck_row *row = find(s, job);

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

bool ccr_stuck_any(const struct ccr_stuck *s)
{
	return s->next || s->row[0].job;
}

/* (a clock that was set back ends no pause) */
static bool pauses(const struct ccr_stuck_row *row, int64_t now)
{
	return row->times > 1 && now - row->at <= (int64_t)CCR_STUCK_AGAIN << row->doubled;
}

uint32_t ccr_stuck_times(struct ccr_stuck *s, uint32_t job, uint64_t asked, int64_t now)
{
	struct ccr_stuck_row *row = find(s, job);

	if (row && row->asked != asked) {
		*row = (struct ccr_stuck_row){0};
		row = NULL;
	}
	for (uint32_t i = 0; i < CCR_STUCK_JOBS; i++)
		if (s->row[i].job && s->row[i].asked == asked && pauses(&s->row[i], now))
			return 2;
	if (!row)
		return 0;
	if (row->times > 1) {
		row->times = 1;
		if (row->doubled < CCR_STUCK_DOUBLED)
			row->doubled++;
	}
	return row->times;
}
