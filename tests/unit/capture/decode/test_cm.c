/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CM messages: every field of every message at its place, cut at every length, and datagrams that
 * only look like one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pcap/dlt.h>

#include "capture/decode/packet.h"
#include "tests/unit/fixture/cm_frames.h"

static const struct cm_field *field_of(uint16_t message, const char *key)
{
	unsigned int i;

	for (i = 0; i < cm_field_count; i++)
		if (cm_fields[i].message == message && !strcmp(cm_fields[i].key, key))
			return &cm_fields[i];
	return NULL;
}

static const struct cm_frame_spec *spec_of(uint16_t message)
{
	unsigned int i;

	for (i = 0; i < cm_frame_spec_count; i++)
		if (cm_frame_specs[i].attribute == message)
			return &cm_frame_specs[i];
	return NULL;
}

static void decode(const struct frame *f, uint32_t cap, struct packet *p)
{
	uint8_t *exact = malloc(cap ? cap : 1);

	assert_non_null(exact);
	memcpy(exact, f->bytes, cap);
	packet_decode(DLT_EN10MB, exact, cap, f->len, 7, 0, p);
	free(exact);
}

static void check_fields(const struct cm_frame_spec *s, const struct cm *c)
{
	const struct cm_field_value *v;

	for (v = s->fields; v->key; v++) {
		const struct cm_field *f = field_of(s->attribute, v->key);
		uint64_t got = 0;

		if (!f || !cm_value(c, f, &got) || got != v->value)
			fail_msg("%s %s: 0x%llx, not 0x%llx", s->name, v->key,
				 (unsigned long long)got, (unsigned long long)v->value);
	}
}

static void every_message(void **state)
{
	unsigned int i;
	int net;

	(void)state;
	for (i = 0; i < cm_frame_spec_count; i++) {
		for (net = NET_IPV4; net <= NET_V1; net++) {
			const struct cm_frame_spec *s = &cm_frame_specs[i];
			struct packet p;
			struct frame f;

			cm_frame(s, (enum frame_net)net, &f);
			decode(&f, f.len, &p);
			assert_int_equal(p.fault, PACKET_OK);
			assert_int_equal(p.icrc, ICRC_GOOD);
			assert_int_equal(p.cm.message, s->attribute);
			assert_string_equal(cm_message_text(&p.cm), s->name);
			assert_true(p.cm.tid == 0x0000000100000009);
			assert_true(cm_whole(&p.cm));
			check_fields(s, &p.cm);
			assert_int_equal(p.cm.ip, s->ip_at != 0);
		}
	}
}

/* Both ways: no row that no vector knows, no two rows on the same bits of a message. */
static void every_row(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < cm_field_count; i++) {
		const struct cm_field *f = &cm_fields[i];
		const struct cm_frame_spec *s = spec_of(f->message);
		const struct cm_field_value *v;
		uint8_t mad[CM_PAYLOAD] = {1, 7, 2, 3};
		unsigned int k;
		uint64_t got;
		struct cm c;

		assert_non_null(s);
		for (v = s->fields; v->key && strcmp(v->key, f->key) != 0; v++)
			;
		assert_non_null(v->key);
		assert_true(f->shift + f->bits <= 8 * f->bytes);
		mad[17] = (uint8_t)f->message;
		memset(mad + 24, 0xff, CM_PAYLOAD - 24);
		for (k = 0; k < f->bits; k++)
			mad[24 + f->byte + f->bytes - 1 - (f->shift + k) / 8] &=
				(uint8_t) ~(1U << (f->shift + k) % 8);
		assert_true(cm_decode(mad, sizeof(mad), &c));
		for (k = 0; k < cm_field_count; k++) {
			if (cm_fields[k].message != f->message || cm_fields[k].convert)
				continue;
			assert_true(cm_value(&c, &cm_fields[k], &got));
			assert_true(got == (k == i ? 0 : ~0ULL >> (64 - cm_fields[k].bits)));
		}
	}
}

/* What RDMA CM adds, of both IP versions; what only looks like it is not taken. */
static void addresses(void **state)
{
	static const struct {
		const char *name;
		unsigned int at; /* in the MAD */
		uint8_t byte;
		bool ip;
	} rows[] = {
		{"as it is", 24 + 141, 0x40, true},
		{"IPv6", 24 + 141, 0x60, true},
		{"no IP version", 24 + 141, 0x50, false},
		{"another version", 24 + 140, 1, false},
		{"not RDMA CM's service", 24 + 12, 2, false},
		{"far from RDMA CM's service", 24 + 8, 1, false},
	};
	uint8_t mad[CM_PAYLOAD];
	char text[64];
	struct cm c;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		cm_mad(&cm_frame_specs[0], mad);
		mad[rows[i].at] = rows[i].byte;
		assert_true(cm_decode(mad, sizeof(mad), &c));
		if (c.ip != rows[i].ip)
			fail_msg("%s", rows[i].name);
	}
	cm_mad(&cm_frame_specs[0], mad);
	mad[24 + 140 + 4] = 0x99; /* IPv4: what is before the last four bytes says nothing */
	assert_true(cm_decode(mad, sizeof(mad), &c));
	packet_addr_text(c.ip_src, text, sizeof(text));
	assert_string_equal(text, "198.18.0.1");
	packet_addr_text(c.ip_dst, text, sizeof(text));
	assert_string_equal(text, "198.18.0.2");
	assert_int_equal(c.ip_port, 0x4a21);
	assert_int_equal(c.ip_sport, 0xc001);
}

/* A field is told when all of it was captured, and the packet says what is missing. */
static void every_cut(void **state)
{
	const struct cm_field_value *v;
	unsigned int i;
	uint32_t cap;

	(void)state;
	for (i = 0; i < cm_frame_spec_count; i++) {
		const struct cm_frame_spec *s = &cm_frame_specs[i];
		struct packet p;
		struct frame f;
		uint32_t data;

		cm_frame(s, NET_IPV4, &f);
		data = f.len - 4 - CM_PAYLOAD + CM_MAD_HEADER;
		for (cap = 0; cap < f.len; cap++) {
			bool whole = true;

			decode(&f, cap, &p);
			assert_int_equal(p.cm.message, cap < data ? CM_NONE : s->attribute);
			for (v = s->fields; v->key && cap >= data; v++) {
				bool there = cap >= data + v->byte + v->bytes;
				uint64_t got = 0;

				assert_int_equal(
					cm_value(&p.cm, field_of(s->attribute, v->key), &got),
					there);
				assert_true(got == (there ? v->value : 0));
				whole = whole && there;
			}
			if (cap >= data)
				assert_int_equal(p.fault, whole ? PACKET_OK : PACKET_TRUNCATED);
			if (cap >= data && !whole)
				assert_non_null(strstr(p.note, s->name));
		}
	}
}

/* Offsets are in the frame, from the BTH. */
static void not_cm(void **state)
{
	static const struct {
		const char *name;
		uint32_t at;
		uint8_t byte;
	} rows[] = {
		{"another QP", 7, 2},	       {"from another QP", 19, 2},
		{"another Q_Key", 15, 7},      {"UD with immediate", 0, 0x65},
		{"base version", 20, 2},       {"class", 21, 0x81},
		{"class version", 22, 1},      {"method", 23, 0x81},
		{"attribute high", 36, 1},     {"attribute below", 37, 0x0f},
		{"attribute above", 37, 0x1b},
	};
	struct packet p;
	struct frame f;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		cm_frame(&cm_frame_specs[0], NET_IPV4, &f);
		f.bytes[f.bth + rows[i].at] = rows[i].byte;
		decode(&f, f.len, &p);
		if (p.cm.message != CM_NONE)
			fail_msg("%s: taken for CM", rows[i].name);
	}
}

static void told_in_text_and_json(void **state)
{
	static const struct {
		unsigned int spec;
		const char *want;
	} rows[] = {
		{0, ", CM REQ id 0xa1b2c3d4 qp 0x000112 starting psn 0xabcdef mtu 1024 ack "
		    "timeout 18 service 0x0000000001064a21 to 198.18.0.2 port 18977"},
		{1, ", CM REP id 0x11111111 to 0xa1b2c3d4 qp 0x000213 starting psn 0x123456"},
		{4, ", CM REJ id 0x00000000 to 0xa1b2c3d4 reason 28"},
		{8, ", CM SIDR_REP id 0x00000077 qp 0x000314 status 2 service"},
	};
	struct packet p;
	struct frame f;
	char line[512];
	json_t *o, *m;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		cm_frame(&cm_frame_specs[rows[i].spec], NET_IPV4, &f);
		decode(&f, f.len, &p);
		packet_text(&p, line, sizeof(line));
		assert_non_null(strstr(line, rows[i].want));
	}
	cm_frame(&cm_frame_specs[0], NET_IPV4, &f);
	decode(&f, f.bth + 20 + 24 + 40, &p); /* cut before the starting PSN */
	o = packet_to_json(&p);
	m = json_object_get(o, "cm");
	assert_string_equal(json_string_value(json_object_get(m, "message")), "REQ");
	assert_string_equal(json_string_value(json_object_get(m, "service_id")),
			    "0x0000000001064a21");
	assert_int_equal(json_integer_value(json_object_get(m, "qpn")), 0x112);
	assert_true(json_is_null(json_object_get(m, "starting_psn")));
	assert_null(json_object_get(m, "ip"));
	packet_text(&p, line, sizeof(line));
	assert_null(strstr(line, "starting psn"));
	json_decref(o);
}

/* The longest line: every address in IPv6 at its full length, in a tunnel, cut. */
static void the_longest_line(void **state)
{
	char line[PACKET_TEXT_MAX];
	struct packet p;
	struct frame f;

	(void)state;
	cm_frame(&cm_frame_specs[0], NET_IPV6, &f);
	decode(&f, f.len, &p);
	p.time_ns = INT64_MAX;
	p.frame = UINT64_MAX;
	memset(p.src, 0xbb, sizeof(p.src));
	memset(p.dst, 0xbb, sizeof(p.dst));
	memset(p.cm.ip_dst, 0xbb, sizeof(p.cm.ip_dst));
	memset(&p.tunnel, 0xbb, sizeof(p.tunnel));
	p.tunnel.kind = TUNNEL_ERSPAN_III;
	p.tunnel.sequenced = p.tunnel.truncated = p.fragment = p.fecn = p.becn = true;
	p.headers = 0x7ff;
	p.vlan_count = 2;
	p.fault = PACKET_TRUNCATED;
	memset(p.note, 'n', sizeof(p.note) - 1);
	assert_in_range(packet_text(&p, line, sizeof(line)), 700, sizeof(line) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message),    cmocka_unit_test(every_row),
		cmocka_unit_test(addresses),	    cmocka_unit_test(every_cut),
		cmocka_unit_test(not_cm),	    cmocka_unit_test(told_in_text_and_json),
		cmocka_unit_test(the_longest_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
