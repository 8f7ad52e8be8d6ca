/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct snapshot: ports, GIDs, QoS and counters of one host at one time. `rocecheck collect`
 * prints it (rocecheck.snapshot/1); `validate --from DIR`, drift detection and tests read it. The
 * JSON may come from any program.
 */
#ifndef PROBE_SNAPSHOT_H
#define PROBE_SNAPSHOT_H

#include <jansson.h>

#include "probe/host/counters.h"
#include "probe/host/host.h"
#include "profiles/qos.h"

#define SNAPSHOT_BYTES_MAX (64u << 20) /* 1024 ports of some 30 KiB, and the host */
#define SNAPSHOT_SCHEMA	   "rocecheck.snapshot/1"
#define PORT_GIDS_MAX	   255 /* limit of gid_count; NICs have tables of 128 and 256 */
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

/* Kind of a port: decides where DCB is set, and if DCB is needed. */
enum port_kind {
	PORT_ROCE_PF,	/* a RoCE port with its own netdev */
	PORT_ROCE_VF,	/* SR-IOV VF: DCB is set on its PF */
	PORT_GUEST,	/* PVRDMA, MANA: DCB is set outside the guest */
	PORT_SOFT_ROCE, /* rdma_rxe over a netdev */
	PORT_IWARP,	/* needs no DCB */
	PORT_ETHERNET,	/* a netdev without RDMA device */
};

/* Input of port_kind_of(). */
struct port_facts {
	bool iwarp;	    /* node type RNIC or transport iWARP */
	bool vf;	    /* it is a virtual function */
	const char *driver; /* RDMA driver, "" = no RDMA device */
	const char *parent; /* driver of its PCI device, may be "" */
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
	uint32_t max_mtu;    /* largest IB MTU of the device, bytes */
	bool dcb;	     /* the netdev supports dcbnl */
	struct gid gid[PORT_GIDS_MAX];
	uint8_t gid_count;
	struct qos qos;	     /* as read; unknown fields have no bit */
	struct qos lldp_qos; /* as advertised by the LLDP neighbor; has == 0: none received */
	char lldp_name[64];  /* system name or chassis id of the link partner */
	char lldp_port[64];
	char lldp_dialect[8]; /* "ieee", "cee", "cin" or "" */
	struct counters counters;
	struct pci_slot pci_slot; /* snapshot_read_host() */
	char clash[96]; /* a DSCP with two priorities, which struct qos cannot hold; "" = none */
};

struct snapshot {
	char host[64];
	char kernel[65];
	char rdma_core[32]; /* "" = unknown */
	char version[32];   /* of rocecheck */
	int64_t read_unix_ns;
	bool privileged;	      /* read with CAP_NET_ADMIN */
	struct host_state host_state; /* snapshot_read_host() */
	struct port *port;	      /* owned */
	unsigned int port_count;
};

struct dcb;

/* Reads this host: every RDMA port with its netdev, and the netdevs in `also` (may be NULL).
 * Changes nothing. Values that cannot be read stay unknown; fails only without netlink. */
int snapshot_read(struct dcb *dcb, const char *const *also, unsigned int also_count,
		  struct snapshot *s, struct err *e);

/* As snapshot_read(), without settings and counters. */
int snapshot_read_ports(struct dcb *dcb, const char *const *also, unsigned int also_count,
			struct snapshot *s, struct err *e);
void snapshot_clear(struct snapshot *s);

/* Adds the ports of all RDMA devices with an Ethernet link layer to a snapshot that has none, with
 * netdev, ibdev, kind, GIDs and MTUs. -ENOMEM, -E2BIG; the caller clears it in any case. */
int snapshot_rdma_ports(struct dcb *dcb, struct snapshot *s, struct err *e);

/* Returns the port of this netdev or ibdev, or NULL. Borrowed. */
const struct port *snapshot_port(const struct snapshot *s, const char *name);

/* Returns the first RoCE v2 GID with this address (numeric text, IPv4 or IPv6; empty = first of an
 * IPv4 address, else first that is not link-local), or NULL. Borrowed. */
const struct gid *port_gid(const struct port *p, const char *address);

/* Returns true for the port of an RDMA device that does RoCE. */
bool port_is_roce(const struct port *p);

/* Returns true for fe80::/10. */
bool gid_is_link_local(const struct gid *g);

/* Convert without loss. from_json accepts documents of other programs: checks every type and range,
 * -EINVAL with the JSON path in e; *s is untouched on failure. */
json_t *snapshot_to_json(const struct snapshot *s);
int snapshot_from_json(const json_t *json, struct snapshot *s, struct err *e);

/* Read and write a file; the write is atomic (temp file + rename), mode 0644. */
int snapshot_load(const char *path, struct snapshot *s, struct err *e);
int snapshot_save(const struct snapshot *s, const char *path, struct err *e);

#endif
