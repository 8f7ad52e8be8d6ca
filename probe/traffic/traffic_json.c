/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON of endpoints and reports, between coordinator, agents and traffic processes, and in
 * run.json. It is hostile input: reading checks every member.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/traffic/traffic_words.h"
#include "profiles/base/json.h"

#define CONTROL_MAX (UINT64_C(1) << 48) /* more than a link carries in a day */

static const struct json_row qp_rows[] = {
	NUMBER(struct traffic_qp, qpn, 0, 0xffffff),
	NUMBER(struct traffic_qp, psn, 0, 0xffffff),
	NUMBER(struct traffic_qp, addr, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_qp, rkey, 0, UINT32_MAX),
};

/* Members that only XRC has. */
static const struct json_row xrc_rows[] = {
	NUMBER(struct traffic_qp, target_qpn, 0, 0xffffff),
	NUMBER(struct traffic_qp, srqn, 0, 0xffffff),
};

static json_t *tcp_ports_to_json(const uint16_t port[TRAFFIC_TCP_MAX])
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < TRAFFIC_TCP_MAX && port[i]; i++)
		list = json_list_add(list, json_integer(port[i]));
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

static json_t *qp_to_json(const struct traffic_qp *qp)
{
	json_t *json = json_rows_make(JSON_ROWS(qp_rows), qp);

	if (qp->target_qpn)
		(void)json_rows_write(json, JSON_ROWS(xrc_rows), qp);
	return json;
}

static int qp_from_json(const json_t *json, struct traffic_qp *qp, struct err *e)
{
	int err = json_rows_read(json, JSON_ROWS(qp_rows), qp, e);

	if (!err && json_object_get(json, "target_qpn"))
		err = json_rows_read(json, JSON_ROWS(xrc_rows), qp, e);
	return err;
}

JSON_FUNCTIONS(qp)

static const struct json_row endpoint_rows[] = {
	JSON_ROW(struct traffic_endpoint, gid, .kind = JSON_HEX),
	NUMBER(struct traffic_endpoint, mtu, 256, 4096),
	NUMBER(struct traffic_endpoint, cm_port, 0, 65535),
	JSON_LIST_OF("qps", struct traffic_endpoint, qp, JSON_BY(qp)),
};

json_t *traffic_endpoint_to_json(const struct traffic_endpoint *p)
{
	json_t *json = json_rows_make(JSON_ROWS(endpoint_rows), p);

	if (p->tcp_port[0])
		json_object_set_new(json, "tcp_ports", tcp_ports_to_json(p->tcp_port));
	return json;
}

int traffic_endpoint_from_json(const json_t *json, struct traffic_endpoint *p, struct err *e)
{
	struct traffic_endpoint v = {0};
	int err = json_rows_read(json, JSON_ROWS(endpoint_rows), &v, e);

	if (!err)
		err = tcp_ports_from_json(json, v.tcp_port, e);
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

/* Absent in the report of a killed process. */
static const struct json_row control_rows[] = {
	OPTIONAL(struct traffic_result, control_messages, 0, CONTROL_MAX),
	OPTIONAL(struct traffic_result, control_bytes, 0, CONTROL_MAX),
};

json_t *traffic_result_to_json(const struct traffic_result *r)
{
	json_t *json = json_rows_make(JSON_ROWS(result_rows), r);

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

JSON_FUNCTIONS(rate_series)
JSON_FUNCTIONS(histogram)

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
	JSON_ROW(struct traffic_class_result, goodput, .kind = JSON_STRUCT, JSON_BY(rate_series)),
	JSON_ROW(struct traffic_class_result, latency, .kind = JSON_STRUCT, JSON_BY(histogram)),
};

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

JSON_FUNCTIONS(traffic_memory)
JSON_FUNCTIONS(traffic_tcp_result)

/* Behind the members of the result; without "tcp" and "stalls" there was none. */
static const struct json_row report_rows[] = {
	JSON_ROW(struct traffic_report, memory, .kind = JSON_STRUCT, JSON_BY(traffic_memory)),
	JSON_ALLOCATED_OF("classes", struct traffic_report, class, TRAFFIC_CLASSES_MAX,
			  JSON_ITEM(class_rows)),
	JSON_LIST_OF("failures", struct traffic_report, failure, JSON_ITEM(failure_rows)),
	JSON_ALLOCATED_OF("tcp", struct traffic_report, tcp, TRAFFIC_TCP_MAX,
			  JSON_BY(traffic_tcp_result), .need = JSON_OPTIONAL),
	JSON_LIST_OF("stalls", struct traffic_report, stall, JSON_ITEM(stall_rows),
		     .need = JSON_SPARSE),
};

json_t *traffic_report_to_json(const struct traffic_report *r)
{
	json_t *json = traffic_result_to_json(&r->total);

	(void)json_rows_write(json, JSON_ROWS(report_rows), r);
	return json;
}

int traffic_report_from_json(const json_t *json, struct traffic_report *r, struct err *e)
{
	struct traffic_report v = {0};
	int err = traffic_result_from_json(json, &v.total, e);

	if (!err)
		err = json_rows_read(json, JSON_ROWS(report_rows), &v, e);
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

const struct json_row traffic_tcp_rows[4] = {
	NUMBER(struct traffic_tcp, tos, 0, 255),
	WORD(struct traffic_tcp, direction, ENUM_DIRECTION),
	NUMBER(struct traffic_tcp, streams, 1, TRAFFIC_STREAMS_MAX),
	NUMBER(struct traffic_tcp, rate_bytes_per_s, 0, TRAFFIC_RATE_MAX),
};

json_t *traffic_tcp_to_json(const struct traffic_tcp *tcp)
{
	return json_rows_make(JSON_ROWS(traffic_tcp_rows), tcp);
}

int traffic_tcp_from_json(const json_t *json, struct traffic_tcp *tcp, struct err *e)
{
	return json_rows_read(json, JSON_ROWS(traffic_tcp_rows), tcp, e);
}

static const struct json_row tcp_result_rows[] = {
	NUMBER(struct traffic_tcp_result, tos_sent, 0, 255),
	NUMBER(struct traffic_tcp_result, broken, 0, TRAFFIC_STREAMS_MAX),
	NUMBER(struct traffic_tcp_result, mss, 0, 65535),
	TEXT(struct traffic_tcp_result, detail),
	JSON_ROW(struct traffic_tcp_result, goodput, .kind = JSON_STRUCT, JSON_BY(rate_series)),
	NUMBER(struct traffic_tcp_result, sent_bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_tcp_result, wire_bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_tcp_result, retransmits, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_tcp_result, arrived_bytes, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_tcp_result, duration_ns, 0, JSON_UINT_MAX),
};

json_t *traffic_tcp_result_to_json(const struct traffic_tcp_result *r)
{
	return json_rows_make(JSON_ROWS(tcp_result_rows), r);
}

int traffic_tcp_result_from_json(const json_t *json, struct traffic_tcp_result *r, struct err *e)
{
	return json_rows_read(json, JSON_ROWS(tcp_result_rows), r, e);
}
