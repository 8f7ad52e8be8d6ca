/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic structs as JSON, between coordinator, agents and traffic processes, and in run.json; and
 * the words of their enums. Reading checks every member: the other side may be anything.
 */
#include <errno.h>
#include <string.h>

#include "probe/json_take.h"
#include "probe/traffic.h"
#include "probe/traffic_end.h"

struct cause_row {
	const char *word;
	const char *advice;
};

static const struct cause_row causes[CAUSE_COUNT] = {
	[CAUSE_NONE] = {"none", ""},
	[CAUSE_RETRY_EXCEEDED] = {"retry-exceeded", "packets or their answers were lost: check the "
						    "path, PFC and drops at the switch"},
	[CAUSE_RNR] = {"receiver-not-ready",
		       "the receiving host was too slow to post buffers: look "
		       "at that host, not at the fabric"},
	[CAUSE_REMOTE] = {"remote-error",
			  "the other end refused the request: look at its kernel log"},
	[CAUSE_LOCAL] = {"local-error",
			 "the queue pair of this host failed: look at its kernel log"},
	[CAUSE_PORT_DOWN] = {"port-down",
			     "the port lost its link: check cable, optics and switch port"},
	[CAUSE_PEER_GONE] = {"peer-gone",
			     "the program or host at the other end vanished: run again"},
	[CAUSE_DATA] = {"wrong-data",
			"delivered bytes were wrong though the ICRC was right: suspect "
			"memory, PCIe or the NIC of the two hosts"},
	[CAUSE_TIMEOUT] = {"timeout",
			   "traffic did not finish: check for endless pause on the path"},
};

static const char *const verb_words[] = {[TRAFFIC_WRITE] = "write", [TRAFFIC_SEND] = "send"};
static const char *const role_words[] = {[TRAFFIC_CLIENT] = "client", [TRAFFIC_SERVER] = "server"};

const char *traffic_cause_word(enum traffic_cause cause)
{
	return (unsigned int)cause < CAUSE_COUNT ? causes[cause].word : "?";
}

const char *traffic_cause_advice(enum traffic_cause cause)
{
	return (unsigned int)cause < CAUSE_COUNT ? causes[cause].advice : "";
}

const char *traffic_verb_word(enum traffic_verb verb)
{
	return (unsigned int)verb < ARRAY_SIZE(verb_words) ? verb_words[verb] : "?";
}

int traffic_verb_take(const json_t *json, const char *key, enum traffic_verb *verb, struct err *e)
{
	unsigned int index;
	int err = json_take_word(json, key, verb_words, ARRAY_SIZE(verb_words), &index, e);

	if (!err)
		*verb = (enum traffic_verb)index;
	return err;
}

static json_t *number(uint64_t value)
{
	return json_integer(value > JSON_UINT_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *traffic_result_to_json(const struct traffic_result *r)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:s, s:s}", "messages",
			 number(r->messages), "bytes", number(r->bytes), "duration_ns",
			 number(r->duration_ns), "checked_bytes", number(r->checked_bytes),
			 "mismatches", number(r->mismatches), "mtu", (int)r->mtu, "cause",
			 traffic_cause_word(r->cause), "detail", r->detail);
}

static int take_cause(const json_t *json, enum traffic_cause *cause, struct err *e)
{
	const char *words[CAUSE_COUNT];
	unsigned int index;
	int err;

	for (unsigned int i = 0; i < CAUSE_COUNT; i++)
		words[i] = causes[i].word;
	err = json_take_word(json, "cause", words, CAUSE_COUNT, &index, e);
	if (!err)
		*cause = (enum traffic_cause)index;
	return err;
}

int traffic_result_from_json(const json_t *json, struct traffic_result *r, struct err *e)
{
	struct traffic_result v = {0};
	uint64_t mtu = 0;
	struct {
		const char *key;
		uint64_t *value;
		uint64_t max;
	} numbers[] = {
		{"messages", &v.messages, JSON_UINT_MAX},
		{"bytes", &v.bytes, JSON_UINT_MAX},
		{"duration_ns", &v.duration_ns, JSON_UINT_MAX},
		{"checked_bytes", &v.checked_bytes, JSON_UINT_MAX},
		{"mismatches", &v.mismatches, JSON_UINT_MAX},
		{"mtu", &mtu, 65536},
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(numbers) && !err; i++)
		err = json_take_uint(json, numbers[i].key, 0, numbers[i].max, numbers[i].value, e);
	if (!err)
		err = take_cause(json, &v.cause, e);
	if (!err)
		err = json_take_text(json, "detail", v.detail, sizeof(v.detail), e);
	if (err)
		return err;
	v.mtu = (uint32_t)mtu;
	*r = v;
	return 0;
}

json_t *traffic_peer_to_json(const struct traffic_peer *p)
{
	return json_pack("{s:I, s:I, s:o, s:I, s:o, s:I, s:I}", "qpn", (json_int_t)p->qpn, "psn",
			 (json_int_t)p->psn, "gid", json_hex(p->gid, sizeof(p->gid)), "mtu",
			 (json_int_t)p->mtu, "addr", number(p->addr), "rkey", (json_int_t)p->rkey,
			 "slots", (json_int_t)p->slots);
}

int traffic_peer_from_json(const json_t *json, struct traffic_peer *p, struct err *e)
{
	uint64_t qpn = 0, psn = 0, mtu = 0, addr = 0, rkey = 0, slots = 0;
	struct {
		const char *key;
		uint64_t *value, min, max;
	} numbers[] = {
		{"qpn", &qpn, 0, 0xffffff},
		{"psn", &psn, 0, 0xffffff},
		{"mtu", &mtu, 256, 4096},
		{"addr", &addr, 0, JSON_UINT_MAX},
		{"rkey", &rkey, 0, UINT32_MAX},
		{"slots", &slots, TRAFFIC_SLOTS_MIN, TRAFFIC_SLOTS_MAX},
	};
	struct traffic_peer v = {0};
	int err = json_take_hex(json, "gid", v.gid, sizeof(v.gid), e);

	for (size_t i = 0; i < ARRAY_SIZE(numbers) && !err; i++)
		err = json_take_uint(json, numbers[i].key, numbers[i].min, numbers[i].max,
				     numbers[i].value, e);
	if (err)
		return err;
	v.qpn = (uint32_t)qpn;
	v.psn = (uint32_t)psn;
	v.mtu = (uint32_t)mtu;
	v.addr = addr;
	v.rkey = (uint32_t)rkey;
	v.slots = (uint32_t)slots;
	*p = v;
	return 0;
}

json_t *traffic_spec_to_json(const struct traffic_spec *s)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:o, s:o, s:i, s:i}", "role",
			 role_words[s->role], "verb", verb_words[s->verb], "ibdev", s->ibdev,
			 "ib_port", s->ib_port, "gid_index", s->gid_index, "tos", s->tos,
			 "message_bytes", (json_int_t)s->message_bytes, "duration_ms",
			 (json_int_t)s->duration_ms, "rate_bytes_per_s",
			 number(s->rate_bytes_per_s), "seed", number(s->seed), "sl", s->sl,
			 "timeout", s->timeout);
}

int traffic_spec_from_json(const json_t *json, struct traffic_spec *s, struct err *e)
{
	uint64_t ib_port = 0, gid_index = 0, tos = 0, message = 0, duration = 0, sl = 0,
		 timeout = 0;
	struct traffic_spec v = {0};
	struct {
		const char *key;
		uint64_t *value, min, max;
	} numbers[] = {
		{"ib_port", &ib_port, 1, 255},
		{"gid_index", &gid_index, 0, 255},
		{"tos", &tos, 0, 255},
		{"message_bytes", &message, TRAFFIC_MESSAGE_MIN, TRAFFIC_MESSAGE_MAX},
		{"duration_ms", &duration, 1, TRAFFIC_DURATION_MAX_MS},
		{"rate_bytes_per_s", &v.rate_bytes_per_s, 0, UINT64_C(1) << 40},
		{"seed", &v.seed, 0, JSON_UINT_MAX},
		{"sl", &sl, 0, 7},
		{"timeout", &timeout, 0, 31},
	};
	unsigned int role;
	int err = json_take_word(json, "role", role_words, ARRAY_SIZE(role_words), &role, e);

	if (!err)
		err = traffic_verb_take(json, "verb", &v.verb, e);
	if (!err)
		err = json_take_text(json, "ibdev", v.ibdev, sizeof(v.ibdev), e);
	for (size_t i = 0; i < ARRAY_SIZE(numbers) && !err; i++)
		err = json_take_uint(json, numbers[i].key, numbers[i].min, numbers[i].max,
				     numbers[i].value, e);
	if (err)
		return err;
	v.role = (enum traffic_role)role;
	v.ib_port = (uint8_t)ib_port;
	v.gid_index = (uint16_t)gid_index;
	v.tos = (uint8_t)tos;
	v.message_bytes = (uint32_t)message;
	v.duration_ms = (uint32_t)duration;
	v.sl = (uint8_t)sl;
	v.timeout = (uint8_t)timeout;
	*s = v;
	return 0;
}
