/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps user data out of a recording: truncates frames after their transport headers and zeroes
 * R_Keys, which give access to memory. MADs, PFC, PAUSE and LLDP have no user data and stay whole.
 */
#include <string.h>

#include "capture/decode/bth.h"
#include "capture/decode/opcode.h"
#include "capture/file/input.h"

#define IPV4_LEN 20U
#define IPV6_LEN 40U

/* Zeroes the R_Keys of the decoded headers. True when there was one. */
static bool trim_mask_rkeys(const struct packet *p, uint8_t *frame, uint32_t cap_len)
{
	static const struct {
		enum roce_header header;
		uint32_t offset;
	} rkeys[] = {
		{HDR_RETH, 8},
		{HDR_ATOMICETH, 8},
		{HDR_IETH, 0},
	};
	bool masked = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rkeys); i++) {
		uint16_t before = p->headers & (uint16_t)(rkeys[i].header - 1);
		uint32_t at = p->bth_offset + BTH_LEN + roce_headers_len(before) + rkeys[i].offset;

		if (!(p->headers & rkeys[i].header) || at + 4 > cap_len)
			continue;
		memset(frame + at, 0, 4);
		masked = true;
	}
	return masked;
}

/* Other frames keep only their headers up to IP: the rest is user data. */
static uint32_t trim_network_end(const struct packet *p, const uint8_t *frame, uint32_t cap_len)
{
	if (!p->l3_offset || p->l3_offset >= cap_len)
		return p->l3_offset;
	switch (frame[p->l3_offset] >> 4) {
	case 4:
		return p->l3_offset + IPV4_LEN;
	case 6:
		return p->l3_offset + IPV6_LEN;
	default:
		return p->l3_offset;
	}
}

uint32_t trim_frame(const struct packet *p, uint8_t *frame, uint32_t cap_len)
{
	bool known = p->bth && opcode_info(p->opcode)->name;
	bool management = p->bth && opcode_class(p->opcode) == OPCODE_CLASS_UD && p->dest_qpn == 1;
	uint32_t keep = cap_len;

	if (p->kind == PACKET_OTHER)
		keep = trim_network_end(p, frame, cap_len);
	if (p->kind != PACKET_ROCE)
		return keep < cap_len ? keep : cap_len;
	if (!known || !p->data_offset)
		keep = p->bth_offset ? p->bth_offset + BTH_LEN : p->l3_offset;
	else if (trim_mask_rkeys(p, frame, cap_len) || (p->payload_len && !management))
		keep = p->data_offset; /* without ICRC: over a masked key it would look bad */
	return keep < cap_len ? keep : cap_len;
}
