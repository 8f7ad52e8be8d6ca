/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes LLDP (802.1AB clause 8) and the DCBX TLVs of 802.1Q annex D, by a table of basic TLVs by
 * type and organizationally specific TLVs by OUI and subtype. Text stays printable, numbers in
 * their range. Of CEE (DCBX 1.01), only the PFC priorities are read, and only without IEEE TLVs; of
 * CIN, only the name.
 */
#include "capture/decode/lldp.h"

#include <errno.h>
#include <pcap/dlt.h>
#include <stdio.h>
#include <string.h>

#include "capture/decode/bytes.h"

#define TLV_END		 0
#define TLV_ORGANISATION 127
#define OUI_8021	 0x0080c2
#define OUI_8023	 0x00120f
#define OUI_CEE		 0x001b21

#define CEE_PFC 3 /* sub-TLV */

#define ID_MAC_OF_CHASSIS 4
#define ID_MAC_OF_PORT	  3

/* Target of the TLVs, and their chassis. */
struct reading {
	struct lldp_peer *peer;
	uint32_t chassis_hash; /* 0 = no chassis ID */
};

static void lldp_copy_text(char *buf, size_t size, const uint8_t *v, uint32_t len)
{
	size_t i;

	for (i = 0; i < len && i + 1 < size; i++)
		buf[i] = v[i] >= 0x20 && v[i] < 0x7f ? (char)v[i] : '?';
	buf[i] = '\0';
}

/* | subtype 8 | ID |: the ID is a MAC address or text, by its subtype. */
static void lldp_copy_id(char *buf, size_t size, const uint8_t *v, uint32_t len,
			 uint8_t mac_subtype)
{
	char mac[MAC_TEXT_MAX];

	if (v[0] == mac_subtype && len == 7)
		snprintf(buf, size, "%s", packet_mac_text(v + 1, mac));
	else
		lldp_copy_text(buf, size, v + 1, len - 1);
}

static void lldp_read_chassis(struct reading *r, const uint8_t *v, uint32_t len)
{
	lldp_copy_id(r->peer->chassis, sizeof(r->peer->chassis), v, len, ID_MAC_OF_CHASSIS);
	r->chassis_hash = (uint32_t)fnv1a(FNV1A_START, v, len) | 1; /* never 0 */
}

static void lldp_read_port(struct reading *r, const uint8_t *v, uint32_t len)
{
	lldp_copy_id(r->peer->port, sizeof(r->peer->port), v, len, ID_MAC_OF_PORT);
}

static void lldp_read_ttl(struct reading *r, const uint8_t *v, uint32_t len)
{
	(void)len;
	r->peer->ttl_s = be16_at(v);
}

static void lldp_read_system(struct reading *r, const uint8_t *v, uint32_t len)
{
	lldp_copy_text(r->peer->system, sizeof(r->peer->system), v, len);
}

/* IEEE replaces older dialects: drops the PFC settings of CEE. */
static void lldp_set_dialect(struct lldp_peer *p, const char *name)
{
	if (!strcmp(p->dialect, "ieee"))
		return;
	p->qos.has &= ~(QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_PFC_WILLING));
	snprintf(p->dialect, sizeof(p->dialect), "%s", name);
}

/* One number; unknown if out of the field's range. */
static void lldp_set_value(struct qos *q, enum qos_field_id id, uint8_t value)
{
	const struct qos_field *f = &qos_fields[id];

	if (f->kind != QOS_KIND_BOOL && f->kind != QOS_KIND_PRIO_SET &&
	    (value < f->min || value > f->max))
		return;
	memcpy(qos_slot(q, f), &value, sizeof(value));
	q->has |= QOS_BIT(id);
}

/* Eight numbers or words, one per priority or traffic class. */
static void lldp_set_eight(struct qos *q, enum qos_field_id id, const uint8_t v[8])
{
	const struct qos_field *f = &qos_fields[id];
	unsigned int i;

	for (i = 0; i < 8; i++)
		if (f->words ? !qos_word_text(f->words, v[i]) : v[i] < f->min || v[i] > f->max)
			return;
	memcpy(qos_slot(q, f), v, 8);
	q->has |= QOS_BIT(id);
}

/*
 * ETS tables: | prio 0 tc, prio 1 tc, ... 4 bits each | percent of tc 0 to 7 | TSA of tc 0 to 7 |
 */
static void lldp_read_ets_tables(struct qos *q, const uint8_t *v)
{
	uint8_t tc[8];
	unsigned int i;

	for (i = 0; i < 8; i++)
		tc[i] = i & 1 ? v[i / 2] & 0xf : v[i / 2] >> 4;
	lldp_set_eight(q, QOS_PRIO_TC, tc);
	lldp_set_eight(q, QOS_TC_TX_BW, v + 4);
	lldp_set_eight(q, QOS_TC_TSA, v + 12);
}

/* | willing 1 | CBS 1 | reserved 3 | max TCs 3 (0 = 8) | tables | */
static void lldp_read_ets_config(struct reading *r, const uint8_t *v, uint32_t len)
{
	struct qos *q = &r->peer->qos;

	(void)len;
	lldp_set_dialect(r->peer, "ieee");
	lldp_set_value(q, QOS_ETS_WILLING, v[0] >> 7);
	lldp_set_value(q, QOS_ETS_CAP, v[0] & 7 ? v[0] & 7 : 8);
	lldp_read_ets_tables(q, v + 1);
}

static void lldp_read_ets_recommendation(struct reading *r, const uint8_t *v, uint32_t len)
{
	(void)len;
	lldp_set_dialect(r->peer, "ieee");
	lldp_read_ets_tables(&r->peer->recommended, v + 1);
}

/* | willing 1 | MBC 1 | reserved 2 | capability 4 | enable bitmap, bit n = prio n | */
static void lldp_read_pfc(struct reading *r, const uint8_t *v, uint32_t len)
{
	struct qos *q = &r->peer->qos;

	(void)len;
	lldp_set_dialect(r->peer, "ieee");
	lldp_set_value(q, QOS_PFC_WILLING, v[0] >> 7);
	lldp_set_value(q, QOS_PFC_CAP, v[0] & 0xf);
	lldp_set_value(q, QOS_PFC_ENABLED, v[1]);
}

static void lldp_read_app_entry(struct qos *q, const uint8_t *v)
{
	struct qos_app app = {
		.prio = v[0] >> 5,
		.selector = v[0] & 7,
		.protocol = be16_at(v + 1),
	};

	if (app.selector != QOS_APP_DSCP) {
		/* Duplicates, overflow and reserved selectors are ignored. */
		(void)qos_app_add(q, app);
		return;
	}
	if (app.protocol >= QOS_DSCPS)
		return;
	if (!qos_has(q, QOS_DSCP_PRIO))
		memset(q->dscp_prio, QOS_UNMAPPED, sizeof(q->dscp_prio));
	q->dscp_prio[app.protocol] = app.prio;
	q->has |= QOS_BIT(QOS_DSCP_PRIO);
}

/* | reserved 8 | n x (prio 3, reserved 2, selector 3, protocol 16) | */
static void lldp_read_app(struct reading *r, const uint8_t *v, uint32_t len)
{
	lldp_set_dialect(r->peer, "ieee");
	for (v++, len--; len >= 3; v += 3, len -= 3)
		lldp_read_app_entry(&r->peer->qos, v);
}

static void lldp_read_cin(struct reading *r, const uint8_t *v, uint32_t len)
{
	(void)v;
	(void)len;
	lldp_set_dialect(r->peer, "cin");
}

/* | versions 16 | enabled 1, willing 1, error 1, reserved 5 | subtype 8 | bitmap 8, bit n = prio n
 * | number of TCs 8 | */
static void lldp_read_cee_pfc(struct reading *r, const uint8_t *v, uint32_t len)
{
	if (len < 6 || strcmp(r->peer->dialect, "cee") != 0)
		return;
	lldp_set_value(&r->peer->qos, QOS_PFC_WILLING, v[2] >> 6 & 1);
	lldp_set_value(&r->peer->qos, QOS_PFC_ENABLED, v[2] & 0x80 ? v[4] : 0);
}

/* Sub-TLVs have the form of TLVs. A truncated one ends them. */
static void lldp_read_cee(struct reading *r, const uint8_t *v, uint32_t len)
{
	lldp_set_dialect(r->peer, "cee");
	while (len >= 2) {
		uint32_t size = be16_at(v) & 0x1ff;

		if (size > len - 2)
			return;
		if (v[0] >> 1 == CEE_PFC)
			lldp_read_cee_pfc(r, v + 2, size);
		v += 2 + size;
		len -= 2 + size;
	}
}

static void lldp_read_max_frame(struct reading *r, const uint8_t *v, uint32_t len)
{
	(void)len;
	r->peer->max_frame = be16_at(v);
}

#define BASIC UINT32_MAX /* no OUI */

static const struct {
	const char *name;
	uint32_t oui;
	uint8_t type;		   /* or the subtype of an OUI */
	uint32_t len_min, len_max; /* of the content, after OUI and subtype */
	void (*read)(struct reading *r, const uint8_t *v, uint32_t len);
} rows[] = {
	{"chassis ID", BASIC, 1, 2, 256, lldp_read_chassis},
	{"port ID", BASIC, 2, 2, 256, lldp_read_port},
	{"time to live", BASIC, 3, 2, 511, lldp_read_ttl},
	{"system name", BASIC, 5, 0, 255, lldp_read_system},
	{"ETS configuration", OUI_8021, 9, 21, 21, lldp_read_ets_config},
	{"ETS recommendation", OUI_8021, 10, 21, 21, lldp_read_ets_recommendation},
	{"PFC", OUI_8021, 11, 2, 2, lldp_read_pfc},
	{"APP", OUI_8021, 12, 1, 507, lldp_read_app},
	{"maximum frame size", OUI_8023, 4, 2, 2, lldp_read_max_frame},
	{"CIN", OUI_CEE, 1, 0, 507, lldp_read_cin},
	{"CEE", OUI_CEE, 2, 0, 507, lldp_read_cee},
};

static int lldp_read_tlv(uint8_t type, struct reading *r, const uint8_t *v, uint32_t len,
			 struct err *e)
{
	uint32_t oui = BASIC;

	if (type == TLV_ORGANISATION) {
		if (len < 4)
			return err_set(
				e, -EINVAL,
				"LLDP: organizationally specific TLV is too short (%u bytes)", len);
		oui = be24_at(v);
		type = v[3];
		v += 4;
		len -= 4;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].oui != oui || rows[i].type != type)
			continue;
		if (len < rows[i].len_min || len > rows[i].len_max)
			return err_set(e, -EINVAL, "LLDP: %s TLV has invalid length %u",
				       rows[i].name, len);
		rows[i].read(r, v, len);
		return 0;
	}
	return 0;
}

/* | type 7 | length 9 | value |, up to the end TLV or the end of the bytes. */
static int lldp_read_tlvs(struct reading *r, const uint8_t *tlvs, uint32_t len, struct err *e)
{
	uint32_t at = 0;
	int err;

	while (at < len) {
		uint32_t size;
		uint8_t type;

		if (len - at < 2)
			return err_set(e, -EINVAL, "LLDP: frame ends inside a TLV at byte %u", at);
		type = tlvs[at] >> 1;
		size = be16_at(tlvs + at) & 0x1ff;
		at += 2;
		if (type == TLV_END)
			return 0;
		if (size > len - at)
			return err_set(e, -EINVAL,
				       "LLDP: TLV type %u claims %u bytes, only %u are left", type,
				       size, len - at);
		err = lldp_read_tlv(type, r, tlvs + at, size, e);
		if (err)
			return err;
		at += size;
	}
	return 0;
}

/* Counts a chassis once. The first one is heard[0], the chassis of *peer. */
static void lldp_count_neighbour(struct lldp_peer *p, uint32_t hash)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(p->heard) && p->heard[i]; i++)
		if (p->heard[i] == hash)
			return;
	if (i < ARRAY_SIZE(p->heard)) {
		p->heard[i] = hash;
		p->neighbours++;
	}
}

/* Accounts a complete advertisement: of the neighbour in *peer, a new one, or another one. */
static void lldp_accept_advertisement(struct lldp_peer *peer, const struct lldp_peer *fresh,
				      uint32_t hash)
{
	struct lldp_peer before;

	lldp_count_neighbour(peer, hash);
	if (peer->heard[0] != hash)
		return;
	if (peer->seen && !fresh->ttl_s) { /* a shutdown (TTL 0) has no other content */
		peer->ttl_s = 0;
		return;
	}
	before = *peer;
	*peer = *fresh;
	peer->seen = true;
	peer->neighbours = before.neighbours;
	memcpy(peer->heard, before.heard, sizeof(peer->heard));
}

int lldp_decode_tlvs(const uint8_t *tlvs, uint32_t len, struct lldp_peer *peer, struct err *e)
{
	struct lldp_peer fresh = {0}, added = *peer;
	struct reading r = {.peer = &fresh};
	int err = lldp_read_tlvs(&r, tlvs, len, e);

	if (err)
		return err;
	if (r.chassis_hash) {
		lldp_accept_advertisement(peer, &fresh, r.chassis_hash);
		return 0;
	}
	r.peer = &added;
	err = lldp_read_tlvs(&r, tlvs, len, e);
	if (err)
		return err;
	added.seen = true;
	*peer = added;
	return 0;
}

int lldp_decode_packet(const struct packet *p, const uint8_t *data, struct lldp_peer *peer,
		       struct err *e)
{
	struct lldp_peer fresh = {0};
	struct reading r = {.peer = &fresh};
	int err;

	if (p->kind != PACKET_LLDP)
		return err_set(e, -EINVAL, "no LLDP frame");
	err = lldp_read_tlvs(&r, data + p->l3_offset, p->cap_end - p->l3_offset, e);
	if (err)
		return err;
	if (!r.chassis_hash)
		return err_set(e, -EINVAL, "LLDP: chassis ID is missing");
	lldp_accept_advertisement(peer, &fresh, r.chassis_hash);
	return 0;
}

int lldp_decode(const uint8_t *frame, uint32_t len, struct lldp_peer *peer, struct err *e)
{
	struct packet p;

	packet_decode(DLT_EN10MB, frame, len, len, 0, 0, &p);
	return lldp_decode_packet(&p, frame, peer, e);
}
