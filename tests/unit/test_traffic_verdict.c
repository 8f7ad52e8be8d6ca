/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict of a traffic run, on literals: what Soft-RoCE was measured to count for each loss
 * (one packet dropped, Linux 6.1 and 6.12), each cause apart from the others, and what must not
 * pass.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reports/traffic_verdict.h"

#define S  UINT64_C(1000000000)
#define MB UINT64_C(1000000)

/* Two hosts, one class from h1 to h2. Pointers stay inside. */
struct scene {
	struct observation end[3];
	const struct observation *ends[3];
	struct traffic_spec spec;
	struct traffic_report report[2];
	struct traffic_class_result result[2][2];
	struct prio_arrival arrival;
	const struct prio_arrival *arrivals[3];
	struct verdict_pair pair;
	struct verdict_input in;
	struct traffic_verdict v;
};

static void put(struct observation *o, enum metric m, unsigned int prio, uint64_t value)
{
	for (unsigned int r = 0; r < READ_COUNT; r++) {
		o->reading[r].has[m] |= (uint8_t)(1u << prio);
		o->reading[r].value[m][prio] = value;
	}
}

/* Growth under load. */
static void grow(struct observation *o, enum metric m, unsigned int prio, uint64_t by)
{
	o->reading[READ_LOAD_AFTER].value[m][prio] += by;
}

static void make_end(struct observation *o, const char *host, bool soft)
{
	static const enum metric counted[] = {
		METRIC_RX_BYTES,	METRIC_TX_BYTES,	  METRIC_RDMA_RX_PACKETS,
		METRIC_RDMA_TX_PACKETS, METRIC_OUT_OF_SEQUENCE,	  METRIC_SEQ_NAK_RX,
		METRIC_RETRANSMITS,	METRIC_DUPLICATE_REQUEST, METRIC_RNR_NAK_RX,
		METRIC_RNR_NAK_TX,	METRIC_RETRY_EXCEEDED,	  METRIC_RNR_EXCEEDED,
		METRIC_SEND_ERRORS,	METRIC_LINK_DOWN,
	};

	memset(o, 0, sizeof(*o));
	snprintf(o->host, sizeof(o->host), "%s", host);
	snprintf(o->netdev, sizeof(o->netdev), "roce0");
	o->soft = soft;
	o->speed_mbps = 10000;
	for (unsigned int r = 0; r < READ_COUNT; r++) {
		counters_clear(&o->reading[r]);
		o->reading[r].when_ns = r * 10 * S;
		o->has |= 1u << r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
		put(o, counted[i], 0, 1000);
}

/* 100 MB in ten seconds, steadily. */
static void make_result(struct traffic_class_result *r, bool requester)
{
	memset(r, 0, sizeof(*r));
	intervals_begin(&r->goodput, S);
	if (!requester) {
		r->arrived = 1526;
		r->arrived_bytes = r->checked_bytes = 100 * MB;
		return;
	}
	r->messages = 1526;
	r->bytes = 100 * MB;
	for (unsigned int i = 0; i < 100; i++)
		intervals_add(&r->goodput, S + i * S / 10, MB);
	intervals_end(&r->goodput, 11 * S);
	for (unsigned int i = 0; i < 1526; i++)
		histogram_add(&r->latency, 300000 + i);
}

static void make_scene(struct scene *s, enum traffic_mode mode, bool soft)
{
	memset(s, 0, sizeof(*s));
	s->spec.mode = mode;
	s->spec.class_count = 1;
	s->spec.class[0].qps = 4;
	s->spec.class[0].message_bytes = 65536;
	s->spec.class[0].rate_bytes_per_s = 10 * MB;
	if (mode == TRAFFIC_COUNT) {
		s->spec.class[0].transport = TRAFFIC_UC;
		s->spec.class[0].verb = TRAFFIC_SEND;
	}
	for (unsigned int i = 0; i < 2; i++) {
		make_end(&s->end[i], i ? "h2" : "h1", soft);
		s->ends[i] = &s->end[i];
		make_result(&s->result[i][0], !i);
		s->report[i].class_count = 1;
		s->report[i].class = s->result[i];
		s->report[i].total.bytes = 100 * MB;
		s->report[i].total.mtu = 4096;
	}
	grow(&s->end[0], METRIC_TX_BYTES, 0, 102 * MB);
	grow(&s->end[1], METRIC_RX_BYTES, 0, 102 * MB);
	grow(&s->end[0], METRIC_RX_BYTES, 0, 1 * MB);
	grow(&s->end[1], METRIC_TX_BYTES, 0, 1 * MB);
	grow(&s->end[0], METRIC_RDMA_TX_PACKETS, 0, 24416);
	grow(&s->end[1], METRIC_RDMA_RX_PACKETS, 0, 24416);
	grow(&s->end[1], METRIC_RDMA_TX_PACKETS, 0, 3000);
	grow(&s->end[0], METRIC_RDMA_RX_PACKETS, 0, 3000);
	s->pair = (struct verdict_pair){
		.spec = &s->spec,
		.server = 1,
		.client_report = &s->report[0],
		.server_report = &s->report[1],
	};
	s->in = (struct verdict_input){.end = s->ends,
				       .end_count = 2,
				       .pair = &s->pair,
				       .pair_count = 1,
				       .lossless = 1 << 3,
				       .accountable = soft};
}

static void judge(struct scene *s)
{
	struct err e = {0};

	if (traffic_verdict_make(&s->in, &s->v, &e))
		fail_msg("%s", e.text);
}

static const char *all_reasons(const struct traffic_verdict *v)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < v->count && used < sizeof(text) - 1; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "\n  %s %s: %s",
					 verdict_word(v->reason[i].verdict),
					 reason_table[v->reason[i].kind].word, v->reason[i].text);
	return text;
}

/* The reason is the first of its verdict and the only one as grave. */
static void expect(const char *name, const struct traffic_verdict *v, enum verdict want, int reason,
		   const char *says)
{
	unsigned int graver = 0;
	const char *text = NULL;

	for (unsigned int i = 0; i < v->count; i++) {
		if ((int)v->reason[i].kind == reason)
			text = v->reason[i].text;
		else if (want != VERDICT_PASS && v->reason[i].verdict == want)
			graver++;
	}
	if (v->verdict != want || (reason >= 0 && !text) || graver ||
	    (says && text && !strstr(text, says)))
		fail_msg("%s: want %s%s%s (%s), got %s:%s", name, verdict_word(want),
			 reason >= 0 ? " " : "", reason >= 0 ? reason_table[reason].word : "",
			 says ? says : "", verdict_word(v->verdict), all_reasons(v));
}

#define NO_REASON (-1)
#define RETRY_14  14
#define RETRY_18  18

/* One packet dropped by the wire, and what Soft-RoCE counts then. Numbers as measured. */
static const struct loss_row {
	const char *name;
	enum traffic_mode mode;
	unsigned int timeout;
	bool accountable;
	unsigned int oos, copies;	    /* at h2, the responder */
	unsigned int naks, retries, dead;   /* at h1 */
	unsigned int lost_there, lost_back; /* packets that the wire took */
	unsigned int losses, gaps;	    /* as the generator reports */
	unsigned int wait_ms;		    /* the slowest message */
	enum verdict want;
	int reason;
	const char *says;
} loss_rows[] = {
	{"WRITE, middle, repeated", TRAFFIC_OBSERVE, RETRY_18, false, 1, 12, 1, 1, 0, 1, 0, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "to h2"},
	{"WRITE, middle, accounted", TRAFFIC_OBSERVE, RETRY_18, true, 1, 12, 1, 1, 0, 1, 0, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "to h2"},
	{"WRITE, middle, strict", TRAFFIC_STRICT, RETRY_14, false, 1, 0, 1, 1, 1, 1, 0, 1, 0, 0,
	 VERDICT_FAIL, REASON_LOST, NULL},
	{"tail, accounted", TRAFFIC_OBSERVE, RETRY_14, true, 0, 3, 0, 1, 0, 1, 0, 0, 0, 74,
	 VERDICT_FAIL, REASON_LOST, "1 from h1 to h2 and 0 back"},
	{"tail, long timer, waited", TRAFFIC_OBSERVE, RETRY_18, false, 0, 3, 0, 1, 0, 1, 0, 0, 0,
	 1080, VERDICT_FAIL, REASON_LOST, "whole ACK timeout"},
	{"tail, short timer", TRAFFIC_OBSERVE, RETRY_14, false, 0, 3, 0, 1, 0, 1, 0, 0, 0, 74,
	 VERDICT_WARN, REASON_SPURIOUS, "code 14"},
	{"tail, strict", TRAFFIC_STRICT, RETRY_14, false, 0, 0, 0, 1, 1, 1, 0, 1, 0, 85,
	 VERDICT_FAIL, REASON_LOST, "strict"},
	{"ACK, middle, accounted", TRAFFIC_OBSERVE, RETRY_18, true, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
	 VERDICT_WARN, REASON_ACKS_LOST, "0 from h1 to h2 and 1 back"},
	{"ACK, middle, unseen", TRAFFIC_OBSERVE, RETRY_18, false, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
	 VERDICT_PASS, NO_REASON, NULL},
	{"ACK, middle, strict", TRAFFIC_STRICT, RETRY_14, false, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
	 VERDICT_PASS, NO_REASON, NULL},
	{"last ACK, accounted", TRAFFIC_OBSERVE, RETRY_14, true, 0, 4, 0, 1, 0, 0, 1, 0, 0, 76,
	 VERDICT_FAIL, REASON_LOST, "0 from h1 to h2 and 1 back"},
	{"last ACK, strict", TRAFFIC_STRICT, RETRY_14, false, 0, 0, 0, 1, 1, 0, 1, 1, 0, 79,
	 VERDICT_FAIL, REASON_LOST, NULL},
	{"READ response, accounted", TRAFFIC_OBSERVE, RETRY_18, true, 0, 8, 0, 1, 0, 0, 1, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "1 back"},
	{"READ response, strict", TRAFFIC_STRICT, RETRY_14, false, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0,
	 VERDICT_FAIL, REASON_LOST, NULL},
	{"bit flipped", TRAFFIC_OBSERVE, RETRY_18, false, 1, 12, 1, 1, 0, 1, 0, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "bad ICRCs"},
	{"0.05 % at random", TRAFFIC_OBSERVE, RETRY_18, false, 13, 100, 13, 13, 0, 14, 0, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "13 gaps"},
	{"0.2 % at random", TRAFFIC_OBSERVE, RETRY_18, false, 37, 300, 37, 37, 0, 57, 0, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "37 gaps"},
	{"1 % at random", TRAFFIC_OBSERVE, RETRY_18, false, 269, 900, 269, 269, 0, 509, 0, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "269 gaps"},
	{"one datagram", TRAFFIC_COUNT, RETRY_18, false, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, VERDICT_FAIL,
	 REASON_LOST, "1 messages of class 0 never arrived"},
	{"6.1, 64 bytes, timer 14", TRAFFIC_OBSERVE, RETRY_14, false, 0, 13, 0, 8, 0, 0, 0, 0, 0, 0,
	 VERDICT_WARN, REASON_SPURIOUS, "without a gap"},
	{"6.1, 64 bytes, timer 14, accounted", TRAFFIC_OBSERVE, RETRY_14, true, 0, 8, 0, 13, 0, 0,
	 0, 0, 0, 0, VERDICT_PASS, REASON_ACCOUNTED, "27416"},
	{"6.1, timer 18, one of 2000", TRAFFIC_OBSERVE, RETRY_18, false, 0, 1, 0, 1, 0, 0, 0, 0, 0,
	 0, VERDICT_WARN, REASON_SPURIOUS, "code 18"},
	{"6.12, bulk, timer 14", TRAFFIC_OBSERVE, RETRY_14, true, 0, 1161, 0, 9, 0, 0, 0, 0, 0, 0,
	 VERDICT_PASS, REASON_ACCOUNTED, NULL},
	{"clean, observe", TRAFFIC_OBSERVE, 0, true, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, VERDICT_PASS,
	 NO_REASON, NULL},
	{"clean, strict", TRAFFIC_STRICT, 0, true, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, VERDICT_PASS,
	 NO_REASON, NULL},
	{"clean, count", TRAFFIC_COUNT, 0, true, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, VERDICT_PASS,
	 NO_REASON, NULL},
};

/* In strict mode the counters tell the same loss once more. */
static void test_soft_losses(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(loss_rows); i++) {
		const struct loss_row *row = &loss_rows[i];
		struct scene s;

		make_scene(&s, row->mode, true);
		s.spec.timeout = (uint8_t)row->timeout;
		s.in.accountable = row->accountable;
		grow(&s.end[1], METRIC_OUT_OF_SEQUENCE, 0, row->oos);
		grow(&s.end[1], METRIC_DUPLICATE_REQUEST, 0, row->copies);
		grow(&s.end[0], METRIC_SEQ_NAK_RX, 0, row->naks);
		grow(&s.end[0], METRIC_RETRANSMITS, 0, row->retries);
		grow(&s.end[0], METRIC_RETRY_EXCEEDED, 0, row->dead);
		s.end[1].reading[READ_LOAD_AFTER].value[METRIC_RDMA_RX_PACKETS][0] -=
			row->lost_there;
		s.end[0].reading[READ_LOAD_AFTER].value[METRIC_RDMA_RX_PACKETS][0] -=
			row->lost_back;
		s.result[0][0].losses = row->losses;
		s.result[1][0].gaps = row->gaps;
		if (row->wait_ms)
			histogram_add(&s.result[0][0].latency, row->wait_ms * UINT64_C(1000000));
		judge(&s);
		expect(row->name, &s.v, row->want, row->reason, row->says);
	}
}

/* What one of the ends, or the wire, does; the rest is a clean run. */
struct fault_row {
	const char *name;
	enum traffic_mode mode;
	bool soft;
	void (*change)(struct scene *s);
	enum verdict want;
	int reason;
	const char *says;
};

static void rnr_soft(struct scene *s)
{
	grow(&s->end[1], METRIC_RNR_NAK_TX, 0, 3);
	grow(&s->end[0], METRIC_RNR_NAK_RX, 0, 3);
	/* Each RNR is followed by a gap, a NAK and a repetition. */
	grow(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 3);
	grow(&s->end[0], METRIC_SEQ_NAK_RX, 0, 3);
	grow(&s->end[0], METRIC_RETRANSMITS, 0, 3);
	grow(&s->end[1], METRIC_DUPLICATE_REQUEST, 0, 2);
}

static void rnr_and_loss(struct scene *s)
{
	rnr_soft(s);
	grow(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 1);
}

static void rnr_strict(struct scene *s)
{
	rnr_soft(s);
	s->result[0][0].losses = 2;
	grow(&s->end[0], METRIC_RETRY_EXCEEDED, 0, 2);
}

static void rnr_strict_and_loss(struct scene *s)
{
	rnr_strict(s);
	s->result[0][0].losses = 9;
}

static void rnr_dead(struct scene *s)
{
	grow(&s->end[0], METRIC_RETRY_EXCEEDED, 0, 1);
	grow(&s->end[0], METRIC_RNR_EXCEEDED, 0, 1);
	s->report[0].total.cause = CAUSE_RNR;
	snprintf(s->report[0].total.detail, 40, "RNR_RETRY_EXC_ERR");
}

/* On hardware a gap stays a gap, RNR or not. */
static void rnr_device_and_gap(struct scene *s)
{
	grow(&s->end[1], METRIC_RNR_NAK_TX, 0, 3);
	grow(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 3);
}

static void no_buffer_datagrams(struct scene *s)
{
	put(&s->end[1], METRIC_OUT_OF_BUFFER, 0, 0);
	grow(&s->end[1], METRIC_OUT_OF_BUFFER, 0, 5);
	s->result[1][0].gaps = 5;
}

static void no_buffer_and_loss(struct scene *s)
{
	no_buffer_datagrams(s);
	s->result[1][0].gaps = 7;
}

static void host_discards(struct scene *s)
{
	put(&s->end[1], METRIC_PRIO_RX_DISCARDS, 3, 0);
	grow(&s->end[1], METRIC_PRIO_RX_DISCARDS, 3, 4);
	grow(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 2);
	grow(&s->end[0], METRIC_SEQ_NAK_RX, 0, 0);
}

static void lossy_discards(struct scene *s)
{
	put(&s->end[1], METRIC_PRIO_RX_DISCARDS, 3, 0);
	put(&s->end[1], METRIC_PRIO_RX_DISCARDS, 0, 0);
	grow(&s->end[1], METRIC_PRIO_RX_DISCARDS, 0, 4);
}

static void port_discards(struct scene *s)
{
	put(&s->end[1], METRIC_RX_DISCARDS, 0, 0);
	grow(&s->end[1], METRIC_RX_DISCARDS, 0, 4);
}

static void bad_icrc(struct scene *s)
{
	put(&s->end[1], METRIC_ICRC_ERRORS, 0, 0);
	grow(&s->end[1], METRIC_ICRC_ERRORS, 0, 1);
	grow(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 1);
	grow(&s->end[0], METRIC_SEQ_NAK_RX, 0, 1);
}

static void bad_icrc_and_loss(struct scene *s)
{
	bad_icrc(s);
	grow(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 5);
}

static void wrong_data(struct scene *s)
{
	s->result[1][0].mismatches = 1;
	s->report[1].total.cause = CAUSE_DATA;
}

static void late_under_pause(struct scene *s)
{
	put(&s->end[0], METRIC_ACK_TIMEOUT, 0, 0);
	put(&s->end[0], METRIC_PFC_RX_FRAMES, 3, 0);
	grow(&s->end[0], METRIC_ACK_TIMEOUT, 0, 2);
	grow(&s->end[0], METRIC_RETRANSMITS, 0, 2);
	grow(&s->end[0], METRIC_PFC_RX_FRAMES, 3, 900);
}

static void late_without_pause(struct scene *s)
{
	put(&s->end[0], METRIC_ACK_TIMEOUT, 0, 0);
	grow(&s->end[0], METRIC_ACK_TIMEOUT, 0, 2);
}

static void answers_missed(struct scene *s)
{
	put(&s->end[0], METRIC_RESPONSE_LOST, 0, 0);
	grow(&s->end[0], METRIC_RESPONSE_LOST, 0, 1);
}

static void naks_alone(struct scene *s)
{
	s->end[1].reading[READ_LOAD_AFTER].has[METRIC_OUT_OF_SEQUENCE] = 0;
	grow(&s->end[0], METRIC_SEQ_NAK_RX, 0, 2);
}

static void peer_killed(struct scene *s)
{
	s->report[0].total.cause = CAUSE_PEER_GONE;
	s->pair.server_report = NULL;
	grow(&s->end[0], METRIC_RETRANSMITS, 0, 253);
	grow(&s->end[0], METRIC_RETRY_EXCEEDED, 0, 4);
}

static void peer_killed_rem_access(struct scene *s)
{
	s->report[1].total.cause = CAUSE_PEER_GONE;
	s->report[0].total.cause = CAUSE_REMOTE;
}

static void retries_exceeded(struct scene *s)
{
	s->report[0].total.cause = CAUSE_RETRY_EXCEEDED;
	snprintf(s->report[0].total.detail, 60, "RETRY_EXC_ERR after 0.3 s, message 381");
	grow(&s->end[0], METRIC_RETRY_EXCEEDED, 0, 1);
	grow(&s->end[0], METRIC_RETRANSMITS, 0, 6);
}

static void link_lost(struct scene *s)
{
	s->report[0].total.cause = CAUSE_PORT_DOWN;
	grow(&s->end[0], METRIC_LINK_DOWN, 0, 1);
}

static void stalled(struct scene *s)
{
	s->report[0].total.cause = CAUSE_TIMEOUT;
}

/* A queueing discipline that drops: Linux 6.1 tries again and again, 6.12 ends the queue pair. */
static void qdisc_61(struct scene *s)
{
	grow(&s->end[0], METRIC_SEND_ERRORS, 0, 40224);
}

static void qdisc_612(struct scene *s)
{
	grow(&s->end[0], METRIC_SEND_ERRORS, 0, 2);
	s->report[0].total.cause = CAUSE_LOCAL;
}

static void qdisc_and_gaps(struct scene *s)
{
	grow(&s->end[0], METRIC_SEND_ERRORS, 0, 2);
	grow(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 1);
}

static void refused(struct scene *s)
{
	s->report[0].total.cause = CAUSE_REMOTE;
}

static void storm(struct scene *s)
{
	put(&s->end[0], METRIC_PAUSE_STORM, 0, 0);
	grow(&s->end[0], METRIC_PAUSE_STORM, 0, 1);
}

static void long_pause(struct scene *s)
{
	put(&s->end[0], METRIC_PFC_RX_PAUSE_US, 3, 0);
	grow(&s->end[0], METRIC_PFC_RX_PAUSE_US, 3, 1100000);
}

static void short_pause(struct scene *s)
{
	put(&s->end[0], METRIC_PFC_RX_PAUSE_US, 3, 0);
	grow(&s->end[0], METRIC_PFC_RX_PAUSE_US, 3, 900000);
}

static void cnp_ignored(struct scene *s)
{
	put(&s->end[0], METRIC_CNP_IGNORED, 0, 0);
	grow(&s->end[0], METRIC_CNP_IGNORED, 0, 7);
}

static void incast_calm(struct scene *s)
{
	put(&s->end[1], METRIC_PFC_TX_FRAMES, 3, 0);
	s->in.incast = true;
}

static void incast_uncounted(struct scene *s)
{
	s->in.incast = true;
}

static void incast_paused(struct scene *s)
{
	incast_calm(s);
	grow(&s->end[1], METRIC_PFC_TX_FRAMES, 3, 12);
}

static void incast_cnp(struct scene *s)
{
	s->in.incast = true;
	put(&s->end[0], METRIC_CNP_RX, 0, 0);
	grow(&s->end[0], METRIC_CNP_RX, 0, 3);
}

static void incast_calm_and_loss(struct scene *s)
{
	incast_calm(s);
	grow(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 1);
}

static void uncounted(struct scene *s)
{
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int r = 0; r < READ_COUNT; r++) {
			s->end[i].reading[r].has[METRIC_OUT_OF_SEQUENCE] = 0;
			s->end[i].reading[r].has[METRIC_SEQ_NAK_RX] = 0;
		}
	}
}

static void unread(struct scene *s)
{
	s->end[1].has &= ~(1u << READ_LOAD_AFTER);
}

static void reset(struct scene *s)
{
	s->end[1].reading[READ_LOAD_AFTER].value[METRIC_RETRANSMITS][0] = 7;
}

static void foreign(struct scene *s)
{
	grow(&s->end[1], METRIC_RX_BYTES, 0, 20 * MB);
}

static void foreign_out(struct scene *s)
{
	grow(&s->end[1], METRIC_TX_BYTES, 0, 20 * MB);
}

static void foreign_and_retries(struct scene *s)
{
	foreign(s);
	grow(&s->end[0], METRIC_RETRANSMITS, 0, 2);
	grow(&s->end[1], METRIC_DUPLICATE_REQUEST, 0, 2);
}

/* Eight repetitions of up to a megabyte are not somebody else's. */
static void repetitions(struct scene *s)
{
	grow(&s->end[1], METRIC_RX_BYTES, 0, 8 * MB);
	grow(&s->end[0], METRIC_TX_BYTES, 0, 8 * MB);
	grow(&s->end[0], METRIC_RETRANSMITS, 0, 8);
	grow(&s->end[1], METRIC_DUPLICATE_REQUEST, 0, 8);
}

static void users(struct scene *s)
{
	s->end[1].user_count = 1;
	snprintf(s->end[1].user[0], sizeof(s->end[1].user[0]), "3 queue pairs of storage");
}

static void slow_pace(struct scene *s)
{
	s->spec.class[0].rate_bytes_per_s = 20 * MB;
}

static void nothing_moved(struct scene *s)
{
	memset(s->result, 0, sizeof(s->result));
	s->report[0].total.bytes = s->report[1].total.bytes = 0;
	for (unsigned int i = 0; i < 2; i++)
		s->end[i].reading[READ_LOAD_AFTER] = s->end[i].reading[READ_LOAD_BEFORE];
}

static void aborted(struct scene *s)
{
	s->in.aborted = true;
}

static void reordered(struct scene *s)
{
	s->result[1][0].reordered = 4;
}

/* Somebody else's loss, before and during: not ours. */
static void lossy_neighbour(struct scene *s)
{
	for (unsigned int r = READ_QUIET_AFTER; r < READ_COUNT; r++)
		s->end[1].reading[r].value[METRIC_OUT_OF_SEQUENCE][0] += 5;
	grow(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 5);
}

static void unsteady(struct scene *s)
{
	struct traffic_class_result *r = &s->result[0][0];

	intervals_begin(&r->goodput, S);
	for (unsigned int i = 0; i < 100; i++)
		intervals_add(&r->goodput, S + i * S / 10, i == 40 ? MB / 4 : MB + MB / 100);
	intervals_end(&r->goodput, 11 * S);
}

static void long_tail(struct scene *s)
{
	for (unsigned int i = 0; i < 10; i++)
		histogram_add(&s->result[0][0].latency, 74000000);
}

static void flat_out(struct scene *s)
{
	s->spec.class[0].rate_bytes_per_s = 0; /* 10 MB/s of 10 Gb/s */
}

static void wrong_priority(struct scene *s)
{
	struct counters c;

	counters_clear(&c);
	c.has[METRIC_PRIO_RX_PACKETS] = 0xff;
	c.value[METRIC_PRIO_RX_PACKETS][5] = 24416;
	prio_arrival_check(&c, true, &(struct prio_flow){3, 26, 100 * MB, 24416}, 1, &s->arrival);
	s->arrivals[1] = &s->arrival;
	s->in.arrival = s->arrivals;
}

static void pressure(struct scene *s)
{
	put(&s->end[1], METRIC_BUFFER_HIGH, 0, 0);
	grow(&s->end[1], METRIC_BUFFER_HIGH, 0, 2);
}

static void symbols(struct scene *s)
{
	put(&s->end[1], METRIC_SYMBOL_ERRORS, 0, 0);
	grow(&s->end[1], METRIC_SYMBOL_ERRORS, 0, 2);
}

static void said_no(struct scene *s)
{
	put(&s->end[1], METRIC_REFUSED_REQUESTS, 0, 0);
	grow(&s->end[1], METRIC_REFUSED_REQUESTS, 0, 2);
}

static void classes_alike(struct scene *s)
{
	const struct prio_flow flow[] = {{3, 26, 50 * MB, 12208}, {4, 34, 50 * MB, 12208}};
	struct counters c;

	counters_clear(&c);
	c.has[METRIC_PRIO_RX_PACKETS] = 0xff;
	c.value[METRIC_PRIO_RX_PACKETS][3] = c.value[METRIC_PRIO_RX_PACKETS][4] = 12208;
	prio_arrival_check(&c, true, flow, 2, &s->arrival);
	s->arrivals[1] = &s->arrival;
	s->in.arrival = s->arrivals;
}

/* A marking echo beside it. */
static void echo_found(struct scene *s, struct echo_finding f)
{
	static struct echo_findings found;

	found = (struct echo_findings){.count = 1, .finding = {f}};
	s->pair.echo = &found;
}

static void echo_dscp(struct scene *s)
{
	echo_found(s, (struct echo_finding){.kind = ECHO_DSCP,
					    .way = ECHO_BACK,
					    .from = 26,
					    .count = 64,
					    .of = 64,
					    .ports = 4,
					    .ports_of = 4});
}

static void echo_ect(struct scene *s)
{
	echo_found(s, (struct echo_finding){
			      .kind = ECHO_ECT_CLEARED, .from = 2, .count = 1, .of = 64});
}

static void echo_ce(struct scene *s)
{
	echo_found(s, (struct echo_finding){
			      .kind = ECHO_CE, .from = 2, .to = 3, .count = 1, .of = 64});
}

static void echo_lost(struct scene *s)
{
	echo_found(s, (struct echo_finding){.kind = ECHO_LOST,
					    .count = 16,
					    .of = 64,
					    .ports = 1,
					    .ports_of = 4,
					    .whole = 1,
					    .named = {0xc03e}});
}

static void echo_deaf(struct scene *s)
{
	echo_found(s, (struct echo_finding){.kind = ECHO_DEAF, .count = 64, .of = 64});
}

static void echo_wrong(struct scene *s)
{
	echo_found(s, (struct echo_finding){.kind = ECHO_WRONG, .count = 1, .of = 64});
}

static void echo_mtu(struct scene *s)
{
	echo_found(s,
		   (struct echo_finding){.kind = ECHO_MTU, .bytes = 1024, .expected_bytes = 4096});
}

static void echo_unread(struct scene *s)
{
	echo_found(s, (struct echo_finding){.kind = ECHO_UNREAD, .count = 64, .of = 64});
}

static void echo_failed(struct scene *s)
{
	s->pair.echo_failed = "h2: lost";
}

#define OBSERVE TRAFFIC_OBSERVE
#define SOFT	true
#define DEVICE	false

/* clang-format off */
static const struct fault_row fault_rows[] = {
	{"clean, hardware", OBSERVE, DEVICE, NULL, VERDICT_PASS, NO_REASON, NULL},
	{"RNR on Soft-RoCE", OBSERVE, SOFT, rnr_soft, VERDICT_WARN, REASON_RNR, "3 RNR NAKs sent"},
	{"RNR and loss", OBSERVE, SOFT, rnr_and_loss, VERDICT_FAIL, REASON_LOST, "1 gaps"},
	{"RNR, strict", TRAFFIC_STRICT, SOFT, rnr_strict, VERDICT_WARN, REASON_RNR, NULL},
	{"RNR and loss, strict", TRAFFIC_STRICT, SOFT, rnr_strict_and_loss, VERDICT_FAIL, REASON_LOST, "3 packets"},
	{"RNR to death", OBSERVE, SOFT, rnr_dead, VERDICT_FAIL, REASON_RNR_DIED, "RNR_RETRY"},
	{"RNR and gaps, hardware", OBSERVE, DEVICE, rnr_device_and_gap, VERDICT_FAIL, REASON_LOST, "3 gaps"},
	{"datagrams without buffer", TRAFFIC_COUNT, DEVICE, no_buffer_datagrams, VERDICT_WARN, REASON_RNR, "5 packets"},
	{"without buffer, and loss", TRAFFIC_COUNT, DEVICE, no_buffer_and_loss, VERDICT_FAIL, REASON_LOST, "2 messages"},
	{"dropped by the host", OBSERVE, DEVICE, host_discards, VERDICT_FAIL, REASON_HOST_DISCARD, "4 RoCE packets"},
	{"dropped in a lossy class", OBSERVE, DEVICE, lossy_discards, VERDICT_PASS, NO_REASON, NULL},
	{"dropped, any protocol", OBSERVE, DEVICE, port_discards, VERDICT_WARN, REASON_PORT_DISCARDS, NULL},
	{"bad ICRC", OBSERVE, DEVICE, bad_icrc, VERDICT_FAIL, REASON_CORRUPTION, "1 packets"},
	{"wrong contents", OBSERVE, DEVICE, wrong_data, VERDICT_FAIL, REASON_WRONG_DATA, "1 messages"},
	{"late under pause", OBSERVE, DEVICE, late_under_pause, VERDICT_WARN, REASON_SPURIOUS_PAUSE, "paused"},
	{"late, no pause", OBSERVE, DEVICE, late_without_pause, VERDICT_WARN, REASON_TIMEOUTS, NULL},
	{"answers missed", OBSERVE, DEVICE, answers_missed, VERDICT_FAIL, REASON_LOST, "answers to h1"},
	{"NAKs alone", OBSERVE, DEVICE, naks_alone, VERDICT_FAIL, REASON_LOST, "from h1"},
	{"peer killed", OBSERVE, SOFT, peer_killed, VERDICT_INCONCLUSIVE, REASON_PEER_GONE, NULL},
	{"peer killed, access", OBSERVE, SOFT, peer_killed_rem_access, VERDICT_INCONCLUSIVE, REASON_PEER_GONE, NULL},
	{"retries exceeded", OBSERVE, DEVICE, retries_exceeded, VERDICT_FAIL, REASON_LOST, "message 381"},
	{"link lost", OBSERVE, SOFT, link_lost, VERDICT_FAIL, REASON_LINK_DOWN, NULL},
	{"stalled", OBSERVE, SOFT, stalled, VERDICT_FAIL, REASON_STALLED, NULL},
	{"qdisc of 6.1", OBSERVE, SOFT, qdisc_61, VERDICT_WARN, REASON_SEND_ERRORS, "40224"},
	{"qdisc of 6.12", OBSERVE, SOFT, qdisc_612, VERDICT_FAIL, REASON_LOST_IN_SENDER, "h1 itself"},
	{"qdisc and gaps", OBSERVE, SOFT, qdisc_and_gaps, VERDICT_FAIL, REASON_LOST_IN_SENDER, "h1 itself"},
	{"refused", OBSERVE, SOFT, refused, VERDICT_FAIL, REASON_QP_FAILED, "remote-error"},
	{"said no", OBSERVE, DEVICE, said_no, VERDICT_WARN, REASON_REFUSED, NULL},
	{"storm", OBSERVE, DEVICE, storm, VERDICT_WARN, REASON_STORM, NULL},
	{"long pause", OBSERVE, DEVICE, long_pause, VERDICT_WARN, REASON_LONG_PAUSE, "priority 3"},
	{"short pause", OBSERVE, DEVICE, short_pause, VERDICT_PASS, NO_REASON, NULL},
	{"CNPs ignored", OBSERVE, DEVICE, cnp_ignored, VERDICT_WARN, REASON_CNP_IGNORED, NULL},
	{"symbol errors", OBSERVE, DEVICE, symbols, VERDICT_WARN, REASON_BAD_PACKETS, NULL},
	{"buffer high", OBSERVE, DEVICE, pressure, VERDICT_WARN, REASON_PRESSURE, NULL},
	{"incast without pause", OBSERVE, SOFT, incast_calm, VERDICT_INCONCLUSIVE, REASON_NOT_STRESSED, "not stressed"},
	{"incast, nothing counts", OBSERVE, SOFT, incast_uncounted, VERDICT_INCONCLUSIVE, REASON_NOT_STRESSED, "not known"},
	{"incast with pause", OBSERVE, SOFT, incast_paused, VERDICT_PASS, NO_REASON, NULL},
	{"incast with CNPs", OBSERVE, SOFT, incast_cnp, VERDICT_PASS, NO_REASON, NULL},
	{"incast, loss", OBSERVE, SOFT, incast_calm_and_loss, VERDICT_FAIL, REASON_LOST, NULL},
	{"no loss counters, strict", TRAFFIC_STRICT, DEVICE, uncounted, VERDICT_PASS, NO_REASON, NULL},
	{"counters reset", OBSERVE, SOFT, reset, VERDICT_INCONCLUSIVE, REASON_RESET, "retransmits"},
	{"foreign traffic", OBSERVE, SOFT, foreign, VERDICT_INCONCLUSIVE, REASON_FOREIGN, "h2"},
	{"foreign traffic out", OBSERVE, SOFT, foreign_out, VERDICT_INCONCLUSIVE, REASON_FOREIGN, "h2"},
	{"foreign traffic and retries", OBSERVE, SOFT, foreign_and_retries, VERDICT_INCONCLUSIVE, REASON_FOREIGN, "h2"},
	{"repetitions", OBSERVE, SOFT, repetitions, VERDICT_PASS, REASON_ACCOUNTED, NULL},
	{"other users", OBSERVE, SOFT, users, VERDICT_PASS, REASON_USERS, "storage"},
	{"pace", OBSERVE, SOFT, slow_pace, VERDICT_INCONCLUSIVE, REASON_PACE, "10.0 of 20.0"},
	{"nothing moved", OBSERVE, SOFT, nothing_moved, VERDICT_INCONCLUSIVE, REASON_NOTHING, NULL},
	{"aborted", OBSERVE, SOFT, aborted, VERDICT_INCONCLUSIVE, REASON_ABORTED, NULL},
	{"reordered", TRAFFIC_COUNT, DEVICE, reordered, VERDICT_WARN, REASON_REORDERED, "4 messages"},
	{"lossy neighbour", OBSERVE, SOFT, lossy_neighbour, VERDICT_WARN, REASON_IDLE_LOSS, "5 gaps"},
	{"unsteady", OBSERVE, DEVICE, unsteady, VERDICT_WARN, REASON_UNSTEADY, "4.0 s"},
	{"unsteady, Soft-RoCE", OBSERVE, SOFT, unsteady, VERDICT_PASS, REASON_UNSTEADY, NULL},
	{"long tail", OBSERVE, DEVICE, long_tail, VERDICT_WARN, REASON_TAIL, NULL},
	{"long tail, Soft-RoCE", OBSERVE, SOFT, long_tail, VERDICT_PASS, REASON_TAIL, NULL},
	{"below the link", OBSERVE, DEVICE, flat_out, VERDICT_WARN, REASON_SLOW, "1250.0"},
	{"below the link, Soft-RoCE", OBSERVE, SOFT, flat_out, VERDICT_PASS, NO_REASON, NULL},
	{"wrong priority", OBSERVE, SOFT, wrong_priority, VERDICT_FAIL, REASON_WRONG_PRIORITY, "priority 5"},
	{"DSCP rewritten", OBSERVE, SOFT, echo_dscp, VERDICT_FAIL, REASON_REMARKED, "DSCP 26 arrives as 0"},
	{"ECT cleared", OBSERVE, SOFT, echo_ect, VERDICT_FAIL, REASON_REMARKED, "Not-ECT"},
	{"CE while idle", OBSERVE, SOFT, echo_ce, VERDICT_WARN, REASON_CE_IDLE, "as CE"},
	{"a source port loses", OBSERVE, SOFT, echo_lost, VERDICT_FAIL, REASON_WAY_LOSES, "always these: 0xc03e"},
	{"datagrams do not arrive", OBSERVE, SOFT, echo_deaf, VERDICT_FAIL, REASON_WAY_LOSES, "nothing arrives"},
	{"datagrams are wrong", OBSERVE, SOFT, echo_wrong, VERDICT_FAIL, REASON_WRONG_DATA, "1 of 64"},
	{"path MTU", OBSERVE, SOFT, echo_mtu, VERDICT_FAIL, REASON_WAY_MTU, "1024"},
	{"no IP header", OBSERVE, SOFT, echo_unread, VERDICT_INCONCLUSIVE, REASON_UNSEEN, "no IP header"},
	{"no marking echo", OBSERVE, SOFT, echo_failed, VERDICT_INCONCLUSIVE, REASON_UNSEEN, "h2: lost"},
	{"classes alike", OBSERVE, SOFT, classes_alike, VERDICT_INCONCLUSIVE, REASON_ALIKE, "3 and 4"},
};
/* clang-format on */

static void run_fault(const struct fault_row *row, struct scene *s)
{
	make_scene(s, row->mode, row->soft);
	s->spec.timeout = row->mode == TRAFFIC_STRICT ? 14 : 18;
	if (row->change)
		row->change(s);
	judge(s);
}

static void test_faults(void **state)
{
	struct scene s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fault_rows); i++) {
		run_fault(&fault_rows[i], &s);
		expect(fault_rows[i].name, &s.v, fault_rows[i].want, fault_rows[i].reason,
		       fault_rows[i].says);
	}
}

/* Two sides of one thing: both are said. */
static void test_several(void **state)
{
	struct scene s;

	(void)state;
	make_scene(&s, TRAFFIC_OBSERVE, false);
	bad_icrc_and_loss(&s);
	judge(&s);
	assert_int_equal(s.v.verdict, VERDICT_FAIL);
	assert_true(traffic_verdict_has(&s.v, REASON_CORRUPTION));
	assert_true(traffic_verdict_has(&s.v, REASON_LOST));
	make_scene(&s, TRAFFIC_OBSERVE, false);
	uncounted(&s);
	unread(&s);
	judge(&s);
	assert_int_equal(s.v.verdict, VERDICT_INCONCLUSIVE);
	assert_int_equal(s.v.count, 2); /* both ends */
	assert_int_equal(s.v.reason[0].kind, REASON_NO_COUNTERS);
}

/* Three ports, two senders: the account is that of all. */
static void test_incast_account(void **state)
{
	struct verdict_pair pairs[2];
	struct scene s;

	(void)state;
	for (unsigned int lost = 0; lost < 2; lost++) {
		make_scene(&s, TRAFFIC_OBSERVE, true);
		make_end(&s.end[2], "h3", true);
		s.ends[2] = &s.end[2];
		grow(&s.end[2], METRIC_RDMA_TX_PACKETS, 0, 500);
		grow(&s.end[1], METRIC_RDMA_RX_PACKETS, 0, 500 - lost);
		grow(&s.end[2], METRIC_RETRANSMITS, 0, 2);
		pairs[0] = pairs[1] = s.pair;
		pairs[1].client = 2;
		s.in.pair = pairs;
		s.in.pair_count = 2;
		s.in.end_count = 3;
		judge(&s);
		expect("incast", &s.v, lost ? VERDICT_FAIL : VERDICT_PASS,
		       lost ? REASON_LOST : REASON_ACCOUNTED, NULL);
	}
}

static void test_table(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < REASON_COUNT; kind++) {
		const struct reason_info *info = &reason_table[kind];
		bool tested = kind == REASON_NO_COUNTERS || kind == REASON_ACCOUNTED ||
			      kind == REASON_ACKS_LOST || kind == REASON_SPURIOUS;

		assert_non_null(info->word);
		assert_non_null(info->cause);
		assert_non_null(info->advice);
		if (info->rule && !rule_find(info->rule))
			fail_msg("%s: no rule %s", info->word, info->rule);
		for (unsigned int other = 0; other < kind; other++)
			assert_string_not_equal(info->word, reason_table[other].word);
		for (size_t i = 0; i < ARRAY_SIZE(fault_rows); i++)
			tested |= fault_rows[i].reason == (int)kind;
		if (!tested)
			fail_msg("%s: no case", info->word);
	}
}

static void test_json_and_findings(void **state)
{
	struct findings all = {0};
	struct scene s;
	json_t *json, *one;

	(void)state;
	make_scene(&s, TRAFFIC_OBSERVE, true);
	grow(&s.end[1], METRIC_OUT_OF_SEQUENCE, 0, 1);
	storm(&s);
	judge(&s);
	json = traffic_verdict_to_json(&s.v, &s.in);
	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(json, "verdict")), "FAIL");
	one = json_array_get(json_object_get(json, "reasons"), 0);
	assert_string_equal(json_string_value(json_object_get(one, "reason")), "lost");
	assert_string_equal(json_string_value(json_object_get(one, "cause")), "fabric-loss");
	assert_string_equal(json_string_value(json_object_get(one, "rule")), "RC-TRN-001");
	assert_string_equal(json_string_value(json_object_get(one, "host")), "h2");
	json_decref(json);
	traffic_verdict_findings(&s.v, &s.in, &all);
	assert_int_equal(all.count, 1); /* the storm has no rule */
	assert_string_equal(all.list[0].rule->id, "RC-TRN-001");
	assert_int_equal(all.list[0].verdict, VERDICT_FAIL);
	findings_clear(&all);
}

static void test_bad_input(void **state)
{
	struct err e = {0};
	struct scene s;

	(void)state;
	make_scene(&s, TRAFFIC_OBSERVE, true);
	s.pair.server = 2;
	assert_int_equal(traffic_verdict_make(&s.in, &s.v, &e), -EINVAL);
	s.pair.server = 1;
	s.in.end_count = VERDICT_ENDS_MAX + 1;
	assert_int_equal(traffic_verdict_make(&s.in, &s.v, &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_soft_losses),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_incast_account),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_bad_input),
		cmocka_unit_test(test_json_and_findings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
