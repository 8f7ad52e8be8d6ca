/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `probe client --incast`: several servers send to this host from one instant on; one verdict.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/probe/probe.h"
#include "cmd/probe/probe_choice.h"
#include "cmd/probe/probe_live.h"
#include "cmd/probe/probe_record.h"
#include "cmd/probe/probe_text.h"
#include "profiles/base/json_file.h"
#include "reports/traffic/incast_verdict.h"

static bool all_ran(const struct incast *in)
{
	for (unsigned int i = 0; i < in->count; i++)
		if (!in->one[i].t.ran)
			return false;
	return in->count;
}

static bool any_ran(const struct incast *in)
{
	for (unsigned int i = 0; i < in->count; i++)
		if (in->one[i].t.ran)
			return true;
	return false;
}

/* NULL when there is nothing to judge, or no verdict could be made. */
static struct incast_verdict *judge(const struct incast *in, int *code)
{
	struct incast_verdict *v;
	struct err e = {0};

	if (!all_ran(in))
		return NULL;
	v = calloc(1, sizeof(*v));
	if (!v)
		err_sys(&e, -ENOMEM, "verdict");
	else
		(void)incast_judge(in, v, &e);
	if (!e.code) {
		*code = cmd_worse(*code, probe_exit_for(v->v.verdict));
		return v;
	}
	free(v);
	*code = cmd_worse(*code, cmd_fail(EXIT_ENVIRONMENT, &e));
	return NULL;
}

static json_t *document(const struct incast *in, const struct incast_verdict *v, int code)
{
	return probe_document(incast_to_json(in),
			      v ? traffic_verdict_to_json(&v->v, &v->in) : json_null(), code);
}

/* Each server's own error; without one, what stopped all of them. */
static int fail_each(const struct incast *in, int code, const struct err *first)
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

static void print(const struct incast *in, const struct incast_verdict *v, FILE *out)
{
	for (unsigned int i = 0; i < in->count; i++) {
		const struct two_ended *t = &in->one[i].t;

		if (!t->chosen)
			continue; /* its error is all there is */
		probe_print(t, out);
		if (t->start.start_ns)
			fprintf(out,
				"start   within %" PRIu64 " us of one instant; this end %" PRIu64
				" us after it, the server %" PRIu64 " us\n",
				t->start.round_trip_ns / 2000, t->start.late_ns[SIDE_CLIENT] / 1000,
				t->start.late_ns[SIDE_SERVER] / 1000);
		fputc('\n', out);
	}
	if (v)
		probe_print_verdict(&v->v, out);
}

/* DIR/N-SERVER/, of a server that was reached. */
static int save_run(const struct run *r, unsigned int number, const struct folder *record,
		    struct err *e)
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

static int save(const struct incast *in, const struct incast_verdict *v,
		const struct folder *record, int code)
{
	struct err e = {0};
	int err = 0;

	if (!record->path)
		return code;
	for (unsigned int i = 0; i < in->count && !err; i++)
		err = save_run(&in->one[i].t.run, i + 1, record, &e);
	if (!err)
		err = json_file_save_in(document(in, v, code), record, "incast.json", &e);
	return probe_record_tell(record, code, err, &e);
}

/* The product first. */
static int tell(const struct incast *in, const struct folder *record, int code)
{
	struct incast_verdict *v = judge(in, &code);

	if (globals->json)
		code = cmd_worse(code, cmd_print_json(document(in, v, code)));
	else
		print(in, v, stdout);
	code = save(in, v, record, code);
	free(v);
	return code;
}

int probe_run_incast(const struct two_ended_wish *w, const char *const *host,
		     const char *const *token, unsigned int count, const struct folder *record)
{
	struct incast in = {0};
	struct err e = {0};
	int err, code = EXIT_OK;

	err = incast_run(w, host, token, count, w->live ? probe_talk_incast : NULL, &in, &e);
	probe_talk_clear(w->arg);
	if (err && (any_ran(&in) || err == -EINTR || err == -EPIPE))
		code = fail_each(&in, EXIT_INCOMPLETE, &e);
	else if (err)
		code = fail_each(&in,
				 err == -EINVAL && !in.count ? EXIT_USAGE
							     : cmd_exit_for(&e, EXIT_ENVIRONMENT),
				 &e);
	if (in.count)
		code = tell(&in, record, code);
	incast_clear(&in);
	return code;
}
