/*
 * compat_gres - where generic resources are declared
 */
#ifndef CCR_SLURM_COMPAT_GRES_H
#define CCR_SLURM_COMPAT_GRES_H

#include "slurm/compat.h"

#if CCR_SLURM_INTERFACES
#include "src/interfaces/gres.h"
#else
#include "src/common/gres.h"
#endif

#endif
