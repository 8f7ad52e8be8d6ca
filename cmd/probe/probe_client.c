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

static int client_exit_for(enum verdict v)
{
	static const int codes[] = {
		[VERDICT_PASS] = EXIT_OK,
		[VERDICT_WARN] = EXIT_OK,
		[VERDICT_FAIL] = EXIT_FINDINGS,
		[VERDICT_INCONCLUSIVE] = EXIT_INCOMPLETE,
	};

	return (unsigned int)v < ARRAY_SIZE(codes) ? codes[v] : EXIT_INCOMPLETE;
}

/* Adds verdict and exit code to doc. Steals both references; both may be NULL. Returns NULL if out
 * of memory. */
static json_t *client_finish_document(json_t *doc, json_t *verdict, int code)
{
	if (!json_object_set_new(doc, "verdict", verdict) &&
	    !json_object_set_new(doc, "exit", json_integer(code)))
		return doc;
	json_decref(doc);
	return NULL;
}

/* Reports the path of the --out record, or the error err: the result is printed in any case.
 * Returns the exit code. */
static int client_report_record(const struct folder *f, int code, int err, const struct err *e)
{
	if (err)
		return cmd_worse(code, cmd_fail(EXIT_ENVIRONMENT, e));
	if (!globals->quiet)
		fprintf(stderr, "rocecheck probe: record: %s\n", f->path);
	return code;
}

/* Result of a run, with a verdict if traffic was started. */
struct outcome {
	const struct pair *t;
	struct probe_verdict *verdict; /* NULL: no traffic, or a sweep of sizes */
	struct size_verdicts *sizes;   /* verdicts of a sweep, else NULL */
	const struct folder *record;   /* --out; path is NULL without it */
	int code;
};

static int client_judge_traffic(struct outcome *o, struct err *e)
{
	o->verdict = calloc(1, sizeof(*o->verdict));
	if (!o->verdict)
		return err_sys(e, -ENOMEM, "verdict");
	if (pair_judge(o->t, 0, o->verdict, e)) {
		free(o->verdict);
		o->verdict = NULL;
		return e->code;
	}
	o->code = cmd_worse(o->code, client_exit_for(o->verdict->v.verdict));
	return 0;
}

static int client_judge_sizes(struct outcome *o, struct err *e)
{
	int err = size_verdicts_make(o->t, &o->sizes, e);

	if (!err)
		o->code = cmd_worse(o->code, client_exit_for(o->sizes->verdict));
	return err;
}

static void client_judge(struct outcome *o, int err, const struct err *why)
{
	struct err e = {0};

	if (err)
		o->code = o->t->partial || err == -EINTR || err == -EPIPE
				  ? EXIT_INCOMPLETE
				  : cmd_exit_for(why, EXIT_ENVIRONMENT);
	if (o->t->ran && (o->t->sweep ? client_judge_sizes(o, &e) : client_judge_traffic(o, &e)))
		o->code = cmd_worse(o->code, cmd_fail(EXIT_ENVIRONMENT, &e));
}

static json_t *client_verdict_to_json(const struct outcome *o, json_t *doc)
{
	if (o->sizes)
		return size_verdicts_to_json(o->sizes, json_object_get(doc, "sizes"));
	return o->verdict ? traffic_verdict_to_json(&o->verdict->v, &o->verdict->in) : json_null();
}

static json_t *client_document(const struct outcome *o)
{
	json_t *doc = pair_to_json(o->t);

	return client_finish_document(doc, client_verdict_to_json(o, doc), o->code);
}

static int client_save(const struct outcome *o)
{
	struct err e = {0};
	int err;

	if (!o->record->path)
		return o->code;
	err = run_save(&o->t->run, o->record, &e);
	if (!err)
		err = json_file_save_in(client_document(o), o->record, "probe.json", &e);
	return client_report_record(o->record, o->code, err, &e);
}

/* Prints the result first: a record that cannot be saved must not hide it. */
static int client_report(const struct pair *t, const struct folder *record, int err,
			 const struct err *e)
{
	struct outcome o = {.t = t, .record = record};
	int code;

	client_judge(&o, err, e);
	if (err)
		cmd_fail(o.code, e);
	if (globals->json) {
		o.code = cmd_worse(o.code, cmd_print_json(client_document(&o)));
	} else {
		probe_print(t, stdout);
		if (t->sweep)
			probe_print_sizes(t, o.sizes, stdout);
		if (o.verdict)
			probe_print_verdict(&o.verdict->v, stdout);
	}
	code = client_save(&o);
	free(o.verdict);
	size_verdicts_free(o.sizes);
	return code;
}

static int client_run_probe(const struct pair_request *w, const struct folder *record,
			    struct probe_progress *progress)
{
	struct pair *t = calloc(1, sizeof(*t));
	struct err e = {0};
	int err, code;

	if (!t) {
		err_sys(&e, -ENOMEM, "probe");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	err = pair_run(w, t, &e);
	probe_progress_clear(progress);
	code = client_report(t, record, err, &e);
	pair_clear(t);
	free(t);
	return code;
}

/* Incast: several servers send to this host with a common start; one verdict. */

/* Counts the servers whose traffic was started. */
static unsigned int client_count_ran(const struct incast *in)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < in->count; i++)
		n += in->one[i].t.ran;
	return n;
}

/* Returns NULL if a server never started traffic, or on error. */
static struct probe_verdict *client_incast_judge(const struct incast *in, int *code)
{
	struct probe_verdict *v;
	struct err e = {0};

	if (!in->count || client_count_ran(in) < in->count)
		return NULL;
	v = calloc(1, sizeof(*v));
	if (!v)
		err_sys(&e, -ENOMEM, "verdict");
	else
		(void)incast_judge(in, v, &e);
	if (!e.code) {
		*code = cmd_worse(*code, client_exit_for(v->v.verdict));
		return v;
	}
	free(v);
	*code = cmd_worse(*code, cmd_fail(EXIT_ENVIRONMENT, &e));
	return NULL;
}

static json_t *client_incast_document(const struct incast *in, const struct probe_verdict *v,
				      int code)
{
	return client_finish_document(
		incast_to_json(in), v ? traffic_verdict_to_json(&v->v, &v->in) : json_null(), code);
}

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

static void client_incast_print(const struct incast *in, const struct probe_verdict *v, FILE *out)
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
		fputc('\n', out);
	}
	if (v)
		probe_print_verdict(&v->v, out);
}

/* Saves DIR/N-SERVER/ of a server that was reached. */
static int client_incast_save_run(const struct run *r, unsigned int number,
				  const struct folder *record, struct err *e)
{
	char name[FABRIC_NAME_MAX + 16];
	struct folder folder;
	int err;

	if (r->host_count != SIDES)
		return 0;
	snprintf(name, sizeof(name), "%u-%s", number, r->host[SIDE_SERVER].name);
	err = folder_below(record, name, &folder, e);
	if (err)
		return err;
	err = run_save(r, &folder, e);
	folder_close(&folder);
	return err;
}

static int client_incast_save(const struct incast *in, const struct probe_verdict *v,
			      const struct folder *record, int code)
{
	struct err e = {0};
	int err = 0;

	if (!record->path)
		return code;
	for (unsigned int i = 0; i < in->count && !err; i++)
		err = client_incast_save_run(&in->one[i].t.run, i + 1, record, &e);
	if (!err)
		err = json_file_save_in(client_incast_document(in, v, code), record, "incast.json",
					&e);
	return client_report_record(record, code, err, &e);
}

static int client_incast_report(const struct incast *in, const struct folder *record, int code)
{
	struct probe_verdict *v = client_incast_judge(in, &code);

	if (globals->json)
		code = cmd_worse(code, cmd_print_json(client_incast_document(in, v, code)));
	else
		client_incast_print(in, v, stdout);
	code = client_incast_save(in, v, record, code);
	free(v);
	return code;
}

static int client_run_incast(const struct pair_request *w, const char *const *host,
			     const char *const *token, unsigned int count,
			     const struct folder *record)
{
	struct incast in = {0};
	struct err e = {0};
	int err, code = EXIT_OK;

	err = incast_run(w, host, token, count, w->live ? probe_progress_incast : NULL, &in, &e);
	probe_progress_clear(w->arg);
	if (err && (client_count_ran(&in) || err == -EINTR || err == -EPIPE))
		code = client_incast_fail_each(&in, EXIT_INCOMPLETE, &e);
	else if (err)
		code = client_incast_fail_each(&in,
					       err == -EINVAL && !in.count
						       ? EXIT_USAGE
						       : cmd_exit_for(&e, EXIT_ENVIRONMENT),
					       &e);
	if (in.count)
		code = client_incast_report(&in, record, code);
	incast_clear(&in);
	return code;
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
