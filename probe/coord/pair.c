/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Coordinator of probes between two hosts each. Every wait has an end: a connection that is silent
 * for 3 s is lost, a request has its timeout, and what still runs when one end is gone is stopped.
 */
#include "probe/coord/pair.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "probe/coord/pair_priv.h"
#include "probe/coord/pair_sizes.h"
#include "probe/io/tcp_socket.h"
#include "probe/io/handshake.h"
#include "probe/record/run_port.h"
#include "profiles/base/json.h"

#define CONNECT_MS	10000
#define CONNECT_EACH_MS 2500 /* one of several: the others wait meanwhile */
#define HELLO_MS	10000
#define ENTRY_TRIES	4

#define NUMBER(member)                                                                             \
	JSON_ROW(struct traffic_progress, member, .kind = JSON_NUMBER, .max = JSON_UINT_MAX)

static const struct json_row progress_rows[] = {
	NUMBER(messages),
	NUMBER(bytes),
	NUMBER(mismatches),
	NUMBER(losses),
};

static void pair_keep_progress(struct pair_session *d, enum run_side side, const json_t *doc)
{
	struct traffic_progress *p = &d->live.side[side], v = {0};
	struct err ignored; /* progress is for people */

	if (json_rows_read(doc, JSON_ROWS(progress_rows), &v, &ignored))
		return;
	*p = v;
	d->live.now_ms = monotonic_ms();
	if (d->w->live)
		d->w->live(&d->live, d->w->arg);
}

static void pair_on_event(struct agent_conn *k, const json_t *doc, void *arg)
{
	const char *event = json_string_value(json_object_get(doc, "event"));
	struct pair_session *d = arg;

	if (event && !strcmp(event, "progress") && d->t->ran)
		pair_keep_progress(d, (enum run_side)(k - d->s.conn),
				   json_object_get(doc, "progress"));
}

/* As a name of a run: it becomes a part of file names. */
static void pair_host_name(char name[FABRIC_NAME_MAX], const char *host, const char *fallback)
{
	char one[2] = "x";

	snprintf(name, FABRIC_NAME_MAX, "%s", host);
	for (char *p = name; *p; p++) {
		one[0] = *p;
		if (*p != '.' && *p != '-' && !run_host_name_ok(one))
			*p = '_';
	}
	if (!run_host_name_ok(name))
		snprintf(name, FABRIC_NAME_MAX, "%s", fallback);
}

static int pair_init_run(struct pair_session *d, struct err *e)
{
	struct fabric_host host[SIDES] = {0};
	char own[HOST_NAME_MAX + 1] = "";
	struct fabric f = {.host = host, .host_count = SIDES};
	int err;

	(void)gethostname(own, sizeof(own) - 1);
	pair_host_name(host[SIDE_CLIENT].name, own, "client");
	pair_host_name(host[SIDE_SERVER].name, d->w->host, "server");
	if (!strcmp(host[SIDE_CLIENT].name, host[SIDE_SERVER].name))
		snprintf(host[SIDE_SERVER].name, FABRIC_NAME_MAX, "%.50s-server",
			 host[SIDE_CLIENT].name);
	snprintf(f.name, sizeof(f.name), "probe");
	err = run_init(&d->t->run, &f);
	return err ? err_sys(e, err, "probe") : 0;
}

static void pair_open_agents(struct pair_session *d, int fd)
{
	const char *const argv[] = {d->w->self, "agent", NULL};

	agent_conn_open_stream(&d->s.conn[SIDE_SERVER], d->s.loop, d->t->run.host[SIDE_SERVER].name,
			       fd, HELLO_MS, SESSION_LEASE_MS);
	agent_conn_open(&d->s.conn[SIDE_CLIENT], d->s.loop, d->t->run.host[SIDE_CLIENT].name, argv,
			HELLO_MS);
	for (unsigned int i = 0; i < SIDES; i++) {
		d->s.conn[i].event = pair_on_event;
		d->s.conn[i].event_arg = d;
	}
}

/* Both ends prove the token; then the server is the one that is meant. A server in a crowd of
 * strangers may have closed a connection to make place for theirs. */
static int pair_enter(struct pair_session *d, bool alone, int *fd, struct err *e)
{
	int err = -ECONNRESET;

	for (unsigned int i = 0; i < ENTRY_TRIES && err == -ECONNRESET; i++) {
		err = tcp_connect(d->w->host, d->w->port, alone ? CONNECT_MS : CONNECT_EACH_MS,
				  d->w->stop, fd, d->address[SIDE_CLIENT], d->address[SIDE_SERVER],
				  e);
		if (err)
			return err;
		err = handshake_authenticate(*fd, d->w->token, alone ? HELLO_MS : CONNECT_EACH_MS,
					     d->w->stop, e);
		if (err)
			close(*fd);
	}
	if (err)
		err_prefix(e, "%s", d->t->run.host[SIDE_SERVER].name);
	return err;
}

static int pair_connect(struct pair_session *d, bool alone, struct err *e)
{
	int fd, err;

	session_report(&d->s, "connecting to %s port %u", d->w->host, d->w->port);
	err = pair_enter(d, alone, &fd, e);
	if (err)
		return err;
	err = destinations_make(DESTINATION_OF_CLIENT, d->address[SIDE_SERVER], d->w->peer_address,
				&d->destinations, e);
	if (err) {
		close(fd);
		return err;
	}
	pair_open_agents(d, fd);
	session_start_heartbeat(&d->s); /* our own agent may take longer to start than the server
					   waits */
	return 0;
}

/* Both answer, and both are this build. */
static int pair_greet(struct pair_session *d, struct err *e)
{
	for (unsigned int i = SIDES; i-- > 0;) {
		const struct agent_conn *k = &d->s.conn[i];
		int err = 0;

		if (k->state != CONN_READY) {
			*e = k->err;
			err = e->code ? e->code
				      : err_set(e, -EINTR, "stopped before the server answered");
		} else {
			err = session_check_build(&d->s, i, e);
		}
		if (err) {
			err_prefix(e, "%s", d->t->run.host[i].name);
			return err;
		}
	}
	return 0;
}

void pair_fail(struct pair_session *d, const struct err *e)
{
	if (d->err)
		return;
	d->err = e->code;
	d->e = *e;
}

static void pairs_connect(struct pairs *x)
{
	struct err e;

	for (unsigned int i = 0; i < x->count; i++)
		if (pair_connect(&x->one[i], x->count == 1, &e))
			pair_fail(&x->one[i], &e);
	for (unsigned int i = 0; i < x->count; i++) {
		if (x->one[i].err)
			continue;
		session_wait(&x->one[i].s);
		if (pair_greet(&x->one[i], &e))
			pair_fail(&x->one[i], &e);
	}
}

static int pair_read_snapshot(struct pair_session *d, enum run_side side, struct err *e)
{
	const struct agent_conn *k = &d->s.conn[side];
	const json_t *reply = agent_call_reply(k, &k->call, e);
	struct run_host *h = &d->t->run.host[side];

	if (reply && snapshot_from_json(json_object_get(reply, "snapshot"), &h->before, e))
		err_prefix(e, "snapshot");
	else if (reply)
		h->has_before = true;
	if (!h->has_before)
		err_prefix(e, "%s", h->name);
	return h->has_before ? 0 : e->code;
}

static void pairs_collect(struct pairs *x)
{
	struct err e = {0};

	for (unsigned int i = 0; i < x->count; i++) {
		session_report(&x->one[i].s, "collecting configuration of both hosts");
		for (unsigned int k = 0; k < SIDES; k++)
			agent_conn_ask(&x->one[i].s.conn[k], "collect",
				       json_pack("{s:b}", "machine", 1), SESSION_ANSWER_MS);
	}
	for (unsigned int i = 0; i < x->count; i++) {
		session_wait(&x->one[i].s);
		for (unsigned int k = 0; k < SIDES; k++)
			if (pair_read_snapshot(&x->one[i], k, &e))
				pair_fail(&x->one[i], &e);
	}
}

static int pair_add_port(struct run_host *h, const struct port *p)
{
	struct run_port *list = realloc(h->port, sizeof(*list));

	if (!list)
		return -ENOMEM;
	memset(list, 0, sizeof(*list));
	snprintf(list->netdev, sizeof(list->netdev), "%.15s", p->netdev[0] ? p->netdev : p->ibdev);
	run_port_set_device(list, p);
	h->port = list;
	h->port_count = 1;
	return 0;
}

static void pair_fill_spec(struct pair_session *d, enum run_side side, uint64_t seed)
{
	struct traffic_spec *s = &pair_end(d->t, side)->spec;
	const struct port *p = d->t->ends.port[side];

	*s = d->w->spec;
	s->role = side == SIDE_CLIENT ? TRAFFIC_CLIENT : TRAFFIC_SERVER;
	memcpy(s->ibdev, p->ibdev, sizeof(s->ibdev));
	s->ib_port = p->ib_port;
	s->gid_index = d->t->ends.gid[side]->index;
	s->seed = seed & JSON_UINT_MAX;
}

static int pair_choose(struct pair_session *d, struct err *e)
{
	const struct snapshot *snapshot[SIDES];
	struct endpoint_request request[SIDES];
	uint64_t seed = 0;
	int err;

	for (unsigned int i = 0; i < SIDES; i++) {
		snapshot[i] = &d->t->run.host[i].before;
		request[i] = (struct endpoint_request){
			.name = d->t->run.host[i].name,
			.device = d->w->device[i],
			.ib_port = d->w->ib_port[i],
			.gid_index = d->w->gid_index[i],
			.address = d->address[i],
		};
	}
	err = endpoints_select(snapshot, request, &d->t->ends, e);
	if (!err)
		err = endpoints_check(&d->t->ends, request, d->w->mtu_bytes, e);
	if (err)
		return err;
	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		seed = monotonic_ms();
	for (unsigned int i = 0; i < SIDES && !err; i++)
		err = pair_add_port(&d->t->run.host[i], d->t->ends.port[i]);
	if (!err)
		err = pair_add(&d->t->run);
	if (err)
		return err_sys(e, err, "probe");
	d->t->chosen = true;
	for (unsigned int i = 0; i < SIDES; i++)
		pair_fill_spec(d, (enum run_side)i, seed);
	return 0;
}

int pair_check_port(const struct pair_session *d, const struct pair_session *first, struct err *e)
{
	const struct port *own = d->t->ends.port[SIDE_CLIENT];
	const struct port *other = first->t->ends.port[SIDE_CLIENT];

	if (own->ib_port == other->ib_port && !strcmp(own->ibdev, other->ibdev))
		return 0;
	err_set(e, -ENOTUNIQ,
		"this server sends to %s port %u of this host, another server to %s port %u: no "
		"incast",
		own->ibdev, own->ib_port, other->ibdev, other->ib_port);
	err_hint(e, "choose one port with --ib-dev, or pass servers of one network");
	return -ENOTUNIQ;
}

static void pairs_choose(struct pairs *x)
{
	struct err e;

	for (unsigned int i = 0; i < x->count; i++)
		if (pair_choose(&x->one[i], &e) ||
		    (x->one[0].t->chosen && pair_check_port(&x->one[i], &x->one[0], &e)))
			pair_fail(&x->one[i], &e);
}

void pairs_check(struct pairs *x)
{
	for (unsigned int i = 0; i < x->count; i++) {
		struct pair_session *d = &x->one[i];
		struct err e;

		for (unsigned int k = 0; k < SIDES; k++) {
			if (d->s.conn[k].state == CONN_READY)
				continue;
			e = d->s.conn[k].err;
			e.code = -EPIPE;
			err_prefix(&e, "%s", d->t->run.host[k].name);
			pair_fail(d, &e);
		}
		if (session_stopped(&d->s)) {
			err_set(&e, -EINTR, "stopped");
			pair_fail(d, &e);
		}
	}
}

void pairs_counters(struct pairs *x, enum run_reading reading)
{
	bool users = reading == READ_LOAD_BEFORE;

	for (unsigned int i = 0; i < x->count; i++) {
		for (unsigned int k = 0; k < SIDES && users; k++) {
			struct run_port *p = &x->one[i].t->run.host[k].port[0];

			p->user_count = p->users_left = 0;
		}
		session_ask_counters(&x->one[i].s, users);
	}
	for (unsigned int i = 0; i < x->count; i++)
		session_read_counters(&x->one[i].s, reading);
}

static void pairs_baseline(struct pairs *x)
{
	uint32_t idle_ms = x->one[0].w->idle_ms;

	if (idle_ms) {
		for (unsigned int i = 0; i < x->count; i++)
			session_report(&x->one[i].s, "reading idle counters, %.1f s",
				       idle_ms / 1e3);
		pairs_counters(x, READ_QUIET_BEFORE);
		session_pause(&x->one[0].s, idle_ms);
		pairs_counters(x, READ_QUIET_AFTER);
	}
	pairs_check(x);
}

bool pairs_end_before_start(struct pairs *x)
{
	bool failed = false;
	struct err e;

	for (unsigned int i = 0; i < x->count; i++)
		failed |= x->one[i].err != 0;
	err_set(&e, -ECANCELED, "lost another server before the common start");
	for (unsigned int i = 0; failed && i < x->count; i++)
		pair_fail(&x->one[i], &e);
	return failed;
}

void pairs_run(struct pairs *x)
{
	static void (*const steps[])(struct pairs * x) = {
		pairs_connect, pairs_collect, pairs_choose, pairs_try_transports, pairs_baseline,
	};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		steps[i](x);
		if (pairs_end_before_start(x))
			return;
	}
	if (x->one[0].w->size_from)
		pairs_sizes(x);
	else
		pairs_load(x);
	pairs_marking(x);
}

int pairs_open(struct pairs *x, unsigned int count, struct err *e)
{
	memset(x, 0, sizeof(*x));
	x->one = calloc(count, sizeof(*x->one));
	x->flow = calloc(count, sizeof(*x->flow));
	if (!x->one || !x->flow)
		return err_sys(e, -ENOMEM, "probe");
	x->count = count;
	return loop_open(&x->loop, e);
}

/* Opens the record and the session of a probe. */
int pair_open(struct pair_session *d, const struct pair_request *w, struct pair *t,
	      struct loop *loop)
{
	int err;

	memset(t, 0, sizeof(*t));
	d->w = w;
	d->t = t;
	d->s = (struct session){.stop = w->stop,
				.progress = w->progress,
				.arg = w->arg,
				.r = &t->run,
				.loop = loop};
	err = pair_init_run(d, &d->e);
	if (!err)
		err = session_open(&d->s, &d->e);
	d->err = err;
	return err;
}

void pairs_close(struct pairs *x)
{
	for (unsigned int i = 0; i < x->count; i++) {
		struct pair_session *d = &x->one[i];

		if (!d->t)
			continue;
		session_close(&d->s);
		d->t->run.ended_unix_ns = unix_ns();
		d->t->partial = d->err && d->t->ran;
		if (d->t->chosen && !d->t->sweep)
			d->t->run.pair[0].ends->partial = d->t->partial;
		if (d->err)
			snprintf(d->t->why, sizeof(d->t->why), "%.630s", d->e.text);
	}
	loop_close(x->loop);
	free(x->one);
	free(x->flow);
	memset(x, 0, sizeof(*x));
}

int pair_run(const struct pair_request *w, struct pair *t, struct err *e)
{
	struct pairs x;
	int err = pairs_open(&x, 1, e);

	memset(t, 0, sizeof(*t));
	if (!err) {
		if (!pair_open(&x.one[0], w, t, x.loop))
			pairs_run(&x);
		err = x.one[0].err;
		*e = x.one[0].e;
	}
	pairs_close(&x);
	return err;
}

struct run_end *pair_end(const struct pair *t, enum run_side side)
{
	const struct run *r = &t->run;

	return r->pair_count ? &r->pair[r->pair_count - 1].ends->side[side] : NULL;
}

const struct run_port *pair_port(const struct pair *t, const struct run_pair *p, enum run_side side)
{
	const struct run_port *own = p->ends->side[side].port;

	return own ? own : &t->run.host[side].port[0];
}

int pair_add(struct run *r)
{
	struct run_pair *list = list_grow(r->pair, r->pair_count, sizeof(*list));
	struct run_pair *pair = list ? &list[r->pair_count] : NULL;

	if (!list)
		return -ENOMEM;
	r->pair = list;
	*pair = (struct run_pair){
		.client_host = SIDE_CLIENT,
		.server_host = SIDE_SERVER,
		.ends = calloc(1, sizeof(*pair->ends)),
	};
	if (!pair->ends)
		return -ENOMEM;
	r->pair_count++;
	return 0;
}

void pair_clear(struct pair *t)
{
	if (!t)
		return;
	run_clear(&t->run);
	free(t->echo);
	memset(t, 0, sizeof(*t));
}
