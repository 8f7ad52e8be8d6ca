/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ICRC: CRC-32 as Ethernet's, over eight 0xff bytes in place of the LRH, then the packet with the
 * fields that switches may rewrite set to ones. Only the headers are copied; the payload is summed
 * in place.
 */
#include "capture/icrc.h"

#include <libdeflate.h>
#include <string.h>

/* CRC-32 of the eight bytes 0xff that stand for the LRH. */
#define CRC_OF_LRH 0x2144df1cU

#define BTH_LEN	    12
#define HEADERS_MAX (40 + 8 + BTH_LEN)

/* Type of service, TTL and header checksum; the UDP checksum of both versions. */
static void mask_ipv4(uint8_t *h)
{
	h[1] = 0xff;
	h[8] = 0xff;
	h[10] = 0xff;
	h[11] = 0xff;
	h[20 + 6] = 0xff;
	h[20 + 7] = 0xff;
}

/* Traffic class, flow label and hop limit: the GRH has the same layout. */
static void mask_grh(uint8_t *h)
{
	h[0] |= 0x0f;
	h[1] = 0xff;
	h[2] = 0xff;
	h[3] = 0xff;
	h[7] = 0xff;
}

uint32_t icrc_compute(enum packet_encap encap, const uint8_t *l3, uint32_t bth_at, uint32_t len)
{
	uint8_t h[HEADERS_MAX];
	uint32_t head = bth_at + BTH_LEN;
	uint32_t crc;

	if (head > sizeof(h) || head > len)
		return 0;
	memcpy(h, l3, head);
	if (encap == ENCAP_ROCE_V2_IPV4) {
		mask_ipv4(h);
	} else {
		mask_grh(h);
		if (encap == ENCAP_ROCE_V2_IPV6) {
			h[40 + 6] = 0xff;
			h[40 + 7] = 0xff;
		}
	}
	h[bth_at + 4] = 0xff; /* FECN, BECN and the reserved bits beside them */
	crc = libdeflate_crc32(CRC_OF_LRH, h, head);
	return libdeflate_crc32(crc, l3 + head, len - head);
}
