/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Constants of pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng) files, and the
 * walk over the options of a pcapng block:
 *
 *   | code 16 | length 16 | value, padded to 4 |
 */
#ifndef CAPTURE_PCAP_FORMAT_H
#define CAPTURE_PCAP_FORMAT_H

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PCAP_MAGIC_MICRO   0xa1b2c3d4U
#define PCAP_MAGIC_NANO	   0xa1b23c4dU
#define PCAP_VERSION_MAJOR 2
#define PCAP_VERSION_MINOR 4
#define PCAP_SNAPLEN_MAX   262144U /* the limit of libpcap */

/* A section header reads the same in either byte order. */
#define PCAPNG_SECTION	  0x0a0d0d0aU
#define PCAPNG_INTERFACE  1U
#define PCAPNG_PACKET	  2U /* obsolete */
#define PCAPNG_SIMPLE	  3U
#define PCAPNG_STATISTICS 5U
#define PCAPNG_ENHANCED	  6U

/* Bytes of a block without options and data. */
#define PCAPNG_BLOCK_MIN     12U
#define PCAPNG_SECTION_MIN   28U
#define PCAPNG_INTERFACE_MIN 20U
#define PCAPNG_ENHANCED_MIN  32U

#define PCAPNG_BYTE_ORDER_MAGIC 0x1a2b3c4dU

enum pcapng_option_code {
	PCAPNG_OPTION_END = 0,
	PCAPNG_IF_SPEED = 8,
	PCAPNG_IF_TSRESOL = 9,
	PCAPNG_IF_TSOFFSET = 14,
	PCAPNG_ISB_IFRECV = 4,
	PCAPNG_ISB_IFDROP = 5,
	PCAPNG_ISB_OSDROP = 7,
};

struct pcapng_option {
	uint16_t code, size;  /* size without the padding */
	const uint8_t *value; /* borrowed */
};

/* Reads the option at *at and moves *at and *len behind it. False after the last one; *len is 0
 * then, unless the options are malformed. swapped: in the other byte order. */
static inline bool pcapng_option_next(const uint8_t **at, size_t *len, bool swapped,
				      struct pcapng_option *o)
{
	uint16_t head[2];
	size_t padded;

	if (*len < sizeof(head))
		return false;
	memcpy(head, *at, sizeof(head));
	o->code = swapped ? bswap_16(head[0]) : head[0];
	o->size = swapped ? bswap_16(head[1]) : head[1];
	o->value = *at + sizeof(head);
	padded = sizeof(head) + ((o->size + 3U) & ~3U);
	if (o->code == PCAPNG_OPTION_END)
		*len = 0;
	if (padded > *len)
		return false;
	*at += padded;
	*len -= padded;
	return true;
}

#endif
