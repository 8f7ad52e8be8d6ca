/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the host: clocks (linux cpufreq), NUMA, limits and capabilities of this process (proc(5)),
 * processes that set QoS, and boot-time settings. And per port: PCI slot (linux ABI sysfs-bus-pci),
 * NUMA node, interrupts, IOMMU group, VLANs (linux net/8021q/vlanproc.c) and routing sysctls (linux
 * Documentation/networking/ip-sysctl.rst).
 */
#include "probe/host/host.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/drift/owner.h"
#include "dcb/kernel/sysfs.h"
#include "dcb/lldpad/lldpad_process.h"
#include "probe/host/snapshot.h"
#include "profiles/base/boot_unit.h"
#include "profiles/base/process.h"
#include "profiles/base/small_file.h"

#define CPU_POLICIES_MAX 4096
#define NETDEVS_MAX	 256
#define CPUS_MAX	 8192
#define IRQS_MAX	 4096
#define LANES_MAX	 32

static struct host_roots host_fill_roots(const struct host_roots *roots)
{
	return (struct host_roots){
		.sysfs = roots && roots->sysfs ? roots->sysfs : "/sys",
		.proc = roots && roots->proc ? roots->proc : "/proc",
		.root = roots && roots->root ? roots->root : "/",
	};
}

/* Opens the folder root/path, NULL when there is none. */
static DIR *host_open_folder(const char *root, const char *path)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s/%s", root, path) >= (int)sizeof(full))
		return NULL;
	return opendir(full);
}

/* Opens the file proc/path, NULL when there is none. */
static FILE *host_open_proc(const char *proc, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", proc, path);
	return fopen(full, "re");
}

/* Counts the online CPUs of a policy (CPUs that share a clock): affected_cpus. */
static int32_t host_policy_cpus(const char *sysfs, const char *policy)
{
	char list[256];
	int32_t n = 0;

	if (!small_file_line(list, sizeof(list), sysfs,
			     "devices/system/cpu/cpufreq/%.32s/affected_cpus", policy))
		return 1;
	for (const char *at = list; *at;) {
		at += strspn(at, " ");
		n += *at != '\0';
		at += strcspn(at, " ");
	}
	return n;
}

static void host_read_governors(const char *sysfs, struct host_state *m)
{
	struct dirent *d;
	int left = CPU_POLICIES_MAX;
	DIR *dir = host_open_folder(sysfs, "devices/system/cpu/cpufreq");

	while (dir && left-- && (d = readdir(dir))) {
		char governor[sizeof(m->governor)];
		int32_t cpus;

		if (strncmp(d->d_name, "policy", 6) ||
		    !small_file_line(governor, sizeof(governor), sysfs,
				     "devices/system/cpu/cpufreq/%.32s/scaling_governor",
				     d->d_name))
			continue;
		cpus = host_policy_cpus(sysfs, d->d_name);
		m->cpus += cpus;
		if (!strcmp(governor, "performance"))
			continue;
		if (!m->cpus_saving)
			snprintf(m->governor, sizeof(m->governor), "%s", governor);
		m->cpus_saving += cpus;
	}
	if (dir)
		closedir(dir);
}

static void host_read_numa_nodes(const char *sysfs, struct host_state *m)
{
	struct dirent *d;
	DIR *dir = host_open_folder(sysfs, "devices/system/node");

	while (dir && (d = readdir(dir)))
		m->numa_nodes += !strncmp(d->d_name, "node", 4) &&
				 isdigit((unsigned char)d->d_name[4]);
	if (dir)
		closedir(dir);
	else
		m->numa_nodes = HOST_UNKNOWN;
}

/* "Max locked memory       8388608              8388608              bytes" */
static void host_read_memlock(const char *proc, struct host_state *m)
{
	char value[160], word[32] = "";
	uint64_t bytes;

	small_file_value(value, sizeof(value), "Max locked memory", proc, "self/limits");
	(void)sscanf(value, "%31s", word); /* "" without a value */
	m->memlock_bytes = HOST_UNKNOWN;
	if (!strcmp(word, "unlimited"))
		m->memlock_bytes = HOST_UNLIMITED;
	else if (sscanf(word, "%20" SCNu64, &bytes) == 1)
		m->memlock_bytes = bytes < HOST_UNLIMITED ? (int64_t)bytes : HOST_UNLIMITED;
}

/* "CapEff:	000001ffffffffff" */
static void host_read_ipc_lock(const char *proc, struct host_state *m)
{
	char text[32];
	uint64_t set;

	small_file_value(text, sizeof(text), "CapEff:", proc, "self/status");
	m->ipc_lock = HOST_UNKNOWN;
	if (sscanf(text, "%16" SCNx64, &set) == 1)
		m->ipc_lock = set >> CAP_IPC_LOCK & 1;
}

static const char *const owner_words[OWNER_KIND_COUNT] = {
	[OWNER_LLDPAD] = "lldpad",
	[OWNER_LLDPAD_SOCKET] = "lldpad-socket",
	[OWNER_LLDPAD_BOOT] = "lldpad-boot",
	[OWNER_LLDPD] = "lldpd",
	[OWNER_NETWORKMANAGER] = "networkmanager",
	[OWNER_BOOT_CONFIG] = "reapply",
	[OWNER_FOREIGN_SOCKET] = "stranger",
};

const char *host_owner_word(int kind)
{
	return kind >= 0 && kind < OWNER_KIND_COUNT ? owner_words[kind] : "unknown";
}

int host_owner_kind(const char *word)
{
	for (int i = 0; i < OWNER_KIND_COUNT; i++)
		if (!strcmp(word, owner_words[i]))
			return i;
	return -ENOENT;
}

static void host_read_owners(const struct host_roots *r, const char *const *netdevs,
			     unsigned int count, struct host_state *m)
{
	const struct owner_roots roots = {.proc = r->proc, .root = r->root};
	struct owner found[HOST_OWNERS_MAX];

	m->owner_count = owner_find(&roots, netdevs, count, found, HOST_OWNERS_MAX);
	for (unsigned int i = 0; i < m->owner_count; i++) {
		struct host_owner *o = &m->owner[i];

		snprintf(o->kind, sizeof(o->kind), "%s", host_owner_word((int)found[i].kind));
		o->pid = (int32_t)found[i].pid;
		small_file_text(o->path, sizeof(o->path), found[i].path);
		small_file_text(o->name, sizeof(o->name), found[i].name);
		small_file_text(o->via, sizeof(o->via), found[i].via);
	}
}

/* Checks for the unit and the udev rule that apply confirmed settings at boot and at driver load.
 */
static void host_read_boot(const char *root, struct host_state *m)
{
	static const char *const rules[] = {"etc/udev/rules.d", "lib/udev/rules.d",
					    "usr/lib/udev/rules.d", "usr/local/lib/udev/rules.d"};

	m->boot_unit = boot_unit_apply_enabled(root);
	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++)
		m->udev_rule |= small_file_exists(root, "%s/90-rocecheck.rules", rules[i]);
}

/* linux drivers/infiniband/hw: RoCE drivers by those of their netdevs. */
static const struct {
	const char *driver, *rdma;
} rdma_drivers[] = {
	{"mlx5_core", "mlx5_ib"}, {"mlx4_en", "mlx4_ib"}, {"mlx4_core", "mlx4_ib"},
	{"bnxt_en", "bnxt_re"},	  {"ice", "irdma"},	  {"hns3", "hns_roce_hw_v2"},
	{"qede", "qedr"},	  {"mana", "mana_ib"},	  {"ionic", "ionic_rdma"},
};

const char *host_rdma_driver(const char *driver)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(rdma_drivers); i++)
		if (!strcmp(rdma_drivers[i].driver, driver))
			return rdma_drivers[i].rdma;
	return NULL;
}

/* The device folder of a netdev lists its RDMA devices. */
static void host_read_nics(const char *sysfs, struct host_state *m)
{
	struct dirent *d;
	DIR *dir = host_open_folder(sysfs, "class/net");

	while (dir && m->nic_count < HOST_NICS_MAX && (d = readdir(dir))) {
		struct host_nic *nic = &m->nic[m->nic_count];
		char driver[sizeof(nic->driver)];

		if (d->d_name[0] == '.' || strlen(d->d_name) >= sizeof(nic->netdev) ||
		    !small_file_link(driver, sizeof(driver), sysfs, "class/net/%s/device/driver",
				     d->d_name) ||
		    !host_rdma_driver(driver) ||
		    small_file_exists(sysfs, "class/net/%s/device/infiniband", d->d_name))
			continue;
		snprintf(nic->netdev, sizeof(nic->netdev), "%.15s", d->d_name);
		snprintf(nic->driver, sizeof(nic->driver), "%s", driver);
		m->nic_count++;
	}
	if (dir)
		closedir(dir);
}

void host_state_read(const struct host_roots *roots, const char *const *netdevs, unsigned int count,
		     struct host_state *m)
{
	struct host_roots r = host_fill_roots(roots);

	memset(m, 0, sizeof(*m));
	m->known = true;
	host_read_governors(r.sysfs, m);
	host_read_numa_nodes(r.sysfs, m);
	m->numa_balancing = small_file_number(0, 2, r.proc, "sys/kernel/numa_balancing");
	m->rdma_cm = small_file_exists(r.sysfs, "class/misc/rdma_cm");
	host_read_nics(r.sysfs, m);
	host_read_memlock(r.proc, m);
	host_read_ipc_lock(r.proc, m);
	m->lldpad = (int32_t)lldpad_find_pid(r.proc);
	m->lldpd = (int32_t)process_find_daemon(r.proc, "lldpd");
	m->irqbalance = (int32_t)process_find_daemon(r.proc, "irqbalance");
	host_read_owners(&r, netdevs, count, m);
	host_read_boot(r.root, m);
}

/* Reads the next "a" or "a-b" of a list; false at its end. Sets *bad on anything else. */
static bool host_next_cpu_range(const char **at, unsigned long *first, unsigned long *last,
				bool *bad)
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

bool cpu_lists_intersect(const char *a, const char *b)
{
	unsigned long a0, a1, b0, b1;
	bool bad = false;

	while (host_next_cpu_range(&a, &a0, &a1, &bad)) {
		const char *rest = b;

		while (host_next_cpu_range(&rest, &b0, &b1, &bad))
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

/* Parses "16.0 GT/s PCIe"; virtual functions have none, or "Unknown". */
static int32_t host_read_pcie_speed(const char *sysfs, const char *device, const char *file)
{
	char text[40], *end;
	double gt;

	small_file_line(text, sizeof(text), sysfs, "%s/%s", device, file);
	gt = strtod(text, &end);
	if (end == text || strncmp(end, " GT/s", 5) || !(gt > 0) || gt > 1000)
		return HOST_UNKNOWN;
	return (int32_t)(gt * 1000);
}

static int32_t host_read_pcie_width(const char *sysfs, const char *device, const char *file)
{
	int32_t width = small_file_number(0, 255, sysfs, "%s/%s", device, file);

	return width < 1 || width > LANES_MAX ? HOST_UNKNOWN : width; /* 255: unknown */
}

static void host_read_pcie(const char *sysfs, const char *device, struct pci_slot *pci)
{
	char above[160];

	snprintf(above, sizeof(above), "%s/..", device);
	pci->pcie_speed = host_read_pcie_speed(sysfs, device, "current_link_speed");
	pci->pcie_speed_max = host_read_pcie_speed(sysfs, device, "max_link_speed");
	pci->pcie_width = host_read_pcie_width(sysfs, device, "current_link_width");
	pci->pcie_width_max = host_read_pcie_width(sysfs, device, "max_link_width");
	pci->slot_speed_max = host_read_pcie_speed(sysfs, above, "max_link_speed");
	pci->slot_width_max = host_read_pcie_width(sysfs, above, "max_link_width");
}

static void host_read_bdf(const char *sysfs, const char *device, struct pci_slot *pci)
{
	unsigned int domain, bus, slot, function;
	char name[40];

	if (small_file_link(name, sizeof(name), sysfs, "%s", device) &&
	    sscanf(name, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4)
		snprintf(pci->bdf, sizeof(pci->bdf), "%04x:%02x:%02x.%x", domain & 0xfffffff,
			 bus & 0xff, slot & 0x1f, function & 7);
}

/* "0x15b3" */
static int32_t host_read_pci_id(const char *sysfs, const char *device, const char *file)
{
	unsigned int id;
	char text[16];

	if (!small_file_line(text, sizeof(text), sysfs, "%s/%s", device, file) ||
	    sscanf(text, "0x%4x", &id) != 1)
		return HOST_UNKNOWN;
	return (int32_t)id;
}

/* Uses the first netdev: a physical function has one, or one per port. */
static void host_read_physfn(const char *sysfs, const char *device, struct pci_slot *pci)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s/physfn/net", sysfs, device) < (int)sizeof(path))
		(void)sysfs_first_name(AT_FDCWD, path, pci->physical, sizeof(pci->physical));
}

static bool host_irq_is_remote(const char *proc, unsigned long irq, const char *local)
{
	char list[512];

	if (!small_file_line(list, sizeof(list), proc, "irq/%lu/smp_affinity_list", irq))
		return false;
	return list[0] && !cpu_lists_intersect(list, local);
}

static void host_read_irqs(const struct host_roots *r, const char *device, struct pci_slot *pci)
{
	char local[512], path[160];
	int left = IRQS_MAX;
	struct dirent *d;
	DIR *dir;

	small_file_line(local, sizeof(local), r->sysfs, "%s/local_cpulist", device);
	if (!local[0])
		return;
	snprintf(path, sizeof(path), "%s/msi_irqs", device);
	dir = host_open_folder(r->sysfs, path);
	while (dir && left-- && (d = readdir(dir))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		pci->irqs++;
		pci->irqs_remote += host_irq_is_remote(r->proc, strtoul(d->d_name, NULL, 10),
						       local);
	}
	if (dir)
		closedir(dir);
}

static void host_read_iommu(const char *sysfs, const char *device, struct pci_slot *pci)
{
	if (small_file_exists(sysfs, "%s/iommu_group", device))
		small_file_line(pci->iommu, sizeof(pci->iommu), sysfs, "%s/iommu_group/type",
				device);
	else
		snprintf(pci->iommu, sizeof(pci->iommu), "none");
}

/* Returns the maximum of conf/all and conf/IFACE, as the kernel does. */
static int32_t host_read_sysctl(const char *proc, const char *netdev, const char *name, int32_t max)
{
	int32_t all = small_file_number(0, max, proc, "sys/net/ipv4/conf/all/%s", name);
	int32_t own = small_file_number(0, max, proc, "sys/net/ipv4/conf/%s/%s", netdev, name);

	return all > own ? all : own;
}

static void host_read_sysctls(const char *proc, const char *netdev, struct pci_slot *pci)
{
	pci->forwarding = small_file_number(0, 1, proc, "sys/net/ipv4/conf/%s/forwarding", netdev);
	pci->rp_filter = host_read_sysctl(proc, netdev, "rp_filter", 2);
	pci->arp_ignore = host_read_sysctl(proc, netdev, "arp_ignore", 8);
	pci->arp_announce = host_read_sysctl(proc, netdev, "arp_announce", 2);
}

/* "roce0.100      | 100  | roce0" below two lines of heading. */
static void host_read_vlans(const char *proc, const char *netdev, struct pci_slot *pci)
{
	char line[160];
	FILE *f = host_open_proc(proc, "net/vlan/config");

	while (f && pci->vlan_count < PCI_SLOT_VLANS_MAX && fgets(line, sizeof(line), f)) {
		struct netdev_vlan *vlan = &pci->vlan[pci->vlan_count];
		char name[16], below[16];
		int id;

		if (sscanf(line, "%15s | %d | %15s", name, &id, below) != 3 ||
		    strcmp(below, netdev) || strchr(name, '/') || id < 0 || id > 4095)
			continue;
		memset(vlan, 0, sizeof(*vlan));
		snprintf(vlan->netdev, sizeof(vlan->netdev), "%s", name);
		vlan->id = id;
		pci->vlan_count++;
	}
	if (f)
		fclose(f);
}

/* "roce0 000012C6 00000000 0001 0 0 0 00FFFFFF 0 0 0": hexadecimal of the words in memory (linux
 * net/ipv4/fib_trie.c). A route without gateway leads to addresses on the link. */
static void host_read_subnets(const char *proc, const char *netdev, struct pci_slot *pci)
{
	char line[256];
	FILE *f = host_open_proc(proc, "net/route");

	while (f && pci->subnet_count < PCI_SLOT_SUBNETS_MAX && fgets(line, sizeof(line), f)) {
		struct netdev_subnet *subnet = &pci->subnet[pci->subnet_count];
		unsigned int to, gateway, mask;
		char name[16], address[INET_ADDRSTRLEN];

		if (sscanf(line, "%15s %8x %8x %*x %*d %*d %*d %8x", name, &to, &gateway, &mask) !=
			    4 ||
		    strcmp(name, netdev) || gateway || !mask)
			continue;
		inet_ntop(AF_INET, &to, address, sizeof(address));
		snprintf(subnet->cidr, sizeof(subnet->cidr), "%s/%d", address,
			 __builtin_popcount(mask));
		pci->subnet_count++;
	}
	if (f)
		fclose(f);
}

void pci_slot_read(const struct host_roots *roots, const char *netdev, const char *ibdev,
		   struct pci_slot *pci)
{
	const struct host_roots r = host_fill_roots(roots);
	char device[128];

	memset(pci, 0, sizeof(*pci));
	pci->known = true;
	snprintf(device, sizeof(device), "class/%s/%.63s/device", netdev[0] ? "net" : "infiniband",
		 netdev[0] ? netdev : ibdev);
	host_read_bdf(r.sysfs, device, pci);
	pci->vendor = host_read_pci_id(r.sysfs, device, "vendor");
	pci->device = host_read_pci_id(r.sysfs, device, "device");
	host_read_physfn(r.sysfs, device, pci);
	if (netdev[0])
		small_file_line(pci->port_name, sizeof(pci->port_name), r.sysfs,
				"class/net/%s/phys_port_name", netdev);
	pci->numa_node = small_file_number(0, 1023, r.sysfs, "%s/numa_node", device);
	host_read_pcie(r.sysfs, device, pci);
	host_read_irqs(&r, device, pci);
	host_read_iommu(r.sysfs, device, pci);
	pci->vfs = small_file_number(0, 65535, r.sysfs, "%s/sriov_numvfs", device);
	host_read_sysctls(r.proc, netdev[0] ? netdev : "default", pci);
	host_read_subnets(r.proc, netdev, pci);
	host_read_vlans(r.proc, netdev, pci);
}

void snapshot_read_host(const struct host_roots *roots, struct snapshot *s)
{
	const char *netdevs[NETDEVS_MAX];
	unsigned int count = 0;

	for (unsigned int i = 0; i < s->port_count && count < NETDEVS_MAX; i++)
		if (s->port[i].netdev[0])
			netdevs[count++] = s->port[i].netdev;
	host_state_read(roots, netdevs, count, &s->host_state);
	for (unsigned int i = 0; i < s->port_count; i++)
		pci_slot_read(roots, s->port[i].netdev, s->port[i].ibdev, &s->port[i].pci_slot);
}
