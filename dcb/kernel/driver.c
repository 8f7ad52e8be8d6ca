/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of each driver: whether APP is written before ETS and PFC, what a change
 * disturbs, how far its readback can be trusted, and what it refuses. Read in the drivers' sources
 * at the version that `seen` names; none of it was run on their hardware. The last row is any other
 * driver: what linux dcbnl.h promises, with an MTU change taken to be harmless as on virtual
 * devices.
 */
#include "dcb/kernel/driver.h"

#include <string.h>

#include "dcb/kernel/limits.h"

#define BIT(id) QOS_BIT(QOS_##id)

/* Link pause goes before PFC (ice refuses it after), MTU too (mlx5 computes xoff from it). */
#define ORDER_HEAD                                                                                 \
	QOS_ROCE_ENABLE, QOS_FIRMWARE_AGENT, QOS_DCBX_MODE, QOS_ADVERTISE, QOS_PAUSE_AUTONEG,      \
		QOS_PAUSE_RX, QOS_PAUSE_TX, QOS_MTU, QOS_IB_MTU
#define ORDER_APP                                                                                  \
	QOS_TRUST, QOS_DSCP_PRIO, QOS_APP, QOS_APP_TRUST, QOS_REWRITE_DSCP, QOS_REWRITE_PCP
#define ORDER_ETS                                                                                  \
	QOS_ETS_WILLING, QOS_ETS_CAP, QOS_PRIO_TC, QOS_TC_TSA, QOS_TC_TX_BW, QOS_TC_MAXRATE,       \
		QOS_RECO_PRIO_TC, QOS_RECO_TSA, QOS_RECO_BW
#define ORDER_PFC QOS_PFC_WILLING, QOS_PFC_CAP, QOS_PFC_ENABLED, QOS_PFC_DELAY, QOS_PFC_STORM
#define ORDER_TAIL                                                                                 \
	QOS_PRIO_BUFFER, QOS_BUFFER_SIZE, QOS_NP_ENABLE, QOS_RP_ENABLE, QOS_CNP_DSCP,              \
		QOS_CNP_PRIO, QOS_CNP_INTERVAL, QOS_CC_PARAMS, QOS_CC_ALGORITHM, QOS_VLAN_PRIO,    \
		QOS_ROCE_VERSION, QOS_CM_TOS, QOS_VERBS_TOS, QOS_ADMIN_STATUS

#define APP_FIELDS (BIT(TRUST) | BIT(DSCP_PRIO) | BIT(APP))
#define ETS_FIELDS (BIT(ETS_WILLING) | BIT(PRIO_TC) | BIT(TC_TSA) | BIT(TC_TX_BW))
#define PFC_FIELDS (BIT(PFC_ENABLED) | BIT(PFC_DELAY))
/* What a driver has of a netdev, and has not any more when that is registered anew. */
#define NETDEV_FIELDS                                                                              \
	(BIT(DCBX_MODE) | APP_FIELDS | ETS_FIELDS | BIT(TC_MAXRATE) | PFC_FIELDS |                 \
	 BIT(PFC_STORM) | BIT(PRIO_BUFFER) | BIT(BUFFER_SIZE) | BIT(PAUSE_AUTONEG) |               \
	 BIT(PAUSE_RX) | BIT(PAUSE_TX) | BIT(MTU))

const struct driver_quirk driver_quirks[] = {
	{
		.driver = "mlx5_core",
		.flaps = BIT(PFC_ENABLED), /* mlx5_toggle_port_link() */
		.resets = BIT(MTU) | BIT(ROCE_ENABLE),
		.cached = APP_FIELDS | BIT(TC_TSA),
		.roce_resets = NETDEV_FIELDS, /* devlink reload: the netdev is a new one */
		.limits = LIMIT_SHARES_100 | LIMIT_NO_CBS | LIMIT_DSCP_ONLY | LIMIT_RATE_STEPS |
			  LIMIT_NEVER_WILLING,
		.dscps_of_firmware = true,
		.app_replaces = true,
		.dcbx_zero_frees = true,
		.tier = PLAN_TIER_SOURCE,
		.seen = "linux 7.2 mellanox/mlx5/core/en_dcbnl.c",
	},
	{
		.driver = "bnxt_en",
		/* PFC before ETS is -EINVAL. */
		.app_last = true,
		.resets = ETS_FIELDS | PFC_FIELDS | BIT(MTU), /* bnxt_queue_remap() */
		.cached = ETS_FIELDS | PFC_FIELDS | APP_FIELDS,
		.zeros_unknown = ETS_FIELDS | PFC_FIELDS,
		.limits = LIMIT_NO_SHARE_0 | LIMIT_NO_CBS | LIMIT_NO_VENDOR | LIMIT_PFC_AFTER_ETS |
			  LIMIT_SHARES_MOST_100 | LIMIT_NEVER_WILLING,
		.tier = PLAN_TIER_SOURCE,
		.seen = "linux 7.2 broadcom/bnxt/bnxt_dcb.c",
	},
	{
		.driver = "ice",
		/* The first DSCP entry resets ETS and PFC. */
		.resets = ETS_FIELDS | PFC_FIELDS | APP_FIELDS | BIT(MTU) |
			  BIT(ROCE_ENABLE), /* ice_dcbnl_devreset() */
		.cached = ETS_FIELDS | PFC_FIELDS | APP_FIELDS,
		.dscp_flip_resets = ETS_FIELDS | PFC_FIELDS,
		.agent_resets = ETS_FIELDS | PFC_FIELDS, /* ice_dcb_sw_dflt_cfg() */
		.limits = LIMIT_SHARES_100 | LIMIT_NO_CBS | LIMIT_NO_VENDOR | LIMIT_NO_GAP |
			  LIMIT_ONE_LOSSLESS | LIMIT_DSCP_IS_CLASS | LIMIT_DSCP_ONLY |
			  LIMIT_NO_DELAY,
		.not_in_bond = true,
		.tier = PLAN_TIER_SOURCE,
		.seen = "linux 7.2 intel/ice/ice_dcb_nl.c",
	},
	{
		.driver = "i40e",
		.app_last = true,
		.resets = ETS_FIELDS | PFC_FIELDS | BIT(MTU),
		.cached = ETS_FIELDS | PFC_FIELDS | APP_FIELDS,
		.limits = LIMIT_NO_DELAY | LIMIT_32_APPS,
		.agent_resets = ETS_FIELDS | PFC_FIELDS, /* i40e_dcb_sw_default_config() */
		.tier = PLAN_TIER_SOURCE,
		.seen = "linux 7.2 intel/i40e/i40e_dcb_nl.c",
	},
	{
		.driver = "hns3",
		.app_last = true,
		.resets = ETS_FIELDS | PFC_FIELDS | BIT(MTU), /* clients down and up */
		.cached = APP_FIELDS,
		.limits = LIMIT_NO_CBS | LIMIT_NO_VENDOR | LIMIT_DSCP_ONLY | LIMIT_SHARES_100 |
			  LIMIT_NO_SHARE_0 | LIMIT_ETS_IN_USE | LIMIT_PFC_BY_CLASS |
			  LIMIT_ALWAYS_WILLING | LIMIT_NO_DELAY,
		.app_replaces = true,
		.tier = PLAN_TIER_SOURCE,
		.seen = "linux 7.2 hisilicon/hns3/hns3pf/hclge_dcb.c",
	},
	{
		.driver = "mlx4_en",
		.resets = BIT(MTU),
		.cached = ETS_FIELDS | PFC_FIELDS | APP_FIELDS,
		.limits = LIMIT_SHARES_100 | LIMIT_NO_CBS | LIMIT_NO_APP,
		.tier = PLAN_TIER_SOURCE,
		.seen = "linux 7.2 mellanox/mlx4/en_dcb_nl.c",
	},
	{
		.driver = "qede",
		.app_last = true,
		.resets = BIT(MTU),
		.cached = ETS_FIELDS | PFC_FIELDS | APP_FIELDS,
		.limits = LIMIT_NO_APP_DELETE,
		.tier = PLAN_TIER_SOURCE,
		.seen = "linux 7.2 qlogic/qed/qed_dcbx.c",
	},
	{
		.driver = "cxgb4",
		.resets = BIT(MTU),
		.cached = ETS_FIELDS | PFC_FIELDS | APP_FIELDS,
		.limits = LIMIT_NO_ETS | LIMIT_NO_PFC | LIMIT_NO_APP_DELETE,
		.tier = PLAN_TIER_SOURCE,
		.seen = "linux 7.2 chelsio/cxgb4/cxgb4_dcb.c",
	},
	{
		.driver = NULL,
		.cached = ETS_FIELDS | PFC_FIELDS | APP_FIELDS,
		.tier = PLAN_TIER_SOURCE,
		.seen = "linux 6.1 net/dcb/dcbnl.c",
	},
};

const enum qos_field_id *driver_order(const struct driver_quirk *quirk)
{
	static const enum qos_field_id app_first[QOS_FIELD_COUNT] = {
		ORDER_HEAD, ORDER_APP, ORDER_ETS, ORDER_PFC, ORDER_TAIL};
	static const enum qos_field_id app_last[QOS_FIELD_COUNT] = {
		ORDER_HEAD, ORDER_ETS, ORDER_PFC, ORDER_APP, ORDER_TAIL};

	return quirk->app_last ? app_last : app_first;
}

const struct driver_quirk *driver_quirk_find(const char *driver)
{
	const struct driver_quirk *q = driver_quirks;

	while (q->driver && strcmp(q->driver, driver))
		q++;
	return q;
}

static bool field_is_zero(const struct qos *q, enum qos_field_id id)
{
	struct qos zero = {.has = QOS_BIT(id)};

	return !qos_has(q, id) || qos_field_equal(q, &zero, id);
}

void driver_forget_zeros(const struct driver_quirk *quirk, struct qos *q)
{
	static const uint64_t groups[] = {ETS_FIELDS, PFC_FIELDS};

	for (unsigned int g = 0; g < ARRAY_SIZE(groups); g++) {
		uint64_t fields = groups[g] & quirk->zeros_unknown;
		bool zero = fields != 0;

		for (int id = 0; id < QOS_FIELD_COUNT; id++)
			if (fields & QOS_BIT(id) && !field_is_zero(q, id))
				zero = false;
		if (zero)
			q->has &= ~fields;
	}
}
