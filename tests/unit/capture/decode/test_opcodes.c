/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the opcode table: names, roles and lengths, against the independent list of roce_frames.h.
 */
#include <stdint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "capture/decode/opcode.h"
#include "tests/unit/capture/decode/packet_headers.h"
#include "tests/unit/fixture/roce_frames.h"

struct opcode_vector {
	uint8_t opcode;
	const char *name, *headers;
	uint32_t payload; /* bytes, without pad */
	const char *bth, *rest;
};

/* clang-format off */
static const struct opcode_vector opcode_vectors[] = {
	{0x00, "RC_SEND_FIRST", "", 8, "0040ffff0000001780fffffe",
	 "5a5a5a5a5a5a5a5a"},
	{0x01, "RC_SEND_MIDDLE", "", 8, "0140ffff0000001780fffffe",
	 "5a5a5a5a5a5a5a5a"},
	{0x02, "RC_SEND_LAST", "", 5, "0270ffff0000001780fffffe",
	 "5a5a5a5a5a000000"},
	{0x03, "RC_SEND_LAST_WITH_IMMEDIATE", "I", 5, "0370ffff0000001780fffffe",
	 "deadbeef5a5a5a5a5a000000"},
	{0x04, "RC_SEND_ONLY", "", 5, "0470ffff0000001780fffffe",
	 "5a5a5a5a5a000000"},
	{0x05, "RC_SEND_ONLY_WITH_IMMEDIATE", "I", 5, "0570ffff0000001780fffffe",
	 "deadbeef5a5a5a5a5a000000"},
	{0x06, "RC_RDMA_WRITE_FIRST", "R", 8, "0640ffff0000001780fffffe",
	 "1122334455667788cafe0001000010005a5a5a5a5a5a5a5a"},
	{0x07, "RC_RDMA_WRITE_MIDDLE", "", 8, "0740ffff0000001780fffffe",
	 "5a5a5a5a5a5a5a5a"},
	{0x08, "RC_RDMA_WRITE_LAST", "", 5, "0870ffff0000001780fffffe",
	 "5a5a5a5a5a000000"},
	{0x09, "RC_RDMA_WRITE_LAST_WITH_IMMEDIATE", "I", 5, "0970ffff0000001780fffffe",
	 "deadbeef5a5a5a5a5a000000"},
	{0x0a, "RC_RDMA_WRITE_ONLY", "R", 5, "0a70ffff0000001780fffffe",
	 "1122334455667788cafe0001000010005a5a5a5a5a000000"},
	{0x0b, "RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", "RI", 5, "0b70ffff0000001780fffffe",
	 "1122334455667788cafe000100001000deadbeef5a5a5a5a5a000000"},
	{0x0c, "RC_RDMA_READ_REQUEST", "R", 0, "0c40ffff0000001780fffffe",
	 "1122334455667788cafe000100001000"},
	{0x0d, "RC_RDMA_READ_RESPONSE_FIRST", "A", 8, "0d40ffff0000001780fffffe",
	 "1f00abcd5a5a5a5a5a5a5a5a"},
	{0x0e, "RC_RDMA_READ_RESPONSE_MIDDLE", "", 8, "0e40ffff0000001780fffffe",
	 "5a5a5a5a5a5a5a5a"},
	{0x0f, "RC_RDMA_READ_RESPONSE_LAST", "A", 5, "0f70ffff0000001780fffffe",
	 "1f00abcd5a5a5a5a5a000000"},
	{0x10, "RC_RDMA_READ_RESPONSE_ONLY", "A", 5, "1070ffff0000001780fffffe",
	 "1f00abcd5a5a5a5a5a000000"},
	{0x11, "RC_ACK", "A", 0, "1140ffff0000001780fffffe",
	 "1f00abcd"},
	{0x12, "RC_ATOMIC_ACK", "Ak", 0, "1240ffff0000001780fffffe",
	 "1f00abcd0102030405060708"},
	{0x13, "RC_COMPARE_SWAP", "T", 0, "1340ffff0000001780fffffe",
	 "1122334455667788cafe00020000aaaa0000aaaa0000bbbb0000bbbb"},
	{0x14, "RC_FETCH_ADD", "T", 0, "1440ffff0000001780fffffe",
	 "1122334455667788cafe00020000aaaa0000aaaa0000bbbb0000bbbb"},
	{0x16, "RC_SEND_LAST_WITH_INVALIDATE", "V", 5, "1670ffff0000001780fffffe",
	 "cafe00035a5a5a5a5a000000"},
	{0x17, "RC_SEND_ONLY_WITH_INVALIDATE", "V", 5, "1770ffff0000001780fffffe",
	 "cafe00035a5a5a5a5a000000"},
	{0x1c, "RC_FLUSH", "FR", 0, "1c40ffff0000001780fffffe",
	 "000000211122334455667788cafe000100001000"},
	{0x1d, "RC_ATOMIC_WRITE", "R", 8, "1d40ffff0000001780fffffe",
	 "1122334455667788cafe0001000010005a5a5a5a5a5a5a5a"},
	{0x20, "UC_SEND_FIRST", "", 8, "2040ffff0000001780fffffe",
	 "5a5a5a5a5a5a5a5a"},
	{0x21, "UC_SEND_MIDDLE", "", 8, "2140ffff0000001780fffffe",
	 "5a5a5a5a5a5a5a5a"},
	{0x22, "UC_SEND_LAST", "", 6, "2260ffff0000001780fffffe",
	 "5a5a5a5a5a5a0000"},
	{0x23, "UC_SEND_LAST_WITH_IMMEDIATE", "I", 6, "2360ffff0000001780fffffe",
	 "deadbeef5a5a5a5a5a5a0000"},
	{0x24, "UC_SEND_ONLY", "", 6, "2460ffff0000001780fffffe",
	 "5a5a5a5a5a5a0000"},
	{0x25, "UC_SEND_ONLY_WITH_IMMEDIATE", "I", 6, "2560ffff0000001780fffffe",
	 "deadbeef5a5a5a5a5a5a0000"},
	{0x26, "UC_RDMA_WRITE_FIRST", "R", 8, "2640ffff0000001780fffffe",
	 "1122334455667788cafe0001000010005a5a5a5a5a5a5a5a"},
	{0x27, "UC_RDMA_WRITE_MIDDLE", "", 8, "2740ffff0000001780fffffe",
	 "5a5a5a5a5a5a5a5a"},
	{0x28, "UC_RDMA_WRITE_LAST", "", 6, "2860ffff0000001780fffffe",
	 "5a5a5a5a5a5a0000"},
	{0x29, "UC_RDMA_WRITE_LAST_WITH_IMMEDIATE", "I", 6, "2960ffff0000001780fffffe",
	 "deadbeef5a5a5a5a5a5a0000"},
	{0x2a, "UC_RDMA_WRITE_ONLY", "R", 6, "2a60ffff0000001780fffffe",
	 "1122334455667788cafe0001000010005a5a5a5a5a5a0000"},
	{0x2b, "UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", "RI", 6, "2b60ffff0000001780fffffe",
	 "1122334455667788cafe000100001000deadbeef5a5a5a5a5a5a0000"},
	{0x40, "RD or DC 0x40", "", 20, "4040ffff0000001780fffffe",
	 "0000065480010000000007895a5a5a5a5a5a5a5a"},
	{0x41, "RD or DC 0x41", "", 20, "4140ffff0000001780fffffe",
	 "0000065480010000000007895a5a5a5a5a5a5a5a"},
	{0x42, "RD or DC 0x42", "", 12, "4240ffff0000001780fffffe",
	 "000006548001000000000789"},
	{0x43, "RD or DC 0x43", "", 16, "4340ffff0000001780fffffe",
	 "000006548001000000000789deadbeef"},
	{0x44, "RD or DC 0x44", "", 12, "4440ffff0000001780fffffe",
	 "000006548001000000000789"},
	{0x45, "RD or DC 0x45", "", 16, "4540ffff0000001780fffffe",
	 "000006548001000000000789deadbeef"},
	{0x46, "RD or DC 0x46", "", 36, "4640ffff0000001780fffffe",
	 "0000065480010000000007891122334455667788cafe0001000010005a5a5a5a5a5a5a5a"},
	{0x47, "RD or DC 0x47", "", 20, "4740ffff0000001780fffffe",
	 "0000065480010000000007895a5a5a5a5a5a5a5a"},
	{0x48, "RD or DC 0x48", "", 12, "4840ffff0000001780fffffe",
	 "000006548001000000000789"},
	{0x49, "RD or DC 0x49", "", 16, "4940ffff0000001780fffffe",
	 "000006548001000000000789deadbeef"},
	{0x4a, "RD or DC 0x4a", "", 28, "4a40ffff0000001780fffffe",
	 "0000065480010000000007891122334455667788cafe000100001000"},
	{0x4b, "RD or DC 0x4b", "", 32, "4b40ffff0000001780fffffe",
	 "0000065480010000000007891122334455667788cafe000100001000deadbeef"},
	{0x4c, "RD or DC 0x4c", "", 28, "4c40ffff0000001780fffffe",
	 "0000065480010000000007891122334455667788cafe000100001000"},
	{0x4d, "RD or DC 0x4d", "", 16, "4d40ffff0000001780fffffe",
	 "000006541f00abcd5a5a5a5a5a5a5a5a"},
	{0x4e, "RD or DC 0x4e", "", 12, "4e40ffff0000001780fffffe",
	 "000006545a5a5a5a5a5a5a5a"},
	{0x4f, "RD or DC 0x4f", "", 8, "4f40ffff0000001780fffffe",
	 "000006541f00abcd"},
	{0x50, "RD or DC 0x50", "", 8, "5040ffff0000001780fffffe",
	 "000006541f00abcd"},
	{0x51, "RD or DC 0x51", "", 8, "5140ffff0000001780fffffe",
	 "000006541f00abcd"},
	{0x52, "RD or DC 0x52", "", 16, "5240ffff0000001780fffffe",
	 "000006541f00abcd0102030405060708"},
	{0x53, "RD or DC 0x53", "", 40, "5340ffff0000001780fffffe",
	 "0000065480010000000007891122334455667788cafe00020000aaaa0000aaaa0000bbbb0000bbbb"},
	{0x54, "RD or DC 0x54", "", 40, "5440ffff0000001780fffffe",
	 "0000065480010000000007891122334455667788cafe00020000aaaa0000aaaa0000bbbb0000bbbb"},
	{0x55, "RD or DC 0x55", "", 12, "5540ffff0000001780fffffe",
	 "000006548001000000000789"},
	{0x64, "UD_SEND_ONLY", "D", 7, "6450ffff0000001780fffffe",
	 "80010000000007895a5a5a5a5a5a5a00"},
	{0x65, "UD_SEND_ONLY_WITH_IMMEDIATE", "DI", 7, "6550ffff0000001780fffffe",
	 "8001000000000789deadbeef5a5a5a5a5a5a5a00"},
	{0x81, "CNP", "C", 0, "8140ffff4000001780fffffe",
	 "00000000000000000000000000000000"},
	{0xa0, "XRC_SEND_FIRST", "X", 8, "a040ffff0000001780fffffe",
	 "000003215a5a5a5a5a5a5a5a"},
	{0xa1, "XRC_SEND_MIDDLE", "X", 8, "a140ffff0000001780fffffe",
	 "000003215a5a5a5a5a5a5a5a"},
	{0xa2, "XRC_SEND_LAST", "X", 3, "a250ffff0000001780fffffe",
	 "000003215a5a5a00"},
	{0xa3, "XRC_SEND_LAST_WITH_IMMEDIATE", "XI", 3, "a350ffff0000001780fffffe",
	 "00000321deadbeef5a5a5a00"},
	{0xa4, "XRC_SEND_ONLY", "X", 3, "a450ffff0000001780fffffe",
	 "000003215a5a5a00"},
	{0xa5, "XRC_SEND_ONLY_WITH_IMMEDIATE", "XI", 3, "a550ffff0000001780fffffe",
	 "00000321deadbeef5a5a5a00"},
	{0xa6, "XRC_RDMA_WRITE_FIRST", "XR", 8, "a640ffff0000001780fffffe",
	 "000003211122334455667788cafe0001000010005a5a5a5a5a5a5a5a"},
	{0xa7, "XRC_RDMA_WRITE_MIDDLE", "X", 8, "a740ffff0000001780fffffe",
	 "000003215a5a5a5a5a5a5a5a"},
	{0xa8, "XRC_RDMA_WRITE_LAST", "X", 3, "a850ffff0000001780fffffe",
	 "000003215a5a5a00"},
	{0xa9, "XRC_RDMA_WRITE_LAST_WITH_IMMEDIATE", "XI", 3, "a950ffff0000001780fffffe",
	 "00000321deadbeef5a5a5a00"},
	{0xaa, "XRC_RDMA_WRITE_ONLY", "XR", 3, "aa50ffff0000001780fffffe",
	 "000003211122334455667788cafe0001000010005a5a5a00"},
	{0xab, "XRC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", "XRI", 3, "ab50ffff0000001780fffffe",
	 "000003211122334455667788cafe000100001000deadbeef5a5a5a00"},
	{0xac, "XRC_RDMA_READ_REQUEST", "XR", 0, "ac40ffff0000001780fffffe",
	 "000003211122334455667788cafe000100001000"},
	{0xad, "XRC_RDMA_READ_RESPONSE_FIRST", "A", 8, "ad40ffff0000001780fffffe",
	 "1f00abcd5a5a5a5a5a5a5a5a"},
	{0xae, "XRC_RDMA_READ_RESPONSE_MIDDLE", "", 8, "ae40ffff0000001780fffffe",
	 "5a5a5a5a5a5a5a5a"},
	{0xaf, "XRC_RDMA_READ_RESPONSE_LAST", "A", 3, "af50ffff0000001780fffffe",
	 "1f00abcd5a5a5a00"},
	{0xb0, "XRC_RDMA_READ_RESPONSE_ONLY", "A", 3, "b050ffff0000001780fffffe",
	 "1f00abcd5a5a5a00"},
	{0xb1, "XRC_ACK", "A", 0, "b140ffff0000001780fffffe",
	 "1f00abcd"},
	{0xb2, "XRC_ATOMIC_ACK", "Ak", 0, "b240ffff0000001780fffffe",
	 "1f00abcd0102030405060708"},
	{0xb3, "XRC_COMPARE_SWAP", "XT", 0, "b340ffff0000001780fffffe",
	 "000003211122334455667788cafe00020000aaaa0000aaaa0000bbbb0000bbbb"},
	{0xb4, "XRC_FETCH_ADD", "XT", 0, "b440ffff0000001780fffffe",
	 "000003211122334455667788cafe00020000aaaa0000aaaa0000bbbb0000bbbb"},
	{0xb6, "XRC_SEND_LAST_WITH_INVALIDATE", "XV", 3, "b650ffff0000001780fffffe",
	 "00000321cafe00035a5a5a00"},
	{0xb7, "XRC_SEND_ONLY_WITH_INVALIDATE", "XV", 3, "b750ffff0000001780fffffe",
	 "00000321cafe00035a5a5a00"},
	{0xbc, "XRC_FLUSH", "XFR", 0, "bc40ffff0000001780fffffe",
	 "00000321000000211122334455667788cafe000100001000"},
	{0xbd, "XRC_ATOMIC_WRITE", "XR", 8, "bd40ffff0000001780fffffe",
	 "000003211122334455667788cafe0001000010005a5a5a5a5a5a5a5a"},
	{0xe0, "vendor 0xe0", "", 4, "e040ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xe1, "vendor 0xe1", "", 4, "e140ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xe2, "vendor 0xe2", "", 4, "e240ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xe3, "vendor 0xe3", "", 4, "e340ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xe4, "vendor 0xe4", "", 4, "e440ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xe5, "vendor 0xe5", "", 4, "e540ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xe6, "vendor 0xe6", "", 4, "e640ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xe7, "vendor 0xe7", "", 4, "e740ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xe8, "vendor 0xe8", "", 4, "e840ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xe9, "vendor 0xe9", "", 4, "e940ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xea, "vendor 0xea", "", 4, "ea40ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xeb, "vendor 0xeb", "", 4, "eb40ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xec, "vendor 0xec", "", 4, "ec40ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xed, "vendor 0xed", "", 4, "ed40ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xee, "vendor 0xee", "", 4, "ee40ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xef, "vendor 0xef", "", 4, "ef40ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xf0, "vendor 0xf0", "", 4, "f040ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xf1, "vendor 0xf1", "", 4, "f140ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xf2, "vendor 0xf2", "", 4, "f240ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xf3, "vendor 0xf3", "", 4, "f340ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xf4, "vendor 0xf4", "", 4, "f440ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xf5, "vendor 0xf5", "", 4, "f540ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xf6, "vendor 0xf6", "", 4, "f640ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xf7, "vendor 0xf7", "", 4, "f740ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xf8, "vendor 0xf8", "", 4, "f840ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xf9, "vendor 0xf9", "", 4, "f940ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xfa, "vendor 0xfa", "", 4, "fa40ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xfb, "vendor 0xfb", "", 4, "fb40ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xfc, "vendor 0xfc", "", 4, "fc40ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xfd, "vendor 0xfd", "", 4, "fd40ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xfe, "vendor 0xfe", "", 4, "fe40ffff0000001780fffffe",
	 "5a5a5a5a"},
	{0xff, "vendor 0xff", "", 4, "ff40ffff0000001780fffffe",
	 "5a5a5a5a"},
};
/* clang-format on */

static const struct frame_opcode *listed(unsigned int opcode)
{
	unsigned int i;

	for (i = 0; i < frame_opcode_count; i++)
		if (frame_opcodes[i].opcode == opcode)
			return &frame_opcodes[i];
	return NULL;
}

static void table_is_the_list(void **state)
{
	unsigned int op;

	(void)state;
	for (op = 0; op < 256; op++) {
		const struct opcode_info *info = opcode_info((uint8_t)op);
		const struct frame_opcode *want = listed(op);
		uint32_t len = 0;
		const char *c;

		assert_int_equal(!!info->name, !!want);
		for (c = want ? want->headers : ""; *c; c++)
			len += frame_header_len(*c);
		assert_int_equal(roce_headers_len(info->headers), len);
		if (want && want->payload)
			assert_true(info->flags & OP_PAYLOAD);
	}
}

static void names(void **state)
{
	static const char *const unknown[] = {"unknown", "unknown", "RD or DC", "unknown",
					      "unknown", "unknown", "unknown",	"vendor"};
	static const char *const prefix[] = {"RC_", "UC_", "?", "UD_", "CNP", "XRC_", "?", "?"};
	char buf[32], want[32];
	unsigned int op, other;

	(void)state;
	for (op = 0; op < 256; op++) {
		const char *name = opcode_name((uint8_t)op, buf, sizeof(buf));

		if (!listed(op)) {
			snprintf(want, sizeof(want), "%s 0x%02x", unknown[op >> 5], op);
			assert_string_equal(name, want);
			continue;
		}
		assert_int_equal(strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"),
				 strlen(name));
		assert_int_equal(strncmp(name, prefix[op >> 5], strlen(prefix[op >> 5])), 0);
		for (other = 0; other < op; other++)
			if (listed(other))
				assert_string_not_equal(name, opcode_info((uint8_t)other)->name);
	}
	assert_string_equal(opcode_name(0x06, buf, sizeof(buf)), "RC_RDMA_WRITE_FIRST");
	assert_string_equal(opcode_name(0x47, buf, sizeof(buf)), "RD or DC 0x47");
	assert_string_equal(opcode_name(0x80, buf, sizeof(buf)), "unknown 0x80");
}

/* XRC is RC with an XRCETH on requests; UC is the first twelve of RC. */
static void transports_agree(void **state)
{
	unsigned int low;

	(void)state;
	for (low = 0; low < 32; low++) {
		const struct opcode_info *rc = opcode_info((uint8_t)low);
		const struct opcode_info *uc = opcode_info((uint8_t)(0x20 | low));
		const struct opcode_info *xrc = opcode_info((uint8_t)(0xa0 | low));
		uint16_t extra = rc->flags & OP_REQUEST ? HDR_XRCETH : 0;

		assert_int_equal(!!rc->name, !!xrc->name);
		assert_int_equal(xrc->flags, rc->flags);
		assert_int_equal(xrc->headers, rc->headers | extra);
		assert_int_equal(!!uc->name, low < 12);
		if (uc->name)
			assert_int_equal(uc->headers, rc->headers);
		if (rc->name)
			assert_string_equal(strchr(rc->name, '_'), strchr(xrc->name, '_'));
	}
}

static void roles(void **state)
{
	unsigned int op;

	(void)state;
	for (op = 0; op < 256; op++) {
		const struct opcode_info *info = opcode_info((uint8_t)op);
		bool request = info->flags & OP_REQUEST, response = info->flags & OP_RESPONSE;

		if (!info->name)
			assert_int_equal(info->flags, 0);
		else
			assert_int_equal(request + response, op == OPCODE_CNP ? 0 : 1);
		if (info->flags & OP_FULL)
			assert_true(info->flags & OP_PAYLOAD);
		if (info->headers & HDR_AETH)
			assert_true(response);
	}
	assert_true(opcode_info(0x0c)->flags & OP_READ);
	assert_true(opcode_info(0xac)->flags & OP_READ);
}

static void single_headers(void **state)
{
	static const struct {
		enum roce_header bit;
		uint32_t want;
	} rows[] = {
		{HDR_DETH, 8},	     {HDR_XRCETH, 4}, {HDR_FETH, 4},	     {HDR_RETH, 16},
		{HDR_ATOMICETH, 28}, {HDR_AETH, 4},   {HDR_ATOMICACKETH, 8}, {HDR_IMMDT, 4},
		{HDR_IETH, 4},	     {HDR_CNP, 16},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(roce_headers_len(rows[i].bit), rows[i].want);
	assert_int_equal(roce_headers_len(HDR_RETH | HDR_IMMDT), 20);
	assert_int_equal(roce_headers_len(0), 0);
}

static uint32_t put_hex(uint8_t *out, const char *hex)
{
	uint32_t n = 0;
	unsigned int byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		out[n++] = (uint8_t)byte;
	return n;
}

/* Ethernet, IPv4 and UDP around it; the ICRC is not looked at here. */
static void decode_vector(const struct opcode_vector *v, struct packet *p)
{
	uint8_t bytes[256];
	uint32_t len = put_hex(bytes, "020000000002020000000001"
				      "0800"
				      "456a000000014000"
				      "40110000"
				      "c6120001"
				      "c6120002"
				      "c12312b700000000");

	len += put_hex(bytes + len, v->bth);
	len += put_hex(bytes + len, v->rest);
	memset(bytes + len, 0, 4);
	len += 4;
	bytes[17] = (uint8_t)(len - 14);
	bytes[39] = (uint8_t)(len - 34);
	packet_decode(1, bytes, len, len, 1, 1, p);
}

static void vectors(void **state)
{
	bool seen[256] = {false};
	unsigned int op;
	char buf[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(opcode_vectors); i++) {
		const struct opcode_vector *v = &opcode_vectors[i];
		struct packet p;

		decode_vector(v, &p);
		assert_string_equal(p.note, "");
		assert_int_equal(p.fault, PACKET_OK);
		assert_int_equal(p.kind, PACKET_ROCE);
		assert_true(p.bth);
		assert_int_equal(p.opcode, v->opcode);
		assert_string_equal(opcode_name(p.opcode, buf, sizeof(buf)), v->name);
		assert_int_equal(p.payload_len, v->payload);
		assert_int_equal(p.tver, 0);
		assert_int_equal(p.pkey, 0xffff);
		assert_int_equal(p.dest_qpn, 0x17);
		assert_int_equal(p.psn, 0xfffffe);
		assert_true(p.migreq && p.ackreq && !p.se && !p.fecn);
		assert_int_equal(p.becn, v->opcode == OPCODE_CNP);
		check_headers(&p, v->headers);
		assert_false(seen[v->opcode]);
		seen[v->opcode] = true;
	}
	/* What the table knows, and all of the vendors' range. */
	for (op = 0; op < 256; op++)
		if (opcode_info((uint8_t)op)->name || op >= 0xe0)
			assert_true(seen[op]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_the_list), cmocka_unit_test(names),
		cmocka_unit_test(transports_agree),  cmocka_unit_test(roles),
		cmocka_unit_test(single_headers),    cmocka_unit_test(vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
