/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts of struct platform_facts out of sysfs. A VF's device has a link to
 * its physical function, and below that is the netdev of it, while both are on one host.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/kernel/sysfs.h"
#include "dcb/plan/platform.h"

#define PATH_LENGTH 192

static uint16_t read_id(struct dcb *dcb, const char *device, const char *file)
{
	char path[PATH_LENGTH + 16], text[16], *end;
	unsigned long id;

	snprintf(path, sizeof(path), "%s/%s", device, file);
	if (dcb_sysfs_read(dcb, path, text, sizeof(text)))
		return 0;
	id = strtoul(text, &end, 16);
	return end == text || *end || id > UINT16_MAX ? 0 : (uint16_t)id;
}

/* The first netdev of the physical function; of several ports it is the one that was first. */
static void read_physical(struct dcb *dcb, const char *device, struct platform_facts *facts)
{
	char path[PATH_LENGTH + 16];

	snprintf(path, sizeof(path), "%s/physfn", device);
	if (faccessat(dcb_sysfs_fd(dcb), path, F_OK, 0))
		return;
	facts->has_physical = true;
	snprintf(path, sizeof(path), "%s/physfn/net", device);
	(void)sysfs_first_name(dcb_sysfs_fd(dcb), path, facts->physical, sizeof(facts->physical));
}

static void read_device(struct dcb *dcb, const char *device, char *driver, size_t size,
			struct platform_facts *facts)
{
	char path[PATH_LENGTH + 16];

	snprintf(path, sizeof(path), "%s/driver", device);
	(void)sysfs_link_name(dcb_sysfs_fd(dcb), path, driver, size);
	if (!facts->vendor) {
		facts->vendor = read_id(dcb, device, "vendor");
		facts->device = read_id(dcb, device, "device");
	}
	if (!facts->has_physical)
		read_physical(dcb, device, facts);
}

void platform_gather(struct dcb *dcb, const char *ifname, const char *ibdev, bool has_dcb,
		     struct platform_facts *facts)
{
	char path[PATH_LENGTH], text[32];

	memset(facts, 0, sizeof(*facts));
	facts->has_dcb = has_dcb;
	if (sysfs_is_element(ifname)) {
		snprintf(path, sizeof(path), "class/net/%.15s/device", ifname);
		read_device(dcb, path, facts->driver, sizeof(facts->driver), facts);
		snprintf(path, sizeof(path), "class/net/%.15s/phys_port_name", ifname);
		if (dcb_sysfs_read(dcb, path, facts->port_name, sizeof(facts->port_name)))
			facts->port_name[0] = '\0';
	}
	if (!sysfs_is_element(ibdev))
		return;
	snprintf(path, sizeof(path), "class/infiniband/%.63s/device", ibdev);
	read_device(dcb, path, facts->rdma_driver, sizeof(facts->rdma_driver), facts);
	snprintf(path, sizeof(path), "class/infiniband/%.63s/node_type", ibdev);
	/* "4: RNIC", by linux rdma/ib_verbs.h */
	facts->iwarp = !dcb_sysfs_read(dcb, path, text, sizeof(text)) && atoi(text) == 4;
}
