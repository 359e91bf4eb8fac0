/* sets - see sets.h */
#include "select/sets.h"

#include <stdatomic.h>
#include <string.h>

/*
 * A bitstring is two words of its own and then the bits, lowest first, in all versions so far.
 * Copying words instead of single bits matters at 10,000 nodes and 10,000 jobs, so it is tried on
 * a sample once; where that does not hold, bits are moved one by one.
 */
#define HEAD 2

static bool plain_words(void)
{
	static atomic_int known; /* 0 not tried, 1 yes, 2 no */
	int k = atomic_load(&known);

	if (!k) {
		bitstr_t *b = bit_alloc(192);
		uint64_t words[3] = {0};

		k = 2;
		if (b) {
			bit_set(b, 0);
			bit_set(b, 65);
			bit_set(b, 191);
			memcpy(words, (const char *)b + HEAD * sizeof(uint64_t), sizeof(words));
			if (sizeof(bitstr_t) == sizeof(uint64_t) && words[0] == 1 &&
			    words[1] == 2 && words[2] == UINT64_C(1) << 63)
				k = 1;
			bit_free(b);
		}
		atomic_store(&known, k);
	}
	return k == 1;
}

void ccr_set_from_bits(uint64_t *set, bitstr_t *bits, uint32_t n)
{
	uint32_t have = (uint32_t)bit_size(bits);
	size_t words = CCR_WORDS(have < n ? have : n);

	memset(set, 0, CCR_WORDS(n) * sizeof(*set));
	if (have < n)
		n = have;
	if (!n)
		return;
	if (plain_words()) {
		memcpy(set, (const char *)bits + HEAD * sizeof(uint64_t), words * sizeof(*set));
		if (n % 64)
			set[words - 1] &= (UINT64_C(1) << (n % 64)) - 1;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		if (bit_test(bits, i))
			ccr_bit_set(set, i);
}

void ccr_bits_from_set(bitstr_t *bits, const uint64_t *set, uint32_t n)
{
	uint32_t have = (uint32_t)bit_size(bits);

	if (have == n && plain_words()) {
		memcpy((char *)bits + HEAD * sizeof(uint64_t), set, CCR_WORDS(n) * sizeof(*set));
		return;
	}
	for (uint32_t i = 0; i < have; i++) {
		if (i < n && ccr_bit(set, i))
			bit_set(bits, i);
		else
			bit_clear(bits, i);
	}
}
