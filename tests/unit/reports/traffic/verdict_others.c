/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What verdict_others.h declares.
 */
#include "tests/unit/reports/traffic/verdict_others.h"

void storm(struct scene *s)
{
	put_value(&s->end[0], METRIC_PAUSE_STORM, 0, 0);
	grow_by(&s->end[0], METRIC_PAUSE_STORM, 0, 1);
}

static void long_pause(struct scene *s)
{
	put_value(&s->end[0], METRIC_PFC_RX_PAUSE_US, 3, 0);
	grow_by(&s->end[0], METRIC_PFC_RX_PAUSE_US, 3, 1100000);
}

static void short_pause(struct scene *s)
{
	put_value(&s->end[0], METRIC_PFC_RX_PAUSE_US, 3, 0);
	grow_by(&s->end[0], METRIC_PFC_RX_PAUSE_US, 3, 900000);
}

static void cnp_ignored(struct scene *s)
{
	put_value(&s->end[0], METRIC_CNP_IGNORED, 0, 0);
	grow_by(&s->end[0], METRIC_CNP_IGNORED, 0, 7);
}

static void incast_calm(struct scene *s)
{
	put_value(&s->end[1], METRIC_PFC_TX_FRAMES, 3, 0);
	s->in.incast = true;
}

static void incast_uncounted(struct scene *s)
{
	s->in.incast = true;
}

static void incast_paused(struct scene *s)
{
	incast_calm(s);
	grow_by(&s->end[1], METRIC_PFC_TX_FRAMES, 3, 12);
}

static void incast_cnp(struct scene *s)
{
	s->in.incast = true;
	put_value(&s->end[0], METRIC_CNP_RX, 0, 0);
	grow_by(&s->end[0], METRIC_CNP_RX, 0, 3);
}

static void incast_calm_and_loss(struct scene *s)
{
	incast_calm(s);
	grow_by(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 1);
}

void uncounted(struct scene *s)
{
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int r = 0; r < READ_COUNT; r++) {
			s->end[i].reading[r].has[METRIC_OUT_OF_SEQUENCE] = 0;
			s->end[i].reading[r].has[METRIC_SEQ_NAK_RX] = 0;
			s->end[i].reading[r].has[METRIC_RETRANSMITS] = 0;
		}
	}
}

void unread(struct scene *s)
{
	s->end[1].has &= ~(1u << READ_LOAD_AFTER);
}

static void reset(struct scene *s)
{
	s->end[1].reading[READ_LOAD_AFTER].value[METRIC_RETRANSMITS][0] = 7;
}

static void foreign(struct scene *s)
{
	grow_by(&s->end[1], METRIC_RX_BYTES, 0, 20 * MB);
}

/* What 256 queue pairs tell each other in ten minutes, both ways. */
static void credits(struct scene *s)
{
	for (unsigned int i = 0; i < 2; i++) {
		s->report[i].total.control_messages = 1200;
		s->report[i].total.control_bytes = UINT64_C(1200) * 256 * 64;
		grow_by(&s->end[i], METRIC_RX_BYTES, 0, 20 * MB);
		grow_by(&s->end[i], METRIC_TX_BYTES, 0, 20 * MB);
	}
}

static void credits_and_foreign(struct scene *s)
{
	credits(s);
	foreign(s);
}

static void foreign_out(struct scene *s)
{
	grow_by(&s->end[1], METRIC_TX_BYTES, 0, 20 * MB);
}

static void foreign_and_retries(struct scene *s)
{
	foreign(s);
	grow_by(&s->end[0], METRIC_RETRANSMITS, 0, 2);
	grow_by(&s->end[1], METRIC_DUPLICATE_REQUEST, 0, 2);
}

/* One time of going back is many copies: they are not as much as so many times. */
static void foreign_and_copies(struct scene *s)
{
	foreign(s);
	grow_by(&s->end[0], METRIC_RETRANSMITS, 0, 2);
	grow_by(&s->end[1], METRIC_DUPLICATE_REQUEST, 0, 259);
}

/* Ten repetitions of two messages are no 20 MB. */
static void foreign_and_few(struct scene *s)
{
	foreign(s);
	s->spec.class[0].window = 2;
	grow_by(&s->end[0], METRIC_RETRANSMITS, 0, 10);
}

/* Eight repetitions of up to a megabyte are not somebody else's. */
static void repetitions(struct scene *s)
{
	grow_by(&s->end[1], METRIC_RX_BYTES, 0, 8 * MB);
	grow_by(&s->end[0], METRIC_TX_BYTES, 0, 8 * MB);
	grow_by(&s->end[0], METRIC_RETRANSMITS, 0, 8);
	grow_by(&s->end[1], METRIC_DUPLICATE_REQUEST, 0, 8);
}

static void users(struct scene *s)
{
	s->end[1].user_count = 1;
	snprintf(s->end[1].user[0], sizeof(s->end[1].user[0]), "3 queue pairs of storage");
}

/* Nothing comes of it. */
static void tcp_silent(struct scene *s)
{
	s->spec.tcp_count = 1;
	for (unsigned int i = 0; i < 2; i++) {
		s->report[i].tcp_count = 1;
		s->report[i].tcp = &s->tcp[i];
	}
}

void tcp_beside(struct scene *s)
{
	tcp_silent(s);
	s->spec.tcp[0].streams = 4;
	s->tcp[0] = (struct traffic_tcp_result){
		.sent_bytes = 50 * MB, .wire_bytes = 52 * MB, .retransmits = 1400, .mss = 1448};
	s->tcp[1].arrived_bytes = 50 * MB;
	grow_by(&s->end[0], METRIC_TX_BYTES, 0, 55 * MB);
	grow_by(&s->end[1], METRIC_RX_BYTES, 0, 55 * MB);
	grow_by(&s->end[0], METRIC_RX_BYTES, 0, 3 * MB);
	grow_by(&s->end[1], METRIC_TX_BYTES, 0, 3 * MB);
}

static void tcp_backward(struct scene *s)
{
	struct traffic_tcp_result sent;

	tcp_beside(s);
	sent = s->tcp[0];
	s->spec.tcp[0].direction = TRAFFIC_BACKWARD;
	s->tcp[0] = s->tcp[1];
	s->tcp[1] = sent;
	for (unsigned int i = 0; i < 2; i++) { /* 55 MB one way, 3 the other */
		grow_by(&s->end[i], METRIC_RX_BYTES, 0, (i ? -52 : 52) * MB);
		grow_by(&s->end[i], METRIC_TX_BYTES, 0, (i ? 52 : -52) * MB);
	}
}

static void tcp_and_foreign(struct scene *s)
{
	tcp_beside(s);
	foreign(s);
}

static void tcp_and_loss(struct scene *s)
{
	tcp_beside(s);
	grow_by(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 1);
}

/* Pauses on a priority that TCP alone is in. */
static void incast_tcp_paused(struct scene *s)
{
	tcp_beside(s);
	incast_calm(s);
	put_value(&s->end[1], METRIC_PFC_TX_FRAMES, 4, 0);
	grow_by(&s->end[1], METRIC_PFC_TX_FRAMES, 4, 12);
	put_value(&s->end[0], METRIC_PFC_RX_FRAMES, 4, 0);
	grow_by(&s->end[0], METRIC_PFC_RX_FRAMES, 4, 12);
}

/* On one that may be anybody's: the priorities of the classes are not known. */
static void incast_prios_unknown(struct scene *s)
{
	incast_tcp_paused(s);
	s->in.lossless = 0;
}

static void incast_tcp_and_class_paused(struct scene *s)
{
	incast_tcp_paused(s);
	grow_by(&s->end[1], METRIC_PFC_TX_FRAMES, 3, 1);
}

static void incast_paused_somewhere(struct scene *s)
{
	incast_paused(s);
	s->in.lossless = 0;
}

static void drop_at_3(struct scene *s)
{
	tcp_beside(s);
	put_value(&s->end[1], METRIC_PRIO_RX_DISCARDS, 3, 0);
	grow_by(&s->end[1], METRIC_PRIO_RX_DISCARDS, 3, 4);
}

static void tcp_shares(struct scene *s)
{
	drop_at_3(s);
	s->in.tcp = 1 << 3;
}

static void tcp_elsewhere(struct scene *s)
{
	drop_at_3(s);
	s->in.tcp = 1 << 0;
}

static void tcp_broken(struct scene *s)
{
	tcp_beside(s);
	s->tcp[0].broken = 2;
	strcpy(s->tcp[0].detail, "Connection reset by peer after 3.0 s");
}

/* So much arrived, from tenth `from` of a second to tenth `to`, of ten seconds. */
static void tcp_arrived(struct scene *s, uint64_t bytes, unsigned int from, unsigned int to)
{
	struct rate_series *v = &s->tcp[1].goodput;

	tcp_beside(s);
	s->tcp[1].arrived_bytes = bytes;
	s->tcp[1].duration_ns = 10 * S;
	rate_series_init(v, S);
	for (unsigned int i = from; i < to; i++)
		rate_series_add(v, S + i * S / 10, bytes / (to - from));
	rate_series_stop(v, 11 * S);
}

static void tcp_far_below(struct scene *s)
{
	tcp_arrived(s, 9 * MB, 0, 100);
	s->spec.tcp[0].rate_bytes_per_s = 10 * MB;
}

static void tcp_one_segment(struct scene *s)
{
	tcp_arrived(s, 1448, 0, 1);
}

static void tcp_below(struct scene *s)
{
	tcp_arrived(s, 11 * MB, 0, 100);
	s->spec.tcp[0].rate_bytes_per_s = 10 * MB;
}

static void tcp_fell_silent(struct scene *s)
{
	tcp_arrived(s, 50 * MB, 0, 50);
}

static void tcp_began_late(struct scene *s)
{
	tcp_arrived(s, 50 * MB, 51, 60);
}

/* Too short to have halves. */
static void tcp_short_run(struct scene *s)
{
	tcp_beside(s);
	rate_series_init(&s->tcp[1].goodput, S);
	rate_series_add(&s->tcp[1].goodput, S, 50 * MB);
	rate_series_stop(&s->tcp[1].goodput, S + S / 10);
}

static void tcp_flat_out(struct scene *s)
{
	tcp_beside(s);
	s->spec.class[0].rate_bytes_per_s = 0;
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

void aborted(struct scene *s)
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
	grow_by(&s->end[1], METRIC_OUT_OF_SEQUENCE, 0, 5);
}

static void unsteady(struct scene *s)
{
	struct traffic_class_result *r = &s->result[0][0];

	rate_series_init(&r->goodput, S);
	for (unsigned int i = 0; i < 100; i++)
		rate_series_add(&r->goodput, S + i * S / 10, i == 40 ? MB / 4 : MB + MB / 100);
	rate_series_stop(&r->goodput, 11 * S);
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

static void marked(struct scene *s)
{
	s->result[0][0].tos_read = s->result[1][0].tos_read = 4;
}

static void not_marked(struct scene *s)
{
	marked(s);
	s->result[1][0].tos_other = 3;
	s->result[1][0].tos_found = 8;
}

static void wrong_priority(struct scene *s)
{
	struct counters c;

	counters_clear(&c);
	c.has[METRIC_PRIO_RX_PACKETS] = 0xff;
	c.value[METRIC_PRIO_RX_PACKETS][5] = 24416;
	prio_arrival_check(&c, &c, true, &(struct prio_volume){3, 26, 100 * MB, 24416, 0, 0, 0}, 1,
			   &s->arrival);
	s->arrivals[1] = &s->arrival;
	s->in.arrival = s->arrivals;
}

static void pressure(struct scene *s)
{
	put_value(&s->end[1], METRIC_BUFFER_HIGH, 0, 0);
	grow_by(&s->end[1], METRIC_BUFFER_HIGH, 0, 2);
}

static void symbols(struct scene *s)
{
	put_value(&s->end[1], METRIC_SYMBOL_ERRORS, 0, 0);
	grow_by(&s->end[1], METRIC_SYMBOL_ERRORS, 0, 2);
}

static void classes_alike(struct scene *s)
{
	const struct prio_volume flow[] = {{3, 26, 50 * MB, 12208, 0, 0, 0},
					   {4, 34, 50 * MB, 12208, 1, 0, 0}};
	struct counters c;

	counters_clear(&c);
	c.has[METRIC_PRIO_RX_PACKETS] = 0xff;
	c.value[METRIC_PRIO_RX_PACKETS][3] = c.value[METRIC_PRIO_RX_PACKETS][4] = 12208;
	prio_arrival_check(&c, &c, true, flow, 2, &s->arrival);
	s->arrivals[1] = &s->arrival;
	s->in.arrival = s->arrivals;
}

/* clang-format off */
static const struct fault_row rows[] = {
	{"clean, hardware", OBSERVE, DEVICE, NULL, VERDICT_PASS, NO_REASON, NULL},
	{"storm", OBSERVE, DEVICE, storm, VERDICT_WARN, REASON_STORM, NULL},
	{"long pause", OBSERVE, DEVICE, long_pause, VERDICT_WARN, REASON_LONG_PAUSE, "priority 3"},
	{"short pause", OBSERVE, DEVICE, short_pause, VERDICT_PASS, NO_REASON, NULL},
	{"CNPs ignored", OBSERVE, DEVICE, cnp_ignored, VERDICT_WARN, REASON_CNP_IGNORED, NULL},
	{"symbol errors", OBSERVE, DEVICE, symbols, VERDICT_WARN, REASON_BAD_PACKETS, NULL},
	{"buffer high", OBSERVE, DEVICE, pressure, VERDICT_WARN, REASON_PRESSURE, NULL},
	{"incast without pause", OBSERVE, SOFT, incast_calm, VERDICT_INCONCLUSIVE, REASON_NOT_STRESSED, "not stressed"},
	{"incast, nothing counts", OBSERVE, SOFT, incast_uncounted, VERDICT_INCONCLUSIVE, REASON_NOT_STRESSED, "unknown"},
	{"incast with pause", OBSERVE, SOFT, incast_paused, VERDICT_PASS, NO_REASON, NULL},
	{"incast, TCP alone paused", OBSERVE, DEVICE, incast_tcp_paused, VERDICT_INCONCLUSIVE, REASON_NOT_STRESSED, "not stressed"},
	{"incast, TCP or the class paused", OBSERVE, DEVICE, incast_prios_unknown, VERDICT_INCONCLUSIVE, REASON_NOT_STRESSED, "unknown"},
	{"incast, TCP and the class paused", OBSERVE, DEVICE, incast_tcp_and_class_paused, VERDICT_PASS, NO_REASON, NULL},
	{"incast with pause, priority unknown", OBSERVE, SOFT, incast_paused_somewhere, VERDICT_PASS, NO_REASON, NULL},
	{"incast with CNPs", OBSERVE, SOFT, incast_cnp, VERDICT_PASS, NO_REASON, NULL},
	{"incast, loss", OBSERVE, SOFT, incast_calm_and_loss, VERDICT_FAIL, REASON_LOST, NULL},
	{"no loss counters, strict", TRAFFIC_STRICT, DEVICE, uncounted, VERDICT_PASS, NO_REASON, NULL},
	{"counters reset", OBSERVE, SOFT, reset, VERDICT_INCONCLUSIVE, REASON_RESET, "retransmits"},
	{"foreign traffic", OBSERVE, SOFT, foreign, VERDICT_INCONCLUSIVE, REASON_FOREIGN, "h2"},
	{"foreign traffic out", OBSERVE, SOFT, foreign_out, VERDICT_INCONCLUSIVE, REASON_FOREIGN, "h2"},
	{"foreign traffic and retries", OBSERVE, SOFT, foreign_and_retries, VERDICT_INCONCLUSIVE, REASON_FOREIGN, "h2"},
	{"foreign traffic and copies", OBSERVE, SOFT, foreign_and_copies, VERDICT_INCONCLUSIVE, REASON_FOREIGN, "h2"},
	{"foreign traffic, few under way", OBSERVE, SOFT, foreign_and_few, VERDICT_INCONCLUSIVE, REASON_FOREIGN, "h2"},
	{"credits", OBSERVE, SOFT, credits, VERDICT_PASS, NO_REASON, NULL},
	{"credits and foreign traffic", OBSERVE, SOFT, credits_and_foreign, VERDICT_INCONCLUSIVE, REASON_FOREIGN, "h2"},
	{"repetitions", OBSERVE, SOFT, repetitions, VERDICT_PASS, REASON_ACCOUNTED, NULL},
	{"other users", OBSERVE, SOFT, users, VERDICT_PASS, REASON_USERS, "storage"},
	{"TCP beside it", OBSERVE, SOFT, tcp_beside, VERDICT_PASS, NO_REASON, NULL},
	{"TCP the other way", OBSERVE, SOFT, tcp_backward, VERDICT_PASS, NO_REASON, NULL},
	{"TCP and somebody else", OBSERVE, SOFT, tcp_and_foreign, VERDICT_INCONCLUSIVE, REASON_FOREIGN, "h2"},
	{"TCP and loss", OBSERVE, SOFT, tcp_and_loss, VERDICT_FAIL, REASON_LOST, NULL},
	{"dropped, TCP's or RoCE's", OBSERVE, DEVICE, tcp_shares, VERDICT_WARN, REASON_PORT_DISCARDS, "share"},
	{"dropped, TCP elsewhere", OBSERVE, DEVICE, tcp_elsewhere, VERDICT_FAIL, REASON_HOST_DISCARD, "4 RoCE"},
	{"TCP that is not there", OBSERVE, SOFT, tcp_silent, VERDICT_INCONCLUSIVE, REASON_BACKGROUND, "TCP background 0"},
	{"TCP that broke", OBSERVE, SOFT, tcp_broken, VERDICT_INCONCLUSIVE, REASON_BACKGROUND, "2 of 4 streams of TCP background 0 broke: Conn"},
	{"TCP far below its rate", OBSERVE, SOFT, tcp_far_below, VERDICT_INCONCLUSIVE, REASON_BACKGROUND, "h2: 0.9 of 10.0 MB/s requested arrived of TCP background 0"},
	{"TCP below its rate", OBSERVE, SOFT, tcp_below, VERDICT_PASS, NO_REASON, NULL},
	{"TCP of one segment", OBSERVE, SOFT, tcp_one_segment, VERDICT_INCONCLUSIVE, REASON_BACKGROUND, "second half"},
	{"TCP that fell silent", OBSERVE, SOFT, tcp_fell_silent, VERDICT_INCONCLUSIVE, REASON_BACKGROUND, "h2: no data of TCP background 0 arrived in the second half"},
	{"TCP that began late", OBSERVE, SOFT, tcp_began_late, VERDICT_PASS, NO_REASON, NULL},
	{"TCP in a short run", OBSERVE, SOFT, tcp_short_run, VERDICT_PASS, NO_REASON, NULL},
	{"below the link with TCP", OBSERVE, DEVICE, tcp_flat_out, VERDICT_PASS, NO_REASON, NULL},
	{"pace", OBSERVE, SOFT, slow_pace, VERDICT_INCONCLUSIVE, REASON_PACE, "10.0 of 20.0"},
	{"nothing moved", OBSERVE, SOFT, nothing_moved, VERDICT_INCONCLUSIVE, REASON_NOTHING, NULL},
	{"aborted", OBSERVE, SOFT, aborted, VERDICT_INCONCLUSIVE, REASON_ABORTED, NULL},
	{"reordered", TRAFFIC_COUNT, DEVICE, reordered, VERDICT_WARN, REASON_REORDERED, "4 messages"},
	{"lossy neighbour", OBSERVE, SOFT, lossy_neighbour, VERDICT_WARN, REASON_IDLE_LOSS, "5 sequence gaps"},
	{"unsteady", OBSERVE, DEVICE, unsteady, VERDICT_WARN, REASON_UNSTEADY, "4.0 s"},
	{"unsteady, Soft-RoCE", OBSERVE, SOFT, unsteady, VERDICT_PASS, REASON_UNSTEADY, NULL},
	{"long tail", OBSERVE, DEVICE, long_tail, VERDICT_WARN, REASON_TAIL, NULL},
	{"long tail, Soft-RoCE", OBSERVE, SOFT, long_tail, VERDICT_PASS, REASON_TAIL, NULL},
	{"below the link", OBSERVE, DEVICE, flat_out, VERDICT_WARN, REASON_SLOW, "1250.0"},
	{"below the link, Soft-RoCE", OBSERVE, SOFT, flat_out, VERDICT_PASS, NO_REASON, NULL},
	{"wrong priority", OBSERVE, SOFT, wrong_priority, VERDICT_FAIL, REASON_WRONG_PRIORITY, "priority 5"},
	{"marking not set", OBSERVE, SOFT, not_marked, VERDICT_FAIL, REASON_NOT_MARKED, "h2: 3 of 4 queue pairs that rdma_cm set up have ToS 8 (DSCP 2) instead of 0 (DSCP 0)"},
	{"marking set", OBSERVE, SOFT, marked, VERDICT_PASS, NO_REASON, NULL},
	{"classes alike", OBSERVE, SOFT, classes_alike, VERDICT_INCONCLUSIVE, REASON_ALIKE, "3 and 4"},
};
/* clang-format on */

const struct fault_table other_faults = {rows, ARRAY_SIZE(rows)};
