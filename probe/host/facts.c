/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA devices through libibverbs: ports, MTUs and the GID table; the driver and the netdev through
 * RDMA netlink. Native InfiniBand ports are left out: they have no netdev with DCB. A device that
 * cannot be opened (no permission for uverbs) is still listed, with what sysfs tells: without GIDs
 * and MTUs.
 */
#include "probe/host/facts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "dcb/kernel/dcb.h"
#include "dcb/kernel/rdma_nl.h"
#include "dcb/plan/platform.h"

/* The netdev of a port. Texts that drivers give are cut at what is no printable ASCII: they end in
 * JSON and on terminals. */

static void copy_text(char *to, size_t size, const char *from)
{
	size_t used = 0;

	for (; *from && used + 1 < size; from++)
		to[used++] = *from < ' ' || *from > '~' ? '?' : *from;
	to[used] = '\0';
}

static int net_file(struct dcb *dcb, const char *ifname, const char *file, char *buf, size_t size)
{
	char path[96];

	snprintf(path, sizeof(path), "class/net/%s/%s", ifname, file);
	return dcb_sysfs_read(dcb, path, buf, size);
}

static void read_driver(struct dcb *dcb, struct port *p)
{
	struct dcb_driver_info info;

	if (dcb_driver(dcb, p->netdev, &info, NULL))
		return;
	copy_text(p->driver, sizeof(p->driver), info.driver);
	copy_text(p->driver_version, sizeof(p->driver_version), info.version);
	copy_text(p->firmware, sizeof(p->firmware), info.firmware);
	copy_text(p->bus, sizeof(p->bus), info.bus);
}

static void read_link(struct dcb *dcb, struct port *p)
{
	char text[32];
	bool up = false;

	if (net_file(dcb, p->netdev, "address", text, sizeof(text)) >= 0)
		copy_text(p->mac, sizeof(p->mac), text);
	if (net_file(dcb, p->netdev, "flags", text, sizeof(text)) >= 0)
		up = strtoul(text, NULL, 16) & IFF_UP;
	/* Reading the carrier of a port that is down is -EINVAL. */
	if (up && net_file(dcb, p->netdev, "carrier", text, sizeof(text)) >= 0)
		p->up = !strcmp(text, "1");
	(void)dcb_link_speed(dcb, p->netdev, &p->speed_mbps, NULL); /* 0 = unknown */
}

static const void *address_of(const struct sockaddr *sa)
{
	if (sa && sa->sa_family == AF_INET)
		return &((const struct sockaddr_in *)(const void *)sa)->sin_addr;
	if (sa && sa->sa_family == AF_INET6)
		return &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
	return NULL;
}

void facts_addresses(struct port *p)
{
	struct ifaddrs *list;

	if (getifaddrs(&list))
		return;
	for (const struct ifaddrs *a = list; a && p->address_count < PORT_ADDRS_MAX;
	     a = a->ifa_next) {
		const void *address = address_of(a->ifa_addr);

		if (!address || strcmp(a->ifa_name, p->netdev))
			continue;
		if (inet_ntop(a->ifa_addr->sa_family, address, p->address[p->address_count],
			      sizeof(p->address[0])))
			p->address_count++;
	}
	freeifaddrs(list);
}

int facts_netdev(struct dcb *dcb, struct port *p, struct err *e)
{
	char text[32];

	if (strchr(p->netdev, '/') || net_file(dcb, p->netdev, "ifindex", text, sizeof(text)) < 0)
		return err_set(e, -ENODEV, "%s: no such network device", p->netdev);
	read_driver(dcb, p);
	read_link(dcb, p);
	return 0;
}

#define RDMA_PORTS_MAX 1024
#define GID_TABLE_MAX  1024 /* an attribute of uverbs holds 64 KiB: 2047 entries */

static const char *const kind_words[] = {
	[PORT_ROCE_PF] = "roce-pf",	[PORT_ROCE_VF] = "roce-vf", [PORT_GUEST] = "guest",
	[PORT_SOFT_ROCE] = "soft-roce", [PORT_IWARP] = "iwarp",	    [PORT_ETHERNET] = "ethernet",
};

/* Drivers whose RoCE is set from outside the guest that runs them. */
static const char *const guest_drivers[] = {"mana_ib", "mana", "vmw_pvrdma"};

enum port_kind port_kind_of(const struct port_facts *facts)
{
	if (!facts->driver[0])
		return PORT_ETHERNET;
	if (facts->iwarp)
		return PORT_IWARP;
	if (!strcmp(facts->driver, "rxe"))
		return PORT_SOFT_ROCE;
	for (size_t i = 0; i < ARRAY_SIZE(guest_drivers); i++)
		if (!strcmp(facts->driver, guest_drivers[i]) ||
		    !strcmp(facts->parent, guest_drivers[i]))
			return PORT_GUEST;
	return facts->vf ? PORT_ROCE_VF : PORT_ROCE_PF;
}

const char *port_kind_word(enum port_kind kind)
{
	return kind < ARRAY_SIZE(kind_words) ? kind_words[kind] : "unknown";
}

int port_kind_value(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind_words); i++)
		if (!strcmp(word, kind_words[i]))
			return (int)i;
	return -ENOENT;
}

static void read_kind(struct dcb *dcb, const struct ibv_device *device, struct port *p)
{
	struct platform_facts platform;
	struct port_facts facts = {
		.iwarp = device->node_type == IBV_NODE_RNIC ||
			 device->transport_type == IBV_TRANSPORT_IWARP,
		.driver = p->rdma_driver,
		.parent = platform.rdma_driver,
	};

	platform_gather(dcb, p->netdev, p->ibdev, false, &platform);
	if (rdma_driver(p->ibdev, p->rdma_driver, sizeof(p->rdma_driver), NULL))
		snprintf(p->rdma_driver, sizeof(p->rdma_driver), "%.31s",
			 platform.rdma_driver[0] ? platform.rdma_driver : "unknown");
	/* Soft-RoCE over a VF is no VF. */
	facts.vf = strcmp(p->rdma_driver, "rxe") && platform_is_virtual(&platform);
	p->kind = port_kind_of(&facts);
}

static uint32_t mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

static uint8_t gid_type_of(uint32_t type)
{
	switch (type) {
	case IBV_GID_TYPE_IB:
		return GID_IB;
	case IBV_GID_TYPE_ROCE_V1:
		return GID_ROCE_V1;
	case IBV_GID_TYPE_ROCE_V2:
		return GID_ROCE_V2;
	default:
		return GID_UNKNOWN;
	}
}

static void add_gid(struct port *p, const struct ibv_gid_entry *entry)
{
	struct gid *gid = &p->gid[p->gid_count];

	if (entry->port_num != p->ib_port || entry->gid_index > UINT16_MAX ||
	    p->gid_count == PORT_GIDS_MAX)
		return;
	gid->index = (uint16_t)entry->gid_index;
	gid->type = gid_type_of(entry->gid_type);
	memcpy(gid->raw, entry->gid.raw, sizeof(gid->raw));
	p->gid_count++;
}

/* One call gives the GIDs of all ports of the device; it fails when it has more of them than there
 * is room for, and then they are asked for one by one. */
static void read_gids(struct ibv_context *context, unsigned int length, struct port *p)
{
	struct ibv_gid_entry *table = calloc(GID_TABLE_MAX, sizeof(*table)), one;
	ssize_t n = table ? ibv_query_gid_table(context, table, GID_TABLE_MAX, 0) : -ENOMEM;

	for (ssize_t i = 0; i < n; i++)
		add_gid(p, &table[i]);
	for (unsigned int i = 0; n < 0 && i < length; i++)
		if (!ibv_query_gid_ex(context, p->ib_port, i, &one, 0))
			add_gid(p, &one);
	free(table);
}

/* One list that grows. */
struct ports {
	struct port *list;
	unsigned int count;
};

static int ports_add(struct ports *ports, const struct ibv_device *device, unsigned int number,
		     struct port **added)
{
	struct port *grown, *p;

	if (ports->count == RDMA_PORTS_MAX)
		return -E2BIG;
	grown = realloc(ports->list, (ports->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	ports->list = grown;
	p = &grown[ports->count++];
	memset(p, 0, sizeof(*p));
	counters_clear(&p->counters);
	snprintf(p->ibdev, sizeof(p->ibdev), "%s", ibv_get_device_name((void *)device));
	p->ib_port = (uint8_t)number;
	(void)rdma_netdev(p->ibdev, number, p->netdev, NULL); /* a port may have none */
	*added = p;
	return 0;
}

static int read_port(struct dcb *dcb, struct ports *ports, struct ibv_context *context,
		     unsigned int number)
{
	struct ibv_port_attr attr;
	struct port *p;
	int err;

	if (ibv_query_port(context, (uint8_t)number, &attr))
		return 0; /* the device went away in between */
	if (attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		return 0;
	err = ports_add(ports, context->device, number, &p);
	if (err)
		return err;
	p->ib_active = attr.state == IBV_PORT_ACTIVE;
	p->active_mtu = mtu_bytes(attr.active_mtu);
	p->max_mtu = mtu_bytes(attr.max_mtu);
	read_gids(context, attr.gid_tbl_len > 0 ? (unsigned int)attr.gid_tbl_len : 0, p);
	read_kind(dcb, context->device, p);
	return 0;
}

static bool port_file(struct dcb *dcb, const char *ibdev, unsigned int number, const char *file,
		      char *buf, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), "class/infiniband/%s/ports/%u/%s", ibdev, number, file);
	return dcb_sysfs_read(dcb, path, buf, size) >= 0;
}

/* The ports of a device that cannot be opened. */
static int read_closed_device(struct dcb *dcb, struct ports *ports, const struct ibv_device *device)
{
	char state[32], link[32];
	struct port *p;
	int err = 0;

	for (unsigned int number = 1; !err && number <= UINT8_MAX; number++) {
		if (!port_file(dcb, device->name, number, "state", state, sizeof(state)))
			break;
		if (port_file(dcb, device->name, number, "link_layer", link, sizeof(link)) &&
		    strcmp(link, "Ethernet"))
			continue;
		err = ports_add(ports, device, number, &p);
		if (err)
			break;
		p->ib_active = atoi(state) == IBV_PORT_ACTIVE; /* "4: ACTIVE" */
		read_kind(dcb, device, p);
	}
	return err;
}

static int read_device(struct dcb *dcb, struct ports *ports, struct ibv_device *device)
{
	struct ibv_context *context = ibv_open_device(device);
	struct ibv_device_attr attr;
	int err = 0;

	if (!context)
		return read_closed_device(dcb, ports, device);
	if (!ibv_query_device(context, &attr))
		for (unsigned int number = 1; !err && number <= attr.phys_port_cnt; number++)
			err = read_port(dcb, ports, context, number);
	ibv_close_device(context);
	return err;
}

int facts_rdma_ports(struct dcb *dcb, struct port **list, unsigned int *count, struct err *e)
{
	struct ports ports = {0};
	struct ibv_device **devices;
	int n = 0, err = 0;

	devices = ibv_get_device_list(&n);
	if (devices) {
		for (int i = 0; !err && i < n; i++)
			err = read_device(dcb, &ports, devices[i]);
		ibv_free_device_list(devices);
	} /* NULL: no RDMA in this kernel, which is no error */
	if (err) {
		free(ports.list);
		return err == -E2BIG ? err_set(e, err, "more than %d RDMA ports", RDMA_PORTS_MAX)
				     : err_sys(e, err, "RDMA devices");
	}
	*list = ports.list;
	*count = ports.count;
	return 0;
}
