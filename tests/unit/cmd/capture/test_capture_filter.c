/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filters of `capture decode`, as tables of words and packets.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture/decode/opcode.h"
#include "cmd/capture/capture_filter.h"

enum option { QPNS, OPCODES, ADDRESSES, VERDICTS };

/* One word of one option, none when it is NULL. */
static int take_word(struct capture_filter *f, enum option option, const char *word, struct err *e)
{
	struct capture_filter_words w = {0};
	struct opt_list *list[] = {&w.qpns, &w.opcodes, &w.addresses, &w.verdicts};

	*list[option] = (struct opt_list){.item = {word}, .count = word ? 1 : 0};
	return capture_filter_make(f, &w, e);
}

static const struct {
	const char *word;
	enum option option;
	bool good;
} words[] = {
	{"0x22", QPNS, true},
	{"34", QPNS, true},
	{"0xffffff", QPNS, true},
	{"0x1000000", QPNS, false},
	{"0x", QPNS, false},
	{"-1", QPNS, false},
	{"34x", QPNS, false},
	{"", QPNS, false},
	{"99999999999999999999999", QPNS, false},
	{"0x81", OPCODES, true},
	{"rc_ack", OPCODES, true},
	{"CNP", OPCODES, true},
	{"RC_AC", OPCODES, false},
	{"256", OPCODES, false},
	{"10.0.0.1", ADDRESSES, true},
	{"fe80::1", ADDRESSES, true},
	{"10.0.0", ADDRESSES, false},
	{"host", ADDRESSES, false},
	{"psn_gap", VERDICTS, true},
	{"cnp", VERDICTS, true},
	{"timeout", VERDICTS, true},
	{"malformed", VERDICTS, true},
	{"icrc_unverifiable", VERDICTS, true},
	{"icrc", VERDICTS, false},
	{"psn", VERDICTS, false},
	{"", VERDICTS, false},
};

static void test_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct capture_filter f = {0};
		struct err e = {0};
		int err = take_word(&f, words[i].option, words[i].word, &e);

		if (err != (words[i].good ? 0 : -EINVAL))
			fail_msg("'%s': %d %s", words[i].word, err, e.text);
		if (err && !strstr(e.text, words[i].word))
			fail_msg("'%s' is not named: %s", words[i].word, e.text);
	}
}

static const uint8_t one[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1};
static const uint8_t two[16] = {[10] = 0xff, 0xff, 10, 0, 0, 2};

/* From 10.0.0.1 to 10.0.0.2. */
static struct packet packet_of(uint8_t opcode, uint32_t qpn)
{
	struct packet p = {.kind = PACKET_ROCE, .bth = true, .opcode = opcode, .dest_qpn = qpn};

	memcpy(p.src, one, sizeof(one));
	memcpy(p.dst, two, sizeof(two));
	if (opcode_class(opcode) == OPCODE_CLASS_UD) {
		p.headers = HDR_DETH;
		p.deth.src_qpn = 0x99;
	}
	return p;
}

static const struct {
	const char *qpn, *opcode, *address, *verdict;
	uint8_t packet_opcode;
	uint32_t packet_qpn, events;
	bool want;
} matches[] = {
	{NULL, NULL, NULL, NULL, 0x11, 5, 0, true},
	{"5", NULL, NULL, NULL, 0x11, 5, 0, true},
	{"5", NULL, NULL, NULL, 0x11, 6, 0, false},
	{"0x99", NULL, NULL, NULL, 0x64, 1, 0, true},
	{"0x99", NULL, NULL, NULL, 0x11, 1, 0, false}, /* no DETH: what is there means nothing */
	{NULL, "RC_ACK", NULL, NULL, 0x11, 5, 0, true},
	{NULL, "RC_ACK", NULL, NULL, 0x0a, 5, 0, false},
	{NULL, NULL, "10.0.0.1", NULL, 0x11, 5, 0, true},
	{NULL, NULL, "::ffff:10.0.0.2", NULL, 0x11, 5, 0, true},
	{NULL, NULL, "10.0.0.3", NULL, 0x11, 5, 0, false},
	{NULL, NULL, NULL, "psn_gap", 0x0a, 5, FLOW_PSN_GAP | FLOW_CE, true},
	{NULL, NULL, NULL, "psn_gap", 0x0a, 5, FLOW_CE, false},
	{"5", "RC_ACK", "10.0.0.1", "nak_seq", 0x11, 5, FLOW_NAK_SEQ, true},
	{"5", "RC_ACK", "10.0.0.1", "nak_seq", 0x11, 6, FLOW_NAK_SEQ, false},
};

static void take_one(struct capture_filter *f, enum option option, const char *word)
{
	struct err e = {0};

	assert_int_equal(take_word(f, option, word, &e), 0);
}

static void test_matches(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++) {
		struct packet p = packet_of(matches[i].packet_opcode, matches[i].packet_qpn);
		struct flow_events ev = {.bits = matches[i].events};
		struct capture_filter f = {0};

		if (opcode_class(p.opcode) != OPCODE_CLASS_UD)
			p.deth.src_qpn = 0x99;
		take_one(&f, QPNS, matches[i].qpn);
		take_one(&f, OPCODES, matches[i].opcode);
		take_one(&f, ADDRESSES, matches[i].address);
		take_one(&f, VERDICTS, matches[i].verdict);
		if (capture_filter_match(&f, &p, ev) != matches[i].want)
			fail_msg("row %zu", i);
	}
}

/* Verdicts of the packet itself, alone and beside those of its flow. */
static void test_states(void **state)
{
	static const struct {
		const char *word;
		uint8_t fault, icrc;
		bool bth, want;
	} rows[] = {
		{"malformed", PACKET_MALFORMED, ICRC_BAD, true, true},
		{"malformed", PACKET_TRUNCATED, ICRC_BAD, true, false},
		{"truncated", PACKET_TRUNCATED, ICRC_UNVERIFIABLE, false, true},
		{"truncated", PACKET_OK, ICRC_UNVERIFIABLE, true, false},
		{"icrc_good", PACKET_OK, ICRC_GOOD, true, true},
		{"icrc_good", PACKET_OK, ICRC_BAD, true, false},
		{"icrc_unverifiable", PACKET_OK, ICRC_UNVERIFIABLE, true, true},
		{"icrc_unverifiable", PACKET_OK, ICRC_UNVERIFIABLE, false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct packet p = {.kind = PACKET_ROCE,
				   .bth = rows[i].bth,
				   .fault = rows[i].fault,
				   .icrc = rows[i].icrc};
		struct capture_filter f = {0};

		take_one(&f, VERDICTS, rows[i].word);
		if (capture_filter_match(&f, &p, (struct flow_events){0}) != rows[i].want)
			fail_msg("row %zu", i);
		assert_false(capture_filter_match(&f, &(struct packet){.kind = PACKET_LLDP},
						  (struct flow_events){.bits = FLOW_CE}));
		take_one(&f, VERDICTS, "ce");
		assert_true(capture_filter_match(&f, &p, (struct flow_events){.bits = FLOW_CE}));
	}
}

/* A PFC frame has no QP, opcode or address, whatever stands in its fields. */
static void test_other_frames(void **state)
{
	struct packet p = {.kind = PACKET_PFC};
	struct capture_filter none = {0}, qpn = {0}, opcode = {0}, address = {0};

	(void)state;
	take_one(&qpn, QPNS, "0");
	take_one(&opcode, OPCODES, "0");
	take_one(&address, ADDRESSES, "::");
	assert_true(capture_filter_match(&none, &p, (struct flow_events){0}));
	assert_false(capture_filter_match(&qpn, &p, (struct flow_events){0}));
	assert_false(capture_filter_match(&opcode, &p, (struct flow_events){0}));
	assert_false(capture_filter_match(&address, &p, (struct flow_events){0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_other_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
