/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports whose QoS is decided elsewhere: guests of clouds and hypervisors, virtual functions, ports
 * behind a DPU, NICs with a tool of their own, iWARP. A table says which fields such a port does
 * not decide and where they are set instead; what no row names is set from here as on any port.
 */
#ifndef DCB_PLATFORM_H
#define DCB_PLATFORM_H

#include <jansson.h>

#include "dcb/plan/plan.h"

/* What a row is recognised by. Plain values, out of sysfs or a test. */
struct platform_facts {
	char driver[32];	 /* of the device below the netdev; "" = none */
	char rdma_driver[32];	 /* of the device below the RDMA device */
	char physical[16];	 /* netdev of a VF's physical function; "" = not on this host */
	char port_name[32];	 /* phys_port_name: "p0", "pf0vf1" */
	uint16_t vendor, device; /* of the PCI function, 0 = unknown */
	bool has_physical;	 /* the netdev's or RDMA device's device has a physfn */
	bool iwarp;		 /* node type RNIC */
	bool has_dcb;		 /* the netdev answers dcbnl */
};

/* Out of sysfs; ibdev may be NULL or empty. What is not there stays empty. has_dcb is the caller's
 * knowledge. */
void platform_gather(struct dcb *dcb, const char *ifname, const char *ibdev, bool has_dcb,
		     struct platform_facts *facts);

#define PLATFORM_PLACES 6

struct platform_place {
	uint64_t fields;   /* QOS_BIT() that the port does not decide */
	const char *where; /* what to do instead: "set it on the ESXi host" */
	bool physical;	   /* the name of the physical function goes on after it */
};

struct platform {
	const char *word; /* "sriov-vf", for JSON */
	const char *name; /* "an SR-IOV virtual function" */
	bool (*is)(const struct platform_facts *facts);
	struct platform_place place[PLATFORM_PLACES]; /* the first with fields 0 ends them */
	const char *seen;			      /* whose source or tool was read */
};
extern const struct platform platforms[];
extern const unsigned int platform_count;

/* Whether it is a virtual function: by its link to a physical one, which a guest does not see, or
 * by its driver or PCI id. */
bool platform_is_virtual(const struct platform_facts *facts);

/* The first row that the facts fit, NULL for a port that decides everything itself. A port may fit
 * several (a VF in iWARP mode). */
const struct platform *platform_find(const struct platform_facts *facts);

/* Text of one place, with the physical function where it belongs. Always terminated. */
#define PLATFORM_WHERE_MAX 160
void platform_where(const struct platform_place *place, const struct platform_facts *facts,
		    char *buf, size_t size);

/* Judges the steps of a plan: those that the port does not decide become ones that cannot run. */
void platform_judge(const struct platform_facts *facts, struct plan *plan);

/* {"kind", "name", "elsewhere": [{"fields", "where"}]} of each row that fits, an empty array for
 * other ports. New reference, NULL on -ENOMEM. */
json_t *platform_json(const struct platform_facts *facts);

#endif
