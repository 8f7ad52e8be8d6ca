/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck probe client: sends traffic to one `probe server` (several with --incast), reads the
 * counters of the hosts before and after, and prints result and verdict. The first Ctrl-C stops the
 * traffic and prints the results so far; the second one ends the program.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/probe/probe.h"
#include "cmd/probe/probe_options.h"
#include "cmd/probe/probe_progress.h"
#include "cmd/probe/probe_text.h"
#include "cmd/verdict.h"
#include "dcb/kernel/dcb.h"
#include "probe/coord/incast.h"
#include "probe/io/token.h"
#include "profiles/base/file.h"
#include "profiles/base/json_file.h"
#include "profiles/base/process.h"
#include "profiles/base/signals.h"
#include "reports/traffic/probe_verdict.h"

static struct termios saved_termios; /* before the token prompt turned echo off */

/* Turns echo on again, then dies of the signal. */
static void client_restore_terminal(int signal)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &saved_termios);
	raise(signal);
}

/* Prompts for the token of a server, with echo off. */
static int client_ask_token(const char *host, struct token_list *tokens, struct err *e)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = client_restore_terminal,
				   .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
	struct sigaction before[ARRAY_SIZE(ends)];
	struct termios quiet;
	int err;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &saved_termios)) {
		err_set(e, -EINVAL, "missing token of the server %s", host);
		err_hint(e, "pass --token-file FILE or set %s", PROBE_TOKEN_VARIABLE);
		return -EINVAL;
	}
	fprintf(stderr, "token of the server %s: ", host);
	quiet = saved_termios;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &action, &before[i]);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	err = token_list_load("-", tokens, e);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved_termios);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &before[i], NULL);
	fputc('\n', stderr);
	return err;
}

/* Result of a probe or an incast, with a verdict if its traffic was started. */
struct outcome {
	const struct pair *t;	       /* NULL: an incast */
	const struct incast *in;       /* NULL: one probe */
	struct probe_verdict *verdict; /* NULL: no verdict, or a sweep of sizes */
	struct size_verdicts *sizes;   /* verdicts of a sweep, else NULL */
	const struct folder *record;   /* --out; path is NULL without it */
	int code;
};

static const struct findings *client_findings(const struct outcome *o)
{
	if (o->sizes)
		return &o->sizes->all;
	return o->verdict ? &o->verdict->v.findings : NULL;
}

static void client_outcome_clear(struct outcome *o)
{
	if (o->verdict)
		probe_verdict_clear(o->verdict);
	free(o->verdict);
	size_verdicts_free(o->sizes);
}

/* Counts the servers whose traffic was started. */
static unsigned int client_count_ran(const struct incast *in)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < in->count; i++)
		n += in->one[i].t.ran;
	return n;
}

static int client_judge_load(struct outcome *o, struct err *e)
{
	o->verdict = calloc(1, sizeof(*o->verdict));
	if (!o->verdict)
		return err_sys(e, -ENOMEM, "verdict");
	if (o->in ? incast_judge(o->in, o->verdict, e) : pair_judge(o->t, 0, o->verdict, e)) {
		free(o->verdict);
		o->verdict = NULL;
		return e->code;
	}
	return 0;
}

/* There is no verdict if the traffic of one server never started. */
static void client_judge(struct outcome *o)
{
	bool ran = o->in ? o->in->count && client_count_ran(o->in) == o->in->count : o->t->ran;
	struct err e = {0};
	int err;

	if (!ran)
		return;
	err = o->t && o->t->sweep ? size_verdicts_make(o->t, &o->sizes, &e)
				  : client_judge_load(o, &e);
	if (err)
		o->code = cmd_worse(o->code, cmd_fail(EXIT_ENVIRONMENT, &e));
	else
		o->code = verdict_exit(&probe_options.report, client_findings(o), o->code);
}

static json_t *client_verdict_to_json(const struct outcome *o, json_t *doc)
{
	if (o->sizes)
		return size_verdicts_to_json(o->sizes, json_object_get(doc, "sizes"));
	return o->verdict ? traffic_verdict_to_json(&o->verdict->v) : json_null();
}

/* Returns NULL if out of memory. */
static json_t *client_document(const struct outcome *o)
{
	json_t *doc = o->in ? incast_to_json(o->in) : pair_to_json(o->t);

	if (!json_object_set_new(doc, "verdict", client_verdict_to_json(o, doc)) &&
	    !json_object_set_new(doc, "exit", json_integer(o->code)))
		return doc;
	json_decref(doc);
	return NULL;
}

static void client_print_incast(const struct incast *in, FILE *out)
{
	for (unsigned int i = 0; i < in->count; i++) {
		const struct pair *t = &in->one[i].t;

		if (!t->chosen)
			continue; /* its error was printed */
		probe_print(t, out);
		if (t->start.start_ns)
			fprintf(out,
				"start   %" PRIu64 " us late on this host, %" PRIu64
				" us late on the server (clock error at most %" PRIu64 " us)\n",
				t->start.late_ns[SIDE_CLIENT] / 1000,
				t->start.late_ns[SIDE_SERVER] / 1000,
				t->start.round_trip_ns / 2000);
		if (i + 1 < in->count)
			fputc('\n', out);
	}
}

static void client_print_figures(const struct outcome *o, FILE *out)
{
	if (o->in) {
		client_print_incast(o->in, out);
	} else {
		probe_print(o->t, out);
		if (o->t->sweep)
			probe_print_sizes(o->t, o->sizes, out);
	}
	if (client_findings(o))
		fputc('\n', out);
}

/* Prints the document, or the report of the findings, in text after the figures. Without a verdict
 * JUnit has no case. */
static int client_print(const struct outcome *o)
{
	const struct writer *w = verdict_writer(&probe_options.report);
	static const struct fabric fabric = {.name = "probe"};
	static const struct findings nothing;
	const struct findings *found = client_findings(o);
	struct report report = {
		.fabric = &fabric,
		.run = o->verdict ? &o->verdict->run
		       : o->t	  ? &o->t->run
				  : &o->in->one[0].t.run,
		.findings = found ? found : &nothing,
		.load = o->in ? "incast" : "probe",
	};

	if (w->write == write_json)
		return cmd_worse(o->code, cmd_print_json(client_document(o)));
	if (w->write == write_text)
		client_print_figures(o, stdout);
	return found || w->write != write_text
		       ? verdict_print(&probe_options.report, w, o->code, &report)
		       : o->code;
}

/* Saves one record of all probes. */
static int client_save_incast(const struct incast *in, const struct folder *record, struct err *e)
{
	struct run run;
	int err = incast_make_run(in, &run);

	if (err)
		return err_sys(e, err, "incast");
	err = run_save(&run, record, e);
	free(run.host);
	free(run.pair);
	return err;
}

/* Saves the record of --out, and reports its path. Returns the exit code. */
static int client_save(const struct outcome *o)
{
	struct err e = {0};
	int err;

	if (!o->record->path)
		return o->code;
	err = o->in ? client_save_incast(o->in, o->record, &e)
		    : run_save(&o->t->run, o->record, &e);
	if (!err)
		err = json_file_save_in(client_document(o), o->record,
					o->in ? "incast.json" : "probe.json", &e);
	if (err)
		return cmd_worse(o->code, cmd_fail(EXIT_ENVIRONMENT, &e));
	if (!globals->quiet)
		fprintf(stderr, "rocecheck probe: record: %s\n", o->record->path);
	return o->code;
}

/* Prints the result first: a record that cannot be saved must not hide it. */
static int client_report(struct outcome *o)
{
	int code;

	o->code = client_print(o);
	code = client_save(o);
	client_outcome_clear(o);
	return code;
}

static int client_run_probe(const struct pair_request *w, const struct folder *record,
			    struct probe_progress *progress)
{
	struct pair *t = calloc(1, sizeof(*t));
	struct outcome o = {.t = t, .record = record};
	struct err e = {0};
	int err, code;

	if (!t) {
		err_sys(&e, -ENOMEM, "probe");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	err = pair_run(w, t, &e);
	probe_progress_clear(progress);
	if (err)
		o.code = t->partial || err == -EINTR || err == -EPIPE
				 ? EXIT_INCOMPLETE
				 : cmd_exit_for(&e, EXIT_ENVIRONMENT);
	client_judge(&o);
	if (err)
		cmd_fail(o.code, &e);
	code = client_report(&o);
	pair_clear(t);
	free(t);
	return code;
}

/* Incast: several servers send to this host with a common start; one verdict. */

/* Prints the error of each server that failed; if none has one, prints first. */
static int client_incast_fail_each(const struct incast *in, int code, const struct err *first)
{
	bool any = false;

	for (unsigned int i = 0; i < in->count; i++) {
		if (!incast_failed(&in->one[i]))
			continue;
		cmd_fail(code, &in->one[i].e);
		any = true;
	}
	return any ? code : cmd_fail(code, first);
}

static int client_run_incast(const struct pair_request *w, const char *const *host,
			     const char *const *token, unsigned int count,
			     const struct folder *record)
{
	struct incast in = {0};
	struct outcome o = {.in = &in, .record = record};
	struct err e = {0};
	int err;

	err = incast_run(w, host, token, count, w->live ? probe_progress_incast : NULL, &in, &e);
	probe_progress_clear(w->arg);
	if (err && (client_count_ran(&in) || err == -EINTR || err == -EPIPE))
		o.code = client_incast_fail_each(&in, EXIT_INCOMPLETE, &e);
	else if (err)
		o.code = client_incast_fail_each(&in,
						 err == -EINVAL && !in.count
							 ? EXIT_USAGE
							 : cmd_exit_for(&e, EXIT_ENVIRONMENT),
						 &e);
	if (in.count) {
		client_judge(&o);
		o.code = client_report(&o);
	}
	incast_clear(&in);
	return o.code;
}

/* Removes the variable from the environment, so that child processes do not inherit the token. */
static int client_token_from_env(struct token_list *tokens, struct err *e)
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

/* Tokens of the servers: given in a file or the environment, or typed at a prompt. */
struct client_tokens {
	struct token_list given;
	struct token_list asked[INCAST_MAX];
	const char *token[INCAST_MAX];
};

/* Sources in this order: --token-file, environment, prompt. No option takes a token: every user of
 * the host can read command lines. */
static int client_find_tokens(struct client_tokens *tokens, char **host, int count, struct err *e)
{
	const char *file = probe_options.token_file;
	int err = file ? token_list_load(file, &tokens->given, e)
		       : client_token_from_env(&tokens->given, e);

	for (int i = 0; i < count && !err; i++) {
		tokens->token[i] = token_list_find(&tokens->given, host[i]);
		if (tokens->token[i])
			continue;
		if (tokens->given.count) {
			err_set(e, -EINVAL, "%s: no token for %s", file, host[i]);
			err_hint(e, "add a line '%.200s TOKEN'", host[i]);
			return -EINVAL;
		}
		err = client_ask_token(host[i], &tokens->asked[i], e);
		if (!err)
			tokens->token[i] = token_list_find(&tokens->asked[i], host[i]);
		if (!err && !tokens->token[i])
			err = err_set(e, -EINVAL, "no token for %s", host[i]);
	}
	return err;
}

/* Measures the device that the run would use. */
static int client_measure_registration(const struct pair_request *w, struct registration *r,
				       struct err *e)
{
	const struct endpoint_request request = {
		.name = "this host",
		.device = w->device[SIDE_CLIENT],
		.ib_port = w->ib_port[SIDE_CLIENT],
	};
	struct snapshot s = {0};
	const char *ibdev = NULL;
	struct dcb *dcb = NULL;
	int err = dcb_open(NULL, &dcb, e);

	if (!err)
		err = snapshot_read_ports(dcb, NULL, 0, &s, e);
	if (!err)
		err = endpoint_find_device(&s, &request, &ibdev, e);
	if (!err)
		err = registration_measure(ibdev, r, e);
	snapshot_clear(&s);
	dcb_close(dcb);
	return err;
}

static void client_explain(const struct pair_request *w)
{
	struct registration r;
	struct err e = {0};
	int err = client_measure_registration(w, &r, &e);

	probe_explain(w, stdout);
	fputc('\n', stdout);
	probe_explain_registration(&r, err ? &e : NULL, stdout);
}

static int client_start(struct pair_request *w, char **host, const char *const *token, int count)
{
	bool terminal = isatty(STDERR_FILENO);
	struct probe_progress progress = {0};
	struct folder record = {0};
	struct err e = {0};
	int code;

	/* Before any traffic, so that an unusable --out fails early. */
	if (probe_options.out_dir && folder_make(probe_options.out_dir, &record, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	w->progress = !globals->quiet && (terminal || globals->verbose) ? probe_progress_print
									: NULL;
	w->live = !globals->quiet && terminal ? probe_progress_show : NULL;
	w->arg = &progress;
	w->stop = signals_catch_stop();
	if (probe_options.incast) {
		code = client_run_incast(w, (const char *const *)host, token, (unsigned int)count,
					 &record);
	} else {
		w->host = host[0];
		w->token = token[0];
		code = client_run_probe(w, &record, &progress);
	}
	folder_close(&record);
	return code;
}

static int client_main(int argc, char **argv)
{
	struct pair_request w = {0};
	struct client_tokens *tokens;
	char self[PATH_MAX];
	struct err e = {0};
	int code;

	code = verdict_check(&cmd_probe_client, &probe_options.report);
	if (code)
		return code;
	probe_options.servers = (unsigned int)argc;
	if (probe_options_make(&probe_options, &w, &e))
		return cmd_fail(EXIT_USAGE, &e);
	if (argc > 1 && !probe_options.incast)
		return cmd_usage(&cmd_probe_client, "unexpected argument '%s'", argv[1]);
	if (probe_options.explain) {
		client_explain(&w);
		return EXIT_OK;
	}
	if (!argc)
		return cmd_usage(&cmd_probe_client,
				 "missing HOST, the host that runs 'rocecheck probe server'");
	if (argc > (int)INCAST_MAX)
		return cmd_usage(&cmd_probe_client, "%d servers: at most %u", argc, INCAST_MAX);
	tokens = calloc(1, sizeof(*tokens));
	if (!tokens) {
		err_sys(&e, -ENOMEM, "probe");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	process_self(self, sizeof(self));
	w.self = self;
	code = client_find_tokens(tokens, argv, argc, &e)
		       ? cmd_fail(EXIT_USAGE, &e)
		       : client_start(&w, argv, tokens->token, argc);
	explicit_bzero(tokens, sizeof(*tokens));
	free(tokens);
	return code;
}

const struct command cmd_probe_client = {
	.name = "probe client",
	.args = "HOST...",
	.help = "send RDMA traffic to a probe server and report the result",
	.opts = probe_client_opts,
	.run = client_main,
};
