/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that traffic is in: host memory, in ordinary or huge pages. Memory of a GPU is not
 * tested, and why is said: what the RDMA device offers, and whether there is a GPU to take it from.
 */
#ifndef PROBE_TRAFFIC_MEMORY_H
#define PROBE_TRAFFIC_MEMORY_H

#include <jansson.h>

#include "profiles/base/base.h"

#define TRAFFIC_HUGE_PAGE (2u << 20)

/* Of one end. Zero: nothing is known, as of an end that gave no result. */
struct traffic_memory {
	uint64_t bytes;		  /* registered, all threads */
	uint64_t huge_bytes;	  /* of them in huge pages that were reserved */
	uint64_t registration_ns; /* what registering took */
	bool dmabuf;		  /* the device registers memory of a dma-buf */
	char gpu[64];		  /* "amdgpu 0000:03:00.0", whose driver exports dma-buf; or "" */
};

/* "host pages", "huge pages", "host and huge pages". */
const char *traffic_memory_pages(const struct traffic_memory *m);

/* "GPU path not tested: rxe0 registers no dma-buf memory, ...". */
void traffic_memory_gpu(const struct traffic_memory *m, const char *device, char *buf, size_t size);

json_t *traffic_memory_to_json(const struct traffic_memory *m);
int traffic_memory_from_json(const json_t *json, struct traffic_memory *m, struct err *e);

/* The first PCI device below root ("" = this host) whose driver exports dma-buf from memory of a
 * GPU or accelerator, as "driver address"; false and "": none. */
bool gpu_find(const char *root, char *buf, size_t size);

/* Pages of so many bytes, huge ones where wished and reserved, else ordinary ones. NULL: errno. */
void *traffic_pages(size_t *bytes, bool huge, bool *got_huge);

/* What registering costs here, in pages of each kind. */
enum registration_pages {
	REGISTRATION_HOST,
	REGISTRATION_HUGE,
	REGISTRATION_KINDS,
};
struct registration {
	char ibdev[64];
	uint64_t ns_per_mib[REGISTRATION_KINDS]; /* 0 = not measured */
	char why[REGISTRATION_KINDS][160];	 /* not */
	struct traffic_memory memory;		 /* what the device and this host offer */
};

/* Registers and releases memory of the device (NULL: the first one), again and again; nothing is
 * sent. -ENODEV when it is not there; what one kind of pages lacks is in its why. */
int registration_measure(const char *ibdev, struct registration *r, struct err *e);

#endif
