/*
 * remind - when to say again what is still wrong
 */
#ifndef CCR_CORE_REMIND_H
#define CCR_CORE_REMIND_H

#include <stdbool.h>
#include <time.h>

#define CCR_REMIND_EVERY 3600 /* s */

/* Zero to start with: nothing is wrong, nothing was said. */
struct ccr_remind {
	bool wrong;
	time_t said;
};

/*
 * Is it to be said now that something is wrong with `count` of them? At first, and every hour for
 * as long as it lasts; anew once the count was 0 in between. A clock that was set back does not
 * silence it.
 */
bool ccr_remind(struct ccr_remind *r, unsigned long count, time_t now);

#endif
