/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-NET-011 over marking tests of a fabric of two or three leaves with two spines: faults of an
 * uplink, of a host as sender and as receiver, of all paths; noise; runs without a second pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/fixture/fabric_run.h"

#define HOSTS	  9
#define TESTS_MAX 128

/* Ports of one round of tests, as validate has them. */
struct size {
	unsigned int ports, count;
	uint8_t pass;
};

static const struct size first_pass = {16, 32, 0}, second_pass = {64, 128, 2};

static struct {
	struct fabric fabric;
	struct profile profile;
	struct run run;
	struct run_host host[HOSTS];
	struct run_port port[HOSTS];
	struct port before[HOSTS];
	struct run_marking test[TESTS_MAX];
	struct marking_finding finding[TESTS_MAX][2];
	uint64_t random;
	unsigned int spines;
} scene;

/* What happens to a datagram: from a host to another one, over a spine. */
typedef bool fault(unsigned int from, unsigned int to, unsigned int spine);

static unsigned int draw(unsigned int below)
{
	scene.random = scene.random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned int)(scene.random >> 33) % below;
}

/* Hosts h1 to hN, `each` of them on a leaf; 0: no LLDP was heard. */
static void open_scene(unsigned int hosts, unsigned int each)
{
	memset(&scene, 0, sizeof(scene));
	scene.random = 7;
	scene.spines = 2;
	good_profile(&scene.fabric.profile);
	scene.run.level = LEVEL_STANDARD;
	scene.run.traffic = true;
	scene.run.host = scene.host;
	scene.run.host_count = hosts;
	scene.run.marking = scene.test;
	for (unsigned int i = 0; i < hosts; i++) {
		struct run_host *h = &scene.host[i];

		good_port(i, &scene.before[i]);
		if (each)
			snprintf(scene.before[i].lldp_name, sizeof(scene.before[i].lldp_name),
				 "leaf%u", i / each + 1);
		snprintf(h->name, sizeof(h->name), "h%u", i + 1);
		h->reached = h->has_before = true;
		h->before.port = &scene.before[i];
		h->before.port_count = h->port_count = 1;
		h->port = &scene.port[i];
		snprintf(h->port->netdev, sizeof(h->port->netdev), "roce0");
	}
}

/* Adds a direction's finding: datagrams of each source port, whose spine is drawn. every: so many
 * of them are hit, 1 = all. */
static void add_direction(struct run_marking *m, enum marking_direction d, const struct size *size,
			  enum marking_kind kind, fault *hit, unsigned int every)
{
	bool forward = d == MARKING_FORWARD;
	unsigned int from = forward ? m->client_host : m->server_host;
	unsigned int to = forward ? m->server_host : m->client_host;
	struct marking_finding f = {
		.kind = kind, .direction = d, .from = 26, .bytes = 1024, .expected_bytes = 4096};
	unsigned int ports = kind == MARKING_MTU && size->ports == 16 ? 4 : size->ports;

	f.ports_of = kind == MARKING_MTU && ports > 16 ? 16 : ports;
	for (unsigned int p = 0; p < f.ports_of; p++) {
		unsigned int spine = draw(scene.spines), lost = 0;

		for (unsigned int i = 0; i < size->count && hit && hit(from, to, spine); i++)
			lost += !draw(every);
		f.of += size->count;
		f.count += lost;
		if (!lost)
			continue;
		if (f.ports < MARKING_NAMED_MAX)
			f.named[f.ports] = (uint16_t)(49152 + p);
		f.ports++;
		f.whole += lost == size->count;
	}
	if (kind == MARKING_MTU)
		f.count = f.of = 0;
	if (f.ports)
		m->finding[m->finding_count++] = f;
}

static struct run_marking *add_test(unsigned int a, unsigned int b, const struct size *size,
				    enum marking_kind kind, fault *hit, unsigned int every)
{
	unsigned int at = scene.run.marking_count++;
	struct run_marking *m = &scene.test[at];

	assert_true(at < TESTS_MAX);
	*m = (struct run_marking){.client_host = a,
				  .server_host = b,
				  .ran = true,
				  .pass = size->pass,
				  .tos = {106, 106},
				  .arrived = {512, 512},
				  .finding = scene.finding[at]};
	add_direction(m, MARKING_FORWARD, size, kind, hit, every);
	add_direction(m, MARKING_REVERSE, size, kind, hit, every);
	return m;
}

static void add_all(const struct size *size, enum marking_kind kind, fault *hit, unsigned int every)
{
	for (unsigned int a = 0; a < scene.run.host_count; a++)
		for (unsigned int b = a + 1; b < scene.run.host_count; b++)
			add_test(a, b, size, kind, hit, every);
}

/* Checks the violations of the rule: all with this text, at hosts of this list ("" = the fabric),
 * in this number. Without a violation: the one finding with this verdict. */
static void expect(enum verdict verdict, const char *hosts, unsigned int number, const char *says)
{
	struct findings all;
	unsigned int found = 0;

	assert_int_equal(rules_run(&scene.fabric, &scene.run, &all), 0);
	for (size_t i = 0; i < all.count; i++) {
		const struct finding *f = &all.list[i];

		if (strcmp(f->rule->id, "RC-NET-011"))
			continue;
		if (f->verdict != verdict || !strstr(f->text, says) || !strstr(hosts, f->host))
			fail_msg("%s at '%s': %s\nwant %s at %s: %s", verdict_word(f->verdict),
				 f->host, f->text, verdict_word(verdict), hosts, says);
		found++;
	}
	if (found != number)
		fail_msg("%u findings, not %u: %s", found, number, says);
	findings_clear(&all);
}

static bool uplink(unsigned int from, unsigned int to, unsigned int spine)
{
	return from < 2 && to >= 2 && !spine; /* leaf1 to a spine, with two hosts on a leaf */
}

static bool sender(unsigned int from, unsigned int to, unsigned int spine)
{
	(void)to;
	(void)spine;
	return from == 0;
}

static bool receiver(unsigned int from, unsigned int to, unsigned int spine)
{
	(void)from;
	(void)spine;
	return to == 2;
}

static bool both_ways(unsigned int from, unsigned int to, unsigned int spine)
{
	return sender(from, to, spine) || sender(to, from, spine);
}

static bool between(unsigned int from, unsigned int to, unsigned int spine)
{
	return uplink(from, to, spine) || uplink(to, from, spine);
}

static bool everywhere(unsigned int from, unsigned int to, unsigned int spine)
{
	(void)from;
	(void)to;
	(void)spine;
	return true;
}

static bool spine_1(unsigned int from, unsigned int to, unsigned int spine)
{
	return from / 2 != to / 2 && !spine;
}

static bool scattered(unsigned int from, unsigned int to, unsigned int spine)
{
	(void)spine;
	return (from == 0 && to == 3) || (from == 2 && to == 1);
}

static bool one_flow(unsigned int from, unsigned int to, unsigned int spine)
{
	(void)spine;
	return from == 1 && to == 0;
}

#define CLOS "h1 h2 h3 h4"

static const struct {
	const char *name;
	unsigned int hosts, each; /* on a leaf */
	enum marking_kind kind;
	fault *hit;
	unsigned int every;
	bool second; /* with a second pass */
	enum verdict verdict;
	const char *at;
	unsigned int number;
	const char *says;
} cases[] = {
	/* clang-format off */
	{"uplink loses", 4, 2, MARKING_LOST, uplink, 40, true, VERDICT_FAIL, CLOS, 4,
	 " datagrams is lost from leaf1 to leaf2, on one of about 2 paths: source ports 4915"},
	{"its certainty", 4, 2, MARKING_LOST, uplink, 40, true, VERDICT_FAIL, CLOS, 4,
	 "; hit: 4 of 4 flows there (h[1-2] to h[3-4]), 0 of 8 others"},
	{"uplink rewrites", 4, 2, MARKING_DSCP, uplink, 1, true, VERDICT_FAIL, CLOS, 4,
	 "DSCP 26 arrives as 0 from leaf1 to leaf2, on one of about 2 paths: source ports "},
	{"uplink clears", 4, 2, MARKING_ECT_CLEARED, uplink, 1, true, VERDICT_FAIL, CLOS, 4,
	 "ECN bits are changed from leaf1 to leaf2, on one of about 2 paths"},
	{"uplink is short", 4, 2, MARKING_MTU, uplink, 1, true, VERDICT_FAIL, CLOS, 4,
	 "packets of 4096 bytes do not arrive (path MTU 1024) from leaf1 to leaf2, on one of about 2"},
	{"both ways", 4, 2, MARKING_MTU, between, 1, true, VERDICT_FAIL, CLOS, 4,
	 "between leaf1 and leaf2, on one of about 2 paths"},
	{"uplink, no second pass", 4, 2, MARKING_DSCP, uplink, 1, false, VERDICT_FAIL, CLOS, 4,
	 "from leaf1 to leaf2, on one of about 2 paths"},
	{"uplink of one of three", 6, 2, MARKING_LOST, uplink, 40, true, VERDICT_FAIL, CLOS " h5 h6", 6,
	 "from leaf1 to other leaves, on one of about 2 paths"},
	{"spine of three", 6, 2, MARKING_DSCP, spine_1, 1, true, VERDICT_FAIL, CLOS " h5 h6", 6,
	 "between all leaves, on one of about 2 paths"},
	{"uplink without LLDP", 4, 0, MARKING_LOST, uplink, 40, true, VERDICT_FAIL, CLOS, 4,
	 "is lost, on one of about 2 paths: source ports "},
	{"sender", 4, 2, MARKING_LOST, sender, 40, true, VERDICT_FAIL, "h1", 1,
	 "1 in 4"},
	{"sender's place", 4, 2, MARKING_LOST, sender, 40, true, VERDICT_FAIL, "h1", 1,
	 "datagrams is lost from h1 roce0"},
	{"sender's flows", 4, 0, MARKING_DSCP, sender, 1, true, VERDICT_FAIL, "h1", 1,
	 "from h1 roce0, on all source ports; hit: 3 of 3 flows there (h1 to h[2-4]), 0 of 9 others"},
	{"receiver", 4, 2, MARKING_LOST, receiver, 40, true, VERDICT_FAIL, "h3", 1,
	 "datagrams is lost to h3 roce0"},
	{"receiver loses all", 4, 2, MARKING_LOST, receiver, 1, true, VERDICT_FAIL, "h3", 1,
	 "all datagrams are lost to h3 roce0, on all source ports"},
	{"port", 4, 2, MARKING_LOST, both_ways, 40, true, VERDICT_FAIL, "h1", 1,
	 "datagrams is lost from and to h1 roce0"},
	{"class", 4, 2, MARKING_DSCP, everywhere, 1, true, VERDICT_FAIL, "", 1,
	 "DSCP 26 arrives as 0 on all tested paths, on all source ports; hit: 12 of 12 flows"},
	{"scattered", 4, 2, MARKING_DSCP, scattered, 1, true, VERDICT_INCONCLUSIVE, "", 1,
	 "hit: 2 of 12 flows, the first from h1 to h4: no host, leaf or path is common"},
	{"two hosts", 2, 0, MARKING_LOST, one_flow, 40, true, VERDICT_INCONCLUSIVE, "", 1,
	 "h2 to h1: two ports cannot tell"},
	{"two hosts, uplink", 3, 2, MARKING_DSCP, uplink, 1, true, VERDICT_FAIL, "h1 h2 h3", 3,
	 "from leaf1 to leaf2, on one of about 2 paths"},
	{"good", 4, 2, MARKING_LOST, NULL, 1, false, VERDICT_PASS, "", 1, "no marking test found loss"},
	/* clang-format on */
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		open_scene(cases[i].hosts, cases[i].each);
		add_all(&first_pass, cases[i].kind, cases[i].hit, cases[i].every);
		if (cases[i].second)
			add_all(&second_pass, cases[i].kind, cases[i].hit, cases[i].every);
		expect(cases[i].verdict, cases[i].at, cases[i].number, cases[i].says);
	}
}

/* The number of paths, by what one of them loses: not named where chance may explain it. */
static void test_paths(void **state)
{
	static const struct {
		unsigned int spines, every;
		const char *says;
	} each[] = {
		{4, 40, "on one of about 4 paths: source ports"},
		{4, 1, "on one of about 4 paths: source ports"},
		{8, 10, "on one of about "},
		{16, 40, "on one of about 1"},
		{2, 60, "on one of about 2 paths: source ports"},
		{2, 2000, "datagrams is lost from leaf1 to leaf2; hit: "},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		open_scene(4, 2);
		scene.spines = each[i].spines;
		add_all(&second_pass, MARKING_LOST, uplink, each[i].every);
		expect(VERDICT_FAIL, CLOS, 4, each[i].says);
	}
}

/* One datagram accuses nobody, and a good second pass clears a flow. */
static void test_noise(void **state)
{
	(void)state;
	open_scene(4, 2);
	add_all(&first_pass, MARKING_LOST, NULL, 1);
	scene.finding[0][0] = (struct marking_finding){
		.kind = MARKING_LOST, .count = 1, .of = 512, .ports = 1, .ports_of = 16};
	scene.test[0].finding_count = 1;
	expect(VERDICT_INCONCLUSIVE, "", 1, "1 datagram was lost on 1 of 12 flows: too few");
	scene.finding[0][0].count = scene.finding[0][0].ports = 5;
	expect(VERDICT_INCONCLUSIVE, "", 1, "hit: 1 of 12 flows");
	add_test(0, 1, &second_pass, MARKING_LOST, NULL, 1);
	expect(VERDICT_PASS, "", 1, "no marking test found loss");
}

/* Numbers that no test gives, as a hostile run.json has them. */
static void test_hostile(void **state)
{
	static const struct marking_finding each[] = {
		{.kind = MARKING_LOST, .count = UINT32_MAX, .ports = 256},
		{.kind = MARKING_LOST, .count = UINT32_MAX, .of = 1, .ports = 256, .ports_of = 1},
		{.kind = MARKING_LOST, .count = UINT32_MAX, .of = UINT32_MAX, .ports_of = 256},
		{.kind = MARKING_WRONG, .count = 2, .of = UINT32_MAX, .ports = 1, .ports_of = 256},
		{.kind = MARKING_DSCP, .ports = 1, .ports_of = 256},
		{.kind = MARKING_MTU, .ports = 256, .ports_of = 255, .whole = 256},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		struct findings all;

		open_scene(4, 2);
		add_all(&second_pass, MARKING_LOST, NULL, 1);
		for (unsigned int k = 0; k < scene.run.marking_count; k++) {
			scene.finding[k][0] = each[i];
			scene.finding[k][1] = each[i];
			scene.finding[k][1].direction = MARKING_REVERSE;
			scene.test[k].finding_count = 1 + k % 2;
		}
		assert_int_equal(rules_run(&scene.fabric, &scene.run, &all), 0);
		findings_clear(&all);
	}
}

/* Two faults at once are two places; tests that did not run say nothing. */
static void test_two_faults(void **state)
{
	struct findings all;
	unsigned int sends = 0, receives = 0;

	(void)state;
	open_scene(9, 3);
	add_all(&second_pass, MARKING_LOST, NULL, 40);
	for (unsigned int i = 0; i < scene.run.marking_count; i++) {
		struct run_marking *m = &scene.test[i];

		m->finding_count = 0;
		add_direction(m, MARKING_FORWARD, &second_pass, MARKING_LOST, sender, 40);
		add_direction(m, MARKING_REVERSE, &second_pass, MARKING_LOST, receiver, 40);
		if (m->client_host > 2) /* of h3 as receiver, in the other direction */
			continue;
		m->finding_count = 0;
		add_direction(m, MARKING_FORWARD, &second_pass, MARKING_LOST,
			      m->client_host ? receiver : sender, 40);
		add_direction(m, MARKING_REVERSE, &second_pass, MARKING_LOST, receiver, 40);
	}
	assert_int_equal(rules_run(&scene.fabric, &scene.run, &all), 0);
	for (size_t i = 0; i < all.count; i++) {
		const struct finding *f = &all.list[i];

		if (strcmp(f->rule->id, "RC-NET-011"))
			continue;
		assert_int_equal(f->verdict, VERDICT_FAIL);
		sends += !strcmp(f->host, "h1") && strstr(f->text, " from h1 roce0");
		receives += !strcmp(f->host, "h3") && strstr(f->text, " to h3 roce0");
	}
	assert_int_equal(sends, 1);
	assert_int_equal(receives, 1);
	findings_clear(&all);
	for (unsigned int i = 0; i < scene.run.marking_count; i++)
		scene.test[i].ran = false;
	expect(VERDICT_SKIP, "", 1, "no marking test");
	scene.run.marking_count = 0;
	expect(VERDICT_SKIP, "", 1, "no marking test");
}

/* A load of h1 with h2 and of h3 with h4, both ways. */
static void add_loads(void)
{
	static struct run_pair pairs[4];

	for (unsigned int i = 0; i < 4; i++)
		pairs[i] = (struct run_pair){.client_host = i,
					     .server_host = i ^ 1,
					     .ran = true,
					     .client = {.messages = 9, .bytes = 9000, .mtu = 4096},
					     .server = {.messages = 9, .bytes = 9000, .mtu = 4096}};
	scene.run.pair = pairs;
	scene.run.pair_count = 4;
}

/* What one place does is one root cause, also between ports without a load. */
static void test_one_cause(void **state)
{
	static const struct {
		enum marking_kind kind;
		fault *hit;
		const char *effect;
	} each[] = {
		{MARKING_LOST, uplink, "RC-NET-009"},	{MARKING_LOST, sender, "RC-NET-009"},
		{MARKING_DSCP, receiver, "RC-QOS-007"}, {MARKING_MTU, uplink, "RC-MTU-003"},
		{MARKING_MTU, receiver, "RC-MTU-003"},
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(each); k++) {
		struct findings all;
		unsigned int effects = 0;

		open_scene(4, 2);
		add_loads();
		add_all(&second_pass, each[k].kind, each[k].hit, 1);
		assert_int_equal(rules_run(&scene.fabric, &scene.run, &all), 0);
		for (size_t i = 0; i < all.count; i++) {
			const struct finding *f = &all.list[i];

			if (strcmp(f->rule->id, each[k].effect) || !finding_violated(f))
				continue;
			effects++;
			assert_true(f->caused_by >= 0);
			assert_string_equal(all.list[f->caused_by].rule->id, "RC-NET-011");
		}
		assert_true(effects);
		findings_clear(&all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),	   cmocka_unit_test(test_paths),
		cmocka_unit_test(test_noise),	   cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_two_faults), cmocka_unit_test(test_one_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
