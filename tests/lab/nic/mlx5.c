/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Personality mlx5: DCB as mlx5_core has it (linux 6.1, en_dcbnl.c). An APP entry replaces the
 * one of its DSCP without a word, the first and the last one switch between DSCP and PCP trust, a
 * change of PFC takes the link down, rate limits are rounded to 100 Mbit/s, and DCBX belongs to
 * the firmware or to the host. No CEE, no check of buffers against the cable's length.
 */
#include <linux/math64.h>

#include "personality.h"

#define UNIT_KBPS    100000
#define CABLE_METRES 7
#define CABLE_LIMIT  1000
#define VERSIONS     (DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE)

/* The cable's length, if it is one, and the mask; only a change of it reaches the port. */
static int mlx5_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct labnic *nic = netdev_priv(dev);
	struct ieee_pfc taken = *pfc;
	bool changed = pfc->pfc_en != nic->pfc_enabled;

	taken.mbc = 0;
	if (!taken.delay || taken.delay >= CABLE_LIMIT)
		taken.delay = nic->pfc_delay;
	(void)labnic_setpfc(dev, &taken); /* refuses nothing */
	if (changed)
		labnic_flap(nic);
	return 0;
}

static int mlx5_setmaxrate(struct net_device *dev, struct ieee_maxrate *maxrate)
{
	struct ieee_maxrate rounded = {};
	int tc;

	for (tc = 0; tc < IEEE_8021QAZ_MAX_TCS; tc++) {
		u64 units = div_u64(maxrate->tc_maxrate[tc], UNIT_KBPS);

		if (maxrate->tc_maxrate[tc])
			rounded.tc_maxrate[tc] = max_t(u64, units, 1) * UNIT_KBPS;
	}
	return labnic_setmaxrate(dev, &rounded);
}

static int mlx5_setapp(struct net_device *dev, struct dcb_app *app)
{
	struct labnic *nic = netdev_priv(dev);
	struct dcb_app old = *app;
	int err = labnic_dscp_check(app);

	if (err)
		return err;
	old.priority = nic->dscp_prio[app->protocol];
	WRITE_ONCE(nic->trust_dscp, true);
	WRITE_ONCE(nic->dscp_prio[app->protocol], app->priority);
	if (test_bit(app->protocol, nic->dscp_mapped))
		(void)dcb_ieee_delapp(dev, &old); /* it is there */
	err = dcb_ieee_setapp(dev, app);
	if (!err)
		__set_bit(app->protocol, nic->dscp_mapped);
	return err;
}

/* The DSCP goes to priority 0 then, not back to what it had before. */
static int mlx5_delapp(struct net_device *dev, struct dcb_app *app)
{
	struct labnic *nic = netdev_priv(dev);
	int err = labnic_dscp_check(app);

	if (err)
		return err;
	if (!test_bit(app->protocol, nic->dscp_mapped) ||
	    app->priority != nic->dscp_prio[app->protocol])
		return -ENOENT;
	err = dcb_ieee_delapp(dev, app);
	if (err)
		return err;
	__clear_bit(app->protocol, nic->dscp_mapped);
	WRITE_ONCE(nic->dscp_prio[app->protocol], 0);
	if (bitmap_empty(nic->dscp_mapped, LABNIC_DSCPS))
		WRITE_ONCE(nic->trust_dscp, false);
	return 0;
}

/* 1 refuses; 0 as the mode hands DCBX back to the firmware. */
static u8 mlx5_setdcbx(struct net_device *dev, u8 mode)
{
	struct labnic *nic = netdev_priv(dev);

	if (mode & DCB_CAP_DCBX_LLD_MANAGED)
		return 1;
	if (!mode) {
		nic->dcbx &= ~DCB_CAP_DCBX_HOST;
		return 0;
	}
	if (!(mode & DCB_CAP_DCBX_HOST))
		return 1;
	nic->dcbx = mode;
	return 0;
}

/* Priorities 0 and 1 have each other's class, and no class an algorithm of 802.1Q. */
static void mlx5_init(struct labnic *nic)
{
	int i;

	nic->dcbx = VERSIONS | (labnic_firmware_dcbx() ? 0 : DCB_CAP_DCBX_HOST);
	nic->pfc_delay = CABLE_METRES;
	for (i = 0; i < LABNIC_PRIOS; i++) {
		nic->ets.prio_tc[i] = i < 2 ? 1 - i : i;
		nic->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
	}
	for (i = 0; i < LABNIC_DSCPS; i++)
		nic->dscp_prio[i] = i >> 3;
}

static const struct dcbnl_rtnl_ops mlx5_dcb_ops = {
	.ieee_getets = labnic_getets,
	.ieee_setets = labnic_setets,
	.ieee_getpfc = labnic_getpfc,
	.ieee_setpfc = mlx5_setpfc,
	.ieee_getmaxrate = labnic_getmaxrate,
	.ieee_setmaxrate = mlx5_setmaxrate,
	.ieee_setapp = mlx5_setapp,
	.ieee_delapp = mlx5_delapp,
	.getcap = labnic_getcap,
	.getdcbx = labnic_getdcbx,
	.setdcbx = mlx5_setdcbx,
	.dcbnl_getbuffer = labnic_getbuffer,
	.dcbnl_setbuffer = labnic_setbuffer,
};

static const struct labnic_stat link_stats[] = {
	{"rx_discards_phy", LABNIC_RX_DISCARDS},	  {"rx_global_pause", LABNIC_RX_PAUSE},
	{"rx_global_pause_duration", LABNIC_RX_PAUSE_US}, {"tx_global_pause", LABNIC_TX_PAUSE},
	{"tx_global_pause_duration", LABNIC_TX_PAUSE_US},
	{"np_ecn_marked_roce_packets", LABNIC_CC + LABNIC_CE_RECEIVED},
	{"np_cnp_sent", LABNIC_CC + LABNIC_CNP_SENT},
	{"rp_cnp_handled", LABNIC_CC + LABNIC_CNP_HANDLED},
	{"rp_cnp_ignored", LABNIC_CC + LABNIC_CNP_IGNORED},
};

static const struct labnic_stat prio_stats[] = {
	{"rx_prio%d_bytes", LABNIC_RX_BYTES},
	{"rx_prio%d_packets", LABNIC_RX_PACKETS},
	{"rx_prio%d_discards", LABNIC_RX_DISCARDS},
	{"tx_prio%d_bytes", LABNIC_TX_BYTES},
	{"tx_prio%d_packets", LABNIC_TX_PACKETS},
	{"rx_prio%d_pause", LABNIC_RX_PAUSE},
	{"rx_prio%d_pause_duration", LABNIC_RX_PAUSE_US},
	{"tx_prio%d_pause", LABNIC_TX_PAUSE},
	{"tx_prio%d_pause_duration", LABNIC_TX_PAUSE_US},
};

const struct labnic_personality labnic_mlx5 = {
	.name = "mlx5",
	.driver = "mlx5_core",
	.cc_files = LABNIC_CC_OFED | LABNIC_CC_MLX5,
	.dcb_ops = &mlx5_dcb_ops,
	.init = mlx5_init,
	.link_stats = link_stats,
	.prio_stats = prio_stats,
	.link_stat_count = ARRAY_SIZE(link_stats),
	.prio_stat_count = ARRAY_SIZE(prio_stats),
};

/* The plain NIC: the statistics of mlx5, and DCB without its traps (dcb.c). */
const struct labnic_personality labnic_generic = {
	.name = "generic",
	.driver = "labnic",
	.cc_files = LABNIC_CC_OFED,
	.dcb_ops = &labnic_dcb_ops,
	.link_stats = link_stats,
	.prio_stats = prio_stats,
	.link_stat_count = ARRAY_SIZE(link_stats),
	.prio_stat_count = ARRAY_SIZE(prio_stats),
};
