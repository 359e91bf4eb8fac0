/*
 * crc32 - the check sum of the state files (ISO 3309, as gzip, PNG and `python3 -c zlib.crc32` have
 * it)
 */
#ifndef CCR_CORE_CRC32_H
#define CCR_CORE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The sum over what crc covers followed by len bytes of data; begin with 0. */
uint32_t ccr__crc32(uint32_t crc, const void *data, size_t len);

#endif
