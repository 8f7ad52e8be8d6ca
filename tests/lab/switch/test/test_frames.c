/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of tests/lab/switch/, what judges one frame: classify.c, ecn.c, pfc.c and the matching of
 * fault.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lab/switch/switch.h"

/* An IPv4 UDP frame to port 4791 with a BTH, checksum right. */
static void make_roce(struct frame *f, uint8_t tos, uint8_t opcode, uint16_t sport)
{
	static const uint8_t head[] = {
		0x02, 0, 0, 0, 0, 2,  0x02, 0, 0, 0,   0,  1, 0x08, 0x00, 0x45, 0, 0,
		86,   0, 0, 0, 0, 64, 17,   0, 0, 198, 18, 0, 1,    198,  18,	0, 2,
	};
	uint32_t sum = 0;

	memset(f, 0, sizeof(*f));
	memcpy(f->data, head, sizeof(head));
	f->len = 100;
	f->data[15] = tos;
	for (unsigned int i = 14; i < 34; i += 2)
		sum += f->data[i] << 8 | f->data[i + 1];
	sum = ~((sum & 0xffff) + (sum >> 16));
	f->data[24] = sum >> 8;
	f->data[25] = sum;
	f->data[34] = sport >> 8;
	f->data[35] = sport;
	f->data[36] = 4791 >> 8;
	f->data[37] = 4791 & 0xff;
	f->data[42] = opcode;
	assert_true(frame_parse(f));
}

static bool checksum_right(const struct frame *f)
{
	uint32_t sum = 0;

	for (unsigned int i = f->l3; i < f->l3 + 20u; i += 2)
		sum += f->data[i] << 8 | f->data[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

static void test_parse(void **state)
{
	static struct frame f, tagged;

	(void)state;
	make_roce(&f, 106, 0x0a, 0xc123);
	assert_int_equal(f.tos, 106);
	assert_int_equal(f.opcode, 0x0a);
	assert_int_equal(f.sport, 0xc123);
	assert_true(f.roce);
	assert_true(checksum_right(&f));
	tagged = f;
	memmove(tagged.data + 16, tagged.data + 12, 80);
	memcpy(tagged.data + 12, "\x81\x00\xa0\x05", 4);
	tagged.len += 4;
	assert_true(frame_parse(&tagged));
	assert_true(tagged.tagged && tagged.roce);
	assert_int_equal(tagged.pcp, 5);
	assert_int_equal(tagged.tos, 106);
	assert_int_equal(tagged.hash, f.hash);
	/* No length makes it read beyond the frame; ASan watches. */
	for (uint32_t len = 0; len < 100; len++) {
		f.len = len;
		assert_int_equal(frame_parse(&f), len >= 14);
		assert_true(!f.roce || len >= 54);
	}
}

static void test_prio(void **state)
{
	static struct frame f;
	struct port_config c = {.trust = QOS_TRUST_DSCP, .default_prio = 1};

	(void)state;
	c.dscp_prio[26] = 3;
	c.pcp_prio[5] = 4;
	make_roce(&f, 106, 0x0a, 1);
	assert_int_equal(frame_prio(&f, &c), 3);
	c.trust = QOS_TRUST_PCP;
	assert_int_equal(frame_prio(&f, &c), 1);
	f.tagged = true;
	f.pcp = 5;
	assert_int_equal(frame_prio(&f, &c), 4);
	c.trust = QOS_TRUST_DSCP;
	f.ip_version = 0;
	assert_int_equal(frame_prio(&f, &c), 4);
}

/* Every old and new value: the checksum stays right. */
static void test_set_tos(void **state)
{
	static struct frame f;

	(void)state;
	for (unsigned int from = 0; from < 256; from += 5)
		for (unsigned int to = 0; to < 256; to++) {
			make_roce(&f, from, 0x0a, 1);
			frame_set_tos(&f, to);
			assert_int_equal(f.data[15], to);
			assert_true(checksum_right(&f));
		}
	memset(&f, 0, sizeof(f));
	memcpy(f.data + 12, "\x86\xdd\x60\x12\x34\x56", 6);
	f.len = 80;
	assert_true(frame_parse(&f));
	frame_set_tos(&f, 0xab);
	assert_memory_equal(f.data + 14, "\x6a\xb2\x34\x56", 4);
}

static void test_red_curve(void **state)
{
	const struct ecn_config c = {true, false, 1000, 3000, 20};
	const struct ecn_config off = {false, false, 1000, 3000, 20};
	static const struct {
		uint64_t bytes;
		uint32_t want;
	} cases[] = {
		{0, 0},		{1000, 0},	{1001, 100}, {2000, 100000},
		{2999, 199900}, {3000, 200000}, {3001, PPM}, {1u << 30, PPM},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(ecn_probability_ppm(&c, cases[i].bytes), cases[i].want);
		assert_int_equal(ecn_probability_ppm(&off, cases[i].bytes), 0);
	}
}

static void test_red_verdicts(void **state)
{
	struct ecn_config c = {true, false, 1000, 3000, 20};
	unsigned int marked = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++)
		marked += ecn_judge(&c, 2000, 2, i * 42949u) == ECN_MARK;
	assert_in_range(marked, 9900, 10100); /* 10 % */
	assert_int_equal(ecn_judge(&c, 5000, 0, 0), ECN_DROP);
	assert_int_equal(ecn_judge(&c, 5000, 1, UINT32_MAX), ECN_MARK);
	assert_int_equal(ecn_judge(&c, 1000, 0, 0), ECN_PASS);
	c.spare = true;
	assert_int_equal(ecn_judge(&c, 5000, 0, 0), ECN_PASS);
}

static void test_quanta(void **state)
{
	(void)state;
	assert_int_equal(pfc_quanta_ns(1, 12500000000), 5); /* 512 bits at 100 Gbit/s: 5.12 ns */
	assert_int_equal(pfc_quanta_ns(0xffff, 12500000000), 335539);
	assert_int_equal(pfc_quanta_ns(0xffff, 8000000), 524280000);
	assert_int_equal(pfc_quanta_ns(0, 8000000), 0);
}

static void test_pfc_frame(void **state)
{
	static const uint8_t mac[6] = {2, 3, 4, 5, 6, 7};
	const uint16_t quanta[QOS_PRIOS] = {[3] = 0xffff, [4] = 0x1234};
	uint16_t read[QOS_PRIOS];
	uint8_t buf[64];
	struct packet p;
	uint32_t len = pfc_frame_make(mac, 0x18, quanta, buf);

	(void)state;
	assert_int_equal(len, 60);
	assert_int_equal(pfc_frame_read(buf, len, read), 0x18);
	assert_memory_equal(read, quanta, sizeof(read));
	packet_decode(1, buf, len, len, 1, 0, &p); /* what a capture makes of it */
	assert_int_equal(p.kind, PACKET_PFC);
	assert_int_equal(p.pfc_enable, 0x18);
	assert_int_equal(p.pfc_quanta[4], 0x1234);
	assert_true(pfc_frame_read(buf, 33, read) < 0);
	buf[15] = 2;
	assert_true(pfc_frame_read(buf, len, read) < 0);
}

#define ANY .opcode = FAULT_ANY, .sport = FAULT_ANY

static void test_fault_matching(void **state)
{
	static const struct {
		struct fault fault;
		bool want;
	} cases[] = {
		{{.kind = FAULT_DROP, ANY}, true},
		{{.kind = FAULT_DROP, .port = "p1", ANY}, true},
		{{.kind = FAULT_DROP, .port = "leaf1/p1", ANY}, true},
		{{.kind = FAULT_DROP, .port = "leaf2/p1", ANY}, false},
		{{.kind = FAULT_DROP, .port = "p2", ANY}, false},
		{{.kind = FAULT_DROP, .direction = FAULT_IN, ANY}, true},
		{{.kind = FAULT_DROP, .direction = FAULT_OUT, ANY}, false},
		{{.kind = FAULT_DROP, .prios = 1 << 3, ANY}, true},
		{{.kind = FAULT_DROP, .prios = 1 << 4, ANY}, false},
		{{.kind = FAULT_DROP, .opcode = 0x81, .sport = FAULT_ANY}, true},
		{{.kind = FAULT_DROP, .opcode = 0x0a, .sport = FAULT_ANY}, false},
		{{.kind = FAULT_DROP, .opcode = FAULT_ANY, .sport = 49152}, true},
		{{.kind = FAULT_DROP, .opcode = FAULT_ANY, .sport = 49153}, false},
		{{.kind = FAULT_DROP_CNP, ANY}, true},
		{{.kind = FAULT_DROP_ACK, ANY}, false},
		{{.kind = FAULT_PFC_OFF, ANY}, false}, /* not about frames */
	};
	static struct frame f;

	(void)state;
	make_roce(&f, 106, 0x81, 49152);
	f.prio = 3;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		if (fault_matches(&cases[i].fault, "p1", "leaf1", FAULT_IN, &f) != cases[i].want)
			fail_msg("case %u", i);
}

static void test_fault_times(void **state)
{
	const struct fault always = {.start_ms = 0}, later = {.start_ms = 5, .heal_ms = 10};

	(void)state;
	assert_true(fault_active(&always, 0));
	assert_true(fault_active(&always, UINT64_MAX));
	assert_false(fault_active(&later, 5 * NS_PER_MS - 1));
	assert_true(fault_active(&later, 5 * NS_PER_MS));
	assert_false(fault_active(&later, 10 * NS_PER_MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),	     cmocka_unit_test(test_prio),
		cmocka_unit_test(test_set_tos),	     cmocka_unit_test(test_red_curve),
		cmocka_unit_test(test_red_verdicts), cmocka_unit_test(test_quanta),
		cmocka_unit_test(test_pfc_frame),    cmocka_unit_test(test_fault_matching),
		cmocka_unit_test(test_fault_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
