/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Option table of `probe client`, and the conversion of its options to a traffic spec. A class gets
 * each key that --class leaves out from the option of the same meaning, e.g. qps from --qp.
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

#define RATE_MAX_KBPS (TRAFFIC_RATE_MAX / 125)
#define TEXT_MAX      256
#define STRUCT_MAX    64 /* bytes of the largest struct that a key table fills */

/* Parses an enum word, upper or lower case: perftest writes RC. */
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
	err_set(e, -EINVAL, "%s: invalid value '%s': expected one of %s", option, text, list);
	return -EINVAL;
}

/* A row with the name of the key, and what its number is written in. */
struct key {
	struct json_row row;
	enum { KEY_PLAIN, KEY_SIZE, KEY_RATE } unit;
};

/* Keys of one option and the size of the struct that they fill. */
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

/* option: name of the option, for errors. */
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

/* Leaves *out untouched on failure. */
static int option_parse_list(const struct keys *keys, const char *text, void *out, struct err *e)
{
	char copy[TEXT_MAX], *rest = copy, *pair;
	_Alignas(max_align_t) char made[STRUCT_MAX];
	int err = 0;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return err_set(e, -EINVAL, "%s: value too long: more than %zu characters",
			       keys->option, sizeof(copy) - 1);
	memcpy(made, out, keys->size);
	while (!err && (pair = strsep(&rest, ",")))
		err = *pair ? option_parse_pair(keys, pair, made, e)
			    : err_set(e, -EINVAL, "%s: invalid value '%s': remove the extra comma",
				      keys->option, text);
	if (!err)
		memcpy(out, made, keys->size);
	return err;
}

int probe_class_parse(const char *text, struct traffic_class *class, struct err *e)
{
	return option_parse_list(&class_option, text, class, e);
}

#define SIZE_DEFAULT  65536u
#define SIZE_COUNT    1024u /* count mode: one packet at an Ethernet MTU of 1500 */
#define DURATION_MS   10000u
#define SIZE_RUN_MS   1000u  /* per size of a sweep */
#define SIZE_COUNT_MS 10000u /* per size of a sweep with --iters, at most */

struct probe_options probe_options = {
	.ib_port = PROBE_UNSET,
	.gid_index = PROBE_UNSET,
	.remote_gid_index = PROBE_UNSET,
	.port = PROBE_PORT,
	.qps = 1,
	.threads = 1,
	.report = VERDICT_DEFAULTS,
};

#define C probe_options

const struct opt probe_client_opts[] = {
	{"port", 'p', OPT_UINT, &C.port, 1, 65535, .arg = "PORT",
	 .help = "TCP port of the server (default 18515)", .group = "Server and devices"},
	{"token-file", 0, OPT_STRING, &C.token_file, .arg = "FILE",
	 .help = "file with the token, or lines 'HOST TOKEN' (-: standard input)"},
	{"ib-dev", 'd', OPT_STRING, &C.device, .arg = "DEV",
	 .help = "RDMA or network device of this host (default: same subnet as the server)"},
	{"ib-port", 'i', OPT_UINT, &C.ib_port, 1, 255, .arg = "N",
	 .help = "port of this host's RDMA device (default: an active one)"},
	{"gid-index", 'x', OPT_UINT, &C.gid_index, 0, 255, .arg = "N",
	 .help = "GID index of this host (default: RoCE v2 of the common subnet)"},
	{"mtu", 'm', OPT_UINT, &C.mtu, 256, 4096, .arg = "BYTES",
	 .help = "RDMA MTU of the run (default: MTU of both ports)"},
	{"rdma_cm", 'R', OPT_FLAG, &C.cm, .help = "connect queue pairs with rdma_cm"},
	{"peer-dev", 0, OPT_STRING, &C.remote_device, .arg = "DEV",
	 .help = "RDMA or network device of the server (default: same subnet as this host)"},
	{"peer-gid-index", 0, OPT_UINT, &C.remote_gid_index, 0, 255, .arg = "N",
	 .help = "GID index of the server (default: RoCE v2 of the common subnet)"},
	{"peer-address", 0, OPT_STRING, &C.remote_address, .arg = "ADDRESSES",
	 .help = "also allow traffic to ADDRESS[/LENGTH],... (default: only the server's)"},
	{"mode", 0, OPT_STRING, &C.mode, .arg = "MODE",
	 .help = "observe (default): RC as applications use it; strict: RC without retransmission, "
		 "stops at a loss; count: UC or UD, counts the lost messages",
	 .group = "Load"},
	{"connection", 'c', OPT_STRING, &C.transport, .arg = "TYPE",
	 .help = "transport: RC (default; UC with --mode count), UC, UD or XRC"},
	{"verb", 0, OPT_STRING, &C.verb, .arg = "VERB",
	 .help = "write (default; send with UD or --mode count), write_imm, read, send, send_imm, "
		 "atomic"},
	{"size", 's', OPT_STRING, &C.size, .arg = "BYTES",
	 .help = "message size (default 64KiB; 1KiB with UD or --mode count; 64 with --latency)"},
	{"all", 'a', OPT_FLAG, &C.all_sizes,
	 .help = "run each message size from 2 bytes to 8 MiB, with a verdict for each"},
	{"sizes", 0, OPT_STRING, &C.sizes, .arg = "A-B",
	 .help = "run each message size from A to B, such as 64-1MiB, with a verdict for each"},
	{"qp", 'q', OPT_UINT, &C.qps, 1, TRAFFIC_QPS_MAX, .arg = "N",
	 .help = "number of queue pairs (default 1)"},
	{"tx-depth", 't', OPT_UINT, &C.depth, 1, TRAFFIC_WINDOW_MAX, .arg = "N",
	 .help = "outstanding messages per queue pair, a power of two (default: by message size)"},
	{"duration", 'D', OPT_STRING, &C.duration, .arg = "TIME",
	 .help = "run time: 500ms, 10s or 10, 2m; 0 = until Ctrl-C (default 10s)"},
	{"iters", 'n', OPT_STRING, &C.count, .arg = "N",
	 .help = "end after N messages per queue pair (default: end after --duration)"},
	{"rate", 0, OPT_STRING, &C.rate, .arg = "RATE",
	 .help = "rate limit per class in bit/s, such as 2G (default: no limit)"},
	{"direction", 0, OPT_STRING, &C.direction, .arg = "DIR",
	 .help = "host that posts requests: forward = this host (default), backward = server, "
		 "both"},
	{"bidirectional", 'b', OPT_FLAG, &C.both_ways, .help = "same as --direction both"},
	{"incast", 0, OPT_FLAG, &C.incast,
	 .help = "all HOSTs send to this host and start at the same time"},
	{"tos", 'T', OPT_UINT, &C.tos, 0, 255, .arg = "N",
	 .help = "ToS byte of the IP header: DSCP * 4 + ECN (default 0)"},
	{"sl", 'S', OPT_UINT, &C.sl, 0, 7, .arg = "N",
	 .help = "IB service level, the priority (default 0)"},
	{"class", 0, OPT_LIST, &C.classes, .arg = "KEY=VALUE,...",
	 .help = "traffic class, such as tos=104,qps=4,rate=2G (repeatable)"},
	{"tcp", 0, OPT_LIST, &C.tcp, .arg = "KEY=VALUE,...",
	 .help = "parallel TCP streams, such as tos=0,streams=4,rate=1G (repeatable)"},
	{"qp-timeout", 'u', OPT_UINT, &C.timeout, 1, 31, .arg = "N",
	 .help = "ACK timeout of 4.096 us * 2^N (default 16; 14 with --mode strict; Soft-RoCE 18)"},
	{"threads", 0, OPT_UINT, &C.threads, 1, TRAFFIC_THREADS_MAX, .arg = "N",
	 .help = "threads that send and receive (default 1)"},
	{"pin", 0, OPT_FLAG, &C.pin, .help = "pin threads to cores of the NIC's NUMA node"},
	{"use_hugepages", 0, OPT_FLAG, &C.huge_pages, .help = "put buffers in huge pages"},
	{"check", 0, OPT_STRING, &C.check, .arg = "HOW",
	 .help = "payload check: none, sampled (default) or every", .group = "Checks"},
	{"latency", 0, OPT_FLAG, &C.probe, .help = "measure round trips of single messages"},
	{"marking", 0, OPT_FLAG, &C.marking,
	 .help = "after the run, check DSCP, ECN and MTU on arrival, in both directions"},
	{"sweep", 0, OPT_UINT, &C.sweep, 2, MARKING_PATHS_MAX, .arg = "N",
	 .help = "after the run, test N UDP source ports of the first class; one result per port"},
	{"baseline", 0, OPT_STRING, &C.idle, .arg = "TIME",
	 .help = "before the run, read the counters for TIME without traffic, to find foreign "
		 "traffic (default: run time; 0 = off)"},
	{"explain", 0, OPT_FLAG, &C.explain, .help = "explain the planned run, send nothing",
	 .group = "Output"},
	{"out", 0, OPT_STRING, &C.out_dir, .arg = "DIR",
	 .help = "save the record of the run in DIR"},
	VERDICT_FORMAT_OPT(C.report),
	VERDICT_OPTS(C.report),
	{"CPU-freq", 'F', OPT_FLAG, &C.ignored, .help = "no effect, only for scripts of perftest",
	 .group = "perftest"},
	{"report_gbits", 0, OPT_FLAG, &C.ignored,
	 .help = "no effect: the report always has both units"},
	{.name = NULL},
};

#undef C

/* A number without a unit means seconds, as in perftest. */
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

/* Fills a class from the options other than --class. */
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
	bool count = mode == TRAFFIC_COUNT; /* needs a transport without retransmission */
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

/* Sets default sizes; a message of a paced class must fit into its bytes in flight. */
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
		return err_set(e, -EINVAL, "--class: at most %u classes", TRAFFIC_CLASSES_MAX);
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

/* TCP streams default to the direction of the first class. */
static int option_make_tcp(const struct probe_options *c, struct traffic_spec *spec, struct err *e)
{
	const struct traffic_tcp defaults = {.streams = 1, .direction = spec->class[0].direction};
	int err = 0;

	if (c->tcp.count > TRAFFIC_TCP_MAX)
		return err_set(e, -EINVAL, "--tcp: at most %u", TRAFFIC_TCP_MAX);
	if (c->tcp.count && (c->sizes || c->all_sizes))
		return err_set(e, -EINVAL, "--tcp cannot be combined with %s",
			       c->sizes ? "--sizes" : "--all");
	spec->tcp_count = c->tcp.count;
	for (unsigned int i = 0; i < spec->tcp_count && !err; i++) {
		spec->tcp[i] = defaults;
		err = option_parse_list(&tcp_option, c->tcp.item[i], &spec->tcp[i], e);
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

/* Parses "64-1MiB". */
static int option_parse_sizes(const char *text, uint32_t least, uint32_t most,
			      struct pair_request *w, struct err *e)
{
	const char *dash = strchr(text, '-');
	char from[32];
	uint64_t a = 0, b = 0;
	int err;

	if (!dash ||
	    snprintf(from, sizeof(from), "%.*s", (int)(dash - text), text) >= (int)sizeof(from)) {
		return err_set(e, -EINVAL,
			       "--sizes: invalid range '%s': expected A-B, e.g. 64-1MiB", text);
	}
	err = units_bytes(from, least, most, &a, e);
	if (!err)
		err = units_bytes(dash + 1, a, TRAFFIC_MESSAGE_MAX, &b, e);
	if (err) {
		err_prefix(e, "--sizes");
		return err;
	}
	b = b < most ? b : most; /* UD: at most one packet */
	w->size_from = (uint32_t)a;
	w->size_to = (uint32_t)b;
	return 0;
}

/* Each size is one run, so each run needs an end. */
static int option_make_sizes(const struct probe_options *c, struct pair_request *w, struct err *e)
{
	const char *option = c->sizes ? "--sizes" : "--all";
	struct traffic_class *class = &w->spec.class[0];
	bool loses = class->transport == TRAFFIC_UC || class->transport == TRAFFIC_UD;
	uint32_t least = loses ? TRAFFIC_CHECKED_MIN : TRAFFIC_MESSAGE_MIN;
	uint32_t most = class->flight_bytes ? class->flight_bytes : TRAFFIC_MESSAGE_MAX;

	if (!c->sizes && !c->all_sizes)
		return 0;
	if (c->size || (c->sizes && c->all_sizes))
		return err_set(e, -EINVAL, "%s cannot be combined with %s: both set the size",
			       option, c->size ? "--size" : "--all");
	if (c->classes.count)
		return err_set(e, -EINVAL, "%s cannot be combined with --class", option);
	if (class->verb == TRAFFIC_ATOMIC)
		return err_set(e, -EINVAL,
			       "%s cannot be combined with --verb atomic: atomics have 8 bytes",
			       option);
	if (!w->spec.duration_ms)
		return err_set(e, -EINVAL,
			       "%s cannot be combined with --duration 0: each size needs an end",
			       option);
	w->size_from = least;
	w->size_to = most;
	return c->sizes ? option_parse_sizes(c->sizes, least, most, w, e) : 0;
}

static int option_index_or_any(unsigned int value)
{
	return value == PROBE_UNSET ? ENDPOINT_ANY : (int)value;
}

/* READ and atomics bring data to the requester: with direction backward that is the server. */
static int option_check_incast_class(const struct traffic_class *class, unsigned int i,
				     struct err *e)
{
	if (class->verb == TRAFFIC_READ || class->verb == TRAFFIC_ATOMIC) {
		err_set(e, -EINVAL, "--incast: class %u is %s, which sends no load to this host", i,
			class->verb == TRAFFIC_READ ? "READ" : "ATOMIC");
		err_hint(e, "use write, write_imm, send or send_imm");
		return -EINVAL;
	}
	if (class->direction != TRAFFIC_BACKWARD)
		return err_set(e, -EINVAL,
			       "--incast: class %u must have direction backward (the servers send)",
			       i);
	return 0;
}

/* Only this host's port is to be congested. */
static int option_check_incast(const struct probe_options *c, const struct pair_request *w,
			       struct err *e)
{
	const struct {
		const char *option;
		bool given;
		const char *why;
	} rows[] = {
		{"--marking", c->marking, "the datagrams of the servers would collide"},
		{"--sweep", c->sweep, "the datagrams of the servers would collide"},
		{"--sizes", c->sizes, "an incast is one run with one start"},
		{"--all", c->all_sizes, "an incast is one run with one start"},
	};
	int err = 0;

	for (size_t i = 0; c->incast && i < ARRAY_SIZE(rows); i++)
		if (rows[i].given) {
			err_set(e, -EINVAL, "%s cannot be combined with --incast: %s",
				rows[i].option, rows[i].why);
			err_hint(e, "run one probe per server with %s, without --incast",
				 rows[i].option);
			return -EINVAL;
		}
	for (unsigned int i = 0; c->incast && !err && i < w->spec.class_count; i++)
		err = option_check_incast_class(&w->spec.class[i], i, e);
	return err;
}

int probe_options_make(const struct probe_options *c, struct pair_request *w, struct err *e)
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
		return err_set(e, -EINVAL,
			       "--mtu: invalid RDMA MTU %u: expected 256, 512, 1024, 2048 or 4096",
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
