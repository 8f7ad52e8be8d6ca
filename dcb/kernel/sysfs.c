/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See sysfs.h. A name that does not fit counts as missing: truncated it would be another name.
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
#include "profiles/base/file.h"
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
	last = file_name_of(target);
	if (strlen(last) >= size)
		return false;
	snprintf(name, size, "%s", last);
	return true;
}

bool sysfs_first_name(int root, const char *path, char *name, size_t size)
{
	DIR *dir = small_file_opendir(root, path);
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

/* Returns the row of stacked[], or NULL. */
static const char *sysfs_stacked_type(struct dcb *dcb, const char *netdev)
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

static DIR *sysfs_open_netdev(struct dcb *dcb, const char *netdev)
{
	char path[64];

	snprintf(path, sizeof(path), "class/net/%.15s", netdev);
	return small_file_opendir(dcb_sysfs_fd(dcb), path);
}

/* Returns the next netdev linked as "lower_NAME" or "upper_NAME", NULL at the end. */
static const char *sysfs_next_layer(DIR *dir, const char *prefix)
{
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (!strncmp(d->d_name, prefix, 6) && strlen(d->d_name + 6) < 16)
			return d->d_name + 6;
	return NULL;
}

static int sysfs_add_netdev(struct sysfs_netdevs *ports, const char *netdev)
{
	for (unsigned int i = 0; i < ports->count; i++)
		if (!strcmp(ports->netdev[i], netdev))
			return 0;
	if (ports->count == SYSFS_NETDEVS_MAX)
		return -E2BIG;
	snprintf(ports->netdev[ports->count++], sizeof(ports->netdev[0]), "%.15s", netdev);
	return 0;
}

static int sysfs_walk_lower(struct dcb *dcb, const char *netdev, unsigned int layers,
			    struct sysfs_netdevs *ports)
{
	unsigned int lowers = 0;
	const char *lower;
	int err = 0;
	DIR *dir;

	if (!sysfs_stacked_type(dcb, netdev))
		return sysfs_add_netdev(ports, netdev);
	if (!layers)
		return -ELOOP;
	dir = sysfs_open_netdev(dcb, netdev);
	while (!err && (lower = sysfs_next_layer(dir, "lower_"))) {
		lowers++;
		err = sysfs_walk_lower(dcb, lower, layers - 1, ports);
	}
	if (dir)
		closedir(dir);
	return lowers ? err : sysfs_add_netdev(ports, netdev);
}

static int sysfs_walk_upper(struct dcb *dcb, const char *netdev, unsigned int layers,
			    struct sysfs_netdevs *vlans)
{
	DIR *dir = sysfs_open_netdev(dcb, netdev);
	const char *upper, *type;
	int err = dir && !layers ? -ELOOP : 0;

	while (!err && (upper = sysfs_next_layer(dir, "upper_"))) {
		type = sysfs_stacked_type(dcb, upper);
		if (!type)
			continue;
		if (!strcmp(type, "DEVTYPE=vlan"))
			err = sysfs_add_netdev(vlans, upper);
		if (!err)
			err = sysfs_walk_upper(dcb, upper, layers - 1, vlans);
	}
	if (dir)
		closedir(dir);
	return err;
}

static int sysfs_compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

typedef int walk(struct dcb *dcb, const char *netdev, unsigned int layers,
		 struct sysfs_netdevs *found);

static int sysfs_walk_layers(struct dcb *dcb, const char *netdev, walk *walk_layers,
			     const char *where, struct sysfs_netdevs *out, struct err *e)
{
	struct sysfs_netdevs found = {0};
	int err;

	if (strchr(netdev, '/') || strlen(netdev) >= sizeof(found.netdev[0]))
		return err_set(e, -EINVAL, "'%.32s': not a netdev's name", netdev);
	err = walk_layers(dcb, netdev, LAYERS_MAX, &found);
	if (err == -ELOOP)
		return err_set(e, err, "%s: more than %d layers of devices", netdev, LAYERS_MAX);
	if (err)
		return err_set(e, err, "%s: more than %d %s it", netdev, SYSFS_NETDEVS_MAX, where);
	qsort(found.netdev, found.count, sizeof(found.netdev[0]), sysfs_compare_names);
	*out = found;
	return 0;
}

int sysfs_lower_ports(struct dcb *dcb, const char *netdev, struct sysfs_netdevs *ports,
		      struct err *e)
{
	return sysfs_walk_layers(dcb, netdev, sysfs_walk_lower, "ports below", ports, e);
}

int sysfs_upper_vlans(struct dcb *dcb, const char *netdev, struct sysfs_netdevs *vlans,
		      struct err *e)
{
	return sysfs_walk_layers(dcb, netdev, sysfs_walk_upper, "VLAN devices above", vlans, e);
}
