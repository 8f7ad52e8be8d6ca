/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations plan, apply, confirm and rollback. Each runs the command of that name of this binary
 * in its own process, so that a remote change passes the same checks as a local one. No text of the
 * coordinator becomes a command-line argument, except a checked transaction id.
 *
 * The answer is {"exit":n,"output":document or text or null,"said":text on stderr}.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/agent/agent_priv.h"
#include "probe/io/loop.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"

#define WORDS_MAX	16
#define OUTPUT_MAX	(LOOP_LINE_MAX - 65536) /* it becomes part of a line */
#define STDERR_TEXT_MAX 4096
#define TIME_MAX_S	3600
#define TX_MAX		32

struct agent_command {
	struct agent *agent;
	struct loop_process *process;
	uint64_t id;
	bool as_text, too_much;
	char *output; /* owned, memory of `stream` */
	size_t output_size;
	FILE *stream;
	char stderr_text[STDERR_TEXT_MAX]; /* its last bytes */
	size_t stderr_size;
};

/* Command line; numbers are stored in text[]. */
struct command_line {
	const char *argv[WORDS_MAX + 1];
	unsigned int count, texts;
	char text[3][16];
};

static void command_add_arg(struct command_line *w, const char *word)
{
	if (w->count < WORDS_MAX)
		w->argv[w->count++] = word;
}

static void command_add_time(struct command_line *w, const char *option, uint64_t time,
			     const char *unit)
{
	char *text = w->text[w->texts++];

	snprintf(text, sizeof(w->text[0]), "%u%s", (unsigned int)time, unit);
	command_add_arg(w, option);
	command_add_arg(w, text);
}

static void free_command(struct agent_command *c)
{
	c->agent->command = NULL;
	if (c->stream)
		fclose(c->stream);
	free(c->output);
	free(c);
}

void agent_command_detach(struct agent *a)
{
	if (!a->command)
		return;
	loop_process_leave(a->command->process);
	free_command(a->command);
}

static void command_on_line(char *line, size_t length, void *arg)
{
	struct agent_command *c = arg;

	if (!line || (size_t)ftell(c->stream) + length > OUTPUT_MAX) {
		c->too_much = true;
		return;
	}
	(void)fwrite(line, 1, length, c->stream); /* an error shows at fclose() */
	(void)fputc('\n', c->stream);
}

/* Keeps the last bytes. */
static void command_on_stderr(const char *text, size_t length, void *arg)
{
	struct agent_command *c = arg;
	size_t keep;

	if (length >= STDERR_TEXT_MAX) {
		text += length - (STDERR_TEXT_MAX - 1);
		length = STDERR_TEXT_MAX - 1;
	}
	keep = STDERR_TEXT_MAX - 1 - length;
	if (c->stderr_size > keep) {
		memmove(c->stderr_text, c->stderr_text + c->stderr_size - keep, keep);
		c->stderr_size = keep;
	}
	memcpy(c->stderr_text + c->stderr_size, text, length);
	c->stderr_size += length;
}

/* Returns the output: a document, a text, or null. */
static json_t *command_output_json(const struct agent_command *c)
{
	json_t *doc;

	if (!c->output_size)
		return json_null();
	if (c->as_text)
		doc = json_stringn(c->output, c->output_size);
	else
		doc = json_loadb(c->output, c->output_size, JSON_REJECT_DUPLICATES, NULL);
	return doc ? doc : json_null();
}

static void command_on_exit(int status, int signal, void *arg)
{
	struct agent_command *c = arg;
	struct err e = {0};

	loop_process_close(c->process);
	/* Replaces invalid UTF-8, such as a truncated first character, by question marks. */
	text_sanitize(c->stderr_text, TEXT_BLOCK);
	if (ferror(c->stream) || fflush(c->stream))
		err_sys(&e, -ENOMEM, "agent: output of the command");
	else if (c->too_much)
		err_set(&e, -EMSGSIZE, "agent: the command printed more than %u bytes", OUTPUT_MAX);
	else if (status < 0)
		err_sys(&e, status, "agent: output of the command");
	else if (signal)
		err_set(&e, -ECANCELED, "agent: signal %d killed the command", signal);
	if (e.code)
		agent_reply_error(c->agent, c->id, &e);
	else
		agent_reply(c->agent, c->id,
			    json_pack("{s:i, s:o, s:s}", "exit", status, "output",
				      command_output_json(c), "said", c->stderr_text));
	free_command(c);
}

static const struct loop_process_events events = {
	.line = command_on_line,
	.stderr_text = command_on_stderr,
	.ended = command_on_exit,
};

/* Writes the document to stdin (NULL for none) and closes it. */
static int command_write_input(struct agent_command *c, const json_t *input, struct err *e)
{
	char *text = input ? json_dumps(input, JSON_COMPACT) : NULL;
	int err = input && !text ? -ENOMEM : 0;

	if (text)
		err = loop_process_write(c->process, text, strlen(text));
	free(text);
	loop_process_end_input(c->process);
	return err ? err_sys(e, err, "agent: input of the command") : 0;
}

static int command_start(struct agent *a, uint64_t id, const struct command_line *w,
			 const json_t *input, bool as_text, struct err *e)
{
	struct agent_command *c;
	int err;

	if (a->command)
		return err_set(e, -EBUSY, "agent: another command is running");
	c = calloc(1, sizeof(*c));
	if (!c)
		return err_sys(e, -ENOMEM, "agent");
	c->agent = a;
	c->id = id;
	c->as_text = as_text;
	a->command = c;
	c->stream = open_memstream(&c->output, &c->output_size);
	err = c->stream ? 0 : err_sys(e, -ENOMEM, "agent");
	if (!err)
		err = loop_spawn(a->loop, w->argv, &events, c, &c->process, e);
	if (!err)
		err = command_write_input(c, input, e);
	if (!err)
		return AGENT_LATER;
	loop_process_close(c->process);
	free_command(c);
	return err;
}

/* Reads an optional flag. */
static int command_read_flag(const json_t *request, const char *key, bool *value, struct err *e)
{
	*value = false;
	return json_object_get(request, key) ? json_get_bool(request, key, value, e) : 0;
}

int agent_plan(struct agent *a, uint64_t id, const json_t *request, json_t **reply, struct err *e)
{
	struct command_line w = {.argv = {a->config->self, "plan", "-"}, .count = 3};
	const json_t *profile;
	json_t *input;
	bool as_text;
	int err = json_get_object(request, "profile", &profile, e);

	(void)reply;
	if (!err)
		err = command_read_flag(request, "as_text", &as_text, e);
	if (err)
		return err;
	if (!as_text)
		command_add_arg(&w, "--json");
	/* A plan without ports: only its profile is used. */
	input = json_pack("{s:s, s:[], s:O}", "schema", "rocecheck.plan/1", "ports", "profile",
			  profile);
	if (!input)
		return err_sys(e, -ENOMEM, "agent");
	err = command_start(a, id, &w, input, as_text, e);
	json_decref(input);
	return err;
}

int agent_apply(struct agent *a, uint64_t id, const json_t *request, json_t **reply, struct err *e)
{
	struct command_line w = {
		.argv = {a->config->self, "apply", "-", "--json", "--quiet", "--auto-approve"},
		.count = 6};
	uint64_t confirm_s, link_s, settle_ms;
	bool disruption;
	const json_t *plan;
	int err = json_get_object(request, "plan", &plan, e);

	(void)reply;
	if (!err)
		err = command_read_flag(request, "disruption", &disruption, e);
	/* Requires confirmation, else the change is rolled back: no user is at the host. */
	if (!err)
		err = json_get_uint(request, "confirm_within_s", 1, TIME_MAX_S, &confirm_s, e);
	if (!err)
		err = json_get_uint(request, "wait_link_s", 1, TIME_MAX_S, &link_s, e);
	if (!err)
		err = json_get_uint_or(request, "settle_ms", 0, 0, TIME_MAX_S * 1000, &settle_ms,
				       e);
	if (err)
		return err;
	if (disruption)
		command_add_arg(&w, "--accept-disruption");
	command_add_time(&w, "--confirm-within", confirm_s, "s");
	command_add_time(&w, "--wait-link", link_s, "s");
	if (json_object_get(request, "settle_ms"))
		command_add_time(&w, "--settle", settle_ms, "ms");
	return command_start(a, id, &w, plan, false, e);
}

static int command_read_tx(const json_t *request, char tx[TX_MAX], struct err *e)
{
	static const char good[] = "0123456789abcdefghijklmnopqrstuvwxyz-";
	int err = json_get_text(request, "tx", tx, TX_MAX, e);

	if (!err && (!tx[0] || tx[0] == '-' || tx[strspn(tx, good)]))
		err = err_set(e, -EINVAL, "'tx' is not a transaction id");
	return err;
}

static int command_start_on_tx(struct agent *a, uint64_t id, const json_t *request,
			       const char *command, struct err *e)
{
	char tx[TX_MAX];
	struct command_line w = {.argv = {a->config->self, command, "--json", tx}, .count = 4};
	int err = command_read_tx(request, tx, e);

	return err ? err : command_start(a, id, &w, NULL, false, e);
}

int agent_confirm(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		  struct err *e)
{
	(void)reply;
	return command_start_on_tx(a, id, request, "confirm", e);
}

int agent_rollback(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		   struct err *e)
{
	(void)reply;
	return command_start_on_tx(a, id, request, "rollback", e);
}

int agent_transactions(struct agent *a, uint64_t id, const json_t *request, json_t **reply,
		       struct err *e)
{
	struct command_line w = {.argv = {a->config->self, "rollback", "--list", "--json"},
				 .count = 4};

	(void)request;
	(void)reply;
	return command_start(a, id, &w, NULL, false, e);
}
