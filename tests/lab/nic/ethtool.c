/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ethtool operations: identity, link speed, link pause, the private flag of a firmware agent, and
 * the statistics of ethtool -S with the names that the personality gives them. Durations are in
 * microseconds, as with the real drivers.
 */
#include <linux/ethtool.h>
#include <linux/math64.h>

#include "personality.h"

#define STORM_AUTO_MS 100
#define STORM_MIN_MS  80
#define STORM_MAX_MS  8000

static const char agent_flag[] = "fw-lldp-agent";

static int labnic_sset_count(struct net_device *dev, int set)
{
	const struct labnic_personality *who = ((struct labnic *)netdev_priv(dev))->personality;

	if (set == ETH_SS_PRIV_FLAGS && who->set_agent)
		return 1;
	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return who->link_stat_count + LABNIC_PRIOS * who->prio_stat_count;
}

static void labnic_strings(struct net_device *dev, u32 set, u8 *data)
{
	const struct labnic_personality *who = ((struct labnic *)netdev_priv(dev))->personality;
	int prio;
	int i;

	if (set == ETH_SS_PRIV_FLAGS && who->set_agent)
		ethtool_sprintf(&data, "%s", agent_flag);
	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < who->link_stat_count; i++)
		ethtool_sprintf(&data, "%s", who->link_stats[i].format);
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		for (i = 0; i < who->prio_stat_count; i++)
			ethtool_sprintf(&data, who->prio_stats[i].format, prio);
	}
}

/* @source of a priority, or of the link. */
static u64 stat_value(struct labnic *nic, int source, int class)
{
	struct labnic_pause rx = labnic_pause_read(nic, &nic->rx[class]);
	struct labnic_pause tx = labnic_pause_read(nic, &nic->tx[class]);
	u64 sum = 0;
	int prio;

	if (source >= LABNIC_CC)
		return atomic64_read(&nic->cc_count[source - LABNIC_CC]);
	switch (source) {
	case LABNIC_RX_PAUSE:
		return rx.frames;
	case LABNIC_RX_XOFF:
		return rx.frames - rx.resumes;
	case LABNIC_RX_XON:
		return rx.resumes;
	case LABNIC_RX_PAUSE_US:
		return div_u64(rx.past_ns, NSEC_PER_USEC);
	case LABNIC_TX_PAUSE:
		return tx.frames;
	case LABNIC_TX_XOFF:
		return tx.frames - tx.resumes;
	case LABNIC_TX_XON:
		return tx.resumes;
	case LABNIC_TX_PAUSE_US:
		return div_u64(tx.past_ns, NSEC_PER_USEC);
	case LABNIC_RX_TRANSITIONS:
		return rx.transitions;
	case LABNIC_TX_TRANSITIONS:
		return tx.transitions;
	}
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		if (class == LABNIC_LINK || class == prio)
			sum += atomic64_read(&nic->count[prio][source]);
	}
	return sum;
}

static void labnic_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *value)
{
	struct labnic *nic = netdev_priv(dev);
	const struct labnic_personality *who = nic->personality;
	int prio;
	int i;

	for (i = 0; i < who->link_stat_count; i++)
		*value++ = stat_value(nic, who->link_stats[i].source, LABNIC_LINK);
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		for (i = 0; i < who->prio_stat_count; i++)
			*value++ = stat_value(nic, who->prio_stats[i].source, prio);
	}
}

static u32 labnic_get_priv_flags(struct net_device *dev)
{
	struct labnic *nic = netdev_priv(dev);

	return !!(nic->dcbx & DCB_CAP_DCBX_LLD_MANAGED);
}

static int labnic_set_priv_flags(struct net_device *dev, u32 flags)
{
	struct labnic *nic = netdev_priv(dev);

	if (!nic->personality->set_agent)
		return -EOPNOTSUPP;
	if (flags == labnic_get_priv_flags(dev))
		return 0;
	return nic->personality->set_agent(nic, flags & 1);
}

static void labnic_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	struct labnic *nic = netdev_priv(dev);

	strscpy(info->driver, nic->personality->driver, sizeof(info->driver));
	strscpy(info->version, LABNIC_VERSION, sizeof(info->version));
	strscpy(info->fw_version, LABNIC_FIRMWARE, sizeof(info->fw_version));
	strscpy(info->bus_info, dev_name(dev->dev.parent), sizeof(info->bus_info));
	info->n_priv_flags = nic->personality->set_agent ? 1 : 0;
}

static int labnic_link_settings(struct net_device *dev, struct ethtool_link_ksettings *link)
{
	ethtool_link_ksettings_zero_link_mode(link, supported);
	ethtool_link_ksettings_zero_link_mode(link, advertising);
	ethtool_link_ksettings_add_link_mode(link, supported, Pause);
	ethtool_link_ksettings_add_link_mode(link, supported, FIBRE);
	link->base.speed = netif_carrier_ok(dev) ? labnic_rate() * 8 : SPEED_UNKNOWN;
	link->base.duplex = netif_carrier_ok(dev) ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	link->base.port = PORT_FIBRE;
	link->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

/* As mlx5_core: off, 80 to 8000 ms, or what it takes for automatic, which reads as its value. */
static int labnic_get_tunable(struct net_device *dev, const struct ethtool_tunable *tunable,
			      void *data)
{
	struct labnic *nic = netdev_priv(dev);

	if (!nic->personality->prevents_storms || tunable->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return -EOPNOTSUPP;
	*(u16 *)data = nic->storm_ms;
	return 0;
}

static int labnic_set_tunable(struct net_device *dev, const struct ethtool_tunable *tunable,
			      const void *data)
{
	struct labnic *nic = netdev_priv(dev);
	u16 ms = *(const u16 *)data;

	if (!nic->personality->prevents_storms || tunable->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return -EOPNOTSUPP;
	if (ms == PFC_STORM_PREVENTION_AUTO)
		ms = STORM_AUTO_MS;
	if (ms != PFC_STORM_PREVENTION_DISABLE && (ms < STORM_MIN_MS || ms > STORM_MAX_MS))
		return -EINVAL;
	nic->storm_ms = ms;
	return 0;
}

static void labnic_getpause(struct net_device *dev, struct ethtool_pauseparam *pause)
{
	struct labnic *nic = netdev_priv(dev);

	pause->autoneg = AUTONEG_DISABLE;
	if (nic->personality->pause_excludes_pfc && nic->pfc_enabled)
		return;
	pause->rx_pause = nic->rx_pause;
	pause->tx_pause = nic->tx_pause;
}

static int labnic_setpause(struct net_device *dev, struct ethtool_pauseparam *pause)
{
	struct labnic *nic = netdev_priv(dev);

	if (nic->personality->pause_excludes_pfc && nic->pfc_enabled)
		return -EOPNOTSUPP;
	if (labnic_refused())
		return -EBUSY;
	if (pause->autoneg)
		return -EINVAL;
	WRITE_ONCE(nic->tx_pause, pause->tx_pause);
	labnic_pause_obey(nic, pause->rx_pause);
	return 0;
}

static void labnic_pause_stats(struct net_device *dev, struct ethtool_pause_stats *stats)
{
	struct labnic *nic = netdev_priv(dev);

	stats->rx_pause_frames = labnic_pause_read(nic, &nic->rx[LABNIC_LINK]).frames;
	stats->tx_pause_frames = labnic_pause_read(nic, &nic->tx[LABNIC_LINK]).frames;
}

const struct ethtool_ops labnic_ethtool_ops = {
	.get_drvinfo = labnic_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = labnic_link_settings,
	.get_pauseparam = labnic_getpause,
	.set_pauseparam = labnic_setpause,
	.get_pause_stats = labnic_pause_stats,
	.get_sset_count = labnic_sset_count,
	.get_strings = labnic_strings,
	.get_ethtool_stats = labnic_stats,
	.get_priv_flags = labnic_get_priv_flags,
	.set_priv_flags = labnic_set_priv_flags,
	.get_tunable = labnic_get_tunable,
	.set_tunable = labnic_set_tunable,
};
