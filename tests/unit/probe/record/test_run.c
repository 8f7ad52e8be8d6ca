/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs: lossless through JSON and files, strict about hostile documents, read back from folders of
 * every kind, put in the order of an inventory.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/unit/fixture/fabric_run.h"
#include "probe/record/run.h"
#include "profiles/base/file.h"
#include "profiles/base/json_file.h"
#include "tests/unit/fixture/folder.h"

static const char *in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* The good run, with one of everything that is empty there. */
static void full_run(struct fabric_run *f)
{
	good_run(f);
	f->run.started_unix_ns = 1763671234567890123;
	f->run.ended_unix_ns = 1763671244567890123;
	snprintf(f->run.fabric_name, sizeof(f->run.fabric_name), "pair");
	snprintf(f->run.fabric_path, sizeof(f->run.fabric_path), "fabric \"a\".yaml");
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(f->host[i].before.host, sizeof(f->host[i].before.host), "h%u", i + 1);
		snprintf(f->host[i].after.host, sizeof(f->host[i].after.host), "h%u", i + 1);
	}
	snprintf(f->host[1].error, sizeof(f->host[1].error), "lost: \xc3\xa4");
	f->host[1].has_after = false;
	f->port[1].rail = 3;
	f->port[0].has &= ~(1u << READ_QUIET_BEFORE);
	snprintf(f->port[0].capture_file, sizeof(f->port[0].capture_file),
		 "captures/h1-roce0.pcap");
	snprintf(f->port[1].capture_error, sizeof(f->port[1].capture_error), "no permission");
	f->port[1].has_capture = false;
	f->pair[1].verb = TRAFFIC_SEND;
	f->pair[1].ran = false;
	f->pair[1].server.cause = CAUSE_REMOTE_GONE;
	snprintf(f->pair[1].error, sizeof(f->pair[1].error), "h2: lost");
	for (unsigned int i = 0; i < ARRAY_SIZE(f->tcp); i++)
		f->tcp[i] = (struct run_tcp){
			.asked = {.tos = 32, .direction = TRAFFIC_BOTH, .streams = 3 + i},
			.client = {.sent_bytes = 70 + i, .tos_sent = 32, .detail = "reset"},
			.server = {.arrived_bytes = 60 + i, .retransmits = 5},
		};
	for (unsigned int i = 0; i < ARRAY_SIZE(f->tcp); i++) {
		rate_series_init(&f->tcp[i].client.goodput, 1);
		rate_series_init(&f->tcp[i].server.goodput, 1);
	}
	f->pair[0].tcp = f->tcp;
	f->pair[0].tcp_count = ARRAY_SIZE(f->tcp);
	add_marking(f, MARKING_ECT_CLEARED);
	snprintf(f->marking.error, sizeof(f->marking.error), "none");
	f->run.has_job = true;
	f->run.job =
		(struct run_job){.command = "mpirun 'my job'", .exit_code = 130, .stopped = true};
	f->port[1].user_count = 2;
	f->run.continued = true;
	f->port[1].users_left = 4;
	f->port[1].late = (struct run_late){true, 12, 3};
	snprintf(f->port[1].user[1], sizeof(f->port[1].user[1]), "1 queue pair of a (pid 7)");
	f->marking.pass = 2;
}

static void test_round_trip(void **state)
{
	struct fabric_run f;
	json_t *json, *again;
	struct err e = {0};
	struct run r;

	(void)state;
	full_run(&f);
	json = run_to_json(&f.run);
	assert_non_null(json);
	if (run_from_json(json, &r, &e))
		fail_msg("%s", e.text);
	again = run_to_json(&r);
	assert_true(json_equal(json, again));
	assert_string_equal(r.id, f.run.id);
	assert_int_equal(r.host[1].port[0].rail, 3);
	assert_int_equal(r.host[0].port[0].has, f.port[0].has);
	assert_memory_equal(&r.host[1].port[0].reading[READ_LOAD_AFTER],
			    &f.port[1].reading[READ_LOAD_AFTER], sizeof(struct counters));
	assert_int_equal(r.stages, STAGES_ALL);
	assert_int_equal(r.pair_count, 2);
	assert_int_equal(r.pair[1].client_host, f.pair[1].client_host);
	assert_int_equal(r.pair[1].server_host, f.pair[1].server_host);
	assert_int_equal(r.pair[1].verb, TRAFFIC_SEND);
	assert_int_equal(r.pair[1].server.cause, CAUSE_REMOTE_GONE);
	assert_int_equal(r.pair[1].tcp_count, 0);
	assert_int_equal(r.pair[0].tcp_count, 2);
	assert_int_equal(r.pair[0].tcp[1].asked.streams, 4);
	assert_int_equal(r.pair[0].tcp[1].asked.direction, TRAFFIC_BOTH);
	assert_int_equal(r.pair[0].tcp[1].client.sent_bytes, 71);
	assert_string_equal(r.pair[0].tcp[0].client.detail, "reset");
	assert_int_equal(r.pair[0].tcp[0].server.arrived_bytes, 60);
	assert_int_equal(r.marking_count, 1);
	assert_int_equal(r.marking->server_host, 1);
	assert_int_equal(r.marking->pass, 2);
	assert_int_equal(r.marking->arrived[SIDE_SERVER], 64);
	assert_int_equal(r.marking->finding_count, 1);
	assert_memory_equal(r.marking->finding, &f.marked, sizeof(f.marked));
	assert_true(r.has_job && r.job.stopped && r.job.exit_code == 130);
	assert_string_equal(r.job.command, f.run.job.command);
	assert_int_equal(r.host[1].port[0].user_count, 2);
	assert_true(r.continued);
	assert_int_equal(r.host[1].port[0].users_left, 4);
	assert_memory_equal(&r.host[1].port[0].late, &f.port[1].late, sizeof(struct run_late));
	assert_string_equal(r.host[1].port[0].user[1], "1 queue pair of a (pid 7)");
	assert_int_equal(r.host[1].has_after, false);
	assert_string_equal(r.host[1].error, f.host[1].error);
	run_clear(&r);
	json_decref(json);
	json_decref(again);
}

/* An end that was killed tells of fewer backgrounds than were asked, or of none; of more there were
 * none. */
static void test_tcp_of_ends(void **state)
{
	struct fabric_run f;
	json_t *json, *pair, *list, *saved;
	struct err e = {0};
	struct run r, again;

	(void)state;
	full_run(&f);
	json = run_to_json(&f.run);
	pair = json_array_get(json_object_get(json, "pairs"), 0);
	list = json_object_get(json_object_get(pair, "server"), "tcp");
	json_array_clear(list);
	assert_int_equal(run_from_json(json, &r, &e), 0);
	assert_int_equal(r.pair[0].tcp[0].server.arrived_bytes, 0);
	assert_int_equal(r.pair[0].tcp[0].client.sent_bytes, 70);
	saved = run_to_json(&r);
	assert_int_equal(run_from_json(saved, &again, &e), 0);
	json_decref(saved);
	assert_int_equal(again.pair[0].tcp_count, 2);
	run_clear(&again);
	run_clear(&r);
	list = json_object_get(json_object_get(pair, "client"), "tcp");
	json_array_append(list, json_array_get(list, 0));
	assert_int_equal(run_from_json(json, &r, &e), -EINVAL);
	assert_non_null(strstr(e.text, "pairs[0]: client"));
	json_decref(json);
}

/* Phases: words of later versions are ignored; a run of an earlier version names none, and read the
 * counters once between two phases. */
static void test_phases(void **state)
{
	struct fabric_run f;
	json_t *json, *readings;
	struct err e = {0};
	struct run r;

	(void)state;
	full_run(&f);
	for (unsigned int i = READ_INCAST_BEFORE; i < READ_COUNT; i++) {
		f.port[0].reading[i] = f.port[0].reading[READ_LOAD_AFTER];
		f.port[0].reading[i].value[METRIC_RX_BYTES][0] += i;
		f.port[0].has |= 1u << i;
	}
	json = run_to_json(&f.run);
	json_object_set_new(json, "phases", json_pack("[s, s, s]", "pairs", "later", "incast"));
	assert_int_equal(run_from_json(json, &r, &e), 0);
	assert_int_equal(r.stages, 1u << STAGE_PAIRS | 1u << STAGE_INCAST);
	run_clear(&r);
	json_object_set_new(json, "phases", json_pack("[i]", 1));
	assert_int_equal(run_from_json(json, &r, &e), -EINVAL);
	json_object_del(json, "phases");
	readings = json_object_get(json_array_get(json_object_get(json, "hosts"), 0), "ports");
	readings = json_object_get(json_array_get(readings, 0), "readings");
	json_object_del(readings, "incast_before");
	json_object_del(readings, "control_before");
	assert_int_equal(run_from_json(json, &r, &e), 0);
	assert_int_equal(r.stages, 1u << STAGE_PAIRS);
	assert_memory_equal(&r.host[0].port[0].reading[READ_INCAST_BEFORE],
			    &f.port[0].reading[READ_LOAD_AFTER], sizeof(struct counters));
	assert_memory_equal(&r.host[0].port[0].reading[READ_CONTROL_BEFORE],
			    &f.port[0].reading[READ_INCAST_AFTER], sizeof(struct counters));
	run_clear(&r);
	json_decref(json);
}

static bool has_test_of_its_own(const char *key)
{
	static const char *const keys[] = {"before", "after", "capture", "readings"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!strcmp(keys[i], key))
			return true;
	}
	return false;
}

/* Each member of the document in turn gone, or of another type: an error or nothing, never a crash.
 * Returns how many were refused. */
static unsigned int spoil(json_t *whole, json_t *at, json_t *with)
{
	unsigned int refused = 0;
	struct err e = {0};
	json_t *keys = json_is_object(at) ? json_copy(at) : NULL; /* deleting reorders *at */
	json_t *value;
	const char *key;
	struct run r;

	for (size_t i = 0; i < json_array_size(at); i++)
		refused += spoil(whole, json_array_get(at, i), with);
	json_object_foreach (keys, key, value) {
		int err;

		if (!has_test_of_its_own(key))
			refused += spoil(whole, value, with);
		if (with)
			json_object_set(at, key, with);
		else
			json_object_del(at, key);
		memset(&e, 0, sizeof(e));
		err = run_from_json(whole, &r, &e);
		assert_true(!err || e.text[0]);
		if (!err)
			run_clear(&r);
		refused += err != 0;
		json_object_set(at, key, value);
	}
	json_decref(keys);
	return refused;
}

/* What other machines complain of, cut in the middle of a letter: still a document, to be read. */
static void test_foreign_text(void **state)
{
	static const char text[] = "Datei nicht gef\xfcnden\t\033[2J \xc3";
	struct fabric_run f;
	struct err e = {0};
	json_t *json;
	struct run r;

	(void)state;
	full_run(&f);
	snprintf(f.run.fabric_path, sizeof(f.run.fabric_path), "%s", text);
	snprintf(f.host[1].error, sizeof(f.host[1].error), "%s", text);
	snprintf(f.port[1].capture_error, sizeof(f.port[1].capture_error), "%s", text);
	snprintf(f.pair[1].error, sizeof(f.pair[1].error), "%s", text);
	json = run_to_json(&f.run);
	assert_non_null(json);
	if (run_from_json(json, &r, &e))
		fail_msg("%s", e.text);
	assert_string_equal(r.host[1].error, "Datei nicht gef?nden??[2J ?");
	assert_string_equal(r.pair[1].error, r.host[1].error);
	assert_string_equal(r.host[1].port[0].capture_error, r.host[1].error);
	json_decref(json);
	run_clear(&r);
}

static void test_spoilt(void **state)
{
	json_t *others[] = {NULL,
			    json_null(),
			    json_array(),
			    json_object(),
			    json_string("x"),
			    json_integer(-1),
			    json_integer(INT64_MAX)};
	struct fabric_run f;
	json_t *json;
	struct run r;
	struct err e = {0};

	(void)state;
	full_run(&f);
	json = run_to_json(&f.run);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_true(spoil(json, json, others[i]) > 50);
		json_decref(others[i]);
	}
	assert_int_equal(run_from_json(json, &r, &e), 0); /* it is whole again */
	run_clear(&r);
	json_decref(json);
	assert_int_equal(run_from_json(NULL, &r, &e), -EINVAL);
}

static void test_foreign_ends(void **state)
{
	static const struct {
		const char *key, *value;
	} cases[] = {{"host", "h9"}, {"netdev", "eth9"}, {"host", ""}};
	struct fabric_run f;
	struct err e = {0};
	struct run r;

	(void)state;
	full_run(&f);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *json = run_to_json(&f.run);
		json_t *pair = json_array_get(json_object_get(json, "pairs"), 1);

		json_object_set_new(json_object_get(pair, "server"), cases[i].key,
				    json_string(cases[i].value));
		assert_int_equal(run_from_json(json, &r, &e), -EINVAL);
		assert_non_null(strstr(e.text, "pairs[1]: server"));
		json_decref(json);
	}
}

static void test_index(void **state)
{
	struct run_port a[] = {{.netdev = "roce1"}, {.netdev = "roce0"}, {.netdev = "roce1"}};
	struct run_port b[] = {{.netdev = "roce0"}};
	struct run_host host[] = {{.name = "h2", .port = a, .port_count = 3},
				  {.name = "h1", .port = b, .port_count = 1},
				  {.name = "h2", .port = b, .port_count = 1},
				  {.name = "h3"}};
	static const struct {
		const char *host, *netdev;
		int found;
		unsigned int host_at, port_at;
	} cases[] = {
		{"h1", "roce0", 0, 1, 0},	{"h2", "roce0", 0, 0, 1},
		{"h2", "roce1", 0, 0, 0},	{"h1", "roce1", -ENOENT, 0, 0},
		{"h3", "roce0", -ENOENT, 0, 0}, {"h", "roce0", -ENOENT, 0, 0},
		{"h9", "", -ENOENT, 0, 0},	{"", "", -ENOENT, 0, 0},
	};
	struct run r = {.host = host, .host_count = ARRAY_SIZE(host)}, none = {.host = NULL};
	struct run_index index;
	unsigned int h, p;

	(void)state;
	assert_int_equal(run_index_make(&r, &index), 0);
	assert_int_equal(index.count, 5);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int found = run_index_find(&index, cases[i].host, cases[i].netdev, &h, &p);

		assert_int_equal(found, cases[i].found);
		if (!found) {
			assert_int_equal(h, cases[i].host_at);
			assert_int_equal(p, cases[i].port_at);
		}
	}
	run_index_clear(&index);
	run_index_clear(&index);
	run_index_clear(NULL);
	assert_int_equal(run_index_make(&none, &index), 0);
	assert_int_equal(run_index_find(&index, "h1", "roce0", &h, &p), -ENOENT);
	run_index_clear(&index);
}

/* Ports are counted before memory is taken for them: each of these would have 17 KiB. */
static void test_too_many_ports(void **state)
{
	json_t *json, *host, *ports = json_array(), *null = json_null();
	struct fabric_run f;
	struct err e = {0};
	struct run r;

	(void)state;
	full_run(&f);
	json = run_to_json(&f.run);
	host = json_array_get(json_object_get(json, "hosts"), 0);
	for (unsigned int i = 0; i < 262144; i++)
		json_array_append(ports, null);
	json_object_set_new(json_object_get(host, "after"), "ports", ports);
	assert_int_equal(run_from_json(json, &r, &e), -E2BIG);
	assert_non_null(strstr(e.text, "hosts[0]: "));
	assert_non_null(strstr(e.text, "at most 262144"));
	json_decref(json);
}

/* A file that is too large is refused by its size, not read. */
static void test_too_large(void **state)
{
	static const struct {
		const char *name, *text;
		off_t size;
	} cases[] = {{"run.json", "more than 2048 MiB", (off_t)2 << 30},
		     {"h1.json", "more than 64 MiB", 64 << 20}};
	struct err e = {0};
	struct run r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		write_file(cases[i].name, "{}");
		assert_int_equal(truncate(in_dir(cases[i].name), cases[i].size + 1), 0);
		assert_int_equal(run_load(dir, NULL, &r, &e), -EFBIG);
		assert_non_null(strstr(e.text, cases[i].name));
		assert_non_null(strstr(e.text, cases[i].text));
		assert_int_equal(unlink(in_dir(cases[i].name)), 0);
	}
}

static int save_run(const struct run *r, const char *path, struct err *e)
{
	struct folder folder;
	int err = folder_make(path, &folder, e);

	if (!err) {
		err = run_save(r, &folder, e);
		folder_close(&folder);
	}
	return err;
}

static void test_save_and_load(void **state)
{
	struct fabric_run f;
	json_t *want, *got;
	struct err e = {0};
	struct stat st;
	struct run r;

	(void)state;
	full_run(&f);
	assert_int_equal(save_run(&f.run, in_dir("deep/er/run"), &e), 0);
	assert_int_equal(stat(in_dir("deep/er/run/snapshots/h2.json"), &st), 0);
	assert_int_equal(save_run(&f.run, in_dir("deep/er/run"), &e), 0);
	assert_int_equal(run_load(in_dir("deep/er/run"), NULL, &r, &e), 0);
	want = run_to_json(&f.run);
	got = run_to_json(&r);
	assert_true(json_equal(want, got));
	json_decref(want);
	json_decref(got);
	run_clear(&r);
}

/* A file of lines that is short, spoilt or gone. */
static void test_lines(void **state)
{
	static const struct {
		const char *file, *text, *says;
		int err;
	} cases[] = {
		{"pairs.jsonl", "", "run.json: pairs.jsonl: 0 lines of 2", -ENODATA},
		{"pairs.jsonl", "{}\n", "run.json: pairs.jsonl:1: ", -EINVAL},
		{"pairs.jsonl", "[]\n", "pairs.jsonl:1: not a JSON object", -EINVAL},
		{"marking.jsonl", "{\n", "marking.jsonl:1:1: ", -EINVAL},
		{"hosts.jsonl", "{\"name\":\"../x\"}\n", "hosts.jsonl:1: ", -EINVAL},
		{"hosts.jsonl", NULL, "hosts.jsonl: No such file or directory", -ENOENT},
	};
	struct fabric_run f;

	(void)state;
	full_run(&f);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char name[64];
		struct err e = {0};
		struct run r;

		assert_int_equal(save_run(&f.run, in_dir("lines"), &e), 0);
		snprintf(name, sizeof(name), "lines/%s", cases[i].file);
		if (cases[i].text)
			write_file(name, cases[i].text);
		else
			assert_int_equal(unlink(in_dir(name)), 0);
		assert_int_equal(run_load(in_dir("lines"), NULL, &r, &e), cases[i].err);
		if (!strstr(e.text, cases[i].says))
			fail_msg("%s, not: %s", e.text, cases[i].says);
	}
}

/* Lines that the head does not count were written by a save that was interrupted. */
static void test_lines_beyond(void **state)
{
	struct fabric_run f;
	struct err e = {0};
	struct run r;
	FILE *out;

	(void)state;
	full_run(&f);
	assert_int_equal(save_run(&f.run, in_dir("beyond"), &e), 0);
	out = fopen(in_dir("beyond/pairs.jsonl"), "a");
	assert_non_null(out);
	assert_true(fputs("{\"verb\":", out) >= 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(run_load(in_dir("beyond"), NULL, &r, &e), 0);
	assert_int_equal(r.pair_count, f.run.pair_count);
	run_clear(&r);
}

static void test_save_fails(void **state)
{
	struct fabric_run f;
	struct err e = {0};

	(void)state;
	full_run(&f);
	write_file("file", "");
	assert_int_equal(save_run(&f.run, in_dir("file/run"), &e), -ENOTDIR);
	assert_non_null(strstr(e.text, "file/run"));
	assert_int_equal(save_run(&f.run, "", &e), -ENOENT);
	assert_non_null(strstr(e.text, "''"));
	assert_int_equal(save_run(&f.run, "/dev/full", &e), -ENOTDIR);
	assert_non_null(strstr(e.text, "/dev/full"));
	/* What is there under a name of the run. */
	assert_int_equal(mkdir(in_dir("taken"), 0700), 0);
	assert_int_equal(mkdir(in_dir("taken/run.json"), 0700), 0);
	assert_int_equal(save_run(&f.run, in_dir("taken"), &e), -EISDIR);
	assert_non_null(strstr(e.text, "taken/run.json: is a folder"));
}

/* A disk that fills up long before the document ends: its own errno, and nothing stays. */
static void test_disk_full(void **state)
{
	struct rlimit former, limit;
	struct fabric_run f;
	struct err e = {0};
	struct stat st;

	(void)state;
	full_run(&f);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &former), 0);
	limit = former;
	limit.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(json_file_save(run_to_json(&f.run), in_dir("run.json"), &e), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &former), 0);
	assert_non_null(strstr(e.text, "run.json: File too large"));
	assert_int_equal(stat(in_dir("run.json"), &st), -1);
}

/* An inventory of other order, with one host more and one less. */
static void test_aligned(void **state)
{
	struct fabric_port port = {.interface = "roce0", .rail = 5};
	struct fabric_host host[3] = {{.name = "h9", .port = &port, .port_count = 1},
				      {.name = "h2", .port = &port, .port_count = 1},
				      {.name = "h1", .port = &port, .port_count = 1}};
	struct fabric inventory = {
		.name = "mine", .host = host, .host_count = 3, .load_percent = 7};
	struct fabric_run f;
	struct err e = {0};
	struct run r;

	(void)state;
	full_run(&f);
	assert_int_equal(save_run(&f.run, dir, &e), 0);
	assert_int_equal(run_load(dir, &inventory, &r, &e), 0);
	assert_int_equal(r.host_count, 3);
	assert_false(r.host[0].reached);
	assert_non_null(strstr(r.host[0].error, dir));
	assert_string_equal(r.host[1].name, "h2");
	assert_string_equal(r.host[1].error, f.host[1].error);
	assert_int_equal(r.host[1].port[0].rail, 5);
	assert_true(r.host[2].has_after && r.host[2].port[0].has_capture);
	assert_int_equal(r.pair_count, 2);
	assert_int_equal(r.pair[0].client_host, 2);
	assert_int_equal(r.pair[0].server_host, 1);
	assert_int_equal(r.marking_count, 1);
	assert_int_equal(r.marking->client_host, 2);
	assert_int_equal(r.marking->server_host, 1);
	assert_int_equal(r.marking->pass, 2);
	assert_int_equal(r.marking->finding_count, 1);
	assert_true(r.traffic);
	assert_int_equal(r.load_percent, 5);
	assert_int_equal(r.unlisted_count, 0);
	run_clear(&r);
	inventory.host_count = 1;
	assert_int_equal(run_load(dir, &inventory, &r, &e), 0);
	assert_int_equal(r.unlisted_count, 2);
	assert_string_equal(r.unlisted, "h1");
	assert_int_equal(r.pair_count, 0);
	assert_int_equal(r.marking_count, 0);
	run_clear(&r);
}

static void save_snapshot(struct fabric_run *f, unsigned int host, const char *name,
			  const char *file)
{
	struct err e = {0};

	snprintf(f->host[host].before.host, sizeof(f->host[host].before.host), "%s", name);
	assert_int_equal(snapshot_save(&f->host[host].before, in_dir(file), &e), 0);
}

static void test_snapshots(void **state)
{
	struct profile profile = {.name = "lab"};
	struct fabric_run f;
	struct fabric made;
	struct err e = {0};
	struct run r;

	(void)state;
	full_run(&f);
	f.before[1].kind = PORT_IWARP;
	assert_int_equal(mkdir(in_dir("snapshots"), 0755), 0);
	save_snapshot(&f, 0, "node-a", "b.json");
	save_snapshot(&f, 1, "a", "snapshots/c.json");
	write_file("plan.json", "{\"schema\":\"rocecheck.plan/1\"}");
	write_file("notes.txt", "not JSON");
	assert_int_equal(run_load(dir, NULL, &r, &e), 0);
	assert_int_equal(r.host_count, 2);
	assert_string_equal(r.host[0].name, "node-a");
	assert_string_equal(r.host[1].name, "a");
	assert_true(r.host[0].reached && r.host[0].has_before && !r.host[0].has_after);
	assert_int_equal(r.host[0].port_count, 1);
	assert_string_equal(r.host[0].port[0].netdev, "roce0");
	assert_int_equal(r.host[1].port_count, 0);
	assert_false(r.traffic);
	assert_int_equal(run_make_fabric(&r, &profile, &made), 0);
	assert_int_equal(made.host_count, 2);
	assert_string_equal(made.host[0].name, "node-a");
	assert_string_equal(made.host[0].port[0].interface, "roce0");
	assert_string_equal(made.profile.name, "lab");
	fabric_clear(&made);
	run_clear(&r);
}

static void test_bad_folders(void **state)
{
	static const char *const bad_names[] = {"../h1", "a/b",	     ".h1", "-oProxyCommand=x",
						"h 1",	 "h\xc3\xa4"};
	struct fabric_run f;
	struct err e = {0};
	struct run r;

	(void)state;
	assert_int_equal(run_load(in_dir("none"), NULL, &r, &e), -ENOENT);
	assert_int_equal(run_load(dir, NULL, &r, &e), -ENOENT);
	assert_non_null(strstr(e.hint, "collect"));
	write_file("h1.json", "{\"schema\":");
	assert_int_equal(run_load(dir, NULL, &r, &e), -EINVAL);
	assert_non_null(strstr(e.text, "h1.json:1:"));
	write_file("h1.json", "[]");
	assert_int_equal(run_load(dir, NULL, &r, &e), -EINVAL);
	write_file("h1.json", "{\"schema\":\"rocecheck.snapshot/1\"}");
	assert_int_equal(run_load(dir, NULL, &r, &e), -EINVAL);
	assert_non_null(strstr(e.text, "h1.json"));
	write_file("h1.json", "{\"schema\":\"rocecheck.snapshot/2\"}");
	assert_int_equal(run_load(dir, NULL, &r, &e), -EINVAL);
	assert_non_null(strstr(e.text, "h1.json: 'schema' is rocecheck.snapshot/2"));
	full_run(&f);
	for (size_t i = 0; i < ARRAY_SIZE(bad_names); i++) {
		save_snapshot(&f, 0, bad_names[i], "h1.json");
		assert_int_equal(run_load(dir, NULL, &r, &e), -EINVAL);
	}
	save_snapshot(&f, 0, "same", "h1.json");
	save_snapshot(&f, 1, "same", "h2.json");
	assert_int_equal(run_load(dir, NULL, &r, &e), -EEXIST);
	assert_non_null(strstr(e.text, "same"));
	write_file("run.json", "{\"schema\":\"rocecheck.run/2\"}");
	assert_int_equal(run_load(dir, NULL, &r, &e), -EINVAL);
	assert_non_null(strstr(e.text, "rocecheck.run/1"));
}

/* Hostile marking tests, and a run of an earlier version, which has none. */
static void test_markings(void **state)
{
	static const struct {
		const char *key, *value, *error;
	} cases[] = {
		{"kind", "\"melted\"", "marking[0]: findings[0]: unknown 'kind' or 'way'"},
		{"way", "7", "marking[0]: findings[0]: unknown 'kind' or 'way'"},
		{"ports", "257", "marking[0]: findings[0]: 'ports'"},
		{"from", "-1", "marking[0]: findings[0]: 'from'"},
		{NULL, NULL, ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fabric_run f;
		struct err e = {0};
		struct run r = {0};
		json_t *json, *finding;
		int err;

		full_run(&f);
		json = run_to_json(&f.run);
		finding = json_array_get(
			json_object_get(json_array_get(json_object_get(json, "marking"), 0),
					"findings"),
			0);
		assert_non_null(finding);
		if (cases[i].key)
			json_object_set_new(finding, cases[i].key,
					    json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
		else
			json_object_del(json, "marking");
		err = run_from_json(json, &r, &e);
		if (!err != !cases[i].key ||
		    strncmp(e.text, cases[i].error, strlen(cases[i].error)))
			fail_msg("%s: %d %s", cases[i].key ? cases[i].key : "-", err, e.text);
		assert_int_equal(r.marking_count, 0);
		run_clear(&r);
		json_decref(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_markings),
		cmocka_unit_test(test_tcp_of_ends),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_foreign_text),
		cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_foreign_ends),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_too_many_ports),
		cmocka_unit_test_setup_teardown(test_too_large, make_dir, clear_dir),
		cmocka_unit_test_setup_teardown(test_save_and_load, make_dir, clear_dir),
		cmocka_unit_test_setup_teardown(test_lines, make_dir, clear_dir),
		cmocka_unit_test_setup_teardown(test_lines_beyond, make_dir, clear_dir),
		cmocka_unit_test_setup_teardown(test_save_fails, make_dir, clear_dir),
		cmocka_unit_test_setup_teardown(test_disk_full, make_dir, clear_dir),
		cmocka_unit_test_setup_teardown(test_aligned, make_dir, clear_dir),
		cmocka_unit_test_setup_teardown(test_snapshots, make_dir, clear_dir),
		cmocka_unit_test_setup_teardown(test_bad_folders, make_dir, clear_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
