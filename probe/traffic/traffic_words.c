/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of traffic enums, as they stand in JSON, on the command line and in reports.
 */
#include "probe/traffic/traffic_words.h"

#include "profiles/base/json_take.h"

static const char *const cause_words[CAUSE_COUNT] = {
	[CAUSE_NONE] = "none",
	[CAUSE_RETRY_EXCEEDED] = "retry-exceeded",
	[CAUSE_RNR] = "receiver-not-ready",
	[CAUSE_REMOTE] = "remote-error",
	[CAUSE_LOCAL] = "local-error",
	[CAUSE_PORT_DOWN] = "port-down",
	[CAUSE_PEER_GONE] = "peer-gone",
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

const struct traffic_words traffic_words[TRAFFIC_ENUMS] = {
	[ENUM_ROLE] = WORDS(role_words),	   [ENUM_VERB] = WORDS(verb_words),
	[ENUM_TRANSPORT] = WORDS(transport_words), [ENUM_DIRECTION] = WORDS(direction_words),
	[ENUM_MODE] = WORDS(mode_words),	   [ENUM_CHECK] = WORDS(check_words),
	[ENUM_BRINGUP] = WORDS(bringup_words),
};

const char *traffic_word(enum traffic_enum which, unsigned int value)
{
	return value < traffic_words[which].count ? traffic_words[which].word[value] : "?";
}

int traffic_word_take(const json_t *json, const char *key, enum traffic_enum which,
		      unsigned int *value, struct err *e)
{
	return json_take_word(json, key, traffic_words[which].word, traffic_words[which].count,
			      value, e);
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
	return (unsigned int)cause < CAUSE_COUNT ? cause_words[cause] : "?";
}

int traffic_verb_take(const json_t *json, const char *key, enum traffic_verb *verb, struct err *e)
{
	unsigned int index;
	int err = traffic_word_take(json, key, ENUM_VERB, &index, e);

	if (!err)
		*verb = (enum traffic_verb)index;
	return err;
}

int traffic_cause_take(const json_t *json, const char *key, enum traffic_cause *cause,
		       struct err *e)
{
	unsigned int index;
	int err = json_take_word(json, key, cause_words, CAUSE_COUNT, &index, e);

	if (!err)
		*cause = (enum traffic_cause)index;
	return err;
}
