/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks destinations of test traffic. RDMA and TCP both go to the address in the peer's GID, so
 * one comparison covers both (RoCEv2: IBTA vol 1, annex A17; IPv4-mapped: RFC 4291 s2.5.5.2).
 */
#include "probe/io/destination.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/decode/packet.h"

/* Ranges of IP addresses: all are compared as IPv6. */

static bool destination_parse_range(char *text, struct address_range *r)
{
	char *slash = strchr(text, '/'), *end = NULL;
	unsigned long bits;
	unsigned int most = strchr(text, ':') ? 128 : 32;

	if (slash)
		*slash++ = '\0';
	if (!packet_addr_parse(text, r->address))
		return false;
	bits = slash ? strtoul(slash, &end, 10) : most;
	if (slash && (slash[0] < '0' || slash[0] > '9' || *end))
		return false;
	r->bits = (unsigned int)bits + 128 - most;
	return bits <= most;
}

int address_ranges_parse(const char *text, struct address_ranges *out, struct err *e)
{
	struct address_ranges v = {0};
	char *copy = strdup(text), *rest = NULL;

	if (!copy)
		return err_sys(e, -ENOMEM, "addresses");
	for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
		char shown[64];

		snprintf(shown, sizeof(shown), "%s", one);
		if (v.count < ADDRESS_RANGES_MAX &&
		    destination_parse_range(one, &v.range[v.count])) {
			v.count++;
			continue;
		}
		free(copy);
		if (v.count == ADDRESS_RANGES_MAX)
			return err_set(e, -EINVAL, "too many address ranges: at most %u",
				       ADDRESS_RANGES_MAX);
		return err_set(e, -EINVAL,
			       "invalid address '%s': expected ADDRESS or ADDRESS/LENGTH", shown);
	}
	free(copy);
	if (!v.count)
		return err_set(e, -EINVAL,
			       "invalid address '': expected ADDRESS or ADDRESS/LENGTH");
	*out = v;
	return 0;
}

static bool destination_range_has(const struct address_range *r, const uint8_t address[16])
{
	unsigned int bytes = r->bits / 8, rest = r->bits % 8;

	if (memcmp(r->address, address, bytes))
		return false;
	return !rest || !((r->address[bytes] ^ address[bytes]) >> (8 - rest));
}

bool address_ranges_have(const struct address_ranges *r, const uint8_t address[16])
{
	for (unsigned int i = 0; i < r->count; i++)
		if (destination_range_has(&r->range[i], address))
			return true;
	return false;
}

static const struct {
	const char *bound; /* origin of the allowed addresses */
	const char *start; /* --peer-address follows; NULL = there is no such option */
} owners[DESTINATION_OWNERS] = {
	[DESTINATION_OF_SERVER] = {"the address of the control connection",
				   "start the server with"},
	[DESTINATION_OF_CLIENT] = {"the address of the control connection",
				   "start the client with"},
	[DESTINATION_OF_AGENT] = {"the agent's --peer-address", "start the agent with"},
	[DESTINATION_OF_FABRIC] = {"the address of the port in inventory and snapshot", NULL},
};

int destinations_make(enum destination_owner owner, const char *address, const char *more,
		      struct destinations *out, struct err *e)
{
	struct destinations v = {.owner = owner};
	struct address_ranges added = {0};
	int err = address_ranges_parse(address, &v.allowed, e);

	if (!err && more)
		err = address_ranges_parse(more, &added, e);
	if (err)
		return err;
	if (v.allowed.count + added.count > ADDRESS_RANGES_MAX)
		return err_set(e, -EINVAL, "too many address ranges: at most %u",
			       ADDRESS_RANGES_MAX - v.allowed.count);
	memcpy(v.allowed.range + v.allowed.count, added.range,
	       added.count * sizeof(added.range[0]));
	v.allowed.count += added.count;
	snprintf(v.address, sizeof(v.address), "%s", address);
	*out = v;
	return 0;
}

int destinations_of_gid(enum destination_owner owner, const uint8_t gid[16],
			struct destinations *out, struct err *e)
{
	char text[64];

	packet_addr_text(gid, text, sizeof(text));
	return destinations_make(owner, text, NULL, out, e);
}

int destinations_check(const struct destinations *d, const uint8_t gid[16], struct err *e)
{
	char text[64];

	if (address_ranges_have(&d->allowed, gid))
		return 0;
	packet_addr_text(gid, text, sizeof(text));
	err_set(e, -EPERM, "refusing to send to %s: traffic is allowed only to %s, %s", text,
		owners[d->owner].bound, d->address);
	if (owners[d->owner].start)
		err_hint(e,
			 "connect to the RDMA address of the other host, or %s --peer-address %s",
			 owners[d->owner].start, text);
	else
		err_hint(e, "check whether the host's addresses changed during the run");
	return -EPERM;
}
