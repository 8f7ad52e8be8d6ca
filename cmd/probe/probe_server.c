/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck probe server: serves one probe. Accepts one client that proves the token, runs the
 * server side of its probe, and exits.
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
#include "profiles/base/process.h"
#include "profiles/base/signals.h"

#define WAIT_MS 600000u /* --wait */

static unsigned int port = PROBE_PORT, wait_ms = WAIT_MS;
static const char *listen_address, *peer_address;
static char client[64]; /* its address; static, because server_on_stuck() reads it */

static const struct opt server_opts[] = {
	{"port", 'p', OPT_UINT, &port, .max = 65535, .arg = "PORT",
	 .help = "TCP port to listen on (default 18515; 0 = any free port)"},
	{"listen", 0, OPT_STRING, &listen_address, .arg = "ADDRESS",
	 .help = "listen on ADDRESS only (default: all addresses)"},
	{"peer-address", 0, OPT_STRING, &peer_address, .arg = "ADDRESSES",
	 .help = "also allow traffic to ADDRESS[/LENGTH],... (default: only the client's)"},
	{"wait", 0, OPT_DURATION, &wait_ms, .arg = "TIME",
	 .help = "exit if no client connects within TIME (default 10m)"},
	{.name = NULL},
};

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
		printf("run on the client: rocecheck probe client -p %u %s\n", bound,
		       listen_address ? listen_address : "ADDRESS-OF-THIS-HOST");
	}
	return fflush(stdout) ? EXIT_ENVIRONMENT : code;
}

/* Prints at most one line per second, so that a flood of connections does not flood the log. */
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
			g->rejected, plural(g->rejected), g->last_rejected);
}

/* Latest totals of the traffic, to report them if the client is lost. */
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
			"rocecheck probe server: %s: no message for %d s, but the client's host "
			"still acknowledges: stopping the traffic, waiting %d s more\n",
			client, PROBE_LEASE_MS / 1000, PROBE_STARVED_MS / 1000);
}

static const struct {
	int code;
	unsigned int silent_ms; /* duration of the silence that ended the run, else 0 */
	const char *text;
} ends[] = {
	[AGENT_QUIT] = {EXIT_OK, 0, "done"},
	[AGENT_INPUT_CLOSED] = {EXIT_INCOMPLETE, 0,
				"the client closed the connection before the probe ended"},
	[AGENT_LEASE_EXPIRED] = {EXIT_INCOMPLETE, PROBE_LEASE_MS, "no message from the client"},
	[AGENT_STARVED] = {EXIT_INCOMPLETE, PROBE_LEASE_MS + PROBE_STARVED_MS,
			   "the client's host acknowledges, but the client sent no message"},
	[AGENT_OUTPUT_FAILED] = {EXIT_INCOMPLETE, 0, "the client does not read the replies"},
	[AGENT_STUCK] =
		{EXIT_INCOMPLETE, 0,
		 "the client is gone, and this process is stuck in a kernel or driver call: "
		 "exiting; see dmesg"},
};

/* Must not block: avoids stdio, whose locks another thread may hold, and a stderr that is full. */
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
			" bytes, %" PRIu64 " mismatches on this host\n",
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
	struct server_tally tally = {0};
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
		.arg = &tally,
		.on_stuck = server_on_stuck,
	};
	struct err e = {0};

	if (destinations_make(DESTINATION_OF_SERVER, client, peer_address, &destinations, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	process_self(self, sizeof(self));
	if (!globals->quiet)
		fprintf(stderr, "rocecheck probe server: %s: connected\n", client);
	if (agent_run(&config, &end, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	return server_report_end(end, &tally);
}

static int server_wait_client(int listen_fd, char token[TOKEN_LENGTH + 1])
{
	const struct timeval limit = {.tv_sec = 2}; /* time limit of a write */
	const int on = 1;
	struct listener listener = {.listen_fd = listen_fd,
				    .token = token,
				    .wait_ms = wait_ms,
				    .stop = signals_catch_stop(),
				    .refused = server_on_refused};
	struct err e = {0};
	int fd, err;

	err = listener_accept(&listener, &fd, client, &e);
	signals_release_stop(); /* from here on a signal ends the process and its traffic */
	explicit_bzero(token, TOKEN_LENGTH);
	close(listen_fd); /* one client only */
	server_report_strangers(&listener);
	if (err)
		return cmd_fail(err == -EINTR ? EXIT_INCOMPLETE : EXIT_ENVIRONMENT, &e);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return server_run_agent(fd); /* process exit closes the socket */
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
	.help = "serve one probe client, then exit",
	.opts = server_opts,
	.run = server_main,
};
