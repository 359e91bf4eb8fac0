/*
 * owned_usage - the plugin's own ledger: who used how much, where Slurm does not keep it
 *
 * In force without a database, and where a policy wants windows, LSF's history or LSF's variables.
 * Running jobs are charged as they run; a job that ended is charged for its last stretch at the
 * next look, for which it stays in slurmctld's list (MinJobAge). Saved after each cycle and at the
 * end.
 */
#ifndef CCR_PRIORITY_OWNED_USAGE_H
#define CCR_PRIORITY_OWNED_USAGE_H

#include "core/ledger.h"
#include "priority/engine.h"

/* Loads the state file, or starts empty, saying why. False: out of memory. */
bool ccr_owned_usage_init(const struct ccr_settings *settings, const struct ccr_engine *engine);
void ccr_owned_usage_fini(void);

/* Is the ledger in force? */
bool ccr_owned_usage_wanted(const struct ccr_settings *settings, const struct ccr_engine *engine);

/*
 * Charges all jobs up to now and forms the totals. Job R at least, part R, assoc_mgr assoc R, tres
 * R. Nothing where the ledger is not wanted.
 */
void ccr_owned_usage_count(const struct ccr_settings *settings, const struct ccr_engine *engine,
			   time_t now);

/* Throws away all usage; running jobs are charged from the last look on. */
void ccr_owned_usage_reset(time_t now);

/* The ledger, for reading under the locks of a cycle; NULL where it is not in force. */
const struct ccr_ledger *ccr_owned_usage(void);

/* Writes the state file; no lock. */
void ccr_owned_usage_save(const struct ccr_settings *settings);

#endif
