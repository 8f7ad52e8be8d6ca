/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of the machine out of small trees in place of /sys, /proc and /, what is hostile in them,
 * and their JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <ftw.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcb/drift/owner.h"
#include "probe/host/host.h"
#include "probe/host/snapshot.h"

static char top[] = "/tmp/test_machine.XXXXXX";
static char sys[64], proc[64];
static struct host_roots roots;

static void make_parents(const char *path)
{
	char part[512];

	snprintf(part, sizeof(part), "%s", path);
	for (char *c = part + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		mkdir(part, 0755);
		*c = '/';
	}
}

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", top, path);
	make_parents(full);
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_link(const char *path, const char *target)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", top, path);
	make_parents(full);
	unlink(full);
	assert_int_equal(symlink(target, full), 0);
}

#define NIC "sys/devices/pci0000:64/0000:64:00.0/0000:65:00.0/"

static void make_sys(void)
{
	put("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n");
	put("sys/devices/system/cpu/cpufreq/policy0/affected_cpus", "0 1 2 3\n");
	put("sys/devices/system/cpu/cpufreq/policy4/scaling_governor", "powersave\n");
	put("sys/devices/system/cpu/cpufreq/policy4/affected_cpus", "4 5\n");
	put("sys/devices/system/node/node0/cpulist", "0-3\n");
	put("sys/devices/system/node/node1/cpulist", "4-7\n");
	put("sys/devices/system/node/possible", "0-1\n");
	put("sys/class/misc/rdma_cm/dev", "10:58\n");
	put("sys/devices/pci0000:64/0000:64:00.0/max_link_speed", "32.0 GT/s PCIe\n");
	put("sys/devices/pci0000:64/0000:64:00.0/max_link_width", "16\n");
	put(NIC "current_link_speed", "16.0 GT/s PCIe\n");
	put(NIC "max_link_speed", "16.0 GT/s PCIe\n");
	put(NIC "current_link_width", "8\n");
	put(NIC "max_link_width", "16\n");
	put(NIC "vendor", "0x15b3\n");
	put(NIC "device", "0x101e\n");
	put("sys/devices/pci0000:64/0000:64:00.0/0000:65:00.1/net/pf0/mtu", "1500\n");
	put_link(NIC "physfn", "../0000:65:00.1");
	put_link(NIC "driver", "../../../../bus/pci/drivers/mlx5_core");
	put(NIC "infiniband/mlx5_0/node_type", "1: CA\n");
	put("sys/devices/pci0000:64/0000:70:00.0/net/eth7/mtu", "1500\n");
	put("sys/devices/pci0000:64/0000:70:00.0/net/eth7/phys_port_name", "p0\n");
	put_link("sys/devices/pci0000:64/0000:70:00.0/driver", "../../../bus/pci/drivers/ice");
	put_link("sys/devices/pci0000:64/0000:70:00.0/net/eth7/device", "../../../0000:70:00.0");
	put_link("sys/class/net/eth7", "../../devices/pci0000:64/0000:70:00.0/net/eth7");
	put(NIC "numa_node", "1\n");
	put(NIC "local_cpulist", "4-7\n");
	put(NIC "sriov_numvfs", "4\n");
	put(NIC "msi_irqs/61", "msix\n");
	put(NIC "msi_irqs/62", "msix\n");
	put(NIC "msi_irqs/63", "msix\n");
	put("sys/kernel/iommu_groups/7/type", "DMA-FQ\n");
	put_link(NIC "iommu_group", "../../../../kernel/iommu_groups/7");
	put(NIC "net/roce0/mtu", "4200\n");
	put_link(NIC "net/roce0/device", "../../../0000:65:00.0");
	put_link("sys/class/net/roce0",
		 "../../devices/pci0000:64/0000:64:00.0/0000:65:00.0/net/roce0");
	put("sys/class/net/dummy0/mtu", "1500\n");
}

static void put_daemon(const char *pid, const char *name)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "proc/%s/comm", pid);
	snprintf(text, sizeof(text), "%s\n", name);
	put(path, text);
	snprintf(path, sizeof(path), "proc/%s/status", pid);
	put(path, "Uid:\t0\t0\t0\t0\n");
	snprintf(path, sizeof(path), "sbin/%s", name);
	put(path, "");
	snprintf(path, sizeof(path), "proc/%s/exe", pid);
	snprintf(text, sizeof(text), "../../sbin/%s", name);
	put_link(path, text);
}

static void make_proc(void)
{
	/* A program that its group may write is not believed. */
	umask(022);
	put("proc/self/limits",
	    "Limit                     Soft Limit           Hard Limit           Units\n"
	    "Max processes             31000                31000                processes\n"
	    "Max locked memory         8388608              unlimited            bytes\n");
	put("proc/self/status", "Name:\tx\nCapEff:\t0000000000004000\n");
	put("proc/sys/kernel/numa_balancing", "1\n");
	put_daemon("812", "lldpd");
	put_daemon("900", "irqbalance");
	put_daemon("901", "lldpad");
	put("proc/net/unix", "Num\n0: 00000002 00000000 00000000 0002 01 1 @/com/intel/lldpad\n");
	put("proc/irq/61/smp_affinity_list", "4-5\n");
	put("proc/irq/62/smp_affinity_list", "0-3\n");
	put("proc/irq/63/smp_affinity_list", "0-7\n");
	put("proc/sys/net/ipv4/conf/all/rp_filter", "1\n");
	put("proc/sys/net/ipv4/conf/roce0/rp_filter", "0\n");
	put("proc/sys/net/ipv4/conf/all/arp_ignore", "0\n");
	put("proc/sys/net/ipv4/conf/roce0/arp_ignore", "2\n");
	put("proc/sys/net/ipv4/conf/roce0/forwarding", "1\n");
	put("proc/net/route", "Iface\tDestination\tGateway\n"
			      "roce0\t00000000\t010012C6\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
			      "roce0\t000012C6\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
			      "eth0\t000013C6\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
	put("proc/net/vlan/config", "VLAN Dev name    | VLAN ID\nName-Type: VLAN_NAME_TYPE_RAW\n"
				    "roce0.100      | 100  | roce0\nother.7        | 7  | eth9\n");
}

static int make(void **state)
{
	(void)state;
	if (!mkdtemp(top))
		return -1;
	snprintf(sys, sizeof(sys), "%s/sys", top);
	snprintf(proc, sizeof(proc), "%s/proc", top);
	roots = (struct host_roots){.sysfs = sys, .proc = proc, .root = top};
	make_sys();
	make_proc();
	put("usr/local/lib/udev/rules.d/90-rocecheck.rules", "");
	put("etc/systemd/system/qos.service", "ExecStart=mlnx_qos -i roce0 --trust dscp\n");
	put_link("etc/systemd/system/multi-user.target.wants/qos.service", "/nowhere");
	put("usr/lib/systemd/system/rocecheck-apply.service", "[Unit]\n");
	put_link("etc/systemd/system/multi-user.target.wants/rocecheck-apply.service", "/nowhere");
	return 0;
}

static int drop(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
	(void)st;
	(void)flag;
	(void)walk;
	return remove(path);
}

static int clean(void **state)
{
	(void)state;
	return nftw(top, drop, 16, FTW_DEPTH | FTW_PHYS);
}

static void test_machine(void **state)
{
	struct host_state m;

	(void)state;
	host_state_read(&roots, NULL, 0, &m);
	assert_true(m.known);
	assert_int_equal(m.cpus, 6);
	assert_int_equal(m.cpus_saving, 2);
	assert_string_equal(m.governor, "powersave");
	assert_int_equal(m.numa_nodes, 2);
	assert_int_equal(m.numa_balancing, 1);
	assert_int_equal(m.rdma_cm, 1);
	assert_true(m.memlock_bytes == 8388608);
	assert_int_equal(m.ipc_lock, 1);
	assert_int_equal(m.lldpd, 812);
	assert_int_equal(m.irqbalance, 900);
	assert_int_equal(m.lldpad, 901);
	assert_int_equal(m.boot_unit, 1);
	assert_int_equal(m.udev_rule, 1);
	assert_int_equal(m.owner_count, 2);
	assert_string_equal(m.owner[0].kind, "lldpad");
	assert_int_equal(m.owner[0].pid, 901);
	assert_string_equal(m.owner[1].kind, "reapply");
	assert_string_equal(m.owner[1].name, "mlnx_qos");
	assert_int_equal(m.nic_count, 1);
	assert_string_equal(m.nic[0].netdev, "eth7");
	assert_string_equal(m.nic[0].driver, "ice");
}

static void test_seat(void **state)
{
	struct pci_slot s;

	(void)state;
	pci_slot_read(&roots, "roce0", "mlx5_0", &s);
	assert_string_equal(s.bdf, "0000:65:00.0");
	assert_int_equal(s.vendor, 0x15b3);
	assert_int_equal(s.device, 0x101e);
	assert_string_equal(s.physical, "pf0");
	assert_int_equal(s.numa_node, 1);
	assert_int_equal(s.pcie_speed, 16000);
	assert_int_equal(s.pcie_width, 8);
	assert_int_equal(s.pcie_width_max, 16);
	assert_int_equal(s.slot_speed_max, 32000);
	assert_string_equal(s.iommu, "DMA-FQ");
	assert_int_equal(s.irqs, 3);
	assert_int_equal(s.irqs_remote, 1);
	assert_int_equal(s.vfs, 4);
	assert_int_equal(s.forwarding, 1);
	assert_int_equal(s.rp_filter, 1);
	assert_int_equal(s.arp_ignore, 2);
	assert_int_equal(s.arp_announce, HOST_UNKNOWN);
	assert_int_equal(s.subnet_count, 1);
	assert_string_equal(s.subnet[0].cidr, "198.18.0.0/24");
	assert_int_equal(s.vlan_count, 1);
	assert_string_equal(s.vlan[0].netdev, "roce0.100");
	assert_int_equal(s.vlan[0].id, 100);
}

/* A port without a PCI device, and one that is not there: unknown, never zero. */
static void test_nothing(void **state)
{
	const struct host_roots none = {
		.sysfs = "/nonexistent", .proc = "/nonexistent", .root = "/nonexistent"};
	struct host_state m;
	struct pci_slot s;

	(void)state;
	pci_slot_read(&roots, "dummy0", "", &s);
	assert_string_equal(s.bdf, "");
	assert_int_equal(s.numa_node, HOST_UNKNOWN);
	assert_int_equal(s.pcie_speed, HOST_UNKNOWN);
	assert_int_equal(s.irqs, 0);
	host_state_read(&none, NULL, 0, &m);
	assert_true(m.memlock_bytes == HOST_UNKNOWN);
	assert_int_equal(m.ipc_lock, HOST_UNKNOWN);
	assert_int_equal(m.numa_nodes, HOST_UNKNOWN);
	assert_int_equal(m.numa_balancing, HOST_UNKNOWN);
	assert_int_equal(m.cpus, 0);
	pci_slot_read(&none, "roce0", "mlx5_0", &s);
	assert_true(s.known);
	assert_int_equal(s.rp_filter, HOST_UNKNOWN);
}

static void test_hostile(void **state)
{
	static const char *const speeds[] = {"",	 "Unknown",  "-1 GT/s",
					     "1e9 GT/s", "nan GT/s", "16"};
	static const char *const widths[] = {"", "0", "255", "99999999999999999999", "16lanes"};
	struct pci_slot s;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(speeds); i++) {
		put(NIC "current_link_speed", speeds[i]);
		pci_slot_read(&roots, "roce0", "", &s);
		assert_int_equal(s.pcie_speed, HOST_UNKNOWN);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(widths); i++) {
		put(NIC "current_link_width", widths[i]);
		pci_slot_read(&roots, "roce0", "", &s);
		assert_int_equal(s.pcie_width, HOST_UNKNOWN);
	}
	put(NIC "numa_node", "-1\n");
	put(NIC "local_cpulist", "4-\033[2J\n");
	put("proc/net/vlan/config", "../../etc/x | 1 | roce0\nroce0.5 | 99999 | roce0\n");
	pci_slot_read(&roots, "roce0", "", &s);
	assert_int_equal(s.numa_node, HOST_UNKNOWN);
	assert_int_equal(s.vlan_count, 0);
	make_sys();
	make_proc();
}

/* Of all limits the file can hold, and of none. */
static void test_memlock(void **state)
{
	static const struct {
		const char *text;
		int64_t want;
	} cases[] = {
		{"65536", 65536},   {"unlimited", HOST_UNLIMITED},
		{"0", 0},	    {"18446744073709551615", HOST_UNLIMITED},
		{"", HOST_UNKNOWN}, {"many", HOST_UNKNOWN},
	};
	struct host_state m;
	char line[128];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(line, sizeof(line), "Max locked memory         %-20s x\n", cases[i].text);
		put("proc/self/limits", line);
		host_state_read(&roots, NULL, 0, &m);
		assert_true(m.memlock_bytes == cases[i].want);
	}
	make_proc();
}

static void test_owner_words(void **state)
{
	(void)state;
	for (int i = 0; i < OWNER_KIND_COUNT; i++)
		assert_int_equal(host_owner_kind(host_owner_word(i)), i);
	assert_int_equal(host_owner_kind("new"), -ENOENT);
	assert_string_equal(host_owner_word(-1), "unknown");
}

static void test_cpu_lists(void **state)
{
	static const struct {
		const char *a, *b;
		bool meet;
	} cases[] = {
		{"0-3", "3", true},	    {"0-3", "4-7", false}, {"0,2,4", "1,3,4-5", true},
		{"", "0", false},	    {"0", "", false},	   {"x", "0-7", false},
		{"0-7", "x", false},	    {"3-1", "2", false},   {"-1", "0-7", false},
		{"0-99999999", "5", false}, {"8-8", "8", true},	   {"0-3;4", "4", false},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		if (cpu_lists_intersect(cases[i].a, cases[i].b) != cases[i].meet)
			fail_msg("'%s' and '%s'", cases[i].a, cases[i].b);
}

static void test_pcie(void **state)
{
	(void)state;
	assert_true(pcie_mbps(16000, 16) == 252061);
	assert_true(pcie_mbps(5000, 8) == 32000);
	assert_true(pcie_mbps(HOST_UNKNOWN, 16) == 0);
	assert_true(pcie_mbps(16000, 0) == 0);
}

static void test_json(void **state)
{
	struct snapshot s = {.host = "h1", .read_unix_ns = 1}, back;
	struct port port = {.netdev = "roce0", .ibdev = "mlx5_0"};
	struct err e = {0};
	json_t *json;

	(void)state;
	counters_clear(&port.counters);
	s.port = &port;
	s.port_count = 1;
	snapshot_read_host(&roots, &s);
	json = snapshot_to_json(&s);
	assert_non_null(json);
	assert_int_equal(snapshot_from_json(json, &back, &e), 0);
	assert_memory_equal(&back.host_state, &s.host_state, sizeof(s.host_state));
	assert_memory_equal(&back.port[0].pci_slot, &port.pci_slot, sizeof(port.pci_slot));
	snapshot_clear(&back);
	json_decref(json);
}

/* What is wrong with a machine, or with the seat of a port. */
static void test_bad_json(void **state)
{
	static const struct {
		const char *machine, *seat, *says;
	} cases[] = {
		{"[]", "{}", "machine: not an object"},
		{"{\"cpus\":-1}", "{}", "'cpus': -1 is out of range: expected 0 to"},
		{"{\"ipc_lock\":2}", "{}", "ipc_lock"},
		{"{\"governor\":\"\\u001b[2J\"}", "{}", "governor"},
		{"{\"governor\":\"a-governor-of-a-name-far-too-long\"}", "{}", "governor"},
		{"{\"owners\":[1]}", "{}", "owners[0]: not an object"},
		{"{\"idle_nics\":[{\"netdev\":7}]}", "{}", "netdev"},
		{"{\"owners\":[{},{},{},{},{},{},{},{},{}]}", "{}", "at most 8"},
		{"{}", "[]", "seat: not an object"},
		{"{}", "{\"numa_node\":\"x\"}", "numa_node"},
		{"{}", "{\"pcie_width\":64}", "pcie_width"},
		{"{}", "{\"vlans\":{}}", "vlans"},
		{"{}", "{\"vlans\":[{\"id\":4096}]}", "id"},
		{"{}", "{}", NULL},
		{"null", "null", NULL},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *json =
			json_pack("{s:s, s:s, s:I, s:[{s:s, s:s, s:o}], s:o}", "schema",
				  SNAPSHOT_SCHEMA, "host", "h", "taken_unix_ns", (json_int_t)1,
				  "ports", "netdev", "eth0", "kind", "ethernet", "seat",
				  json_loads(cases[i].seat, JSON_DECODE_ANY, NULL), "machine",
				  json_loads(cases[i].machine, JSON_DECODE_ANY, NULL));
		bool known = !strcmp(cases[i].seat, "{}");
		struct err e = {0};
		struct snapshot s = {.host = "before"};
		int err;

		assert_non_null(json);
		err = snapshot_from_json(json, &s, &e);
		if (!err != !cases[i].says || (err && !strstr(e.text, cases[i].says)))
			fail_msg("%s %s: %s", cases[i].machine, cases[i].seat, e.text);
		if (err) {
			assert_string_equal(s.host, "before");
		} else {
			assert_int_equal(s.host_state.known, known);
			assert_int_equal(s.port[0].pci_slot.known, known);
			snapshot_clear(&s);
		}
		json_decref(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine),	    cmocka_unit_test(test_seat),
		cmocka_unit_test(test_nothing),	    cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_cpu_lists),   cmocka_unit_test(test_pcie),
		cmocka_unit_test(test_json),	    cmocka_unit_test(test_bad_json),
		cmocka_unit_test(test_owner_words), cmocka_unit_test(test_memlock),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
