/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What good_packet.h declares.
 */
#include "tests/unit/capture/flow/good_packet.h"

struct packet good_packet(uint8_t opcode, uint32_t qpn, uint32_t psn)
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
