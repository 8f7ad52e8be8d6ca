/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the ports of a run and answers what checks ask about one port. A port that the inventory
 * names and the host has not is walked too, with port == NULL: leaving it out would be a silent
 * pass.
 */
#include "reports/engine/subject.h"

#include <errno.h>
#include <string.h>

#include "reports/engine/background.h"

/* Where the value of a field was read, for evidence. */
static const char *const field_source[QOS_FIELD_COUNT] = {
	[QOS_DCBX_MODE] = "dcbnl",	  [QOS_TRUST] = "dcbnl",
	[QOS_DSCP_PRIO] = "dcbnl APP",	  [QOS_APP] = "dcbnl APP",
	[QOS_APP_TRUST] = "dcbnl",	  [QOS_REWRITE_DSCP] = "dcbnl",
	[QOS_REWRITE_PCP] = "dcbnl",	  [QOS_ETS_WILLING] = "dcbnl",
	[QOS_ETS_CAP] = "dcbnl",	  [QOS_PRIO_TC] = "dcbnl ETS",
	[QOS_TC_TSA] = "dcbnl ETS",	  [QOS_TC_TX_BW] = "dcbnl ETS",
	[QOS_TC_MAXRATE] = "dcbnl",	  [QOS_PFC_WILLING] = "dcbnl",
	[QOS_PFC_CAP] = "dcbnl",	  [QOS_PFC_ENABLED] = "dcbnl",
	[QOS_PFC_DELAY] = "dcbnl",	  [QOS_PRIO_BUFFER] = "dcbnl",
	[QOS_BUFFER_SIZE] = "dcbnl",	  [QOS_PAUSE_AUTONEG] = "ethtool",
	[QOS_PAUSE_RX] = "ethtool",	  [QOS_PAUSE_TX] = "ethtool",
	[QOS_VLAN_PRIO] = "rtnetlink",	  [QOS_MTU] = "rtnetlink",
	[QOS_IB_MTU] = "verbs",		  [QOS_ROCE_ENABLE] = "devlink",
	[QOS_ROCE_VERSION] = "rdma_cm",	  [QOS_CM_TOS] = "rdma_cm",
	[QOS_NP_ENABLE] = "driver",	  [QOS_RP_ENABLE] = "driver",
	[QOS_CNP_DSCP] = "driver",	  [QOS_CNP_PRIO] = "driver",
	[QOS_CNP_INTERVAL] = "driver",	  [QOS_CC_ALGORITHM] = "driver",
	[QOS_CC_PARAMS] = "driver",	  [QOS_VERBS_TOS] = "driver",
	[QOS_FIRMWARE_AGENT] = "ethtool", [QOS_PFC_STORM] = "ethtool",
};

/* A profile that was loaded has a name. */
bool subject_has_profile(const struct subject *s)
{
	return s->profile->name[0];
}

uint8_t subject_lossless(const struct subject *s)
{
	if (subject_has_profile(s) || !s->port)
		return s->wish->pfc_enabled;
	return qos_has(&s->port->qos, QOS_PFC_ENABLED) ? s->port->qos.pfc_enabled : 0;
}

int subject_roce_tos(const struct subject *s)
{
	if (subject_has_profile(s) || !s->port)
		return profile_roce_tos(s->profile);
	return qos_has(&s->port->qos, QOS_CM_TOS) ? s->port->qos.cm_tos : -ENODATA;
}

static int roce_prio(const struct subject *s)
{
	uint8_t set = subject_lossless(s);

	if (subject_has_profile(s))
		return profile_roce_prio(s->profile);
	return set && !(set & (set - 1)) ? __builtin_ctz(set) : -ENODATA;
}

static bool subject_fill(const struct rule_context *c, unsigned int host, unsigned int port,
			 struct subject *s)
{
	const struct run_host *h = &c->run->host[host];

	memset(s, 0, sizeof(*s));
	if (!h->has_before)
		return false;
	s->c = c;
	s->profile = &c->fabric->profile;
	s->wish = &s->profile->qos;
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
	s->roce_prio = roce_prio(s);
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

bool port_walk_next(struct port_walk *w, struct subject *s)
{
	while (w->host < w->c->run->host_count) {
		if (w->port >= port_total(&w->c->run->host[w->host])) {
			w->host++;
			w->port = 0;
			continue;
		}
		if (subject_fill(w->c, w->host, w->port++, s))
			return true;
	}
	return false;
}

size_t port_walk_count(const struct rule_context *c)
{
	struct port_walk walk = {.c = c};
	struct subject s;
	size_t count = 0;

	while (port_walk_next(&walk, &s))
		count++;
	return count;
}

bool subject_at(const struct rule_context *c, unsigned int host, unsigned int port,
		struct subject *s)
{
	if (host >= c->run->host_count || port >= c->run->host[host].port_count)
		return false;
	return subject_fill(c, host, port, s);
}

bool subject_is_client(const struct subject *s, const struct run_pair *pair)
{
	return s->run_port && pair->client_host == s->host_index &&
	       pair->client_port == s->port_index;
}

bool subject_is_server(const struct subject *s, const struct run_pair *pair)
{
	return s->run_port && pair->server_host == s->host_index &&
	       pair->server_port == s->port_index;
}

const struct run_pair *subject_pair(const struct subject *s, unsigned int *i)
{
	while (*i < s->c->run->pair_count) {
		const struct run_pair *pair = &s->c->run->pair[(*i)++];

		if (subject_is_client(s, pair) || subject_is_server(s, pair))
			return pair;
	}
	return NULL;
}

bool subject_partner(const struct subject *s, const struct run_pair *pair, struct subject *other)
{
	if (subject_is_client(s, pair))
		return subject_at(s->c, pair->server_host, pair->server_port, other);
	return subject_at(s->c, pair->client_host, pair->client_port, other);
}

/* Whether pair number `before` or an earlier one joins the same two ports. */
static bool joined_earlier(const struct subject *s, const struct subject *other,
			   unsigned int before)
{
	for (unsigned int i = 0; i < before; i++) {
		const struct run_pair *pair = &s->c->run->pair[i];

		if ((subject_is_client(s, pair) && subject_is_server(other, pair)) ||
		    (subject_is_server(s, pair) && subject_is_client(other, pair)))
			return true;
	}
	return false;
}

bool partner_next(const struct subject *s, unsigned int *i, struct subject *other)
{
	const struct run_pair *pair;

	while ((pair = subject_pair(s, i)))
		if (subject_partner(s, pair, other) && !joined_earlier(s, other, *i - 1))
			return true;
	return false;
}

uint8_t subject_tcp_prios(const struct subject *s)
{
	const struct run_pair *pair;
	struct subject other;
	unsigned int i = 0;
	uint8_t prios = 0;

	while ((pair = subject_pair(s, &i))) {
		bool has_other = subject_partner(s, pair, &other) && other.port;

		for (unsigned int k = 0; k < pair->tcp_count; k++) {
			const struct traffic_tcp *tcp = &pair->tcp[k].asked;

			prios |= background_prios(&s->port->qos, tcp);
			prios |= has_other ? background_prios(&other.port->qos, tcp) : 0xff;
		}
	}
	return prios;
}

uint64_t subject_tcp_bytes(const struct subject *s)
{
	const struct run_pair *pair;
	uint64_t in = 0, out = 0;
	unsigned int i = 0;

	while ((pair = subject_pair(s, &i))) {
		for (unsigned int k = 0; k < pair->tcp_count; k++) {
			const struct run_tcp *tcp = &pair->tcp[k];
			bool client = subject_is_client(s, pair);
			const struct traffic_tcp_result *own = client ? &tcp->client : &tcp->server;
			const struct traffic_tcp_result *far = client ? &tcp->server : &tcp->client;

			background_volume(far, own, &in, &out);
			background_volume(own, far, &out, &in);
		}
	}
	return in;
}

const struct fabric_port *subject_entry(const struct subject *s)
{
	int host = fabric_find_host(s->c->fabric, s->host->name);

	if (host < 0)
		return NULL;
	for (unsigned int i = 0; i < s->c->fabric->host[host].port_count; i++) {
		const struct fabric_port *entry = &s->c->fabric->host[host].port[i];

		if (!strcmp(entry->interface, s->name))
			return entry;
	}
	return NULL;
}

bool subject_delta(const struct subject *s, enum run_reading first, struct counters *delta,
		   uint8_t reset[METRIC_COUNT])
{
	const struct run_port *p = s->run_port;
	unsigned int both = 1u << first | 1u << (first + 1);

	if (!p || (p->has & both) != both)
		return false;
	counters_delta(&p->reading[first], &p->reading[first + 1], delta, reset);
	return true;
}

bool subject_owns(const struct subject *s, const uint8_t address[16])
{
	for (unsigned int i = 0; s->port && i < s->port->gid_count; i++)
		if (!memcmp(s->port->gid[i].raw, address, 16))
			return true;
	return false;
}

void evidence_field(struct findings *out, const struct subject *s, enum qos_field_id id)
{
	char value[512];

	qos_field_text(&s->port->qos, id, value, sizeof(value));
	finding_evidence(out, EVIDENCE_HOST, "%s is %s (%s)", qos_fields[id].key, value,
			 field_source[id]);
}

/* How far the counter's row is known; the best tier goes without saying. */
static const char *tier_of(const struct counters *c, enum metric m)
{
	static const char *const words[] = {
		[TIER_SOURCE] = ", known by the driver's source",
		[TIER_RECORDED] = ", known by a recording",
		[TIER_HARDWARE] = "",
	};

	return c->def[m] < counter_def_count ? words[counter_defs[c->def[m]].tier] : "";
}

uint64_t evidence_counter(struct findings *out, const struct subject *s,
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
				 tier_of(reading, m));
	else
		finding_evidence(out, EVIDENCE_COUNTER, "%s +%llu (%s%s)", metric_table[m].name,
				 (count_t)delta->value[m][0], source, tier_of(reading, m));
	return delta->value[m][prio];
}

unsigned int subject_metric_prio(const struct subject *s, enum metric m)
{
	return metric_table[m].by_prio && s->roce_prio >= 0 ? (unsigned int)s->roce_prio : 0;
}

const char *wish_text(const struct subject *s, enum qos_field_id id, char *buf, size_t size)
{
	qos_field_text(s->wish, id, buf, size);
	return buf;
}

void subject_unreadable(const struct subject *s, struct findings *out, const char *what)
{
	if (s->profile->on_unsupported == CHOICE_SKIP)
		finding_say(out, VERDICT_SKIP,
			    "%s cannot be read on this port, and the profile says to skip that",
			    what);
	else
		finding_say(out, VERDICT_INCONCLUSIVE, "%s cannot be read on this port", what);
}

bool subject_has(const struct subject *s, struct findings *out, uint64_t fields, const char *what)
{
	if ((s->port->qos.has & fields) == fields)
		return true;
	subject_unreadable(s, out, what);
	return false;
}

bool subject_knows(const struct subject *s, struct findings *out, enum qos_field_id id)
{
	const char *key = qos_fields[id].key;

	finding_wish(out, s->profile, id);
	if (!qos_has(s->wish, id)) {
		finding_say(out, VERDICT_SKIP, "the profile does not state %s", key);
		return false;
	}
	return subject_has(s, out, QOS_BIT(id), key);
}

bool subject_compare(const struct subject *s, struct findings *out, enum qos_field_id id)
{
	bool same = !(qos_diff(s->wish, &s->port->qos) & QOS_BIT(id));
	char want[512], have[512];

	evidence_field(out, s, id);
	wish_text(s, id, want, sizeof(want));
	qos_field_text(&s->port->qos, id, have, sizeof(have));
	if (same)
		finding_say(out, VERDICT_PASS, "%s is %s, as the profile wants", qos_fields[id].key,
			    have);
	else
		finding_say(out, VERDICT_FAIL, "%s is %s, the profile wants %s", qos_fields[id].key,
			    have, want);
	return same;
}
