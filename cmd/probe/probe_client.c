/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck probe client: traffic to a `probe server`, the counters of both ends around it, and
 * what came out. Ctrl-C ends the traffic and tells what there is; a second one ends the program.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/probe/probe.h"
#include "cmd/probe/probe_choice.h"
#include "cmd/probe/probe_live.h"
#include "cmd/probe/probe_record.h"
#include "cmd/probe/probe_text.h"
#include "dcb/kernel/dcb.h"
#include "probe/coord/incast.h"
#include "profiles/base/json_file.h"
#include "profiles/base/signals.h"
#include "reports/traffic/size_verdict.h"

static struct termios shown; /* the terminal as it was before a token was asked for */

/* Ends as the signal does, but for a terminal that shows again what is typed. */
static void end_asking(int signal)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &shown);
	raise(signal);
}

/* Of this host, from a person, without showing it. */
static int ask_token(const char *host, struct token_list *tokens, struct err *e)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = end_asking,
				   .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
	struct sigaction before[ARRAY_SIZE(ends)];
	struct termios quiet;
	int err;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &shown)) {
		err_set(e, -EINVAL, "the token of the server %s is needed", host);
		err_hint(e, "--token-file FILE, or %s in the environment", PROBE_TOKEN_VARIABLE);
		return -EINVAL;
	}
	fprintf(stderr, "token of the server %s: ", host);
	quiet = shown;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &action, &before[i]);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	err = token_list_load("-", tokens, e);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &before[i], NULL);
	fputc('\n', stderr);
	return err;
}

int probe_exit_for(enum verdict v)
{
	static const int codes[] = {
		[VERDICT_PASS] = EXIT_OK,
		[VERDICT_WARN] = EXIT_OK,
		[VERDICT_FAIL] = EXIT_FINDINGS,
		[VERDICT_INCONCLUSIVE] = EXIT_INCOMPLETE,
	};

	return (unsigned int)v < ARRAY_SIZE(codes) ? codes[v] : EXIT_INCOMPLETE;
}

/* What came out, judged when traffic was begun. */
struct outcome {
	const struct two_ended *t;
	struct two_ended_verdict *verdict; /* NULL: there was nothing to judge, as the next */
	struct size_verdicts *sizes;	   /* of a sweep, in its place */
	const struct folder *record;	   /* of --out, path NULL without one */
	int code;
};

static int judge_traffic(struct outcome *o, struct err *e)
{
	o->verdict = calloc(1, sizeof(*o->verdict));
	if (!o->verdict)
		return err_sys(e, -ENOMEM, "verdict");
	if (two_ended_judge(o->t, o->verdict, e)) {
		free(o->verdict);
		o->verdict = NULL;
		return e->code;
	}
	o->code = cmd_worse(o->code, probe_exit_for(o->verdict->v.verdict));
	return 0;
}

static int judge_sizes(struct outcome *o, struct err *e)
{
	int err = size_verdicts_make(o->t, &o->sizes, e);

	if (!err)
		o->code = cmd_worse(o->code, probe_exit_for(o->sizes->verdict));
	return err;
}

static void judge(struct outcome *o, int err, const struct err *why)
{
	struct err e = {0};

	if (err)
		o->code = o->t->partial || err == -EINTR || err == -EPIPE
				  ? EXIT_INCOMPLETE
				  : cmd_exit_for(why, EXIT_ENVIRONMENT);
	if (o->t->ran && (o->t->size ? judge_sizes(o, &e) : judge_traffic(o, &e)))
		o->code = cmd_worse(o->code, cmd_fail(EXIT_ENVIRONMENT, &e));
}

static json_t *verdict_to_json(const struct outcome *o, json_t *doc)
{
	if (o->sizes)
		return size_verdicts_to_json(o->sizes, json_object_get(doc, "sizes"));
	return o->verdict ? traffic_verdict_to_json(&o->verdict->v, &o->verdict->in) : json_null();
}

static json_t *document(const struct outcome *o)
{
	json_t *doc = two_ended_to_json(o->t);

	return probe_document(doc, verdict_to_json(o, doc), o->code);
}

static int save(const struct outcome *o)
{
	struct err e = {0};
	int err;

	if (!o->record->path)
		return o->code;
	err = run_save(&o->t->run, o->record, &e);
	if (!err)
		err = json_file_save_in(document(o), o->record, "probe.json", &e);
	return probe_record_tell(o->record, o->code, err, &e);
}

/* The product first. */
static int tell(const struct two_ended *t, const struct folder *record, int err,
		const struct err *e)
{
	struct outcome o = {.t = t, .record = record};
	int code;

	judge(&o, err, e);
	if (err)
		cmd_fail(o.code, e);
	if (globals->json) {
		o.code = cmd_worse(o.code, cmd_print_json(document(&o)));
	} else {
		probe_print(t, stdout);
		if (t->size)
			probe_print_sizes(t, o.sizes, stdout);
		if (o.verdict)
			probe_print_verdict(&o.verdict->v, stdout);
	}
	code = save(&o);
	free(o.verdict);
	size_verdicts_free(o.sizes);
	return code;
}

static int run_probe(const struct two_ended_wish *w, const struct folder *record,
		     struct probe_talk *talk)
{
	struct two_ended *t = calloc(1, sizeof(*t));
	struct err e = {0};
	int err, code;

	if (!t) {
		err_sys(&e, -ENOMEM, "probe");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	err = two_ended_run(w, t, &e);
	probe_talk_clear(talk);
	code = tell(t, record, err, &e);
	two_ended_clear(t);
	free(t);
	return code;
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

/* Those of --token-file, else the one of the environment; none when there is neither. A token never
 * stands on a command line, where every user of the host can read it. */
static int given_tokens(const char *file, struct token_list *tokens, struct err *e)
{
	memset(tokens, 0, sizeof(*tokens));
	return file ? token_list_load(file, tokens, e) : token_of_environment(tokens, e);
}

/* What is known of the tokens of so many hosts; who is asked for the rest. */
struct key_ring {
	struct token_list given;
	struct token_list asked[INCAST_MAX];
	const char *token[INCAST_MAX];
};

static int find_tokens(struct key_ring *ring, char **host, int count, struct err *e)
{
	int err = given_tokens(probe_choice.token_file, &ring->given, e);

	for (int i = 0; i < count && !err; i++) {
		ring->token[i] = token_list_find(&ring->given, host[i]);
		if (ring->token[i])
			continue;
		if (ring->given.count) {
			err_set(e, -EINVAL, "%s: no token for %s", probe_choice.token_file,
				host[i]);
			err_hint(e, "add a line '%.200s TOKEN'", host[i]);
			return -EINVAL;
		}
		err = ask_token(host[i], &ring->asked[i], e);
		if (!err)
			ring->token[i] = token_list_find(&ring->asked[i], host[i]);
		if (!err && !ring->token[i])
			err = err_set(e, -EINVAL, "no token for %s", host[i]);
	}
	return err;
}

/* Of the device that the run would use. */
static int measure_registration(const struct two_ended_wish *w, struct registration *r,
				struct err *e)
{
	const struct ends_wish wish = {
		.name = "this host",
		.device = w->device[SIDE_CLIENT],
		.ib_port = w->ib_port[SIDE_CLIENT],
	};
	struct snapshot s = {0};
	const char *ibdev = NULL;
	struct dcb *dcb = NULL;
	int err = dcb_open(NULL, &dcb, e);

	if (!err)
		err = snapshot_take_ports(dcb, NULL, 0, &s, e);
	if (!err)
		err = ends_device(&s, &wish, &ibdev, e);
	if (!err)
		err = registration_measure(ibdev, r, e);
	snapshot_clear(&s);
	dcb_close(dcb);
	return err;
}

static void explain(const struct two_ended_wish *w)
{
	struct registration r;
	struct err e = {0};
	int err = measure_registration(w, &r, &e);

	probe_explain(w, stdout);
	fputc('\n', stdout);
	probe_explain_registration(&r, err ? &e : NULL, stdout);
}

static int run(struct two_ended_wish *w, char **host, const char *const *token, int count)
{
	bool terminal = isatty(STDERR_FILENO);
	struct probe_talk talk = {0};
	struct folder record = {0};
	struct err e = {0};
	int code;

	if (probe_record_open(&record, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	w->say = !globals->quiet && (terminal || globals->verbose) ? probe_talk_say : NULL;
	w->live = !globals->quiet && terminal ? probe_talk_live : NULL;
	w->arg = &talk;
	w->stop = cmd_stop_signals();
	if (probe_choice.incast) {
		code = probe_run_incast(w, (const char *const *)host, token, (unsigned int)count,
					&record);
	} else {
		w->host = host[0];
		w->token = token[0];
		code = run_probe(w, &record, &talk);
	}
	folder_close(&record);
	return code;
}

static int run_client(int argc, char **argv)
{
	struct two_ended_wish w = {0};
	struct key_ring *ring;
	char self[PATH_MAX];
	struct err e = {0};
	int code;

	probe_choice.servers = (unsigned int)argc;
	if (probe_choice_make(&probe_choice, &w, &e))
		return cmd_fail(EXIT_USAGE, &e);
	if (argc > 1 && !probe_choice.incast)
		return cmd_usage(&cmd_probe_client, "unexpected argument '%s'", argv[1]);
	if (probe_choice.explain) {
		explain(&w);
		return EXIT_OK;
	}
	if (!argc)
		return cmd_usage(&cmd_probe_client, "the host of the server is needed");
	if (argc > (int)INCAST_MAX)
		return cmd_usage(&cmd_probe_client, "more than %u servers", INCAST_MAX);
	ring = calloc(1, sizeof(*ring));
	if (!ring) {
		err_sys(&e, -ENOMEM, "probe");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	probe_self(self, sizeof(self));
	w.self = self;
	code = find_tokens(ring, argv, argc, &e) ? cmd_fail(EXIT_USAGE, &e)
						 : run(&w, argv, ring->token, argc);
	explicit_bzero(ring, sizeof(*ring));
	free(ring);
	return code;
}

const struct command cmd_probe_client = {
	.name = "probe client",
	.args = "HOST...",
	.help = "send traffic to a probe server, and say what became of it",
	.opts = probe_client_opts,
	.run = run_client,
};
