/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rules of captures share: sums over flows, how far the capture can be believed, and how
 * frames and flows are told as evidence.
 */
#ifndef REPORTS_CAPTURE_EVIDENCE_H
#define REPORTS_CAPTURE_EVIDENCE_H

#include "reports/engine/findings.h"
#include "reports/rules/check_capture.h"

/* "packet sent again", "packets sent again" */
struct noun {
	const char *one, *many;
};

static inline const char *noun_for(const struct noun *noun, uint64_t n)
{
	return n == 1 ? noun->one : noun->many;
}

/* "250 ns", "1.500 ms", "less than 1 us" where the capture's clock tells no more. Always
 * terminated.
 */
void evidence_time(const struct capture_summary *s, uint64_t ns, char *buf, size_t size);

/* A uint64_t of a flow by its offset, and the sum over all, with how many flows have any. */
uint64_t flow_counter(const struct flow *f, size_t counter);
uint64_t capture_sum(const struct capture_summary *s, size_t counter, unsigned int *flows);

/* PSNs that are missing, but for what was acknowledged all the same: that the capture missed. */
uint64_t flow_never_came(const struct flow *f);

/* How much of one of several kinds of something a flow has. */
typedef uint64_t flow_kind_count(const struct flow *f, size_t kind);

/* The sums of the kinds over all flows; returns how many flows have any. */
unsigned int capture_sums(const struct capture_summary *s, flow_kind_count *count, size_t kinds,
			  uint64_t sum[]);

/* What was lost between the wire and the file: what the capture says itself, and what is missing
 * among the numbers of a mirror. */
enum capture_drops capture_drops_of(const struct capture_summary *s, uint64_t *dropped);

/* Flows of requests that are acknowledged, and those of them that nothing at all answers, between
 * two addresses. The others, of UC and UD, may well have nothing that comes back. And flows of
 * answers, whose requests were captured or not. */
struct direction_counts {
	unsigned int acknowledged, unanswered;
	unsigned int unacknowledged, silent;
	unsigned int answering;
	const struct flow *first[4]; /* of the unanswered */
};

/* -ENOMEM goes to out. */
struct direction_counts capture_count_directions(const struct capture_summary *s,
						 struct findings *out);

/* Whether all is of UC and UD: without requests answers show that there is more. */
bool capture_is_unacknowledged(const struct direction_counts *o);

/* Begins a finding; false when the capture has no flow that the rule could judge. */
bool capture_begin(const struct rule *rule, const struct rule_context *c, struct findings *out);

/* A PASS over all flows, unless some had to be forgotten: of those nothing is known. */
void capture_report_pass(const struct capture_summary *s, struct findings *out, const char *fmt,
			 ...) PRINTF_LIKE(3, 4);

/* None was seen: a PASS, unless the capture could have missed it. answers: without the other
 * direction it could. */
void capture_report_none(const struct rule_context *c, const struct noun *what, bool answers,
			 struct findings *out);

/* "A to B qpn 0x000011" of a flow. Always terminated. */
void evidence_flow(const struct flow *f, char *buf, size_t size);

/* The same with its frames: "A to B qpn 0x000011, frames 1-9". */
void evidence_flow_frames(const struct flow *f, char *buf, size_t size);

/* The first frames of each flow. */
void evidence_frames(struct findings *out, const struct sample_set *w);

/* The flow that has most of a kind, with how much that is. s has a flow. */
void evidence_most(struct findings *out, const struct capture_summary *s, flow_kind_count *count,
		   size_t kind, const struct noun *what);

/* The same of a counter. */
void evidence_worst(struct findings *out, const struct capture_summary *s, size_t counter,
		    const struct noun *what);

/* The kind of witness of an event, for tables: its number. */
#define EVIDENCE_EVENT(bit) ((unsigned int)__builtin_ctz(bit))

#endif
