/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of the machine: clocks (linux cpufreq), NUMA, limits and capabilities of this process
 * (proc(5)), processes that set QoS, and what is applied at boot.
 */
#include "probe/host/machine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/lldpad/owner.h"
#include "probe/host/snapshot.h"
#include "profiles/base/boot_unit.h"
#include "profiles/base/daemon.h"
#include "profiles/base/small_file.h"

#define CPU_POLICIES_MAX 4096
#define NETDEVS_MAX	 256

static const struct machine_roots real = {.sysfs = "/sys", .proc = "/proc", .root = "/"};

static struct machine_roots fill_roots(const struct machine_roots *roots)
{
	struct machine_roots r = roots ? *roots : real;

	r.sysfs = r.sysfs ? r.sysfs : real.sysfs;
	r.proc = r.proc ? r.proc : real.proc;
	r.root = r.root ? r.root : real.root;
	return r;
}

static void open_below(const char *root, const char *path, DIR **dir)
{
	char full[PATH_MAX];

	*dir = snprintf(full, sizeof(full), "%s/%s", root, path) < (int)sizeof(full) ? opendir(full)
										     : NULL;
}

/* CPUs that share a clock are one policy; affected_cpus lists those that are online. */
static int32_t policy_cpus(const char *sysfs, const char *policy)
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

static void read_governors(const char *sysfs, struct machine *m)
{
	struct dirent *d;
	int left = CPU_POLICIES_MAX;
	DIR *dir;

	open_below(sysfs, "devices/system/cpu/cpufreq", &dir);
	while (dir && left-- && (d = readdir(dir))) {
		char governor[sizeof(m->governor)];
		int32_t cpus;

		if (strncmp(d->d_name, "policy", 6) ||
		    !small_file_line(governor, sizeof(governor), sysfs,
				     "devices/system/cpu/cpufreq/%.32s/scaling_governor",
				     d->d_name))
			continue;
		cpus = policy_cpus(sysfs, d->d_name);
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

static void read_nodes(const char *sysfs, struct machine *m)
{
	struct dirent *d;
	DIR *dir;

	open_below(sysfs, "devices/system/node", &dir);
	while (dir && (d = readdir(dir)))
		m->numa_nodes += !strncmp(d->d_name, "node", 4) &&
				 isdigit((unsigned char)d->d_name[4]);
	if (dir)
		closedir(dir);
	else
		m->numa_nodes = MACHINE_UNKNOWN;
}

/* "Max locked memory       8388608              8388608              bytes" */
static void read_memlock(const char *proc, struct machine *m)
{
	static const char key[] = "Max locked memory";
	char path[PATH_MAX], line[160];
	uint64_t bytes;
	FILE *f;

	m->memlock_bytes = MACHINE_UNKNOWN;
	snprintf(path, sizeof(path), "%s/self/limits", proc);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *value = line + strlen(key);

		if (strncmp(line, key, strlen(key)))
			continue;
		value += strspn(value, " ");
		if (!strncmp(value, "unlimited", 9))
			m->memlock_bytes = MACHINE_UNLIMITED;
		else if (sscanf(value, "%20" SCNu64, &bytes) == 1)
			m->memlock_bytes = bytes < MACHINE_UNLIMITED ? (int64_t)bytes
								     : MACHINE_UNLIMITED;
	}
	if (f)
		fclose(f);
}

/* "CapEff:	000001ffffffffff" */
static void read_ipc_lock(const char *proc, struct machine *m)
{
	char path[PATH_MAX], line[160];
	uint64_t set;
	FILE *f;

	m->ipc_lock = MACHINE_UNKNOWN;
	snprintf(path, sizeof(path), "%s/self/status", proc);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %16" SCNx64, &set) == 1)
			m->ipc_lock = set >> CAP_IPC_LOCK & 1;
	if (f)
		fclose(f);
}

static void read_processes(const char *proc, struct machine *m)
{
	m->lldpad = (int32_t)owner_lldpad(proc);
	m->lldpd = (int32_t)daemon_find(proc, "lldpd");
	m->irqbalance = (int32_t)daemon_find(proc, "irqbalance");
}

static const char *const owner_words[OWNER_KIND_COUNT] = {
	[OWNER_LLDPAD] = "lldpad",
	[OWNER_LLDPAD_SOCKET] = "lldpad-socket",
	[OWNER_LLDPAD_BOOT] = "lldpad-boot",
	[OWNER_LLDPD] = "lldpd",
	[OWNER_NETWORKMANAGER] = "networkmanager",
	[OWNER_REAPPLY] = "reapply",
	[OWNER_STRANGER] = "stranger",
};

const char *machine_owner_word(int kind)
{
	return kind >= 0 && kind < OWNER_KIND_COUNT ? owner_words[kind] : "unknown";
}

int machine_owner_kind(const char *word)
{
	for (int i = 0; i < OWNER_KIND_COUNT; i++)
		if (!strcmp(word, owner_words[i]))
			return i;
	return -ENOENT;
}

static void read_owners(const struct machine_roots *r, const char *const *netdevs,
			unsigned int count, struct machine *m)
{
	const struct owner_roots roots = {.proc = r->proc, .root = r->root};
	struct owner found[MACHINE_OWNERS_MAX];

	m->owner_count = owner_find(&roots, netdevs, count, found, MACHINE_OWNERS_MAX);
	for (unsigned int i = 0; i < m->owner_count; i++) {
		struct machine_owner *o = &m->owner[i];

		snprintf(o->kind, sizeof(o->kind), "%s", machine_owner_word((int)found[i].kind));
		o->pid = (int32_t)found[i].pid;
		small_file_text(o->path, sizeof(o->path), found[i].path);
		small_file_text(o->name, sizeof(o->name), found[i].name);
		small_file_text(o->via, sizeof(o->via), found[i].via);
	}
}

/* What makes a boot, or a driver that is loaded again, apply what was confirmed. */
static void read_boot(const char *root, struct machine *m)
{
	static const char *const rules[] = {"etc/udev/rules.d", "lib/udev/rules.d",
					    "usr/lib/udev/rules.d", "usr/local/lib/udev/rules.d"};

	m->boot_unit = boot_unit_of_ours(root);
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

const char *machine_rdma_driver(const char *driver)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(rdma_drivers); i++)
		if (!strcmp(rdma_drivers[i].driver, driver))
			return rdma_drivers[i].rdma;
	return NULL;
}

/* The device of a netdev lists its RDMA devices in a folder. */
static void read_nics(const char *sysfs, struct machine *m)
{
	struct dirent *d;
	DIR *dir;

	open_below(sysfs, "class/net", &dir);
	while (dir && m->nic_count < MACHINE_NICS_MAX && (d = readdir(dir))) {
		struct machine_nic *nic = &m->nic[m->nic_count];
		char driver[sizeof(nic->driver)];

		if (d->d_name[0] == '.' || strlen(d->d_name) >= sizeof(nic->netdev) ||
		    !small_file_link(driver, sizeof(driver), sysfs, "class/net/%s/device/driver",
				     d->d_name) ||
		    !machine_rdma_driver(driver) ||
		    small_file_exists(sysfs, "class/net/%s/device/infiniband", d->d_name))
			continue;
		snprintf(nic->netdev, sizeof(nic->netdev), "%.15s", d->d_name);
		snprintf(nic->driver, sizeof(nic->driver), "%s", driver);
		m->nic_count++;
	}
	if (dir)
		closedir(dir);
}

void machine_take(const struct machine_roots *roots, const char *const *netdevs, unsigned int count,
		  struct machine *m)
{
	struct machine_roots r = fill_roots(roots);

	memset(m, 0, sizeof(*m));
	m->known = true;
	read_governors(r.sysfs, m);
	read_nodes(r.sysfs, m);
	m->numa_balancing = small_file_number(0, 2, r.proc, "sys/kernel/numa_balancing");
	m->rdma_cm = small_file_exists(r.sysfs, "class/misc/rdma_cm");
	read_nics(r.sysfs, m);
	read_memlock(r.proc, m);
	read_ipc_lock(r.proc, m);
	read_processes(r.proc, m);
	read_owners(&r, netdevs, count, m);
	read_boot(r.root, m);
}

void machine_add(const struct machine_roots *roots, struct snapshot *s)
{
	const char *netdevs[NETDEVS_MAX];
	struct machine_roots r = fill_roots(roots);
	unsigned int count = 0;

	for (unsigned int i = 0; i < s->port_count && count < NETDEVS_MAX; i++)
		if (s->port[i].netdev[0])
			netdevs[count++] = s->port[i].netdev;
	machine_take(&r, netdevs, count, &s->machine);
	for (unsigned int i = 0; i < s->port_count; i++)
		seat_take(&r, s->port[i].netdev, s->port[i].ibdev, &s->port[i].seat);
}
