/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to dcb/: struct dcb and its backend, which is the kernel, or a fake host in tests of
 * plan, journal and undo.
 */
#ifndef DCB_BACKEND_H
#define DCB_BACKEND_H

#include "dcb/kernel/congestion.h"
#include "dcb/kernel/dcb.h"

struct dcb_backend {
	/* Changes nothing. */
	int (*read)(struct dcb *dcb, const struct dcb_port *port, struct qos *q, bool *has_dcb,
		    struct err *e);
	/* Reads at least these fields. NULL: read() is used. */
	int (*read_back)(struct dcb *dcb, const struct dcb_port *port, uint64_t fields,
			 struct qos *q, struct err *e);
	/* Writes one object; the caller reads back. */
	int (*write)(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
		     uint64_t mask, struct err *e);
	/* -ENOTUNIQ when struct qos cannot hold the current state. */
	int (*check)(struct dcb *dcb, const struct dcb_port *port, struct err *e);
	/* Creates the configfs directory that makes rdma_cm values readable; *made: it was missing.
	 */
	int (*cm_dir_create)(struct dcb *dcb, const struct dcb_port *port, bool *made,
			     struct err *e);
	/* Removes that directory. */
	int (*cm_dir_remove)(struct dcb *dcb, const struct dcb_port *port, struct err *e);
};

extern const struct dcb_backend dcb_kernel;

/* The LLDP agent that sets ETS, PFC and APP of a port with port->lldp_agent, instead of dcbnl. */
struct lldp_agent_backend {
	uint64_t (*fields)(void); /* fields that it sets */
	/* Replaces the kernel's values of these fields by the agent's configuration. */
	int (*read)(const char *ifname, struct qos *q, struct err *e);
	/* Writes the fields of mask to the agent's configuration. */
	int (*write)(const char *ifname, const struct qos *q, uint64_t mask, struct err *e);
};

extern const struct lldp_agent_backend dcb_lldpad; /* dcb/lldpad/lldp_agent.c */

struct dcb {
	const struct dcb_backend *backend;
	void *machine; /* state of a test's backend */
	struct nl *route;
	struct nl *generic; /* NULL: no generic netlink */
	int ethtool_family; /* -errno: no ethtool netlink */
	int devlink_family; /* 0: not looked up yet; -errno: no devlink */
	int ioctl_fd;
	int sysfs_fd;
	int configfs_fd;  /* -1: not mounted */
	int debugfs_fd;	  /* -1: not mounted or not readable */
	int proc_fd;	  /* -1: likewise */
	char release[65]; /* of the kernel: uname -r */
};

/* Returns the fields that are written together with `field`: one object, one message. */
uint64_t dcb_object_fields(enum qos_field_id field);

/* Returns the fields of dcbnl; on some drivers a write of one changes others. */
uint64_t dcb_dcbnl_fields(void);

/* Returns the port for congestion.h; its names are borrowed from `port`. */
struct congestion_port dcb_congestion_port(struct dcb *dcb, const struct dcb_port *port);

/* dcb_write() for former values: each field of mask must read back with exactly the same value. */
int dcb_restore(struct dcb *dcb, const struct dcb_port *port, const struct qos *q, uint64_t mask,
		struct err *e);

#endif
