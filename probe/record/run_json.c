/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct run as rocecheck.run/1, both ways. Pairs name their ends by host and netdev, so that the
 * file can be read by people; unknown keys are ignored, wrong types and ranges are errors with
 * their path.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/record/run.h"
#include "probe/record/run_tcp.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"

#define HOSTS_MAX 65536
#define PORTS_MAX 256
#define PAIRS_MAX 4194304
/* Of all hosts, as the run and as both snapshots have them; one has some 15 KiB in memory. */
#define RUN_PORTS_MAX 262144

static const char *const reading_keys[READ_COUNT] = {
	[READ_QUIET_BEFORE] = "quiet_before",
	[READ_QUIET_AFTER] = "quiet_after",
	[READ_LOAD_BEFORE] = "load_before",
	[READ_LOAD_AFTER] = "load_after",
};

/* Appends the new reference; a failure shows in *err. */
static void json_push(json_t *array, json_t *item, int *err)
{
	if (!item || json_array_append_new(array, item))
		*err = -ENOMEM;
}

static void json_set(json_t *object, const char *key, json_t *item, int *err)
{
	if (!item || json_object_set_new(object, key, item))
		*err = -ENOMEM;
}

static json_t *json_finish(json_t *made, int err)
{
	if (!err)
		return made;
	json_decref(made);
	return NULL;
}

static json_t *run_port_to_json(const struct run_port *p)
{
	json_t *readings = json_object(), *out;
	int err = 0;

	for (unsigned int i = 0; i < READ_COUNT; i++) {
		if (p->has & 1u << i)
			json_set(readings, reading_keys[i], counters_to_json(&p->reading[i]), &err);
	}
	out = json_pack("{s:s, s:I, s:o, s:s, s:o}", "netdev", p->netdev, "rail",
			(json_int_t)p->rail, "readings", readings, "capture_file", p->capture_file,
			"capture_error", text_to_json(p->capture_error));
	if (p->has_capture)
		json_set(out, "capture", capture_summary_to_json(&p->capture), &err);
	return json_finish(out, err);
}

static json_t *run_host_to_json(const struct run_host *h)
{
	json_t *ports = json_array(), *out;
	int err = 0;

	for (unsigned int i = 0; i < h->port_count; i++)
		json_push(ports, run_port_to_json(&h->port[i]), &err);
	out = json_pack("{s:s, s:b, s:o, s:s, s:o}", "name", h->name, "reached", h->reached,
			"error", text_to_json(h->error), "agent_version", h->agent_version, "ports",
			ports);
	if (h->has_before)
		json_set(out, "before", snapshot_to_json(&h->before), &err);
	if (h->has_after)
		json_set(out, "after", snapshot_to_json(&h->after), &err);
	return json_finish(out, err);
}

static json_t *run_endpoint_to_json(const struct run *r, unsigned int host, unsigned int port,
				    uint8_t tos, const struct traffic_result *result)
{
	const struct run_host *h = &r->host[host];

	return json_pack("{s:s, s:s, s:i, s:o}", "host", h->name, "netdev", h->port[port].netdev,
			 "tos", tos, "result", traffic_result_to_json(result));
}

static json_t *run_pair_to_json(const struct run *r, const struct run_pair *p)
{
	json_t *out;
	int err = 0;

	out = json_pack(
		"{s:s, s:I, s:b, s:o, s:o, s:o}", "verb", traffic_verb_word(p->verb),
		"asked_bytes_per_s", (json_int_t)p->asked_bytes_per_s, "ran", p->ran, "error",
		text_to_json(p->error), "client",
		run_endpoint_to_json(r, p->client_host, p->client_port, p->client_tos, &p->client),
		"server",
		run_endpoint_to_json(r, p->server_host, p->server_port, p->server_tos, &p->server));
	if (p->message_bytes)
		json_set(out, "message_bytes", json_integer(p->message_bytes), &err);
	run_tcp_to_json(p, out, &err);
	return json_finish(out, err);
}

json_t *run_to_json(const struct run *r)
{
	json_t *hosts = json_array(), *pairs = json_array(), *out;
	int err = 0;

	for (unsigned int i = 0; i < r->host_count; i++)
		json_push(hosts, run_host_to_json(&r->host[i]), &err);
	for (unsigned int i = 0; i < r->pair_count; i++)
		json_push(pairs, run_pair_to_json(r, &r->pair[i]), &err);
	out = json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:b, s:I, s:o, s:o}", "schema", RUN_SCHEMA,
			"id", r->id, "fabric", text_to_json(r->fabric_name), "fabric_path",
			text_to_json(r->fabric_path), "started_unix_ns",
			(json_int_t)r->started_unix_ns, "ended_unix_ns",
			(json_int_t)r->ended_unix_ns, "traffic", r->traffic, "load_percent",
			(json_int_t)r->load_percent, "hosts", hosts, "pairs", pairs);
	return json_finish(out, err);
}

static int run_parse_readings(const json_t *json, struct run_port *p, struct err *e)
{
	const json_t *readings;
	int err = json_get_object(json, "readings", &readings, e);

	for (unsigned int i = 0; i < READ_COUNT && !err; i++) {
		const json_t *one = json_object_get(readings, reading_keys[i]);

		if (!one)
			continue;
		err = counters_from_json(one, &p->reading[i], e);
		if (err)
			err_prefix(e, "readings.%s", reading_keys[i]);
		else
			p->has |= 1u << i;
	}
	return err;
}

static int run_parse_port(const json_t *json, struct run_port *p, struct err *e)
{
	const json_t *capture = json_object_get(json, "capture");
	uint64_t rail = 0;
	int err = json_get_text(json, "netdev", p->netdev, sizeof(p->netdev), e);

	if (!err)
		err = json_get_uint(json, "rail", 0, UINT32_MAX, &rail, e);
	if (!err)
		err = json_get_text(json, "capture_file", p->capture_file, sizeof(p->capture_file),
				    e);
	if (!err)
		err = json_get_text(json, "capture_error", p->capture_error,
				    sizeof(p->capture_error), e);
	if (!err)
		err = run_parse_readings(json, p, e);
	if (!err && capture) {
		err = capture_summary_from_json(capture, &p->capture, e);
		p->has_capture = !err;
	}
	p->rail = (unsigned int)rail;
	return err;
}

static int run_parse_snapshot(const json_t *json, const char *key, struct snapshot *s, bool *has,
			      struct err *e)
{
	const json_t *one = json_object_get(json, key);
	int err = one ? snapshot_from_json(one, s, e) : 0;

	*has = one && !err;
	if (err)
		err_prefix(e, "%s", key);
	return err;
}

static int run_parse_ports(const json_t *json, struct run_host *h, struct err *e)
{
	const json_t *ports;
	int err = json_get_array(json, "ports", PORTS_MAX, &ports, e);

	if (err)
		return err;
	h->port = calloc(json_array_size(ports) + 1, sizeof(*h->port));
	if (!h->port)
		return err_sys(e, -ENOMEM, "ports");
	for (size_t i = 0; i < json_array_size(ports) && !err; i++) {
		h->port_count++;
		err = run_parse_port(json_array_get(ports, i), &h->port[i], e);
		if (err)
			err_prefix(e, "ports[%zu]", i);
	}
	return err;
}

static int run_parse_host(const json_t *json, struct run_host *h, struct err *e)
{
	int err = json_get_text(json, "name", h->name, sizeof(h->name), e);

	if (!err && !run_host_name_ok(h->name))
		err = err_set(e, -EINVAL, "'name': '%s' cannot be the name of a host", h->name);
	if (!err)
		err = json_get_bool(json, "reached", &h->reached, e);
	if (!err)
		err = json_get_text(json, "error", h->error, sizeof(h->error), e);
	if (!err)
		err = json_get_text(json, "agent_version", h->agent_version,
				    sizeof(h->agent_version), e);
	if (!err)
		err = run_parse_ports(json, h, e);
	if (!err)
		err = run_parse_snapshot(json, "before", &h->before, &h->has_before, e);
	return err ? err : run_parse_snapshot(json, "after", &h->after, &h->has_after, e);
}

/* Where host and netdev of a pair's end are in the run. */
static int run_find_endpoint(const struct run_index *index, const json_t *json, unsigned int *host,
			     unsigned int *port, struct err *e)
{
	const char *name = json_string_value(json_object_get(json, "host"));
	const char *netdev = json_string_value(json_object_get(json, "netdev"));

	if (!name || !netdev || run_index_find(index, name, netdev, host, port))
		return err_set(e, -EINVAL, "no host and port of this run");
	return 0;
}

static int run_parse_endpoint(const struct run_index *index, const json_t *json, const char *key,
			      unsigned int *host, unsigned int *port, uint8_t *tos,
			      struct traffic_result *result, struct err *e)
{
	const json_t *end = json_object_get(json, key);
	uint64_t value = 0;
	int err = run_find_endpoint(index, end, host, port, e);

	if (!err)
		err = json_get_uint(end, "tos", 0, 255, &value, e);
	if (!err)
		err = traffic_result_from_json(json_object_get(end, "result"), result, e);
	*tos = (uint8_t)value;
	if (err)
		err_prefix(e, "%s", key);
	return err;
}

static int run_parse_pair(const struct run_index *index, const json_t *json, struct run_pair *p,
			  struct err *e)
{
	uint64_t bytes = 0;
	int err = traffic_verb_from_json(json, "verb", &p->verb, e);

	if (!err)
		err = json_get_uint_or(json, "message_bytes", 0, 0, TRAFFIC_MESSAGE_MAX, &bytes, e);
	p->message_bytes = (uint32_t)bytes;
	if (!err)
		err = json_get_uint(json, "asked_bytes_per_s", 0, JSON_UINT_MAX,
				    &p->asked_bytes_per_s, e);
	if (!err)
		err = json_get_bool(json, "ran", &p->ran, e);
	if (!err)
		err = json_get_text(json, "error", p->error, sizeof(p->error), e);
	if (!err)
		err = run_parse_endpoint(index, json, "client", &p->client_host, &p->client_port,
					 &p->client_tos, &p->client, e);
	if (!err)
		err = run_parse_endpoint(index, json, "server", &p->server_host, &p->server_port,
					 &p->server_tos, &p->server, e);
	if (!err)
		err = run_tcp_from_json(json, p, e);
	if (err)
		run_pair_clear(p);
	return err;
}

static size_t run_count_ports(const json_t *json, const char *key)
{
	return json_array_size(json_object_get(json_object_get(json, key), "ports"));
}

/* Counted before the first of them is stored: it may have less than 40 bytes in the document. */
static int run_check_port_count(const json_t *hosts, struct err *e)
{
	size_t ports = 0;

	for (size_t i = 0; i < json_array_size(hosts); i++) {
		const json_t *host = json_array_get(hosts, i);

		ports += json_array_size(json_object_get(host, "ports"));
		ports += run_count_ports(host, "before") + run_count_ports(host, "after");
	}
	if (ports > RUN_PORTS_MAX)
		return err_set(e, -E2BIG, "'hosts': %zu ports, at most %d are possible", ports,
			       RUN_PORTS_MAX);
	return 0;
}

static int run_parse_hosts(const json_t *json, struct run *r, struct err *e)
{
	const json_t *hosts;
	int err = json_get_array(json, "hosts", HOSTS_MAX, &hosts, e);

	if (!err)
		err = run_check_port_count(hosts, e);
	if (err)
		return err;
	r->host = calloc(json_array_size(hosts) + 1, sizeof(*r->host));
	if (!r->host)
		return err_sys(e, -ENOMEM, "hosts");
	for (size_t i = 0; i < json_array_size(hosts) && !err; i++) {
		r->host_count++;
		err = run_parse_host(json_array_get(hosts, i), &r->host[i], e);
		if (err)
			err_prefix(e, "hosts[%zu]", i);
	}
	return err;
}

static int run_parse_pairs(const json_t *json, struct run *r, struct err *e)
{
	struct run_index index;
	const json_t *pairs;
	int err = json_get_array(json, "pairs", PAIRS_MAX, &pairs, e);

	if (err)
		return err;
	r->pair = calloc(json_array_size(pairs) + 1, sizeof(*r->pair));
	if (!r->pair || run_index_make(r, &index))
		return err_sys(e, -ENOMEM, "pairs");
	for (size_t i = 0; i < json_array_size(pairs) && !err; i++) {
		err = run_parse_pair(&index, json_array_get(pairs, i), &r->pair[i], e);
		if (err)
			err_prefix(e, "pairs[%zu]", i);
		else
			r->pair_count++;
	}
	run_index_clear(&index);
	return err;
}

static int run_parse_head(const json_t *json, struct run *r, struct err *e)
{
	const char *schema = json_string_value(json_object_get(json, "schema"));
	uint64_t started = 0, ended = 0, load = 0;
	int err;

	if (!schema || strcmp(schema, RUN_SCHEMA))
		return err_set(e, -EINVAL, "'schema': must be %s", RUN_SCHEMA);
	err = json_get_text(json, "id", r->id, sizeof(r->id), e);
	if (!err)
		err = json_get_text(json, "fabric", r->fabric_name, sizeof(r->fabric_name), e);
	if (!err)
		err = json_get_text(json, "fabric_path", r->fabric_path, sizeof(r->fabric_path), e);
	if (!err)
		err = json_get_uint(json, "started_unix_ns", 0, JSON_UINT_MAX, &started, e);
	if (!err)
		err = json_get_uint(json, "ended_unix_ns", 0, JSON_UINT_MAX, &ended, e);
	if (!err)
		err = json_get_bool(json, "traffic", &r->traffic, e);
	if (!err)
		err = json_get_uint(json, "load_percent", 0, 100, &load, e);
	r->started_unix_ns = (int64_t)started;
	r->ended_unix_ns = (int64_t)ended;
	r->load_percent = (unsigned int)load;
	return err;
}

int run_from_json(const json_t *json, struct run *r, struct err *e)
{
	struct run made = {0};
	int err = run_parse_head(json, &made, e);

	if (!err)
		err = run_parse_hosts(json, &made, e);
	if (!err)
		err = run_parse_pairs(json, &made, e);
	if (err) {
		run_clear(&made);
		return err;
	}
	*r = made;
	return 0;
}
