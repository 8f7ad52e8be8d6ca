/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a marking echo sends: its spec checked, and the flows that both ends make of it; spec and
 * result as JSON, between coordinator, agents and traffic processes. Reading checks every member:
 * the other side may be anything.
 */
#include <errno.h>

#include "probe/marking/marking.h"
#include "probe/traffic/traffic_words.h"
#include "profiles/base/json.h"

#define SIZE_COUNT 4u /* datagrams of each size: one that arrives is enough */

int marking_spec_check(const struct marking_spec *s, struct err *e)
{
	const struct {
		const char *name;
		uint64_t value, min, max;
	} rows[] = {
		{"classes", s->class_count, 1, MARKING_CLASSES_MAX},
		{"count", s->count, 1, MARKING_COUNT_MAX},
		{"paths", s->paths, 1, MARKING_CLASS_PATHS_MAX},
		{"sweep", s->sweep, 0, MARKING_PATHS_MAX},
		{"duration_ms", s->duration_ms, 1, MARKING_DURATION_MAX_MS},
		{"ib_port", s->ib_port, 1, 255},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].value < rows[i].min || rows[i].value > rows[i].max)
			return err_set(
				e, -EINVAL, "marking echo: %s %llu is not within %llu to %llu",
				rows[i].name, (unsigned long long)rows[i].value,
				(unsigned long long)rows[i].min, (unsigned long long)rows[i].max);
	return 0;
}

unsigned int marking_paths(const struct marking_spec *s)
{
	return s->sweep > s->paths ? s->sweep : s->paths;
}

/* By several source ports: one of them may lose all there is, and one may be smaller. */
static unsigned int marking_add_sizes(const struct marking_spec *s, struct marking_flow *flow)
{
	unsigned int n = 0;

	for (unsigned int p = 0; s->sizes && p < s->paths && p < MARKING_SIZE_PATHS; p++)
		for (unsigned int i = 0; i < 2 * MARKING_SIZES; i++) {
			struct marking_flow *f = &flow[n++];

			*f = (struct marking_flow){
				.sized = true,
				.path = (uint16_t)p,
				.count = SIZE_COUNT,
				.bytes = {MARKING_BYTES, MARKING_BYTES},
			};
			f->bytes[i / MARKING_SIZES] = 256u << i % MARKING_SIZES;
		}
	return n;
}

unsigned int marking_flows(const struct marking_spec *s,
			   struct marking_flow flow[MARKING_FLOWS_MAX])
{
	unsigned int n = 0;

	for (unsigned int c = 0; c < s->class_count; c++)
		for (unsigned int p = 0; p < (c ? s->paths : marking_paths(s)); p++)
			flow[n++] = (struct marking_flow){
				.class = (uint8_t)c,
				.path = (uint16_t)p,
				.count = s->count,
				.bytes = {MARKING_BYTES, MARKING_BYTES},
			};
	return n + marking_add_sizes(s, flow + n);
}

uint16_t marking_label_port(uint32_t flow_label)
{
	return (uint16_t)(((flow_label & 0x3fff) ^ ((flow_label & 0xfc000) >> 14)) | 0xc000);
}

uint16_t marking_soft_port(uint32_t qpn)
{
	return (uint16_t)(0xc000 + (qpn * UINT32_C(0x61c88647) >> 18)); /* linux hash.h, 14 bits */
}

static const struct json_row class_rows[] = {
	NUMBER(struct marking_class, tos, 0, 255),
	NUMBER(struct marking_class, sl, 0, 15),
};

static const struct json_row spec_rows[] = {
	WORD(struct marking_spec, role, ENUM_ROLE),
	TEXT(struct marking_spec, ibdev),
	NUMBER(struct marking_spec, ib_port, 1, 255),
	NUMBER(struct marking_spec, gid_index, 0, 255),
	NUMBER(struct marking_spec, seed, 0, JSON_UINT_MAX),
	NUMBER(struct marking_spec, duration_ms, 1, MARKING_DURATION_MAX_MS),
	NUMBER(struct marking_spec, count, 1, MARKING_COUNT_MAX),
	NUMBER(struct marking_spec, paths, 1, MARKING_CLASS_PATHS_MAX),
	NUMBER(struct marking_spec, sweep, 0, MARKING_PATHS_MAX),
	NUMBER(struct marking_spec, gap_us, 0, UINT16_MAX),
	BOOL(struct marking_spec, sizes),
};

json_t *marking_spec_to_json(const struct marking_spec *s)
{
	json_t *json = json_object();

	(void)json_rows_write(json, JSON_ROWS(spec_rows), s);
	json_object_set_new(json, "classes",
			    json_list_write(JSON_ROWS(class_rows), s->class, sizeof(s->class[0]),
					    s->class_count));
	return json;
}

int marking_spec_from_json(const json_t *json, struct marking_spec *s, struct err *e)
{
	struct marking_spec v = {0};
	int err = json_rows_read(json, JSON_ROWS(spec_rows), &v, e);

	if (!err)
		err = json_list_read(json, "classes", JSON_ROWS(class_rows), v.class,
				     sizeof(v.class[0]), ARRAY_SIZE(v.class), &v.class_count, e);
	if (!err)
		err = marking_spec_check(&v, e);
	if (!err)
		*s = v;
	return err;
}

/* The numbers of a record, in the order of its array; then come the markings, three numbers each:
 * short, there are hundreds of records. */
enum record_number {
	RECORD_ARRIVED,
	RECORD_REPEATED,
	RECORD_WRONG,
	RECORD_UNREAD,
	RECORD_OTHERS,
	RECORD_NUMBERS,
};

static json_t *marking_record_to_json(const struct marking_record *r)
{
	json_t *list = json_pack("[I, I, I, I, I]", (json_int_t)r->arrived, (json_int_t)r->repeated,
				 (json_int_t)r->wrong, (json_int_t)r->unread,
				 (json_int_t)r->others);

	for (unsigned int i = 0; i < r->seen_count && i < MARKING_SEEN_MAX; i++) {
		json_array_append_new(list, json_integer(r->seen[i].tos));
		json_array_append_new(list, json_integer(r->seen[i].ttl));
		json_array_append_new(list, json_integer(r->seen[i].count));
	}
	return list;
}

static int marking_record_error(const char *key, struct err *e)
{
	return err_set(e, -EINVAL, "'%s': no record of datagrams", key);
}

/* What arrived is what was seen, and cannot be more than was sent. */
static bool marking_record_is_sound(const struct marking_record *r)
{
	uint64_t sum = (uint64_t)r->unread + r->others;

	for (unsigned int i = 0; i < r->seen_count; i++)
		sum += r->seen[i].count;
	return r->arrived <= MARKING_COUNT_MAX && sum == r->arrived;
}

static int marking_parse_record(const json_t *json, const char *key, struct marking_record *r,
				struct err *e)
{
	uint32_t v[RECORD_NUMBERS + 3 * MARKING_SEEN_MAX] = {0};
	const json_t *list = NULL;
	struct marking_record made = {0};
	size_t n;
	int err = json_get_array(json, key, ARRAY_SIZE(v), &list, e);

	if (err)
		return err;
	n = json_array_size(list);
	if (n < RECORD_NUMBERS || (n - RECORD_NUMBERS) % 3)
		return marking_record_error(key, e);
	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_array_get(list, i);
		json_int_t number = json_integer_value(one);
		bool byte = i >= RECORD_NUMBERS && (i - RECORD_NUMBERS) % 3 < 2;

		if (!json_is_integer(one) || number < 0 || number > (byte ? 255 : INT32_MAX))
			return marking_record_error(key, e);
		v[i] = (uint32_t)number;
	}
	made.arrived = v[RECORD_ARRIVED];
	made.repeated = v[RECORD_REPEATED];
	made.wrong = v[RECORD_WRONG];
	made.unread = v[RECORD_UNREAD];
	made.others = v[RECORD_OTHERS];
	for (size_t i = RECORD_NUMBERS; i < n; i += 3)
		made.seen[made.seen_count++] = (struct marking_seen){(uint8_t)v[i],
								     (uint8_t)v[i + 1], v[i + 2]};
	if (!marking_record_is_sound(&made))
		return marking_record_error(key, e);
	*r = made;
	return 0;
}

static const struct json_row result_rows[] = {
	TEXT(struct marking_result, detail),
	NUMBER(struct marking_result, mtu, 256, 4096),
	NUMBER(struct marking_result, foreign, 0, UINT32_MAX),
};

json_t *marking_result_to_json(const struct marking_result *r)
{
	json_t *json = json_object(), *ports = json_array(), *flows = json_array();

	for (unsigned int i = 0; i < r->path_count && i < MARKING_PATHS_MAX; i++)
		json_array_append_new(ports, json_integer(r->port[i]));
	for (unsigned int i = 0; i < r->flow_count && i < MARKING_FLOWS_MAX; i++)
		json_array_append_new(
			flows, json_pack("{s:I, s:o, s:o}", "sent", (json_int_t)r->flow[i].sent,
					 "here", marking_record_to_json(&r->flow[i].here), "there",
					 marking_record_to_json(&r->flow[i].there)));
	(void)json_rows_write(json, JSON_ROWS(result_rows), r);
	json_object_set_new(json, "ports", ports);
	json_object_set_new(json, "flows", flows);
	return json;
}

static int marking_parse_ports(const json_t *json, struct marking_result *r, struct err *e)
{
	const json_t *list = NULL;
	int err = json_get_array(json, "ports", MARKING_PATHS_MAX, &list, e);

	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		json_int_t port = json_integer_value(one);

		if (!json_is_integer(one) || port < 0 || port > 65535)
			return err_set(e, -EINVAL, "'ports': no UDP port");
		r->port[r->path_count++] = (uint16_t)port;
	}
	return err;
}

static int marking_parse_flow(const json_t *json, struct marking_flow_result *f, struct err *e)
{
	uint64_t sent = 0;
	int err = json_get_uint(json, "sent", 0, MARKING_COUNT_MAX, &sent, e);

	if (!err)
		err = marking_parse_record(json, "here", &f->here, e);
	if (!err)
		err = marking_parse_record(json, "there", &f->there, e);
	f->sent = (uint32_t)sent;
	return err;
}

static int marking_parse_flows(const json_t *json, struct marking_result *r, struct err *e)
{
	const json_t *list = NULL;
	int err = json_get_array(json, "flows", MARKING_FLOWS_MAX, &list, e);

	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		err = marking_parse_flow(json_array_get(list, i), &r->flow[r->flow_count++], e);
		if (err)
			err_prefix(e, "'flows' %zu", i);
	}
	return err;
}

int marking_result_from_json(const json_t *json, struct marking_result *r, struct err *e)
{
	struct marking_result v = {0};
	int err = json_rows_read(json, JSON_ROWS(result_rows), &v, e);

	if (!err)
		err = marking_parse_ports(json, &v, e);
	if (!err)
		err = marking_parse_flows(json, &v, e);
	if (!err)
		*r = v;
	return err;
}
