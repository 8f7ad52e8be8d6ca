/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-TOP and RC-NET on one host: checks for other writers of DCB, settings at boot, equal rails,
 * and routing between several RoCE ports.
 */
#include <stdio.h>
#include <string.h>

#include "dcb/drift/owner.h"
#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"

static const char *owner_lldp_agent(const struct host_state *m)
{
	if (m->known && m->lldpad > 0)
		return "lldpad";
	return m->known && m->lldpd > 0 ? "lldpd" : NULL;
}

PORT_CHECK(check_top_firmware)
{
	const struct qos *q = &s->port->qos;
	const char *agent = owner_lldp_agent(&s->host->before.host_state);
	bool asks = qos_has(s->want, QOS_FIRMWARE_AGENT) ? !s->want->firmware_agent
							 : port_ctx_has_profile(s);
	bool runs = qos_has(q, QOS_FIRMWARE_AGENT) && q->firmware_agent;
	bool owns = qos_has(q, QOS_DCBX_MODE) && q->dcbx_mode & QOS_DCBX_LLD_MANAGED;
	bool host = qos_has(q, QOS_DCBX_MODE) && q->dcbx_mode & (QOS_DCBX_HOST | QOS_DCBX_STATIC);

	finding_expected_by(out, s->profile, QOS_FIRMWARE_AGENT);
	if (!qos_has(q, QOS_FIRMWARE_AGENT) && !qos_has(q, QOS_DCBX_MODE)) {
		port_ctx_unreadable(s, out, "who owns DCBX");
		return;
	}
	if (qos_has(q, QOS_FIRMWARE_AGENT))
		evidence_field(out, s, QOS_FIRMWARE_AGENT);
	if (qos_has(q, QOS_DCBX_MODE))
		evidence_field(out, s, QOS_DCBX_MODE);
	if ((runs || owns) && agent)
		finding_set(out, VERDICT_FAIL, "both the firmware's LLDP agent and %s run", agent);
	else if (runs || owns)
		finding_set(out, asks ? VERDICT_FAIL : VERDICT_WARN,
			    "the firmware's LLDP agent owns DCBX: it refuses or overwrites the "
			    "host's settings");
	else if (qos_has(q, QOS_DCBX_MODE) && !host)
		finding_set(out, VERDICT_WARN,
			    "the host does not own DCBX: the firmware may overwrite its settings");
	else
		finding_set(out, VERDICT_PASS, "the firmware leaves DCBX to the host");
}

/* Adds the text that apply prints for this owner. */
static void evidence_owner(const struct host_owner *m, struct findings *out)
{
	struct owner owner = {.kind = (enum owner_kind)host_owner_kind(m->kind), .pid = m->pid};
	struct err e = {0};

	snprintf(owner.path, sizeof(owner.path), "%s", m->path);
	snprintf(owner.name, sizeof(owner.name), "%s", m->name);
	snprintf(owner.via, sizeof(owner.via), "%s", m->via);
	owner_report(&owner, &e);
	finding_evidence(out, EVIDENCE_HOST, "%s", e.text);
}

/* Counts conflicting writers; lldpad is none when the profile uses it. */
static unsigned int owner_count_conflicts(const struct host_state *m, bool wants_lldpad,
					  struct findings *out, enum owner_kind *worst)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < m->owner_count && i < HOST_OWNERS_MAX; i++) {
		int kind = host_owner_kind(m->owner[i].kind);
		const struct owner owner = {.kind = (enum owner_kind)kind};

		if (kind < 0 || (wants_lldpad && owner_is_lldpad(&owner)))
			continue;
		evidence_owner(&m->owner[i], out);
		if (!n++)
			*worst = owner.kind;
	}
	return n;
}

static const char *const owner_lines[OWNER_KIND_COUNT] = {
	[OWNER_LLDPAD] = "lldpad runs: it rewrites ETS and PFC with every LLDPDU",
	[OWNER_LLDPAD_SOCKET] = "systemd starts lldpad at the first call of lldptool",
	[OWNER_LLDPAD_BOOT] = "lldpad is started at the next boot",
	[OWNER_LLDPD] = "lldpd sends its own DCBX",
	[OWNER_NETWORKMANAGER] = "NetworkManager sets DCB with a connection",
	[OWNER_BOOT_CONFIG] = "another service or hook also sets QoS",
	[OWNER_FOREIGN_SOCKET] = "a process other than lldpad uses the name of lldpad's socket",
};

FABRIC_CHECK(check_top_setters)
{
	const struct host_state *m = check_begin_host(rule, c, out);
	const struct profile *want = &c->fabric->profile;
	enum owner_kind worst = OWNER_BOOT_CONFIG;
	unsigned int n;

	if (!m)
		return;
	n = owner_count_conflicts(m, want->agent != AGENT_NONE, out, &worst);
	finding_evidence(out, EVIDENCE_HOST, "lldpad %s, lldpd %s",
			 m->lldpad > 0 ? "runs" : "does not run",
			 m->lldpd > 0 ? "runs" : "does not run");
	if (want->agent == AGENT_LLDPAD && m->lldpad <= 0)
		finding_set(out, VERDICT_FAIL, "the profile's agent is lldpad, which does not run");
	else if (!n)
		finding_set(out, VERDICT_PASS, "%s",
			    want->agent == AGENT_LLDPAD
				    ? "only lldpad sets DCB, as the profile wants"
				    : "no other program on this host sets DCB");
	else if (worst == OWNER_LLDPAD && n > 1)
		finding_set(out, VERDICT_FAIL,
			    "lldpad runs and another program sets DCB: they overwrite each other");
	else
		finding_set(out,
			    worst == OWNER_LLDPAD && want->name[0] ? VERDICT_FAIL : VERDICT_WARN,
			    "%s", owner_lines[worst]);
}

PORT_CHECK(check_top_willing)
{
	const struct qos *q = &s->port->qos;
	uint64_t both = QOS_BIT(QOS_ETS_WILLING) | QOS_BIT(QOS_PFC_WILLING);
	bool ets = qos_has(q, QOS_ETS_WILLING) && q->ets_willing;
	bool pfc = qos_has(q, QOS_PFC_WILLING) && q->pfc_willing;
	bool ok = (!ets || (qos_has(s->want, QOS_ETS_WILLING) && s->want->ets_willing)) &&
		  (!pfc || (qos_has(s->want, QOS_PFC_WILLING) && s->want->pfc_willing));

	if (!(q->has & both)) {
		finding_set(out, VERDICT_SKIP, "the port does not report whether it is willing");
		return;
	}
	if (qos_has(q, QOS_ETS_WILLING))
		evidence_field(out, s, QOS_ETS_WILLING);
	if (qos_has(q, QOS_PFC_WILLING))
		evidence_field(out, s, QOS_PFC_WILLING);
	if (ok)
		finding_set(out, VERDICT_PASS,
			    ets || pfc ? "willing, as the profile wants"
				       : "the host is not willing: its own settings apply");
	else
		finding_set(out, VERDICT_FAIL, "the host is willing: %s",
			    s->port->lldp_qos.has ? "its link partner decides"
						  : "any DCBX speaker on the link decides");
}

static bool owner_is_reapplied(const struct host_state *m)
{
	for (unsigned int i = 0; i < m->owner_count && i < HOST_OWNERS_MAX; i++)
		if (host_owner_kind(m->owner[i].kind) == OWNER_BOOT_CONFIG)
			return true;
	return false;
}

FABRIC_CHECK(check_top_persist)
{
	const struct host_state *m = check_begin_host(rule, c, out);
	const struct profile *p = &c->fabric->profile;

	if (!m)
		return;
	finding_evidence(out, EVIDENCE_HOST, "rocecheck-apply.service is %s, its udev rule is %s",
			 m->boot_unit == 1 ? "enabled" : "not enabled",
			 m->udev_rule == 1 ? "installed" : "not installed");
	if (!p->name[0] || !p->persist)
		finding_set(out, VERDICT_SKIP, "%s",
			    p->name[0] ? "the profile sets policy.persist: off"
				       : "no profile was given");
	else if (m->boot_unit == 1 && m->udev_rule == 1)
		finding_set(out, VERDICT_PASS, "confirmed settings are restored at boot");
	else if (m->boot_unit == 1)
		finding_set(out, VERDICT_WARN,
			    "settings are restored at boot, but not after a driver reload");
	else if (owner_is_reapplied(m))
		finding_set(out, VERDICT_WARN, "after a reboot another tool's settings win");
	else
		finding_set(out, VERDICT_WARN, "nothing restores the settings at boot");
}

/* Returns the next port of the host with the same driver: each pair is compared once. */
static const struct port *owner_next_of_driver(const struct port_ctx *s)
{
	struct port_walk walk = {.c = s->c};
	struct port_ctx other;
	bool behind = false;

	while (port_walk_next(&walk, &other)) {
		if (behind && other.port && !strcmp(other.port->rdma_driver, s->port->rdma_driver))
			return other.port;
		behind = behind || other.port == s->port;
	}
	return NULL;
}

static const enum qos_field_id rail_fields[] = {
	QOS_MTU,      QOS_TRUST,	QOS_DSCP_PRIO,	 QOS_PRIO_TC,	QOS_TC_TSA,
	QOS_TC_TX_BW, QOS_TC_MAXRATE,	QOS_PFC_ENABLED, QOS_PAUSE_RX,	QOS_PAUSE_TX,
	QOS_CM_TOS,   QOS_ROCE_VERSION, QOS_CNP_DSCP,	 QOS_NP_ENABLE, QOS_RP_ENABLE,
};

static const char *owner_rails_differ(const struct port *a, const struct port *b)
{
	if (strcmp(a->firmware, b->firmware))
		return "firmware";
	if (strcmp(a->driver_version, b->driver_version))
		return "driver version";
	if (a->speed_mbps && b->speed_mbps && a->speed_mbps != b->speed_mbps)
		return "link speed";
	if (a->active_mtu != b->active_mtu)
		return "RDMA MTU";
	for (unsigned int i = 0; i < ARRAY_SIZE(rail_fields); i++)
		if ((a->qos.has & b->qos.has & QOS_BIT(rail_fields[i])) &&
		    !qos_field_equal(&a->qos, &b->qos, rail_fields[i]))
			return qos_fields[rail_fields[i]].key;
	return NULL;
}

PORT_CHECK(check_top_rails)
{
	const struct port *other = owner_next_of_driver(s);
	const char *differs;

	if (!other) {
		finding_set(out, VERDICT_SKIP, "no other port uses this driver");
		return;
	}
	differs = owner_rails_differ(s->port, other);
	finding_evidence(out, EVIDENCE_HOST, "compared with %s: %s", other->netdev,
			 differs ? differs : "firmware, driver, link and settings");
	if (differs)
		finding_set(out, VERDICT_FAIL, "%s differs from that of %s", differs,
			    other->netdev);
	else
		finding_set(out, VERDICT_PASS, "same as %s", other->netdev);
}

static unsigned int owner_roce_ports(const struct rule_context *c)
{
	struct port_walk walk = {.c = c};
	struct port_ctx s;
	unsigned int n = 0;

	while (port_walk_next(&walk, &s))
		n += s.port && s.port->ibdev[0] && s.port->kind != PORT_IWARP;
	return n;
}

static bool owner_share_subnet(const struct pci_slot *a, const struct pci_slot *b)
{
	for (unsigned int i = 0; i < a->subnet_count; i++)
		for (unsigned int k = 0; k < b->subnet_count; k++)
			if (!strcmp(a->subnet[i].cidr, b->subnet[k].cidr))
				return true;
	return false;
}

/* Returns another RoCE port of the host in the same subnet. */
static const struct port *owner_same_subnet_port(const struct port_ctx *s)
{
	struct port_walk walk = {.c = s->c};
	struct port_ctx other;

	while (port_walk_next(&walk, &other))
		if (other.port && other.port != s->port && other.port->kind != PORT_IWARP &&
		    owner_share_subnet(&s->port->pci_slot, &other.port->pci_slot))
			return other.port;
	return NULL;
}

PORT_CHECK(check_net_arp)
{
	const struct pci_slot *slot = &s->port->pci_slot;
	const struct port *mate = owner_same_subnet_port(s);

	if (owner_roce_ports(s->c) < 2) {
		finding_set(out, VERDICT_SKIP, "only one RoCE port");
		return;
	}
	if (!slot->known || slot->arp_ignore == HOST_UNKNOWN ||
	    slot->arp_announce == HOST_UNKNOWN) {
		finding_set(out, VERDICT_INCONCLUSIVE, "arp_ignore or arp_announce cannot be read");
		return;
	}
	if (!mate) {
		finding_set(out, VERDICT_SKIP, "no other RoCE port is in its subnet");
		return;
	}
	finding_evidence(out, EVIDENCE_HOST, "%s is in its subnet; arp_ignore %d, arp_announce %d",
			 mate->netdev, slot->arp_ignore, slot->arp_announce);
	if (!slot->arp_ignore)
		finding_set(out, VERDICT_FAIL,
			    "the port answers ARP requests for the address of %s", mate->netdev);
	else if (slot->arp_announce < 2)
		finding_set(out, VERDICT_WARN,
			    "the port may send ARP requests with the address of %s", mate->netdev);
	else
		finding_set(out, VERDICT_PASS,
			    "the port answers ARP requests only for its own addresses");
}

PORT_CHECK(check_net_rp_filter)
{
	const struct pci_slot *slot = &s->port->pci_slot;

	if (owner_roce_ports(s->c) < 2) {
		finding_set(out, VERDICT_SKIP, "only one RoCE port: only one return route");
		return;
	}
	if (!slot->known || slot->rp_filter == HOST_UNKNOWN) {
		finding_set(out, VERDICT_INCONCLUSIVE, "rp_filter cannot be read");
		return;
	}
	finding_evidence(out, EVIDENCE_HOST, "rp_filter is %d (sysctl, all and %s)",
			 slot->rp_filter, s->name);
	if (slot->rp_filter == 1)
		finding_set(out, VERDICT_FAIL,
			    "strict reverse path filter on a host with %u RoCE ports",
			    owner_roce_ports(s->c));
	else
		finding_set(out, VERDICT_PASS, "the reverse path filter is not strict");
}

PORT_CHECK(check_net_forwarding)
{
	const struct pci_slot *slot = &s->port->pci_slot;

	if (!slot->known || slot->forwarding == HOST_UNKNOWN) {
		finding_set(out, VERDICT_INCONCLUSIVE, "forwarding cannot be read");
		return;
	}
	finding_evidence(out, EVIDENCE_HOST, "net.ipv4.conf.%s.forwarding is %d", s->name,
			 slot->forwarding);
	if (slot->forwarding)
		finding_set(out, VERDICT_FAIL, "the host forwards IP between this port and others");
	else
		finding_set(out, VERDICT_PASS, "the host forwards nothing from this port");
}
