/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traffic spec: checks of its values, and its JSON form.
 */
#include <errno.h>
#include <string.h>

#include "probe/traffic/traffic_words.h"
#include "profiles/base/json.h"

#define TIMEOUT_SOFT   18 /* 1.07 s: at 14, rxe retransmits without loss */
#define TIMEOUT_DEVICE 16 /* 0.27 s */
#define TIMEOUT_STRICT                                                                             \
	14	      /* 67 ms; off on Soft-RoCE, whose timer fires without loss: qp_recovery.c */
#define TIMEOUT_CM 17 /* rdma_cm's own at the least, twice its packet lifetime (linux cma.c) */

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

uint8_t traffic_control_timeout(const struct traffic_spec *spec, bool soft)
{
	if (spec->timeout)
		return spec->timeout;
	return soft ? TIMEOUT_SOFT : TIMEOUT_DEVICE;
}

uint8_t traffic_ack_timeout(const struct traffic_spec *spec, bool soft)
{
	if (!spec->timeout && spec->bringup == TRAFFIC_CM)
		return TIMEOUT_CM;
	if (!spec->timeout && spec->mode == TRAFFIC_STRICT)
		return soft ? 0 : TIMEOUT_STRICT;
	return traffic_control_timeout(spec, soft);
}

static bool spec_is_one_sided(enum traffic_verb verb)
{
	return verb == TRAFFIC_WRITE || verb == TRAFFIC_READ || verb == TRAFFIC_ATOMIC;
}

bool traffic_verb_sends(enum traffic_verb verb)
{
	return verb == TRAFFIC_SEND || verb == TRAFFIC_SEND_IMM;
}

/* Returns the receivers of a class: a bit per enum traffic_role. */
static unsigned int spec_receivers(const struct traffic_class *c)
{
	const unsigned int server = 1u << TRAFFIC_SERVER, client = 1u << TRAFFIC_CLIENT;
	bool forward = (c->direction == TRAFFIC_FORWARD) != (c->verb == TRAFFIC_READ);

	if (c->probe || c->direction == TRAFFIC_BOTH || c->verb == TRAFFIC_ATOMIC)
		return server | client;
	return forward ? server : client;
}

static uint32_t spec_flight_bytes(const struct traffic_spec *spec, const struct traffic_class *c)
{
	unsigned int senders = spec->senders ? spec->senders : 1, most = 1;

	if (!c->rate_bytes_per_s)
		return 0;
	for (unsigned int role = TRAFFIC_CLIENT; role <= TRAFFIC_SERVER; role++) {
		unsigned int n = 0;

		for (unsigned int i = 0; i < spec->class_count; i++)
			n += spec->class[i].rate_bytes_per_s &&
			     spec_receivers(&spec->class[i]) & spec_receivers(c) & 1u << role;
		most = n > most ? n : most;
	}
	return TRAFFIC_FLIGHT_BYTES / senders / most;
}

void traffic_spec_bound(struct traffic_spec *spec)
{
	for (unsigned int i = 0; i < spec->class_count; i++)
		spec->class[i].flight_bytes = spec_flight_bytes(spec, &spec->class[i]);
}

static int spec_check_flight(const struct traffic_spec *spec, unsigned int i, struct err *e)
{
	const struct traffic_class *c = &spec->class[i];
	uint32_t most = spec_flight_bytes(spec, c), bytes = c->message_bytes;

	if (!c->rate_bytes_per_s || c->verb == TRAFFIC_ATOMIC || bytes <= most)
		return 0;
	err_set(e, -EINVAL,
		"traffic class %u: messages of %u bytes with a rate: at most %u bytes may be in "
		"flight",
		i, bytes, most);
	err_hint(e,
		 "use messages of at most %u bytes (limit per receiver: %u bytes in flight, over "
		 "all senders and paced classes), or no rate",
		 most, TRAFFIC_FLIGHT_BYTES);
	return -EINVAL;
}

/* Returns what is wrong with a class in this mode, or NULL. */
static const char *spec_class_fault(const struct traffic_class *c, enum traffic_mode mode)
{
	bool unreliable = c->transport == TRAFFIC_UC || c->transport == TRAFFIC_UD;

	if (c->transport == TRAFFIC_UD && !traffic_verb_sends(c->verb))
		return "UD supports SEND only";
	if (unreliable && (c->verb == TRAFFIC_READ || c->verb == TRAFFIC_ATOMIC))
		return "READ and atomics need RC or XRC";
	if (unreliable && c->verb == TRAFFIC_WRITE)
		return "loss of a UC WRITE cannot be detected: use send or write_imm";
	if (mode == TRAFFIC_STRICT && (unreliable || !spec_is_one_sided(c->verb)))
		return "strict mode requires WRITE, READ or atomic over RC or XRC: a receiver that "
		       "is not ready would look like loss";
	if (mode == TRAFFIC_STRICT && c->direction == TRAFFIC_BOTH)
		return "strict mode supports one direction per queue pair";
	if (mode == TRAFFIC_COUNT && (!unreliable || !traffic_verb_sends(c->verb)))
		return "count mode requires SEND over UC or UD";
	if (c->message_bytes < TRAFFIC_CHECKED_MIN && unreliable)
		return "UC and UD need messages of at least 64 bytes, to hold a sequence number";
	if (c->message_bytes < TRAFFIC_CHECKED_MIN && c->check != TRAFFIC_CHECK_NONE &&
	    c->verb != TRAFFIC_ATOMIC)
		return "messages of less than 64 bytes cannot be checked: use check none";
	if (c->probe && (unreliable || (c->verb != TRAFFIC_SEND && c->verb != TRAFFIC_WRITE_IMM &&
					c->verb != TRAFFIC_WRITE)))
		return "latency requires write, write_imm or send over RC or XRC";
	if (c->probe && c->direction == TRAFFIC_BOTH)
		return "latency starts at one host: direction both is not supported";
	return c->window & (c->window - 1) ? "the depth must be a power of two" : NULL;
}

static int spec_check_tcp(const struct traffic_spec *spec, struct err *e)
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
				       "TCP %u: ToS %u has ECN bits, which TCP sets itself: use "
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
		const char *fault = spec_class_fault(&spec->class[i], spec -> mode);

		if (!fault && spec->bringup == TRAFFIC_CM &&
		    (spec->class[i].transport != TRAFFIC_RC || spec->mode == TRAFFIC_STRICT))
			fault = "rdma_cm supports RC only, and not strict mode";
		if (fault)
			return err_set(e, -EINVAL, "traffic class %u: %s", i, fault);
		if (spec_check_flight(spec, i, e))
			return e->code;
	}
	if (traffic_spec_qps(spec) > TRAFFIC_QPS_MAX)
		return err_set(e, -EINVAL, "%u queue pairs: at most %u", traffic_spec_qps(spec),
			       TRAFFIC_QPS_MAX);
	return spec_check_tcp(spec, e);
}

static const struct json_row class_rows[] = {
	NUMBER(struct traffic_class, tos, 0, 255),
	NUMBER(struct traffic_class, sl, 0, 7),
	WORD(struct traffic_class, transport, ENUM_TRANSPORT),
	WORD(struct traffic_class, verb, ENUM_VERB),
	WORD(struct traffic_class, direction, ENUM_DIRECTION),
	WORD(struct traffic_class, check, ENUM_CHECK),
	BOOL(struct traffic_class, probe),
	NUMBER(struct traffic_class, qps, 1, TRAFFIC_QPS_MAX),
	NUMBER(struct traffic_class, message_bytes, TRAFFIC_MESSAGE_MIN, TRAFFIC_MESSAGE_MAX),
	NUMBER(struct traffic_class, window, 0, TRAFFIC_WINDOW_MAX),
	NUMBER(struct traffic_class, rate_bytes_per_s, 0, TRAFFIC_RATE_MAX),
	NUMBER(struct traffic_class, count, 0, JSON_UINT_MAX),
};

static const struct json_row spec_rows[] = {
	WORD(struct traffic_spec, role, ENUM_ROLE),
	WORD(struct traffic_spec, mode, ENUM_MODE),
	WORD(struct traffic_spec, bringup, ENUM_BRINGUP),
	TEXT(struct traffic_spec, ibdev),
	NUMBER(struct traffic_spec, ib_port, 1, 255),
	NUMBER(struct traffic_spec, gid_index, 0, 255),
	NUMBER(struct traffic_spec, duration_ms, 0, TRAFFIC_DURATION_MAX_MS),
	NUMBER(struct traffic_spec, seed, 0, JSON_UINT_MAX),
	NUMBER(struct traffic_spec, timeout, 0, 31),
	NUMBER(struct traffic_spec, mtu_bytes, 0, 4096),
	NUMBER(struct traffic_spec, threads, 1, TRAFFIC_THREADS_MAX),
	BOOL(struct traffic_spec, pin),
	BOOL(struct traffic_spec, huge_pages),
	OPTIONAL(struct traffic_spec, senders, 0, TRAFFIC_SENDERS_MAX),
	JSON_LIST_OF("classes", struct traffic_spec, class, JSON_ITEM(class_rows)),
	JSON_LIST_OF("tcp", struct traffic_spec, tcp, JSON_ITEM(traffic_tcp_rows),
		     .need = JSON_OPTIONAL),
};

json_t *traffic_spec_to_json(const struct traffic_spec *s)
{
	return json_rows_make(JSON_ROWS(spec_rows), s);
}

int traffic_spec_from_json(const json_t *json, struct traffic_spec *s, struct err *e)
{
	struct traffic_spec v = {0};
	int err = json_rows_read(json, JSON_ROWS(spec_rows), &v, e);

	if (!err && v.mtu_bytes && v.mtu_bytes < 256)
		err = err_set(e, -EINVAL, "'mtu_bytes': %u is less than 256", v.mtu_bytes);
	if (!err)
		err = traffic_spec_check(&v, e);
	if (err)
		return err;
	traffic_spec_bound(&v);
	*s = v;
	return 0;
}
