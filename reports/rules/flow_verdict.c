/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of signs of a flow, from broken connections to slow ones.
 */
#include "reports/rules/flow_verdict.h"

#include <inttypes.h>
#include <stdio.h>

#include "reports/rules/capture_evidence.h"

/* clang-format off */

const struct flow_sign flow_signs[] = {
	{"nak_other", "fatal NAK", "fatal NAKs", offsetof(struct flow, naks_other)},
	{"icrc_bad", "bad ICRC", "bad ICRCs", offsetof(struct flow, icrc_bad)},
	{"lost", "PSN lost", "PSNs lost", offsetof(struct flow, lost_psns)},
	{"nak_seq", "sequence NAK", "sequence NAKs", offsetof(struct flow, naks_seq)},
	{"timeout", "timeout", "timeouts", offsetof(struct flow, timeouts)},
	{"psn_missing", "PSN missing", "PSNs missing", offsetof(struct flow, psn_missing)},
	{"read_missing", "response missing", "responses missing",
	 offsetof(struct flow, responses_missing)},
	{"rnr", "RNR NAK", "RNR NAKs", offsetof(struct flow, rnr)},
	{"rnr_retry", "RNR retry", "RNR retries",
	 offsetof(struct flow, rnr_retries)},
	{"reordered", "out of order", "out of order", offsetof(struct flow, reordered)},
	{"read_reordered", "late response", "late responses",
	 offsetof(struct flow, responses_reordered)},
	{"duplicate", "retransmission", "retransmissions", offsetof(struct flow, duplicates)},
	{"psn_gap", "PSN gap", "PSN gaps", offsetof(struct flow, psn_gaps)},
	{"cnp", "CNP", "CNPs", offsetof(struct flow, cnp)},
	{"ce", "CE mark", "CE marks", offsetof(struct flow, ecn[3])},
	{"held", "pause held it", "pauses held it", offsetof(struct flow, held)},
	{"missed", "PSN not captured", "PSNs not captured",
	 offsetof(struct flow, missed_psns)},
	{"copy", "captured twice", "captured twice", offsetof(struct flow, copies)},
	{"new_connection", "new connection", "new connections",
	 offsetof(struct flow, new_connections)},
	{"psn_unjudged", "PSN not checked", "PSNs not checked", offsetof(struct flow, psn_unjudged)},
};

/* clang-format on */

const unsigned int flow_sign_count = ARRAY_SIZE(flow_signs);

uint64_t flow_sign_value(const struct flow_sign *sign, const struct flow *f)
{
	/* Acknowledged PSNs were missed by the capture only, and have a sign of their own. */
	return sign->counter == offsetof(struct flow, psn_missing) ? flow_never_came(f)
								   : flow_counter(f, sign->counter);
}

const struct flow_sign *flow_verdict(const struct flow *f)
{
	for (unsigned int i = 0; i < flow_sign_count; i++)
		if (flow_sign_value(&flow_signs[i], f))
			return &flow_signs[i];
	return NULL;
}

void flow_verdict_text(const struct flow *f, enum capture_drops drops, char *buf, size_t size)
{
	size_t used = 0;

	snprintf(buf, size, "clean");
	for (unsigned int i = 0; i < flow_sign_count && used < size; i++) {
		const struct flow_sign *sign = &flow_signs[i];
		uint64_t value = flow_sign_value(sign, f);
		bool missing = sign->counter == offsetof(struct flow, psn_missing) ||
			       sign->counter == offsetof(struct flow, responses_missing);
		bool doubtful = missing && drops != DROPS_ZERO;

		if (value)
			used += (size_t)snprintf(buf + used, size - used, "%s%" PRIu64 " %s%s",
						 used ? ", " : "", value,
						 value == 1 ? sign->text : sign->many,
						 doubtful ? " (or missed by the capture)" : "");
	}
}
