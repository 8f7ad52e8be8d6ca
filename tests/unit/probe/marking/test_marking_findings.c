/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a marking echo's numbers mean: each kind of finding from literals, its direction, class and
 * source ports; sizes; results that do not fit; and the words of the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/marking/marking_findings.h"

#define PATHS 4
#define COUNT 8

struct scene {
	struct marking_spec spec[2];
	struct marking_result result[2];
	struct marking_flow flow[MARKING_FLOWS_MAX];
	unsigned int flows;
	struct marking_findings found;
	struct marking_endpoints ends;
};

/* Requests, then answers, as all of them arrive with one marking. */
static void arrive(struct marking_record *r, uint32_t count, uint8_t tos)
{
	*r = (struct marking_record){.arrived = count};
	if (count) {
		r->seen_count = 1;
		r->seen[0] = (struct marking_seen){tos, 64, count};
	}
}

static void record(struct scene *s, enum marking_direction way, unsigned int flow, uint32_t sent,
		   uint32_t came, uint8_t tos)
{
	s->result[way].flow[flow].sent = sent;
	arrive(&s->result[!way].flow[flow].here, came, tos);
	if (way == MARKING_FORWARD)
		arrive(&s->result[0].flow[flow].there, came, tos);
}

static bool fits(const struct scene *s, unsigned int flow, enum marking_direction way, uint32_t mtu)
{
	return s->flow[flow].bytes[way] <= mtu;
}

/* All as it was sent: class 0 with DSCP 26, class 1 with DSCP 0, both ECT(0). */
static struct scene *clean_of(uint16_t paths, unsigned int sweep, bool sizes, uint32_t mtu)
{
	struct scene *s = calloc(1, sizeof(*s));

	s->spec[0] = (struct marking_spec){
		.role = TRAFFIC_CLIENT,
		.ib_port = 1,
		.duration_ms = 1000,
		.count = COUNT,
		.paths = paths,
		.sweep = (uint16_t)sweep,
		.sizes = sizes,
		.class_count = 2,
		.class = {{106, 3}, {2, 0}},
	};
	s->spec[1] = s->spec[0];
	s->spec[1].role = TRAFFIC_SERVER;
	s->flows = marking_flows(&s->spec[0], s->flow);
	for (unsigned int end = 0; end < 2; end++) {
		s->result[end].mtu = mtu;
		s->result[end].path_count = marking_paths(&s->spec[0]);
		s->result[end].flow_count = s->flows;
		for (unsigned int i = 0; i < s->result[end].path_count; i++)
			s->result[end].port[i] = (uint16_t)(0xc000 + i);
		s->ends.spec[end] = &s->spec[end];
		s->ends.result[end] = &s->result[end];
	}
	for (unsigned int i = 0; i < s->flows; i++)
		for (unsigned int way = 0; way < 2; way++) {
			uint32_t n = fits(s, i, way, mtu) && (!way || fits(s, i, 0, mtu))
					     ? s->flow[i].count
					     : 0;

			record(s, way, i, n, n, s->spec[way].class[s->flow[i].class].tos);
		}
	return s;
}

static struct scene *clean(unsigned int sweep, bool sizes, uint32_t mtu)
{
	return clean_of(PATHS, sweep, sizes, mtu);
}

static void judge(struct scene *s)
{
	struct err e = {0};

	if (marking_findings_make(&s->ends, &s->found, &e))
		fail_msg("%s", e.text);
}

/* The only finding, and its text. */
static const struct marking_finding *only(struct scene *s, enum marking_kind kind, const char *text)
{
	char buf[320];

	judge(s);
	for (unsigned int i = 0; i < s->found.count; i++) {
		marking_finding_text(&s->found.finding[i], buf, sizeof(buf));
		if (s->found.count > 1 || s->found.finding[i].kind != kind || strcmp(buf, text))
			fail_msg("%u: %s\nwant: %s", s->found.count, buf, text);
	}
	assert_int_equal(s->found.count, 1);
	return &s->found.finding[0];
}

static void test_clean(void **state)
{
	static const struct {
		unsigned int sweep;
		bool sizes;
		uint32_t mtu;
	} cases[] = {{0, false, 4096}, {64, true, 4096}, {256, true, 1024}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scene *s = clean(cases[i].sweep, cases[i].sizes, cases[i].mtu);

		judge(s);
		assert_int_equal(s->found.count, 0);
		for (unsigned int way = 0; way < 2; way++)
			assert_int_equal(marking_path_mtu(&s->ends, way),
					 cases[i].sizes ? cases[i].mtu : 0);
		free(s);
	}
}

static void test_marking(void **state)
{
	static const struct {
		enum marking_direction way;
		unsigned int first, last; /* flows */
		uint8_t tos;
		enum marking_kind kind;
		const char *text;
	} cases[] = {
		{MARKING_FORWARD, 0, 3, 42, MARKING_DSCP,
		 "client to server, class 0: DSCP 26 arrives as 10 (32 of 32), on all 4 source "
		 "ports"},
		{MARKING_REVERSE, 4, 7, 106, MARKING_DSCP,
		 "server to client, class 1: DSCP 0 arrives as 26 (32 of 32), on all 4 source "
		 "ports"},
		{MARKING_REVERSE, 2, 2, 104, MARKING_ECT_CLEARED,
		 "server to client, class 0: ECT(0) arrives as Not-ECT (8 of 32), on 1 of 4 source "
		 "ports (25 %), all their datagrams: 0xc002"},
		{MARKING_FORWARD, 1, 2, 107, MARKING_CE,
		 "client to server, class 0: ECT(0) arrives as CE (16 of 32), on 2 of 4 source "
		 "ports (50 %), all their datagrams: 0xc001 0xc002"},
		{MARKING_FORWARD, 4, 4, 1, MARKING_ECN,
		 "client to server, class 1: ECT(0) arrives as ECT(1) (8 of 32), on 1 of 4 source "
		 "ports (25 %), all their datagrams: 0xc000"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scene *s = clean(0, false, 4096);

		for (unsigned int k = cases[i].first; k <= cases[i].last; k++)
			record(s, cases[i].way, k, COUNT, COUNT, cases[i].tos);
		only(s, cases[i].kind, cases[i].text);
		free(s);
	}
}

/* Some of a source port are marked: not "all their datagrams". Both changes at once are two
 * findings. */
static void test_mixed(void **state)
{
	struct scene *s = clean(0, false, 4096);
	struct marking_record *r = &s->result[1].flow[1].here;

	(void)state;
	r->seen_count = 2;
	r->seen[0].count = 5;
	r->seen[1] = (struct marking_seen){107, 64, 3};
	only(s, MARKING_CE,
	     "client to server, class 0: ECT(0) arrives as CE (3 of 32), on 1 of 4 source ports "
	     "(25 %): 0xc001");
	r->seen[1].tos = 3;
	judge(s);
	assert_int_equal(s->found.count, 2);
	assert_int_equal(s->found.finding[0].kind, MARKING_DSCP);
	assert_int_equal(s->found.finding[1].kind, MARKING_CE);
	free(s);
}

/* Another ToS at the server is not a rewrite. */
static void test_own_tos(void **state)
{
	struct scene *s = clean(0, false, 4096);

	(void)state;
	s->spec[1].class[0].tos = 42;
	for (unsigned int i = 0; i < PATHS; i++)
		record(s, MARKING_REVERSE, i, COUNT, COUNT, 42);
	judge(s);
	assert_int_equal(s->found.count, 0);
	free(s);
}

static void test_lost(void **state)
{
	struct scene *s = clean(64, false, 4096);
	const struct marking_finding *f;
	struct marking_port p;

	(void)state;
	for (unsigned int i = 7; i < 64; i += 16) { /* a member that is dead */
		record(s, MARKING_FORWARD, i, COUNT, 0, 106);
		record(s, MARKING_REVERSE, i, 0, 0, 106);
	}
	f = only(s, MARKING_LOST,
		 "client to server, class 0: datagrams are lost (32 of 512), on 4 of 64 source "
		 "ports (6.25 %), all their datagrams: 0xc007 0xc017 0xc027 0xc037");
	assert_int_equal(f->whole, 4);
	marking_port_make(&s->ends, MARKING_FORWARD, 7, &p);
	assert_string_equal(marking_port_word(&p), "lost");
	assert_int_equal(p.port, 0xc007);
	marking_port_make(&s->ends, MARKING_REVERSE, 7,
			  &p); /* no request came: none was answered */
	assert_string_equal(marking_port_word(&p), "not known");
	marking_port_make(&s->ends, MARKING_REVERSE, 8, &p);
	assert_string_equal(marking_port_word(&p), "arrived");
	free(s);
	s = clean(64, false, 4096);
	record(s, MARKING_REVERSE, 20, COUNT, COUNT - 1, 106);
	only(s, MARKING_LOST,
	     "server to client, class 0: datagrams are lost (1 of 512), on 1 of 64 source ports "
	     "(1.56 %): 0xc014");
	marking_port_make(&s->ends, MARKING_REVERSE, 20, &p);
	assert_string_equal(marking_port_word(&p), "some lost");
	record(s, MARKING_REVERSE, 20, COUNT, COUNT, 107);
	marking_port_make(&s->ends, MARKING_REVERSE, 20, &p);
	assert_string_equal(marking_port_word(&p), "marked");
	free(s);
}

/* Nothing of a class arrives: then nothing is answered, which is no second finding. */
static void test_deaf(void **state)
{
	struct scene *s = clean(0, false, 4096);

	(void)state;
	for (unsigned int i = 4; i < 8; i++) {
		record(s, MARKING_FORWARD, i, COUNT, 0, 0);
		record(s, MARKING_REVERSE, i, 0, 0, 0);
	}
	only(s, MARKING_BLACKHOLE,
	     "client to server, class 1: nothing arrives (32 of 32), on all 4 source ports");
	free(s);
}

static void test_wrong(void **state)
{
	struct scene *s = clean(0, false, 4096);

	(void)state;
	arrive(&s->result[1].flow[0].here, COUNT - 2, 106);
	s->result[1].flow[0].here.wrong = 2;
	only(s, MARKING_WRONG,
	     "client to server, class 0: datagrams arrive with wrong bytes (2 of 32), "
	     "on 1 of 4 source ports (25 %): 0xc000");
	free(s);
	s = clean(0, false, 4096);
	for (unsigned int i = 0; i < 4; i++)
		s->result[0].flow[i].here = (struct marking_record){.arrived = 8, .unread = 8};
	only(s, MARKING_UNREAD,
	     "server to client, class 0: the device delivers no IP header (32 of 32), on all 4 "
	     "source ports");
	free(s);
}

/* The first flow of a source port's sizes: a row of requests, and one of answers. */
static unsigned int sizes_at(unsigned int path)
{
	return 2 * PATHS + path * 2 * MARKING_SIZES;
}

static void test_mtu(void **state)
{
	struct scene *s = clean(0, true, 4096);

	(void)state;
	for (unsigned int p = 0; p < PATHS; p++)
		for (unsigned int i = 3; i < MARKING_SIZES; i++) { /* 2048 and 4096 do not come */
			record(s, MARKING_FORWARD, sizes_at(p) + i, 4, 0, 106);
			record(s, MARKING_REVERSE, sizes_at(p) + i, 0, 0, 106);
		}
	only(s, MARKING_MTU,
	     "client to server: no datagram of 4096 bytes (the RDMA MTU of both ports) "
	     "arrives; path MTU is 1024 bytes, on all 4 source ports");
	assert_int_equal(marking_path_mtu(&s->ends, MARKING_FORWARD), 1024);
	assert_int_equal(marking_path_mtu(&s->ends, MARKING_REVERSE), 4096);
	free(s);
	s = clean(0, true, 4096);
	record(s, MARKING_REVERSE, sizes_at(3) + 2 * MARKING_SIZES - 1, 4, 0, 106);
	only(s, MARKING_MTU,
	     "server to client: no datagram of 4096 bytes (the RDMA MTU of both ports) "
	     "arrives; path MTU is 2048 bytes, on 1 of 4 source ports (25 %), all their datagrams: "
	     "0xc003");
	/* More source ports than a finding names. */
	free(s);
	s = clean_of(MARKING_SIZE_PATHS, 0, true, 4096);
	for (unsigned int i = 0; i < s->flows; i++)
		if (s->flow[i].sized && s->flow[i].bytes[MARKING_FORWARD] > 2048) {
			record(s, MARKING_FORWARD, i, 4, 0, 106);
			record(s, MARKING_REVERSE, i, 0, 0, 106);
		}
	assert_int_equal(
		only(s, MARKING_MTU,
		     "client to server: no datagram of 4096 bytes (the RDMA MTU of both ports) "
		     "arrives; path MTU is 2048 bytes, on all 16 source ports")
			->ports,
		MARKING_SIZE_PATHS);
	free(s);
	s = clean(0, true, 4096);
	/* The smaller port decides what has to arrive. */
	s->result[1].mtu = 2048;
	judge(s);
	assert_int_equal(s->found.count, 0);
	free(s);
}

/* What a source port loses it loses in each size: that is not its MTU. */
static void lose(struct scene *s, unsigned int path, uint32_t came)
{
	record(s, MARKING_FORWARD, path, COUNT, came, 106);
	record(s, MARKING_REVERSE, path, came, came, 106);
	for (unsigned int i = 0; i < 2 * MARKING_SIZES; i++) {
		record(s, MARKING_FORWARD, sizes_at(path) + i, 4, 0, 106);
		record(s, MARKING_REVERSE, sizes_at(path) + i, 0, 0, 106);
	}
}

static void test_mtu_of_lost(void **state)
{
	struct scene *s = clean(0, true, 4096);

	(void)state;
	lose(s, 0, 0);
	lose(s, 2, 1);
	judge(s);
	assert_int_equal(s->found.count, 1);
	assert_int_equal(s->found.finding[0].kind, MARKING_LOST);
	assert_int_equal(marking_path_mtu(&s->ends, MARKING_FORWARD), 4096);
	assert_int_equal(marking_path_mtu(&s->ends, MARKING_REVERSE), 4096);
	lose(s, 1, 0);
	lose(s, 3, 0);
	judge(s);
	assert_int_equal(s->found.count, 1);
	assert_int_equal(marking_path_mtu(&s->ends, MARKING_FORWARD), 0); /* not known */
	free(s);
}

/* The server is lost: its side of the story is missing, but the answers had told. */
static void test_one_end(void **state)
{
	struct scene *s = clean(0, true, 4096);

	(void)state;
	for (unsigned int i = 0; i < PATHS; i++)
		record(s, MARKING_FORWARD, i, COUNT, COUNT, 42);
	record(s, MARKING_FORWARD, 5, COUNT, 1, 2);
	s->ends.result[1] = NULL;
	only(s, MARKING_DSCP,
	     "client to server, class 0: DSCP 26 arrives as 10 (32 of 32), on all 4 source ports");
	s->ends.result[0] = NULL;
	judge(s);
	assert_int_equal(s->found.count, 0);
	free(s);
}

static void test_misfit(void **state)
{
	struct scene *s = clean(0, false, 4096);
	struct err e = {0};

	(void)state;
	s->result[1].flow_count--;
	assert_int_equal(marking_findings_make(&s->ends, &s->found, &e), -EPROTO);
	s->result[1].flow_count++;
	s->result[0].path_count++;
	assert_int_equal(marking_findings_make(&s->ends, &s->found, &e), -EPROTO);
	free(s);
}

static void test_table(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < MARKING_KINDS; i++) {
		assert_non_null(marking_kind_table[i].word);
		assert_true(strlen(marking_kind_table[i].advice) > 10);
		for (unsigned int k = 0; k < i; k++)
			assert_string_not_equal(marking_kind_table[i].word,
						marking_kind_table[k].word);
	}
}

static void test_json(void **state)
{
	struct scene *s = clean(8, true, 4096);
	json_t *json, *one;

	(void)state;
	record(s, MARKING_FORWARD, 7, COUNT, 0, 106);
	judge(s);
	json = marking_findings_to_json(&s->ends, &s->found);
	one = json_array_get(json_object_get(json, "findings"), 0);
	assert_string_equal(json_string_value(json_object_get(one, "kind")), "lost");
	assert_int_equal(json_integer_value(json_array_get(json_object_get(one, "named"), 0)),
			 0xc007);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(json, "path_mtu"), 1)),
			 4096);
	one = json_array_get(json_object_get(json, "ports"), MARKING_FORWARD);
	assert_int_equal(json_array_size(one), 8);
	one = json_array_get(one, 7);
	assert_string_equal(json_string_value(json_object_get(one, "verdict")), "lost");
	json_decref(json);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),	    cmocka_unit_test(test_marking),
		cmocka_unit_test(test_mixed),	    cmocka_unit_test(test_own_tos),
		cmocka_unit_test(test_lost),	    cmocka_unit_test(test_deaf),
		cmocka_unit_test(test_wrong),	    cmocka_unit_test(test_mtu),
		cmocka_unit_test(test_mtu_of_lost), cmocka_unit_test(test_one_end),
		cmocka_unit_test(test_misfit),	    cmocka_unit_test(test_table),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
