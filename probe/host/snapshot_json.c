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
#define STRUCT(s, m, how, ...) \
	JSON_ROW(struct s, m, .kind = JSON_STRUCT, .need = JSON_##how, __VA_ARGS__)
#define NUMBER(s, m, most) \
	JSON_ROW(struct s, m, .kind = JSON_NUMBER, .need = JSON_OPTIONAL, .max = most)
/* Of the machine: a text may be absent, and a number is HOST_UNKNOWN where it is absent or null. */
#define WORD(s, m) TEXT(s, m, OPTIONAL)
#define LIST(key, s, m, rows) \
	JSON_LIST_OF(key, struct s, m, JSON_ITEM(rows), .need = JSON_OPTIONAL)
#define FACT(s, m, most) \
	JSON_ROW(struct s, m, .kind = JSON_NUMBER, .need = JSON_UNKNOWN, .max = most)

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

static json_t *gid_to_json(const struct gid *g)
{
	char text[INET6_ADDRSTRLEN];

	return json_pack("{s:i, s:s, s:s}", "index", g->index, "type",
			 gid_type_words[g->type <= GID_IB ? g->type : GID_UNKNOWN], "gid",
			 inet_ntop(AF_INET6, g->raw, text, sizeof(text)));
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

static json_t *address_to_json(const char *address)
{
	return text_to_json(address);
}

static int address_from_json(const json_t *json, char *address, struct err *e)
{
	const char *text = json_string_value(json);
	struct in6_addr any;

	if (!text || (inet_pton(AF_INET, text, &any) != 1 && inet_pton(AF_INET6, text, &any) != 1))
		return err_set(e, -EINVAL, "want a numeric address");
	snprintf(address, sizeof(((struct port *)0)->address[0]), "%s", text);
	return 0;
}

JSON_FUNCTIONS(gid)
JSON_FUNCTIONS(address)
JSON_FUNCTIONS(qos)
JSON_FUNCTIONS(counters)

/* clang-format off */
/* The peer is an object of its own: {"name","port","dialect","qos"}. */
static const struct json_row peer_members[] = {
	JSON_ROW_AS("name", struct port, lldp_name, .kind = JSON_TEXT, .need = JSON_OPTIONAL),
	JSON_ROW_AS("port", struct port, lldp_port, .kind = JSON_TEXT, .need = JSON_OPTIONAL),
	JSON_ROW_AS("dialect", struct port, lldp_dialect, .kind = JSON_TEXT, .need = JSON_OPTIONAL),
	JSON_ROW_AS("qos", struct port, lldp_qos, .kind = JSON_STRUCT, .need = JSON_OPTIONAL,
		    JSON_BY(qos)),
};

/* clang-format on */

static json_t *peer_to_json(const struct port *p)
{
	if (!p->lldp_qos.has && !p->lldp_name[0] && !p->lldp_port[0] && !p->lldp_dialect[0])
		return json_null();
	return json_rows_make(JSON_ROWS(peer_members), p);
}

static int peer_from_json(const json_t *json, struct port *p, struct err *e)
{
	return json_rows_read(json, JSON_ROWS(peer_members), p, e);
}

JSON_FUNCTIONS(peer)

/* clang-format off */
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
	JSON_ROW(struct port, kind, .kind = JSON_WORD, .words = port_kind_words),
	JSON_LIST_OF("addresses", struct port, address, JSON_BY(address), .need = JSON_OPTIONAL),
	JSON_LIST_OF("gids", struct port, gid, JSON_BY(gid), .need = JSON_OPTIONAL),
	STRUCT(port, qos, OPTIONAL, JSON_BY(qos)),
	JSON_SELF("peer", JSON_BY(peer), .need = JSON_UNKNOWN),
	STRUCT(port, counters, UNKNOWN, JSON_BY(counters)),
	JSON_ROW_AS("seat", struct port, pci_slot, .kind = JSON_STRUCT, .need = JSON_UNKNOWN,
		    JSON_ITEM(pci_slot_facts), JSON_USED(struct port, pci_slot.known)),
};

/* clang-format on */

static json_t *port_to_json(const struct port *p)
{
	return json_rows_make(JSON_ROWS(port_members), p);
}

static int port_from_json(const json_t *json, struct port *p, struct err *e)
{
	counters_clear(&p->counters);
	return json_rows_read(json, JSON_ROWS(port_members), p, e);
}

JSON_FUNCTIONS(port)

/* clang-format off */
static const struct json_row snapshot_members[] = {
	NAME(snapshot, host, NEEDED),
	TEXT(snapshot, kernel, OPTIONAL),
	TEXT(snapshot, rdma_core, OPTIONAL),
	TEXT(snapshot, version, OPTIONAL),
	JSON_ROW_AS("taken_unix_ns", struct snapshot, read_unix_ns, .kind = JSON_NUMBER, .max = INT64_MAX),
	BOOL(snapshot, privileged),
	JSON_ROW_AS("machine", struct snapshot, host_state, .kind = JSON_STRUCT, .need = JSON_UNKNOWN,
		    JSON_ITEM(machine_facts), JSON_USED(struct snapshot, host_state.known)),
	JSON_ALLOCATED_OF("ports", struct snapshot, port, SNAPSHOT_PORTS_MAX, JSON_BY(port)),
};

/* clang-format on */

json_t *snapshot_to_json(const struct snapshot *s)
{
	json_t *json = json_pack("{s:s}", "schema", SNAPSHOT_SCHEMA);

	if (!json_rows_write(json, JSON_ROWS(snapshot_members), s))
		return json;
	json_decref(json);
	return NULL;
}

int snapshot_from_json(const json_t *json, struct snapshot *s, struct err *e)
{
	const char *schema = json_string_value(json_object_get(json, "schema"));
	struct snapshot read = {0};
	int err;

	if (!schema || strcmp(schema, SNAPSHOT_SCHEMA))
		return err_set(e, -EINVAL, "schema: want %s", SNAPSHOT_SCHEMA);
	err = json_rows_read(json, JSON_ROWS(snapshot_members), &read, e);
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
