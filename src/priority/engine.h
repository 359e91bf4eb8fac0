/*
 * engine - the policy in force
 *
 * Holds the last policy that was accepted, and replaces it when the policy file's content has
 * changed and is good. A bad file is refused with its message and changes nothing. The accepted
 * text is kept in StateSaveLocation, so that a restart that finds a bad file runs on with that.
 *
 * Threads: only the decay thread (and init, before it runs) loads; it may read ccr_engine_now()
 * without a lock. Everybody else works inside ccr_engine_lock(), a leaf lock: nothing else is
 * locked within.
 */
#ifndef CCR_PRIORITY_ENGINE_H
#define CCR_PRIORITY_ENGINE_H

#include "core/config.h"
#include "core/policy.h"
#include "core/score.h"
#include "priority/lsf_rows.h"
#include "priority/settings.h"
#include "priority/standing.h"

struct ccr_engine {
	struct ccr_config *config;
	struct ccr_policy *cycle; /* the decay thread's compilation */
	struct ccr_policy *set;	  /* priority_p_set's, under the engine lock */
	bool whole;		  /* see struct ccr_score_rule */
	unsigned serial;	  /* another one for each policy */
	/* of the last cycle, under the engine lock; either may be NULL */
	struct ccr_standings *standings;
	struct ccr_lsf_table *lsf;
};

/*
 * Looks at the policy file and takes it over if it is new and good. `periodic` repeats, once a
 * period, what is still wrong. Returns false only when there is no policy at all: the file is bad
 * and no accepted one is kept; err says why. Writes to slurmctld's log.
 */
bool ccr_engine_load(const struct ccr_settings *s, bool periodic, struct ccr_error *err);
void ccr_engine_fini(void);

struct ccr_engine *ccr_engine_now(void);
struct ccr_engine *ccr_engine_lock(void);
void ccr_engine_unlock(void);

/*
 * Puts the standings and the table of a new cycle in force and frees the old ones. Takes the engine
 * lock.
 */
void ccr_engine_put_standings(struct ccr_standings *standings, struct ccr_lsf_table *lsf);

/* Does the policy read one of LSF's variables? */
bool ccr_engine_uses_lsf(const struct ccr_engine *e);

/* How points are made of factors: weights from the settings, base and rounding from the policy. */
void ccr_engine_rule(const struct ccr_engine *e, const struct ccr_settings *s,
		     struct ccr_score_rule *rule);

#endif
