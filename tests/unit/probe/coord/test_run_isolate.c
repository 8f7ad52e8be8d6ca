/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second pass with shell scripts as agents, which refuse each test: which pairs it would test,
 * by what the first pass and the load found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/coord/phase_priv.h"
#include "tests/unit/fixture/fabric_run.h"

#define HOSTS 6

#define AGENT                                                                                      \
	"echo '{\"hello\":\"rocecheck.agent/1\",\"build\":\"0.1.0\"}'; n=0; "                      \
	"while read -r x; do case $x in *'\"id\":0'*) continue;; esac; n=$((n + 1)); "             \
	"echo \"{\\\"id\\\":$n,\\\"error\\\":{\\\"code\\\":-5,\\\"text\\\":\\\"asked\\\"}}\"; "    \
	"done"

static struct {
	struct fabric fabric;
	struct fabric_host fabric_host[HOSTS];
	struct fabric_port fabric_port[HOSTS];
	struct run run;
	struct run_host host[HOSTS];
	struct run_port port[HOSTS];
	struct port before[HOSTS];
	struct run_pair pair;
	char said[4096];
} scene;

static void hear(const char *line, void *arg)
{
	size_t used = strlen(scene.said);

	(void)arg;
	snprintf(scene.said + used, sizeof(scene.said) - used, "%s\n", line);
}

static void open_scene(unsigned int hosts)
{
	memset(&scene, 0, sizeof(scene));
	good_profile(&scene.fabric.profile);
	scene.fabric.host = scene.fabric_host;
	scene.fabric.host_count = hosts;
	scene.fabric.traffic_s = 1;
	scene.fabric.load_percent = 5;
	scene.run.host = scene.host;
	scene.run.host_count = hosts;
	for (unsigned int i = 0; i < hosts; i++) {
		struct run_host *h = &scene.host[i];

		good_port(i, &scene.before[i]);
		snprintf(h->name, sizeof(h->name), "h%u", i + 1);
		snprintf(scene.port[i].netdev, sizeof(scene.port[i].netdev), "roce0");
		scene.fabric_host[i].port = &scene.fabric_port[i];
		scene.fabric_host[i].port_count = 1;
		h->reached = h->has_before = true;
		h->before.port = &scene.before[i];
		h->before.port_count = h->port_count = 1;
		h->port = &scene.port[i];
	}
}

/* Adds the first pass: a test of every two hosts; `failed` has a bit for host a and one for host b
 * of each pair that lost. */
static void add_tests(const unsigned int *failed)
{
	const unsigned int hosts = scene.run.host_count;

	scene.run.marking = calloc(hosts * hosts, sizeof(*scene.run.marking));
	assert_non_null(scene.run.marking);
	for (unsigned int a = 0; a < hosts; a++)
		for (unsigned int b = a + 1; b < hosts; b++) {
			struct run_marking *m = &scene.run.marking[scene.run.marking_count++];

			*m = (struct run_marking){.client_host = a, .server_host = b, .ran = true};
			for (unsigned int i = 0; failed[i]; i++) {
				if (failed[i] != (1u << a | 1u << b))
					continue;
				m->finding = calloc(1, sizeof(*m->finding));
				assert_non_null(m->finding);
				m->finding->kind = MARKING_LOST;
				m->finding_count = 1;
			}
		}
}

/* Runs the pass; `away`: this host is not connected. Writes the pairs of the pass as "12 34". */
static void run_pass(int away, char *text, size_t size)
{
	struct coordinator c = {.f = &scene.fabric, .s = {.r = &scene.run, .progress = hear}};
	const char *const argv[] = {"/bin/sh", "-c", AGENT, NULL};
	struct err e = {0};

	assert_int_equal(loop_open(&c.s.loop, &e), 0);
	c.s.conn = calloc(HOSTS, sizeof(*c.s.conn));
	for (unsigned int i = 0; i < scene.run.host_count; i++)
		if ((int)i != away)
			agent_conn_open(&c.s.conn[i], c.s.loop, scene.host[i].name, argv, 10000);
	session_wait(&c.s);
	if (phase_isolate(&c, &e))
		fail_msg("%s", e.text);
	for (unsigned int i = 0; i < scene.run.host_count; i++)
		agent_conn_close(&c.s.conn[i]);
	loop_close(c.s.loop);
	free(c.s.conn);
	*text = 0;
	for (unsigned int i = 0; i < scene.run.marking_count; i++) {
		const struct run_marking *m = &scene.run.marking[i];
		unsigned int low = m->client_host, high = m->server_host;
		size_t used = strlen(text);

		if (low > high) {
			low = m->server_host;
			high = m->client_host;
		}
		if (m->pass) {
			assert_int_equal(m->pass, 2);
			assert_non_null(strstr(m->error, "asked"));
			snprintf(text + used, size - used, "%s%u%u", used ? " " : "", low + 1,
				 high + 1);
		}
		free(m->finding);
	}
	free(scene.run.marking);
}

#define PAIR(a, b) (1u << ((a)-1) | 1u << ((b)-1))

static void test_pairs(void **state)
{
	static const struct {
		const char *name;
		unsigned int hosts;
		unsigned int failed[8];
		int away;
		const char *pairs, *said;
	} cases[] = {
		{"nothing failed", 4, {0}, -1, "", NULL},
		{"two hosts", 2, {PAIR(1, 2)}, -1, "12", "2 of 2 ports are suspect, 1 round of"},
		/* Each host fails with two of three: all are suspect, and none is known to be good.
		 */
		{"uplink",
		 4,
		 {PAIR(1, 3), PAIR(1, 4), PAIR(2, 3), PAIR(2, 4)},
		 -1,
		 "13 24 14 23 12 34",
		 "4 of 4 ports are suspect, 3 rounds of marking tests, 128 datagrams from each of "
		 "64 source ports, about 8 s, at most 120 s"},
		/* h1 fails with all, the others with one of three: h1 again with two of them. */
		{"host",
		 4,
		 {PAIR(1, 2), PAIR(1, 3), PAIR(1, 4)},
		 -1,
		 "12 13 14 12 13",
		 "1 of 4 ports are suspect, 5 rounds"},
		{"host away",
		 4,
		 {PAIR(1, 2), PAIR(1, 3), PAIR(1, 4)},
		 1,
		 "13 14 13 14",
		 "1 of 3 ports are suspect"},
		/* One good port, for each suspect in turn. */
		{"one good",
		 4,
		 {PAIR(1, 2), PAIR(1, 3), PAIR(2, 3)},
		 -1,
		 "12 13 23 14 24 34",
		 "3 of 4 ports are suspect, 6 rounds"},
		/* No port fails in most of its tests. */
		{"pair", 6, {PAIR(1, 2)}, -1, "12 13 24 14 25", "2 of 6 ports are suspect"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[256];

		open_scene(cases[i].hosts);
		add_tests(cases[i].failed);
		run_pass(cases[i].away, text, sizeof(text));
		if (strcmp(text, cases[i].pairs) ||
		    (cases[i].said ? !strstr(scene.said, cases[i].said) : scene.said[0] != 0))
			fail_msg("%s: %s\n%s", cases[i].name, text, scene.said);
	}
}

/* Losses of the load make suspect ports, too: sequence gaps, unless a slow receiver made them, and
 * a pair that ended. */
static void test_load(void **state)
{
	static const unsigned int none[1];
	static const struct {
		bool gaps, slow, ended, incast;
		const char *pairs;
	} cases[] = {
		{.gaps = true, .pairs = "12 13"},
		{.gaps = true, .slow = true, .pairs = ""},
		{.ended = true, .pairs = "12 13 24 14 23"},
		{.ended = true, .incast = true, .pairs = ""},
		{.pairs = ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct run_port *p = &scene.port[0];
		char text[256];

		open_scene(4);
		for (unsigned int r = READ_LOAD_BEFORE; r <= READ_LOAD_AFTER; r++) {
			uint64_t more = r == READ_LOAD_AFTER ? 5 : 0;

			count(&p->reading[r], METRIC_OUT_OF_SEQUENCE, 0, cases[i].gaps * more);
			count(&p->reading[r], METRIC_RNR_NAK_TX, 0, cases[i].slow * more);
			p->has |= 1u << r;
		}
		scene.pair = (struct run_pair){.server_host = 1, .ran = true};
		scene.pair.client.cause = cases[i].ended ? CAUSE_RETRY_EXCEEDED : CAUSE_NONE;
		scene.pair.phase = cases[i].incast ? PHASE_INCAST : PHASE_LOAD;
		scene.run.pair = &scene.pair;
		scene.run.pair_count = 1;
		add_tests(none);
		run_pass(-1, text, sizeof(text));
		if (strcmp(text, cases[i].pairs))
			fail_msg("case %zu: %s\n%s", i, text, scene.said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
