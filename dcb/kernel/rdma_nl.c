/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA netlink (linux rdma_netlink.h, nldev): device index by name, driver id, netdev of a port and
 * port counters. Answers are bare attributes, without a family header. Counters that a driver keeps
 * for the device and not for a port have no netlink command; they are read from sysfs.
 */
#include "dcb/kernel/rdma_nl.h"

#include <dirent.h>
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcb/kernel/dcb.h"
#include "dcb/kernel/nl.h"
#include "profiles/base/small_file.h"

#define STATS_MAX 4096

/* enum rdma_driver_id of Linux 6.2, newer than the headers of Debian 12. */
#define DRIVER_ID_MANA 20

static const struct {
	uint32_t id;
	const char *name;
} driver_names[] = {
	{RDMA_DRIVER_MLX5, "mlx5_ib"},
	{RDMA_DRIVER_MLX4, "mlx4_ib"},
	{RDMA_DRIVER_CXGB4, "iw_cxgb4"},
	{RDMA_DRIVER_BNXT_RE, "bnxt_re"},
	{RDMA_DRIVER_HNS, "hns_roce"},
	{RDMA_DRIVER_IRDMA, "irdma"},
	{RDMA_DRIVER_QEDR, "qedr"},
	{RDMA_DRIVER_OCRDMA, "ocrdma"},
	{RDMA_DRIVER_VMW_PVRDMA, "vmw_pvrdma"},
	{RDMA_DRIVER_RXE, "rxe"},
	{RDMA_DRIVER_SIW, "siw"},
	{RDMA_DRIVER_EFA, "efa"},
	{RDMA_DRIVER_ERDMA, "erdma"},
	{DRIVER_ID_MANA, "mana_ib"},
};

/* The requested attributes of an answer. */
struct wanted {
	const char *name; /* of the device, to find its index */
	uint32_t index;
	uint64_t driver;
	char netdev[16];
	bool found;
	struct rdma_stat *stats;
	unsigned int count;
};

static bool rdma_attr_u32(const struct nl_attr *a, uint32_t *value)
{
	if (a->size < sizeof(*value))
		return false;
	memcpy(value, a->data, sizeof(*value));
	return true;
}

/* Attributes of the drivers' ids are u32 in old kernels and u64 in newer ones. */
static bool rdma_attr_u64(const struct nl_attr *a, uint64_t *value)
{
	uint32_t small;

	if (a->size >= sizeof(*value)) {
		memcpy(value, a->data, sizeof(*value));
		return true;
	}
	if (!rdma_attr_u32(a, &small))
		return false;
	*value = small;
	return true;
}

static bool rdma_attr_text(const struct nl_attr *a, char *text, size_t size)
{
	size_t len = strnlen((const char *)a->data, a->size);

	if (!len || len >= size)
		return false;
	memcpy(text, a->data, len);
	text[len] = '\0';
	return true;
}

static int rdma_parse_device(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct wanted *w = arg;
	uint32_t index = 0;
	bool has_index = false;
	char name[64] = "";
	struct nl_attr a;

	(void)type;
	for (const uint8_t *pos = payload; nl_attr_next(&pos, payload + size, &a);) {
		if (a.type == RDMA_NLDEV_ATTR_DEV_INDEX)
			has_index = rdma_attr_u32(&a, &index);
		else if (a.type == RDMA_NLDEV_ATTR_DEV_NAME &&
			 !rdma_attr_text(&a, name, sizeof(name)))
			name[0] = '\0';
	}
	if (has_index && !strcmp(name, w->name)) {
		w->index = index;
		w->found = true;
	}
	return 0;
}

static uint16_t nldev_type(unsigned int command)
{
	return (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
}

/* Opens the socket and finds the index of the device. */
static int rdma_open_device(const char *ibdev, struct nl **nl, uint32_t *index, struct err *e)
{
	struct wanted w = {.name = ibdev};
	struct nl_request r;
	int err;

	err = nl_open(NETLINK_RDMA, nl, e);
	if (err)
		return err;
	nl_request_init(&r, nldev_type(RDMA_NLDEV_CMD_GET), NLM_F_DUMP);
	err = nl_talk(*nl, &r, rdma_parse_device, &w, e);
	if (!err && !w.found)
		err = err_set(e, -ENODEV, "%s: no such RDMA device", ibdev);
	if (err)
		nl_shut(*nl);
	else
		*index = w.index;
	return err;
}

/* One command about one device; port 0 = the device. flags: NLM_F_DUMP or 0. */
static int rdma_request(const char *ibdev, unsigned int command, uint16_t flags, uint32_t ib_port,
			const char *chardev, nl_answer *fn, void *arg, struct err *e)
{
	struct nl_request r;
	uint32_t index;
	struct nl *nl;
	int err = rdma_open_device(ibdev, &nl, &index, e);

	if (err)
		return err;
	nl_request_init(&r, nldev_type(command), flags);
	nl_put_attr(&r, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	if (ib_port)
		nl_put_attr(&r, RDMA_NLDEV_ATTR_PORT_INDEX, &ib_port, sizeof(ib_port));
	if (chardev)
		nl_put_attr(&r, RDMA_NLDEV_ATTR_CHARDEV_TYPE, chardev, strlen(chardev) + 1);
	err = nl_talk(nl, &r, fn, arg, e);
	if (err)
		err_prefix(e, "%s: RDMA netlink", ibdev);
	nl_shut(nl);
	return err;
}

static int rdma_parse_chardev(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct wanted *w = arg;
	struct nl_attr a;

	(void)type;
	w->found = nl_attr_find(payload, size, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, &a) &&
		   rdma_attr_u64(&a, &w->driver);
	return 0;
}

int rdma_dump(const char *ibdev, unsigned int command, nl_answer *fn, void *arg, struct err *e)
{
	return rdma_request(ibdev, command, NLM_F_DUMP, 0, NULL, fn, arg, e);
}

int rdma_driver(const char *ibdev, char *driver, size_t size, struct err *e)
{
	struct wanted w = {0};
	int err;

	err = rdma_request(ibdev, RDMA_NLDEV_CMD_GET_CHARDEV, 0, 0, "uverbs", rdma_parse_chardev,
			   &w, e);
	if (err)
		return err;
	if (!w.found)
		return err_set(e, -ENODATA, "%s: the kernel does not name the driver", ibdev);
	snprintf(driver, size, "%llu", (unsigned long long)w.driver);
	for (size_t i = 0; i < ARRAY_SIZE(driver_names); i++)
		if (driver_names[i].id == w.driver)
			snprintf(driver, size, "%s", driver_names[i].name);
	return 0;
}

static int rdma_parse_port(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct wanted *w = arg;
	struct nl_attr a;

	(void)type;
	w->found = nl_attr_find(payload, size, RDMA_NLDEV_ATTR_NDEV_NAME, &a) &&
		   rdma_attr_text(&a, w->netdev, sizeof(w->netdev));
	return 0;
}

int rdma_netdev(const char *ibdev, unsigned int ib_port, char netdev[16], struct err *e)
{
	struct wanted w = {0};
	int err;

	err = rdma_request(ibdev, RDMA_NLDEV_CMD_PORT_GET, 0, ib_port, NULL, rdma_parse_port, &w,
			   e);
	if (err)
		return err;
	if (!w.found)
		return err_set(e, -ENODEV, "%s port %u: no netdev", ibdev, ib_port);
	memcpy(netdev, w.netdev, sizeof(w.netdev));
	return 0;
}

static int rdma_stat_add(struct wanted *w, const char *name, uint64_t value)
{
	struct rdma_stat *grown;

	if (w->count == STATS_MAX)
		return 0;
	if (!(w->count & (w->count - 1))) {
		size_t room = w->count ? w->count * 2 : 1;

		grown = realloc(w->stats, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		w->stats = grown;
	}
	snprintf(w->stats[w->count].name, sizeof(w->stats->name), "%s", name);
	w->stats[w->count++].value = value;
	return 0;
}

/* RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY: name and value. */
static int rdma_parse_stat(const struct nl_attr *entry, struct wanted *w)
{
	const uint8_t *pos = entry->data;
	bool has_value = false;
	uint64_t value = 0;
	char name[64] = "";
	struct nl_attr a;

	while (nl_attr_next(&pos, entry->data + entry->size, &a)) {
		if (a.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME)
			(void)rdma_attr_text(&a, name,
					     sizeof(name)); /* a longer name matches no device */
		else if (a.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE)
			has_value = rdma_attr_u64(&a, &value);
	}
	return name[0] && has_value ? rdma_stat_add(w, name, value) : 0;
}

static int rdma_parse_stats(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct nl_attr table, entry;
	int err = 0;

	(void)type;
	for (const uint8_t *pos = payload; nl_attr_next(&pos, payload + size, &table);) {
		const uint8_t *in = table.data;

		if (table.type != RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)
			continue;
		while (!err && nl_attr_next(&in, table.data + table.size, &entry))
			if (entry.type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY)
				err = rdma_parse_stat(&entry, arg);
	}
	return err;
}

/* Reads a sysfs folder with one number per file. "lifespan" is the age of the kernel's cache, no
 * counter. */
static int rdma_sysfs_stats(struct dcb *dcb, const char *folder, struct wanted *w)
{
	DIR *dir = small_file_opendir(dcb_sysfs_fd(dcb), folder);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		char path[384], text[32], *end;
		uint64_t value;

		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "lifespan"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (dcb_sysfs_read(dcb, path, text, sizeof(text)) < 0)
			continue;
		errno = 0;
		value = strtoull(text, &end, 10);
		if (!errno && end != text && strlen(entry->d_name) < sizeof(w->stats->name))
			err = rdma_stat_add(w, entry->d_name, value);
	}
	closedir(dir);
	return err;
}

int rdma_stats(struct dcb *dcb, const char *ibdev, unsigned int ib_port, struct rdma_stat **stats,
	       unsigned int *n, struct err *e)
{
	struct wanted w = {0};
	char folder[128];
	int err;

	if (strchr(ibdev, '/') || ibdev[0] == '.')
		return err_set(e, -ENODEV, "%s: no such RDMA device", ibdev);
	err = rdma_request(ibdev, RDMA_NLDEV_CMD_STAT_GET, 0, ib_port, NULL, rdma_parse_stats, &w,
			   e);
	if (err || !w.count) {
		snprintf(folder, sizeof(folder), "class/infiniband/%s/ports/%u/hw_counters", ibdev,
			 ib_port);
		err = rdma_sysfs_stats(dcb, folder, &w);
	}
	snprintf(folder, sizeof(folder), "class/infiniband/%s/hw_counters", ibdev);
	if (err != -ENOMEM && rdma_sysfs_stats(dcb, folder, &w) == -ENOMEM)
		err = -ENOMEM;
	if (err == -ENOMEM || !w.count) {
		free(w.stats);
		return err_set(e, err == -ENOMEM ? err : -EOPNOTSUPP,
			       "%s port %u: no RDMA counters", ibdev, ib_port);
	}
	*stats = w.stats;
	*n = w.count;
	return 0;
}
