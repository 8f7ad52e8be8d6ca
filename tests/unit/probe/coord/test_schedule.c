/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Schedules: for each pattern and many numbers of ports, every port is tested, no pair is on one
 * host, no port has more roles in a round than the pattern allows, and the text form reads back.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/coord/schedule.h"

/* Shapes of a fabric: what port i of n is. */
enum shape {
	SHAPE_SINGLE, /* each port on a host of its own */
	SHAPE_TWO,    /* two ports a host, each on its rail */
	SHAPE_UNEVEN, /* the first host has a third of the ports, on rails 0 to 3 */
	SHAPES,
};

struct ports {
	unsigned int n;
	struct schedule_port *list;
	char (*name)[2][16];
};

static void ports_make(struct ports *p, enum shape shape, unsigned int n)
{
	p->n = n;
	p->list = calloc(n + 1, sizeof(*p->list));
	p->name = calloc(n + 1, sizeof(*p->name));
	assert_non_null(p->list);
	assert_non_null(p->name);
	for (unsigned int i = 0; i < n; i++) {
		struct schedule_port *at = &p->list[i];

		at->host = shape == SHAPE_SINGLE ? i
			   : shape == SHAPE_TWO	 ? i / 2
						 : (i < n / 3 ? 0 : i);
		at->rail = shape == SHAPE_SINGLE ? i % 2 : shape == SHAPE_TWO ? i % 2 : i % 4;
		at->alone = true;
		for (unsigned int k = 0; k < i; k++)
			if (p->list[k].host == at->host)
				at->alone = p->list[k].alone = false;
		snprintf(p->name[i][0], sizeof(p->name[i][0]), "h%u", at->host);
		snprintf(p->name[i][1], sizeof(p->name[i][1]), "roce%u", i);
		at->host_name = p->name[i][0];
		at->netdev = p->name[i][1];
	}
}

static void ports_clear(struct ports *p)
{
	free(p->list);
	free(p->name);
}

static void must_open(struct schedule *s, const struct schedule_spec *spec)
{
	struct err e = {0};

	if (schedule_open(s, spec, &e))
		fail_msg("%s", e.text);
}

static bool may_meet(const struct schedule_spec *spec, unsigned int a, unsigned int b)
{
	const struct schedule_port *x = &spec->port[a], *y = &spec->port[b];

	if (x->host == y->host)
		return false;
	if (spec->pattern == SCHEDULE_RAIL)
		return x->rail == y->rail;
	return spec->pattern != SCHEDULE_CROSS_RAIL || x->rail != y->rail;
}

static bool has_partner(const struct schedule_spec *spec, unsigned int port)
{
	for (unsigned int i = 0; i < spec->n; i++)
		if (may_meet(spec, port, i))
			return true;
	return false;
}

/* The roles of each port in a round, and in the schedule. */
struct roles {
	unsigned int *serves, *sends, *served, *sent;
};

static void check_round(const struct schedule *s, struct roles *r)
{
	const struct schedule_row *row = &schedule_patterns[s->spec.pattern];

	memset(r->serves, 0, s->spec.n * sizeof(*r->serves));
	memset(r->sends, 0, s->spec.n * sizeof(*r->sends));
	assert_true(s->pair_count > 0);
	for (unsigned int i = 0; i < s->pair_count; i++) {
		const struct schedule_pair *p = &s->pair[i];

		assert_true(p->server < s->spec.n && p->client < s->spec.n);
		assert_true(may_meet(&s->spec, p->server, p->client));
		r->serves[p->server]++;
		r->sends[p->client]++;
		r->served[p->server]++;
		r->sent[p->client]++;
		if (row->fan_in && i && p->server != p[-1].server)
			assert_int_equal(r->serves[p->server], 1); /* stand together */
	}
	for (unsigned int i = 0; i < s->spec.n; i++) {
		assert_true(r->sends[i] <= 1);
		assert_true(row->fan_in || r->serves[i] <= 1);
		assert_true(row->duplex || !r->serves[i] || !r->sends[i]);
	}
}

static struct roles roles_make(unsigned int n)
{
	struct roles r = {calloc(n + 1, sizeof(int)), calloc(n + 1, sizeof(int)),
			  calloc(n + 1, sizeof(int)), calloc(n + 1, sizeof(int))};

	assert_non_null(r.serves && r.sends && r.served && r.sent ? r.serves : NULL);
	return r;
}

static void roles_clear(struct roles *r)
{
	free(r->serves);
	free(r->sends);
	free(r->served);
	free(r->sent);
}

/* Walks all rounds; returns their number. */
static unsigned int check_schedule(const struct schedule_spec *spec)
{
	const struct schedule_row *row = &schedule_patterns[spec->pattern];
	struct schedule_pair *last = calloc(spec->n + 1, sizeof(*last));
	struct roles r = roles_make(spec->n);
	struct schedule s;
	unsigned int rounds = 0;

	assert_non_null(last);
	must_open(&s, spec);
	while (schedule_next(&s)) {
		assert_int_equal(s.round, rounds++);
		check_round(&s, &r);
		for (unsigned int i = 0; row->mirrors && i < s.pair_count; i++) {
			if (s.round % 2) {
				assert_int_equal(s.pair[i].server, last[i].client);
				assert_int_equal(s.pair[i].client, last[i].server);
			}
			last[i] = s.pair[i];
		}
	}
	assert_false(schedule_next(&s));
	assert_true(!row->mirrors || rounds % 2 == 0);
	for (unsigned int i = 0; i < spec->n; i++) {
		if (!has_partner(spec, i))
			continue;
		if (!r.served[i] || (!row->fan_in && !r.sent[i]))
			fail_msg("%s of %u: port %u was a server %u times and a client %u times",
				 row->name, spec->n, i, r.served[i], r.sent[i]);
	}
	schedule_close(&s);
	roles_clear(&r);
	free(last);
	return rounds;
}

static void test_every_port_in_every_pattern(void **state)
{
	(void)state;
	for (int pattern = 0; pattern < SCHEDULE_FILE; pattern++) {
		assert_non_null(schedule_patterns[pattern].name);
		for (unsigned int n = 0; n <= 40; n++) {
			for (int shape = 0; shape < SHAPES; shape++) {
				struct schedule_spec spec = {
					.pattern = pattern, .seed = n, .senders = 8};
				struct ports p;

				ports_make(&p, shape, n);
				spec.port = p.list;
				spec.n = n;
				check_schedule(&spec);
				ports_clear(&p);
			}
		}
	}
}

static void test_large(void **state)
{
	static const struct {
		enum schedule_pattern pattern;
		unsigned int n, rounds;
	} cases[] = {
		{SCHEDULE_TOURNAMENT, 1000, 1998}, {SCHEDULE_RING, 5000, 1},
		{SCHEDULE_SHIFT, 1000, 10},	   {SCHEDULE_SHIFT, 5000, 13},
		{SCHEDULE_PERMUTATION, 5000, 16},  {SCHEDULE_BISECTION, 5000, 2},
		{SCHEDULE_INCAST, 1000, 9},	   {SCHEDULE_INCAST, 5000, 9},
		{SCHEDULE_CROSS_RAIL, 5000, 1},	   {SCHEDULE_RAIL, 1000, 998},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct schedule_spec spec = {
			.pattern = cases[i].pattern, .n = cases[i].n, .senders = 8};
		struct ports p;

		ports_make(&p, SHAPE_SINGLE, cases[i].n);
		spec.port = p.list;
		assert_int_equal(check_schedule(&spec), cases[i].rounds);
		ports_clear(&p);
	}
}

/* Every ordered pair of two hosts exactly once, in as few rounds as there can be. */
static void test_tournament_has_every_pair(void **state)
{
	(void)state;
	for (unsigned int n = 2; n <= 40; n++) {
		for (int shape = 0; shape < SHAPES; shape++) {
			struct schedule_spec spec = {.pattern = SCHEDULE_TOURNAMENT, .n = n};
			uint8_t *met = calloc((size_t)n * n, 1);
			struct schedule s;
			struct ports p;

			assert_non_null(met);
			ports_make(&p, shape, n);
			spec.port = p.list;
			must_open(&s, &spec);
			while (schedule_next(&s))
				for (unsigned int i = 0; i < s.pair_count; i++)
					met[s.pair[i].server * n + s.pair[i].client]++;
			for (unsigned int i = 0; i < n * n; i++)
				assert_int_equal(met[i], may_meet(&spec, i / n, i % n));
			assert_true(s.round + 1 <= 2 * (n + n % 2 - 1));
			schedule_close(&s);
			free(met);
			ports_clear(&p);
		}
	}
}

/* Checks an incast: returns its rounds. */
static unsigned int check_incast(unsigned int n, unsigned int k, bool exact)
{
	struct schedule_spec spec = {.pattern = SCHEDULE_INCAST, .n = n, .senders = k};
	unsigned int *served = calloc(n, sizeof(*served)), rounds = 0;
	struct schedule s;
	struct ports p;

	assert_non_null(served);
	ports_make(&p, SHAPE_SINGLE, n);
	spec.port = p.list;
	must_open(&s, &spec);
	for (; schedule_next(&s); rounds++) {
		unsigned int least = n, most = 0;

		for (unsigned int i = 0, clients; i < s.pair_count; i += clients) {
			for (clients = 1; i + clients < s.pair_count &&
					  s.pair[i + clients].server == s.pair[i].server;)
				clients++;
			served[s.pair[i].server]++;
			least = clients < least ? clients : least;
			most = clients > most ? clients : most;
		}
		assert_true(most <= k && most - least <= 1);
		assert_true(n < 3 || least >= 2);
		assert_true(!exact || least == k);
	}
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(served[i], 1);
	schedule_close(&s);
	ports_clear(&p);
	free(served);
	return rounds;
}

static void test_incast_serves_each_port_once(void **state)
{
	(void)state;
	for (unsigned int n = 2; n <= 40; n++) {
		for (unsigned int k = 2; k <= 12; k++) {
			unsigned int rounds = check_incast(n, k, n % (k + 1) == 0);

			if (n <= k)
				assert_int_equal(rounds, n);
			else if (k >= 4 || n % (k + 1) == 0)
				assert_int_equal(rounds, k + 1);
			else
				assert_true(rounds > k && rounds <= 5);
		}
	}
	assert_int_equal(check_incast(1000, 8, false), 9);
	assert_int_equal(check_incast(5004, 8, true), 9);
	assert_int_equal(check_incast(5000, 3, true), 4);
}

/* Two ports of each host: as many clients from other hosts. */
static void test_incast_of_two_ports(void **state)
{
	struct schedule_spec spec = {.pattern = SCHEDULE_INCAST, .n = 36, .senders = 8};
	struct schedule s;
	struct ports p;

	(void)state;
	ports_make(&p, SHAPE_TWO, spec.n);
	spec.port = p.list;
	must_open(&s, &spec);
	while (schedule_next(&s))
		assert_int_equal(s.pair_count, 32);
	assert_int_equal(s.round, 8);
	schedule_close(&s);
	ports_clear(&p);
}

static char *text_of(const struct schedule_spec *spec)
{
	struct schedule s;
	char *text;

	must_open(&s, spec);
	text = schedule_text(&s);
	assert_non_null(text);
	schedule_close(&s);
	return text;
}

static void test_text(void **state)
{
	static const struct {
		enum schedule_pattern pattern;
		enum shape shape;
		unsigned int n;
		const char *want;
	} cases[] = {
		{SCHEDULE_TOURNAMENT, SHAPE_SINGLE, 0, ""},
		{SCHEDULE_TOURNAMENT, SHAPE_SINGLE, 1, ""},
		{SCHEDULE_TOURNAMENT, SHAPE_SINGLE, 2, "h1,h0\nh0,h1\n"},
		{SCHEDULE_TOURNAMENT, SHAPE_SINGLE, 3,
		 "h2,h1\nh1,h2\nh1,h0\nh0,h1\nh2,h0\nh0,h2\n"},
		{SCHEDULE_TOURNAMENT, SHAPE_SINGLE, 4,
		 "h3,h0;h2,h1\nh0,h3;h1,h2\nh1,h0;h3,h2\nh0,h1;h2,h3\nh2,h0;h1,h3\nh0,h2;h3,h1\n"},
		{SCHEDULE_TOURNAMENT, SHAPE_TWO, 2, ""},
		{SCHEDULE_RING, SHAPE_TWO, 4,
		 "h1:roce2,h0:roce0;h1:roce3,h0:roce1;h0:roce0,h1:roce2;h0:roce1,h1:roce3\n"},
		{SCHEDULE_BISECTION, SHAPE_SINGLE, 4, "h2,h0;h3,h1\nh0,h2;h1,h3\n"},
		{SCHEDULE_INCAST, SHAPE_SINGLE, 3, "h0,h1;h0,h2\nh1,h0;h1,h2\nh2,h0;h2,h1\n"},
		{SCHEDULE_RAIL, SHAPE_TWO, 4,
		 "h1:roce2,h0:roce0;h1:roce3,h0:roce1\nh0:roce0,h1:roce2;h0:roce1,h1:roce3\n"},
		{SCHEDULE_CROSS_RAIL, SHAPE_TWO, 4,
		 "h1:roce3,h0:roce0;h0:roce1,h1:roce2;h1:roce2,h0:roce1;h0:roce0,h1:roce3\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct schedule_spec spec = {
			.pattern = cases[i].pattern, .n = cases[i].n, .senders = 8};
		struct ports p;
		char *text;

		ports_make(&p, cases[i].shape, cases[i].n);
		spec.port = p.list;
		text = text_of(&spec);
		assert_string_equal(text, cases[i].want);
		free(text);
		ports_clear(&p);
	}
}

/* The same spec makes the same text, again after a rewind, and the text reads back as itself. */
static void test_text_reads_back(void **state)
{
	(void)state;
	for (int pattern = 0; pattern < SCHEDULE_FILE; pattern++) {
		for (unsigned int n = 2; n <= 40; n += 7) {
			struct schedule_spec spec = {
				.pattern = pattern, .n = n, .seed = 7, .senders = 8};
			char *one, *two, *three;
			struct err e = {0};
			struct schedule s;
			struct ports p;

			ports_make(&p, SHAPE_UNEVEN, n);
			spec.port = p.list;
			one = text_of(&spec);
			if (!schedule_parse(&s, &spec, "f", one, strlen(one), &e)) {
				two = schedule_text(&s);
				three = schedule_text(&s);
				assert_string_equal(one, two);
				assert_string_equal(one, three);
				free(two);
				free(three);
				schedule_close(&s);
			} else if (*one && !schedule_patterns[pattern].fan_in) {
				fail_msg("%s", e.text);
			}
			free(one);
			ports_clear(&p);
		}
	}
}

static void test_seed(void **state)
{
	struct schedule_spec spec = {.pattern = SCHEDULE_PERMUTATION, .n = 30, .rounds = 2};
	struct ports p;
	char *one, *two;

	(void)state;
	ports_make(&p, SHAPE_SINGLE, spec.n);
	spec.port = p.list;
	one = text_of(&spec);
	spec.seed = 1;
	two = text_of(&spec);
	assert_string_not_equal(one, two);
	free(one);
	free(two);
	ports_clear(&p);
}

static void test_parse(void **state)
{
	static const struct {
		const char *text, *error; /* NULL = accepted, then its text form */
		const char *want;
	} cases[] = {
		{"h2,h3\n", NULL, "h2,h3\n"},
		{"# pairs\n\n h2 , h3 ; h3,h2 # both ways\nh0:roce0,h2", NULL,
		 "h2,h3;h3,h2\nh0:roce0,h2\n"},
		{"h3,h2;h2,h4;h3,h5", "f:1:13: h3 roce3 is already a server in this round", NULL},
		{"", "f:1:1: no round in this file: expected lines of server,client", NULL},
		{"# none\n\n", "no round in this file", NULL},
		{"h2,h3\nh9,h2\n", "f:2:1: unknown host 'h9': expected one of the inventory", NULL},
		{"h2,h3;h4,h", "f:1:10: unknown host 'h'", NULL},
		{"h2,h0",
		 "f:1:4: host 'h0' has several ports: expected h0:NETDEV, for example "
		 "h0:roce0",
		 NULL},
		{"h2,h0:roce9", "f:1:7: no port 'roce9' of host 'h0' in the inventory", NULL},
		{"h2,h0:", "f:1:7: no port '' of host 'h0'", NULL},
		{"h2:roce2,h3:roce2", "f:1:13: no port 'roce2' of host 'h3'", NULL},
		{"h2\n", "f:1:3: expected ',' and the client", NULL},
		{"h2 h3\n", "f:1:4: expected ','", NULL},
		{"h2,\n", "f:1:4: expected a port: HOST or HOST:NETDEV", NULL},
		{",h2\n", "f:1:1: expected a port", NULL},
		{"h2,h3;\n", "f:1:7: expected a port", NULL},
		{"h2,h3 h4,h5\n", "f:1:7: expected ';' and the next pair", NULL},
		{"h2,h3,h4\n", "f:1:6: expected ';'", NULL},
		{"h2,h2\n", "f:1:4: server and client are the same host 'h2'", NULL},
		{"h0:roce0,h0:roce1\n", "f:1:10: server and client are the same host", NULL},
		{"h2,h3\nh2,h3;h2,h4\n", "f:2:7: h2 roce2 is already a server in this round", NULL},
		{"h2,h3;h4,h3\n", "f:1:10: h3 roce3 is already a client in this round", NULL},
		{"h2,h3\r\n", "f:1:4: unknown host", NULL},
	};
	struct ports p;

	(void)state;
	ports_make(&p, SHAPE_UNEVEN, 6);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct schedule_spec spec = {.n = p.n, .port = p.list};
		struct schedule s;
		struct err e = {0};
		int err = schedule_parse(&s, &spec, "f", cases[i].text, strlen(cases[i].text), &e);
		char *text;

		if (cases[i].error) {
			if (err != -EINVAL || !strstr(e.text, cases[i].error))
				fail_msg("%s: %d %s", cases[i].text, err, e.text);
			continue;
		}
		if (err)
			fail_msg("%s: %s", cases[i].text, e.text);
		text = schedule_text(&s);
		assert_string_equal(text, cases[i].want);
		free(text);
		schedule_close(&s);
	}
	ports_clear(&p);
}

static void test_refused(void **state)
{
	struct schedule_port port[2] = {{.host_name = "h1", .netdev = "a", .host = 1},
					{.host_name = "h0", .netdev = "a", .host = 0}};
	struct schedule_spec spec = {.port = port, .n = 2};
	struct schedule s;
	struct err e = {0};

	(void)state;
	assert_int_equal(schedule_open(&s, &spec, &e), -EINVAL);
	port[0].host = 0;
	spec.pattern = SCHEDULE_INCAST;
	spec.senders = 1;
	assert_int_equal(schedule_open(&s, &spec, &e), -EINVAL);
	port[1].host = 1;
	assert_int_equal(schedule_parse(&s, &spec, "f", "h0:a,h1:a\0\n", 11, &e), -EINVAL);
	assert_string_equal(e.text,
			    "f:1:10: expected ';' and the next pair, or the end of the round");
}

static void test_estimate(void **state)
{
	static const struct {
		enum schedule_pattern pattern;
		unsigned int n, rounds, pairs;
		uint64_t bytes;
	} cases[] = {
		{SCHEDULE_TOURNAMENT, 1, 0, 0, 0},
		{SCHEDULE_TOURNAMENT, 2, 2, 2, UINT64_C(2) * 3 * 625000000},
		{SCHEDULE_TOURNAMENT, 5, 10, 20, UINT64_C(20) * 3 * 625000000},
		{SCHEDULE_RING, 5, 1, 5, UINT64_C(5) * 3 * 625000000},
		{SCHEDULE_INCAST, 5, 5, 20, UINT64_C(4) * 3 * 625000000 + 3 * 6250000},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct schedule_spec spec = {
			.pattern = cases[i].pattern, .n = cases[i].n, .senders = 8};
		struct schedule_estimate sum;
		struct schedule s;
		struct ports p;

		ports_make(&p, SHAPE_SINGLE, spec.n);
		for (unsigned int k = 0; k < spec.n; k++)
			p.list[k].speed_mbps = 100000 * (1 + k % 2 * 3); /* the slower counts */
		if (spec.n > 2)
			for (unsigned int k = 0; k < spec.n; k++)
				p.list[k].speed_mbps = k ? 100000 : 0; /* unknown: the other's */
		spec.port = p.list;
		must_open(&s, &spec);
		assert_true(spec.n < 2 || schedule_next(&s)); /* a round that was taken counts */
		schedule_estimate(&s, 3, 1.0, 5, &sum);
		assert_int_equal(sum.rounds, cases[i].rounds);
		assert_int_equal(sum.pairs, cases[i].pairs);
		assert_int_equal(sum.bytes, cases[i].bytes);
		assert_true(sum.seconds == 4.0 * cases[i].rounds);
		assert_int_equal(schedule_next(&s), spec.n > 1);
		assert_int_equal(s.round, 0);
		schedule_close(&s);
		ports_clear(&p);
	}
	assert_int_equal(schedule_rate(0, 0, 5), 1000 * 125000 / 20);
}

static void test_names(void **state)
{
	(void)state;
	assert_int_equal(schedule_pattern_find("tournament"), SCHEDULE_TOURNAMENT);
	assert_int_equal(schedule_pattern_find("cross-rail"), SCHEDULE_CROSS_RAIL);
	assert_int_equal(schedule_pattern_find("incast"), -ENOENT);
	assert_int_equal(schedule_pattern_find("suspect"), -ENOENT);
	assert_int_equal(schedule_pattern_find("file"), -ENOENT);
	assert_int_equal(schedule_pattern_find(""), -ENOENT);
	assert_int_equal(schedule_pattern_default(64), SCHEDULE_TOURNAMENT);
	assert_int_equal(schedule_pattern_default(65), SCHEDULE_SHIFT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_port_in_every_pattern),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_tournament_has_every_pair),
		cmocka_unit_test(test_incast_serves_each_port_once),
		cmocka_unit_test(test_incast_of_two_ports),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_reads_back),
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_estimate),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
