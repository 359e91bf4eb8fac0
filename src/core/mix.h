/*
 * mix - one round of a multiply-xorshift mixer (constants: the 64-bit golden ratio)
 *
 * For hashes that tell things apart, not against anybody who wants two to be alike.
 */
#ifndef CCR_CORE_MIX_H
#define CCR_CORE_MIX_H

#include <stdint.h>

/* The hash of what went into h before, and v. */
static inline uint64_t ccr_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ (h >> 29);
}

/* The same of a text, its length included; NULL is another than "". */
static inline uint64_t ccr_mix_text(uint64_t h, const char *text)
{
	uint64_t n = 0;

	for (; text && text[n]; n++)
		h = ccr_mix(h, (unsigned char)text[n]);
	return ccr_mix(h, text ? n + 1 : 0);
}

#endif
