/* eligible - see eligible.h */
#include "core/eligible.h"

static int64_t clamp(int64_t v)
{
	return v < 0 ? 0 : v > CCR_ELIGIBLE_MAX ? CCR_ELIGIBLE_MAX : v;
}

void ccr_eligible_start(struct ccr_eligible *e, int64_t from, int64_t now, bool accruing)
{
	e->since = clamp(now);
	e->accruing = accruing;
	from = clamp(from);
	e->accrued = accruing && from && from < e->since ? e->since - from : 0;
}

int64_t ccr_eligible_seconds(const struct ccr_eligible *e, int64_t now)
{
	now = clamp(now);
	return clamp(e->accrued + (e->accruing && now > e->since ? now - e->since : 0));
}

bool ccr_eligible_look(struct ccr_eligible *e, int64_t now, bool accruing)
{
	bool changed = accruing != e->accruing || clamp(now) < e->since;

	/*
	 * Counted up at every look: a clock that is set back afterwards cannot take away what was
	 * there already.
	 */
	e->accrued = ccr_eligible_seconds(e, now);
	e->since = clamp(now);
	e->accruing = accruing;
	return changed;
}
