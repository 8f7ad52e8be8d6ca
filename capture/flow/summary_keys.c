/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables: a counter more is a row more.
 */
#include "capture/flow/summary_keys.h"

#define TOTAL(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct capture_totals, name), false                                \
	}
#define COUNT(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct flow, name), false                                          \
	}

#define NEWER(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct flow, name), true                                           \
	}

static const struct counter total_rows[] = {
	TOTAL(frames),
	TOTAL(roce),
	TOTAL(cnp),
	TOTAL(lldp),
	TOTAL(other),
	TOTAL(truncated),
	TOTAL(malformed),
	TOTAL(pfc_frames),
	TOTAL(pause_frames),
	TOTAL(evicted_flows),
	{"time_step_ns", offsetof(struct capture_totals, time_step_ns), true},
	{"link_mbps", offsetof(struct capture_totals, pause.link_mbps), true},
	{"mirror_packets", offsetof(struct capture_totals, mirror.packets), true},
	{"mirror_gaps", offsetof(struct capture_totals, mirror.gaps), true},
	{"mirror_missing", offsetof(struct capture_totals, mirror.missing), true},
	{"mirror_restarts", offsetof(struct capture_totals, mirror.restarts), true},
};

static const struct counter flow_rows[] = {
	COUNT(packets),
	COUNT(payload_bytes),
	COUNT(requests),
	COUNT(responses),
	COUNT(acks),
	COUNT(naks_seq),
	COUNT(naks_other),
	COUNT(rnr),
	COUNT(cnp),
	COUNT(psn_gaps),
	COUNT(psn_missing),
	COUNT(duplicates),
	COUNT(new_connections),
	COUNT(psn_unjudged),
	COUNT(icrc_good),
	COUNT(icrc_bad),
	COUNT(icrc_unverifiable),
	COUNT(first_ns),
	COUNT(last_ns),
	COUNT(first_frame),
	COUNT(last_frame),
	NEWER(lost_psns),
	NEWER(corrupted_psns),
	NEWER(missed_psns),
	NEWER(reordered),
	NEWER(copies),
	NEWER(losses_before),
	NEWER(losses_after),
	NEWER(corruptions),
	NEWER(go_back_n),
	NEWER(wasted_psns),
	NEWER(selective_repeats),
	NEWER(timeouts),
	NEWER(rnr_retries),
	NEWER(read_retries),
	NEWER(unexplained),
	NEWER(naks_timed),
	NEWER(nak_ns),
	NEWER(resends),
	NEWER(resend_ns),
	NEWER(cnp_span_ns),
	NEWER(cnp_min_ns),
	NEWER(cnp_last_ns),
	NEWER(held),
	NEWER(held_ns),
	NEWER(held_unknown),
	NEWER(cnp_close),
	NEWER(responses_missing),
	NEWER(naks_unknown),
	NEWER(responses_reordered),
	NEWER(reads_reordered),
};

const char *const drops_words[3] = {
	[DROPS_UNKNOWN] = "unknown",
	[DROPS_ZERO] = "zero",
	[DROPS_SOME] = "some",
};

const char *const encap_words[4] = {
	[ENCAP_NONE] = "none",
	[ENCAP_ROCE_V1] = "rocev1",
	[ENCAP_ROCE_V2_IPV4] = "rocev2-ipv4",
	[ENCAP_ROCE_V2_IPV6] = "rocev2-ipv6",
};

/* By enum opcode_class. */
const char *const service_words[8] = {"rc",  "uc",  "rd_or_dc", "ud",
				      "cnp", "xrc", "reserved", "vendor"};

const char *const link_words[PAUSE_LINKS] = {
	[PAUSE_LINK_ASSUMED] = "assumed",
	[PAUSE_LINK_GIVEN] = "given",
	[PAUSE_LINK_FILE] = "file",
};

const char *const dialect_words[4] = {"", "ieee", "cee", "cin"};

const struct counter_table total_counters = {total_rows, ARRAY_SIZE(total_rows)};
const struct counter_table flow_counters = {flow_rows, ARRAY_SIZE(flow_rows)};
