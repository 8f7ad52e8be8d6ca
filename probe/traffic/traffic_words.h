/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The enums of traffic.h as words, by table. For traffic*.c, and for those who read options.
 */
#ifndef PROBE_TRAFFIC_WORDS_H
#define PROBE_TRAFFIC_WORDS_H

#include "probe/traffic/traffic.h"

enum traffic_enum {
	ENUM_ROLE,
	ENUM_VERB,
	ENUM_TRANSPORT,
	ENUM_DIRECTION,
	ENUM_MODE,
	ENUM_CHECK,
	ENUM_BRINGUP,
	TRAFFIC_ENUMS,
};

struct traffic_words {
	const char *const *word; /* index = the enum's value */
	unsigned int count;
};
extern const struct traffic_words traffic_words[TRAFFIC_ENUMS];

const char *traffic_word(enum traffic_enum which, unsigned int value); /* "?" when there is none */

/* A member that holds one of the words. -EINVAL names the key and the words. */
int traffic_word_take(const json_t *json, const char *key, enum traffic_enum which,
		      unsigned int *value, struct err *e);
int traffic_cause_take(const json_t *json, const char *key, enum traffic_cause *cause,
		       struct err *e);

#endif
