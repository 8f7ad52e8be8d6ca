/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver table and the checks of its limits. Taken from driver sources of the version in
 * `seen`, not verified on hardware. The last row is any other driver: behaviour as in linux
 * dcbnl.h; an MTU change does not disrupt, as on virtual devices.
 */
#include "dcb/kernel/driver.h"

#include <stdio.h>
#include <string.h>

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
		QOS_ROCE_VERSION, QOS_CM_TOS, QOS_VERBS_TOS

#define APP_FIELDS (BIT(TRUST) | BIT(DSCP_PRIO) | BIT(APP))
#define ETS_FIELDS (BIT(ETS_WILLING) | BIT(PRIO_TC) | BIT(TC_TSA) | BIT(TC_TX_BW))
#define PFC_FIELDS (BIT(PFC_ENABLED) | BIT(PFC_DELAY))
/* Fields that are lost when the netdev is created again. */
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
		.has_enable_roce = true,
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
		.has_enable_roce = true,
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
		.has_enable_roce = true,
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

/* dcbx.admin_status is last: the LLDP agent begins to send when it has all settings. */
void driver_order(const struct driver_quirk *quirk, enum qos_field_id order[QOS_FIELD_COUNT])
{
	static const enum qos_field_id app_first[] = {ORDER_HEAD, ORDER_APP, ORDER_ETS, ORDER_PFC,
						      ORDER_TAIL};
	static const enum qos_field_id app_last[] = {ORDER_HEAD, ORDER_ETS, ORDER_PFC, ORDER_APP,
						     ORDER_TAIL};
	uint64_t named = BIT(ADMIN_STATUS);
	unsigned int count = 0;

	for (; count < ARRAY_SIZE(app_first); count++) {
		order[count] = quirk->app_last ? app_last[count] : app_first[count];
		named |= QOS_BIT(order[count]);
	}
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (!(named & QOS_BIT(id)))
			order[count++] = id;
	order[count] = QOS_ADMIN_STATUS;
}

const struct driver_quirk *driver_quirk_find(const char *driver)
{
	const struct driver_quirk *q = driver_quirks;

	while (q->driver && strcmp(q->driver, driver))
		q++;
	return q;
}

static bool driver_field_is_zero(const struct qos *q, enum qos_field_id id)
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
			if (fields & QOS_BIT(id) && !driver_field_is_zero(q, id))
				zero = false;
		if (zero)
			q->has &= ~fields;
	}
}

#define SHARE_FIELDS (BIT(PRIO_TC) | BIT(TC_TSA) | BIT(TC_TX_BW))

/* Returns the traffic classes that a priority maps to. */
static uint8_t driver_tcs_in_use(const struct qos *q)
{
	uint8_t used = 0;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		used |= (uint8_t)(1 << q->prio_tc[prio]);
	return used;
}

static bool driver_has_fields(const struct qos *q, uint64_t fields)
{
	return (q->has & fields) == fields;
}

/* Returns the sum of the shares, -1 if unknown. */
static int driver_share_sum(const struct qos *q)
{
	int sum = -1;

	for (unsigned int tc = 0; driver_has_fields(q, BIT(TC_TSA) | BIT(TC_TX_BW)) && tc < QOS_TCS;
	     tc++)
		if (q->tc_tsa[tc] == QOS_TSA_ETS)
			sum = (sum < 0 ? 0 : sum) + q->tc_tx_bw[tc];
	return sum;
}

static bool driver_shares_are_100(const struct qos *now, const struct qos *then)
{
	int sum = driver_share_sum(then);

	(void)now;
	return sum < 0 || sum == 100;
}

static bool driver_shares_at_most_100(const struct qos *now, const struct qos *then)
{
	(void)now;
	return driver_share_sum(then) <= 100;
}

/* The driver derives the number of classes from the highest one that a priority maps to. */
static bool driver_ets_in_use(const struct qos *now, const struct qos *then)
{
	unsigned int used = driver_tcs_in_use(then);

	(void)now;
	for (unsigned int tc = 0;
	     driver_has_fields(then, BIT(PRIO_TC) | BIT(TC_TSA)) && tc < QOS_TCS; tc++)
		if (then->tc_tsa[tc] == QOS_TSA_ETS && !(used >> tc))
			return false;
	return true;
}

static bool driver_no_share_is_0(const struct qos *now, const struct qos *then)
{
	(void)now;
	for (unsigned int tc = 0; tc < QOS_TCS; tc++)
		if (driver_has_fields(then, BIT(TC_TSA) | BIT(TC_TX_BW)) &&
		    then->tc_tsa[tc] == QOS_TSA_ETS && !then->tc_tx_bw[tc])
			return false;
	return true;
}

static bool driver_no_tsa(const struct qos *q, uint8_t tsa)
{
	for (unsigned int tc = 0; tc < QOS_TCS; tc++)
		if (qos_has(q, QOS_TC_TSA) && q->tc_tsa[tc] == tsa)
			return false;
	return true;
}

static bool driver_no_cbs(const struct qos *now, const struct qos *then)
{
	(void)now;
	return driver_no_tsa(then, QOS_TSA_CBS);
}

static bool driver_no_vendor_tsa(const struct qos *now, const struct qos *then)
{
	(void)now;
	return driver_no_tsa(then, QOS_TSA_VENDOR);
}

static bool driver_tcs_without_gap(const struct qos *now, const struct qos *then)
{
	uint8_t used = driver_tcs_in_use(then);

	(void)now;
	return !qos_has(then, QOS_PRIO_TC) || !(used & (used + 1));
}

static bool driver_dscp_trusted(const struct qos *q)
{
	return qos_has(q, QOS_TRUST) && q->trust == QOS_TRUST_DSCP;
}

/* With DSCP trust priority n is TC n, see driver_tcs_are_prios(). */
static bool driver_one_lossless_tc(const struct qos *now, const struct qos *then)
{
	uint8_t lossless = 0;

	(void)now;
	if (!driver_has_fields(then, BIT(PRIO_TC) | BIT(PFC_ENABLED)))
		return true;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (then->pfc_enabled & 1 << prio)
			lossless |= (uint8_t)(1
					      << (driver_dscp_trusted(then) ? prio
									    : then->prio_tc[prio]));
	return !(lossless & (lossless - 1));
}

/* PFC of a priority reads back for all priorities of its class. */
static bool driver_pfc_by_tc(const struct qos *now, const struct qos *then)
{
	uint8_t lossless = 0, lossy = 0;

	(void)now;
	if (!driver_has_fields(then, BIT(PRIO_TC) | BIT(PFC_ENABLED)))
		return true;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		*(then->pfc_enabled & 1 << prio ? &lossless
						: &lossy) |= (uint8_t)(1 << then->prio_tc[prio]);
	return !(lossless & lossy);
}

static bool driver_is_willing(const struct qos *now, const struct qos *then)
{
	(void)now;
	return !qos_has(then, QOS_ETS_WILLING) || then->ets_willing;
}

static bool driver_is_not_willing(const struct qos *now, const struct qos *then)
{
	(void)now;
	return !qos_has(then, QOS_ETS_WILLING) || !then->ets_willing;
}

static bool driver_delay_unchanged(const struct qos *now, const struct qos *then)
{
	return !driver_has_fields(now, BIT(PFC_DELAY)) || now->pfc_delay == then->pfc_delay;
}

static bool driver_apps_at_most_32(const struct qos *now, const struct qos *then)
{
	unsigned int count = qos_has(then, QOS_APP) ? then->app_count : 0;

	(void)now;
	if (qos_has(then, QOS_DSCP_PRIO))
		count += qos_dscp_count(then);
	return count <= 32;
}

/* With DSCP trust the driver maps priority n to TC n, for all existing classes. */
static bool driver_tcs_are_prios(const struct qos *now, const struct qos *then)
{
	unsigned int cap = qos_has(now, QOS_ETS_CAP) ? now->ets_cap : QOS_TCS;

	for (unsigned int prio = 0; driver_dscp_trusted(then) && prio < cap && prio < QOS_PRIOS;
	     prio++)
		if (qos_has(then, QOS_PRIO_TC) && then->prio_tc[prio] != prio)
			return false;
	return true;
}

static bool driver_dscp_prios_are_tcs(const struct qos *now, const struct qos *then)
{
	unsigned int cap = qos_has(now, QOS_ETS_CAP) ? now->ets_cap : QOS_TCS;

	for (unsigned int d = 0; qos_has(then, QOS_DSCP_PRIO) && d < QOS_DSCPS; d++)
		if (then->dscp_prio[d] != QOS_UNMAPPED && then->dscp_prio[d] >= cap)
			return false;
	return true;
}

static bool driver_apps_are_dscps(const struct qos *now, const struct qos *then)
{
	(void)now;
	return !qos_has(then, QOS_APP) || !then->app_count;
}

static bool driver_ets_is_set(const struct qos *now, const struct qos *then)
{
	(void)now;
	return driver_has_fields(then, SHARE_FIELDS);
}

/* A rate is a byte of hardware in one of two units: en_dcbnl.c, mlx5e_dcbnl_ieee_setmaxrate(). */
static bool driver_rates_in_steps(const struct qos *now, const struct qos *then)
{
	(void)now;
	for (unsigned int tc = 0; qos_has(then, QOS_TC_MAXRATE) && tc < QOS_TCS; tc++) {
		uint64_t rate = then->tc_maxrate_kbps[tc];
		uint64_t step = rate > 25500000 ? 1000000 : 100000;

		if (rate % step || rate > 255000000)
			return false;
	}
	return true;
}

/* Returns true when `then` has all APP entries of `now`. */
static bool driver_keeps_apps(const struct qos *now, const struct qos *then)
{
	for (unsigned int d = 0; qos_has(now, QOS_DSCP_PRIO) && d < QOS_DSCPS; d++)
		if (now->dscp_prio[d] != QOS_UNMAPPED && now->dscp_prio[d] != then->dscp_prio[d])
			return false;
	return !qos_has(now, QOS_APP) || !(qos_diff(now, then) & BIT(APP));
}

const struct driver_limit_row driver_limit_rows[] = {
	{LIMIT_SHARES_100, SHARE_FIELDS, driver_shares_are_100,
	 "requires bandwidth shares of the ets classes that sum to 100"},
	{LIMIT_NO_SHARE_0, SHARE_FIELDS, driver_no_share_is_0,
	 "refuses an ets class with a bandwidth share of 0"},
	{LIMIT_NO_CBS, SHARE_FIELDS, driver_no_cbs,
	 "does not support the credit-based shaper (cbs)"},
	{LIMIT_NO_VENDOR, SHARE_FIELDS, driver_no_vendor_tsa,
	 "does not support transmission selection 'vendor'"},
	{LIMIT_NO_GAP, SHARE_FIELDS, driver_tcs_without_gap,
	 "requires traffic classes numbered from 0 without a gap"},
	{LIMIT_ONE_LOSSLESS, BIT(PFC_ENABLED), driver_one_lossless_tc,
	 "supports PFC on only one traffic class"},
	{LIMIT_DSCP_IS_CLASS, BIT(PRIO_TC), driver_tcs_are_prios,
	 "maps priority n to TC n with DSCP trust: remove ets.prio_tc"},
	{LIMIT_DSCP_IS_CLASS, APP_FIELDS, driver_dscp_prios_are_tcs,
	 "accepts no DSCP priority above its last traffic class"},
	{LIMIT_DSCP_ONLY, BIT(APP), driver_apps_are_dscps,
	 "accepts only DSCP entries in the APP table"},
	{LIMIT_NO_APP, APP_FIELDS, NULL,
	 "has no APP operations: the kernel would store and show app.dscp and app.entries, but "
	 "never pass them to the device"},
	{LIMIT_NO_APP_DELETE, APP_FIELDS, driver_keeps_apps, "cannot delete an APP entry"},
	{LIMIT_NO_ETS, SHARE_FIELDS, NULL, "leaves ETS to its firmware"},
	{LIMIT_NO_PFC, BIT(PFC_ENABLED) | BIT(PFC_DELAY), NULL, "leaves PFC to its firmware"},
	{LIMIT_RATE_STEPS, BIT(TC_MAXRATE), driver_rates_in_steps,
	 "accepts rate limits up to 25.5 Gbit/s in steps of 100 Mbit/s, up to 255 Gbit/s in steps "
	 "of 1 Gbit/s"},
	{LIMIT_SHARES_MOST_100, SHARE_FIELDS, driver_shares_at_most_100,
	 "refuses bandwidth shares of ets classes that sum to more than 100"},
	{LIMIT_ETS_IN_USE, SHARE_FIELDS, driver_ets_in_use,
	 "accepts ets only for traffic classes up to the highest one that a priority uses"},
	{LIMIT_PFC_BY_CLASS, BIT(PFC_ENABLED) | BIT(PRIO_TC), driver_pfc_by_tc,
	 "sets PFC per traffic class: either all priorities of a class are lossless, or none"},
	{LIMIT_ALWAYS_WILLING, BIT(ETS_WILLING), driver_is_willing,
	 "always reports ets.willing on"},
	{LIMIT_NEVER_WILLING, BIT(ETS_WILLING), driver_is_not_willing,
	 "does not store ets.willing: only an LLDP agent can set it"},
	{LIMIT_NO_DELAY, BIT(PFC_DELAY), driver_delay_unchanged, "cannot set pfc.delay"},
	{LIMIT_32_APPS, APP_FIELDS, driver_apps_at_most_32, "holds at most 32 APP entries"},
	{LIMIT_PFC_AFTER_ETS, BIT(PFC_ENABLED) | BIT(PFC_DELAY), driver_ets_is_set,
	 "accepts PFC only after ETS: set ets.prio_tc, ets.tc_tsa and ets.tc_tx_bw, too"},
};
const unsigned int driver_limit_row_count = ARRAY_SIZE(driver_limit_rows);

bool driver_refuses(const struct driver_quirk *quirk, enum qos_field_id field,
		    const struct qos *now, const struct qos *then, char *reason, size_t size)
{
	for (unsigned int i = 0; i < driver_limit_row_count; i++) {
		const struct driver_limit_row *row = &driver_limit_rows[i];

		if (!(quirk->limits & row->limit) || !(row->fields & QOS_BIT(field)) ||
		    (row->allows && row->allows(now, then)))
			continue;
		snprintf(reason, size, "%s %s", quirk->driver, row->text);
		return true;
	}
	return false;
}
