/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The emulated switch (tests/lab/switch/) while it runs: every setting of a switch, the mirror on
 * request, a mirror without room, sockets that are taken.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "capture/file/pcapng.h"
#include "tests/lab/switch/test/switch_scene.h"

static void test_switch_settings(void **state)
{
	static const struct {
		const char *path, *value;
		bool ok;
	} cases[] = {
		{"s1.buffer", "\"150kB\"", true},   {"s1.alpha", "50", true},
		{"s1.age", "\"2m\"", true},	    {"s1.buffer", "12", false},
		{"s1.alpha", "0", false},	    {"s1.name", "\"other\"", false},
		{"s1.ports", "[]", false},	    {"s1", "1", false},
		{"s2.buffer", "\"1MB\"", false},    {"s1.port.p9.rate", "\"1G\"", false},
		{"port.p1.pause.tx", "true", true}, {"port.p1.pfc", "[3]", false},
	};
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST(""));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char line[128];

		snprintf(line, sizeof(line), "{\"op\":\"set\",\"path\":\"%s\",\"value\":%s}",
			 cases[i].path, cases[i].value);
		json_decref(ask(&s, line, cases[i].ok));
	}
	assert_int_equal(s.lab->box[0].config->buffer_bytes, 150000);
	assert_int_equal(s.lab->box[0].config->alpha_percent, 50);
	assert_int_equal(s.lab->box[0].config->age_s, 120);
	assert_int_equal(s.lab->port[0].config.prio[3].pfc, PFC_OFF);
	close_scene(&s);
}

/* A buffer that is made smaller than what it holds takes nothing until there is room. */
static void test_buffer_shrinks(void **state)
{
	const uint16_t quanta[QOS_PRIOS] = {[3] = 0xffff};
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 3};
	uint8_t pfc[PFC_FRAME_LEN];
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: []\n"));
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"port.p3.pfc\",\"value\":[3]}");
	introduce(&s);
	slow_down_port3(&s);
	pfc_frame_make(mac, 8, quanta, pfc);
	send_bytes(&s, 2, pfc, sizeof(pfc));
	for (unsigned int i = 0; i < 60; i++) {
		assert_int_equal(send_frame(&s, 0, 2, 2, 1), 0);
		step_switch(&s);
	}
	assert_int_equal(drops(&s), 0);
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"s1.buffer\",\"value\":\"10kB\"}");
	assert_int_equal(send_frame(&s, 0, 2, 2, 1), 0);
	for (unsigned int i = 0; i < 10; i++)
		step_switch(&s);
	assert_int_equal(stats_of(&s, 0)->drops[DROP_DYNAMIC], 1);
	close_scene(&s);
}

static uint64_t mirror_stat(struct scene *s, const char *key)
{
	json_t *stats = ask(s, "{\"op\":\"stats\"}", true);
	uint64_t value = json_integer_value(json_object_get(json_object_get(stats, "mirror"), key));

	json_decref(stats);
	return value;
}

/* Packets of a pcapng file, which must be whole. */
static unsigned int count_packets(const char *path)
{
	FILE *in = fopen(path, "r");
	unsigned int count = 0;
	uint32_t head[2];
	struct stat st;
	long at = 0;

	assert_non_null(in);
	assert_int_equal(fstat(fileno(in), &st), 0);
	while (fread(head, sizeof(head), 1, in) == 1) {
		count += head[0] == 6;
		at += head[1];
		assert_true(at <= st.st_size);
		assert_int_equal(fseek(in, at, SEEK_SET), 0);
	}
	assert_int_equal(at, st.st_size);
	fclose(in);
	return count;
}

static void ask_mirror(struct scene *s, const char *name, bool ok)
{
	char line[256];

	snprintf(line, sizeof(line), "{\"op\":\"mirror\",\"file\":\"%s%s\",\"snaplen\":512}",
		 name[0] == '/' ? "" : s->dir, name[0] == '/' ? name : "/m.pcapng");
	json_decref(ask(s, line, ok));
}

static void test_mirror_on_request(void **state)
{
	char path[PATH_SIZE];
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      mirror: on\n      lldp: {send: off}\n"));
	introduce(&s);
	snprintf(path, sizeof(path), "%s/m.pcapng", s.dir);
	ask_mirror(&s, "m", true);
	assert_int_equal(send_frame(&s, 0, 1, 2, 7), 0);
	for (unsigned int i = 0; i < 10; i++)
		step_switch(&s);
	assert_int_equal(mirror_stat(&s, "written"), 2);
	/* What is refused changes nothing. */
	ask_mirror(&s, "/nowhere/m.pcapng", false);
	ask_mirror(&s, "/dev/full", false);
	json_decref(ask(&s, "{\"op\":\"mirror\"}", false));
	json_decref(ask(&s, "{\"op\":\"mirror\",\"file\":null,\"snaplen\":1}", false));
	assert_int_equal(mirror_stat(&s, "written"), 2);
	tell_switch(&s, "{\"op\":\"mirror\",\"file\":null}");
	assert_int_equal(count_packets(path), 2);
	assert_null(s.lab->mirror);
	close_scene(&s);
}

/* The disk takes no more: records are lost and counted, the switch goes on, the file stays whole;
 * when there is room again, records come again. */
static void test_mirror_full(void **state)
{
	struct rlimit before, small;
	char path[PATH_SIZE];
	uint64_t lost, written;
	struct scene s;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	open_scene(&s, 3, INCAST("      mirror: on\n      lldp: {send: off}\n"));
	introduce(&s);
	snprintf(path, sizeof(path), "%s/m.pcapng", s.dir);
	ask_mirror(&s, "m", true);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 20000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	s.host[1].received = 0;
	for (unsigned int i = 0; i < 200; i++) {
		assert_int_equal(send_frame(&s, 0, 1, 2, 7), 0);
		step_switch(&s);
		read_host(&s, 1, 0);
	}
	for (unsigned int i = 0; i < 5000 && !mirror_stat(&s, "dropped"); i++)
		step_switch(&s);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	lost = mirror_stat(&s, "dropped");
	assert_true(lost > 0);
	assert_int_equal(send_frame(&s, 0, 1, 2, 7), 0);
	for (unsigned int i = 0; i < 100; i++) {
		step_switch(&s);
		read_host(&s, 1, 0);
	}
	assert_int_equal(s.host[1].received, 201);
	written = mirror_stat(&s, "written");
	lost = mirror_stat(&s, "dropped");
	assert_int_equal(written + lost, 402);
	tell_switch(&s, "{\"op\":\"mirror\",\"file\":null}");
	/* The thread may have lost some of those that were still on their way. */
	assert_in_range(count_packets(path), 1, written);
	close_scene(&s);
}

/* What somebody else listens at is left alone, and named; what nobody does is taken over. */
static void test_sockets_taken(void **state)
{
	struct lab *second = calloc(1, sizeof(*second));
	char path[PATH_SIZE];
	struct err e = {0};
	struct stat st;
	struct scene s;

	(void)state;
	open_scene(&s, 3, "control: @/ctl\n" INCAST(""));
	assert_int_equal(lab_init(second, &s.lab->config, &e), -EADDRINUSE);
	assert_non_null(strstr(e.text, "p1.sw"));
	assert_non_null(strstr(e.text, "in use"));
	assert_true(e.hint[0]);
	snprintf(path, sizeof(path), "%s/ctl", s.dir);
	assert_int_equal(stat(path, &st), 0);
	snprintf(path, sizeof(path), "%s/p1.sw", s.dir);
	assert_int_equal(stat(path, &st), 0);
	/* A switch that died leaves its sockets. */
	close(s.lab->port[0].rx_fd);
	s.lab->port[0].rx_fd = -1;
	for (unsigned int i = 1; i < 3; i++)
		port_close(s.lab, &s.lab->port[i]);
	control_close(s.lab);
	if (lab_init(second, &s.lab->config, &e))
		fail_msg("%s", e.text);
	lab_clear(second);
	free(second);
	assert_int_not_equal(stat(path, &st), 0);
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switch_settings),	  cmocka_unit_test(test_buffer_shrinks),
		cmocka_unit_test(test_mirror_on_request), cmocka_unit_test(test_mirror_full),
		cmocka_unit_test(test_sockets_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
