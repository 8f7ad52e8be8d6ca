/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct capture_summary, and as JSON by tables of rows: a counter more is a row more. A document
 * comes from other hosts and is not believed: types, ranges and counts are checked.
 */
#include "capture/flow/summary.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/json.h"
#include "profiles/yaml/diag.h"

#define SUMMARY_FLOWS_MAX (1U << 20)
#define QPN_MAX		  0xffffff

static const char *const drops_words[3] = {
	[DROPS_UNKNOWN] = "unknown",
	[DROPS_ZERO] = "zero",
	[DROPS_SOME] = "some",
};

static const char *const encap_words[4] = {
	[ENCAP_NONE] = "none",
	[ENCAP_ROCE_V1] = "rocev1",
	[ENCAP_ROCE_V2_IPV4] = "rocev2-ipv4",
	[ENCAP_ROCE_V2_IPV6] = "rocev2-ipv6",
};

/* By enum opcode_class. */
static const char *const service_words[8] = {"rc",  "uc",  "rd_or_dc", "ud",
					     "cnp", "xrc", "reserved", "vendor"};

static const char *const link_words[PAUSE_SPEED_SOURCES] = {
	[PAUSE_SPEED_ASSUMED] = "assumed",
	[PAUSE_SPEED_GIVEN] = "given",
	[PAUSE_SPEED_FILE] = "file",
};

static const char *const dialect_words[4] = {"", "ieee", "cee", "cin"};

static const struct json_words encaps = {encap_words, ARRAY_SIZE(encap_words)};
static const struct json_words services = {service_words, ARRAY_SIZE(service_words)};
static const struct json_words links = {link_words, ARRAY_SIZE(link_words)};

#define NUMBER(type, member, most, ...)                                                            \
	JSON_ROW(struct type, member, .kind = JSON_NUMBER, .max = most, __VA_ARGS__)
#define TOTAL(member) NUMBER(capture_totals, member, INT64_MAX, .need = JSON_NEEDED)
#define COUNT(member) NUMBER(flow, member, INT64_MAX, .need = JSON_NEEDED)
#define NEWER(member) NUMBER(flow, member, INT64_MAX, .need = JSON_OPTIONAL)
#define NEWER_TOTAL(key, member)                                                                   \
	JSON_ROW_AS(key, struct capture_totals, member, .kind = JSON_NUMBER,                       \
		    .need = JSON_OPTIONAL, .max = INT64_MAX)
#define NUMBERS(key, type, member)                                                                 \
	JSON_ROW_AS(key, struct type, member, .kind = JSON_NUMBERS, .need = JSON_NEEDED)

/* What older versions did not write is optional: it is 0 then. */
static const struct json_row total_rows[] = {
	TOTAL(frames),
	TOTAL(roce),
	TOTAL(cnp),
	TOTAL(lldp),
	TOTAL(other),
	TOTAL(truncated),
	TOTAL(malformed),
	TOTAL(pfc_frames),
	TOTAL(pause_frames),
	TOTAL(evicted_flows),
	NEWER_TOTAL("time_step_ns", time_step_ns),
	NEWER_TOTAL("link_mbps", pause.link_mbps),
	NEWER_TOTAL("mirror_packets", mirror.packets),
	NEWER_TOTAL("mirror_gaps", mirror.gaps),
	NEWER_TOTAL("mirror_missing", mirror.missing),
	NEWER_TOTAL("mirror_restarts", mirror.restarts),
	JSON_ROW_AS("link_mbps_of", struct capture_totals, pause.speed_source, .kind = JSON_WORD,
		    .need = JSON_OPTIONAL, .words = &links),
	NUMBERS("pfc_by_prio", capture_totals, pfc_by_prio),
};

static const struct json_row pause_rows[] = {
	NUMBERS("pauses_by_prio", pause_totals, pauses),
	NUMBERS("pauses_ran_out_by_prio", pause_totals, ran_out),
	NUMBERS("paused_ns_by_prio", pause_totals, ns),
};

static const struct json_row kind_rows[] = {
	JSON_ROW(struct flow, encap, .kind = JSON_WORD, .words = &encaps),
	JSON_ROW(struct flow, service, .kind = JSON_WORD, .need = JSON_OPTIONAL,
		 .words = &services),
};

static const struct json_row flow_rows[] = {
	NUMBER(flow, sport, UINT16_MAX, .need = JSON_NEEDED),
	NUMBER(flow, dest_qpn, QPN_MAX, .need = JSON_NEEDED),
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
	NEWER(lost_psns),
	NEWER(corrupted_psns),
	NEWER(missed_psns),
	NEWER(reordered),
	NEWER(copies),
	NEWER(losses_before),
	NEWER(losses_after),
	NEWER(corruptions),
	NEWER(go_back_n),
	NEWER(wasted_psns),
	NEWER(selective_repeats),
	NEWER(timeouts),
	NEWER(rnr_retries),
	NEWER(read_retries),
	NEWER(unexplained),
	NEWER(naks_timed),
	NEWER(nak_ns),
	NEWER(resends),
	NEWER(resend_ns),
	NEWER(cnp_span_ns),
	NEWER(cnp_min_ns),
	NEWER(cnp_last_ns),
	NEWER(held),
	NEWER(held_ns),
	NEWER(held_unknown),
	NEWER(cnp_close),
	NEWER(responses_missing),
	NEWER(naks_unknown),
	NEWER(responses_reordered),
	NEWER(reads_reordered),
	NUMBERS("ecn", flow, ecn),
};

static const struct json_row payload_rows[] = {
	NUMBER(flow, max_payload, UINT32_MAX, .need = JSON_NEEDED),
};

static const struct json_row peer_name_rows[] = {
	JSON_ROW(struct lldp_peer, chassis, .kind = JSON_TEXT),
	JSON_ROW(struct lldp_peer, system, .kind = JSON_TEXT),
	JSON_ROW(struct lldp_peer, port, .kind = JSON_TEXT),
};

static const struct json_row peer_rows[] = {
	NUMBER(lldp_peer, max_frame, UINT32_MAX, .need = JSON_NEEDED),
	NUMBER(lldp_peer, ttl_s, UINT16_MAX, .need = JSON_NEEDED),
	NUMBER(lldp_peer, neighbours, UINT32_MAX, .need = JSON_NEEDED),
};

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
		s->lldp_peer = *peer;
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
static bool summary_add(json_t *o, const char *key, json_t *value)
{
	return json_object_set_new_nocheck(o, key, value) == 0;
}

static bool summary_add_rows(json_t *o, const struct json_row *row, size_t rows, const void *base)
{
	return json_rows_write(o, row, rows, base) == 0;
}

static json_t *summary_dscp_to_json(const struct flow *f)
{
	json_t *o = json_object();
	char key[8];
	unsigned int i;

	for (i = 0; o && i < ARRAY_SIZE(f->dscp); i++) {
		if (!f->dscp[i])
			continue;
		snprintf(key, sizeof(key), "%u", i);
		if (!summary_add(o, key, json_integer((json_int_t)f->dscp[i]))) {
			json_decref(o);
			o = NULL;
		}
	}
	return o;
}

static json_t *summary_flow_to_json(const struct flow *f)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	json_t *o = json_object();

	if (!o)
		return NULL;
	packet_addr_text(f->src, src, sizeof(src));
	packet_addr_text(f->dst, dst, sizeof(dst));
	if (summary_add_rows(o, JSON_ROWS(kind_rows), f) &&
	    summary_add(o, "src", json_string(src)) && summary_add(o, "dst", json_string(dst)) &&
	    summary_add_rows(o, JSON_ROWS(flow_rows), f) &&
	    summary_add(o, "peer_qpn", f->paired ? json_integer(f->reverse_qpn) : json_null()) &&
	    summary_add(o, "dscp", summary_dscp_to_json(f)) &&
	    summary_add_rows(o, JSON_ROWS(payload_rows), f))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *summary_flows_to_json(const struct capture_summary *s)
{
	json_t *a = json_array();
	unsigned int i;

	for (i = 0; a && i < s->flow_count; i++) {
		if (json_array_append_new(a, summary_flow_to_json(&s->flow[i])) < 0) {
			json_decref(a);
			a = NULL;
		}
	}
	return a;
}

static json_t *summary_pauses_to_json(const struct pause_totals *t)
{
	json_t *a = json_array();

	for (unsigned int i = 0; a && i < PAUSE_PRIOS; i++) {
		if (json_array_append_new(a, json_uint(t->longest[i].ns)) < 0) {
			json_decref(a);
			a = NULL;
		}
	}
	return a;
}

static json_t *summary_totals_to_json(const struct capture_totals *t)
{
	json_t *o = json_object();

	if (o && summary_add_rows(o, JSON_ROWS(total_rows), t) &&
	    summary_add_rows(o, JSON_ROWS(pause_rows), &t->pause) &&
	    summary_add(o, "longest_pause_ns_by_prio", summary_pauses_to_json(&t->pause)))
		return o;
	json_decref(o);
	return NULL;
}

void lldp_peer_text(const struct lldp_peer *p, char *buf, size_t size)
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

json_t *lldp_peer_to_json(const struct lldp_peer *p)
{
	json_t *o;

	if (!p->seen)
		return json_null();
	o = json_object();
	if (o && summary_add_rows(o, JSON_ROWS(peer_name_rows), p) &&
	    summary_add(o, "dialect", json_string(p->dialect)) &&
	    summary_add(o, "qos", qos_to_json(&p->qos)) &&
	    summary_add(o, "recommended", qos_to_json(&p->recommended)) &&
	    summary_add_rows(o, JSON_ROWS(peer_rows), p))
		return o;
	json_decref(o);
	return NULL;
}

json_t *capture_summary_to_json(const struct capture_summary *s)
{
	json_t *o = json_object();

	if (o && summary_add(o, "totals", summary_totals_to_json(&s->totals)) &&
	    summary_add(o, "drops", json_string(drops_words[s->drops])) &&
	    summary_add(o, "dropped", json_uint(s->dropped)) &&
	    summary_add(o, "flows", summary_flows_to_json(s)) &&
	    summary_add(o, "lldp", lldp_peer_to_json(&s->lldp_peer)))
		return o;
	json_decref(o);
	return NULL;
}

static int summary_get_gid(const json_t *o, const char *key, uint8_t gid[16], struct err *e)
{
	const char *text = json_string_value(json_object_get(o, key));

	if (text && packet_addr_parse(text, gid))
		return 0;
	return err_set(e, -EINVAL, "'%s': an address is needed", key);
}

static int summary_get_dscp(const json_t *o, struct flow *f, struct err *e)
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
		err = json_get_uint(dscp, key, 0, INT64_MAX, &value, e);
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
static int summary_get_reverse_qpn(const json_t *o, struct flow *f, struct err *e)
{
	const json_t *peer = json_object_get(o, "peer_qpn");
	uint64_t qpn = 0;
	int err;

	if (!peer || json_is_null(peer))
		return 0;
	err = json_get_uint(o, "peer_qpn", 0, QPN_MAX, &qpn, e);
	f->paired = !err;
	f->reverse_qpn = (uint32_t)qpn;
	return err;
}

static int summary_flow_from_json(const json_t *o, struct flow *f, struct err *e)
{
	int err = json_rows_read(o, JSON_ROWS(kind_rows), f, e);

	if (!err)
		err = summary_get_gid(o, "src", f->src, e);
	if (!err)
		err = summary_get_gid(o, "dst", f->dst, e);
	if (!err)
		err = json_rows_read(o, JSON_ROWS(flow_rows), f, e);
	if (!err)
		err = summary_get_dscp(o, f, e);
	if (!err)
		err = summary_get_reverse_qpn(o, f, e);
	return err ? err : json_rows_read(o, JSON_ROWS(payload_rows), f, e);
}

static int summary_flows_from_json(const json_t *o, struct capture_summary *s, struct err *e)
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
		err = summary_flow_from_json(json_array_get(a, i), &s->flow[i], e);
		if (err) {
			err_prefix(e, "flows[%zu]", i);
			return err;
		}
	}
	return 0;
}

int lldp_peer_from_json(const json_t *o, struct lldp_peer *p, struct err *e)
{
	unsigned int dialect = 0;
	int err;

	if (json_is_null(o))
		return 0;
	err = json_rows_read(o, JSON_ROWS(peer_name_rows), p, e);
	if (!err)
		err = json_get_word(o, "dialect", dialect_words, ARRAY_SIZE(dialect_words),
				    &dialect, e);
	if (!err)
		err = qos_from_json(json_object_get(o, "qos"), &p->qos, e);
	if (!err)
		err = qos_from_json(json_object_get(o, "recommended"), &p->recommended, e);
	if (!err)
		err = json_rows_read(o, JSON_ROWS(peer_rows), p, e);
	snprintf(p->dialect, sizeof(p->dialect), "%s", dialect_words[dialect]);
	p->seen = true;
	return err;
}

/* Absent in what older versions wrote. */
static int summary_get_pauses(const json_t *o, struct pause_totals *t, struct err *e)
{
	const json_t *longest = json_object_get(o, "longest_pause_ns_by_prio");
	int err;

	if (!json_object_get(o, "pauses_by_prio")) {
		t->speed_source = PAUSE_SPEED_ASSUMED;
		return 0;
	}
	err = json_rows_read(o, JSON_ROWS(pause_rows), t, e);
	if (err || !longest)
		return err;
	if (!json_is_array(longest) || json_array_size(longest) != PAUSE_PRIOS)
		return err_set(e, -EINVAL, "'longest_pause_ns_by_prio': must have %u entries",
			       PAUSE_PRIOS);
	for (unsigned int i = 0; i < PAUSE_PRIOS; i++) {
		json_int_t ns = json_integer_value(json_array_get(longest, i));

		if (!json_is_integer(json_array_get(longest, i)) || ns < 0)
			return err_set(e, -EINVAL,
				       "'longest_pause_ns_by_prio' %u: no integer from 0", i);
		t->longest[i].ns = (uint64_t)ns;
	}
	return 0;
}

int capture_summary_from_json(const json_t *json, struct capture_summary *out, struct err *e)
{
	const json_t *totals = json_object_get(json, "totals");
	struct capture_summary s = {0};
	unsigned int drops = 0;
	int err;

	err = json_rows_read(totals, JSON_ROWS(total_rows), &s.totals, e);
	if (!err)
		err = summary_get_pauses(totals, &s.totals.pause, e);
	if (!err)
		err = json_get_word(json, "drops", drops_words, ARRAY_SIZE(drops_words), &drops, e);
	if (!err)
		err = json_get_uint(json, "dropped", 0, INT64_MAX, &s.dropped, e);
	if (!err)
		err = summary_flows_from_json(json, &s, e);
	if (!err)
		err = lldp_peer_from_json(json_object_get(json, "lldp"), &s.lldp_peer, e);
	if (err) {
		capture_summary_clear(&s);
		return err;
	}
	s.drops = (enum capture_drops)drops;
	*out = s;
	return 0;
}
