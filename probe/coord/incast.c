/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of an incast, a thread with an event loop each.
 */
#include "probe/coord/incast.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/signals.h"

/* What all say goes through one door. */
struct voice {
	const struct two_ended_wish *w;
	incast_show *show;
	struct incast_live live;
	struct two_ended_live one[INCAST_MAX];
	pthread_mutex_t lock;
};

struct member {
	struct two_ended_wish w;
	struct incast_one *one;
	struct voice *voice;
	pthread_t thread;
	bool started;
};

static void say(const char *line, void *arg)
{
	struct member *m = arg;
	char text[320];

	snprintf(text, sizeof(text), "%.64s: %.240s", m->w.host, line);
	pthread_mutex_lock(&m->voice->lock);
	m->voice->w->say(text, m->voice->w->arg);
	pthread_mutex_unlock(&m->voice->lock);
}

static void live(const struct two_ended_live *l, void *arg)
{
	struct member *m = arg;
	struct voice *v = m->voice;

	pthread_mutex_lock(&v->lock);
	v->one[m->w.member] = *l;
	v->show(&v->live, v->w->arg);
	pthread_mutex_unlock(&v->lock);
}

void incast_name(struct err *e, const char *host)
{
	size_t length = strlen(host);

	if (strncmp(e->text, host, length) || !e->text[length] || !strchr(": ", e->text[length]))
		err_prefix(e, "%s", host);
}

static void *run_one(void *arg)
{
	struct member *m = arg;

	m->one->err = two_ended_run(&m->w, &m->one->t, &m->one->e);
	if (m->one->err)
		incast_name(&m->one->e, m->w.host);
	meeting_come(m->w.meeting, m->w.member, MEET_LEFT);
	return NULL;
}

static void start_one(struct member *m)
{
	int rc = pthread_create(&m->thread, NULL, run_one, m);

	m->started = !rc;
	if (!rc)
		return;
	m->one->err = err_sys(&m->one->e, -rc, "%s: thread", m->w.host);
	meeting_come(m->w.meeting, m->w.member, MEET_LEFT);
}

static void run_all(struct member *m, unsigned int count)
{
	struct sigaction old;

	/* Each loop sets it, and gives back what it found: that must not be the death of another.
	 */
	signals_ignore_pipe(&old);
	for (unsigned int i = 0; i < count; i++)
		start_one(&m[i]);
	for (unsigned int i = 0; i < count; i++)
		if (m[i].started)
			pthread_join(m[i].thread, NULL);
	signals_restore_pipe(&old);
}

static int check_hosts(const char *const *host, unsigned int count, struct err *e)
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

static void fill_members(const struct two_ended_wish *w, const char *const *host,
			 const char *const *token, struct meeting *meeting, struct voice *voice,
			 const struct incast *in, struct member *m)
{
	for (unsigned int i = 0; i < in->count; i++) {
		m[i] = (struct member){.w = *w, .one = &in->one[i], .voice = voice};
		m[i].w.host = host[i];
		m[i].w.token = token[i];
		m[i].w.meeting = meeting;
		m[i].w.member = i;
		m[i].w.say = w->say ? say : NULL;
		m[i].w.live = voice->show ? live : NULL;
		m[i].w.arg = &m[i];
	}
}

bool incast_failed(const struct incast_one *one)
{
	return one->err && one->err != -ECANCELED && one->err != -EINTR;
}

/* How much an error tells. */
static unsigned int rank(const struct incast_one *one)
{
	if (incast_failed(one))
		return 3;
	return one->err == -EINTR ? 2 : one->err != 0;
}

static int first_error(const struct incast *in, struct err *e)
{
	const struct incast_one *first = &in->one[0];

	for (unsigned int i = 1; i < in->count; i++)
		if (rank(&in->one[i]) > rank(first))
			first = &in->one[i];
	if (first->err)
		*e = first->e;
	return first->err;
}

int incast_run(const struct two_ended_wish *w, const char *const *host, const char *const *token,
	       unsigned int count, incast_show *show, struct incast *in, struct err *e)
{
	struct voice voice = {.w = w, .show = show, .lock = PTHREAD_MUTEX_INITIALIZER};
	struct meeting *meeting = NULL;
	struct member *m;
	int err;

	memset(in, 0, sizeof(*in));
	err = check_hosts(host, count, e);
	if (err)
		return err;
	m = calloc(count, sizeof(*m));
	in->one = calloc(count, sizeof(*in->one));
	if (!m || !in->one || meeting_open(count, &meeting)) {
		free(m);
		return err_sys(e, -ENOMEM, "incast");
	}
	in->count = count;
	voice.live = (struct incast_live){count, host, voice.one};
	fill_members(w, host, token, meeting, &voice, in, m);
	run_all(m, count);
	free(m);
	meeting_close(meeting);
	pthread_mutex_destroy(&voice.lock);
	return first_error(in, e);
}

void incast_clear(struct incast *in)
{
	for (unsigned int i = 0; i < in->count; i++)
		two_ended_clear(&in->one[i].t);
	free(in->one);
	memset(in, 0, sizeof(*in));
}

static json_t *start_to_json(const struct two_ended *t)
{
	const struct two_ended_start *s = &t->start;

	return json_pack("{s:s, s:I, s:[I, I]}", "host", t->run.host[SIDE_SERVER].name,
			 "round_trip_ns", (json_int_t)s->round_trip_ns, "late_ns",
			 (json_int_t)s->late_ns[SIDE_CLIENT], (json_int_t)s->late_ns[SIDE_SERVER]);
}

json_t *incast_to_json(const struct incast *in)
{
	json_t *starts = json_array(), *probes = json_array();

	for (unsigned int i = 0; i < in->count; i++) {
		const struct two_ended *t = &in->one[i].t;

		/* Appending NULL fails as well. */
		if ((t->start.start_ns && json_array_append_new(starts, start_to_json(t))) ||
		    json_array_append_new(probes, two_ended_to_json(t))) {
			json_decref(starts);
			json_decref(probes);
			return NULL;
		}
	}
	return json_pack("{s:s, s:i, s:o, s:o}", "schema", INCAST_SCHEMA, "servers", (int)in->count,
			 "starts", starts, "probes", probes);
}
