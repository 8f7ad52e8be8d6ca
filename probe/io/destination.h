/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses to which a host may send test traffic. The peer reports its address as a GID; this
 * check keeps a peer, or a host of a fabric run, from directing traffic to a third host.
 */
#ifndef PROBE_DESTINATION_H
#define PROBE_DESTINATION_H

#include "profiles/base/base.h"

/* Ranges of IP addresses: "198.18.0.0/24", "fe80::/10" or one address. Stored as in GIDs: 16 bytes,
 * IPv4 as a mapped address. */

#define ADDRESS_RANGES_MAX 16

struct address_range {
	uint8_t address[16];
	unsigned int bits; /* prefix length, 0 to 128 */
};

struct address_ranges {
	unsigned int count;
	struct address_range range[ADDRESS_RANGES_MAX];
};

/* Parses "ADDRESS[/LENGTH],..". -EINVAL names the invalid part. */
int address_ranges_parse(const char *text, struct address_ranges *out, struct err *e);

bool address_ranges_have(const struct address_ranges *r, const uint8_t address[16]);

/* Program that checks the destination, for the text of an error. */
enum destination_owner {
	DESTINATION_OF_SERVER, /* `probe server` checks its client */
	DESTINATION_OF_CLIENT, /* `probe client` checks the server */
	DESTINATION_OF_AGENT,  /* a read-only agent checks its coordinator's requests */
	DESTINATION_OF_FABRIC, /* the coordinator of a fabric run checks a host */
	DESTINATION_OWNERS,
};

struct destinations {
	enum destination_owner owner;
	char address[64];
	struct address_ranges allowed; /* address, and those of --peer-address */
};

/* address: the peer of the control connection, the port in a fabric run, or the agent's
 * --peer-address. more: further "ADDRESS[/LENGTH],.." that the user allows; NULL = none. -EINVAL
 * names the invalid part. */
int destinations_make(enum destination_owner owner, const char *address, const char *more,
		      struct destinations *out, struct err *e);

/* As destinations_make(), for the address in a GID. */
int destinations_of_gid(enum destination_owner owner, const uint8_t gid[16],
			struct destinations *out, struct err *e);

/* Returns 0 if traffic may go to the address in this GID, else -EPERM with both addresses and a
 * hint. */
int destinations_check(const struct destinations *d, const uint8_t gid[16], struct err *e);

#endif
