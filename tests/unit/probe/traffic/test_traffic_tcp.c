/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP backgrounds between two ends in this process, over the loopback addresses.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <sys/resource.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "probe/traffic/traffic_tcp.h"

#define MS UINT64_C(1000000)

/* Between the reading of a stream's counters and its cut the kernel may send what waits: what it
 * lets wait (TCP_NOTSENT_LOWAT) and one piece. */
#define UNSENT_MOST (UINT64_C(320) << 10)

static const uint8_t four[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
static const uint8_t six[16] = {[15] = 1};

struct endpoints {
	struct traffic_spec spec[2];
	struct tcp_load *load[2];
	struct traffic_tcp_result result[2][TRAFFIC_TCP_MAX];
	uint16_t port[TRAFFIC_TCP_MAX];
};

static void open_ends(struct endpoints *t, const struct traffic_tcp *tcp, unsigned int count,
		      const uint8_t gid[16])
{
	uint16_t none[TRAFFIC_TCP_MAX];
	struct err e = {0};

	memset(t, 0, sizeof(*t));
	for (unsigned int i = 0; i < 2; i++) {
		t->spec[i].role = i ? TRAFFIC_SERVER : TRAFFIC_CLIENT;
		t->spec[i].seed = 77;
		t->spec[i].tcp_count = count;
		memcpy(t->spec[i].tcp, tcp, count * sizeof(*tcp));
	}
	if (tcp_load_open(&t->spec[0], gid, none, &t->load[0], &e) ||
	    tcp_load_open(&t->spec[1], gid, t->port, &t->load[1], &e))
		fail_msg("%s", e.text);
	for (unsigned int i = 0; i < TRAFFIC_TCP_MAX; i++) {
		assert_int_equal(none[i], 0);
		assert_int_equal(!t->port[i], i >= count);
	}
}

static void connect_ends(struct endpoints *t, const uint8_t gid[16])
{
	const uint16_t none[TRAFFIC_TCP_MAX] = {0};
	struct err e = {0};

	if (tcp_load_connect(t->load[0], gid, t->port, &e) ||
	    tcp_load_connect(t->load[1], gid, none, &e))
		fail_msg("%s", e.text);
}

static void start_ends(struct endpoints *t, uint64_t ns)
{
	uint64_t now = monotonic_ns();
	struct err e = {0};

	for (unsigned int i = 0; i < 2; i++)
		if (tcp_load_start(t->load[i], now, ns ? now + ns : UINT64_MAX, &e))
			fail_msg("%s", e.text);
}

static void sleep_ms(unsigned int ms)
{
	const struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&ts, NULL);
}

static void end_ends(struct endpoints *t)
{
	for (unsigned int i = 0; i < 2; i++) {
		tcp_load_join(t->load[i], t->result[i]);
		tcp_load_close(t->load[i]);
	}
}

/* Each way, of two backgrounds at once, by both protocols. */
static void test_moves(void **state)
{
	static const struct traffic_tcp tcp[] = {
		{.tos = 32, .direction = TRAFFIC_FORWARD, .streams = 3},
		{.tos = 184, .direction = TRAFFIC_BACKWARD, .streams = 1},
		{.tos = 0, .direction = TRAFFIC_BOTH, .streams = 2},
	};
	static const bool sends[3][2] = {{true, false}, {false, true}, {true, true}};

	(void)state;
	for (unsigned int family = 0; family < 2; family++) {
		struct endpoints t;

		open_ends(&t, tcp, ARRAY_SIZE(tcp), family ? six : four);
		connect_ends(&t, family ? six : four);
		start_ends(&t, 200 * MS);
		sleep_ms(250);
		end_ends(&t);
		for (unsigned int i = 0; i < ARRAY_SIZE(tcp) * 2; i++) {
			const struct traffic_tcp_result *r = &t.result[i % 2][i / 2];
			const struct traffic_tcp_result *other = &t.result[1 - i % 2][i / 2];

			assert_int_equal(r->tos_sent, tcp[i / 2].tos);
			assert_int_equal(r->broken, 0);
			assert_true(r->duration_ns >= 150 * MS);
			assert_int_equal(r->sent_bytes > 0, sends[i / 2][i % 2]);
			assert_int_equal(other->arrived_bytes > 0, sends[i / 2][i % 2]);
			assert_true(r->wire_bytes + UNSENT_MOST * tcp[i / 2].streams >=
				    other->arrived_bytes);
			assert_true(r->wire_bytes >= r->sent_bytes);
			assert_int_equal(r->mss > 0, sends[i / 2][i % 2]);
			assert_true(!other->arrived_bytes || other->goodput.slots >= 2);
		}
	}
}

/* Near enough: the kernel's own pacing starts with a few segments at once. */
static void test_paced(void **state)
{
	static const struct traffic_tcp tcp = {.streams = 4, .rate_bytes_per_s = 20000000};
	struct endpoints t;
	uint64_t rate;

	(void)state;
	open_ends(&t, &tcp, 1, four);
	connect_ends(&t, four);
	start_ends(&t, 500 * MS);
	sleep_ms(520);
	end_ends(&t);
	rate = rate_per_s(t.result[1][0].arrived_bytes, t.result[1][0].duration_ns);
	if (rate < 14000000 || rate > 24000000)
		fail_msg("%llu bytes/s", (unsigned long long)rate);
}

/* Of what has a rate a receiver advertises no more than its part: at both ends, and before the
 * first byte. The rest is as the kernel has it. */
static void test_window(void **state)
{
	static const struct traffic_tcp tcp[] = {
		{.streams = 3, .rate_bytes_per_s = 20000000},
		{.streams = 1, .rate_bytes_per_s = 20000000, .direction = TRAFFIC_BOTH},
		{.streams = 5, .rate_bytes_per_s = 20000000, .direction = TRAFFIC_BACKWARD},
		{.streams = 1},
	};
	/* The second one shares with all others. */
	static const int most[] = {65536, 29127, 43691, 0};
	struct endpoints t;

	(void)state;
	open_ends(&t, tcp, ARRAY_SIZE(tcp), four);
	connect_ends(&t, four);
	for (unsigned int side = 0; side < 2; side++)
		for (unsigned int n = 0; n < t.load[side]->stream_count; n++) {
			const struct tcp_stream *s = &t.load[side]->stream[n];
			int clamp = 0;
			socklen_t size = sizeof(clamp);

			assert_int_equal(
				getsockopt(s->fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &clamp, &size), 0);
			if (most[s->background] ? clamp > most[s->background] : clamp < 60000)
				fail_msg("end %u, stream %u: %d bytes", side, n, clamp);
		}
	start_ends(&t, 300 * MS);
	sleep_ms(320);
	end_ends(&t);
	for (unsigned int i = 0; i < ARRAY_SIZE(tcp); i++)
		assert_true(t.result[0][i].arrived_bytes + t.result[1][i].arrived_bytes > 1000000);
}

/* Told to, it ends at once, and nothing of it goes on. */
static void test_told(void **state)
{
	static const struct traffic_tcp tcp = {.streams = 2, .direction = TRAFFIC_BOTH};
	uint64_t before;
	struct endpoints t;

	(void)state;
	open_ends(&t, &tcp, 1, four);
	connect_ends(&t, four);
	start_ends(&t, 0);
	sleep_ms(50);
	before = monotonic_ns();
	tcp_load_stop(t.load[0]);
	end_ends(&t);
	assert_true(monotonic_ns() - before < 1000 * MS);
	assert_true(t.result[0][0].arrived_bytes && t.result[1][0].arrived_bytes);
	assert_int_equal(t.result[0][0].broken + t.result[1][0].broken, 0);
}

/* The other end is gone long before the run is over: told, with when. */
static void test_broken(void **state)
{
	static const struct traffic_tcp tcp = {.streams = 3};
	struct endpoints t;

	(void)state;
	for (unsigned int gone = 0; gone < 2; gone++) {
		open_ends(&t, &tcp, 1, four);
		connect_ends(&t, four);
		start_ends(&t, 0);
		sleep_ms(50);
		tcp_load_join(t.load[gone], t.result[gone]);
		sleep_ms(1150);
		end_ends(&t);
		assert_int_equal(t.result[gone][0].broken, 0);
		assert_int_equal(t.result[1 - gone][0].broken, 3);
		assert_non_null(strstr(t.result[1 - gone][0].detail, " after 0.1 s"));
	}
}

/* In half a second a tenth of one is long, in which the other end may be over before. */
static void test_broken_short(void **state)
{
	static const struct traffic_tcp tcp = {.streams = 2};
	static const struct {
		unsigned int at_ms;
		bool told;
	} ends_at[] = {{50, true}, {200, true}, {490, false}};
	struct endpoints t;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(ends_at) * 2; i++) {
		unsigned int gone = i % 2, at_ms = ends_at[i / 2].at_ms;

		open_ends(&t, &tcp, 1, four);
		connect_ends(&t, four);
		start_ends(&t, 500 * MS);
		sleep_ms(at_ms);
		tcp_load_join(t.load[gone], t.result[gone]);
		sleep_ms(530 - at_ms);
		end_ends(&t);
		assert_int_equal(t.result[gone][0].broken, 0);
		assert_int_equal(t.result[1 - gone][0].broken, ends_at[i / 2].told ? 2 : 0);
	}
}

/* A stranger at this port of ours, and what he says first: twelve bytes. */
static int knock(uint16_t port, uint64_t seed, uint32_t stream)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint8_t says[12];

	seed = htobe64(seed);
	stream = htobe32(stream);
	memcpy(says, &seed, sizeof(seed));
	memcpy(says + sizeof(seed), &stream, sizeof(stream));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(write(fd, says, sizeof(says)), sizeof(says));
	return fd;
}

/* Whether he was sent away; waits for that, and not for what does not come. */
static bool sent_away(int fd, int wait_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	bool away;
	char byte;

	away = poll(&p, 1, wait_ms) > 0 && read(fd, &byte, 1) <= 0;
	close(fd);
	return away;
}

/* Who does not know the run is sent away, whatever he says first, and the streams still come. */
static void test_strangers(void **state)
{
	static const struct traffic_tcp tcp[] = {{.streams = 2}, {.streams = 1}};
	static const struct {
		const char *name;
		uint64_t seed;
		uint32_t stream;
	} lies[] = {
		{"another run", 76, 0},		  {"no run", 0, 1},
		{"of another background", 77, 2}, {"one too many", 77, 3},
		{"far too many", 77, UINT32_MAX},
	};
	int fd[ARRAY_SIZE(lies)];
	struct endpoints t;

	(void)state;
	open_ends(&t, tcp, ARRAY_SIZE(tcp), four);
	for (unsigned int i = 0; i < ARRAY_SIZE(lies); i++)
		fd[i] = knock(t.port[0], lies[i].seed, lies[i].stream);
	connect_ends(&t, four);
	for (unsigned int i = 0; i < ARRAY_SIZE(lies); i++)
		if (!sent_away(fd[i], 1000))
			fail_msg("%s: not sent away", lies[i].name);
	start_ends(&t, 50 * MS);
	sleep_ms(80);
	end_ends(&t);
	assert_true(t.result[1][0].arrived_bytes > 0);
	assert_true(t.result[1][1].arrived_bytes > 0);
}

/* Strangers who say nothing, or a part of a ticket, hold up nobody: those of the other end's
 * address too. */
static void test_silent_strangers(void **state)
{
	static const struct traffic_tcp tcp[] = {{.streams = 2}, {.streams = 1}};
	struct sockaddr_in to = {.sin_family = AF_INET};
	uint64_t began;
	struct endpoints t;
	int fd[15];

	(void)state;
	open_ends(&t, tcp, ARRAY_SIZE(tcp), four);
	to.sin_port = htons(t.port[0]);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (unsigned int i = 0; i < ARRAY_SIZE(fd); i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(fd[i], (struct sockaddr *)&to, sizeof(to)), 0);
		assert_true(i % 2 || write(fd[i], "half", 4) == 4);
	}
	began = monotonic_ns();
	connect_ends(&t, four);
	assert_true(monotonic_ns() - began < 400 * MS);
	for (unsigned int i = 0; i < ARRAY_SIZE(fd); i++)
		assert_true(sent_away(fd[i], 1000));
	start_ends(&t, 50 * MS);
	sleep_ms(80);
	end_ends(&t);
	assert_true(t.result[1][0].arrived_bytes > 0);
	assert_true(t.result[1][1].arrived_bytes > 0);
}

/* Who knows the run and is not at the address of the other end is sent away: here it says to be
 * 127.0.0.2. */
static void test_other_address(void **state)
{
	static const uint8_t other[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 2};
	static const struct traffic_tcp tcp = {.streams = 1};
	const uint16_t none[TRAFFIC_TCP_MAX] = {0};
	struct err e = {0};
	struct endpoints t;
	int fd;

	(void)state;
	open_ends(&t, &tcp, 1, four);
	fd = knock(t.port[0], 77, 0);
	assert_int_equal(tcp_load_connect(t.load[1], other, none, &e), -ETIMEDOUT);
	assert_true(sent_away(fd, 0));
	for (unsigned int i = 0; i < 2; i++)
		tcp_load_close(t.load[i]);
}

/* A stream comes once: who says to be it again does not take its place. */
static void test_taken(void **state)
{
	static const struct traffic_tcp tcp = {.streams = 2};
	const uint16_t none[TRAFFIC_TCP_MAX] = {0};
	struct err e = {0};
	struct endpoints t;
	int fd[3];

	(void)state;
	open_ends(&t, &tcp, 1, four);
	for (unsigned int i = 0; i < ARRAY_SIZE(fd); i++)
		fd[i] = knock(t.port[0], 77, i / 2); /* 0, 0 again, 1 */
	if (tcp_load_connect(t.load[1], four, none, &e))
		fail_msg("%s", e.text);
	assert_false(sent_away(fd[0], 0));
	assert_true(sent_away(fd[1], 1000));
	assert_false(sent_away(fd[2], 0));
	for (unsigned int i = 0; i < 2; i++)
		tcp_load_close(t.load[i]);
}

/* No file descriptor is left for a stream that came: said at once, and not as one that did not. */
static void test_no_descriptor(void **state)
{
	static const struct traffic_tcp tcp = {.streams = 1};
	const uint16_t none[TRAFFIC_TCP_MAX] = {0};
	struct rlimit before, now;
	struct err e = {0};
	struct endpoints t;
	uint64_t began;
	int fd, err;

	(void)state;
	open_ends(&t, &tcp, 1, four);
	fd = knock(t.port[0], 77, 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	now = before;
	now.rlim_cur = (rlim_t)dup(fd); /* the next one */
	close((int)now.rlim_cur);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
	began = monotonic_ns();
	err = tcp_load_connect(t.load[1], four, none, &e);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(err, -EMFILE);
	assert_true(monotonic_ns() - began < 2000 * MS);
	assert_non_null(strstr(e.text, "TCP at 127.0.0.1: accept"));
	close(fd);
	for (unsigned int i = 0; i < 2; i++)
		tcp_load_close(t.load[i]);
}

/* Nobody there; an address of a link alone; an end that tells no port. */
static void test_no_connection(void **state)
{
	static const struct traffic_tcp tcp = {.streams = 1};
	static const uint8_t local[16] = {0xfe, 0x80, [15] = 1};
	uint16_t none[TRAFFIC_TCP_MAX] = {0};
	struct tcp_load *never = NULL;
	struct err e = {0};
	struct endpoints t;

	(void)state;
	open_ends(&t, &tcp, 1, four);
	tcp_load_close(t.load[1]);
	t.load[1] = NULL;
	assert_int_equal(tcp_load_connect(t.load[0], four, t.port, &e), -ECONNREFUSED);
	assert_non_null(strstr(e.text, "127.0.0.1"));
	assert_non_null(strstr(e.hint, "--tcp"));
	tcp_load_close(t.load[0]);
	open_ends(&t, &tcp, 1, four);
	assert_int_equal(tcp_load_connect(t.load[0], four, none, &e), -EPROTO);
	assert_int_equal(tcp_load_connect(t.load[0], six, t.port, &e), -EPROTO);
	assert_int_equal(tcp_load_open(&t.spec[1], local, none, &never, &e), -EADDRNOTAVAIL);
	assert_null(never);
	for (unsigned int i = 0; i < 2; i++)
		tcp_load_close(t.load[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_paced),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_no_descriptor),
		cmocka_unit_test(test_no_connection),
		cmocka_unit_test(test_broken_short),
		cmocka_unit_test(test_silent_strangers),
		cmocka_unit_test(test_other_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
