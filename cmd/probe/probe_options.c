/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options into traffic. What a class does not say itself it has from the options beside it.
 */
#include "cmd/probe/probe_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/probe/probe.h"
#include "probe/coord/incast.h"
#include "probe/io/destination.h"
#include "probe/traffic/traffic_words.h"
#include "profiles/base/units.h"
#include "profiles/yaml/diag.h"

/* Lists of KEY=VALUE by table: a row says where in its struct a key goes. */

#define RATE_MAX_KBPS (TRAFFIC_RATE_MAX / 125)
#define TEXT_MAX      256
#define STRUCT_MAX    64 /* bytes, of what is described */

/* One of the words of an enum, in either case: perftest writes RC. */
static int option_parse_word(const char *option, const char *text, const struct qos_word *words,
			     void *value, struct err *e)
{
	char list[160] = "", lower[32];
	size_t used = 0, i;

	for (i = 0; text[i] && i < sizeof(lower) - 1; i++)
		lower[i] = (char)tolower((unsigned char)text[i]);
	lower[i] = '\0';
	for (; words->word; words++) {
		if (!strcmp(words->word, lower)) {
			*(unsigned int *)value = words->value;
			return 0;
		}
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", words->word);
	}
	err_set(e, -EINVAL, "%s: '%s' is not accepted", option, text);
	err_hint(e, "write one of %s", list);
	return -EINVAL;
}

/* A row with the name of the key, and what its number is written in. */
struct key {
	struct json_row row;
	enum { KEY_PLAIN, KEY_SIZE, KEY_RATE } unit;
};

/* An option, and the struct that it fills. */
struct keys {
	const char *option;
	const struct key *key;
	size_t count, size;
};

#define NAMED(name, type, member, least, most)                                                     \
	JSON_ROW_AS(name, type, member, .kind = JSON_NUMBER, .min = least, .max = most)

static const struct key class_keys[] = {
	{.row = NUMBER(struct traffic_class, tos, 0, 255)},
	{.row = NUMBER(struct traffic_class, sl, 0, 7)},
	{.row = WORD(struct traffic_class, transport, ENUM_TRANSPORT)},
	{.row = WORD(struct traffic_class, verb, ENUM_VERB)},
	{.row = WORD(struct traffic_class, direction, ENUM_DIRECTION)},
	{.row = WORD(struct traffic_class, check, ENUM_CHECK)},
	{.row = NUMBER(struct traffic_class, qps, 1, TRAFFIC_QPS_MAX)},
	{.row = NAMED("size", struct traffic_class, message_bytes, TRAFFIC_MESSAGE_MIN,
		      TRAFFIC_MESSAGE_MAX),
	 .unit = KEY_SIZE},
	{.row = NAMED("depth", struct traffic_class, window, 1, TRAFFIC_WINDOW_MAX)},
	{.row = NAMED("rate", struct traffic_class, rate_bytes_per_s, 1, RATE_MAX_KBPS),
	 .unit = KEY_RATE},
	{.row = NUMBER(struct traffic_class, count, 1, INT64_MAX)},
	{.row = JSON_ROW_AS("latency", struct traffic_class, probe, .kind = JSON_BOOL)},
};

static const struct key tcp_keys[] = {
	{.row = NUMBER(struct traffic_tcp, tos, 0, 255)},
	{.row = NUMBER(struct traffic_tcp, streams, 1, TRAFFIC_STREAMS_MAX)},
	{.row = NAMED("rate", struct traffic_tcp, rate_bytes_per_s, 1, RATE_MAX_KBPS),
	 .unit = KEY_RATE},
	{.row = WORD(struct traffic_tcp, direction, ENUM_DIRECTION)},
};

#define KEYS(option, list, type)                                                                   \
	{                                                                                          \
		option, list, ARRAY_SIZE(list), sizeof(type)                                       \
	}
static const struct keys class_option = KEYS("--class", class_keys, struct traffic_class);
static const struct keys tcp_option = KEYS("--tcp", tcp_keys, struct traffic_tcp);
_Static_assert(sizeof(struct traffic_class) <= STRUCT_MAX, "STRUCT_MAX");
_Static_assert(sizeof(struct traffic_tcp) <= STRUCT_MAX, "STRUCT_MAX");

static int option_unknown_key(const struct keys *keys, const char *key, struct err *e)
{
	const char *names[ARRAY_SIZE(class_keys) + ARRAY_SIZE(tcp_keys) + 1], *near;
	char list[160] = "";
	size_t used = 0;

	for (size_t i = 0; i < keys->count; i++) {
		names[i] = keys->key[i].row.key;
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, " %s", names[i]);
	}
	names[keys->count] = NULL;
	near = diag_nearest(key, names);
	err_set(e, -EINVAL, "%s: unknown key '%s'", keys->option, key);
	if (near)
		err_hint(e, "did you mean '%s'?", near);
	else
		err_hint(e, "keys:%s", list);
	return -EINVAL;
}

/* option: what the value stands behind, for errors. */
static int option_store_key(const char *option, const struct key *k, const char *value, void *made,
			    struct err *e)
{
	const struct json_row *r = &k->row;
	void *at = (char *)made + r->offset;
	uint64_t number = 0;
	int err;

	if (r->kind == JSON_WORD)
		return option_parse_word(option, value, r->words, at, e);
	if (r->kind == JSON_BOOL) {
		*(bool *)at = true;
		return 0;
	}
	err = k->unit == KEY_SIZE   ? units_bytes(value, r->min, r->max, &number, e)
	      : k->unit == KEY_RATE ? units_rate(value, r->min, r->max, &number, e)
				    : units_number(value, r->min, r->max, &number, e);
	if (err)
		err_prefix(e, "%s", option);
	else
		uint_set(at, r->size, k->unit == KEY_RATE ? number * 125 : number);
	return err;
}

static const struct key *option_find_key(const struct keys *keys, const char *name)
{
	for (size_t i = 0; i < keys->count; i++)
		if (!strcmp(keys->key[i].row.key, name))
			return &keys->key[i];
	return NULL;
}

static int option_parse_pair(const struct keys *keys, char *pair, void *made, struct err *e)
{
	char *value = strchr(pair, '='), option[32];
	const struct key *k;

	if (value)
		*value++ = '\0';
	k = option_find_key(keys, pair);
	if (!k)
		return option_unknown_key(keys, pair, e);
	if (!value != (k->row.kind == JSON_BOOL))
		return err_set(e, -EINVAL, "%s: '%s' %s", keys->option, pair,
			       value ? "takes no value" : "needs a value");
	snprintf(option, sizeof(option), "%s %s", keys->option, k->row.key);
	return option_store_key(option, k, value, made, e);
}

/* Untouched on failure. */
static int option_parse_list(const struct keys *keys, const char *text, void *out, struct err *e)
{
	char copy[TEXT_MAX], *rest = copy, *pair;
	_Alignas(max_align_t) char made[STRUCT_MAX];
	int err = 0;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return err_set(e, -EINVAL, "%s: more than %zu characters", keys->option,
			       sizeof(copy) - 1);
	memcpy(made, out, keys->size);
	while (!err && (pair = strsep(&rest, ",")))
		err = *pair ? option_parse_pair(keys, pair, made, e)
			    : err_set(e, -EINVAL, "%s: '%s' has an empty part", keys->option, text);
	if (!err)
		memcpy(out, made, keys->size);
	return err;
}

int probe_class_parse(const char *text, struct traffic_class *class, struct err *e)
{
	return option_parse_list(&class_option, text, class, e);
}

int probe_tcp_parse(const char *text, struct traffic_tcp *tcp, struct err *e)
{
	return option_parse_list(&tcp_option, text, tcp, e);
}

#define SIZE_DEFAULT  65536u
#define SIZE_COUNT    1024u /* count mode: one packet, at the MTU of an Ethernet of 1500 */
#define DURATION_MS   10000u
#define SIZE_RUN_MS   1000u  /* of a sweep, each size */
#define SIZE_COUNT_MS 10000u /* the same with --iters, at the latest */

struct probe_options probe_options = {
	.ib_port = PROBE_UNSET,
	.gid_index = PROBE_UNSET,
	.remote_gid_index = PROBE_UNSET,
	.port = PROBE_PORT,
	.qps = 1,
	.threads = 1,
};

#define C probe_options

const struct opt probe_client_opts[] = {
	{"port", 'p', OPT_UINT, &C.port, 1, 65535, "PORT", "of the server, 18515", NULL},
	{"token-file", 0, OPT_STRING, &C.token_file, 0, 0, "FILE",
	 "the server's token, or a line 'HOST TOKEN' for each; - is stdin", NULL},
	{"ib-dev", 'd', OPT_STRING, &C.device, 0, 0, "DEV", "RDMA device or netdev of this host",
	 NULL},
	{"peer-dev", 0, OPT_STRING, &C.remote_device, 0, 0, "DEV", "of the server", NULL},
	{"ib-port", 'i', OPT_UINT, &C.ib_port, 1, 255, "N", "port of this host's device", NULL},
	{"gid-index", 'x', OPT_UINT, &C.gid_index, 0, 255, "N", "GID of this host", NULL},
	{"peer-gid-index", 0, OPT_UINT, &C.remote_gid_index, 0, 255, "N", "GID of the server",
	 NULL},
	{"peer-address", 0, OPT_STRING, &C.remote_address, 0, 0, "ADDRESS[/LENGTH],..",
	 "send traffic to these too, not to the server's address alone", NULL},
	{"mtu", 'm', OPT_UINT, &C.mtu, 256, 4096, "BYTES", "RDMA MTU, which both must reach", NULL},
	{"mode", 0, OPT_STRING, &C.mode, 0, 0, "MODE", "observe (default), strict or count", NULL},
	{"connection", 'c', OPT_STRING, &C.transport, 0, 0, "TYPE",
	 "RC (default), UC, UD, or XRC where the device has it", NULL},
	{"verb", 0, OPT_STRING, &C.verb, 0, 0, "VERB",
	 "write (default), write_imm, read, send, send_imm or atomic", NULL},
	{"size", 's', OPT_STRING, &C.size, 0, 0, "BYTES", "of a message: 64KiB", NULL},
	{"all", 'a', OPT_FLAG, &C.all_sizes, 0, 0, NULL,
	 "a run with each size from 2 to 2^23 bytes, with a verdict each", NULL},
	{"sizes", 0, OPT_STRING, &C.sizes, 0, 0, "A-B", "the same with sizes from A to B", NULL},
	{"qp", 'q', OPT_UINT, &C.qps, 1, TRAFFIC_QPS_MAX, "N", "queue pairs", NULL},
	{"tx-depth", 't', OPT_UINT, &C.depth, 1, TRAFFIC_WINDOW_MAX, "N",
	 "messages under way on a queue pair, a power of two", NULL},
	{"duration", 'D', OPT_STRING, &C.duration, 0, 0, "TIME",
	 "10 (seconds), 500ms, 2m; 0 = until Ctrl-C", NULL},
	{"iters", 'n', OPT_STRING, &C.count, 0, 0, "N", "messages of each queue pair", NULL},
	{"incast", 0, OPT_FLAG, &C.incast, 0, 0, NULL,
	 "all HOSTs write or send to this one, from one instant on", NULL},
	{"rate", 0, OPT_STRING, &C.rate, 0, 0, "RATE",
	 "bits per second of a class: 2G; without it a class is flat out", NULL},
	{"bidirectional", 'b', OPT_FLAG, &C.both_ways, 0, 0, NULL, "both ends send", NULL},
	{"direction", 0, OPT_STRING, &C.direction, 0, 0, "WAY", "forward, backward or both", NULL},
	{"tos", 'T', OPT_UINT, &C.tos, 0, 255, "N", "traffic class byte: DSCP * 4 + ECN", NULL},
	{"sl", 'S', OPT_UINT, &C.sl, 0, 7, "N", "service level: the priority", NULL},
	{"class", 0, OPT_LIST, &C.classes, 0, 0, "KEY=VALUE,...",
	 "a class of traffic; may be given again", NULL},
	{"tcp", 0, OPT_LIST, &C.tcp, 0, 0, "KEY=VALUE,...",
	 "TCP streams beside it: tos, streams, rate, direction; may be given again", NULL},
	{"latency", 0, OPT_FLAG, &C.probe, 0, 0, NULL, "one message at a time, there and back",
	 NULL},
	{"check", 0, OPT_STRING, &C.check, 0, 0, "HOW", "none, sampled (default) or every", NULL},
	{"threads", 0, OPT_UINT, &C.threads, 1, TRAFFIC_THREADS_MAX, "N", "that move data", NULL},
	{"pin", 0, OPT_FLAG, &C.pin, 0, 0, NULL, "each thread to a core of the NIC's node", NULL},
	{"use_hugepages", 0, OPT_FLAG, &C.huge_pages, 0, 0, NULL, "buffers in huge pages", NULL},
	{"rdma_cm", 'R', OPT_FLAG, &C.cm, 0, 0, NULL, "connect by the connection manager", NULL},
	{"qp-timeout", 'u', OPT_UINT, &C.timeout, 1, 31, "N", "ACK timeout 4.096 us * 2^N", NULL},
	{"marking", 0, OPT_FLAG, &C.marking, 0, 0, NULL,
	 "after it: DSCP, ECN bits and MTU as they arrive, both ways", NULL},
	{"sweep", 0, OPT_UINT, &C.sweep, 2, MARKING_PATHS_MAX, "N",
	 "the same from N UDP source ports, each with its verdict", NULL},
	{"baseline", 0, OPT_STRING, &C.idle, 0, 0, "TIME",
	 "idle counters before it; as long as the run, 0 = none", NULL},
	{"out", 0, OPT_STRING, &C.out_dir, 0, 0, "DIR", "keep the record there", NULL},
	{"explain", 0, OPT_FLAG, &C.explain, 0, 0, NULL, "say what would be measured, send nothing",
	 NULL},
	{"CPU-freq", 'F', OPT_FLAG, &C.ignored, 0, 0, NULL, "accepted as perftest's, no effect",
	 NULL},
	{"report_gbits", 0, OPT_FLAG, &C.ignored, 0, 0, NULL, "likewise: both units are printed",
	 NULL},
	{.name = NULL},
};

#undef C

/* perftest's are bare seconds. */
static int option_parse_time(const char *option, const char *text, uint32_t *ms, struct err *e)
{
	bool bare = !text[strspn(text, "0123456789")];
	uint64_t value;
	int err = bare ? units_number(text, 0, TRAFFIC_DURATION_MAX_MS / 1000, &value, e)
		       : units_duration(text, 0, TRAFFIC_DURATION_MAX_MS, &value, e);

	if (err) {
		err_prefix(e, "%s", option);
		return err;
	}
	if (bare)
		value *= 1000;
	*ms = (uint32_t)value;
	return 0;
}

/* What the options outside of --class say. */
static int option_make_default(const struct probe_options *c, enum traffic_mode mode,
			       struct traffic_class *class, struct err *e)
{
	const struct {
		const char *option, *text, *key;
	} given[] = {
		{"--connection", c->transport, "transport"},
		{"--verb", c->verb, "verb"},
		{"--direction", c->direction, "direction"},
		{"--check", c->check, "check"},
		{"--size", c->size, "size"},
		{"--rate", c->rate, "rate"},
		{"--iters", c->count, "count"},
	};
	bool count = mode == TRAFFIC_COUNT; /* needs what is not repeated */
	int err = 0;

	*class = (struct traffic_class){
		.tos = (uint8_t)c->tos,
		.sl = (uint8_t)c->sl,
		.transport = count ? TRAFFIC_UC : TRAFFIC_RC,
		.verb = count || (c->transport && !strcasecmp(c->transport, "ud")) ? TRAFFIC_SEND
										   : TRAFFIC_WRITE,
		.direction = c->both_ways ? TRAFFIC_BOTH
			     : c->incast  ? TRAFFIC_BACKWARD
					  : TRAFFIC_FORWARD,
		.check = TRAFFIC_CHECK_SAMPLED,
		.probe = c->probe,
		.qps = c->qps,
		.window = c->depth,
	};
	for (size_t i = 0; i < ARRAY_SIZE(given) && !err; i++)
		if (given[i].text)
			err = option_store_key(given[i].option,
					       option_find_key(&class_option, given[i].key),
					       given[i].text, class, e);
	return err;
}

static uint32_t option_default_size(const struct traffic_class *class, enum traffic_mode mode)
{
	if (class->probe || class->verb == TRAFFIC_ATOMIC)
		return TRAFFIC_CHECKED_MIN;
	return mode == TRAFFIC_COUNT || class->transport == TRAFFIC_UD ? SIZE_COUNT : SIZE_DEFAULT;
}

/* At a rate no message is larger than what may be under way. */
static void option_fill_sizes(struct traffic_spec *spec)
{
	traffic_spec_bound(spec);
	for (unsigned int i = 0; i < spec->class_count; i++) {
		struct traffic_class *class = &spec->class[i];
		uint32_t size = option_default_size(class, spec->mode);

		while (class->flight_bytes && size > class->flight_bytes &&
		       size > TRAFFIC_CHECKED_MIN)
			size /= 2;
		if (!class->message_bytes)
			class->message_bytes = size;
	}
}

static int option_make_classes(const struct probe_options *c, struct traffic_spec *spec,
			       struct err *e)
{
	struct traffic_class base;
	int err = option_make_default(c, spec->mode, &base, e);

	if (c->classes.count > TRAFFIC_CLASSES_MAX)
		return err_set(e, -EINVAL, "--class: more than %u", TRAFFIC_CLASSES_MAX);
	spec->class_count = c->classes.count ? c->classes.count : 1;
	for (unsigned int i = 0; i < spec->class_count && !err; i++) {
		spec->class[i] = base;
		if (c->classes.count)
			err = probe_class_parse(c->classes.item[i], &spec->class[i], e);
	}
	if (!err)
		option_fill_sizes(spec);
	return err;
}

/* Towards the same end as the classes. */
static int option_make_tcp(const struct probe_options *c, struct traffic_spec *spec, struct err *e)
{
	const struct traffic_tcp usual = {.streams = 1, .direction = spec->class[0].direction};
	int err = 0;

	if (c->tcp.count > TRAFFIC_TCP_MAX)
		return err_set(e, -EINVAL, "--tcp: more than %u", TRAFFIC_TCP_MAX);
	if (c->tcp.count && (c->sizes || c->all_sizes))
		return err_set(e, -EINVAL, "--tcp: not with %s", c->sizes ? "--sizes" : "--all");
	spec->tcp_count = c->tcp.count;
	for (unsigned int i = 0; i < spec->tcp_count && !err; i++) {
		spec->tcp[i] = usual;
		err = probe_tcp_parse(c->tcp.item[i], &spec->tcp[i], e);
	}
	return err;
}

static uint32_t option_default_duration(const struct probe_options *c)
{
	if (c->all_sizes || c->sizes)
		return c->count ? SIZE_COUNT_MS : SIZE_RUN_MS;
	return c->count ? 0 : DURATION_MS;
}

static int option_make_spec(const struct probe_options *c, struct traffic_spec *spec, struct err *e)
{
	int err = 0;

	*spec = (struct traffic_spec){
		.bringup = c->cm ? TRAFFIC_CM : TRAFFIC_RAW,
		.duration_ms = option_default_duration(c),
		.timeout = (uint8_t)c->timeout,
		.threads = (uint8_t)c->threads,
		.pin = c->pin,
		.huge_pages = c->huge_pages,
		.senders = c->incast && c->servers <= INCAST_MAX ? (uint16_t)c->servers : 0,
	};
	if (c->mode)
		err = option_parse_word("--mode", c->mode, traffic_words[ENUM_MODE], &spec->mode,
					e);
	if (!err && c->duration)
		err = option_parse_time("--duration", c->duration, &spec->duration_ms, e);
	if (!err)
		err = option_make_classes(c, spec, e);
	if (!err)
		err = option_make_tcp(c, spec, e);
	return err ? err : traffic_spec_check(spec, e);
}

/* "64-1MiB" */
static int option_parse_sizes(const char *text, uint32_t least, uint32_t most,
			      struct two_ended_wish *w, struct err *e)
{
	const char *dash = strchr(text, '-');
	char from[32];
	uint64_t a = 0, b = 0;
	int err;

	if (!dash ||
	    snprintf(from, sizeof(from), "%.*s", (int)(dash - text), text) >= (int)sizeof(from)) {
		err_set(e, -EINVAL, "--sizes: '%s' is no range", text);
		err_hint(e, "write it as 64-1MiB");
		return -EINVAL;
	}
	err = units_bytes(from, least, most, &a, e);
	if (!err)
		err = units_bytes(dash + 1, a, TRAFFIC_MESSAGE_MAX, &b, e);
	if (err) {
		err_prefix(e, "--sizes");
		return err;
	}
	b = b < most ? b : most; /* as UD ends at what a packet carries */
	w->size_from = (uint32_t)a;
	w->size_to = (uint32_t)b;
	return 0;
}

/* Each size is a run of its own, which has to end by itself. */
static int option_make_sizes(const struct probe_options *c, struct two_ended_wish *w, struct err *e)
{
	const char *option = c->sizes ? "--sizes" : "--all";
	struct traffic_class *class = &w->spec.class[0];
	bool loses = class->transport == TRAFFIC_UC || class->transport == TRAFFIC_UD;
	uint32_t least = loses ? TRAFFIC_CHECKED_MIN : TRAFFIC_MESSAGE_MIN;
	uint32_t most = class->flight_bytes ? class->flight_bytes : TRAFFIC_MESSAGE_MAX;

	if (!c->sizes && !c->all_sizes)
		return 0;
	if (c->size || (c->sizes && c->all_sizes))
		return err_set(e, -EINVAL, "%s: %s says another size", option,
			       c->size ? "--size" : "--all");
	if (c->classes.count)
		return err_set(e, -EINVAL,
			       "%s: the sizes are those of one class: leave --class out", option);
	if (class->verb == TRAFFIC_ATOMIC)
		return err_set(e, -EINVAL, "%s: an atomic has one size, 8 bytes", option);
	if (!w->spec.duration_ms)
		return err_set(e, -EINVAL,
			       "%s: without an end of the first size there is no "
			       "second one: --duration 0 is not accepted",
			       option);
	w->size_from = least;
	w->size_to = most;
	return c->sizes ? option_parse_sizes(c->sizes, least, most, w, e) : 0;
}

static int option_index_or_any(unsigned int value)
{
	return value == PROBE_UNSET ? ENDPOINT_ANY : (int)value;
}

/* A READ and an atomic bring data to the one that asks: backward, that is the server. */
static int option_check_incast_class(const struct traffic_class *class, unsigned int i,
				     struct err *e)
{
	if (class->verb == TRAFFIC_READ || class->verb == TRAFFIC_ATOMIC) {
		err_set(e, -EINVAL, "--incast: class %u is %s, which sends this host no load", i,
			class->verb == TRAFFIC_READ ? "READ" : "ATOMIC");
		err_hint(e, "use write, write_imm, send or send_imm");
		return -EINVAL;
	}
	if (class->direction != TRAFFIC_BACKWARD)
		return err_set(e, -EINVAL,
			       "--incast: class %u does not go backward, from the servers to this "
			       "host",
			       i);
	return 0;
}

/* Congestion is at this host's port alone. */
static int option_check_incast(const struct probe_options *c, const struct two_ended_wish *w,
			       struct err *e)
{
	const struct {
		const char *option;
		bool given;
		const char *why;
	} rows[] = {
		{"--marking", c->marking, "its datagrams would meet those of the other servers"},
		{"--sweep", c->sweep, "its datagrams would meet those of the other servers"},
		{"--sizes", c->sizes, "an incast is one load with one start"},
		{"--all", c->all_sizes, "an incast is one load with one start"},
	};
	int err = 0;

	for (size_t i = 0; c->incast && i < ARRAY_SIZE(rows); i++)
		if (rows[i].given) {
			err_set(e, -EINVAL, "%s: not with --incast: %s", rows[i].option,
				rows[i].why);
			err_hint(e, "probe each server by itself with %s, without --incast",
				 rows[i].option);
			return -EINVAL;
		}
	for (unsigned int i = 0; c->incast && !err && i < w->spec.class_count; i++)
		err = option_check_incast_class(&w->spec.class[i], i, e);
	return err;
}

int probe_options_make(const struct probe_options *c, struct two_ended_wish *w, struct err *e)
{
	struct destinations checked;
	int err = option_make_spec(c, &w->spec, e);

	if (!err)
		err = destinations_make(DESTINATION_OF_CLIENT, "::", c->remote_address, &checked,
					e);
	if (!err)
		err = option_make_sizes(c, w, e);
	if (!err)
		err = option_check_incast(c, w, e);
	if (err)
		return err;
	if (c->mtu & (c->mtu - 1))
		return err_set(e, -EINVAL, "--mtu: %u is none of 256, 512, 1024, 2048, 4096",
			       c->mtu);
	w->device[SIDE_CLIENT] = c->device;
	w->device[SIDE_SERVER] = c->remote_device;
	w->ib_port[SIDE_CLIENT] = option_index_or_any(c->ib_port);
	w->ib_port[SIDE_SERVER] = ENDPOINT_ANY;
	w->gid_index[SIDE_CLIENT] = option_index_or_any(c->gid_index);
	w->gid_index[SIDE_SERVER] = option_index_or_any(c->remote_gid_index);
	w->peer_address = c->remote_address;
	w->mtu_bytes = w->spec.mtu_bytes = (uint16_t)c->mtu;
	w->port = c->port;
	w->marking = c->marking;
	w->sweep = c->sweep;
	w->idle_ms = w->spec.duration_ms;
	return c->idle ? option_parse_time("--baseline", c->idle, &w->idle_ms, e) : 0;
}
