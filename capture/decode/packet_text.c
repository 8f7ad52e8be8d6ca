/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a packet for people: one line of `capture decode`. Fixed columns first, free text last, so
 * that the output sorts and cuts. Columns: no, time, addresses, dscp, ecn, op, qp, psn, note.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "capture/decode/bytes.h"
#include "capture/decode/tunnel.h"
#include "capture/decode/opcode.h"
#include "capture/decode/packet.h"

/* Text so far; a full buffer drops the rest but keeps counting, as snprintf(). */
struct line {
	char *buf;
	size_t size, used;
};

static void text_add(struct line *l, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void text_add(struct line *l, const char *fmt, ...)
{
	bool room = l->used < l->size;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(room ? l->buf + l->used : NULL, room ? l->size - l->used : 0, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->used += (size_t)n;
}

/* Faster than inet_ntop(), which uses sprintf(); ipv6_text() too. */
static size_t ipv4_text(const uint8_t a[4], char *buf)
{
	const char *begin = buf;

	for (unsigned int i = 0; i < 4; i++) {
		if (a[i] >= 100)
			*buf++ = (char)('0' + a[i] / 100);
		if (a[i] >= 10)
			*buf++ = (char)('0' + a[i] / 10 % 10);
		*buf++ = (char)('0' + a[i] % 10);
		*buf++ = i < 3 ? '.' : '\0';
	}
	return (size_t)(buf - begin) - 1;
}

/* Finds the longest run of zeros in 8 words, at least two, the first of equals: "::". */
static unsigned int text_find_zeros(const uint16_t word[8], unsigned int *len)
{
	unsigned int at = 8;

	*len = 1;
	for (unsigned int i = 0, n; i < 8; i += n + 1) {
		for (n = 0; i + n < 8 && !word[i + n]; n++)
			;
		if (n > *len) {
			at = i;
			*len = n;
		}
	}
	return at;
}

static size_t ipv6_text(const uint16_t word[8], char *buf)
{
	unsigned int len, zeros = text_find_zeros(word, &len);
	const char *begin = buf;

	for (unsigned int i = 0; i < 8; i++) {
		if (i == zeros) {
			*buf++ = ':';
			i += len - 1;
			if (i == 7)
				*buf++ = ':';
			continue;
		}
		if (i)
			*buf++ = ':';
		for (int shift = word[i] > 0xfff  ? 12
				 : word[i] > 0xff ? 8
				 : word[i] > 0xf  ? 4
						  : 0;
		     shift >= 0; shift -= 4)
			*buf++ = "0123456789abcdef"[word[i] >> shift & 0xf];
	}
	*buf = '\0';
	return (size_t)(buf - begin);
}

/* RFC 4291 2.5.5.2: prefix of an IPv4 address as a GID. */
static const uint8_t mapped[12] = {[10] = 0xff, 0xff};

bool packet_addr_is_ipv4(const uint8_t gid[16])
{
	return !memcmp(gid, mapped, sizeof(mapped));
}

size_t packet_addr_text(const uint8_t gid[16], char *buf, size_t size)
{
	uint16_t word[8];

	if (size >= INET_ADDRSTRLEN && packet_addr_is_ipv4(gid))
		return ipv4_text(gid + 12, buf);
	for (unsigned int i = 0; i < 8; i++)
		word[i] = be16_at(gid + 2 * i);
	/* Others with leading zeros may also hold an IPv4 address, too. */
	if (size >= INET6_ADDRSTRLEN && word[0])
		return ipv6_text(word, buf);
	if (inet_ntop(AF_INET6, gid, buf, (socklen_t)size))
		return strlen(buf);
	if (size)
		buf[0] = '\0';
	return 0;
}

bool packet_addr_parse(const char *text, uint8_t gid[16])
{
	if (inet_pton(AF_INET6, text, gid) == 1)
		return true;
	memcpy(gid, mapped, sizeof(mapped));
	return inet_pton(AF_INET, text, gid + sizeof(mapped)) == 1;
}

const char *packet_mac_text(const uint8_t mac[6], char buf[MAC_TEXT_MAX])
{
	snprintf(buf, MAC_TEXT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
		 mac[4], mac[5]);
	return buf;
}

const char *packet_icrc_text(const struct packet *p)
{
	static const char *const words[] = {
		[ICRC_UNVERIFIABLE] = "unverifiable",
		[ICRC_GOOD] = "good",
		[ICRC_BAD] = "bad",
	};

	return p->icrc < ARRAY_SIZE(words) ? words[p->icrc] : "unverifiable";
}

static void text_add_op(struct line *l, const struct packet *p)
{
	static const char *const fatal[] = {"", "invalid request", "remote access",
					    "remote operational", "invalid RD request"};
	unsigned int value = p->aeth.syndrome & 0x1f;
	char name[32], op[64];

	snprintf(op, sizeof(op), "%s", opcode_name(p->opcode, name, sizeof(name)));
	if (packet_aeth_kind(p) == AETH_NAK && !value)
		snprintf(op, sizeof(op), "sequence NAK");
	else if (packet_aeth_kind(p) == AETH_NAK)
		snprintf(op, sizeof(op), "fatal NAK (%s)",
			 value < ARRAY_SIZE(fatal) ? fatal[value] : "reserved code");
	else if (packet_aeth_kind(p) == AETH_RNR)
		snprintf(op, sizeof(op), "RNR NAK (wait %.2f ms)", packet_rnr_us(p) / 1000.0);
	else if (packet_aeth_kind(p) == AETH_RESERVED)
		snprintf(op, sizeof(op), "reserved AETH 0x%02x", p->aeth.syndrome);
	text_add(l, " %-34s", op);
}

/* R_Keys are only in JSON: people paste lines into mails, and an R_Key gives access to memory. */
static void text_add_headers(struct line *l, const struct packet *p)
{
	if (p->headers & HDR_DETH)
		text_add(l, ", from qp 0x%06x", p->deth.src_qpn);
	if (p->headers & HDR_XRCETH)
		text_add(l, ", srq 0x%06x", p->xrc_srq);
	if (p->headers & HDR_FETH)
		text_add(l, ", flush 0x%08x", p->feth);
	if (p->headers & HDR_RETH)
		text_add(l, ", va 0x%016" PRIx64 " length %u", p->reth.va, p->reth.dma_len);
	if (p->headers & HDR_ATOMICETH)
		text_add(l, ", va 0x%016" PRIx64 " swap/add 0x%016" PRIx64 " compare 0x%016" PRIx64,
			 p->atomiceth.va, p->atomiceth.swap_add, p->atomiceth.compare);
	if (p->headers & HDR_AETH) {
		text_add(l, ", msn %u", p->aeth.msn);
		if (packet_aeth_kind(p) == AETH_ACK && packet_credits(p) >= 0)
			text_add(l, ", credits %d", packet_credits(p));
	}
	if (p->headers & HDR_ATOMICACKETH)
		text_add(l, ", original value 0x%016" PRIx64, p->atomic_ack);
	if (p->headers & HDR_IMMDT)
		text_add(l, ", immediate 0x%08x", p->immdt);
	if (p->headers & HDR_IETH)
		text_add(l, ", invalidates an R_Key");
}

static void text_add_roce(struct line *l, const struct packet *p)
{
	static const char *const ecn[] = {"none", "ECT1", "ECT0", "CE"};
	const char *icrc = p->icrc == ICRC_GOOD	 ? "ICRC ok"
			   : p->icrc == ICRC_BAD ? "bad ICRC"
						 : "ICRC not verifiable";
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

	packet_addr_text(p->src, src, sizeof(src));
	packet_addr_text(p->dst, dst, sizeof(dst));
	text_add(l, "%-15s -> %-15s %4u %-4s", src, dst, p->dscp, ecn[p->ecn & 3]);
	if (!p->bth) {
		text_add(l, " %-34s %-8s %-8s %s", "?", "-", "-", icrc);
		return;
	}
	text_add_op(l, p);
	text_add(l, " 0x%06x", p->dest_qpn);
	if (p->opcode == OPCODE_CNP)
		text_add(l, " %-8s", "-");
	else
		text_add(l, " 0x%06x", p->psn);
	text_add(l, " %s", icrc);
	if (p->payload_len)
		text_add(l, ", %u byte%s%s", p->payload_len, plural(p->payload_len),
			 opcode_info(p->opcode)->name ? "" : " of unknown headers and data");
	text_add_headers(l, p);
	if (p->vlan_count)
		text_add(l, ", vlan %u pcp %u", p->vid, p->pcp);
	if (p->becn)
		text_add(l, ", BECN");
	else if (p->opcode == OPCODE_CNP)
		text_add(l, ", without BECN");
	if (p->fecn)
		text_add(l, ", FECN");
	if (p->fragment)
		text_add(l, ", IP fragment");
}

static void text_add_mac_control(struct line *l, const struct packet *p)
{
	unsigned int i;

	if (p->kind == PACKET_PAUSE) {
		text_add(l, " PAUSE quanta %u", p->pfc_quanta[0]);
		return;
	}
	text_add(l, " PFC%s", p->pfc_enable ? "" : " without priorities");
	for (i = 0; i < ARRAY_SIZE(p->pfc_quanta); i++)
		if (p->pfc_enable & (1U << i))
			text_add(l, "%s prio %u quanta %u",
				 p->pfc_enable & ((1U << i) - 1) ? "," : "", i, p->pfc_quanta[i]);
}

/* First the QP and its PSN, and the destination. */
static void text_add_cm(struct line *l, const struct cm *c)
{
	static const struct {
		const char *key, *text;
		int digits; /* of a hexadecimal number; 0 = decimal */
	} shown[] = {
		{"local_id", "id", 8},
		{"remote_id", "to", 8},
		{"qpn", "qp", 6},
		{"starting_psn", "starting psn", 6},
		{"reason", "reason", 0},
		{"status", "status", 0},
		{"path_mtu", "mtu", 0},
		{"ack_timeout", "ack timeout", 0},
		{"service_id", "service", 16},
	};
	char dst[INET6_ADDRSTRLEN];
	unsigned int i;
	uint64_t v;

	if (c->message == CM_NONE)
		return;
	text_add(l, ", CM %s", cm_message_text(c));
	for (i = 0; i < ARRAY_SIZE(shown); i++) {
		if (!cm_find(c, shown[i].key, &v))
			continue;
		if (shown[i].digits)
			text_add(l, " %s 0x%0*" PRIx64, shown[i].text, shown[i].digits, v);
		else
			text_add(l, " %s %" PRIu64, shown[i].text, v);
	}
	if (!c->ip)
		return;
	packet_addr_text(c->ip_dst, dst, sizeof(dst));
	text_add(l, " to %s port %u", dst, c->ip_port);
}

static void text_add_tunnel(struct line *l, const struct packet *p)
{
	char src[INET6_ADDRSTRLEN];

	if (p->tunnel.kind == TUNNEL_NONE)
		return;
	packet_addr_text(p->tunnel.src, src, sizeof(src));
	text_add(l, ", %s from %s", tunnel_text(p), src);
	if (tunnel_has_session(p))
		text_add(l, " session %u", p->tunnel.session);
	if (p->tunnel.kind == TUNNEL_VXLAN)
		text_add(l, " vni %u", p->tunnel.vni);
	if (p->tunnel.sequenced)
		text_add(l, " seq %u", p->tunnel.sequence);
	if (p->tunnel.truncated)
		text_add(l, " truncated by the mirror");
}

int packet_text_header(char *buf, size_t size)
{
	return snprintf(buf, size, "%7s %13s %-15s    %-15s %4s %-4s %-34s %-8s %-8s %s", "no",
			"time", "src", "dst", "dscp", "ecn", "op", "qp", "psn", "note");
}

int packet_text(const struct packet *p, char *buf, size_t size)
{
	int64_t ns = (int64_t)p->time_ns;
	uint64_t abs_ns = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	struct line l = {buf, size, 0};
	char time[40], src[MAC_TEXT_MAX], dst[MAC_TEXT_MAX];

	if (size)
		buf[0] = '\0';
	snprintf(time, sizeof(time), "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "",
		 abs_ns / 1000000000, abs_ns % 1000000000);
	text_add(&l, "%7" PRIu64 " %13s ", p->frame, time);
	if (p->kind == PACKET_ROCE) {
		text_add_roce(&l, p);
	} else {
		text_add(&l, "%s -> %s", packet_mac_text(p->smac, src),
			 packet_mac_text(p->dmac, dst));
		if (p->kind == PACKET_PFC || p->kind == PACKET_PAUSE)
			text_add_mac_control(&l, p);
		else
			text_add(&l, p->kind == PACKET_LLDP ? " LLDP" : " not RoCE");
	}
	text_add_cm(&l, &p->cm);
	text_add_tunnel(&l, p);
	if (p->fault != PACKET_OK)
		text_add(&l, ", %s: %s", p->fault == PACKET_TRUNCATED ? "truncated" : "malformed",
			 p->note);
	return (int)l.used;
}
