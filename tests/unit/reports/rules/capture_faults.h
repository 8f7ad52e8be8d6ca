/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The summary of a good capture, and what can be wrong in one, a function each but for
 * congestion.
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
	struct samples witnesses;
};

void good(struct setting *s);
void mark(struct setting *s, uint32_t events);
void lossy(struct setting *s);
void unknown(struct setting *s);
void one_way(struct setting *s);
void answers_only(struct setting *s);

/* Datagrams: nothing comes back, and nothing has to. */
void datagrams(struct setting *s);

/* A mirror of one direction, towards the client: CM's reply, which is a datagram, then answers. */
void answers_and_datagrams(struct setting *s);
void nothing(struct setting *s);
void missed(struct setting *s);
void lost(struct setting *s);

/* Refused although it was captured: the receiver did not get it. */
void lost_behind(struct setting *s);

/* The receiver of a request that comes too early refuses twice. */
void refused_reordered(struct setting *s);
void lost_and_reordered(struct setting *s);
void lost_for_good(struct setting *s);
void refused_late(struct setting *s);
void refusals_alone(struct setting *s);

/* What was refused is not in the capture, though the flow is paired. */
void refusals_unknown(struct setting *s);
void refusals_unknown_not_ready(struct setting *s);

/* Soft-RoCE refuses once more what comes behind a refusal of a receiver that is not ready. */
void refusals_not_ready(struct setting *s);
void refusals_and_not_ready(struct setting *s);
void lost_answers(struct setting *s);

/* Out of order, and asked for again for that alone. */
void reordered_answers(struct setting *s);
void late_answers(struct setting *s);
void forgotten(struct setting *s);
void refused_corrupted(struct setting *s);
void missing(struct setting *s);
void missing_response(struct setting *s);
void missing_unknown(struct setting *s);
void reordered(struct setting *s);
void again(struct setting *s);
void timeouts(struct setting *s);
void not_ready(struct setting *s);
void fatal(struct setting *s);
void corrupted(struct setting *s);
void rewritten(struct setting *s);
void cut(struct setting *s);
void fragments(struct setting *s);
void malformed(struct setting *s);
void copies(struct setting *s);
void two_dscps(struct setting *s);
void neighbours(struct setting *s);
void mirrored(struct setting *s);
void mirror_lossy(struct setting *s);
void mirror_anew(struct setting *s);

/* Nothing wrong, but of flows that are forgotten by now nobody knows. */
void forgotten_untold(struct setting *s);
void untold(struct setting *s);

/* What the mirror lost is no loss of the network. */
void missing_mirror(struct setting *s);

#endif
