/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens of `probe server`: made by it, and read by a client from a file, one token or one a
 * server. A token is a secret: whoever knows it can be the peer. Nobody chooses one, since a word
 * that a person thinks of can be guessed from one recorded proof.
 */
#ifndef PROBE_TOKEN_H
#define PROBE_TOKEN_H

#include "profiles/base/base.h"

#define TOKEN_BYTES    16
#define TOKEN_LENGTH   (2 * TOKEN_BYTES)
#define TOKEN_HOST_MAX 255
#define TOKEN_ROWS_MAX 64

/* 128 random bits as text. -errno when the kernel gives none. */
int token_make(char token[TOKEN_LENGTH + 1], struct err *e);

/* -EINVAL when a text is no token that a server made: lower-case hexadecimal digits. */
int token_check(const char *token, const char *where, struct err *e);

/* The tokens of one file. */
struct token_list {
	unsigned int count;
	struct token_row {
		char host[TOKEN_HOST_MAX + 1]; /* as on the command line; "": of all servers */
		char token[TOKEN_LENGTH + 1];
	} row[TOKEN_ROWS_MAX];
};

/* A file, "-" = standard input. Its first line is a token for all servers, and nothing more is
 * read; or each line is "HOST TOKEN", and empty ones are skipped. A file is a regular one of the
 * caller or root that nobody else may read, and no symbolic link. */
int token_list_load(const char *path, struct token_list *list, struct err *e);

/* The token of a host, else the one of all; NULL: there is none. Borrowed from the list. */
const char *token_list_find(const struct token_list *list, const char *host);

#endif
