/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct dcb: open, close, reads, and verified writes. Requests to the kernel are in kernel.c,
 * behind struct dcb_backend.
 */
#include "dcb/kernel/dcb.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "dcb/kernel/backend.h"
#include "dcb/kernel/dcbnl.h"
#include "dcb/kernel/sysfs.h"

static int dcb_open_sockets(struct dcb *d, struct err *e)
{
	int err = nl_open(NETLINK_ROUTE, &d->route, e);

	if (err)
		return err;
	/* Without generic netlink only link pause is missing. */
	if (!nl_open(NETLINK_GENERIC, &d->generic, NULL))
		d->ethtool_family = nl_family(d->generic, "ethtool", NULL);
	d->ioctl_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (d->ioctl_fd < 0)
		d->ioctl_fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return d->ioctl_fd < 0 ? err_sys(e, -errno, "socket for ethtool") : 0;
}

int dcb_open(const struct dcb_roots *roots, struct dcb **dcb, struct err *e)
{
	const char *sysfs = roots && roots->sysfs ? roots->sysfs : "/sys";
	const char *configfs = roots && roots->configfs ? roots->configfs : "/sys/kernel/config";
	const char *debugfs = roots && roots->debugfs ? roots->debugfs : "/sys/kernel/debug";
	const char *proc = roots && roots->proc ? roots->proc : "/proc";
	struct dcb *d = calloc(1, sizeof(*d));
	struct utsname name;
	int err;

	if (!d)
		return err_sys(e, -ENOMEM, "dcb");
	d->backend = &dcb_kernel;
	if (!uname(&name))
		snprintf(d->release, sizeof(d->release), "%s", name.release);
	d->ethtool_family = -ENOENT;
	d->ioctl_fd = -1;
	d->configfs_fd = open(configfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d->debugfs_fd = open(debugfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d->proc_fd = open(proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d->sysfs_fd = open(sysfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->sysfs_fd < 0)
		err = err_sys(e, -errno, "%s", sysfs);
	else
		err = dcb_open_sockets(d, e);
	if (err) {
		dcb_close(d);
		return err;
	}
	*dcb = d;
	return 0;
}

void dcb_close(struct dcb *dcb)
{
	if (!dcb)
		return;
	nl_shut(dcb->route);
	nl_shut(dcb->generic);
	if (dcb->ioctl_fd >= 0)
		close(dcb->ioctl_fd);
	if (dcb->sysfs_fd >= 0)
		close(dcb->sysfs_fd);
	if (dcb->configfs_fd >= 0)
		close(dcb->configfs_fd);
	if (dcb->debugfs_fd >= 0)
		close(dcb->debugfs_fd);
	if (dcb->proc_fd >= 0)
		close(dcb->proc_fd);
	free(dcb);
}

const char *lldp_agent_word(enum lldp_agent agent)
{
	return agent == LLDP_AGENT_LLDPAD ? "lldpad" : "none";
}

int dcb_check(struct dcb *dcb, const char *ifname, const char *ibdev, unsigned int ib_port,
	      struct err *e)
{
	struct dcb_port port = {ifname, ibdev, ib_port, LLDP_AGENT_NONE};

	return dcb->backend->check(dcb, &port, e);
}

int dcb_read(struct dcb *dcb, const char *ifname, const char *ibdev, unsigned int ib_port,
	     struct qos *q, bool *has_dcb, struct err *e)
{
	struct dcb_port port = {ifname, ibdev, ib_port, LLDP_AGENT_NONE};

	return dcb_read_port(dcb, &port, q, has_dcb, e);
}

int dcb_read_port(struct dcb *dcb, const struct dcb_port *port, struct qos *q, bool *has_dcb,
		  struct err *e)
{
	struct qos now = {0};
	bool has = false;
	int err = dcb->backend->read(dcb, port, &now, &has, e);

	if (err)
		return err;
	*q = now;
	*has_dcb = has;
	return 0;
}

/* Returns the fields of mask that do not satisfy q, as qos_diff() has it; the APP table must be
 * equal. */
static uint64_t dcb_wanted_diff(const struct qos *q, const struct qos *now, uint64_t mask)
{
	uint64_t tables = QOS_BIT(QOS_DSCP_PRIO) | QOS_BIT(QOS_APP);

	return (qos_diff(q, now) & mask) | qos_unequal(q, now, mask & tables);
}

static int dcb_report_diff(const struct dcb_port *port, const struct qos *q, const struct qos *now,
			   uint64_t diff, struct err *e)
{
	char wrote[160], reads[160];

	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		if (!(diff & QOS_BIT(id)))
			continue;
		qos_field_text(q, id, wrote, sizeof(wrote));
		qos_field_text(now, id, reads, sizeof(reads));
		return err_set(e, -EREMOTEIO,
			       "%s: the driver accepted %s but reads back %s, expected %s",
			       port->ifname, qos_fields[id].key, reads, wrote);
	}
	return 0;
}

typedef uint64_t judge_diff(const struct qos *q, const struct qos *now, uint64_t mask);

static int dcb_write_verified(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
			      uint64_t mask, judge_diff *judge, struct err *e)
{
	struct qos now = {0};
	bool has_dcb;
	int err = 0;

	for (int id = 0; !err && id < QOS_FIELD_COUNT; id++) {
		uint64_t object = dcb_object_fields(id);

		/* Writes each object once, at its first field. */
		if (!(object & mask) || object & (QOS_BIT(id) - 1))
			continue;
		err = dcb->backend->write(dcb, port, q, object & mask, e);
	}
	if (!err && dcb->backend->read_back)
		err = dcb->backend->read_back(dcb, port, mask, &now, e);
	else if (!err)
		err = dcb->backend->read(dcb, port, &now, &has_dcb, e);
	if (err)
		return err;
	return dcb_report_diff(port, q, &now, judge(q, &now, mask), e);
}

int dcb_write(struct dcb *dcb, const struct dcb_port *port, const struct qos *q, uint64_t mask,
	      struct err *e)
{
	return dcb_write_verified(dcb, port, q, mask, dcb_wanted_diff, e);
}

int dcb_restore(struct dcb *dcb, const struct dcb_port *port, const struct qos *q, uint64_t mask,
		struct err *e)
{
	return dcb_write_verified(dcb, port, q, mask, qos_unequal, e);
}

int dcb_pfc_counters(struct dcb *dcb, const char *ifname, uint64_t requests[QOS_PRIOS],
		     uint64_t indications[QOS_PRIOS], struct err *e)
{
	struct dcbnl_state s;
	int err = dcbnl_get(dcb->route, ifname, &s, e);

	if (err)
		return err;
	if (!s.has_pfc)
		return err_set(e, -ENODATA, "%s: the driver has no PFC counters", ifname);
	memcpy(requests, s.pfc.requests, sizeof(s.pfc.requests));
	memcpy(indications, s.pfc.indications, sizeof(s.pfc.indications));
	return 0;
}

int dcb_link_speed(struct dcb *dcb, const char *ifname, uint32_t *mbps, struct err *e)
{
	char path[64], text[32], *end;
	long value;
	int err;

	snprintf(path, sizeof(path), "class/net/%.20s/speed", ifname);
	err = strchr(ifname, '/') ? -ENODEV : dcb_sysfs_read(dcb, path, text, sizeof(text));
	/* EINVAL or -1: the link is down, or the driver has no speed. */
	if (err == -EINVAL || err == -EOPNOTSUPP) {
		*mbps = 0;
		return 0;
	}
	if (err)
		return err_sys(e, err, "%s: link speed", ifname);
	value = strtol(text, &end, 10);
	*mbps = end == text || *end || value < 0 || value > UINT32_MAX ? 0 : value;
	return 0;
}

int dcb_sysfs_read(struct dcb *dcb, const char *path, char *buf, size_t size)
{
	ssize_t n = sysfs_read(dcb->sysfs_fd, path, buf, size);

	if (n < 0)
		return (int)n;
	while (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return 0;
}

int dcb_proc_read(struct dcb *dcb, const char *path, char *buf, size_t size)
{
	int fd = openat(dcb->proc_fd, path, O_RDONLY | O_CLOEXEC), err = 0;
	size_t used = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (used < size - 1 && (n = read(fd, buf + used, size - 1 - used)) > 0)
		used += (size_t)n;
	if (n < 0)
		err = -errno;
	else if (n)
		err = -EFBIG;
	close(fd);
	buf[used] = '\0';
	return err;
}

int dcb_sysfs_fd(const struct dcb *dcb)
{
	return dcb->sysfs_fd;
}
