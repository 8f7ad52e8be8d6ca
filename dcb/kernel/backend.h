/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside dcb/: what struct dcb is, and the seam below which the kernel is. Tests put a machine of
 * their own there, so that plan, journal and undo are exercised without one.
 */
#ifndef DCB_BACKEND_H
#define DCB_BACKEND_H

#include "dcb/kernel/dcb.h"

struct dcb_backend {
	/* Changes nothing. */
	int (*read)(struct dcb *dcb, const struct dcb_port *port, struct qos *q, bool *has_dcb,
		    struct err *e);
	/* Reads these fields at least, and may leave out others. NULL: read() does it. */
	int (*read_back)(struct dcb *dcb, const struct dcb_port *port, uint64_t fields,
			 struct qos *q, struct err *e);
	/* Writes one object; the caller reads back. */
	int (*write)(struct dcb *dcb, const struct dcb_port *port, const struct qos *q,
		     uint64_t mask, struct err *e);
	/* -ENOTUNIQ when the former state is one that struct qos cannot hold. */
	int (*check)(struct dcb *dcb, const struct dcb_port *port, struct err *e);
	/* Makes readable what only a change can make readable; *made when there was a change. */
	int (*cm_dir_create)(struct dcb *dcb, const struct dcb_port *port, bool *made,
			     struct err *e);
	/* Takes that change back. */
	int (*cm_dir_remove)(struct dcb *dcb, const struct dcb_port *port, struct err *e);
};

extern const struct dcb_backend dcb_kernel;

/* Who sets ETS, PFC and APP of a port with port->agent, in the place of dcbnl. */
struct lldp_agent_backend {
	uint64_t (*fields)(void); /* that it sets */
	/* Puts what the agent was told in the place of what the kernel says. */
	int (*read)(const char *ifname, struct qos *q, struct err *e);
	/* Tells the agent the fields of mask. */
	int (*write)(const char *ifname, const struct qos *q, uint64_t mask, struct err *e);
};

extern const struct lldp_agent_backend dcb_lldpad; /* dcb/lldpad/lldp_agent.c */

struct dcb {
	const struct dcb_backend *backend;
	void *machine; /* of a test's backend */
	struct nl *route;
	struct nl *generic; /* NULL: no generic netlink */
	int ethtool_family; /* -errno: no ethtool netlink */
	int devlink_family; /* 0: nobody has asked; -errno: no devlink */
	int ioctl_fd;
	int sysfs_fd;
	int configfs_fd;  /* -1: not mounted */
	int debugfs_fd;	  /* -1: not mounted, or not for us */
	int proc_fd;	  /* -1: likewise */
	char release[65]; /* of the kernel: uname -r */
};

/* All fields that are written together with `field`: one object, one message. */
uint64_t dcb_object_fields(enum qos_field_id field);

/* The fields that dcbnl serves; a write of one can change the others on some drivers. */
uint64_t dcb_dcbnl_fields(void);

/* dcb_write() without the judgement of a wish: every field of mask must read back as the same
 * value. */
int dcb_restore(struct dcb *dcb, const struct dcb_port *port, const struct qos *q, uint64_t mask,
		struct err *e);

#endif
