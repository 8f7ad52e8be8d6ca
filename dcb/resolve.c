/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layers out of sysfs: "lower_NAME" links in /sys/class/net/UPPER, followed only where DEVTYPE in
 * its uevent is a device without queues of its own. Other stacked devices (macvlan, a NIC's port
 * representors) are ports themselves.
 */
#include "dcb/resolve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiles/base.h"

#define LAYERS_MAX 8

static const char *const stacked[] = {"DEVTYPE=bond", "DEVTYPE=vlan", "DEVTYPE=bridge"};

static bool is_stacked(struct dcb *dcb, const char *netdev)
{
	char path[64], text[512], *at = text;

	snprintf(path, sizeof(path), "class/net/%.15s/uevent", netdev);
	if (dcb_sysfs_read(dcb, path, text, sizeof(text)))
		return false;
	for (const char *line; (line = strsep(&at, "\n"));)
		for (unsigned int i = 0; i < ARRAY_SIZE(stacked); i++)
			if (!strcmp(line, stacked[i]))
				return true;
	return false;
}

static int add(struct resolved *ports, const char *netdev)
{
	for (unsigned int i = 0; i < ports->count; i++)
		if (!strcmp(ports->netdev[i], netdev))
			return 0;
	if (ports->count == RESOLVE_MAX)
		return -E2BIG;
	snprintf(ports->netdev[ports->count++], sizeof(ports->netdev[0]), "%.15s", netdev);
	return 0;
}

static int descend(struct dcb *dcb, const char *netdev, unsigned int layers, struct resolved *ports)
{
	unsigned int lowers = 0;
	struct dirent *d;
	char path[64];
	int fd, err = 0;
	DIR *dir;

	if (!is_stacked(dcb, netdev))
		return add(ports, netdev);
	if (!layers)
		return -ELOOP;
	snprintf(path, sizeof(path), "class/net/%.15s", netdev);
	fd = openat(dcb_sysfs_fd(dcb), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !dir)
		close(fd);
	while (dir && !err && (d = readdir(dir)))
		if (!strncmp(d->d_name, "lower_", 6) && strlen(d->d_name + 6) < 16) {
			lowers++;
			err = descend(dcb, d->d_name + 6, layers - 1, ports);
		}
	if (dir)
		closedir(dir);
	return lowers ? err : add(ports, netdev);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

int resolve_ports(struct dcb *dcb, const char *netdev, struct resolved *ports, struct err *e)
{
	struct resolved found = {0};
	int err;

	if (strchr(netdev, '/') || strlen(netdev) >= sizeof(found.netdev[0]))
		return err_set(e, -EINVAL, "'%.32s': not a netdev's name", netdev);
	err = descend(dcb, netdev, LAYERS_MAX, &found);
	if (err == -ELOOP)
		return err_set(e, err, "%s: more than %d layers of devices", netdev, LAYERS_MAX);
	if (err)
		return err_set(e, err, "%s: more than %d ports below it", netdev, RESOLVE_MAX);
	qsort(found.netdev, found.count, sizeof(found.netdev[0]), by_name);
	*ports = found;
	return 0;
}
