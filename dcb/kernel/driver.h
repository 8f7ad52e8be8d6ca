/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Driver table: write order of fields, flaps and resets, cached readbacks, limits, and the tier
 * (how well the driver is verified).
 */
#ifndef DCB_DRIVER_H
#define DCB_DRIVER_H

#include "profiles/qos.h"

/* How a driver was verified: by its source, by recorded answers, by a run on its hardware. */
enum plan_tier {
	PLAN_TIER_SOURCE,
	PLAN_TIER_RECORDED,
	PLAN_TIER_HARDWARE,
};

/* Bits of driver_quirk.limits. */
enum driver_limit {
	LIMIT_SHARES_100 = 1 << 0,
	LIMIT_NO_SHARE_0 = 1 << 1,
	LIMIT_NO_CBS = 1 << 2,
	LIMIT_NO_VENDOR = 1 << 3,
	LIMIT_NO_GAP = 1 << 4,
	LIMIT_ONE_LOSSLESS = 1 << 5,
	LIMIT_DSCP_IS_CLASS = 1 << 6,
	LIMIT_DSCP_ONLY = 1 << 7,
	LIMIT_NO_APP = 1 << 8,
	LIMIT_NO_APP_DELETE = 1 << 9,
	LIMIT_NO_ETS = 1 << 10,
	LIMIT_NO_PFC = 1 << 11,
	LIMIT_PFC_AFTER_ETS = 1 << 12,
	LIMIT_RATE_STEPS = 1 << 13,
	LIMIT_SHARES_MOST_100 = 1 << 14,
	LIMIT_ETS_IN_USE = 1 << 15,
	LIMIT_PFC_BY_CLASS = 1 << 16,
	LIMIT_ALWAYS_WILLING = 1 << 17,
	LIMIT_NEVER_WILLING = 1 << 18,
	LIMIT_NO_DELAY = 1 << 19,
	LIMIT_32_APPS = 1 << 20,
};

struct driver_quirk {
	const char *driver;	   /* ethtool -i name; NULL = any other */
	bool app_last;		   /* APP entries are written after ETS and PFC, not before them */
	uint64_t flaps, resets;	   /* fields (QOS_BIT) whose change flaps the link or resets it */
	uint64_t cached;	   /* fields that read back from the driver's cache */
	uint64_t zeros_unknown;	   /* all zeros in an object of these fields means unknown */
	uint64_t dscp_flip_resets; /* reset by adding the first or deleting the last DSCP entry */
	uint64_t agent_resets;	   /* reset by switching the firmware's LLDP agent on or off */
	uint64_t roce_resets;	   /* reset by a change of rdma.enable_roce */
	uint32_t limits;	   /* enum driver_limit */
	bool dscps_of_firmware;	   /* a DSCP without an entry has the firmware's priority, not 0 */
	bool app_replaces;	   /* setting an APP entry deletes the old one of the same key */
	bool has_enable_roce;	   /* has the devlink parameter of rdma.enable_roce */
	bool not_in_bond;	   /* refuses DCB in a bond */
	bool dcbx_zero_frees;	   /* only SDCBX(0) returns DCBX to the firmware */
	enum plan_tier tier;
	const char *seen; /* driver and version of the source that was read */
};
extern const struct driver_quirk driver_quirks[];
const struct driver_quirk *driver_quirk_find(const char *driver);

/* Makes the write order of a driver: each field once. Fields that need no place in it come after
 * all others, in the order of their ids; only dcbx.admin_status follows. */
void driver_order(const struct driver_quirk *quirk, enum qos_field_id order[QOS_FIELD_COUNT]);

/* Clears the bits of fields that the driver reports as zeros until they are set (zeros_unknown). */
void driver_forget_zeros(const struct driver_quirk *quirk, struct qos *q);

/* Combinations that a driver refuses, known before anything is written. Most drivers return a bare
 * -EINVAL, some return success. */
struct driver_limit_row {
	uint32_t limit;	 /* enum driver_limit */
	uint64_t fields; /* QOS_BIT()s of the fields that it limits */
	/* now: current settings; then: settings after the plan. NULL: never allowed. */
	bool (*allows)(const struct qos *now, const struct qos *then);
	const char *text; /* predicate after the driver's name */
};
extern const struct driver_limit_row driver_limit_rows[];
extern const unsigned int driver_limit_row_count;

/* Returns true when the driver refuses or ignores a change of `field` from now to then; reason:
 * text for the user. */
bool driver_refuses(const struct driver_quirk *quirk, enum qos_field_id field,
		    const struct qos *now, const struct qos *then, char *reason, size_t size);

#endif
