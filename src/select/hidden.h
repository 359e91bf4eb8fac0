/*
 * hidden - nodes that slurmctld's main cycle hides behind a job ahead, and what it says then
 *
 * Behind a blocked job that names its nodes, and behind a hetjob, the cycle takes nodes out of its
 * own set, finds them missing, and tells those who could have had them that nodes are down, drained
 * or reserved. It does so without asking the plugin about anybody.
 */
#ifndef CCR_SELECT_HIDDEN_H
#define CCR_SELECT_HIDDEN_H

#include "select/records.h"

/* slurmctld has told the job that nodes are missing, in words that may be wrong. Job R. */
bool ccr_hidden_told(const job_record_t *job);

/*
 * slurmctld says of the job that an advance reservation is in the way. Where there is none, it may
 * say so as well of nodes that it has hidden. Job R.
 */
bool ccr_hidden_reserved(const job_record_t *job);

/*
 * Tells all pending jobs whose nodes were only hidden what they wait for. named: as
 * ccr_gate_named() has it. Returns whether slurmctld had told any that nodes are missing. Job W,
 * node R, part R.
 */
bool ccr_hidden_tell(bool named);

/* How what it tells them begins. */
#define CCR_HIDDEN_AHEAD "Priority, a job ahead waits "

#endif
