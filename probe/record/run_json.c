/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct run as rocecheck.run/1, both ways: a head, and JSON lines of its long lists, which are
 * written and read one by one. Pairs name their ends by host and netdev, so that people can read
 * them; unknown keys are ignored, wrong types and ranges are errors with their path.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/record/run.h"
#include "probe/record/run_tcp.h"
#include "probe/traffic/traffic_words.h"
#include "profiles/base/json_file.h"
#include "profiles/base/text.h"

#define HOSTS_MAX	 65536
#define PORTS_MAX	 256
#define PAIRS_MAX	 4194304
#define MARKING_PASS_MAX 9
/* Of all hosts, as the run and as both snapshots have them; one has some 15 KiB in memory. */
#define RUN_PORTS_MAX 262144

static const char *const reading_keys[READ_COUNT] = {
	[READ_QUIET_BEFORE] = "quiet_before",	  [READ_QUIET_AFTER] = "quiet_after",
	[READ_LOAD_BEFORE] = "load_before",	  [READ_LOAD_AFTER] = "load_after",
	[READ_INCAST_BEFORE] = "incast_before",	  [READ_INCAST_AFTER] = "incast_after",
	[READ_CONTROL_BEFORE] = "control_before", [READ_CONTROL_AFTER] = "control_after",
};

const struct qos_word run_stage_words[] = {
	{"quiet", STAGE_QUIET},
	{"marking", STAGE_MARKING},
	{"pairs", STAGE_PAIRS},
	{"incast", STAGE_INCAST},
	{"control", STAGE_CONTROL},
	{"shares", STAGE_SHARES},
	{NULL, 0},
};

#define SPARSE(type, member, most)                                                                 \
	JSON_ROW(type, member, .kind = JSON_NUMBER, .need = JSON_SPARSE, .max = most)

const struct qos_word run_phase_words[] = {
	{"load", PHASE_LOAD},
	{"incast", PHASE_INCAST},
	{"control", PHASE_CONTROL},
	{"canary", PHASE_CANARY},
	{"canary_beside", PHASE_CANARY_BESIDE},
	{"shares", PHASE_SHARES},
	{NULL, 0},
};

static json_t *run_readings_to_json(const struct run_port *p)
{
	json_t *readings = json_object();
	int err = 0;

	for (unsigned int i = 0; !err && i < READ_COUNT; i++)
		if (p->has & 1u << i)
			err = json_object_set_new(readings, reading_keys[i],
						  counters_to_json(&p->reading[i]));
	if (!err)
		return readings;
	json_decref(readings);
	return NULL;
}

/* A run of an earlier version read the counters once between two phases. */
static void run_split_reading(struct run_port *p, enum run_reading before)
{
	if (!(p->has & 1u << (before + 1)) || p->has & 1u << before ||
	    !(p->has & 1u << (before - 1)))
		return;
	p->reading[before] = p->reading[before - 1];
	p->has |= 1u << before;
}

static int run_readings_from_json(const json_t *json, struct run_port *p, struct err *e)
{
	int err = json_is_object(json) ? 0 : err_set(e, -EINVAL, "no object");

	for (unsigned int i = 0; i < READ_COUNT && !err; i++) {
		const json_t *one = json_object_get(json, reading_keys[i]);

		if (!one)
			continue;
		err = counters_from_json(one, &p->reading[i], e);
		if (err)
			err_prefix(e, "%s", reading_keys[i]);
		else
			p->has |= 1u << i;
	}
	run_split_reading(p, READ_INCAST_BEFORE);
	run_split_reading(p, READ_CONTROL_BEFORE);
	return err;
}

static json_t *run_user_write(const void *element)
{
	return text_to_json(element);
}

static int run_user_read(const json_t *value, void *element, struct err *e)
{
	const char *text = json_string_value(value);

	if (!text)
		return err_set(e, -EINVAL, "must be a text");
	snprintf(element, sizeof(((struct run_port *)0)->user[0]), "%s", text);
	return 0;
}

JSON_FUNCTIONS(run_readings)
JSON_FUNCTIONS(capture_summary)
JSON_FUNCTIONS(snapshot)

static const struct json_row late_rows[] = {
	NUMBER(struct run_late, pauses, 0, JSON_UINT_MAX),
	NUMBER(struct run_late, cnps, 0, JSON_UINT_MAX),
};

static const struct json_row port_rows[] = {
	TEXT(struct run_port, netdev),
	NUMBER(struct run_port, rail, 0, UINT32_MAX),
	JSON_SELF("readings", JSON_BY(run_readings)),
	TEXT(struct run_port, capture_file),
	TEXT(struct run_port, capture_error),
	JSON_ROW(struct run_port, breaker, .kind = JSON_TEXT, .need = JSON_SPARSE),
	JSON_LIST_USED("users", struct run_port, user, user_count, .need = JSON_SPARSE,
		       .write = run_user_write, .read = run_user_read),
	SPARSE(struct run_port, users_left, UINT16_MAX),
	JSON_ROW(struct run_port, late, .kind = JSON_STRUCT, .need = JSON_SPARSE,
		 JSON_ITEM(late_rows), JSON_USED(struct run_port, late.known)),
	JSON_ROW(struct run_port, capture, .kind = JSON_STRUCT, .need = JSON_SPARSE,
		 JSON_BY(capture_summary), JSON_USED(struct run_port, has_capture)),
};

static const struct json_row host_rows[] = {
	TEXT(struct run_host, name),
	BOOL(struct run_host, reached),
	TEXT(struct run_host, error),
	TEXT(struct run_host, agent_version),
	JSON_ROW(struct run_host, boot_id, .kind = JSON_TEXT, .need = JSON_SPARSE),
	JSON_ALLOCATED_OF("ports", struct run_host, port, PORTS_MAX, JSON_ITEM(port_rows)),
	JSON_ROW(struct run_host, before, .kind = JSON_STRUCT, .need = JSON_SPARSE,
		 JSON_BY(snapshot), JSON_USED(struct run_host, has_before)),
	JSON_ROW(struct run_host, after, .kind = JSON_STRUCT, .need = JSON_SPARSE,
		 JSON_BY(snapshot), JSON_USED(struct run_host, has_after)),
};

static const struct json_row job_rows[] = {
	TEXT(struct run_job, command),
	NUMBER(struct run_job, exit_code, 0, UINT8_MAX),
	JSON_ROW(struct run_job, stopped, .kind = JSON_BOOL, .need = JSON_SPARSE),
};

static const struct json_row run_rows[] = {
	TEXT(struct run, id),
	JSON_ROW_AS("fabric", struct run, fabric_name, .kind = JSON_TEXT),
	TEXT(struct run, fabric_path),
	NUMBER(struct run, started_unix_ns, 0, JSON_UINT_MAX),
	NUMBER(struct run, ended_unix_ns, 0, JSON_UINT_MAX),
	BOOL(struct run, traffic),
	JSON_ROW(struct run, continued, .kind = JSON_BOOL, .need = JSON_SPARSE),
	JSON_ROW(struct run, job, .kind = JSON_STRUCT, .need = JSON_SPARSE, JSON_ITEM(job_rows),
		 JSON_USED(struct run, has_job)),
	JSON_ROW(struct run, level, .kind = JSON_WORD, .need = JSON_OPTIONAL,
		 .words = fabric_level_words),
	JSON_ROW(struct run, maintenance, .kind = JSON_NUMBER, .need = JSON_SPARSE, .max = 255),
	NUMBER(struct run, load_percent, 0, 100),
	JSON_ROW(struct run, profile_sum, .kind = JSON_TEXT, .need = JSON_SPARSE),
	JSON_ROW(struct run, thresholds_sum, .kind = JSON_TEXT, .need = JSON_SPARSE),
};

/* The ends stand between these, by the names of their host and port. */
static const struct json_row run_pair_rows[] = {
	WORD(struct run_pair, verb, ENUM_VERB),
	NUMBER(struct run_pair, asked_bytes_per_s, 0, JSON_UINT_MAX),
	BOOL(struct run_pair, ran),
	TEXT(struct run_pair, error),
};

static const struct json_row sparse_rows[] = {
	JSON_ROW(struct run_pair, phase, .kind = JSON_WORD, .need = JSON_SPARSE,
		 .words = run_phase_words),
	SPARSE(struct run_pair, prio, QOS_PRIOS - 1),
	JSON_ROW(struct run_pair, strict, .kind = JSON_BOOL, .need = JSON_SPARSE),
	SPARSE(struct run_pair, losses, JSON_UINT_MAX),
	SPARSE(struct run_pair, p50_ns, JSON_UINT_MAX),
	SPARSE(struct run_pair, p99_ns, JSON_UINT_MAX),
	SPARSE(struct run_pair, message_bytes, TRAFFIC_MESSAGE_MAX),
};

/* One end of a pair or of a marking test, with one more member (reference stolen). */
static json_t *run_endpoint_to_json(const struct run *r, unsigned int host, unsigned int port,
				    uint8_t tos, const char *key, json_t *value)
{
	const struct run_host *h = &r->host[host];

	return json_pack("{s:s, s:s, s:i, s:o}", "host", h->name, "netdev", h->port[port].netdev,
			 "tos", tos, key, value);
}

/* Of the TCP backgrounds: an end that told nothing has no result. */
static int run_add_tcp(json_t *pair, const struct run_pair *p)
{
	json_t *asked = json_array(), *client = json_array(), *server = json_array();

	for (unsigned int i = 0; i < p->tcp_count; i++) {
		const struct run_tcp *tcp = &p->tcp[i];

		asked = json_list_add(asked, traffic_tcp_to_json(&tcp->asked));
		if (tcp->client.goodput.width_ns)
			client = json_list_add(client, traffic_tcp_result_to_json(&tcp->client));
		if (tcp->server.goodput.width_ns)
			server = json_list_add(server, traffic_tcp_result_to_json(&tcp->server));
	}
	return json_object_set_new(pair, "tcp", asked) |
	       json_object_set_new(json_object_get(pair, "client"), "tcp", client) |
	       json_object_set_new(json_object_get(pair, "server"), "tcp", server);
}

static json_t *run_pair_to_json(const struct run *r, const struct run_pair *p)
{
	json_t *out = json_rows_make(JSON_ROWS(run_pair_rows), p);

	if (!(json_object_set_new(out, "client",
				  run_endpoint_to_json(r, p->client_host, p->client_port,
						       p->client_tos, "result",
						       traffic_result_to_json(&p->client))) |
	      json_object_set_new(out, "server",
				  run_endpoint_to_json(r, p->server_host, p->server_port,
						       p->server_tos, "result",
						       traffic_result_to_json(&p->server))) |
	      json_rows_write(out, JSON_ROWS(sparse_rows), p) |
	      (p->tcp_count ? run_add_tcp(out, p) : 0)))
		return out;
	json_decref(out);
	return NULL;
}

JSON_FUNCTIONS(marking_finding)

static const struct json_row marking_rows[] = {
	BOOL(struct run_marking, ran),
	SPARSE(struct run_marking, pass, MARKING_PASS_MAX),
	TEXT(struct run_marking, error),
	JSON_ALLOCATED_OF("findings", struct run_marking, finding, MARKING_FINDINGS_MAX,
			  JSON_BY(marking_finding)),
};

static json_t *run_marking_to_json(const struct run *r, const struct run_marking *m)
{
	json_t *out = json_rows_make(JSON_ROWS(marking_rows), m);

	if (!(json_object_set_new(out, "client",
				  run_endpoint_to_json(r, m->client_host, m->client_port,
						       m->tos[SIDE_CLIENT], "arrived",
						       json_uint(m->arrived[SIDE_CLIENT]))) |
	      json_object_set_new(out, "server",
				  run_endpoint_to_json(r, m->server_host, m->server_port,
						       m->tos[SIDE_SERVER], "arrived",
						       json_uint(m->arrived[SIDE_SERVER])))))
		return out;
	json_decref(out);
	return NULL;
}

static json_t *run_stages_to_json(unsigned int stages)
{
	json_t *out = json_array();

	for (unsigned int i = 0; i < STAGES; i++)
		if (stages & 1u << i)
			out = json_list_add(out, json_string(qos_word_text(run_stage_words, i)));
	return out;
}

/* A run of an earlier version names no phases. Unknown ones are of a later version. */
static int run_parse_stage_list(const json_t *json, struct run *r, struct err *e)
{
	const json_t *list = json_object_get(json, "phases");

	if (!list) {
		r->stages = r->traffic ? 1u << STAGE_PAIRS : 0;
		return 0;
	}
	if (!json_is_array(list))
		return err_set(e, -EINVAL, "'phases': must be a list of texts");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *word = json_string_value(json_array_get(list, i));
		int stage = word ? qos_word_value(run_stage_words, word) : -EINVAL;

		if (!word)
			return err_set(e, -EINVAL, "'phases': must be a list of texts");
		if (stage >= 0)
			r->stages |= 1u << stage;
	}
	return 0;
}

/* Where host and netdev of an end are in the run, and its ToS. */
static int run_find_endpoint(const struct run_index *index, const json_t *json, unsigned int *host,
			     unsigned int *port, uint8_t *tos, struct err *e)
{
	const char *name = json_string_value(json_object_get(json, "host"));
	const char *netdev = json_string_value(json_object_get(json, "netdev"));
	uint64_t value = 0;
	int err;

	if (!name || !netdev || run_index_find(index, name, netdev, host, port))
		return err_set(e, -EINVAL, "no host and port of this run");
	err = json_get_uint(json, "tos", 0, 255, &value, e);
	*tos = (uint8_t)value;
	return err;
}

static int run_parse_endpoint(const struct run_index *index, const json_t *json, const char *key,
			      unsigned int *host, unsigned int *port, uint8_t *tos,
			      struct traffic_result *result, struct err *e)
{
	const json_t *end = json_object_get(json, key);
	int err = run_find_endpoint(index, end, host, port, tos, e);

	if (!err)
		err = traffic_result_from_json(json_object_get(end, "result"), result, e);
	if (err)
		err_prefix(e, "%s", key);
	return err;
}

static int run_parse_tcp(const json_t *json, struct run_pair *p, struct err *e)
{
	static const char *const ends[] = {"client", "server"};
	struct traffic_tcp asked[TRAFFIC_TCP_MAX];
	const json_t *list = NULL;
	int err = json_get_array(json, "tcp", TRAFFIC_TCP_MAX, &list, e);

	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		err = traffic_tcp_from_json(json_array_get(list, i), &asked[i], e);
		if (err)
			err_prefix(e, "tcp[%zu]", i);
	}
	if (!err && run_tcp_alloc(p, asked, (unsigned int)json_array_size(list)))
		err = err_sys(e, -ENOMEM, "pairs");
	for (unsigned int side = 0; !err && side < ARRAY_SIZE(ends); side++) {
		err = run_tcp_parse_report(p, side == 0, json_object_get(json, ends[side]), e);
		if (err)
			err_prefix(e, "%s", ends[side]);
	}
	return err;
}

static int run_parse_pair(const struct run_index *index, const json_t *json, struct run_pair *p,
			  struct err *e)
{
	int err = json_rows_read(json, JSON_ROWS(run_pair_rows), p, e);

	if (!err)
		err = json_rows_read(json, JSON_ROWS(sparse_rows), p, e);
	if (!err)
		err = run_parse_endpoint(index, json, "client", &p->client_host, &p->client_port,
					 &p->client_tos, &p->client, e);
	if (!err)
		err = run_parse_endpoint(index, json, "server", &p->server_host, &p->server_port,
					 &p->server_tos, &p->server, e);
	if (!err && json_object_get(json, "tcp"))
		err = run_parse_tcp(json, p, e);
	if (err)
		run_pair_clear(p);
	return err;
}

static int run_parse_marking_end(const struct run_index *index, const json_t *json, const char *key,
				 unsigned int *host, unsigned int *port, uint8_t *tos,
				 uint32_t *arrived, struct err *e)
{
	const json_t *end = json_object_get(json, key);
	uint64_t value = 0;
	int err = run_find_endpoint(index, end, host, port, tos, e);

	if (!err)
		err = json_get_uint(end, "arrived", 0, UINT32_MAX, &value, e);
	*arrived = (uint32_t)value;
	if (err)
		err_prefix(e, "%s", key);
	return err;
}

static int run_parse_marking(const struct run_index *index, const json_t *json,
			     struct run_marking *m, struct err *e)
{
	int err = run_parse_marking_end(index, json, "client", &m->client_host, &m->client_port,
					&m->tos[SIDE_CLIENT], &m->arrived[SIDE_CLIENT], e);

	if (!err)
		err = run_parse_marking_end(index, json, "server", &m->server_host, &m->server_port,
					    &m->tos[SIDE_SERVER], &m->arrived[SIDE_SERVER], e);
	return err ? err : json_rows_read(json, JSON_ROWS(marking_rows), m, e);
}

/* What is read of the lists of a run, item by item. */
struct run_reader {
	struct run *r;
	struct run_index index; /* of its hosts */
	size_t ports;
};

static size_t run_count_ports(const json_t *json, const char *key)
{
	return json_array_size(json_object_get(json_object_get(json, key), "ports"));
}

/* Counted before they are stored: a port may have less than 40 bytes in the document. */
static int run_count_host(struct run_reader *x, const json_t *json, struct err *e)
{
	x->ports += json_array_size(json_object_get(json, "ports"));
	x->ports += run_count_ports(json, "before") + run_count_ports(json, "after");
	if (x->ports > RUN_PORTS_MAX)
		return err_set(e, -E2BIG, "%zu ports, at most %d are possible", x->ports,
			       RUN_PORTS_MAX);
	return 0;
}

static int run_read_host(const json_t *json, void *arg, struct err *e)
{
	struct run_reader *x = arg;
	struct run *r = x->r;
	struct run_host *h;
	int err = run_count_host(x, json, e);

	if (err)
		return err;
	h = list_grow(r->host, r->host_count, sizeof(*h));
	if (!h)
		return err_sys(e, -ENOMEM, "hosts");
	r->host = h;
	h += r->host_count++;
	memset(h, 0, sizeof(*h));
	err = json_rows_read(json, JSON_ROWS(host_rows), h, e);
	if (!err && !run_host_name_ok(h->name))
		err = err_set(e, -EINVAL, "'name': '%s' cannot be the name of a host", h->name);
	return err;
}

static int run_read_pair(const json_t *json, void *arg, struct err *e)
{
	struct run_reader *x = arg;
	struct run *r = x->r;
	struct run_pair *p = list_grow(r->pair, r->pair_count, sizeof(*p));
	int err;

	if (!p)
		return err_sys(e, -ENOMEM, "pairs");
	r->pair = p;
	p += r->pair_count;
	memset(p, 0, sizeof(*p));
	err = run_parse_pair(&x->index, json, p, e);
	r->pair_count += !err;
	return err;
}

static int run_read_marking(const json_t *json, void *arg, struct err *e)
{
	struct run_reader *x = arg;
	struct run *r = x->r;
	struct run_marking *m = list_grow(r->marking, r->marking_count, sizeof(*m));

	if (!m)
		return err_sys(e, -ENOMEM, "marking");
	r->marking = m;
	m += r->marking_count++;
	memset(m, 0, sizeof(*m));
	return run_parse_marking(&x->index, json, m, e);
}

static json_t *run_make_host(size_t i, const void *arg)
{
	const struct run *r = arg;

	return json_rows_make(JSON_ROWS(host_rows), &r->host[i]);
}

static json_t *run_make_pair(size_t i, const void *arg)
{
	const struct run *r = arg;

	return run_pair_to_json(r, &r->pair[i]);
}

static json_t *run_make_marking(size_t i, const void *arg)
{
	const struct run *r = arg;

	return run_marking_to_json(r, &r->marking[i]);
}

/* The long lists: lines of a file each, and lists of one document for run_to_json(). Hosts come
 * first, because the others name them. */
static const struct run_list {
	const char *key, *file;
	size_t count; /* offset in struct run */
	unsigned int max;
	bool optional; /* a run of an earlier version has none */
	json_make_item *make;
	json_line *read;
} run_lists[] = {
	{"hosts", "hosts.jsonl", offsetof(struct run, host_count), HOSTS_MAX, false, run_make_host,
	 run_read_host},
	{"pairs", "pairs.jsonl", offsetof(struct run, pair_count), PAIRS_MAX, false, run_make_pair,
	 run_read_pair},
	{"marking", "marking.jsonl", offsetof(struct run, marking_count), PAIRS_MAX, true,
	 run_make_marking, run_read_marking},
};

static unsigned int run_list_count(const struct run *r, const struct run_list *l)
{
	unsigned int count;

	memcpy(&count, (const char *)r + l->count, sizeof(count));
	return count;
}

static json_t *run_head_to_json(const struct run *r)
{
	json_t *out = json_pack("{s:s}", "schema", RUN_SCHEMA);

	if (!(json_rows_write(out, JSON_ROWS(run_rows), r) |
	      json_object_set_new(out, "phases", run_stages_to_json(r->stages))))
		return out;
	json_decref(out);
	return NULL;
}

json_t *run_to_json(const struct run *r)
{
	json_t *out = run_head_to_json(r);
	int err = !out;

	for (unsigned int k = 0; k < ARRAY_SIZE(run_lists); k++) {
		json_t *list = json_array();

		for (unsigned int i = 0; i < run_list_count(r, &run_lists[k]); i++)
			list = json_list_add(list, run_lists[k].make(i, r));
		err |= json_object_set_new(out, run_lists[k].key, list);
	}
	if (!err)
		return out;
	json_decref(out);
	return NULL;
}

/* The lines come first: a head finds those that it counts. */
int run_save_record(const struct run *r, const struct folder *folder, struct err *e)
{
	json_t *head = run_head_to_json(r);
	int err = 0;

	for (unsigned int k = 0; k < ARRAY_SIZE(run_lists) && !err; k++) {
		const struct run_list *l = &run_lists[k];
		unsigned int count = run_list_count(r, l);

		err = json_lines_save(count, l->make, r, folder, l->file, e);
		if (json_object_set_new(head, l->key, json_uint(count))) {
			json_decref(head);
			head = NULL; /* out of memory, which json_file_save_in() tells */
		}
	}
	if (!err)
		return json_file_save_in(head, folder, "run.json", e);
	json_decref(head);
	return err;
}

/* Lines of a file in dir, by their number in the head, or a list of the document. */
static int run_parse_list(struct run_reader *x, const json_t *json, const struct run_list *l,
			  const char *dir, struct err *e)
{
	const json_t *list = json_object_get(json, l->key);
	char path[PATH_MAX];
	uint64_t count;
	int err;

	if (dir && json_is_integer(list)) {
		err = json_get_uint(json, l->key, 0, l->max, &count, e);
		if (err || !count)
			return err;
		if (snprintf(path, sizeof(path), "%s/%s", dir, l->file) >= (int)sizeof(path))
			return err_sys(e, -ENAMETOOLONG, "%s", dir);
		return json_lines_load(path, l->file, RUN_BYTES_MAX, count, l->read, x, e);
	}
	err = json_get_array(json, l->key, l->max, &list, e);
	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		err = l->read(json_array_get(list, i), x, e);
		if (err)
			err_prefix(e, "%s[%zu]", l->key, i);
	}
	return err;
}

static int run_parse_lists(const json_t *json, const char *dir, struct run *r, struct err *e)
{
	struct run_reader x = {.r = r};
	int err = run_parse_list(&x, json, &run_lists[0], dir, e);

	if (!err && run_index_make(r, &x.index))
		err = err_sys(e, -ENOMEM, "run");
	for (unsigned int k = 1; k < ARRAY_SIZE(run_lists) && !err; k++)
		if (!run_lists[k].optional || json_object_get(json, run_lists[k].key))
			err = run_parse_list(&x, json, &run_lists[k], dir, e);
	run_index_clear(&x.index);
	return err;
}

int run_from_head(const json_t *json, const char *dir, struct run *r, struct err *e)
{
	const char *schema = json_string_value(json_object_get(json, "schema"));
	struct run made = {.level = LEVEL_STANDARD}; /* of a run that states none */
	int err;

	if (!schema || strcmp(schema, RUN_SCHEMA))
		return err_set(e, -EINVAL, "'schema': must be %s", RUN_SCHEMA);
	err = json_rows_read(json, JSON_ROWS(run_rows), &made, e);
	if (!err)
		err = run_parse_stage_list(json, &made, e);
	if (!err)
		err = run_parse_lists(json, dir, &made, e);
	if (err) {
		run_clear(&made);
		return err;
	}
	*r = made;
	return 0;
}

int run_from_json(const json_t *json, struct run *r, struct err *e)
{
	return run_from_head(json, NULL, r, e);
}
