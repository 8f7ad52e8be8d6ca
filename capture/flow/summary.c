/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct capture_summary, and as JSON. Counters go through tables of {key, offset}; the DSCPs of a
 * flow are an object of those that were seen.
 */
#include "capture/flow/summary.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/flow/summary_keys.h"
#include "profiles/base/json.h"

int capture_summary_make(const struct flow_table *t, const struct lldp_peer *peer,
			 enum capture_drops drops, uint64_t dropped, struct capture_summary *s)
{
	unsigned int i, n = flow_table_count(t);
	struct flow *flow = n ? calloc(n, sizeof(*flow)) : NULL;

	if (n && !flow)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		flow_table_get(t, i, &flow[i]);
	memset(s, 0, sizeof(*s));
	s->totals = *flow_table_totals(t);
	s->drops = drops;
	s->dropped = dropped;
	s->flow = flow;
	s->flow_count = n;
	if (peer)
		s->peer = *peer;
	return 0;
}

void capture_summary_clear(struct capture_summary *s)
{
	if (!s)
		return;
	free(s->flow);
	memset(s, 0, sizeof(*s));
}

/* Takes value over; false on -ENOMEM, also when making the value failed. */
static bool put(json_t *o, const char *key, json_t *value)
{
	return json_object_set_new_nocheck(o, key, value) == 0;
}

static bool put_counters(json_t *o, const void *base, const struct counter_table *t)
{
	uint64_t value;
	size_t i;

	for (i = 0; i < t->count; i++) {
		memcpy(&value, (const char *)base + t->row[i].offset, sizeof(value));
		if (!put(o, t->row[i].key, json_uint(value)))
			return false;
	}
	return true;
}

static json_t *array_of(const uint64_t *v, size_t n)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; a && i < n; i++) {
		if (json_array_append_new(a, json_integer((json_int_t)v[i])) < 0) {
			json_decref(a);
			a = NULL;
		}
	}
	return a;
}

static json_t *dscp_to_json(const struct flow *f)
{
	json_t *o = json_object();
	char key[8];
	unsigned int i;

	for (i = 0; o && i < ARRAY_SIZE(f->dscp); i++) {
		if (!f->dscp[i])
			continue;
		snprintf(key, sizeof(key), "%u", i);
		if (!put(o, key, json_integer((json_int_t)f->dscp[i]))) {
			json_decref(o);
			o = NULL;
		}
	}
	return o;
}

static json_t *flow_to_json(const struct flow *f)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	json_t *o = json_object();

	if (!o)
		return NULL;
	packet_addr_text(f->src, src, sizeof(src));
	packet_addr_text(f->dst, dst, sizeof(dst));
	if (put(o, "encap", json_string(encap_words[f->encap & 3])) &&
	    put(o, "service", json_string(service_words[f->service & 7])) &&
	    put(o, "src", json_string(src)) && put(o, "dst", json_string(dst)) &&
	    put(o, "sport", json_integer(f->sport)) &&
	    put(o, "dest_qpn", json_integer(f->dest_qpn)) && put_counters(o, f, &flow_counters) &&
	    put(o, "ecn", array_of(f->ecn, ARRAY_SIZE(f->ecn))) &&
	    put(o, "peer_qpn", f->paired ? json_integer(f->peer_qpn) : json_null()) &&
	    put(o, "dscp", dscp_to_json(f)) && put(o, "max_payload", json_integer(f->max_payload)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *flows_to_json(const struct capture_summary *s)
{
	json_t *a = json_array();
	unsigned int i;

	for (i = 0; a && i < s->flow_count; i++) {
		if (json_array_append_new(a, flow_to_json(&s->flow[i])) < 0) {
			json_decref(a);
			a = NULL;
		}
	}
	return a;
}

static json_t *longest_pauses(const struct pause_totals *t)
{
	uint64_t ns[PAUSE_PRIOS];

	for (unsigned int i = 0; i < PAUSE_PRIOS; i++)
		ns[i] = t->longest[i].ns;
	return array_of(ns, PAUSE_PRIOS);
}

static json_t *totals_to_json(const struct capture_totals *t)
{
	json_t *o = json_object();

	if (o && put_counters(o, t, &total_counters) &&
	    put(o, "link_mbps_of", json_string(link_words[t->pause.link_of])) &&
	    put(o, "pfc_by_prio", array_of(t->pfc_by_prio, ARRAY_SIZE(t->pfc_by_prio))) &&
	    put(o, "pauses_by_prio", array_of(t->pause.pauses, PAUSE_PRIOS)) &&
	    put(o, "pauses_ran_out_by_prio", array_of(t->pause.ran_out, PAUSE_PRIOS)) &&
	    put(o, "paused_ns_by_prio", array_of(t->pause.ns, PAUSE_PRIOS)) &&
	    put(o, "longest_pause_ns_by_prio", longest_pauses(&t->pause)))
		return o;
	json_decref(o);
	return NULL;
}

void capture_peer_text(const struct lldp_peer *p, char *buf, size_t size)
{
	const struct qos *q = &p->qos;
	bool pfc_willing = qos_has(q, QOS_PFC_WILLING) && q->pfc_willing;
	bool ets_willing = qos_has(q, QOS_ETS_WILLING) && q->ets_willing;
	char prios[32] = "not said";

	if (qos_has(q, QOS_PFC_ENABLED))
		qos_prio_set_text(q->pfc_enabled, prios, sizeof(prios));
	snprintf(buf, size, "%s %s (%s), DCBX %s, PFC %s%s%s", p->system, p->port, p->chassis,
		 p->dialect[0] ? p->dialect : "none", prios, pfc_willing ? " willing" : "",
		 ets_willing ? ", ETS willing" : "");
}

json_t *capture_peer_to_json(const struct lldp_peer *p)
{
	json_t *o;

	if (!p->seen)
		return json_null();
	o = json_object();
	if (o && put(o, "chassis", json_string(p->chassis)) &&
	    put(o, "system", json_string(p->system)) && put(o, "port", json_string(p->port)) &&
	    put(o, "dialect", json_string(p->dialect)) && put(o, "qos", qos_to_json(&p->qos)) &&
	    put(o, "recommended", qos_to_json(&p->recommended)) &&
	    put(o, "max_frame", json_integer(p->max_frame)) &&
	    put(o, "ttl_s", json_integer(p->ttl_s)) &&
	    put(o, "neighbours", json_integer(p->neighbours)))
		return o;
	json_decref(o);
	return NULL;
}

json_t *capture_summary_to_json(const struct capture_summary *s)
{
	json_t *o = json_object();

	if (o && put(o, "totals", totals_to_json(&s->totals)) &&
	    put(o, "drops", json_string(drops_words[s->drops])) &&
	    put(o, "dropped", json_uint(s->dropped)) && put(o, "flows", flows_to_json(s)) &&
	    put(o, "lldp", capture_peer_to_json(&s->peer)))
		return o;
	json_decref(o);
	return NULL;
}
