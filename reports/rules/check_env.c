/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-ENV, RC-HST and RC-LNK: checks that the port exists, that it is up, and its kind. DCB settings
 * of guests, VFs and iWARP ports cannot be checked, and the report says so.
 */
#include "reports/rules/checks.h"

#include <stdio.h>
#include <string.h>

#include "dcb/plan/platform.h"
#include "reports/engine/port_ctx.h"

static const char *const kind_words[] = {
	[PORT_ROCE_PF] = "a RoCE port",	 [PORT_ROCE_VF] = "a virtual function",
	[PORT_GUEST] = "a guest's port", [PORT_SOFT_ROCE] = "Soft-RoCE",
	[PORT_IWARP] = "an iWARP port",	 [PORT_ETHERNET] = "a netdev without RDMA",
};

static void env_evidence_kind(const struct port_ctx *s, struct findings *out)
{
	finding_evidence(out, EVIDENCE_HOST, "%s is %s: netdev driver %s, RDMA driver %s", s->name,
			 kind_words[s->port->kind],
			 s->port->driver[0] ? s->port->driver : "unknown",
			 s->port->rdma_driver[0] ? s->port->rdma_driver : "none");
}

static void env_platform_facts(const struct port *p, struct platform_facts *f)
{
	*f = (struct platform_facts){
		.has_physical = p->kind == PORT_ROCE_VF,
		.iwarp = p->kind == PORT_IWARP,
		.has_dcb = p->dcb,
	};
	snprintf(f->driver, sizeof(f->driver), "%s", p->driver);
	snprintf(f->rdma_driver, sizeof(f->rdma_driver), "%s", p->rdma_driver);
	if (!p->pci_slot.known)
		return;
	snprintf(f->physical, sizeof(f->physical), "%s", p->pci_slot.physical);
	snprintf(f->port_name, sizeof(f->port_name), "%s", p->pci_slot.port_name);
	f->vendor = p->pci_slot.vendor > 0 ? (uint16_t)p->pci_slot.vendor : 0;
	f->device = p->pci_slot.device > 0 ? (uint16_t)p->pci_slot.device : 0;
}

/* Adds the settings of the port that are made elsewhere, and the place. */
static void env_report_elsewhere(const struct platform_facts *facts, struct findings *out)
{
	for (unsigned int i = 0; i < platform_count; i++) {
		const struct platform_place *place = platforms[i].place;

		for (unsigned int k = 0;
		     platforms[i].is(facts) && k < PLATFORM_PLACES && place[k].fields; k++) {
			const char *key = qos_fields[__builtin_ctzll(place[k].fields)].key;
			bool more = __builtin_popcountll(place[k].fields) > 1;
			char where[PLATFORM_WHERE_MAX];

			platform_where(&place[k], facts, where, sizeof(where));
			finding_evidence(out, EVIDENCE_HOST, "not set here: %s%s: %s", key,
					 more ? " and the like" : "", where);
		}
	}
}

PORT_CHECK(check_env_guest)
{
	const struct platform *platform;
	struct platform_facts facts;

	env_platform_facts(s->port, &facts);
	platform = platform_find(&facts);
	env_evidence_kind(s, out);
	if (s->port->kind == PORT_ROCE_VF)
		finding_set(out, VERDICT_WARN,
			    "QoS of this virtual function (VF) is set on its PF%s%s",
			    facts.physical[0] ? " " : "", facts.physical);
	else if (s->port->kind == PORT_GUEST)
		finding_set(out, VERDICT_WARN, "QoS of this guest's port is set on its host");
	else if (platform)
		finding_set(out, VERDICT_WARN, "%s: some of its QoS is set elsewhere",
			    platform->name);
	else
		finding_set(out, VERDICT_PASS, "the host owns the QoS of this port");
	env_report_elsewhere(&facts, out);
}

PORT_CHECK(check_env_iwarp)
{
	bool demands = s->want->pfc_enabled || qos_has(s->want, QOS_DSCP_PRIO);

	env_evidence_kind(s, out);
	if (s->port->kind != PORT_IWARP)
		finding_set(out, VERDICT_PASS, "the port does not run iWARP");
	else if (demands)
		finding_set(out, VERDICT_FAIL, "an iWARP port, but the profile is for RoCE");
	else
		finding_set(out, VERDICT_SKIP, "an iWARP port: RoCE checks do not apply");
}

PORT_CHECK(check_env_device)
{
	const struct fabric_port *entry = port_ctx_entry(s);

	if (!s->port) {
		finding_set(out, VERDICT_FAIL, "the host has no port %s", s->name);
		finding_evidence(out, EVIDENCE_HOST, "%s is not among the %u ports of the snapshot",
				 s->name, s->host->before.port_count);
		return;
	}
	env_evidence_kind(s, out);
	if (!s->port->ibdev[0])
		finding_set(out, VERDICT_FAIL, "%s has no RDMA device", s->name);
	else if (entry && entry->rdma[0] && strcmp(entry->rdma, s->port->ibdev))
		finding_set(out, VERDICT_FAIL, "%s has RDMA device %s, the inventory says %s",
			    s->name, s->port->ibdev, entry->rdma);
	else
		finding_set(out, VERDICT_PASS, "RDMA device %s port %u", s->port->ibdev,
			    s->port->ib_port);
}

PORT_CHECK(check_env_link)
{
	const struct port *p = s->port;
	char speed[32] = "speed unknown";

	if (p->speed_mbps)
		snprintf(speed, sizeof(speed), "%u Mb/s", p->speed_mbps);
	finding_evidence(out, EVIDENCE_HOST, "netdev is %s, RDMA port is %s, %s",
			 p->up ? "up" : "down", p->ib_active ? "active" : "not active", speed);
	if (p->up && (p->ib_active || !p->ibdev[0]))
		finding_set(out, VERDICT_PASS, "the link is up");
	else
		finding_set(out, VERDICT_FAIL, "the link is not up: netdev %s, RDMA port %s",
			    p->up ? "up" : "down", p->ib_active ? "active" : "not active");
}

PORT_CHECK(check_env_dcb)
{
	const char *driver = s->port->driver[0] ? s->port->driver : "unknown";

	finding_evidence(out, EVIDENCE_HOST, "%s (%s) %s dcbnl", s->name, driver,
			 s->port->dcb ? "answers" : "does not answer");
	if (s->port->dcb)
		finding_set(out, VERDICT_PASS, "the driver %s has DCB", driver);
	else
		finding_set(out, VERDICT_FAIL, "the driver %s has no DCB here", driver);
}
