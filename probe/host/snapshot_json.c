/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck.snapshot/1. Plain members are rows of tables that both directions walk, and so are the
 * lists of the machine and of a port's seat; what is no plain member has a function of its own.
 * Documents may be foreign: keys that are not known are ignored, everything else is checked before
 * it is stored.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/host/snapshot.h"
#include "profiles/base/json_file.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"

#define SNAPSHOT_PORTS_MAX 1024

enum member_kind {
	MEMBER_TEXT, /* char[] */
	MEMBER_NAME, /* as TEXT, but fit for a path and a terminal: no blank, '/', control */
	MEMBER_BOOL,
	MEMBER_U8,
	MEMBER_U32,
	MEMBER_S32,
	MEMBER_S64,
};

enum member_need {
	OPTIONAL, /* it stays as it is where it is absent */
	NEEDED,
	FACT, /* of the machine: a number that is absent or null is MACHINE_UNKNOWN */
};

struct member {
	const char *key;
	enum member_kind kind;
	enum member_need need;
	size_t offset;
	size_t size; /* of a text */
	int64_t max; /* largest number */
};

/* clang-format off */
#define TEXT(s, key, m, kind, need) \
	{key, MEMBER_##kind, need, offsetof(struct s, m), sizeof(((struct s *)0)->m), 0}
#define MEMBER(s, m, kind, max) \
	{#m, MEMBER_##kind, OPTIONAL, offsetof(struct s, m), 0, max}
#define WORD(s, m) TEXT(s, #m, m, TEXT, FACT)
#define NUMBER(s, m, kind, max) {#m, MEMBER_##kind, FACT, offsetof(struct s, m), 0, max}

static const struct member snapshot_members[] = {
	TEXT(snapshot, "host", host, NAME, NEEDED),
	TEXT(snapshot, "kernel", kernel, TEXT, OPTIONAL),
	TEXT(snapshot, "rdma_core", rdma_core, TEXT, OPTIONAL),
	TEXT(snapshot, "version", version, TEXT, OPTIONAL),
	{"taken_unix_ns", MEMBER_S64, NEEDED, offsetof(struct snapshot, taken_unix_ns), 0, INT64_MAX},
	MEMBER(snapshot, privileged, BOOL, 0),
};

static const struct member port_members[] = {
	TEXT(port, "netdev", netdev, NAME, NEEDED),
	TEXT(port, "ibdev", ibdev, NAME, OPTIONAL),
	MEMBER(port, ib_port, U8, UINT8_MAX),
	TEXT(port, "driver", driver, TEXT, OPTIONAL),
	TEXT(port, "driver_version", driver_version, TEXT, OPTIONAL),
	TEXT(port, "firmware", firmware, TEXT, OPTIONAL),
	TEXT(port, "bus", bus, TEXT, OPTIONAL),
	TEXT(port, "rdma_driver", rdma_driver, TEXT, OPTIONAL),
	TEXT(port, "mac", mac, TEXT, OPTIONAL),
	MEMBER(port, up, BOOL, 0),
	MEMBER(port, ib_active, BOOL, 0),
	MEMBER(port, speed_mbps, U32, UINT32_MAX),
	MEMBER(port, active_mtu, U32, 4096),
	MEMBER(port, max_mtu, U32, 4096),
	MEMBER(port, dcb, BOOL, 0),
	TEXT(port, "clash", clash, TEXT, OPTIONAL),
};

/* The peer is an object of its own: {"name","port","dialect","qos"}. */
static const struct member peer_members[] = {
	TEXT(port, "name", peer_name, TEXT, OPTIONAL),
	TEXT(port, "port", peer_port, TEXT, OPTIONAL),
	TEXT(port, "dialect", peer_dialect, TEXT, OPTIONAL),
};

static const struct member machine_facts[] = {
	NUMBER(machine, memlock_bytes, S64, MACHINE_UNLIMITED),
	NUMBER(machine, ipc_lock, S32, 1),
	NUMBER(machine, cpus, S32, INT32_MAX),
	NUMBER(machine, cpus_saving, S32, INT32_MAX),
	WORD(machine, governor),
	NUMBER(machine, numa_nodes, S32, 1024),
	NUMBER(machine, numa_balancing, S32, 2),
	NUMBER(machine, rdma_cm, S32, 1),
	NUMBER(machine, lldpad, S32, INT32_MAX),
	NUMBER(machine, lldpd, S32, INT32_MAX),
	NUMBER(machine, irqbalance, S32, INT32_MAX),
	NUMBER(machine, udev_rule, S32, 1),
	NUMBER(machine, boot_unit, S32, 1),
};

static const struct member owner_facts[] = {
	WORD(machine_owner, kind),
	NUMBER(machine_owner, pid, S32, INT32_MAX),
	WORD(machine_owner, path),
	WORD(machine_owner, name),
	WORD(machine_owner, via),
};

static const struct member nic_facts[] = {
	WORD(machine_nic, netdev),
	WORD(machine_nic, driver),
};

static const struct member seat_facts[] = {
	WORD(seat, bdf),
	NUMBER(seat, vendor, S32, 0xffff),
	NUMBER(seat, device, S32, 0xffff),
	WORD(seat, physical),
	WORD(seat, port_name),
	NUMBER(seat, numa_node, S32, 1023),
	NUMBER(seat, pcie_speed, S32, 1000000),
	NUMBER(seat, pcie_speed_max, S32, 1000000),
	NUMBER(seat, pcie_width, S32, 32),
	NUMBER(seat, pcie_width_max, S32, 32),
	NUMBER(seat, slot_speed_max, S32, 1000000),
	NUMBER(seat, slot_width_max, S32, 32),
	WORD(seat, iommu),
	NUMBER(seat, irqs, S32, INT32_MAX),
	NUMBER(seat, irqs_remote, S32, INT32_MAX),
	NUMBER(seat, vfs, S32, 65535),
	NUMBER(seat, forwarding, S32, 1),
	NUMBER(seat, rp_filter, S32, 2),
	NUMBER(seat, arp_ignore, S32, 8),
	NUMBER(seat, arp_announce, S32, 2),
};

static const struct member subnet_facts[] = {
	WORD(seat_subnet, cidr),
};

static const struct member vlan_facts[] = {
	WORD(seat_vlan, netdev),
	NUMBER(seat_vlan, id, S32, 4095),
};

/* A list in a struct: an array of structs that have plain members, and how many of it are used. */
struct list {
	const char *key;
	const struct member *member;
	size_t member_count;
	size_t used_offset; /* uint32_t */
	size_t offset, size, max;
};

/* A struct of facts. */
struct object {
	const struct member *member;
	size_t member_count;
	struct list list[2];
};

#define ROWS(rows) rows, ARRAY_SIZE(rows)
#define LIST(s, m, key, rows) \
	{key, ROWS(rows), offsetof(struct s, m##_count), offsetof(struct s, m), \
	 sizeof(((struct s *)0)->m[0]), ARRAY_SIZE(((struct s *)0)->m)}

static const struct object machine_object = {
	ROWS(machine_facts),
	{LIST(machine, owner, "owners", owner_facts), LIST(machine, nic, "idle_nics", nic_facts)},
};

static const struct object seat_object = {
	ROWS(seat_facts),
	{LIST(seat, subnet, "subnets", subnet_facts), LIST(seat, vlan, "vlans", vlan_facts)},
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
	int64_t value = 0;

	switch (m->kind) {
	case MEMBER_TEXT:
	case MEMBER_NAME:
		return text_to_json(at); /* an LLDP neighbour may have chosen it */
	case MEMBER_BOOL:
		return json_boolean(*(const bool *)at);
	case MEMBER_U8:
		value = *(const uint8_t *)at;
		break;
	case MEMBER_U32:
		value = *(const uint32_t *)(const void *)at;
		break;
	case MEMBER_S32:
		value = *(const int32_t *)(const void *)at;
		break;
	case MEMBER_S64:
		value = *(const int64_t *)(const void *)at;
		break;
	}
	return m->need == FACT && value == MACHINE_UNKNOWN ? json_null() : json_integer(value);
}

static int members_to_json(const struct member *m, size_t n, const void *base, json_t *json)
{
	for (size_t i = 0; i < n; i++)
		if (json_object_set_new(json, m[i].key, member_to_json(&m[i], base)))
			return -ENOMEM;
	return 0;
}

static json_t *list_to_json(const struct list *l, const void *base)
{
	uint32_t used = *(const uint32_t *)(const void *)((const char *)base + l->used_offset);
	const char *at = (const char *)base + l->offset;
	json_t *list = json_array();
	int err = 0;

	for (uint32_t i = 0; !err && i < used; i++, at += l->size) {
		json_t *item = json_object();

		err = members_to_json(l->member, l->member_count, at, item);
		if (json_array_append_new(list, item))
			err = -ENOMEM;
	}
	if (!err)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *object_to_json(const struct object *o, const void *base)
{
	json_t *json = json_object();
	int err = members_to_json(o->member, o->member_count, base, json);

	for (size_t i = 0; !err && i < ARRAY_SIZE(o->list); i++)
		err = json_object_set_new(json, o->list[i].key, list_to_json(&o->list[i], base));
	if (!err)
		return json;
	json_decref(json);
	return NULL;
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
	bool fits = text && json_string_length(json) == strlen(text) && strlen(text) < m->size;

	/* Texts of foreign documents end on terminals, too. */
	if (!fits || (m->need == FACT && !text_is_clean(text, TEXT_LINE)))
		return err_set(e, -EINVAL, "%s: want a %sstring of at most %zu bytes", m->key,
			       m->need == FACT ? "plain " : "", m->size - 1);
	if (!text_is_clean(text, TEXT_LINE))
		return err_set(e, -EINVAL, "%s: holds a control character", m->key);
	if (m->kind == MEMBER_NAME && !name_ok(text))
		return err_set(e, -EINVAL, "%s: is no name", m->key);
	memset(to, 0, m->size);
	memcpy(to, text, strlen(text));
	return 0;
}

static int number_from_json(const json_t *json, const char *key, int64_t max, const char *other,
			    int64_t *value, struct err *e)
{
	*value = json_integer_value(json);
	if (!json_is_integer(json) || *value < 0 || *value > max)
		return err_set(e, -EINVAL, "%s: want a number from 0 to %lld%s", key,
			       (long long)max, other);
	return 0;
}

static int member_from_json(const struct member *m, const json_t *json, void *base, struct err *e)
{
	char *at = (char *)base + m->offset;
	int64_t value = MACHINE_UNKNOWN;
	int err = 0;

	if (m->kind == MEMBER_TEXT || m->kind == MEMBER_NAME)
		return text_from_json(json, m, at, e);
	if (m->kind == MEMBER_BOOL) {
		if (!json_is_boolean(json))
			return err_set(e, -EINVAL, "%s: want true or false", m->key);
		*(bool *)at = json_is_true(json);
		return 0;
	}
	if (m->need != FACT)
		err = number_from_json(json, m->key, m->max, "", &value, e);
	else if (json && !json_is_null(json))
		err = number_from_json(json, m->key, m->max, ", or null", &value, e);
	if (err)
		return err;
	if (m->kind == MEMBER_U8)
		*(uint8_t *)at = (uint8_t)value;
	else if (m->kind == MEMBER_S64)
		*(int64_t *)(void *)at = value;
	else
		*(uint32_t *)(void *)at = (uint32_t)value; /* S32, too */
	return 0;
}

static int members_from_json(const struct member *m, size_t n, const json_t *json, void *base,
			     struct err *e)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++) {
		const json_t *value = json_object_get(json, m[i].key);

		if (value || (m[i].need == FACT && m[i].max))
			err = member_from_json(&m[i], value, base, e);
		else if (m[i].need == NEEDED)
			err = err_set(e, -EINVAL, "%s: missing", m[i].key);
	}
	return err;
}

/* Size of an optional array, at most max. */
static int array_size(const json_t *json, const char *key, size_t max, size_t *size, struct err *e)
{
	if (json && (!json_is_array(json) || json_array_size(json) > max))
		return err_set(e, -EINVAL, "%s: want at most %zu entries", key, max);
	*size = json_array_size(json);
	return 0;
}

static int list_from_json(const struct list *l, const json_t *json, void *base, struct err *e)
{
	char *at = (char *)base + l->offset;
	size_t n = 0;
	int err = array_size(json, l->key, l->max, &n, e);

	for (size_t i = 0; !err && i < n; i++, at += l->size) {
		const json_t *item = json_array_get(json, i);

		err = json_is_object(item)
			      ? members_from_json(l->member, l->member_count, item, at, e)
			      : err_set(e, -EINVAL, "want an object");
	}
	*(uint32_t *)(void *)((char *)base + l->used_offset) = (uint32_t)n;
	return err;
}

/* An object that may be absent or null: then *known is false and nothing is read. */
static int object_from_json(const struct object *o, const json_t *json, void *base, bool *known,
			    struct err *e)
{
	int err;

	*known = json && !json_is_null(json);
	if (!*known)
		return 0;
	if (!json_is_object(json))
		return err_set(e, -EINVAL, "want an object");
	err = members_from_json(o->member, o->member_count, json, base, e);
	for (size_t i = 0; !err && i < ARRAY_SIZE(o->list); i++)
		err = list_from_json(&o->list[i], json_object_get(json, o->list[i].key), base, e);
	return err;
}

int seat_from_json(const json_t *json, struct seat *seat, struct err *e)
{
	struct seat read = {0};
	int err = object_from_json(&seat_object, json, &read, &read.known, e);

	if (!err && read.known)
		*seat = read;
	return err;
}

/* Puts the key before the error of what is below it. */
static int below(const char *key, int err, struct err *e)
{
	if (err)
		err_prefix(e, "%s", key);
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

	if (number_from_json(json_object_get(json, "index"), "index", UINT16_MAX, "", &index, e))
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
	const json_t *qos = json_object_get(json, "qos");

	return qos ? below("qos", qos_from_json(qos, q, e), e) : 0;
}

static int peer_from_json(const json_t *json, struct port *p, struct err *e)
{
	int err;

	if (!json || json_is_null(json))
		return 0;
	err = members_from_json(peer_members, ARRAY_SIZE(peer_members), json, p, e);
	return below("peer", err ? err : qos_member_from_json(json, &p->peer, e), e);
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
	    (p->seat.known &&
	     json_object_set_new(json, "seat", object_to_json(&seat_object, &p->seat)))) {
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

static int port_from_json(const json_t *json, struct port *p, struct err *e)
{
	const json_t *counters = json_object_get(json, "counters");
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
		err = qos_member_from_json(json, &p->qos, e);
	if (!err)
		err = peer_from_json(json_object_get(json, "peer"), p, e);
	counters_clear(&p->counters);
	if (!err && counters && !json_is_null(counters))
		err = below("counters", counters_from_json(counters, &p->counters, e), e);
	if (!err)
		err = below("seat", seat_from_json(json_object_get(json, "seat"), &p->seat, e), e);
	return err;
}

json_t *snapshot_to_json(const struct snapshot *s)
{
	json_t *json = json_object(), *ports = json_array();
	int err;

	err = json_object_set_new(json, "schema", json_string(SNAPSHOT_SCHEMA)) ||
	      members_to_json(snapshot_members, ARRAY_SIZE(snapshot_members), s, json);
	if (!err && s->machine.known)
		err = json_object_set_new(json, "machine",
					  object_to_json(&machine_object, &s->machine));
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
	if (!err)
		err = below("machine",
			    object_from_json(&machine_object, json_object_get(json, "machine"),
					     &read.machine, &read.machine.known, e),
			    e);
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
