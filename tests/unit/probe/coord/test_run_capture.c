/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings fetched from agents that are shell scripts: whole ones, and those of an agent that
 * keeps the run busy with small or slow pieces.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "probe/agent/agent.h"
#include "probe/coord/phase_priv.h"
#include "profiles/base/base64.h"
#include "tests/unit/fixture/folder.h"

/* Answers line by line: the summary first, then what `case` in the script says. */
#define AGENT                                                                                      \
	"cd %s; echo '{\"hello\":\"rocecheck.agent/1\",\"build\":\"0.1.0\"}'; n=0; "               \
	"piece() { printf '{\"id\":%%d,\"data\":\"' $n; cat; printf '\",\"eof\":%%s}\\n' $1; }; "  \
	"whole() { piece ${1:-false} <whole; }; short() { printf AAAA | piece ${1:-false}; }; "    \
	"none() { printf '' | piece ${1:-true}; }; "                                               \
	"while read -r line; do n=$((n + 1)); case $n in "                                         \
	"1) printf '{\"id\":1,\"summary\":'; cat summary; echo '}' ;; %s; esac; done"

static void write_whole(void)
{
	uint8_t *data = calloc(1, AGENT_PIECE_BYTES);
	char *text = malloc(BASE64_SIZE(AGENT_PIECE_BYTES));

	assert_true(data && text);
	(void)base64_encode(data, AGENT_PIECE_BYTES, text);
	write_file("whole", text);
	free(data);
	free(text);
}

static void write_summary(void)
{
	const struct capture_summary s = {.drops = DROPS_ZERO};
	json_t *o = capture_summary_to_json(&s);
	char *text = json_dumps(o, JSON_COMPACT);

	assert_non_null(text);
	write_file("summary", text);
	free(text);
	json_decref(o);
}

/* Fetches from one agent into the folder; what became of it is in *port. */
static void fetch(const char *answers, uint64_t grace_ms, struct run_port *port)
{
	struct fabric f = {.capture = CAPTURE_HEADERS};
	struct run_host host = {.name = "h1", .port = port, .port_count = 1};
	struct run r = {.host = &host, .host_count = 1};
	char script[2048];
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	struct agent_conn link;
	struct folder folder = {0};
	struct err e = {0};
	int capture[1][64] = {{0}};
	struct coordinator c = {
		.f = &f,
		.dir = &folder,
		.s.r = &r,
		.s.conn = &link,
		.capture = capture,
		.fetch_grace_ms = grace_ms,
	};

	snprintf(script, sizeof(script), AGENT, dir, answers);
	*port = (struct run_port){.netdev = "roce0"};
	assert_int_equal(folder_open(dir, &folder, &e), 0);
	assert_int_equal(loop_open(&c.s.loop, &e), 0);
	agent_conn_open(&link, c.s.loop, "h1", argv, 5000);
	session_wait(&c.s);
	if (link.state != CONN_READY)
		fail_msg("%s", link.err.text);
	phase_capture_stop(&c);
	agent_conn_close(&link);
	loop_close(c.s.loop);
	folder_close(&c.captures);
	folder_close(&folder);
	capture_summary_clear(&port->capture);
}

static void test_pieces(void **state)
{
	static const struct {
		const char *name, *answers;
		long long bytes; /* of the recording; -1: none is kept */
		const char *error;
	} cases[] = {
		{"nothing", "*) none", 0, ""},
		{"a short one", "2) short ;; *) none", 3, ""},
		{"a whole one", "2) whole ;; *) none", AGENT_PIECE_BYTES, ""},
		{"several", "2|3) whole ;; 4) short ;; *) none", 2 * AGENT_PIECE_BYTES + 3, ""},
		{"the last one says so", "2) whole ;; 3) short true", AGENT_PIECE_BYTES + 3, ""},
		{"an end without its word", "2) whole ;; *) none false", AGENT_PIECE_BYTES, ""},
		{"small ones without end", "300) exit ;; *) short", -1,
		 "h1 sent a short piece of 3 bytes in the middle of its recording"},
		{"a small one before a whole one", "2) short ;; 3) whole ;; *) none", -1,
		 "h1 sent a short piece of 3 bytes in the middle of its recording"},
		{"a lost agent", "2) whole ;; *) exit", -1, "lost during capture_read"},
	};

	(void)state;
	write_whole();
	write_summary();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run_port port;
		struct stat st;
		char path[64];
		bool kept;

		fetch(cases[i].answers, 60000, &port);
		kept = !stat(path_of("captures/h1-roce0.pcap", path), &st);
		if (kept != (cases[i].bytes >= 0) || (kept && st.st_size != cases[i].bytes))
			fail_msg("%s: %d", cases[i].name, kept);
		if (kept != !!port.capture_file[0])
			fail_msg("%s: '%s'", cases[i].name, port.capture_file);
		if (*cases[i].error ? !strstr(port.capture_error, cases[i].error)
				    : !!*port.capture_error)
			fail_msg("%s: '%s'", cases[i].name, port.capture_error);
		if (kept)
			assert_int_equal(unlink(path), 0);
	}
}

/* Whole pieces, each within the time of an answer, and no end of them. */
static void test_slow(void **state)
{
	struct run_port port;

	(void)state;
	write_whole();
	write_summary();
	fetch("12) exit ;; *) sleep 1.5; whole", 600, &port);
	if (!strstr(port.capture_error, "h1 sent its recording too slowly: "))
		fail_msg("'%s'", port.capture_error);
	assert_string_equal(port.capture_file, "");
	/* Within the grace. */
	fetch("2) sleep 1.5; whole ;; *) none", 2000, &port);
	assert_string_equal(port.capture_error, "");
	assert_string_equal(port.capture_file, "captures/h1-roce0.pcap");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pieces, make_dir, clear_dir),
		cmocka_unit_test_setup_teardown(test_slow, make_dir, clear_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
