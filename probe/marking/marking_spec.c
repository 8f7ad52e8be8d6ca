/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spec of a marking test: its check, its flows, and JSON of spec and result, between coordinator,
 * agents and traffic processes. JSON is hostile input: reading checks every member.
 */
#include <errno.h>
#include <string.h>

#include "probe/marking/marking.h"
#include "probe/traffic/traffic_words.h"
#include "profiles/base/json.h"

#define SIZE_COUNT  4u /* datagrams per size: one that arrives is enough */
#define COUNT	    16 /* also the most of other classes than the first */
#define PATHS	    4
#define GAP_US	    50
#define DURATION_MS 30000

static bool marking_has_class(const struct marking_spec *s, struct marking_class c)
{
	for (unsigned int i = 0; i < s->class_count; i++)
		if (s->class[i].tos == c.tos && s->class[i].sl == c.sl)
			return true;
	return false;
}

static struct marking_class marking_class_of(const struct traffic_class *c)
{
	return (struct marking_class){
		.tos = c->tos & 3 ? c->tos : c->tos | 2, /* ECT(0) */
		.sl = c->sl,
	};
}

void marking_specs_make(const struct traffic_spec traffic[2], unsigned int sweep,
			struct marking_spec spec[2])
{
	for (unsigned int i = 0; i < 2; i++) {
		spec[i] = (struct marking_spec){
			.role = traffic[i].role,
			.ib_port = traffic[i].ib_port,
			.gid_index = traffic[i].gid_index,
			.seed = traffic[i].seed,
			.duration_ms = DURATION_MS,
			.count = COUNT,
			.paths = PATHS,
			.sweep = (uint16_t)sweep,
			.gap_us = GAP_US,
			.sizes = true,
		};
		memcpy(spec[i].ibdev, traffic[i].ibdev, sizeof(spec[i].ibdev));
	}
	for (unsigned int k = 0; k < traffic[0].class_count; k++) {
		struct marking_class c = marking_class_of(&traffic[0].class[k]);

		if (marking_has_class(&spec[0], c))
			continue;
		spec[0].class[spec[0].class_count++] = c;
		spec[1].class[spec[1].class_count++] = marking_class_of(&traffic[1].class[k]);
	}
}

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
			return err_set(e, -EINVAL, "marking echo: %s %llu must be %llu to %llu",
				       rows[i].name, (unsigned long long)rows[i].value,
				       (unsigned long long)rows[i].min,
				       (unsigned long long)rows[i].max);
	return 0;
}

unsigned int marking_paths(const struct marking_spec *s)
{
	return s->sweep > s->paths ? s->sweep : s->paths;
}

/* Uses several source ports: one path may lose all datagrams, and one may have a smaller MTU. */
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
				.count = c && s->count > COUNT ? COUNT : s->count,
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
	JSON_LIST_OF("classes", struct marking_spec, class, JSON_ITEM(class_rows)),
};

json_t *marking_spec_to_json(const struct marking_spec *s)
{
	return json_rows_make(JSON_ROWS(spec_rows), s);
}

int marking_spec_from_json(const json_t *json, struct marking_spec *s, struct err *e)
{
	struct marking_spec v = {0};
	int err = json_rows_read(json, JSON_ROWS(spec_rows), &v, e);

	if (!err)
		err = marking_spec_check(&v, e);
	if (!err)
		*s = v;
	return err;
}

/* Numbers of a record, in the order of its array, then three numbers per marking. Compact, because
 * there are hundreds of records. */
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
		list = json_list_add(list, json_integer(r->seen[i].tos));
		list = json_list_add(list, json_integer(r->seen[i].ttl));
		list = json_list_add(list, json_integer(r->seen[i].count));
	}
	return list;
}

/* Checks that `seen` adds up to `arrived`, and that no more arrived than was sent. */
static bool marking_record_is_sound(const struct marking_record *r)
{
	uint64_t sum = (uint64_t)r->unread + r->others;

	for (unsigned int i = 0; i < r->seen_count; i++)
		sum += r->seen[i].count;
	return r->arrived <= MARKING_COUNT_MAX && sum == r->arrived;
}

static int marking_record_from_json(const json_t *list, struct marking_record *r, struct err *e)
{
	uint32_t v[RECORD_NUMBERS + 3 * MARKING_SEEN_MAX] = {0};
	struct marking_record made = {0};
	size_t n = json_array_size(list);
	bool sound = n >= RECORD_NUMBERS && n <= ARRAY_SIZE(v) && (n - RECORD_NUMBERS) % 3 == 0;

	for (size_t i = 0; sound && i < n; i++) {
		const json_t *one = json_array_get(list, i);
		json_int_t number = json_integer_value(one);
		bool byte = i >= RECORD_NUMBERS && (i - RECORD_NUMBERS) % 3 < 2;

		sound = json_is_integer(one) && number >= 0 && number <= (byte ? 255 : INT32_MAX);
		v[i] = (uint32_t)number;
	}
	made.arrived = v[RECORD_ARRIVED];
	made.repeated = v[RECORD_REPEATED];
	made.wrong = v[RECORD_WRONG];
	made.unread = v[RECORD_UNREAD];
	made.others = v[RECORD_OTHERS];
	for (size_t i = RECORD_NUMBERS; sound && i < n; i += 3)
		made.seen[made.seen_count++] = (struct marking_seen){(uint8_t)v[i],
								     (uint8_t)v[i + 1], v[i + 2]};
	if (!sound || !marking_record_is_sound(&made))
		return err_set(e, -EINVAL, "no record of datagrams");
	*r = made;
	return 0;
}

JSON_FUNCTIONS(marking_record)

static const struct json_row flow_rows[] = {
	NUMBER(struct marking_flow_result, sent, 0, MARKING_COUNT_MAX),
	JSON_ROW(struct marking_flow_result, here, .kind = JSON_STRUCT, JSON_BY(marking_record)),
	JSON_ROW(struct marking_flow_result, there, .kind = JSON_STRUCT, JSON_BY(marking_record)),
};

static json_t *marking_port_to_json(const uint16_t *port)
{
	return json_integer(*port);
}

static int marking_port_from_json(const json_t *json, uint16_t *port, struct err *e)
{
	json_int_t number = json_integer_value(json);

	if (!json_is_integer(json) || number < 0 || number > 65535)
		return err_set(e, -EINVAL, "no UDP port");
	*port = (uint16_t)number;
	return 0;
}

JSON_FUNCTIONS(marking_port)

static const struct json_row result_rows[] = {
	TEXT(struct marking_result, detail),
	NUMBER(struct marking_result, mtu, 256, 4096),
	NUMBER(struct marking_result, foreign, 0, UINT32_MAX),
	JSON_LIST_USED("ports", struct marking_result, port, path_count, JSON_BY(marking_port)),
	JSON_LIST_OF("flows", struct marking_result, flow, JSON_ITEM(flow_rows)),
};

json_t *marking_result_to_json(const struct marking_result *r)
{
	return json_rows_make(JSON_ROWS(result_rows), r);
}

int marking_result_from_json(const json_t *json, struct marking_result *r, struct err *e)
{
	struct marking_result v = {0};
	int err = json_rows_read(json, JSON_ROWS(result_rows), &v, e);

	if (!err)
		*r = v;
	return err;
}
