/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the current users of a port, which a link flap or a reset would interrupt. Changes nothing.
 */
#ifndef PROBE_PORT_USERS_H
#define PROBE_PORT_USERS_H

#include <jansson.h>
#include <sys/types.h>

#include "dcb/kernel/dcb.h"

#define PORT_USERS_MAX 16

enum port_user_kind {
	PORT_USER_QP,	 /* queue pairs of a process, or of a kernel module (pid 0) */
	PORT_USER_NVME,	 /* an NVMe controller over RDMA */
	PORT_USER_NFS,	 /* an NFS mount over RDMA */
	PORT_USER_LOGIN, /* the SSH connection of this login */
	PORT_USER_BOND,	 /* the port is a member of a bond */
};

struct port_user {
	enum port_user_kind kind;
	char name[64];	    /* of the process, module, controller, mount, peer or bond */
	pid_t pid;	    /* PORT_USER_QP */
	char owner[33];	    /* of this process: account name or uid; empty = unknown */
	unsigned int count; /* PORT_USER_QP: queue pairs */
};

struct port_users {
	unsigned int count, more; /* more: users beyond those in the list */
	struct port_user user[PORT_USERS_MAX];
};

/* Root of /proc, for tests; NULL = /proc. sysfs is that of dcb. */
struct port_users_roots {
	const char *proc;
};

/* Collects the users. ibdev may be NULL or empty. Users that cannot be read are left out: the list
 * is for a warning. */
void port_users_gather(struct dcb *dcb, const struct port_users_roots *roots, const char *netdev,
		       const char *ibdev, unsigned int ib_port, struct port_users *use);

/* Writes "3 queue pairs of ib_write_bw (pid 812, user alice)". Always terminated. */
void port_user_text(const struct port_user *use, char *buf, size_t size);

/* Returns the list of port_user_text(). New reference, NULL on -ENOMEM. */
json_t *port_users_to_json(const struct port_users *use);

/* Removes users that send no RDMA packets: login and bond. */
void port_users_keep_rdma(struct port_users *use);

/* Parts of port_users_gather(), for tests. */

/* Adds the queue pair of ib_port in one entry of RDMA_NLDEV_CMD_RES_QP_GET. */
void port_users_add_qps(struct port_users *use, unsigned int ib_port, const uint8_t *payload,
			size_t size, const char *proc);
/* Finds the client address of pid's login in SSH_CONNECTION of pid or an ancestor. */
bool port_users_login_client(const char *proc, pid_t pid, char *peer, size_t size);
/* Returns true if `upper` is the port itself, or a VLAN, bond, bridge ... on top of it. */
bool port_users_is_upper(struct dcb *dcb, const char *upper, const char *port);

#endif
