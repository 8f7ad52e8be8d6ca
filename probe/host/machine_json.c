/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "machine" and "seat" of rocecheck.snapshot/1. Numbers and texts are rows that both directions
 * walk; an unknown number is null there. Documents may be foreign: everything is checked.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/host/machine.h"
#include "profiles/base/text.h"
#include "profiles/yaml/diag.h"

struct fact {
	const char *key;
	size_t offset;
	bool wide;   /* int64_t */
	int64_t max; /* largest number; 0: a text */
	size_t size; /* of a text */
};

/* clang-format off */
#define NUMBER(s, m, most) {#m, offsetof(struct s, m), \
	sizeof(((struct s *)0)->m) == sizeof(int64_t), most, 0}
#define WORD(s, m) {#m, offsetof(struct s, m), false, 0, sizeof(((struct s *)0)->m)}

static const struct fact machine_facts[] = {
	NUMBER(machine, memlock_bytes, MACHINE_UNLIMITED),
	NUMBER(machine, ipc_lock, 1),
	NUMBER(machine, cpus, INT32_MAX),
	NUMBER(machine, cpus_saving, INT32_MAX),
	WORD(machine, governor),
	NUMBER(machine, numa_nodes, 1024),
	NUMBER(machine, numa_balancing, 2),
	NUMBER(machine, rdma_cm, 1),
	NUMBER(machine, lldpad, INT32_MAX),
	NUMBER(machine, lldpd, INT32_MAX),
	NUMBER(machine, irqbalance, INT32_MAX),
	NUMBER(machine, udev_rule, 1),
	NUMBER(machine, boot_unit, 1),
};

static const struct fact owner_facts[] = {
	WORD(machine_owner, kind),
	NUMBER(machine_owner, pid, INT32_MAX),
	WORD(machine_owner, path),
	WORD(machine_owner, name),
	WORD(machine_owner, via),
};

static const struct fact nic_facts[] = {
	WORD(machine_nic, netdev),
	WORD(machine_nic, driver),
};

static const struct fact seat_facts[] = {
	WORD(seat, bdf),
	NUMBER(seat, vendor, 0xffff),
	NUMBER(seat, device, 0xffff),
	WORD(seat, physical),
	WORD(seat, port_name),
	NUMBER(seat, numa_node, 1023),
	NUMBER(seat, pcie_speed, 1000000),
	NUMBER(seat, pcie_speed_max, 1000000),
	NUMBER(seat, pcie_width, 32),
	NUMBER(seat, pcie_width_max, 32),
	NUMBER(seat, slot_speed_max, 1000000),
	NUMBER(seat, slot_width_max, 32),
	WORD(seat, iommu),
	NUMBER(seat, irqs, INT32_MAX),
	NUMBER(seat, irqs_remote, INT32_MAX),
	NUMBER(seat, vfs, 65535),
	NUMBER(seat, forwarding, 1),
	NUMBER(seat, rp_filter, 2),
	NUMBER(seat, arp_ignore, 8),
	NUMBER(seat, arp_announce, 2),
};

static const struct fact subnet_facts[] = {
	WORD(seat_subnet, cidr),
};

static const struct fact vlan_facts[] = {
	WORD(seat_vlan, netdev),
	NUMBER(seat_vlan, id, 4095),
};
/* clang-format on */

static json_t *fact_to_json(const struct fact *f, const void *base)
{
	const char *at = (const char *)base + f->offset;
	int64_t value;

	if (!f->max)
		return text_to_json(at);
	value = f->wide ? *(const int64_t *)(const void *)at : *(const int32_t *)(const void *)at;
	return value == MACHINE_UNKNOWN ? json_null() : json_integer(value);
}

static json_t *facts_to_json(const struct fact *f, size_t n, const void *base)
{
	json_t *json = json_object();

	for (size_t i = 0; json && i < n; i++) {
		if (json_object_set_new(json, f[i].key, fact_to_json(&f[i], base))) {
			json_decref(json);
			return NULL;
		}
	}
	return json;
}

static int text_from_json(const json_t *json, const struct fact *f, char *to, struct err *e)
{
	const char *text = json ? json_string_value(json) : "";

	if (!text || strlen(text) >= f->size || !text_is_clean(text, TEXT_LINE))
		return err_set(e, -EINVAL, "%s: want a plain string of at most %zu bytes", f->key,
			       f->size - 1);
	memset(to, 0, f->size);
	memcpy(to, text, strlen(text));
	return 0;
}

static int fact_from_json(const struct fact *f, const json_t *json, void *base, struct err *e)
{
	char *at = (char *)base + f->offset;
	int64_t value = MACHINE_UNKNOWN;

	if (!f->max)
		return text_from_json(json, f, at, e);
	if (json && !json_is_null(json)) {
		value = json_integer_value(json);
		if (!json_is_integer(json) || value < 0 || value > f->max)
			return err_set(e, -EINVAL, "%s: want a number from 0 to %lld, or null",
				       f->key, (long long)f->max);
	}
	if (f->wide)
		*(int64_t *)(void *)at = value;
	else
		*(int32_t *)(void *)at = (int32_t)value;
	return 0;
}

static int facts_from_json(const struct fact *f, size_t n, const json_t *json, void *base,
			   struct err *e)
{
	int err = json_is_object(json) ? 0 : err_set(e, -EINVAL, "want an object");

	for (size_t i = 0; !err && i < n; i++)
		err = fact_from_json(&f[i], json_object_get(json, f[i].key), base, e);
	return err;
}

/* Size of an optional list. */
static int list_size(const json_t *json, const char *key, size_t max, uint32_t *size, struct err *e)
{
	if (json && (!json_is_array(json) || json_array_size(json) > max))
		return err_set(e, -EINVAL, "%s: want at most %zu entries", key, max);
	*size = (uint32_t)json_array_size(json);
	return 0;
}

/* A list of n structs of size bytes each, all of which are plain facts. */
static json_t *list_to_json(const struct fact *f, size_t facts, const void *first, size_t size,
			    unsigned int n)
{
	json_t *list = json_array();

	for (unsigned int i = 0; list && i < n; i++) {
		if (json_array_append_new(
			    list, facts_to_json(f, facts, (const char *)first + i * size))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static int list_from_json(const struct fact *f, size_t facts, const json_t *list, void *first,
			  size_t size, unsigned int n, struct err *e)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < n; i++)
		err = facts_from_json(f, facts, json_array_get(list, i), (char *)first + i * size,
				      e);
	return err;
}

json_t *machine_to_json(const struct machine *m)
{
	json_t *json;

	if (!m->known)
		return json_null();
	json = facts_to_json(machine_facts, ARRAY_SIZE(machine_facts), m);
	if (json_object_set_new(json, "owners",
				list_to_json(owner_facts, ARRAY_SIZE(owner_facts), m->owner,
					     sizeof(m->owner[0]), m->owner_count)) ||
	    json_object_set_new(json, "idle_nics",
				list_to_json(nic_facts, ARRAY_SIZE(nic_facts), m->nic,
					     sizeof(m->nic[0]), m->nic_count))) {
		json_decref(json);
		return NULL;
	}
	return json;
}

int machine_from_json(const json_t *json, struct machine *m, struct err *e)
{
	const json_t *owners = json_object_get(json, "owners");
	const json_t *nics = json_object_get(json, "idle_nics");
	struct machine read = {.known = true};
	int err;

	if (!json || json_is_null(json))
		return 0;
	err = facts_from_json(machine_facts, ARRAY_SIZE(machine_facts), json, &read, e);
	if (!err)
		err = list_size(owners, "owners", MACHINE_OWNERS_MAX, &read.owner_count, e);
	if (!err)
		err = list_size(nics, "idle_nics", MACHINE_NICS_MAX, &read.nic_count, e);
	if (!err)
		err = list_from_json(owner_facts, ARRAY_SIZE(owner_facts), owners, read.owner,
				     sizeof(read.owner[0]), read.owner_count, e);
	if (!err)
		err = list_from_json(nic_facts, ARRAY_SIZE(nic_facts), nics, read.nic,
				     sizeof(read.nic[0]), read.nic_count, e);
	if (!err)
		*m = read;
	return err;
}

json_t *seat_to_json(const struct seat *seat)
{
	json_t *json;

	if (!seat->known)
		return json_null();
	json = facts_to_json(seat_facts, ARRAY_SIZE(seat_facts), seat);
	if (json_object_set_new(json, "subnets",
				list_to_json(subnet_facts, ARRAY_SIZE(subnet_facts), seat->subnet,
					     sizeof(seat->subnet[0]), seat->subnet_count)) ||
	    json_object_set_new(json, "vlans",
				list_to_json(vlan_facts, ARRAY_SIZE(vlan_facts), seat->vlan,
					     sizeof(seat->vlan[0]), seat->vlan_count))) {
		json_decref(json);
		return NULL;
	}
	return json;
}

int seat_from_json(const json_t *json, struct seat *seat, struct err *e)
{
	const json_t *vlans = json_object_get(json, "vlans");
	const json_t *subnets = json_object_get(json, "subnets");
	struct seat read = {.known = true};
	int err;

	if (!json || json_is_null(json))
		return 0;
	err = facts_from_json(seat_facts, ARRAY_SIZE(seat_facts), json, &read, e);
	if (!err)
		err = list_size(vlans, "vlans", SEAT_VLANS_MAX, &read.vlan_count, e);
	if (!err)
		err = list_from_json(vlan_facts, ARRAY_SIZE(vlan_facts), vlans, read.vlan,
				     sizeof(read.vlan[0]), read.vlan_count, e);
	if (!err)
		err = list_size(subnets, "subnets", SEAT_SUBNETS_MAX, &read.subnet_count, e);
	if (!err)
		err = list_from_json(subnet_facts, ARRAY_SIZE(subnet_facts), subnets, read.subnet,
				     sizeof(read.subnet[0]), read.subnet_count, e);
	if (!err)
		*seat = read;
	return err;
}
