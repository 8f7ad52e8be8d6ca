/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The enums of traffic.h as words, members of structs as members of JSON objects, by table, and
 * texts for progress, reports and the results of a probe.
 */
#ifndef PROBE_TRAFFIC_WORDS_H
#define PROBE_TRAFFIC_WORDS_H

#include <stdio.h>

#include "probe/traffic/traffic.h"

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

struct traffic_words {
	const char *const *word; /* index = the enum's value */
	unsigned int count;
};
extern const struct traffic_words traffic_words[TRAFFIC_ENUMS];

const char *traffic_word(enum traffic_enum which, unsigned int value); /* "?" when there is none */

enum traffic_member_kind {
	MEMBER_NUMBER,
	MEMBER_OPTIONAL, /* a number, 0 where the key is missing */
	MEMBER_WORD,
	MEMBER_BOOL,
	MEMBER_TEXT,
};

/* A member of a struct, whose name is its key. */
struct traffic_member {
	const char *key;
	enum traffic_member_kind kind;
	size_t offset, size;
	uint64_t min, max;	 /* of a number */
	enum traffic_enum which; /* of a word */
};
#define MEMBER(type, member, ...)                                                                  \
	{                                                                                          \
		.key = #member, .offset = offsetof(type, member),                                  \
		.size = sizeof(((type *)0)->member), __VA_ARGS__                                   \
	}
#define NUMBER(type, member, least, most)                                                          \
	MEMBER(type, member, .kind = MEMBER_NUMBER, .min = least, .max = most)
#define OPTIONAL(type, member, least, most)                                                        \
	MEMBER(type, member, .kind = MEMBER_OPTIONAL, .min = least, .max = most)
#define WORD(type, member, of) MEMBER(type, member, .kind = MEMBER_WORD, .which = of)
#define BOOL(type, member)     MEMBER(type, member, .kind = MEMBER_BOOL)
#define TEXT(type, member)     MEMBER(type, member, .kind = MEMBER_TEXT)
#define ROWS(list)	       list, ARRAY_SIZE(list)

/* Of a TCP background. */
extern const struct traffic_member traffic_tcp_rows[4];

/* Adds the members of the struct at base, in the order of the rows. */
void traffic_members_add(json_t *json, const struct traffic_member *row, size_t rows,
			 const void *base);

/* -EINVAL names the key of the first member that is not as it should be; those ahead of it are set
 * then. */
int traffic_members_take(const json_t *json, const struct traffic_member *row, size_t rows,
			 void *base, struct err *e);

/* Lists of such structs, the first of which is at base. */
json_t *traffic_list_to_json(const struct traffic_member *row, size_t rows, const void *base,
			     size_t size, unsigned int count);
int traffic_list_take(const json_t *json, const char *key, const struct traffic_member *row,
		      size_t rows, void *base, size_t size, unsigned int most, unsigned int *count,
		      struct err *e);

/* "64.2 Mb/s" */
void traffic_rate_text(double bytes_per_s, char *buf, size_t size);

/* "4 streams, 2 Gb/s, ToS 32 (DSCP 8)" */
void traffic_tcp_text(const struct traffic_tcp *tcp, char *buf, size_t size);

/* "waits for 16 completions, 2 control acknowledgements; posted 308, last completion 5.0 s ago;
 * arrived 0, last 5.3 s ago; no processor for 0.1 of 5.3 s", without an end of line. */
void traffic_stall_print(const struct traffic_stall *s, FILE *out);

#endif
