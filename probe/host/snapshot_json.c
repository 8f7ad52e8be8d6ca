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

/* clang-format off */
#define TEXT(s, m, how) JSON_ROW(struct s, m, .kind = JSON_TEXT, .need = JSON_##how)
#define NAME(s, m, how) JSON_ROW(struct s, m, .kind = JSON_NAME, .need = JSON_##how)
#define BOOL(s, m) JSON_ROW(struct s, m, .kind = JSON_BOOL, .need = JSON_OPTIONAL)
#define NUMBER(s, m, most) \
	JSON_ROW(struct s, m, .kind = JSON_NUMBER, .need = JSON_OPTIONAL, .max = most)
/* Of the machine: a text may be absent, and a number is HOST_UNKNOWN where it is absent or null. */
#define WORD(s, m) TEXT(s, m, OPTIONAL)
#define LIST(key, s, m, rows) \
	JSON_LIST_OF(key, struct s, m, JSON_ITEM(rows), .need = JSON_OPTIONAL)
#define FACT(s, m, most) \
	JSON_ROW(struct s, m, .kind = JSON_NUMBER, .need = JSON_UNKNOWN, .max = most)

static const struct json_row snapshot_members[] = {
	NAME(snapshot, host, NEEDED),
	TEXT(snapshot, kernel, OPTIONAL),
	TEXT(snapshot, rdma_core, OPTIONAL),
	TEXT(snapshot, version, OPTIONAL),
	JSON_ROW_AS("taken_unix_ns", struct snapshot, read_unix_ns, .kind = JSON_NUMBER, .max = INT64_MAX),
	BOOL(snapshot, privileged),
};

static const struct json_row port_members[] = {
	NAME(port, netdev, NEEDED),
	NAME(port, ibdev, OPTIONAL),
	NUMBER(port, ib_port, UINT8_MAX),
	TEXT(port, driver, OPTIONAL),
	TEXT(port, driver_version, OPTIONAL),
	TEXT(port, firmware, OPTIONAL),
	TEXT(port, bus, OPTIONAL),
	TEXT(port, rdma_driver, OPTIONAL),
	TEXT(port, mac, OPTIONAL),
	BOOL(port, up),
	BOOL(port, ib_active),
	NUMBER(port, speed_mbps, UINT32_MAX),
	NUMBER(port, active_mtu, 4096),
	NUMBER(port, max_mtu, 4096),
	BOOL(port, dcb),
	TEXT(port, clash, OPTIONAL),
};

/* The peer is an object of its own: {"name","port","dialect","qos"}. */
static const struct json_row peer_members[] = {
	JSON_ROW_AS("name", struct port, lldp_name, .kind = JSON_TEXT, .need = JSON_OPTIONAL),
	JSON_ROW_AS("port", struct port, lldp_port, .kind = JSON_TEXT, .need = JSON_OPTIONAL),
	JSON_ROW_AS("dialect", struct port, lldp_dialect, .kind = JSON_TEXT, .need = JSON_OPTIONAL),
};

static const struct json_row owner_facts[] = {
	WORD(host_owner, kind),
	FACT(host_owner, pid, INT32_MAX),
	WORD(host_owner, path),
	WORD(host_owner, name),
	WORD(host_owner, via),
};

static const struct json_row nic_facts[] = {
	WORD(host_nic, netdev),
	WORD(host_nic, driver),
};

static const struct json_row machine_facts[] = {
	FACT(host_state, memlock_bytes, HOST_UNLIMITED),
	FACT(host_state, ipc_lock, 1),
	FACT(host_state, cpus, INT32_MAX),
	FACT(host_state, cpus_saving, INT32_MAX),
	WORD(host_state, governor),
	FACT(host_state, numa_nodes, 1024),
	FACT(host_state, numa_balancing, 2),
	FACT(host_state, rdma_cm, 1),
	FACT(host_state, lldpad, INT32_MAX),
	FACT(host_state, lldpd, INT32_MAX),
	FACT(host_state, irqbalance, INT32_MAX),
	FACT(host_state, udev_rule, 1),
	FACT(host_state, boot_unit, 1),
	LIST("owners", host_state, owner, owner_facts),
	LIST("idle_nics", host_state, nic, nic_facts),
};

static const struct json_row subnet_facts[] = {
	WORD(netdev_subnet, cidr),
};

static const struct json_row vlan_facts[] = {
	WORD(netdev_vlan, netdev),
	FACT(netdev_vlan, id, 4095),
};

static const struct json_row pci_slot_facts[] = {
	WORD(pci_slot, bdf),
	FACT(pci_slot, vendor, 0xffff),
	FACT(pci_slot, device, 0xffff),
	WORD(pci_slot, physical),
	WORD(pci_slot, port_name),
	FACT(pci_slot, numa_node, 1023),
	FACT(pci_slot, pcie_speed, 1000000),
	FACT(pci_slot, pcie_speed_max, 1000000),
	FACT(pci_slot, pcie_width, 32),
	FACT(pci_slot, pcie_width_max, 32),
	FACT(pci_slot, slot_speed_max, 1000000),
	FACT(pci_slot, slot_width_max, 32),
	WORD(pci_slot, iommu),
	FACT(pci_slot, irqs, INT32_MAX),
	FACT(pci_slot, irqs_remote, INT32_MAX),
	FACT(pci_slot, vfs, 65535),
	FACT(pci_slot, forwarding, 1),
	FACT(pci_slot, rp_filter, 2),
	FACT(pci_slot, arp_ignore, 8),
	FACT(pci_slot, arp_announce, 2),
	LIST("subnets", pci_slot, subnet, subnet_facts),
	LIST("vlans", pci_slot, vlan, vlan_facts),
};

/* clang-format on */

static const char *const gid_type_words[] = {
	[GID_UNKNOWN] = "unknown",
	[GID_ROCE_V1] = "roce-v1",
	[GID_ROCE_V2] = "roce-v2",
	[GID_IB] = "ib",
};

static json_t *rows_to_json(const struct json_row *row, size_t rows, const void *base)
{
	json_t *json = json_object();

	if (!json_rows_write(json, row, rows, base))
		return json;
	json_decref(json);
	return NULL;
}

/* Size of an optional array, at most max. */
static int snapshot_array_size(const json_t *json, const char *key, size_t max, size_t *size,
			       struct err *e)
{
	if (json && (!json_is_array(json) || json_array_size(json) > max))
		return err_set(e, -EINVAL, "%s: want at most %zu entries", key, max);
	*size = json_array_size(json);
	return 0;
}

/* An object that may be absent or null: then *known is false and nothing is read. */
static int facts_from_json(const json_t *json, const struct json_row *row, size_t rows, void *base,
			   bool *known, struct err *e)
{
	*known = json && !json_is_null(json);
	if (!*known)
		return 0;
	if (!json_is_object(json))
		return err_set(e, -EINVAL, "want an object");
	return json_rows_read(json, row, rows, base, e);
}

int pci_slot_from_json(const json_t *json, struct pci_slot *pci, struct err *e)
{
	struct pci_slot read = {0};
	int err = facts_from_json(json, JSON_ROWS(pci_slot_facts), &read, &read.known, e);

	if (!err && read.known)
		*pci = read;
	return err;
}

/* Puts the key before the error of what is below it. */
static int snapshot_err_prefix(const char *key, int err, struct err *e)
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
	uint64_t index;

	if (json_get_uint(json, "index", 0, UINT16_MAX, &index, e))
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
	int err = snapshot_array_size(json, "gids", PORT_GIDS_MAX, &n, e);

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
	int err = snapshot_array_size(json, "addresses", PORT_ADDRS_MAX, &n, e);

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

	if (!p->lldp_qos.has && !p->lldp_name[0] && !p->lldp_port[0] && !p->lldp_dialect[0]) {
		json_decref(json);
		return json_null();
	}
	if (json_rows_write(json, JSON_ROWS(peer_members), p) ||
	    json_object_set_new(json, "qos", qos_to_json(&p->lldp_qos))) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static int qos_member_from_json(const json_t *json, struct qos *q, struct err *e)
{
	const json_t *qos = json_object_get(json, "qos");

	return qos ? snapshot_err_prefix("qos", qos_from_json(qos, q, e), e) : 0;
}

static int peer_from_json(const json_t *json, struct port *p, struct err *e)
{
	int err;

	if (!json || json_is_null(json))
		return 0;
	err = json_rows_read(json, JSON_ROWS(peer_members), p, e);
	return snapshot_err_prefix("peer", err ? err : qos_member_from_json(json, &p->lldp_qos, e),
				   e);
}

static json_t *port_to_json(const struct port *p)
{
	json_t *json = json_object();

	if (json_rows_write(json, JSON_ROWS(port_members), p) ||
	    json_object_set_new(json, "kind", json_string(port_kind_word(p->kind))) ||
	    json_object_set_new(json, "addresses", addresses_to_json(p)) ||
	    json_object_set_new(json, "gids", gids_to_json(p)) ||
	    json_object_set_new(json, "qos", qos_to_json(&p->qos)) ||
	    json_object_set_new(json, "peer", peer_to_json(p)) ||
	    json_object_set_new(json, "counters", counters_to_json(&p->counters)) ||
	    (p->pci_slot.known &&
	     json_object_set_new(json, "seat",
				 rows_to_json(JSON_ROWS(pci_slot_facts), &p->pci_slot)))) {
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
	err = json_rows_read(json, JSON_ROWS(port_members), p, e);
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
		err = snapshot_err_prefix("counters", counters_from_json(counters, &p->counters, e),
					  e);
	if (!err)
		err = snapshot_err_prefix(
			"seat", pci_slot_from_json(json_object_get(json, "seat"), &p->pci_slot, e),
			e);
	return err;
}

json_t *snapshot_to_json(const struct snapshot *s)
{
	json_t *json = json_object(), *ports = json_array();
	int err;

	err = json_object_set_new(json, "schema", json_string(SNAPSHOT_SCHEMA)) ||
	      json_rows_write(json, JSON_ROWS(snapshot_members), s);
	if (!err && s->host_state.known)
		err = json_object_set_new(json, "machine",
					  rows_to_json(JSON_ROWS(machine_facts), &s->host_state));
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
	err = snapshot_array_size(json, "ports", SNAPSHOT_PORTS_MAX, &n, e);
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
	err = json_rows_read(json, JSON_ROWS(snapshot_members), &read, e);
	if (!err)
		err = snapshot_err_prefix(
			"machine",
			facts_from_json(json_object_get(json, "machine"), JSON_ROWS(machine_facts),
					&read.host_state, &read.host_state.known, e),
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
