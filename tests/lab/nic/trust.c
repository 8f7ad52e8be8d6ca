/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * APP table, trust and rewriting of DCB without a driver's traps (linux dcbnl.h), and the data
 * path's copy of them. Trust and rewriting are asked for since linux 6.2 and 6.3; no driver of a
 * RoCE NIC has them yet, so that only the plain NIC does.
 */
#include <linux/bitops.h>

#include "personality.h"

/* Of several priorities for a DSCP the highest counts. */
static void dscp_map_read(struct labnic *nic)
{
	struct dcb_ieee_app_dscp_map map = {};
	bool any = false;
	int dscp;

	dcb_ieee_getapp_dscp_prio_mask_map(nic->dev, &map);
	for (dscp = 0; dscp < LABNIC_DSCPS; dscp++) {
		u8 prios = map.map[dscp];

		any = any || prios;
		WRITE_ONCE(nic->dscp_prio[dscp], prios ? fls(prios) - 1 : 0);
		assign_bit(dscp, nic->dscp_mapped, prios);
	}
	WRITE_ONCE(nic->trust_dscp, any);
}

/* A PCP without an entry is its own priority. */
static void pcp_map_read(struct labnic *nic)
{
	int pcp;

	for (pcp = 0; pcp < LABNIC_PCPS; pcp++) {
		struct dcb_app app = {.selector = LABNIC_SEL_PCP, .protocol = pcp};
		u8 prios = dcb_ieee_getapp_mask(nic->dev, &app);

		WRITE_ONCE(nic->pcp_prio[pcp], prios ? fls(prios) - 1 : pcp % LABNIC_PRIOS);
	}
}

static int app_check(const struct dcb_app *app)
{
	if (app->priority >= LABNIC_PRIOS)
		return -EINVAL;
	if (app->selector == IEEE_8021QAZ_APP_SEL_DSCP && app->protocol >= LABNIC_DSCPS)
		return -EINVAL;
	if (app->selector == LABNIC_SEL_PCP && app->protocol >= LABNIC_PCPS)
		return -EINVAL;
	return 0;
}

int labnic_setapp(struct net_device *dev, struct dcb_app *app)
{
	int err = labnic_refused() ? -EBUSY : app_check(app);

	if (!err)
		err = dcb_ieee_setapp(dev, app);
	if (err)
		return err;
	dscp_map_read(netdev_priv(dev));
	pcp_map_read(netdev_priv(dev));
	return 0;
}

int labnic_delapp(struct net_device *dev, struct dcb_app *app)
{
	int err = labnic_refused() ? -EBUSY : dcb_ieee_delapp(dev, app);

	if (err)
		return err;
	dscp_map_read(netdev_priv(dev));
	pcp_map_read(netdev_priv(dev));
	return 0;
}

void labnic_trust_init(struct labnic *nic)
{
	int pcp;

	for (pcp = 0; pcp < LABNIC_PCPS; pcp++)
		nic->pcp_prio[pcp] = pcp % LABNIC_PRIOS;
}

#if LABNIC_HAS_TRUST
/* Unless an order was asked for, what is in force. */
int labnic_getapptrust(struct net_device *dev, u8 *selectors, int *count)
{
	static const struct labnic_trust by_app[] = {
		{1, {LABNIC_SEL_PCP}},
		{2, {IEEE_8021QAZ_APP_SEL_DSCP, LABNIC_SEL_PCP}},
	};
	const struct labnic *nic = netdev_priv(dev);
	const struct labnic_trust *trust = nic->trust ? nic->trust : &by_app[nic->trust_dscp];

	*count = trust->count;
	memcpy(selectors, trust->selectors, trust->count);
	return 0;
}

int labnic_setapptrust(struct net_device *dev, u8 *selectors, int count)
{
	const struct labnic_trust *trust = labnic_trust_find(selectors, count);
	struct labnic *nic = netdev_priv(dev);

	if (!trust)
		return -EOPNOTSUPP;
	WRITE_ONCE(nic->trust, trust);
	return 0;
}

/* Of several values for a priority the highest counts. */
static void rewrite_read(struct labnic *nic)
{
	struct dcb_ieee_app_prio_map dscps = {};
	struct dcb_rewr_prio_pcp_map pcps = {};
	int prio;

	dcb_getrewr_prio_dscp_mask_map(nic->dev, &dscps);
	dcb_getrewr_prio_pcp_mask_map(nic->dev, &pcps);
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		WRITE_ONCE(nic->rewrite_dscp[prio], fls64(dscps.map[prio]));
		WRITE_ONCE(nic->rewrite_pcp[prio], fls(pcps.map[prio]));
	}
}

int labnic_setrewr(struct net_device *dev, struct dcb_app *app)
{
	int err = app_check(app);

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP && app->selector != LABNIC_SEL_PCP)
		err = -EOPNOTSUPP;
	if (!err)
		err = dcb_setrewr(dev, app);
	if (!err)
		rewrite_read(netdev_priv(dev));
	return err;
}

int labnic_delrewr(struct net_device *dev, struct dcb_app *app)
{
	int err = dcb_delrewr(dev, app);

	if (!err)
		rewrite_read(netdev_priv(dev));
	return err;
}
#endif
