/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck.snapshot/1. The plain members of struct snapshot and struct port are rows of two tables
 * that both directions walk; lists and the nested structs have a function each. Documents may be
 * foreign: keys that are not known are ignored, everything else is checked before it is stored.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/host/facts.h"
#include "probe/host/snapshot.h"
#include "profiles/base/json_file.h"
#include "profiles/base/json_take.h"
#include "profiles/base/text.h"
#include "profiles/yaml/diag.h"

#define SNAPSHOT_PORTS_MAX 1024

enum member_kind {
	MEMBER_TEXT, /* char[max] */
	MEMBER_NAME, /* as TEXT, but fit for a path and a terminal: no blank, '/', control */
	MEMBER_BOOL,
	MEMBER_U8,
	MEMBER_U32,
	MEMBER_S64,
};

struct member {
	const char *key;
	enum member_kind kind;
	size_t offset;
	uint32_t max; /* size of a text, largest number */
	bool needed;
};

/* clang-format off */
#define TEXT(s, key, m, kind, needed) \
	{key, MEMBER_##kind, offsetof(struct s, m), sizeof(((struct s *)0)->m), needed}
#define MEMBER(s, m, kind, max, needed) \
	{#m, MEMBER_##kind, offsetof(struct s, m), max, needed}

static const struct member snapshot_members[] = {
	TEXT(snapshot, "host", host, NAME, true),
	TEXT(snapshot, "kernel", kernel, TEXT, false),
	TEXT(snapshot, "rdma_core", rdma_core, TEXT, false),
	TEXT(snapshot, "version", version, TEXT, false),
	MEMBER(snapshot, taken_unix_ns, S64, 0, true),
	MEMBER(snapshot, privileged, BOOL, 0, false),
};

static const struct member port_members[] = {
	TEXT(port, "netdev", netdev, NAME, true),
	TEXT(port, "ibdev", ibdev, NAME, false),
	MEMBER(port, ib_port, U8, UINT8_MAX, false),
	TEXT(port, "driver", driver, TEXT, false),
	TEXT(port, "driver_version", driver_version, TEXT, false),
	TEXT(port, "firmware", firmware, TEXT, false),
	TEXT(port, "bus", bus, TEXT, false),
	TEXT(port, "rdma_driver", rdma_driver, TEXT, false),
	TEXT(port, "mac", mac, TEXT, false),
	MEMBER(port, up, BOOL, 0, false),
	MEMBER(port, ib_active, BOOL, 0, false),
	MEMBER(port, speed_mbps, U32, UINT32_MAX, false),
	MEMBER(port, active_mtu, U32, 4096, false),
	MEMBER(port, max_mtu, U32, 4096, false),
	MEMBER(port, dcb, BOOL, 0, false),
	TEXT(port, "clash", clash, TEXT, false),
};

/* The peer is an object of its own: {"name","port","dialect","qos"}. */
static const struct member peer_members[] = {
	TEXT(port, "name", peer_name, TEXT, false),
	TEXT(port, "port", peer_port, TEXT, false),
	TEXT(port, "dialect", peer_dialect, TEXT, false),
};
/* clang-format on */

static const char *const gid_type_words[] = {
	[GID_UNKNOWN] = "unknown",
	[GID_ROCE_V1] = "roce-v1",
	[GID_ROCE_V2] = "roce-v2",
	[GID_IB] = "ib",
};

static json_t *member_to_json(const struct member *m, const void *base)
{
	const char *at = (const char *)base + m->offset;

	switch (m->kind) {
	case MEMBER_TEXT:
	case MEMBER_NAME:
		return text_to_json(at); /* an LLDP neighbour may have chosen it */
	case MEMBER_BOOL:
		return json_boolean(*(const bool *)at);
	case MEMBER_U8:
		return json_integer(*(const uint8_t *)at);
	case MEMBER_U32:
		return json_integer(*(const uint32_t *)(const void *)at);
	case MEMBER_S64:
		return json_integer(*(const int64_t *)(const void *)at);
	}
	return NULL;
}

static int members_to_json(const struct member *m, size_t n, const void *base, json_t *json)
{
	for (size_t i = 0; i < n; i++)
		if (json_object_set_new(json, m[i].key, member_to_json(&m[i], base)))
			return -ENOMEM;
	return 0;
}

static bool name_ok(const char *text)
{
	if (text[0] == '-' || text[0] == '.')
		return false;
	for (; *text; text++)
		if (*text <= ' ' || *text > '~' || *text == '/')
			return false;
	return true;
}

static int text_from_json(const json_t *json, const struct member *m, char *to, struct err *e)
{
	const char *text = json_string_value(json);

	if (!text || json_string_length(json) != strlen(text) || strlen(text) >= m->max)
		return err_set(e, -EINVAL, "%s: want a string of at most %u bytes", m->key,
			       m->max - 1);
	/* Texts of foreign documents end on terminals, too. */
	if (!text_is_clean(text, TEXT_LINE))
		return err_set(e, -EINVAL, "%s: holds a control character", m->key);
	if (m->kind == MEMBER_NAME && !name_ok(text))
		return err_set(e, -EINVAL, "%s: is no name", m->key);
	memset(to, 0, m->max);
	memcpy(to, text, strlen(text));
	return 0;
}

static int number_from_json(const json_t *json, const char *key, int64_t max, int64_t *value,
			    struct err *e)
{
	*value = json_integer_value(json);
	if (!json_is_integer(json) || *value < 0 || *value > max)
		return err_set(e, -EINVAL, "%s: want a number from 0 to %lld", key, (long long)max);
	return 0;
}

static int member_from_json(const struct member *m, const json_t *json, void *base, struct err *e)
{
	char *at = (char *)base + m->offset;
	int64_t value = 0;
	int err = 0;

	if (m->kind == MEMBER_TEXT || m->kind == MEMBER_NAME)
		return text_from_json(json, m, at, e);
	if (m->kind == MEMBER_BOOL) {
		if (!json_is_boolean(json))
			return err_set(e, -EINVAL, "%s: want true or false", m->key);
		*(bool *)at = json_is_true(json);
		return 0;
	}
	err = number_from_json(json, m->key, m->kind == MEMBER_S64 ? INT64_MAX : m->max, &value, e);
	if (err)
		return err;
	if (m->kind == MEMBER_U8)
		*(uint8_t *)at = (uint8_t)value;
	else if (m->kind == MEMBER_U32)
		*(uint32_t *)(void *)at = (uint32_t)value;
	else
		*(int64_t *)(void *)at = value;
	return 0;
}

static int members_from_json(const struct member *m, size_t n, const json_t *json, void *base,
			     struct err *e)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++) {
		const json_t *value = json_object_get(json, m[i].key);

		if (value)
			err = member_from_json(&m[i], value, base, e);
		else if (m[i].needed)
			err = err_set(e, -EINVAL, "%s: missing", m[i].key);
	}
	return err;
}

static json_t *gids_to_json(const struct port *p)
{
	json_t *array = json_array();

	for (unsigned int i = 0; array && i < p->gid_count; i++) {
		const struct gid *g = &p->gid[i];
		char text[INET6_ADDRSTRLEN];

		if (json_array_append_new(
			    array,
			    json_pack("{s:i, s:s, s:s}", "index", g->index, "type",
				      gid_type_words[g->type <= GID_IB ? g->type : GID_UNKNOWN],
				      "gid", inet_ntop(AF_INET6, g->raw, text, sizeof(text))))) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static int gid_from_json(const json_t *json, struct gid *g, struct err *e)
{
	const char *type = json_string_value(json_object_get(json, "type"));
	const char *text = json_string_value(json_object_get(json, "gid"));
	int64_t index;

	if (number_from_json(json_object_get(json, "index"), "index", UINT16_MAX, &index, e))
		return -EINVAL;
	if (!type || !text || inet_pton(AF_INET6, text, g->raw) != 1)
		return err_set(e, -EINVAL, "gid: want an IPv6 text and a type");
	g->index = (uint16_t)index;
	g->type = GID_UNKNOWN; /* also what a newer writer knows and we do not */
	for (unsigned int i = 0; i < ARRAY_SIZE(gid_type_words); i++)
		if (!strcmp(type, gid_type_words[i]))
			g->type = (uint8_t)i;
	return 0;
}

/* Size of an optional array, at most max. */
static int array_size(const json_t *json, const char *key, size_t max, size_t *size, struct err *e)
{
	if (json && (!json_is_array(json) || json_array_size(json) > max))
		return err_set(e, -EINVAL, "%s: want at most %zu entries", key, max);
	*size = json_array_size(json);
	return 0;
}

static int gids_from_json(const json_t *json, struct port *p, struct err *e)
{
	size_t n = 0;
	int err = array_size(json, "gids", PORT_GIDS_MAX, &n, e);

	for (size_t i = 0; !err && i < n; i++) {
		err = gid_from_json(json_array_get(json, i), &p->gid[i], e);
		if (err)
			err_prefix(e, "gids[%zu]", i);
	}
	p->gid_count = (uint8_t)(err ? 0 : n);
	return err;
}

static json_t *addresses_to_json(const struct port *p)
{
	json_t *array = json_array();

	for (unsigned int i = 0; array && i < p->address_count; i++) {
		if (json_array_append_new(array, text_to_json(p->address[i]))) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static int addresses_from_json(const json_t *json, struct port *p, struct err *e)
{
	size_t n = 0;
	int err = array_size(json, "addresses", PORT_ADDRS_MAX, &n, e);

	for (size_t i = 0; !err && i < n; i++) {
		const char *text = json_string_value(json_array_get(json, i));
		struct in6_addr any;

		if (!text ||
		    (inet_pton(AF_INET, text, &any) != 1 && inet_pton(AF_INET6, text, &any) != 1))
			err = err_set(e, -EINVAL, "addresses[%zu]: want a numeric address", i);
		else
			snprintf(p->address[i], sizeof(p->address[i]), "%s", text);
	}
	p->address_count = (uint8_t)(err ? 0 : n);
	return err;
}

static json_t *peer_to_json(const struct port *p)
{
	json_t *json = json_object();

	if (!p->peer.has && !p->peer_name[0] && !p->peer_port[0] && !p->peer_dialect[0]) {
		json_decref(json);
		return json_null();
	}
	if (members_to_json(peer_members, ARRAY_SIZE(peer_members), p, json) ||
	    json_object_set_new(json, "qos", qos_to_json(&p->peer))) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static int qos_member_from_json(const json_t *json, struct qos *q, struct err *e)
{
	int err = json ? qos_from_json(json, q, e) : 0;

	if (err)
		err_prefix(e, "qos");
	return err;
}

static int peer_from_json(const json_t *json, struct port *p, struct err *e)
{
	int err;

	if (!json || json_is_null(json))
		return 0;
	err = members_from_json(peer_members, ARRAY_SIZE(peer_members), json, p, e);
	if (!err)
		err = qos_member_from_json(json_object_get(json, "qos"), &p->peer, e);
	if (err)
		err_prefix(e, "peer");
	return err;
}

static json_t *port_to_json(const struct port *p)
{
	json_t *json = json_object();

	if (members_to_json(port_members, ARRAY_SIZE(port_members), p, json) ||
	    json_object_set_new(json, "kind", json_string(port_kind_word(p->kind))) ||
	    json_object_set_new(json, "addresses", addresses_to_json(p)) ||
	    json_object_set_new(json, "gids", gids_to_json(p)) ||
	    json_object_set_new(json, "qos", qos_to_json(&p->qos)) ||
	    json_object_set_new(json, "peer", peer_to_json(p)) ||
	    json_object_set_new(json, "counters", counters_to_json(&p->counters)) ||
	    (p->seat.known && json_object_set_new(json, "seat", seat_to_json(&p->seat)))) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static int kind_from_json(const json_t *json, struct port *p, struct err *e)
{
	const char *word = json_string_value(json);
	int kind = word ? port_kind_value(word) : -EINVAL;

	if (kind < 0)
		return err_set(e, -EINVAL, "kind: want one of %s, %s, %s, %s, %s, %s",
			       port_kind_word(PORT_ROCE_PF), port_kind_word(PORT_ROCE_VF),
			       port_kind_word(PORT_GUEST), port_kind_word(PORT_SOFT_ROCE),
			       port_kind_word(PORT_IWARP), port_kind_word(PORT_ETHERNET));
	p->kind = (uint8_t)kind;
	return 0;
}

static int counters_member_from_json(const json_t *json, struct counters *c, struct err *e)
{
	int err = 0;

	counters_clear(c);
	if (json && !json_is_null(json))
		err = counters_from_json(json, c, e);
	if (err)
		err_prefix(e, "counters");
	return err;
}

static int port_from_json(const json_t *json, struct port *p, struct err *e)
{
	int err;

	if (!json_is_object(json))
		return err_set(e, -EINVAL, "want an object");
	err = members_from_json(port_members, ARRAY_SIZE(port_members), json, p, e);
	if (!err)
		err = kind_from_json(json_object_get(json, "kind"), p, e);
	if (!err)
		err = addresses_from_json(json_object_get(json, "addresses"), p, e);
	if (!err)
		err = gids_from_json(json_object_get(json, "gids"), p, e);
	if (!err)
		err = qos_member_from_json(json_object_get(json, "qos"), &p->qos, e);
	if (!err)
		err = peer_from_json(json_object_get(json, "peer"), p, e);
	if (!err)
		err = counters_member_from_json(json_object_get(json, "counters"), &p->counters, e);
	if (err)
		return err;
	err = seat_from_json(json_object_get(json, "seat"), &p->seat, e);
	if (err)
		err_prefix(e, "seat");
	return err;
}

json_t *snapshot_to_json(const struct snapshot *s)
{
	json_t *json = json_object(), *ports = json_array();
	int err;

	err = json_object_set_new(json, "schema", json_string(SNAPSHOT_SCHEMA)) ||
	      members_to_json(snapshot_members, ARRAY_SIZE(snapshot_members), s, json);
	if (!err && s->machine.known)
		err = json_object_set_new(json, "machine", machine_to_json(&s->machine));
	for (unsigned int i = 0; !err && i < s->port_count; i++)
		err = json_array_append_new(ports, port_to_json(&s->port[i]));
	if (json_object_set_new(json, "ports", ports) || err) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static int ports_from_json(const json_t *json, struct snapshot *s, struct err *e)
{
	size_t n = 0;
	int err;

	if (!json)
		return err_set(e, -EINVAL, "ports: missing");
	err = array_size(json, "ports", SNAPSHOT_PORTS_MAX, &n, e);
	if (err)
		return err;
	s->port = calloc(n ? n : 1, sizeof(*s->port));
	if (!s->port)
		return err_set(e, -ENOMEM, "ports: out of memory");
	for (; !err && s->port_count < n; s->port_count++) {
		err = port_from_json(json_array_get(json, s->port_count), &s->port[s->port_count],
				     e);
		if (err)
			err_prefix(e, "ports[%u]", s->port_count);
	}
	return err;
}

int snapshot_from_json(const json_t *json, struct snapshot *s, struct err *e)
{
	const char *schema = json_string_value(json_object_get(json, "schema"));
	struct snapshot read = {0};
	int err;

	if (!schema || strcmp(schema, SNAPSHOT_SCHEMA))
		return err_set(e, -EINVAL, "schema: want %s", SNAPSHOT_SCHEMA);
	err = members_from_json(snapshot_members, ARRAY_SIZE(snapshot_members), json, &read, e);
	if (!err) {
		err = machine_from_json(json_object_get(json, "machine"), &read.machine, e);
		if (err)
			err_prefix(e, "machine");
	}
	if (!err)
		err = ports_from_json(json_object_get(json, "ports"), &read, e);
	if (!err && !read.host[0])
		err = err_set(e, -EINVAL, "host: is empty");
	if (err) {
		snapshot_clear(&read);
		return err;
	}
	*s = read;
	return 0;
}

/* Snapshots as files. */

int snapshot_load(const char *path, struct snapshot *s, struct err *e)
{
	json_t *json;
	int err = json_file_load(path, SNAPSHOT_BYTES_MAX, &json, e);

	if (err)
		return err;
	err = snapshot_from_json(json, s, e);
	json_decref(json);
	if (err)
		err_prefix(e, "%s", path);
	return err;
}

int snapshot_save(const struct snapshot *s, const char *path, struct err *e)
{
	return json_file_save(snapshot_to_json(s), path, e);
}
