/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of the place a port sits in: its slot (linux ABI sysfs-bus-pci), node and interrupts, its
 * IOMMU group, the VLANs on it (linux net/8021q/vlanproc.c) and its routing switches (linux
 * Documentation/networking/ip-sysctl.rst).
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/kernel/sysfs.h"
#include "probe/host/machine.h"
#include "profiles/base/small_file.h"

#define CPUS_MAX  8192
#define IRQS_MAX  4096
#define LANES_MAX 32

/* Next "a" or "a-b" of a list; false at its end. *bad on anything else. */
static bool next_range(const char **at, unsigned long *first, unsigned long *last, bool *bad)
{
	char *end;

	*at += strspn(*at, ", \n");
	if (!**at)
		return false;
	*first = *last = strtoul(*at, &end, 10);
	if (isdigit((unsigned char)**at) && *end == '-' && isdigit((unsigned char)end[1]))
		*last = strtoul(end + 1, &end, 10);
	*bad = !isdigit((unsigned char)**at) || *last < *first || *last >= CPUS_MAX ||
	       (*end && !strchr(", \n", *end));
	*at = end;
	return !*bad;
}

bool cpu_lists_meet(const char *a, const char *b)
{
	unsigned long a0, a1, b0, b1;
	bool bad = false;

	while (next_range(&a, &a0, &a1, &bad)) {
		const char *rest = b;

		while (next_range(&rest, &b0, &b1, &bad))
			if (a0 <= b1 && b0 <= a1)
				return true;
		if (bad)
			return false;
	}
	return false;
}

uint64_t pcie_mbps(int32_t speed, int32_t width)
{
	uint64_t raw;

	if (speed <= 0 || width <= 0)
		return 0;
	raw = (uint64_t)speed * (uint64_t)width;
	return speed <= 5000 ? raw * 8 / 10 : raw * 128 / 130;
}

/* "16.0 GT/s PCIe"; "Unknown" and virtual functions have none. */
static int32_t speed_of(const char *text)
{
	char *end;
	double gt = strtod(text, &end);

	if (end == text || strncmp(end, " GT/s", 5) || !(gt > 0) || gt > 1000)
		return MACHINE_UNKNOWN;
	return (int32_t)(gt * 1000);
}

static int32_t read_speed(const char *sysfs, const char *device, const char *file)
{
	char text[40];

	small_file_line(text, sizeof(text), sysfs, "%s/%s", device, file);
	return speed_of(text);
}

static int32_t read_width(const char *sysfs, const char *device, const char *file)
{
	int32_t width = small_file_number(0, 255, sysfs, "%s/%s", device, file);

	return width < 1 || width > LANES_MAX ? MACHINE_UNKNOWN : width; /* 255: unknown */
}

static void read_slot(const char *sysfs, const char *device, struct seat *seat)
{
	char above[160];

	snprintf(above, sizeof(above), "%s/..", device);
	seat->pcie_speed = read_speed(sysfs, device, "current_link_speed");
	seat->pcie_speed_max = read_speed(sysfs, device, "max_link_speed");
	seat->pcie_width = read_width(sysfs, device, "current_link_width");
	seat->pcie_width_max = read_width(sysfs, device, "max_link_width");
	seat->slot_speed_max = read_speed(sysfs, above, "max_link_speed");
	seat->slot_width_max = read_width(sysfs, above, "max_link_width");
}

static void read_bdf(const char *sysfs, const char *device, struct seat *seat)
{
	unsigned int domain, bus, slot, function;
	char name[40];

	if (small_file_link(name, sizeof(name), sysfs, "%s", device) &&
	    sscanf(name, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4)
		snprintf(seat->bdf, sizeof(seat->bdf), "%04x:%02x:%02x.%x", domain & 0xfffffff,
			 bus & 0xff, slot & 0x1f, function & 7);
}

/* "0x15b3" */
static int32_t read_id(const char *sysfs, const char *device, const char *file)
{
	unsigned int id;
	char text[16];

	if (!small_file_line(text, sizeof(text), sysfs, "%s/%s", device, file) ||
	    sscanf(text, "0x%4x", &id) != 1)
		return MACHINE_UNKNOWN;
	return (int32_t)id;
}

/* A physical function has one netdev, or one for each port: the first is as good as any. */
static void read_physical(const char *sysfs, const char *device, struct seat *seat)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s/physfn/net", sysfs, device) < (int)sizeof(path))
		(void)sysfs_first_name(AT_FDCWD, path, seat->physical, sizeof(seat->physical));
}

static bool irq_is_remote(const char *proc, unsigned long irq, const char *local)
{
	char list[512];

	if (!small_file_line(list, sizeof(list), proc, "irq/%lu/smp_affinity_list", irq))
		return false;
	return list[0] && !cpu_lists_meet(list, local);
}

static void read_irqs(const struct machine_roots *r, const char *device, struct seat *seat)
{
	char local[512], path[PATH_MAX];
	int left = IRQS_MAX;
	struct dirent *d;
	DIR *dir;

	small_file_line(local, sizeof(local), r->sysfs, "%s/local_cpulist", device);
	if (!local[0] ||
	    snprintf(path, sizeof(path), "%s/%s/msi_irqs", r->sysfs, device) >= (int)sizeof(path))
		return;
	dir = opendir(path);
	while (dir && left-- && (d = readdir(dir))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		seat->irqs++;
		seat->irqs_remote += irq_is_remote(r->proc, strtoul(d->d_name, NULL, 10), local);
	}
	if (dir)
		closedir(dir);
}

static void read_iommu(const char *sysfs, const char *device, struct seat *seat)
{
	if (small_file_exists(sysfs, "%s/iommu_group", device))
		small_file_line(seat->iommu, sizeof(seat->iommu), sysfs, "%s/iommu_group/type",
				device);
	else
		snprintf(seat->iommu, sizeof(seat->iommu), "none");
}

/* conf/all and conf/IFACE are both asked by the kernel, and the larger holds. */
static int32_t net_switch(const char *proc, const char *netdev, const char *name, int32_t max)
{
	int32_t all = small_file_number(0, max, proc, "sys/net/ipv4/conf/all/%s", name);
	int32_t own = small_file_number(0, max, proc, "sys/net/ipv4/conf/%s/%s", netdev, name);

	return all > own ? all : own;
}

static void read_switches(const char *proc, const char *netdev, struct seat *seat)
{
	seat->forwarding = small_file_number(0, 1, proc, "sys/net/ipv4/conf/%s/forwarding", netdev);
	seat->rp_filter = net_switch(proc, netdev, "rp_filter", 2);
	seat->arp_ignore = net_switch(proc, netdev, "arp_ignore", 8);
	seat->arp_announce = net_switch(proc, netdev, "arp_announce", 2);
}

/* "roce0.100      | 100  | roce0" below two lines of heading. */
static void read_vlans(const char *proc, const char *netdev, struct seat *seat)
{
	char path[PATH_MAX], line[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/net/vlan/config", proc);
	f = fopen(path, "re");
	while (f && seat->vlan_count < SEAT_VLANS_MAX && fgets(line, sizeof(line), f)) {
		struct seat_vlan *vlan = &seat->vlan[seat->vlan_count];
		char name[16], below[16];
		int id;

		if (sscanf(line, "%15s | %d | %15s", name, &id, below) != 3 ||
		    strcmp(below, netdev) || strchr(name, '/') || id < 0 || id > 4095)
			continue;
		memset(vlan, 0, sizeof(*vlan));
		snprintf(vlan->netdev, sizeof(vlan->netdev), "%s", name);
		vlan->id = id;
		seat->vlan_count++;
	}
	if (f)
		fclose(f);
}

/* "roce0 000012C6 00000000 0001 0 0 0 00FFFFFF 0 0 0": hexadecimal of the words in memory (linux
 * net/ipv4/fib_trie.c). A route without gateway leads to addresses on the link. */
static void read_subnets(const char *proc, const char *netdev, struct seat *seat)
{
	char path[PATH_MAX], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/net/route", proc);
	f = fopen(path, "re");
	while (f && seat->subnet_count < SEAT_SUBNETS_MAX && fgets(line, sizeof(line), f)) {
		struct seat_subnet *subnet = &seat->subnet[seat->subnet_count];
		unsigned int to, gateway, mask;
		char name[16], address[INET_ADDRSTRLEN];

		if (sscanf(line, "%15s %8x %8x %*x %*d %*d %*d %8x", name, &to, &gateway, &mask) !=
			    4 ||
		    strcmp(name, netdev) || gateway || !mask)
			continue;
		inet_ntop(AF_INET, &to, address, sizeof(address));
		snprintf(subnet->cidr, sizeof(subnet->cidr), "%s/%d", address,
			 __builtin_popcount(mask));
		seat->subnet_count++;
	}
	if (f)
		fclose(f);
}

void seat_take(const struct machine_roots *roots, const char *netdev, const char *ibdev,
	       struct seat *seat)
{
	const struct machine_roots r = {
		.sysfs = roots && roots->sysfs ? roots->sysfs : "/sys",
		.proc = roots && roots->proc ? roots->proc : "/proc",
	};
	char device[128];

	memset(seat, 0, sizeof(*seat));
	seat->known = true;
	snprintf(device, sizeof(device), "class/%s/%.63s/device", netdev[0] ? "net" : "infiniband",
		 netdev[0] ? netdev : ibdev);
	read_bdf(r.sysfs, device, seat);
	seat->vendor = read_id(r.sysfs, device, "vendor");
	seat->device = read_id(r.sysfs, device, "device");
	read_physical(r.sysfs, device, seat);
	if (netdev[0])
		small_file_line(seat->port_name, sizeof(seat->port_name), r.sysfs,
				"class/net/%s/phys_port_name", netdev);
	seat->numa_node = small_file_number(0, 1023, r.sysfs, "%s/numa_node", device);
	read_slot(r.sysfs, device, seat);
	read_irqs(&r, device, seat);
	read_iommu(r.sysfs, device, seat);
	seat->vfs = small_file_number(0, 65535, r.sysfs, "%s/sriov_numvfs", device);
	read_switches(r.proc, netdev[0] ? netdev : "default", seat);
	read_subnets(r.proc, netdev, seat);
	read_vlans(r.proc, netdev, seat);
}
