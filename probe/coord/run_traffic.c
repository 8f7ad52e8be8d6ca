/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pairs of a fabric run: for each rail a schedule, for each round all its pairs at once, by
 * each verb in turn. Each end gets the traffic class an rdma_cm application would get on that host,
 * so that a host that marks wrongly is seen marking wrongly.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/coord/load.h"
#include "probe/coord/phase_priv.h"
#include "probe/record/run_port.h"
#include "probe/record/run_tcp.h"
#include "probe/traffic/rate_series.h"
#include "profiles/base/json.h"

/* Of each pair, one after the other. */
static const enum traffic_verb traffic_verbs[] = {TRAFFIC_WRITE, TRAFFIC_SEND, TRAFFIC_READ};

/* Of a packet: Ethernet with VLAN and FCS, IPv6, UDP, BTH, RETH, immediate and ICRC. */
#define HEADERS_MOST	   106u
#define MARKING_ROUND_S	   2.0
#define MARKING_PAIR_BYTES 300000 /* of a pair, both directions */
#define SCHEDULE_FILE_MAX  (64u << 20)

/* The ports of a rail, and their schedule. */
struct wave {
	struct phase_ports ports;
	int64_t rail; /* -1 = all rails */
	struct schedule schedule;
};

static uint8_t traffic_tos(const struct coordinator *c, const struct port *p)
{
	int wanted = profile_roce_tos(&c->f->profile);

	if (qos_has(&p->qos, QOS_CM_TOS))
		return p->qos.cm_tos;
	return wanted >= 0 ? (uint8_t)wanted : 0;
}

/* Makes the spec of one end from what is known of its port. The receiver is told of each message: a
 * WRITE goes with an immediate. */
static int traffic_prepare_end(struct coordinator *c, const struct run_pair *pair,
			       enum run_side side, struct destinations *place,
			       struct traffic_spec *spec, struct err *e)
{
	unsigned int host = side == SIDE_CLIENT ? pair->client_host : pair->server_host;
	unsigned int port = side == SIDE_CLIENT ? pair->client_port : pair->server_port;
	const struct port *p = phase_port(c, host, port);
	const char *netdev = c->s.r->host[host].port[port].netdev;
	const char *address = c->f->host[host].port[port].address;
	int prio = profile_roce_prio(&c->f->profile);
	const struct gid *gid;

	if (!session_ready(&c->s, host))
		return err_set(e, -EHOSTUNREACH, "the host was not reached");
	if (!p || !p->ibdev[0])
		return err_set(e, -ENODEV, "%s: %s", netdev, p ? "no RDMA device" : "no such port");
	gid = port_gid(p, address);
	if (!gid)
		return err_set(e, -ENOENT, "%s: no RoCE v2 GID%s%s", netdev, *address ? " of " : "",
			       address);
	/* The verbs share the time of a pair. */
	traffic_spec_simple(spec, pair->verb == TRAFFIC_WRITE ? TRAFFIC_WRITE_IMM : pair->verb,
			    c->f->message_bytes,
			    c->f->traffic_s * 1000 / (unsigned int)ARRAY_SIZE(traffic_verbs));
	memcpy(spec->ibdev, p->ibdev, sizeof(spec->ibdev));
	spec->role = side == SIDE_CLIENT ? TRAFFIC_CLIENT : TRAFFIC_SERVER;
	spec->ib_port = p->ib_port;
	spec->gid_index = gid->index;
	spec->class[0].tos = traffic_tos(c, p);
	spec->class[0].sl = prio > 0 ? (uint8_t)prio : 0;
	run_tcp_set_spec(c->f, spec);
	return destinations_of_gid(DESTINATION_OF_FABRIC, gid->raw, place, e);
}

void phase_prepare_specs(struct coordinator *c, const struct run_pair *p,
			 struct destinations place[SIDES], struct load_flow *f,
			 struct traffic_spec spec[SIDES])
{
	uint64_t seed = 0;
	struct err e = {0};

	for (unsigned int i = 0; i < SIDES; i++) {
		f->end[i].s = &c->s;
		f->end[i].host = i == SIDE_CLIENT ? p->client_host : p->server_host;
		f->end[i].place = &place[i];
	}
	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		seed = loop_now_ms(c->s.loop);
	for (unsigned int i = 0; i < SIDES && !f->failed; i++) {
		if (traffic_prepare_end(c, p, i, &place[i], &spec[i], &e))
			load_fail(f, i, &e);
		spec[i].seed = seed & JSON_UINT_MAX;
	}
}

int phase_round_open(struct coordinator *c, unsigned int most, struct phase_round *r)
{
	*r = (struct phase_round){.load = {.loop = c->s.loop}};
	r->load.flow = calloc(most + 1, sizeof(*r->load.flow));
	r->place = calloc(most + 1, sizeof(*r->place));
	r->pair = calloc(most + 1, sizeof(*r->pair));
	return r->load.flow && r->place && r->pair ? 0 : -ENOMEM;
}

void phase_round_free(struct phase_round *r)
{
	free(r->load.flow);
	free(r->place);
	free(r->pair);
}

int phase_round_add(struct coordinator *c, struct phase_round *r, unsigned int wave,
		    const struct phase_ports *ports, const struct schedule_pair *at,
		    const struct run_pair *p)
{
	struct run *run = c->s.r;
	struct run_pair *list = list_grow(run->pair, run->pair_count, sizeof(*list));

	if (!list)
		return -ENOMEM;
	run->pair = list;
	list += run->pair_count;
	*list = *p;
	list->client_host = ports->list[at->client].host;
	list->client_port = ports->port[at->client];
	list->server_host = ports->list[at->server].host;
	list->server_port = ports->port[at->server];
	r->load.flow[r->load.count] = (struct load_flow){.wave = wave};
	r->pair[r->load.count++] = run->pair_count++;
	return 0;
}

struct run_pair *phase_round_pair(const struct coordinator *c, const struct phase_round *r,
				  unsigned int flow)
{
	return &c->s.r->pair[r->pair[flow]];
}

static void traffic_prepare_flow(struct coordinator *c, struct phase_round *r, unsigned int flow,
				 const struct phase_load *kind)
{
	struct run_pair *p = phase_round_pair(c, r, flow);
	struct load_flow *f = &r->load.flow[flow];
	struct err e = {0};

	phase_prepare_specs(c, p, r->place[flow], f, r->spec);
	if (!f->failed)
		kind->adjust(c, p, r->spec);
	if (!f->failed && run_tcp_alloc(p, r->spec->tcp, r->spec->tcp_count)) {
		err_sys(&e, -ENOMEM, "traffic");
		load_fail(f, SIDE_CLIENT, &e);
	}
	if (f->failed)
		return;
	p->strict = r->spec->mode == TRAFFIC_STRICT;
	p->client_tos = r->spec[SIDE_CLIENT].class[0].tos;
	p->server_tos = r->spec[SIDE_SERVER].class[0].tos;
	for (unsigned int i = 0; i < SIDES; i++)
		f->end[i].spec = traffic_spec_to_json(&r->spec[i]);
	f->duration_ms = r->spec->duration_ms;
}

/* Reads the result of one end, which is returned; NULL when the flow failed. */
static const json_t *traffic_read_result(struct run_pair *p, struct load_flow *f,
					 enum run_side side)
{
	struct err e = {0};
	const json_t *result = json_object_get(load_reply(f, side, &e), "result");

	if (f->failed)
		return NULL;
	if (e.code ||
	    traffic_result_from_json(result, side == SIDE_CLIENT ? &p->client : &p->server, &e) ||
	    run_tcp_parse_report(p, side == SIDE_CLIENT, result, &e))
		load_fail(f, side, &e);
	return f->failed ? NULL : result;
}

/* Reads the client's class: the losses of a strict pair, and what the phase wants of it. */
static void traffic_read_class(struct run_pair *p, struct load_flow *f, const json_t *result,
			       const struct phase_load *kind)
{
	struct traffic_report report = {0};
	struct err e = {0};

	if (!p->strict && !kind->read)
		return;
	if (traffic_report_from_json(result, &report, &e) || report.class_count != 1) {
		if (!e.code)
			err_set(&e, -EINVAL, "%u classes in the result", report.class_count);
		load_fail(f, SIDE_CLIENT, &e);
	} else {
		p->losses = p->strict ? report.class->losses : 0;
		if (kind->read)
			kind->read(p, report.class);
	}
	traffic_report_clear(&report);
}

void phase_round_run(struct coordinator *c, struct phase_round *r, const struct phase_load *kind)
{
	struct load *l = &r->load;

	if (!l->count)
		return;
	for (unsigned int i = 0; i < l->count; i++)
		traffic_prepare_flow(c, r, i, kind);
	load_open(l, "traffic_open");
	load_connect(l);
	for (unsigned int wave = l->flow[0].wave; wave <= l->flow[l->count - 1].wave; wave++)
		kind->run(c, r, wave);
	for (unsigned int i = 0; i < l->count; i++) {
		struct run_pair *p = phase_round_pair(c, r, i);
		const json_t *result = traffic_read_result(p, &l->flow[i], SIDE_CLIENT);

		if (result)
			traffic_read_class(p, &l->flow[i], result, kind);
		traffic_read_result(p, &l->flow[i], SIDE_SERVER);
	}
	load_close(l);
	for (unsigned int i = 0; i < l->count; i++) {
		struct run_pair *p = phase_round_pair(c, r, i);

		p->ran = !l->flow[i].failed;
		if (!p->ran)
			agent_error_text(&l->flow[i].e, p->error, sizeof(p->error));
		kind->report(c, p);
	}
	l->count = 0;
}

/* True when RC may repair a loss that no counter shows: a port of the pair counts none. */
static bool traffic_hides_loss(const struct run *r, const struct run_pair *p)
{
	return !run_port_counts_loss(&r->host[p->client_host].port[p->client_port]) ||
	       !run_port_counts_loss(&r->host[p->server_host].port[p->server_port]);
}

/* Sets the pace: a share of the slower link, of which headers take a part. Where a loss would not
 * be seen, it is made an event: without retransmission, which a SEND cannot do. */
static void traffic_adjust(struct coordinator *c, struct run_pair *p,
			   struct traffic_spec spec[SIDES])
{
	const struct port *a = phase_port(c, p->client_host, p->client_port);
	const struct port *b = phase_port(c, p->server_host, p->server_port);
	uint64_t mtu = a->active_mtu < b->active_mtu ? a->active_mtu : b->active_mtu;
	bool strict = p->verb != TRAFFIC_SEND && traffic_hides_loss(c->s.r, p);

	p->asked_bytes_per_s = schedule_rate(a->speed_mbps, b->speed_mbps, c->f->load_percent);
	if (mtu)
		p->asked_bytes_per_s = p->asked_bytes_per_s * mtu / (mtu + HEADERS_MOST);
	for (unsigned int i = 0; i < SIDES; i++) {
		spec[i].class[0].rate_bytes_per_s = p->asked_bytes_per_s;
		if (!strict)
			continue;
		spec[i].mode = TRAFFIC_STRICT;
		spec[i].class[0].verb = p->verb;
	}
}

static void traffic_run_load(struct coordinator *c, struct phase_round *r, unsigned int wave)
{
	(void)c;
	load_run(&r->load, wave);
}

static void traffic_report_tcp(struct coordinator *c, const struct run_pair *p)
{
	char text[200];

	for (unsigned int i = 0; i < p->tcp_count; i++) {
		run_tcp_text(&p->tcp[i], i, text, sizeof(text));
		session_report(&c->s, "%s -> %s in parallel: %s", c->s.r->host[p->client_host].name,
			       c->s.r->host[p->server_host].name, text);
	}
}

static void traffic_report_pair(struct coordinator *c, const struct run_pair *p)
{
	const struct run_host *client = &c->s.r->host[p->client_host];
	const struct run_host *server = &c->s.r->host[p->server_host];
	char lost[40] = "";

	if (p->strict)
		snprintf(lost, sizeof(lost), ", %llu losses", (unsigned long long)p->losses);
	if (!p->ran)
		session_report(&c->s, "%s -> %s %s: %s", client->name, server->name,
			       traffic_verb_word(p->verb), p->error);
	else
		session_report(&c->s, "%s %s -> %s %s %s: %.2f of %.2f MB/s, %llu mismatches%s, %s",
			       client->name, client->port[p->client_port].netdev, server->name,
			       server->port[p->server_port].netdev, traffic_verb_word(p->verb),
			       (double)rate_per_s(p->client.bytes, p->client.duration_ns) / 1e6,
			       (double)p->asked_bytes_per_s / 1e6,
			       (unsigned long long)run_pair_arrived(p)->mismatches, lost,
			       p->client.cause ? traffic_cause_word(p->client.cause)
					       : traffic_cause_word(p->server.cause));
	if (p->ran)
		traffic_report_tcp(c, p);
}

int phase_ports_find(const struct coordinator *c, int64_t rail, struct phase_ports *out)
{
	const struct run *r = c->s.r;
	struct phase_ports made = {0};
	unsigned int count = 0;

	for (unsigned int i = 0; i < r->host_count; i++)
		count += r->host[i].port_count;
	made.list = calloc(count + 1, sizeof(*made.list));
	made.port = calloc(count + 1, sizeof(*made.port));
	if (!made.list || !made.port) {
		phase_ports_clear(&made);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < r->host_count; i++) {
		for (unsigned int p = 0; p < r->host[i].port_count; p++) {
			const struct run_port *port = &r->host[i].port[p];
			const struct port *known = phase_port(c, i, p);

			if (rail >= 0 && port->rail != rail)
				continue;
			made.list[made.count] = (struct schedule_port){
				.host_name = r->host[i].name,
				.netdev = port->netdev,
				.host = i,
				.rail = port->rail,
				.speed_mbps = known ? known->speed_mbps : 0,
				.alone = r->host[i].port_count == 1,
			};
			made.port[made.count++] = p;
		}
	}
	*out = made;
	return 0;
}

void phase_ports_clear(struct phase_ports *ports)
{
	free(ports->list);
	free(ports->port);
	memset(ports, 0, sizeof(*ports));
}

static void traffic_close_wave(struct wave *w)
{
	schedule_close(&w->schedule);
	phase_ports_clear(&w->ports);
}

int phase_schedule_read(const char *path, char **text, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int err = fd < 0 || fstat(fd, &st) ? -errno : 0;

	if (!err && !S_ISREG(st.st_mode)) /* a run reads it several times */
		err = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if (!err)
		err = file_read_all(fd, SCHEDULE_FILE_MAX, text, size);
	if (fd >= 0)
		close(fd);
	return err;
}

static int traffic_read_file(const char *path, const struct schedule_spec *spec, struct schedule *s,
			     struct err *e)
{
	char *text = NULL;
	size_t size;
	int err = phase_schedule_read(path, &text, &size);

	if (err) {
		err_sys(e, err, "schedule '%s'", path);
		err_hint(e, "expected a file, or %s", SCHEDULE_WORDS);
		return err;
	}
	err = schedule_parse(s, spec, path, text, size, e);
	free(text);
	return err;
}

/* Opens the schedule that the run was asked for, or the default of this number of ports. */
static int traffic_open_schedule(const struct coordinator *c, struct wave *w, struct err *e)
{
	struct schedule_spec spec = {.port = w->ports.list, .n = w->ports.count};
	int pattern = c->f->schedule ? schedule_pattern_find(c->f->schedule)
				     : (int)schedule_pattern_default(w->ports.count);

	if (pattern < 0)
		return traffic_read_file(c->f->schedule, &spec, &w->schedule, e);
	spec.pattern = (enum schedule_pattern)pattern;
	return schedule_open(&w->schedule, &spec, e);
}

static int traffic_open_wave(const struct coordinator *c, int64_t rail, struct wave *w,
			     struct err *e)
{
	int err;

	*w = (struct wave){.rail = rail};
	err = phase_ports_find(c, rail, &w->ports);
	err = err ? err_sys(e, err, "traffic") : traffic_open_schedule(c, w, e);
	if (err)
		traffic_close_wave(w);
	return err;
}

bool phase_schedule_whole(const struct fabric *f)
{
	int pattern = f->schedule ? schedule_pattern_find(f->schedule) : SCHEDULE_TOURNAMENT;

	return pattern < 0 || schedule_patterns[pattern].whole;
}

int run_check_schedule(const struct fabric *f, struct run *r, struct err *e)
{
	const struct coordinator c = {.f = f, .s.r = r};
	struct wave w;
	int err;

	if (!f->schedule || schedule_pattern_find(f->schedule) >= 0)
		return 0;
	err = traffic_open_wave(&c, -1, &w, e);
	if (!err)
		traffic_close_wave(&w);
	return err;
}

#define WAVE_NAME_MAX 40

/* "rail 0", or "all rails", and the name of its file. */
static void traffic_wave_name(int64_t rail, char name[WAVE_NAME_MAX], char file[WAVE_NAME_MAX])
{
	snprintf(name, WAVE_NAME_MAX, rail < 0 ? "all rails" : "rail %u", (unsigned int)rail);
	snprintf(file, WAVE_NAME_MAX, rail < 0 ? "schedule.txt" : "schedule-rail%u.txt",
		 (unsigned int)rail);
}

/* The schedule in names, for people and for the run folder. */
static void traffic_report_schedule(struct coordinator *c, struct wave *w,
				    const struct schedule_estimate *sum)
{
	enum schedule_pattern pattern = w->schedule.spec.pattern;
	char name[WAVE_NAME_MAX], file[WAVE_NAME_MAX], *text;
	struct err e;

	traffic_wave_name(w->rail, name, file);
	session_report(
		&c->s,
		"%s: schedule %s: %u round%s, %llu pair%s, WRITE, SEND and READ, %u %% of the "
		"link, about %.0f s, %.1f MB in total%s",
		name, pattern == SCHEDULE_FILE ? c->f->schedule : schedule_patterns[pattern].name,
		sum->rounds, plural(sum->rounds), (unsigned long long)sum->pairs,
		plural(sum->pairs), c->f->load_percent, sum->seconds, (double)sum->bytes / 1e6,
		c->f->tcp_count ? ", without TCP" : "");
	text = schedule_text(&w->schedule);
	if (text && c->dir && file_write_in(c->dir, file, 0, text, strlen(text), &e))
		session_report(&c->s, "%s", e.text);
	free(text);
}

static int traffic_run_rounds(struct coordinator *c, struct wave *w, struct phase_round *r)
{
	static const struct phase_load load = {
		.adjust = traffic_adjust, .run = traffic_run_load, .report = traffic_report_pair};
	struct schedule *s = &w->schedule;
	int err = 0;

	while (!err && !session_stopped(&c->s) && schedule_next(s)) {
		for (unsigned int wave = 0; wave < ARRAY_SIZE(traffic_verbs); wave++) {
			const struct run_pair p = {.verb = traffic_verbs[wave]};

			for (unsigned int k = 0; k < s->pair_count && !err; k++)
				err = phase_round_add(c, r, wave, &w->ports, &s->pair[k], &p);
		}
		phase_round_run(c, r, &load);
		session_count_round(&c->s);
	}
	return err;
}

/* Leaves out rounds that have the same pairs in the other direction: a marking test is of both. */
static int traffic_mark_rounds(struct coordinator *c, struct wave *w, struct run_marking *list)
{
	const struct marking_plan plan = phase_marking_plan(c->f);
	struct schedule *s = &w->schedule;
	bool mirrors = schedule_patterns[s->spec.pattern].mirrors;
	int err = 0;

	while (!err && !session_stopped(&c->s) && schedule_next(s)) {
		if (mirrors && s->round % 2)
			continue;
		for (unsigned int k = 0; k < s->pair_count; k++)
			list[k] = phase_marking_pair(&w->ports, &s->pair[k]);
		err = phase_mark_round(c, &plan, list, s->pair_count);
		session_count_round(&c->s);
	}
	return err;
}

static int traffic_run_pairs(struct coordinator *c, struct wave *w,
			     const struct schedule_estimate *sum)
{
	struct phase_round r;
	/* A port is a client once in a wave. */
	int err = phase_round_open(c, w->ports.count * ARRAY_SIZE(traffic_verbs), &r);

	if (!err) {
		traffic_report_schedule(c, w, sum);
		err = traffic_run_rounds(c, w, &r);
	}
	phase_round_free(&r);
	return err;
}

static int traffic_mark_pairs(struct coordinator *c, struct wave *w,
			      const struct schedule_estimate *sum)
{
	const struct marking_plan plan = phase_marking_plan(c->f);
	struct run_marking *list = calloc(w->ports.count, sizeof(*list));
	bool mirrors = schedule_patterns[w->schedule.spec.pattern].mirrors;
	char name[WAVE_NAME_MAX], file[WAVE_NAME_MAX];
	int err;

	if (!list)
		return -ENOMEM;
	traffic_wave_name(w->rail, name, file);
	session_report(&c->s,
		       "%s: testing DSCP, ECN and path MTU of %llu paths, %u datagrams from each "
		       "of %u source ports",
		       name, (unsigned long long)sum->pairs * (mirrors ? 1 : 2), plan.count,
		       plan.sweep);
	err = traffic_mark_rounds(c, w, list);
	free(list);
	return err;
}

static int traffic_run_wave(struct coordinator *c, int64_t rail, bool marking, struct err *e)
{
	char name[WAVE_NAME_MAX], file[WAVE_NAME_MAX];
	struct schedule_estimate sum;
	struct wave w;
	int err = traffic_open_wave(c, rail, &w, e);

	if (err)
		return err;
	traffic_wave_name(rail, name, file);
	schedule_estimate(&w.schedule, c->f->traffic_s, PHASE_ROUND_PAUSE_S, c->f->load_percent,
			  &sum);
	if (sum.pairs)
		err = marking ? traffic_mark_pairs(c, &w, &sum) : traffic_run_pairs(c, &w, &sum);
	else if (!marking)
		session_report(&c->s, "%s: no pair: expected ports of at least 2 hosts%s", name,
			       w.schedule.spec.pattern == SCHEDULE_CROSS_RAIL ? " and rails" : "");
	traffic_close_wave(&w);
	return err ? err_sys(e, err, "%s", name) : 0;
}

int64_t phase_next_rail(const struct run *r, int64_t last)
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
	char name[WAVE_NAME_MAX], file[WAVE_NAME_MAX];
	int64_t at = -1;
	int err;

	do {
		traffic_wave_name(at, name, file);
		err = file_remove(c->dir, file, e);
		at = phase_next_rail(c->s.r, at);
	} while (!err && at >= 0);
	return err;
}

static int traffic_run_waves(struct coordinator *c, bool marking, struct err *e)
{
	int err = 0;

	if (phase_schedule_whole(c->f))
		return traffic_run_wave(c, -1, marking, e);
	for (int64_t at = phase_next_rail(c->s.r, -1); !err && at >= 0 && !session_stopped(&c->s);
	     at = phase_next_rail(c->s.r, at))
		err = traffic_run_wave(c, at, marking, e);
	return err;
}

int phase_marking(struct coordinator *c, enum run_stage stage, struct err *e)
{
	(void)stage;
	return traffic_run_waves(c, true, e);
}

int phase_traffic(struct coordinator *c, struct err *e)
{
	return traffic_run_waves(c, false, e);
}

static int traffic_estimate_wave(const struct coordinator *c, int64_t rail, bool marking,
				 struct schedule_estimate *sum, struct err *e)
{
	struct schedule_estimate one;
	struct wave w;
	int err = traffic_open_wave(c, rail, &w, e);

	if (err)
		return err;
	schedule_estimate(&w.schedule, c->f->traffic_s, PHASE_ROUND_PAUSE_S, c->f->load_percent,
			  &one);
	if (marking) {
		bool mirrors = schedule_patterns[w.schedule.spec.pattern].mirrors;

		one.rounds = mirrors ? (one.rounds + 1) / 2 : one.rounds;
		one.pairs = mirrors ? (one.pairs + 1) / 2 : one.pairs;
		one.seconds = one.rounds * MARKING_ROUND_S;
		one.bytes = one.pairs * MARKING_PAIR_BYTES;
	}
	traffic_close_wave(&w);
	schedule_estimate_add(sum, &one);
	return 0;
}

int phase_traffic_estimate(const struct coordinator *c, enum run_stage stage,
			   struct schedule_estimate *sum, struct err *e)
{
	bool marking = stage == STAGE_MARKING;
	int err = 0;

	if (phase_schedule_whole(c->f))
		return traffic_estimate_wave(c, -1, marking, sum, e);
	for (int64_t at = phase_next_rail(c->s.r, -1); !err && at >= 0;
	     at = phase_next_rail(c->s.r, at))
		err = traffic_estimate_wave(c, at, marking, sum, e);
	return err;
}
