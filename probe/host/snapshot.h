/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct snapshot: what one host is, at one moment: ports, GIDs, QoS as read, counters. It is what
 * `rocecheck collect` prints (rocecheck.snapshot/1), the fixture of tests, the offline input of
 * `validate --from DIR` and the drift baseline. Anything may produce the JSON.
 */
#ifndef PROBE_SNAPSHOT_H
#define PROBE_SNAPSHOT_H

#include <jansson.h>

#include "probe/host/counters.h"
#include "probe/host/host.h"
#include "profiles/qos.h"

#define SNAPSHOT_BYTES_MAX (64u << 20) /* 1024 ports of some 30 KiB, and the machine */
#define SNAPSHOT_SCHEMA	   "rocecheck.snapshot/1"
#define PORT_GIDS_MAX	   255 /* what gid_count holds; NICs have tables of 128 and 256 */
#define PORT_ADDRS_MAX	   16

enum gid_type {
	GID_UNKNOWN,
	GID_ROCE_V1,
	GID_ROCE_V2,
	GID_IB,
};

struct gid {
	uint16_t index;
	uint8_t type;	 /* enum gid_type */
	uint8_t raw[16]; /* network order; IPv4 as ::ffff:a.b.c.d */
};

/* What kind of RDMA port it is: who can set DCB, and whether DCB matters at all. */
enum port_kind {
	PORT_ROCE_PF,	/* a RoCE port with its own netdev */
	PORT_ROCE_VF,	/* SR-IOV VF: set on the PF */
	PORT_GUEST,	/* PVRDMA, MANA: set outside the guest */
	PORT_SOFT_ROCE, /* rdma_rxe over a netdev */
	PORT_IWARP,	/* needs no DCB */
	PORT_ETHERNET,	/* a netdev without RDMA device */
};

/* What the kind of a port is decided by; filled from the kernel, or by a test. */
struct port_facts {
	bool iwarp;	    /* node type RNIC or transport iWARP */
	bool vf;	    /* it is a virtual function */
	const char *driver; /* of the RDMA device, "" = no RDMA device */
	const char *parent; /* of the PCI device below it, may be "" */
};

/* Pure. */
enum port_kind port_kind_of(const struct port_facts *facts);

/* "roce-pf", "soft-roce", ... */
const char *port_kind_word(enum port_kind kind);
extern const struct qos_word port_kind_words[];

struct port {
	char netdev[16];
	char ibdev[64];	 /* empty: none */
	uint8_t ib_port; /* from 1 */
	uint8_t kind;	 /* enum port_kind */
	char driver[32]; /* netdev's driver, ethtool -i */
	char driver_version[32];
	char firmware[64];
	char bus[64];
	char rdma_driver[32]; /* "rxe", "mlx5_ib", ... by sysfs; empty: none */
	char mac[18];
	char address[PORT_ADDRS_MAX][46]; /* numeric, without prefix length */
	uint8_t address_count;
	bool up;	     /* IFF_UP and carrier */
	bool ib_active;	     /* port state ACTIVE */
	uint32_t speed_mbps; /* 0 = unknown */
	uint32_t active_mtu; /* IB MTU in bytes, 0 = unknown */
	uint32_t max_mtu;    /* IB MTU the device could, bytes */
	bool dcb;	     /* the netdev answers dcbnl */
	struct gid gid[PORT_GIDS_MAX];
	uint8_t gid_count;
	struct qos qos;	     /* as read; unknown fields have no bit */
	struct qos lldp_qos; /* as the link partner advertised by LLDP; has == 0: nothing heard */
	char lldp_name[64];  /* system name or chassis id of the link partner */
	char lldp_port[64];
	char lldp_dialect[8]; /* "ieee", "cee", "cin" or "" */
	struct counters counters;
	struct pci_slot pci_slot; /* snapshot_read_host() */
	char clash[96]; /* what struct qos cannot hold: a DSCP with two priorities; "" = nothing */
};

struct snapshot {
	char host[64];
	char kernel[65];
	char rdma_core[32]; /* "" = unknown */
	char version[32];   /* of the rocecheck that took it */
	int64_t read_unix_ns;
	bool privileged;	      /* CAP_NET_ADMIN was there */
	struct host_state host_state; /* snapshot_read_host() */
	struct port *port;	      /* owned */
	unsigned int port_count;
};

struct dcb;

/* Reads this host: every RDMA port with its netdev, and every netdev named in `also` (may be NULL).
 * Changes nothing. What cannot be read stays unknown; only a broken environment (no netlink) fails.
 */
int snapshot_read(struct dcb *dcb, const char *const *also, unsigned int also_count,
		  struct snapshot *s, struct err *e);

/* The same ports without what they are set to and count: for those who read that themselves. */
int snapshot_read_ports(struct dcb *dcb, const char *const *also, unsigned int also_count,
			struct snapshot *s, struct err *e);
void snapshot_clear(struct snapshot *s);

/* Adds the ports of all RDMA devices with an Ethernet link layer to a snapshot that has none, with
 * netdev, ibdev, kind, GIDs and MTUs. -ENOMEM, -E2BIG; the caller clears it in any case. */
int snapshot_rdma_ports(struct dcb *dcb, struct snapshot *s, struct err *e);

/* The port by netdev or ibdev name, NULL if there is none. Borrowed. */
const struct port *snapshot_port(const struct snapshot *s, const char *name);

/* First RoCE v2 GID of this address (numeric text, IPv4 or IPv6; empty = first that is not
 * link-local). NULL if none. Borrowed. */
const struct gid *port_gid(const struct port *p, const char *address);

/* Numeric text of a GID: dotted quad for IPv4-mapped ones. */
void gid_text(const struct gid *g, char *buf, size_t size);

/* Lossless round trip. from_json reads foreign documents too: checks every type and range, -EINVAL
 * with the JSON path in e; *s is untouched on failure. */
json_t *snapshot_to_json(const struct snapshot *s);
int snapshot_from_json(const json_t *json, struct snapshot *s, struct err *e);

/* File forms; write is atomic (temp file + rename), mode 0644. */
int snapshot_load(const char *path, struct snapshot *s, struct err *e);
int snapshot_save(const struct snapshot *s, const char *path, struct err *e);

#endif
