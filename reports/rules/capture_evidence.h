/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the rules of captures: sums over flows, completeness of the capture, and frames and
 * flows as evidence.
 */
#ifndef REPORTS_CAPTURE_EVIDENCE_H
#define REPORTS_CAPTURE_EVIDENCE_H

#include "reports/engine/findings.h"
#include "reports/rules/check_capture.h"

/* "retransmitted packet", "retransmitted packets" */
struct noun {
	const char *one, *many;
};

static inline const char *noun_for(const struct noun *noun, uint64_t n)
{
	return n == 1 ? noun->one : noun->many;
}

/* Formats "250 ns", "1.500 ms", or "less than 1 us" below the step of the capture's clock. Always
 * terminated. */
void evidence_time(const struct capture_summary *s, uint64_t ns, char *buf, size_t size);

/* Returns the time from the first RoCE or PFC frame to the last. */
uint64_t capture_span_ns(const struct capture_summary *s);

/* Return a uint64_t of a flow by its offset, and its sum over all flows; *flows have any. */
uint64_t flow_counter(const struct flow *f, size_t counter);
uint64_t capture_sum(const struct capture_summary *s, size_t counter, unsigned int *flows);

/* Missing PSNs, without those that were acknowledged: these the capture missed. */
uint64_t flow_never_came(const struct flow *f);

/* Returns the count of one kind of event of a flow. */
typedef uint64_t flow_kind_count(const struct flow *f, size_t kind);

/* The sums of the kinds over all flows; returns how many flows have any. */
unsigned int capture_sums(const struct capture_summary *s, flow_kind_count *count, size_t kinds,
			  uint64_t sum[]);

/* Returns the flow that follows `last` when sorted by a kind, most first; the first for NULL. NULL
 * when none is left that has any. */
const struct flow *flow_next_most(const struct capture_summary *s, flow_kind_count *count,
				  size_t kind, const struct flow *last);

/* Losses between wire and file: by the capture's own drop counter, and by gaps in the sequence
 * numbers of a mirror. */
enum capture_drops capture_drops_of(const struct capture_summary *s, uint64_t *dropped);

/* Addresses and QP of a flow, to sort and to search. */
struct flow_key {
	uint8_t src[16], dst[16];
	uint32_t dest_qpn;
};

struct flow_key flow_key_make(const uint8_t src[16], const uint8_t dst[16], uint32_t dest_qpn);
int flow_key_compare(const void *a, const void *b);

/* Counts of flows. RC requests are acknowledged; unanswered: no packet in the reverse direction
 * between the two addresses. UC and UD requests (unacknowledged) need none (silent). answering:
 * flows of responses, with or without their requests. */
struct direction_counts {
	unsigned int acknowledged, unanswered;
	unsigned int unacknowledged, silent;
	unsigned int answering;
	const struct flow *first[4]; /* of the unanswered */
};

/* -ENOMEM goes to out. */
struct direction_counts capture_count_directions(const struct capture_summary *s,
						 struct findings *out);

/* True for a capture of UC and UD only. */
bool capture_is_unacknowledged(const struct direction_counts *o);

/* Begins a finding; false when the capture has no RoCE flow. */
bool capture_begin(const struct rule *rule, const struct rule_context *c, struct findings *out);

/* Sets PASS, or INCONCLUSIVE when flows were evicted from the flow table. */
void capture_report_pass(const struct capture_summary *s, struct findings *out, const char *fmt,
			 ...) PRINTF_LIKE(3, 4);

/* Sets PASS for "no `what`", or INCONCLUSIVE when the capture may have missed one. answers: it may
 * when it lacks the reverse direction. */
void capture_report_none(const struct rule_context *c, const struct noun *what, bool answers,
			 struct findings *out);

/* Formats "from A to B QP 0x000011". Always terminated. */
void evidence_flow(const struct flow *f, char *buf, size_t size);

/* Formats "from A to B QP 0x000011, frames 1-9". */
void evidence_flow_frames(const struct flow *f, char *buf, size_t size);

/* Adds the first frames of each flow. */
void evidence_frames(struct findings *out, const struct sample_set *w);

/* Adds the flow with the highest count of a kind, and the first frames of each flow: one line if
 * there is one flow. frames may be NULL. */
void evidence_most(struct findings *out, const struct capture_summary *s, flow_kind_count *count,
		   size_t kind, const struct noun *what, const struct sample_set *frames);

/* The same for a counter. */
void evidence_worst(struct findings *out, const struct capture_summary *s, size_t counter,
		    const struct noun *what, const struct sample_set *frames);

/* Sample kind of an event, for tables: the number of its bit. */
#define EVIDENCE_EVENT(bit) ((unsigned int)__builtin_ctz(bit))

#endif
