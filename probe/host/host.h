/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine around the ports does to RoCE: CPU clocks, NUMA, limits, IOMMU, who else sets
 * QoS, and for each port the slot it sits in, its interrupts, its VLANs and its routing switches.
 * Filled from sysfs and /proc, or by a test; reads only.
 *
 * A number that could not be read is HOST_UNKNOWN, a text is empty.
 */
#ifndef PROBE_HOST_H
#define PROBE_HOST_H

#include <jansson.h>

#include "profiles/base/base.h"

#define HOST_UNKNOWN	     (-1)		      /* as SMALL_FILE_UNKNOWN */
#define HOST_UNLIMITED	     ((INT64_C(1) << 53) - 1) /* the largest that every JSON reader keeps */
#define HOST_OWNERS_MAX	     8
#define PCI_SLOT_SUBNETS_MAX 8
#define HOST_NICS_MAX	     16
#define PCI_SLOT_VLANS_MAX   8

/* A program that sets DCB: struct owner of dcb/drift/owner.h as a record. */
struct host_owner {
	char kind[24]; /* host_owner_word() */
	int32_t pid;   /* 0: does not run */
	char path[128], name[64], via[128];
};

/* A netdev whose driver has an RDMA driver beside it, and which has no RDMA device. */
struct host_nic {
	char netdev[16];
	char driver[32];
};

struct host_state {
	bool known;		/* it was looked at */
	int64_t memlock_bytes;	/* soft limit of locked memory, HOST_UNLIMITED */
	int32_t ipc_lock;	/* 1: CAP_IPC_LOCK, which lifts that limit */
	int32_t cpus;		/* CPUs whose clock is governed, 0 = none */
	int32_t cpus_saving;	/* of these, with another governor than performance */
	char governor[24];	/* the first such governor */
	int32_t numa_nodes;	/* online */
	int32_t numa_balancing; /* kernel.numa_balancing, 0 = off */
	int32_t rdma_cm;	/* 1: /dev/infiniband/rdma_cm is offered */
	int32_t lldpad;		/* pid, 0 = none runs */
	int32_t lldpd;		/* pid, 0 = none runs */
	int32_t irqbalance;	/* pid, 0 = none runs */
	int32_t udev_rule;	/* 1: as above, when a driver is loaded again */
	int32_t boot_unit;	/* 1: rocecheck's own unit applies settings at boot */
	uint32_t owner_count;
	struct host_owner owner[HOST_OWNERS_MAX]; /* worst first */
	uint32_t nic_count;
	struct host_nic nic[HOST_NICS_MAX];
};

struct netdev_vlan {
	char netdev[16];
	int32_t id;
};

/* An IPv4 subnet that the kernel has a route into. */
struct netdev_subnet {
	char cidr[20]; /* "198.18.0.0/24" */
};

struct pci_slot {
	bool known;
	char bdf[24];		/* of the PCI device, empty: not on a PCI bus */
	int32_t vendor, device; /* PCI ids of it */
	char physical[16];	/* netdev of a VF's physical function, where it is on this host */
	char port_name[32];	/* phys_port_name: "p0", "pf0vf1" */
	int32_t numa_node;
	int32_t pcie_speed, pcie_speed_max;	/* MT/s: 16000 is PCIe 4.0 */
	int32_t pcie_width, pcie_width_max;	/* lanes */
	int32_t slot_speed_max, slot_width_max; /* what the port above could */
	char iommu[16];			  /* type of its group: "identity", "DMA-FQ"; "none" */
	int32_t irqs, irqs_remote;	  /* remote: no CPU of the NIC's node may take it */
	int32_t vfs;			  /* virtual functions made of it */
	int32_t forwarding;		  /* net.ipv4.conf.IFACE.forwarding */
	int32_t rp_filter;		  /* the larger of all and IFACE, as the kernel does */
	int32_t arp_ignore, arp_announce; /* likewise */
	uint32_t subnet_count;
	struct netdev_subnet subnet[PCI_SLOT_SUBNETS_MAX]; /* of its IPv4 addresses */
	uint32_t vlan_count;
	struct netdev_vlan vlan[PCI_SLOT_VLANS_MAX]; /* VLANs on the netdev */
};

/* Where the trees are; NULL = /sys, /proc and /. Tests move them. */
struct host_roots {
	const char *sysfs, *proc, *root;
};

/* netdevs: the ports whose owners are looked for. */
void host_state_read(const struct host_roots *roots, const char *const *netdevs, unsigned int count,
		     struct host_state *m);

/* netdev, or ibdev where that is empty. */
void pci_slot_read(const struct host_roots *roots, const char *netdev, const char *ibdev,
		   struct pci_slot *pci);

/* "lldpad", "reapply", ... of an owner_kind, and back; -ENOENT. */
const char *host_owner_word(int kind);
int host_owner_kind(const char *word);

/* The RDMA driver beside a netdev's driver ("mlx5_core": "mlx5_ib"), NULL when there is none. */
const char *host_rdma_driver(const char *driver);

/* Both for a snapshot: the machine, and the seat of each of its ports. */
struct snapshot;
void snapshot_read_host(const struct host_roots *roots, struct snapshot *s);

/* Bandwidth of a PCIe link in Mb/s behind its line code (8b/10b up to 5 GT/s, 128b/130b above; PCI
 * Express Base 4.2), 0 when unknown. */
uint64_t pcie_mbps(int32_t speed, int32_t width);

/* Whether two lists of CPUs ("0-3,8") share one. False when one cannot be read. Pure. */
bool cpu_lists_intersect(const char *a, const char *b);

#endif
