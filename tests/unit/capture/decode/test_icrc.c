/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ICRC: frames seen on real networks, and the bitwise oracle of roce_frames.h at every payload
 * length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <libdeflate.h>
#include <pcap/dlt.h>

#include "capture/decode/bth.h"
#include "tests/unit/fixture/roce_frames.h"

/* A CNP as a ConnectX-4 Lx sent it, from the Ethernet header on (as published with scapy's tests).
 */
static const uint8_t cx4_cnp[74] = {
	0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2, 0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32, 0x08, 0x00, 0x45,
	0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61, 0x0a, 0x00, 0x11, 0x01,
	0x0a, 0x00, 0x12, 0x01, 0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00, 0x81, 0x00, 0xff,
	0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x82, 0xfd, 0x00, 0x2a,
};

/* A UC SEND only with two bytes of pad, from the IPv4 header on. */
static const uint8_t uc_send[64] = {
	0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11, 0xb4, 0xd5, 0xc0,
	0xa8, 0x00, 0x07, 0xc0, 0xa8, 0x00, 0x07, 0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c,
	0xac, 0xa2, 0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17,
	0x10, 'F',  '0',  0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a, 0x95, 'P',
	'T',  0x01, 0xbe, 0x88, '^',  'P',  0x00, 0x00, 0x78, 0xf3, 0x53, 0xf3,
};

static void real_frames(void **state)
{
	struct packet p;

	(void)state;
	packet_decode(DLT_EN10MB, cx4_cnp, sizeof(cx4_cnp), sizeof(cx4_cnp), 1, 0, &p);
	assert_int_equal(p.icrc, ICRC_GOOD);
	assert_int_equal(p.opcode, 0x81);
	assert_int_equal(p.dest_qpn, 0x118);
	assert_int_equal(p.dscp, 48);
	assert_int_equal(p.ecn, 2);
	assert_int_equal(p.sport, 0);
	assert_true(p.becn && !p.fecn && !p.migreq);
	packet_decode(DLT_RAW, uc_send, sizeof(uc_send), sizeof(uc_send), 1, 0, &p);
	assert_int_equal(p.icrc, ICRC_GOOD);
	assert_int_equal(p.opcode, 0x24);
	assert_int_equal(p.psn, 13571856);
	assert_int_equal(p.payload_len, 18);
	assert_true(p.migreq);
}

/* The state after the eight bytes that stand for the LRH is the first constant of icrc.c. The
 * others are of packets whose lengths differ by less than sixteen bytes; every_payload_length() has
 * them by fours, as all lengths are that make sense, odd_lengths() the rest. */
static void start_value(void **state)
{
	static const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	(void)state;
	assert_true(libdeflate_crc32(0, ones, sizeof(ones)) == 0x2144df1c);
	assert_true((uint32_t)~frame_crc(0xffffffff, ones, sizeof(ones)) == 0x2144df1c);
}

static void every_payload_length(void **state)
{
	struct frame_spec s = {.opcode = 0x04, .headers = "", .tos = 0x6a, .psn = 5};
	uint32_t got;
	int net;

	(void)state;
	for (net = NET_IPV4; net <= NET_V1; net++) {
		for (s.payload = 0; s.payload <= 300; s.payload++) {
			static const enum packet_encap encap[] = {
				ENCAP_ROCE_V2_IPV4, ENCAP_ROCE_V2_IPV6, ENCAP_ROCE_V1};
			struct frame f;

			s.net = (enum frame_net)net;
			frame_build(&s, &f);
			got = icrc_compute(encap[net], f.bytes + f.l3, f.bth - f.l3,
					   f.len - 4 - f.l3);
			assert_true(got == f.icrc);
		}
	}
}

/* Of lengths that no packet has, but its headers may state. */
static void odd_lengths(void **state)
{
	struct frame_spec s = {.opcode = 0x04, .headers = "", .psn = 5, .payload = 200};
	static const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint8_t copy[512];
	struct frame f;

	(void)state;
	frame_build(&s, &f);
	/* As masked, the head stays as it is. */
	memcpy(copy, f.bytes + f.l3, f.len - f.l3);
	copy[1] = copy[8] = copy[10] = copy[11] = copy[26] = copy[27] = copy[32] = 0xff;
	for (uint32_t len = 40; len < f.len - 4 - f.l3; len++) {
		uint32_t crc = libdeflate_crc32(libdeflate_crc32(0, ones, 8), copy, len);

		assert_true(icrc_compute(ENCAP_ROCE_V2_IPV4, copy, 28, len) == crc);
	}
}

/* What a router and a congested switch rewrite must not change the verdict. */
static void routed_and_marked(void **state)
{
	struct packet p;
	struct frame f;

	(void)state;
	frame_of_opcode(6, NET_IPV4, 0, &f);
	f.bytes[f.l3 + 1] = 0xff;
	f.bytes[f.l3 + 8] = 3;
	f.bytes[f.l3 + 10] ^= 0x55;
	packet_decode(DLT_EN10MB, f.bytes, f.len, f.len, 1, 0, &p);
	assert_int_equal(p.icrc, ICRC_GOOD);
	frame_of_opcode(6, NET_IPV6, 0, &f);
	f.bytes[f.l3] = 0x6f;
	f.bytes[f.l3 + 1] = 0xed;
	f.bytes[f.l3 + 3] = 0x11;
	f.bytes[f.l3 + 7] = 1;
	packet_decode(DLT_EN10MB, f.bytes, f.len, f.len, 1, 0, &p);
	assert_int_equal(p.icrc, ICRC_GOOD);
	f.bytes[f.l3 + 39] ^= 1; /* another destination: not the same packet */
	packet_decode(DLT_EN10MB, f.bytes, f.len, f.len, 1, 0, &p);
	assert_int_equal(p.icrc, ICRC_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_frames),		cmocka_unit_test(start_value),
		cmocka_unit_test(every_payload_length), cmocka_unit_test(odd_lengths),
		cmocka_unit_test(routed_and_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
