/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generates and reads tokens. Uses read(2) directly: stdio would keep the secret in its buffer.
 */
#include "probe/io/token.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/base16.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES (TOKEN_HOST_MAX + TOKEN_LENGTH + 8)
#define BLANKS	       " \t\r"

int token_make(char token[TOKEN_LENGTH + 1], struct err *e)
{
	uint8_t bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_sys(e, -EIO, "token: no random numbers");
	base16_encode_update(token, sizeof(bytes), bytes);
	token[TOKEN_LENGTH] = '\0';
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}

int token_check(const char *token, const char *where, struct err *e)
{
	if (strlen(token) == TOKEN_LENGTH && strspn(token, "0123456789abcdef") == TOKEN_LENGTH)
		return 0;
	err_set(e, -EINVAL, "%s: invalid token: expected %d hexadecimal digits", where,
		TOKEN_LENGTH);
	err_hint(e, "copy the token that 'rocecheck probe server' printed");
	return -EINVAL;
}

/* Refuses a file that others can read (they could pose as the peer) or write (they could choose the
 * peer). */
static int token_file_check(int fd, const char *path, struct err *e)
{
	uid_t own = geteuid();
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(e, -errno, "%s", path);
	if (!S_ISREG(st.st_mode)) {
		err_set(e, -EINVAL, "%s: not a regular file", path);
		err_hint(e, "--token-file - reads the token from standard input");
		return -EINVAL;
	}
	if (st.st_uid && st.st_uid != own) {
		err_set(e, -EPERM, "%s: the token file belongs to uid %u, not to %s%u or root",
			path, st.st_uid, own ? "uid " : "", own);
		err_hint(e, "chown %u %.200s", own, path);
		return -EPERM;
	}
	if (st.st_mode & 077) {
		err_set(e, -EPERM, "%s: other users can read the token", path);
		err_hint(e, "chmod 600 %.200s", path);
		return -EPERM;
	}
	return 0;
}

static int token_file_open(const char *path, int *out, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK), err;

	if (fd < 0 && errno == ELOOP) {
		err_set(e, -ELOOP, "%s: the token file must not be a symbolic link", path);
		err_hint(e, "pass the file that the link points to");
		return -ELOOP;
	}
	if (fd < 0)
		return err_sys(e, -errno, "%s", path);
	err = token_file_check(fd, path, e);
	if (err)
		close(fd);
	else
		*out = fd;
	return err;
}

/* Reads the next line without its newline; false at the end. A line that is too long is truncated,
 * which makes its token invalid. */
static bool token_line_read(int fd, char line[LINE_MAX_BYTES])
{
	size_t used = 0;
	bool any = false;
	char c = '\0';
	ssize_t n;

	do {
		n = read(fd, &c, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || c == '\n')
			break;
		any = true;
		if (used < LINE_MAX_BYTES - 1)
			line[used++] = c;
	} while (true);
	line[used] = '\0';
	return any || n > 0;
}

static int token_parse_row(char *line, const char *where, struct token_list *list, struct err *e)
{
	struct token_row *row = &list->row[list->count];
	char *rest = NULL, *host = strtok_r(line, BLANKS, &rest);
	char *token = strtok_r(NULL, BLANKS, &rest);
	int err;

	if (!host)
		return 0;
	if (list->count == TOKEN_ROWS_MAX)
		return err_set(e, -E2BIG, "%s: more than %d tokens", where, TOKEN_ROWS_MAX);
	if (!token || strtok_r(NULL, BLANKS, &rest) || strlen(host) > TOKEN_HOST_MAX)
		return err_set(e, -EINVAL, "%s: expected 'HOST TOKEN'", where);
	err = token_check(token, where, e);
	if (err)
		return err;
	for (unsigned int i = 0; i < list->count; i++)
		if (!strcmp(list->row[i].host, host))
			return err_set(e, -EINVAL, "%s: a second token for %s", where, host);
	strcpy(row->host, host);
	strcpy(row->token, token);
	list->count++;
	return 0;
}

/* Parses a first line of one word: the token of all servers. */
static int token_parse_first(char *line, const char *where, struct token_list *list, struct err *e)
{
	int err;

	line[strcspn(line, "\r")] = '\0';
	err = token_check(line, where, e);
	if (err)
		return err;
	strcpy(list->row[0].token, line);
	list->count = 1;
	return 0;
}

static int token_lines_read(int fd, const char *name, struct token_list *list, struct err *e)
{
	char line[LINE_MAX_BYTES] = "", where[320];
	int err = 0;

	(void)token_line_read(fd, line); /* an empty line is refused as an invalid token */
	line[strcspn(line, "\r")] = '\0';
	if (!line[strcspn(line, " \t")]) {
		err = token_parse_first(line, name, list, e);
		explicit_bzero(line, sizeof(line));
		return err;
	}
	for (unsigned int n = 1; !err; n++) {
		snprintf(where, sizeof(where), "%.280s:%u", name, n);
		err = token_parse_row(line, where, list, e);
		if (err || !token_line_read(fd, line))
			break;
	}
	explicit_bzero(line, sizeof(line));
	return err;
}

int token_list_load(const char *path, struct token_list *list, struct err *e)
{
	bool standard = !strcmp(path, "-");
	int fd = STDIN_FILENO, err = 0;

	memset(list, 0, sizeof(*list));
	if (!standard)
		err = token_file_open(path, &fd, e);
	if (err)
		return err;
	err = token_lines_read(fd, standard ? "standard input" : path, list, e);
	if (!standard)
		close(fd);
	return err;
}

const char *token_list_find(const struct token_list *list, const char *host)
{
	for (unsigned int i = 0; i < list->count; i++)
		if (!list->row[i].host[0] || (host && !strcmp(list->row[i].host, host)))
			return list->row[i].token;
	return NULL;
}
