/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of an incast: which servers are taken, what each says and fails of, and the document.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/coord/incast.h"

struct heard {
	unsigned int lines;
	bool of[2];
};

static const char *const servers[2] = {"127.0.0.1", "127.0.0.2"};
static const char *const tokens[2] = {"0123456789abcdef", "fedcba9876543210"};

static void say(const char *line, void *arg)
{
	struct heard *h = arg;
	char start[64];

	h->lines++;
	for (unsigned int i = 0; i < ARRAY_SIZE(servers); i++) {
		snprintf(start, sizeof(start), "%s: connecting to %s", servers[i], servers[i]);
		h->of[i] |= !strncmp(line, start, strlen(start));
	}
}

static void live(const struct pair_live *l, void *arg)
{
	(void)l;
	(void)arg;
	fail_msg("an incast has a line of its own");
}

static void show(const struct incast_live *l, void *arg)
{
	(void)l;
	(void)arg;
	fail_msg("nothing was sent");
}

/* A port that nobody listens on, for as long as the socket is open. */
static int closed_port(unsigned int *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t length = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &length), 0);
	*port = ntohs(at.sin_port);
	return fd;
}

/* Nobody answers: each server has its error, which names it. */
static void test_each_fails(void **state)
{
	struct heard h = {0};
	struct pair_request w = {.self = "/bin/false", .progress = say, .live = live, .arg = &h};
	int fd = closed_port(&w.port);
	struct incast in;
	struct err e = {0};

	(void)state;
	assert_int_not_equal(incast_run(&w, servers, tokens, 2, show, &in, &e), 0);
	assert_int_equal(in.count, 2);
	for (unsigned int i = 0; i < in.count; i++) {
		assert_int_not_equal(in.one[i].err, 0);
		assert_int_not_equal(in.one[i].err, -ECANCELED);
		if (strncmp(in.one[i].e.text, servers[i], strlen(servers[i])))
			fail_msg("%s: %s", servers[i], in.one[i].e.text);
		assert_true(h.of[i]);
	}
	assert_int_equal(h.lines, 2);
	incast_clear(&in);
	close(fd);
}

/* What does not begin with the server has it in front: this host's end may be the cause. */
static void test_named(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"h2: no such port", "h2: no such port"},
		{"h2 port 7: refused", "h2 port 7: refused"},
		{"h21: no such port", "h2: h21: no such port"},
		{"h1: no such port", "h2: h1: no such port"},
		{"stopped", "h2: stopped"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = {0};

		err_set(&e, -ENODEV, "%s", cases[i].text);
		incast_name(&e, "h2");
		assert_string_equal(e.text, cases[i].want);
		assert_int_equal(e.code, -ENODEV);
	}
}

static void test_own_errors(void **state)
{
	static const struct {
		int err;
		bool own;
	} cases[] = {
		{0, false},	{-ECANCELED, false}, {-EINTR, false},
		{-EPIPE, true}, {-ENODEV, true},     {-ETIMEDOUT, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct incast_one one = {.err = cases[i].err};

		assert_int_equal(incast_failed(&one), cases[i].own);
	}
}

static void test_servers(void **state)
{
	static const char *const twice[] = {"h2", "h3", "h2"};
	struct pair_request w = {0};
	struct incast in;
	struct err e;

	(void)state;
	assert_int_equal(incast_run(&w, twice, tokens, 3, NULL, &in, &e), -EINVAL);
	assert_non_null(strstr(e.text, "h2 is listed twice"));
	assert_int_equal(in.count, 0);
	assert_int_equal(incast_run(&w, twice, tokens, 0, NULL, &in, &e), -EINVAL);
	assert_int_equal(incast_run(&w, twice, tokens, INCAST_MAX + 1, NULL, &in, &e), -EINVAL);
	incast_clear(&in);
}

/* One record: this host, by the first probe that could read its port, and a pair of each server. */
static void test_record(void **state)
{
	struct run_host host[2][SIDES] = {0};
	struct run_port port[2] = {{.netdev = "roce0"}, {.netdev = "roce0"}};
	struct run_pair pair[2] = {{.server_host = SIDE_SERVER, .ran = true},
				   {.server_host = SIDE_SERVER}};
	struct incast_one one[2] = {0};
	struct incast in = {2, one};
	struct run r;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		one[i].t.chosen = true;
		one[i].t.run = (struct run){
			.host = host[i], .host_count = SIDES, .pair = &pair[i], .pair_count = 1};
		host[i][SIDE_CLIENT].port = &port[i];
		snprintf(host[i][SIDE_SERVER].name, sizeof(host[i][0].name), "h%u", i + 2);
	}
	port[1].has = 1u << READ_LOAD_BEFORE | 1u << READ_LOAD_AFTER;
	one[0].t.run.pair_count = 0; /* its ends were never chosen */
	assert_int_equal(incast_make_run(&in, &r), 0);
	assert_int_equal(r.host_count, 3);
	assert_ptr_equal(r.host[0].port, &port[1]);
	assert_string_equal(r.host[1].name, "h2");
	assert_string_equal(r.host[2].name, "h3");
	assert_int_equal(r.pair_count, 1);
	assert_int_equal(r.pair[0].server_host, 2);
	free(r.host);
	free(r.pair);
	in.count = 0;
	assert_int_equal(incast_make_run(&in, &r), -EINVAL);
}

static size_t pieces, pieces_left;

/* Memory for so many pieces. */
static void *some_memory(size_t size)
{
	pieces++;
	return pieces_left-- ? malloc(size) : NULL;
}

/* The document with memory for so many pieces; in `pieces` how many it took. */
static json_t *document_of(const struct incast *in, size_t most)
{
	json_t *doc;

	json_set_alloc_funcs(some_memory, free);
	pieces = 0;
	pieces_left = most;
	doc = incast_to_json(in);
	json_set_alloc_funcs(malloc, free);
	return doc;
}

/* A probe that has no document is not left out of the whole. */
static void test_document(void **state)
{
	struct incast_one one[2] = {0};
	struct incast in = {2, one};
	json_t *doc = incast_to_json(&in);

	(void)state;
	assert_non_null(doc);
	assert_int_equal(json_array_size(json_object_get(doc, "probes")), 2);
	assert_int_equal(json_array_size(json_object_get(doc, "starts")), 0);
	json_decref(doc);
	in.count = 1;
	json_decref(document_of(&in, SIZE_MAX));
	in.count = 2;
	assert_null(document_of(&in, pieces)); /* there is none left for the second one */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_fails), cmocka_unit_test(test_named),
		cmocka_unit_test(test_own_errors), cmocka_unit_test(test_servers),
		cmocka_unit_test(test_document),   cmocka_unit_test(test_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
