/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pairs of a fabric run with shell scripts as agents: a host that says to be at another address
 * than inventory and snapshot have gets no traffic, and neither end is asked to connect.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/coord/phase_priv.h"
#include "probe/record/run_tcp.h"
#include "tests/unit/fixture/fabric_run.h"

#define HOSTS 2

/* Opens, refuses to connect, and answers anything else. */
#define AGENT                                                                                      \
	"echo '{\"hello\":\"rocecheck.agent/1\",\"build\":\"0.1.0\"}'; PEER='%s'; n=0; "           \
	"while read -r x; do case $x in *'\"id\":0'*) continue;; esac; n=$((n + 1)); "             \
	"case $x in "                                                                              \
	"*traffic_connect*) "                                                                      \
	"echo \"{\\\"id\\\":$n,\\\"error\\\":{\\\"code\\\":-5,\\\"text\\\":\\\"asked\\\"}}\";; "   \
	"*) echo \"{\\\"id\\\":$n,\\\"handle\\\":1,\\\"peer\\\":$PEER}\";; "                       \
	"esac; done"

static char *agent_at(const char *address)
{
	struct traffic_endpoint *peer = calloc(1, sizeof(*peer));
	char *text, *script;
	json_t *doc;

	assert_non_null(peer);
	peer->mtu = 4096;
	if (inet_pton(AF_INET6, address, peer->gid) != 1)
		fail_msg("%s", address);
	doc = traffic_endpoint_to_json(peer);
	text = json_dumps(doc, JSON_COMPACT);
	assert_true(asprintf(&script, AGENT, text) > 0);
	free(text);
	json_decref(doc);
	free(peer);
	return script;
}

/* Runs the pairs of two hosts, of which h2 says to be at address; *f keeps what came of them. */
static void run_pairs(struct fabric_run *f, const char *address, const char *inventory)
{
	const char *const at[HOSTS] = {"::ffff:198.18.0.1", address};
	struct coordinator c = {.f = &f->fabric, .s.r = &f->run};
	struct err e = {0};

	good_run(f);
	f->run.pair = NULL;
	f->run.pair_count = 0;
	f->fabric.traffic_s = 1;
	snprintf(f->fabric_port[1].address, sizeof(f->fabric_port[1].address), "%s", inventory);
	f->fabric.load_percent = 5;
	assert_int_equal(loop_open(&c.s.loop, &e), 0);
	c.s.conn = calloc(HOSTS, sizeof(*c.s.conn));
	for (unsigned int i = 0; i < HOSTS; i++) {
		char *script = agent_at(at[i]);
		const char *const argv[] = {"/bin/sh", "-c", script, NULL};

		agent_conn_open(&c.s.conn[i], c.s.loop, f->host[i].name, argv, 10000);
		free(script);
	}
	session_wait(&c.s);
	if (phase_traffic(&c, &e))
		fail_msg("%s", e.text);
	for (unsigned int i = 0; i < HOSTS; i++)
		agent_conn_close(&c.s.conn[i]);
	loop_close(c.s.loop);
	free(c.s.conn);
}

static void test_host_elsewhere(void **state)
{
	static const struct {
		const char *address, *inventory, *error;
	} cases[] = {
		{"::ffff:198.18.0.2", "", "asked"},
		{"::ffff:198.18.0.2", "198.18.0.2", "asked"},
		{"::ffff:198.18.0.9", "", "h2: refusing to send to 198.18.0.9: "},
		{"2001:db8::2", "", "h2: refusing to send to 2001:db8::2: "},
	};
	struct fabric_run *f = malloc(sizeof(*f));

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		run_pairs(f, cases[i].address, cases[i].inventory);
		assert_int_equal(f->run.pair_count, 6); /* WRITE, SEND and READ, each way */
		for (unsigned int p = 0; p < f->run.pair_count; p++)
			if (!strstr(f->run.pair[p].error, cases[i].error))
				fail_msg("%s: %s", cases[i].address, f->run.pair[p].error);
		free(f->run.pair);
	}
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
