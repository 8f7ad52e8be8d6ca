/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture summary read back from JSON. It comes from other hosts and is not believed: types,
 * ranges and counts are checked, and names are the key's.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/flow/summary_keys.h"
#include "profiles/base/text.h"
#include "profiles/yaml/diag.h"

#define SUMMARY_FLOWS_MAX (1U << 20)

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

static int get_counters(const json_t *o, void *base, const struct counter_table *t, struct err *e)
{
	uint64_t value;
	size_t i;
	int err;

	for (i = 0; i < t->count; i++) {
		if (t->row[i].newer && !json_object_get(o, t->row[i].key))
			continue;
		err = get_uint(o, t->row[i].key, INT64_MAX, &value, e);
		if (err)
			return err;
		memcpy((char *)base + t->row[i].offset, &value, sizeof(value));
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

/* Absent or null: the flow was not paired. */
static int get_peer(const json_t *o, struct flow *f, struct err *e)
{
	const json_t *peer = json_object_get(o, "peer_qpn");
	uint64_t qpn = 0;
	int err;

	if (!peer || json_is_null(peer))
		return 0;
	err = get_uint(o, "peer_qpn", 0xffffff, &qpn, e);
	f->paired = !err;
	f->peer_qpn = (uint32_t)qpn;
	return err;
}

static int flow_from_json(const json_t *o, struct flow *f, struct err *e)
{
	uint64_t sport = 0, qpn = 0, max_payload = 0;
	unsigned int encap = 0, service = 0;
	int err;

	err = get_word(o, "encap", encap_words, ARRAY_SIZE(encap_words), &encap, e);
	/* Older summaries are without. */
	if (!err && json_object_get(o, "service"))
		err = get_word(o, "service", service_words, ARRAY_SIZE(service_words), &service, e);
	if (!err)
		err = get_gid(o, "src", f->src, e);
	if (!err)
		err = get_gid(o, "dst", f->dst, e);
	if (!err)
		err = get_uint(o, "sport", UINT16_MAX, &sport, e);
	if (!err)
		err = get_uint(o, "dest_qpn", 0xffffff, &qpn, e);
	if (!err)
		err = get_counters(o, f, &flow_counters, e);
	if (!err)
		err = get_array(o, "ecn", f->ecn, ARRAY_SIZE(f->ecn), e);
	if (!err)
		err = get_dscp(o, f, e);
	if (!err)
		err = get_peer(o, f, e);
	if (!err)
		err = get_uint(o, "max_payload", UINT32_MAX, &max_payload, e);
	f->encap = (uint8_t)encap;
	f->service = (uint8_t)service;
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
	if (!text_is_clean(json_string_value(v), TEXT_LINE))
		return err_set(e, -EINVAL, "'%s': holds a control character", key);
	memcpy(buf, json_string_value(v), json_string_length(v) + 1);
	return 0;
}

int capture_peer_from_json(const json_t *o, struct lldp_peer *p, struct err *e)
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

/* Absent in what older versions wrote. */
static int get_pauses(const json_t *o, struct pause_totals *t, struct err *e)
{
	uint64_t longest[PAUSE_PRIOS] = {0};
	unsigned int link_of = PAUSE_LINK_ASSUMED;
	int err;

	if (!json_object_get(o, "pauses_by_prio"))
		return 0;
	if (json_object_get(o, "link_mbps_of")) {
		err = get_word(o, "link_mbps_of", link_words, PAUSE_LINKS, &link_of, e);
		if (err)
			return err;
	}
	t->link_of = (enum pause_link)link_of;
	err = get_array(o, "pauses_by_prio", t->pauses, PAUSE_PRIOS, e);
	if (!err)
		err = get_array(o, "pauses_ran_out_by_prio", t->ran_out, PAUSE_PRIOS, e);
	if (!err)
		err = get_array(o, "paused_ns_by_prio", t->ns, PAUSE_PRIOS, e);
	if (!err && json_object_get(o, "longest_pause_ns_by_prio"))
		err = get_array(o, "longest_pause_ns_by_prio", longest, PAUSE_PRIOS, e);
	for (unsigned int i = 0; i < PAUSE_PRIOS; i++)
		t->longest[i].ns = longest[i];
	return err;
}

int capture_summary_from_json(const json_t *json, struct capture_summary *out, struct err *e)
{
	const json_t *totals = json_object_get(json, "totals");
	struct capture_summary s = {0};
	unsigned int drops = 0;
	int err;

	err = get_counters(totals, &s.totals, &total_counters, e);
	if (!err)
		err = get_array(totals, "pfc_by_prio", s.totals.pfc_by_prio,
				ARRAY_SIZE(s.totals.pfc_by_prio), e);
	if (!err)
		err = get_pauses(totals, &s.totals.pause, e);
	if (!err)
		err = get_word(json, "drops", drops_words, ARRAY_SIZE(drops_words), &drops, e);
	if (!err)
		err = get_uint(json, "dropped", INT64_MAX, &s.dropped, e);
	if (!err)
		err = flows_from_json(json, &s, e);
	if (!err)
		err = capture_peer_from_json(json_object_get(json, "lldp"), &s.peer, e);
	if (err) {
		capture_summary_clear(&s);
		return err;
	}
	s.drops = (enum capture_drops)drops;
	*out = s;
	return 0;
}
