/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a port is: facts of the RDMA device (libibverbs, RDMA netlink, sysfs) and of the netdev.
 * Fills struct port; what cannot be read stays zero or empty. Reads only.
 */
#ifndef PROBE_FACTS_H
#define PROBE_FACTS_H

#include "probe/host/snapshot.h"

/* What the kind of a port is decided by; filled from the kernel, or by a test. */
struct port_facts {
	bool iwarp;	    /* node type RNIC or transport iWARP */
	bool vf;	    /* it is a virtual function */
	const char *driver; /* of the RDMA device, "" = no RDMA device */
	const char *parent; /* of the PCI device below it, may be "" */
};

/* Pure. */
enum port_kind port_kind_of(const struct port_facts *facts);

/* "roce-pf", "soft-roce", ... and back; -ENOENT. */
const char *port_kind_word(enum port_kind kind);
int port_kind_value(const char *word);

/* Every port of every RDMA device with an Ethernet link layer. *ports is one allocation, free() it;
 * *count may be 0. netdev, ibdev, kind, GIDs and MTUs are filled. -ENOMEM. */
int facts_rdma_ports(struct dcb *dcb, struct port **ports, unsigned int *count, struct err *e);

/* Adds what the netdev tells: driver, MAC, link. -ENODEV in e when it is gone. */
int facts_netdev(struct dcb *dcb, struct port *p, struct err *e);

/* Fills the numeric addresses of the netdev. Two dumps of the kernel, so not for those who do not
 * need them. */
void facts_addresses(struct port *p);

#endif
