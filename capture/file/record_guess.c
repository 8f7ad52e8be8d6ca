/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of pcap have no mark: several in a row, each where the one before it ends, with times
 * near each other and lengths as frames have them, are hardly ever found in other data. Blocks of
 * pcapng tell their length twice.
 */
#include "capture/file/record_guess.h"

#include <string.h>

#define PCAP_RECORD    16U
#define FRAME_MIN      14U
#define FRAME_MAX      (1U << 18)
#define ROW	       4	    /* records in a row */
#define NEAR_SECONDS   3600U	    /* of each other */
#define SEARCH_MAX     (128U << 10) /* a search is not free */
#define BLOCK_ENHANCED 6U
#define ENHANCED_MIN   32U

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Of which the data has two at least. */
static bool is_row(const uint8_t *h, size_t len, uint32_t snap, uint32_t fractions)
{
	uint32_t first = 0;
	unsigned int i;

	for (i = 0; i < ROW && len >= PCAP_RECORD; i++) {
		uint32_t seconds = u32_at(h), cap_len = u32_at(h + 8), wire_len = u32_at(h + 12);

		if (!i)
			first = seconds;
		if (u32_at(h + 4) >= fractions || cap_len > snap || cap_len > wire_len ||
		    cap_len < FRAME_MIN || wire_len > FRAME_MAX ||
		    seconds - first + NEAR_SECONDS > 2 * NEAR_SECONDS)
			return false;
		if (len - PCAP_RECORD <= cap_len)
			return i > 0;
		h += PCAP_RECORD + cap_len;
		len -= PCAP_RECORD + cap_len;
	}
	return i > 1;
}

bool record_guess_pcap(const uint8_t *bytes, size_t len, uint32_t snap, uint32_t fractions,
		       size_t *at)
{
	for (size_t i = 0; i < SEARCH_MAX && len - i >= PCAP_RECORD && i < len; i++) {
		if (is_row(bytes + i, len - i, snap, fractions)) {
			*at = i;
			return true;
		}
	}
	return false;
}

static bool is_block(const uint8_t *h, size_t len)
{
	uint32_t block;

	if (u32_at(h) != BLOCK_ENHANCED)
		return false;
	block = u32_at(h + 4);
	return block >= ENHANCED_MIN && block % 4 == 0 && block <= len &&
	       u32_at(h + block - 4) == block;
}

bool record_guess_pcapng(const uint8_t *bytes, size_t len, uint64_t offset, size_t *at)
{
	for (size_t i = (size_t)-offset % 4; i < SEARCH_MAX && i < len && len - i >= ENHANCED_MIN;
	     i += 4) {
		if (is_block(bytes + i, len - i)) {
			*at = i;
			return true;
		}
	}
	return false;
}
