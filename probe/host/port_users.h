/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who uses a port now: what a step that flaps its link or resets it would break. Reads only.
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
	PORT_USER_LOGIN, /* this very login comes in over it */
	PORT_USER_BOND,	 /* it is a slave */
};

struct port_user {
	enum port_user_kind kind;
	char name[64];	    /* of the process, module, controller, mount, peer or bond */
	pid_t pid;	    /* PORT_USER_QP */
	unsigned int count; /* PORT_USER_QP: queue pairs */
};

struct port_users {
	unsigned int count, more; /* more: users beyond those in the list */
	struct port_user user[PORT_USERS_MAX];
};

/* Where proc is; NULL = /proc. sysfs is that of dcb. */
struct port_users_roots {
	const char *proc;
};

/* ibdev may be NULL or empty. What cannot be read is not there: this is a warning, no account. */
void port_users_gather(struct dcb *dcb, const struct port_users_roots *roots, const char *netdev,
		       const char *ibdev, unsigned int ib_port, struct port_users *use);

/* "3 queue pairs of ib_write_bw (pid 812)". Always terminated. */
void port_user_text(const struct port_user *use, char *buf, size_t size);

/* The lines of port_user_text(). New reference, NULL on -ENOMEM. */
json_t *port_users_to_json(const struct port_users *use);

/* Leaves those whose packets are RDMA: a login and a bond are not. */
void port_users_keep_rdma(struct port_users *use);

/* Parts of it, for tests. */

/* What one entry of RDMA_NLDEV_CMD_RES_QP_GET says of a queue pair of ib_port. */
void port_users_add_qps(struct port_users *use, unsigned int ib_port, const uint8_t *payload,
			size_t size, const char *proc);
/* Client address of the login that pid is a part of, from SSH_CONNECTION of it or of an ancestor.
 */
bool port_users_login_client(const char *proc, pid_t pid, char *peer, size_t size);
/* Whether frames of the netdev `upper` go through `port`: it is the port, or a VLAN, bond, bridge
 * ... above it. */
bool port_users_is_upper(struct dcb *dcb, const char *upper, const char *port);

#endif
