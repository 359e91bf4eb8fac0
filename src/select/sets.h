/*
 * sets - slurmctld's bitstrings as the core's sets of nodes, and back
 */
#ifndef CCR_SELECT_SETS_H
#define CCR_SELECT_SETS_H

#include "core/bits.h"
#include "slurm/compat_select.h"

/* Overwrites set, which has room for n nodes. */
void ccr_set_from_bits(uint64_t *set, bitstr_t *bits, uint32_t n);

/* Overwrites bits, which has at least n. */
void ccr_bits_from_set(bitstr_t *bits, const uint64_t *set, uint32_t n);

#endif
