/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load of a probe that starts together with others, its agents shell scripts: one that fails
 * once the counters are read, and before the start, takes the others with it; one that is lost in
 * mid-run is told when that happens, not when the others are through; one that is elsewhere gets no
 * traffic.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "probe/coord/two_ended_inside.h"
#include "tests/unit/fixture/two_ended_scene.h"

#define HELLO "echo '{\"hello\":\"rocecheck.agent/1\",\"build\":\"0.1.0\"}'; "
#define REFUSE                                                                                     \
	"n=0; while read -r x; do case $x in *'\"id\":0'*) continue;; esac; n=$((n + 1)); "        \
	"echo \"{\\\"id\\\":$n,\\\"error\\\":{\\\"code\\\":-12,\\\"text\\\":\\\"no queue pair\\\"" \
	"}}\"; done"
#define DIE "read -r x; echo '{\"id\":1,\"error\":{\"code\":-12,\"text\":\"none\"}}'; read -r x"

/* Answers all, but traffic_run: with END when it is that, and to its stop with an error. */
#define SERVE                                                                                      \
	"n=0; while read -r x; do case $x in "                                                     \
	"*traffic_stop*) echo \"{\\\"id\\\":$n,\\\"error\\\":{\\\"code\\\":-4}}\"; continue;; "    \
	"*'\"id\":0'*) continue;; esac; n=$((n + 1)); "                                            \
	"case $x in *traffic_run*) $END;; *traffic_connect*) $MEET; esac; "                        \
	"case $x in *traffic_run*) ;; "                                                            \
	"*) echo \"{\\\"id\\\":$n,\\\"handle\\\":1,\\\"now_ns\\\":1,\\\"peer\\\":$PEER}\";; "      \
	"esac; done"
#define LATE_MS 20000

enum member { FAILS, OTHER, MEMBERS };

static void open_load(struct duo *d, struct two_ended_wish *w, struct scene *s, const char *client,
		      const char *server)
{
	const char *const script[SIDES] = {client, server};
	struct err e = {0};

	make_two_ended(s);
	s->t.run.pair = calloc(1, sizeof(*s->t.run.pair));
	s->t.ran = false;
	*w = (struct two_ended_wish){.member = FAILS};
	assert_int_equal(meeting_open(MEMBERS, &w->meeting), 0);
	*d = (struct duo){.w = w, .t = &s->t, .s.r = &s->t.run};
	assert_int_equal(
		destinations_make(DESTINATION_OF_CLIENT, "198.18.0.2", NULL, &d->destinations, &e),
		0);
	assert_int_equal(loop_open(&d->s.loop, &e), 0);
	d->s.conn = calloc(SIDES, sizeof(*d->s.conn));
	for (unsigned int i = 0; i < SIDES; i++) {
		const char *const argv[] = {"/bin/sh", "-c", script[i], NULL};

		agent_conn_open(&d->s.conn[i], d->s.loop, s->host[i].name, argv, 10000);
	}
	session_wait(&d->s);
}

static void close_load(struct duo *d, struct two_ended_wish *w)
{
	for (unsigned int i = 0; i < SIDES; i++)
		agent_conn_close(&d->s.conn[i]);
	loop_close(d->s.loop);
	free(d->s.conn);
	free(d->t->run.pair);
	meeting_close(w->meeting);
}

/* Two servers that this host reaches through two ports make no incast. */
static void test_one_port(void **state)
{
	struct scene *s = malloc(sizeof(*s));
	struct two_ended_wish w = {.member = FAILS};
	struct duo d = {.w = &w, .t = &s->t};
	struct err e = {0};

	(void)state;
	make_two_ended(s);
	assert_int_equal(duo_one_port(&d, &e), 0); /* alone */
	assert_int_equal(meeting_open(MEMBERS, &w.meeting), 0);
	assert_int_equal(duo_one_port(&d, &e), 0);
	assert_int_equal(duo_one_port(&d, &e), 0);
	s->port[SIDE_CLIENT].ib_port = 2;
	assert_int_equal(duo_one_port(&d, &e), -ENOTUNIQ);
	assert_string_equal(e.text,
			    "this server sends to rxe0 port 2 of this host, another server to rxe0 "
			    "port 1: no incast");
	assert_non_null(strstr(e.hint, "--ib-dev"));
	meeting_close(w.meeting);
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
	struct scene *s = malloc(sizeof(*s));

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct two_ended_wish w;
		struct err e = {0};
		struct duo d;
		int err;

		open_load(&d, &w, s, HELLO REFUSE, cases[i].server);
		meeting_come(w.meeting, OTHER, MEET_READ); /* nobody is waited for */
		err = duo_load(&d, &e);
		if (err != cases[i].err || !strstr(e.text, cases[i].text))
			fail_msg("%zu: %d: %s", i, err, e.text);
		assert_false(s->t.ran);
		assert_true(meeting_broken(w.meeting));
		close_load(&d, &w);
	}
	free(s);
}

struct others {
	struct meeting *m;
	bool told, late;
};

/* The other one goes on for as long as it is not told. */
static void hear(const char *line, void *arg)
{
	struct others *o = arg;

	if (strncmp(line, "h2: ", 4) || !strstr(line, "traffic_run"))
		return;
	o->told = true;
	meeting_come(o->m, OTHER, MEET_LEFT);
}

static void is_late(void *arg)
{
	struct others *o = arg;

	o->late = !o->told;
	meeting_come(o->m, OTHER, MEET_LEFT);
}

/* An agent that is at this address, and does so when it is to connect and to run. */
static char *serve(const char *address, const char *meet, const char *end)
{
	struct traffic_endpoint *peer = calloc(1, sizeof(*peer));
	json_t *doc;
	char *text, *script;

	peer->mtu = 4096;
	if (inet_pton(AF_INET6, address, peer->gid) != 1)
		fail_msg("%s", address);
	doc = traffic_endpoint_to_json(peer);
	text = json_dumps(doc, JSON_COMPACT);
	assert_true(asprintf(&script, HELLO "PEER='%s'; MEET='%s'; END='%s'; " SERVE, text, meet,
			     end) > 0);
	free(text);
	json_decref(doc);
	free(peer);
	return script;
}

static void test_lost_in_mid_run(void **state)
{
	struct scene *s = malloc(sizeof(*s));
	char *server = serve("::ffff:198.18.0.2", ":", "exit 7");
	char *client = serve("::ffff:198.18.0.1", ":", ":");
	struct two_ended_wish w;
	struct loop_timer *timer;
	struct others o = {0};
	struct err e = {0};
	struct duo d;

	(void)state;
	open_load(&d, &w, s, client, server);
	o.m = w.meeting;
	d.s.progress = hear;
	d.s.arg = &o;
	meeting_come(w.meeting, OTHER, MEET_CONNECTED);
	assert_int_equal(loop_timer_open(d.s.loop, is_late, &o, &timer), 0);
	loop_timer_set(timer, LATE_MS);
	if (duo_load(&d, &e) != -EPIPE || strncmp(e.text, "h2: ", 4))
		fail_msg("%s", e.text);
	assert_true(s->t.ran);
	assert_false(meeting_broken(w.meeting));
	assert_true(o.told);
	assert_false(o.late);
	loop_timer_close(timer);
	close_load(&d, &w);
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
	struct scene *s = malloc(sizeof(*s));

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *server = serve(cases[i].server, "exit 9", ":");
		char *client = serve("::ffff:198.18.0.1", "exit 9", ":");
		struct two_ended_wish w;
		struct err e = {0};
		struct duo d;
		int err;

		open_load(&d, &w, s, client, server);
		meeting_come(w.meeting, OTHER, MEET_READ);
		assert_int_equal(destinations_make(DESTINATION_OF_CLIENT, cases[i].control,
						   cases[i].allowed, &d.destinations, &e),
				 0);
		err = duo_load(&d, &e);
		if (err != (cases[i].want ? -EPIPE : -EPERM))
			fail_msg("%zu: %d: %s", i, err, e.text);
		if (!cases[i].want && (!strstr(e.text, "h1: refusing to send to ") ||
				       !strstr(e.text, cases[i].control) ||
				       !strstr(e.hint, "start the client with --peer-address ")))
			fail_msg("%zu: %s (%s)", i, e.text, e.hint);
		close_load(&d, &w);
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
