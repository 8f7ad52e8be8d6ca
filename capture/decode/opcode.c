/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opcode table and lengths of the extension headers. Packet lengths are derived from both, never
 * stored. Names are those of the specification, with the transport as a prefix.
 */
#include "capture/decode/opcode.h"

#include <stdio.h>

#define REQ  OP_REQUEST
#define RSP  OP_RESPONSE
#define DATA OP_PAYLOAD
#define FULL (OP_PAYLOAD | OP_FULL)

/* clang-format off */
const struct opcode_info opcode_table[256] = {
	[0x00] = {"RC_SEND_FIRST", 0, REQ | FULL},
	[0x01] = {"RC_SEND_MIDDLE", 0, REQ | FULL},
	[0x02] = {"RC_SEND_LAST", 0, REQ | DATA},
	[0x03] = {"RC_SEND_LAST_WITH_IMMEDIATE", HDR_IMMDT, REQ | DATA},
	[0x04] = {"RC_SEND_ONLY", 0, REQ | DATA},
	[0x05] = {"RC_SEND_ONLY_WITH_IMMEDIATE", HDR_IMMDT, REQ | DATA},
	[0x06] = {"RC_RDMA_WRITE_FIRST", HDR_RETH, REQ | FULL},
	[0x07] = {"RC_RDMA_WRITE_MIDDLE", 0, REQ | FULL},
	[0x08] = {"RC_RDMA_WRITE_LAST", 0, REQ | DATA},
	[0x09] = {"RC_RDMA_WRITE_LAST_WITH_IMMEDIATE", HDR_IMMDT, REQ | DATA},
	[0x0a] = {"RC_RDMA_WRITE_ONLY", HDR_RETH, REQ | DATA},
	[0x0b] = {"RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", HDR_RETH | HDR_IMMDT, REQ | DATA},
	[0x0c] = {"RC_RDMA_READ_REQUEST", HDR_RETH, REQ | OP_READ},
	[0x0d] = {"RC_RDMA_READ_RESPONSE_FIRST", HDR_AETH, RSP | FULL},
	[0x0e] = {"RC_RDMA_READ_RESPONSE_MIDDLE", 0, RSP | FULL},
	[0x0f] = {"RC_RDMA_READ_RESPONSE_LAST", HDR_AETH, RSP | DATA},
	[0x10] = {"RC_RDMA_READ_RESPONSE_ONLY", HDR_AETH, RSP | DATA},
	[0x11] = {"RC_ACK", HDR_AETH, RSP | OP_ACK},
	[0x12] = {"RC_ATOMIC_ACK", HDR_AETH | HDR_ATOMICACKETH, RSP | OP_ACK},
	[0x13] = {"RC_COMPARE_SWAP", HDR_ATOMICETH, REQ},
	[0x14] = {"RC_FETCH_ADD", HDR_ATOMICETH, REQ},
	[0x16] = {"RC_SEND_LAST_WITH_INVALIDATE", HDR_IETH, REQ | DATA},
	[0x17] = {"RC_SEND_ONLY_WITH_INVALIDATE", HDR_IETH, REQ | DATA},
	[0x1c] = {"RC_FLUSH", HDR_FETH | HDR_RETH, REQ},
	[0x1d] = {"RC_ATOMIC_WRITE", HDR_RETH, REQ | DATA},

	[0x20] = {"UC_SEND_FIRST", 0, REQ | FULL},
	[0x21] = {"UC_SEND_MIDDLE", 0, REQ | FULL},
	[0x22] = {"UC_SEND_LAST", 0, REQ | DATA},
	[0x23] = {"UC_SEND_LAST_WITH_IMMEDIATE", HDR_IMMDT, REQ | DATA},
	[0x24] = {"UC_SEND_ONLY", 0, REQ | DATA},
	[0x25] = {"UC_SEND_ONLY_WITH_IMMEDIATE", HDR_IMMDT, REQ | DATA},
	[0x26] = {"UC_RDMA_WRITE_FIRST", HDR_RETH, REQ | FULL},
	[0x27] = {"UC_RDMA_WRITE_MIDDLE", 0, REQ | FULL},
	[0x28] = {"UC_RDMA_WRITE_LAST", 0, REQ | DATA},
	[0x29] = {"UC_RDMA_WRITE_LAST_WITH_IMMEDIATE", HDR_IMMDT, REQ | DATA},
	[0x2a] = {"UC_RDMA_WRITE_ONLY", HDR_RETH, REQ | DATA},
	[0x2b] = {"UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", HDR_RETH | HDR_IMMDT, REQ | DATA},

	[0x64] = {"UD_SEND_ONLY", HDR_DETH, REQ | DATA},
	[0x65] = {"UD_SEND_ONLY_WITH_IMMEDIATE", HDR_DETH | HDR_IMMDT, REQ | DATA},

	[OPCODE_CNP] = {"CNP", HDR_CNP, 0},

	[0xa0] = {"XRC_SEND_FIRST", HDR_XRCETH, REQ | FULL},
	[0xa1] = {"XRC_SEND_MIDDLE", HDR_XRCETH, REQ | FULL},
	[0xa2] = {"XRC_SEND_LAST", HDR_XRCETH, REQ | DATA},
	[0xa3] = {"XRC_SEND_LAST_WITH_IMMEDIATE", HDR_XRCETH | HDR_IMMDT, REQ | DATA},
	[0xa4] = {"XRC_SEND_ONLY", HDR_XRCETH, REQ | DATA},
	[0xa5] = {"XRC_SEND_ONLY_WITH_IMMEDIATE", HDR_XRCETH | HDR_IMMDT, REQ | DATA},
	[0xa6] = {"XRC_RDMA_WRITE_FIRST", HDR_XRCETH | HDR_RETH, REQ | FULL},
	[0xa7] = {"XRC_RDMA_WRITE_MIDDLE", HDR_XRCETH, REQ | FULL},
	[0xa8] = {"XRC_RDMA_WRITE_LAST", HDR_XRCETH, REQ | DATA},
	[0xa9] = {"XRC_RDMA_WRITE_LAST_WITH_IMMEDIATE", HDR_XRCETH | HDR_IMMDT, REQ | DATA},
	[0xaa] = {"XRC_RDMA_WRITE_ONLY", HDR_XRCETH | HDR_RETH, REQ | DATA},
	[0xab] = {"XRC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", HDR_XRCETH | HDR_RETH | HDR_IMMDT,
		  REQ | DATA},
	[0xac] = {"XRC_RDMA_READ_REQUEST", HDR_XRCETH | HDR_RETH, REQ | OP_READ},
	[0xad] = {"XRC_RDMA_READ_RESPONSE_FIRST", HDR_AETH, RSP | FULL},
	[0xae] = {"XRC_RDMA_READ_RESPONSE_MIDDLE", 0, RSP | FULL},
	[0xaf] = {"XRC_RDMA_READ_RESPONSE_LAST", HDR_AETH, RSP | DATA},
	[0xb0] = {"XRC_RDMA_READ_RESPONSE_ONLY", HDR_AETH, RSP | DATA},
	[0xb1] = {"XRC_ACK", HDR_AETH, RSP | OP_ACK},
	[0xb2] = {"XRC_ATOMIC_ACK", HDR_AETH | HDR_ATOMICACKETH, RSP | OP_ACK},
	[0xb3] = {"XRC_COMPARE_SWAP", HDR_XRCETH | HDR_ATOMICETH, REQ},
	[0xb4] = {"XRC_FETCH_ADD", HDR_XRCETH | HDR_ATOMICETH, REQ},
	[0xb6] = {"XRC_SEND_LAST_WITH_INVALIDATE", HDR_XRCETH | HDR_IETH, REQ | DATA},
	[0xb7] = {"XRC_SEND_ONLY_WITH_INVALIDATE", HDR_XRCETH | HDR_IETH, REQ | DATA},
	[0xbc] = {"XRC_FLUSH", HDR_XRCETH | HDR_FETH | HDR_RETH, REQ},
	[0xbd] = {"XRC_ATOMIC_WRITE", HDR_XRCETH | HDR_RETH, REQ | DATA},
};
/* clang-format on */

const struct roce_header_info roce_headers[] = {
	{"DETH", 8}, {"XRCETH", 4},	  {"FETH", 4},	{"RETH", 16}, {"AtomicETH", 28},
	{"AETH", 4}, {"AtomicAckETH", 8}, {"ImmDt", 4}, {"IETH", 4},  {"CNP", 16},
};

uint32_t roce_headers_len(uint16_t headers)
{
	uint32_t len = 0;

	for (; headers; headers &= headers - 1U)
		len += roce_headers[__builtin_ctz(headers)].len;
	return len;
}

const char *opcode_name(uint8_t opcode, char *buf, size_t size)
{
	static const char *const classes[8] = {
		[OPCODE_CLASS_RD] = "RD or DC",
		[OPCODE_CLASS_VENDOR] = "vendor",
	};
	const char *class_name = classes[opcode_class(opcode)];

	if (opcode_table[opcode].name)
		return opcode_table[opcode].name;
	snprintf(buf, size, "%s 0x%02x", class_name ? class_name : "unknown", opcode);
	return buf;
}
