/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The marking test of a pair through real agents and traffic processes: this program is
 * all of them. Each process has verbs of its own, so that no datagram reaches the other end: the
 * echo has to end in time, and say just that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "probe/agent/agent.h"
#include "probe/coord/pair_priv.h"
#include "tests/unit/fixture/fake_objects.h"

static char self[4096];
static atomic_int stop;

struct scene {
	struct run_host host[SIDES];
	struct pair_request wish;
	struct pair t;
	struct run_pair run_pair;
	struct run_ends ends;
	struct pairs all;
	struct pair_session *pair; /* the only one */
};

static void open_scene(struct scene *s, const char *ibdev)
{
	const char *const argv[] = {self, "agent", NULL};
	struct err e = {0};
	struct pair_session *d;

	stop = 0;
	s->wish = (struct pair_request){.marking = true, .stop = &stop};
	s->t.run.host = s->host;
	s->t.run.host_count = SIDES;
	s->t.run.pair = &s->run_pair;
	s->t.run.pair_count = 1;
	s->run_pair.ends = &s->ends;
	assert_int_equal(pairs_open(&s->all, 1, &e), 0);
	d = s->pair = &s->all.one[0];
	*d = (struct pair_session){
		.w = &s->wish, .t = &s->t, .s = {.r = &s->t.run, .loop = s->all.loop}};
	assert_int_equal(session_open(&d->s, &e), 0);
	assert_int_equal(
		destinations_make(DESTINATION_OF_CLIENT, "::", "::/0", &d->destinations, NULL), 0);
	for (unsigned int i = 0; i < SIDES; i++) {
		struct traffic_spec *spec = &s->ends.side[i].spec;

		snprintf(s->host[i].name, sizeof(s->host[i].name), "h%u", i + 1);
		traffic_spec_simple(spec, TRAFFIC_WRITE, 4096, 1000);
		spec->role = i ? TRAFFIC_SERVER : TRAFFIC_CLIENT;
		snprintf(spec->ibdev, sizeof(spec->ibdev), "%s", i ? ibdev : "fake0");
		spec->ib_port = 1;
		spec->seed = 7;
		agent_conn_open(&d->s.conn[i], d->s.loop, s->host[i].name, argv, 10000);
	}
	session_wait(&d->s);
	for (unsigned int i = 0; i < SIDES; i++)
		if (d->s.conn[i].state != CONN_READY)
			fail_msg("%s", d->s.conn[i].err.text);
}

static void free_echo(struct scene *s)
{
	if (s->t.run.marking)
		free(s->t.run.marking->finding);
	free(s->t.run.marking);
	free(s->t.echo);
	s->t.run.marking = NULL;
	s->t.echo = NULL;
}

/* No process stays. */
static void close_scene(struct scene *s)
{
	for (unsigned int i = 0; i < SIDES; i++)
		assert_false(s->all.flow[0].end[i].open);
	pairs_close(&s->all);
	free_echo(s);
	free(s);
}

static void test_nothing_arrives(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct marking_findings found;
	struct marking_endpoints ends;
	struct err e = {0};

	(void)state;
	open_scene(s, "fake0");
	pairs_marking(&s->all);
	assert_non_null(s->t.echo);
	assert_string_equal(s->t.echo->why, "");
	assert_true(s->t.run.marking->ran && s->t.run.marking->finding_count > 0);
	pair_marking_ends(s->t.echo, &ends);
	assert_int_equal(marking_findings_make(&ends, &found, &e), 0);
	assert_int_equal(found.count, 1); /* that no size does either is no news */
	assert_int_equal(found.finding[0].kind, MARKING_BLACKHOLE);
	assert_int_equal(found.finding[0].direction, MARKING_FORWARD);
	assert_int_equal(found.finding[0].of, 64);
	close_scene(s);
}

/* An end that cannot be opened: said with its host, and the other end is closed. */
static void test_no_device(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	(void)state;
	open_scene(s, "nonesuch");
	pairs_marking(&s->all);
	if (!strstr(s->t.echo->why, "h2: ") || !strstr(s->t.echo->why, "nonesuch"))
		fail_msg("%s", s->t.echo->why);
	assert_false(s->t.echo->has_result[SIDE_CLIENT]);
	close_scene(s);
}

static bool soon(void *arg)
{
	struct scene *s = arg;

	(void)s;
	return stop;
}

static void on_time(void *arg)
{
	(void)arg;
	stop = 1;
}

/* Stopped in the middle: what there is comes, and why. And not begun at all after a stop. */
static void test_stopped(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct loop_timer *timer;

	(void)state;
	open_scene(s, "fake0");
	s->wish.sweep = MARKING_PATHS_MAX;
	assert_int_equal(loop_timer_open(s->all.loop, on_time, NULL, &timer), 0);
	loop_timer_set(timer, 1500);
	pairs_marking(&s->all);
	loop_run_until(s->all.loop, soon, s);
	if (!strstr(s->t.echo->why, "stopped"))
		fail_msg("'%s'", s->t.echo->why);
	assert_true(s->t.echo->has_result[SIDE_CLIENT]);
	free_echo(s);
	pairs_marking(&s->all);
	assert_string_equal(s->t.echo->why, "the probe ended before the marking test");
	loop_timer_close(timer);
	close_scene(s);
}

static void test_not_wished(void **state)
{
	struct pair_request wish = {0};
	struct pair *t = calloc(1, sizeof(*t));
	struct pair_session d = {.w = &wish, .t = t};
	struct pairs all = {.one = &d, .count = 1};

	(void)state;
	pairs_marking(&all);
	assert_null(t->echo);
	free(t);
}

static int be_agent(void)
{
	struct agent_config config = {
		.build = ROCECHECK_VERSION, .self = self, .in_fd = 0, .out_fd = 1};
	struct err e = {0};

	return agent_run(&config, NULL, &e) ? 1 : 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_wished),
		cmocka_unit_test(test_nothing_arrives),
		cmocka_unit_test(test_no_device),
		cmocka_unit_test(test_stopped),
	};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	fake_reset();
	if (argc > 2 && !strcmp(argv[2], "--traffic"))
		return traffic_child(0, 1, false) ? 1 : 0;
	if (argc > 1)
		return be_agent();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
