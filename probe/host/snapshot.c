/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a snapshot of this host: RDMA ports with their netdevs, then the requested netdevs. Order:
 * libibverbs, then the request.
 *
 * RDMA devices are read through libibverbs: ports, MTUs and the GID table; the driver and the
 * netdev through RDMA netlink. Native InfiniBand ports are left out: they have no netdev with DCB.
 * A device that cannot be opened (no permission for uverbs) is listed from sysfs, without GIDs and
 * MTUs.
 */
#include "probe/host/snapshot.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <linux/capability.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "capture/decode/packet.h"
#include "dcb/kernel/dcb.h"
#include "dcb/kernel/rdma_nl.h"
#include "dcb/plan/platform.h"

#define RDMA_PORTS_MAX 1024
#define GID_TABLE_MAX  1024 /* an attribute of uverbs holds 64 KiB: 2047 entries */

/* dcbnl checks CAP_NET_ADMIN in the initial user namespace; user_namespaces(7). */
static bool snapshot_in_init_userns(void)
{
	FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned long first = 1, outside = 1, count = 0;
	bool there = f != NULL;
	bool whole = f && fscanf(f, "%lu %lu %lu", &first, &outside, &count) == 3 && !first &&
		     !outside && count == UINT32_MAX;

	if (f)
		fclose(f);
	return whole || !there;
}

static bool snapshot_has_net_admin(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[0].effective & (1u << CAP_NET_ADMIN) && snapshot_in_init_userns();
}

/* The file of the library is libibverbs.so.1.ABI.PACKAGE ("libibverbs.so.1.14.44.0" is
 * rdma-core 44.0). */
static void snapshot_read_rdma_core(char *version, size_t size)
{
	char path[PATH_MAX];
	unsigned int abi;
	Dl_info info;
	int used = 0;
	char *name;

	if (!dladdr((void *)ibv_get_device_list, &info) || !realpath(info.dli_fname, path))
		return;
	name = strstr(path, "libibverbs.so.1.");
	if (name && sscanf(name, "libibverbs.so.1.%u.%n", &abi, &used) == 1 && used)
		snprintf(version, size, "%.31s", name + used);
}

static void snapshot_read_head(struct snapshot *s)
{
	struct utsname uts;

	if (!uname(&uts)) {
		snprintf(s->host, sizeof(s->host), "%.63s", uts.nodename);
		snprintf(s->kernel, sizeof(s->kernel), "%s", uts.release);
	}
	snapshot_read_rdma_core(s->rdma_core, sizeof(s->rdma_core));
	snprintf(s->version, sizeof(s->version), "%s", ROCECHECK_VERSION);
	s->read_unix_ns = unix_ns();
	s->privileged = snapshot_has_net_admin();
}

/* Netdev of a port. Driver texts are truncated at the first character that is not printable ASCII,
 * for JSON and terminals. */

static void snapshot_copy_text(char *to, size_t size, const char *from)
{
	size_t used = 0;

	for (; *from && used + 1 < size; from++)
		to[used++] = *from < ' ' || *from > '~' ? '?' : *from;
	to[used] = '\0';
}

static int snapshot_netdev_file(struct dcb *dcb, const char *ifname, const char *file, char *buf,
				size_t size)
{
	char path[96];

	snprintf(path, sizeof(path), "class/net/%s/%s", ifname, file);
	return dcb_sysfs_read(dcb, path, buf, size);
}

static void snapshot_read_driver(struct dcb *dcb, struct port *p)
{
	struct dcb_driver_info info;

	if (dcb_driver(dcb, p->netdev, &info, NULL))
		return;
	snapshot_copy_text(p->driver, sizeof(p->driver), info.driver);
	snapshot_copy_text(p->driver_version, sizeof(p->driver_version), info.version);
	snapshot_copy_text(p->firmware, sizeof(p->firmware), info.firmware);
	snapshot_copy_text(p->bus, sizeof(p->bus), info.bus);
}

static void snapshot_read_link(struct dcb *dcb, struct port *p)
{
	char text[32];
	bool up = false;

	if (snapshot_netdev_file(dcb, p->netdev, "address", text, sizeof(text)) >= 0)
		snapshot_copy_text(p->mac, sizeof(p->mac), text);
	if (snapshot_netdev_file(dcb, p->netdev, "flags", text, sizeof(text)) >= 0)
		up = strtoul(text, NULL, 16) & IFF_UP;
	/* Reading the carrier of a port that is down fails with -EINVAL. */
	if (up && snapshot_netdev_file(dcb, p->netdev, "carrier", text, sizeof(text)) >= 0)
		p->up = !strcmp(text, "1");
	(void)dcb_link_speed(dcb, p->netdev, &p->speed_mbps, NULL); /* 0 = unknown */
}

static const void *snapshot_sockaddr_ip(const struct sockaddr *sa)
{
	if (sa && sa->sa_family == AF_INET)
		return &((const struct sockaddr_in *)(const void *)sa)->sin_addr;
	if (sa && sa->sa_family == AF_INET6)
		return &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
	return NULL;
}

/* Takes two netlink dumps, so only callers that need it call it. */
static void snapshot_read_addresses(struct port *p)
{
	struct ifaddrs *list;

	if (getifaddrs(&list))
		return;
	for (const struct ifaddrs *a = list; a && p->address_count < PORT_ADDRS_MAX;
	     a = a->ifa_next) {
		const void *address = snapshot_sockaddr_ip(a->ifa_addr);

		if (!address || strcmp(a->ifa_name, p->netdev))
			continue;
		if (inet_ntop(a->ifa_addr->sa_family, address, p->address[p->address_count],
			      sizeof(p->address[0])))
			p->address_count++;
	}
	freeifaddrs(list);
}

/* Reads driver, MAC and link. -ENODEV when the netdev is gone. */
static int snapshot_read_netdev(struct dcb *dcb, struct port *p, struct err *e)
{
	char text[32];

	if (strchr(p->netdev, '/') ||
	    snapshot_netdev_file(dcb, p->netdev, "ifindex", text, sizeof(text)) < 0)
		return err_set(e, -ENODEV, "%s: no such network device", p->netdev);
	snapshot_read_driver(dcb, p);
	snapshot_read_link(dcb, p);
	return 0;
}

const struct qos_word port_kind_words[] = {
	{"roce-pf", PORT_ROCE_PF},
	{"roce-vf", PORT_ROCE_VF},
	{"guest", PORT_GUEST},
	{"soft-roce", PORT_SOFT_ROCE},
	{"iwarp", PORT_IWARP},
	{"ethernet", PORT_ETHERNET},
	{NULL, 0},
};

/* Drivers of guests, whose RoCE is configured outside the guest. */
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
	const char *word = qos_word_text(port_kind_words, kind);

	return word ? word : "unknown";
}

static void snapshot_read_kind(struct dcb *dcb, const struct ibv_device *device, struct port *p)
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
	/* Soft-RoCE over a VF is not a VF. */
	facts.vf = strcmp(p->rdma_driver, "rxe") && platform_is_virtual(&platform);
	p->kind = port_kind_of(&facts);
}

static uint32_t snapshot_mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

static void snapshot_add_gid(struct port *p, const struct ibv_gid_entry *entry)
{
	static const uint8_t types[] = {
		[IBV_GID_TYPE_IB] = GID_IB,
		[IBV_GID_TYPE_ROCE_V1] = GID_ROCE_V1,
		[IBV_GID_TYPE_ROCE_V2] = GID_ROCE_V2,
	};
	struct gid *gid = &p->gid[p->gid_count];

	if (entry->port_num != p->ib_port || entry->gid_index > UINT16_MAX ||
	    p->gid_count == PORT_GIDS_MAX)
		return;
	gid->index = (uint16_t)entry->gid_index;
	gid->type = entry->gid_type < ARRAY_SIZE(types) ? types[entry->gid_type] : GID_UNKNOWN;
	memcpy(gid->raw, entry->gid.raw, sizeof(gid->raw));
	p->gid_count++;
}

/* Reads the GIDs of all ports with one call. If there are more than fit, the call fails and each
 * GID is read separately. */
static void snapshot_read_gids(struct ibv_context *context, unsigned int length, struct port *p)
{
	struct ibv_gid_entry *table = calloc(GID_TABLE_MAX, sizeof(*table)), one;
	ssize_t n = table ? ibv_query_gid_table(context, table, GID_TABLE_MAX, 0) : -ENOMEM;

	for (ssize_t i = 0; i < n; i++)
		snapshot_add_gid(p, &table[i]);
	for (unsigned int i = 0; n < 0 && i < length; i++)
		if (!ibv_query_gid_ex(context, p->ib_port, i, &one, 0))
			snapshot_add_gid(p, &one);
	free(table);
}

static int snapshot_add_port(struct snapshot *s, struct port **added)
{
	struct port *grown = realloc(s->port, (s->port_count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	s->port = grown;
	*added = &grown[s->port_count++];
	memset(*added, 0, sizeof(**added));
	counters_clear(&(*added)->counters);
	return 0;
}

static int snapshot_add_rdma_port(struct snapshot *s, const struct ibv_device *device,
				  unsigned int number, struct port **added)
{
	int err = s->port_count < RDMA_PORTS_MAX ? snapshot_add_port(s, added) : -E2BIG;
	struct port *p;

	if (err)
		return err;
	p = *added;
	snprintf(p->ibdev, sizeof(p->ibdev), "%s", ibv_get_device_name((void *)device));
	p->ib_port = (uint8_t)number;
	(void)rdma_netdev(p->ibdev, number, p->netdev, NULL); /* a port may have none */
	return 0;
}

static int snapshot_read_rdma_port(struct dcb *dcb, struct snapshot *s, struct ibv_context *context,
				   unsigned int number)
{
	struct ibv_port_attr attr;
	struct port *p;
	int err;

	if (ibv_query_port(context, (uint8_t)number, &attr))
		return 0; /* the device disappeared meanwhile */
	if (attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		return 0;
	err = snapshot_add_rdma_port(s, context->device, number, &p);
	if (err)
		return err;
	p->ib_active = attr.state == IBV_PORT_ACTIVE;
	p->active_mtu = snapshot_mtu_bytes(attr.active_mtu);
	p->max_mtu = snapshot_mtu_bytes(attr.max_mtu);
	snapshot_read_gids(context, attr.gid_tbl_len > 0 ? (unsigned int)attr.gid_tbl_len : 0, p);
	snapshot_read_kind(dcb, context->device, p);
	return 0;
}

static bool snapshot_ibdev_file(struct dcb *dcb, const char *ibdev, unsigned int number,
				const char *file, char *buf, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), "class/infiniband/%s/ports/%u/%s", ibdev, number, file);
	return dcb_sysfs_read(dcb, path, buf, size) >= 0;
}

/* Reads the ports of a device that cannot be opened. */
static int snapshot_read_by_sysfs(struct dcb *dcb, struct snapshot *s,
				  const struct ibv_device *device)
{
	char state[32], link[32];
	struct port *p;
	int err = 0;

	for (unsigned int number = 1; !err && number <= UINT8_MAX; number++) {
		if (!snapshot_ibdev_file(dcb, device->name, number, "state", state, sizeof(state)))
			break;
		if (snapshot_ibdev_file(dcb, device->name, number, "link_layer", link,
					sizeof(link)) &&
		    strcmp(link, "Ethernet"))
			continue;
		err = snapshot_add_rdma_port(s, device, number, &p);
		if (err)
			break;
		p->ib_active = atoi(state) == IBV_PORT_ACTIVE; /* "4: ACTIVE" */
		snapshot_read_kind(dcb, device, p);
	}
	return err;
}

static int snapshot_read_device(struct dcb *dcb, struct snapshot *s, struct ibv_device *device)
{
	struct ibv_context *context = ibv_open_device(device);
	struct ibv_device_attr attr;
	int err = 0;

	if (!context)
		return snapshot_read_by_sysfs(dcb, s, device);
	if (!ibv_query_device(context, &attr))
		for (unsigned int number = 1; !err && number <= attr.phys_port_cnt; number++)
			err = snapshot_read_rdma_port(dcb, s, context, number);
	ibv_close_device(context);
	return err;
}

int snapshot_rdma_ports(struct dcb *dcb, struct snapshot *s, struct err *e)
{
	struct ibv_device **devices;
	int n = 0, err = 0;

	devices = ibv_get_device_list(&n);
	if (!devices)
		return 0; /* no RDMA in this kernel */
	for (int i = 0; !err && i < n; i++)
		err = snapshot_read_device(dcb, s, devices[i]);
	ibv_free_device_list(devices);
	if (err == -E2BIG)
		return err_set(e, err, "more than %d RDMA ports", RDMA_PORTS_MAX);
	return err ? err_sys(e, err, "RDMA devices") : 0;
}

static int snapshot_add_netdev(struct snapshot *s, const char *name, struct err *e)
{
	struct port *p = NULL;

	if (snapshot_port(s, name))
		return 0;
	if (strlen(name) >= sizeof(p->netdev))
		return err_set(e, -ENODEV, "%s: no such network device", name);
	if (snapshot_add_port(s, &p))
		return err_set(e, -ENOMEM, "snapshot: out of memory");
	snprintf(p->netdev, sizeof(p->netdev), "%s", name);
	p->kind = PORT_ETHERNET;
	return 0;
}

/* Reads settings, addresses and counters. */
static int snapshot_read_state(struct dcb *dcb, struct port *p, struct err *e)
{
	int err = 0;

	if (p->netdev[0]) {
		snapshot_read_addresses(p);
		err = dcb_read(dcb, p->netdev, p->ibdev, p->ib_port, &p->qos, &p->dcb, e);
	}
	if (err == -ENODEV || err == -ENOMEM)
		return err;
	err = counters_read(dcb, p->netdev, p->ibdev, p->ib_port, &p->counters, e);
	return err == -ENODEV && p->ibdev[0] ? 0 : err;
}

static int snapshot_read_port(struct dcb *dcb, struct port *p, bool state, struct err *e)
{
	int err = p->netdev[0] ? snapshot_read_netdev(dcb, p, e) : 0;
	struct err clash = {0};

	if (!err && state)
		err = snapshot_read_state(dcb, p, e);
	if (err == -ENODEV && p->ibdev[0]) {
		p->netdev[0] = '\0'; /* disappeared meanwhile: treated as absent */
		err = state ? snapshot_read_state(dcb, p, e) : 0;
	}
	/* Verbs report the IB MTU; struct qos holds it beside the netdev's MTU, to compare both. */
	if (p->active_mtu) {
		p->qos.ib_mtu = p->active_mtu;
		p->qos.has |= QOS_BIT(QOS_IB_MTU);
	}
	if (!err && state && p->dcb &&
	    dcb_check(dcb, p->netdev, p->ibdev, p->ib_port, &clash) == -ENOTUNIQ)
		snprintf(p->clash, sizeof(p->clash), "%.95s", clash.text);
	return err;
}

static int snapshot_read_all(struct dcb *dcb, const char *const *also, unsigned int also_count,
			     bool state, struct snapshot *s, struct err *e)
{
	struct snapshot made = {0};
	int err;

	snapshot_read_head(&made);
	err = snapshot_rdma_ports(dcb, &made, e);
	for (unsigned int i = 0; !err && i < also_count; i++)
		err = snapshot_add_netdev(&made, also[i], e);
	for (unsigned int i = 0; !err && i < made.port_count; i++)
		err = snapshot_read_port(dcb, &made.port[i], state, e);
	if (err) {
		snapshot_clear(&made);
		return err;
	}
	*s = made;
	return 0;
}

int snapshot_read(struct dcb *dcb, const char *const *also, unsigned int also_count,
		  struct snapshot *s, struct err *e)
{
	return snapshot_read_all(dcb, also, also_count, true, s, e);
}

int snapshot_read_ports(struct dcb *dcb, const char *const *also, unsigned int also_count,
			struct snapshot *s, struct err *e)
{
	return snapshot_read_all(dcb, also, also_count, false, s, e);
}

void snapshot_clear(struct snapshot *s)
{
	if (!s)
		return;
	free(s->port);
	memset(s, 0, sizeof(*s));
}

const struct port *snapshot_port(const struct snapshot *s, const char *name)
{
	for (unsigned int i = 0; name[0] && i < s->port_count; i++)
		if (!strcmp(s->port[i].netdev, name) || !strcmp(s->port[i].ibdev, name))
			return &s->port[i];
	return NULL;
}

bool port_is_roce(const struct port *p)
{
	return p->kind != PORT_ETHERNET && p->kind != PORT_IWARP;
}

bool gid_is_link_local(const struct gid *g)
{
	return g->raw[0] == 0xfe && (g->raw[1] & 0xc0) == 0x80;
}

const struct gid *port_gid(const struct port *p, const char *address)
{
	const struct gid *other = NULL;
	uint8_t want[16];

	if (address[0] && !packet_addr_parse(address, want))
		return NULL;
	for (unsigned int i = 0; i < p->gid_count; i++) {
		const struct gid *g = &p->gid[i];

		if (g->type != GID_ROCE_V2)
			continue;
		if (address[0] ? !memcmp(g->raw, want, sizeof(want)) : packet_addr_is_ipv4(g->raw))
			return g;
		if (!address[0] && !other && !gid_is_link_local(g))
			other = g;
	}
	return other;
}
