/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files of linux Documentation/ABI/stable/sysfs-class-infiniband and sysfs-class-net. GIDs
 * may return in another order, so they are compared as a set.
 */
#include "dcb/apply/port_wait.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "dcb/kernel/sysfs.h"

#define GIDS_MAX    1024
#define LOOK_MS	    100
#define NO_GID	    "0000:0000:0000:0000:0000:0000:0000:0000"
#define PATH_LENGTH 192

static void port_read_gids(struct dcb *dcb, const struct dcb_port *port, struct port_state *p)
{
	char path[PATH_LENGTH], gid[64];

	for (unsigned int i = 0; i < GIDS_MAX; i++) {
		snprintf(path, sizeof(path), "class/infiniband/%.64s/ports/%u/gids/%u", port->ibdev,
			 port->ib_port, i);
		if (dcb_sysfs_read(dcb, path, gid, sizeof(gid)) == -ENOENT)
			break;
		if (!gid[0] || !strcmp(gid, NO_GID))
			continue;
		p->gids++;
		/* A sum is independent of their order. */
		p->gid_mark += fnv1a(FNV1A_START, gid, strlen(gid));
	}
}

void port_state_read(struct dcb *dcb, const struct dcb_port *port, struct port_state *p)
{
	char path[PATH_LENGTH], text[64];

	memset(p, 0, sizeof(*p));
	if (dcb_sysfs_fd(dcb) < 0 || !sysfs_is_element(port->ifname))
		return;
	snprintf(path, sizeof(path), "class/net/%.20s/carrier", port->ifname);
	p->carrier = !dcb_sysfs_read(dcb, path, text, sizeof(text)) && text[0] == '1';
	if (!sysfs_is_element(port->ibdev))
		return;
	snprintf(path, sizeof(path), "class/infiniband/%.64s/ports/%u/state", port->ibdev,
		 port->ib_port);
	p->active = !dcb_sysfs_read(dcb, path, text, sizeof(text)) && strstr(text, "ACTIVE");
	port_read_gids(dcb, port, p);
}

const char *port_state_missing(const struct port_state *before, const struct port_state *now)
{
	if (before->carrier && !now->carrier)
		return "carrier";
	if (before->active && !now->active)
		return "the RDMA port";
	if (before->gids && (before->gids > now->gids ||
			     (before->gids == now->gids && before->gid_mark != now->gid_mark)))
		return "its GIDs";
	return NULL;
}

int port_wait(struct dcb *dcb, const struct dcb_port *port, const struct port_state *before,
	      unsigned int seconds, struct err *e)
{
	uint64_t until = monotonic_ms() + (uint64_t)seconds * 1000;
	struct port_state now;
	const char *missing;

	for (;;) {
		port_state_read(dcb, port, &now);
		missing = port_state_missing(before, &now);
		if (!missing)
			return 0;
		if (monotonic_ms() >= until)
			break;
		(void)poll(NULL, 0, LOOK_MS);
	}
	err_set(e, -ETIMEDOUT, "%s: %s did not come back within %u s", port->ifname, missing,
		seconds);
	err_hint(e, "check the cable and the link partner, or wait longer with --wait-link");
	return -ETIMEDOUT;
}
