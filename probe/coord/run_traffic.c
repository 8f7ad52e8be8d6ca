/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pairs of a fabric run: for each rail a schedule, for each round all its pairs at once, WRITE
 * then SEND. Each end gets the traffic class an rdma_cm application would get on that host, so that
 * a host that marks wrongly is seen marking wrongly.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "probe/coord/phase_priv.h"
#include "probe/coord/schedule.h"
#include "probe/io/destination.h"
#include "probe/record/run_tcp.h"
#include "profiles/base/json.h"

#define UNKNOWN_SPEED_MBPS 1000u /* where nobody says how fast the link is */
#define OPEN_MS		   15000
#define RUN_MARGIN_MS	   15000 /* after the duration: the agent's watchdog comes first */
#define CLOSE_MS	   5000

enum end_role {
	END_CLIENT,
	END_SERVER,
	END_COUNT,
};

/* One end of one pair while it runs. */
struct end {
	unsigned int host, port;
	struct traffic_spec spec;
	struct destinations place; /* of the port, as inventory and snapshot have it */
	bool open;
	uint64_t handle;
	struct traffic_endpoint self;
	struct traffic_result *result;
	bool has_result;
};

struct duel {
	struct run_pair *pair;
	struct end end[END_COUNT];
	bool failed;
};

/* The hosts of one rail, and their ports on it. */
struct rail {
	unsigned int host[SCHEDULE_HOSTS_MAX], port[SCHEDULE_HOSTS_MAX];
	unsigned int count;
};

static void fail_pair(struct coordinator *c, struct duel *d, unsigned int host, const char *what)
{
	if (d->failed)
		return;
	d->failed = true;
	snprintf(d->pair->error, sizeof(d->pair->error), "%s: %.180s", c->s.r->host[host].name,
		 what);
}

static uint64_t rate_of(const struct coordinator *c, const struct port *a, const struct port *b)
{
	uint32_t slow = a->speed_mbps && (!b->speed_mbps || a->speed_mbps < b->speed_mbps)
				? a->speed_mbps
				: b->speed_mbps;

	if (!slow)
		slow = UNKNOWN_SPEED_MBPS;
	return slow * UINT64_C(125000) * c->f->load_percent / 100;
}

static uint8_t tos_of(const struct coordinator *c, const struct port *p)
{
	int wish = profile_roce_tos(&c->f->profile);

	if (qos_has(&p->qos, QOS_CM_TOS))
		return p->qos.cm_tos;
	return wish >= 0 ? (uint8_t)wish : 0;
}

/* What one end needs to know of its own port. */
/* The receiver is told of each message: a WRITE goes with an immediate. */
static int prepare_end(struct coordinator *c, struct end *end, enum traffic_verb verb,
		       struct err *e)
{
	const struct port *p = phase_port(c, end->host, end->port);
	const char *netdev = c->s.r->host[end->host].port[end->port].netdev;
	const char *address = c->f->host[end->host].port[end->port].address;
	int prio = profile_roce_prio(&c->f->profile);
	const struct gid *gid;

	if (!session_ready(&c->s, end->host))
		return err_set(e, -EHOSTUNREACH, "the host was not reached");
	if (!p || !p->ibdev[0])
		return err_set(e, -ENODEV, "%s: %s", netdev, p ? "no RDMA device" : "no such port");
	gid = port_gid(p, address);
	if (!gid)
		return err_set(e, -ENOENT, "%s: no RoCE v2 GID%s%s", netdev, *address ? " of " : "",
			       address);
	/* Two verbs share the time of a pair. */
	traffic_spec_simple(&end->spec, verb == TRAFFIC_WRITE ? TRAFFIC_WRITE_IMM : verb,
			    c->f->message_bytes, c->f->traffic_s * 500);
	memcpy(end->spec.ibdev, p->ibdev, sizeof(end->spec.ibdev));
	end->spec.ib_port = p->ib_port;
	end->spec.gid_index = gid->index;
	end->spec.class[0].tos = tos_of(c, p);
	end->spec.class[0].sl = prio > 0 ? (uint8_t)prio : 0;
	run_tcp_set_spec(c->f, &end->spec);
	return destinations_of_gid(DESTINATION_OF_FABRIC, gid->raw, &end->place, e);
}

static void prepare(struct coordinator *c, struct duel *d)
{
	struct run_pair *p = d->pair;
	uint64_t seed = 0, rate;
	struct err e = {0};

	d->end[END_CLIENT] = (struct end){.host = p->client_host, .port = p->client_port};
	d->end[END_SERVER] = (struct end){.host = p->server_host, .port = p->server_port};
	d->end[END_CLIENT].result = &p->client;
	d->end[END_SERVER].result = &p->server;
	for (unsigned int i = 0; i < END_COUNT; i++) {
		if (prepare_end(c, &d->end[i], p->verb, &e)) {
			fail_pair(c, d, d->end[i].host, e.text);
			return;
		}
	}
	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		seed = loop_now_ms(c->s.loop);
	rate = rate_of(c, phase_port(c, p->client_host, p->client_port),
		       phase_port(c, p->server_host, p->server_port));
	p->asked_bytes_per_s = rate;
	for (unsigned int i = 0; i < END_COUNT; i++) {
		struct traffic_spec *s = &d->end[i].spec;

		s->role = i == END_CLIENT ? TRAFFIC_CLIENT : TRAFFIC_SERVER;
		s->seed = seed & JSON_UINT_MAX;
		s->class[0].rate_bytes_per_s = rate;
	}
	p->client_tos = d->end[END_CLIENT].spec.class[0].tos;
	p->server_tos = d->end[END_SERVER].spec.class[0].tos;
	if (run_tcp_alloc(p, d->end[END_CLIENT].spec.tcp, c->f->tcp_count))
		fail_pair(c, d, p->client_host, strerror(ENOMEM));
}

/* Asks an end; what cannot be asked fails the pair. */
static void ask(struct coordinator *c, struct duel *d, struct end *end, const char *op,
		json_t *fields, unsigned int timeout_ms)
{
	if (session_ready(&c->s, end->host)) {
		agent_conn_ask(&c->s.conn[end->host], op, fields, timeout_ms);
		return;
	}
	json_decref(fields);
	fail_pair(c, d, end->host, "lost the connection to the host");
}

/* The reply of an end, NULL when there is none: then the pair has failed. */
static const json_t *reply_of(struct coordinator *c, struct duel *d, const struct end *end)
{
	const struct agent_conn *k = &c->s.conn[end->host];
	char text[256];

	if (session_ready(&c->s, end->host) && k->call.reply)
		return k->call.reply;
	snprintf(text, sizeof(text), "%.150s%s%.80s%s",
		 k->call.err.text[0] ? k->call.err.text : "stopped",
		 k->call.err.hint[0] ? " (" : "", k->call.err.hint, k->call.err.hint[0] ? ")" : "");
	fail_pair(c, d, end->host, text);
	return NULL;
}

static void open_end(struct coordinator *c, struct duel *d, struct end *end)
{
	ask(c, d, end, "traffic_open", json_pack("{s:o}", "spec", traffic_spec_to_json(&end->spec)),
	    OPEN_MS);
}

static void take_open(struct coordinator *c, struct duel *d, struct end *end)
{
	const json_t *reply = reply_of(c, d, end);
	struct err e = {0};

	if (!reply)
		return;
	if (json_get_uint(reply, "handle", 0, INT_MAX, &end->handle, &e) ||
	    traffic_endpoint_from_json(json_object_get(reply, "peer"), &end->self, &e))
		fail_pair(c, d, end->host, e.text);
	else
		end->open = true;
	if (end->open && destinations_check(&end->place, end->self.gid, &e))
		fail_pair(c, d, end->host, e.text);
}

static void connect_end(struct coordinator *c, struct duel *d, struct end *end)
{
	const struct end *other = end == &d->end[END_CLIENT] ? &d->end[END_SERVER]
							     : &d->end[END_CLIENT];

	ask(c, d, end, "traffic_connect",
	    json_pack("{s:I, s:o}", "handle", (json_int_t)end->handle, "peer",
		      traffic_endpoint_to_json(&other->self)),
	    OPEN_MS);
}

static void take_connect(struct coordinator *c, struct duel *d, struct end *end)
{
	(void)reply_of(c, d, end);
}

static void run_end(struct coordinator *c, struct duel *d, struct end *end)
{
	ask(c, d, end, "traffic_run", json_pack("{s:I}", "handle", (json_int_t)end->handle),
	    end->spec.duration_ms + RUN_MARGIN_MS);
}

static void take_run(struct coordinator *c, struct duel *d, struct end *end)
{
	const json_t *reply = reply_of(c, d, end), *result = json_object_get(reply, "result");
	struct err e = {0};

	if (!reply)
		return;
	if (traffic_result_from_json(result, end->result, &e) ||
	    run_tcp_parse_report(d->pair, end == &d->end[END_CLIENT], result, &e))
		fail_pair(c, d, end->host, e.text);
	else
		end->has_result = true;
}

static void close_end(struct coordinator *c, struct duel *d, struct end *end)
{
	(void)d;
	if (end->open && session_ready(&c->s, end->host))
		agent_conn_ask(&c->s.conn[end->host], "traffic_close",
			       json_pack("{s:I}", "handle", (json_int_t)end->handle), CLOSE_MS);
}

static void take_close(struct coordinator *c, struct duel *d, struct end *end)
{
	(void)c;
	(void)d;
	end->open = false;
}

/* The steps of all pairs of a round, side by side. A server is asked before its client. */
static const struct step {
	void (*ask)(struct coordinator *c, struct duel *d, struct end *end);
	void (*take)(struct coordinator *c, struct duel *d, struct end *end);
	bool failed_too; /* pairs that failed need it as well */
} steps[] = {
	{open_end, take_open, false},
	{connect_end, take_connect, false},
	{run_end, take_run, false},
	{close_end, take_close, true},
};

static void run_step(struct coordinator *c, const struct step *step, struct duel *list,
		     unsigned int n)
{
	bool asked[SCHEDULE_HOSTS_MAX];

	for (unsigned int i = 0; i < n; i++) {
		asked[i] = step->failed_too || !list[i].failed;
		if (asked[i])
			step->ask(c, &list[i], &list[i].end[END_SERVER]);
	}
	for (unsigned int i = 0; i < n; i++) {
		if (asked[i])
			step->ask(c, &list[i], &list[i].end[END_CLIENT]);
	}
	session_wait(&c->s);
	for (unsigned int i = 0; i < n; i++) {
		if (!asked[i])
			continue;
		step->take(c, &list[i], &list[i].end[END_CLIENT]);
		step->take(c, &list[i], &list[i].end[END_SERVER]);
	}
}

static void say_tcp(struct coordinator *c, const struct run_pair *p)
{
	char text[200];

	for (unsigned int i = 0; i < p->tcp_count; i++) {
		run_tcp_text(&p->tcp[i], i, text, sizeof(text));
		session_report(&c->s, "%s -> %s in parallel: %s", c->s.r->host[p->client_host].name,
			       c->s.r->host[p->server_host].name, text);
	}
}

static void say_pair(struct coordinator *c, const struct run_pair *p)
{
	const struct run_host *client = &c->s.r->host[p->client_host];
	const struct run_host *server = &c->s.r->host[p->server_host];
	double seconds = (double)p->client.duration_ns / 1e9;

	if (!p->ran)
		session_report(&c->s, "%s -> %s %s: %s", client->name, server->name,
			       traffic_verb_word(p->verb), p->error);
	else
		session_report(&c->s, "%s %s -> %s %s %s: %.2f of %.2f MB/s, %llu mismatches, %s",
			       client->name, client->port[p->client_port].netdev, server->name,
			       server->port[p->server_port].netdev, traffic_verb_word(p->verb),
			       seconds > 0 ? (double)p->client.bytes / seconds / 1e6 : 0.0,
			       (double)p->asked_bytes_per_s / 1e6,
			       (unsigned long long)p->server.mismatches,
			       p->client.cause ? traffic_cause_word(p->client.cause)
					       : traffic_cause_word(p->server.cause));
	if (p->ran)
		say_tcp(c, p);
}

/* Both ends of one host cannot be in a round twice: the schedule sees to it. */
static void run_round(struct coordinator *c, struct duel *list, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		prepare(c, &list[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(steps) && !session_stopped(&c->s); i++)
		run_step(c, &steps[i], list, n);
	for (unsigned int i = 0; i < n; i++) {
		struct duel *d = &list[i];

		d->pair->ran = d->end[END_CLIENT].has_result && d->end[END_SERVER].has_result;
		if (!d->pair->ran && session_stopped(&c->s))
			fail_pair(c, d, d->end[END_CLIENT].host, "the run was stopped");
		say_pair(c, d->pair);
	}
}

static void find_rail(const struct run *r, unsigned int rail, struct rail *out)
{
	out->count = 0;
	for (unsigned int i = 0; i < r->host_count && out->count < SCHEDULE_HOSTS_MAX; i++) {
		for (unsigned int p = 0; p < r->host[i].port_count; p++) {
			if (r->host[i].port[p].rail != rail)
				continue;
			out->host[out->count] = i;
			out->port[out->count++] = p;
			break;
		}
	}
}

#define SCHEDULE_NAME_MAX 40

static void schedule_name(unsigned int rail, char name[SCHEDULE_NAME_MAX])
{
	snprintf(name, SCHEDULE_NAME_MAX, "schedule-rail%u.txt", rail);
}

/* The schedule in names, for people and for the run folder. */
static void tell_schedule(struct coordinator *c, const struct schedule *s, const struct rail *rail,
			  unsigned int number)
{
	double seconds = s->round_count * (c->f->traffic_s + 1.0);
	const char **names = calloc(rail->count + 1, sizeof(*names));
	char file[SCHEDULE_NAME_MAX], *text = NULL;
	struct err e;

	session_report(
		&c->s,
		"rail %u: %u rounds, %u pairs, WRITE and SEND, %u %% of the link, about %.0f s",
		number, s->round_count, s->pair_count, c->f->load_percent, seconds);
	for (unsigned int i = 0; names && i < rail->count; i++)
		names[i] = c->s.r->host[rail->host[i]].name;
	if (names)
		text = schedule_text(s, names);
	schedule_name(number, file);
	if (text && c->dir && file_write_in(c->dir, file, 0, text, strlen(text), &e))
		session_report(&c->s, "%s", e.text);
	free(text);
	free(names);
}

static uint64_t volume_of(const struct coordinator *c, const struct schedule *s,
			  const struct rail *rail)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < s->pair_count; i++) {
		const struct port *a, *b;

		a = phase_port(c, rail->host[s->pair[i].client], rail->port[s->pair[i].client]);
		b = phase_port(c, rail->host[s->pair[i].server], rail->port[s->pair[i].server]);
		if (a && b)
			bytes += rate_of(c, a, b) * c->f->traffic_s;
	}
	return bytes;
}

/* Room for the pairs of a schedule, twice: for both verbs. */
static int add_pairs(struct run *r, const struct schedule *s)
{
	size_t count = r->pair_count + 2 * (size_t)s->pair_count;
	struct run_pair *list = realloc(r->pair, (count ? count : 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	memset(list + r->pair_count, 0, (count - r->pair_count) * sizeof(*list));
	r->pair = list;
	return 0;
}

static void run_rounds(struct coordinator *c, const struct schedule *s, const struct rail *rail,
		       struct duel *list)
{
	for (unsigned int i = 0, n; i < s->pair_count && !session_stopped(&c->s); i += n) {
		for (n = 0; i + n < s->pair_count && s->pair[i + n].round == s->pair[i].round; n++)
			;
		for (unsigned int verb = TRAFFIC_WRITE; verb <= TRAFFIC_SEND; verb++) {
			memset(list, 0, n * sizeof(*list));
			for (unsigned int k = 0; k < n; k++) {
				const struct schedule_pair *at = &s->pair[i + k];
				struct run_pair *p = &c->s.r->pair[c->s.r->pair_count++];

				p->client_host = rail->host[at->client];
				p->client_port = rail->port[at->client];
				p->server_host = rail->host[at->server];
				p->server_port = rail->port[at->server];
				p->verb = (enum traffic_verb)verb;
				list[k].pair = p;
			}
			run_round(c, list, n);
		}
	}
}

static int run_rail(struct coordinator *c, unsigned int number, struct rail *rail, struct err *e)
{
	struct schedule s = {0};
	struct duel *list = NULL;
	int err;

	find_rail(c->s.r, number, rail);
	err = schedule_make(rail->count, &s);
	if (!err && s.pair_count) {
		list = calloc(rail->count, sizeof(*list));
		err = list ? add_pairs(c->s.r, &s) : -ENOMEM;
	}
	if (!err && s.pair_count) {
		tell_schedule(c, &s, rail, number);
		session_report(&c->s, "rail %u: %.1f MB in total%s", number,
			       (double)volume_of(c, &s, rail) / 1e6,
			       c->f->tcp_count ? ", without TCP" : "");
		run_rounds(c, &s, rail, list);
	}
	free(list);
	schedule_clear(&s);
	return err ? err_sys(e, err, "rail %u", number) : 0;
}

/* The rail after `last` in use, or -1. */
static int64_t next_rail(const struct run *r, int64_t last)
{
	int64_t next = -1;

	for (unsigned int i = 0; i < r->host_count; i++) {
		for (unsigned int p = 0; p < r->host[i].port_count; p++) {
			int64_t rail = r->host[i].port[p].rail;

			if (rail > last && (next < 0 || rail < next))
				next = rail;
		}
	}
	return next;
}

int phase_traffic_remove(const struct coordinator *c, struct err *e)
{
	char name[SCHEDULE_NAME_MAX];
	int err = 0;

	for (int64_t at = next_rail(c->s.r, -1); at >= 0 && !err; at = next_rail(c->s.r, at)) {
		schedule_name((unsigned int)at, name);
		err = file_remove(c->dir, name, e);
	}
	return err;
}

int phase_traffic(struct coordinator *c, struct err *e)
{
	struct rail *rail = malloc(sizeof(*rail));
	int err = rail ? 0 : err_sys(e, -ENOMEM, "traffic");

	c->s.r->traffic = true;
	for (int64_t at = next_rail(c->s.r, -1); !err && at >= 0 && !session_stopped(&c->s);
	     at = next_rail(c->s.r, at))
		err = run_rail(c, (unsigned int)at, rail, e);
	free(rail);
	return err;
}
