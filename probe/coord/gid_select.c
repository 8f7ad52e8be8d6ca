/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares every GID of one host with every GID of the other, and selects the best pair.
 */
#include "probe/coord/gid_select.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/decode/packet.h"
#include "probe/io/destination.h"

static const char *const match_words[] = {
	[GID_MATCH_ROUTED] = "routed",
	[GID_MATCH_SUBNET] = "subnet",
	[GID_MATCH_CONTROL] = "control connection",
};

const char *gid_match_word(enum gid_match match)
{
	return (unsigned int)match < ARRAY_SIZE(match_words) ? match_words[match] : "?";
}

static bool gid_has_address(const struct gid *g, const char *address)
{
	char text[INET6_ADDRSTRLEN];

	packet_addr_text(g->raw, text, sizeof(text));
	return address[0] && !strcmp(text, address);
}

/* Returns true if both addresses are in the subnet. */
static bool gid_both_in_cidr(const struct netdev_subnet *subnet, const struct gid *a,
			     const struct gid *b)
{
	struct address_ranges net;
	struct err ignored; /* the text is of the remote host */

	/* Not the whole of IPv4, which is no subnet. */
	return !address_ranges_parse(subnet->cidr, &net, &ignored) && net.range[0].bits > 96 &&
	       address_ranges_have(&net, a->raw) && address_ranges_have(&net, b->raw);
}

static bool gid_same_subnet(const struct port *p, const struct gid *a, const struct gid *b)
{
	if (!packet_addr_is_ipv4(a->raw))
		return !memcmp(a->raw, b->raw, 8);
	for (uint32_t i = 0; i < p->pci_slot.subnet_count && i < PCI_SLOT_SUBNETS_MAX; i++)
		if (gid_both_in_cidr(&p->pci_slot.subnet[i], a, b))
			return true;
	return false;
}

struct candidate {
	const struct port *port;
	const struct gid *gid;
};

/* Returns an enum gid_match; -1: no match. */
static int gid_match_of(const struct candidate *a, const struct candidate *b,
			const struct endpoint_request request[2])
{
	if (packet_addr_is_ipv4(a->gid->raw) != packet_addr_is_ipv4(b->gid->raw))
		return -1;
	if (gid_has_address(a->gid, request[0].address) &&
	    gid_has_address(b->gid, request[1].address))
		return GID_MATCH_CONTROL;
	if (gid_same_subnet(a->port, a->gid, b->gid) || gid_same_subnet(b->port, b->gid, a->gid))
		return GID_MATCH_SUBNET;
	return gid_is_link_local(a->gid) || gid_is_link_local(b->gid) ? -1 : GID_MATCH_ROUTED;
}

static bool select_port_fits(const struct port *p, const struct endpoint_request *w)
{
	if (!p->ibdev[0] || (w->ib_port != ENDPOINT_ANY && p->ib_port != w->ib_port))
		return false;
	return !w->device || !strcmp(p->ibdev, w->device) || !strcmp(p->netdev, w->device);
}

static bool gid_is_usable(const struct gid *g, const struct endpoint_request *w)
{
	if (w->gid_index != ENDPOINT_ANY)
		return g->index == w->gid_index;
	return g->type == GID_ROCE_V2 && !gid_is_link_local(g);
}

/* Returns the next candidate after *p and *g of a snapshot; false at the end. */
static bool select_next_candidate(const struct snapshot *s, const struct endpoint_request *w,
				  unsigned int *p, unsigned int *g, struct candidate *place)
{
	for (; *p < s->port_count; (*p)++, *g = 0) {
		const struct port *port = &s->port[*p];

		if (!select_port_fits(port, w) || !port->ib_active)
			continue;
		while (*g < port->gid_count) {
			const struct gid *gid = &port->gid[(*g)++];

			if (gid_is_usable(gid, w)) {
				*place = (struct candidate){port, gid};
				return true;
			}
		}
	}
	return false;
}

/* "rxe0 (roce0), rxe1 (roce1)" */
static void select_list_devices(const struct snapshot *s, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < s->port_count && used < size; i++) {
		const struct port *p = &s->port[i];

		if (p->ibdev[0])
			used += (size_t)snprintf(buf + used, size - used, "%s%s port %u (%s)",
						 used ? ", " : "", p->ibdev, p->ib_port, p->netdev);
	}
}

static void select_list_gids(const struct port *p, char *buf, size_t size)
{
	static const char *const types[] = {
		[GID_UNKNOWN] = "?", [GID_ROCE_V1] = "v1", [GID_ROCE_V2] = "v2", [GID_IB] = "IB"};
	size_t used = 0;

	snprintf(buf, size, "none");
	for (unsigned int i = 0; i < p->gid_count && used < size; i++) {
		const struct gid *g = &p->gid[i];
		char text[INET6_ADDRSTRLEN];

		packet_addr_text(g->raw, text, sizeof(text));
		used += (size_t)snprintf(buf + used, size - used, "%s%u %s %s", used ? ", " : "",
					 g->index,
					 g->type < ARRAY_SIZE(types) ? types[g->type] : "?", text);
	}
}

static int select_err_no_device(const struct snapshot *s, const struct endpoint_request *w,
				struct err *e)
{
	char have[400];

	select_list_devices(s, have, sizeof(have));
	if (!have[0]) {
		err_set(e, -ENODEV, "%s: no RDMA device", w->name);
		err_hint(e, "run 'rocecheck doctor' on that host; to use Soft-RoCE: rdma link add "
			    "rxe0 type rxe netdev IFACE");
		return -ENODEV;
	}
	if (w->ib_port != ENDPOINT_ANY)
		err_set(e, -ENODEV, "%s: no port %d of RDMA device %s", w->name, w->ib_port,
			w->device ? w->device : "any");
	else
		err_set(e, -ENODEV, "%s: no RDMA device %s", w->name, w->device ? w->device : "");
	err_hint(e, "available: %.200s", have);
	return -ENODEV;
}

/* Prefers an active port. */
static const struct port *select_first_port(const struct snapshot *s,
					    const struct endpoint_request *w)
{
	const struct port *first = NULL;

	for (unsigned int i = 0; i < s->port_count; i++) {
		if (!select_port_fits(&s->port[i], w))
			continue;
		if (!first || (!first->ib_active && s->port[i].ib_active))
			first = &s->port[i];
	}
	return first;
}

int endpoint_find_device(const struct snapshot *s, const struct endpoint_request *w,
			 const char **ibdev, struct err *e)
{
	const struct port *p = select_first_port(s, w);

	if (!p)
		return select_err_no_device(s, w, e);
	*ibdev = p->ibdev;
	return 0;
}

/* Reports why a host has no candidate. */
static int select_err_endpoint(const struct snapshot *s, const struct endpoint_request *w,
			       struct err *e)
{
	const struct port *last = select_first_port(s, w);
	char have[200];

	if (!last)
		return select_err_no_device(s, w, e);
	if (!last->ib_active) {
		err_set(e, -ENETDOWN, "%s: %s port %u is not active", w->name, last->ibdev,
			last->ib_port);
		err_hint(e, "bring up %s (ip link set %s up), and check cable and switch",
			 last->netdev, last->netdev);
		return -ENETDOWN;
	}
	select_list_gids(last, have, sizeof(have));
	if (w->gid_index != ENDPOINT_ANY)
		err_set(e, -ENOENT, "%s: %s port %u: no GID at index %d", w->name, last->ibdev,
			last->ib_port, w->gid_index);
	else
		err_set(e, -ENOENT, "%s: %s port %u: no RoCE v2 GID that is not link-local",
			w->name, last->ibdev, last->ib_port);
	err_hint(e, "give %s an IP address; its GIDs: %s", last->netdev, have);
	return -ENOENT;
}

static int select_err_no_match(const struct snapshot *snapshot[2],
			       const struct endpoint_request request[2], struct err *e)
{
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int p = 0, g = 0;
		struct candidate place;

		if (!select_next_candidate(snapshot[i], &request[i], &p, &g, &place))
			return select_err_endpoint(snapshot[i], &request[i], e);
	}
	err_set(e, -ENOENT, "%s and %s have no GIDs of the same address family", request[0].name,
		request[1].name);
	err_hint(e, "give both ports an IPv4 or an IPv6 address of the same subnet");
	return -ENOENT;
}

int endpoints_select(const struct snapshot *snapshot[2], const struct endpoint_request request[2],
		     struct endpoints *out, struct err *e)
{
	struct endpoints best = {0};
	bool found = false, several = false;
	unsigned int p = 0, g = 0;
	struct candidate a, b;

	while (select_next_candidate(snapshot[0], &request[0], &p, &g, &a)) {
		unsigned int q = 0, h = 0;

		while (select_next_candidate(snapshot[1], &request[1], &q, &h, &b)) {
			int match = gid_match_of(&a, &b, request);

			if (match < 0 || (found && match < (int)best.match))
				continue;
			if (found && match == (int)best.match) {
				several = several || best.port[0] != a.port ||
					  best.port[1] != b.port;
				continue;
			}
			best = (struct endpoints){
				{a.port, b.port}, {a.gid, b.gid}, (enum gid_match)match};
			found = true;
			several = false;
		}
	}
	if (!found)
		return select_err_no_match(snapshot, request, e);
	if (several && best.match == GID_MATCH_ROUTED) {
		err_set(e, -ENOTUNIQ,
			"%s and %s have several RDMA ports and no common subnet: cannot choose",
			request[0].name, request[1].name);
		err_hint(e, "choose the ports with -d and --peer-dev");
		return -ENOTUNIQ;
	}
	*out = best;
	return 0;
}

int endpoints_check(const struct endpoints *ends, const struct endpoint_request request[2],
		    uint32_t mtu_bytes, struct err *e)
{
	const struct port *a = ends->port[0], *b = ends->port[1];

	for (unsigned int i = 0; mtu_bytes && i < 2; i++) {
		const struct port *p = ends->port[i];

		if (p->active_mtu && p->active_mtu < mtu_bytes) {
			err_set(e, -EMSGSIZE, "%s: %s: RDMA MTU %u is smaller than %u",
				request[i].name, p->ibdev, p->active_mtu, mtu_bytes);
			err_hint(e, "raise the MTU of %s, or choose a smaller one with -m",
				 p->netdev);
			return -EMSGSIZE;
		}
	}
	if (mtu_bytes || !a->active_mtu || !b->active_mtu || a->active_mtu == b->active_mtu)
		return 0;
	err_set(e, -EMSGSIZE, "unequal RDMA MTUs: %s %s has %u, %s %s has %u", request[0].name,
		a->ibdev, a->active_mtu, request[1].name, b->ibdev, b->active_mtu);
	err_hint(e, "set the same MTU on %s and %s, or use the smaller one with -m %u", a->netdev,
		 b->netdev, a->active_mtu < b->active_mtu ? a->active_mtu : b->active_mtu);
	return -EMSGSIZE;
}
