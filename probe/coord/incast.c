/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of an incast, in step on one event loop.
 */
#include "probe/coord/incast.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/pair_priv.h"
#include "probe/record/run_port.h"

struct member {
	struct pair_request w;
	struct voice *voice;
	unsigned int number;
};

/* What all of them report, with the server in front. */
struct voice {
	const struct pair_request *w;
	incast_show *show;
	struct incast_live live;
	struct pair_live one[INCAST_MAX];
};

static void incast_report(const char *line, void *arg)
{
	const struct member *m = arg;
	char text[320];

	snprintf(text, sizeof(text), "%.64s: %.240s", m->w.host, line);
	m->voice->w->progress(text, m->voice->w->arg);
}

static void incast_update(const struct pair_live *l, void *arg)
{
	const struct member *m = arg;
	struct voice *v = m->voice;

	v->one[m->number] = *l;
	v->show(&v->live, v->w->arg);
}

void incast_name(struct err *e, const char *host)
{
	size_t length = strlen(host);

	if (strncmp(e->text, host, length) || !e->text[length] || !strchr(": ", e->text[length]))
		err_prefix(e, "%s", host);
}

static int incast_check_hosts(const char *const *host, unsigned int count, struct err *e)
{
	if (!count || count > INCAST_MAX)
		return err_set(e, -EINVAL, "incast: %u servers, must be 1 to %u", count,
			       INCAST_MAX);
	for (unsigned int i = 0; i < count; i++)
		for (unsigned int k = 0; k < i; k++)
			if (!strcmp(host[i], host[k]))
				return err_set(e, -EINVAL, "incast: host %s is listed twice",
					       host[i]);
	return 0;
}

bool incast_failed(const struct incast_one *one)
{
	return one->err && one->err != -ECANCELED && one->err != -EINTR;
}

/* How much an error tells. */
static unsigned int incast_rank(const struct incast_one *one)
{
	if (incast_failed(one))
		return 3;
	return one->err == -EINTR ? 2 : one->err != 0;
}

static int incast_first_error(const struct incast *in, struct err *e)
{
	const struct incast_one *first = &in->one[0];

	for (unsigned int i = 1; i < in->count; i++)
		if (incast_rank(&in->one[i]) > incast_rank(first))
			first = &in->one[i];
	if (first->err)
		*e = first->e;
	return first->err;
}

static void incast_fill_members(struct voice *voice, const char *const *token, struct member *m)
{
	const struct pair_request *w = voice->w;

	for (unsigned int i = 0; i < voice->live.count; i++) {
		m[i] = (struct member){.w = *w, .voice = voice, .number = i};
		m[i].w.host = voice->live.host[i];
		m[i].w.token = token[i];
		m[i].w.progress = w->progress ? incast_report : NULL;
		m[i].w.live = voice->show ? incast_update : NULL;
		m[i].w.arg = &m[i];
	}
}

static void incast_run_members(struct pairs *x, const struct member *m, struct incast *in)
{
	int err = 0;

	for (unsigned int i = 0; i < in->count; i++)
		err = pair_open(&x->one[i], &m[i].w, &in->one[i].t, x->loop) ? -ENOMEM : err;
	if (!err)
		pairs_run(x);
	for (unsigned int i = 0; i < in->count; i++) {
		in->one[i].err = x->one[i].err;
		in->one[i].e = x->one[i].e;
		if (in->one[i].err)
			incast_name(&in->one[i].e, m[i].w.host);
	}
}

int incast_run(const struct pair_request *w, const char *const *host, const char *const *token,
	       unsigned int count, incast_show *show, struct incast *in, struct err *e)
{
	struct voice voice = {.w = w, .show = show};
	struct member *m;
	struct pairs x = {0};
	int err;

	memset(in, 0, sizeof(*in));
	err = incast_check_hosts(host, count, e);
	if (err)
		return err;
	m = calloc(count, sizeof(*m));
	in->one = calloc(count, sizeof(*in->one));
	err = m && in->one ? pairs_open(&x, count, e) : err_sys(e, -ENOMEM, "incast");
	if (!err) {
		in->count = count;
		voice.live = (struct incast_live){count, host, voice.one};
		incast_fill_members(&voice, token, m);
		incast_run_members(&x, m, in);
		err = incast_first_error(in, e);
	}
	pairs_close(&x);
	free(m);
	return err;
}

static const struct pair *incast_client(const struct incast *in)
{
	struct counters delta;

	for (unsigned int i = 0; i < in->count; i++) {
		const struct run_host *h = &in->one[i].t.run.host[SIDE_CLIENT];

		if (in->one[i].t.chosen &&
		    run_port_delta(&h->port[0], READ_LOAD_BEFORE, &delta, NULL))
			return &in->one[i].t;
	}
	return &in->one[0].t;
}

int incast_make_run(const struct incast *in, struct run *r)
{
	struct run made;

	if (!in->count)
		return -EINVAL;
	for (unsigned int i = 0; i < in->count; i++)
		if (!in->one[i].t.run.host) /* its record was never made */
			return -ENOMEM;
	made = in->one[0].t.run;
	made.host = calloc(in->count + 1, sizeof(*made.host));
	made.pair = calloc(in->count, sizeof(*made.pair));
	if (!made.host || !made.pair) {
		free(made.host);
		free(made.pair);
		return -ENOMEM;
	}
	made.host[0] = incast_client(in)->run.host[SIDE_CLIENT];
	made.host_count = in->count + 1;
	made.pair_count = 0;
	for (unsigned int i = 0; i < in->count; i++) {
		const struct run *one = &in->one[i].t.run;

		made.host[i + 1] = one->host[SIDE_SERVER];
		if (!one->pair_count)
			continue;
		made.pair[made.pair_count] = one->pair[0];
		made.pair[made.pair_count++].server_host = i + 1;
	}
	*r = made;
	return 0;
}

void incast_clear(struct incast *in)
{
	for (unsigned int i = 0; i < in->count; i++)
		pair_clear(&in->one[i].t);
	free(in->one);
	memset(in, 0, sizeof(*in));
}

static json_t *incast_start_to_json(const struct pair *t)
{
	const struct pair_start *s = &t->start;

	return json_pack("{s:s, s:I, s:[I, I]}", "host", t->run.host[SIDE_SERVER].name,
			 "round_trip_ns", (json_int_t)s->round_trip_ns, "late_ns",
			 (json_int_t)s->late_ns[SIDE_CLIENT], (json_int_t)s->late_ns[SIDE_SERVER]);
}

json_t *incast_to_json(const struct incast *in)
{
	json_t *starts = json_array(), *probes = json_array();

	for (unsigned int i = 0; i < in->count; i++) {
		const struct pair *t = &in->one[i].t;

		/* Appending NULL fails as well. */
		if ((t->start.start_ns && json_array_append_new(starts, incast_start_to_json(t))) ||
		    json_array_append_new(probes, pair_to_json(t))) {
			json_decref(starts);
			json_decref(probes);
			return NULL;
		}
	}
	return json_pack("{s:s, s:i, s:o, s:o}", "schema", INCAST_SCHEMA, "servers", (int)in->count,
			 "starts", starts, "probes", probes);
}
