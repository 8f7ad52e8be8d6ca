/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a packet meant to its flow, in words: one table row an event.
 */
#include <stdio.h>

#include "capture/flow/flow.h"

static const struct {
	enum flow_event event;
	const char *word, *text;
} event_words[] = {
	{FLOW_PSN_GAP, "psn_gap", "PSN gap"},
	{FLOW_PSN_FILLED, "psn_filled", "fills PSN gap"},
	{FLOW_DUPLICATE, "duplicate", "sent again"},
	{FLOW_NEW_CONNECTION, "new_connection", "new connection on this QP"},
	{FLOW_NAK_SEQ, "nak_seq", "sequence NAK"},
	{FLOW_NAK_OTHER, "nak_other", "fatal NAK"},
	{FLOW_RNR, "rnr", "receiver not ready"},
	{FLOW_CNP, "cnp", "congestion notification"},
	{FLOW_CE, "ce", "CE mark"},
	{FLOW_ICRC_BAD, "icrc_bad", "bad ICRC"},
	{FLOW_FRAGMENT, "fragment", "IP fragment"},
	{FLOW_COPY, "copy", "captured twice"},
	{FLOW_TIMEOUT, "timeout", "after a timeout"},
	{FLOW_RNR_RETRY, "rnr_retry", "retry for a receiver not ready"},
	{FLOW_READ_RETRY, "read_retry", "rest of a READ"},
	{FLOW_UNEXPLAINED, "unexplained", "for no reason that was captured"},
	{FLOW_LOST, "lost", "was lost"},
	{FLOW_REORDERED, "reordered", "came late"},
	{FLOW_CORRUPTED, "corrupted", "was corrupted"},
	{FLOW_MISSED, "missed", "acknowledges what was not captured"},
	{FLOW_HELD, "held", "held by a pause"},
	{FLOW_CNP_CLOSE, "cnp_close", "close to the CNP before"},
	{FLOW_MIRROR_GAP, "mirror_gap", "the mirror lost packets before"},
	{FLOW_READ_GAP, "read_gap", "READ responses missing before"},
	{FLOW_READ_FILLED, "read_filled", "was missing in a READ"},
};

json_t *flow_events_to_json(struct flow_events ev)
{
	json_t *words = json_array();
	unsigned int i;

	for (i = 0; words && i < ARRAY_SIZE(event_words); i++) {
		if (!(ev.bits & event_words[i].event))
			continue;
		if (json_array_append_new(words, json_string(event_words[i].word)) < 0) {
			json_decref(words);
			words = NULL;
		}
	}
	return words;
}

void flow_events_text(struct flow_events ev, char *buf, size_t size)
{
	size_t used = 0;
	unsigned int i;

	if (size)
		buf[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(event_words) && used < size; i++) {
		if (!(ev.bits & event_words[i].event))
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
					 event_words[i].text);
		if (used < size && event_words[i].event == FLOW_PSN_GAP)
			used += (size_t)snprintf(buf + used, size - used, " of %u", ev.psns);
	}
}
