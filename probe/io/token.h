/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens of `probe server`. The server generates a token; the client reads it from a file, one for
 * all servers or one per server. Users cannot choose a token: a human-made word could be guessed
 * from one recorded proof.
 */
#ifndef PROBE_TOKEN_H
#define PROBE_TOKEN_H

#include "profiles/base/base.h"

#define TOKEN_BYTES    16
#define TOKEN_LENGTH   (2 * TOKEN_BYTES)
#define TOKEN_HOST_MAX 255
#define TOKEN_ROWS_MAX 64

/* Writes 128 random bits as text. -errno when the kernel has no random numbers. */
int token_make(char token[TOKEN_LENGTH + 1], struct err *e);

/* Checks that the text is TOKEN_LENGTH lower-case hexadecimal digits; else -EINVAL. where: origin
 * of the token, for the error. */
int token_check(const char *token, const char *where, struct err *e);

/* Tokens of one file. */
struct token_list {
	unsigned int count;
	struct token_row {
		char host[TOKEN_HOST_MAX + 1]; /* as on the command line; "": of all servers */
		char token[TOKEN_LENGTH + 1];
	} row[TOKEN_ROWS_MAX];
};

/* Reads tokens from a file; "-" = standard input. Either the first line is a token for all servers,
 * and the rest is not read, or each line is "HOST TOKEN"; empty lines are skipped. The file must be
 * a regular file, owned by the caller or root, not readable by others, and not a symbolic link. */
int token_list_load(const char *path, struct token_list *list, struct err *e);

/* Returns the token of a host, else the token for all servers, else NULL. Borrowed from the list.
 */
const char *token_list_find(const struct token_list *list, const char *host);

#endif
