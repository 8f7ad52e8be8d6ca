/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Base transport header and what follows it. IBTA vol 1, 9.2 and 9.3. Which extension headers an
 * opcode has, and how long they are, comes from the tables of opcode.h.
 *
 *   0       8       16      24
 *   +-------+-+-+--+--+-------------+
 *   |opcode |S|M|pd|tv|    P_Key    |
 *   +-------+-+-+--+--+-------------+
 *   |F|B|resv|  destination QP      |
 *   +-------+-----------------------+
 *   |A|resv |          PSN          |
 *   +-------+-----------------------+
 */
#include "capture/decode/bth.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>

#include "capture/decode/bytes.h"
#include "capture/decode/opcode.h"

#define QP1	 1
#define QP1_QKEY 0x80010000

void packet_fault(struct packet *p, enum packet_fault fault, const char *fmt, ...)
{
	va_list ap;

	if (p->fault != PACKET_OK)
		return;
	p->fault = (uint8_t)fault;
	va_start(ap, fmt);
	vsnprintf(p->note, sizeof(p->note), fmt, ap);
	va_end(ap);
}

void packet_fault_short(struct packet *p, uint32_t need, const char *what)
{
	if (p->wire_end >= need)
		packet_fault(p, PACKET_TRUNCATED, "capture ends inside %s", what);
	else
		packet_fault(p, PACKET_MALFORMED, "frame ends inside %s", what);
}

static void bth_decode_ext_header(const uint8_t *h, enum roce_header header, struct packet *p)
{
	switch (header) {
	case HDR_DETH:
		p->deth.qkey = be32_at(h);
		p->deth.src_qpn = be24_at(h + 5);
		break;
	case HDR_XRCETH:
		p->xrc_srq = be24_at(h + 1);
		break;
	case HDR_FETH:
		p->feth = be32_at(h);
		break;
	case HDR_RETH:
		p->reth.va = be64_at(h);
		p->reth.rkey = be32_at(h + 8);
		p->reth.dma_len = be32_at(h + 12);
		break;
	case HDR_ATOMICETH:
		p->atomiceth.va = be64_at(h);
		p->atomiceth.rkey = be32_at(h + 8);
		p->atomiceth.swap_add = be64_at(h + 12);
		p->atomiceth.compare = be64_at(h + 20);
		break;
	case HDR_AETH:
		p->aeth.syndrome = h[0];
		p->aeth.msn = be24_at(h + 1);
		break;
	case HDR_ATOMICACKETH:
		p->atomic_ack = be64_at(h);
		break;
	case HDR_IMMDT:
		p->immdt = be32_at(h);
		break;
	case HDR_IETH:
		p->ieth_rkey = be32_at(h);
		break;
	case HDR_CNP: /* reserved bytes */
		break;
	}
}

/* The caller has checked that all headers fit into the packet; the capture may end earlier. */
static void bth_decode_ext_headers(const uint8_t *data, uint16_t headers, struct packet *p)
{
	uint32_t at = p->bth_offset + BTH_LEN;

	for (; headers; headers &= headers - 1U) {
		uint16_t header = headers & -headers;
		const struct roce_header_info *info = &roce_headers[__builtin_ctz(header)];

		if (!packet_reaches(p, at + info->len, info->name))
			return;
		bth_decode_ext_header(data + at, (enum roce_header)header, p);
		p->headers |= header;
		at += info->len;
	}
}

/* Lengths: payload = packet - BTH - extension headers - pad - ICRC, and only where the opcode has
 * one. */
static void bth_decode_payload(const uint8_t *data, uint32_t end, struct packet *p)
{
	const struct opcode_info *op = opcode_info(p->opcode);
	uint32_t room = end - p->bth_offset - BTH_LEN - ICRC_LEN;
	uint32_t ext = roce_headers_len(op->headers);

	if (ext + p->pad > room) {
		packet_fault(p, PACKET_MALFORMED, "%u bytes after the BTH, the opcode needs %u",
			     room, ext + p->pad);
		return;
	}
	p->payload_len = room - ext - p->pad;
	p->data_offset = p->bth_offset + BTH_LEN + ext;
	if (op->name && p->payload_len && !(op->flags & OP_PAYLOAD))
		packet_fault(p, PACKET_MALFORMED, "%u bytes of payload, the opcode allows none",
			     p->payload_len);
	if (op->name && ((p->payload_len + p->pad) & 3))
		packet_fault(p, PACKET_MALFORMED, "payload %u plus pad %u is not a multiple of 4",
			     p->payload_len, p->pad);
	if ((op->flags & OP_FULL) && p->pad)
		packet_fault(p, PACKET_MALFORMED, "pad %u in a first or middle packet", p->pad);
	bth_decode_ext_headers(data, op->headers, p);
}

/* Management datagrams go from QP 1 to QP 1 with a well-known Q_Key, IBTA vol 1, 3.9.5. */
static void bth_decode_cm(const uint8_t *data, struct packet *p)
{
	if (!(p->headers & HDR_DETH) || p->dest_qpn != QP1 || p->deth.src_qpn != QP1 ||
	    p->deth.qkey != QP1_QKEY || p->payload_len != CM_MAD_LEN || p->fragment)
		return;
	if (p->data_offset >= p->cap_end) {
		packet_fault(p, PACKET_TRUNCATED, "capture ends before the MAD");
		return;
	}
	if (cm_decode(data + p->data_offset, p->cap_end - p->data_offset, &p->cm) &&
	    !cm_whole(&p->cm))
		packet_fault(p, PACKET_TRUNCATED, "capture ends inside CM %s",
			     cm_message_text(&p->cm));
}

static void bth_verify_icrc(const uint8_t *data, uint32_t end, struct packet *p)
{
	uint32_t want, have;

	if (end > p->cap_end)
		return;
	memcpy(&have, data + end - ICRC_LEN, sizeof(have));
	want = icrc_compute((enum packet_encap)p->encap, data + p->l3_offset,
			    p->bth_offset - p->l3_offset, end - ICRC_LEN - p->l3_offset);
	p->icrc = le32toh(have) == want ? ICRC_GOOD : ICRC_BAD;
}

void bth_decode(const uint8_t *data, uint32_t end, bool verifiable, struct packet *p)
{
	const uint8_t *h = data + p->bth_offset;

	if (end < p->bth_offset + BTH_LEN + ICRC_LEN) {
		packet_fault(p, PACKET_MALFORMED, "too short for BTH and ICRC");
		return;
	}
	if (!packet_reaches(p, p->bth_offset + BTH_LEN, "BTH"))
		return;
	p->bth = true;
	p->opcode = h[0];
	p->se = h[1] & 0x80;
	p->migreq = h[1] & 0x40;
	p->pad = (h[1] >> 4) & 3;
	p->tver = h[1] & 0xf;
	p->pkey = be16_at(h + 2);
	p->fecn = h[4] & 0x80;
	p->becn = h[4] & 0x40;
	p->dest_qpn = be24_at(h + 5);
	p->ackreq = h[8] & 0x80;
	p->psn = be24_at(h + 9);
	if (verifiable)
		bth_verify_icrc(data, end, p);
	if (p->tver)
		packet_fault(p, PACKET_MALFORMED, "BTH version %u, expected 0", p->tver);
	bth_decode_payload(data, end, p);
	bth_decode_cm(data, p);
}
