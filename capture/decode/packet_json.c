/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet for machines: one object of `capture decode --json`. Keys never change meaning. What the
 * encapsulation does not have (a VLAN tag, a UDP port) and what was not reached is null; 64-bit
 * values of the wire are hexadecimal strings, because JSON numbers lose digits beyond 2^53.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "capture/decode/encap.h"
#include "capture/decode/opcode.h"
#include "capture/decode/packet.h"

/* Takes value over; false on -ENOMEM, also when making the value failed. */
static bool put(json_t *o, const char *key, json_t *value)
{
	return json_object_set_new_nocheck(o, key, value) == 0;
}

static bool put_int(json_t *o, const char *key, uint64_t value)
{
	return put(o, key, json_integer((json_int_t)value));
}

/* null unless known. */
static bool put_known(json_t *o, const char *key, bool known, uint64_t value)
{
	return put(o, key, known ? json_integer((json_int_t)value) : json_null());
}

static bool put_hex64(json_t *o, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%016" PRIx64, value);
	return put(o, key, json_string(text));
}

static bool put_mac(json_t *o, const char *key, const uint8_t m[6])
{
	char text[24];

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
		 m[5]);
	return put(o, key, json_string(text));
}

static bool put_addr(json_t *o, const char *key, const uint8_t gid[16])
{
	char text[INET6_ADDRSTRLEN];

	packet_addr_text(gid, text, sizeof(text));
	return put(o, key, json_string(text));
}

static bool put_aeth(json_t *o, const struct packet *p)
{
	static const char *const kinds[] = {
		[AETH_ACK] = "ack",
		[AETH_RNR] = "rnr",
		[AETH_RESERVED] = "reserved",
		[AETH_NAK] = "nak",
	};
	enum aeth_kind kind = packet_answer_kind(p);

	if (kind == AETH_RNR && !put_int(o, "wait_us", packet_rnr_us(p)))
		return false;
	if (kind == AETH_ACK && packet_credits(p) >= 0 &&
	    !put_int(o, "credits", (uint32_t)packet_credits(p)))
		return false;
	return put(o, "kind", json_string(kinds[kind])) &&
	       put_int(o, "value", p->aeth.syndrome & 0x1f) && put_int(o, "msn", p->aeth.msn);
}

/* Of one header; the CNP's reserved bytes say nothing. */
static bool put_header(json_t *o, enum roce_header header, const struct packet *p)
{
	switch (header) {
	case HDR_DETH:
		return put_int(o, "qkey", p->deth.qkey) && put_int(o, "src_qpn", p->deth.src_qpn);
	case HDR_XRCETH:
		return put_int(o, "srq", p->xrc_srq);
	case HDR_FETH:
		return put_int(o, "value", p->feth);
	case HDR_RETH:
		return put_hex64(o, "va", p->reth.va) && put_int(o, "rkey", p->reth.rkey) &&
		       put_int(o, "dma_len", p->reth.dma_len);
	case HDR_ATOMICETH:
		return put_hex64(o, "va", p->atomiceth.va) &&
		       put_int(o, "rkey", p->atomiceth.rkey) &&
		       put_hex64(o, "swap_add", p->atomiceth.swap_add) &&
		       put_hex64(o, "compare", p->atomiceth.compare);
	case HDR_AETH:
		return put_aeth(o, p);
	case HDR_ATOMICACKETH:
		return put_hex64(o, "original", p->atomic_ack);
	case HDR_IMMDT:
		return put_int(o, "data", p->immdt);
	case HDR_IETH:
		return put_int(o, "rkey", p->ieth_rkey);
	case HDR_CNP:
		break;
	}
	return true;
}

static bool put_headers(json_t *o, const struct packet *p)
{
	/* By bit number of enum roce_header, without the CNP's. */
	static const char *const keys[] = {"deth", "xrceth",	   "feth",  "reth", "atomiceth",
					   "aeth", "atomicacketh", "immdt", "ieth"};

	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		json_t *h;

		if (!(p->headers & (1U << i)))
			continue;
		h = json_object();
		if (!h || !put(o, keys[i], h) || !put_header(h, (enum roce_header)(1U << i), p))
			return false;
	}
	return true;
}

static bool put_bth(json_t *o, const struct packet *p)
{
	char name[32];
	bool b = p->bth;

	return put_known(o, "opcode", b, p->opcode) &&
	       put(o, "name",
		   b ? json_string(opcode_name(p->opcode, name, sizeof(name))) : json_null()) &&
	       put(o, "se", b ? json_boolean(p->se) : json_null()) &&
	       put(o, "migreq", b ? json_boolean(p->migreq) : json_null()) &&
	       put_known(o, "pad", b, p->pad) && put_known(o, "pkey", b, p->pkey) &&
	       put(o, "fecn", b ? json_boolean(p->fecn) : json_null()) &&
	       put(o, "becn", b ? json_boolean(p->becn) : json_null()) &&
	       put_known(o, "dest_qpn", b, p->dest_qpn) &&
	       put(o, "ackreq", b ? json_boolean(p->ackreq) : json_null()) &&
	       put_known(o, "psn", b, p->psn) && put_headers(o, p) &&
	       put_known(o, "payload_len", b && opcode_info(p->opcode)->name, p->payload_len) &&
	       put(o, "icrc", json_string(packet_icrc_text(p)));
}

static bool put_vlan(json_t *o, const struct packet *p)
{
	return put_known(o, "vid", p->vlan_count, p->vid) &&
	       put_known(o, "pcp", p->vlan_count, p->pcp);
}

static bool put_roce(json_t *o, const struct packet *p)
{
	return put_addr(o, "src", p->src) && put_addr(o, "dst", p->dst) &&
	       put_known(o, "sport", p->bth_offset && p->encap != ENCAP_ROCE_V1, p->sport) &&
	       put_int(o, "dscp", p->dscp) && put_int(o, "ecn", p->ecn) && put_vlan(o, p) &&
	       put_bth(o, p);
}

static bool put_pfc(json_t *o, const struct packet *p)
{
	unsigned int i, n = p->kind == PACKET_PFC ? 8 : 1;
	json_t *quanta = json_array();

	if (!quanta || !put(o, "quanta", quanta))
		return false;
	for (i = 0; i < n; i++)
		if (json_array_append_new(quanta, json_integer(p->pfc_quanta[i])) < 0)
			return false;
	return put_known(o, "enable", p->kind == PACKET_PFC, p->pfc_enable);
}

static const char *encap_text(const struct packet *p)
{
	static const char *const roce[] = {"none", "rocev1", "rocev2-ipv4", "rocev2-ipv6"};
	static const char *const kinds[] = {
		[PACKET_OTHER] = "other", [PACKET_PFC] = "pfc",	  [PACKET_PAUSE] = "pause",
		[PACKET_LLDP] = "lldp",	  [PACKET_ROCE] = "none",
	};

	return p->kind == PACKET_ROCE ? roce[p->encap & 3] : kinds[p->kind];
}

static bool put_other(json_t *o, const struct packet *p)
{
	return put_mac(o, "src", p->smac) && put_mac(o, "dst", p->dmac) && put_vlan(o, p) &&
	       ((p->kind != PACKET_PFC && p->kind != PACKET_PAUSE) || put_pfc(o, p));
}

/* Told only where there is one; type I has no header that names a session. */
static bool put_tunnel(json_t *o, const struct packet *p)
{
	bool named = encap_tunnel_named(p);
	json_t *t;

	if (p->tunnel.kind == TUNNEL_NONE)
		return true;
	t = json_object();
	return t && put(o, "tunnel", t) && put(t, "kind", json_string(encap_tunnel_text(p))) &&
	       put_addr(t, "src", p->tunnel.src) && put_addr(t, "dst", p->tunnel.dst) &&
	       put_int(t, "dscp", p->tunnel.dscp) && put_int(t, "ecn", p->tunnel.ecn) &&
	       put_known(t, "sequence", p->tunnel.sequenced, p->tunnel.sequence) &&
	       put_known(t, "session", named, p->tunnel.session) &&
	       put_known(t, "vid", named, p->tunnel.vid) &&
	       put_known(t, "cos", named, p->tunnel.cos) &&
	       put(t, "cut", named ? json_boolean(p->tunnel.cut) : json_null()) &&
	       put(t, "egress",
		   p->tunnel.kind == TUNNEL_ERSPAN_III ? json_boolean(p->tunnel.egress)
						       : json_null()) &&
	       put_known(t, "vni", p->tunnel.kind == TUNNEL_VXLAN, p->tunnel.vni);
}

static bool put_cm_ip(json_t *o, const struct cm *c)
{
	json_t *ip = json_object();

	return ip && put(o, "ip", ip) && put_addr(ip, "src", c->ip_src) &&
	       put_int(ip, "sport", c->ip_sport) && put_addr(ip, "dst", c->ip_dst) &&
	       put_int(ip, "port", c->ip_port);
}

/* The fields that the message has, null where the capture ends before them. */
static bool put_cm(json_t *o, const struct cm *c)
{
	unsigned int i;
	json_t *m;

	if (c->message == CM_NONE)
		return true;
	m = json_object();
	if (!m || !put(o, "cm", m) || !put(m, "message", json_string(cm_message_text(c))) ||
	    !put_hex64(m, "tid", c->tid))
		return false;
	for (i = 0; i < cm_field_count; i++) {
		const struct cm_field *f = &cm_fields[i];
		uint64_t v = 0;
		bool known;

		if (f->message != c->message)
			continue;
		known = cm_value(c, f, &v);
		if (!(known && f->bits == 64 ? put_hex64(m, f->key, v)
					     : put_known(m, f->key, known, v)))
			return false;
	}
	return !c->ip || put_cm_ip(m, c);
}

json_t *packet_to_json(const struct packet *p)
{
	json_t *o = json_object();
	bool ok;

	if (!o)
		return NULL;
	ok = put_int(o, "frame", p->frame) && put_int(o, "time_ns", p->time_ns) &&
	     put(o, "encap", json_string(encap_text(p))) &&
	     (p->kind == PACKET_ROCE ? put_roce(o, p) : put_other(o, p)) && put_cm(o, &p->cm) &&
	     put_tunnel(o, p);
	if (ok && p->fault != PACKET_OK)
		ok = put(o, "fault",
			 json_string(p->fault == PACKET_TRUNCATED ? "truncated" : "malformed")) &&
		     put(o, "note", json_string(p->note));
	if (ok)
		return o;
	json_decref(o);
	return NULL;
}
