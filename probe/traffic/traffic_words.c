/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words of the traffic enums for JSON, command line and reports; texts of rates and stalls.
 */
#include "probe/traffic/traffic_words.h"

#include <inttypes.h>
#include <stdio.h>

/* clang-format off */
const struct qos_word traffic_words[TRAFFIC_ENUMS][TRAFFIC_WORDS_MAX] = {
	[ENUM_CAUSE] = {
		{"none", CAUSE_NONE},
		{"retry-exceeded", CAUSE_RETRY_EXCEEDED},
		{"receiver-not-ready", CAUSE_RNR},
		{"remote-error", CAUSE_REMOTE},
		{"local-error", CAUSE_LOCAL},
		{"port-down", CAUSE_PORT_DOWN},
		{"peer-gone", CAUSE_REMOTE_GONE},
		{"wrong-data", CAUSE_DATA},
		{"timeout", CAUSE_TIMEOUT},
		{"unfinished", CAUSE_UNFINISHED},
	},
	[ENUM_ROLE] = {{"client", TRAFFIC_CLIENT}, {"server", TRAFFIC_SERVER}},
	[ENUM_VERB] = {
		{"write", TRAFFIC_WRITE},
		{"send", TRAFFIC_SEND},
		{"write_imm", TRAFFIC_WRITE_IMM},
		{"read", TRAFFIC_READ},
		{"send_imm", TRAFFIC_SEND_IMM},
		{"atomic", TRAFFIC_ATOMIC},
	},
	[ENUM_TRANSPORT] = {
		{"rc", TRAFFIC_RC}, {"uc", TRAFFIC_UC}, {"ud", TRAFFIC_UD}, {"xrc", TRAFFIC_XRC},
	},
	[ENUM_DIRECTION] = {
		{"forward", TRAFFIC_FORWARD}, {"backward", TRAFFIC_BACKWARD}, {"both", TRAFFIC_BOTH},
	},
	[ENUM_MODE] = {
		{"observe", TRAFFIC_OBSERVE}, {"strict", TRAFFIC_STRICT}, {"count", TRAFFIC_COUNT},
	},
	[ENUM_CHECK] = {
		{"none", TRAFFIC_CHECK_NONE},
		{"sampled", TRAFFIC_CHECK_SAMPLED},
		{"every", TRAFFIC_CHECK_EVERY},
	},
	[ENUM_BRINGUP] = {{"raw", TRAFFIC_RAW}, {"cm", TRAFFIC_CM}},
};
/* clang-format on */

const char *traffic_word(enum traffic_enum which, unsigned int value)
{
	const char *word = value < CAUSE_COUNT ? qos_word_text(traffic_words[which], value) : NULL;

	return word ? word : "?";
}

const char *traffic_verb_word(enum traffic_verb verb)
{
	return traffic_word(ENUM_VERB, verb);
}

const char *traffic_transport_word(enum traffic_transport transport)
{
	return traffic_word(ENUM_TRANSPORT, transport);
}

const char *traffic_direction_word(enum traffic_direction direction)
{
	return traffic_word(ENUM_DIRECTION, direction);
}

const char *traffic_check_word(enum traffic_check check)
{
	return traffic_word(ENUM_CHECK, check);
}

const char *traffic_mode_word(enum traffic_mode mode)
{
	return traffic_word(ENUM_MODE, mode);
}

const char *traffic_cause_word(enum traffic_cause cause)
{
	return traffic_word(ENUM_CAUSE, cause);
}

void traffic_rate_text(double bytes_per_s, char *buf, size_t size)
{
	static const char *const units[] = {"kb/s", "Mb/s", "Gb/s"};
	double value = bytes_per_s * 8e-3;
	size_t i = 0;

	while (value >= 1000 && i + 1 < ARRAY_SIZE(units)) {
		value /= 1000;
		i++;
	}
	snprintf(buf, size, "%.3g %s", value, units[i]);
}

void traffic_tcp_text(const struct traffic_tcp *tcp, char *buf, size_t size)
{
	static const char *const directions[] = {
		[TRAFFIC_FORWARD] = "",
		[TRAFFIC_BACKWARD] = ", backward",
		[TRAFFIC_BOTH] = ", both directions",
	};
	char rate[48] = "no rate limit";

	if (tcp->rate_bytes_per_s)
		traffic_rate_text((double)tcp->rate_bytes_per_s, rate, sizeof(rate));
	snprintf(buf, size, "%u stream%s, %s, ToS %u (DSCP %u)%s", tcp->streams,
		 plural(tcp->streams), rate, tcp->tos, tcp->tos >> 2, directions[tcp->direction]);
}

static uint64_t traffic_shortfall(uint64_t want, uint64_t have)
{
	return want > have ? want - have : 0;
}

void traffic_stall_print(const struct traffic_stall *s, FILE *out)
{
	const struct {
		uint64_t count;
		const char *what;
	} owed[] = {
		{traffic_shortfall(s->posted, s->completed), "completions"},
		{traffic_shortfall(s->completed, s->granted), "credits"},
		{traffic_shortfall(s->announced, s->arrived), "arrivals"},
		{s->control, "control acknowledgements"},
	};
	bool any = false;

	fputs("waits for", out);
	for (size_t i = 0; i < ARRAY_SIZE(owed); i++) {
		if (!owed[i].count)
			continue;
		fprintf(out, "%s %" PRIu64 " %s", any ? "," : "", owed[i].count, owed[i].what);
		any = true;
	}
	fprintf(out,
		"%s; posted %" PRIu64 ", last completion %.1f s ago; arrived %" PRIu64
		", last %.1f s ago; no CPU for %.1f of %.1f s",
		any ? "" : " the peer", s->posted, (double)s->completion_age_ns / 1e9, s->arrived,
		(double)s->arrival_age_ns / 1e9, (double)s->absent_ns / 1e9,
		(double)s->run_ns / 1e9);
}
