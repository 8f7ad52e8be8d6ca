/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line and the JSON object of a packet: terminated at every buffer size, and the promised keys.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/dlt.h>

#include "capture/decode/packet.h"
#include "tests/unit/fixture/roce_frames.h"

static void decode(const struct frame *f, struct packet *p)
{
	packet_decode(DLT_EN10MB, f->bytes, f->len, f->len, 7, 1234567890123456789, p);
}

/* Text and JSON of every vector: terminated at every size, and the keys that are promised. */
static void text_and_json(void **state)
{
	static const char *const keys[] = {
		"frame", "time_ns", "encap",	"src",	  "dst", "sport",	"dscp", "ecn",
		"vid",	 "pcp",	    "opcode",	"name",	  "se",	 "migreq",	"pad",	"pkey",
		"fecn",	 "becn",    "dest_qpn", "ackreq", "psn", "payload_len", "icrc",
	};
	char line[512], part[512];
	unsigned int i, k;
	struct packet p;
	struct frame f;
	json_t *o;
	int n, size;

	(void)state;
	for (i = 0; i < frame_opcode_count; i++) {
		frame_of_opcode(i, NET_IPV4, 2, &f);
		decode(&f, &p);
		n = packet_text(&p, line, sizeof(line));
		assert_int_equal(n, strlen(line));
		assert_non_null(strstr(line, "198.18.0.1"));
		assert_non_null(strstr(line, "ICRC ok"));
		for (size = 1; size < n; size++) {
			assert_int_equal(packet_text(&p, part, (size_t)size), n);
			assert_memory_equal(part, line, (size_t)size - 1);
			assert_int_equal(part[size - 1], 0);
		}
		o = packet_to_json(&p);
		assert_non_null(o);
		for (k = 0; k < ARRAY_SIZE(keys); k++)
			assert_non_null(json_object_get(o, keys[k]));
		assert_int_equal(json_integer_value(json_object_get(o, "psn")), 0xfffffe);
		assert_int_equal(!!json_object_get(o, "reth"),
				 !!strchr(frame_opcodes[i].headers, 'R'));
		json_decref(o);
	}
}

/* Each extension header has its words, and no packet those of another. */
static void text_of_headers(void **state)
{
	static const struct {
		char letter;
		const char *want;
	} rows[] = {
		{'D', ", from qp 0x000789"},
		{'X', ", srq 0x000321"},
		{'F', ", flush 0x00000021"},
		{'R', ", va 0x1122334455667788 length 4096"},
		{'T', ", va 0x1122334455667788 swap/add 0x0000aaaa0000aaaa compare "
		      "0x0000bbbb0000bbbb"},
		{'A', ", msn 43981"},
		{'k', ", original value 0x0102030405060708"},
		{'I', ", immediate 0xdeadbeef"},
		{'V', ", invalidates an R_Key"},
	};
	unsigned int i, k;
	char line[512];
	struct packet p;
	struct frame f;

	(void)state;
	for (i = 0; i < frame_opcode_count; i++) {
		frame_of_opcode(i, NET_IPV4, 0, &f);
		decode(&f, &p);
		packet_text(&p, line, sizeof(line));
		for (k = 0; k < ARRAY_SIZE(rows); k++)
			assert_int_equal(!!strstr(line, rows[k].want),
					 !!strchr(frame_opcodes[i].headers, rows[k].letter));
	}
}

static void text_of_naks(void **state)
{
	static const struct {
		uint8_t syndrome;
		const char *want;
	} rows[] = {
		{0x60, "sequence NAK"},		{0x62, "(remote access)"},
		{0x7f, "(reserved code)"},	{0x2e, "NAK (wait 1.28 ms)"},
		{0x20, "NAK (wait 655.36 ms)"}, {0x3f, "NAK (wait 491.52 ms)"},
		{0x4a, "reserved AETH 0x4a"},	{0x03, ", credits 3"},
		{0x06, ", credits 8"},		{0x1d, ", credits 24576"},
		{0x1e, ", credits 32768"},	{0x1f, "RC_ACK"},
	};
	struct packet p;
	struct frame f;
	char line[512];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct frame_spec s = {
			.opcode = 0x11, .headers = "A", .syndrome = rows[i].syndrome};

		frame_build(&s, &f);
		decode(&f, &p);
		packet_text(&p, line, sizeof(line));
		assert_non_null(strstr(line, rows[i].want));
	}
}

/* A CNP that does not say congestion is shown as such. */
static void text_of_cnp(void **state)
{
	struct packet p;
	struct frame f;
	char line[512];

	(void)state;
	for (unsigned int becn = 0; becn <= 0x40; becn += 0x40) {
		struct frame_spec s = {.opcode = 0x81, .headers = "C", .byte4 = (uint8_t)becn};

		frame_build(&s, &f);
		decode(&f, &p);
		packet_text(&p, line, sizeof(line));
		assert_int_equal(!!strstr(line, ", BECN"), becn != 0);
		assert_int_equal(!!strstr(line, ", without BECN"), !becn);
	}
}

/* Nobody knows where the headers of an unknown opcode end, so nobody is told of a payload. */
static void unknown_opcodes(void **state)
{
	static const struct {
		uint8_t opcode;
		const char *want;
	} rows[] = {
		{0x47, " RD or DC 0x47 "},
		{0xe3, " vendor 0xe3 "},
		{0x80, " unknown 0x80 "},
		{0x15, " unknown 0x15 "},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct frame_spec s = {.opcode = rows[i].opcode, .headers = "", .payload = 40};
		struct packet p;
		struct frame f;
		char line[512];
		json_t *o;

		frame_build(&s, &f);
		decode(&f, &p);
		packet_text(&p, line, sizeof(line));
		assert_non_null(strstr(line, rows[i].want));
		assert_non_null(strstr(line, "40 bytes of unknown headers and data"));
		o = packet_to_json(&p);
		assert_true(json_is_null(json_object_get(o, "payload_len")));
		assert_string_equal(json_string_value(json_object_get(o, "icrc")), "good");
		json_decref(o);
	}
}

/* PFC, LLDP and what is cut off have objects too; what was not reached is null, not 0. */
static void objects_of_others(void **state)
{
	static const uint8_t pfc[34] = {0x01, 0x80, 0xc2, 0, 0,	   1, 2, 0, 0, 0, 0, 1,	   0x88,
					0x08, 0x01, 0x01, 0, 0x08, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	struct packet p;
	struct frame f;
	char line[512];
	json_t *o;

	(void)state;
	packet_decode(DLT_EN10MB, pfc, sizeof(pfc), sizeof(pfc), 1, 0, &p);
	o = packet_to_json(&p);
	assert_string_equal(json_string_value(json_object_get(o, "encap")), "pfc");
	assert_int_equal(json_integer_value(json_object_get(o, "enable")), 8);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(o, "quanta"), 3)),
			 0xffff);
	assert_null(json_object_get(o, "opcode"));
	json_decref(o);
	packet_text(&p, line, sizeof(line));
	assert_non_null(strstr(line, "PFC prio 3 quanta 65535"));

	frame_of_opcode(6, NET_IPV4, 0, &f);
	packet_decode(DLT_EN10MB, f.bytes, f.bth + 3, f.len, 1, 0, &p);
	o = packet_to_json(&p);
	assert_true(json_is_null(json_object_get(o, "opcode")));
	assert_true(json_is_null(json_object_get(o, "vid")));
	assert_string_equal(json_string_value(json_object_get(o, "fault")), "truncated");
	json_decref(o);
	packet_text(&p, line, sizeof(line));
	assert_non_null(strstr(line, "truncated: capture ends inside BTH"));
}

static void times(void **state)
{
	static const struct {
		int64_t ns;
		const char *want;
	} rows[] = {
		{0, " 0.000000000 "},
		{1, " 0.000000001 "},
		{-1, " -0.000000001 "},
		{-1500000000, " -1.500000000 "},
		{INT64_MAX, "9223372036.854775807 "},
		{INT64_MIN, "-9223372036.854775808 "},
	};
	struct packet p = {.kind = PACKET_LLDP};
	char line[256];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		p.time_ns = (uint64_t)rows[i].ns;
		packet_text(&p, line, sizeof(line));
		assert_non_null(strstr(line, rows[i].want));
	}
}

/* As inet_ntop() has them. */
static void addresses(void **state)
{
	uint8_t gid[16] = {[10] = 0xff, [11] = 0xff};
	char got[INET6_ADDRSTRLEN], want[INET6_ADDRSTRLEN];

	(void)state;
	for (unsigned int i = 0; i < 256; i++) {
		for (unsigned int k = 0; k < 4; k++)
			gid[12 + k] = (uint8_t)(i * (k + 1) + k);
		assert_non_null(inet_ntop(AF_INET, gid + 12, want, sizeof(want)));
		packet_addr_text(gid, got, sizeof(got));
		assert_string_equal(got, want);
	}
	gid[0] = 0x20;
	assert_non_null(inet_ntop(AF_INET6, gid, want, sizeof(want)));
	packet_addr_text(gid, got, sizeof(got));
	assert_string_equal(got, want);
	packet_addr_text(gid, got, 4);
	assert_string_equal(got, "");
}

/* Zeros in all places, digits of all lengths; with what looks like IPv4 inside. */
static void ipv6_addresses(void **state)
{
	static const uint16_t words[] = {0, 1, 0x20, 0xabc, 0xffff};
	char got[INET6_ADDRSTRLEN], want[INET6_ADDRSTRLEN];

	(void)state;
	for (unsigned int i = 0; i < 390625; i++) { /* 5^8 */
		uint8_t gid[16];
		unsigned int rest = i;

		for (unsigned int k = 0; k < 8; k++, rest /= ARRAY_SIZE(words)) {
			gid[2 * k] = (uint8_t)(words[rest % ARRAY_SIZE(words)] >> 8);
			gid[2 * k + 1] = (uint8_t)words[rest % ARRAY_SIZE(words)];
		}
		assert_non_null(inet_ntop(AF_INET6, gid, want, sizeof(want)));
		if (!strncmp(want, "::ffff:", 7) && strchr(want, '.'))
			continue; /* is an IPv4 address */
		if (packet_addr_text(gid, got, sizeof(got)) != strlen(want) || strcmp(got, want))
			fail_msg("%s, want %s", got, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_and_json),   cmocka_unit_test(text_of_naks),
		cmocka_unit_test(text_of_cnp),	   cmocka_unit_test(text_of_headers),
		cmocka_unit_test(unknown_opcodes), cmocka_unit_test(objects_of_others),
		cmocka_unit_test(times),	   cmocka_unit_test(addresses),
		cmocka_unit_test(ipv6_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
