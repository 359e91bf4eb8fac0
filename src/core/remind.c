/* remind - see remind.h */
#include "core/remind.h"

bool ccr_remind(struct ccr_remind *r, unsigned long count, time_t now)
{
	bool first = count && !r->wrong;

	r->wrong = count > 0;
	if (!count)
		return false;
	if (!first && now >= r->said && now - r->said < CCR_REMIND_EVERY)
		return false;
	r->said = now;
	return true;
}
