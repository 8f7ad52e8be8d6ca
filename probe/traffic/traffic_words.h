/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The enums of traffic.h as words, rows for the JSON of its structs, and texts for progress,
 * reports and the results of a probe.
 */
#ifndef PROBE_TRAFFIC_WORDS_H
#define PROBE_TRAFFIC_WORDS_H

#include <stdio.h>

#include "probe/traffic/traffic.h"
#include "profiles/base/json.h"

enum traffic_enum {
	ENUM_ROLE,
	ENUM_VERB,
	ENUM_TRANSPORT,
	ENUM_DIRECTION,
	ENUM_MODE,
	ENUM_CHECK,
	ENUM_BRINGUP,
	ENUM_CAUSE,
	TRAFFIC_ENUMS,
};

#define TRAFFIC_WORDS_MAX (CAUSE_COUNT + 1) /* no enum has more, with the NULL behind them */
extern const struct qos_word traffic_words[TRAFFIC_ENUMS][TRAFFIC_WORDS_MAX];

const char *traffic_word(enum traffic_enum which, unsigned int value); /* "?" when there is none */

/* Rows whose key is the name of the member. */
#define NUMBER(type, member, least, most)                                                          \
	JSON_ROW(type, member, .kind = JSON_NUMBER, .min = least, .max = most)
#define OPTIONAL(type, member, least, most)                                                        \
	JSON_ROW(type, member, .kind = JSON_NUMBER, .need = JSON_OPTIONAL, .min = least,           \
		 .max = most)
#define WORD(type, member, of) JSON_ROW(type, member, .kind = JSON_WORD, .words = traffic_words[of])
#define BOOL(type, member)     JSON_ROW(type, member, .kind = JSON_BOOL)
#define TEXT(type, member)     JSON_ROW(type, member, .kind = JSON_TEXT)

/* Of a TCP background. */
extern const struct json_row traffic_tcp_rows[4];

/* "64.2 Mb/s" */
void traffic_rate_text(double bytes_per_s, char *buf, size_t size);

/* "4 streams, 2 Gb/s, ToS 32 (DSCP 8)" */
void traffic_tcp_text(const struct traffic_tcp *tcp, char *buf, size_t size);

/* "waits for 16 completions, 2 control acknowledgements; posted 308, last completion 5.0 s ago;
 * arrived 0, last 5.3 s ago; no processor for 0.1 of 5.3 s", without an end of line. */
void traffic_stall_print(const struct traffic_stall *s, FILE *out);

#endif
