/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ethtool requests (Linux Documentation/networking/ethtool-netlink.rst, linux ethtool.h). The
 * statistics ioctls write as many entries as the driver has at that moment, regardless of the
 * caller's buffer; so the buffer is larger than needed, and a changed count is an error.
 */
#include "dcb/kernel/ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "dcb/kernel/backend.h"

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

static void ethtool_pause_request(struct nl_request *r, int family, uint8_t cmd, const char *ifname)
{
	struct genlmsghdr g = {.cmd = cmd, .version = 1};
	size_t nest;

	nl_request_init(r, family, 0);
	nl_put(r, &g, sizeof(g));
	nest = nl_nest_start(r, ETHTOOL_A_PAUSE_HEADER);
	nl_put_attr(r, ETHTOOL_A_HEADER_DEV_NAME, ifname, strlen(ifname) + 1);
	nl_nest_end(r, nest);
}

static int ethtool_parse_pause(uint16_t type, const uint8_t *payload, size_t size, void *arg)
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
	ethtool_pause_request(&r, family, ETHTOOL_MSG_PAUSE_GET, ifname);
	err = nl_talk(nl, &r, ethtool_parse_pause, q, e);
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
	ethtool_pause_request(&r, family, ETHTOOL_MSG_PAUSE_SET, ifname);
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

int dcb_driver(struct dcb *dcb, const char *ifname, struct dcb_driver_info *info, struct err *e)
{
	struct ethtool_drvinfo d = {.cmd = ETHTOOL_GDRVINFO};
	int err = ethtool_ioctl(dcb->ioctl_fd, ifname, &d);

	if (err)
		return err_sys(e, err, "%s: driver information", ifname);
	/* 32 bytes that may lack a NUL. */
	snprintf(info->driver, sizeof(info->driver), "%.31s", d.driver);
	snprintf(info->version, sizeof(info->version), "%.31s", d.version);
	snprintf(info->firmware, sizeof(info->firmware), "%.32s", d.fw_version);
	snprintf(info->bus, sizeof(info->bus), "%.32s", d.bus_info);
	return 0;
}

/* Returns the number of strings in a set, 0 without such a set. */
static int ethtool_string_count(int fd, const char *ifname, enum ethtool_stringset set, uint32_t *n)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t count;
	} s = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = UINT64_C(1) << set}};
	int err = ethtool_ioctl(fd, ifname, &s);

	if (!err)
		*n = s.info.sset_mask ? s.count : 0;
	return err;
}

static int ethtool_stats_names(int fd, const char *ifname, unsigned int n, char (*names)[32])
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
		snprintf(names[i], sizeof(names[i]), "%.31s",
			 (char *)g->data + i * ETH_GSTRING_LEN);
	free(g);
	return err;
}

static int ethtool_stats_values(int fd, const char *ifname, unsigned int n, uint64_t *values)
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

int dcb_ethtool_stats(struct dcb *dcb, const char *ifname, char (**names)[32], uint64_t **values,
		      unsigned int *n, struct err *e)
{
	char(*text)[32] = NULL;
	uint64_t *value = NULL;
	uint32_t count;
	int err = ethtool_string_count(dcb->ioctl_fd, ifname, ETH_SS_STATS, &count);

	if (!err && !count)
		err = -EOPNOTSUPP;
	if (!err && count > STATS_MAX)
		err = -EMSGSIZE;
	if (err)
		goto fail;
	text = calloc(count, sizeof(*text));
	value = calloc(count, sizeof(*value));
	err = text && value ? ethtool_stats_names(dcb->ioctl_fd, ifname, count, text) : -ENOMEM;
	if (!err)
		err = ethtool_stats_values(dcb->ioctl_fd, ifname, count, value);
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

/* Private flags and tunables by ioctl; each driver has its own table of names. */

#define FLAGS_MAX 32 /* they are bits of a u32 */

/* Names of the flag; true: the flag is set while the agent runs. */
static const struct {
	const char *name;
	bool on;
} agent_flags[] = {
	{"fw-lldp-agent", true},
	{"disable-fw-lldp", false},
};

/* Finds the bit of the agent's flag and its sense. -ENOENT: the driver has none. */
static int ethtool_find_lldp_flag(int fd, const char *ifname, uint32_t *bit, bool *on)
{
	struct {
		struct ethtool_gstrings head;
		char name[FLAGS_MAX + 1][ETH_GSTRING_LEN];
	} strings = {.head = {.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_PRIV_FLAGS}};
	uint32_t count;
	int err;

	if (ethtool_string_count(fd, ifname, ETH_SS_PRIV_FLAGS, &count) || !count ||
	    count > FLAGS_MAX)
		return -ENOENT;
	strings.head.len = count;
	err = ethtool_ioctl(fd, ifname, &strings);
	if (err)
		return err;
	for (unsigned int i = 0; i < count && i < strings.head.len; i++)
		for (unsigned int k = 0; k < ARRAY_SIZE(agent_flags); k++)
			if (!strncmp(strings.name[i], agent_flags[k].name, ETH_GSTRING_LEN)) {
				*bit = 1u << i;
				*on = agent_flags[k].on;
				return 0;
			}
	return -ENOENT;
}

struct tunable {
	struct ethtool_tunable head;
	uint16_t value;
};

static void ethtool_storm_fill(struct tunable *t, uint32_t cmd, uint16_t ms)
{
	*t = (struct tunable){
		.head = {.cmd = cmd,
			 .id = ETHTOOL_PFC_PREVENTION_TOUT,
			 .type_id = ETHTOOL_TUNABLE_U16,
			 .len = sizeof(uint16_t)},
	};
	memcpy(t->head.data, &ms, sizeof(ms));
}

/* A value out of the profile's range is unknown. */
static bool ethtool_storm_known(uint16_t ms)
{
	const struct qos_field *f = &qos_fields[QOS_PFC_STORM];

	return (ms >= f->min && ms <= f->max) || qos_word_text(f->words, ms);
}

static void ethtool_storm_read(int fd, const char *ifname, struct qos *q)
{
	struct tunable t;
	uint16_t ms;

	ethtool_storm_fill(&t, ETHTOOL_GTUNABLE, 0);
	if (ethtool_ioctl(fd, ifname, &t))
		return;
	memcpy(&ms, t.head.data, sizeof(ms));
	if (!ethtool_storm_known(ms))
		return;
	q->pfc_storm_ms = ms;
	q->has |= QOS_BIT(QOS_PFC_STORM);
}

int ethtool_flags_read(int fd, const char *ifname, struct qos *q, struct err *e)
{
	struct ethtool_value flags = {.cmd = ETHTOOL_GPFLAGS};
	uint32_t bit = 0;
	bool on = false;
	int err = ethtool_find_lldp_flag(fd, ifname, &bit, &on);

	if (!err)
		err = ethtool_ioctl(fd, ifname, &flags);
	if (err == -ENODEV)
		return err_sys(e, err, "%s: private flags", ifname);
	if (!err) {
		q->firmware_agent = !(flags.data & bit) != on;
		q->has |= QOS_BIT(QOS_FIRMWARE_AGENT);
	}
	ethtool_storm_read(fd, ifname, q);
	return 0;
}

int ethtool_lldp_agent_write(int fd, const char *ifname, bool on, struct err *e)
{
	struct ethtool_value flags = {.cmd = ETHTOOL_GPFLAGS};
	uint32_t bit = 0;
	bool sense = false;
	int err = ethtool_find_lldp_flag(fd, ifname, &bit, &sense);

	if (!err)
		err = ethtool_ioctl(fd, ifname, &flags);
	if (!err) {
		flags.cmd = ETHTOOL_SPFLAGS;
		flags.data = on == sense ? flags.data | bit : flags.data & ~bit;
		err = ethtool_ioctl(fd, ifname, &flags);
	}
	return err ? err_sys(e, err, "%s: the firmware's LLDP agent", ifname) : 0;
}

int ethtool_storm_write(int fd, const char *ifname, uint16_t ms, struct err *e)
{
	struct tunable t;
	int err;

	ethtool_storm_fill(&t, ETHTOOL_STUNABLE, ms);
	err = ethtool_ioctl(fd, ifname, &t);
	return err ? err_sys(e, err, "%s: PFC storm prevention", ifname) : 0;
}
