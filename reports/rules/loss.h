/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct loss: what the counters of one port and the results of its traffic say about lost packets,
 * with the arithmetic that keeps Soft-RoCE's false signs out.
 */
#ifndef REPORTS_LOSS_H
#define REPORTS_LOSS_H

#include "reports/engine/port_ctx.h"

struct loss {
	bool gaps_known, naks_known, discards_known, rnr_known;
	uint64_t gaps;	    /* as receiver: sequence gaps that no RNR explains */
	uint64_t naks;	    /* as sender: NAKs for a gap that no RNR explains */
	uint64_t responses; /* as requester: answers that did not come */
	uint64_t discards;  /* dropped by the receiving host on the RoCE priority */
	uint64_t dead; /* QPs that used up their retries, those that RNRs ended not among them */
	uint64_t unexplained; /* retransmissions, timeouts, duplicates: also without loss */
	uint64_t rnr;	      /* receiver-not-ready NAKs, sent and received */
};

/* Arithmetic alone: what the growth of one port's counters says. soft: the port is Soft-RoCE. prio:
 * that of RoCE, negative when it is not known. */
void loss_count(const struct counters *delta, bool soft, int prio, struct loss *loss);

/* Gathers around the load and adds each value read as evidence of the finding begun. */
void loss_gather(const struct port_ctx *s, struct loss *loss, struct findings *out);

#endif
