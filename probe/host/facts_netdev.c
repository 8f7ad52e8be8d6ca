/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the netdev of a port tells: driver and firmware, MAC, numeric addresses, carrier, speed.
 * Texts that drivers give are cut at what is no printable ASCII: they end in JSON and on terminals.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/kernel/dcb.h"
#include "probe/host/facts.h"

static void copy_text(char *to, size_t size, const char *from)
{
	size_t used = 0;

	for (; *from && used + 1 < size; from++)
		to[used++] = *from < ' ' || *from > '~' ? '?' : *from;
	to[used] = '\0';
}

static int net_file(struct dcb *dcb, const char *ifname, const char *file, char *buf, size_t size)
{
	char path[96];

	snprintf(path, sizeof(path), "class/net/%s/%s", ifname, file);
	return dcb_sysfs_read(dcb, path, buf, size);
}

static void read_driver(struct dcb *dcb, struct port *p)
{
	struct dcb_driver_info info;

	if (dcb_driver(dcb, p->netdev, &info, NULL))
		return;
	copy_text(p->driver, sizeof(p->driver), info.driver);
	copy_text(p->driver_version, sizeof(p->driver_version), info.version);
	copy_text(p->firmware, sizeof(p->firmware), info.firmware);
	copy_text(p->bus, sizeof(p->bus), info.bus);
}

static void read_link(struct dcb *dcb, struct port *p)
{
	char text[32];
	bool up = false;

	if (net_file(dcb, p->netdev, "address", text, sizeof(text)) >= 0)
		copy_text(p->mac, sizeof(p->mac), text);
	if (net_file(dcb, p->netdev, "flags", text, sizeof(text)) >= 0)
		up = strtoul(text, NULL, 16) & IFF_UP;
	/* Reading the carrier of a port that is down is -EINVAL. */
	if (up && net_file(dcb, p->netdev, "carrier", text, sizeof(text)) >= 0)
		p->up = !strcmp(text, "1");
	(void)dcb_link_speed(dcb, p->netdev, &p->speed_mbps, NULL); /* 0 = unknown */
}

static const void *address_of(const struct sockaddr *sa)
{
	if (sa && sa->sa_family == AF_INET)
		return &((const struct sockaddr_in *)(const void *)sa)->sin_addr;
	if (sa && sa->sa_family == AF_INET6)
		return &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
	return NULL;
}

void facts_addresses(struct port *p)
{
	struct ifaddrs *list;

	if (getifaddrs(&list))
		return;
	for (const struct ifaddrs *a = list; a && p->address_count < PORT_ADDRS_MAX;
	     a = a->ifa_next) {
		const void *address = address_of(a->ifa_addr);

		if (!address || strcmp(a->ifa_name, p->netdev))
			continue;
		if (inet_ntop(a->ifa_addr->sa_family, address, p->address[p->address_count],
			      sizeof(p->address[0])))
			p->address_count++;
	}
	freeifaddrs(list);
}

int facts_netdev(struct dcb *dcb, struct port *p, struct err *e)
{
	char text[32];

	if (strchr(p->netdev, '/') || net_file(dcb, p->netdev, "ifindex", text, sizeof(text)) < 0)
		return err_set(e, -ENODEV, "%s: no such network device", p->netdev);
	read_driver(dcb, p);
	read_link(dcb, p);
	return 0;
}
