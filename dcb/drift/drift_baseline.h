/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a port that the last confirmed transaction left: what drift is measured from. Reads
 * journals, writes nothing but the mark of a repair.
 */
#ifndef DCB_DRIFT_BASELINE_H
#define DCB_DRIFT_BASELINE_H

#include "dcb/apply/journal.h"

/* State of ifname after the newest transaction that is done and still stands, and its id. -ENOENT
 * when there is none; -EACCES when this user may not read them. */
int baseline_find(const struct state_at *at, const char *ifname, struct qos *q,
		  char id[JOURNAL_ID_MAX], struct err *e);

/* Changes when any journal does; 0 without any. */
uint64_t baseline_stamp(const struct state_at *at);

/* Marks a transaction as a repair: it puts back a part of a baseline and is none itself. */
int baseline_mark_repair(const struct state_at *at, const char *id, struct err *e);

#endif
