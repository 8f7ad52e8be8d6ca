/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who uses a port now: what a step that flaps its link or resets it would break. Reads only.
 */
#ifndef PROBE_USE_H
#define PROBE_USE_H

#include <jansson.h>
#include <sys/types.h>

#include "dcb/kernel/dcb.h"

#define USE_MAX 16

enum use_kind {
	USE_QP,	   /* queue pairs of a process, or of a kernel module (pid 0) */
	USE_NVME,  /* an NVMe controller over RDMA */
	USE_NFS,   /* an NFS mount over RDMA */
	USE_LOGIN, /* this very login comes in over it */
	USE_BOND,  /* it is a slave */
};

struct use {
	enum use_kind kind;
	char name[64];	    /* of the process, module, controller, mount, peer or bond */
	pid_t pid;	    /* USE_QP */
	unsigned int count; /* USE_QP: queue pairs */
};

struct port_use {
	unsigned int count, more; /* more: users beyond those in the list */
	struct use use[USE_MAX];
};

/* Where proc is; NULL = /proc. sysfs is that of dcb. */
struct use_roots {
	const char *proc;
};

/* ibdev may be NULL or empty. What cannot be read is not there: this is a warning, no account. */
void use_gather(struct dcb *dcb, const struct use_roots *roots, const char *netdev,
		const char *ibdev, unsigned int ib_port, struct port_use *use);

/* "3 queue pairs of ib_write_bw (pid 812)". Always terminated. */
void use_text(const struct use *use, char *buf, size_t size);

/* The lines of use_text(). New reference, NULL on -ENOMEM. */
json_t *use_to_json(const struct port_use *use);

/* Leaves those whose packets are RDMA: a login and a bond are not. */
void use_keep_rdma(struct port_use *use);

/* Parts of it, for tests. */

/* What one entry of RDMA_NLDEV_CMD_RES_QP_GET says of a queue pair of ib_port. */
void use_add_qps(struct port_use *use, unsigned int ib_port, const uint8_t *payload, size_t size,
		 const char *proc);
/* Client address of the login that pid is a part of, from SSH_CONNECTION of it or of an ancestor.
 */
bool use_login_peer(const char *proc, pid_t pid, char *peer, size_t size);
/* Whether frames of the netdev `upper` go through `port`: it is the port, or a VLAN, bond, bridge
 * ... above it. */
bool use_is_above(struct dcb *dcb, const char *upper, const char *port);

#endif
