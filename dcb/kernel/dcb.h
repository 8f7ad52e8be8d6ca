/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct dcb: the QoS of the host's ports, read and written through the kernel: dcbnl for ETS, PFC,
 * APP and DCBX; rtnetlink for the MTU; ethtool netlink for link pause; configfs for rdma_cm.
 * Reading changes nothing: no set, no mkdir.
 */
#ifndef DCB_DCB_H
#define DCB_DCB_H

#include "profiles/qos.h"

struct dcb; /* opaque: sockets and the roots of sysfs, configfs and proc */

/* Where sysfs, configfs, debugfs and proc are; NULL = /sys, /sys/kernel/config, /sys/kernel/debug
 * and /proc. Tests move them. */
struct dcb_roots {
	const char *sysfs;
	const char *configfs;
	const char *debugfs;
	const char *proc;
};

/* The writer of ETS, PFC and APP of a port. */
enum lldp_agent {
	LLDP_AGENT_NONE,   /* rocecheck, by dcbnl */
	LLDP_AGENT_LLDPAD, /* lldpad, which rocecheck configures */
};

const char *lldp_agent_word(enum lldp_agent agent);

/* Names of one port; borrowed. ibdev may be NULL or empty. */
struct dcb_port {
	const char *ifname, *ibdev;
	unsigned int ib_port;
	enum lldp_agent lldp_agent;
};

int dcb_open(const struct dcb_roots *roots, struct dcb **dcb, struct err *e);
void dcb_close(struct dcb *dcb);

/*
 * Reads all settings of ifname into *q; ibdev (NULL or empty: none) adds the RDMA fields. Fields
 * that the device does not offer have no bit. -ENODEV (named in e) when there is no such netdev; a
 * netdev without dcbnl is no error: *has_dcb is false.
 */
int dcb_read(struct dcb *dcb, const char *ifname, const char *ibdev, unsigned int ib_port,
	     struct qos *q, bool *has_dcb, struct err *e);

/* dcb_read() for port->lldp_agent: with lldpad its fields come from its configuration, because the
 * kernel may have the peer's values (willing), or not have the settings yet. */
int dcb_read_port(struct dcb *dcb, const struct dcb_port *port, struct qos *q, bool *has_dcb,
		  struct err *e);

/* Writes the fields of `mask` (QOS_BIT()) from *q, one object per message, then reads them back; a
 * different readback is -EREMOTEIO with both values in e. After a positive driver return only the
 * readback decides. */
int dcb_write(struct dcb *dcb, const struct dcb_port *port, const struct qos *q, uint64_t mask,
	      struct err *e);

/* Checks that struct qos can hold the settings of the port: -ENOTUNIQ with the reason in e, e.g. a
 * DSCP with two priorities, of which a driver uses one. */
int dcb_check(struct dcb *dcb, const char *ifname, const char *ibdev, unsigned int ib_port,
	      struct err *e);

/* Per-priority PFC frame counters of dcbnl IEEE_PFC: requests = sent, indications = received.
 * -EOPNOTSUPP without dcbnl, -ENODATA when the driver answers without them. */
int dcb_pfc_counters(struct dcb *dcb, const char *ifname, uint64_t requests[QOS_PRIOS],
		     uint64_t indications[QOS_PRIOS], struct err *e);

/* Reads the statistics of ethtool -S as names and values. *names is one allocation of n strings of
 * 32 bytes; free() both. -EOPNOTSUPP without any. */
int dcb_ethtool_stats(struct dcb *dcb, const char *ifname, char (**names)[32], uint64_t **values,
		      unsigned int *n, struct err *e);

/* ethtool -i: driver, version, firmware, bus. */
struct dcb_driver_info {
	char driver[32], version[32], firmware[64], bus[64];
};
int dcb_driver(struct dcb *dcb, const char *ifname, struct dcb_driver_info *info, struct err *e);

/* Link speed in Mb/s, 0 when unknown. */
int dcb_link_speed(struct dcb *dcb, const char *ifname, uint32_t *mbps, struct err *e);

/* Reads a small file under the sysfs root ("class/net/eth0/mtu"), without its newline. -errno. */
int dcb_sysfs_read(struct dcb *dcb, const char *path, char *buf, size_t size);

/* Reads a whole file under proc, page by page; always terminated. -EFBIG when it does not fit, else
 * as dcb_sysfs_read(). */
int dcb_proc_read(struct dcb *dcb, const char *path, char *buf, size_t size);

/* Returns the open sysfs root, for listings. Borrowed until dcb_close(). */
int dcb_sysfs_fd(const struct dcb *dcb);

#endif
