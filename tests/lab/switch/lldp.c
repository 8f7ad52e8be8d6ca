/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LLDP (802.1AB clause 8) with the DCBX TLVs of 802.1Q annex D from what the port really does, or
 * the CEE TLV (DCBX 1.01, OUI 00-1B-21 subtype 2), or both. The neighbour's are decoded by
 * capture/.
 */
#include "tests/lab/switch/switch.h"

#include <string.h>

#include "capture/decode/bytes.h"
#include "capture/decode/lldp.h"

#define OUI_8021    0x0080c2
#define OUI_8023    0x00120f
#define OUI_CEE	    0x001b21
#define TSA_STRICT  0
#define TSA_ETS	    2
#define PG_STRICT   15
#define CEE_SUBTYPE 2
#define CEE_CONTROL 1
#define CEE_GROUPS  2
#define CEE_PFC	    3
#define CEE_APP	    4
#define WRONG_PRIO  7 /* nobody uses it for RoCE */

struct writer {
	uint8_t *buf;
	uint32_t used;
	uint32_t tlv; /* where the open TLV begins */
};

static void put8(struct writer *w, uint8_t v)
{
	if (w->used < LLDP_SIZE_MAX)
		w->buf[w->used++] = v;
}

static void put16(struct writer *w, uint16_t v)
{
	put8(w, v >> 8);
	put8(w, v);
}

static void put32(struct writer *w, uint32_t v)
{
	put16(w, v >> 16);
	put16(w, v);
}

static void put(struct writer *w, const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		put8(w, ((const uint8_t *)data)[i]);
}

static void begin(struct writer *w, uint8_t type)
{
	w->tlv = w->used;
	put16(w, (uint16_t)type << 9);
}

static void begin_organisation(struct writer *w, uint32_t oui, uint8_t subtype)
{
	begin(w, 127);
	put8(w, oui >> 16);
	put16(w, oui);
	put8(w, subtype);
}

/* Writes the length into the header of a TLV that began at `at`. */
static void end(struct writer *w, uint32_t at)
{
	uint32_t len = w->used - at - 2;

	w->buf[at] |= len >> 8 & 1;
	w->buf[at + 1] = len;
}

static bool wrong(const struct port *p, enum tlv_kind tlv)
{
	return p->fault_tlv_wrong >> tlv & 1;
}

static bool absent(const struct port *p, enum tlv_kind tlv)
{
	return p->fault_tlv_absent >> tlv & 1;
}

static uint8_t stated_pfc(const struct port *p)
{
	uint8_t set = 0;

	if (wrong(p, TLV_PFC))
		return 1u << WRONG_PRIO;
	if (p->config.lldp.pfc_given)
		return p->config.lldp.pfc_prios;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (p->config.prio[prio].pfc != PFC_OFF)
			set |= 1u << prio;
	return set;
}

/* What a port says of its ETS. */
struct stated_ets {
	uint8_t prio_tc[QOS_PRIOS], bw[QOS_TCS], tsa[QOS_TCS];
};

/* Weights of the ETS classes as percents that add up to 100; the last takes what rounding left. */
static void percents(const struct port *p, struct stated_ets *ets)
{
	unsigned int sum = 0, left = 100, last = QOS_TCS;

	for (unsigned int tc = 0; tc < QOS_TCS; tc++)
		if (ets->tsa[tc] == TSA_ETS)
			sum += p->config.tc[tc].weight;
	for (unsigned int tc = 0; tc < QOS_TCS; tc++) {
		if (ets->tsa[tc] != TSA_ETS)
			continue;
		ets->bw[tc] = p->config.tc[tc].weight * 100 / sum;
		left -= ets->bw[tc];
		last = tc;
	}
	if (last < QOS_TCS)
		ets->bw[last] += left;
}

/* Classes that no priority uses are stated as strict, without a share. A wrong TLV says that one
 * class has it all. */
static void state_ets(const struct port *p, enum tlv_kind tlv, struct stated_ets *ets)
{
	*ets = (struct stated_ets){.tsa = {TSA_STRICT}};
	if (wrong(p, tlv)) {
		ets->tsa[0] = TSA_ETS;
		ets->bw[0] = 100;
		return;
	}
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		unsigned int tc = p->config.prio[prio].tc;

		ets->prio_tc[prio] = tc;
		ets->tsa[tc] = p->config.tc[tc].strict ? TSA_STRICT : TSA_ETS;
	}
	percents(p, ets);
}

static void put_nibbles(struct writer *w, const uint8_t of_prio[QOS_PRIOS])
{
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio += 2)
		put8(w, of_prio[prio] << 4 | of_prio[prio + 1]);
}

/* | flags 8 | prio to tc 4 x 8 | percent 8 x 8 | TSA 8 x 8 |, 802.1Q D.2.8 and D.2.9 */
static void put_ets(struct writer *w, const struct port *p, uint8_t subtype)
{
	struct stated_ets ets;

	state_ets(p, subtype == 9 ? TLV_ETS : TLV_ETS_REC, &ets);
	begin_organisation(w, OUI_8021, subtype);
	put8(w, subtype == 9 ? p->config.lldp.willing << 7 : 0);
	put_nibbles(w, ets.prio_tc);
	put(w, ets.bw, sizeof(ets.bw));
	put(w, ets.tsa, sizeof(ets.tsa));
	end(w, w->tlv);
}

static void put_pfc(struct writer *w, const struct port *p)
{
	begin_organisation(w, OUI_8021, 11);
	put8(w, p->config.lldp.willing << 7 | QOS_PRIOS);
	put8(w, stated_pfc(p));
	end(w, w->tlv);
}

/* Of an APP entry. */
static uint8_t stated_prio(const struct port *p, uint8_t prio)
{
	if (!wrong(p, TLV_APP))
		return prio;
	return prio == WRONG_PRIO ? 0 : WRONG_PRIO;
}

static void put_app(struct writer *w, uint8_t prio, uint8_t selector, uint16_t protocol)
{
	put8(w, prio << 5 | selector);
	put16(w, protocol);
}

static void put_apps(struct writer *w, const struct port *p)
{
	const struct lldp_config *c = &p->config.lldp;

	begin_organisation(w, OUI_8021, 12);
	put8(w, 0);
	for (unsigned int i = 0; i < c->app_count; i++)
		put_app(w, stated_prio(p, c->app[i].prio), c->app[i].selector, c->app[i].protocol);
	for (unsigned int dscp = 0; c->dscp && dscp < QOS_DSCPS; dscp++)
		if (p->config.trust == QOS_TRUST_DSCP && p->config.dscp_prio[dscp])
			put_app(w, stated_prio(p, p->config.dscp_prio[dscp]), QOS_APP_DSCP, dscp);
	end(w, w->tlv);
}

static void put_ieee(struct writer *w, const struct port *p)
{
	if (!absent(p, TLV_ETS))
		put_ets(w, p, 9);
	if (p->config.lldp.recommend && !absent(p, TLV_ETS_REC))
		put_ets(w, p, 10);
	if (!absent(p, TLV_PFC))
		put_pfc(w, p);
	if (!absent(p, TLV_APP))
		put_apps(w, p);
}

/* | oper version | max version | enabled 1, willing 1, error 1 | subtype |, DCBX 1.01 s3 */
static uint32_t begin_feature(struct writer *w, const struct port *p, uint8_t type)
{
	uint32_t at = w->used;

	begin(w, type);
	put16(w, 0);
	put8(w, 0x80 | p->config.lldp.willing << 6);
	put8(w, 0);
	return at;
}

static void put_cee_groups(struct writer *w, const struct port *p)
{
	uint32_t at = begin_feature(w, p, CEE_GROUPS);
	uint8_t group[QOS_PRIOS];
	struct stated_ets ets;

	state_ets(p, TLV_ETS, &ets);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		unsigned int tc = ets.prio_tc[prio];

		group[prio] = ets.tsa[tc] == TSA_STRICT ? PG_STRICT : tc;
	}
	put_nibbles(w, group);
	put(w, ets.bw, sizeof(ets.bw));
	put8(w, QOS_TCS);
	end(w, at);
}

static void put_cee_pfc(struct writer *w, const struct port *p)
{
	uint32_t at = begin_feature(w, p, CEE_PFC);

	put8(w, stated_pfc(p));
	put8(w, QOS_PRIOS);
	end(w, at);
}

static void put_cee_apps(struct writer *w, const struct port *p)
{
	const struct lldp_config *c = &p->config.lldp;
	uint32_t at = begin_feature(w, p, CEE_APP);

	for (unsigned int i = 0; i < c->app_count; i++) {
		if (c->app[i].selector != QOS_APP_ETHERTYPE && c->app[i].selector != QOS_APP_DGRAM)
			continue; /* CEE knows ethertypes and ports only */
		put16(w, c->app[i].protocol);
		put8(w, (OUI_CEE >> 16) << 2 | (c->app[i].selector != QOS_APP_ETHERTYPE));
		put16(w, OUI_CEE & 0xffff);
		put8(w, 1u << stated_prio(p, c->app[i].prio));
	}
	end(w, at);
}

static void put_cee(struct writer *w, const struct port *p)
{
	uint32_t whole = w->used, at;

	begin_organisation(w, OUI_CEE, CEE_SUBTYPE);
	at = w->used;
	begin(w, CEE_CONTROL);
	put16(w, 0);
	put32(w, p->cee_seq);
	put32(w, p->cee.seq);
	end(w, at);
	if (!absent(p, TLV_ETS))
		put_cee_groups(w, p);
	if (!absent(p, TLV_PFC))
		put_cee_pfc(w, p);
	if (!absent(p, TLV_APP))
		put_cee_apps(w, p);
	end(w, whole);
}

static void put_identity(struct writer *w, const struct lab *lab, const struct port *p, bool second)
{
	const struct switch_config *box = lab->box[p->owner].config;
	uint8_t mac[6];

	memcpy(mac, box->mac, sizeof(mac));
	mac[3] ^= second ? 0x80 : 0;
	begin(w, 1);
	put8(w, 4); /* a MAC address */
	put(w, mac, sizeof(mac));
	end(w, w->tlv);
	begin(w, 2);
	put8(w, 5); /* an interface name */
	put(w, p->config.name, strlen(p->config.name));
	end(w, w->tlv);
	begin(w, 3);
	put16(w, p->config.lldp.ttl_s);
	end(w, w->tlv);
	begin(w, 5);
	put(w, second ? "second" : box->name, strlen(second ? "second" : box->name));
	end(w, w->tlv);
}

uint32_t lldp_make(const struct lab *lab, const struct port *p, bool second, uint8_t *buf)
{
	static const uint8_t to[] = {0x01, 0x80, 0xc2, 0, 0, 0x0e};
	struct writer w = {.buf = buf};

	put(&w, to, sizeof(to));
	put(&w, p->mac, sizeof(p->mac));
	put16(&w, 0x88cc);
	put_identity(&w, lab, p, second);
	begin_organisation(&w, OUI_8023, 4);
	put16(&w, p->config.mtu + 18);
	end(&w, w.tlv);
	if (p->config.lldp.dialect != DIALECT_CEE)
		put_ieee(&w, p);
	if (p->config.lldp.dialect != DIALECT_IEEE)
		put_cee(&w, p);
	put16(&w, 0);
	while (w.used < 60)
		put8(&w, 0);
	return w.used;
}

/* | version 16 | enabled 1, willing 1, error 1, reserved 5 | subtype 8 | prios 8 | count 8 | */
static void read_cee_pfc(const uint8_t *tlv, uint32_t size, struct cee_peer *peer)
{
	if (size < 6 || tlv[2] & 0x20)
		return;
	peer->pfc_seen = true;
	peer->pfc_willing = tlv[2] >> 6 & 1;
	peer->pfc_prios = tlv[2] & 0x80 ? tlv[4] : 0;
}

/* The TLVs within the CEE TLV: control | version 16 | seq 32 | ack 32 |, and features. */
static void read_cee(const uint8_t *tlvs, uint32_t len, struct cee_peer *peer)
{
	for (uint32_t at = 0; at + 2 <= len;) {
		uint32_t size = be16_at(tlvs + at) & 0x1ff;
		uint8_t type = tlvs[at] >> 1;

		at += 2;
		if (size > len - at)
			return;
		if (type == CEE_CONTROL && size >= 10)
			peer->seq = be32_at(tlvs + at + 2);
		else if (type == CEE_PFC)
			read_cee_pfc(tlvs + at, size, peer);
		at += size;
	}
}

static void find_cee(const uint8_t *tlvs, uint32_t len, struct cee_peer *peer)
{
	for (uint32_t at = 0; at + 2 <= len;) {
		uint32_t size = be16_at(tlvs + at) & 0x1ff;
		uint8_t type = tlvs[at] >> 1;

		at += 2;
		if (!type || size > len - at)
			return;
		if (type == 127 && size >= 4 && be24_at(tlvs + at) == OUI_CEE &&
		    tlvs[at + 3] == CEE_SUBTYPE)
			read_cee(tlvs + at + 4, size - 4, peer);
		at += size;
	}
}

void lldp_receive(struct lab *lab, struct port *p, const struct frame *f)
{
	struct cee_peer cee = {.seq = 0};
	struct err e;

	p->lldp_received++;
	if (lldp_decode(f->data, f->len, &p->neighbour, &e)) {
		p->lldp_malformed++;
		return;
	}
	find_cee(f->data + f->l3, f->len - f->l3, &cee);
	p->neighbour_until_ns = lab->now_ns + p->neighbour.ttl_s * NS_PER_S;
	memcpy(p->neighbour_mac, f->data + 6, sizeof(p->neighbour_mac));
	/* A CEE peer waits for its number to come back. */
	if (cee.seq && cee.seq != p->cee.seq)
		p->lldp_next_ns = lab->now_ns;
	p->cee = cee;
}

void lldp_forget(struct port *p)
{
	memset(&p->neighbour, 0, sizeof(p->neighbour));
	memset(&p->cee, 0, sizeof(p->cee));
}

static bool send_one(struct lab *lab, struct port *p, bool second)
{
	uint8_t buf[LLDP_SIZE_MAX];
	uint32_t len = lldp_make(lab, p, second, buf);

	if (port_send_own(lab, p, buf, len))
		return false;
	p->lldp_sent++;
	return true;
}

void lldp_tick(struct lab *lab, struct port *p)
{
	p->lldp_next_ns = lab->now_ns + p->config.lldp.interval_s * NS_PER_S;
	if (p->neighbour.seen && p->neighbour_until_ns <= lab->now_ns)
		lldp_forget(p);
	if (!p->config.lldp.send)
		return;
	if (p->fault_tlv_absent)
		fault_hit(lab, p, FAULT_LLDP_ABSENT, 0xff);
	if (absent(p, TLV_FRAME))
		return;
	if (send_one(lab, p, false) && p->fault_tlv_wrong)
		fault_hit(lab, p, FAULT_LLDP_WRONG, 0xff);
	if (p->fault_lldp_second && send_one(lab, p, true))
		fault_hit(lab, p, FAULT_LLDP_SECOND, 0xff);
}
