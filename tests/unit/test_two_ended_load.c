/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load of a probe that starts together with others, its agents shell scripts: one that fails
 * once the counters are read, and before the start, takes the others with it.
 */
#include <errno.h>

#include "probe/two_ended_inside.h"
#include "tests/unit/two_ended_scene.h"

#define HELLO "echo '{\"hello\":\"rocecheck.agent/1\",\"build\":\"0.1.0\"}'; "
#define REFUSE                                                                                     \
	"n=0; while read -r x; do case $x in *'\"id\":0'*) continue;; esac; n=$((n + 1)); "        \
	"echo \"{\\\"id\\\":$n,\\\"error\\\":{\\\"code\\\":-12,\\\"text\\\":\\\"no queue pair\\\"" \
	"}}\"; done"
#define DIE "read -r x; echo '{\"id\":1,\"error\":{\"code\":-12,\"text\":\"none\"}}'; read -r x"

enum member { FAILS, OTHER, MEMBERS };

static void open_load(struct duo *d, struct two_ended_wish *w, struct scene *s, const char *server)
{
	const char *const script[SIDES] = {HELLO REFUSE, server};
	struct err e = {0};

	make_scene(s);
	s->t.run.pair = calloc(1, sizeof(*s->t.run.pair));
	s->t.ran = false;
	*w = (struct two_ended_wish){.member = FAILS};
	assert_int_equal(meeting_open(MEMBERS, &w->meeting), 0);
	*d = (struct duo){.w = w, .t = &s->t, .c.r = &s->t.run};
	assert_int_equal(loop_open(&d->c.loop, &e), 0);
	d->c.link = calloc(SIDES, sizeof(*d->c.link));
	for (unsigned int i = 0; i < SIDES; i++) {
		const char *const argv[] = {"/bin/sh", "-c", script[i], NULL};

		link_open(&d->c.link[i], d->c.loop, s->host[i].name, argv, 10000);
	}
	phase_wait(&d->c);
}

static void close_load(struct duo *d, struct two_ended_wish *w)
{
	for (unsigned int i = 0; i < SIDES; i++)
		link_close(&d->c.link[i]);
	loop_close(d->c.loop);
	free(d->c.link);
	free(d->t->run.pair);
	meeting_close(w->meeting);
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

		open_load(&d, &w, s, cases[i].server);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fails_before_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
