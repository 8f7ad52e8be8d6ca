/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drift: what the kernel's notices are about, which fields of a port are not as they should be, the
 * plan that puts them back without disturbing anybody, and how often that may be tried. All pure.
 */
#ifndef DCB_WATCH_H
#define DCB_WATCH_H

#include "dcb/kernel/nl.h"
#include "dcb/plan/plan.h"

#define WATCH_GROUP_LINK 1  /* RTNLGRP_LINK */
#define WATCH_GROUP_DCB	 23 /* RTNLGRP_DCB: the whole IEEE state after each set by anyone */

#define WATCH_REPAIRS_MAX      3
#define WATCH_REPAIR_WINDOW_MS 600000

enum watch_kind {
	WATCH_DCB,  /* somebody set something; ifname alone is filled */
	WATCH_LINK, /* there is a new netdev, or one changed */
	WATCH_GONE, /* a netdev was removed */
};

struct watch_notice {
	enum watch_kind kind;
	char ifname[16];
	int ifindex;
	bool carrier;
};

/* Decodes what follows the nlmsghdr. False: about something else, or broken. */
bool watch_decode(uint16_t type, const uint8_t *payload, size_t size, struct watch_notice *n);

/* What a port is compared with. */
struct watch_want {
	struct qos qos;
	bool exact; /* a state that was: equal; else a wish of a profile: see qos_diff() */
};

/* Fields in which now is not as wanted: a bitmap of QOS_BIT(). */
uint64_t watch_drift(const struct watch_want *want, const struct qos *now);

/* Fields that are known on one side alone or have another value. */
uint64_t watch_changes(const struct qos *before, const struct qos *now);

/*
 * Plan that gives the fields of `drift` their wanted values; names of the port are left empty. A
 * step that would flap the link or reset the port is one that cannot be run. *left: fields of drift
 * that no step of it brings back.
 */
void watch_plan(const struct watch_want *want, uint64_t drift, const struct qos *now,
		const char *driver, struct plan *plan, uint64_t *left);

/* When the last repairs of one port were, oldest first. */
struct watch_budget {
	unsigned int count;
	uint64_t at_ms[WATCH_REPAIRS_MAX];
	bool spent; /* for good: what comes back that often needs a person */
};

/* Whether one more may be tried at now_ms (monotonic), and then counts it. */
bool watch_may_repair(struct watch_budget *b, uint64_t now_ms);

/* The last one was not tried: another transaction runs or waits. It does not count. */
void watch_take_back(struct watch_budget *b);

#endif
