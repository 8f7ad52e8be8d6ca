/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What traffic ends tell: their queue pairs and their results, as JSON between coordinator, agents
 * and traffic processes, and in run.json. Reading checks every member: the other side may be
 * anything.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/traffic/traffic_tcp.h"
#include "probe/traffic/traffic_words.h"
#include "profiles/base/json_take.h"
#include "profiles/base/text.h"

#define CONTROL_MAX (UINT64_C(1) << 48) /* more than any link carries in a day */

/* What XRC alone has is told by it alone. */
static json_t *qp_to_json(const struct traffic_peer_qp *qp)
{
	json_t *json = json_pack("{s:I, s:I, s:o, s:I}", "qpn", (json_int_t)qp->qpn, "psn",
				 (json_int_t)qp->psn, "addr", json_uint(qp->addr), "rkey",
				 (json_int_t)qp->rkey);

	if (qp->target_qpn) {
		json_object_set_new(json, "target_qpn", json_integer(qp->target_qpn));
		json_object_set_new(json, "srqn", json_integer(qp->srqn));
	}
	return json;
}

json_t *traffic_peer_to_json(const struct traffic_peer *p)
{
	json_t *list = json_array(), *json;

	for (unsigned int i = 0; i < p->qp_count; i++)
		json_array_append_new(list, qp_to_json(&p->qp[i]));
	json = json_pack("{s:o, s:I, s:i, s:o}", "gid", json_hex(p->gid, sizeof(p->gid)), "mtu",
			 (json_int_t)p->mtu, "cm_port", p->cm_port, "qps", list);
	if (json && p->tcp_port[0])
		json_object_set_new(json, "tcp_ports", traffic_tcp_ports_to_json(p->tcp_port));
	return json;
}

static int take_qp(const json_t *json, struct traffic_peer_qp *qp, struct err *e)
{
	uint64_t qpn = 0, psn = 0, addr = 0, rkey = 0, target = 0, srqn = 0;
	const struct json_number numbers[] = {
		{"qpn", &qpn, 0, 0xffffff},
		{"psn", &psn, 0, 0xffffff},
		{"addr", &addr, 0, JSON_UINT_MAX},
		{"rkey", &rkey, 0, UINT32_MAX},
	};
	int err = json_take_numbers(json, numbers, ARRAY_SIZE(numbers), e);

	if (!err)
		err = json_take_uint_or(json, "target_qpn", 0, 0, 0xffffff, &target, e);
	if (!err && target)
		err = json_take_uint(json, "srqn", 0, 0xffffff, &srqn, e);
	if (!err)
		*qp = (struct traffic_peer_qp){
			.qpn = (uint32_t)qpn,
			.psn = (uint32_t)psn,
			.addr = addr,
			.rkey = (uint32_t)rkey,
			.target_qpn = (uint32_t)target,
			.srqn = (uint32_t)srqn,
		};
	return err;
}

int traffic_peer_from_json(const json_t *json, struct traffic_peer *p, struct err *e)
{
	uint64_t mtu = 0, cm_port = 0;
	const struct json_number numbers[] = {
		{"mtu", &mtu, 256, 4096},
		{"cm_port", &cm_port, 0, 65535},
	};
	const json_t *list = NULL;
	struct traffic_peer v = {0};
	int err = json_take_hex(json, "gid", v.gid, sizeof(v.gid), e);

	if (!err)
		err = json_take_numbers(json, numbers, ARRAY_SIZE(numbers), e);
	if (!err)
		err = traffic_tcp_ports_from_json(json, v.tcp_port, e);
	if (!err)
		err = json_take_array(json, "qps", ARRAY_SIZE(v.qp), &list, e);
	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		err = take_qp(json_array_get(list, i), &v.qp[i], e);
		if (err)
			err_prefix(e, "'qps' %zu: ", i);
	}
	if (err)
		return err;
	v.mtu = (uint32_t)mtu;
	v.cm_port = (uint16_t)cm_port;
	v.qp_count = (unsigned int)json_array_size(list);
	*p = v;
	return 0;
}

/* An end that was killed has counted none. */
json_t *traffic_result_to_json(const struct traffic_result *r)
{
	json_t *json = json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:s, s:o}", "messages",
				 json_uint(r->messages), "bytes", json_uint(r->bytes),
				 "duration_ns", json_uint(r->duration_ns), "checked_bytes",
				 json_uint(r->checked_bytes), "mismatches",
				 json_uint(r->mismatches), "mtu", (int)r->mtu, "cause",
				 traffic_cause_word(r->cause), "detail", text_to_json(r->detail));

	if (json && r->control_messages) {
		json_object_set_new(json, "control_messages", json_uint(r->control_messages));
		json_object_set_new(json, "control_bytes", json_uint(r->control_bytes));
	}
	return json;
}

int traffic_result_from_json(const json_t *json, struct traffic_result *r, struct err *e)
{
	struct traffic_result v = {0};
	uint64_t mtu = 0;
	const struct json_number numbers[] = {
		{"messages", &v.messages, 0, JSON_UINT_MAX},
		{"bytes", &v.bytes, 0, JSON_UINT_MAX},
		{"duration_ns", &v.duration_ns, 0, JSON_UINT_MAX},
		{"checked_bytes", &v.checked_bytes, 0, JSON_UINT_MAX},
		{"mismatches", &v.mismatches, 0, JSON_UINT_MAX},
		{"mtu", &mtu, 0, 65536},
	};
	int err = json_take_numbers(json, numbers, ARRAY_SIZE(numbers), e);

	if (!err)
		err = json_take_uint_or(json, "control_messages", 0, 0, CONTROL_MAX,
					&v.control_messages, e);
	if (!err)
		err = json_take_uint_or(json, "control_bytes", 0, 0, CONTROL_MAX, &v.control_bytes,
					e);
	if (!err)
		err = traffic_cause_take(json, "cause", &v.cause, e);
	if (!err)
		err = json_take_text(json, "detail", v.detail, sizeof(v.detail), e);
	if (err)
		return err;
	v.mtu = (uint32_t)mtu;
	*r = v;
	return 0;
}

/* The numbers of a class result, both ways. */
#define CLASS_NUMBERS(c)                                                                           \
	{                                                                                          \
		{"messages", &(c)->messages, 0, JSON_UINT_MAX},                                    \
			{"bytes", &(c)->bytes, 0, JSON_UINT_MAX},                                  \
			{"arrived", &(c)->arrived, 0, JSON_UINT_MAX},                              \
			{"arrived_bytes", &(c)->arrived_bytes, 0, JSON_UINT_MAX},                  \
			{"checked_bytes", &(c)->checked_bytes, 0, JSON_UINT_MAX},                  \
			{"mismatches", &(c)->mismatches, 0, JSON_UINT_MAX},                        \
			{"gaps", &(c)->gaps, 0, JSON_UINT_MAX},                                    \
			{"reordered", &(c)->reordered, 0, JSON_UINT_MAX},                          \
			{"losses", &(c)->losses, 0, JSON_UINT_MAX},                                \
			{"tos_read", &(c)->tos_read, 0, TRAFFIC_QPS_MAX},                          \
			{"tos_other", &(c)->tos_other, 0, TRAFFIC_QPS_MAX},                        \
			{"tos_found", &(c)->tos_found, 0, 255},                                    \
	}

static json_t *class_to_json(const struct traffic_class_result *c)
{
	struct traffic_class_result v = *c;
	const struct json_number numbers[] = CLASS_NUMBERS(&v);
	json_t *json = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		json_object_set_new(json, numbers[i].key, json_uint(*numbers[i].value));
	json_object_set_new(json, "goodput", intervals_to_json(&c->goodput));
	json_object_set_new(json, "latency", histogram_to_json(&c->latency));
	return json;
}

static int take_class(const json_t *json, struct traffic_class_result *c, struct err *e)
{
	const struct json_number numbers[] = CLASS_NUMBERS(c);
	const json_t *goodput, *latency;
	int err = json_take_numbers(json, numbers, ARRAY_SIZE(numbers), e);

	if (!err)
		err = json_take_object(json, "goodput", &goodput, e);
	if (!err)
		err = intervals_from_json(goodput, &c->goodput, e);
	if (!err)
		err = json_take_object(json, "latency", &latency, e);
	return err ? err : histogram_from_json(latency, &c->latency, e);
}

static json_t *failure_to_json(const struct traffic_failure *f)
{
	return json_pack("{s:i, s:i, s:s, s:I, s:I, s:o, s:o, s:b}", "class", (int)f->class, "qp",
			 (int)f->qp, "cause", traffic_cause_word(f->cause), "status",
			 (json_int_t)f->status, "vendor_err", (json_int_t)f->vendor_err, "sequence",
			 json_uint(f->sequence), "when_ns", json_uint(f->when_ns), "recovered",
			 f->recovered);
}

static int take_failure(const json_t *json, struct traffic_failure *f, struct err *e)
{
	uint64_t class = 0, qp = 0, status = 0, vendor = 0;
	const struct json_number numbers[] = {
		{"class", &class, 0, TRAFFIC_CLASSES_MAX - 1},
		{"qp", &qp, 0, TRAFFIC_QPS_MAX - 1},
		{"status", &status, 0, UINT32_MAX},
		{"vendor_err", &vendor, 0, UINT32_MAX},
		{"sequence", &f->sequence, 0, JSON_UINT_MAX},
		{"when_ns", &f->when_ns, 0, JSON_UINT_MAX},
	};
	int err = json_take_numbers(json, numbers, ARRAY_SIZE(numbers), e);

	if (!err)
		err = traffic_cause_take(json, "cause", &f->cause, e);
	if (!err)
		err = json_take_bool(json, "recovered", &f->recovered, e);
	f->class = (unsigned int)class;
	f->qp = (unsigned int)qp;
	f->status = (uint32_t)status;
	f->vendor_err = (uint32_t)vendor;
	return err;
}

#define STALL_NUMBERS(s)                                                                           \
	{                                                                                          \
		{"class", &(s)->class, 0, TRAFFIC_CLASSES_MAX - 1},                                \
			{"qp", &(s)->qp, 0, TRAFFIC_QPS_MAX - 1},                                  \
			{"posted", &(s)->posted, 0, JSON_UINT_MAX},                                \
			{"completed", &(s)->completed, 0, JSON_UINT_MAX},                          \
			{"granted", &(s)->granted, 0, JSON_UINT_MAX},                              \
			{"arrived", &(s)->arrived, 0, JSON_UINT_MAX},                              \
			{"announced", &(s)->announced, 0, JSON_UINT_MAX},                          \
			{"control", &(s)->control, 0, JSON_UINT_MAX},                              \
			{"completion_age_ns", &(s)->completion_age_ns, 0, JSON_UINT_MAX},          \
			{"arrival_age_ns", &(s)->arrival_age_ns, 0, JSON_UINT_MAX},                \
			{"run_ns", &(s)->run_ns, 0, JSON_UINT_MAX},                                \
			{"absent_ns", &(s)->absent_ns, 0, JSON_UINT_MAX},                          \
	}

static json_t *stalls_to_json(const struct traffic_report *r)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < r->stall_count; i++) {
		struct traffic_stall v = r->stall[i];
		const struct json_number numbers[] = STALL_NUMBERS(&v);
		json_t *json = json_object();

		for (size_t k = 0; k < ARRAY_SIZE(numbers); k++)
			json_object_set_new(json, numbers[k].key, json_uint(*numbers[k].value));
		json_array_append_new(list, json);
	}
	return list;
}

/* Without the key there was none. */
static int take_stalls(const json_t *json, struct traffic_report *r, struct err *e)
{
	const json_t *list = NULL;
	int err = 0;

	if (json_object_get(json, "stalls"))
		err = json_take_array(json, "stalls", TRAFFIC_STALLS_MAX, &list, e);
	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		struct traffic_stall *s = &r->stall[r->stall_count++];
		const struct json_number numbers[] = STALL_NUMBERS(s);

		err = json_take_numbers(json_array_get(list, i), numbers, ARRAY_SIZE(numbers), e);
		if (err)
			err_prefix(e, "'stalls' %zu: ", i);
	}
	return err;
}

json_t *traffic_report_to_json(const struct traffic_report *r)
{
	json_t *json = traffic_result_to_json(&r->total);
	json_t *classes = json_array(), *failures = json_array(), *tcp = json_array();

	for (unsigned int i = 0; i < r->class_count; i++)
		json_array_append_new(classes, class_to_json(&r->class[i]));
	for (unsigned int i = 0; i < r->failure_count; i++)
		json_array_append_new(failures, failure_to_json(&r->failure[i]));
	for (unsigned int i = 0; i < r->tcp_count; i++)
		json_array_append_new(tcp, traffic_tcp_result_to_json(&r->tcp[i]));
	json_object_set_new(json, "memory", traffic_memory_to_json(&r->memory));
	json_object_set_new(json, "classes", classes);
	json_object_set_new(json, "failures", failures);
	json_object_set_new(json, "tcp", tcp);
	if (r->stall_count)
		json_object_set_new(json, "stalls", stalls_to_json(r));
	return json;
}

static int take_lists(const json_t *json, struct traffic_report *r, struct err *e)
{
	const json_t *list = NULL;
	const json_t *memory;
	int err = json_take_object(json, "memory", &memory, e);

	if (!err)
		err = traffic_memory_from_json(memory, &r->memory, e);
	if (!err)
		err = json_take_array(json, "classes", TRAFFIC_CLASSES_MAX, &list, e);
	if (err)
		return err;
	r->class_count = (unsigned int)json_array_size(list);
	r->class = calloc(r->class_count + 1, sizeof(*r->class));
	if (!r->class)
		return err_sys(e, -ENOMEM, "traffic report");
	for (unsigned int i = 0; i < r->class_count && !err; i++) {
		err = take_class(json_array_get(list, i), &r->class[i], e);
		if (err)
			err_prefix(e, "'classes' %u: ", i);
	}
	if (!err)
		err = json_take_array(json, "failures", TRAFFIC_FAILURES_MAX, &list, e);
	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		err = take_failure(json_array_get(list, i), &r->failure[r->failure_count++], e);
		if (err)
			err_prefix(e, "'failures' %zu: ", i);
	}
	return err;
}

/* Without the key there was none. */
static int take_tcp(const json_t *json, struct traffic_report *r, struct err *e)
{
	const json_t *list;
	int err;

	if (!json_object_get(json, "tcp"))
		return 0;
	err = json_take_array(json, "tcp", TRAFFIC_TCP_MAX, &list, e);
	if (err)
		return err;
	r->tcp_count = (unsigned int)json_array_size(list);
	r->tcp = calloc(r->tcp_count + 1, sizeof(*r->tcp));
	if (!r->tcp)
		return err_sys(e, -ENOMEM, "traffic report");
	for (unsigned int i = 0; i < r->tcp_count && !err; i++) {
		err = traffic_tcp_result_from_json(json_array_get(list, i), &r->tcp[i], e);
		if (err)
			err_prefix(e, "'tcp' %u: ", i);
	}
	return err;
}

int traffic_report_from_json(const json_t *json, struct traffic_report *r, struct err *e)
{
	struct traffic_report v = {0};
	int err = traffic_result_from_json(json, &v.total, e);

	if (!err)
		err = take_lists(json, &v, e);
	if (!err)
		err = take_tcp(json, &v, e);
	if (!err)
		err = take_stalls(json, &v, e);
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

/* TCP backgrounds, their ports and results as JSON. */

json_t *traffic_tcp_to_json(const struct traffic_tcp *tcp)
{
	return json_pack("{s:i, s:s, s:I, s:o}", "tos", tcp->tos, "direction",
			 traffic_direction_word(tcp->direction), "streams",
			 (json_int_t)tcp->streams, "rate_bytes_per_s",
			 json_uint(tcp->rate_bytes_per_s));
}

int traffic_tcp_from_json(const json_t *json, struct traffic_tcp *tcp, struct err *e)
{
	uint64_t tos = 0, streams = 0, rate = 0;
	const struct json_number numbers[] = {
		{"tos", &tos, 0, 255},
		{"streams", &streams, 1, TRAFFIC_STREAMS_MAX},
		{"rate_bytes_per_s", &rate, 0, TRAFFIC_RATE_MAX},
	};
	unsigned int direction = 0;
	int err = json_take_numbers(json, numbers, ARRAY_SIZE(numbers), e);

	if (!err)
		err = traffic_word_take(json, "direction", ENUM_DIRECTION, &direction, e);
	if (!err)
		*tcp = (struct traffic_tcp){
			.tos = (uint8_t)tos,
			.direction = (enum traffic_direction)direction,
			.streams = (uint32_t)streams,
			.rate_bytes_per_s = rate,
		};
	return err;
}

/* The numbers of a result, both ways. */
#define RESULT_NUMBERS(r)                                                                          \
	{                                                                                          \
		{"sent_bytes", &(r)->sent_bytes, 0, JSON_UINT_MAX},                                \
			{"wire_bytes", &(r)->wire_bytes, 0, JSON_UINT_MAX},                        \
			{"retransmits", &(r)->retransmits, 0, JSON_UINT_MAX},                      \
			{"arrived_bytes", &(r)->arrived_bytes, 0, JSON_UINT_MAX},                  \
			{"duration_ns", &(r)->duration_ns, 0, JSON_UINT_MAX},                      \
	}

json_t *traffic_tcp_result_to_json(const struct traffic_tcp_result *r)
{
	struct traffic_tcp_result v = *r;
	const struct json_number numbers[] = RESULT_NUMBERS(&v);
	json_t *json = json_pack("{s:i, s:I, s:I, s:s, s:o}", "tos_sent", r->tos_sent, "broken",
				 (json_int_t)r->broken, "mss", (json_int_t)r->mss, "detail",
				 r->detail, "goodput", intervals_to_json(&r->goodput));

	for (size_t i = 0; json && i < ARRAY_SIZE(numbers); i++)
		json_object_set_new(json, numbers[i].key, json_uint(*numbers[i].value));
	return json;
}

int traffic_tcp_result_from_json(const json_t *json, struct traffic_tcp_result *r, struct err *e)
{
	const struct json_number numbers[] = RESULT_NUMBERS(r);
	uint64_t tos = 0, broken = 0, mss = 0;
	const struct json_number small[] = {
		{"tos_sent", &tos, 0, 255},
		{"broken", &broken, 0, TRAFFIC_STREAMS_MAX},
		{"mss", &mss, 0, 65535},
	};
	const json_t *goodput;
	int err = json_take_numbers(json, numbers, ARRAY_SIZE(numbers), e);

	if (!err)
		err = json_take_numbers(json, small, ARRAY_SIZE(small), e);
	if (!err)
		err = json_take_text(json, "detail", r->detail, sizeof(r->detail), e);
	if (!err)
		err = json_take_object(json, "goodput", &goodput, e);
	if (!err)
		err = intervals_from_json(goodput, &r->goodput, e);
	r->tos_sent = (uint8_t)tos;
	r->broken = (uint32_t)broken;
	r->mss = (uint32_t)mss;
	return err;
}

json_t *traffic_tcp_ports_to_json(const uint16_t port[TRAFFIC_TCP_MAX])
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < TRAFFIC_TCP_MAX && port[i]; i++)
		json_array_append_new(list, json_integer(port[i]));
	return list;
}

int traffic_tcp_ports_from_json(const json_t *peer, uint16_t port[TRAFFIC_TCP_MAX], struct err *e)
{
	const json_t *list = NULL;
	int err;

	if (!json_object_get(peer, "tcp_ports"))
		return 0;
	err = json_take_array(peer, "tcp_ports", TRAFFIC_TCP_MAX, &list, e);
	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		json_int_t value = json_integer_value(item);

		if (!json_is_integer(item) || value < 1 || value > 65535)
			return err_set(e, -EINVAL, "'tcp_ports' %zu: want 1 to 65535", i);
		port[i] = (uint16_t)value;
	}
	return err;
}
