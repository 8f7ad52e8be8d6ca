/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-TOP and RC-NET on one host: who else sets DCB, whether what is set comes back, whether the
 * ports of a host are alike, and how its routing treats several of them.
 */
#include <stdio.h>
#include <string.h>

#include "reports/checks.h"
#include "reports/subject.h"

static const char *host_agent(const struct machine *m)
{
	if (m->known && m->lldpad > 0)
		return "lldpad";
	return m->known && m->lldpd > 0 ? "lldpd" : NULL;
}

PORT_CHECK(check_top_firmware)
{
	const struct qos *q = &s->port->qos;
	const char *agent = host_agent(&s->host->before.machine);
	bool asks = qos_has(s->wish, QOS_FIRMWARE_AGENT) ? !s->wish->firmware_agent
							 : subject_has_profile(s);
	bool runs = qos_has(q, QOS_FIRMWARE_AGENT) && q->firmware_agent;
	bool owns = qos_has(q, QOS_DCBX_MODE) && q->dcbx_mode & QOS_DCBX_LLD_MANAGED;
	bool host = qos_has(q, QOS_DCBX_MODE) && q->dcbx_mode & (QOS_DCBX_HOST | QOS_DCBX_STATIC);

	finding_wish(out, s->profile, QOS_FIRMWARE_AGENT);
	if (!qos_has(q, QOS_FIRMWARE_AGENT) && !qos_has(q, QOS_DCBX_MODE)) {
		subject_unreadable(s, out, "who owns DCBX");
		return;
	}
	if (qos_has(q, QOS_FIRMWARE_AGENT))
		evidence_field(out, s, QOS_FIRMWARE_AGENT);
	if (qos_has(q, QOS_DCBX_MODE))
		evidence_field(out, s, QOS_DCBX_MODE);
	if ((runs || owns) && agent)
		finding_say(out, VERDICT_FAIL, "the firmware's LLDP agent runs, and %s as well",
			    agent);
	else if (runs || owns)
		finding_say(out, asks ? VERDICT_FAIL : VERDICT_WARN,
			    "the firmware's agent owns DCBX: what the host sets is refused or "
			    "overwritten");
	else if (qos_has(q, QOS_DCBX_MODE) && !host)
		finding_say(out, VERDICT_WARN,
			    "DCBX is not the host's: the firmware may overwrite what is set");
	else
		finding_say(out, VERDICT_PASS, "the firmware leaves DCBX to the host");
}

static void evidence_setters(const struct machine *m, struct findings *out)
{
	finding_evidence(out, EVIDENCE_HOST, "lldpad %s, lldpd %s",
			 m->lldpad > 0	       ? "runs"
			 : m->lldpad_waits > 0 ? "waits for its first datagram"
					       : "does not run",
			 m->lldpd > 0 ? "runs" : "does not run");
	for (unsigned int i = 0; i < m->setter_count && i < MACHINE_SETTERS_MAX; i++)
		finding_evidence(out, EVIDENCE_HOST, "%s calls %s", m->setter[i].path,
				 m->setter[i].tool);
}

FABRIC_CHECK(check_top_setters)
{
	const struct machine *m = &c->run->host[0].before.machine;
	const struct profile *wish = &c->fabric->profile;

	finding_begin(out, rule, c->run->host[0].name, "", 0);
	if (!m->known) {
		finding_say(out, VERDICT_INCONCLUSIVE, "the snapshot says nothing of the machine");
		return;
	}
	evidence_setters(m, out);
	if (m->lldpad > 0 && (m->lldpd > 0 || m->setter_count))
		finding_say(out, VERDICT_FAIL, "lldpad runs and %s as well: they undo each other",
			    m->lldpd > 0 ? "lldpd" : m->setter[0].path);
	else if (wish->agent == AGENT_LLDPAD && m->lldpad <= 0)
		finding_say(out, VERDICT_FAIL, "the profile's agent is lldpad, which does not run");
	else if (m->lldpad > 0 && wish->agent != AGENT_NONE)
		finding_say(out, VERDICT_PASS, "lldpad alone sets DCB, as the profile wants");
	else if (m->lldpad > 0)
		finding_say(out, wish->name[0] ? VERDICT_FAIL : VERDICT_WARN,
			    "lldpad runs: it writes ETS and PFC again with every LLDPDU");
	else if (m->setter_count)
		finding_say(out, VERDICT_WARN, "%s sets QoS as well: it calls %s",
			    m->setter[0].path, m->setter[0].tool);
	else if (m->lldpad_waits > 0)
		finding_say(out, VERDICT_WARN,
			    "systemd starts lldpad at the first call of lldptool");
	else
		finding_say(out, VERDICT_PASS, "nothing else on this host sets DCB");
}

PORT_CHECK(check_top_willing)
{
	const struct qos *q = &s->port->qos;
	uint64_t both = QOS_BIT(QOS_ETS_WILLING) | QOS_BIT(QOS_PFC_WILLING);
	bool ets = qos_has(q, QOS_ETS_WILLING) && q->ets_willing;
	bool pfc = qos_has(q, QOS_PFC_WILLING) && q->pfc_willing;
	bool ok = (!ets || (qos_has(s->wish, QOS_ETS_WILLING) && s->wish->ets_willing)) &&
		  (!pfc || (qos_has(s->wish, QOS_PFC_WILLING) && s->wish->pfc_willing));

	if (!(q->has & both)) {
		finding_say(out, VERDICT_SKIP, "the port does not say whether it is willing");
		return;
	}
	if (qos_has(q, QOS_ETS_WILLING))
		evidence_field(out, s, QOS_ETS_WILLING);
	if (qos_has(q, QOS_PFC_WILLING))
		evidence_field(out, s, QOS_PFC_WILLING);
	if (ok)
		finding_say(out, VERDICT_PASS,
			    ets || pfc ? "willing, as the profile wants"
				       : "the host is not willing: its own settings "
					 "hold");
	else
		finding_say(out, VERDICT_FAIL, "the host is willing: %s",
			    s->port->peer.has ? "its link partner decides"
					      : "whoever speaks DCBX on the link decides");
}

FABRIC_CHECK(check_top_persist)
{
	const struct machine *m = &c->run->host[0].before.machine;
	const struct profile *p = &c->fabric->profile;

	finding_begin(out, rule, c->run->host[0].name, "", 0);
	if (!m->known) {
		finding_say(out, VERDICT_INCONCLUSIVE, "the snapshot says nothing of the machine");
		return;
	}
	finding_evidence(out, EVIDENCE_HOST, "rocecheck-apply.service is %s",
			 m->boot_unit == 1 ? "enabled" : "not enabled");
	if (!p->name[0] || !p->persist)
		finding_say(out, VERDICT_SKIP, "%s",
			    p->name[0] ? "the profile does not ask for it"
				       : "no profile was given");
	else if (m->boot_unit == 1)
		finding_say(out, VERDICT_PASS, "what was confirmed is applied again at boot");
	else if (m->setter_count)
		finding_say(out, VERDICT_WARN, "after a boot settings are those of %s",
			    m->setter[0].path);
	else
		finding_say(out, VERDICT_WARN, "nothing applies settings again at boot");
}

/* The next port of the host that is driven by the same driver: each pair is compared once. */
static const struct port *next_of_kind(const struct subject *s)
{
	struct port_walk walk = {.c = s->c};
	struct subject other;
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

static const char *rails_differ(const struct port *a, const struct port *b)
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
	const struct port *other = next_of_kind(s);
	const char *differs;

	if (!other) {
		finding_say(out, VERDICT_SKIP, "no further port of this driver");
		return;
	}
	differs = rails_differ(s->port, other);
	finding_evidence(out, EVIDENCE_HOST, "compared with %s: %s", other->netdev,
			 differs ? differs : "firmware, driver, link and settings");
	if (differs)
		finding_say(out, VERDICT_FAIL, "%s is not that of %s", differs, other->netdev);
	else
		finding_say(out, VERDICT_PASS, "alike with %s", other->netdev);
}

static unsigned int roce_ports(const struct rule_context *c)
{
	struct port_walk walk = {.c = c};
	struct subject s;
	unsigned int n = 0;

	while (port_walk_next(&walk, &s))
		n += s.port && s.port->ibdev[0] && s.port->kind != PORT_IWARP;
	return n;
}

PORT_CHECK(check_net_rp_filter)
{
	const struct seat *seat = &s->port->seat;

	if (roce_ports(s->c) < 2) {
		finding_say(out, VERDICT_SKIP, "one RoCE port: there is no other way back");
		return;
	}
	if (!seat->known || seat->rp_filter == MACHINE_UNKNOWN) {
		finding_say(out, VERDICT_INCONCLUSIVE, "rp_filter cannot be read");
		return;
	}
	finding_evidence(out, EVIDENCE_HOST, "rp_filter is %d (sysctl, all and %s)",
			 seat->rp_filter, s->name);
	if (seat->rp_filter == 1)
		finding_say(out, VERDICT_FAIL,
			    "strict reverse path filter on a host with %u RoCE ports",
			    roce_ports(s->c));
	else
		finding_say(out, VERDICT_PASS, "the reverse path filter is not strict");
}

PORT_CHECK(check_net_forwarding)
{
	const struct seat *seat = &s->port->seat;

	if (!seat->known || seat->forwarding == MACHINE_UNKNOWN) {
		finding_say(out, VERDICT_INCONCLUSIVE, "forwarding cannot be read");
		return;
	}
	finding_evidence(out, EVIDENCE_HOST, "net.ipv4.conf.%s.forwarding is %d", s->name,
			 seat->forwarding);
	if (seat->forwarding)
		finding_say(out, VERDICT_FAIL, "the host forwards IP between this port and others");
	else
		finding_say(out, VERDICT_PASS, "the host forwards nothing from this port");
}
