/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Personality mlx4: DCB as mlx4_en has it (linux 6.1, en_dcb_nl.c, en_ethtool.c). It has no APP
 * operations: the kernel keeps such entries in a list of its own and shows them, and the device
 * never hears of them; priorities come from the VLAN tag alone. Shares of ETS sum to 100 exactly.
 */
#include "personality.h"

#define VERSIONS (DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE)

static int mlx4_getets(struct net_device *dev, struct ieee_ets *ets)
{
	const struct labnic *nic = netdev_priv(dev);

	ets->ets_cap = nic->ets.ets_cap;
	memcpy(ets->tc_tx_bw, nic->ets.tc_tx_bw, sizeof(ets->tc_tx_bw));
	memcpy(ets->tc_tsa, nic->ets.tc_tsa, sizeof(ets->tc_tsa));
	memcpy(ets->prio_tc, nic->ets.prio_tc, sizeof(ets->prio_tc));
	return 0;
}

/* 1 is how this operation refuses. */
static u8 mlx4_setdcbx(struct net_device *dev, u8 mode)
{
	struct labnic *nic = netdev_priv(dev);

	if (mode & DCB_CAP_DCBX_LLD_MANAGED || !(mode & DCB_CAP_DCBX_HOST) ||
	    (mode & VERSIONS) == VERSIONS)
		return 1;
	nic->dcbx = mode;
	return 0;
}

static const struct dcbnl_rtnl_ops mlx4_dcb_ops = {
	.ieee_getets = mlx4_getets,
	.ieee_setets = labnic_setets,
	.ieee_getpfc = labnic_getpfc,
	.ieee_setpfc = labnic_setpfc,
	.ieee_getmaxrate = labnic_getmaxrate,
	.ieee_setmaxrate = labnic_setmaxrate,
	.getcap = labnic_getcap,
	.getdcbx = labnic_getdcbx,
	.setdcbx = mlx4_setdcbx,
};

static const struct labnic_stat link_stats[] = {
	{"rx_pause", LABNIC_RX_PAUSE},
	{"rx_pause_duration", LABNIC_RX_PAUSE_US},
	{"rx_pause_transition", LABNIC_RX_TRANSITIONS},
	{"tx_pause", LABNIC_TX_PAUSE},
	{"tx_pause_duration", LABNIC_TX_PAUSE_US},
	{"tx_pause_transition", LABNIC_TX_TRANSITIONS},
};

static const struct labnic_stat prio_stats[] = {
	{"rx_pause_prio_%d", LABNIC_RX_PAUSE},
	{"rx_pause_duration_prio_%d", LABNIC_RX_PAUSE_US},
	{"rx_pause_transition_prio_%d", LABNIC_RX_TRANSITIONS},
	{"tx_pause_prio_%d", LABNIC_TX_PAUSE},
	{"tx_pause_duration_prio_%d", LABNIC_TX_PAUSE_US},
	{"tx_pause_transition_prio_%d", LABNIC_TX_TRANSITIONS},
	{"rx_prio_%d_packets", LABNIC_RX_PACKETS},
	{"rx_prio_%d_bytes", LABNIC_RX_BYTES},
	{"tx_prio_%d_packets", LABNIC_TX_PACKETS},
	{"tx_prio_%d_bytes", LABNIC_TX_BYTES},
};

const struct labnic_personality labnic_mlx4 = {
	.name = "mlx4",
	.driver = "mlx4_en",
	.dcb_ops = &mlx4_dcb_ops,
	.link_stats = link_stats,
	.prio_stats = prio_stats,
	.link_stat_count = ARRAY_SIZE(link_stats),
	.prio_stat_count = ARRAY_SIZE(prio_stats),
};
