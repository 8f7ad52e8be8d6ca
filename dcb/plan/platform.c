/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows in matching order: the kind of function comes before the vendor's tools, because a VF of
 * such a NIC is set on its physical function, too. A guest sees no physfn, so a VF is also
 * identified by its driver or PCI id.
 */
#include "dcb/plan/platform.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/kernel/backend.h"
#include "dcb/kernel/sysfs.h"

#define BIT(id) QOS_BIT(QOS_##id)

#define APP_FIELDS                                                                                 \
	(BIT(TRUST) | BIT(DSCP_PRIO) | BIT(APP) | BIT(APP_TRUST) | BIT(REWRITE_DSCP) |             \
	 BIT(REWRITE_PCP))
#define ETS_FIELDS (BIT(ETS_WILLING) | BIT(PRIO_TC) | BIT(TC_TSA) | BIT(TC_TX_BW) | BIT(TC_MAXRATE))
#define PFC_FIELDS                                                                                 \
	(BIT(PFC_WILLING) | BIT(PFC_ENABLED) | BIT(PFC_DELAY) | BIT(PFC_STORM) |                   \
	 BIT(PRIO_BUFFER) | BIT(BUFFER_SIZE))
#define PAUSE_FIELDS (BIT(PAUSE_AUTONEG) | BIT(PAUSE_RX) | BIT(PAUSE_TX))
#define DCB_FIELDS                                                                                 \
	(BIT(DCBX_MODE) | BIT(FIRMWARE_AGENT) | APP_FIELDS | ETS_FIELDS | PFC_FIELDS | PAUSE_FIELDS)
#define CC_FIELDS                                                                                  \
	(BIT(NP_ENABLE) | BIT(RP_ENABLE) | BIT(CNP_DSCP) | BIT(CNP_PRIO) | BIT(CNP_INTERVAL) |     \
	 BIT(CC_ALGORITHM) | BIT(CC_PARAMS))
#define ROCE_FIELDS (BIT(ROCE_VERSION) | BIT(CM_TOS) | BIT(VERBS_TOS))

#define PCI_BROADCOM 0x14e4
#define PCI_HUAWEI   0x19e5
#define PCI_MELLANOX 0x15b3

struct pci_id {
	uint16_t vendor, device;
};

/* Virtual functions with the driver of their physical one: linux 7.2 mlx5/core/main.c,
 * bnxt/bnxt.c, hns3/hnae3.h. */
static const struct pci_id virtual_functions[] = {
	{PCI_MELLANOX, 0x1014}, {PCI_MELLANOX, 0x1016}, {PCI_MELLANOX, 0x1018},
	{PCI_MELLANOX, 0x101a}, {PCI_MELLANOX, 0x101c}, {PCI_MELLANOX, 0x101e},
	{PCI_MELLANOX, 0xa2d3}, {PCI_BROADCOM, 0x1606}, {PCI_BROADCOM, 0x1607},
	{PCI_BROADCOM, 0x1608}, {PCI_BROADCOM, 0x1609}, {PCI_BROADCOM, 0x16bd},
	{PCI_BROADCOM, 0x16c1}, {PCI_BROADCOM, 0x16c2}, {PCI_BROADCOM, 0x16c3},
	{PCI_BROADCOM, 0x16c4}, {PCI_BROADCOM, 0x16c5}, {PCI_BROADCOM, 0x16cb},
	{PCI_BROADCOM, 0x16d3}, {PCI_BROADCOM, 0x16dc}, {PCI_BROADCOM, 0x16e1},
	{PCI_BROADCOM, 0x16e5}, {PCI_BROADCOM, 0x16e6}, {PCI_BROADCOM, 0x1806},
	{PCI_BROADCOM, 0x1807}, {PCI_BROADCOM, 0x1808}, {PCI_BROADCOM, 0x1809},
	{PCI_BROADCOM, 0x1819}, {PCI_BROADCOM, 0x181b}, {PCI_BROADCOM, 0xd800},
	{PCI_HUAWEI, 0xa22e},	{PCI_HUAWEI, 0xa22f},
};

/* BlueField, BlueField-2, -3 and -4. Their Arm cores have the same driver and do have DCB. */
static const struct pci_id dpus[] = {
	{PCI_MELLANOX, 0xa2d2},
	{PCI_MELLANOX, 0xa2d6},
	{PCI_MELLANOX, 0xa2dc},
	{PCI_MELLANOX, 0xa2df},
};

static const char *const virtual_drivers[] = {"iavf", "cxgb4vf", "ixgbevf", "hclgevf"};

static bool platform_is_driver(const struct platform_facts *facts, const char *driver)
{
	return !strcmp(facts->driver, driver) || !strcmp(facts->rdma_driver, driver);
}

static bool platform_has_pci_id(const struct platform_facts *facts, const struct pci_id *ids,
				unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (ids[i].vendor == facts->vendor && ids[i].device == facts->device)
			return true;
	return false;
}

static bool platform_is_mana(const struct platform_facts *facts)
{
	return platform_is_driver(facts, "mana");
}

static bool platform_is_pvrdma(const struct platform_facts *facts)
{
	return !strcmp(facts->rdma_driver, "vmw_pvrdma");
}

static bool platform_is_erdma(const struct platform_facts *facts)
{
	return !strcmp(facts->rdma_driver, "erdma");
}

bool platform_is_virtual(const struct platform_facts *facts)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(virtual_drivers); i++)
		if (platform_is_driver(facts, virtual_drivers[i]))
			return true;
	return facts->has_physical ||
	       platform_has_pci_id(facts, virtual_functions, ARRAY_SIZE(virtual_functions));
}

static bool platform_is_subfunction(const struct platform_facts *facts)
{
	return !strcmp(facts->driver, "mlx5_core.sf");
}

/* linux net/devlink: port names of representors: "pf0vf1", "c1pf0sf88", "pf0". */
static bool platform_is_representor(const struct platform_facts *facts)
{
	static const char *const patterns[] = {"pf[0-9]*", "c[0-9]*pf[0-9]*"};

	for (unsigned int i = 0; i < ARRAY_SIZE(patterns); i++)
		if (!fnmatch(patterns[i], facts->port_name, 0))
			return true;
	return false;
}

/* The DPU owns the port if the host's function is no vport group manager: mlx5 then has no dcbnl.
 */
static bool platform_is_dpu_host(const struct platform_facts *facts)
{
	return !facts->has_dcb && !strcmp(facts->driver, "mlx5_core") &&
	       platform_has_pci_id(facts, dpus, ARRAY_SIZE(dpus));
}

static bool platform_is_ionic(const struct platform_facts *facts)
{
	return platform_is_driver(facts, "ionic");
}

static bool platform_is_irdma_iwarp(const struct platform_facts *facts)
{
	return facts->iwarp && !strcmp(facts->rdma_driver, "ice");
}

static bool platform_is_iwarp(const struct platform_facts *facts)
{
	return facts->iwarp;
}

const struct platform platforms[] = {
	{
		.word = "mana",
		.name = "an Azure MANA port",
		.is = platform_is_mana,
		.place = {{DCB_FIELDS | CC_FIELDS, "only Azure can set it, outside the guest",
			   false}},
		.seen = "linux 7.2 microsoft/mana (no dcbnl, no pause, no debugfs for it)",
	},
	{
		.word = "pvrdma",
		.name = "a VMware PVRDMA port",
		.is = platform_is_pvrdma,
		.place = {{DCB_FIELDS | CC_FIELDS,
			   "set it on the uplink of the ESXi host; set marking in the "
			   "distributed switch",
			   false}},
		.seen = "linux 7.2 vmw_pvrdma, vmxnet3 (no dcbnl, no pause)",
	},
	{
		.word = "erdma",
		.name = "an Alibaba eRDMA port",
		.is = platform_is_erdma,
		.place = {{DCB_FIELDS | CC_FIELDS,
			   "only Alibaba Cloud can set it, outside the instance", false}},
		.seen = "linux 7.2 infiniband/hw/erdma (no knobs)",
	},
	{
		.word = "sriov-vf",
		.name = "an SR-IOV virtual function",
		.is = platform_is_virtual,
		.place = {{DCB_FIELDS | CC_FIELDS, "set it on its physical function", true}},
		.seen = "linux 7.2 mlx5 (vport_group_manager), iavf, bnxt_dcb.c (BNXT_PF)",
	},
	{
		.word = "mlx5-sf",
		.name = "an mlx5 subfunction",
		.is = platform_is_subfunction,
		.place = {{DCB_FIELDS | CC_FIELDS,
			   "set it on the physical function of the subfunction", false}},
		.seen = "linux 7.2 mlx5/core/sf (vport_group_manager)",
	},
	{
		.word = "representor",
		.name = "a representor port of an embedded switch",
		.is = platform_is_representor,
		.place = {{DCB_FIELDS | CC_FIELDS,
			   "set it on the uplink of the switch (phys_port_name p0 or p1)", false}},
		.seen = "linux 7.2 net/devlink/port.c, mlx5/core/en_rep.c",
	},
	{
		.word = "dpu-host",
		.name = "a host port of a BlueField that its DPU owns",
		.is = platform_is_dpu_host,
		.place = {{DCB_FIELDS | CC_FIELDS,
			   "set it on the DPU: log in to its Arm cores and apply to its uplink p0 "
			   "or p1",
			   false}},
		.seen = "linux 7.2 mlx5/core/en_dcbnl.c (vport_group_manager)",
	},
	{
		.word = "ionic",
		.name = "an AMD ionic port",
		.is = platform_is_ionic,
		.place =
			{
				{APP_FIELDS, "use nicctl update qos dscp-to-priority", false},
				{ETS_FIELDS, "use nicctl update qos scheduling", false},
				{PFC_FIELDS,
				 "use nicctl update qos pfc, and nicctl update port --pause-type "
				 "pfc",
				 false},
				/* ionic_set_pauseparam() replaces the type PFC by link pause. */
				{PAUSE_FIELDS,
				 "use nicctl update port --pause-type (ethtool would replace PFC "
				 "by "
				 "link pause)",
				 false},
				{BIT(DCBX_MODE) | BIT(FIRMWARE_AGENT),
				 "it has no DCBX; settings made with nicctl stay", false},
				{CC_FIELDS, "use nicctl update dcqcn", false},
			},
		.seen = "linux 7.2 pensando/ionic_ethtool.c; nicctl as ROCm's scripts call it",
	},
	{
		.word = "irdma-iwarp",
		.name = "an Intel RDMA port in iWARP mode",
		.is = platform_is_irdma_iwarp,
		.place = {{ROCE_FIELDS | CC_FIELDS,
			   "switch to RoCE first: devlink dev param set pci/ADDRESS name "
			   "enable_iwarp "
			   "value false cmode runtime, then enable_roce true",
			   false}},
		.seen = "linux 7.2 ice/devlink (enable_roce, enable_iwarp)",
	},
	{
		.word = "iwarp",
		.name = "an iWARP port",
		.is = platform_is_iwarp,
		.place = {{ROCE_FIELDS,
			   "iWARP runs over TCP: applications set the ToS (rdma_set_option)",
			   false},
			  {CC_FIELDS, "iWARP runs over TCP, and TCP controls congestion", false}},
		.seen = "linux 7.2 infiniband/core/cma.c, cxgb4, siw",
	},
};
const unsigned int platform_count = ARRAY_SIZE(platforms);

const struct platform *platform_find(const struct platform_facts *facts)
{
	for (unsigned int i = 0; i < platform_count; i++)
		if (platforms[i].is(facts))
			return &platforms[i];
	return NULL;
}

void platform_where(const struct platform_place *place, const struct platform_facts *facts,
		    char *buf, size_t size)
{
	if (!place->physical)
		snprintf(buf, size, "%s", place->where);
	else if (facts->physical[0])
		snprintf(buf, size, "%s %s", place->where, facts->physical);
	else
		snprintf(buf, size, "%s, on the host of this guest", place->where);
}

static const struct platform_place *platform_place_of(const struct platform *p,
						      enum qos_field_id field)
{
	for (unsigned int i = 0; i < PLATFORM_PLACES && p->place[i].fields; i++)
		if (p->place[i].fields & QOS_BIT(field))
			return &p->place[i];
	return NULL;
}

/* Returns true when the field cannot be set on this port; the reason says where to set it. */
static bool platform_refuses(const struct platform_facts *facts, enum qos_field_id field,
			     char *reason, size_t size)
{
	char where[PLATFORM_WHERE_MAX];

	for (unsigned int i = 0; i < platform_count; i++) {
		const struct platform_place *place = platform_place_of(&platforms[i], field);

		if (!place || !platforms[i].is(facts))
			continue;
		platform_where(place, facts, where, sizeof(where));
		snprintf(reason, size, "not settable on %s: %s", platforms[i].name, where);
		return true;
	}
	return false;
}

/* Returns the fields that platform_refuses() refuses. */
static uint64_t platform_refused_fields(const struct platform_facts *facts)
{
	uint64_t fields = 0;

	for (unsigned int i = 0; i < platform_count; i++)
		for (unsigned int k = 0; platforms[i].is(facts) && k < PLATFORM_PLACES; k++)
			fields |= platforms[i].place[k].fields;
	return fields;
}

void platform_judge(const struct platform_facts *facts, struct plan *plan)
{
	const struct platform *p = platform_find(facts);

	if (!p)
		return;
	snprintf(plan->platform, sizeof(plan->platform), "%s", p->word);
	/* DCBX ownership of the firmware matters only where DCB can be set. */
	if (platform_refused_fields(facts) & QOS_BIT(QOS_DCBX_MODE))
		plan->firmware_owned = false;
	for (unsigned int i = 0; i < plan->count; i++) {
		struct plan_step *s = &plan->step[i];

		if (platform_refuses(facts, s->field, s->reason, sizeof(s->reason)))
			s->cannot = true;
	}
}

static json_t *platform_places_json(const struct platform *p, const struct platform_facts *facts)
{
	json_t *list = json_array();
	char where[PLATFORM_WHERE_MAX];
	int err = list ? 0 : -1;

	for (unsigned int i = 0; !err && i < PLATFORM_PLACES && p->place[i].fields; i++) {
		platform_where(&p->place[i], facts, where, sizeof(where));
		err = json_array_append_new(list, json_pack("{s:o, s:s}", "fields",
							    qos_keys_json(p->place[i].fields),
							    "where", where));
	}
	if (!err)
		return list;
	json_decref(list);
	return NULL;
}

json_t *platform_json(const struct platform_facts *facts)
{
	json_t *list = json_array();
	int err = list ? 0 : -1;

	for (unsigned int i = 0; !err && i < platform_count; i++)
		if (platforms[i].is(facts))
			err = json_array_append_new(
				list, json_pack("{s:s, s:s, s:o}", "kind", platforms[i].word,
						"name", platforms[i].name, "elsewhere",
						platform_places_json(&platforms[i], facts)));
	if (!err)
		return list;
	json_decref(list);
	return NULL;
}

#define PATH_LENGTH 192

static uint16_t platform_read_id(struct dcb *dcb, const char *device, const char *file)
{
	char path[PATH_LENGTH + 16], text[16], *end;
	unsigned long id;

	snprintf(path, sizeof(path), "%s/%s", device, file);
	if (dcb_sysfs_read(dcb, path, text, sizeof(text)))
		return 0;
	id = strtoul(text, &end, 16);
	return end == text || *end || id > UINT16_MAX ? 0 : (uint16_t)id;
}

/* Reads the first netdev of a VF's physical function, if it is on this host. */
static void platform_read_physfn(struct dcb *dcb, const char *device, struct platform_facts *facts)
{
	char path[PATH_LENGTH + 16];

	snprintf(path, sizeof(path), "%s/physfn", device);
	if (faccessat(dcb_sysfs_fd(dcb), path, F_OK, 0))
		return;
	facts->has_physical = true;
	snprintf(path, sizeof(path), "%s/physfn/net", device);
	(void)sysfs_first_name(dcb_sysfs_fd(dcb), path, facts->physical, sizeof(facts->physical));
}

static void platform_read_device(struct dcb *dcb, const char *device, char *driver, size_t size,
				 struct platform_facts *facts)
{
	char path[PATH_LENGTH + 16];

	snprintf(path, sizeof(path), "%s/driver", device);
	(void)sysfs_link_name(dcb_sysfs_fd(dcb), path, driver, size);
	if (!facts->vendor) {
		facts->vendor = platform_read_id(dcb, device, "vendor");
		facts->device = platform_read_id(dcb, device, "device");
	}
	if (!facts->has_physical)
		platform_read_physfn(dcb, device, facts);
}

void platform_gather(struct dcb *dcb, const char *ifname, const char *ibdev, bool has_dcb,
		     struct platform_facts *facts)
{
	char path[PATH_LENGTH], text[32];

	memset(facts, 0, sizeof(*facts));
	facts->has_dcb = has_dcb;
	if (sysfs_is_element(ifname)) {
		snprintf(path, sizeof(path), "class/net/%.15s/device", ifname);
		platform_read_device(dcb, path, facts->driver, sizeof(facts->driver), facts);
		snprintf(path, sizeof(path), "class/net/%.15s/phys_port_name", ifname);
		if (dcb_sysfs_read(dcb, path, facts->port_name, sizeof(facts->port_name)))
			facts->port_name[0] = '\0';
	}
	if (!sysfs_is_element(ibdev))
		return;
	snprintf(path, sizeof(path), "class/infiniband/%.63s/device", ibdev);
	platform_read_device(dcb, path, facts->rdma_driver, sizeof(facts->rdma_driver), facts);
	snprintf(path, sizeof(path), "class/infiniband/%.63s/node_type", ibdev);
	/* "4: RNIC", by linux rdma/ib_verbs.h */
	facts->iwarp = !dcb_sysfs_read(dcb, path, text, sizeof(text)) && atoi(text) == 4;
}
