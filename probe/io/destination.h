/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses that traffic of one end may go to. The other end of a probe says where it is, by a GID;
 * neither end, nor a host of a fabric run, makes a peer send to third ones.
 */
#ifndef PROBE_DESTINATION_H
#define PROBE_DESTINATION_H

#include "profiles/base/base.h"

/* Ranges of IP addresses as "198.18.0.0/24", "fe80::/10" or one address, and which addresses are
 * inside. Addresses are those of GIDs: 16 bytes, IPv4 mapped. */

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

/* Who binds its peer, for the words of an error. */
enum destination_owner {
	DESTINATION_OF_SERVER, /* a `probe server`, of its client */
	DESTINATION_OF_CLIENT, /* and a client, of the server */
	DESTINATION_OF_AGENT,  /* a read-only agent, of what its coordinator names */
	DESTINATION_OF_FABRIC, /* the coordinator of a fabric run, of a host */
	DESTINATION_OWNERS,
};

struct destinations {
	enum destination_owner owner;
	char address[64];
	struct address_ranges allowed; /* that address, and more */
};

/* address: of the peer of the control connection, that of the port in a fabric run, or all that an
 * agent was given. more: what
 * the user allows beside it, "ADDRESS[/LENGTH],..", NULL = nothing. -EINVAL names what is none. */
int destinations_make(enum destination_owner owner, const char *address, const char *more,
		      struct destinations *out, struct err *e);

/* As destinations_make(), of the address that a GID stands for. */
int destinations_of_gid(enum destination_owner owner, const uint8_t gid[16],
			struct destinations *out, struct err *e);

/* Whether traffic may go to the address of this GID. -EPERM with both addresses and a way. */
int destinations_check(const struct destinations *d, const uint8_t gid[16], struct err *e);

#endif
