/*
 * reset_period - PriorityUsageResetPeriod, from Slurm's numbers to core's
 */
#ifndef CCR_PRIORITY_RESET_PERIOD_H
#define CCR_PRIORITY_RESET_PERIOD_H

#include "core/reset.h"
#include "slurm/compat.h"

_Static_assert((int)PRIORITY_RESET_NONE == CCR_RESET_NONE &&
		   (int)PRIORITY_RESET_NOW == CCR_RESET_NOW &&
		   (int)PRIORITY_RESET_DAILY == CCR_RESET_DAILY &&
		   (int)PRIORITY_RESET_WEEKLY == CCR_RESET_WEEKLY &&
		   (int)PRIORITY_RESET_MONTHLY == CCR_RESET_MONTHLY &&
		   (int)PRIORITY_RESET_QUARTERLY == CCR_RESET_QUARTERLY &&
		   (int)PRIORITY_RESET_YEARLY == CCR_RESET_YEARLY,
	       "core/reset.h counts the periods as Slurm does");

/* slurm_conf.priority_reset_period as core knows it; what core does not know is "none". */
static inline enum ccr_reset_period ccr_reset_period_of(uint16_t slurm_period)
{
	return slurm_period <= PRIORITY_RESET_YEARLY ? (enum ccr_reset_period)slurm_period
						     : CCR_RESET_NONE;
}

#endif
