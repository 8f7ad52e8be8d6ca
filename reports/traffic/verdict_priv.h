/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to traffic_verdict.c and judge_*.c: the facts of each port, and adding reasons.
 */
#ifndef REPORTS_VERDICT_PRIV_H
#define REPORTS_VERDICT_PRIV_H

#include "reports/rules/port_signs.h"
#include "reports/traffic/traffic_verdict.h"

#define REASON_TEXT_MAX 240

struct judged_end {
	const struct run_port *seen;
	bool known;		 /* counters around the load are there */
	struct counters load;	 /* growth under load */
	struct counters net;	 /* without what the baseline explains */
	struct loss loss;	 /* of net */
	uint64_t corrupted;	 /* packets */
	struct host_drops drops; /* in the lossless priorities */
	uint64_t excused;	 /* datagrams that this host had no room for, or dropped, or found
				  * corrupt; judge_reports() takes off what it has explained by it */
	uint64_t unsent;	 /* that this host could not send */
	uint64_t paused;	 /* signs of PFC pause received */
	bool remote_gone;	 /* a program of a pair of this port vanished, or hung */
	bool strict;		 /* a pair of this port never retransmits: its losses are told there */
	unsigned int timeout;	 /* ACK timeout code in use, the smallest of its pairs; 0 = none of
				  * them has a timer */
};

struct judge {
	const struct verdict_input *in;
	struct traffic_verdict *out;
	struct judged_end *end;
};

/* One reason more; end and class may be VERDICT_NOWHERE. _as: with another verdict than its row's.
 */
void judge_add_reason(struct judge *j, enum reason_kind kind, int end, int class, const char *fmt,
		      ...) PRINTF_LIKE(5, 6);
void judge_add_reason_as(struct judge *j, enum verdict verdict, enum reason_kind kind, int end,
			 int class, const char *fmt, ...) PRINTF_LIKE(6, 7);

/* The priorities in which nothing may be lost. */
uint8_t judge_prios(const struct verdict_input *in);

/* True when this end has this reason. */
bool judge_has_reason(const struct judge *j, enum reason_kind kind, int end);

/* Growth under load that the baseline does not explain; 0 when unknown. By priority: those of
 * prios added up. */
uint64_t judge_delta(const struct judged_end *e, enum metric m, uint8_t prios);

/* The name of a port's host. */
const char *judge_host(const struct judge *j, unsigned int end);

/* The same for people; where the port has several pairs, of which one is meant, with the other end:
 * "h1, with h3". Returns buf. */
#define JUDGE_NAME_MAX 140
const char *judge_name(const struct judge *j, const struct verdict_pair *pair, unsigned int end,
		       char buf[JUDGE_NAME_MAX]);

/* The other port of the pair. */
unsigned int judge_other(const struct verdict_pair *pair, unsigned int end);

/* Report of this port of the pair; NULL: none. */
const struct traffic_report *judge_report_of(const struct verdict_pair *pair, unsigned int end);

/* True when an end of the pair gave no report. The report of the other end that its peer is gone is
 * no proof: queue pairs that fail, or packets that do not arrive, end in the same way. */
bool judge_remote_gone(const struct verdict_pair *pair);

/* Reports of each end of each pair: wrong data, losses, gaps, causes, arrival. */
void judge_reports(struct judge *j);
/* Counters of each port. */
void judge_counters(struct judge *j);
/* Retries that no gap explains. */
void judge_retries(struct judge *j);
/* ToS of queue pairs, and findings of the marking echo. */
void judge_marking(struct judge *j);
/* Evidence that a pass needs. */
void judge_evidence(struct judge *j);
/* Steadiness, latency, and speed. */
void judge_shape(struct judge *j);

/* TCP backgrounds that were missing. And an upper bound of the bytes on the wire that those of a
 * pair moved through the port of one of its ends, added to *in and *out. */
void judge_tcp(struct judge *j);
void judge_tcp_volume(const struct verdict_pair *pair, bool at_client, uint64_t *in, uint64_t *out);

#endif
