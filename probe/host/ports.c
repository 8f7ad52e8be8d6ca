/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects ports from a snapshot and reads their QoS again: a snapshot tolerates read errors, a plan
 * must not.
 */
#include "probe/host/ports.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "dcb/kernel/sysfs.h"

static bool port_is_chosen(const struct port *p, const char *name)
{
	if (!p->netdev[0])
		return false;
	if (name)
		return !strcmp(p->netdev, name) || !strcmp(p->ibdev, name);
	return port_is_roce(p);
}

static int read_port(struct dcb *dcb, enum lldp_agent agent, struct port *p, struct err *e)
{
	const struct dcb_port names = {p->netdev, p->ibdev, p->ib_port, agent};
	struct qos now;
	int err = dcb_read_port(dcb, &names, &now, &p->dcb, e);

	if (err)
		return err;
	/* Only verbs have the IB MTU. */
	qos_copy_field(&now, &p->qos, QOS_IB_MTU);
	p->qos = now;
	return 0;
}

/* Selected ports, with lower ports; each has the RDMA device of the upper one, e.g. of a bond. */
struct chosen {
	struct sysfs_netdevs ports;
	const struct port *above[SYSFS_NETDEVS_MAX];
	bool spread; /* some are lower ports of a bond, VLAN or bridge */
};

static int ports_choose(struct dcb *dcb, const struct snapshot *s, const char *name,
			struct chosen *chosen, struct err *e)
{
	struct sysfs_netdevs below;
	int err = 0;

	for (unsigned int i = 0; !err && i < s->port_count; i++) {
		const struct port *p = &s->port[i];

		if (!port_is_chosen(p, name))
			continue;
		err = sysfs_lower_ports(dcb, p->netdev, &below, e);
		if (err)
			return err;
		if (below.count == 1 && !strcmp(below.netdev[0], p->netdev))
			continue;
		chosen->spread = true;
		for (unsigned int k = 0; k < below.count; k++) {
			if (chosen->ports.count == SYSFS_NETDEVS_MAX)
				return err_set(e, -E2BIG, "%s: more than %d lower ports", p->netdev,
					       SYSFS_NETDEVS_MAX);
			memcpy(chosen->ports.netdev[chosen->ports.count], below.netdev[k],
			       sizeof(below.netdev[k]));
			chosen->above[chosen->ports.count++] = p;
		}
	}
	return err;
}

static const struct port *port_find_upper(const struct chosen *chosen, const struct port *p)
{
	for (unsigned int i = 0; i < chosen->ports.count; i++)
		if (!strcmp(chosen->ports.netdev[i], p->netdev))
			return chosen->above[i];
	return NULL;
}

static bool port_is_upper(const struct chosen *chosen, const struct port *p)
{
	for (unsigned int i = 0; i < chosen->ports.count; i++)
		if (!strcmp(chosen->above[i]->netdev, p->netdev))
			return true;
	return false;
}

/* Copies the RDMA attributes of the upper device to a lower port. */
static void port_copy_rdma(struct port *p, const struct port *upper)
{
	struct port own = *p;

	*p = *upper;
	memcpy(p->netdev, own.netdev, sizeof(p->netdev));
	memcpy(p->driver, own.driver, sizeof(p->driver));
	memcpy(p->driver_version, own.driver_version, sizeof(p->driver_version));
	memcpy(p->firmware, own.firmware, sizeof(p->firmware));
	memcpy(p->bus, own.bus, sizeof(p->bus));
	p->up = own.up;
	p->speed_mbps = own.speed_mbps;
	p->dcb = own.dcb;
	p->qos = own.qos;
	p->counters = own.counters;
	qos_copy_field(&p->qos, &upper->qos, QOS_IB_MTU);
	qos_copy_field(&p->qos, &upper->qos, QOS_CM_TOS);
	qos_copy_field(&p->qos, &upper->qos, QOS_ROCE_VERSION);
}

/* Reads the ports again, with lower ports in place of a bond. With settings: all of them, for a
 * report; else the selected ones, for a plan. */
static int ports_merge(struct dcb *dcb, const struct chosen *chosen, const char *name,
		       bool settings, struct snapshot *s, struct err *e)
{
	const char *also[SYSFS_NETDEVS_MAX];
	struct snapshot all = {0};
	unsigned int kept = 0;
	int err;

	for (unsigned int i = 0; i < chosen->ports.count; i++)
		also[i] = chosen->ports.netdev[i];
	err = (settings ? snapshot_read : snapshot_read_ports)(dcb, also, chosen->ports.count, &all,
							       e);
	if (err)
		return err;
	for (unsigned int i = 0; i < all.port_count; i++) {
		struct port *p = &all.port[i];
		const struct port *upper = port_find_upper(chosen, p);

		if (port_is_upper(chosen, p) || (!settings && !upper && !port_is_chosen(p, name)))
			continue;
		if (upper && !p->ibdev[0] && settings) {
			port_copy_rdma(p, upper);
		} else if (upper && !p->ibdev[0]) {
			memcpy(p->ibdev, upper->ibdev, sizeof(p->ibdev));
			p->ib_port = upper->ib_port;
			qos_copy_field(&p->qos, &upper->qos, QOS_IB_MTU);
		}
		if (kept != i)
			all.port[kept] = *p;
		kept++;
	}
	all.port_count = kept;
	snapshot_clear(s);
	*s = all;
	return 0;
}

int ports_resolve_lower(struct dcb *dcb, struct snapshot *s, struct err *e)
{
	struct chosen chosen = {0};
	int err = ports_choose(dcb, s, NULL, &chosen, e);

	return err || !chosen.spread ? err : ports_merge(dcb, &chosen, NULL, true, s, e);
}

bool ports_profile_selects(struct dcb *dcb, const struct profile *profile, const char *netdev)
{
	int fd = openat(dcb_sysfs_fd(dcb), "class/net", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = profile_selects(profile, netdev);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;

	if (fd >= 0 && !dir)
		close(fd);
	while (dir && !found && (d = readdir(dir))) {
		struct sysfs_netdevs below = {0};
		struct err ignored = {0};

		if (d->d_name[0] == '.' || !profile_selects(profile, d->d_name) ||
		    sysfs_lower_ports(dcb, d->d_name, &below, &ignored))
			continue;
		for (unsigned int i = 0; i < below.count; i++)
			found |= !strcmp(below.netdev[i], netdev);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Sets the hint to the RoCE ports of this host. */
static void ports_hint_names(struct dcb *dcb, struct err *e)
{
	char names[ERR_HINT_MAX - 64] = "";
	struct snapshot s = {0};
	size_t used = 0;

	if (snapshot_read_ports(dcb, NULL, 0, &s, NULL))
		return;
	for (unsigned int i = 0; i < s.port_count && used < sizeof(names); i++)
		used += snprintf(names + used, sizeof(names) - used, "%s%s (%s)", used ? ", " : "",
				 s.port[i].netdev, s.port[i].ibdev);
	err_hint(e, used ? "RoCE ports of this host: %s" : "this host has no RoCE port%s", names);
	snapshot_clear(&s);
}

int ports_read(struct dcb *dcb, const char *name, enum lldp_agent agent, struct snapshot *s,
	       struct err *e)
{
	struct chosen chosen = {0};
	unsigned int kept = 0;
	int err;

	memset(s, 0, sizeof(*s));
	err = snapshot_read_ports(dcb, &name, name ? 1 : 0, s, e);
	if (err == -ENODEV) {
		err_set(e, err, "'%s': no such netdev or RDMA device", name);
		ports_hint_names(dcb, e);
	}
	if (!err)
		err = ports_choose(dcb, s, name, &chosen, e);
	if (!err && chosen.spread)
		err = ports_merge(dcb, &chosen, name, false, s, e);
	for (unsigned int i = 0; !err && i < s->port_count; i++) {
		if (!chosen.spread && !port_is_chosen(&s->port[i], name))
			continue;
		if (kept != i)
			s->port[kept] = s->port[i];
		err = read_port(dcb, agent, &s->port[kept++], e);
	}
	if (!err && !kept) {
		if (name)
			err = err_set(e, -ENODEV, "'%s': no such port", name);
		else
			err = err_set(e, -ENODEV, "no RoCE port on this host");
		err_hint(e, "name a netdev with -i; 'rdma link' lists RDMA devices");
	}
	if (err)
		snapshot_clear(s);
	else
		s->port_count = kept;
	return err;
}
