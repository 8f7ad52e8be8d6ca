/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Summarizes the counters of a flow by its worst sign and in one line, the most serious sign first.
 */
#ifndef REPORTS_FLOW_VERDICT_H
#define REPORTS_FLOW_VERDICT_H

#include "capture/flow/summary.h"

/* One sign of a flow; the table is sorted by severity. */
struct flow_sign {
	const char *word; /* "icrc_bad", stable */
	const char *text; /* "bad ICRC", after 1 */
	const char *many; /* "bad ICRCs" */
	size_t counter;	  /* offset in struct flow of a uint64_t */
};
extern const struct flow_sign flow_signs[];
extern const unsigned int flow_sign_count;

uint64_t flow_sign_value(const struct flow_sign *sign, const struct flow *f);

/* Returns the most serious sign; NULL: the flow is clean. Static. */
const struct flow_sign *flow_verdict(const struct flow *f);

/* Formats "2 sequence NAKs, 3 retransmissions", or "clean". Gaps get "(or missed by the capture)"
 * when the capture may have lost packets. Always terminated. */
void flow_verdict_text(const struct flow *f, enum capture_drops drops, char *buf, size_t size);

#endif
