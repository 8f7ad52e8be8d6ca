/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LLDP from literal bytes: what a switch says, every length it can be cut at, and TLVs that lie.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/decode/lldp.h"

/* clang-format off */
static const uint8_t leaf[] = {
	0x01, 0x80, 0xc2, 0, 0, 0x0e, 0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0x01, 0x88, 0xcc,
	0x02, 0x07, 0x04, 0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0x01,		/* chassis: MAC */
	0x04, 0x05, 0x05, 's', 'w', 'p', '1',				/* port: name */
	0x06, 0x02, 0x00, 0x78,						/* TTL 120 s */
	0x0a, 0x05, 'l', 'e', 'a', 0x07, '1',				/* system, a bell in it */
	0x0c, 0x03, 'O', 'S', '1',					/* description: not read */
	0xfe, 0x19, 0x00, 0x80, 0xc2, 0x09, 0x83,			/* ETS: willing, 3 TCs */
		0x00, 0x01, 0x00, 0x20,					/* prio 3: tc 1, 6: tc 2 */
		40, 60, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0,
	0xfe, 0x19, 0x00, 0x80, 0xc2, 0x0a, 0x00,			/* ETS recommendation */
		0x00, 0x02, 0x00, 0x60,
		50, 50, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0,
	0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x08, 0x08,			/* PFC: cap 8, prio 3 */
	0xfe, 0x0e, 0x00, 0x80, 0xc2, 0x0c, 0x00,			/* APP */
		0x63, 0x12, 0xb7,					/* UDP 4791: prio 3 */
		0x65, 0x00, 0x1a,					/* DSCP 26: prio 3 */
		0xc5, 0x00, 0x30,					/* DSCP 48: prio 6 */
	0xfe, 0x06, 0x00, 0x12, 0x0f, 0x04, 0x24, 0x00,			/* max frame 9216 */
	0x00, 0x00,
};
/* clang-format on */

static int decode(const uint8_t *bytes, uint32_t len, struct lldp_peer *p, struct err *e)
{
	uint8_t *exact = malloc(len ? len : 1);
	int err;

	memcpy(exact, bytes, len);
	err = lldp_decode(exact, len, p, e);
	free(exact);
	return err;
}

static void a_switch(void **state)
{
	static const uint8_t tc[8] = {0, 0, 0, 1, 0, 0, 2, 0};
	static const uint8_t want_tc[8] = {0, 0, 0, 2, 0, 0, 6, 0};
	struct lldp_peer p = {0};
	struct err e = {0};
	unsigned int i;

	(void)state;
	assert_int_equal(decode(leaf, sizeof(leaf), &p, &e), 0);
	assert_true(p.seen);
	assert_string_equal(p.chassis, "02:aa:bb:cc:dd:01");
	assert_string_equal(p.port, "swp1");
	assert_string_equal(p.system, "lea?1");
	assert_string_equal(p.dialect, "ieee");
	assert_int_equal(p.ttl_s, 120);
	assert_int_equal(p.max_frame, 9216);
	assert_int_equal(p.neighbours, 1);
	assert_int_equal(p.qos.ets_willing, 1);
	assert_int_equal(p.qos.ets_cap, 3);
	assert_memory_equal(p.qos.prio_tc, tc, 8);
	assert_int_equal(p.qos.tc_tx_bw[1], 60);
	assert_int_equal(p.qos.tc_tsa[1], QOS_TSA_ETS);
	assert_memory_equal(p.recommended.prio_tc, want_tc, 8);
	assert_int_equal(p.recommended.tc_tx_bw[0], 50);
	assert_int_equal(p.qos.pfc_willing, 0);
	assert_int_equal(p.qos.pfc_cap, 8);
	assert_int_equal(p.qos.pfc_enabled, 8);
	assert_int_equal(p.qos.app_count, 1);
	assert_int_equal(p.qos.app[0].selector, QOS_APP_DGRAM);
	assert_int_equal(p.qos.app[0].protocol, 4791);
	assert_int_equal(p.qos.app[0].prio, 3);
	for (i = 0; i < QOS_DSCPS; i++)
		assert_int_equal(p.qos.dscp_prio[i], i == 26 ? 3 : i == 48 ? 6 : QOS_UNMAPPED);
	assert_true(p.qos.has ==
		    (QOS_BIT(QOS_ETS_WILLING) | QOS_BIT(QOS_ETS_CAP) | QOS_BIT(QOS_PRIO_TC) |
		     QOS_BIT(QOS_TC_TX_BW) | QOS_BIT(QOS_TC_TSA) | QOS_BIT(QOS_PFC_WILLING) |
		     QOS_BIT(QOS_PFC_CAP) | QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_APP) |
		     QOS_BIT(QOS_DSCP_PRIO)));
}

/* Cut anywhere: an error that leaves the peer as it was, or, between TLVs, what came before the
 * cut. */
static void every_cut(void **state)
{
	struct lldp_peer zero = {0};
	uint32_t len;

	(void)state;
	for (len = 0; len < sizeof(leaf); len++) {
		struct lldp_peer p = {0};
		struct err e = {0};
		int err = decode(leaf, len, &p, &e);

		if (!err) {
			assert_true(p.seen && len >= 23);
			continue;
		}
		assert_int_equal(err, -EINVAL);
		assert_true(e.text[0]);
		assert_memory_equal(&p, &zero, sizeof(p));
	}
}

/* Any byte changed to any of some values: no read out of bounds, and what is taken is in range. */
static void every_byte_changed(void **state)
{
	static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
	uint8_t copy[sizeof(leaf)];
	unsigned int i, k, v;

	(void)state;
	for (i = 12; i < sizeof(leaf); i++) {
		for (v = 0; v < ARRAY_SIZE(values); v++) {
			struct lldp_peer p = {0};
			struct err e = {0};
			json_t *o;

			memcpy(copy, leaf, sizeof(copy));
			copy[i] = values[v];
			if (decode(copy, sizeof(copy), &p, &e))
				continue;
			for (k = 0; k < 8 && qos_has(&p.qos, QOS_PRIO_TC); k++)
				assert_true(p.qos.prio_tc[k] < 8);
			o = qos_to_json(&p.qos); /* every value has a word */
			assert_non_null(o);
			assert_int_equal(qos_from_json(o, &p.qos, &e), 0);
			json_decref(o);
		}
	}
}

struct tlv_case {
	const char *name;
	uint8_t tlv[40];
	uint32_t len;
	int err;
	const char *text; /* in the error, or the dialect */
	uint64_t has;
};

static const struct tlv_case tlv_cases[] = {
	{"pfc of lldpad",
	 {0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x08, 0x08},
	 8,
	 0,
	 "ieee",
	 QOS_BIT(QOS_PFC_WILLING) | QOS_BIT(QOS_PFC_CAP) | QOS_BIT(QOS_PFC_ENABLED)},
	{"pfc cap 15",
	 {0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x0f, 0x08},
	 8,
	 0,
	 "ieee",
	 QOS_BIT(QOS_PFC_WILLING) | QOS_BIT(QOS_PFC_ENABLED)},
	{"pfc short", {0xfe, 0x05, 0x00, 0x80, 0xc2, 0x0b, 0x08}, 7, -EINVAL, "PFC TLV has invalid length 1", 0},
	{"pfc long", {0xfe, 0x07, 0x00, 0x80, 0xc2, 0x0b, 8, 8, 8}, 9, -EINVAL, "PFC TLV has invalid length 3", 0},
	{"pfc beyond the end",
	 {0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x08},
	 7,
	 -EINVAL,
	 "5 are left",
	 0},
	{"half a header", {0xfe}, 1, -EINVAL, "frame ends", 0},
	{"oui cut", {0xfe, 0x03, 0x00, 0x80, 0xc2}, 5, -EINVAL, "organizationally", 0},
	{"ets short", {0xfe, 0x18, 0x00, 0x80, 0xc2, 0x09}, 26, -EINVAL, "ETS configuration", 0},
	{"app empty", {0xfe, 0x05, 0x00, 0x80, 0xc2, 0x0c, 0x00}, 7, 0, "ieee", 0},
	{"app half an entry",
	 {0xfe, 0x07, 0x00, 0x80, 0xc2, 0x0c, 0x00, 0x65, 0x00},
	 9,
	 0,
	 "ieee",
	 0},
	{"app dscp 64",
	 {0xfe, 0x08, 0x00, 0x80, 0xc2, 0x0c, 0x00, 0x65, 0x00, 0x40},
	 10,
	 0,
	 "ieee",
	 0},
	{"app selector 0",
	 {0xfe, 0x08, 0x00, 0x80, 0xc2, 0x0c, 0, 0x60, 0x12, 0xb7},
	 10,
	 0,
	 "ieee",
	 0},
	{"cee", {0xfe, 0x06, 0x00, 0x1b, 0x21, 0x02, 0x02, 0x0a}, 8, 0, "cee", 0},
	{"cee pfc",
	 {0xfe, 0x0e, 0x00, 0x1b, 0x21, 0x02, 0x02, 0x00, 0x06, 0x06, 0, 0, 0x80, 0, 0x08, 8},
	 16,
	 0,
	 "cee",
	 QOS_BIT(QOS_PFC_WILLING) | QOS_BIT(QOS_PFC_ENABLED)},
	{"cee pfc short",
	 {0xfe, 0x0b, 0x00, 0x1b, 0x21, 0x02, 0x06, 0x05, 0, 0, 0x80, 0, 0x08},
	 13,
	 0,
	 "cee",
	 0},
	{"cee sub-TLV beyond the end",
	 {0xfe, 0x0b, 0x00, 0x1b, 0x21, 0x02, 0x06, 0x06, 0, 0, 0x80, 0, 0x08},
	 13,
	 0,
	 "cee",
	 0},
	{"cin", {0xfe, 0x06, 0x00, 0x1b, 0x21, 0x01, 0x02, 0x0a}, 8, 0, "cin", 0},
	{"other organisation", {0xfe, 0x04, 0x00, 0x40, 0x9c, 0x01}, 6, 0, "", 0},
	{"unknown type", {0x12, 0x02, 0xaa, 0xaa}, 4, 0, "", 0},
	{"nothing", {0}, 0, 0, "", 0},
	{"end only, then rubbish", {0, 0, 0xff, 0xff, 0xff}, 5, 0, "", 0},
	{"chassis without id", {0x02, 0x01, 0x04}, 3, -EINVAL, "chassis ID", 0},
	{"ttl short", {0x06, 0x01, 0x04}, 3, -EINVAL, "time to live", 0},
};

static void single_tlvs(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(tlv_cases); i++) {
		const struct tlv_case *c = &tlv_cases[i];
		uint8_t *exact = malloc(c->len ? c->len : 1);
		struct lldp_peer p = {0};
		struct err e = {0};
		int err;

		memcpy(exact, c->tlv, c->len);
		err = lldp_decode_tlvs(exact, c->len, &p, &e);
		free(exact);
		if (err != c->err || !strstr(err ? e.text : p.dialect, c->text) ||
		    p.qos.has != c->has)
			fail_msg("%s: %d '%s' '%s' %llx", c->name, err, e.text, p.dialect,
				 (unsigned long long)p.qos.has);
	}
}

/* TLVs without chassis add up; both dialects at once are IEEE. */
static void adding(void **state)
{
	static const uint8_t pfc[] = {0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x84, 0x18};
	static const uint8_t cee[] = {0xfe, 0x04, 0x00, 0x1b, 0x21, 0x02};
	static const uint8_t mfs[] = {0xfe, 0x06, 0x00, 0x12, 0x0f, 0x04, 0x05, 0xf2};
	struct lldp_peer p = {0};
	struct err e = {0};

	(void)state;
	assert_int_equal(lldp_decode_tlvs(pfc, sizeof(pfc), &p, &e), 0);
	assert_int_equal(lldp_decode_tlvs(cee, sizeof(cee), &p, &e), 0);
	assert_int_equal(lldp_decode_tlvs(mfs, sizeof(mfs), &p, &e), 0);
	assert_string_equal(p.dialect, "ieee");
	assert_int_equal(p.qos.pfc_willing, 1);
	assert_int_equal(p.qos.pfc_cap, 4);
	assert_int_equal(p.qos.pfc_enabled, 0x18);
	assert_int_equal(p.max_frame, 1522);
}

/* What CEE says of PFC holds until the peer turns out to speak IEEE too. */
static void both_dialects(void **state)
{
	static const uint8_t cee[] = {0xfe, 0x0c, 0x00, 0x1b, 0x21, 0x02, 0x06,
				      0x06, 0,	  0,	0xc0, 0,    0x30, 8};
	static const uint8_t app[] = {0xfe, 0x05, 0x00, 0x80, 0xc2, 0x0c, 0x00};
	struct lldp_peer p = {0};
	struct err e = {0};

	(void)state;
	assert_int_equal(lldp_decode_tlvs(cee, sizeof(cee), &p, &e), 0);
	assert_int_equal(p.qos.pfc_enabled, 0x30);
	assert_int_equal(p.qos.pfc_willing, 1);
	assert_int_equal(lldp_decode_tlvs(app, sizeof(app), &p, &e), 0);
	assert_string_equal(p.dialect, "ieee");
	assert_false(qos_has(&p.qos, QOS_PFC_ENABLED));
	assert_int_equal(lldp_decode_tlvs(cee, sizeof(cee), &p, &e), 0);
	assert_false(qos_has(&p.qos, QOS_PFC_ENABLED));
}

static void two_neighbours(void **state)
{
	uint8_t other[sizeof(leaf)], farewell[sizeof(leaf)], newer[sizeof(leaf)];
	struct lldp_peer p = {0};
	struct err e = {0};
	unsigned int i;

	(void)state;
	memcpy(other, leaf, sizeof(leaf));
	other[22] = 0x99; /* last byte of the chassis id */
	other[29] = '2';  /* swp2 */
	assert_int_equal(decode(leaf, sizeof(leaf), &p, &e), 0);
	assert_int_equal(decode(leaf, sizeof(leaf), &p, &e), 0);
	assert_int_equal(p.neighbours, 1);
	for (i = 0; i < 3; i++) {
		assert_int_equal(decode(other, sizeof(other), &p, &e), 0);
		assert_int_equal(p.neighbours, 2);
		assert_string_equal(p.chassis, "02:aa:bb:cc:dd:01");
		assert_string_equal(p.port, "swp1");
	}
	for (i = 0; i < 200; i++) { /* a liar with many names */
		other[21] = (uint8_t)i;
		assert_int_equal(decode(other, sizeof(other), &p, &e), 0);
	}
	assert_int_equal(p.neighbours, LLDP_HEARD_MAX);

	/* A newer frame without PFC: what the older said is gone. */
	memcpy(newer, leaf, sizeof(leaf));
	for (i = 0; i + 3 < sizeof(newer); i++)
		if (newer[i] == 0x80 && newer[i + 1] == 0xc2 && newer[i + 2] == 0x0b)
			newer[i + 2] = 0xee;
	assert_int_equal(decode(newer, sizeof(newer), &p, &e), 0);
	assert_false(qos_has(&p.qos, QOS_PFC_ENABLED));
	assert_true(qos_has(&p.qos, QOS_ETS_CAP));
	assert_int_equal(p.neighbours, LLDP_HEARD_MAX);

	memcpy(farewell, leaf, sizeof(leaf));
	farewell[33] = 0;
	assert_int_equal(decode(farewell, sizeof(farewell), &p, &e), 0);
	assert_int_equal(p.ttl_s, 0);
	assert_true(qos_has(&p.qos, QOS_ETS_CAP));
}

static void frames_around(void **state)
{
	uint8_t tagged[sizeof(leaf) + 4 + 50] = {0}, ipv4[60] = {0};
	struct lldp_peer p = {0};
	struct err e = {0};

	(void)state;
	memcpy(tagged, leaf, 12);
	memcpy(tagged + 12, "\x81\x00\x00\x00", 4);
	memcpy(tagged + 16, leaf + 12, sizeof(leaf) - 12);
	assert_int_equal(decode(tagged, sizeof(tagged), &p, &e), 0);
	assert_int_equal(p.qos.pfc_enabled, 8);
	ipv4[12] = 8;
	assert_int_equal(decode(ipv4, sizeof(ipv4), &p, &e), -EINVAL);
	assert_non_null(strstr(e.text, "no LLDP frame"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch),
		cmocka_unit_test(every_cut),
		cmocka_unit_test(every_byte_changed),
		cmocka_unit_test(single_tlvs),
		cmocka_unit_test(adding),
		cmocka_unit_test(both_dialects),
		cmocka_unit_test(two_neighbours),
		cmocka_unit_test(frames_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
