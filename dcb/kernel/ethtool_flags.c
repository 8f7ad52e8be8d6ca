/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private flags and tunables: small settings that drivers hand out by ioctl, in a table of names
 * each driver makes itself. A flag that nobody here knows is left as it is.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "dcb/kernel/ethtool.h"

#define FLAGS_MAX 32 /* they are bits of a u32 */

/* Names of the flag, and whether it is set while the agent runs. */
static const struct {
	const char *name;
	bool on;
} agent_flags[] = {
	{"fw-lldp-agent", true},
	{"disable-fw-lldp", false},
};

static int ask(int fd, const char *ifname, void *request)
{
	struct ifreq r = {0};

	if (strlen(ifname) >= sizeof(r.ifr_name))
		return -ENODEV;
	strcpy(r.ifr_name, ifname);
	r.ifr_data = request;
	return ioctl(fd, SIOCETHTOOL, &r) < 0 ? -errno : 0;
}

static unsigned int count_flags(int fd, const char *ifname)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t count;
	} set = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_PRIV_FLAGS}};

	if (ask(fd, ifname, &set) || !set.info.sset_mask || set.count > FLAGS_MAX)
		return 0;
	return set.count;
}

/* The bit of the agent's flag and the sense of it. -ENOENT: the driver has none. */
static int find_agent(int fd, const char *ifname, uint32_t *bit, bool *on)
{
	struct {
		struct ethtool_gstrings head;
		char name[FLAGS_MAX + 1][ETH_GSTRING_LEN];
	} strings = {.head = {.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_PRIV_FLAGS}};
	unsigned int count = count_flags(fd, ifname);
	int err;

	if (!count)
		return -ENOENT;
	strings.head.len = count;
	err = ask(fd, ifname, &strings);
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

static void storm_fill(struct tunable *t, uint32_t cmd, uint16_t ms)
{
	*t = (struct tunable){
		.head = {.cmd = cmd,
			 .id = ETHTOOL_PFC_PREVENTION_TOUT,
			 .type_id = ETHTOOL_TUNABLE_U16,
			 .len = sizeof(uint16_t)},
	};
	memcpy(t->head.data, &ms, sizeof(ms));
}

/* A value that no profile can have, and no driver takes, is unknown. */
static bool storm_known(uint16_t ms)
{
	const struct qos_field *f = &qos_fields[QOS_PFC_STORM];

	return (ms >= f->min && ms <= f->max) || qos_word_text(f->words, ms);
}

static void storm_read(int fd, const char *ifname, struct qos *q)
{
	struct tunable t;
	uint16_t ms;

	storm_fill(&t, ETHTOOL_GTUNABLE, 0);
	if (ask(fd, ifname, &t))
		return;
	memcpy(&ms, t.head.data, sizeof(ms));
	if (!storm_known(ms))
		return;
	q->pfc_storm_ms = ms;
	q->has |= QOS_BIT(QOS_PFC_STORM);
}

int ethtool_flags_read(int fd, const char *ifname, struct qos *q, struct err *e)
{
	struct ethtool_value flags = {.cmd = ETHTOOL_GPFLAGS};
	uint32_t bit = 0;
	bool on = false;
	int err = find_agent(fd, ifname, &bit, &on);

	if (!err)
		err = ask(fd, ifname, &flags);
	if (err == -ENODEV)
		return err_sys(e, err, "%s: private flags", ifname);
	if (!err) {
		q->firmware_agent = !(flags.data & bit) != on;
		q->has |= QOS_BIT(QOS_FIRMWARE_AGENT);
	}
	storm_read(fd, ifname, q);
	return 0;
}

int ethtool_agent_write(int fd, const char *ifname, bool on, struct err *e)
{
	struct ethtool_value flags = {.cmd = ETHTOOL_GPFLAGS};
	uint32_t bit = 0;
	bool sense = false;
	int err = find_agent(fd, ifname, &bit, &sense);

	if (!err)
		err = ask(fd, ifname, &flags);
	if (!err) {
		flags.cmd = ETHTOOL_SPFLAGS;
		flags.data = on == sense ? flags.data | bit : flags.data & ~bit;
		err = ask(fd, ifname, &flags);
	}
	return err ? err_sys(e, err, "%s: the firmware's LLDP agent", ifname) : 0;
}

int ethtool_storm_write(int fd, const char *ifname, uint16_t ms, struct err *e)
{
	struct tunable t;
	int err;

	storm_fill(&t, ETHTOOL_STUNABLE, ms);
	err = ask(fd, ifname, &t);
	return err ? err_sys(e, err, "%s: PFC storm prevention", ifname) : 0;
}
