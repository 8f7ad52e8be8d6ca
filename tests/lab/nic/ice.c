/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Personality ice: DCB as ice has it (linux 6.1, ice_dcb_nl.c). The first DSCP entry rewrites ETS
 * and the last one to go restores the defaults, a mapped DSCP cannot be mapped anew, each change
 * closes and opens the netdev, and the firmware's LLDP agent owns DCB while its private flag is on.
 * ETS that was refused stays wanted: until a good one comes PFC is refused, too, and APP entries
 * have the result 1, which is no error. Four traffic classes, one of them with PFC. In a bond
 * nothing can be set (later linux).
 */
#include <linux/bitops.h>

#include "personality.h"

#define MAX_TC	   4
#define DSCP_GROUP 8
#define NO_CHANGE  1
#define AGENT_MODE (DCB_CAP_DCBX_LLD_MANAGED | DCB_CAP_DCBX_VER_IEEE)
#define HOST_MODE  (DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE)

static bool ice_settable(const struct labnic *nic)
{
	return !netif_is_lag_port(nic->dev) && !(nic->dcbx & DCB_CAP_DCBX_LLD_MANAGED) &&
	       (nic->dcbx & DCB_CAP_DCBX_VER_IEEE);
}

static void ice_reopen(struct net_device *dev)
{
	bool running = netif_running(dev);

	dev_close(dev);
	netdev_state_change(dev);
	if (running && dev_open(dev, NULL))
		netdev_err(dev, "does not open again\n");
	netdev_state_change(dev);
}

static int ice_getets(struct net_device *dev, struct ieee_ets *ets)
{
	struct labnic *nic = netdev_priv(dev);

	*ets = nic->ets;
	memcpy(ets->tc_rx_bw, ets->tc_tx_bw, sizeof(ets->tc_rx_bw));
	memcpy(ets->tc_reco_bw, ets->tc_tx_bw, sizeof(ets->tc_reco_bw));
	memcpy(ets->tc_reco_tsa, ets->tc_tsa, sizeof(ets->tc_reco_tsa));
	memcpy(ets->reco_prio_tc, ets->prio_tc, sizeof(ets->reco_prio_tc));
	return 0;
}

/* ETS of one class with everything, as the driver starts. */
static void ice_ets_default(struct labnic *nic)
{
	nic->wanted = (struct ieee_ets){.willing = 1, .ets_cap = MAX_TC};
	nic->wanted.tc_tx_bw[0] = 100;
	nic->wanted.tc_tsa[0] = IEEE_8021QAZ_TSA_ETS;
	labnic_ets_apply(nic, &nic->wanted);
	nic->ets.ets_cap = MAX_TC;
}

/* Classes from 0 on without a gap, else 1: then DCB counts as off. 0: one that does not exist. */
static int ice_tc_count(const struct ieee_ets *ets)
{
	u8 used = 0;
	int prio;

	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		if (ets->prio_tc[prio] >= MAX_TC)
			return 0;
		used |= BIT(ets->prio_tc[prio]);
	}
	return used & (used + 1) ? 1 : hweight8(used);
}

/* The bandwidth of the classes in use sums to 100, or to 0: then class 0 has all. */
static int ice_ets_check(struct ieee_ets *ets)
{
	int count = ice_tc_count(ets);
	int share = 0;
	int tc;

	if (!count)
		return -EINVAL;
	for (tc = 0; tc < count; tc++)
		share += ets->tc_tx_bw[tc];
	if (count == 1 || !share)
		ets->tc_tx_bw[0] = 100;
	else if (share != 100)
		return -EINVAL;
	for (tc = 0; tc < IEEE_8021QAZ_MAX_TCS; tc++) {
		if (ets->tc_tsa[tc] != IEEE_8021QAZ_TSA_STRICT &&
		    ets->tc_tsa[tc] != IEEE_8021QAZ_TSA_ETS)
			return -EINVAL;
	}
	return 0;
}

/* What is wanted by now goes to the hardware. */
static int ice_commit(struct labnic *nic)
{
	int err = ice_ets_check(&nic->wanted);

	if (err)
		return err;
	labnic_ets_apply(nic, &nic->wanted);
	nic->ets.ets_cap = MAX_TC;
	return 0;
}

/* While DSCPs decide, priorities are classes. */
static int ice_setets(struct net_device *dev, struct ieee_ets *ets)
{
	struct labnic *nic = netdev_priv(dev);
	struct ieee_ets *wanted = &nic->wanted;
	int err;

	if (!ice_settable(nic))
		return -EINVAL;
	wanted->willing = ets->willing;
	memcpy(wanted->tc_tx_bw, ets->tc_tx_bw, sizeof(wanted->tc_tx_bw));
	memcpy(wanted->tc_tsa, ets->tc_tsa, sizeof(wanted->tc_tsa));
	if (!nic->trust_dscp)
		memcpy(wanted->prio_tc, ets->prio_tc, sizeof(wanted->prio_tc));
	err = ice_ets_check(wanted);
	if (err || !memcmp(wanted, &nic->ets, sizeof(*wanted)))
		return err;
	err = ice_commit(nic);
	if (!err)
		ice_reopen(dev);
	return err;
}

static int ice_getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	int err = labnic_getpfc(dev, pfc);

	pfc->pfc_cap = MAX_TC;
	return err;
}

static int ice_setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct labnic *nic = netdev_priv(dev);
	struct ieee_pfc taken = *pfc;
	u8 lossless = 0;
	int prio;
	int err;

	if (!ice_settable(nic))
		return -EINVAL;
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		if (pfc->pfc_en & BIT(prio))
			lossless |= BIT(nic->ets.prio_tc[prio]);
	}
	if (hweight8(lossless) > 1)
		return -EINVAL;
	if (pfc->pfc_en == nic->pfc_enabled && !memcmp(&nic->wanted, &nic->ets, sizeof(nic->ets)))
		return 0;
	err = ice_commit(nic);
	if (err)
		return err;
	taken.mbc = 0;
	taken.delay = nic->pfc_delay;
	(void)labnic_setpfc(dev, &taken); /* refuses nothing */
	ice_reopen(dev);
	return 0;
}

/* The first entry: DSCP decides, eight DSCPs a class, priorities are classes, class 0 has all. */
static void ice_dscp_mode(struct labnic *nic)
{
	int tc;
	int i;

	nic->wanted.willing = 0;
	for (tc = 0; tc < MAX_TC; tc++) {
		nic->wanted.tc_tx_bw[tc] = tc ? 0 : 100;
		nic->wanted.tc_tsa[tc] = IEEE_8021QAZ_TSA_ETS;
		nic->wanted.prio_tc[tc] = tc;
		for (i = 0; i < DSCP_GROUP; i++) {
			int dscp = tc * MAX_TC + i;

			WRITE_ONCE(nic->dscp_prio[dscp], tc);
			WRITE_ONCE(nic->dscp_prio[dscp + MAX_TC * DSCP_GROUP], tc);
		}
	}
	WRITE_ONCE(nic->trust_dscp, true);
}

/* Why it cannot be carried out nobody is told. */
static int ice_setapp(struct net_device *dev, struct dcb_app *app)
{
	struct labnic *nic = netdev_priv(dev);
	int err = labnic_dscp_check(app);

	if (err || !ice_settable(nic) || app->priority >= MAX_TC)
		return -EINVAL;
	err = dcb_ieee_setapp(dev, app);
	if (err)
		return err;
	if (test_and_set_bit(app->protocol, nic->dscp_mapped)) {
		(void)dcb_ieee_delapp(dev, app); /* it has just been set */
		return -EINVAL;
	}
	if (!nic->trust_dscp)
		ice_dscp_mode(nic);
	if (ice_commit(nic))
		return NO_CHANGE;
	WRITE_ONCE(nic->dscp_prio[app->protocol], app->priority);
	ice_reopen(dev);
	return 0;
}

static int ice_delapp(struct net_device *dev, struct dcb_app *app)
{
	struct labnic *nic = netdev_priv(dev);
	int err = labnic_dscp_check(app);

	if (err || netif_is_lag_port(dev) || (nic->dcbx & DCB_CAP_DCBX_LLD_MANAGED))
		return -EINVAL;
	err = dcb_ieee_delapp(dev, app);
	if (err)
		return err;
	__clear_bit(app->protocol, nic->dscp_mapped);
	WRITE_ONCE(nic->dscp_prio[app->protocol], app->protocol % DSCP_GROUP);
	if (bitmap_empty(nic->dscp_mapped, LABNIC_DSCPS)) {
		struct ieee_pfc off = {.delay = nic->pfc_delay};

		WRITE_ONCE(nic->trust_dscp, false);
		ice_ets_default(nic);
		(void)labnic_setpfc(dev, &off); /* refuses nothing */
	}
	ice_reopen(dev);
	return 0;
}

/* Refuses what is in force already, too, and anything while DSCPs decide. */
static u8 ice_setdcbx(struct net_device *dev, u8 mode)
{
	struct labnic *nic = netdev_priv(dev);
	u8 versions = mode & (DCB_CAP_DCBX_VER_IEEE | DCB_CAP_DCBX_VER_CEE);

	if ((nic->dcbx | mode) & DCB_CAP_DCBX_LLD_MANAGED || hweight8(versions) > 1 ||
	    !(mode & DCB_CAP_DCBX_HOST) || mode == nic->dcbx || nic->trust_dscp ||
	    netif_is_lag_port(dev))
		return NO_CHANGE;
	nic->dcbx = mode;
	return 0;
}

/* The agent cannot start while DSCPs decide. Both ends of it begin with the defaults. */
static int ice_set_agent(struct labnic *nic, bool on)
{
	if (on && nic->trust_dscp)
		return -EOPNOTSUPP;
	nic->dcbx = on ? AGENT_MODE : HOST_MODE;
	ice_ets_default(nic);
	labnic_pfc_obey(nic, 0);
	return 0;
}

static void ice_init(struct labnic *nic)
{
	nic->dcbx = labnic_firmware_dcbx() ? AGENT_MODE : HOST_MODE;
	ice_ets_default(nic);
}

static const struct dcbnl_rtnl_ops ice_dcb_ops = {
	.ieee_getets = ice_getets,
	.ieee_setets = ice_setets,
	.ieee_getpfc = ice_getpfc,
	.ieee_setpfc = ice_setpfc,
	.ieee_setapp = ice_setapp,
	.ieee_delapp = ice_delapp,
	.getcap = labnic_getcap,
	.getdcbx = labnic_getdcbx,
	.setdcbx = ice_setdcbx,
};

static const struct labnic_stat link_stats[] = {
	{"rx_bytes.nic", LABNIC_RX_BYTES},	{"tx_bytes.nic", LABNIC_TX_BYTES},
	{"rx_dropped.nic", LABNIC_RX_DISCARDS}, {"link_xoff_rx.nic", LABNIC_RX_XOFF},
	{"link_xon_rx.nic", LABNIC_RX_XON},	{"link_xoff_tx.nic", LABNIC_TX_XOFF},
	{"link_xon_tx.nic", LABNIC_TX_XON},
};

static const struct labnic_stat prio_stats[] = {
	{"tx_priority_%d_xon.nic", LABNIC_TX_XON},
	{"tx_priority_%d_xoff.nic", LABNIC_TX_XOFF},
	{"rx_priority_%d_xon.nic", LABNIC_RX_XON},
	{"rx_priority_%d_xoff.nic", LABNIC_RX_XOFF},
};

const struct labnic_personality labnic_ice = {
	.name = "ice",
	.driver = "ice",
	.roce = LABNIC_ROCE_AT_ONCE,
	.dcb_ops = &ice_dcb_ops,
	.init = ice_init,
	.link_stats = link_stats,
	.prio_stats = prio_stats,
	.link_stat_count = ARRAY_SIZE(link_stats),
	.prio_stat_count = ARRAY_SIZE(prio_stats),
	.pause_excludes_pfc = true,
	.pfc_counts_xoff = true,
	.set_agent = ice_set_agent,
};
