/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Driver table: in which order a NIC driver wants its fields, what a change disturbs, what its
 * readback is worth, and how well the driver is known.
 */
#ifndef DCB_DRIVER_H
#define DCB_DRIVER_H

#include "profiles/qos.h"

/* How the driver is known: from its source, from recorded answers, from a run on its hardware. */
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

/* What is known of a driver: order of its fields, what a change disturbs, trust in the readback. */
struct driver_quirk {
	const char *driver;	   /* ethtool -i name; NULL = any other */
	bool app_last;		   /* APP entries are written after ETS and PFC, not before them */
	uint64_t flaps, resets;	   /* fields (QOS_BIT) whose change does that */
	uint64_t cached;	   /* fields whose readback is a cache */
	uint64_t zeros_unknown;	   /* an object of these that reads as all zeros was never read */
	uint64_t dscp_flip_resets; /* fields that the first DSCP entry, or the end of the last,
				      resets */
	uint64_t agent_resets;	   /* and those that the firmware's agent resets, as it is turned
				      on or off */
	uint64_t roce_resets;	   /* and those that go when rdma.enable_roce changes */
	uint32_t limits;	   /* enum driver_limit */
	bool dscps_of_firmware;	   /* a DSCP without an entry has the firmware's priority, not 0 */
	bool app_replaces;	   /* setting an APP entry removes the old one of the same key */
	bool not_in_bond;	   /* in a bond it refuses DCB */
	bool dcbx_zero_frees;	   /* only SDCBX(0) gives DCBX back to the firmware */
	enum plan_tier tier;
	const char *seen; /* driver and version whose source was read */
};
extern const struct driver_quirk driver_quirks[];
const struct driver_quirk *driver_quirk_find(const char *driver);

/* The order in which a driver's fields are written: every field once, QOS_FIELD_COUNT of them. */
const enum qos_field_id *driver_order(const struct driver_quirk *quirk);

/* Takes the bits of what the driver reports as zeros before it was ever set: unknown, not zero. */
void driver_forget_zeros(const struct driver_quirk *quirk, struct qos *q);

/* Legal combinations: what a driver's checks refuse, known before anything is written. Most drivers
 * answer with a bare -EINVAL, some with success. */

struct driver_limit_row {
	uint32_t limit;	 /* enum driver_limit */
	uint64_t fields; /* QOS_BIT(): whose change it speaks of */
	/* now: what the port has; then: what it would have after the plan. NULL: never. */
	bool (*allows)(const struct qos *now, const struct qos *then);
	const char *text; /* goes on after the driver's name */
};
extern const struct driver_limit_row driver_limit_rows[];
extern const unsigned int driver_limit_row_count;

/* Whether the driver would refuse, or not carry out, a change of `field` on the way from now to
 * then; the reason is a line for people. */
bool driver_refuses(const struct driver_quirk *quirk, enum qos_field_id field,
		    const struct qos *now, const struct qos *then, char *reason, size_t size);

#endif
