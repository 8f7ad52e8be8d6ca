/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the counters of one port say of its own host: whether it was ready to receive, dropped
 * packets, received corrupt ones, or could not send. One judgement and one text for fabric runs and
 * for probes.
 */
#ifndef REPORTS_PORT_SIGNS_H
#define REPORTS_PORT_SIGNS_H

#include "reports/rules/loss.h"

#define PORT_SIGN_TEXT 200

/* Next step where contents are wrong: the wire is not the first suspect. */
#define FIND_WRONG_DATA "suspect memory, PCIe or the NIC of the two hosts"

struct port_sign_input {
	const char *who;	      /* "h2" or "this port": the subject of the text */
	const struct counters *delta; /* growth under load */
	uint8_t prios;		      /* of RoCE */
	uint8_t tcp;		      /* of rocecheck's own TCP */
};

/* FAIL, WARN, PASS, or INCONCLUSIVE when the port counts nothing of it; with a text in any case. */
typedef enum verdict port_sign(const struct port_sign_input *in, char text[PORT_SIGN_TEXT]);

port_sign port_sign_rnr;     /* WARN: the host is slow; no packet is lost by it */
port_sign port_sign_drops;   /* FAIL: RoCE; WARN: not known to be RoCE */
port_sign port_sign_corrupt; /* FAIL: ICRC or FCS */
port_sign port_sign_unsent;  /* WARN */
port_sign port_sign_pause;   /* WARN: much of the time, on one priority */

/* The same figures, for those who explain losses by them. */
uint64_t port_count_corrupt(const struct counters *delta);
uint64_t port_count_unsent(const struct counters *delta);

/* Signs of pause received: frames, and microseconds. */
uint64_t port_count_paused(const struct counters *delta);

#endif
