/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of `probe client` into a spec of traffic, and its words.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/glossary.h"
#include "cmd/probe/probe.h"
#include "cmd/probe/probe_options.h"
#include "cmd/probe/probe_text.h"
#include "probe/traffic/traffic_words.h"

static const struct probe_options none = {
	.ib_port = PROBE_UNSET,
	.gid_index = PROBE_UNSET,
	.remote_gid_index = PROBE_UNSET,
	.port = PROBE_PORT,
	.qps = 1,
	.threads = 1,
};

static unsigned int servers; /* that are named beside the options */

/* A command line as the user writes it, through the option table. */
static int parse(const char *line, struct pair_request *w, struct err *e)
{
	static char copy[512]; /* options point into it */
	char *words[40] = {(char[]){"client"}}, *rest = copy, *word;
	int count = 1;

	probe_options = none;
	memset(w, 0, sizeof(*w));
	memset(e, 0, sizeof(*e));
	snprintf(copy, sizeof(copy), "%s", line);
	while ((word = strsep(&rest, " ")))
		if (*word)
			words[count++] = word;
	words[count] = NULL;
	if (opts_parse(probe_client_opts, &count, words, false, e))
		return e->code;
	probe_options.servers = servers;
	return probe_options_make(&probe_options, w, e);
}

static void test_usual(void **state)
{
	struct pair_request w;
	struct err e;

	(void)state;
	assert_int_equal(parse("", &w, &e), 0);
	assert_int_equal(w.port, 18515);
	assert_int_equal(w.gid_index[SIDE_CLIENT], ENDPOINT_ANY);
	assert_int_equal(w.spec.duration_ms, 10000);
	assert_int_equal(w.idle_ms, 10000);
	assert_false(w.marking || w.sweep);
	assert_int_equal(parse("--marking", &w, &e), 0);
	assert_true(w.marking && !w.sweep);
	assert_int_equal(parse("--sweep 64", &w, &e), 0);
	assert_int_equal(w.sweep, 64);
	assert_int_not_equal(parse("--sweep 257", &w, &e), 0);
	assert_int_equal(parse("", &w, &e), 0);
	assert_int_equal(w.spec.class_count, 1);
	assert_int_equal(w.spec.class[0].verb, TRAFFIC_WRITE);
	assert_int_equal(w.spec.class[0].transport, TRAFFIC_RC);
	assert_int_equal(w.spec.class[0].message_bytes, 65536);
	assert_int_equal(w.spec.class[0].check, TRAFFIC_CHECK_SAMPLED);
}

/* As a user of perftest writes it. */
static void test_perftest_words(void **state)
{
	struct pair_request w;
	struct err e;

	(void)state;
	if (parse("-d mlx5_0 -i 2 -x 3 -s 4096 -D 30 -q 4 -t 64 -b -T 104 -S 3 -m 1024 -c RC -F "
		  "--report_gbits -p 19000 -u 16 -R --use_hugepages",
		  &w, &e))
		fail_msg("%s", e.text);
	assert_string_equal(w.device[SIDE_CLIENT], "mlx5_0");
	assert_null(w.device[SIDE_SERVER]);
	assert_int_equal(w.ib_port[SIDE_CLIENT], 2);
	assert_int_equal(w.gid_index[SIDE_CLIENT], 3);
	assert_int_equal(w.gid_index[SIDE_SERVER], ENDPOINT_ANY);
	assert_int_equal(w.mtu_bytes, 1024);
	assert_int_equal(w.spec.mtu_bytes, 1024);
	assert_int_equal(w.port, 19000);
	assert_int_equal(w.spec.duration_ms, 30000);
	assert_int_equal(w.spec.timeout, 16);
	assert_int_equal(w.spec.bringup, TRAFFIC_CM);
	assert_true(w.spec.huge_pages);
	assert_int_equal(w.spec.class[0].message_bytes, 4096);
	assert_int_equal(w.spec.class[0].qps, 4);
	assert_int_equal(w.spec.class[0].window, 64);
	assert_int_equal(w.spec.class[0].direction, TRAFFIC_BOTH);
	assert_int_equal(w.spec.class[0].tos, 104);
	assert_int_equal(w.spec.class[0].sl, 3);
	assert_int_equal(parse("-n 5000", &w, &e), 0); /* until they are sent */
	assert_int_equal(w.spec.class[0].count, 5000);
	assert_int_equal(w.spec.duration_ms, 0);
	assert_int_equal(w.idle_ms, 0);
}

static void test_modes(void **state)
{
	struct pair_request w;
	struct err e;

	(void)state;
	assert_int_equal(parse("--mode count", &w, &e), 0);
	assert_int_equal(w.spec.class[0].transport, TRAFFIC_UC);
	assert_int_equal(w.spec.class[0].verb, TRAFFIC_SEND);
	assert_int_equal(w.spec.class[0].message_bytes, 1024);
	assert_int_equal(parse("--mode strict", &w, &e), 0);
	assert_int_equal(w.spec.class[0].verb, TRAFFIC_WRITE);
	assert_int_equal(parse("-c UD", &w, &e), 0);
	assert_int_equal(w.spec.class[0].verb, TRAFFIC_SEND);
	assert_int_equal(w.spec.class[0].message_bytes, 1024);
	assert_int_equal(parse("--latency", &w, &e), 0);
	assert_int_equal(w.spec.class[0].message_bytes, 64);
	assert_int_equal(parse("-D 0 --baseline 500ms", &w, &e), 0);
	assert_int_equal(w.spec.duration_ms, 0);
	assert_int_equal(w.idle_ms, 500);
}

/* A sweep of sizes: short runs that end. */
static void test_sizes(void **state)
{
	struct pair_request w;
	struct err e;

	(void)state;
	assert_int_equal(parse("", &w, &e), 0);
	assert_int_equal(w.size_from + w.size_to, 0);
	assert_int_equal(parse("-a", &w, &e), 0);
	assert_int_equal(w.size_from, 2);
	assert_int_equal(w.size_to, 8 << 20);
	assert_int_equal(w.spec.duration_ms, 1000);
	assert_int_equal(w.idle_ms, 1000);
	assert_int_equal(parse("--all -n 5000 -c UC --verb send", &w, &e), 0);
	assert_int_equal(w.size_from, 64);
	assert_int_equal(w.spec.duration_ms, 10000);
	assert_int_equal(parse("--sizes 96-1MiB -D 3", &w, &e), 0);
	assert_int_equal(w.size_from, 96);
	assert_int_equal(w.size_to, 1 << 20);
	assert_int_equal(w.spec.duration_ms, 3000);
	assert_int_equal(parse("--all --rate 2G", &w, &e), 0);
	assert_int_equal(w.size_to, 256 << 10); /* no more is under way at a rate */
	assert_int_equal(parse("--sizes 64-1MiB --rate 2G", &w, &e), 0);
	assert_int_equal(w.size_to, 256 << 10);
	assert_int_equal(parse("-s 2 --check none", &w, &e), 0);
	assert_int_equal(w.spec.class[0].message_bytes, 2);
}

static void expect_wrong(const char *line, int want, const char *text, const char *hint)
{
	struct pair_request w;
	struct err e;
	int got = parse(line, &w, &e);

	if (got != want || e.code != want || !strstr(e.text, text) || !strstr(e.hint, hint))
		fail_msg("%s: %d: %s (%s)", line, got, e.text, e.hint);
}

/* At a rate all senders share what one receiver has under way, and so do the paced classes that go
 * to it: messages whose size nobody has given are no larger. */
static void test_flight(void **state)
{
	static const struct {
		const char *line;
		unsigned int servers;
		uint32_t flight, message; /* of the first class */
	} cases[] = {
		{"", 1, 0, 65536},
		{"--rate 1G", 1, 262144, 65536},
		{"--rate 1G -q 16", 1, 262144, 65536},
		{"--rate 1G", 8, 262144, 65536}, /* without --incast there is one */
		{"--incast", 8, 0, 65536},
		{"--incast --rate 1G", 2, 131072, 65536},
		{"--incast --rate 1G", 8, 32768, 32768},
		{"--incast --rate 1G", 32, 8192, 8192},
		{"--incast --rate 1G", 3, 87381, 65536},
		{"--incast --rate 1G --class tos=8 --class tos=16", 8, 16384, 16384},
		{"--class rate=1G --class tos=16", 1, 262144, 65536},
		{"--class rate=1G --class rate=1G,direction=backward", 1, 262144, 65536},
		{"--class rate=1G --class rate=1G,direction=both", 1, 131072, 65536},
		{"--class rate=1G --class rate=1G,direction=backward,verb=read", 1, 131072, 65536},
		{"--class rate=1G,verb=read --class rate=1G", 1, 262144, 65536},
		{"--rate 1G --verb atomic", 1, 262144, 64},
		{"--rate 1G -s 262144", 1, 262144, 262144},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pair_request w;
		struct err e;

		servers = cases[i].servers;
		if (parse(cases[i].line, &w, &e))
			fail_msg("%s: %s", cases[i].line, e.text);
		servers = 0;
		if (w.spec.class[0].flight_bytes != cases[i].flight ||
		    w.spec.class[0].message_bytes != cases[i].message)
			fail_msg("%s: %u under way, messages of %u", cases[i].line,
				 w.spec.class[0].flight_bytes, w.spec.class[0].message_bytes);
	}
	servers = 32;
	expect_wrong("--incast --rate 1G -s 64KiB", -EINVAL, "at most 8192 bytes",
		     "at most 8192 bytes");
	servers = 0;
}

/* What moves data to this host, by whichever verb. */
static void test_incast(void **state)
{
	static const char *const lines[] = {"", "--mode strict", "--mode count -c UD", "--latency",
					    "--verb write_imm --class tos=8,verb=send"};
	char line[80];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct pair_request w;
		struct err e;

		snprintf(line, sizeof(line), "--incast %s", lines[i]);
		if (parse(line, &w, &e))
			fail_msg("%s: %s", line, e.text);
		assert_int_equal(w.spec.class[0].direction, TRAFFIC_BACKWARD);
	}
}

static void test_classes(void **state)
{
	const struct traffic_class *c;
	struct pair_request w;
	struct err e;

	(void)state;
	if (parse("-s 256KiB -T 8 --class tos=104,qps=4,verb=read,rate=2G,check=every "
		  "--class latency,verb=send,sl=5 --class "
		  "direction=backward,count=7,depth=2,size=128",
		  &w, &e))
		fail_msg("%s", e.text);
	assert_int_equal(w.spec.class_count, 3);
	c = w.spec.class;
	assert_int_equal(c[0].tos, 104);
	assert_int_equal(c[0].qps, 4);
	assert_int_equal(c[0].verb, TRAFFIC_READ);
	assert_int_equal(c[0].rate_bytes_per_s, 250000000);
	assert_int_equal(c[0].check, TRAFFIC_CHECK_EVERY);
	assert_int_equal(c[0].message_bytes, 256 << 10);
	assert_true(c[1].probe);
	assert_int_equal(c[1].sl, 5);
	assert_int_equal(c[1].tos, 8);
	assert_int_equal(c[2].direction, TRAFFIC_BACKWARD);
	assert_int_equal(c[2].count, 7);
	assert_int_equal(c[2].window, 2);
	assert_int_equal(c[2].message_bytes, 128);
	assert_int_equal(parse("--class latency,verb=send", &w, &e), 0);
	assert_int_equal(w.spec.class[0].message_bytes, 64);
}

/* TCP goes the way of the classes, unless it says another. */
static void test_tcp(void **state)
{
	struct pair_request w;
	char text[200];
	struct err e;

	(void)state;
	assert_int_equal(parse("", &w, &e), 0);
	assert_int_equal(w.spec.tcp_count, 0);
	assert_int_equal(
		parse("-b --tcp tos=32,streams=4,rate=2G --tcp direction=Backward", &w, &e), 0);
	assert_int_equal(w.spec.tcp_count, 2);
	assert_int_equal(w.spec.tcp[0].tos, 32);
	assert_int_equal(w.spec.tcp[0].streams, 4);
	assert_int_equal(w.spec.tcp[0].rate_bytes_per_s, 250000000);
	assert_int_equal(w.spec.tcp[0].direction, TRAFFIC_BOTH);
	assert_int_equal(w.spec.tcp[1].direction, TRAFFIC_BACKWARD);
	assert_int_equal(w.spec.tcp[1].streams, 1);
	assert_int_equal(w.spec.class_count, 1);
	traffic_tcp_text(&w.spec.tcp[0], text, sizeof(text));
	assert_string_equal(text, "4 streams, 2 Gb/s, ToS 32 (DSCP 8), both directions");
	traffic_tcp_text(&w.spec.tcp[1], text, sizeof(text));
	assert_string_equal(text, "1 stream, no rate limit, ToS 0 (DSCP 0), backward");
	assert_int_equal(parse("--incast --tcp tos=0", &w, &e), 0);
	assert_int_equal(w.spec.tcp[0].direction, TRAFFIC_BACKWARD);
}

static const struct {
	const char *line, *text, *hint;
} wrong_lines[] = {
	{"--mode stric", "--mode: invalid value 'stric': expected one of observe, strict", ""},
	{"-c DC", "--connection: invalid value 'DC': expected one of rc, uc, ud, xrc", ""},
	{"--verb writ", "--verb: invalid value 'writ': expected one of write, ", ""},
	{"-s 63", "check", ""},
	{"-s 63 -c UD --check none", "sequence number", ""},
	{"--sizes 64", "invalid range '64': expected A-B, e.g. 64-1MiB", ""},
	{"--sizes 64-", "--sizes", ""},
	{"--sizes -64", "--sizes", ""},
	{"-a -s 64", "--all cannot be combined with --size", ""},
	{"-a --sizes 64-128", "--sizes cannot be combined with --all", ""},
	{"-a --class tos=1", "--all cannot be combined with --class", ""},
	{"-a --verb atomic", "8 bytes", ""},
	{"-a -D 0", "--duration 0", ""},
	{"-s 0x100", "--size", ""},
	{"-D 10x", "--duration", ""},
	{"-D -5", "--duration", ""},
	{"-q 257", "--qp: 257", ""},
	{"-T 256", "--tos", ""},
	{"-m 1500", "--mtu: invalid RDMA MTU 1500", ""},
	{"-t 3", "power of two", ""},
	{"--rate fast", "--rate", ""},
	{"--class", "--class needs a value", ""},
	{"--class tos", "'tos' needs a value", ""},
	{"--class latency=1", "'latency' takes no value", ""},
	{"--class tos=1,,sl=2", "remove the extra comma", ""},
	{"--class tps=1", "unknown key 'tps'", "'tos'"},
	{"--class quality=1", "unknown key 'quality'", "keys: tos"},
	{"--class tos=x", "--class tos", ""},
	{"--class verb=push", "--class verb: invalid value 'push': expected one of write, ", ""},
	{"--tcp", "--tcp needs a value", ""},
	{"--tcp stream=2", "--tcp: unknown key 'stream'", "'streams'"},
	{"--tcp quality=1", "--tcp: unknown key", "keys: tos streams rate direction"},
	{"--tcp tos=1,", "--tcp: invalid value 'tos=1,': remove the extra comma", ""},
	{"--tcp tos=9", "TCP 0: ToS 9 has ECN bits", ""},
	{"--tcp tos=0 --tcp tos=8 --tcp tos=0 --tcp tos=0 --tcp tos=0", "--tcp: at most 4", ""},
	{"--tcp tos=0 -a", "--tcp cannot be combined with --all", ""},
	{"--tcp tos=0 --sizes 64-128", "--tcp cannot be combined with --sizes", ""},
	{"--mode strict --verb send", "strict", ""},
	{"--mode count -c RC", "count mode", ""},
	{"-c UD --verb write", "UD", ""},
	{"--class qps=200 --class qps=200", "400 queue pairs", ""},
	{"--incast --verb read", "--incast: class 0 is READ", "write"},
	{"--incast --verb read --direction forward", "--incast: class 0 is READ", "send"},
	{"--incast --verb atomic", "--incast: class 0 is ATOMIC", "write"},
	{"--incast --class tos=8 --class verb=read", "--incast: class 1 is READ", "write"},
	{"--incast --class direction=forward", "class 0 must have direction backward", ""},
	{"--incast -a", "--all cannot be combined with --incast: an incast is one run",
	 "per server with --all"},
	{"--incast --sizes 64-128",
	 "--sizes cannot be combined with --incast: an incast is one run", "--sizes"},
	{"--incast --marking", "--marking cannot be combined with --incast: the datagrams",
	 "--marking"},
	{"--incast --sweep 9", "--sweep cannot be combined with --incast: the datagrams",
	 "--sweep"},
	{"--ib-dv x", "unknown option", "--ib-dev"},
	{"--rate 1G -s 1MiB", "class 0: messages of 1048576 bytes with a rate: at most 262144",
	 "262144"},
	{"-s 256KiB --class rate=1G --class rate=1G", "class 0: messages of 262144",
	 "131072 bytes"},
};

/* Values that are not within their limits: both are told. */
static const struct {
	const char *line, *text, *hint;
} far_lines[] = {
	{"-s 1", "--size: '1' is out of range", "bytes from 2 to 8388608"},
	{"-s 16MiB", "--size: '16MiB' is out of range", "bytes from 2 to 8388608"},
	{"--sizes 64-32", "--sizes: '32' is out of range", "bytes from 64 to 8388608"},
	{"--sizes 32-64 -c UD", "--sizes: '32' is out of range", "bytes from 64 to"},
	{"--sizes 64-16MiB", "--sizes: '16MiB' is out of range", "bytes from 64 to 8388608"},
	{"-D 99999999999", "--duration: '99999999999' is out of range", "from 0 to 86400"},
	{"-n 0", "--iters: '0' is out of range", "a decimal number from 1"},
	{"--rate 99999T", "--rate: '99999T' is out of range", "kbit/s from 1 to"},
	{"--tcp streams=65", "--tcp streams: '65' is out of range", "from 1 to 64"},
	{"--sizes 512KiB-1MiB --rate 2G", "--sizes: '512KiB' is out of range", "to 262144"},
	{"--class qps=0", "--class qps: '0' is out of range", "a decimal number from 1 to 256"},
};

static void test_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong_lines); i++)
		expect_wrong(wrong_lines[i].line, -EINVAL, wrong_lines[i].text,
			     wrong_lines[i].hint);
	for (size_t i = 0; i < ARRAY_SIZE(far_lines); i++)
		expect_wrong(far_lines[i].line, -ERANGE, far_lines[i].text, far_lines[i].hint);
}

/* A class that fails leaves what was there, and a long one does not get cut. */
static void test_class_alone(void **state)
{
	struct traffic_class class = {.tos = 1}, before = class;
	char text[1024];
	struct err e;

	(void)state;
	assert_int_equal(probe_class_parse("tos=5,sl=9", &class, &e), -ERANGE);
	assert_memory_equal(&class, &before, sizeof(class));
	memset(text, ',', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(probe_class_parse(text, &class, &e), -EINVAL);
}

static void test_class_text(void **state)
{
	struct pair_request w;
	char text[200];
	struct err e;

	(void)state;
	assert_int_equal(parse("--class tos=104,qps=4,rate=2G", &w, &e), 0);
	probe_class_text(&w.spec.class[0], text, sizeof(text));
	assert_string_equal(text, "RC WRITE, 4 QPs, 64 KiB, 2 Gb/s, ToS 104 (DSCP 26), "
				  "check: sampled");
	assert_int_equal(parse("--class latency,verb=write_imm", &w, &e), 0);
	probe_class_text(&w.spec.class[0], text, sizeof(text));
	assert_string_equal(text,
			    "latency, RC WRITE IMM, 1 QP, 64 B, one at a time, ToS 0 (DSCP 0), "
			    "check: sampled");
}

/* Every word a run can be described by has a meaning. */
static void test_words(void **state)
{
	static const char *const lines[] = {
		"",
		"--mode strict",
		"--mode count -c UD",
		"-c XRC --verb send_imm --check every -b",
		"-R",
		"--verb read --check none --direction backward --rate 1G",
		"--verb atomic",
		"--latency --verb write_imm",
		"-a",
	};

	(void)state;
	for (const struct glossary_word *w = glossary; w->word; w++) {
		assert_ptr_equal(glossary_meaning(w->word), w->meaning);
		assert_true(strlen(w->meaning) > 10 && w->meaning[strlen(w->meaning) - 1] != '.');
	}
	assert_null(glossary_meaning("nothing of it"));
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct pair_request w;
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);
		struct err e;

		if (parse(lines[i], &w, &e))
			fail_msg("%s: %s", lines[i], e.text);
		probe_explain(&w, out);
		fclose(out);
		assert_non_null(strstr(text, "\n  memory"));
		assert_null(strstr(text, "?"));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_perftest_words),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_incast),
		cmocka_unit_test(test_flight),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_class_alone),
		cmocka_unit_test(test_class_text),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
