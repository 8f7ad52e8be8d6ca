/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packet_decode(): every opcode over every encapsulation, every length a capture can be cut at, and
 * lengths that contradict each other. Frames lie in buffers of exactly their size, so that the
 * address sanitizer sees a read beyond them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pcap/dlt.h>

#include "capture/decode/packet.h"
#include "tests/unit/capture/decode/packet_headers.h"
#include "tests/unit/fixture/roce_frames.h"

static void decode(int dlt, const uint8_t *bytes, uint32_t cap, uint32_t wire, struct packet *p)
{
	uint8_t *exact = malloc(cap ? cap : 1);

	assert_non_null(exact);
	memcpy(exact, bytes, cap);
	packet_decode(dlt, exact, cap, wire, 7, 1234567890123456789, p);
	free(exact);
}

static void check_vector(unsigned int i, enum frame_net net, unsigned int vlans)
{
	static const uint8_t encap[] = {ENCAP_ROCE_V2_IPV4, ENCAP_ROCE_V2_IPV6, ENCAP_ROCE_V1};
	static const uint8_t v4_src[16] = {[10] = 0xff, [11] = 0xff, 198, 18, 0, 1};
	const struct frame_opcode *o = &frame_opcodes[i];
	struct packet p;
	struct frame f;

	frame_of_opcode(i, net, vlans, &f);
	decode(DLT_EN10MB, f.bytes, f.len, f.len, &p);
	assert_int_equal(p.frame, 7);
	assert_true(p.time_ns == 1234567890123456789);
	assert_int_equal(p.kind, PACKET_ROCE);
	assert_int_equal(p.encap, encap[net]);
	assert_string_equal(p.note, "");
	assert_int_equal(p.fault, PACKET_OK);
	assert_true(p.bth);
	assert_int_equal(p.opcode, o->opcode);
	assert_int_equal(p.payload_len, o->payload);
	assert_int_equal(p.pad, -o->payload & 3);
	assert_int_equal(p.dest_qpn, 0x17);
	assert_int_equal(p.psn, 0xfffffe);
	assert_int_equal(p.pkey, 0xffff);
	assert_true(p.migreq && p.ackreq && !p.se && !p.fecn);
	assert_int_equal(p.becn, o->opcode == 0x81);
	assert_int_equal(p.dscp, 26);
	assert_int_equal(p.ecn, 2);
	assert_int_equal(p.ttl, 64);
	assert_int_equal(p.sport, net == NET_V1 ? 0 : 0xc123);
	assert_int_equal(p.vlan_count, vlans);
	assert_int_equal(p.vid, vlans > 1 ? 100 : vlans ? 5 : 0);
	assert_int_equal(p.pcp, vlans > 1 ? 3 : 0);
	assert_int_equal(p.icrc, ICRC_GOOD);
	assert_int_equal(p.l3_offset, f.l3);
	assert_int_equal(p.bth_offset, f.bth);
	assert_int_equal(p.data_offset, f.len - 4 - p.pad - o->payload);
	if (net == NET_IPV4)
		assert_memory_equal(p.src, v4_src, 16);
	else
		assert_true(p.src[0] == 0xfe && p.src[15] == 1 && p.dst[15] == 2);
	check_headers(&p, o->headers);
}

static void every_opcode(void **state)
{
	unsigned int i, vlans;
	int net;

	(void)state;
	for (i = 0; i < frame_opcode_count; i++)
		for (net = NET_IPV4; net <= NET_V1; net++)
			for (vlans = 0; vlans <= 2; vlans++)
				check_vector(i, (enum frame_net)net, vlans);
}

/* A capture cut after `cap` bytes: decoded as far as it goes, and never called good. */
static void check_cut(const struct frame *f, const struct frame_opcode *o, uint32_t cap)
{
	struct packet p;
	uint32_t headers_end;

	decode(DLT_EN10MB, f->bytes, cap, f->len, &p);
	assert_int_equal(p.icrc, ICRC_UNVERIFIABLE);
	assert_int_not_equal(p.fault, PACKET_MALFORMED);
	assert_int_equal(p.bth, cap >= f->bth + 12);
	headers_end = f->len - 4 - (-o->payload & 3) - o->payload;
	assert_int_equal(p.fault, cap < headers_end ? PACKET_TRUNCATED : PACKET_OK);
	if (p.bth) {
		assert_int_equal(p.payload_len, o->payload);
		assert_int_equal(p.psn, 0xfffffe);
	}
}

static void every_cut(void **state)
{
	struct frame f;
	unsigned int i;
	uint32_t cap;
	int net;

	(void)state;
	for (i = 0; i < frame_opcode_count; i++) {
		for (net = NET_IPV4; net <= NET_V1; net++) {
			frame_of_opcode(i, (enum frame_net)net, 1, &f);
			for (cap = 0; cap < f.len; cap++)
				check_cut(&f, &frame_opcodes[i], cap);
		}
	}
}

/* A frame that is short on the wire: whatever it is, it is not good and not out of bounds. */
static void every_runt(void **state)
{
	struct packet p;
	struct frame f;
	unsigned int i;
	uint32_t len;
	int net;

	(void)state;
	for (i = 0; i < frame_opcode_count; i++) {
		for (net = NET_IPV4; net <= NET_V1; net++) {
			frame_of_opcode(i, (enum frame_net)net, 0, &f);
			for (len = 0; len < f.len; len++) {
				decode(DLT_EN10MB, f.bytes, len, len, &p);
				assert_int_equal(p.fault, PACKET_MALFORMED);
				assert_int_equal(p.icrc, ICRC_UNVERIFIABLE);
				assert_true(p.note[0]);
			}
		}
	}
}

/* Each byte set to all ones: never a read out of bounds, and the ICRC says bad or the byte is
 * masked. */
static void every_byte_changed(void **state)
{
	unsigned int i, changed_good;
	struct packet p;
	struct frame f;
	uint32_t at;

	(void)state;
	for (i = 0; i < frame_opcode_count; i++) {
		frame_of_opcode(i, NET_IPV4, 0, &f);
		changed_good = 0;
		for (at = 14; at < f.len; at++) {
			uint8_t old = f.bytes[at];

			f.bytes[at] = (uint8_t)~old;
			decode(DLT_EN10MB, f.bytes, f.len, f.len, &p);
			changed_good += p.icrc == ICRC_GOOD;
			f.bytes[at] = old;
		}
		/* TOS, TTL, IP checksum (2), UDP checksum (2), FECN/BECN */
		assert_int_equal(changed_good, 7);
	}
}

static void other_links(void **state)
{
	static const uint8_t sll[] = {0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0};
	static const uint8_t sll2[] = {8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0};
	static const struct {
		const char *name;
		int dlt;
		const uint8_t *header;
		uint32_t len;
	} rows[] = {
		{"sll", DLT_LINUX_SLL, sll, sizeof(sll)},
		{"sll2", DLT_LINUX_SLL2, sll2, sizeof(sll2)},
		{"raw", DLT_RAW, sll, 0},
		{"raw of files", 101, sll, 0},
		{"raw IPv4", 228, sll, 0},
	};
	uint8_t bytes[4700];
	struct packet p;
	struct frame f;
	uint32_t cap, len;
	unsigned int i;

	(void)state;
	frame_of_opcode(6, NET_IPV4, 0, &f);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memcpy(bytes, rows[i].header, rows[i].len);
		memcpy(bytes + rows[i].len, f.bytes + 14, f.len - 14);
		len = rows[i].len + f.len - 14;
		assert_true(packet_dlt_is_supported(rows[i].dlt));
		for (cap = 0; cap < len; cap++)
			decode(rows[i].dlt, bytes, cap, len, &p);
		decode(rows[i].dlt, bytes, len, len, &p);
		assert_int_equal(p.kind, PACKET_ROCE);
		assert_int_equal(p.icrc, ICRC_GOOD);
		assert_int_equal(p.opcode, 6);
	}
	assert_false(packet_dlt_is_supported(DLT_IEEE802_11));
	decode(DLT_IEEE802_11, bytes, 100, 100, &p);
	assert_int_equal(p.kind, PACKET_OTHER);
	assert_int_equal(p.fault, PACKET_MALFORMED);
}

static void raw_ipv6(void **state)
{
	struct packet p;
	struct frame f;

	(void)state;
	frame_of_opcode(6, NET_IPV6, 0, &f);
	decode(DLT_RAW, f.bytes + 14, f.len - 14, f.len - 14, &p);
	assert_int_equal(p.encap, ENCAP_ROCE_V2_IPV6);
	assert_int_equal(p.icrc, ICRC_GOOD);
	decode(229, f.bytes + 14, f.len - 14, f.len - 14, &p);
	assert_int_equal(p.icrc, ICRC_GOOD);
}

/* Extension headers before UDP: decoded, but the ICRC is not judged over them. Each is the kind of
 * the header before it, with that many times 8 bytes. */
static void ipv6_options(void **state)
{
	static const struct {
		uint8_t kinds[6];
		unsigned int count, units;
		bool roce;
	} rows[] = {
		{{0}, 1, 1, true},
		{{43}, 1, 3, true},
		{{60}, 1, 1, true},
		{{0, 43, 60}, 3, 2, true},
		{{0, 60, 43, 60}, 4, 1, true},
		{{60, 60, 60, 60, 60}, 5, 1, false},
		{{51}, 1, 1, false},
	};
	unsigned int i, k;
	uint32_t cap, size;
	struct frame f, in;
	struct packet p;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		frame_of_opcode(6, NET_IPV6, 0, &in);
		size = rows[i].count * rows[i].units * 8;
		f = in;
		memset(f.bytes + 54, 0, size);
		memcpy(f.bytes + 54 + size, in.bytes + 54, in.len - 54);
		f.len += size;
		f.bytes[19] = (uint8_t)(f.len - 54);
		f.bytes[20] = rows[i].kinds[0];
		for (k = 0; k < rows[i].count; k++) {
			uint8_t *h = f.bytes + 54 + k * rows[i].units * 8;

			h[0] = k + 1 < rows[i].count ? rows[i].kinds[k + 1] : 17;
			h[1] = (uint8_t)(rows[i].units - 1);
		}
		for (cap = 0; cap <= f.len; cap++) {
			decode(DLT_EN10MB, f.bytes, cap, f.len, &p);
			assert_int_not_equal(p.fault, PACKET_MALFORMED);
			assert_int_equal(p.icrc, ICRC_UNVERIFIABLE);
		}
		assert_int_equal(p.kind, rows[i].roce ? PACKET_ROCE : PACKET_OTHER);
		assert_int_equal(p.fault, PACKET_OK);
		assert_int_equal(p.payload_len, rows[i].roce ? 8 : 0);
	}
}

/* The frame's end says nothing: Ethernet padding, a trailing FCS or time stamp change no verdict.
 */
static void trailers(void **state)
{
	struct packet p;
	struct frame f;
	unsigned int extra;

	(void)state;
	for (extra = 1; extra < 64; extra++) {
		frame_of_opcode(4, NET_IPV4, 0, &f); /* SEND only without payload: 58 bytes */
		memset(f.bytes + f.len, 0xa5, extra);
		decode(DLT_EN10MB, f.bytes, f.len + extra, f.len + extra, &p);
		assert_int_equal(p.icrc, ICRC_GOOD);
		assert_int_equal(p.payload_len, 0);
		assert_int_equal(p.fault, PACKET_OK);
	}
}

/* Offsets are from the network header of a RC_RDMA_WRITE_FIRST with 8 bytes. */
static void contradictions(void **state)
{
	static const struct {
		const char *name;
		enum frame_net net;
		uint32_t at;
		uint8_t byte;
		uint8_t kind, fault;
		const char *note;
	} rows[] = {
		{"ip version", NET_IPV4, 0, 0x55, PACKET_OTHER, PACKET_MALFORMED, "IPv4 header"},
		{"ip header length", NET_IPV4, 0, 0x44, PACKET_OTHER, PACKET_MALFORMED, "IPv4"},
		{"ip too long", NET_IPV4, 2, 0x01, PACKET_ROCE, PACKET_MALFORMED, "exceeds"},
		{"ip too short", NET_IPV4, 3, 40, PACKET_ROCE, PACKET_MALFORMED, "UDP length"},
		{"udp too short", NET_IPV4, 25, 9, PACKET_ROCE, PACKET_MALFORMED, "UDP length"},
		{"not udp", NET_IPV4, 9, 6, PACKET_OTHER, PACKET_OK, ""},
		{"other port", NET_IPV4, 23, 0xb8, PACKET_OTHER, PACKET_OK, ""},
		{"pad on first", NET_IPV4, 29, 0x70, PACKET_ROCE, PACKET_MALFORMED, "pad"},
		{"payload on ack", NET_IPV4, 28, 0x11, PACKET_ROCE, PACKET_MALFORMED, "payload"},
		{"no room", NET_IPV4, 28, 0x13, PACKET_ROCE, PACKET_MALFORMED, "needs 28"},
		{"ipv6 version", NET_IPV6, 0, 0x45, PACKET_OTHER, PACKET_MALFORMED, "IPv6"},
		{"ipv6 too long", NET_IPV6, 4, 0x01, PACKET_ROCE, PACKET_MALFORMED, "exceeds"},
		{"grh next header", NET_V1, 6, 0x11, PACKET_ROCE, PACKET_MALFORMED, "GRH"},
		{"grh too long", NET_V1, 4, 0x01, PACKET_ROCE, PACKET_MALFORMED, "exceeds"},
		{"grh too short", NET_V1, 5, 0x0f, PACKET_ROCE, PACKET_MALFORMED, "too short for"},
	};
	struct packet p;
	struct frame f;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		frame_of_opcode(6, rows[i].net, 0, &f);
		f.bytes[f.l3 + rows[i].at] = rows[i].byte;
		decode(DLT_EN10MB, f.bytes, f.len, f.len, &p);
		if (p.kind != rows[i].kind || p.fault != rows[i].fault ||
		    !strstr(p.note, rows[i].note))
			fail_msg("%s: kind %d fault %d note '%s'", rows[i].name, p.kind, p.fault,
				 p.note);
		assert_int_not_equal(p.icrc, ICRC_GOOD);
	}
}

/* Class 2 and 7 and the holes of the table: the BTH alone, and no fault. */
static void unknown_opcodes(void **state)
{
	struct packet p;
	struct frame f;
	unsigned int op, i;

	(void)state;
	for (op = 0; op < 256; op++) {
		struct frame_spec s = {.opcode = (uint8_t)op, .headers = "", .payload = 5};

		for (i = 0; i < frame_opcode_count; i++)
			if (frame_opcodes[i].opcode == op)
				break;
		if (i < frame_opcode_count)
			continue;
		frame_build(&s, &f);
		decode(DLT_EN10MB, f.bytes, f.len, f.len, &p);
		assert_int_equal(p.fault, PACKET_OK);
		assert_int_equal(p.headers, 0);
		assert_int_equal(p.payload_len, 5);
		assert_int_equal(p.icrc, ICRC_GOOD);
	}
}

static void fragments(void **state)
{
	struct packet p;
	struct frame f;

	(void)state;
	frame_of_opcode(6, NET_IPV4, 0, &f);
	f.bytes[f.l3 + 6] = 0x20; /* more fragments: the first one */
	f.bytes[f.l3 + 3] = 48;
	decode(DLT_EN10MB, f.bytes, f.l3 + 48, f.l3 + 48, &p);
	assert_int_equal(p.kind, PACKET_ROCE);
	assert_true(p.fragment && p.bth);
	assert_int_equal(p.icrc, ICRC_UNVERIFIABLE);
	assert_int_equal(p.payload_len, 8);
	f.bytes[f.l3 + 7] = 1; /* a later one has no UDP header */
	decode(DLT_EN10MB, f.bytes, f.len, f.len, &p);
	assert_int_equal(p.kind, PACKET_OTHER);
	assert_true(p.fragment);
}

static void mac_control(void **state)
{
	static const uint8_t pfc[60] = {
		0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0,	  0,	1, 0x88, 0x08, 0x01,
		0x01, 0,    0x18, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0,	 0,    9,
	};
	static const uint8_t pause[60] = {
		0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 0, 1, 0x12, 0x34,
	};
	struct packet p;
	uint32_t cap;

	(void)state;
	decode(DLT_EN10MB, pfc, sizeof(pfc), sizeof(pfc), &p);
	assert_int_equal(p.kind, PACKET_PFC);
	assert_int_equal(p.pfc_enable, 0x18);
	assert_int_equal(p.pfc_quanta[3], 0xffff);
	assert_int_equal(p.pfc_quanta[4], 0);
	assert_int_equal(p.pfc_quanta[5], 9);
	for (cap = 0; cap < 34; cap++) {
		decode(DLT_EN10MB, pfc, cap, sizeof(pfc), &p);
		assert_int_equal(p.fault, PACKET_TRUNCATED);
	}
	decode(DLT_EN10MB, pause, sizeof(pause), sizeof(pause), &p);
	assert_int_equal(p.kind, PACKET_PAUSE);
	assert_int_equal(p.pfc_quanta[0], 0x1234);
}

static void vlan_tags_end(void **state)
{
	uint8_t bytes[200] = {0};
	struct packet p;
	unsigned int i;

	(void)state;
	for (i = 12; i < sizeof(bytes); i += 4)
		bytes[i] = 0x81;
	decode(DLT_EN10MB, bytes, sizeof(bytes), sizeof(bytes), &p);
	assert_int_equal(p.fault, PACKET_MALFORMED);
	assert_int_equal(p.vlan_count, 8);
}

static void answer_kinds(void **state)
{
	static const struct {
		uint8_t syndrome;
		enum aeth_kind want;
	} rows[] = {
		{0x00, AETH_ACK},      {0x1f, AETH_ACK}, {0x20, AETH_RNR}, {0x3f, AETH_RNR},
		{0x40, AETH_RESERVED}, {0x60, AETH_NAK}, {0x64, AETH_NAK},
	};
	struct packet p = {.headers = HDR_AETH};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		p.aeth.syndrome = rows[i].syndrome;
		assert_int_equal(packet_aeth_kind(&p), rows[i].want);
	}
	p.headers = 0;
	assert_int_equal(packet_aeth_kind(&p), AETH_ACK);
}

/* Receivers drop another version than 0. */
static void bth_version(void **state)
{
	struct frame_spec s = {.opcode = 0x04, .headers = "", .payload = 64};
	struct packet p;
	struct frame f;

	(void)state;
	frame_build(&s, &f);
	packet_decode(DLT_EN10MB, f.bytes, f.len, f.len, 1, 0, &p);
	assert_int_equal(p.fault, PACKET_OK);
	f.bytes[f.bth + 1] |= 1;
	packet_decode(DLT_EN10MB, f.bytes, f.len, f.len, 1, 0, &p);
	assert_int_equal(p.fault, PACKET_MALFORMED);
	assert_non_null(strstr(p.note, "version 1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_opcode),	  cmocka_unit_test(every_cut),
		cmocka_unit_test(every_runt),	  cmocka_unit_test(every_byte_changed),
		cmocka_unit_test(other_links),	  cmocka_unit_test(raw_ipv6),
		cmocka_unit_test(trailers),	  cmocka_unit_test(ipv6_options),
		cmocka_unit_test(contradictions), cmocka_unit_test(unknown_opcodes),
		cmocka_unit_test(fragments),	  cmocka_unit_test(mac_control),
		cmocka_unit_test(vlan_tags_end),  cmocka_unit_test(answer_kinds),
		cmocka_unit_test(bth_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
