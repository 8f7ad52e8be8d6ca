/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames within GRE and ERSPAN: the inner frame decoded as if it stood alone, the outer one told,
 * every length a capture or a mirror can cut them at, and headers that cannot be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pcap/dlt.h>

#include "capture/decode/tunnel.h"
#include "tests/unit/fixture/tunnel_frames.h"

static void decode(const struct frame *f, uint32_t cap, struct packet *p)
{
	uint8_t *exact = malloc(cap ? cap : 1);

	assert_non_null(exact);
	memcpy(exact, f->bytes, cap);
	memset(p, 0, sizeof(*p));
	packet_decode(DLT_EN10MB, exact, cap, f->len, 7, 0, p);
	free(exact);
}

static void check_outer(const struct tunnel_spec *t, bool ipv6, const struct packet *p)
{
	char src[64];

	assert_string_equal(tunnel_text(p), t->name);
	packet_addr_text(p->tunnel.src, src, sizeof(src));
	assert_string_equal(src, ipv6 ? "fd00::1" : "10.0.0.1");
	packet_addr_text(p->tunnel.dst, src, sizeof(src));
	assert_string_equal(src, ipv6 ? "fd00::2" : "10.0.0.2");
	assert_int_equal(p->tunnel.dscp, ipv6 ? 0 : 8);
	assert_int_equal(p->tunnel.sequenced, !!(t->gre_flags & 0x1000));
	assert_int_equal(p->tunnel.sequence, t->gre_flags & 0x1000 ? 0x10203 : 0);
	assert_int_equal(p->tunnel.session, t->named ? 5 : 0);
	assert_int_equal(p->tunnel.vid, t->named ? 100 : 0);
	assert_int_equal(p->tunnel.cos, t->named ? 3 : 0);
	assert_int_equal(p->tunnel.egress, !strcmp(t->name, "erspan3"));
	assert_false(p->tunnel.truncated);
}

/* The same as without the tunnel, but for the offsets, the lengths of the frame and what is told
 * of the tunnel. */
static void check_inner(const struct tunnel_spec *t, const struct frame *f,
			const struct packet *alone, const struct packet *p)
{
	uint32_t moved = f->bth - alone->bth_offset;
	struct packet like = *p;

	assert_int_equal(p->cap_len, f->len);
	assert_int_equal(p->l3_offset, f->l3);
	like.l3_offset -= moved;
	like.bth_offset -= moved;
	like.data_offset -= moved;
	like.cap_len = alone->cap_len;
	like.wire_len = alone->wire_len;
	like.cap_end = alone->cap_end;
	like.wire_end = alone->wire_end;
	if (t->ip) {
		memcpy(like.smac, alone->smac, 6);
		memcpy(like.dmac, alone->dmac, 6);
	}
	assert_memory_equal(&like, alone, offsetof(struct packet, tunnel));
}

static void every_tunnel(void **state)
{
	unsigned int i, op;
	int ipv6, net;

	(void)state;
	for (i = 0; i < tunnel_spec_count; i++) {
		for (op = 0; op < frame_opcode_count; op++) {
			for (ipv6 = 0; ipv6 < 2; ipv6++) {
				for (net = NET_IPV4; net <= NET_V1; net++) {
					const struct tunnel_spec *t = &tunnel_specs[i];
					struct packet alone, p;
					struct frame in, f;

					if (t->ip && net != NET_IPV4)
						continue;
					frame_of_opcode(op, (enum frame_net)net, t->ip ? 0 : 2,
							&in);
					decode(&in, in.len, &alone);
					tunnel_build(t, ipv6, &in, in.len, &f);
					decode(&f, f.len, &p);
					assert_int_equal(p.icrc, ICRC_GOOD);
					check_outer(t, ipv6, &p);
					check_inner(t, &f, &alone, &p);
				}
			}
		}
	}
}

/* An overlay: the frame within as if it stood alone, at every length a capture can have. */
static void vxlan(void **state)
{
	static const struct tunnel_spec like = {.name = "vxlan"};
	struct packet alone, p;
	struct frame in, f;

	(void)state;
	for (unsigned int op = 0; op < frame_opcode_count; op++) {
		for (int net = NET_IPV4; net <= NET_V1; net++) {
			frame_of_opcode(op, (enum frame_net)net, 2, &in);
			decode(&in, in.len, &alone);
			vxlan_build(8, &in, &f);
			decode(&f, f.len, &p);
			assert_int_equal(p.icrc, ICRC_GOOD);
			check_outer(&like, false, &p);
			check_inner(&like, &f, &alone, &p);
			assert_int_equal(p.tunnel.vni, 0x123456);
		}
	}
	for (uint32_t cap = 0; cap < f.len; cap++) {
		decode(&f, cap, &p);
		assert_int_equal(p.icrc, ICRC_UNVERIFIABLE);
		assert_int_not_equal(p.fault, PACKET_MALFORMED);
		assert_int_equal(p.bth, cap >= f.bth + 12);
	}
}

/* Without a VNI, and a tunnel within a tunnel: other traffic, and no fault. */
static void vxlan_not_taken_off(void **state)
{
	struct frame in, f, twice;
	struct packet p;

	(void)state;
	frame_of_opcode(6, NET_IPV4, 0, &in);
	vxlan_build(0, &in, &f);
	decode(&f, f.len, &p);
	assert_int_equal(p.kind, PACKET_OTHER);
	assert_int_equal(p.fault, PACKET_OK);
	vxlan_build(8, &in, &f);
	vxlan_build(8, &f, &twice);
	decode(&twice, twice.len, &p);
	assert_int_equal(p.kind, PACKET_OTHER);
	assert_int_equal(p.tunnel.kind, TUNNEL_VXLAN);
	assert_int_equal(p.fault, PACKET_OK);
}

/* What is no Ethernet within is no frame to decode, but the mirror has numbered it. */
static void numbered_all_the_same(void **state)
{
	struct frame in, f;
	struct packet p;
	char src[64];

	(void)state;
	frame_of_opcode(6, NET_IPV4, 0, &in);
	tunnel_build(&tunnel_specs[6], false, &in, in.len, &f);
	f.bytes[56] = 0x7c; /* the frame type of ERSPAN III */
	decode(&f, f.len, &p);
	assert_int_equal(p.kind, PACKET_OTHER);
	assert_true(p.tunnel.sequenced);
	assert_int_equal(p.tunnel.session, 5);
	packet_addr_text(p.tunnel.src, src, sizeof(src));
	assert_string_equal(src, "10.0.0.1");
}

/* A capture cut anywhere: no read beyond it, no verdict, and the cut is not the sender's fault. */
static void every_cut(void **state)
{
	unsigned int i;
	uint32_t cap;

	(void)state;
	for (i = 0; i < tunnel_spec_count; i++) {
		struct frame in, f;
		struct packet p;

		frame_of_opcode(6, NET_IPV4, 0, &in);
		tunnel_build(&tunnel_specs[i], false, &in, in.len, &f);
		for (cap = 0; cap < f.len; cap++) {
			decode(&f, cap, &p);
			assert_int_equal(p.icrc, ICRC_UNVERIFIABLE);
			assert_int_not_equal(p.fault, PACKET_MALFORMED);
			assert_int_equal(p.bth, cap >= f.bth + 12);
		}
	}
}

/* The mirror cut the frame and made the outer packet shorter: lengths come from the inner headers.
 * Plain GRE is no mirror: there the same is a contradiction. Trailing bytes are nobody's. */
static void cut_by_the_mirror(void **state)
{
	unsigned int i, trailer;
	uint32_t keep;

	(void)state;
	for (i = 0; i < tunnel_spec_count; i++) {
		const struct tunnel_spec *t = &tunnel_specs[i];
		bool mirror = strcmp(t->name, "gre") != 0;
		struct frame in, f;
		struct packet p;

		frame_of_opcode(6, NET_IPV4, 0, &in);
		for (keep = 14; keep < in.len; keep++) {
			for (trailer = 0; trailer <= 20; trailer += 20) {
				tunnel_build(t, false, &in, keep, &f);
				f.len += trailer;
				decode(&f, f.len, &p);
				assert_int_equal(p.icrc, ICRC_UNVERIFIABLE);
				assert_int_equal(p.bth, keep >= in.bth + 12);
				if (mirror)
					assert_int_not_equal(p.fault, PACKET_MALFORMED);
				else
					assert_int_equal(p.fault, PACKET_MALFORMED);
				if (p.bth)
					assert_int_equal(p.payload_len, 8);
			}
		}
	}
}

/* Offsets are from the GRE header. */
static void headers_that_cannot_be(void **state)
{
	static const struct {
		const char *name;
		unsigned int tunnel;
		uint32_t at;
		uint8_t byte;
		uint8_t kind, fault;
		const char *tunnel_name, *note;
	} rows[] = {
		{"II with version 2", 4, 8, 0x20, PACKET_OTHER, PACKET_MALFORMED, "erspan2",
		 "ERSPAN version 2, type II has 1"},
		{"III with version 1", 6, 8, 0x10, PACKET_OTHER, PACKET_MALFORMED, "erspan3",
		 "ERSPAN version 1, type III has 2"},
		{"III with IP", 6, 18, 0x08, PACKET_OTHER, PACKET_OK, "erspan3", ""},
		{"cut", 4, 10, 0x7c, PACKET_ROCE, PACKET_OK, "erspan2", ""},
		{"source routing", 0, 0, 0x40, PACKET_OTHER, PACKET_OK, "none", ""},
		{"version 1", 0, 1, 0x01, PACKET_OTHER, PACKET_OK, "none", ""},
		{"another protocol", 0, 3, 0x59, PACKET_OTHER, PACKET_OK, "none", ""},
	};
	struct frame in, f;
	struct packet p;
	unsigned int i;

	(void)state;
	frame_of_opcode(6, NET_IPV4, 0, &in);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		tunnel_build(&tunnel_specs[rows[i].tunnel], false, &in, in.len, &f);
		f.bytes[38 + rows[i].at] = rows[i].byte;
		decode(&f, f.len, &p);
		if (p.kind != rows[i].kind || p.fault != rows[i].fault ||
		    strcmp(p.note, rows[i].note) != 0 ||
		    strcmp(tunnel_text(&p), rows[i].tunnel_name) != 0)
			fail_msg("%s: kind %d fault %d tunnel %s note '%s'", rows[i].name, p.kind,
				 p.fault, tunnel_text(&p), p.note);
		if (p.tunnel.kind != TUNNEL_NONE)
			assert_int_equal(p.tunnel.truncated, !strcmp(rows[i].name, "cut"));
	}
}

/* Only one is taken off, so that no frame can lead the decoder around in circles. */
static void tunnel_within_a_tunnel(void **state)
{
	struct frame in, once, twice;
	struct packet p;

	(void)state;
	frame_of_opcode(6, NET_IPV4, 0, &in);
	tunnel_build(&tunnel_specs[4], false, &in, in.len, &once);
	tunnel_build(&tunnel_specs[6], false, &once, once.len, &twice);
	decode(&twice, twice.len, &p);
	assert_int_equal(p.kind, PACKET_OTHER);
	assert_int_equal(p.fault, PACKET_OK);
	assert_string_equal(tunnel_text(&p), "erspan3");
}

/* The first fragment of a mirror packet holds the beginning of the frame, the others nothing. */
static void fragments_of_the_outer_packet(void **state)
{
	struct frame in, f;
	struct packet p;

	(void)state;
	frame_of_opcode(6, NET_IPV4, 0, &in);
	tunnel_build(&tunnel_specs[0], false, &in, in.len - 8, &f);
	f.bytes[18 + 6] = 0x20;
	decode(&f, f.len, &p);
	assert_int_equal(p.kind, PACKET_ROCE);
	assert_int_equal(p.fault, PACKET_OK);
	assert_int_equal(p.payload_len, 8);
	assert_int_equal(p.icrc, ICRC_UNVERIFIABLE);
	f.bytes[18 + 7] = 1;
	decode(&f, f.len, &p);
	assert_int_equal(p.kind, PACKET_OTHER);
	assert_string_equal(tunnel_text(&p), "none");
}

static void told_in_text_and_json(void **state)
{
	struct frame in, f;
	struct packet p;
	char line[512];
	json_t *o, *t;

	(void)state;
	frame_of_opcode(6, NET_IPV4, 0, &in);
	tunnel_build(&tunnel_specs[4], false, &in, in.len, &f);
	decode(&f, f.len, &p);
	packet_text(&p, line, sizeof(line));
	assert_non_null(strstr(line, ", erspan2 from 10.0.0.1 session 5 seq 66051"));
	o = packet_to_json(&p);
	t = json_object_get(o, "tunnel");
	assert_string_equal(json_string_value(json_object_get(t, "kind")), "erspan2");
	assert_string_equal(json_string_value(json_object_get(t, "dst")), "10.0.0.2");
	assert_int_equal(json_integer_value(json_object_get(t, "sequence")), 66051);
	assert_int_equal(json_integer_value(json_object_get(t, "vid")), 100);
	assert_true(json_is_false(json_object_get(t, "cut")));
	assert_true(json_is_null(json_object_get(t, "egress")));
	json_decref(o);
	packet_decode(DLT_EN10MB, in.bytes, in.len, in.len, 1, 0, &p);
	o = packet_to_json(&p);
	assert_null(json_object_get(o, "tunnel"));
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_tunnel),
		cmocka_unit_test(numbered_all_the_same),
		cmocka_unit_test(vxlan),
		cmocka_unit_test(vxlan_not_taken_off),
		cmocka_unit_test(every_cut),
		cmocka_unit_test(cut_by_the_mirror),
		cmocka_unit_test(headers_that_cannot_be),
		cmocka_unit_test(tunnel_within_a_tunnel),
		cmocka_unit_test(fragments_of_the_outer_packet),
		cmocka_unit_test(told_in_text_and_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
