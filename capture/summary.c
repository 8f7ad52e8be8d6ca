/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct capture_summary and its JSON. Counters go through tables of {key, offset}; the DSCPs of a
 * flow are an object of those that were seen. What is read back comes from other hosts and is not
 * believed: types, ranges and counts are checked, and names are the key's.
 */
#include "capture/summary.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/diag.h"

#define SUMMARY_FLOWS_MAX (1U << 20)

struct counter {
	const char *key;
	size_t offset;
};

#define TOTAL(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct capture_totals, name)                                       \
	}
#define COUNT(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct flow, name)                                                 \
	}

static const struct counter total_counters[] = {
	TOTAL(frames),	     TOTAL(roce),	   TOTAL(cnp),	     TOTAL(lldp),
	TOTAL(other),	     TOTAL(truncated),	   TOTAL(malformed), TOTAL(pfc_frames),
	TOTAL(pause_frames), TOTAL(evicted_flows),
};

static const struct counter flow_counters[] = {
	COUNT(packets),
	COUNT(payload_bytes),
	COUNT(requests),
	COUNT(responses),
	COUNT(acks),
	COUNT(naks_seq),
	COUNT(naks_other),
	COUNT(rnr),
	COUNT(cnp),
	COUNT(psn_gaps),
	COUNT(psn_missing),
	COUNT(duplicates),
	COUNT(new_connections),
	COUNT(psn_unjudged),
	COUNT(icrc_good),
	COUNT(icrc_bad),
	COUNT(icrc_unverifiable),
	COUNT(first_ns),
	COUNT(last_ns),
	COUNT(first_frame),
	COUNT(last_frame),
};

static const char *const drops_words[] = {
	[DROPS_UNKNOWN] = "unknown",
	[DROPS_ZERO] = "zero",
	[DROPS_SOME] = "some",
};

static const char *const encap_words[] = {
	[ENCAP_NONE] = "none",
	[ENCAP_ROCE_V1] = "rocev1",
	[ENCAP_ROCE_V2_IPV4] = "rocev2-ipv4",
	[ENCAP_ROCE_V2_IPV6] = "rocev2-ipv6",
};

static const char *const dialect_words[] = {"", "ieee", "cee", "cin"};

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

/* A time or the drops of a broken file can be beyond what JSON integers hold. */
static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static bool put_counters(json_t *o, const void *base, const struct counter *c, size_t n)
{
	uint64_t value;
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&value, (const char *)base + c[i].offset, sizeof(value));
		if (!put(o, c[i].key, number(value)))
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
	    put(o, "src", json_string(src)) && put(o, "dst", json_string(dst)) &&
	    put(o, "sport", json_integer(f->sport)) &&
	    put(o, "dest_qpn", json_integer(f->dest_qpn)) &&
	    put_counters(o, f, flow_counters, ARRAY_SIZE(flow_counters)) &&
	    put(o, "ecn", array_of(f->ecn, ARRAY_SIZE(f->ecn))) &&
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

static json_t *totals_to_json(const struct capture_totals *t)
{
	json_t *o = json_object();

	if (o && put_counters(o, t, total_counters, ARRAY_SIZE(total_counters)) &&
	    put(o, "pfc_by_prio", array_of(t->pfc_by_prio, ARRAY_SIZE(t->pfc_by_prio))))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *peer_to_json(const struct lldp_peer *p)
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
	    put(o, "dropped", number(s->dropped)) && put(o, "flows", flows_to_json(s)) &&
	    put(o, "lldp", peer_to_json(&s->peer)))
		return o;
	json_decref(o);
	return NULL;
}

/* An integer key from 0 to max. */
static int get_uint(const json_t *o, const char *key, uint64_t max, uint64_t *out, struct err *e)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    (uint64_t)json_integer_value(v) > max)
		return err_set(e, -EINVAL, "'%s': a number from 0 is needed", key);
	*out = (uint64_t)json_integer_value(v);
	return 0;
}

static int get_word(const json_t *o, const char *key, const char *const *words, size_t n,
		    unsigned int *out, struct err *e)
{
	const char *text = json_string_value(json_object_get(o, key));
	unsigned int i;

	for (i = 0; text && i < n; i++) {
		if (!strcmp(text, words[i])) {
			*out = i;
			return 0;
		}
	}
	return err_set(e, -EINVAL, "'%s': not one of the known words", key);
}

static int get_counters(const json_t *o, void *base, const struct counter *c, size_t n,
			struct err *e)
{
	uint64_t value;
	size_t i;
	int err;

	for (i = 0; i < n; i++) {
		err = get_uint(o, c[i].key, INT64_MAX, &value, e);
		if (err)
			return err;
		memcpy((char *)base + c[i].offset, &value, sizeof(value));
	}
	return 0;
}

static int get_array(const json_t *o, const char *key, uint64_t *v, size_t n, struct err *e)
{
	const json_t *a = json_object_get(o, key), *item;
	size_t i;

	if (!json_is_array(a) || json_array_size(a) != n)
		return err_set(e, -EINVAL, "'%s': an array of %zu is needed", key, n);
	for (i = 0; i < n; i++) {
		item = json_array_get(a, i);
		if (!json_is_integer(item) || json_integer_value(item) < 0)
			return err_set(e, -EINVAL, "'%s': numbers from 0 are needed", key);
		v[i] = (uint64_t)json_integer_value(item);
	}
	return 0;
}

static int get_gid(const json_t *o, const char *key, uint8_t gid[16], struct err *e)
{
	const char *text = json_string_value(json_object_get(o, key));

	if (text && inet_pton(AF_INET6, text, gid) == 1)
		return 0;
	memset(gid, 0, 16);
	gid[10] = 0xff;
	gid[11] = 0xff;
	if (text && inet_pton(AF_INET, text, gid + 12) == 1)
		return 0;
	return err_set(e, -EINVAL, "'%s': an address is needed", key);
}

static int get_dscp(const json_t *o, struct flow *f, struct err *e)
{
	json_t *dscp = json_object_get(o, "dscp");
	uint64_t value;
	char key[8];
	size_t found = 0;
	unsigned int i;
	int err;

	if (!json_is_object(dscp))
		return err_set(e, -EINVAL, "'dscp': an object is needed");
	for (i = 0; i < ARRAY_SIZE(f->dscp); i++) {
		snprintf(key, sizeof(key), "%u", i);
		if (!json_object_get(dscp, key))
			continue;
		err = get_uint(dscp, key, INT64_MAX, &value, e);
		if (err)
			return err;
		f->dscp[i] = value;
		found++;
	}
	if (found != json_object_size(dscp))
		return err_set(e, -EINVAL, "'dscp': a key is no DSCP (0 to 63)");
	return 0;
}

static int flow_from_json(const json_t *o, struct flow *f, struct err *e)
{
	uint64_t sport = 0, qpn = 0, max_payload = 0;
	unsigned int encap = 0;
	int err;

	err = get_word(o, "encap", encap_words, ARRAY_SIZE(encap_words), &encap, e);
	if (!err)
		err = get_gid(o, "src", f->src, e);
	if (!err)
		err = get_gid(o, "dst", f->dst, e);
	if (!err)
		err = get_uint(o, "sport", UINT16_MAX, &sport, e);
	if (!err)
		err = get_uint(o, "dest_qpn", 0xffffff, &qpn, e);
	if (!err)
		err = get_counters(o, f, flow_counters, ARRAY_SIZE(flow_counters), e);
	if (!err)
		err = get_array(o, "ecn", f->ecn, ARRAY_SIZE(f->ecn), e);
	if (!err)
		err = get_dscp(o, f, e);
	if (!err)
		err = get_uint(o, "max_payload", UINT32_MAX, &max_payload, e);
	f->encap = (uint8_t)encap;
	f->sport = (uint16_t)sport;
	f->dest_qpn = (uint32_t)qpn;
	f->max_payload = (uint32_t)max_payload;
	return err;
}

static int flows_from_json(const json_t *o, struct capture_summary *s, struct err *e)
{
	const json_t *a = json_object_get(o, "flows");
	size_t i, n = json_array_size(a);
	int err;

	if (!json_is_array(a) || n > SUMMARY_FLOWS_MAX)
		return err_set(e, -EINVAL, "'flows': an array of at most %u is needed",
			       SUMMARY_FLOWS_MAX);
	s->flow = n ? calloc(n, sizeof(*s->flow)) : NULL;
	if (n && !s->flow)
		return err_sys(e, -ENOMEM, "flows");
	s->flow_count = (unsigned int)n;
	for (i = 0; i < n; i++) {
		err = flow_from_json(json_array_get(a, i), &s->flow[i], e);
		if (err) {
			err_prefix(e, "flows[%zu]", i);
			return err;
		}
	}
	return 0;
}

static int get_text(const json_t *o, const char *key, char *buf, size_t size, struct err *e)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_string(v) || json_string_length(v) >= size)
		return err_set(e, -EINVAL, "'%s': a text shorter than %zu is needed", key, size);
	if (diag_has_control(json_string_value(v)))
		return err_set(e, -EINVAL, "'%s': holds a control character", key);
	memcpy(buf, json_string_value(v), json_string_length(v) + 1);
	return 0;
}

static int peer_from_json(const json_t *o, struct lldp_peer *p, struct err *e)
{
	uint64_t max_frame = 0, ttl_s = 0, neighbours = 0;
	unsigned int dialect = 0;
	int err;

	if (json_is_null(o))
		return 0;
	err = get_text(o, "chassis", p->chassis, sizeof(p->chassis), e);
	if (!err)
		err = get_text(o, "system", p->system, sizeof(p->system), e);
	if (!err)
		err = get_text(o, "port", p->port, sizeof(p->port), e);
	if (!err)
		err = get_word(o, "dialect", dialect_words, ARRAY_SIZE(dialect_words), &dialect, e);
	if (!err)
		err = qos_from_json(json_object_get(o, "qos"), &p->qos, e);
	if (!err)
		err = qos_from_json(json_object_get(o, "recommended"), &p->recommended, e);
	if (!err)
		err = get_uint(o, "max_frame", UINT32_MAX, &max_frame, e);
	if (!err)
		err = get_uint(o, "ttl_s", UINT16_MAX, &ttl_s, e);
	if (!err)
		err = get_uint(o, "neighbours", UINT32_MAX, &neighbours, e);
	snprintf(p->dialect, sizeof(p->dialect), "%s", dialect_words[dialect]);
	p->max_frame = (uint32_t)max_frame;
	p->ttl_s = (uint16_t)ttl_s;
	p->neighbours = (unsigned int)neighbours;
	p->seen = true;
	return err;
}

int capture_summary_from_json(const json_t *json, struct capture_summary *out, struct err *e)
{
	const json_t *totals = json_object_get(json, "totals");
	struct capture_summary s = {0};
	unsigned int drops = 0;
	int err;

	err = get_counters(totals, &s.totals, total_counters, ARRAY_SIZE(total_counters), e);
	if (!err)
		err = get_array(totals, "pfc_by_prio", s.totals.pfc_by_prio,
				ARRAY_SIZE(s.totals.pfc_by_prio), e);
	if (!err)
		err = get_word(json, "drops", drops_words, ARRAY_SIZE(drops_words), &drops, e);
	if (!err)
		err = get_uint(json, "dropped", INT64_MAX, &s.dropped, e);
	if (!err)
		err = flows_from_json(json, &s, e);
	if (!err)
		err = peer_from_json(json_object_get(json, "lldp"), &s.peer, e);
	if (err) {
		capture_summary_clear(&s);
		return err;
	}
	s.drops = (enum capture_drops)drops;
	*out = s;
	return 0;
}
