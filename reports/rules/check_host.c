/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-HST and RC-PCI, and guests: checks the machine. These faults make RoCE slow or keep it from
 * starting; most receivers that pause the fabric have one of them.
 */
#include <stdio.h>
#include <string.h>

#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"

#define MEMLOCK_LEAST (64LL << 20) /* queues and a small buffer */
#define MEMLOCK_GOOD  (32LL << 30) /* for bulk transfers */

const struct host_state *check_begin_host(const struct rule *rule, const struct rule_context *c,
					  struct findings *out)
{
	const struct run_host *h = &c->run->host[0];

	finding_begin(out, rule, h->name, "", 0);
	if (h->before.host_state.known)
		return &h->before.host_state;
	finding_set(out, VERDICT_INCONCLUSIVE,
		    "snapshot has no machine data (collected by an older version)");
	return NULL;
}

/* Without PCI data of the port sets INCONCLUSIVE and returns NULL. */
static const struct pci_slot *host_pci_slot(const struct port_ctx *s, struct findings *out)
{
	if (s->port->pci_slot.known)
		return &s->port->pci_slot;
	finding_set(out, VERDICT_INCONCLUSIVE,
		    "snapshot has no PCI data of the port (collected by an older version)");
	return NULL;
}

static int32_t host_numa_nodes(const struct port_ctx *s)
{
	return s->host->before.host_state.known ? s->host->before.host_state.numa_nodes
						: HOST_UNKNOWN;
}

/* "6.8.0-31-generic", "50.0" */
static bool host_parse_version(const char *text, unsigned int *major, unsigned int *minor)
{
	*minor = 0;
	return sscanf(text, "%u.%u", major, minor) >= 1;
}

FABRIC_CHECK(check_host_governor)
{
	const struct host_state *m = check_begin_host(rule, c, out);

	if (!m)
		return;
	finding_evidence(out, EVIDENCE_HOST,
			 "%d of %d CPUs do not use the governor performance (cpufreq)",
			 m->cpus_saving, m->cpus);
	if (m->cpus == HOST_UNKNOWN || m->cpus_saving == HOST_UNKNOWN)
		finding_set(out, VERDICT_INCONCLUSIVE, "the governors cannot be read");
	else if (!m->cpus)
		finding_set(out, VERDICT_SKIP, "no CPU has a frequency governor");
	else if (m->cpus_saving > 0)
		finding_set(out, VERDICT_FAIL, "%d of %d CPUs use the governor %s", m->cpus_saving,
			    m->cpus, m->governor);
	else
		finding_set(out, VERDICT_PASS, "all %d CPUs use the governor performance", m->cpus);
}

FABRIC_CHECK(check_host_memlock)
{
	const struct host_state *m = check_begin_host(rule, c, out);
	char limit[48] = "unlimited";

	if (!m)
		return;
	if (m->memlock_bytes == HOST_UNKNOWN) {
		finding_set(out, VERDICT_INCONCLUSIVE, "the locked-memory limit cannot be read");
		return;
	}
	if (m->memlock_bytes != HOST_UNLIMITED)
		snprintf(limit, sizeof(limit), "%lld KiB", (long long)m->memlock_bytes / 1024);
	finding_evidence(out, EVIDENCE_HOST, "the locked-memory limit is %s%s (proc)", limit,
			 m->ipc_lock == 1 ? ", not enforced for this process (CAP_IPC_LOCK)" : "");
	if (m->memlock_bytes >= MEMLOCK_GOOD)
		finding_set(out, VERDICT_PASS, "limit of locked memory: %s", limit);
	else if (m->memlock_bytes < MEMLOCK_LEAST && m->ipc_lock != 1)
		finding_set(out, VERDICT_FAIL,
			    "only %s can be locked: queues and buffers cannot be created", limit);
	else
		finding_set(out, VERDICT_WARN,
			    "only %s can be locked without CAP_IPC_LOCK: large buffers cannot be "
			    "registered",
			    limit);
}

FABRIC_CHECK(check_host_balancing)
{
	const struct host_state *m = check_begin_host(rule, c, out);

	if (!m)
		return;
	finding_evidence(out, EVIDENCE_HOST, "%d NUMA nodes, kernel.numa_balancing is %d",
			 m->numa_nodes, m->numa_balancing);
	if (m->numa_nodes == 1 || m->numa_balancing == HOST_UNKNOWN)
		finding_set(out, VERDICT_SKIP, "one NUMA node, or a kernel without balancing");
	else if (m->numa_balancing && m->numa_nodes == HOST_UNKNOWN)
		finding_set(out, VERDICT_INCONCLUSIVE, "the NUMA nodes cannot be counted");
	else if (m->numa_balancing)
		finding_set(out, VERDICT_FAIL, "the kernel moves pages between %d NUMA nodes",
			    m->numa_nodes);
	else
		finding_set(out, VERDICT_PASS, "the kernel leaves pages on their NUMA node");
}

FABRIC_CHECK(check_host_modules)
{
	const struct host_state *m = check_begin_host(rule, c, out);

	if (!m)
		return;
	finding_evidence(out, EVIDENCE_HOST, "rdma_cm is %s (sysfs class/misc)",
			 m->rdma_cm == 1 ? "present" : "absent");
	if (m->rdma_cm == HOST_UNKNOWN)
		finding_set(out, VERDICT_INCONCLUSIVE, "cannot read whether rdma_cm is available");
	else if (m->rdma_cm)
		finding_set(out, VERDICT_PASS, "programs can connect with rdma_cm");
	else
		finding_set(out, VERDICT_FAIL,
			    "rdma_cm is not available: the module rdma_ucm is not loaded");
}

/* True for kernels without RDMA over MANA, which came with 6.8. */
static bool host_kernel_lacks_mana(const struct snapshot *host)
{
	unsigned int major, minor;

	return host_parse_version(host->kernel, &major, &minor) &&
	       (major < 6 || (major == 6 && minor < 8));
}

FABRIC_CHECK(check_host_idle)
{
	const struct host_state *m = check_begin_host(rule, c, out);
	const struct snapshot *host = &c->run->host[0].before;

	if (!m)
		return;
	finding_evidence(out, EVIDENCE_HOST,
			 "%u netdevs of RoCE NICs without an RDMA device (sysfs)", m->nic_count);
	for (unsigned int i = 0; i < m->nic_count && i < HOST_NICS_MAX; i++) {
		const char *rdma = host_rdma_driver(m->nic[i].driver);

		finding_evidence(out, EVIDENCE_HOST, "%s (%s): no RDMA device of %s",
				 m->nic[i].netdev, m->nic[i].driver, rdma ? rdma : "any driver");
		if (!strcmp(m->nic[i].driver, "mana") && host_kernel_lacks_mana(host)) {
			finding_set(out, VERDICT_FAIL,
				    "%s: RDMA over MANA needs kernel 6.8, this is %s",
				    m->nic[i].netdev, host->kernel);
			return;
		}
	}
	if (m->nic_count)
		finding_set(out, VERDICT_FAIL, "%s (%s)%s: RoCE-capable NIC without RDMA device",
			    m->nic[0].netdev, m->nic[0].driver,
			    m->nic_count > 1 ? " and others" : "");
	else
		finding_set(out, VERDICT_PASS, "every RoCE-capable NIC has an RDMA device");
}

FABRIC_CHECK(check_host_privilege)
{
	const struct run_host *h = &c->run->host[0];

	finding_begin(out, rule, h->name, "", 0);
	finding_evidence(out, EVIDENCE_HOST, "CAP_NET_ADMIN is %s",
			 h->before.privileged ? "present" : "absent");
	if (h->before.privileged)
		finding_set(out, VERDICT_PASS, "apply may set QoS here");
	else
		finding_set(out, VERDICT_FAIL, "apply would be refused: CAP_NET_ADMIN is missing");
}

PORT_CHECK(check_host_verbs)
{
	const struct port *p = s->port;

	finding_evidence(out, EVIDENCE_HOST, "%s: %u GIDs, RDMA MTU %u (verbs)", p->ibdev,
			 p->gid_count, p->active_mtu);
	if (!p->ibdev[0])
		finding_set(out, VERDICT_SKIP, "no RDMA device to open");
	else if (p->active_mtu)
		finding_set(out, VERDICT_PASS, "verbs can open %s", p->ibdev);
	else
		finding_set(
			out, VERDICT_FAIL,
			"verbs cannot open %s: no provider library, or no permission for uverbs",
			p->ibdev);
}

PORT_CHECK(check_host_roce)
{
	if (!qos_has(&s->port->qos, QOS_ROCE_ENABLE)) {
		finding_set(out, VERDICT_SKIP, "the device has no setting enable_roce");
		return;
	}
	evidence_field(out, s, QOS_ROCE_ENABLE);
	if (s->port->qos.roce_enable)
		finding_set(out, VERDICT_PASS, "RoCE is on in the device");
	else
		finding_set(out, VERDICT_FAIL, "RoCE is off in the device (devlink enable_roce)");
}

PORT_CHECK(check_host_node)
{
	const struct pci_slot *slot = host_pci_slot(s, out);

	if (!slot)
		return;
	finding_evidence(out, EVIDENCE_HOST, "%s is on NUMA node %d of %d (sysfs)", s->name,
			 slot->numa_node, host_numa_nodes(s));
	if (host_numa_nodes(s) == 1 || !slot->bdf[0])
		finding_set(out, VERDICT_SKIP, "one NUMA node, or no PCI device");
	else if (host_numa_nodes(s) == HOST_UNKNOWN)
		finding_set(out, VERDICT_INCONCLUSIVE, "the NUMA nodes cannot be counted");
	else if (slot->numa_node == HOST_UNKNOWN)
		finding_set(out, VERDICT_FAIL, "the firmware does not report its NUMA node");
	else
		finding_set(out, VERDICT_PASS,
			    "on NUMA node %d: bind programs there (numactl -N %d)", slot->numa_node,
			    slot->numa_node);
}

PORT_CHECK(check_host_irqs)
{
	const struct pci_slot *slot = host_pci_slot(s, out);

	if (!slot)
		return;
	finding_evidence(out, EVIDENCE_HOST, "%d of %d interrupts go only to CPUs of other nodes%s",
			 slot->irqs_remote, slot->irqs,
			 s->host->before.host_state.irqbalance > 0 ? "; irqbalance runs" : "");
	if (host_numa_nodes(s) == 1)
		finding_set(out, VERDICT_SKIP, "one NUMA node: every CPU is local");
	else if (slot->irqs <= 0 || slot->irqs_remote == HOST_UNKNOWN)
		finding_set(out, VERDICT_INCONCLUSIVE, "the port shows no interrupts");
	else if (slot->irqs_remote > 0)
		finding_set(out, VERDICT_FAIL,
			    "%d of %d interrupts go to CPUs of another NUMA node",
			    slot->irqs_remote, slot->irqs);
	else
		finding_set(out, VERDICT_PASS, "all %d interrupts can go to CPUs of the NIC's node",
			    slot->irqs);
}

PORT_CHECK(check_host_iommu)
{
	const struct pci_slot *slot = host_pci_slot(s, out);

	if (!slot)
		return;
	finding_evidence(out, EVIDENCE_HOST, "%s: IOMMU group of type %s (sysfs)",
			 slot->bdf[0] ? slot->bdf : s->name, slot->iommu[0] ? slot->iommu : "?");
	if (!slot->bdf[0])
		finding_set(out, VERDICT_SKIP, "not a PCI device");
	else if (!slot->iommu[0])
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "the type of its IOMMU group cannot be read");
	else if (!strncmp(slot->iommu, "DMA", 3))
		finding_set(out, VERDICT_FAIL, "the IOMMU translates every transfer (%s)",
			    slot->iommu);
	else
		finding_set(out, VERDICT_PASS, "the IOMMU does not translate (%s)", slot->iommu);
}

static void host_pcie_text(const struct pci_slot *slot, char *buf, size_t size)
{
	snprintf(buf, size, "%d.%d GT/s x%d", slot->pcie_speed / 1000,
		 slot->pcie_speed % 1000 / 100, slot->pcie_width);
}

/* A slot narrower than the NIC is no fault if it carries the link speed. */
PORT_CHECK(check_host_pcie)
{
	const struct pci_slot *slot = host_pci_slot(s, out);
	uint64_t mbps;
	char at[48];

	if (!slot)
		return;
	mbps = pcie_mbps(slot->pcie_speed, slot->pcie_width);
	host_pcie_text(slot, at, sizeof(at));
	if (!mbps) {
		finding_set(out, VERDICT_SKIP,
			    slot->bdf[0] ? "a PCI device without link data" : "not a PCI device");
		return;
	}
	finding_evidence(
		out, EVIDENCE_HOST,
		"%s runs at %s (%llu Mb/s), supports %d.%d GT/s x%d, its slot %d.%d GT/s x%d",
		slot->bdf, at, (count_t)mbps, slot->pcie_speed_max / 1000,
		slot->pcie_speed_max % 1000 / 100, slot->pcie_width_max,
		slot->slot_speed_max / 1000, slot->slot_speed_max % 1000 / 100,
		slot->slot_width_max);
	if (s->port->speed_mbps && mbps < s->port->speed_mbps)
		finding_set(out, VERDICT_FAIL, "PCIe at %s carries %llu of the port's %u Mb/s", at,
			    (count_t)mbps, s->port->speed_mbps);
	else if (slot->pcie_speed < slot->pcie_speed_max || slot->pcie_width < slot->pcie_width_max)
		finding_set(out, VERDICT_WARN, "PCIe runs at %s, below the NIC's maximum", at);
	else
		finding_set(out, VERDICT_PASS, "PCIe runs at %s, the NIC's maximum", at);
}

static bool host_is_driver(const struct port *p, const char *rdma, const char *net)
{
	return !strcmp(p->rdma_driver, rdma) || (net && !strcmp(p->driver, net));
}

PORT_CHECK(check_env_mana)
{
	const struct snapshot *host = &s->host->before;
	unsigned int major = 0, minor = 0, core = 0, rest = 0;

	if (!host_is_driver(s->port, "mana_ib", "mana") && strcmp(s->port->rdma_driver, "mana")) {
		finding_set(out, VERDICT_SKIP, "not a MANA port");
		return;
	}
	finding_evidence(out, EVIDENCE_HOST, "kernel %s, rdma-core %s",
			 host->kernel[0] ? host->kernel : "unknown",
			 host->rdma_core[0] ? host->rdma_core : "unknown");
	(void)host_parse_version(host->kernel, &major, &minor);
	if (host_kernel_lacks_mana(host))
		finding_set(out, VERDICT_FAIL, "kernel %s: RDMA over MANA needs 6.8", host->kernel);
	else if (host_parse_version(host->rdma_core, &core, &rest) && core < 50)
		finding_set(out, VERDICT_FAIL, "rdma-core %s: RDMA over MANA needs 50",
			    host->rdma_core);
	else if (!major || !core)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "the version of kernel or rdma-core is unknown");
	else
		finding_set(out, VERDICT_PASS, "kernel %u.%u and rdma-core %u support MANA", major,
			    minor, core);
}

PORT_CHECK(check_env_pvrdma)
{
	bool v2 = false;

	if (!host_is_driver(s->port, "vmw_pvrdma", NULL)) {
		finding_set(out, VERDICT_SKIP, "not a PVRDMA port");
		return;
	}
	for (unsigned int i = 0; i < s->port->gid_count; i++)
		v2 = v2 || s->port->gid[i].type == GID_ROCE_V2;
	finding_evidence(out, EVIDENCE_HOST, "%u GIDs, %s of RoCE v2 (verbs)", s->port->gid_count,
			 v2 ? "some" : "none");
	if (!s->port->gid_count)
		finding_set(out, VERDICT_INCONCLUSIVE, "its GIDs cannot be read");
	else if (!v2)
		finding_set(out, VERDICT_FAIL,
			    "the PVRDMA device has no RoCE v2 (added in version 18)");
	else
		finding_set(out, VERDICT_PASS,
			    "a PVRDMA device with RoCE v2; a fallback of vSphere to TCP is not "
			    "visible here");
}
