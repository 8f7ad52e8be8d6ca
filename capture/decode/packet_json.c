/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a packet for machines: one object of `capture decode --json`. Keys never change meaning.
 * Values that the encapsulation does not have (VLAN tag, UDP port) or that were not captured are
 * null. 64-bit wire values are hexadecimal strings, because JSON numbers lose digits beyond 2^53.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "capture/decode/tunnel.h"
#include "capture/decode/opcode.h"
#include "capture/decode/packet.h"

/* Owns value; false on -ENOMEM, also when value is NULL. */
static bool json_add(json_t *o, const char *key, json_t *value)
{
	return json_object_set_new_nocheck(o, key, value) == 0;
}

static bool json_add_int(json_t *o, const char *key, uint64_t value)
{
	return json_add(o, key, json_integer((json_int_t)value));
}

/* null unless known. */
static bool json_add_known(json_t *o, const char *key, bool known, uint64_t value)
{
	return json_add(o, key, known ? json_integer((json_int_t)value) : json_null());
}

static bool json_add_hex64(json_t *o, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%016" PRIx64, value);
	return json_add(o, key, json_string(text));
}

static bool json_add_mac(json_t *o, const char *key, const uint8_t m[6])
{
	char text[MAC_TEXT_MAX];

	return json_add(o, key, json_string(packet_mac_text(m, text)));
}

static bool json_add_addr(json_t *o, const char *key, const uint8_t gid[16])
{
	char text[INET6_ADDRSTRLEN];

	packet_addr_text(gid, text, sizeof(text));
	return json_add(o, key, json_string(text));
}

static bool json_add_aeth(json_t *o, const struct packet *p)
{
	static const char *const kinds[] = {
		[AETH_ACK] = "ack",
		[AETH_RNR] = "rnr",
		[AETH_RESERVED] = "reserved",
		[AETH_NAK] = "nak",
	};
	enum aeth_kind kind = packet_aeth_kind(p);

	if (kind == AETH_RNR && !json_add_int(o, "wait_us", packet_rnr_us(p)))
		return false;
	if (kind == AETH_ACK && packet_credits(p) >= 0 &&
	    !json_add_int(o, "credits", (uint32_t)packet_credits(p)))
		return false;
	return json_add(o, "kind", json_string(kinds[kind])) &&
	       json_add_int(o, "value", p->aeth.syndrome & 0x1f) &&
	       json_add_int(o, "msn", p->aeth.msn);
}

/* One header; the reserved bytes of a CNP have no meaning. */
static bool json_add_header(json_t *o, enum roce_header header, const struct packet *p)
{
	switch (header) {
	case HDR_DETH:
		return json_add_int(o, "qkey", p->deth.qkey) &&
		       json_add_int(o, "src_qpn", p->deth.src_qpn);
	case HDR_XRCETH:
		return json_add_int(o, "srq", p->xrc_srq);
	case HDR_FETH:
		return json_add_int(o, "value", p->feth);
	case HDR_RETH:
		return json_add_hex64(o, "va", p->reth.va) &&
		       json_add_int(o, "rkey", p->reth.rkey) &&
		       json_add_int(o, "dma_len", p->reth.dma_len);
	case HDR_ATOMICETH:
		return json_add_hex64(o, "va", p->atomiceth.va) &&
		       json_add_int(o, "rkey", p->atomiceth.rkey) &&
		       json_add_hex64(o, "swap_add", p->atomiceth.swap_add) &&
		       json_add_hex64(o, "compare", p->atomiceth.compare);
	case HDR_AETH:
		return json_add_aeth(o, p);
	case HDR_ATOMICACKETH:
		return json_add_hex64(o, "original", p->atomic_ack);
	case HDR_IMMDT:
		return json_add_int(o, "data", p->immdt);
	case HDR_IETH:
		return json_add_int(o, "rkey", p->ieth_rkey);
	case HDR_CNP:
		break;
	}
	return true;
}

static bool json_add_headers(json_t *o, const struct packet *p)
{
	/* By bit number of enum roce_header, without the CNP's. */
	static const char *const keys[] = {"deth", "xrceth",	   "feth",  "reth", "atomiceth",
					   "aeth", "atomicacketh", "immdt", "ieth"};

	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		json_t *h;

		if (!(p->headers & (1U << i)))
			continue;
		h = json_object();
		if (!h || !json_add(o, keys[i], h) ||
		    !json_add_header(h, (enum roce_header)(1U << i), p))
			return false;
	}
	return true;
}

static bool json_add_bth(json_t *o, const struct packet *p)
{
	char name[32];
	bool b = p->bth;

	return json_add_known(o, "opcode", b, p->opcode) &&
	       json_add(o, "name",
			b ? json_string(opcode_name(p->opcode, name, sizeof(name)))
			  : json_null()) &&
	       json_add(o, "se", b ? json_boolean(p->se) : json_null()) &&
	       json_add(o, "migreq", b ? json_boolean(p->migreq) : json_null()) &&
	       json_add_known(o, "pad", b, p->pad) && json_add_known(o, "pkey", b, p->pkey) &&
	       json_add(o, "fecn", b ? json_boolean(p->fecn) : json_null()) &&
	       json_add(o, "becn", b ? json_boolean(p->becn) : json_null()) &&
	       json_add_known(o, "dest_qpn", b, p->dest_qpn) &&
	       json_add(o, "ackreq", b ? json_boolean(p->ackreq) : json_null()) &&
	       json_add_known(o, "psn", b, p->psn) && json_add_headers(o, p) &&
	       json_add_known(o, "payload_len", b && opcode_info(p->opcode)->name,
			      p->payload_len) &&
	       json_add(o, "icrc", json_string(packet_icrc_text(p)));
}

static bool json_add_vlan(json_t *o, const struct packet *p)
{
	return json_add_known(o, "vid", p->vlan_count, p->vid) &&
	       json_add_known(o, "pcp", p->vlan_count, p->pcp);
}

static bool json_add_roce(json_t *o, const struct packet *p)
{
	return json_add_addr(o, "src", p->src) && json_add_addr(o, "dst", p->dst) &&
	       json_add_known(o, "sport", p->bth_offset && p->encap != ENCAP_ROCE_V1, p->sport) &&
	       json_add_int(o, "dscp", p->dscp) && json_add_int(o, "ecn", p->ecn) &&
	       json_add_vlan(o, p) && json_add_bth(o, p);
}

static bool json_add_pfc(json_t *o, const struct packet *p)
{
	unsigned int i, n = p->kind == PACKET_PFC ? 8 : 1;
	json_t *quanta = json_array();

	if (!quanta || !json_add(o, "quanta", quanta))
		return false;
	for (i = 0; i < n; i++)
		if (json_array_append_new(quanta, json_integer(p->pfc_quanta[i])) < 0)
			return false;
	return json_add_known(o, "enable", p->kind == PACKET_PFC, p->pfc_enable);
}

const struct qos_word packet_encap_words[] = {
	{"none", ENCAP_NONE},
	{"rocev1", ENCAP_ROCE_V1},
	{"rocev2-ipv4", ENCAP_ROCE_V2_IPV4},
	{"rocev2-ipv6", ENCAP_ROCE_V2_IPV6},
	{NULL, 0},
};

static const char *packet_encap_text(const struct packet *p)
{
	static const char *const kinds[] = {
		[PACKET_OTHER] = "other",
		[PACKET_PFC] = "pfc",
		[PACKET_PAUSE] = "pause",
		[PACKET_LLDP] = "lldp",
	};

	return p->kind == PACKET_ROCE ? qos_word_text(packet_encap_words, p->encap & 3)
				      : kinds[p->kind];
}

static bool json_add_other(json_t *o, const struct packet *p)
{
	return json_add_mac(o, "src", p->smac) && json_add_mac(o, "dst", p->dmac) &&
	       json_add_vlan(o, p) &&
	       ((p->kind != PACKET_PFC && p->kind != PACKET_PAUSE) || json_add_pfc(o, p));
}

/* Only with a tunnel; ERSPAN I has no session. */
static bool json_add_tunnel(json_t *o, const struct packet *p)
{
	bool named = tunnel_has_session(p);
	json_t *t;

	if (p->tunnel.kind == TUNNEL_NONE)
		return true;
	t = json_object();
	return t && json_add(o, "tunnel", t) && json_add(t, "kind", json_string(tunnel_text(p))) &&
	       json_add_addr(t, "src", p->tunnel.src) && json_add_addr(t, "dst", p->tunnel.dst) &&
	       json_add_int(t, "dscp", p->tunnel.dscp) && json_add_int(t, "ecn", p->tunnel.ecn) &&
	       json_add_known(t, "sequence", p->tunnel.sequenced, p->tunnel.sequence) &&
	       json_add_known(t, "session", named, p->tunnel.session) &&
	       json_add_known(t, "vid", named, p->tunnel.vid) &&
	       json_add_known(t, "cos", named, p->tunnel.cos) &&
	       json_add(t, "cut", named ? json_boolean(p->tunnel.truncated) : json_null()) &&
	       json_add(t, "egress",
			p->tunnel.kind == TUNNEL_ERSPAN_III ? json_boolean(p->tunnel.egress)
							    : json_null()) &&
	       json_add_known(t, "vni", p->tunnel.kind == TUNNEL_VXLAN, p->tunnel.vni);
}

static bool json_add_cm_ip(json_t *o, const struct cm *c)
{
	json_t *ip = json_object();

	return ip && json_add(o, "ip", ip) && json_add_addr(ip, "src", c->ip_src) &&
	       json_add_int(ip, "sport", c->ip_sport) && json_add_addr(ip, "dst", c->ip_dst) &&
	       json_add_int(ip, "port", c->ip_port);
}

/* The fields of the message, null where the capture ends before them. */
static bool json_add_cm(json_t *o, const struct cm *c)
{
	unsigned int i;
	json_t *m;

	if (c->message == CM_NONE)
		return true;
	m = json_object();
	if (!m || !json_add(o, "cm", m) ||
	    !json_add(m, "message", json_string(cm_message_text(c))) ||
	    !json_add_hex64(m, "tid", c->tid))
		return false;
	for (i = 0; i < cm_field_count; i++) {
		const struct cm_field *f = &cm_fields[i];
		uint64_t v = 0;
		bool known;

		if (f->message != c->message)
			continue;
		known = cm_value(c, f, &v);
		if (!(known && f->bits == 64 ? json_add_hex64(m, f->key, v)
					     : json_add_known(m, f->key, known, v)))
			return false;
	}
	return !c->ip || json_add_cm_ip(m, c);
}

json_t *packet_to_json(const struct packet *p)
{
	json_t *o = json_object();
	bool ok;

	if (!o)
		return NULL;
	ok = json_add_int(o, "frame", p->frame) && json_add_int(o, "time_ns", p->time_ns) &&
	     json_add(o, "encap", json_string(packet_encap_text(p))) &&
	     (p->kind == PACKET_ROCE ? json_add_roce(o, p) : json_add_other(o, p)) &&
	     json_add_cm(o, &p->cm) && json_add_tunnel(o, p);
	if (ok && p->fault != PACKET_OK)
		ok = json_add(o, "fault",
			      json_string(p->fault == PACKET_TRUNCATED ? "truncated"
								       : "malformed")) &&
		     json_add(o, "note", json_string(p->note));
	if (ok)
		return o;
	json_decref(o);
	return NULL;
}
