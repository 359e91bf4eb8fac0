#include <criterion/criterion.h>
#include <string.h>

#include "core/crc32.h"

Test(crc32, standard_check_value)
{
	cr_assert_eq(ccr__crc32(0, "123456789", 9), 0xcbf43926u);
	cr_assert_eq(ccr__crc32(0, "", 0), 0u);
}

Test(crc32, in_pieces_as_in_one)
{
	const char *text = "The quick brown fox jumps over the lazy dog";

	for (size_t i = 0; i <= strlen(text); i++)
		cr_assert_eq(ccr__crc32(ccr__crc32(0, text, i), text + i, strlen(text) - i),
			     0x414fa339u);
}

Test(crc32, every_flipped_bit_shows)
{
	unsigned char data[64];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 37);
	uint32_t crc = ccr__crc32(0, data, sizeof(data));
	for (size_t i = 0; i < sizeof(data) * 8; i++) {
		data[i / 8] ^= (unsigned char)(1u << (i % 8));
		cr_assert_neq(ccr__crc32(0, data, sizeof(data)), crc);
		data[i / 8] ^= (unsigned char)(1u << (i % 8));
	}
}
