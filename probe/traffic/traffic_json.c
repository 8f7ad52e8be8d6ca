/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What traffic ends tell: their queue pairs and their results, as JSON between coordinator, agents
 * and traffic processes, and in run.json. Reading checks every member: the other side may be
 * anything.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/traffic/traffic_words.h"
#include "profiles/base/json.h"

#define CONTROL_MAX (UINT64_C(1) << 48) /* more than any link carries in a day */

static const struct json_row qp_rows[] = {
	NUMBER(struct traffic_qp, qpn, 0, 0xffffff),
	NUMBER(struct traffic_qp, psn, 0, 0xffffff),
	NUMBER(struct traffic_qp, addr, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_qp, rkey, 0, UINT32_MAX),
};

/* What XRC alone has is told by it alone. */
static const struct json_row xrc_rows[] = {
	NUMBER(struct traffic_qp, target_qpn, 0, 0xffffff),
	NUMBER(struct traffic_qp, srqn, 0, 0xffffff),
};

static const struct json_row peer_rows[] = {
	NUMBER(struct traffic_endpoint, mtu, 256, 4096),
	NUMBER(struct traffic_endpoint, cm_port, 0, 65535),
};

static json_t *tcp_ports_to_json(const uint16_t port[TRAFFIC_TCP_MAX])
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < TRAFFIC_TCP_MAX && port[i]; i++)
		json_array_append_new(list, json_integer(port[i]));
	return list;
}

static int tcp_ports_from_json(const json_t *peer, uint16_t port[TRAFFIC_TCP_MAX], struct err *e)
{
	const json_t *list = NULL;
	int err;

	if (!json_object_get(peer, "tcp_ports"))
		return 0;
	err = json_get_array(peer, "tcp_ports", TRAFFIC_TCP_MAX, &list, e);
	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		json_int_t value = json_integer_value(item);

		if (!json_is_integer(item) || value < 1 || value > 65535)
			return err_set(e, -EINVAL, "'tcp_ports' %zu: want 1 to 65535", i);
		port[i] = (uint16_t)value;
	}
	return err;
}

json_t *traffic_endpoint_to_json(const struct traffic_endpoint *p)
{
	json_t *list = json_list_write(JSON_ROWS(qp_rows), p->qp, sizeof(p->qp[0]), p->qp_count);
	json_t *json = json_pack("{s:o}", "gid", json_hex(p->gid, sizeof(p->gid)));

	for (unsigned int i = 0; i < p->qp_count; i++)
		if (p->qp[i].target_qpn)
			(void)json_rows_write(json_array_get(list, i), JSON_ROWS(xrc_rows),
					      &p->qp[i]);
	(void)json_rows_write(json, JSON_ROWS(peer_rows), p);
	json_object_set_new(json, "qps", list);
	if (p->tcp_port[0])
		json_object_set_new(json, "tcp_ports", tcp_ports_to_json(p->tcp_port));
	return json;
}

static int xrc_from_json(const json_t *json, struct traffic_endpoint *p, struct err *e)
{
	int err = 0;

	for (unsigned int i = 0; i < p->qp_count && !err; i++) {
		const json_t *qp = json_array_get(json_object_get(json, "qps"), i);

		if (json_object_get(qp, "target_qpn"))
			err = json_rows_read(qp, JSON_ROWS(xrc_rows), &p->qp[i], e);
		if (err)
			err_prefix(e, "'qps' %u", i);
	}
	return err;
}

int traffic_endpoint_from_json(const json_t *json, struct traffic_endpoint *p, struct err *e)
{
	struct traffic_endpoint v = {0};
	int err = json_get_hex(json, "gid", v.gid, sizeof(v.gid), e);

	if (!err)
		err = json_rows_read(json, JSON_ROWS(peer_rows), &v, e);
	if (!err)
		err = tcp_ports_from_json(json, v.tcp_port, e);
	if (!err)
		err = json_list_read(json, "qps", JSON_ROWS(qp_rows), v.qp, sizeof(v.qp[0]),
				     ARRAY_SIZE(v.qp), &v.qp_count, e);
	if (!err)
		err = xrc_from_json(json, &v, e);
	if (!err)
		*p = v;
	return err;
}

static const struct json_row result_rows[] = {
	NUMBER(struct traffic_result, messages, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_result, bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_result, duration_ns, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_result, checked_bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_result, mismatches, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_result, mtu, 0, 65536),
	WORD(struct traffic_result, cause, ENUM_CAUSE),
	TEXT(struct traffic_result, detail),
};

/* An end that was killed has counted none. */
static const struct json_row control_rows[] = {
	OPTIONAL(struct traffic_result, control_messages, 0, CONTROL_MAX),
	OPTIONAL(struct traffic_result, control_bytes, 0, CONTROL_MAX),
};

json_t *traffic_result_to_json(const struct traffic_result *r)
{
	json_t *json = json_object();

	(void)json_rows_write(json, JSON_ROWS(result_rows), r);
	if (r->control_messages)
		(void)json_rows_write(json, JSON_ROWS(control_rows), r);
	return json;
}

int traffic_result_from_json(const json_t *json, struct traffic_result *r, struct err *e)
{
	struct traffic_result v = {0};
	int err = json_rows_read(json, JSON_ROWS(result_rows), &v, e);

	if (!err)
		err = json_rows_read(json, JSON_ROWS(control_rows), &v, e);
	if (!err)
		*r = v;
	return err;
}

static const struct json_row class_rows[] = {
	NUMBER(struct traffic_class_result, messages, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_class_result, bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_class_result, arrived, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_class_result, arrived_bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_class_result, checked_bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_class_result, mismatches, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_class_result, gaps, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_class_result, reordered, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_class_result, losses, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_class_result, tos_read, 0, TRAFFIC_QPS_MAX),
	NUMBER(struct traffic_class_result, tos_other, 0, TRAFFIC_QPS_MAX),
	NUMBER(struct traffic_class_result, tos_found, 0, 255),
};

static json_t *class_to_json(const struct traffic_class_result *c)
{
	json_t *json = json_object();

	(void)json_rows_write(json, JSON_ROWS(class_rows), c);
	json_object_set_new(json, "goodput", rate_series_to_json(&c->goodput));
	json_object_set_new(json, "latency", histogram_to_json(&c->latency));
	return json;
}

static int class_from_json(const json_t *json, struct traffic_class_result *c, struct err *e)
{
	const json_t *goodput, *latency;
	int err = json_rows_read(json, JSON_ROWS(class_rows), c, e);

	if (!err)
		err = json_get_object(json, "goodput", &goodput, e);
	if (!err)
		err = rate_series_from_json(goodput, &c->goodput, e);
	if (!err)
		err = json_get_object(json, "latency", &latency, e);
	return err ? err : histogram_from_json(latency, &c->latency, e);
}

static const struct json_row failure_rows[] = {
	NUMBER(struct traffic_failure, class, 0, TRAFFIC_CLASSES_MAX - 1),
	NUMBER(struct traffic_failure, qp, 0, TRAFFIC_QPS_MAX - 1),
	WORD(struct traffic_failure, cause, ENUM_CAUSE),
	NUMBER(struct traffic_failure, status, 0, UINT32_MAX),
	NUMBER(struct traffic_failure, vendor_err, 0, UINT32_MAX),
	NUMBER(struct traffic_failure, sequence, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_failure, when_ns, 0, JSON_UINT_MAX),
	BOOL(struct traffic_failure, recovered),
};

static const struct json_row stall_rows[] = {
	NUMBER(struct traffic_stall, class, 0, TRAFFIC_CLASSES_MAX - 1),
	NUMBER(struct traffic_stall, qp, 0, TRAFFIC_QPS_MAX - 1),
	NUMBER(struct traffic_stall, posted, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_stall, completed, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_stall, granted, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_stall, arrived, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_stall, announced, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_stall, control, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_stall, completion_age_ns, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_stall, arrival_age_ns, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_stall, run_ns, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_stall, absent_ns, 0, JSON_UINT_MAX),
};

json_t *traffic_report_to_json(const struct traffic_report *r)
{
	json_t *json = traffic_result_to_json(&r->total);
	json_t *classes = json_array(), *tcp = json_array();

	for (unsigned int i = 0; i < r->class_count; i++)
		json_array_append_new(classes, class_to_json(&r->class[i]));
	for (unsigned int i = 0; i < r->tcp_count; i++)
		json_array_append_new(tcp, traffic_tcp_result_to_json(&r->tcp[i]));
	json_object_set_new(json, "memory", traffic_memory_to_json(&r->memory));
	json_object_set_new(json, "classes", classes);
	json_object_set_new(json, "failures",
			    json_list_write(JSON_ROWS(failure_rows), r->failure,
					    sizeof(r->failure[0]), r->failure_count));
	json_object_set_new(json, "tcp", tcp);
	if (r->stall_count)
		json_object_set_new(json, "stalls",
				    json_list_write(JSON_ROWS(stall_rows), r->stall,
						    sizeof(r->stall[0]), r->stall_count));
	return json;
}

static int classes_from_json(const json_t *json, struct traffic_report *r, struct err *e)
{
	const json_t *list = NULL;
	const json_t *memory;
	int err = json_get_object(json, "memory", &memory, e);

	if (!err)
		err = traffic_memory_from_json(memory, &r->memory, e);
	if (!err)
		err = json_get_array(json, "classes", TRAFFIC_CLASSES_MAX, &list, e);
	if (err)
		return err;
	r->class_count = (unsigned int)json_array_size(list);
	r->class = calloc(r->class_count + 1, sizeof(*r->class));
	if (!r->class)
		return err_sys(e, -ENOMEM, "traffic report");
	for (unsigned int i = 0; i < r->class_count && !err; i++) {
		err = class_from_json(json_array_get(list, i), &r->class[i], e);
		if (err)
			err_prefix(e, "'classes' %u", i);
	}
	return err;
}

/* Without the key there was none. */
static int tcp_from_json(const json_t *json, struct traffic_report *r, struct err *e)
{
	const json_t *list;
	int err;

	if (!json_object_get(json, "tcp"))
		return 0;
	err = json_get_array(json, "tcp", TRAFFIC_TCP_MAX, &list, e);
	if (err)
		return err;
	r->tcp_count = (unsigned int)json_array_size(list);
	r->tcp = calloc(r->tcp_count + 1, sizeof(*r->tcp));
	if (!r->tcp)
		return err_sys(e, -ENOMEM, "traffic report");
	for (unsigned int i = 0; i < r->tcp_count && !err; i++) {
		err = traffic_tcp_result_from_json(json_array_get(list, i), &r->tcp[i], e);
		if (err)
			err_prefix(e, "'tcp' %u", i);
	}
	return err;
}

int traffic_report_from_json(const json_t *json, struct traffic_report *r, struct err *e)
{
	struct traffic_report v = {0};
	int err = traffic_result_from_json(json, &v.total, e);

	if (!err)
		err = classes_from_json(json, &v, e);
	if (!err)
		err = json_list_read(json, "failures", JSON_ROWS(failure_rows), v.failure,
				     sizeof(v.failure[0]), ARRAY_SIZE(v.failure), &v.failure_count,
				     e);
	if (!err)
		err = tcp_from_json(json, &v, e);
	if (!err && json_object_get(json, "stalls"))
		err = json_list_read(json, "stalls", JSON_ROWS(stall_rows), v.stall,
				     sizeof(v.stall[0]), ARRAY_SIZE(v.stall), &v.stall_count, e);
	if (err)
		traffic_report_clear(&v);
	else
		*r = v;
	return err;
}

void traffic_report_clear(struct traffic_report *r)
{
	free(r->class);
	free(r->tcp);
	memset(r, 0, sizeof(*r));
}

/* TCP backgrounds and their results as JSON. */

const struct json_row traffic_tcp_rows[4] = {
	NUMBER(struct traffic_tcp, tos, 0, 255),
	WORD(struct traffic_tcp, direction, ENUM_DIRECTION),
	NUMBER(struct traffic_tcp, streams, 1, TRAFFIC_STREAMS_MAX),
	NUMBER(struct traffic_tcp, rate_bytes_per_s, 0, TRAFFIC_RATE_MAX),
};

json_t *traffic_tcp_to_json(const struct traffic_tcp *tcp)
{
	json_t *json = json_object();

	(void)json_rows_write(json, JSON_ROWS(traffic_tcp_rows), tcp);
	return json;
}

int traffic_tcp_from_json(const json_t *json, struct traffic_tcp *tcp, struct err *e)
{
	return json_rows_read(json, JSON_ROWS(traffic_tcp_rows), tcp, e);
}

static const struct json_row stream_rows[] = {
	NUMBER(struct traffic_tcp_result, tos_sent, 0, 255),
	NUMBER(struct traffic_tcp_result, broken, 0, TRAFFIC_STREAMS_MAX),
	NUMBER(struct traffic_tcp_result, mss, 0, 65535),
	TEXT(struct traffic_tcp_result, detail),
};

static const struct json_row moved_rows[] = {
	NUMBER(struct traffic_tcp_result, sent_bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_tcp_result, wire_bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_tcp_result, retransmits, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_tcp_result, arrived_bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_tcp_result, duration_ns, 0, JSON_UINT_MAX),
};

json_t *traffic_tcp_result_to_json(const struct traffic_tcp_result *r)
{
	json_t *json = json_object();

	(void)json_rows_write(json, JSON_ROWS(stream_rows), r);
	json_object_set_new(json, "goodput", rate_series_to_json(&r->goodput));
	(void)json_rows_write(json, JSON_ROWS(moved_rows), r);
	return json;
}

int traffic_tcp_result_from_json(const json_t *json, struct traffic_tcp_result *r, struct err *e)
{
	const json_t *goodput;
	int err = json_rows_read(json, JSON_ROWS(moved_rows), r, e);

	if (!err)
		err = json_rows_read(json, JSON_ROWS(stream_rows), r, e);
	if (!err)
		err = json_get_object(json, "goodput", &goodput, e);
	return err ? err : rate_series_from_json(goodput, &r->goodput, e);
}
