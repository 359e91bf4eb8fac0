/*
 * last_ran - priority_last_decay_ran in StateSaveLocation, read and written under Slurm's lock
 *
 * The same file as priority/multifactor's (core/last_ran.h). Neither call ever ends slurmctld:
 * what goes wrong is logged as an error and usage goes on from what is known.
 */
#ifndef CCR_PRIORITY_LAST_RAN_H
#define CCR_PRIORITY_LAST_RAN_H

#include <stdbool.h>
#include "core/last_ran.h"

/*
 * From the folder state_dir; both times 0 on a first start and when the file is damaged. That there
 * is none is worth a line with a database alone: without one, Slurm's usage is not there to decay.
 */
void ccr_last_ran_load(const char *state_dir, bool with_dbd, struct ccr_last_ran *out);

/*
 * When slurmctld last wrote the usage of associations (assoc_usage, there): every five minutes and
 * when it ends, so a slurmctld that was killed finds an older usage than its last cycle had
 * counted. False: cannot be told. *at is 0 where there is no such file, so no usage was kept.
 */
bool ccr_usage_saved_at(const char *state_dir, time_t *at);

/* A failure is logged once until a write succeeds again. False on failure. */
bool ccr_last_ran_save(const char *state_dir, const struct ccr_last_ran *in, bool *complained);

#endif
