/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The door of `probe server`: who proves the token comes in, and nobody else, whatever they send,
 * however they cut it, and however many stand there. A server proves it as well, and a proof is of
 * no use elsewhere.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/io/tcp_socket.h"
#include "probe/io/handshake.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

#define WRONG "fedcba9876543210fedcba9876543210"

static struct handshake sample_talk(void)
{
	return (struct handshake){
		.client = "198.18.0.1 port 40000",
		.server = "198.18.0.2 port 18515",
		.greeting = {[HANDSHAKE_CLIENT] = "{\"client\":1}\n",
			     [HANDSHAKE_SERVER] = "{\"server\":2}\n"},
	};
}

/* By another implementation: Python's hmac. */
static void test_known_proofs(void **state)
{
	const struct handshake t = sample_talk();
	char line[HANDSHAKE_LINE_MAX];

	(void)state;
	handshake_proof_make(&t, HANDSHAKE_CLIENT, TOKEN, line);
	assert_string_equal(
		line, "{\"proof\":"
		      "\"52278010abd0df29253b6b1c7c496dc11a899b79b5e7b0cb7d517026d2a5848d\"}\n");
	handshake_proof_make(&t, HANDSHAKE_SERVER, TOKEN, line);
	assert_string_equal(
		line, "{\"proof\":"
		      "\"30e23d4b9e2da7aa610abbb441cf31af8f2ba34d477e983127158c16fcc292e7\"}\n");
}

/* A greeting has the addresses and ports of both ends, and a random number that is new each time.
 */
static void test_greeting_made(void **state)
{
	struct handshake t = sample_talk(), again = t;

	(void)state;
	for (enum handshake_role role = HANDSHAKE_CLIENT; role < HANDSHAKE_ROLES; role++) {
		assert_int_equal(handshake_greeting_make(&t, role), 0);
		assert_int_equal(handshake_greeting_make(&again, role), 0);
		assert_string_not_equal(t.greeting[role], again.greeting[role]);
		assert_true(strspn(strstr(t.greeting[role], "\"nonce\":\"") + 9,
				   "0123456789abcdef") == 64);
	}
	assert_non_null(strstr(t.greeting[HANDSHAKE_CLIENT], t.client));
	assert_non_null(strstr(t.greeting[HANDSHAKE_CLIENT], t.server));
}

/* Each of these changes it: no proof is right of other greetings, at the other end, with another
 * token. */
static void test_proof_covers(void **state)
{
	const struct handshake right = sample_talk();
	char line[HANDSHAKE_LINE_MAX];
	struct handshake t;
	struct err e = {0};
	size_t length;

	(void)state;
	handshake_proof_make(&right, HANDSHAKE_CLIENT, TOKEN, line);
	length = strlen(line) - 1;
	assert_int_equal(handshake_proof_check(line, length, HANDSHAKE_CLIENT, &right, TOKEN, &e),
			 0);
	assert_int_equal(handshake_proof_check(line, length, HANDSHAKE_SERVER, &right, TOKEN, &e),
			 -EACCES);
	assert_int_equal(handshake_proof_check(line, length, HANDSHAKE_CLIENT, &right, WRONG, &e),
			 -EACCES);
	for (enum handshake_role role = HANDSHAKE_CLIENT; role < HANDSHAKE_ROLES; role++) {
		for (size_t i = 0; right.greeting[role][i]; i++) {
			t = right;
			t.greeting[role][i] ^= 1;
			if (handshake_proof_check(line, length, HANDSHAKE_CLIENT, &t, TOKEN, &e) !=
			    -EACCES)
				fail_msg("byte %zu of greeting %u is not covered", i, role);
		}
	}
	t = right;
	strcpy(t.greeting[HANDSHAKE_CLIENT], right.greeting[HANDSHAKE_SERVER]);
	strcpy(t.greeting[HANDSHAKE_SERVER], right.greeting[HANDSHAKE_CLIENT]);
	assert_int_equal(handshake_proof_check(line, length, HANDSHAKE_CLIENT, &t, TOKEN, &e),
			 -EACCES);
}

/* Each single byte of the right line made each other byte: none of them opens the door. */
static void test_proof_spoiled(void **state)
{
	const struct handshake t = sample_talk();
	char line[HANDSHAKE_LINE_MAX];
	size_t length;

	(void)state;
	handshake_proof_make(&t, HANDSHAKE_CLIENT, TOKEN, line);
	length = strlen(line) - 1;
	for (size_t i = 0; i<length; i += i> 12 && i < length - 4 ? 16 : 1) {
		char right = line[i];

		for (unsigned int c = 0; c < 256; c++) {
			struct err e = {0};

			line[i] = (char)c;
			if (line[i] != right &&
			    !handshake_proof_check(line, length, HANDSHAKE_CLIENT, &t, TOKEN, &e))
				fail_msg("byte %zu as %u: %s", i, c, line);
		}
		line[i] = right;
	}
}

#define NONCE "1111111111111111111111111111111111111111111111111111111111111111"
#define FROM  "\"client\":\"198.18.0.1 port 40000\",\"server\":\"198.18.0.2 port 18515\""
#define HEAD  "{\"probe\":\"rocecheck.probe/3\",\"build\":\"0.1.0\",\"nonce\":\"" NONCE "\""

static void test_greetings(void **state)
{
	static const struct {
		const char *line;
		int want;
		const char *text;
	} cases[] = {
		{HEAD "," FROM "}", 0, ""},
		{HEAD "}", -EPROTO, "addresses differ"},
		{HEAD ",\"client\":\"10.0.0.1 port 40000\",\"server\":\"198.18.0.2 port "
		      "18515\"}",
		 -EPROTO,
		 "the server sees client address 198.18.0.1 port 40000, own address 198.18.0.2"},
		{HEAD ",\"client\":\"198.18.0.1 port 40000\",\"server\":\"192.0.2.9 port "
		      "18515\"}",
		 -EPROTO, "addresses differ"},
		{HEAD ",\"client\":\"\u202e\",\"server\":\"x\"}", -EPROTO, "addresses differ"},
		{"{\"probe\":\"rocecheck.probe/1\",\"token\":\"" TOKEN "\"}", -EPROTO,
		 "uses protocol rocecheck.probe/1, this host (build 0.1.0) uses rocecheck.probe/3"},
		{"{\"probe\":\"rocecheck.probe/4\",\"build\":\"0.4.2\"}", -EPROTO,
		 "(build 0.4.2) uses protocol rocecheck.probe/4"},
		{"{\"probe\":\"other/1\"}", -EPROTO, "not a client of protocol rocecheck.probe/3"},
		{"{\"token\":\"" TOKEN "\"}", -EPROTO, "not a client"},
		{TOKEN, -EPROTO, "not a client"},
		{"", -EPROTO, "not a client"},
		{"[]", -EPROTO, "not a client"},
		{"GET / HTTP/1.1", -EPROTO, "not a client"},
		{"\xff\xfe\x00", -EPROTO, "not a client"},
		{"{\"probe\":\"rocecheck.probe/3\",\"probe\":\"rocecheck.probe/3\"}", -EPROTO,
		 "not a client"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct handshake t = sample_talk();
		struct err e = {0};
		int got = handshake_greeting_parse(cases[i].line, strlen(cases[i].line),
						   HANDSHAKE_CLIENT, &t, &e);

		if (got != cases[i].want || !strstr(e.text, cases[i].text))
			fail_msg("%s: %d %s", cases[i].line, got, e.text);
		assert_null(strstr(e.text, TOKEN));
	}
}

struct server {
	struct listener gate;
	pthread_t thread;
	unsigned int port;
	atomic_int stop;
	int fd, rc;
	char peer[LISTENER_ADDRESS_BYTES];
	struct err err;
};

static atomic_uint refused;

static void on_refused(const char *peer, const char *why)
{
	assert_int_equal(strncmp(peer, "127.0.0.", 8), 0);
	assert_true(*why);
	refused++;
}

static void *wait_at_gate(void *arg)
{
	struct server *s = arg;

	s->rc = listener_accept(&s->gate, &s->fd, s->peer, &s->err);
	return NULL;
}

static void start_at(struct server *s, const char *address, unsigned int wait_ms)
{
	struct err e = {0};

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	s->gate = (struct listener){
		.token = TOKEN, .wait_ms = wait_ms, .stop = &s->stop, .refused = on_refused};
	refused = 0;
	assert_int_equal(socket_listen(address, 0, &s->gate.listen_fd, &s->port, &e), 0);
	assert_true(s->port > 0);
	assert_int_equal(pthread_create(&s->thread, NULL, wait_at_gate, s), 0);
}

static void start(struct server *s, unsigned int wait_ms)
{
	start_at(s, "127.0.0.1", wait_ms);
}

static void finish(struct server *s)
{
	pthread_join(s->thread, NULL);
	close(s->gate.listen_fd);
	if (s->fd >= 0)
		close(s->fd);
}

static int call(unsigned int port)
{
	char own[64], peer[64];
	struct err e = {0};
	int fd;

	if (tcp_connect("127.0.0.1", port, 5000, NULL, &fd, own, peer, &e))
		fail_msg("%s", e.text);
	assert_string_equal(own, "127.0.0.1");
	assert_string_equal(peer, "127.0.0.1");
	return fd;
}

/* From 127.0.0.x. */
static int call_from(unsigned int x, unsigned int port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000 | x)};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static int fcntl_block(int fd)
{
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

static void say(int fd, const char *text)
{
	(void)send(fd, text, strlen(text), MSG_NOSIGNAL);
}

/* What comes, within so long; false: nothing did. */
static bool hear(int fd, char *buf, size_t size, int within_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n;

	buf[0] = '\0';
	if (poll(&p, 1, within_ms) <= 0)
		return false;
	n = recv(fd, buf, size - 1, 0);
	buf[n > 0 ? n : 0] = '\0';
	return true;
}

static int enter(unsigned int port, const char *with, struct err *e)
{
	int fd = call(port), err = handshake_authenticate(fd, with, 15000, NULL, e);

	close(fd);
	return err;
}

static void expect_in(struct server *s, uint64_t within_ms)
{
	uint64_t began = monotonic_ms();
	struct err e = {0};

	if (enter(s->port, TOKEN, &e))
		fail_msg("%s", e.text);
	assert_true(monotonic_ms() - began < within_ms);
	finish(s);
	if (s->rc)
		fail_msg("%s", s->err.text);
	assert_string_equal(s->peer, "127.0.0.1");
}

static void test_let_in(void **state)
{
	struct server s;

	(void)state;
	start(&s, 20000);
	expect_in(&s, 1000);
	assert_int_equal(s.gate.rejected, 0);
	start_at(&s, NULL, 20000); /* "::", where IPv4 comes mapped */
	expect_in(&s, 1000);
}

/* A byte a packet. */
static void test_let_in_slowly(void **state)
{
	struct handshake talk = {0};
	char line[HANDSHAKE_LINE_MAX];
	struct err e = {0};
	struct server s;
	int fd;

	(void)state;
	start(&s, 20000);
	fd = call(s.port);
	assert_int_equal(socket_endpoints(fd, talk.client, talk.server), 0);
	assert_int_equal(handshake_greeting_make(&talk, HANDSHAKE_CLIENT), 0);
	for (const char *p = talk.greeting[HANDSHAKE_CLIENT]; *p; p++)
		say(fd, (const char[]){*p, '\0'});
	assert_true(hear(fd, line, sizeof(line), 2000));
	assert_int_equal(
		handshake_greeting_parse(line, strlen(line) - 1, HANDSHAKE_SERVER, &talk, &e), 0);
	handshake_proof_make(&talk, HANDSHAKE_CLIENT, TOKEN, line);
	for (const char *p = line; *p; p++)
		say(fd, (const char[]){*p, '\0'});
	assert_true(hear(fd, line, sizeof(line), 2000));
	assert_int_equal(
		handshake_proof_check(line, strlen(line) - 1, HANDSHAKE_SERVER, &talk, TOKEN, &e),
		0);
	finish(&s);
	assert_int_equal(s.rc, 0);
	close(fd);
}

#define CROWD (LISTENER_PENDING_MAX + 64)

/* A greeting as a client's. */
static void greet(int fd, struct handshake *talk)
{
	char line[HANDSHAKE_LINE_MAX];
	struct err e = {0};

	assert_int_equal(socket_endpoints(fd, talk->client, talk->server), 0);
	assert_int_equal(handshake_greeting_make(talk, HANDSHAKE_CLIENT), 0);
	say(fd, talk->greeting[HANDSHAKE_CLIENT]);
	if (hear(fd, line, sizeof(line), 3000) && *line)
		assert_int_equal(handshake_greeting_parse(line, strlen(line) - 1, HANDSHAKE_SERVER,
							  talk, &e),
				 0);
}

/* More strangers than there are places, from the client's own address; of the wrong ones none has
 * heard so yet. */
static void crowd_in(const char *kind, unsigned int port, int fd[CROWD])
{
	for (unsigned int i = 0; i < CROWD; i++) {
		struct handshake talk = {0};

		fd[i] = call(port);
		if (!strcmp(kind, "greeted"))
			greet(fd[i], &talk);
		else if (!strcmp(kind, "wrong"))
			say(fd[i], "x\n");
	}
}

static void crowd_out(int fd[CROWD])
{
	for (unsigned int i = 0; i < CROWD; i++)
		close(fd[i]);
}

static const char *const kinds[] = {"silent", "greeted", "wrong"};

/* Who comes last comes in at once. */
static void test_crowd(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct server s;
		int fd[CROWD];

		start(&s, 20000);
		crowd_in(kinds[i], s.port, fd);
		expect_in(&s, 1500);
		assert_true(s.gate.rejected >= CROWD - LISTENER_PENDING_MAX);
		crowd_out(fd);
	}
}

/* Who has greeted leaves for none that has not, and who is silent for none that was wrong. */
static void test_gives_way(void **state)
{
	static const struct {
		bool greets_before;
		const char *crowd;
		bool is_in;
	} cases[] = {
		{true, "silent", true},	  {true, "wrong", true},  {true, "greeted", false},
		{false, "silent", false}, {false, "wrong", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct handshake talk = {0};
		char line[HANDSHAKE_LINE_MAX];
		struct server s;
		int fd[CROWD], own;

		start(&s, 20000);
		own = call(s.port);
		if (cases[i].greets_before)
			greet(own, &talk);
		crowd_in(cases[i].crowd, s.port, fd);
		if (cases[i].is_in) {
			if (!cases[i].greets_before)
				greet(own, &talk);
			handshake_proof_make(&talk, HANDSHAKE_CLIENT, TOKEN, line);
			say(own, line);
		}
		if (!hear(own, line, sizeof(line), 3000) || !*line != !cases[i].is_in)
			fail_msg("case %zu: '%s'", i, line);
		s.stop = 1;
		finish(&s);
		assert_int_equal(s.rc, cases[i].is_in ? 0 : -EINTR);
		close(own);
		crowd_out(fd);
	}
}

/* Wrong ones end nothing. Each is answered equally late, and the right one at once. */
static void test_wrong(void **state)
{
	uint64_t began, took;
	struct err e = {0};
	struct server s;

	(void)state;
	start(&s, 30000);
	for (unsigned int i = 0; i < 4; i++) {
		began = monotonic_ms();
		assert_int_equal(enter(s.port, WRONG, &e), -EACCES);
		assert_non_null(strstr(e.text, "the token does not match the server's token"));
		took = monotonic_ms() - began;
		assert_true(took >= HANDSHAKE_REJECT_MS && took < HANDSHAKE_REJECT_MS + 1000);
	}
	expect_in(&s, 1000);
	assert_int_equal(s.gate.rejected, 4);
	assert_int_equal(strncmp(s.gate.last_rejected, "127.0.0.1 port ", 15), 0);
	assert_int_equal(refused, 4);
}

/* Nonsense of any kind is answered as an error, late, without the token. */
static void test_refused(void **state)
{
	static const char *const lines[] = {
		"{\"probe\":\"rocecheck.probe/1\",\"token\":\"" TOKEN "\"}\n",
		HEAD "," FROM "}\n",
		HEAD "}\nmore", /* it did not wait for us */
		"\n",
		"long",
	};
	char too_long[2048], answer[1024];

	(void)state;
	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct server s;
		int fd;

		start(&s, 20000);
		fd = call(s.port);
		say(fd, strcmp(lines[i], "long") ? lines[i] : too_long);
		assert_false(hear(fd, answer, sizeof(answer), HANDSHAKE_REJECT_MS / 2));
		assert_true(hear(fd, answer, sizeof(answer), 3000));
		if (*answer) { /* what it has not read makes a reset of it */
			assert_non_null(strstr(answer, "\"error\""));
			assert_null(strstr(answer, TOKEN));
		}
		close(fd);
		expect_in(&s, 1000);
		assert_int_equal(refused, 1);
	}
}

static void test_nobody_comes(void **state)
{
	struct server s;

	(void)state;
	start(&s, 200);
	finish(&s);
	assert_int_equal(s.rc, -ETIMEDOUT);
	start(&s, 0);
	s.stop = 1;
	finish(&s);
	assert_int_equal(s.rc, -EINTR);
}

/* A listener of a test, in the place of a server. */
struct impostor {
	int listen_fd;
	unsigned int port;
	unsigned int real; /* port of a server that it passes lines on to; 0: none */
	bool rewrite;	   /* the addresses, as if it were the client */
	pthread_t thread;
	char heard[4096];
};

static void pass(int from, int to, const struct handshake *talk, struct impostor *m)
{
	char line[HANDSHAKE_LINE_MAX * 2], *ends;

	if (!hear(from, line, sizeof(line), 3000))
		return;
	strncat(m->heard, line, sizeof(m->heard) - strlen(m->heard) - 1);
	ends = strstr(line, ",\"client\"");
	if (m->rewrite && ends)
		snprintf(ends, HANDSHAKE_LINE_MAX, ",\"client\":\"%s\",\"server\":\"%s\"}\n",
			 talk->client, talk->server);
	say(to, line);
}

static void *be_impostor(void *arg)
{
	struct impostor *m = arg;
	struct handshake talk = {0};
	int fd = accept(m->listen_fd, NULL, NULL), on = -1;
	char line[HANDSHAKE_LINE_MAX];

	if (m->real) {
		on = call_from(3, m->real);
		assert_int_equal(socket_endpoints(on, talk.client, talk.server), 0);
		pass(fd, on, &talk, m);
		pass(on, fd, &talk, m);
		pass(fd, on, &talk, m);
		pass(on, fd, &talk, m);
		close(on);
	} else {
		(void)hear(fd, m->heard, sizeof(m->heard), 2000);
		assert_int_equal(handshake_greeting_make(&talk, HANDSHAKE_SERVER), 0);
		say(fd, talk.greeting[HANDSHAKE_SERVER]);
		(void)hear(fd, m->heard + strlen(m->heard), 1024, 2000);
		handshake_proof_make(&talk, HANDSHAKE_SERVER, WRONG, line);
		say(fd, line);
		(void)hear(fd, m->heard + strlen(m->heard), 1024, 2000);
	}
	close(fd);
	return NULL;
}

/* A server without the token hears neither it nor anything but a greeting and a proof. */
static void test_false_server(void **state)
{
	struct impostor m = {0};
	struct err e = {0};
	char *end;

	(void)state;
	assert_int_equal(socket_listen("127.0.0.1", 0, &m.listen_fd, &m.port, &e), 0);
	assert_int_equal(fcntl_block(m.listen_fd), 0);
	assert_int_equal(pthread_create(&m.thread, NULL, be_impostor, &m), 0);
	assert_int_equal(enter(m.port, TOKEN, &e), -EACCES);
	assert_non_null(strstr(e.text, "the server does not know the token"));
	pthread_join(m.thread, NULL);
	close(m.listen_fd);
	assert_null(strstr(m.heard, TOKEN));
	assert_null(strstr(m.heard, "token"));
	end = strstr(m.heard, "\"proof\"");
	assert_non_null(end);
	assert_string_equal(strchr(end, '\n'), "\n");
}

/* A server that passes all on to another one, whose token it is, does not get in: with the client's
 * addresses nor with its own. */
static void test_relay(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct impostor m = {.rewrite = i};
		struct err e = {0};
		struct server s;

		start(&s, 20000);
		m.real = s.port;
		assert_int_equal(socket_listen("127.0.0.1", 0, &m.listen_fd, &m.port, &e), 0);
		assert_int_equal(fcntl_block(m.listen_fd), 0);
		assert_int_equal(pthread_create(&m.thread, NULL, be_impostor, &m), 0);
		assert_int_equal(enter(m.port, TOKEN, &e), i ? -EACCES : -EPROTO);
		assert_non_null(
			strstr(e.text, i ? "the token does not match" : "addresses differ"));
		pthread_join(m.thread, NULL);
		close(m.listen_fd);
		assert_int_equal(s.fd, -1);
		expect_in(&s, 1000);
	}
}

static void test_dial_and_listen_errors(void **state)
{
	char own[64], peer[64];
	unsigned int port, again;
	struct err e = {0};
	int fd, other;

	(void)state;
	assert_int_equal(socket_listen("127.0.0.1", 0, &fd, &port, &e), 0);
	assert_int_equal(socket_listen("127.0.0.1", port, &other, &again, &e), -EADDRINUSE);
	assert_non_null(strstr(e.hint, "-p"));
	close(fd);
	assert_int_equal(socket_listen("host.invalid", 0, &fd, &port, &e), -EINVAL);
	assert_int_equal(tcp_connect("127.0.0.1", port ? port : 1, 2000, NULL, &fd, own, peer, &e),
			 -ECONNREFUSED);
	assert_non_null(strstr(e.hint, "probe server"));
	assert_int_not_equal(tcp_connect("host.invalid", 1, 2000, NULL, &fd, own, peer, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_proofs),
		cmocka_unit_test(test_greeting_made),
		cmocka_unit_test(test_proof_covers),
		cmocka_unit_test(test_proof_spoiled),
		cmocka_unit_test(test_greetings),
		cmocka_unit_test(test_let_in),
		cmocka_unit_test(test_let_in_slowly),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_gives_way),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_nobody_comes),
		cmocka_unit_test(test_false_server),
		cmocka_unit_test(test_relay),
		cmocka_unit_test(test_dial_and_listen_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
