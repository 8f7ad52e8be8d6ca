/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The summary of a good capture, and what can be wrong in one, a function each. Congestion has
 * congestion_faults.h.
 */
#ifndef TESTS_UNIT_CAPTURE_FAULTS_H
#define TESTS_UNIT_CAPTURE_FAULTS_H

#include <string.h>

#include "capture/decode/opcode.h"
#include "reports/rules/check_capture.h"

/* What a change works on: two hosts, a flow each way, nothing wrong. */
struct setting {
	struct flow flow[2];
	struct capture_summary summary;
	struct witnesses witnesses;
};

static void good(struct setting *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; i < 2; i++) {
		struct flow *f = &s->flow[i];

		f->src[15] = (uint8_t)(1 + i);
		f->dst[15] = (uint8_t)(2 - i);
		f->dest_qpn = 0x11 + i;
		f->packets = f->icrc_good = f->dscp[26] = 10;
		f->requests = i ? 0 : 10;
		f->responses = i ? 10 : 0;
		f->paired = !i;
		f->first_frame = 1;
		f->last_frame = 20;
	}
	s->summary.flow = s->flow;
	s->summary.flow_count = 2;
	s->summary.totals.frames = s->summary.totals.roce = 20;
	s->summary.totals.pfc_frames = 1;
	s->summary.drops = DROPS_ZERO;
	s->summary.peer.seen = true;
	s->summary.peer.neighbours = 1;
}

static void mark(struct setting *s, uint32_t events)
{
	struct packet p = {.frame = 7, .kind = PACKET_ROCE, .bth = true, .dest_qpn = 0x11};

	witness_add(&s->witnesses, &p, (struct flow_events){.bits = events});
}

static void lossy(struct setting *s)
{
	s->summary.drops = DROPS_SOME;
	s->summary.dropped = 3;
}

static void unknown(struct setting *s)
{
	s->summary.drops = DROPS_UNKNOWN;
	s->flow[0].paired = false;
}

static void one_way(struct setting *s)
{
	s->summary.flow_count = 1;
	s->flow[0].paired = false;
}

static void answers_only(struct setting *s)
{
	s->flow[0] = s->flow[1];
	s->summary.flow_count = 1;
}

/* Datagrams: nothing comes back, and nothing has to. */
static void datagrams(struct setting *s)
{
	one_way(s);
	s->flow[0].service = OPCODE_CLASS_UD;
}

/* A mirror of one direction, towards the client: CM's reply, which is a datagram, then answers. */
static void answers_and_datagrams(struct setting *s)
{
	s->flow[0] = s->flow[1];
	s->flow[0].dest_qpn = 1;
	s->flow[0].service = OPCODE_CLASS_UD;
	s->flow[0].requests = s->flow[0].packets;
	s->flow[0].responses = 0;
}

static void nothing(struct setting *s)
{
	s->summary.flow_count = 0;
	s->summary.totals.roce = s->summary.totals.pfc_frames = 0;
	s->summary.peer.seen = false;
}

static void missed(struct setting *s)
{
	s->flow[0].missed_psns = s->flow[0].psn_missing = 2;
}

static void lost(struct setting *s)
{
	s->flow[0].lost_psns = 2;
}

/* Refused although it was captured: the receiver did not get it. */
static void lost_behind(struct setting *s)
{
	s->flow[0].losses_after = s->flow[1].naks_seq = 1;
	s->flow[1].paired = true;
	mark(s, FLOW_NAK_SEQ);
}

/* The receiver of a request that comes too early refuses twice. */
static void refused_reordered(struct setting *s)
{
	lost_behind(s);
	s->flow[0].losses_after = 2;
	s->flow[0].reordered = 1;
}

static void lost_and_reordered(struct setting *s)
{
	refused_reordered(s);
	s->flow[0].losses_after = 3;
}

static void lost_for_good(struct setting *s)
{
	s->flow[0].losses_before = s->flow[0].psn_missing = s->flow[1].naks_seq = 1;
	s->flow[1].paired = true;
}

static void refused_late(struct setting *s)
{
	s->flow[0].losses_before = s->flow[0].reordered = s->flow[1].naks_seq = 1;
	s->flow[1].paired = true;
}

static void refusals_alone(struct setting *s)
{
	answers_only(s);
	s->flow[0].naks_seq = 2;
}

/* What was refused is not in the capture, though the flow is paired. */
static void refusals_unknown(struct setting *s)
{
	s->flow[1].naks_seq = 3;
	s->flow[1].naks_unknown = 1;
	s->flow[1].paired = true;
	mark(s, FLOW_NAK_SEQ);
}

static void refusals_unknown_not_ready(struct setting *s)
{
	refusals_unknown(s);
	s->flow[1].rnr = 1;
}

/* Soft-RoCE refuses once more what comes behind a refusal of a receiver that is not ready. */
static void refusals_not_ready(struct setting *s)
{
	refusals_alone(s);
	s->flow[0].rnr = 2;
}

static void refusals_and_not_ready(struct setting *s)
{
	refusals_alone(s);
	s->flow[0].rnr = 1;
}

static void lost_answers(struct setting *s)
{
	s->flow[0].read_retries = s->flow[0].duplicates = 2;
	s->flow[0].timeouts = 1;
}

/* Out of order, and asked for again for that alone. */
static void reordered_answers(struct setting *s)
{
	s->flow[1].responses_reordered = 2;
	s->flow[0].read_retries = s->flow[0].reads_reordered = 1;
	mark(s, FLOW_READ_RETRY);
	mark(s, FLOW_READ_FILLED | FLOW_REORDERED);
}

static void late_answers(struct setting *s)
{
	s->flow[0].read_retries = s->flow[0].duplicates = s->flow[0].timeouts = 1;
}

static void forgotten(struct setting *s)
{
	s->summary.totals.evicted_flows = 1;
}

static void refused_corrupted(struct setting *s)
{
	s->flow[0].corruptions = s->flow[1].naks_seq = 1;
	s->flow[1].paired = true;
}

static void missing(struct setting *s)
{
	s->flow[0].psn_missing = 3;
	s->flow[0].missed_psns = 1;
}

static void missing_response(struct setting *s)
{
	s->flow[1].responses_missing = 2;
	mark(s, FLOW_READ_GAP);
}

static void missing_unknown(struct setting *s)
{
	missing(s);
	s->summary.drops = DROPS_UNKNOWN;
}

static void reordered(struct setting *s)
{
	s->flow[0].reordered = 1;
}

static void again(struct setting *s)
{
	s->flow[0].duplicates = 1;
}

static void timeouts(struct setting *s)
{
	s->flow[0].timeouts = 1;
}

static void not_ready(struct setting *s)
{
	s->flow[1].rnr = 1;
	mark(s, FLOW_RNR);
}

static void fatal(struct setting *s)
{
	s->flow[1].naks_other = 1;
}

static void corrupted(struct setting *s)
{
	s->flow[0].icrc_bad = 1;
	mark(s, FLOW_ICRC_BAD);
}

static void rewritten(struct setting *s)
{
	s->flow[0].icrc_bad = 10;
	s->flow[0].icrc_good = 0;
}

static void cut(struct setting *s)
{
	s->flow[0].icrc_good = s->flow[1].icrc_good = 0;
}

static void fragments(struct setting *s)
{
	mark(s, FLOW_FRAGMENT);
}

static void malformed(struct setting *s)
{
	struct packet p = {.frame = 9, .fault = PACKET_MALFORMED};

	witness_add(&s->witnesses, &p, (struct flow_events){0});
}

static void copies(struct setting *s)
{
	s->flow[0].copies = 1;
}

static void two_dscps(struct setting *s)
{
	s->flow[0].dscp[0] = 1;
}

static void neighbours(struct setting *s)
{
	s->summary.peer.neighbours = 2;
}

static void mirrored(struct setting *s)
{
	s->summary.totals.mirror.packets = 20;
}

static void mirror_lossy(struct setting *s)
{
	mirrored(s);
	s->summary.totals.mirror.gaps = 1;
	s->summary.totals.mirror.missing = 3;
	mark(s, FLOW_MIRROR_GAP);
}

static void mirror_anew(struct setting *s)
{
	mirrored(s);
	s->summary.totals.mirror.restarts = 1;
}

/* Nothing wrong, but of flows that are forgotten by now nobody knows. */
static void forgotten_untold(struct setting *s)
{
	forgotten(s);
	s->summary.drops = DROPS_UNKNOWN;
}

static void untold(struct setting *s)
{
	s->summary.drops = DROPS_UNKNOWN;
}

/* What the mirror lost is no loss of the network. */
static void missing_mirror(struct setting *s)
{
	missing(s);
	mirror_lossy(s);
}

#endif
