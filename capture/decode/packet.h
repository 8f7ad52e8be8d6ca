/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct packet: one decoded frame, without pointers into the buffer. RoCEv2 over IPv4 and IPv6,
 * RoCEv1, and the frames that explain RoCE: PFC, global pause, LLDP. IBTA vol 1, 9.2 (BTH) and
 * annex A17 (RoCEv2); 802.1Q clause 36 (PFC).
 */
#ifndef CAPTURE_PACKET_H
#define CAPTURE_PACKET_H

#include <jansson.h>

#include "capture/decode/cm.h"
#include "profiles/base/base.h"
#include "profiles/base/words.h"

enum packet_kind {
	PACKET_OTHER,
	PACKET_ROCE,
	PACKET_PFC,
	PACKET_PAUSE, /* 802.3x */
	PACKET_LLDP,
};

enum packet_encap {
	ENCAP_NONE,
	ENCAP_ROCE_V1,
	ENCAP_ROCE_V2_IPV4,
	ENCAP_ROCE_V2_IPV6,
};

/* Tunnel of a switch mirror or an overlay around the frame. */
enum packet_tunnel {
	TUNNEL_NONE,
	TUNNEL_GRE,
	TUNNEL_ERSPAN_I,
	TUNNEL_ERSPAN_II,
	TUNNEL_ERSPAN_III,
	TUNNEL_VXLAN,
};

enum icrc_verdict {
	ICRC_UNVERIFIABLE, /* truncated by the snap length, or a fragment */
	ICRC_GOOD,
	ICRC_BAD,
};

enum packet_fault {
	PACKET_OK,
	PACKET_TRUNCATED, /* by the capture: fewer bytes than the headers need */
	PACKET_MALFORMED, /* on the wire: lengths that contradict each other */
};

/* Extension headers of an opcode, in wire order when read from bit 0. */
enum roce_header {
	HDR_DETH = 1 << 0,
	HDR_XRCETH = 1 << 1,
	HDR_FETH = 1 << 2,
	HDR_RETH = 1 << 3,
	HDR_ATOMICETH = 1 << 4,
	HDR_AETH = 1 << 5,
	HDR_ATOMICACKETH = 1 << 6,
	HDR_IMMDT = 1 << 7,
	HDR_IETH = 1 << 8,
	HDR_CNP = 1 << 9, /* 16 reserved bytes */
};

struct packet {
	uint64_t frame;	  /* from 1 */
	uint64_t time_ns; /* since the epoch, as the source states it */
	uint32_t wire_len, cap_len;
	/* End of the decoded frame, captured and on the wire: the two lengths, or less within a
	 * tunnel. If the mirror truncated the frame, wire_end is UINT32_MAX. */
	uint32_t wire_end, cap_end;
	uint8_t src[16], dst[16]; /* GID form: IPv4 as ::ffff:a.b.c.d */
	uint8_t kind, encap, fault, icrc;
	uint8_t dmac[6], smac[6];
	uint8_t vlan_count;
	uint16_t vid; /* innermost, when vlan_count > 0 */
	uint8_t pcp;
	uint8_t dscp, ecn, ttl;
	uint16_t sport;
	/* Offsets in the captured frame; 0 = not reached. l3: after the link header and VLAN tags;
	 * data: payload, after the last extension header. */
	uint32_t l3_offset, bth_offset, data_offset;
	bool fragment; /* of an IP packet: the ICRC cannot be verified */
	/* BTH */
	bool bth; /* decoded: the members below are valid */
	uint8_t opcode, tver, pad;
	bool se, migreq, fecn, becn, ackreq;
	uint16_t pkey;
	uint32_t dest_qpn, psn;
	/* Without pad and ICRC; for an unknown opcode with its extension headers. */
	uint32_t payload_len;
	uint16_t headers; /* enum roce_header bits that were decoded */
	/* Members below are written only if their header exists, else undefined. */
	struct {
		uint64_t va;
		uint32_t rkey, dma_len;
	} reth;
	struct {
		uint8_t syndrome;
		uint32_t msn;
	} aeth;
	struct {
		uint64_t va, swap_add, compare;
		uint32_t rkey;
	} atomiceth;
	uint64_t atomic_ack;
	uint32_t immdt, ieth_rkey, feth, xrc_srq;
	struct {
		uint32_t qkey, src_qpn;
	} deth;
	/* PFC and pause: 802.1Q clause 36 */
	uint8_t pfc_enable;
	uint16_t pfc_quanta[8]; /* only [0] for 802.3x */
	char note[64];		/* why malformed or truncated; empty else */
	/* The outer frame, when kind names a tunnel: all other members describe the inner frame. */
	struct {
		uint8_t kind; /* enum packet_tunnel */
		uint8_t src[16], dst[16];
		uint8_t dscp, ecn;
		bool sequenced;	   /* GRE has sequence numbers: a gap is a loss of the mirror */
		uint32_t sequence; /* when sequenced */
		/* ERSPAN II and III */
		uint16_t session;
		uint16_t vid; /* and cos: of the mirrored frame at the switch */
		uint8_t cos;
		bool truncated; /* the switch truncated the frame */
		bool egress;	/* ERSPAN III */
		uint32_t vni;	/* VXLAN */
	} tunnel;
	struct cm cm; /* of a MAD; CM_NONE = none */
};

/* True for a supported link type of libpcap, by its DLT number. */
bool packet_dlt_is_supported(int dlt);

/*
 * Decodes one frame. Never reads beyond cap_len. Every frame gives a packet: fault and note state
 * what could not be decoded. Copies frame and time_ns.
 */
void packet_decode(int dlt, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
		   uint64_t frame, uint64_t time_ns, struct packet *p);

/* AETH syndrome classes, IBTA vol 1, 9.7.5.2. */
enum aeth_kind {
	AETH_ACK,
	AETH_RNR,
	AETH_RESERVED,
	AETH_NAK,
};

/* A packet without AETH (READ middle) counts as an ACK. */
static inline enum aeth_kind packet_aeth_kind(const struct packet *p)
{
	return p->headers & HDR_AETH ? (enum aeth_kind)((p->aeth.syndrome >> 5) & 3) : AETH_ACK;
}

/* Returns the wait time of an RNR NAK, IBTA vol 1, 9.7.5.2.8. */
uint32_t packet_rnr_us(const struct packet *p);

/* Returns the credits of an ACK in messages, IBTA vol 1, 9.7.7.2.5; -1 = credits not used. */
int packet_credits(const struct packet *p);

/* "RC_RDMA_WRITE_FIRST", "RD or DC 0x47", "vendor 0xe3", "unknown 0x80". Static strings or buf. */
const char *opcode_name(uint8_t opcode, char *buf, size_t size);

/* Returns the object of `capture decode --json` without "events" (flow_events_to_json()); keys as
 * in rocecheck-capture(8). NULL on -ENOMEM. */
json_t *packet_to_json(const struct packet *p);

/* Words of enum packet_encap in JSON. */
extern const struct qos_word packet_encap_words[];

/* "good", "bad", "unverifiable". */
const char *packet_icrc_text(const struct packet *p);

/* Returns true for the GID of an IPv4 address, ::ffff:a.b.c.d. */
bool packet_addr_is_ipv4(const uint8_t gid[16]);

/* Writes dotted IPv4 if the GID is ::ffff:a.b.c.d, else IPv6 form. size >= INET6_ADDRSTRLEN.
 * Returns its length. */
size_t packet_addr_text(const uint8_t gid[16], char *buf, size_t size);

/* Writes "02:00:00:00:00:01" and returns buf. */
#define MAC_TEXT_MAX 18
const char *packet_mac_text(const uint8_t mac[6], char buf[MAC_TEXT_MAX]);

/* Parses either form to a GID; false for other text, then gid is undefined. */
bool packet_addr_parse(const char *text, uint8_t gid[16]);

/* Write one line of `capture decode` without newline, and its column header. Always terminated;
 * return what snprintf() would. time_ns is printed unchanged: make it relative in a copy. */
#define PACKET_TEXT_MAX 1024 /* holds every line */
int packet_text_header(char *buf, size_t size);
int packet_text(const struct packet *p, char *buf, size_t size);

#endif
