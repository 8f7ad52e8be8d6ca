/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Personality bnxt: DCB as bnxt_en has it (linux 6.1, bnxt_dcb.c). Before the first set reads
 * succeed and say nothing, later ones say what was written, PFC needs ETS first, unsupported
 * algorithms are -ENOTSUPP (which dcbnl's byte cuts to 12), the highest class in use goes
 * unchecked, a firmware agent owns everything if there is one, and there is no getcap. A cos queue
 * is a priority here.
 */
#include <linux/bitops.h>

#include "personality.h"

/* Traffic classes, and how many of them may be lossless. */
#define MAX_TC	 8
#define MAX_LLTC 2

static bool bnxt_settable(const struct labnic *nic)
{
	return (nic->dcbx & DCB_CAP_DCBX_VER_IEEE) && (nic->dcbx & DCB_CAP_DCBX_HOST);
}

static int bnxt_getets(struct net_device *dev, struct ieee_ets *ets)
{
	struct labnic *nic = netdev_priv(dev);

	ets->ets_cap = MAX_TC;
	if (!nic->ets_set && (nic->dcbx & DCB_CAP_DCBX_HOST))
		return 0;
	ets->cbs = nic->wanted.cbs;
	memcpy(ets->tc_tx_bw, nic->wanted.tc_tx_bw, sizeof(ets->tc_tx_bw));
	memcpy(ets->tc_rx_bw, nic->wanted.tc_rx_bw, sizeof(ets->tc_rx_bw));
	memcpy(ets->tc_tsa, nic->wanted.tc_tsa, sizeof(ets->tc_tsa));
	memcpy(ets->prio_tc, nic->wanted.prio_tc, sizeof(ets->prio_tc));
	return 0;
}

/* The highest class in use is not looked at, nor those above it. */
static int bnxt_ets_check(const struct ieee_ets *ets)
{
	bool starved = false;
	int highest = 0;
	int share = 0;
	int tc;

	for (tc = 0; tc < IEEE_8021QAZ_MAX_TCS; tc++) {
		if (ets->prio_tc[tc] >= MAX_TC)
			return -EINVAL;
		highest = max_t(int, highest, ets->prio_tc[tc]);
	}
	for (tc = 0; tc < highest; tc++) {
		if (ets->tc_tsa[tc] == IEEE_8021QAZ_TSA_STRICT)
			continue;
		if (ets->tc_tsa[tc] != IEEE_8021QAZ_TSA_ETS)
			return -ENOTSUPP;
		share += ets->tc_tx_bw[tc];
		starved = starved || !ets->tc_tx_bw[tc];
	}
	return share > 100 || (starved && share == 100) ? -EINVAL : 0;
}

/* What is not strict has a weight, whatever it is called. */
static int bnxt_setets(struct net_device *dev, struct ieee_ets *ets)
{
	struct labnic *nic = netdev_priv(dev);
	struct ieee_ets taken = *ets;
	int err;
	int tc;

	if (!bnxt_settable(nic))
		return -EINVAL;
	err = bnxt_ets_check(ets);
	if (err)
		return err;
	for (tc = 0; tc < IEEE_8021QAZ_MAX_TCS; tc++) {
		if (taken.tc_tsa[tc] != IEEE_8021QAZ_TSA_STRICT)
			taken.tc_tsa[tc] = IEEE_8021QAZ_TSA_ETS;
	}
	nic->wanted = *ets;
	labnic_ets_apply(nic, &taken);
	nic->ets_set = true;
	return 0;
}

static int bnxt_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct labnic *nic = netdev_priv(dev);

	if (nic->pfc_set || !(nic->dcbx & DCB_CAP_DCBX_HOST))
		(void)labnic_getpfc(dev, pfc); /* cannot fail */
	pfc->pfc_cap = MAX_LLTC;
	return 0;
}

/* A class that becomes lossless gets a queue of that kind, for which the NIC closes and opens. */
static int bnxt_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct labnic *nic = netdev_priv(dev);
	u8 lossless = 0;
	int prio;

	if (!bnxt_settable(nic) || !nic->ets_set)
		return -EINVAL;
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		if (pfc->pfc_en & BIT(prio))
			lossless |= BIT(nic->ets.prio_tc[prio]);
	}
	if (hweight8(lossless) > MAX_LLTC)
		return -EINVAL;
	if (lossless & ~nic->lossless_tcs) {
		nic->lossless_tcs = lossless;
		labnic_flap(nic);
	}
	nic->pfc_set = true;
	return labnic_setpfc(dev, pfc);
}

/* What reaches the hardware's map. Deleting any priority of a DSCP deletes it there. */
static void bnxt_map(struct labnic *nic, const struct dcb_app *app, bool add)
{
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP)
		return;
	__assign_bit(app->protocol, nic->dscp_mapped, add);
	WRITE_ONCE(nic->dscp_prio[app->protocol], add ? app->priority : 0);
	WRITE_ONCE(nic->trust_dscp, !bitmap_empty(nic->dscp_mapped, LABNIC_DSCPS));
}

static int bnxt_app(struct net_device *dev, struct dcb_app *app, bool add)
{
	struct labnic *nic = netdev_priv(dev);
	int err;

	if (!bnxt_settable(nic) || app->priority >= LABNIC_PRIOS)
		return -EINVAL;
	if (app->selector == IEEE_8021QAZ_APP_SEL_DSCP && app->protocol >= LABNIC_DSCPS)
		return -EINVAL;
	err = add ? dcb_ieee_setapp(dev, app) : dcb_ieee_delapp(dev, app);
	if (!err)
		bnxt_map(nic, app, add);
	return err;
}

static int bnxt_setapp(struct net_device *dev, struct dcb_app *app)
{
	return bnxt_app(dev, app, true);
}

static int bnxt_delapp(struct net_device *dev, struct dcb_app *app)
{
	return bnxt_app(dev, app, false);
}

static u8 bnxt_setdcbx(struct net_device *dev, u8 mode)
{
	struct labnic *nic = netdev_priv(dev);

	if (nic->dcbx & DCB_CAP_DCBX_LLD_MANAGED)
		return 1;
	if ((mode & DCB_CAP_DCBX_HOST) &&
	    ((mode & DCB_CAP_DCBX_VER_CEE) || !(mode & DCB_CAP_DCBX_VER_IEEE)))
		return 1;
	nic->dcbx = mode;
	return 0;
}

static void bnxt_init(struct labnic *nic)
{
	nic->dcbx = DCB_CAP_DCBX_VER_IEEE |
		    (labnic_firmware_dcbx() ? DCB_CAP_DCBX_LLD_MANAGED : DCB_CAP_DCBX_HOST);
}

static const struct dcbnl_rtnl_ops bnxt_dcb_ops = {
	.ieee_getets = bnxt_getets,
	.ieee_setets = bnxt_setets,
	.ieee_getpfc = bnxt_getpfc,
	.ieee_setpfc = bnxt_setpfc,
	.ieee_setapp = bnxt_setapp,
	.ieee_delapp = bnxt_delapp,
	.getdcbx = labnic_getdcbx,
	.setdcbx = bnxt_setdcbx,
};

static const struct labnic_stat link_stats[] = {
	{"rx_pause_frames", LABNIC_RX_PAUSE},
	{"tx_pause_frames", LABNIC_TX_PAUSE},
	{"rx_ecn_marked_pkts", LABNIC_CC + LABNIC_CE_RECEIVED},
	{"tx_cnp_pkts", LABNIC_CC + LABNIC_CNP_SENT},
	{"rx_cnp_pkts", LABNIC_CC + LABNIC_CNP_HANDLED},
};

static const struct labnic_stat prio_stats[] = {
	{"rx_pfc_ena_frames_pri%d", LABNIC_RX_PAUSE},
	{"tx_pfc_ena_frames_pri%d", LABNIC_TX_PAUSE},
	{"pfc_pri%d_rx_duration_us", LABNIC_RX_PAUSE_US},
	{"pfc_pri%d_rx_transitions", LABNIC_RX_TRANSITIONS},
	{"pfc_pri%d_tx_duration_us", LABNIC_TX_PAUSE_US},
	{"pfc_pri%d_tx_transitions", LABNIC_TX_TRANSITIONS},
	{"rx_bytes_pri%d", LABNIC_RX_BYTES},
	{"rx_packets_pri%d", LABNIC_RX_PACKETS},
	{"tx_bytes_pri%d", LABNIC_TX_BYTES},
	{"tx_packets_pri%d", LABNIC_TX_PACKETS},
	{"rx_bytes_cos%d", LABNIC_RX_BYTES},
	{"rx_packets_cos%d", LABNIC_RX_PACKETS},
	{"tx_bytes_cos%d", LABNIC_TX_BYTES},
	{"tx_packets_cos%d", LABNIC_TX_PACKETS},
	{"rx_discard_packets_cos%d", LABNIC_RX_DISCARDS},
};

const struct labnic_personality labnic_bnxt = {
	.name = "bnxt",
	.driver = "bnxt_en",
	.roce = LABNIC_ROCE_AT_RESET,
	.cc_files = LABNIC_CC_BNXT,
	.dcb_ops = &bnxt_dcb_ops,
	.init = bnxt_init,
	.link_stats = link_stats,
	.prio_stats = prio_stats,
	.link_stat_count = ARRAY_SIZE(link_stats),
	.prio_stat_count = ARRAY_SIZE(prio_stats),
};
