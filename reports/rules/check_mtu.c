/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-MTU: checks that the RDMA MTU is that of the profile and the maximum of the device, and that
 * full-size packets arrive. check_across.c compares hosts.
 */
#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"

PORT_CHECK(check_mtu_rdma)
{
	const struct qos *q = &s->port->qos;
	uint32_t have = qos_has(q, QOS_IB_MTU) ? q->ib_mtu : s->port->active_mtu;

	if (!qos_has(s->want, QOS_IB_MTU)) {
		finding_set(out, VERDICT_SKIP, "the profile does not state the RDMA MTU");
		return;
	}
	finding_expected_by(out, s->profile, QOS_IB_MTU);
	if (!have) {
		finding_set(out, VERDICT_INCONCLUSIVE, "the active RDMA MTU cannot be read");
		return;
	}
	finding_evidence(out, EVIDENCE_HOST, "active RDMA MTU is %u (verbs)", have);
	if (qos_has(q, QOS_MTU))
		evidence_field(out, s, QOS_MTU);
	finding_set(out, have >= s->want->ib_mtu ? VERDICT_PASS : VERDICT_FAIL,
		    "the RDMA MTU is %u, the profile wants at least %u", have, s->want->ib_mtu);
}

/* Largest payload of data packets from this port in a capture. */
static uint32_t mtu_largest_payload(const struct port_ctx *s, const struct run_port *at)
{
	uint32_t largest = 0;

	for (unsigned int i = 0; at && at->has_capture && i < at->capture.flow_count; i++) {
		const struct flow *f = &at->capture.flow[i];

		if (f->requests && port_ctx_owns(s, f->src) && f->max_payload > largest)
			largest = f->max_payload;
	}
	return largest;
}

/* For a pair that delivered nothing: true when full-size packets were sent, and only smaller ones
 * arrived. */
static bool mtu_lost_by_size(const struct port_ctx *s, const struct port_ctx *to, uint32_t *sent,
			     uint32_t *came)
{
	*sent = mtu_largest_payload(s, s->run_port);
	*came = mtu_largest_payload(s, to->run_port);
	return *sent && to->run_port->has_capture && *came < *sent;
}

/* Checks one direction. True when it sets the verdict. */
static bool mtu_path_failed(const struct port_ctx *s, const struct run_pair *pair,
			    struct findings *out)
{
	struct port_ctx to;
	uint32_t sent, came;

	if (!port_ctx_partner(s, pair, &to) || !mtu_lost_by_size(s, &to, &sent, &came))
		return false;
	finding_evidence(out, EVIDENCE_TRAFFIC, "to %s: %s", to.host->name, pair->client.detail);
	finding_evidence(
		out, EVIDENCE_CAPTURE,
		"packets with %u bytes of payload were sent, at most %u bytes arrived at %s", sent,
		came, to.host->name);
	finding_set(out, VERDICT_FAIL,
		    "packets of %u bytes do not reach %s: the path's MTU is smaller", sent,
		    to.host->name);
	return true;
}

PORT_CHECK(check_mtu_path)
{
	unsigned int i = 0, through = 0, sending = 0, small = 0;
	uint32_t size = s->c->fabric->message_bytes;
	const struct marking_finding *f;
	const struct run_pair *pair;
	const char *other;

	f = port_ctx_marking_finding(s, 1 << MARKING_MTU, false, &other);
	if (f) {
		evidence_marking(out, f, other);
		finding_set(out, VERDICT_FAIL,
			    "packets of %u bytes do not reach %s: the path's MTU is %u",
			    f->expected_bytes, other, f->bytes);
		return;
	}
	while ((pair = port_ctx_pair(s, &i))) {
		if (!port_ctx_is_client(s, pair) || !pair->ran || pair->verb == TRAFFIC_READ)
			continue;
		sending++;
		if (!pair->server.messages && mtu_path_failed(s, pair, out))
			return;
		if (!pair->server.messages)
			continue;
		if (size < pair->client.mtu) {
			small++;
			continue;
		}
		through++;
		finding_evidence(out, EVIDENCE_TRAFFIC,
				 "to %s: %llu messages of %u bytes in packets of %u arrived",
				 s->c->run->host[pair->server_host].name,
				 (count_t)pair->server.messages, size, pair->client.mtu);
	}
	if (!sending)
		finding_set(out, VERDICT_SKIP, "this port sent no traffic");
	else if (small)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "messages of %u bytes do not fill a packet: set message_bytes higher",
			    size);
	else if (through < sending)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "nothing arrived in %u of %u directions, and whether the packet size "
			    "is the reason is unknown",
			    sending - through, sending);
	else
		finding_set(out, VERDICT_PASS, "full-size packets get through in %u directions",
			    through);
}

/* linux include/rdma/ib_addr.h: RoCE headers take 96 bytes of the netdev's MTU at most. */
PORT_CHECK(check_mtu_jumbo)
{
	const struct port *p = s->port;

	if (!p->active_mtu || !p->max_mtu) {
		finding_set(out, VERDICT_INCONCLUSIVE, "the RDMA MTU cannot be read");
		return;
	}
	finding_evidence(out, EVIDENCE_HOST, "RDMA MTU is %u, the device supports %u (verbs)",
			 p->active_mtu, p->max_mtu);
	if (qos_has(&p->qos, QOS_MTU))
		evidence_field(out, s, QOS_MTU);
	if (p->active_mtu >= p->max_mtu)
		finding_set(out, VERDICT_PASS, "RDMA uses the largest MTU, %u", p->active_mtu);
	else
		finding_set(out, VERDICT_FAIL,
			    "RDMA MTU %u of %u: the netdev's MTU must be at least %u",
			    p->active_mtu, p->max_mtu, p->max_mtu + 96);
}
