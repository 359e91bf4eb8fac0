/*
 * duration - a length of time as slurm.conf and #SBATCH write it
 */
#ifndef CCR_CORE_DURATION_H
#define CCR_CORE_DURATION_H

#include <stdint.h>

/* The longest duration that is read: 3660 days (ten years). */
#define CCR_DURATION_MAX (INT64_C(3660) * 86400)

/*
 * Reads `HH:MM:SS`, `D-HH`, `D-HH:MM` or `D-HH:MM:SS` into seconds. Slurm's `MM` and `MM:SS` are
 * not read: in a file they are taken for hours too easily. Returns 0, or -1 if text is none of them
 * or out of range (minutes and seconds above 59, hours above 23 after days, above
 * CCR_DURATION_MAX).
 */
int ccr_duration_parse(const char *text, int64_t *seconds);

/* Writes seconds as `D-HH:MM:SS` into out (24 bytes are enough for every duration read). Returns
 * out. */
const char *ccr_duration_print(int64_t seconds, char *out, unsigned size);

#endif
