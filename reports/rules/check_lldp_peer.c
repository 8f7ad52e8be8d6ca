/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the LLDP of the link partner with the host: dialect, PFC, ETS and APP (802.1Q annex D).
 * Ports without a link partner are INCONCLUSIVE; `doctor` listens only with --listen.
 */
#include <string.h>

#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"

#define UDP_ROCE       4791   /* IBTA vol 1, Annex A17 */
#define ETHERTYPE_ROCE 0x8915 /* RoCE v1 */

static bool lldp_peer_heard(const struct port_ctx *s, struct findings *out)
{
	const struct port *p = s->port;

	if (p->lldp_qos.has || p->lldp_name[0]) {
		finding_evidence(out, EVIDENCE_LLDP, "%s %s, dialect %s", p->lldp_name,
				 p->lldp_port, p->lldp_dialect[0] ? p->lldp_dialect : "none");
		return true;
	}
	if (s->c->fabric->dcbx == FABRIC_DCBX_NONE)
		finding_set(out, VERDICT_SKIP, "the inventory says dcbx: none");
	else
		finding_set(out, VERDICT_INCONCLUSIVE, "no link partner was heard (LLDP)");
	return false;
}

PORT_CHECK(check_lldp_peer_pfc)
{
	if (!lldp_peer_heard(s, out))
		return;
	if (qos_has(&s->port->lldp_qos, QOS_PFC_ENABLED))
		finding_set(out, VERDICT_PASS, "the link partner advertises PFC");
	else
		finding_set(out, VERDICT_FAIL,
			    "the link partner advertises no PFC: its PFC state is unknown");
}

PORT_CHECK(check_lldp_peer_dialect)
{
	const char *dialect = s->port->lldp_dialect;

	if (!lldp_peer_heard(s, out))
		return;
	if (!dialect[0])
		finding_set(out, VERDICT_SKIP, "the link partner speaks LLDP but no DCBX");
	else if (!strcmp(dialect, "ieee"))
		finding_set(out, VERDICT_PASS, "the link partner speaks IEEE DCBX");
	else
		finding_set(out, VERDICT_FAIL, "the link partner speaks %s, not IEEE DCBX",
			    dialect);
}

/* Only a capture shows more than one: lldpad keeps one alone. */
PORT_CHECK(check_lldp_peer_alone)
{
	const struct lldp_peer *p = s->run_port ? &s->run_port->capture.lldp_peer : NULL;

	if (!p || !s->run_port->has_capture || !p->seen) {
		finding_set(out, VERDICT_SKIP, "no LLDP was captured at this port");
		return;
	}
	finding_evidence(out, EVIDENCE_CAPTURE, "%u LLDP neighbour%s, the first is %s",
			 p->neighbours, plural(p->neighbours),
			 p->system[0] ? p->system : p->chassis);
	if (p->neighbours > 1)
		finding_set(out, VERDICT_FAIL, "%u LLDP neighbours are on this link",
			    p->neighbours);
	else
		finding_set(out, VERDICT_PASS, "one LLDP neighbour is on this link");
}

static const enum qos_field_id ets_fields[] = {QOS_PRIO_TC, QOS_TC_TSA, QOS_TC_TX_BW};

PORT_CHECK(check_lldp_peer_ets)
{
	const struct qos *host = &s->port->qos, *peer = &s->port->lldp_qos;
	unsigned int known = 0;
	char have[256], theirs[256];

	if (!lldp_peer_heard(s, out))
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(ets_fields); i++) {
		enum qos_field_id id = ets_fields[i];

		if (!qos_has(host, id) || !qos_has(peer, id))
			continue;
		known++;
		evidence_field(out, s, id);
		/* Shares count only where a class has one: qos_diff() knows. */
		if (!(qos_diff(peer, host) & QOS_BIT(id)))
			continue;
		qos_field_text(host, id, have, sizeof(have));
		qos_field_text(peer, id, theirs, sizeof(theirs));
		finding_set(out, VERDICT_FAIL, "%s is %s, the link partner's %s",
			    qos_fields[id].key, have, theirs);
		return;
	}
	if (known)
		finding_set(out, VERDICT_PASS, "ETS is the same as the link partner's");
	else
		finding_set(out, VERDICT_INCONCLUSIVE, "the link partner advertises no ETS");
}

/* Returns the link partner's priority for RoCE: by UDP port, ethertype or DSCP; -1: none. */
static int lldp_peer_prio(const struct qos *peer, int tos)
{
	for (unsigned int i = 0; qos_has(peer, QOS_APP) && i < peer->app_count; i++) {
		const struct qos_app *a = &peer->app[i];

		if ((a->selector == QOS_APP_DGRAM || a->selector == QOS_APP_ANY) &&
		    a->protocol == UDP_ROCE)
			return a->prio;
		if (a->selector == QOS_APP_ETHERTYPE && a->protocol == ETHERTYPE_ROCE)
			return a->prio;
	}
	if (tos >= 0 && qos_has(peer, QOS_DSCP_PRIO) &&
	    peer->dscp_prio[tos >> 2 & 63] != QOS_UNMAPPED)
		return peer->dscp_prio[tos >> 2 & 63];
	return -1;
}

PORT_CHECK(check_lldp_peer_app)
{
	int prio;

	if (!lldp_peer_heard(s, out))
		return;
	prio = lldp_peer_prio(&s->port->lldp_qos, port_ctx_roce_tos(s));
	if (prio < 0) {
		finding_set(out, VERDICT_SKIP, "the link partner advertises no priority for RoCE");
		return;
	}
	finding_evidence(out, EVIDENCE_LLDP, "the link partner has RoCE on priority %d", prio);
	if (prio == s->roce_prio)
		finding_set(out, VERDICT_PASS, "RoCE is on priority %d at both ends", prio);
	else
		finding_set(out, VERDICT_FAIL, "RoCE is on priority %d, at the link partner on %d",
			    s->roce_prio, prio);
}
