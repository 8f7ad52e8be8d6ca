/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The baseline of drift: the state of a port after the last confirmed transaction. Reads journals;
 * writes only the mark of a repair.
 */
#ifndef DCB_DRIFT_BASELINE_H
#define DCB_DRIFT_BASELINE_H

#include "dcb/apply/journal.h"

/* Reads the state of ifname after the newest confirmed transaction, and its id. -ENOENT without
 * one; -EACCES when this user cannot read the journals. */
int baseline_find(const struct state_at *at, const char *ifname, struct qos *q,
		  char id[JOURNAL_ID_MAX], struct err *e);

/* Returns a number that changes with every change of a journal; 0 without any. */
uint64_t baseline_stamp(const struct state_at *at);

/* Marks a transaction as a repair, which is no new baseline. */
int baseline_mark_repair(const struct state_at *at, const char *id, struct err *e);

#endif
