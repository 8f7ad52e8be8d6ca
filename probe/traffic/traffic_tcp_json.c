/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP backgrounds, their ports and results as JSON.
 */
#include <errno.h>
#include <string.h>

#include "probe/traffic/traffic_tcp.h"
#include "probe/traffic/traffic_words.h"
#include "profiles/base/json_take.h"

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
