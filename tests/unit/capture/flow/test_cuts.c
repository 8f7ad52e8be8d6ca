/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every kind of frame cut at every length: the frames of the golden captures, generated ones of
 * every transport and encapsulation, LLDP in its three dialects, and all of them under the link
 * types that are understood. Frames lie in buffers of exactly their size, so that the address
 * sanitizer sees a read beyond them.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/decode/lldp.h"
#include "capture/decode/opcode.h"
#include "capture/flow/summary.h"
#include "tests/tools/capgen.h"

#define LINK_ETHERNET 1
#define LINK_RAW      101
#define LINK_SLL      113
#define LINK_SLL2     276
#define FRAME_MAX     5000

/* What was cut. */
enum kind {
	V2_IPV4,
	V2_IPV6,
	V1,
	UNTAGGED,
	TAGGED,
	STACKED,
	GRE,
	ERSPAN1,
	ERSPAN2,
	ERSPAN3,
	VXLAN,
	CM,
	CNP,
	PFC,
	PAUSE,
	LLDP_IEEE,
	LLDP_CEE,
	LLDP_CIN,
	MALFORMED,
	ON_ETHERNET,
	ON_RAW,
	ON_SLL,
	ON_SLL2,
	KINDS,
};

struct cutter {
	struct flow_table *flows, *stale_flows;
	uint64_t frames;
	bool seen[KINDS], opcode[256];
	bool alike[1 << 16]; /* generated frames that were cut already, by a hash of their kind */
};

static void note(struct cutter *c, enum kind kind, bool is)
{
	c->seen[kind] |= is;
}

static void note_kinds(struct cutter *c, int dlt, const struct packet *p)
{
	bool bth = p->bth && p->fault == PACKET_OK;

	note(c, V2_IPV4, bth && p->encap == ENCAP_ROCE_V2_IPV4);
	note(c, V2_IPV6, bth && p->encap == ENCAP_ROCE_V2_IPV6);
	note(c, V1, bth && p->encap == ENCAP_ROCE_V1);
	note(c, UNTAGGED, bth && !p->vlan_count);
	note(c, TAGGED, bth && p->vlan_count == 1);
	note(c, STACKED, bth && p->vlan_count == 2);
	note(c, GRE, bth && p->tunnel.kind == TUNNEL_GRE);
	note(c, ERSPAN1, bth && p->tunnel.kind == TUNNEL_ERSPAN_I);
	note(c, ERSPAN2, bth && p->tunnel.kind == TUNNEL_ERSPAN_II);
	note(c, ERSPAN3, bth && p->tunnel.kind == TUNNEL_ERSPAN_III);
	note(c, VXLAN, bth && p->tunnel.kind == TUNNEL_VXLAN);
	note(c, CM, bth && p->cm.message);
	note(c, CNP, bth && p->opcode == OPCODE_CNP);
	note(c, PFC, p->kind == PACKET_PFC);
	note(c, PAUSE, p->kind == PACKET_PAUSE);
	note(c, MALFORMED, p->fault == PACKET_MALFORMED);
	note(c, ON_ETHERNET, bth && dlt == LINK_ETHERNET);
	note(c, ON_RAW, bth && dlt == LINK_RAW);
	note(c, ON_SLL, bth && dlt == LINK_SLL);
	note(c, ON_SLL2, bth && dlt == LINK_SLL2);
	if (bth)
		c->opcode[p->opcode] = true;
}

static void check_json(const struct packet *p, const struct packet *stale)
{
	json_t *want = packet_to_json(p), *got = packet_to_json(stale);

	assert_true(json_equal(want, got));
	json_decref(want);
	json_decref(got);
}

/* All that reads a frame. */
static void read_frame(struct cutter *c, int dlt, const uint8_t *bytes, uint32_t cap, uint32_t wire,
		       struct packet *p)
{
	struct lldp_peer peer = {0};
	struct err e = {0};
	char text[PACKET_TEXT_MAX], stale_text[PACKET_TEXT_MAX];
	struct packet stale;
	uint8_t *exact = malloc(cap ? cap : 1);

	assert_non_null(exact);
	memcpy(exact, bytes, cap);
	c->frames++;
	packet_decode(dlt, exact, cap, wire, c->frames, c->frames * 1000, p);
	assert_int_equal(flow_table_add(c->flows, p), 0);
	assert_true(packet_text(p, text, sizeof(text)) > 0);
	/* What a packet was before says nothing. */
	memset(&stale, 0xff, sizeof(stale));
	packet_decode(dlt, exact, cap, wire, c->frames, c->frames * 1000, &stale);
	assert_int_equal(flow_table_add(c->stale_flows, &stale), 0);
	packet_text(&stale, stale_text, sizeof(stale_text));
	assert_string_equal(stale_text, text);
	if (p->kind != PACKET_ROCE)
		check_json(p, &stale);
	if (p->kind == PACKET_LLDP && !lldp_decode_packet(p, exact, &peer, &e)) {
		note(c, LLDP_IEEE, !strcmp(peer.dialect, "ieee"));
		note(c, LLDP_CEE, !strcmp(peer.dialect, "cee"));
		note(c, LLDP_CIN, !strcmp(peer.dialect, "cin"));
	}
	free(exact);
}

static void check_cut(const struct packet *whole, const struct packet *p, uint32_t cap)
{
	uint32_t end = whole->data_offset + whole->payload_len + whole->pad + 4;

	if (whole->fault != PACKET_MALFORMED)
		assert_int_not_equal(p->fault, PACKET_MALFORMED);
	if (p->icrc == ICRC_GOOD)
		assert_true(whole->icrc == ICRC_GOOD && cap >= end);
	if (whole->bth && whole->fault == PACKET_OK)
		assert_int_equal(p->bth, cap >= whole->bth_offset + 12);
	if (!p->bth)
		return;
	assert_int_equal(p->opcode, whole->opcode);
	assert_int_equal(p->dest_qpn, whole->dest_qpn);
	assert_int_equal(p->psn, whole->psn);
	assert_int_equal(p->headers & ~whole->headers, 0);
	assert_memory_equal(p->src, whole->src, 16);
	assert_true(!p->cm.message || whole->bth_offset + 20 + p->cm.reached <= cap);
}

static void cut(struct cutter *c, int dlt, const uint8_t *bytes, uint32_t cap, uint32_t wire)
{
	struct packet whole, p;

	read_frame(c, dlt, bytes, cap, wire, &whole);
	note_kinds(c, dlt, &whole);
	for (uint32_t len = 0; len < cap; len++) {
		read_frame(c, dlt, bytes, len, wire, &p);
		check_cut(&whole, &p, len);
		/* The same, as if it had been no longer on the wire. */
		read_frame(c, dlt, bytes, len, len, &p);
		if (p.icrc == ICRC_GOOD)
			assert_true(len >= whole.data_offset + whole.payload_len + whole.pad + 4);
	}
}

/* A frame of Ethernet, and the same as other links show it; raw IP has no VLANs. */
static void cut_on_links(struct cutter *c, const uint8_t *frame, uint32_t len)
{
	uint8_t other[FRAME_MAX];
	uint16_t type = (uint16_t)(frame[12] << 8 | frame[13]);

	cut(c, LINK_ETHERNET, frame, len, len);
	/* type 0, ARPHRD_ETHER, 6 bytes of address, protocol. */
	memset(other, 0, 20);
	other[3] = 1;
	other[5] = 6;
	memcpy(other + 6, frame + 6, 6);
	memcpy(other + 14, frame + 12, len - 12);
	cut(c, LINK_SLL, other, len + 2, len + 2);
	/* protocol, reserved, interface 2, ARPHRD_ETHER, type 0, 6 bytes of address. */
	memset(other, 0, 20);
	memcpy(other, frame + 12, 2);
	other[7] = 2;
	other[9] = 1;
	other[11] = 6;
	memcpy(other + 12, frame + 6, 6);
	memcpy(other + 20, frame + 14, len - 14);
	cut(c, LINK_SLL2, other, len + 6, len + 6);
	if (type == 0x0800 || type == 0x86dd)
		cut(c, LINK_RAW, frame + 14, len - 14, len - 14);
}

static uint32_t u32_at(const uint8_t *b)
{
	uint32_t v;

	memcpy(&v, b, sizeof(v));
	return v;
}

static void cut_file(struct cutter *c, const char *path)
{
	uint8_t head[24], record[16], frame[65536];
	FILE *f = fopen(path, "rbe");

	assert_non_null(f);
	assert_int_equal(fread(head, sizeof(head), 1, f), 1);
	while (fread(record, sizeof(record), 1, f) == 1) {
		uint32_t cap = u32_at(record + 8);

		if (cap > sizeof(frame) || fread(frame, 1, cap, f) != cap)
			break; /* one of them is broken */
		cut(c, (int)u32_at(head + 20), frame, cap, u32_at(record + 12));
	}
	fclose(f);
}

static void cut_golden(struct cutter *c)
{
	glob_t files;

	assert_int_equal(glob("tests/golden/capture/*.pcap", 0, NULL, &files), 0);
	assert_true(files.gl_pathc > 10);
	for (size_t i = 0; i < files.gl_pathc; i++)
		cut_file(c, files.gl_pathv[i]);
	globfree(&files);
}

/* Of frames that differ in numbers alone, one. */
static int take(void *arg, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
		uint64_t time_ns)
{
	struct cutter *c = arg;
	uint32_t h = 0;
	struct packet p;

	packet_decode(LINK_ETHERNET, data, cap_len, wire_len, 1, time_ns, &p);
	h = h * 31 + p.kind;
	h = h * 31 + (p.bth ? p.opcode : 0);
	h = h * 31 + p.encap;
	h = h * 31 + p.vlan_count;
	h = h * 31 + p.tunnel.kind;
	h = (h * 31 + p.cm.message) * 2654435761U >> 16;
	if (!c->alike[h] && cap_len < 512)
		cut_on_links(c, data, cap_len);
	c->alike[h] |= cap_len < 512;
	return 0;
}

static void cut_generated(struct cutter *c)
{
	struct capgen_options o = {.requesters = 40,
				   .frames = 4000,
				   .pmtu = 256,
				   .mix = CAPGEN_MIX_ALL,
				   .ce_rate = 100};
	struct capgen_truth truth;

	for (o.seed = 1; o.seed <= 3; o.seed++) {
		assert_int_equal(capgen_run(&o, take, c, &truth), 0);
		capgen_truth_clear(&truth);
	}
}

/* Chassis, port and time to live come before it, the end behind. */
static void cut_lldp(struct cutter *c, const uint8_t *tlvs, uint32_t len)
{
	static const uint8_t begin[] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e, 0x02, 0,	0,
					0,    0,    1,	  0x88, 0xcc, 0x02, 0x07, 0x04, 0x02,
					0xaa, 0xbb, 0xcc, 0xdd, 0x01, 0x04, 0x05, 0x05, 's',
					'w',  'p',  '1',  0x06, 0x02, 0x00, 0x78};
	uint8_t frame[FRAME_MAX] = {0};

	memcpy(frame, begin, sizeof(begin));
	memcpy(frame + sizeof(begin), tlvs, len);
	cut_on_links(c, frame, (uint32_t)sizeof(begin) + len + 2);
}

static void cut_dialects(struct cutter *c)
{
	static const uint8_t ieee[] = {
		/* ETS: willing, 8 TCs; PFC: 8 TCs, priority 3; APP: DSCP 26 has priority 3 */
		0xfe, 0x19, 0x00, 0x80, 0xc2, 0x09, 0x80, 0x00, 0x01, 0x00, 0x00, 50,
		50,   0,    0,	  0,	0,    0,    0,	  2,	2,    0,    0,	  0,
		0,    0,    0,	  0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x08, 0x08, 0xfe,
		0x08, 0x00, 0x80, 0xc2, 0x0c, 0x00, 0x65, 0x00, 0x1a};
	static const uint8_t cee[] = {
		/* control; PG; PFC: priority 3; APP: UDP 4791 has priority 3 */
		0xfe, 0x30, 0x00, 0x1b, 0x21, 0x02, 0x02, 0x0a, 0, 0,	 0, 0,	  0,
		1,    0,    0,	  0,	1,    0x04, 0x11, 0,	0, 0x80, 0, 0x00, 0x01,
		0x00, 0x00, 50,	  50,	0,    0,    0,	  0,	0, 0,	 8, 0x06, 0x06,
		0,    0,    0x80, 0,	0x08, 8,    0,	  0,	0, 0,	 0};
	static const uint8_t cin[] = {0xfe, 0x0e, 0x00, 0x1b, 0x21, 0x01, 0x02, 0x0a,
				      0,    0,	  0,	0,    0,    1,	  0,	0};

	cut_lldp(c, ieee, sizeof(ieee));
	cut_lldp(c, cee, sizeof(cee));
	cut_lldp(c, cin, sizeof(cin));
}

static json_t *summary_of(const struct flow_table *t)
{
	struct capture_summary s;
	json_t *o;

	assert_int_equal(capture_summary_make(t, NULL, DROPS_UNKNOWN, 0, &s), 0);
	o = capture_summary_to_json(&s);
	assert_non_null(o);
	capture_summary_clear(&s);
	return o;
}

static void check_summaries(const struct cutter *c)
{
	json_t *want = summary_of(c->flows), *got = summary_of(c->stale_flows);

	assert_true(json_equal(want, got));
	json_decref(want);
	json_decref(got);
}

static void every_frame(void **state)
{
	struct cutter *c = calloc(1, sizeof(*c));

	(void)state;
	assert_non_null(c);
	c->flows = flow_table_new(0);
	c->stale_flows = flow_table_new(0);
	assert_non_null(c->flows);
	assert_non_null(c->stale_flows);
	cut_golden(c);
	cut_generated(c);
	cut_dialects(c);
	for (unsigned int i = 0; i < KINDS; i++)
		if (!c->seen[i])
			fail_msg("kind %u was not cut", i);
	for (unsigned int op = 0; op < 256; op++)
		if (opcode_info((uint8_t)op)->name && !c->opcode[op])
			fail_msg("opcode 0x%02x was not cut", op);
	check_summaries(c);
	flow_table_free(c->flows);
	flow_table_free(c->stale_flows);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
