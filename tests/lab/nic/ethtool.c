/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ethtool operations: identity, link speed, link pause, and the statistics of ethtool -S with
 * the names that mlx5 gives them ("Understanding mlx5 Linux counters"). Durations are in
 * microseconds, as there.
 */
#include <linux/ethtool.h>

#include "labnic.h"

static const char *const counter_names[LABNIC_COUNTERS] = {
	[LABNIC_RX_BYTES] = "rx_prio%d_bytes",	     [LABNIC_RX_PACKETS] = "rx_prio%d_packets",
	[LABNIC_RX_DISCARDS] = "rx_prio%d_discards", [LABNIC_TX_BYTES] = "tx_prio%d_bytes",
	[LABNIC_TX_PACKETS] = "tx_prio%d_packets",
};

static const char *const pause_names[] = {
	"rx_prio%d_pause",
	"rx_prio%d_pause_duration",
	"tx_prio%d_pause",
	"tx_prio%d_pause_duration",
};

static const char *const link_names[] = {
	"rx_discards_phy", "rx_global_pause",	       "rx_global_pause_duration",
	"tx_global_pause", "tx_global_pause_duration",
};

#define PRIO_STATS (LABNIC_COUNTERS + ARRAY_SIZE(pause_names))

static int labnic_sset_count(struct net_device *dev, int set)
{
	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return LABNIC_PRIOS * PRIO_STATS + ARRAY_SIZE(link_names);
}

static void labnic_strings(struct net_device *dev, u32 set, u8 *data)
{
	int prio;
	int i;

	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(link_names); i++)
		ethtool_sprintf(&data, "%s", link_names[i]);
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		for (i = 0; i < LABNIC_COUNTERS; i++)
			ethtool_sprintf(&data, counter_names[i], prio);
		for (i = 0; i < ARRAY_SIZE(pause_names); i++)
			ethtool_sprintf(&data, pause_names[i], prio);
	}
}

static u64 *pause_values(struct labnic *nic, int class, u64 *value)
{
	labnic_pause_read(nic, &nic->rx[class], &value[0], &value[1]);
	labnic_pause_read(nic, &nic->tx[class], &value[2], &value[3]);
	return value + 4;
}

static void labnic_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *value)
{
	struct labnic *nic = netdev_priv(dev);
	int prio;
	int i;

	*value = 0;
	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		*value += atomic64_read(&nic->count[prio][LABNIC_RX_DISCARDS]);
	value = pause_values(nic, LABNIC_LINK, value + 1);
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		for (i = 0; i < LABNIC_COUNTERS; i++)
			*value++ = atomic64_read(&nic->count[prio][i]);
		value = pause_values(nic, prio, value);
	}
}

static void labnic_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "labnic", sizeof(info->driver));
	strscpy(info->version, LABNIC_VERSION, sizeof(info->version));
	strscpy(info->fw_version, LABNIC_FIRMWARE, sizeof(info->fw_version));
	strscpy(info->bus_info, dev_name(dev->dev.parent), sizeof(info->bus_info));
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

static void labnic_getpause(struct net_device *dev, struct ethtool_pauseparam *pause)
{
	struct labnic *nic = netdev_priv(dev);

	pause->autoneg = AUTONEG_DISABLE;
	pause->rx_pause = nic->rx_pause;
	pause->tx_pause = nic->tx_pause;
}

static int labnic_setpause(struct net_device *dev, struct ethtool_pauseparam *pause)
{
	struct labnic *nic = netdev_priv(dev);

	if (pause->autoneg)
		return -EINVAL;
	WRITE_ONCE(nic->tx_pause, pause->tx_pause);
	labnic_pause_obey(nic, pause->rx_pause);
	return 0;
}

static void labnic_pause_stats(struct net_device *dev, struct ethtool_pause_stats *stats)
{
	struct labnic *nic = netdev_priv(dev);
	u64 duration_us;

	labnic_pause_read(nic, &nic->rx[LABNIC_LINK], &stats->rx_pause_frames, &duration_us);
	labnic_pause_read(nic, &nic->tx[LABNIC_LINK], &stats->tx_pause_frames, &duration_us);
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
};
