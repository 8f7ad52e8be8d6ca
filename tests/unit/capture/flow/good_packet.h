/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet of RoCE with nothing wrong in it, as it comes out of the decoder.
 */
#ifndef TESTS_UNIT_GOOD_PACKET_H
#define TESTS_UNIT_GOOD_PACKET_H

#include "capture/decode/opcode.h"

/* From ::1 to ::2. */
static inline struct packet good_packet(uint8_t opcode, uint32_t qpn, uint32_t psn)
{
	struct packet p = {
		.kind = PACKET_ROCE,
		.encap = ENCAP_ROCE_V2_IPV4,
		.bth = true,
		.icrc = ICRC_GOOD,
		.opcode = opcode,
		.dest_qpn = qpn,
		.psn = psn & 0xffffff,
		.headers = opcode_info(opcode)->headers,
	};

	p.src[15] = 1;
	p.dst[15] = 2;
	return p;
}

#endif
