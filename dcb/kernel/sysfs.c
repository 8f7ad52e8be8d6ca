/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See sysfs.h. A name that is cut is another name, so what does not fit is not there.
 */
#include "dcb/kernel/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiles/base/base.h"
#include "profiles/base/small_file.h"

bool sysfs_is_element(const char *name)
{
	return name && name[0] && name[0] != '.' && !strchr(name, '/');
}

ssize_t sysfs_read(int root, const char *path, char *buf, size_t size)
{
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		n = -errno;
	else
		buf[n] = '\0';
	close(fd);
	return n;
}

int sysfs_write(int root, const char *path, const char *text)
{
	int fd = openat(root, path, O_WRONLY | O_TRUNC | O_CLOEXEC), err = 0;
	size_t size = strlen(text);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, size);
	if (n < 0)
		err = -errno;
	else if ((size_t)n != size)
		err = -EIO;
	close(fd);
	return err;
}

bool sysfs_link_name(int root, const char *path, char *name, size_t size)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(root, path, target, sizeof(target) - 1);
	const char *last;

	name[0] = '\0';
	if (length <= 0)
		return false;
	target[length] = '\0';
	last = strrchr(target, '/');
	last = last ? last + 1 : target;
	if (strlen(last) >= size)
		return false;
	snprintf(name, size, "%s", last);
	return true;
}

bool sysfs_first_name(int root, const char *path, char *name, size_t size)
{
	DIR *dir = folder_read(root, path);
	struct dirent *d;

	name[0] = '\0';
	while (dir && !name[0] && (d = readdir(dir)))
		if (d->d_name[0] != '.' && strlen(d->d_name) < size)
			snprintf(name, size, "%s", d->d_name);
	if (dir)
		closedir(dir);
	return name[0];
}

/* Layers out of sysfs: "lower_NAME" and "upper_NAME" links in /sys/class/net/NAME, followed only
 * where DEVTYPE in the uevent is a device without queues of its own. Other stacked devices
 * (macvlan, a NIC's port representors) are ports themselves. */

#define LAYERS_MAX 8

static const char *const stacked[] = {"DEVTYPE=bond", "DEVTYPE=vlan", "DEVTYPE=bridge"};

/* Which of stacked[] it is, NULL for none. */
static const char *stacked_type(struct dcb *dcb, const char *netdev)
{
	char path[64], text[512], *at = text;

	snprintf(path, sizeof(path), "class/net/%.15s/uevent", netdev);
	if (dcb_sysfs_read(dcb, path, text, sizeof(text)))
		return NULL;
	for (const char *line; (line = strsep(&at, "\n"));)
		for (unsigned int i = 0; i < ARRAY_SIZE(stacked); i++)
			if (!strcmp(line, stacked[i]))
				return stacked[i];
	return NULL;
}

static DIR *open_netdev(struct dcb *dcb, const char *netdev)
{
	char path[64];

	snprintf(path, sizeof(path), "class/net/%.15s", netdev);
	return folder_read(dcb_sysfs_fd(dcb), path);
}

/* The next netdev that is linked as "lower_NAME" or "upper_NAME". NULL at the end. */
static const char *next_layer(DIR *dir, const char *prefix)
{
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (!strncmp(d->d_name, prefix, 6) && strlen(d->d_name + 6) < 16)
			return d->d_name + 6;
	return NULL;
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
	const char *lower;
	int err = 0;
	DIR *dir;

	if (!stacked_type(dcb, netdev))
		return add(ports, netdev);
	if (!layers)
		return -ELOOP;
	dir = open_netdev(dcb, netdev);
	while (!err && (lower = next_layer(dir, "lower_"))) {
		lowers++;
		err = descend(dcb, lower, layers - 1, ports);
	}
	if (dir)
		closedir(dir);
	return lowers ? err : add(ports, netdev);
}

static int ascend(struct dcb *dcb, const char *netdev, unsigned int layers, struct resolved *vlans)
{
	DIR *dir = open_netdev(dcb, netdev);
	const char *upper, *type;
	int err = dir && !layers ? -ELOOP : 0;

	while (!err && (upper = next_layer(dir, "upper_"))) {
		type = stacked_type(dcb, upper);
		if (!type)
			continue;
		if (!strcmp(type, "DEVTYPE=vlan"))
			err = add(vlans, upper);
		if (!err)
			err = ascend(dcb, upper, layers - 1, vlans);
	}
	if (dir)
		closedir(dir);
	return err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

typedef int walk(struct dcb *dcb, const char *netdev, unsigned int layers, struct resolved *found);

static int resolve(struct dcb *dcb, const char *netdev, walk *walk_layers, const char *where,
		   struct resolved *out, struct err *e)
{
	struct resolved found = {0};
	int err;

	if (strchr(netdev, '/') || strlen(netdev) >= sizeof(found.netdev[0]))
		return err_set(e, -EINVAL, "'%.32s': not a netdev's name", netdev);
	err = walk_layers(dcb, netdev, LAYERS_MAX, &found);
	if (err == -ELOOP)
		return err_set(e, err, "%s: more than %d layers of devices", netdev, LAYERS_MAX);
	if (err)
		return err_set(e, err, "%s: more than %d %s it", netdev, RESOLVE_MAX, where);
	qsort(found.netdev, found.count, sizeof(found.netdev[0]), by_name);
	*out = found;
	return 0;
}

int resolve_ports(struct dcb *dcb, const char *netdev, struct resolved *ports, struct err *e)
{
	return resolve(dcb, netdev, descend, "ports below", ports, e);
}

int resolve_vlans(struct dcb *dcb, const char *netdev, struct resolved *vlans, struct err *e)
{
	return resolve(dcb, netdev, ascend, "VLAN devices above", vlans, e);
}
