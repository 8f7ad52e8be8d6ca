/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Legal combinations: what a driver's checks refuse, known before anything is written. Most drivers
 * answer with a bare -EINVAL, some with success.
 */
#ifndef DCB_LIMITS_H
#define DCB_LIMITS_H

#include "dcb/kernel/driver.h"

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

struct driver_limit_row {
	uint32_t limit;	 /* enum driver_limit */
	uint64_t fields; /* QOS_BIT(): whose change it speaks of */
	/* now: what the port has; then: what it would have after the plan. */
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
