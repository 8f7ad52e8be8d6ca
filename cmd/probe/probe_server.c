/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck probe server: the far end of one probe. It lets one client in, the one that proves the
 * token, does what that client's probe asks of this host, and ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/probe/probe.h"
#include "probe/agent/agent.h"
#include "probe/io/destination.h"
#include "profiles/base/stop.h"

#define WAIT_MS 600000u /* for the client */

static unsigned int port = PROBE_PORT, wait_ms = WAIT_MS;
static const char *listen_address, *token_file, *peer_address;
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
	{.name = "token-file",
	 .kind = OPT_STRING,
	 .value = &token_file,
	 .arg = "FILE",
	 .help = "the token, in place of one made here; - reads it from stdin"},
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

/* Processes that are started later do not inherit it. */
static int token_of_environment(struct token_list *tokens, struct err *e)
{
	char *variable = getenv(PROBE_TOKEN_VARIABLE);
	int err;

	if (!variable || !*variable)
		return 0;
	err = token_check(variable, PROBE_TOKEN_VARIABLE, e);
	if (!err) {
		strcpy(tokens->row[0].token, variable);
		tokens->count = 1;
	}
	explicit_bzero(variable, strlen(variable));
	(void)unsetenv(PROBE_TOKEN_VARIABLE);
	return err;
}

int probe_tokens_find(const char *file, struct token_list *tokens, struct err *e)
{
	memset(tokens, 0, sizeof(*tokens));
	return file ? token_list_load(file, tokens, e) : token_of_environment(tokens, e);
}

/* made: the token is ours, and nobody else knows it. */
static int announce(unsigned int bound, const char *token, bool made)
{
	int code = EXIT_OK;

	if (globals->json) {
		code = cmd_print_json(json_pack("{s:s, s:s?, s:i, s:s?, s:i}", "schema",
						"rocecheck.probe-server/1", "address",
						listen_address, "port", (int)bound, "token",
						made ? token : NULL, "pid", (int)getpid()));
	} else {
		printf("listening on %s port %u, for one client\n",
		       listen_address ? listen_address : "all addresses", bound);
		if (made)
			printf("token %s\n", token);
		printf("at the other host: rocecheck probe client -p %u ADDRESS-OF-THIS-HOST\n",
		       bound);
	}
	return fflush(stdout) ? EXIT_ENVIRONMENT : code;
}

static void on_refused(const char *peer, const char *why, unsigned int unreported, void *arg)
{
	(void)arg;
	if (globals->quiet)
		return;
	if (unreported)
		fprintf(stderr, "rocecheck probe server: %u more refused\n", unreported);
	fprintf(stderr, "rocecheck probe server: %s: refused: %s\n", peer, why);
}

static void report_strangers(const struct gate_strangers *s)
{
	if (s->count && !globals->quiet)
		fprintf(stderr,
			"rocecheck probe server: %u connection%s without the token, the last one "
			"from %s\n",
			s->count, s->count == 1 ? "" : "s", s->last);
}

/* The last word of the traffic: what there is to tell when the client is lost. */
struct tale {
	uint64_t messages, bytes, mismatches;
	bool any, ended;
};

static void on_passing(const char *key, const json_t *doc, void *arg)
{
	struct tale *t = arg;

	t->any = true;
	t->ended = !strcmp(key, "result");
	t->messages = (uint64_t)json_integer_value(json_object_get(doc, "messages"));
	t->bytes = (uint64_t)json_integer_value(json_object_get(doc, "bytes"));
	t->mismatches = (uint64_t)json_integer_value(json_object_get(doc, "mismatches"));
}

static void on_starved(void *arg)
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
	[AGENT_INPUT_ENDED] = {EXIT_INCOMPLETE, 0,
			       "it closed the connection before the probe was over"},
	[AGENT_SILENCE] = {EXIT_INCOMPLETE, PROBE_LEASE_MS, "nothing heard of it"},
	[AGENT_STARVED] = {EXIT_INCOMPLETE, PROBE_LEASE_MS + PROBE_STARVED_MS,
			   "its host answers, but nothing was heard of its program"},
	[AGENT_UNHEARD] = {EXIT_INCOMPLETE, 0, "it does not read what it asked for"},
	[AGENT_STUCK] = {EXIT_INCOMPLETE, 0,
			 "it is gone, and a call into the kernel or a driver does not return here: "
			 "ended without it; see dmesg"},
};

/* Nothing that another thread may hold: neither stdio nor a stderr that nobody reads. */
static int on_stuck(void)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (poll(&p, 1, 0) > 0)
		dprintf(STDERR_FILENO, "rocecheck probe server: %s: %s\n", client,
			ends[AGENT_STUCK].text);
	return ends[AGENT_STUCK].code;
}

static int tell_end(enum agent_end end, const struct tale *t)
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

static int serve(int fd)
{
	struct destinations destinations;
	enum agent_end end = AGENT_INPUT_ENDED;
	struct tale tale = {0};
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
		.passing = on_passing,
		.starved = on_starved,
		.arg = &tale,
		.stuck = on_stuck,
	};
	struct err e = {0};

	if (destinations_make(DESTINATION_OF_SERVER, client, peer_address, &destinations, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	probe_self(self, sizeof(self));
	if (!globals->quiet)
		fprintf(stderr, "rocecheck probe server: %s: connected\n", client);
	if (agent_run(&config, &end, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	return tell_end(end, &tale);
}

static int wait_and_serve(int listen_fd, const struct gate_key *key)
{
	struct gate gate = {.listen_fd = listen_fd,
			    .key = key,
			    .wait_ms = wait_ms,
			    .stop = cmd_stop_signals(),
			    .refused = on_refused};
	struct gate_strangers strangers;
	struct err e = {0};
	int fd, err;

	err = gate_wait(&gate, &fd, client, &strangers, &e);
	cmd_stop_release(); /* a run ends with the signal, and its traffic with it */
	close(listen_fd);   /* nobody else is heard */
	report_strangers(&strangers);
	if (err)
		return cmd_fail(err == -EINTR ? EXIT_INCOMPLETE : EXIT_ENVIRONMENT, &e);
	return serve(fd); /* the socket ends with the process */
}

/* The one of the user, else one that is made. */
static int find_token(char token[TOKEN_MAX + 1], bool *made, struct err *e)
{
	struct token_list tokens;
	int err = probe_tokens_find(token_file, &tokens, e);
	const char *given = token_list_find(&tokens, NULL);

	*made = !tokens.count;
	if (!err && given)
		strcpy(token, given);
	else if (!err && tokens.count)
		err = err_set(e, -EINVAL, "%s: expected one token, without a host", token_file);
	else if (!err)
		err = token_make(token, e);
	token_list_clear(&tokens);
	return err;
}

static int run_server(int argc, char **argv)
{
	struct destinations checked;
	char token[TOKEN_MAX + 1];
	struct gate_key key;
	struct err e = {0};
	unsigned int bound;
	bool made = false;
	int fd, code;

	if (argc)
		return cmd_usage(&cmd_probe_server, "unexpected argument '%s'", argv[0]);
	if (destinations_make(DESTINATION_OF_SERVER, "::", peer_address, &checked, &e))
		return cmd_fail(EXIT_USAGE, &e);
	if (find_token(token, &made, &e))
		return cmd_fail(made && e.code == -EIO ? EXIT_ENVIRONMENT : EXIT_USAGE, &e);
	gate_key_make(token, &key);
	if (gate_listen(listen_address, port, &fd, &bound, &e))
		return cmd_fail(e.code == -EINVAL ? EXIT_USAGE : EXIT_ENVIRONMENT, &e);
	code = announce(bound, token, made);
	explicit_bzero(token, sizeof(token));
	if (code)
		close(fd);
	else
		code = wait_and_serve(fd, &key);
	explicit_bzero(&key, sizeof(key));
	return code;
}

const struct command cmd_probe_server = {
	.name = "probe server",
	.args = "",
	.help = "be the far end of one probe",
	.opts = server_opts,
	.run = run_server,
};
