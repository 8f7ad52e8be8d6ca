/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct loss: lost packets by the counters of one port and the results of its traffic, without the
 * false signs of Soft-RoCE.
 */
#ifndef REPORTS_LOSS_H
#define REPORTS_LOSS_H

#include "reports/engine/port_ctx.h"

struct loss {
	bool gaps_known, naks_known, retries_known, discards_known, rnr_known;
	bool strict;	      /* transfers of the port ran without retransmission */
	uint64_t gaps;	      /* as receiver: sequence gaps that no RNR explains */
	uint64_t naks;	      /* as sender: NAKs for a gap that no RNR explains */
	uint64_t responses;   /* as requester: missing responses */
	uint64_t discards;    /* dropped by the receiving host on the RoCE priority */
	uint64_t events;      /* packets that such transfers lost */
	uint64_t dead;	      /* QPs out of retries, without those that RNRs ended */
	uint64_t unexplained; /* retransmissions, timeouts, duplicates: also without loss */
	uint64_t rnr;	      /* receiver-not-ready NAKs, sent and received */
};

/* Computes the loss from the increase of one port's counters. soft: the port is Soft-RoCE. prio:
 * that of RoCE, negative when unknown. */
void loss_count(const struct counters *delta, bool soft, int prio, struct loss *loss);

/* True when a loss that RC repaired would show: gaps or NAKs are counted, or losses are events, or
 * retransmissions are counted and there was none. */
bool loss_shows(const struct loss *loss);

/* Retries without a sequence gap, and what is known beside them. */
struct retries {
	uint64_t count; /* and duplicates */
	bool soft;	/* Soft-RoCE: its timer is not reset by progress (rxe_comp.c) */
	bool accounted; /* sent and missing are known */
	bool quiet;	/* nobody sent RoCE before the load: what is missing is of it */
	uint64_t sent, missing;
	bool waited;	    /* a message waited for the whole ACK timeout, or about that */
	bool timer_off;	    /* the load has no ACK timer */
	unsigned int timer; /* its code; 0 = unknown */
	bool paused;	    /* the port, meanwhile */
};

enum retry_cause {
	RETRY_ACCOUNTED, /* every packet arrived */
	RETRY_LOST,
	RETRY_MAY_BE_LOST,
	RETRY_SOFT_TIMER,
	RETRY_PAUSED, /* responses were late */
};

#define RETRIES_TEXT 200

/* Tells what they are most likely of, with a text: "4 retries and duplicates, ...". */
enum retry_cause loss_explain_retries(const struct retries *r, char text[RETRIES_TEXT]);

/* Packets that crossed the fabric and were dropped by the receiving host. */
struct host_drops {
	bool known;	    /* the port counts drops of RoCE */
	uint64_t roce;	    /* in these priorities, or by the RDMA device */
	uint64_t shared;    /* in those of them that rocecheck's own TCP shares */
	uint64_t no_buffer; /* found no receive buffer: of RC sent again, of UC and UD lost */
	bool any_known;
	uint64_t any; /* of any protocol, the sum of the port */
};

void host_drops_count(const struct counters *delta, uint8_t prios, uint8_t tcp,
		      struct host_drops *d);

/* The same around the load, and adds each counter as evidence of the current finding. */
void loss_gather(const struct port_ctx *s, struct loss *loss, struct findings *out);

#endif
