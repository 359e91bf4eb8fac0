/*
 * policy_error - what muParser found wrong with an expression, in words
 *
 * muParser's C interface hands its own messages out through one static buffer of 2048 bytes without
 * looking at their length, and a message quotes the expression: a long one would overwrite whatever
 * lies behind the buffer. Only its error code and position are used here.
 */
#ifndef CCR_CORE_POLICY_ERROR_H
#define CCR_CORE_POLICY_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes `found X at character N (near '...'), expected Y` into out for muParser's error code and
 * 0-based position in expr; one behind expr is its end, of which the last characters are shown;
 * one below 0 (muParser does not know) is left out. Returns out.
 */
const char *ccr__policy_error(int code, int position, const char *expr, char *out, size_t size);

/* Is that the name of a function of muParser or of policy.c's own? */
bool ccr__policy_is_function(const char *name);

/* Where the name stands in expr as a word of its own, counted from 1; 0: nowhere. */
size_t ccr__policy_find_name(const char *expr, const char *name);

#endif
