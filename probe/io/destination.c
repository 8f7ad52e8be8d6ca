/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Destinations of traffic. All that an end sends, RDMA and the TCP beside it, goes to the address
 * of the peer's GID, so that one comparison covers it (RoCEv2: IBTA vol 1, annex A17; an IPv4
 * address is a mapped one, RFC 4291 s2.5.5.2).
 */
#include "probe/io/destination.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "probe/io/dial.h"

static const struct {
	const char *bound; /* by what */
	const char *way;   /* --peer-address follows; NULL = there is no such option */
} owners[DESTINATION_OWNERS] = {
	[DESTINATION_OF_SERVER] = {"the address of the control connection",
				   "start the server with"},
	[DESTINATION_OF_CLIENT] = {"the address of the control connection", "give the client"},
	[DESTINATION_OF_AGENT] = {"what --peer-address gives the agent", "start the agent with"},
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
		return err_set(e, -EINVAL, "more than %u ranges of addresses",
			       ADDRESS_RANGES_MAX - v.allowed.count);
	memcpy(v.allowed.range + v.allowed.count, added.range,
	       added.count * sizeof(added.range[0]));
	v.allowed.count += added.count;
	snprintf(v.address, sizeof(v.address), "%s", address);
	*out = v;
	return 0;
}

static void gid_text(const uint8_t gid[16], char text[64])
{
	struct sockaddr_storage address;

	address_of_gid(gid, 0, &address);
	address_text((struct sockaddr *)&address, text, 64);
}

int destinations_of_gid(enum destination_owner owner, const uint8_t gid[16],
			struct destinations *out, struct err *e)
{
	char text[64];

	gid_text(gid, text);
	return destinations_make(owner, text, NULL, out, e);
}

int destinations_check(const struct destinations *d, const uint8_t gid[16], struct err *e)
{
	char text[64];

	if (address_ranges_have(&d->allowed, gid))
		return 0;
	gid_text(gid, text);
	err_set(e, -EPERM, "refusing to send to %s: traffic goes to %s alone, %s", text,
		owners[d->owner].bound, d->address);
	if (owners[d->owner].way)
		err_hint(e,
			 "connect between the RDMA addresses of both hosts, or %s "
			 "--peer-address %s",
			 owners[d->owner].way, text);
	else
		err_hint(e, "look for a change of the host's addresses during the run");
	return -EPERM;
}
