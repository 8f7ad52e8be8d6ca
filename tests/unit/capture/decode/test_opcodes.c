/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the opcode table: names, roles and lengths, against the independent list of roce_frames.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "capture/decode/opcode.h"
#include "tests/unit/capture/decode/opcode_vectors.h"
#include "tests/unit/capture/decode/packet_headers.h"
#include "tests/unit/fixture/roce_frames.h"

static const struct frame_opcode *listed(unsigned int opcode)
{
	unsigned int i;

	for (i = 0; i < FRAME_OPCODES; i++)
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
