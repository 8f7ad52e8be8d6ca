/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of traffic enums, as they stand in JSON, on the command line and in reports, and texts.
 */
#include "probe/traffic/traffic_words.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const cause_words[CAUSE_COUNT] = {
	[CAUSE_NONE] = "none",
	[CAUSE_RETRY_EXCEEDED] = "retry-exceeded",
	[CAUSE_RNR] = "receiver-not-ready",
	[CAUSE_REMOTE] = "remote-error",
	[CAUSE_LOCAL] = "local-error",
	[CAUSE_PORT_DOWN] = "port-down",
	[CAUSE_REMOTE_GONE] = "peer-gone",
	[CAUSE_DATA] = "wrong-data",
	[CAUSE_TIMEOUT] = "timeout",
	[CAUSE_UNFINISHED] = "unfinished",
};

static const char *const role_words[] = {[TRAFFIC_CLIENT] = "client", [TRAFFIC_SERVER] = "server"};
static const char *const verb_words[] = {
	[TRAFFIC_WRITE] = "write",	   [TRAFFIC_SEND] = "send",
	[TRAFFIC_WRITE_IMM] = "write_imm", [TRAFFIC_READ] = "read",
	[TRAFFIC_SEND_IMM] = "send_imm",   [TRAFFIC_ATOMIC] = "atomic",
};
static const char *const transport_words[] = {
	[TRAFFIC_RC] = "rc", [TRAFFIC_UC] = "uc", [TRAFFIC_UD] = "ud", [TRAFFIC_XRC] = "xrc"};
static const char *const direction_words[] = {
	[TRAFFIC_FORWARD] = "forward", [TRAFFIC_BACKWARD] = "backward", [TRAFFIC_BOTH] = "both"};
static const char *const mode_words[] = {
	[TRAFFIC_OBSERVE] = "observe", [TRAFFIC_STRICT] = "strict", [TRAFFIC_COUNT] = "count"};
static const char *const check_words[] = {[TRAFFIC_CHECK_NONE] = "none",
					  [TRAFFIC_CHECK_SAMPLED] = "sampled",
					  [TRAFFIC_CHECK_EVERY] = "every"};
static const char *const bringup_words[] = {[TRAFFIC_RAW] = "raw", [TRAFFIC_CM] = "cm"};

#define WORDS(list)                                                                                \
	{                                                                                          \
		list, ARRAY_SIZE(list)                                                             \
	}

const struct json_words traffic_words[TRAFFIC_ENUMS] = {
	[ENUM_ROLE] = WORDS(role_words),	   [ENUM_VERB] = WORDS(verb_words),
	[ENUM_TRANSPORT] = WORDS(transport_words), [ENUM_DIRECTION] = WORDS(direction_words),
	[ENUM_MODE] = WORDS(mode_words),	   [ENUM_CHECK] = WORDS(check_words),
	[ENUM_BRINGUP] = WORDS(bringup_words),	   [ENUM_CAUSE] = WORDS(cause_words),
};

const char *traffic_word(enum traffic_enum which, unsigned int value)
{
	return value < traffic_words[which].count ? traffic_words[which].word[value] : "?";
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
	static const char *const ways[] = {
		[TRAFFIC_FORWARD] = "",
		[TRAFFIC_BACKWARD] = ", backward",
		[TRAFFIC_BOTH] = ", both ways",
	};
	char rate[48] = "flat out";

	if (tcp->rate_bytes_per_s)
		traffic_rate_text((double)tcp->rate_bytes_per_s, rate, sizeof(rate));
	snprintf(buf, size, "%u stream%s, %s, ToS %u (DSCP %u)%s", tcp->streams,
		 tcp->streams == 1 ? "" : "s", rate, tcp->tos, tcp->tos >> 2, ways[tcp->direction]);
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
		", last %.1f s ago; no processor for %.1f of %.1f s",
		any ? "" : " the peer", s->posted, (double)s->completion_age_ns / 1e9, s->arrived,
		(double)s->arrival_age_ns / 1e9, (double)s->absent_ns / 1e9,
		(double)s->run_ns / 1e9);
}
