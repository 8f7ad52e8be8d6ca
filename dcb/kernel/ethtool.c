/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ethtool requests (Linux Documentation/networking/ethtool-netlink.rst, linux ethtool.h). The
 * statistics ioctls write as many entries as the driver has at that moment, whatever the caller has
 * room for; so the room is larger than asked for and a count that moved is an error.
 */
#include "dcb/kernel/ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define STATS_MAX   65536
#define STATS_SLACK 4096

/* Attribute and field of each pause setting. */
static const struct pause_row {
	uint16_t attr;
	enum qos_field_id field;
} pause_rows[] = {
	{ETHTOOL_A_PAUSE_AUTONEG, QOS_PAUSE_AUTONEG},
	{ETHTOOL_A_PAUSE_RX, QOS_PAUSE_RX},
	{ETHTOOL_A_PAUSE_TX, QOS_PAUSE_TX},
};

static void pause_start(struct nl_request *r, int family, uint8_t cmd, const char *ifname)
{
	struct genlmsghdr g = {.cmd = cmd, .version = 1};
	size_t nest;

	nl_request_init(r, family, 0);
	nl_put(r, &g, sizeof(g));
	nest = nl_nest_start(r, ETHTOOL_A_PAUSE_HEADER);
	nl_put_attr(r, ETHTOOL_A_HEADER_DEV_NAME, ifname, strlen(ifname) + 1);
	nl_nest_end(r, nest);
}

static int take_pause(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	const uint8_t *pos = payload + GENL_HDRLEN, *end = payload + size;
	struct qos *q = arg;
	struct nl_attr a;

	(void)type;
	if (size < GENL_HDRLEN)
		return -EBADMSG;
	while (nl_attr_next(&pos, end, &a)) {
		for (unsigned int i = 0; i < ARRAY_SIZE(pause_rows); i++) {
			enum qos_field_id id = pause_rows[i].field;

			if (a.type != pause_rows[i].attr || a.size < 1)
				continue;
			*(uint8_t *)qos_slot(q, &qos_fields[id]) = a.data[0] != 0;
			q->has |= QOS_BIT(id);
		}
	}
	return 0;
}

int ethtool_pause_read(struct nl *nl, int family, const char *ifname, struct qos *q, struct err *e)
{
	struct nl_request r;
	int err;

	if (!nl || family < 0)
		return 0;
	pause_start(&r, family, ETHTOOL_MSG_PAUSE_GET, ifname);
	err = nl_talk(nl, &r, take_pause, q, e);
	if (err == -EOPNOTSUPP)
		return 0;
	if (err)
		err_prefix(e, "%s: link pause", ifname);
	return err;
}

int ethtool_pause_write(struct nl *nl, int family, const char *ifname, const struct qos *q,
			uint64_t mask, struct err *e)
{
	struct nl_request r;
	int err;

	if (!nl || family < 0)
		return err_set(e, -EOPNOTSUPP, "%s: link pause: the kernel has no ethtool netlink",
			       ifname);
	pause_start(&r, family, ETHTOOL_MSG_PAUSE_SET, ifname);
	for (unsigned int i = 0; i < ARRAY_SIZE(pause_rows); i++) {
		enum qos_field_id id = pause_rows[i].field;

		if (mask & QOS_BIT(id))
			nl_put_attr(&r, pause_rows[i].attr, qos_member(q, &qos_fields[id]), 1);
	}
	err = nl_talk(nl, &r, NULL, NULL, e);
	if (err)
		err_prefix(e, "%s: link pause", ifname);
	return err;
}

static int ethtool_ioctl(int fd, const char *ifname, void *data)
{
	struct ifreq ifr = {.ifr_data = data};

	if (!ifname[0] || strlen(ifname) >= sizeof(ifr.ifr_name))
		return -ENODEV;
	memcpy(ifr.ifr_name, ifname, strlen(ifname) + 1);
	return ioctl(fd, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
}

static void copy_text(char *to, size_t room, const char *from, size_t size)
{
	size_t n = strnlen(from, size);

	if (n >= room)
		n = room - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

int ethtool_driver(int fd, const char *ifname, struct dcb_driver_info *info, struct err *e)
{
	struct ethtool_drvinfo d = {.cmd = ETHTOOL_GDRVINFO};
	int err = ethtool_ioctl(fd, ifname, &d);

	if (err)
		return err_sys(e, err, "%s: driver information", ifname);
	copy_text(info->driver, sizeof(info->driver), d.driver, sizeof(d.driver));
	copy_text(info->version, sizeof(info->version), d.version, sizeof(d.version));
	copy_text(info->firmware, sizeof(info->firmware), d.fw_version, sizeof(d.fw_version));
	copy_text(info->bus, sizeof(info->bus), d.bus_info, sizeof(d.bus_info));
	return 0;
}

static int stats_count(int fd, const char *ifname, unsigned int *n)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t count;
	} s = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = UINT64_C(1) << ETH_SS_STATS}};
	int err = ethtool_ioctl(fd, ifname, &s);

	if (err)
		return err;
	if (!s.info.sset_mask || !s.count)
		return -EOPNOTSUPP;
	if (s.count > STATS_MAX)
		return -EMSGSIZE;
	*n = s.count;
	return 0;
}

static int stats_names(int fd, const char *ifname, unsigned int n, char (*names)[32])
{
	size_t size = sizeof(struct ethtool_gstrings) + (n + STATS_SLACK) * ETH_GSTRING_LEN;
	struct ethtool_gstrings *g = calloc(1, size);
	int err;

	if (!g)
		return -ENOMEM;
	g->cmd = ETHTOOL_GSTRINGS;
	g->string_set = ETH_SS_STATS;
	g->len = n;
	err = ethtool_ioctl(fd, ifname, g);
	if (!err && g->len != n)
		err = -EAGAIN;
	for (unsigned int i = 0; !err && i < n; i++)
		copy_text(names[i], sizeof(names[i]), (char *)g->data + i * ETH_GSTRING_LEN,
			  ETH_GSTRING_LEN);
	free(g);
	return err;
}

static int stats_values(int fd, const char *ifname, unsigned int n, uint64_t *values)
{
	size_t size = sizeof(struct ethtool_stats) + (n + STATS_SLACK) * sizeof(uint64_t);
	struct ethtool_stats *s = calloc(1, size);
	int err;

	if (!s)
		return -ENOMEM;
	s->cmd = ETHTOOL_GSTATS;
	s->n_stats = n;
	err = ethtool_ioctl(fd, ifname, s);
	if (!err && s->n_stats != n)
		err = -EAGAIN;
	if (!err)
		memcpy(values, s->data, n * sizeof(*values));
	free(s);
	return err;
}

int ethtool_stats(int fd, const char *ifname, char (**names)[32], uint64_t **values,
		  unsigned int *n, struct err *e)
{
	char(*text)[32] = NULL;
	uint64_t *value = NULL;
	unsigned int count;
	int err = stats_count(fd, ifname, &count);

	if (err)
		goto fail;
	text = calloc(count, sizeof(*text));
	value = calloc(count, sizeof(*value));
	err = text && value ? stats_names(fd, ifname, count, text) : -ENOMEM;
	if (!err)
		err = stats_values(fd, ifname, count, value);
	if (err)
		goto fail;
	*names = text;
	*values = value;
	*n = count;
	return 0;
fail:
	free(text);
	free(value);
	return err_sys(e, err, "%s: statistics", ifname);
}
