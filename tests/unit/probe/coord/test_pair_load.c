/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load of probes that start together, their agents shell scripts: one that fails once the
 * counters are read, and before the start, takes the others with it; one that is lost in mid-run is
 * reported when that happens, not when the others are through; one that is elsewhere gets no
 * traffic.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "probe/coord/pair_priv.h"
#include "tests/unit/fixture/pair_scene.h"

#define HELLO "echo '{\"hello\":\"rocecheck.agent/1\",\"build\":\"0.1.0\"}'; "
#define REFUSE                                                                                     \
	"n=0; while read -r x; do case $x in *'\"id\":0'*) continue;; esac; n=$((n + 1)); "        \
	"echo \"{\\\"id\\\":$n,\\\"error\\\":{\\\"code\\\":-12,\\\"text\\\":\\\"no queue pair\\\"" \
	"}}\"; done"
#define DIE "read -r x; echo '{\"id\":1,\"error\":{\"code\":-12,\"text\":\"none\"}}'; read -r x"

/* Answers everything; does $END for traffic_run, and answers it with $RESULT. */
#define SERVE                                                                                      \
	"n=0; while read -r x; do case $x in *'\"id\":0'*) continue;; esac; n=$((n + 1)); "        \
	"case $x in *traffic_run*) eval $END; "                                                    \
	"echo \"{\\\"id\\\":$n,\\\"result\\\":$RESULT}\"; continue;; "                             \
	"*traffic_connect*) $MEET; esac; "                                                         \
	"echo \"{\\\"id\\\":$n,\\\"handle\\\":1,\\\"now_ns\\\":1,\\\"peer\\\":$PEER}\"; done"

enum member { FAILS, OTHER, MEMBERS };

struct load_scene {
	struct scene member[MEMBERS];
	struct pair_request wish;
	struct pairs all;
	bool lost_told, lost_late;
};

static void load_hear(const char *line, void *arg)
{
	struct load_scene *s = arg;

	if (strncmp(line, "h2: ", 4) || !strstr(line, "traffic_run"))
		return;
	s->lost_told = true;
	s->lost_late = s->all.flow[OTHER].end[SIDE_CLIENT].call.reply;
}

static void open_load(struct load_scene *s, unsigned int count,
		      const char *const script[MEMBERS][SIDES])
{
	struct err e = {0};

	memset(s, 0, sizeof(*s));
	assert_int_equal(pairs_open(&s->all, count, &e), 0);
	for (unsigned int m = 0; m < count; m++) {
		struct pair_session *d = &s->all.one[m];
		struct pair *t = &s->member[m].t;

		make_pair(&s->member[m]);
		t->ran = false;
		for (unsigned int i = 0; i < SIDES; i++) {
			pair_end(t, i)->has_report = false;
			memset(&pair_end(t, i)->report, 0, sizeof(pair_end(t, i)->report));
		}
		*d = (struct pair_session){
			.w = &s->wish,
			.t = t,
			.s = {.r = &t->run, .loop = s->all.loop, .progress = load_hear, .arg = s}};
		assert_int_equal(session_open(&d->s, &e), 0);
		assert_int_equal(destinations_make(DESTINATION_OF_CLIENT, "198.18.0.2", NULL,
						   &d->destinations, &e),
				 0);
		for (unsigned int i = 0; i < SIDES; i++) {
			const char *const argv[] = {"/bin/sh", "-c", script[m][i], NULL};

			agent_conn_open(&d->s.conn[i], d->s.loop, s->member[m].host[i].name, argv,
					10000);
		}
		session_wait(&d->s);
	}
}

static void close_load(struct load_scene *s)
{
	unsigned int count = s->all.count;

	pairs_close(&s->all);
	for (unsigned int m = 0; m < count; m++) {
		free(s->member[m].pair.tcp);
		for (unsigned int i = 0; i < SIDES; i++)
			traffic_report_clear(&s->member[m].ends.side[i].report);
	}
}

/* An agent that is at this address, and does so when it is to connect and to run. */
static char *serve(const char *address, const char *meet, const char *end)
{
	struct traffic_endpoint *peer = calloc(1, sizeof(*peer));
	struct scene *s = malloc(sizeof(*s));
	json_t *doc, *result;
	char *text, *report, *script;

	peer->mtu = 4096;
	if (inet_pton(AF_INET6, address, peer->gid) != 1)
		fail_msg("%s", address);
	make_pair(s);
	result = traffic_report_to_json(&s->ends.side[SIDE_CLIENT].report);
	doc = traffic_endpoint_to_json(peer);
	text = json_dumps(doc, JSON_COMPACT);
	report = json_dumps(result, JSON_COMPACT);
	assert_true(asprintf(&script, HELLO "PEER='%s'; RESULT='%s'; MEET='%s'; END='%s'; " SERVE,
			     text, report, meet, end) > 0);
	free(text);
	free(report);
	json_decref(doc);
	json_decref(result);
	free(peer);
	free(s);
	return script;
}

/* Two servers that this host reaches through two ports make no incast. */
static void test_one_port(void **state)
{
	struct load_scene *s = calloc(1, sizeof(*s));
	struct pair_session first = {.t = &s->member[FAILS].t}, other = {.t = &s->member[OTHER].t};
	struct err e = {0};

	(void)state;
	make_pair(&s->member[FAILS]);
	make_pair(&s->member[OTHER]);
	assert_int_equal(pair_check_port(&first, &first, &e), 0);
	assert_int_equal(pair_check_port(&other, &first, &e), 0);
	s->member[OTHER].port[SIDE_CLIENT].ib_port = 2;
	assert_int_equal(pair_check_port(&other, &first, &e), -ENOTUNIQ);
	assert_string_equal(e.text,
			    "this server sends to rxe0 port 2 of this host, another server to rxe0 "
			    "port 1: no incast");
	assert_non_null(strstr(e.hint, "--ib-dev"));
	free(s);
}

static void test_fails_before_the_start(void **state)
{
	static const struct {
		const char *server, *text;
		int err;
	} cases[] = {
		{HELLO REFUSE, "h2: no queue pair", -ENOMEM},
		{HELLO DIE, "h2: ", -EPIPE},
	};
	struct load_scene *s = malloc(sizeof(*s));
	char *server = serve("::ffff:198.18.0.2", ":", "exit 9");
	char *client = serve("::ffff:198.18.0.1", ":", "exit 9");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *const script[MEMBERS][SIDES] = {{HELLO REFUSE, cases[i].server},
							    {client, server}};

		open_load(s, MEMBERS, script);
		pairs_load(&s->all);
		if (s->all.one[FAILS].err != cases[i].err ||
		    !strstr(s->all.one[FAILS].e.text, cases[i].text))
			fail_msg("%zu: %d: %s", i, s->all.one[FAILS].err, s->all.one[FAILS].e.text);
		assert_int_equal(s->all.one[OTHER].err, -ECANCELED);
		assert_false(s->member[FAILS].t.ran || s->member[OTHER].t.ran);
		close_load(s);
	}
	free(server);
	free(client);
	free(s);
}

/* The other one goes on to its end. */
static void test_lost_in_mid_run(void **state)
{
	struct load_scene *s = malloc(sizeof(*s));
	char *dies = serve("::ffff:198.18.0.2", ":", "exit 7");
	char *server = serve("::ffff:198.18.0.2", ":", "sleep 2");
	char *client = serve("::ffff:198.18.0.1", ":", "sleep 2");
	const char *const script[MEMBERS][SIDES] = {{client, dies}, {client, server}};

	(void)state;
	open_load(s, MEMBERS, script);
	pairs_load(&s->all);
	if (s->all.one[FAILS].err != -EPIPE || strncmp(s->all.one[FAILS].e.text, "h2: ", 4))
		fail_msg("%d: %s", s->all.one[FAILS].err, s->all.one[FAILS].e.text);
	if (s->all.one[OTHER].err)
		fail_msg("%s", s->all.one[OTHER].e.text);
	assert_true(s->member[FAILS].t.ran && s->member[OTHER].t.ran);
	assert_true(s->member[FAILS].ends.side[SIDE_CLIENT].has_report);
	assert_true(s->member[OTHER].ends.side[SIDE_SERVER].has_report);
	assert_true(s->lost_told);
	assert_false(s->lost_late);
	close_load(s);
	free(dies);
	free(server);
	free(client);
	free(s);
}

/* A server that knows the token does not make this host send to a third one: neither end is even
 * asked to connect. */
static void test_server_elsewhere(void **state)
{
	static const struct {
		const char *server, *control, *allowed;
		bool want;
	} cases[] = {
		{"::ffff:198.18.0.2", "198.18.0.2", NULL, true},
		{"2001:db8::2", "2001:db8::2", NULL, true},
		{"::ffff:198.18.0.3", "198.18.0.2", NULL, false},
		{"2001:db8::2", "198.18.0.2", NULL, false},
		{"fe80::2", "2001:db8::2", NULL, false},
		{"::ffff:198.18.0.3", "198.18.0.2", "198.18.0.3", true},
		{"::ffff:198.18.1.3", "198.18.0.2", "2001:db8::/64,198.18.0.0/24", false},
	};
	struct load_scene *s = malloc(sizeof(*s));

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *server = serve(cases[i].server, "exit 9", ":");
		char *client = serve("::ffff:198.18.0.1", "exit 9", ":");
		const char *const script[MEMBERS][SIDES] = {{client, server}};
		const struct pair_session *d;
		struct err e = {0};

		open_load(s, 1, script);
		d = &s->all.one[0];
		assert_int_equal(destinations_make(DESTINATION_OF_CLIENT, cases[i].control,
						   cases[i].allowed, &s->all.one[0].destinations,
						   &e),
				 0);
		pairs_load(&s->all);
		if (d->err != (cases[i].want ? -EPIPE : -EPERM))
			fail_msg("%zu: %d: %s", i, d->err, d->e.text);
		if (!cases[i].want && (!strstr(d->e.text, "refusing to send to ") ||
				       !strstr(d->e.text, cases[i].control) ||
				       !strstr(d->e.hint, "start the client with --peer-address ")))
			fail_msg("%zu: %s (%s)", i, d->e.text, d->e.hint);
		close_load(s);
		free(server);
		free(client);
	}
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_port),
		cmocka_unit_test(test_fails_before_the_start),
		cmocka_unit_test(test_lost_in_mid_run),
		cmocka_unit_test(test_server_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
