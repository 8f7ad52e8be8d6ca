/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct loss: lost packets by the counters of one port and the results of its traffic, without the
 * false signs of Soft-RoCE.
 */
#ifndef REPORTS_LOSS_H
#define REPORTS_LOSS_H

#include "reports/engine/port_ctx.h"

struct loss {
	bool gaps_known, naks_known, discards_known, rnr_known;
	uint64_t gaps;	      /* as receiver: sequence gaps that no RNR explains */
	uint64_t naks;	      /* as sender: NAKs for a gap that no RNR explains */
	uint64_t responses;   /* as requester: missing responses */
	uint64_t discards;    /* dropped by the receiving host on the RoCE priority */
	uint64_t dead;	      /* QPs out of retries, without those that RNRs ended */
	uint64_t unexplained; /* retransmissions, timeouts, duplicates: also without loss */
	uint64_t rnr;	      /* receiver-not-ready NAKs, sent and received */
};

/* Computes the loss from the increase of one port's counters. soft: the port is Soft-RoCE. prio:
 * that of RoCE, negative when unknown. */
void loss_count(const struct counters *delta, bool soft, int prio, struct loss *loss);

/* The same around the load, and adds each counter as evidence of the current finding. */
void loss_gather(const struct port_ctx *s, struct loss *loss, struct findings *out);

#endif
