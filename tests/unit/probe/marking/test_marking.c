/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The marking echo: both ends in one process over a way that rewrites, marks and loses; the header
 * ahead of a datagram; spec and result as JSON, and what is refused of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "probe/marking/marking.h"
#include "probe/marking/marking_priv.h"
#include "tests/unit/fixture/fake_objects.h"

/* What the way does. The GID of the stand-in is all ones: IPv6. */
static struct {
	int lose_port;	/* of this source port, all; -1 = none */
	int lose_every; /* n-th datagram, 0 = none */
	unsigned int
		lose_request; /* every n-th of the client, whose queue pairs are below `split` */
	uint32_t split;
	unsigned int requests;
	uint32_t longest;
	uint8_t from, to; /* DSCP */
	bool clear_ect, mark, no_header;
	unsigned int count;
} way;

static bool pass(const struct ibv_ah_attr *ah, uint32_t from_qpn, uint32_t bytes, uint8_t head[40])
{
	uint8_t tos = ah->grh.traffic_class;

	if (!way.count++)
		way.split = from_qpn + 64;
	if (way.lose_request && from_qpn < way.split && !(++way.requests % way.lose_request))
		return false;
	if (marking_label_port(ah->grh.flow_label) == way.lose_port || bytes > way.longest ||
	    (way.lose_every && !(way.count % (unsigned int)way.lose_every)))
		return false;
	if (way.to && tos >> 2 == way.from)
		tos = (uint8_t)(way.to << 2 | (tos & 3));
	if (way.clear_ect)
		tos &= 0xfc;
	if (way.mark)
		tos |= 3;
	head[0] = (uint8_t)(0x60 | tos >> 4);
	head[1] = (uint8_t)(tos << 4);
	head[6] = way.no_header ? 6 : 17;
	head[7] = ah->grh.hop_limit;
	memset(head + 24, 1, 16);
	return true;
}

static void reset(void)
{
	fake_reset();
	fake.way = pass;
	memset(&way, 0, sizeof(way));
	way.lose_port = -1;
	way.longest = 4096;
}

static const struct marking_spec base = {
	.ibdev = "fake0",
	.ib_port = 1,
	.gid_index = 3,
	.seed = 0x1234567890abcdef,
	.duration_ms = 20000,
	.count = 8,
	.paths = 4,
	.class_count = 2,
	.class = {{.tos = 106, .sl = 3}, {.tos = 2}},
};

struct both {
	struct marking *end[2];
	struct marking_result result[2];
	atomic_int stop;
};

static void *serve(void *arg)
{
	struct both *b = arg;
	struct err e = {0};

	assert_int_equal(marking_run(b->end[1], &b->stop, &b->result[1], &e), 0);
	return NULL;
}

static struct both *run_both(struct marking_spec spec)
{
	struct both *b = calloc(1, sizeof(*b));
	struct traffic_endpoint *self = calloc(2, sizeof(*self));
	atomic_int never = 0;
	struct err e = {0};
	pthread_t thread;

	for (unsigned int i = 0; i < 2; i++) {
		spec.role = i ? TRAFFIC_SERVER : TRAFFIC_CLIENT;
		if (marking_open(&spec, &b->end[i], &e))
			fail_msg("%s", e.text);
		marking_self(b->end[i], &self[i]);
	}
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(marking_connect(b->end[i], &self[!i], &e), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, b), 0);
	assert_int_equal(marking_run(b->end[0], &never, &b->result[0], &e), 0);
	b->stop = 1;
	pthread_join(thread, NULL);
	for (unsigned int i = 0; i < 2; i++)
		marking_close(b->end[i]);
	free(self);
	assert_int_equal(fake.qps + fake.cqs + fake.mrs + fake.ahs, 0);
	assert_string_equal(b->result[0].detail, "");
	assert_string_equal(b->result[1].detail, "");
	return b;
}

static void expect(const struct marking_record *r, uint32_t arrived, uint8_t tos)
{
	assert_int_equal(r->arrived, arrived);
	assert_int_equal(r->wrong + r->repeated + r->unread + r->others, 0);
	assert_int_equal(r->seen_count, arrived ? 1 : 0);
	if (arrived && (r->seen[0].tos != tos || r->seen[0].ttl != 64))
		fail_msg("ToS %u, TTL %u", r->seen[0].tos, r->seen[0].ttl);
}

/* Nothing happens on the way: everything is seen at both ends, as it was sent. */
static void test_clean(void **state)
{
	struct marking_flow flow[MARKING_FLOWS_MAX];
	unsigned int flows = marking_flows(&base, flow);
	struct both *b;

	(void)state;
	reset();
	b = run_both(base);
	assert_int_equal(flows, 8);
	assert_int_equal(b->result[0].flow_count, flows);
	assert_int_equal(b->result[1].flow_count, flows);
	for (unsigned int i = 0; i < flows; i++) {
		uint8_t tos = base.class[flow[i].class].tos;

		assert_int_equal(b->result[0].flow[i].sent, 8);
		assert_int_equal(b->result[1].flow[i].sent, 8);
		expect(&b->result[1].flow[i].here, 8, tos);
		expect(&b->result[0].flow[i].here, 8, tos);
		expect(&b->result[0].flow[i].there, 8, tos);
	}
	free(b);
}

static void test_marking(void **state)
{
	struct both *b;

	(void)state;
	reset();
	way.from = 26;
	way.to = 10;
	way.clear_ect = true;
	b = run_both(base);
	expect(&b->result[1].flow[0].here, 8, 40);
	expect(&b->result[0].flow[3].here, 8, 40);
	expect(&b->result[0].flow[3].there, 8, 40);
	expect(&b->result[0].flow[4].there, 8, 0);
	free(b);
	reset();
	way.mark = true;
	b = run_both(base);
	expect(&b->result[1].flow[0].here, 8, 107);
	free(b);
}

static void test_no_header(void **state)
{
	struct both *b;

	(void)state;
	reset();
	way.no_header = true;
	b = run_both(base);
	assert_int_equal(b->result[1].flow[0].here.unread, 8);
	assert_int_equal(b->result[0].flow[0].here.unread, 8);
	assert_int_equal(b->result[0].flow[0].there.unread, 8);
	assert_int_equal(b->result[0].flow[0].there.seen_count, 0);
	free(b);
}

/* A source port that loses all: the others come, and the client ends. */
static void test_sweep(void **state)
{
	struct marking_spec spec = base;
	struct both *b;

	(void)state;
	reset();
	spec.class_count = 1;
	spec.sweep = 64;
	way.lose_port = marking_label_port(5 * 61 + 1);
	b = run_both(spec);
	assert_int_equal(b->result[0].path_count, 64);
	for (unsigned int i = 0; i < 64; i++) {
		expect(&b->result[1].flow[i].here, i == 5 ? 0 : 8, 106);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(b->result[0].port[i], b->result[0].port[k]);
	}
	free(b);
}

/* Some are lost; nothing waits for ever, and what was sent and came adds up. */
static void test_loss(void **state)
{
	uint32_t sent = 0, came = 0;
	struct both *b;

	(void)state;
	reset();
	way.lose_every = 5;
	b = run_both(base);
	for (unsigned int i = 0; i < b->result[0].flow_count; i++) {
		sent += b->result[0].flow[i].sent + b->result[1].flow[i].sent;
		came += b->result[0].flow[i].here.arrived + b->result[1].flow[i].here.arrived;
	}
	assert_int_equal(sent, way.count);
	assert_int_equal(sent - came, way.count / 5);
	free(b);
}

/* A hop that loses every n-th packet hits all source ports, also where n divides their number. */
static void test_regular_loss(void **state)
{
	struct marking_spec spec = base;
	unsigned int hit = 0;
	struct both *b;

	(void)state;
	reset();
	spec.class_count = 1;
	spec.sweep = 64;
	spec.count = 128;
	spec.gap_us = 0;
	spec.sizes = true;
	spec.paths = MARKING_SIZE_PATHS;
	way.lose_request = 40;
	b = run_both(spec);
	for (unsigned int i = 0; i < 64; i++)
		hit += b->result[1].flow[i].here.arrived < 128;
	assert_true(hit > 54); /* 61 on average */
	free(b);
}

static void test_sizes(void **state)
{
	struct marking_spec spec = base;
	struct both *b;

	(void)state;
	reset();
	spec.sizes = true;
	way.longest = 1024;
	b = run_both(spec);
	for (unsigned int i = 0; i < 4 * MARKING_SIZES; i++) { /* on each path */
		unsigned int at = 8 + i / MARKING_SIZES * 2 * MARKING_SIZES + i % MARKING_SIZES;
		unsigned int fits = i % MARKING_SIZES < 3;

		assert_int_equal(b->result[0].flow[at].sent, 4);
		assert_int_equal(b->result[1].flow[at].here.arrived, fits ? 4 : 0);
		at += MARKING_SIZES;
		assert_int_equal(b->result[1].flow[at].sent, 4);
		assert_int_equal(b->result[0].flow[at].here.arrived, fits ? 4 : 0);
	}
	free(b);
}

/* A byte that is wrong: in the words of a long datagram, or in the head of a short one, which then
 * is nobody's. Neither counts as arrived. */
static void test_spoilt(void **state)
{
	uint32_t all_wrong = 0;

	(void)state;
	for (uint64_t at = 0; at < 12; at++) { /* on each path, the last without long ones */
		uint32_t wrong = 0, sent = 0, came = 0;
		struct marking_spec spec = base;
		struct both *b;

		reset();
		spec.sizes = at < 11;
		fake.spoil_at = at;
		b = run_both(spec);
		for (unsigned int i = 0; i < b->result[0].flow_count; i++) {
			wrong += b->result[1].flow[i].here.wrong;
			sent += b->result[0].flow[i].sent;
			came += b->result[1].flow[i].here.arrived;
		}
		assert_int_equal(wrong + b->result[1].foreign, 4);
		assert_int_equal(sent - came, 4);
		assert_true(spec.sizes || !wrong);
		all_wrong += wrong;
		free(b);
	}
	assert_in_range(all_wrong, 1, 43);
}

static void test_header(void **state)
{
	static const uint8_t v4[20] = {0x45, 0x6a, 0,  116, 0, 0, 0x40, 0, 63, 17,
				       0,    0,	   10, 0,   0, 1, 10,	0, 0,  2};
	static const uint8_t gid[16] = {[10] = 0xff, [11] = 0xff, 10, 0, 0, 2};
	static const struct {
		unsigned int at;
		uint8_t value;
		bool sum; /* the checksum is made right again */
	} bad[] = {
		{20, 0x46, true}, {20, 0x65, true}, {29, 6, true}, {39, 3, true}, {21, 0x68, false},
	};
	uint8_t head[MARKING_HEADER_BYTES];
	struct marking_ip ip = {0};

	(void)state;
	for (size_t i = 0; i <= ARRAY_SIZE(bad); i++) {
		uint16_t sum;

		memset(head, 0x66, sizeof(head)); /* undefined: it may look like IPv6 */
		memcpy(head + 20, v4, sizeof(v4));
		if (i && bad[i - 1].sum)
			head[bad[i - 1].at] = bad[i - 1].value;
		sum = marking_checksum(head + 20, 20);
		head[30] = (uint8_t)(sum >> 8);
		head[31] = (uint8_t)sum;
		if (i)
			head[bad[i - 1].at] = bad[i - 1].value;
		assert_int_equal(marking_header_parse(head, gid, &ip), i ? -EINVAL : 0);
		assert_int_equal(ip.tos, 0x6a);
		assert_int_equal(ip.ttl, 63);
		assert_int_equal(ip.version, 4);
	}
}

static void test_ports(void **state)
{
	(void)state;
	assert_int_equal(marking_label_port(1), 0xc001);
	assert_int_equal(marking_label_port(0x3fff), 0xffff);
	assert_int_equal(marking_label_port(0xfffff), 0xffff ^ 0x3f);
	assert_int_equal(marking_label_port(0x4000), 0xc001);
	/* 17 * 0x61c88647 = 0x67e9... mod 2^32 of it, its high 14 bits */
	assert_int_equal(marking_soft_port(17), 0xc000 + (uint32_t)(17u * 0x61c88647u) / 262144);
	assert_true(marking_soft_port(17) != marking_soft_port(18));
}

static void test_spec_json(void **state)
{
	static const struct {
		const char *key;
		json_int_t value;
	} bad[] = {
		{"ib_port", 0}, {"gid_index", 256}, {"duration_ms", 0}, {"duration_ms", 120001},
		{"count", 0},	{"count", 257},	    {"paths", 0},	{"paths", 17},
		{"sweep", 257}, {"gap_us", 65536},  {"seed", -1},	{"sizes", 1},
		{"role", 1},	{"ibdev", 1},	    {"classes", 1},
	};
	struct marking_spec spec, want = base;
	struct err e = {0};
	json_t *json;

	(void)state;
	want.role = TRAFFIC_SERVER;
	want.sizes = true;
	want.seed &= INT64_MAX;
	json = marking_spec_to_json(&want);
	assert_int_equal(marking_spec_from_json(json, &spec, &e), 0);
	assert_memory_equal(&spec, &want, sizeof(spec));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		json_t *copy = json_deep_copy(json);

		json_object_set_new(copy, bad[i].key, json_integer(bad[i].value));
		if (marking_spec_from_json(copy, &spec, &e) != -EINVAL)
			fail_msg("%s %lld was taken", bad[i].key, (long long)bad[i].value);
		json_object_del(copy, bad[i].key);
		assert_int_equal(marking_spec_from_json(copy, &spec, &e), -EINVAL);
		json_decref(copy);
	}
	json_object_set_new(json, "classes", json_array());
	assert_int_equal(marking_spec_from_json(json, &spec, &e), -EINVAL);
	json_decref(json);
}

static void test_result_json(void **state)
{
	static const char *const bad[] = {
		"[8,0,0,0]",		    /* short */
		"[8,0,0,0,0]",		    /* arrived, and seen with nothing */
		"[8,0,0,0,0,106,64]",	    /* a cut marking */
		"[8,0,0,0,0,256,64,8]",	    /* no byte */
		"[257,0,0,0,0,106,64,257]", /* more than can be sent */
		"[8,0,0,0,0,106,64,-8]",
		"[8,0,0,0,0,106,64,8.0]",
		"{}",
		"[5,0,0,0,0,1,1,1,2,1,1,3,1,1,4,1,1,5,1,1]", /* too many markings */
	};
	struct both *b;
	struct marking_result *r = calloc(1, sizeof(*r));
	struct err e = {0};
	json_t *json, *flow;

	(void)state;
	reset();
	way.lose_every = 7;
	b = run_both(base);
	json = marking_result_to_json(&b->result[0]);
	assert_int_equal(marking_result_from_json(json, r, &e), 0);
	assert_memory_equal(r, &b->result[0], sizeof(*r));
	flow = json_array_get(json_object_get(json, "flows"), 1);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		json_object_set_new(flow, i % 2 ? "here" : "there", json_loads(bad[i], 0, NULL));
		if (marking_result_from_json(json, r, &e) != -EINVAL)
			fail_msg("%s was taken", bad[i]);
		json_object_set_new(flow, "here", json_loads("[0,0,0,0,0]", 0, NULL));
		json_object_set_new(flow, "there", json_loads("[0,0,0,0,0]", 0, NULL));
		assert_int_equal(marking_result_from_json(json, r, &e), 0);
	}
	json_decref(json);
	free(b);
	free(r);
}

static void test_refused(void **state)
{
	struct traffic_endpoint *peer = calloc(1, sizeof(*peer));
	struct marking_result *r = calloc(1, sizeof(*r));
	struct marking_spec spec = base;
	atomic_int stop = 0;
	struct marking *x = NULL;
	struct err e = {0};

	(void)state;
	reset();
	strcpy(spec.ibdev, "nonesuch");
	assert_int_equal(marking_open(&spec, &x, &e), -ENODEV);
	spec = base;
	spec.count = 0;
	assert_int_equal(marking_open(&spec, &x, &e), -EINVAL);
	assert_int_equal(marking_open(&base, &x, &e), 0);
	assert_int_equal(marking_run(x, &stop, r, &e), -ENOTCONN);
	peer->qp_count = 2;
	assert_int_equal(marking_connect(x, peer, &e), -EPROTO);
	marking_close(x);
	free(peer);
	free(r);
	assert_int_equal(fake.qps + fake.cqs + fake.mrs + fake.ahs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),	  cmocka_unit_test(test_marking),
		cmocka_unit_test(test_no_header), cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_loss),	  cmocka_unit_test(test_regular_loss),
		cmocka_unit_test(test_sizes),	  cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_header),	  cmocka_unit_test(test_ports),
		cmocka_unit_test(test_spec_json), cmocka_unit_test(test_result_json),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
