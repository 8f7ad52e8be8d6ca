/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The coordinator of a two-ended probe. Every wait has an end: a link that is silent for 3 s is
 * lost, a question has its own time, and what still runs when one end is gone is told to stop.
 */
#include "probe/coord/two_ended.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "probe/coord/two_ended_inside.h"
#include "probe/coord/two_ended_sizes.h"
#include "probe/io/tcp_socket.h"
#include "probe/io/handshake.h"
#include "profiles/base/json.h"

#define CONNECT_MS  10000
#define HELLO_MS    10000
#define ENTRY_TRIES 4

#define NUMBER(member)                                                                             \
	JSON_ROW(struct traffic_progress, member, .kind = JSON_NUMBER, .max = JSON_UINT_MAX)

static const struct json_row progress_rows[] = {
	NUMBER(messages),
	NUMBER(bytes),
	NUMBER(mismatches),
	NUMBER(losses),
};

static void keep_traffic(struct duo *d, enum run_side side, const json_t *doc)
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

static void on_event(struct agent_conn *k, const json_t *doc, void *arg)
{
	const char *event = json_string_value(json_object_get(doc, "event"));
	struct duo *d = arg;

	if (event && !strcmp(event, "progress") && d->t->ran)
		keep_traffic(d, (enum run_side)(k - d->s.conn), json_object_get(doc, "progress"));
}

/* As a name of a run: it becomes a part of file names. */
static void clean_name(char name[FABRIC_NAME_MAX], const char *host, const char *fallback)
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

static int init_run(struct duo *d, struct err *e)
{
	struct fabric_host host[SIDES] = {0};
	char own[HOST_NAME_MAX + 1] = "";
	struct fabric f = {.host = host, .host_count = SIDES};
	int err;

	(void)gethostname(own, sizeof(own) - 1);
	clean_name(host[SIDE_CLIENT].name, own, "client");
	clean_name(host[SIDE_SERVER].name, d->w->host, "server");
	if (!strcmp(host[SIDE_CLIENT].name, host[SIDE_SERVER].name))
		snprintf(host[SIDE_SERVER].name, FABRIC_NAME_MAX, "%.50s-server",
			 host[SIDE_CLIENT].name);
	snprintf(f.name, sizeof(f.name), "probe");
	err = run_init(&d->t->run, &f);
	return err ? err_sys(e, err, "probe") : 0;
}

static void open_links(struct duo *d, int fd)
{
	const char *const argv[] = {d->w->self, "agent", NULL};

	agent_conn_open_stream(&d->s.conn[SIDE_SERVER], d->s.loop, d->t->run.host[SIDE_SERVER].name,
			       fd, HELLO_MS, SESSION_LEASE_MS);
	agent_conn_open(&d->s.conn[SIDE_CLIENT], d->s.loop, d->t->run.host[SIDE_CLIENT].name, argv,
			HELLO_MS);
	for (unsigned int i = 0; i < SIDES; i++) {
		d->s.conn[i].event = on_event;
		d->s.conn[i].event_arg = d;
	}
}

/* Both ends prove the token; then the server is the one that is meant. A server in a crowd of
 * strangers may have closed a connection to make place for theirs. */
static int enter_server(struct duo *d, int *fd, struct err *e)
{
	int err = -ECONNRESET;

	for (unsigned int i = 0; i < ENTRY_TRIES && err == -ECONNRESET; i++) {
		err = tcp_connect(d->w->host, d->w->port, CONNECT_MS, d->w->stop, fd,
				  d->address[SIDE_CLIENT], d->address[SIDE_SERVER], e);
		if (err)
			return err;
		err = handshake_authenticate(*fd, d->w->token, HELLO_MS, d->w->stop, e);
		if (err)
			close(*fd);
	}
	if (err)
		err_prefix(e, "%s", d->t->run.host[SIDE_SERVER].name);
	return err;
}

/* Both answer, and both are this build. */
static int greet(struct duo *d, struct err *e)
{
	for (unsigned int i = SIDES; i-- > 0;) {
		struct agent_conn *k = &d->s.conn[i];
		struct run_host *h = &d->t->run.host[i];

		if (k->state != CONN_READY) {
			*e = k->err;
			if (!e->code)
				err_set(e, -EINTR, "stopped before the server answered");
			err_prefix(e, "%s", h->name);
			return e->code;
		}
		if (session_check_build(&d->s, i, e)) {
			err_prefix(e, "%s", h->name);
			return e->code;
		}
	}
	return 0;
}

static int connect_both(struct duo *d, struct err *e)
{
	int fd, err;

	session_report(&d->s, "connecting to %s port %u", d->w->host, d->w->port);
	err = enter_server(d, &fd, e);
	if (err)
		return err;
	err = destinations_make(DESTINATION_OF_CLIENT, d->address[SIDE_SERVER], d->w->peer_address,
				&d->destinations, e);
	if (err) {
		close(fd);
		return err;
	}
	open_links(d, fd);
	session_start_heartbeat(
		&d->s); /* our own agent may take longer to start than the server waits */
	session_wait(&d->s);
	return greet(d, e);
}

/* The reply of a side, or the error in its words. */
const json_t *duo_reply(struct duo *d, enum run_side side, struct err *e)
{
	const struct agent_conn *k = &d->s.conn[side];

	if (k->state == CONN_READY && k->call.reply)
		return k->call.reply;
	*e = k->call.err;
	if (!e->code)
		err_set(e, -EINTR, "stopped");
	if (k->state == CONN_LOST)
		e->code = -EPIPE;
	err_prefix(e, "%s", d->t->run.host[side].name);
	return NULL;
}

static int collect(struct duo *d, struct err *e)
{
	session_report(&d->s, "collecting configuration of both hosts");
	for (unsigned int i = 0; i < SIDES; i++)
		agent_conn_ask(&d->s.conn[i], "collect", json_pack("{s:b}", "machine", 1),
			       SESSION_ANSWER_MS);
	session_wait(&d->s);
	for (unsigned int i = 0; i < SIDES; i++) {
		const json_t *reply = duo_reply(d, (enum run_side)i, e);
		struct run_host *h = &d->t->run.host[i];

		if (!reply)
			return e->code;
		if (snapshot_from_json(json_object_get(reply, "snapshot"), &h->before, e)) {
			err_prefix(e, "%s: snapshot", h->name);
			return e->code;
		}
		h->has_before = true;
	}
	return 0;
}

static int add_port(struct run_host *h, const struct port *p)
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

static void fill_spec(struct duo *d, enum run_side side, uint64_t seed)
{
	struct traffic_spec *s = &d->t->spec[side];
	const struct port *p = d->t->ends.port[side];

	*s = d->w->spec;
	s->role = side == SIDE_CLIENT ? TRAFFIC_CLIENT : TRAFFIC_SERVER;
	memcpy(s->ibdev, p->ibdev, sizeof(s->ibdev));
	s->ib_port = p->ib_port;
	s->gid_index = d->t->ends.gid[side]->index;
	s->seed = seed & JSON_UINT_MAX;
}

static int choose(struct duo *d, struct err *e)
{
	const struct snapshot *snapshot[SIDES];
	struct endpoint_request wish[SIDES];
	uint64_t seed = 0;
	int err;

	for (unsigned int i = 0; i < SIDES; i++) {
		snapshot[i] = &d->t->run.host[i].before;
		wish[i] = (struct endpoint_request){
			.name = d->t->run.host[i].name,
			.device = d->w->device[i],
			.ib_port = d->w->ib_port[i],
			.gid_index = d->w->gid_index[i],
			.address = d->address[i],
		};
	}
	err = endpoints_select(snapshot, wish, &d->t->ends, e);
	if (!err)
		err = endpoints_check(&d->t->ends, wish, d->w->mtu_bytes, e);
	if (err)
		return err;
	d->t->chosen = true;
	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		seed = monotonic_ms();
	for (unsigned int i = 0; i < SIDES && !err; i++) {
		err = add_port(&d->t->run.host[i], d->t->ends.port[i]);
		observe_port(&d->t->seen[i], d->t->run.host[i].name, d->t->ends.port[i]);
		fill_spec(d, (enum run_side)i, seed);
	}
	d->t->run.pair = err ? NULL : calloc(1, sizeof(*d->t->run.pair));
	if (!d->t->run.pair)
		return err_sys(e, -ENOMEM, "probe");
	d->t->run.pair_count = 1;
	return 0;
}

/* A lost end or a stop ends the probe with what there is. */
int duo_check_ends(struct duo *d, struct err *e)
{
	for (unsigned int i = 0; i < SIDES; i++) {
		if (d->s.conn[i].state == CONN_READY)
			continue;
		*e = d->s.conn[i].err;
		e->code = -EPIPE;
		err_prefix(e, "%s", d->t->run.host[i].name);
		return -EPIPE;
	}
	if (session_stopped(&d->s))
		return err_set(e, -EINTR, "stopped");
	return 0;
}

int duo_load(struct duo *d, struct err *e)
{
	struct err ignored;
	int err = duo_meet(d, MEET_IDLE, e);

	if (err)
		return err;
	duo_counters(d, READ_LOAD_BEFORE);
	err = duo_meet(d, MEET_COUNTED, e);
	if (err)
		return err;
	d->t->run.traffic = true;
	err = duo_traffic(d, e);
	if (err && !d->t->ran && d->w->meeting) /* what it comes to now is no connection */
		meeting_come(d->w->meeting, d->w->member, MEET_LEFT);
	d->s.stop = NULL; /* what is read now is soon read */
	(void)duo_meet(d, MEET_DONE, &ignored);
	session_pause(&d->s, duo_settle_ms(d));
	duo_counters(d, READ_LOAD_AFTER);
	(void)duo_meet(d, MEET_READ, &ignored);
	duo_close_traffic(d);
	return err;
}

static int run_phases(struct duo *d, struct err *e)
{
	int err = duo_one_port(d, e);

	if (!err)
		err = duo_try_transports(d, e);
	if (err)
		return err;
	if (d->w->idle_ms) {
		session_report(&d->s, "reading idle counters, %.1f s", d->w->idle_ms / 1e3);
		duo_counters(d, READ_QUIET_BEFORE);
		session_pause(&d->s, d->w->idle_ms);
		duo_counters(d, READ_QUIET_AFTER);
	}
	err = duo_check_ends(d, e);
	if (err)
		return err;
	err = d->w->size_from ? duo_sizes(d, e) : duo_load(d, e);
	duo_echo(d);
	return err;
}

static void finish(struct two_ended *t, int err, const struct err *e)
{
	t->run.ended_unix_ns = unix_ns();
	if (!err)
		return;
	t->partial = t->ran;
	snprintf(t->why, sizeof(t->why), "%.630s", e->text);
}

int two_ended_run(const struct two_ended_wish *w, struct two_ended *t, struct err *e)
{
	struct duo d = {
		.w = w,
		.t = t,
		.s = {.stop = w->stop, .progress = w->say, .arg = w->arg, .r = &t->run},
	};
	int err;

	memset(t, 0, sizeof(*t));
	err = init_run(&d, e);
	if (err)
		return err;
	err = session_open(&d.s, e);
	if (!err)
		err = connect_both(&d, e);
	if (!err)
		err = collect(&d, e);
	if (!err)
		err = choose(&d, e);
	if (!err)
		err = run_phases(&d, e);
	session_close(&d.s);
	finish(t, err, e);
	return err;
}

void two_ended_clear(struct two_ended *t)
{
	if (!t)
		return;
	for (unsigned int i = 0; i < SIDES; i++)
		traffic_report_clear(&t->report[i]);
	two_ended_sizes_clear(t);
	run_clear(&t->run);
	free(t->echo);
	memset(t, 0, sizeof(*t));
}
