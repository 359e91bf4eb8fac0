/*
 * bits - sets of nodes as plain words
 *
 * A set over n nodes is CCR_WORDS(n) words of 64 bits; node i is bit i % 64 of word i / 64. Bits
 * past n are 0. A NULL set means every node wherever a function says that it may be NULL.
 */
#ifndef CCR_CORE_BITS_H
#define CCR_CORE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CCR_WORDS(n) (((size_t)(n) + 63) / 64)

static inline bool ccr_bit(const uint64_t *set, uint32_t i)
{
	return !set || (set[i / 64] >> (i % 64) & 1);
}

static inline void ccr_bit_set(uint64_t *set, uint32_t i)
{
	set[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void ccr_bit_clear(uint64_t *set, uint32_t i)
{
	set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* The first member at or after i, or n when there is none; set may be NULL. */
static inline uint32_t ccr_bit_next(const uint64_t *set, uint32_t i, uint32_t n)
{
	uint64_t word;

	if (i >= n || !set)
		return i < n ? i : n;
	word = set[i / 64] & (~UINT64_C(0) << (i % 64));
	for (size_t w = i / 64;; word = set[w]) {
		if (word) {
			uint32_t at = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(word);

			return at < n ? at : n;
		}
		if (++w >= CCR_WORDS(n))
			return n;
	}
}

/* How many members; set may not be NULL. */
static inline uint32_t ccr_bit_count(const uint64_t *set, uint32_t n)
{
	uint32_t c = 0;

	for (size_t w = 0; w < CCR_WORDS(n); w++)
		c += (uint32_t)__builtin_popcountll(set[w]);
	return c;
}

/* For i in set (may be NULL) over n nodes. */
#define CCR_BITS_EACH(i, set, n)                                                                   \
	for (uint32_t i = ccr_bit_next(set, 0, n); i < (n); i = ccr_bit_next(set, i + 1, n))

#endif
