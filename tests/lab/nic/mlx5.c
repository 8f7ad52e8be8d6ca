/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Personality mlx5: DCB as mlx5_core has it (linux 6.1, en_dcbnl.c, en/port_buffer.c). ETS reads
 * what registers have, an APP entry replaces the one of its DSCP without a word, the first and the
 * last one switch between DSCP and PCP trust, a change of PFC takes the link down, a buffer that
 * PFC makes lossless has to hold what the cable does, rate limits are rounded, and DCBX belongs to
 * the firmware or to the host. No CEE.
 */
#include <linux/math64.h>

#include "personality.h"

#define SMALL_KBPS   100000
#define LARGE_KBPS   1000000
#define UNITS	     255
#define CABLE_METRES 7
#define CABLE_LIMIT  1000
#define CELL_BYTES   128
#define MAX_MTU	     9216
#define MIN_MBPS     40000
#define VERSIONS     (DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE)

/* Registers know of no willing, no recommendation, and of shares where there is ETS only. */
static int mlx5_getets(struct net_device *dev, struct ieee_ets *ets)
{
	struct labnic *nic = netdev_priv(dev);
	int tc;

	ets->ets_cap = nic->ets.ets_cap;
	for (tc = 0; tc < IEEE_8021QAZ_MAX_TCS; tc++) {
		ets->prio_tc[tc] = nic->ets.prio_tc[tc];
		ets->tc_tsa[tc] = nic->ets.tc_tsa[tc];
		if (ets->tc_tsa[tc] == IEEE_8021QAZ_TSA_ETS)
			ets->tc_tx_bw[tc] = nic->ets.tc_tx_bw[tc];
	}
	return 0;
}

/* The buffers that those priorities make lossless. */
static u8 lossless_buffers(const struct dcbnl_buffer *buffer, u8 prios)
{
	u8 lossless = 0;
	int prio;

	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		if (prios & BIT(prio))
			lossless |= BIT(buffer->prio2buffer[prio]);
	}
	return lossless;
}

/*
 * What comes in after a pause has to fit, at 40 Gbit/s at least, and two frames more:
 * (301 + 2.16 * metres) * Gbit/s + 2.72 * MTU.
 */
static int lossless_check(const struct labnic *nic, const u32 *sizes, u8 lossless, u16 metres)
{
	u32 mbps = max_t(u32, labnic_rate() * 8, MIN_MBPS);
	u32 xoff = (301 + 216 * metres / 100) * mbps / 1000 + 272 * nic->dev->mtu / 100;
	int i;

	for (i = 0; i < LABNIC_PRIOS; i++) {
		if ((lossless & BIT(i)) && sizes[i] < xoff + MAX_MTU + CELL_BYTES)
			return -ENOMEM;
	}
	return 0;
}

/*
 * The cable's length, if it is one, and the mask; only a change of it reaches the port. Once
 * buffers were set by hand they may turn out to be too small: that is found when PFC is on already.
 */
static int mlx5_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct labnic *nic = netdev_priv(dev);
	struct ieee_pfc taken = {.pfc_en = pfc->pfc_en, .delay = nic->pfc_delay};
	bool changed = pfc->pfc_en != nic->pfc_enabled;
	u16 metres = pfc->delay && pfc->delay < CABLE_LIMIT ? pfc->delay : nic->pfc_delay;
	u8 lossless = lossless_buffers(&nic->buffer, pfc->pfc_en);
	int err = 0;

	if (nic->buffers_set && (changed || metres != nic->pfc_delay))
		err = lossless_check(nic, nic->buffer.buffer_size, lossless, metres);
	if (!err)
		taken.delay = metres;
	(void)labnic_setpfc(dev, &taken); /* refuses nothing */
	if (changed)
		labnic_flap(nic);
	return err;
}

/* A new map is held against the sizes that are there, even if the same request has others. */
static int mlx5_buffer_check(const struct labnic *nic, const struct dcbnl_buffer *buffer)
{
	u8 prios = nic->rx_pause || nic->tx_pause ? 0xff : nic->pfc_enabled;
	u64 total = 0;
	u8 lossless;
	int err = 0;
	int i;

	for (i = 0; i < LABNIC_PRIOS; i++) {
		if (buffer->prio2buffer[i] >= LABNIC_PRIOS)
			return -EINVAL;
	}
	lossless = lossless_buffers(buffer, prios);
	if (lossless != lossless_buffers(&nic->buffer, prios))
		err = lossless_check(nic, nic->buffer.buffer_size, lossless, nic->pfc_delay);
	if (err)
		return err;
	for (i = 0; i < LABNIC_PRIOS; i++) {
		if ((lossless & BIT(i)) && !buffer->buffer_size[i])
			return -EINVAL;
		total += buffer->buffer_size[i];
	}
	if (total > nic->buffer.total_size)
		return -EINVAL;
	return lossless_check(nic, buffer->buffer_size, lossless, nic->pfc_delay);
}

static int mlx5_setbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct labnic *nic = netdev_priv(dev);
	int err;

	if (!memcmp(buffer->prio2buffer, nic->buffer.prio2buffer, sizeof(buffer->prio2buffer)) &&
	    !memcmp(buffer->buffer_size, nic->buffer.buffer_size, sizeof(buffer->buffer_size)))
		return 0;
	nic->buffers_set = true;
	err = mlx5_buffer_check(nic, buffer);
	if (!err)
		labnic_buffer_apply(nic, buffer);
	return err;
}

/* Up to 25.5 Gbit/s in steps of 100 Mbit/s, above in steps of 1 Gbit/s. */
static int mlx5_setmaxrate(struct net_device *dev, struct ieee_maxrate *maxrate)
{
	struct ieee_maxrate rounded = {};
	int tc;

	for (tc = 0; tc < IEEE_8021QAZ_MAX_TCS; tc++) {
		u64 kbps = maxrate->tc_maxrate[tc];
		u32 unit = kbps > UNITS * SMALL_KBPS ? LARGE_KBPS : SMALL_KBPS;

		if (kbps > UNITS * LARGE_KBPS)
			return -EINVAL;
		if (kbps)
			rounded.tc_maxrate[tc] = max_t(u64, div_u64(kbps, unit), 1) * unit;
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

/* The versions are there whatever was set, and what it does not know is refused. */
static u8 mlx5_getcap(struct net_device *dev, int id, u8 *cap)
{
	(void)labnic_getcap(dev, id, cap); /* refuses nothing */
	if (id == DCB_CAP_ATTR_DCBX)
		*cap |= VERSIONS;
	return id > DCB_CAP_ATTR_DCBX;
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
	.ieee_getets = mlx5_getets,
	.ieee_setets = labnic_setets,
	.ieee_getpfc = labnic_getpfc,
	.ieee_setpfc = mlx5_setpfc,
	.ieee_getmaxrate = labnic_getmaxrate,
	.ieee_setmaxrate = mlx5_setmaxrate,
	.ieee_setapp = mlx5_setapp,
	.ieee_delapp = mlx5_delapp,
	.getcap = mlx5_getcap,
	.getdcbx = labnic_getdcbx,
	.setdcbx = mlx5_setdcbx,
	.dcbnl_getbuffer = labnic_getbuffer,
	.dcbnl_setbuffer = mlx5_setbuffer,
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
	.roce = LABNIC_ROCE_AT_LOAD,
	.prevents_storms = true,
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
