/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck probe server: the far end of one probe. It lets one client in, the one that proves the
 * token, does what that client's probe asks of this host, and ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/probe/probe.h"
#include "probe/agent/agent.h"
#include "probe/io/destination.h"
#include "probe/io/handshake.h"
#include "probe/io/token.h"
#include "profiles/base/signals.h"

#define WAIT_MS 600000u /* for the client */

static unsigned int port = PROBE_PORT, wait_ms = WAIT_MS;
static const char *listen_address, *peer_address;
static char client[64]; /* its address; there to the end of the process, for who ends it */

static const struct opt server_opts[] = {
	{.name = "port",
	 .letter = 'p',
	 .kind = OPT_UINT,
	 .value = &port,
	 .max = 65535,
	 .arg = "PORT",
	 .help = "TCP port to listen on, 18515; 0 takes a free one"},
	{.name = "listen",
	 .kind = OPT_STRING,
	 .value = &listen_address,
	 .arg = "ADDRESS",
	 .help = "this address alone, not all of the host"},
	{.name = "wait",
	 .kind = OPT_DURATION,
	 .value = &wait_ms,
	 .arg = "TIME",
	 .help = "end when no client came for so long, 10m"},
	{.name = "peer-address",
	 .kind = OPT_STRING,
	 .value = &peer_address,
	 .arg = "ADDRESS[/LENGTH],..",
	 .help = "send traffic to these too, not to the client's address alone"},
	{.name = NULL},
};

void probe_self(char *buf, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", buf, size - 1);

	if (length > 0)
		buf[length] = '\0';
	else
		snprintf(buf, size, "rocecheck");
}

static int server_announce(unsigned int bound, const char *token)
{
	int code = EXIT_OK;

	if (globals->json) {
		code = cmd_print_json(json_pack("{s:s, s:s?, s:i, s:s, s:i}", "schema",
						"rocecheck.probe-server/1", "address",
						listen_address, "port", (int)bound, "token", token,
						"pid", (int)getpid()));
	} else {
		printf("listening on %s port %u, for one client\n",
		       listen_address ? listen_address : "all addresses", bound);
		printf("token %s\n", token);
		printf("at the other host: rocecheck probe client -p %u ADDRESS-OF-THIS-HOST\n",
		       bound);
	}
	return fflush(stdout) ? EXIT_ENVIRONMENT : code;
}

/* A line a second at most: a flood of strangers is no flood of lines. */
static void server_on_refused(const char *peer, const char *why)
{
	static uint64_t next_ms;
	uint64_t now_ms = monotonic_ms();

	if (globals->quiet || now_ms < next_ms)
		return;
	next_ms = now_ms + 1000;
	fprintf(stderr, "rocecheck probe server: %s: refused: %s\n", peer, why);
}

static void server_report_strangers(const struct listener *g)
{
	if (g->rejected && !globals->quiet)
		fprintf(stderr,
			"rocecheck probe server: %u connection%s without the token, the last one "
			"from %s\n",
			g->rejected, g->rejected == 1 ? "" : "s", g->last_rejected);
}

/* The last word of the traffic: what there is to tell when the client is lost. */
struct server_tally {
	uint64_t messages, bytes, mismatches;
	bool any, ended;
};

static void server_on_traffic(const char *key, const json_t *doc, void *arg)
{
	struct server_tally *t = arg;

	t->any = true;
	t->ended = !strcmp(key, "result");
	t->messages = (uint64_t)json_integer_value(json_object_get(doc, "messages"));
	t->bytes = (uint64_t)json_integer_value(json_object_get(doc, "bytes"));
	t->mismatches = (uint64_t)json_integer_value(json_object_get(doc, "mismatches"));
}

static void server_on_starved(void *arg)
{
	(void)arg;
	if (!globals->quiet)
		fprintf(stderr,
			"rocecheck probe server: %s: nothing heard of it for %d s, but its host "
			"answers: its traffic ends, and it has %d s more\n",
			client, PROBE_LEASE_MS / 1000, PROBE_STARVED_MS / 1000);
}

static const struct {
	int code;
	unsigned int silent_ms; /* for so long; 0: silence is not why */
	const char *text;
} ends[] = {
	[AGENT_QUIT] = {EXIT_OK, 0, "done"},
	[AGENT_INPUT_CLOSED] = {EXIT_INCOMPLETE, 0,
				"it closed the connection before the probe was over"},
	[AGENT_LEASE_EXPIRED] = {EXIT_INCOMPLETE, PROBE_LEASE_MS, "nothing heard of it"},
	[AGENT_STARVED] = {EXIT_INCOMPLETE, PROBE_LEASE_MS + PROBE_STARVED_MS,
			   "its host answers, but nothing was heard of its program"},
	[AGENT_OUTPUT_FAILED] = {EXIT_INCOMPLETE, 0, "it does not read what it asked for"},
	[AGENT_STUCK] = {EXIT_INCOMPLETE, 0,
			 "it is gone, and a call into the kernel or a driver does not return here: "
			 "ended without it; see dmesg"},
};

/* Nothing that another thread may hold: neither stdio nor a stderr that nobody reads. */
static int server_on_stuck(void)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (poll(&p, 1, 0) > 0)
		dprintf(STDERR_FILENO, "rocecheck probe server: %s: %s\n", client,
			ends[AGENT_STUCK].text);
	return ends[AGENT_STUCK].code;
}

static int server_report_end(enum agent_stop_reason end, const struct server_tally *t)
{
	char silence[24] = "";

	if (t->any && !globals->quiet)
		fprintf(stderr,
			"rocecheck probe server: %s%" PRIu64 " messages, %" PRIu64
			" bytes, %" PRIu64 " mismatches at this end\n",
			t->ended ? "" : "partial: ", t->messages, t->bytes, t->mismatches);
	if (ends[end].silent_ms)
		snprintf(silence, sizeof(silence), " for %u s", ends[end].silent_ms / 1000);
	if (!globals->quiet || ends[end].code)
		fprintf(stderr, "rocecheck probe server: %s: %s%s\n", client, ends[end].text,
			silence);
	return ends[end].code;
}

static int server_run_agent(int fd)
{
	struct destinations destinations;
	enum agent_stop_reason end = AGENT_INPUT_CLOSED;
	struct server_tally tale = {0};
	char self[4096];
	struct agent_config config = {
		.build = ROCECHECK_VERSION,
		.self = self,
		.in_fd = fd,
		.out_fd = fd,
		.probe_only = true,
		.destinations = &destinations,
		.lease_ms = PROBE_LEASE_MS,
		.starved_ms = PROBE_STARVED_MS,
		.alive_ms = PROBE_ALIVE_MS,
		.on_traffic = server_on_traffic,
		.on_starved = server_on_starved,
		.arg = &tale,
		.on_stuck = server_on_stuck,
	};
	struct err e = {0};

	if (destinations_make(DESTINATION_OF_SERVER, client, peer_address, &destinations, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	probe_self(self, sizeof(self));
	if (!globals->quiet)
		fprintf(stderr, "rocecheck probe server: %s: connected\n", client);
	if (agent_run(&config, &end, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	return server_report_end(end, &tale);
}

static int server_wait_client(int listen_fd, char token[TOKEN_LENGTH + 1])
{
	const struct timeval limit = {.tv_sec = 2}; /* no write hangs for ever */
	const int on = 1;
	struct listener gate = {.listen_fd = listen_fd,
				.token = token,
				.wait_ms = wait_ms,
				.stop = signals_catch_stop(),
				.refused = server_on_refused};
	struct err e = {0};
	int fd, err;

	err = listener_accept(&gate, &fd, client, &e);
	signals_release_stop(); /* a run ends with the signal, and its traffic with it */
	explicit_bzero(token, TOKEN_LENGTH);
	close(listen_fd); /* nobody else is heard */
	server_report_strangers(&gate);
	if (err)
		return cmd_fail(err == -EINTR ? EXIT_INCOMPLETE : EXIT_ENVIRONMENT, &e);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return server_run_agent(fd); /* the socket ends with the process */
}

static int server_main(int argc, char **argv)
{
	struct destinations checked;
	char token[TOKEN_LENGTH + 1];
	struct err e = {0};
	unsigned int bound;
	int fd, code;

	if (argc)
		return cmd_usage(&cmd_probe_server, "unexpected argument '%s'", argv[0]);
	if (destinations_make(DESTINATION_OF_SERVER, "::", peer_address, &checked, &e))
		return cmd_fail(EXIT_USAGE, &e);
	if (token_make(token, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (socket_listen(listen_address, port, &fd, &bound, &e))
		return cmd_fail(e.code == -EINVAL ? EXIT_USAGE : EXIT_ENVIRONMENT, &e);
	code = server_announce(bound, token);
	if (code)
		close(fd);
	else
		code = server_wait_client(fd, token);
	return code;
}

const struct command cmd_probe_server = {
	.name = "probe server",
	.args = "",
	.help = "be the far end of one probe",
	.opts = server_opts,
	.run = server_main,
};
