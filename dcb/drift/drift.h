/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drift: what the kernel's notices are about, which fields of a port are not as they should be, the
 * plan that puts them back without disturbing anybody, and how often that may be tried. All pure.
 */
#ifndef DCB_DRIFT_H
#define DCB_DRIFT_H

#include "dcb/kernel/nl.h"
#include "dcb/plan/plan.h"

#define DRIFT_GROUP_LINK 1  /* RTNLGRP_LINK */
#define DRIFT_GROUP_DCB	 23 /* RTNLGRP_DCB: the whole IEEE state after each set by anyone */

#define DRIFT_REPAIRS_MAX      3
#define DRIFT_REPAIR_WINDOW_MS 600000

enum watch_kind {
	DRIFT_DCB,	   /* somebody set something; ifname alone is filled */
	DRIFT_NETDEV,	   /* there is a new netdev, or one changed */
	DRIFT_NETDEV_GONE, /* a netdev was removed */
};

struct drift_notice {
	enum watch_kind kind;
	char ifname[16];
	int ifindex;
	bool carrier;
};

/* Decodes what follows the nlmsghdr. False: about something else, or broken. */
bool drift_decode_notice(uint16_t type, const uint8_t *payload, size_t size,
			 struct drift_notice *n);

/* What a port is compared with. */
struct drift_want {
	struct qos qos;
	bool exact; /* a state that was: equal; else a wish of a profile: see qos_diff() */
};

/* Fields in which now is not as wanted: a bitmap of QOS_BIT(). */
uint64_t drift_fields(const struct drift_want *want, const struct qos *now);

/* Fields that are known on one side alone or have another value. */
uint64_t drift_changed_fields(const struct qos *before, const struct qos *now);

/*
 * Plan that gives the fields of `drift` their wanted values; names of the port are left empty. A
 * step that would flap the link or reset the port is one that cannot be run. *left: fields of drift
 * that no step of it brings back.
 */
void drift_plan(const struct drift_want *want, uint64_t drift, const struct qos *now,
		const char *driver, struct plan *plan, uint64_t *left);

/* When the last repairs of one port were, oldest first. */
struct drift_budget {
	unsigned int count;
	uint64_t at_ms[DRIFT_REPAIRS_MAX];
	bool spent; /* for good: what comes back that often needs a person */
};

/* Whether one more may be tried at now_ms (monotonic), and then counts it. */
bool drift_budget_consume(struct drift_budget *b, uint64_t now_ms);

/* The last one was not tried: another transaction runs or waits. It does not count. */
void drift_budget_return(struct drift_budget *b);

#endif
