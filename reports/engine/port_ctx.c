/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the ports of a run and gives checks access to one port. A port of the inventory that the
 * host lacks is walked, too, with port == NULL: without it the port would pass silently.
 */
#include "reports/engine/port_ctx.h"

#include <errno.h>
#include <string.h>

#include "probe/record/run_port.h"
#include "reports/engine/tcp_share.h"

/* A profile that was loaded has a name. */
bool port_ctx_has_profile(const struct port_ctx *s)
{
	return s->profile->name[0];
}

uint8_t port_ctx_lossless(const struct port_ctx *s)
{
	if (port_ctx_has_profile(s) || !s->port)
		return s->want->pfc_enabled;
	return qos_has(&s->port->qos, QOS_PFC_ENABLED) ? s->port->qos.pfc_enabled : 0;
}

int port_ctx_roce_tos(const struct port_ctx *s)
{
	if (port_ctx_has_profile(s) || !s->port)
		return profile_roce_tos(s->profile);
	return qos_has(&s->port->qos, QOS_CM_TOS) ? s->port->qos.cm_tos : -ENODATA;
}

static int port_roce_prio(const struct port_ctx *s)
{
	uint8_t set = port_ctx_lossless(s);

	if (port_ctx_has_profile(s))
		return profile_roce_prio(s->profile);
	return set && !(set & (set - 1)) ? __builtin_ctz(set) : -ENODATA;
}

static bool port_ctx_fill(const struct rule_context *c, unsigned int host, unsigned int port,
			  struct port_ctx *s)
{
	const struct run_host *h = &c->run->host[host];

	memset(s, 0, sizeof(*s));
	if (!h->has_before)
		return false;
	s->c = c;
	s->profile = &c->fabric->profile;
	s->want = &s->profile->qos;
	s->host = h;
	s->host_index = host;
	s->port_index = port;
	if (h->port_count) {
		s->run_port = &h->port[port];
		s->name = s->run_port->netdev;
		s->port = snapshot_port(&h->before, s->name);
	} else {
		s->port = &h->before.port[port];
		s->name = s->port->netdev[0] ? s->port->netdev : s->port->ibdev;
	}
	s->roce_prio = port_roce_prio(s);
	s->prio_set = s->roce_prio < 0 ? 0 : (uint8_t)(1 << s->roce_prio);
	return s->run_port ||
	       (s->port->kind != PORT_ETHERNET && profile_selects(s->profile, s->port->netdev));
}

static unsigned int port_total(const struct run_host *h)
{
	if (!h->has_before)
		return 0;
	return h->port_count ? h->port_count : h->before.port_count;
}

bool port_walk_next(struct port_walk *w, struct port_ctx *s)
{
	while (w->host < w->c->run->host_count) {
		if (w->port >= port_total(&w->c->run->host[w->host])) {
			w->host++;
			w->port = 0;
			continue;
		}
		if (port_ctx_fill(w->c, w->host, w->port++, s))
			return true;
	}
	return false;
}

size_t port_walk_count(const struct rule_context *c)
{
	struct port_walk walk = {.c = c};
	struct port_ctx s;
	size_t count = 0;

	while (port_walk_next(&walk, &s))
		count++;
	return count;
}

bool port_ctx_at(const struct rule_context *c, unsigned int host, unsigned int port,
		 struct port_ctx *s)
{
	if (host >= c->run->host_count || port >= c->run->host[host].port_count)
		return false;
	return port_ctx_fill(c, host, port, s);
}

bool port_ctx_is_client(const struct port_ctx *s, const struct run_pair *pair)
{
	return s->run_port && pair->client_host == s->host_index &&
	       pair->client_port == s->port_index;
}

bool port_ctx_is_server(const struct port_ctx *s, const struct run_pair *pair)
{
	return s->run_port && pair->server_host == s->host_index &&
	       pair->server_port == s->port_index;
}

/* Uses of the port in the run. Without an inventory it has none. */
static const struct port_use *port_ctx_uses(const struct port_ctx *s, const struct port_uses *uses,
					    size_t *count)
{
	return s->run_port ? port_pairs_find(s->c->pairs, uses, s->host_index, s->port_index, count)
			   : NULL;
}

const struct run_pair *port_ctx_phase_pair(const struct port_ctx *s, enum run_phase phase,
					   unsigned int *i)
{
	size_t count = 0;
	const struct port_use *use = port_ctx_uses(s, &s->c->pairs->pairs, &count);

	while (*i < count) {
		const struct run_pair *pair = &s->c->run->pair[use[(*i)++].index];

		if (pair->phase == phase)
			return pair;
	}
	return NULL;
}

const struct run_pair *port_ctx_pair(const struct port_ctx *s, unsigned int *i)
{
	return port_ctx_phase_pair(s, PHASE_LOAD, i);
}

const struct run_marking *port_ctx_planned_marking(const struct port_ctx *s, unsigned int *i,
						   enum run_side *side)
{
	size_t count = 0;
	const struct port_use *use = port_ctx_uses(s, &s->c->pairs->markings, &count);
	const struct run_marking *m;

	if (*i >= count)
		return NULL;
	m = &s->c->run->marking[use[(*i)++].index];
	*side = m->server_host == s->host_index && m->server_port == s->port_index ? SIDE_SERVER
										   : SIDE_CLIENT;
	return m;
}

const struct run_marking *port_ctx_marking(const struct port_ctx *s, unsigned int *i,
					   enum run_side *side)
{
	const struct run_marking *m;

	while ((m = port_ctx_planned_marking(s, i, side)))
		if (m->ran)
			return m;
	return NULL;
}

bool port_ctx_marked(const struct port_ctx *s)
{
	const struct run_marking *m;
	enum run_side side;
	unsigned int i = 0;

	while ((m = port_ctx_marking(s, &i, &side)))
		if (m->arrived[side])
			return true;
	return false;
}

const struct marking_finding *port_ctx_marking_finding(const struct port_ctx *s, unsigned int kinds,
						       bool arriving, const char **other)
{
	const struct run_marking *m;
	enum run_side side;
	unsigned int i = 0;

	while ((m = port_ctx_marking(s, &i, &side))) {
		bool forward = (side == SIDE_SERVER) == arriving;

		for (unsigned int k = 0; k < m->finding_count; k++) {
			const struct marking_finding *f = &m->finding[k];

			if ((f->direction == MARKING_FORWARD) != forward ||
			    !(kinds & 1u << f->kind))
				continue;
			*other = s->c->run
					 ->host[side == SIDE_SERVER ? m->client_host
								    : m->server_host]
					 .name;
			return f;
		}
	}
	return NULL;
}

void evidence_marking(struct findings *out, const struct marking_finding *f, const char *other)
{
	char text[240];

	marking_finding_text(f, text, sizeof(text));
	finding_evidence(out, EVIDENCE_TRAFFIC, "marking test with %s: %s", other, text);
}

bool port_ctx_partner(const struct port_ctx *s, const struct run_pair *pair, struct port_ctx *other)
{
	if (port_ctx_is_client(s, pair))
		return port_ctx_at(s->c, pair->server_host, pair->server_port, other);
	return port_ctx_at(s->c, pair->client_host, pair->client_port, other);
}

bool port_ctx_next_partner(const struct port_ctx *s, unsigned int *i, struct port_ctx *other)
{
	size_t count = 0;
	const struct port_use *use = port_ctx_uses(s, &s->c->pairs->pairs, &count);
	const struct run_pair *pair;

	while ((pair = port_ctx_pair(s, i)))
		if (!use[*i - 1].again && port_ctx_partner(s, pair, other))
			return true;
	return false;
}

uint8_t port_ctx_tcp_prios(const struct port_ctx *s)
{
	const struct run_pair *pair;
	struct port_ctx other;
	unsigned int i = 0;
	uint8_t prios = 0;

	while ((pair = port_ctx_pair(s, &i))) {
		bool has_other = port_ctx_partner(s, pair, &other) && other.port;

		for (unsigned int k = 0; k < pair->tcp_count; k++) {
			const struct traffic_tcp *tcp = &pair->tcp[k].asked;

			prios |= tcp_share_prios(&s->port->qos, tcp);
			prios |= has_other ? tcp_share_prios(&other.port->qos, tcp) : 0xff;
		}
	}
	return prios;
}

uint64_t port_ctx_tcp_bytes(const struct port_ctx *s)
{
	const struct run_pair *pair;
	uint64_t in = 0, out = 0;
	unsigned int i = 0;

	while ((pair = port_ctx_pair(s, &i))) {
		for (unsigned int k = 0; k < pair->tcp_count; k++) {
			const struct run_tcp *tcp = &pair->tcp[k];
			bool client = port_ctx_is_client(s, pair);
			const struct traffic_tcp_result *own = client ? &tcp->client : &tcp->server;
			const struct traffic_tcp_result *far = client ? &tcp->server : &tcp->client;

			tcp_share_bytes(far, own, &in, &out);
			tcp_share_bytes(own, far, &out, &in);
		}
	}
	return in;
}

const struct fabric_port *port_ctx_entry(const struct port_ctx *s)
{
	const struct fabric *f = s->c->fabric;
	int host = (int)s->host_index; /* a run has the order of its inventory */

	if (s->host_index >= f->host_count || strcmp(f->host[host].name, s->host->name))
		host = fabric_find_host(f, s->host->name);
	if (host < 0)
		return NULL;
	for (unsigned int i = 0; i < f->host[host].port_count; i++) {
		const struct fabric_port *entry = &f->host[host].port[i];

		if (!strcmp(entry->interface, s->name))
			return entry;
	}
	return NULL;
}

const struct gid *port_ctx_gid(const struct port_ctx *s)
{
	const struct fabric_port *entry = port_ctx_entry(s);

	return port_gid(s->port, entry ? entry->address : "");
}

bool port_ctx_delta(const struct port_ctx *s, enum run_reading first, struct counters *delta,
		    uint8_t reset[METRIC_COUNT])
{
	return s->run_port && run_port_delta(s->run_port, first, delta, reset);
}

bool port_ctx_job_idle(const struct port_ctx *s)
{
	static const struct {
		enum metric metric;
		uint64_t least;
	} rdma[] = {
		{METRIC_RDMA_TX_PACKETS, JOB_PACKETS_MIN},
		{METRIC_RDMA_RX_PACKETS, JOB_PACKETS_MIN},
		{METRIC_RDMA_TX_BYTES, JOB_BYTES_MIN},
		{METRIC_RDMA_RX_BYTES, JOB_BYTES_MIN},
	};
	struct counters delta;
	bool known = false;

	if (!port_ctx_delta(s, READ_LOAD_BEFORE, &delta, NULL))
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(rdma); i++) {
		if (!counters_has(&delta, rdma[i].metric, 0))
			continue;
		if (delta.value[rdma[i].metric][0] >= rdma[i].least)
			return false;
		known = true;
	}
	return known;
}

bool port_ctx_owns(const struct port_ctx *s, const uint8_t address[16])
{
	for (unsigned int i = 0; s->port && i < s->port->gid_count; i++)
		if (!memcmp(s->port->gid[i].raw, address, 16))
			return true;
	return false;
}

void evidence_field(struct findings *out, const struct port_ctx *s, enum qos_field_id id)
{
	char value[512];

	qos_field_text(&s->port->qos, id, value, sizeof(value));
	finding_evidence(out, EVIDENCE_HOST, "%s is %s (%s)", qos_fields[id].key, value,
			 qos_fields[id].source);
}

/* Names the tier of the counter's row; hardware, the best one, is not printed. */
static const char *port_counter_tier(const struct counters *c, enum metric m)
{
	static const char *const words[] = {
		[TIER_SOURCE] = ", known from driver source",
		[TIER_RECORDED] = ", known from a recording",
		[TIER_HARDWARE] = "",
	};

	return c->def[m] < counter_def_count ? words[counter_defs[c->def[m]].tier] : "";
}

uint64_t evidence_counter(struct findings *out, const struct port_ctx *s,
			  const struct counters *delta, enum metric m, unsigned int prio)
{
	const struct counters *reading = &s->run_port->reading[READ_LOAD_AFTER];
	char source[96];

	if (!counters_has(reading, m, prio))
		reading = &s->run_port->reading[READ_QUIET_AFTER];
	counters_source_text(reading, m, prio, source, sizeof(source));
	if (metric_table[m].by_prio)
		finding_evidence(out, EVIDENCE_COUNTER, "%s prio %u +%llu (%s%s)",
				 metric_table[m].name, prio, (count_t)delta->value[m][prio], source,
				 port_counter_tier(reading, m));
	else
		finding_evidence(out, EVIDENCE_COUNTER, "%s +%llu (%s%s)", metric_table[m].name,
				 (count_t)delta->value[m][0], source,
				 port_counter_tier(reading, m));
	return delta->value[m][prio];
}

unsigned int port_ctx_metric_prio(const struct port_ctx *s, enum metric m)
{
	return metric_table[m].by_prio && s->roce_prio >= 0 ? (unsigned int)s->roce_prio : 0;
}

const char *port_ctx_want_text(const struct port_ctx *s, enum qos_field_id id, char *buf,
			       size_t size)
{
	qos_field_text(s->want, id, buf, size);
	return buf;
}

void port_ctx_unreadable(const struct port_ctx *s, struct findings *out, const char *what)
{
	if (s->profile->on_unsupported == CHOICE_SKIP)
		finding_set(out, VERDICT_SKIP,
			    "%s cannot be read on this port, and the profile skips unsupported "
			    "settings",
			    what);
	else
		finding_set(out, VERDICT_INCONCLUSIVE, "%s cannot be read on this port", what);
}

bool port_ctx_has(const struct port_ctx *s, struct findings *out, uint64_t fields, const char *what)
{
	if ((s->port->qos.has & fields) == fields)
		return true;
	port_ctx_unreadable(s, out, what);
	return false;
}

bool port_ctx_knows(const struct port_ctx *s, struct findings *out, enum qos_field_id id)
{
	const char *key = qos_fields[id].key;

	finding_expected_by(out, s->profile, id);
	if (!qos_has(s->want, id)) {
		finding_set(out, VERDICT_SKIP, "the profile does not state %s", key);
		return false;
	}
	return port_ctx_has(s, out, QOS_BIT(id), key);
}

bool port_ctx_compare(const struct port_ctx *s, struct findings *out, enum qos_field_id id)
{
	bool same = !(qos_diff(s->want, &s->port->qos) & QOS_BIT(id));
	char want[512], have[512];

	evidence_field(out, s, id);
	port_ctx_want_text(s, id, want, sizeof(want));
	qos_field_text(&s->port->qos, id, have, sizeof(have));
	if (same)
		finding_set(out, VERDICT_PASS, "%s is %s, as the profile wants", qos_fields[id].key,
			    have);
	else
		finding_set(out, VERDICT_FAIL, "%s is %s, the profile wants %s", qos_fields[id].key,
			    have, want);
	return same;
}
