/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports whose QoS is not set on this host: guests of clouds and hypervisors, virtual functions,
 * ports behind a DPU, NICs with a vendor tool, iWARP. A table lists the fields that cannot be set
 * on such a port, and where to set them instead.
 */
#ifndef DCB_PLATFORM_H
#define DCB_PLATFORM_H

#include <jansson.h>

#include "dcb/plan/plan.h"

/* Facts that identify a platform, out of sysfs or a test. */
struct platform_facts {
	char driver[32];	 /* of the device below the netdev; "" = none */
	char rdma_driver[32];	 /* of the device below the RDMA device */
	char physical[16];	 /* netdev of a VF's physical function; "" = not on this host */
	char port_name[32];	 /* phys_port_name: "p0", "pf0vf1" */
	uint16_t vendor, device; /* of the PCI function, 0 = unknown */
	bool has_physical;	 /* the device of the netdev or RDMA device has a physfn link */
	bool iwarp;		 /* node type RNIC */
	bool has_dcb;		 /* the netdev answers dcbnl */
};

/* Reads the facts out of sysfs; ibdev may be NULL or empty. Missing ones stay empty. The caller
 * provides has_dcb. */
void platform_gather(struct dcb *dcb, const char *ifname, const char *ibdev, bool has_dcb,
		     struct platform_facts *facts);

#define PLATFORM_PLACES 6

struct platform_place {
	uint64_t fields;   /* QOS_BIT()s that cannot be set on the port */
	const char *where; /* the remedy: "set it on the ESXi host" */
	bool physical;	   /* append the name of the physical function */
};

struct platform {
	const char *word; /* "sriov-vf", for JSON */
	const char *name; /* "an SR-IOV virtual function" */
	bool (*is)(const struct platform_facts *facts);
	struct platform_place place[PLATFORM_PLACES]; /* the first with fields 0 ends them */
	const char *seen;			      /* the source or tool that was read */
};
extern const struct platform platforms[];
extern const unsigned int platform_count;

/* Returns true for a virtual function: by its link to the physical one, which a guest does not see,
 * or by its driver or PCI id. */
bool platform_is_virtual(const struct platform_facts *facts);

/* Returns the first row that matches, NULL for a port where all fields can be set. A port may match
 * several rows (a VF in iWARP mode). */
const struct platform *platform_find(const struct platform_facts *facts);

/* Writes the remedy, with the physical function if it applies. Always terminated. */
#define PLATFORM_WHERE_MAX 160
void platform_where(const struct platform_place *place, const struct platform_facts *facts,
		    char *buf, size_t size);

/* Marks the steps of a plan that cannot be set on the port as `cannot`. */
void platform_judge(const struct platform_facts *facts, struct plan *plan);

/* Returns {"kind", "name", "elsewhere": [{"fields", "where"}]} of each matching row, an empty array
 * for other ports. New reference, NULL on -ENOMEM. */
json_t *platform_json(const struct platform_facts *facts);

#endif
