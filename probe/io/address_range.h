/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of IP addresses as "198.18.0.0/24", "fe80::/10" or one address, and which addresses are
 * inside. Addresses are those of GIDs: 16 bytes, IPv4 mapped.
 */
#ifndef PROBE_ADDRESS_RANGE_H
#define PROBE_ADDRESS_RANGE_H

#include "profiles/base/base.h"

#define ADDRESS_RANGES_MAX 16

struct address_range {
	uint8_t address[16];
	unsigned int bits; /* of the 128 */
};

struct address_ranges {
	unsigned int count;
	struct address_range range[ADDRESS_RANGES_MAX];
};

/* "ADDRESS[/LENGTH],..". -EINVAL names the part that is none. */
int address_ranges_parse(const char *text, struct address_ranges *out, struct err *e);

bool address_ranges_have(const struct address_ranges *r, const uint8_t address[16]);

#endif
