/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes a snapshot of this host: RDMA ports with their netdevs, and the netdevs asked for beside
 * them. The order of the ports is that of libibverbs, then that of the request.
 */
#include "probe/host/snapshot.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "dcb/kernel/dcb.h"
#include "probe/host/facts.h"

/* dcbnl asks for the capability there, wherever the netdev is; user_namespaces(7). */
static bool in_first_user_namespace(void)
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

static bool net_admin(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[0].effective & (1u << CAP_NET_ADMIN) && in_first_user_namespace();
}

/* The file of the library is libibverbs.so.1.ABI.PACKAGE ("libibverbs.so.1.14.44.0" is
 * rdma-core 44.0). */
static void read_rdma_core(char *version, size_t size)
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

static void read_host(struct snapshot *s)
{
	struct timespec now;
	struct utsname uts;

	if (!uname(&uts)) {
		snprintf(s->host, sizeof(s->host), "%.63s", uts.nodename);
		snprintf(s->kernel, sizeof(s->kernel), "%s", uts.release);
	}
	read_rdma_core(s->rdma_core, sizeof(s->rdma_core));
	snprintf(s->version, sizeof(s->version), "%s", ROCECHECK_VERSION);
	clock_gettime(CLOCK_REALTIME, &now);
	s->taken_unix_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	s->privileged = net_admin();
}

static int add_netdev(struct snapshot *s, const char *name, struct err *e)
{
	struct port *grown, *p;

	if (snapshot_port(s, name))
		return 0;
	if (strlen(name) >= sizeof(p->netdev))
		return err_set(e, -ENODEV, "%s: no such network device", name);
	grown = realloc(s->port, (s->port_count + 1) * sizeof(*grown));
	if (!grown)
		return err_set(e, -ENOMEM, "snapshot: out of memory");
	s->port = grown;
	p = &grown[s->port_count++];
	memset(p, 0, sizeof(*p));
	counters_clear(&p->counters);
	snprintf(p->netdev, sizeof(p->netdev), "%s", name);
	p->kind = PORT_ETHERNET;
	return 0;
}

/* The IB MTU is read by verbs; struct qos carries it beside the netdev's so that both are compared.
 */
static void set_ib_mtu(struct port *p)
{
	if (!p->active_mtu)
		return;
	p->qos.ib_mtu = p->active_mtu;
	p->qos.has |= QOS_BIT(QOS_IB_MTU);
}

/* What is so at this moment: settings, addresses and counters. */
static int fill_state(struct dcb *dcb, struct port *p, struct err *e)
{
	int err = 0;

	if (p->netdev[0]) {
		facts_addresses(p);
		err = dcb_read(dcb, p->netdev, p->ibdev, p->ib_port, &p->qos, &p->dcb, e);
	}
	if (err == -ENODEV || err == -ENOMEM)
		return err;
	err = counters_take(dcb, p->netdev, p->ibdev, p->ib_port, &p->counters, e);
	return err == -ENODEV && p->ibdev[0] ? 0 : err;
}

static void read_clash(struct dcb *dcb, struct port *p)
{
	struct err e = {0};

	if (dcb_check(dcb, p->netdev, p->ibdev, p->ib_port, &e) == -ENOTUNIQ)
		snprintf(p->clash, sizeof(p->clash), "%.95s", e.text);
}

static int fill_port(struct dcb *dcb, struct port *p, bool state, struct err *e)
{
	int err = p->netdev[0] ? facts_netdev(dcb, p, e) : 0;

	if (!err && state)
		err = fill_state(dcb, p, e);
	if (err == -ENODEV && p->ibdev[0]) {
		p->netdev[0] = '\0'; /* it went away in between: as if it had none */
		err = state ? fill_state(dcb, p, e) : 0;
	}
	set_ib_mtu(p);
	if (!err && state && p->dcb)
		read_clash(dcb, p);
	return err;
}

static int take(struct dcb *dcb, const char *const *also, unsigned int also_count, bool state,
		struct snapshot *s, struct err *e)
{
	struct snapshot taken = {0};
	int err;

	read_host(&taken);
	err = facts_rdma_ports(dcb, &taken.port, &taken.port_count, e);
	for (unsigned int i = 0; !err && i < also_count; i++)
		err = add_netdev(&taken, also[i], e);
	for (unsigned int i = 0; !err && i < taken.port_count; i++)
		err = fill_port(dcb, &taken.port[i], state, e);
	if (err) {
		snapshot_clear(&taken);
		return err;
	}
	*s = taken;
	return 0;
}

int snapshot_take(struct dcb *dcb, const char *const *also, unsigned int also_count,
		  struct snapshot *s, struct err *e)
{
	return take(dcb, also, also_count, true, s, e);
}

int snapshot_take_ports(struct dcb *dcb, const char *const *also, unsigned int also_count,
			struct snapshot *s, struct err *e)
{
	return take(dcb, also, also_count, false, s, e);
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

static bool is_mapped(const struct gid *g)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(g->raw, prefix, sizeof(prefix));
}

static bool is_link_local(const struct gid *g)
{
	return g->raw[0] == 0xfe && (g->raw[1] & 0xc0) == 0x80;
}

void gid_text(const struct gid *g, char *buf, size_t size)
{
	const char *text = is_mapped(g) ? inet_ntop(AF_INET, g->raw + 12, buf, (socklen_t)size)
					: inet_ntop(AF_INET6, g->raw, buf, (socklen_t)size);

	if (!text && size)
		buf[0] = '\0';
}

/* Raw form of a numeric address; false when it is none. */
static bool gid_of(const char *address, struct gid *g)
{
	memset(g, 0, sizeof(*g));
	if (inet_pton(AF_INET6, address, g->raw) == 1)
		return true;
	g->raw[10] = g->raw[11] = 0xff;
	return inet_pton(AF_INET, address, g->raw + 12) == 1;
}

const struct gid *port_gid(const struct port *p, const char *address)
{
	struct gid want;

	if (address[0] && !gid_of(address, &want))
		return NULL;
	for (unsigned int i = 0; i < p->gid_count; i++) {
		const struct gid *g = &p->gid[i];

		if (g->type != GID_ROCE_V2)
			continue;
		if (address[0] ? !memcmp(g->raw, want.raw, sizeof(want.raw)) : !is_link_local(g))
			return g;
	}
	return NULL;
}
