/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads host settings that affect RoCE: CPU clocks, NUMA, limits, other programs that set QoS; and
 * per port its PCI slot, IOMMU, interrupts, VLANs and routing sysctls. Source: sysfs and /proc.
 * Changes nothing.
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

/* Another program that sets DCB: struct owner of dcb/drift/owner.h as a record. */
struct host_owner {
	char kind[24]; /* host_owner_word() */
	int32_t pid;   /* 0: not running */
	char path[128], name[64], via[128];
};

/* A netdev without RDMA device although an RDMA driver exists for its NIC. */
struct host_nic {
	char netdev[16];
	char driver[32];
};

struct host_state {
	bool known;		/* the host was examined */
	int64_t memlock_bytes;	/* soft limit of locked memory, HOST_UNLIMITED */
	int32_t ipc_lock;	/* 1: CAP_IPC_LOCK, which lifts that limit */
	int32_t cpus;		/* CPUs with a cpufreq governor, 0 = none */
	int32_t cpus_saving;	/* of these, with a governor other than performance */
	char governor[24];	/* the first such governor */
	int32_t numa_nodes;	/* online */
	int32_t numa_balancing; /* kernel.numa_balancing, 0 = off */
	int32_t rdma_cm;	/* 1: /dev/infiniband/rdma_cm exists */
	int32_t lldpad;		/* pid, 0 = none runs */
	int32_t lldpd;		/* pid, 0 = none runs */
	int32_t irqbalance;	/* pid, 0 = none runs */
	int32_t udev_rule;	/* 1: rocecheck's udev rule applies settings when a driver loads */
	int32_t boot_unit;	/* 1: rocecheck's unit applies settings at boot */
	uint32_t owner_count;
	struct host_owner owner[HOST_OWNERS_MAX]; /* worst first */
	uint32_t nic_count;
	struct host_nic nic[HOST_NICS_MAX];
};

struct netdev_vlan {
	char netdev[16];
	int32_t id;
};

/* A connected IPv4 subnet. */
struct netdev_subnet {
	char cidr[20]; /* "198.18.0.0/24" */
};

struct pci_slot {
	bool known;
	char bdf[24];		/* of the PCI device, empty: not on a PCI bus */
	int32_t vendor, device; /* PCI ids of it */
	char physical[16];	/* VF: netdev of its physical function, if on this host */
	char port_name[32];	/* phys_port_name: "p0", "pf0vf1" */
	int32_t numa_node;
	int32_t pcie_speed, pcie_speed_max;	/* MT/s: 16000 is PCIe 4.0 */
	int32_t pcie_width, pcie_width_max;	/* lanes */
	int32_t slot_speed_max, slot_width_max; /* maximum of the upstream PCIe port */
	char iommu[16];			  /* type of its group: "identity", "DMA-FQ"; "none" */
	int32_t irqs, irqs_remote;	  /* remote: bound to CPUs of other NUMA nodes only */
	int32_t vfs;			  /* number of virtual functions */
	int32_t forwarding;		  /* net.ipv4.conf.IFACE.forwarding */
	int32_t rp_filter;		  /* maximum of all and IFACE, as in the kernel */
	int32_t arp_ignore, arp_announce; /* likewise */
	uint32_t subnet_count;
	struct netdev_subnet subnet[PCI_SLOT_SUBNETS_MAX]; /* of its IPv4 addresses */
	uint32_t vlan_count;
	struct netdev_vlan vlan[PCI_SLOT_VLANS_MAX]; /* VLANs on the netdev */
};

/* Roots of the file trees, for tests; NULL = /sys, /proc and /. */
struct host_roots {
	const char *sysfs, *proc, *root;
};

/* Reads the host. netdevs: ports for which owners are searched. */
void host_state_read(const struct host_roots *roots, const char *const *netdevs, unsigned int count,
		     struct host_state *m);

/* Reads the PCI slot of netdev, or of ibdev if netdev is empty. */
void pci_slot_read(const struct host_roots *roots, const char *netdev, const char *ibdev,
		   struct pci_slot *pci);

/* "lldpad", "reapply", ... of an owner_kind, and back; -ENOENT. */
const char *host_owner_word(int kind);
int host_owner_kind(const char *word);

/* Returns the RDMA driver for a netdev's driver ("mlx5_core": "mlx5_ib"), or NULL. */
const char *host_rdma_driver(const char *driver);

/* Reads the host, and the PCI slot of each port of a snapshot. */
struct snapshot;
void snapshot_read_host(const struct host_roots *roots, struct snapshot *s);

/* Returns the bandwidth of a PCIe link in Mb/s after line coding (8b/10b up to 5 GT/s, 128b/130b
 * above; PCI Express Base 4.2), 0 when unknown. */
uint64_t pcie_mbps(int32_t speed, int32_t width);

/* Returns true if two CPU lists ("0-3,8") have a common CPU; false if one is invalid. Pure. */
bool cpu_lists_intersect(const char *a, const char *b);

#endif
