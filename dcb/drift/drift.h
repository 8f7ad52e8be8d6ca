/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drift: decodes kernel notifications, compares a port with its baseline, plans a repair without
 * flaps or resets, and limits the number of repairs. The baseline is the state after the last
 * confirmed transaction; only reading it and marking a repair touch files.
 */
#ifndef DCB_DRIFT_H
#define DCB_DRIFT_H

#include "dcb/apply/journal.h"
#include "dcb/kernel/nl.h"
#include "dcb/plan/plan.h"

#define DRIFT_GROUP_LINK 1  /* RTNLGRP_LINK */
#define DRIFT_GROUP_DCB	 23 /* RTNLGRP_DCB: the whole IEEE state after each set by anyone */

#define DRIFT_REPAIRS_MAX      3
#define DRIFT_REPAIR_WINDOW_MS 600000

enum watch_kind {
	DRIFT_DCB,	   /* a DCB setting was written; only ifname is filled */
	DRIFT_NETDEV,	   /* a netdev is new or changed */
	DRIFT_NETDEV_GONE, /* a netdev was removed */
};

struct drift_notice {
	enum watch_kind kind;
	char ifname[16];
	int ifindex;
	bool carrier;
};

/* Decodes the payload after the nlmsghdr. Returns false for another subject, or a broken message.
 */
bool drift_decode_notice(uint16_t type, const uint8_t *payload, size_t size,
			 struct drift_notice *n);

/* The baseline of a port. */
struct drift_want {
	struct qos qos;
	bool exact; /* a former state, compared for equality; else a profile: see qos_diff() */
};

/* Returns the fields that differ from the baseline: a bitmap of QOS_BIT(). */
uint64_t drift_fields(const struct drift_want *want, const struct qos *now);

/* Returns the fields that are known on one side only or have different values. */
uint64_t drift_changed_fields(const struct qos *before, const struct qos *now);

/* Writes the consequences of drifted fields that their values do not say: "priority 3 is no longer
 * lossless"; "" for none. */
void drift_effects_text(const struct qos *want, const struct qos *now, uint64_t fields, char *buf,
			size_t size);

/*
 * Makes the plan that restores the fields of `drift`; names of the port are left empty. Steps that
 * would flap the link or reset the port are marked `cannot`. *left: fields that no step restores.
 */
void drift_plan(const struct drift_want *want, uint64_t drift, const struct qos *now,
		const char *driver, struct plan *plan, uint64_t *left);

/* Times of the last repairs of one port, oldest first. */
struct drift_budget {
	unsigned int count;
	uint64_t at_ms[DRIFT_REPAIRS_MAX];
	bool spent; /* no repairs any more: another program keeps changing the port */
};

/* Returns true when one more repair is allowed at now_ms (monotonic), and counts it. */
bool drift_budget_consume(struct drift_budget *b, uint64_t now_ms);

/* Uncounts the last repair: it was not tried, because another transaction runs or waits. */
void drift_budget_return(struct drift_budget *b);

/* Reads the state of ifname after the newest confirmed transaction, and its id. -ENOENT without
 * one; -EACCES when this user cannot read the journals. */
int drift_baseline_find(const struct state_at *at, const char *ifname, struct qos *q,
			char id[JOURNAL_ID_MAX], struct err *e);

/* Returns a number that changes with every change of a journal; 0 without any. */
uint64_t drift_baseline_stamp(const struct state_at *at);

/* Marks a transaction as a repair, which is no new baseline. */
int drift_mark_repair(const struct state_at *at, const char *id, struct err *e);

#endif
