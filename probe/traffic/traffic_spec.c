/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What traffic is asked for: whether it makes sense, and as JSON.
 */
#include <errno.h>
#include <string.h>

#include "probe/traffic/traffic_tcp.h"
#include "probe/traffic/traffic_words.h"
#include "profiles/base/json_take.h"

void traffic_spec_simple(struct traffic_spec *spec, enum traffic_verb verb, uint32_t message_bytes,
			 uint32_t duration_ms)
{
	memset(spec, 0, sizeof(*spec));
	spec->duration_ms = duration_ms;
	spec->threads = 1;
	spec->class_count = 1;
	spec->class[0] = (struct traffic_class){
		.verb = verb,
		.check = TRAFFIC_CHECK_EVERY,
		.qps = 1,
		.message_bytes = message_bytes,
	};
}

unsigned int traffic_spec_qps(const struct traffic_spec *spec)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < spec->class_count; i++)
		n += spec->class[i].qps;
	return n;
}

static bool one_sided(enum traffic_verb verb)
{
	return verb == TRAFFIC_WRITE || verb == TRAFFIC_READ || verb == TRAFFIC_ATOMIC;
}

bool traffic_verb_sends(enum traffic_verb verb)
{
	return verb == TRAFFIC_SEND || verb == TRAFFIC_SEND_IMM;
}

/* The ends that data of a class goes to: those of enum traffic_role, as bits. */
static unsigned int receivers(const struct traffic_class *c)
{
	const unsigned int server = 1u << TRAFFIC_SERVER, client = 1u << TRAFFIC_CLIENT;
	bool forth = (c->direction == TRAFFIC_FORWARD) != (c->verb == TRAFFIC_READ);

	if (c->probe || c->direction == TRAFFIC_BOTH || c->verb == TRAFFIC_ATOMIC)
		return server | client;
	return forth ? server : client;
}

static uint32_t flight_of(const struct traffic_spec *spec, const struct traffic_class *c)
{
	unsigned int senders = spec->senders ? spec->senders : 1, most = 1;

	if (!c->rate_bytes_per_s)
		return 0;
	for (unsigned int role = TRAFFIC_CLIENT; role <= TRAFFIC_SERVER; role++) {
		unsigned int n = 0;

		for (unsigned int i = 0; i < spec->class_count; i++)
			n += spec->class[i].rate_bytes_per_s &&
			     receivers(&spec->class[i]) & receivers(c) & 1u << role;
		most = n > most ? n : most;
	}
	return TRAFFIC_FLIGHT_BYTES / senders / most;
}

void traffic_spec_bound(struct traffic_spec *spec)
{
	for (unsigned int i = 0; i < spec->class_count; i++)
		spec->class[i].flight_bytes = flight_of(spec, &spec->class[i]);
}

static int check_flight(const struct traffic_spec *spec, unsigned int i, struct err *e)
{
	const struct traffic_class *c = &spec->class[i];
	uint32_t most = flight_of(spec, c), bytes = c->message_bytes;

	if (!c->rate_bytes_per_s || c->verb == TRAFFIC_ATOMIC || bytes <= most)
		return 0;
	err_set(e, -EINVAL,
		"traffic class %u: messages of %u bytes at a rate: at most %u bytes may be under "
		"way",
		i, bytes, most);
	err_hint(e,
		 "use messages of %u bytes or less: a receiver gets at most %u bytes at "
		 "once over all senders and paced classes; without a rate there is no bound",
		 most, TRAFFIC_FLIGHT_BYTES);
	return -EINVAL;
}

/* What is wrong with a class in this mode, NULL when nothing is. */
static const char *class_fault(const struct traffic_class *c, enum traffic_mode mode)
{
	bool unreliable = c->transport == TRAFFIC_UC || c->transport == TRAFFIC_UD;

	if (c->transport == TRAFFIC_UD && !traffic_verb_sends(c->verb))
		return "UD carries SEND alone";
	if (unreliable && (c->verb == TRAFFIC_READ || c->verb == TRAFFIC_ATOMIC))
		return "READ and atomics need RC or XRC";
	if (unreliable && c->verb == TRAFFIC_WRITE)
		return "nobody would see what of an UC WRITE is lost: take send or write_imm";
	if (mode == TRAFFIC_STRICT && (unreliable || !one_sided(c->verb)))
		return "strict mode is for WRITE, READ and atomics of RC and XRC: a receiver that "
		       "is not ready would look like loss";
	if (mode == TRAFFIC_STRICT && c->direction == TRAFFIC_BOTH)
		return "strict mode goes one way on a queue pair";
	if (mode == TRAFFIC_COUNT && (!unreliable || !traffic_verb_sends(c->verb)))
		return "count mode is for UC and UD SEND";
	if (c->message_bytes < TRAFFIC_CHECKED_MIN && unreliable)
		return "a message of less than 64 bytes has no room for its sequence number: UC "
		       "and UD need more";
	if (c->message_bytes < TRAFFIC_CHECKED_MIN && c->check != TRAFFIC_CHECK_NONE &&
	    c->verb != TRAFFIC_ATOMIC)
		return "a message of less than 64 bytes has no room for what is checked: check "
		       "none";
	if (c->probe && (unreliable || (c->verb != TRAFFIC_SEND && c->verb != TRAFFIC_WRITE_IMM &&
					c->verb != TRAFFIC_WRITE)))
		return "a latency probe is write, write_imm or send of RC or XRC";
	if (c->probe && c->direction == TRAFFIC_BOTH)
		return "a latency probe starts at one end: both ways it goes anyway";
	return c->window & (c->window - 1) ? "the window is no power of two" : NULL;
}

static int check_tcp(const struct traffic_spec *spec, struct err *e)
{
	if (spec->tcp_count > TRAFFIC_TCP_MAX)
		return err_set(e, -EINVAL, "%u TCP backgrounds: at most %u", spec->tcp_count,
			       TRAFFIC_TCP_MAX);
	for (unsigned int i = 0; i < spec->tcp_count; i++) {
		const struct traffic_tcp *tcp = &spec->tcp[i];

		if (!tcp->streams || tcp->streams > TRAFFIC_STREAMS_MAX)
			return err_set(e, -EINVAL, "TCP %u: %u streams: must be 1 to %u", i,
				       tcp->streams, TRAFFIC_STREAMS_MAX);
		if (tcp->tos & 3)
			return err_set(e, -EINVAL,
				       "TCP %u: ToS %u has ECN bits, which TCP sets itself: take "
				       "DSCP * 4",
				       i, tcp->tos);
	}
	return 0;
}

int traffic_spec_check(const struct traffic_spec *spec, struct err *e)
{
	if (!spec->class_count || spec->class_count > TRAFFIC_CLASSES_MAX)
		return err_set(e, -EINVAL, "%u traffic classes: must be 1 to %u", spec->class_count,
			       TRAFFIC_CLASSES_MAX);
	for (unsigned int i = 0; i < spec->class_count; i++) {
		const char *fault = class_fault(&spec->class[i], spec -> mode);

		if (!fault && spec->bringup == TRAFFIC_CM &&
		    (spec->class[i].transport != TRAFFIC_RC || spec->mode == TRAFFIC_STRICT))
			fault = "rdma_cm connects RC alone, and not in strict mode";
		if (fault)
			return err_set(e, -EINVAL, "traffic class %u: %s", i, fault);
		if (check_flight(spec, i, e))
			return e->code;
	}
	if (traffic_spec_qps(spec) > TRAFFIC_QPS_MAX)
		return err_set(e, -EINVAL, "%u queue pairs: more than %u", traffic_spec_qps(spec),
			       TRAFFIC_QPS_MAX);
	return check_tcp(spec, e);
}

static json_t *class_to_json(const struct traffic_class *c)
{
	return json_pack(
		"{s:i, s:i, s:s, s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:o, s:o}", "tos", c->tos, "sl",
		c->sl, "transport", traffic_transport_word(c->transport), "verb",
		traffic_verb_word(c->verb), "direction", traffic_direction_word(c->direction),
		"check", traffic_check_word(c->check), "probe", c->probe, "qps", (json_int_t)c->qps,
		"message_bytes", (json_int_t)c->message_bytes, "window", (json_int_t)c->window,
		"rate_bytes_per_s", json_uint(c->rate_bytes_per_s), "count", json_uint(c->count));
}

json_t *traffic_spec_to_json(const struct traffic_spec *s)
{
	json_t *list = json_array(), *tcp = json_array();

	for (unsigned int i = 0; i < s->class_count; i++)
		json_array_append_new(list, class_to_json(&s->class[i]));
	for (unsigned int i = 0; i < s->tcp_count; i++)
		json_array_append_new(tcp, traffic_tcp_to_json(&s->tcp[i]));
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:i, s:i, s:I, s:o, s:i, s:i, s:i, s:b, s:b, s:i, s:o, s:o}",
		"role", traffic_word(ENUM_ROLE, s->role), "mode", traffic_mode_word(s->mode),
		"bringup", traffic_word(ENUM_BRINGUP, s->bringup), "ibdev", s->ibdev, "ib_port",
		s->ib_port, "gid_index", s->gid_index, "duration_ms", (json_int_t)s->duration_ms,
		"seed", json_uint(s->seed), "timeout", s->timeout, "mtu_bytes", s->mtu_bytes,
		"threads", s->threads, "pin", s->pin, "huge_pages", s->huge_pages, "senders",
		s->senders, "classes", list, "tcp", tcp);
}

struct word_row {
	const char *key;
	enum traffic_enum which;
	unsigned int *value;
};

static int take_words(const json_t *json, const struct word_row *rows, size_t count, struct err *e)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = traffic_word_take(json, rows[i].key, rows[i].which, rows[i].value, e);
	return err;
}

static int take_class(const json_t *json, struct traffic_class *c, struct err *e)
{
	uint64_t tos = 0, sl = 0, qps = 0, message = 0, window = 0, rate = 0, messages = 0;
	unsigned int transport = 0, verb = 0, direction = 0, check = 0;
	const struct json_number numbers[] = {
		{"tos", &tos, 0, 255},
		{"sl", &sl, 0, 7},
		{"qps", &qps, 1, TRAFFIC_QPS_MAX},
		{"message_bytes", &message, TRAFFIC_MESSAGE_MIN, TRAFFIC_MESSAGE_MAX},
		{"window", &window, 0, TRAFFIC_WINDOW_MAX},
		{"rate_bytes_per_s", &rate, 0, TRAFFIC_RATE_MAX},
		{"count", &messages, 0, JSON_UINT_MAX},
	};
	const struct word_row words[] = {
		{"transport", ENUM_TRANSPORT, &transport},
		{"verb", ENUM_VERB, &verb},
		{"direction", ENUM_DIRECTION, &direction},
		{"check", ENUM_CHECK, &check},
	};
	bool probe = false;
	int err = take_words(json, words, ARRAY_SIZE(words), e);

	if (!err)
		err = json_take_numbers(json, numbers, ARRAY_SIZE(numbers), e);
	if (!err)
		err = json_take_bool(json, "probe", &probe, e);
	if (err)
		return err;
	*c = (struct traffic_class){
		.tos = (uint8_t)tos,
		.sl = (uint8_t)sl,
		.transport = (enum traffic_transport)transport,
		.verb = (enum traffic_verb)verb,
		.direction = (enum traffic_direction)direction,
		.check = (enum traffic_check)check,
		.probe = probe,
		.qps = (uint32_t)qps,
		.message_bytes = (uint32_t)message,
		.window = (uint32_t)window,
		.rate_bytes_per_s = rate,
		.count = messages,
	};
	return 0;
}

static int take_classes(const json_t *json, struct traffic_spec *s, struct err *e)
{
	const json_t *list = NULL;
	int err = json_take_array(json, "classes", TRAFFIC_CLASSES_MAX, &list, e);

	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		err = take_class(json_array_get(list, i), &s->class[i], e);
		if (err)
			err_prefix(e, "'classes' %zu: ", i);
	}
	s->class_count = (unsigned int)json_array_size(list);
	return err;
}

/* Without the key there is none. */
static int take_tcp(const json_t *json, struct traffic_spec *s, struct err *e)
{
	const json_t *list = NULL;
	int err = 0;

	if (json_object_get(json, "tcp"))
		err = json_take_array(json, "tcp", TRAFFIC_TCP_MAX, &list, e);
	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		err = traffic_tcp_from_json(json_array_get(list, i), &s->tcp[i], e);
		if (err)
			err_prefix(e, "'tcp' %zu: ", i);
	}
	s->tcp_count = (unsigned int)json_array_size(list);
	return err;
}

static int take_head(const json_t *json, struct traffic_spec *s, struct err *e)
{
	unsigned int role = 0, mode = 0, bringup = 0;
	uint64_t ib_port = 0, gid_index = 0, duration = 0, timeout = 0, threads = 0, mtu = 0,
		 senders = 0;
	const struct json_number numbers[] = {
		{"ib_port", &ib_port, 1, 255},
		{"gid_index", &gid_index, 0, 255},
		{"duration_ms", &duration, 0, TRAFFIC_DURATION_MAX_MS},
		{"seed", &s->seed, 0, JSON_UINT_MAX},
		{"timeout", &timeout, 0, 31},
		{"mtu_bytes", &mtu, 0, 4096},
		{"threads", &threads, 1, TRAFFIC_THREADS_MAX},
	};
	const struct word_row words[] = {
		{"role", ENUM_ROLE, &role},
		{"mode", ENUM_MODE, &mode},
		{"bringup", ENUM_BRINGUP, &bringup},
	};
	int err = take_words(json, words, ARRAY_SIZE(words), e);

	if (!err)
		err = json_take_numbers(json, numbers, ARRAY_SIZE(numbers), e);
	if (!err && mtu && mtu < 256)
		err = err_set(e, -EINVAL, "'mtu_bytes': %u is less than 256", (unsigned int)mtu);
	if (!err)
		err = json_take_text(json, "ibdev", s->ibdev, sizeof(s->ibdev), e);
	if (!err)
		err = json_take_bool(json, "pin", &s->pin, e);
	if (!err)
		err = json_take_bool(json, "huge_pages", &s->huge_pages, e);
	if (!err)
		err = json_take_uint_or(json, "senders", 0, 0, TRAFFIC_SENDERS_MAX, &senders, e);
	s->role = (enum traffic_role)role;
	s->mode = (enum traffic_mode)mode;
	s->bringup = (enum traffic_bringup)bringup;
	s->ib_port = (uint8_t)ib_port;
	s->gid_index = (uint16_t)gid_index;
	s->duration_ms = (uint32_t)duration;
	s->timeout = (uint8_t)timeout;
	s->mtu_bytes = (uint16_t)mtu;
	s->threads = (uint8_t)threads;
	s->senders = (uint16_t)senders;
	return err;
}

int traffic_spec_from_json(const json_t *json, struct traffic_spec *s, struct err *e)
{
	struct traffic_spec v = {0};
	int err = take_head(json, &v, e);

	if (!err)
		err = take_classes(json, &v, e);
	if (!err)
		err = take_tcp(json, &v, e);
	if (!err)
		err = traffic_spec_check(&v, e);
	if (err)
		return err;
	traffic_spec_bound(&v);
	*s = v;
	return 0;
}
