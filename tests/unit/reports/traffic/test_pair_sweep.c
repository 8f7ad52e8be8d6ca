/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sweep of message sizes against two agents, which this program is too: they tell what the
 * scene has, and leave out a reading of a size. What one size lacks is not taken from another.
 */
#include "tests/unit/fixture/pair_scene.h"

#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

#include "probe/agent/agent.h"
#include "probe/coord/pair_priv.h"
#include "reports/traffic/probe_verdict.h"

/* The idle baseline is that of all sizes. And where no reading came, the settling time is that of
 * the slowest device. */
#define QUIET (1u << READ_QUIET_BEFORE | 1u << READ_QUIET_AFTER)

static char self[4096];

/* The agent's part. */
struct explained {
	struct scene scene;
	enum run_side side;
	unsigned int asked, silent; /* readings: how many, and which one is refused */
	bool dying;		    /* the traffic process was still there when they were asked */
};

static json_t *tell_counters(struct explained *a, const json_t *request)
{
	const json_t *port = json_array_get(json_object_get(request, "ports"), 0);
	const struct run_port *o = &a->scene.run_port[a->side];
	struct counters c = o->reading[READ_LOAD_BEFORE];
	unsigned int runs = ++a->asked / 2;
	json_t *users;

	if (a->asked == a->silent)
		return json_pack("{s:{s:i, s:s}}", "error", "code", -5, "text", "no counters now");
	for (unsigned int m = 0; m < METRIC_COUNT; m++)
		for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
			c.value[m][prio] += runs * (o->reading[READ_LOAD_AFTER].value[m][prio] -
						    o->reading[READ_LOAD_BEFORE].value[m][prio]);
	c.when_ns = a->asked * 10 * S;
	users = json_array();
	if (a->dying && json_is_true(json_object_get(port, "users")))
		json_array_append_new(users, json_string("1 queue pair of rocecheck (pid 7)"));
	return json_pack("{s:[{s:o, s:o}]}", "ports", "counters", counters_to_json(&c), "users",
			 users);
}

static json_t *tell_open(struct explained *a, const json_t *request)
{
	struct traffic_endpoint *peer = calloc(1, sizeof(*peer));
	json_t *reply;

	(void)a;
	(void)request;
	peer->mtu = 4096;
	reply = json_pack("{s:i, s:o}", "handle", 0, "peer", traffic_endpoint_to_json(peer));
	free(peer);
	return reply;
}

static json_t *tell_run(struct explained *a, const json_t *request)
{
	(void)request;
	return json_pack("{s:o}", "result",
			 traffic_report_to_json(&a->scene.ends.side[a->side].report));
}

/* The process takes its time to go; what is asked meanwhile finds it. */
static json_t *tell_close(struct explained *a, const json_t *request)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

	(void)request;
	a->dying = poll(&in, 1, 20) > 0;
	return json_object();
}

static const struct {
	const char *op;
	json_t *(*tell)(struct explained *a, const json_t *request);
} told_ops[] = {
	{"counters", tell_counters},
	{"traffic_open", tell_open},
	{"traffic_run", tell_run},
	{"traffic_close", tell_close},
};

static void answer(struct explained *a, const char *line)
{
	json_t *request = json_loads(line, 0, NULL), *reply = NULL;
	const char *op = json_string_value(json_object_get(request, "op"));

	for (size_t i = 0; i < ARRAY_SIZE(told_ops); i++)
		if (op && !strcmp(op, told_ops[i].op))
			reply = told_ops[i].tell(a, request);
	if (!reply)
		reply = json_object();
	json_object_set(reply, "id", json_object_get(request, "id"));
	json_dumpf(reply, stdout, JSON_COMPACT);
	puts("");
	fflush(stdout);
	json_decref(reply);
	json_decref(request);
}

static int be_agent(const char *side, const char *silent)
{
	struct explained *a = calloc(1, sizeof(*a));
	char *line = NULL;
	size_t size = 0;

	setvbuf(stdin, NULL, _IONBF, 0); /* poll() has to see what waits */
	make_pair(&a->scene);
	a->side = (enum run_side)atoi(side);
	a->silent = (unsigned int)atoi(silent);
	printf("{\"hello\":\"%s\",\"build\":\"x\"}\n", AGENT_HELLO);
	fflush(stdout);
	while (getline(&line, &size, stdin) > 0)
		answer(a, line);
	free(line);
	free(a);
	return 0;
}

/* The coordinator's. */
struct sweep {
	struct scene scene;
	struct pair_request wish;
	struct pairs all; /* one */
};

static void open_sweep(struct sweep *s, const unsigned int silent[SIDES])
{
	struct pair *t = &s->scene.t;
	static const atomic_int never;
	struct err e = {0};
	struct pair_session *d;

	make_pair(&s->scene);
	t->ran = false;
	t->run.pair = NULL; /* a sweep makes it longer */
	t->run.pair_count = 0;
	assert_int_equal(pair_add(&t->run), 0);
	s->wish = (struct pair_request){.spec = s->scene.ends.side[SIDE_CLIENT].spec,
					.size_from = 64,
					.size_to = 128,
					.stop = &never};
	assert_int_equal(pairs_open(&s->all, 1, &e), 0);
	d = &s->all.one[0];
	*d = (struct pair_session){.w = &s->wish, .t = t, .s = {.r = &t->run, .loop = s->all.loop}};
	assert_int_equal(session_open(&d->s, &e), 0);
	assert_int_equal(
		destinations_make(DESTINATION_OF_CLIENT, "::", NULL, &d->destinations, NULL), 0);
	for (unsigned int i = 0; i < SIDES; i++) {
		const char *argv[] = {self, "agent", i ? "1" : "0", NULL, NULL};
		char number[16];

		snprintf(number, sizeof(number), "%u", silent[i]);
		argv[3] = number;
		pair_end(t, i)->spec = s->scene.ends.side[i].spec;
		t->run.host[i].port[0].has = QUIET;
		agent_conn_open(&d->s.conn[i], d->s.loop, s->scene.host[i].name, argv, 10000);
	}
	session_wait(&d->s);
}

static void close_sweep(struct sweep *s)
{
	pairs_close(&s->all);
	for (unsigned int i = 0; i < s->scene.t.run.pair_count; i++)
		run_pair_clear(&s->scene.t.run.pair[i]);
	free(s->scene.t.run.pair);
	free(s);
}

/* Readings of the two sizes: 1 and 2, 3 and 4. And nobody else is at the ports: not our own traffic
 * of the size before either. */
static void test_missing_reading(void **state)
{
	static const struct {
		const char *name;
		unsigned int silent[SIDES];
		enum run_side side;
		unsigned int size; /* which one lacks it */
		unsigned int has;  /* the end's: first of the first, last of the second */
	} cases[] = {
		{"all there", {0}, SIDE_CLIENT, 2, 1 << READ_LOAD_BEFORE | 1 << READ_LOAD_AFTER},
		{"first of the first", {1, 0}, SIDE_CLIENT, 0, 1 << READ_LOAD_AFTER},
		{"first of the second",
		 {3, 0},
		 SIDE_CLIENT,
		 1,
		 1 << READ_LOAD_BEFORE | 1 << READ_LOAD_AFTER},
		{"last of the second", {0, 4}, SIDE_SERVER, 1, 1 << READ_LOAD_BEFORE},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sweep *s = calloc(1, sizeof(*s));
		struct pair *t = &s->scene.t;
		struct size_verdicts *v = NULL;
		struct err e = {0};

		open_sweep(s, cases[i].silent);
		pairs_sizes(&s->all);
		if (s->all.one[0].err || size_verdicts_make(t, &v, &e))
			fail_msg("%s: %s, %s", cases[i].name, s->all.one[0].e.text, e.text);
		assert_int_equal(v->count, 2);
		for (unsigned int k = 0; k < v->count; k++) {
			const struct traffic_verdict *of = &v->size[k].v;
			bool lacks = k == cases[i].size;

			if (of->verdict != (lacks ? VERDICT_INCONCLUSIVE : VERDICT_PASS) ||
			    traffic_verdict_has(of, REASON_NO_COUNTERS) != lacks ||
			    traffic_verdict_has(of, REASON_RESET))
				fail_msg("%s: size %u: %s: %s", cases[i].name, k,
					 verdict_word(of->verdict), reason_text(of));
			if (!v->size[k].in.accountable)
				fail_msg("%s: size %u: others are there", cases[i].name, k);
		}
		assert_int_equal(t->run.host[cases[i].side].port[0].has, QUIET | cases[i].has);
		size_verdicts_free(v);
		close_sweep(s);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_reading),
	};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return 1;
	self[n] = '\0';
	if (argc == 4 && !strcmp(argv[1], "agent"))
		return be_agent(argv[2], argv[3]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
