/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of pairs and marking tests by port, compared with a walk over all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "reports/engine/port_pairs.h"

#define HOSTS 5
#define PORTS 3 /* at most; host h has h % (PORTS + 1) */
#define PAIRS 400

static struct run_port ports[PORTS];
static struct run_host hosts[HOSTS];
static struct run_pair pairs[PAIRS];
static struct run_marking markings[PAIRS];

static const struct run run = {.host = hosts,
			       .host_count = HOSTS,
			       .pair = pairs,
			       .pair_count = PAIRS,
			       .marking = markings,
			       .marking_count = PAIRS};

/* Some ends name a port or a host that the run lacks, some pairs one port twice. */
static int make_run(void **state)
{
	(void)state;
	srandom(1);
	for (unsigned int h = 0; h < HOSTS; h++)
		hosts[h] = (struct run_host){.port = ports, .port_count = h % (PORTS + 1)};
	for (unsigned int i = 0; i < PAIRS; i++) {
		struct run_pair *p = &pairs[i];

		p->client_host = (unsigned int)random() % (HOSTS + 1);
		p->client_port = (unsigned int)random() % (PORTS + 1);
		p->server_host = i % 9 ? (unsigned int)random() % (HOSTS + 1) : p->client_host;
		p->server_port = i % 9 ? (unsigned int)random() % (PORTS + 1) : p->client_port;
		markings[PAIRS - 1 - i] = (struct run_marking){
			.client_host = p->client_host,
			.client_port = p->client_port,
			.server_host = p->server_host,
			.server_port = p->server_port,
		};
	}
	return 0;
}

static bool is_client(const struct run_pair *p, unsigned int host, unsigned int port)
{
	return p->client_host == host && p->client_port == port;
}

static bool is_server(const struct run_pair *p, unsigned int host, unsigned int port)
{
	return p->server_host == host && p->server_port == port;
}

static bool joins(const struct run_pair *a, const struct run_pair *b)
{
	return (is_client(a, b->client_host, b->client_port) &&
		is_server(a, b->server_host, b->server_port)) ||
	       (is_client(a, b->server_host, b->server_port) &&
		is_server(a, b->client_host, b->client_port));
}

static bool both_exist(const struct run_pair *p)
{
	return p->client_host < HOSTS && p->client_port < hosts[p->client_host].port_count &&
	       p->server_host < HOSTS && p->server_port < hosts[p->server_host].port_count;
}

/* Checks the uses of one port; those of markings, which are the pairs backwards, too. */
static void check_port(const struct port_pairs *index, unsigned int host, unsigned int port)
{
	size_t count, tests, n = 0;
	const struct port_use *use = port_pairs_find(index, &index->pairs, host, port, &count);
	const struct port_use *test = port_pairs_find(index, &index->markings, host, port, &tests);

	assert_int_equal(count, tests);
	for (unsigned int i = 0; i < PAIRS; i++) {
		bool client = is_client(&pairs[i], host, port), again = false;

		if ((!client && !is_server(&pairs[i], host, port)) || !both_exist(&pairs[i]))
			continue;
		for (unsigned int k = 0; k < i; k++)
			again |= joins(&pairs[k], &pairs[i]);
		assert_true(n < count);
		assert_int_equal(use[n].index, i);
		assert_int_equal(test[count - 1 - n].index, PAIRS - 1 - i);
		assert_int_equal(use[n].host, client ? pairs[i].server_host : pairs[i].client_host);
		assert_int_equal(use[n].port, client ? pairs[i].server_port : pairs[i].client_port);
		assert_int_equal(use[n].again, again);
		n++;
	}
	assert_int_equal(n, count);
}

static void test_every_port(void **state)
{
	struct port_pairs index;

	(void)state;
	assert_int_equal(port_pairs_make(&run, &index), 0);
	for (unsigned int h = 0; h < HOSTS; h++)
		for (unsigned int p = 0; p < hosts[h].port_count; p++)
			check_port(&index, h, p);
	port_pairs_clear(&index);
}

static void test_empty(void **state)
{
	static const struct run none;
	struct port_pairs index;

	(void)state;
	assert_int_equal(port_pairs_make(&none, &index), 0);
	port_pairs_clear(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_every_port, make_run),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
