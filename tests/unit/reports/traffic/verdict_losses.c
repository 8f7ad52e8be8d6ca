/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What verdict_losses.h declares.
 */
#include "tests/unit/reports/traffic/verdict_losses.h"

static void rnr_soft(struct scene *s)
{
	grow_by(&s->end[1], METRIC_RNR_NAK_TX, 0, 3);
	grow_by(&s->end[0], METRIC_RNR_NAK_RX, 0, 3);
	/* Each RNR is followed by a gap, a NAK and a repetition. */
	grow_by(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 3);
	grow_by(&s->end[0], METRIC_SEQ_NAK_RX, 0, 3);
	grow_by(&s->end[0], METRIC_RETRANSMITS, 0, 3);
	grow_by(&s->end[1], METRIC_DUPLICATE_REQUEST, 0, 2);
}

static void rnr_and_loss(struct scene *s)
{
	rnr_soft(s);
	grow_by(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 1);
}

static void rnr_strict(struct scene *s)
{
	rnr_soft(s);
	s->result[0][0].losses = 2;
	grow_by(&s->end[0], METRIC_RETRY_EXCEEDED, 0, 2);
}

static void rnr_strict_and_loss(struct scene *s)
{
	rnr_strict(s);
	s->result[0][0].losses = 9;
}

static void rnr_dead(struct scene *s)
{
	grow_by(&s->end[0], METRIC_RETRY_EXCEEDED, 0, 1);
	grow_by(&s->end[0], METRIC_RNR_EXCEEDED, 0, 1);
	s->report[0].total.cause = CAUSE_RNR;
	snprintf(s->report[0].total.detail, 40, "RNR_RETRY_EXC_ERR");
}

/* On hardware a gap stays a gap, RNR or not. */
static void rnr_device_and_gap(struct scene *s)
{
	grow_by(&s->end[1], METRIC_RNR_NAK_TX, 0, 3);
	grow_by(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 3);
}

void no_buffer_datagrams(struct scene *s)
{
	put_value(&s->end[1], METRIC_OUT_OF_BUFFER, 0, 0);
	grow_by(&s->end[1], METRIC_OUT_OF_BUFFER, 0, 5);
	s->result[1][0].gaps = 5;
}

static void no_buffer_and_loss(struct scene *s)
{
	no_buffer_datagrams(s);
	s->result[1][0].gaps = 7;
}

/* Two classes of datagrams, and 100 packets for which the device had no buffer: whose they were it
 * does not tell. */
static void no_buffer_two_classes(struct scene *s, uint64_t gaps0, uint64_t gaps1)
{
	no_buffer_datagrams(s);
	grow_by(&s->end[1], METRIC_OUT_OF_BUFFER, 0, 95);
	s->spec.class_count = 2;
	s->spec.class[1] = s->spec.class[0];
	for (unsigned int i = 0; i < 2; i++) {
		s->result[i][1] = s->result[i][0];
		s->report[i].class_count = 2;
	}
	s->result[1][0].gaps = gaps0;
	s->result[1][1].gaps = gaps1;
	grow_by(&s->end[0], METRIC_TX_BYTES, 0, 102 * MB);
	grow_by(&s->end[1], METRIC_RX_BYTES, 0, 102 * MB);
}

static void no_buffer_shared(struct scene *s)
{
	no_buffer_two_classes(s, 60, 40);
}

static void no_buffer_spent(struct scene *s)
{
	no_buffer_two_classes(s, 100, 50);
}

static void host_discards(struct scene *s)
{
	put_value(&s->end[1], METRIC_PRIO_RX_DISCARDS, 3, 0);
	grow_by(&s->end[1], METRIC_PRIO_RX_DISCARDS, 3, 4);
	grow_by(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 2);
	grow_by(&s->end[0], METRIC_SEQ_NAK_RX, 0, 0);
}

static void lossy_discards(struct scene *s)
{
	put_value(&s->end[1], METRIC_PRIO_RX_DISCARDS, 3, 0);
	put_value(&s->end[1], METRIC_PRIO_RX_DISCARDS, 0, 0);
	grow_by(&s->end[1], METRIC_PRIO_RX_DISCARDS, 0, 4);
}

static void port_discards(struct scene *s)
{
	put_value(&s->end[1], METRIC_RX_DISCARDS, 0, 0);
	grow_by(&s->end[1], METRIC_RX_DISCARDS, 0, 4);
}

static void bad_icrc(struct scene *s)
{
	put_value(&s->end[1], METRIC_ICRC_ERRORS, 0, 0);
	grow_by(&s->end[1], METRIC_ICRC_ERRORS, 0, 1);
	grow_by(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 1);
	grow_by(&s->end[0], METRIC_SEQ_NAK_RX, 0, 1);
}

void bad_icrc_and_loss(struct scene *s)
{
	bad_icrc(s);
	grow_by(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 5);
}

static void wrong_data(struct scene *s)
{
	s->result[1][0].mismatches = 1;
	s->report[1].total.cause = CAUSE_DATA;
}

static void late_under_pause(struct scene *s)
{
	put_value(&s->end[0], METRIC_ACK_TIMEOUT, 0, 0);
	put_value(&s->end[0], METRIC_PFC_RX_FRAMES, 3, 0);
	grow_by(&s->end[0], METRIC_ACK_TIMEOUT, 0, 2);
	grow_by(&s->end[0], METRIC_RETRANSMITS, 0, 2);
	grow_by(&s->end[0], METRIC_PFC_RX_FRAMES, 3, 900);
}

static void late_without_pause(struct scene *s)
{
	put_value(&s->end[0], METRIC_ACK_TIMEOUT, 0, 0);
	grow_by(&s->end[0], METRIC_ACK_TIMEOUT, 0, 2);
}

/* One retry beside somebody else's packets, one of which is missing. */
static void retry_and_a_neighbour(struct scene *s, unsigned int timeout, unsigned int slow_messages)
{
	s->spec.timeout = (uint8_t)timeout;
	s->end[0].user_count = 1;
	s->end[1].reading[READ_LOAD_AFTER].value[METRIC_RDMA_RX_PACKETS][0]--;
	grow_by(&s->end[0], METRIC_RETRANSMITS, 0, 1);
	grow_by(&s->end[1], METRIC_DUPLICATE_REQUEST, 0, 1);
	for (unsigned int i = 0; i < slow_messages; i++)
		histogram_add(&s->result[0][0].latency, 1080 * MB);
}

static void one_waited(struct scene *s)
{
	retry_and_a_neighbour(s, 18, 1);
}

/* Megabytes behind a slow host: all wait as long as the timer. */
static void all_waited(struct scene *s)
{
	memset(&s->result[0][0].latency, 0, sizeof(s->result[0][0].latency));
	retry_and_a_neighbour(s, 18, 50);
}

/* The timer is rdma_cm's, shorter than ours. */
static void one_waited_cm(struct scene *s)
{
	s->spec.bringup = TRAFFIC_CM;
	retry_and_a_neighbour(s, 0, 1);
}

static void answers_missed(struct scene *s)
{
	put_value(&s->end[0], METRIC_RESPONSE_LOST, 0, 0);
	grow_by(&s->end[0], METRIC_RESPONSE_LOST, 0, 1);
}

static void naks_alone(struct scene *s)
{
	s->end[1].reading[READ_LOAD_AFTER].has[METRIC_OUT_OF_SEQUENCE] = 0;
	grow_by(&s->end[0], METRIC_SEQ_NAK_RX, 0, 2);
}

static void peer_killed(struct scene *s)
{
	s->report[0].total.cause = CAUSE_REMOTE_GONE;
	s->pair.server_report = NULL;
	grow_by(&s->end[0], METRIC_RETRANSMITS, 0, 253);
	grow_by(&s->end[0], METRIC_RETRY_EXCEEDED, 0, 4);
}

static void peer_killed_rem_access(struct scene *s)
{
	s->pair.server_report = NULL;
	s->report[0].total.cause = CAUSE_REMOTE;
}

static void retries_exceeded(struct scene *s)
{
	s->report[0].total.cause = CAUSE_RETRY_EXCEEDED;
	snprintf(s->report[0].total.detail, 60, "RETRY_EXC_ERR after 0.3 s, message 381");
	grow_by(&s->end[0], METRIC_RETRY_EXCEEDED, 0, 1);
	grow_by(&s->end[0], METRIC_RETRANSMITS, 0, 6);
}

static void gave_up(struct scene *s, unsigned int end)
{
	s->report[end].total.cause = CAUSE_REMOTE_GONE;
	snprintf(s->report[end].total.detail, 60, "the other end gave up");
}

/* One queue pair dies, and its end says farewell on another one: the other end is told. */
static void farewell(struct scene *s)
{
	retries_exceeded(s);
	gave_up(s, 1);
}

static void farewell_of_server(struct scene *s)
{
	s->report[1].total.cause = CAUSE_RETRY_EXCEEDED;
	gave_up(s, 0);
}

/* Its answers are what is missing: it could not send them. */
static void farewell_unanswered(struct scene *s)
{
	farewell(s);
	grow_by(&s->end[1], METRIC_SEND_ERRORS, 0, 5);
}

static void farewell_remote(struct scene *s)
{
	s->report[0].total.cause = CAUSE_REMOTE;
	gave_up(s, 1);
}

static void farewell_local(struct scene *s)
{
	s->report[0].total.cause = CAUSE_LOCAL;
	gave_up(s, 1);
}

static void strict_losses_and_farewell(struct scene *s)
{
	s->result[0][0].losses = 2;
	gave_up(s, 1);
}

static void read_strict(struct scene *s)
{
	s->spec.class[0].verb = TRAFFIC_READ;
	s->result[0][0].losses = 1;
}

static void atomic_strict(struct scene *s)
{
	read_strict(s);
	s->spec.class[0].verb = TRAFFIC_ATOMIC;
}

/* Responses are sent by the server. */
static void read_unanswered(struct scene *s)
{
	read_strict(s);
	grow_by(&s->end[1], METRIC_SEND_ERRORS, 0, 5);
}

static void read_unasked(struct scene *s)
{
	read_strict(s);
	grow_by(&s->end[0], METRIC_SEND_ERRORS, 0, 5);
}

/* A WRITE's data comes from the client: what the server could not send is not that. */
static void write_strict_unsent(struct scene *s)
{
	s->result[0][0].losses = 1;
	grow_by(&s->end[1], METRIC_SEND_ERRORS, 0, 5);
}

static void responses_unsent(struct scene *s)
{
	answers_missed(s);
	grow_by(&s->end[1], METRIC_SEND_ERRORS, 0, 5);
}

/* RoCE alone is filtered: both programs live, and told it over TCP. */
static void black_hole(struct scene *s)
{
	for (unsigned int i = 0; i < 2; i++) {
		s->report[i].total.cause = CAUSE_REMOTE_GONE;
		snprintf(s->report[i].total.detail, 60,
			 "nothing came from the other end for 5.%u s", i);
	}
}

static void black_hole_and_gaps(struct scene *s)
{
	s->result[1][0].gaps = 3;
	gave_up(s, 0);
}

/* A program that hung is killed, and told of by its agent; the other end heard nothing of it. */
static void hung(struct scene *s)
{
	s->report[1].total.cause = CAUSE_TIMEOUT;
	gave_up(s, 0);
	grow_by(&s->end[0], METRIC_RETRANSMITS, 0, 6);
	grow_by(&s->end[0], METRIC_RETRY_EXCEEDED, 0, 4);
}

static void link_lost(struct scene *s)
{
	s->report[0].total.cause = CAUSE_PORT_DOWN;
	grow_by(&s->end[0], METRIC_LINK_DOWN, 0, 1);
}

static void stalled(struct scene *s)
{
	s->report[0].total.cause = CAUSE_TIMEOUT;
}

/* A queueing discipline that drops: Linux 6.1 tries again and again, 6.12 ends the queue pair. */
static void qdisc_61(struct scene *s)
{
	grow_by(&s->end[0], METRIC_SEND_ERRORS, 0, 40224);
}

void qdisc_612(struct scene *s)
{
	grow_by(&s->end[0], METRIC_SEND_ERRORS, 0, 2);
	s->report[0].total.cause = CAUSE_LOCAL;
}

static void qdisc_and_gaps(struct scene *s)
{
	grow_by(&s->end[0], METRIC_SEND_ERRORS, 0, 2);
	grow_by(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 1);
}

void sends_nothing_any_more(struct scene *s)
{
	grow_by(&s->end[0], METRIC_SEND_ERRORS, 0, 27688);
	s->report[0].total.cause = s->report[1].total.cause = CAUSE_REMOTE_GONE;
	snprintf(s->report[0].total.detail, 60, "the other end gave up");
}

/* The same on Linux 6.12, which ends the queue pair there. */
static void sends_nothing_612(struct scene *s)
{
	sends_nothing_any_more(s);
	s->report[0].total.cause = CAUSE_LOCAL;
}

/* The same where the kernel of 6.1 lets no program run for long: our watchdog ends it there. */
static void sends_nothing_and_hangs(struct scene *s)
{
	sends_nothing_any_more(s);
	s->report[0].total.cause = CAUSE_TIMEOUT;
	snprintf(s->report[0].total.detail, 60, "the kernel did not let it go");
}

static void server_sends_nothing(struct scene *s)
{
	sends_nothing_any_more(s);
	s->end[0].reading[READ_LOAD_AFTER].value[METRIC_SEND_ERRORS][0] -= 27688;
	grow_by(&s->end[1], METRIC_SEND_ERRORS, 0, 3);
}

/* It gave up for a reason of its own, which its failed sends come from as well. */
static void link_lost_and_unsent(struct scene *s)
{
	link_lost(s);
	grow_by(&s->end[0], METRIC_SEND_ERRORS, 0, 9);
	s->report[1].total.cause = CAUSE_REMOTE_GONE;
}

/* It ended well, and could not send for once: that is not why the other heard nothing. */
static void gone_after_the_end(struct scene *s)
{
	grow_by(&s->end[0], METRIC_SEND_ERRORS, 0, 1);
	s->report[1].total.cause = CAUSE_REMOTE_GONE;
}

static void refused(struct scene *s)
{
	s->report[0].total.cause = CAUSE_REMOTE;
}

static void said_no(struct scene *s)
{
	put_value(&s->end[1], METRIC_REFUSED_REQUESTS, 0, 0);
	grow_by(&s->end[1], METRIC_REFUSED_REQUESTS, 0, 2);
}

/* clang-format off */
static const struct fault_row rows[] = {
	{"RNR on Soft-RoCE", OBSERVE, SOFT, rnr_soft, VERDICT_WARN, REASON_RNR, "3 RNR NAKs sent"},
	{"RNR and loss", OBSERVE, SOFT, rnr_and_loss, VERDICT_FAIL, REASON_LOST, "1 sequence gaps"},
	{"RNR, strict", TRAFFIC_STRICT, SOFT, rnr_strict, VERDICT_WARN, REASON_RNR, NULL},
	{"RNR and loss, strict", TRAFFIC_STRICT, SOFT, rnr_strict_and_loss, VERDICT_FAIL, REASON_LOST, "3 packets"},
	{"RNR to death", OBSERVE, SOFT, rnr_dead, VERDICT_FAIL, REASON_RNR_DIED, "RNR_RETRY"},
	{"RNR and gaps, hardware", OBSERVE, DEVICE, rnr_device_and_gap, VERDICT_FAIL, REASON_LOST, "3 sequence gaps"},
	{"datagrams without buffer", TRAFFIC_COUNT, DEVICE, no_buffer_datagrams, VERDICT_WARN, REASON_RNR, "5 packets"},
	{"without buffer, and loss", TRAFFIC_COUNT, DEVICE, no_buffer_and_loss, VERDICT_FAIL, REASON_LOST, "2 messages"},
	{"without buffer, two classes", TRAFFIC_COUNT, DEVICE, no_buffer_shared, VERDICT_WARN, REASON_RNR, "100 packets"},
	{"without buffer, and the other class lost", TRAFFIC_COUNT, DEVICE, no_buffer_spent, VERDICT_FAIL, REASON_LOST, "50 messages of class 1 never arrived"},
	{"dropped by the host", OBSERVE, DEVICE, host_discards, VERDICT_FAIL, REASON_HOST_DISCARD, "4 RoCE packets"},
	{"dropped in a lossy class", OBSERVE, DEVICE, lossy_discards, VERDICT_PASS, NO_REASON, NULL},
	{"dropped, any protocol", OBSERVE, DEVICE, port_discards, VERDICT_WARN, REASON_PORT_DISCARDS, NULL},
	{"bad ICRC", OBSERVE, DEVICE, bad_icrc, VERDICT_FAIL, REASON_CORRUPTION, "1 packets"},
	{"wrong contents", OBSERVE, DEVICE, wrong_data, VERDICT_FAIL, REASON_WRONG_DATA, "1 messages"},
	{"late under pause", OBSERVE, DEVICE, late_under_pause, VERDICT_WARN, REASON_SPURIOUS_PAUSE, "paused"},
	{"late, no pause", OBSERVE, DEVICE, late_without_pause, VERDICT_WARN, REASON_TIMEOUTS, NULL},
	{"one waited", OBSERVE, SOFT, one_waited, VERDICT_FAIL, REASON_LOST, "whole ACK timeout"},
	{"all waited", OBSERVE, SOFT, all_waited, VERDICT_WARN, REASON_SPURIOUS, "code 18"},
	{"one waited, rdma_cm", OBSERVE, SOFT, one_waited_cm, VERDICT_WARN, REASON_SPURIOUS, "code 17"},
	{"answers missed", OBSERVE, DEVICE, answers_missed, VERDICT_FAIL, REASON_LOST, "responses to h1"},
	{"NAKs alone", OBSERVE, DEVICE, naks_alone, VERDICT_FAIL, REASON_LOST, "from h1"},
	{"peer killed", OBSERVE, SOFT, peer_killed, VERDICT_INCONCLUSIVE, REASON_REMOTE_GONE, NULL},
	{"peer killed, access", OBSERVE, SOFT, peer_killed_rem_access, VERDICT_INCONCLUSIVE, REASON_REMOTE_GONE, NULL},
	{"retries exceeded", OBSERVE, DEVICE, retries_exceeded, VERDICT_FAIL, REASON_LOST, "message 381"},
	{"farewell", OBSERVE, DEVICE, farewell, VERDICT_FAIL, REASON_LOST, "h1 and h2 (request or response): RETRY_EXC_ERR"},
	{"farewell, soft", OBSERVE, SOFT, farewell, VERDICT_FAIL, REASON_LOST, "message 381"},
	{"farewell of the server", OBSERVE, SOFT, farewell_of_server, VERDICT_FAIL, REASON_LOST, "retry-exceeded"},
	{"farewell, unanswered", OBSERVE, SOFT, farewell_unanswered, VERDICT_FAIL, REASON_LOST_IN_SENDER, "message 381; h2 itself"},
	{"farewell, remote error", OBSERVE, DEVICE, farewell_remote, VERDICT_FAIL, REASON_QP_FAILED, "h1: remote-error"},
	{"farewell, local error", OBSERVE, DEVICE, farewell_local, VERDICT_FAIL, REASON_QP_FAILED, "h1: local-error"},
	{"strict, and farewell", TRAFFIC_STRICT, SOFT, strict_losses_and_farewell, VERDICT_FAIL, REASON_LOST, "2 packets"},
	{"READ, strict", TRAFFIC_STRICT, SOFT, read_strict, VERDICT_FAIL, REASON_LOST, "between h1 and h2 (request or response): 1 packets"},
	{"atomics, strict", TRAFFIC_STRICT, SOFT, atomic_strict, VERDICT_FAIL, REASON_LOST, "between h1 and h2 (request or response): 1 packets"},
	{"READ, unanswered", TRAFFIC_STRICT, SOFT, read_unanswered, VERDICT_FAIL, REASON_LOST_IN_SENDER, "(strict); h2 itself failed to send 5"},
	{"READ, unasked", TRAFFIC_STRICT, SOFT, read_unasked, VERDICT_FAIL, REASON_LOST_IN_SENDER, "(strict); h1 itself failed to send 5"},
	{"WRITE, strict, unsent", TRAFFIC_STRICT, SOFT, write_strict_unsent, VERDICT_FAIL, REASON_LOST, "h1 -> h2: 1 packets"},
	{"responses unsent", OBSERVE, DEVICE, responses_unsent, VERDICT_FAIL, REASON_LOST_IN_SENDER, "h2 itself failed to send 5"},
	{"black hole", OBSERVE, DEVICE, black_hole, VERDICT_FAIL, REASON_LOST, "h1 and h2: "},
	{"black hole, counted", TRAFFIC_COUNT, SOFT, black_hole, VERDICT_FAIL, REASON_LOST, "h2: nothing came from the other end for 5.1 s"},
	{"gaps, and gone", TRAFFIC_COUNT, SOFT, black_hole_and_gaps, VERDICT_FAIL, REASON_LOST, "3 messages"},
	{"hung", OBSERVE, SOFT, hung, VERDICT_FAIL, REASON_STALLED, "h2: timeout"},
	{"link lost", OBSERVE, SOFT, link_lost, VERDICT_FAIL, REASON_LINK_DOWN, NULL},
	{"stalled", OBSERVE, SOFT, stalled, VERDICT_FAIL, REASON_STALLED, NULL},
	{"qdisc of 6.1", OBSERVE, SOFT, qdisc_61, VERDICT_WARN, REASON_SEND_ERRORS, "40224"},
	{"qdisc of 6.12", OBSERVE, SOFT, qdisc_612, VERDICT_FAIL, REASON_LOST_IN_SENDER, "h1 itself"},
	{"qdisc and gaps", OBSERVE, SOFT, qdisc_and_gaps, VERDICT_FAIL, REASON_LOST_IN_SENDER, "h1 itself"},
	{"sends nothing any more", OBSERVE, SOFT, sends_nothing_any_more, VERDICT_FAIL, REASON_LOST_IN_SENDER, "gave up; h1 itself failed"},
	{"sends nothing, 6.12", OBSERVE, SOFT, sends_nothing_612, VERDICT_FAIL, REASON_LOST_IN_SENDER, "h1 -> h2: "},
	{"sends nothing, and hangs", OBSERVE, SOFT, sends_nothing_and_hangs, VERDICT_FAIL, REASON_LOST_IN_SENDER, "did not let it go; h1 itself"},
	{"server sends nothing", OBSERVE, SOFT, server_sends_nothing, VERDICT_FAIL, REASON_LOST_IN_SENDER, "h2 -> h1: the other end gave up; h2 itself"},
	{"link lost, and unsent", OBSERVE, SOFT, link_lost_and_unsent, VERDICT_FAIL, REASON_LINK_DOWN, NULL},
	{"gone after the end", OBSERVE, SOFT, gone_after_the_end, VERDICT_INCONCLUSIVE, REASON_REMOTE_GONE, "h2: "},
	{"refused", OBSERVE, SOFT, refused, VERDICT_FAIL, REASON_QP_FAILED, "remote-error"},
	{"said no", OBSERVE, DEVICE, said_no, VERDICT_WARN, REASON_REFUSED, NULL},
};
/* clang-format on */

const struct fault_table loss_faults = {rows, ARRAY_SIZE(rows)};
