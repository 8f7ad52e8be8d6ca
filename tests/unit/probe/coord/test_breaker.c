/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The breaker of an incast: a port that takes no part and is paused stops the session; a port that
 * takes part, and pauses of before, do not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/coord/breaker.h"
#include "tests/unit/fixture/fabric_run.h"

#define HOSTS 2

/* Answers the first question with one reading, all later ones with another. */
#define AGENT                                                                                      \
	"echo '{\"hello\":\"rocecheck.agent/1\",\"build\":\"0.1.0\"}'; "                           \
	"A='%s'; B='%s'; n=0; "                                                                    \
	"while read -r x; do case $x in *'\"id\":0'*) continue;; esac; n=$((n + 1)); "             \
	"echo \"{\\\"id\\\":$n,\\\"ports\\\":[{\\\"counters\\\":$A}]}\"; A=$B; done"

static char *counters_text(uint64_t pauses)
{
	struct counters c = {.when_ns = 1000000000};
	json_t *doc;
	char *text;

	for (unsigned int m = 0; m < METRIC_COUNT; m++)
		c.def[m] = COUNTER_NONE;
	count(&c, METRIC_PFC_RX_FRAMES, 3, pauses);
	doc = counters_to_json(&c);
	text = json_dumps(doc, JSON_COMPACT);
	json_decref(doc);
	return text;
}

/* h2's counter of pauses goes from 40 to `later`; takes_part: it is an end of the load. */
static void watch(struct fabric_run *f, uint64_t later, bool takes_part)
{
	char *first = counters_text(40), *second = counters_text(later), *script;
	const struct run_pair load = {.server_host = takes_part}, *const loads[] = {&load};
	struct session s = {.r = &f->run};
	struct breaker b;
	struct err e = {0};

	good_run(f);
	assert_true(asprintf(&script, AGENT, first, second) > 0);
	assert_int_equal(session_open(&s, &e), 0);
	for (unsigned int i = 0; i < HOSTS; i++) {
		const char *const argv[] = {"/bin/sh", "-c", script, NULL};

		agent_conn_open(&s.conn[i], s.loop, f->host[i].name, argv, 10000);
	}
	session_wait(&s);
	assert_int_equal(breaker_start(&b, &s, loads, 1), 0);
	session_pause(&s, 2500);
	breaker_stop(&b);
	f->run.host[0].reached = s.broken;
	session_close(&s);
	free(script);
	free(first);
	free(second);
}

static void test_breaker(void **state)
{
	static const struct {
		uint64_t later;
		bool takes_part, broken;
	} cases[] = {{40, false, false}, {45, false, true}, {45, true, false}};
	struct fabric_run *f = malloc(sizeof(*f));

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		watch(f, cases[i].later, cases[i].takes_part);
		assert_int_equal(f->run.host[0].reached, cases[i].broken);
		assert_string_equal(f->port[1].breaker,
				    cases[i].broken ? "it received 5 pauses on priority 3" : "");
		assert_string_equal(f->port[0].breaker, "");
	}
	free(f);
}

static void test_signs(void **state)
{
	struct counters before = {.when_ns = 1}, after;
	char sign[80];

	(void)state;
	count(&before, METRIC_LINK_DOWN, 0, 1);
	count(&before, METRIC_PAUSE_STORM, 0, 1);
	after = before;
	assert_false(breaker_sees_harm(&before, &after, sign, sizeof(sign)));
	after.value[METRIC_PAUSE_STORM][0]++;
	assert_true(breaker_sees_harm(&before, &after, sign, sizeof(sign)));
	assert_string_equal(sign, "its NIC saw a pause storm");
	after.value[METRIC_LINK_DOWN][0]++;
	assert_true(breaker_sees_harm(&before, &after, sign, sizeof(sign)));
	assert_string_equal(sign, "its link went down");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_breaker),
		cmocka_unit_test(test_signs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
