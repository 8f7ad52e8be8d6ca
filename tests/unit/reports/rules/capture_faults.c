/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What capture_faults.h declares.
 */
#include "tests/unit/reports/rules/capture_faults.h"

void good(struct setting *s)
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
	s->summary.lldp_peer.seen = true;
	s->summary.lldp_peer.neighbours = 1;
}

void mark(struct setting *s, uint32_t events)
{
	struct packet p = {.frame = 7, .kind = PACKET_ROCE, .bth = true, .dest_qpn = 0x11};

	samples_add(&s->witnesses, &p, (struct flow_events){.bits = events});
}

void lossy(struct setting *s)
{
	s->summary.drops = DROPS_SOME;
	s->summary.dropped = 3;
}

void unknown(struct setting *s)
{
	s->summary.drops = DROPS_UNKNOWN;
	s->flow[0].paired = false;
}

void one_way(struct setting *s)
{
	s->summary.flow_count = 1;
	s->flow[0].paired = false;
}

void answers_only(struct setting *s)
{
	s->flow[0] = s->flow[1];
	s->summary.flow_count = 1;
}

void datagrams(struct setting *s)
{
	one_way(s);
	s->flow[0].service = OPCODE_CLASS_UD;
}

void answers_and_datagrams(struct setting *s)
{
	s->flow[0] = s->flow[1];
	s->flow[0].dest_qpn = 1;
	s->flow[0].service = OPCODE_CLASS_UD;
	s->flow[0].requests = s->flow[0].packets;
	s->flow[0].responses = 0;
}

void nothing(struct setting *s)
{
	s->summary.flow_count = 0;
	s->summary.totals.roce = s->summary.totals.pfc_frames = 0;
	s->summary.lldp_peer.seen = false;
}

void missed(struct setting *s)
{
	s->flow[0].missed_psns = s->flow[0].psn_missing = 2;
}

void lost(struct setting *s)
{
	s->flow[0].lost_psns = 2;
}

void lost_behind(struct setting *s)
{
	s->flow[0].losses_after = s->flow[1].naks_seq = 1;
	s->flow[1].paired = true;
	mark(s, FLOW_NAK_SEQ);
}

void refused_reordered(struct setting *s)
{
	lost_behind(s);
	s->flow[0].losses_after = 2;
	s->flow[0].reordered = 1;
}

void lost_and_reordered(struct setting *s)
{
	refused_reordered(s);
	s->flow[0].losses_after = 3;
}

void lost_for_good(struct setting *s)
{
	s->flow[0].losses_before = s->flow[0].psn_missing = s->flow[1].naks_seq = 1;
	s->flow[1].paired = true;
}

void refused_late(struct setting *s)
{
	s->flow[0].losses_before = s->flow[0].reordered = s->flow[1].naks_seq = 1;
	s->flow[1].paired = true;
}

void refusals_alone(struct setting *s)
{
	answers_only(s);
	s->flow[0].naks_seq = 2;
}

void refusals_unknown(struct setting *s)
{
	s->flow[1].naks_seq = 3;
	s->flow[1].naks_unknown = 1;
	s->flow[1].paired = true;
	mark(s, FLOW_NAK_SEQ);
}

void refusals_unknown_not_ready(struct setting *s)
{
	refusals_unknown(s);
	s->flow[1].rnr = 1;
}

void refusals_not_ready(struct setting *s)
{
	refusals_alone(s);
	s->flow[0].rnr = 2;
}

void refusals_and_not_ready(struct setting *s)
{
	refusals_alone(s);
	s->flow[0].rnr = 1;
}

void lost_answers(struct setting *s)
{
	s->flow[0].read_retries = s->flow[0].duplicates = 2;
	s->flow[0].timeouts = 1;
}

void reordered_answers(struct setting *s)
{
	s->flow[1].responses_reordered = 2;
	s->flow[0].read_retries = s->flow[0].reads_reordered = 1;
	mark(s, FLOW_READ_RETRY);
	mark(s, FLOW_READ_FILLED | FLOW_REORDERED);
}

void late_answers(struct setting *s)
{
	s->flow[0].read_retries = s->flow[0].duplicates = s->flow[0].timeouts = 1;
}

void forgotten(struct setting *s)
{
	s->summary.totals.evicted_flows = 1;
}

void refused_corrupted(struct setting *s)
{
	s->flow[0].corruptions = s->flow[1].naks_seq = 1;
	s->flow[1].paired = true;
}

void missing(struct setting *s)
{
	s->flow[0].psn_missing = 3;
	s->flow[0].missed_psns = 1;
}

void missing_response(struct setting *s)
{
	s->flow[1].responses_missing = 2;
	mark(s, FLOW_READ_GAP);
}

void missing_unknown(struct setting *s)
{
	missing(s);
	s->summary.drops = DROPS_UNKNOWN;
}

void reordered(struct setting *s)
{
	s->flow[0].reordered = 1;
}

void again(struct setting *s)
{
	s->flow[0].duplicates = 1;
}

void timeouts(struct setting *s)
{
	s->flow[0].timeouts = 1;
}

void not_ready(struct setting *s)
{
	s->flow[1].rnr = 1;
	mark(s, FLOW_RNR);
}

void fatal(struct setting *s)
{
	s->flow[1].naks_other = 1;
}

void corrupted(struct setting *s)
{
	s->flow[0].icrc_bad = 1;
	mark(s, FLOW_ICRC_BAD);
}

void rewritten(struct setting *s)
{
	s->flow[0].icrc_bad = 10;
	s->flow[0].icrc_good = 0;
}

void cut(struct setting *s)
{
	s->flow[0].icrc_good = s->flow[1].icrc_good = 0;
}

void fragments(struct setting *s)
{
	mark(s, FLOW_FRAGMENT);
}

void malformed(struct setting *s)
{
	struct packet p = {.frame = 9, .fault = PACKET_MALFORMED};

	samples_add(&s->witnesses, &p, (struct flow_events){0});
}

void copies(struct setting *s)
{
	s->flow[0].copies = 1;
}

void two_dscps(struct setting *s)
{
	s->flow[0].dscp[0] = 1;
}

void neighbours(struct setting *s)
{
	s->summary.lldp_peer.neighbours = 2;
}

void mirrored(struct setting *s)
{
	s->summary.totals.mirror.packets = 20;
}

void mirror_lossy(struct setting *s)
{
	mirrored(s);
	s->summary.totals.mirror.gaps = 1;
	s->summary.totals.mirror.missing = 3;
	mark(s, FLOW_MIRROR_GAP);
}

void mirror_anew(struct setting *s)
{
	mirrored(s);
	s->summary.totals.mirror.restarts = 1;
}

void forgotten_untold(struct setting *s)
{
	forgotten(s);
	s->summary.drops = DROPS_UNKNOWN;
}

void untold(struct setting *s)
{
	s->summary.drops = DROPS_UNKNOWN;
}

void missing_mirror(struct setting *s)
{
	missing(s);
	mirror_lossy(s);
}
