/*
 * usage_totals - one way of adding up the ledger's entries: a total for each name
 *
 * A table knows the names in use and holds, for each, what the last roll-up found. The ledger's
 * entries point to their totals, so that a roll-up is additions alone: it allocates nothing and
 * cannot fail. The ledger owns its tables (ledger.h has the public way in); this is the machinery
 * behind it.
 */
#ifndef CCR_CORE_USAGE_TOTALS_H
#define CCR_CORE_USAGE_TOTALS_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include <stddef.h>

/* The longest name that a table takes, in bytes without its end. */
#define CCR_USAGE_NAME_MAX 511

/* What is measured, in seconds: an index of struct ccr_usage. */
enum ccr_measure {
	CCR_BILLED =
	    0, /* TRES-billed seconds: the job's billing value x seconds (x QOS UsageFactor) */
	CCR_SLOT = 1, /* slot seconds: CPUs x seconds (LSF's RUN_TIME) */
	CCR_MEASURES = 2,
};

struct ccr_usage {
	double s[CCR_MEASURES];
};

/* The total of a name, or of a pair of names. Strings live as long as the total. */
struct ccr_total {
	const char *name;
	const char *name2; /* the partition of a pair; "" where a name stands alone */
	struct ccr_usage usage;
	size_t refs; /* entries that add to it */
	UT_hash_handle hh;
	char key[]; /* both names, each with its end */
};

struct ccr_totals {
	struct ccr_total *head;
};

/*
 * The total of a name (name2 is "" if it stands alone), made if need be, with one reference more;
 * NULL if out of memory. Names are at most CCR_USAGE_NAME_MAX long.
 */
struct ccr_total *ccr__totals_hold(struct ccr_totals *t, const char *name, const char *name2);

/* One reference less; the last one ends the total. total may be NULL. */
void ccr__totals_release(struct ccr_totals *t, struct ccr_total *total);

/* The total of a name, NULL if no entry has it. */
const struct ccr_total *ccr__totals_find(const struct ccr_totals *t, const char *name,
					 const char *name2);

/* Sets every total to 0. */
void ccr__totals_zero(struct ccr_totals *t);

/* Ends every total, whatever its references. */
void ccr__totals_clear(struct ccr_totals *t);

#endif
