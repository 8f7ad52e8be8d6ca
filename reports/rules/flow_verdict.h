/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the counters of a flow come to, in a word and in a line. The flow machine has decided what
 * each packet was; here is only which of it weighs most.
 */
#ifndef REPORTS_FLOW_VERDICT_H
#define REPORTS_FLOW_VERDICT_H

#include "capture/flow/summary.h"

/* One thing that a flow can show; what weighs more stands before what weighs less. */
struct flow_sign {
	const char *word; /* "icrc_bad", stable */
	const char *text; /* "bad ICRC", behind a 1 */
	const char *many; /* "bad ICRCs" */
	size_t counter;	  /* offset in struct flow of a uint64_t */
};
extern const struct flow_sign flow_signs[];
extern const unsigned int flow_sign_count;

uint64_t flow_sign_value(const struct flow_sign *sign, const struct flow *f);

/* The word of the heaviest sign, or "clean". Static. */
const char *flow_verdict_word(const struct flow *f);

/* "2 sequence NAKs, 3 sent again"; "clean" when there is none. A gap of a capture that may have
 * lost packets itself is told as such. Always terminated. */
void flow_verdict_text(const struct flow *f, enum capture_drops drops, char *buf, size_t size);

#endif
