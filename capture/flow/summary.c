/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct capture_summary and its JSON form: one table row per counter. Documents come from other
 * hosts: types, ranges and counts are checked.
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

/* clang-format off */

static const struct qos_word drops_words[] = {
	{"unknown", DROPS_UNKNOWN},
	{"zero", DROPS_ZERO},
	{"some", DROPS_SOME},
	{NULL, 0},
};

/* By enum opcode_class. */
static const struct qos_word service_words[] = {
	{"rc", 0}, {"uc", 1}, {"rd_or_dc", 2}, {"ud", 3},
	{"cnp", 4}, {"xrc", 5}, {"reserved", 6}, {"vendor", 7},
	{NULL, 0},
};

static const struct qos_word link_words[] = {
	{"assumed", PAUSE_SPEED_ASSUMED},
	{"given", PAUSE_SPEED_GIVEN},
	{"file", PAUSE_SPEED_FILE},
	{NULL, 0},
};

/* clang-format on */

static const char *const dialect_words[4] = {"", "ieee", "cee", "cin"};

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
		    .need = JSON_OPTIONAL, .words = link_words),
	NUMBERS("pfc_by_prio", capture_totals, pfc_by_prio),
};

static json_t *summary_longest_to_json(const struct pause_totals *t)
{
	json_t *a = json_array();

	for (unsigned int i = 0; i < PAUSE_PRIOS; i++)
		a = json_list_add(a, json_uint(t->longest[i].ns));
	return a;
}

static int summary_longest_from_json(const json_t *a, struct pause_totals *t, struct err *e)
{
	if (json_array_size(a) != PAUSE_PRIOS)
		return err_set(e, -EINVAL, "expected an array of %u", PAUSE_PRIOS);
	for (unsigned int i = 0; i < PAUSE_PRIOS; i++) {
		const json_t *ns = json_array_get(a, i);

		if (!json_is_integer(ns) || json_integer_value(ns) < 0)
			return err_set(e, -EINVAL, "entry %u: expected an integer >= 0", i);
		t->longest[i].ns = (uint64_t)json_integer_value(ns);
	}
	return 0;
}

JSON_FUNCTIONS(summary_longest)

static const struct json_row pause_rows[] = {
	NUMBERS("pauses_by_prio", pause_totals, pauses),
	NUMBERS("pauses_ran_out_by_prio", pause_totals, ran_out),
	NUMBERS("paused_ns_by_prio", pause_totals, ns),
	JSON_SELF("longest_pause_ns_by_prio", JSON_BY(summary_longest), .need = JSON_OPTIONAL),
};

static json_t *summary_totals_to_json(const struct capture_totals *t)
{
	json_t *o = json_rows_make(JSON_ROWS(total_rows), t);

	if (!json_rows_write(o, JSON_ROWS(pause_rows), &t->pause))
		return o;
	json_decref(o);
	return NULL;
}

/* Older versions did not write pauses. */
static int summary_totals_from_json(const json_t *o, struct capture_totals *t, struct err *e)
{
	int err = json_rows_read(o, JSON_ROWS(total_rows), t, e);

	if (!err && json_object_get(o, "pauses_by_prio"))
		err = json_rows_read(o, JSON_ROWS(pause_rows), &t->pause, e);
	else
		t->pause.speed_source = PAUSE_SPEED_ASSUMED;
	return err;
}

JSON_FUNCTIONS(summary_totals)

static json_t *summary_gid_to_json(const uint8_t gid[16])
{
	char text[INET6_ADDRSTRLEN];

	packet_addr_text(gid, text, sizeof(text));
	return json_string(text);
}

static int summary_gid_from_json(const json_t *json, uint8_t gid[16], struct err *e)
{
	const char *text = json_string_value(json);

	if (text && packet_addr_parse(text, gid))
		return 0;
	return err_set(e, -EINVAL, "expected an address");
}

JSON_FUNCTIONS(summary_gid)

static json_t *summary_dscp_to_json(const struct flow *f)
{
	json_t *o = json_object();
	char key[8];
	int err = 0;

	for (unsigned int i = 0; !err && i < ARRAY_SIZE(f->dscp); i++) {
		snprintf(key, sizeof(key), "%u", i);
		if (f->dscp[i])
			err = json_object_set_new(o, key, json_integer((json_int_t)f->dscp[i]));
	}
	if (!err)
		return o;
	json_decref(o);
	return NULL;
}

static int summary_dscp_from_json(const json_t *dscp, struct flow *f, struct err *e)
{
	size_t found = 0;
	char key[8];

	if (!json_is_object(dscp))
		return err_set(e, -EINVAL, "expected an object");
	for (unsigned int i = 0; i < ARRAY_SIZE(f->dscp); i++) {
		snprintf(key, sizeof(key), "%u", i);
		if (!json_object_get(dscp, key))
			continue;
		if (json_get_uint(dscp, key, 0, INT64_MAX, &f->dscp[i], e))
			return -EINVAL;
		found++;
	}
	if (found != json_object_size(dscp))
		return err_set(e, -EINVAL, "expected keys 0 to 63");
	return 0;
}

JSON_FUNCTIONS(summary_dscp)

static json_t *summary_peer_qpn_to_json(const struct flow *f)
{
	return f->paired ? json_integer(f->reverse_qpn) : json_null();
}

static int summary_peer_qpn_from_json(const json_t *json, struct flow *f, struct err *e)
{
	json_int_t qpn = json_integer_value(json);

	if (!json_is_integer(json) || qpn < 0 || qpn > QPN_MAX)
		return err_set(e, -EINVAL, "expected a QP number");
	f->paired = true;
	f->reverse_qpn = (uint32_t)qpn;
	return 0;
}

JSON_FUNCTIONS(summary_peer_qpn)

static const struct json_row flow_rows[] = {
	JSON_ROW(struct flow, encap, .kind = JSON_WORD, .words = packet_encap_words),
	JSON_ROW(struct flow, service, .kind = JSON_WORD, .need = JSON_OPTIONAL,
		 .words = service_words),
	JSON_ROW(struct flow, src, .kind = JSON_STRUCT, JSON_BY(summary_gid)),
	JSON_ROW(struct flow, dst, .kind = JSON_STRUCT, JSON_BY(summary_gid)),
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
	JSON_SELF("peer_qpn", JSON_BY(summary_peer_qpn), .need = JSON_UNKNOWN),
	JSON_SELF("dscp", JSON_BY(summary_dscp)),
	NUMBER(flow, max_payload, UINT32_MAX, .need = JSON_NEEDED),
};

static json_t *summary_dialect_to_json(const char *dialect)
{
	return json_string(dialect);
}

static int summary_dialect_from_json(const json_t *json, char *dialect, struct err *e)
{
	const char *text = json_string_value(json);

	for (size_t i = 0; text && i < ARRAY_SIZE(dialect_words); i++) {
		if (!strcmp(text, dialect_words[i])) {
			strcpy(dialect, text);
			return 0;
		}
	}
	return err_set(e, -EINVAL, "unknown value");
}

JSON_FUNCTIONS(summary_dialect)
JSON_FUNCTIONS(qos)

static const struct json_row peer_rows[] = {
	JSON_ROW(struct lldp_peer, chassis, .kind = JSON_TEXT),
	JSON_ROW(struct lldp_peer, system, .kind = JSON_TEXT),
	JSON_ROW(struct lldp_peer, port, .kind = JSON_TEXT),
	JSON_ROW(struct lldp_peer, dialect, .kind = JSON_STRUCT, JSON_BY(summary_dialect)),
	JSON_ROW(struct lldp_peer, qos, .kind = JSON_STRUCT, JSON_BY(qos)),
	JSON_ROW(struct lldp_peer, recommended, .kind = JSON_STRUCT, JSON_BY(qos)),
	NUMBER(lldp_peer, max_frame, UINT32_MAX, .need = JSON_NEEDED),
	NUMBER(lldp_peer, ttl_s, UINT16_MAX, .need = JSON_NEEDED),
	NUMBER(lldp_peer, neighbours, UINT32_MAX, .need = JSON_NEEDED),
};

JSON_FUNCTIONS(lldp_peer)

static const struct json_row summary_rows[] = {
	JSON_ROW(struct capture_summary, totals, .kind = JSON_STRUCT, JSON_BY(summary_totals)),
	JSON_ROW(struct capture_summary, drops, .kind = JSON_WORD, .words = drops_words),
	NUMBER(capture_summary, dropped, INT64_MAX, .need = JSON_NEEDED),
	JSON_ALLOCATED_OF("flows", struct capture_summary, flow, SUMMARY_FLOWS_MAX,
			  JSON_ITEM(flow_rows)),
	JSON_ROW_AS("lldp", struct capture_summary, lldp_peer, .kind = JSON_STRUCT,
		    JSON_BY(lldp_peer)),
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

void lldp_peer_text(const struct lldp_peer *p, char *buf, size_t size)
{
	const struct qos *q = &p->qos;
	bool pfc_willing = qos_has(q, QOS_PFC_WILLING) && q->pfc_willing;
	bool ets_willing = qos_has(q, QOS_ETS_WILLING) && q->ets_willing;
	char prios[32] = "not advertised";

	if (qos_has(q, QOS_PFC_ENABLED))
		qos_prio_set_text(q->pfc_enabled, prios, sizeof(prios));
	snprintf(buf, size, "%s %s (%s), DCBX %s, PFC %s%s%s", p->system, p->port, p->chassis,
		 p->dialect[0] ? p->dialect : "none", prios, pfc_willing ? " willing" : "",
		 ets_willing ? ", ETS willing" : "");
}

json_t *lldp_peer_to_json(const struct lldp_peer *p)
{
	return p->seen ? json_rows_make(JSON_ROWS(peer_rows), p) : json_null();
}

int lldp_peer_from_json(const json_t *o, struct lldp_peer *p, struct err *e)
{
	if (json_is_null(o))
		return 0;
	p->seen = true;
	return json_rows_read(o, JSON_ROWS(peer_rows), p, e);
}

json_t *capture_summary_to_json(const struct capture_summary *s)
{
	return json_rows_make(JSON_ROWS(summary_rows), s);
}

int capture_summary_from_json(const json_t *json, struct capture_summary *out, struct err *e)
{
	struct capture_summary s = {0};
	int err = json_rows_read(json, JSON_ROWS(summary_rows), &s, e);

	if (err)
		capture_summary_clear(&s);
	else
		*out = s;
	return err;
}
