/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live filters by name, as libpcap expressions for the kernel. A filter sees one frame at a time:
 * it cannot detect retransmissions, and a filter for NAKs or CNPs omits the PSNs around them.
 */
#include <string.h>

#include "capture/file/input.h"

/* udp[] works only for IPv4; IPv6 needs offsets from its fixed header (40 + UDP 8 + BTH 12).
 * "nak": ACK opcodes of RC and XRC whose AETH syndrome is not ACK. "vlan" shifts all offsets after
 * it in an expression, so it comes last. */
#define F_ROCE "udp dst port 4791 or ether proto 0x8915"
#define F_CNP                                                                                      \
	"(udp dst port 4791 and udp[8] = 0x81) or "                                                \
	"(ip6 proto 17 and ip6[42:2] = 4791 and ip6[48] = 0x81) or "                               \
	"(ether proto 0x8915 and ether[54] = 0x81)"
#define F_NAK                                                                                      \
	"(udp dst port 4791 and (udp[8] = 0x11 or udp[8] = 0xb1) and udp[20] & 0x60 != 0) or "     \
	"(ip6 proto 17 and ip6[42:2] = 4791 and (ip6[48] = 0x11 or ip6[48] = 0xb1)"                \
	" and ip6[60] & 0x60 != 0) or "                                                            \
	"(ether proto 0x8915 and (ether[54] = 0x11 or ether[54] = 0xb1) and ether[66] & 0x60 != "  \
	"0)"
#define TAGGED_OR_NOT(f)  "(" f ") or (vlan and (" f "))"
#define UP_TO_TWO_TAGS(f) "(" f ") or (vlan and ((" f ") or (vlan and (" f "))))"
/* The headers of a tunnel have many lengths: no offset selects its content. */
#define F_TUNNEL "ip proto 47 or ip6 proto 47 or udp dst port 4789"
#define F_LLDP	 "ether proto 0x88cc"
#define F_PFC	 "ether proto 0x8808"

static const struct {
	const char *name, *filter;
} filters[] = {
	{"roce", F_LLDP " or " F_PFC " or " UP_TO_TWO_TAGS(F_ROCE)},
	{"lldp", F_LLDP},
	{"pfc", F_PFC},
	{"nak", TAGGED_OR_NOT(F_NAK)},
	{"cnp", TAGGED_OR_NOT(F_CNP)},
	{"mirror", TAGGED_OR_NOT(F_TUNNEL)},
};

const char *input_filter(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(filters); i++)
		if (!strcmp(filters[i].name, name))
			return filters[i].filter;
	return NULL;
}
