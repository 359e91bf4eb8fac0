/* reset - see reset.h */
#include "core/reset.h"

/* Local midnight of the day that tm's date fields name, in whatever way they overflow. */
static time_t midnight(struct tm *tm)
{
	tm->tm_sec = 0;
	tm->tm_min = 0;
	tm->tm_hour = 0;
	tm->tm_isdst = -1;
	return mktime(tm);
}

/* `from` plus days, in calendar days: 86,400 seconds are wrong twice a year. */
static time_t add_days(time_t from, int days)
{
	struct tm tm;

	if (!localtime_r(&from, &tm))
		return 0;
	tm.tm_mday += days;
	return midnight(&tm);
}

/* Steps of `days` from `first` while the step after is still in the past. */
static time_t skip_missed(time_t first, int days, time_t now)
{
	time_t following;
	long steps;

	if (first <= 0)
		return 0;
	/* One jump for a clock that was wrong by decades, then single steps. */
	if (now > first && (steps = (now - first) / 86400 / days - 1) > 0 && steps < 1000000)
		first = add_days(first, (int)steps * days);
	while (first > 0 && (following = add_days(first, days)) > first && following < now)
		first = following;
	return first;
}

time_t ccr_reset_next(enum ccr_reset_period period, time_t last, time_t now)
{
	struct tm tm;
	time_t next;

	if (!localtime_r(&last, &tm))
		return 0;
	switch (period) {
	case CCR_RESET_DAILY:
		tm.tm_mday += 1;
		next = skip_missed(midnight(&tm), 1, now);
		break;
	case CCR_RESET_WEEKLY:
		tm.tm_mday += 7 - tm.tm_wday;
		next = skip_missed(midnight(&tm), 7, now);
		break;
	case CCR_RESET_MONTHLY:
		tm.tm_mday = 1;
		tm.tm_mon += 1;
		next = midnight(&tm);
		break;
	case CCR_RESET_QUARTERLY:
		tm.tm_mday = 1;
		tm.tm_mon += 3 - tm.tm_mon % 3;
		next = midnight(&tm);
		break;
	case CCR_RESET_YEARLY:
		tm.tm_mday = 1;
		tm.tm_mon = 0;
		tm.tm_year += 1;
		next = midnight(&tm);
		break;
	default:
		return 0;
	}
	return next > 0 ? next : 0;
}

void ccr_reset_configure(struct ccr_reset *r, enum ccr_reset_period period)
{
	r->period = period;
	r->next = 0;
}

bool ccr_reset_due(struct ccr_reset *r, time_t now)
{
	if (!r->last)
		r->last = now;
	if (r->period == CCR_RESET_NOW) {
		r->period = CCR_RESET_NONE;
		r->last = now;
		return true;
	}
	if (!r->next)
		r->next = ccr_reset_next(r->period, r->last, now);
	if (!r->next || now < r->next)
		return false;
	r->last = r->next;
	r->next = ccr_reset_next(r->period, r->last, now);
	return true;
}
