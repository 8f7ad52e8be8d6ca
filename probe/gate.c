/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens, and what a first line may be.
 */
#include "probe/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

int gate_token_make(char token[GATE_TOKEN_MAX + 1], struct err *e)
{
	uint8_t bytes[GATE_TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_sys(e, -EIO, "token: no random numbers");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

int gate_token_check(const char *token, const char *where, struct err *e)
{
	size_t length = strnlen(token, GATE_TOKEN_MAX + 1);

	if (length < GATE_TOKEN_MIN || length > GATE_TOKEN_MAX) {
		err_set(e, -EINVAL, "%s: a token has %d to %d characters", where, GATE_TOKEN_MIN,
			GATE_TOKEN_MAX);
		return err_hint(e, "'rocecheck probe server' makes one and prints it");
	}
	for (size_t i = 0; i < length; i++)
		if (token[i] <= ' ' || token[i] > '~' || token[i] == '"' || token[i] == '\\')
			return err_set(e, -EINVAL,
				       "%s: a token has visible ASCII characters, no quote and no "
				       "backslash",
				       where);
	return 0;
}

/* Who can read the token can be the peer. */
static int check_mode(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(e, -errno, "%s", path);
	if (S_ISREG(st.st_mode) && st.st_mode & 077) {
		err_set(e, -EPERM, "%s: others may read the token", path);
		return err_hint(e, "chmod 600 %.200s", path);
	}
	return 0;
}

int gate_token_load(const char *path, char token[GATE_TOKEN_MAX + 1], struct err *e)
{
	bool standard = !strcmp(path, "-");
	char line[GATE_TOKEN_MAX + 3] = "";
	FILE *f = standard ? stdin : fopen(path, "re");
	int err;

	if (!f)
		return err_sys(e, -errno, "%s", path);
	err = standard ? 0 : check_mode(fileno(f), path, e);
	if (!err && !fgets(line, sizeof(line), f))
		line[0] = '\0'; /* an empty one: refused below */
	if (!standard)
		fclose(f);
	if (err)
		return err;
	line[strcspn(line, "\r\n")] = '\0';
	err = gate_token_check(line, standard ? "standard input" : path, e);
	if (!err)
		strcpy(token, line);
	return err;
}

bool gate_token_equal(const char *a, const char *b)
{
	volatile unsigned char differ = 0;
	char x[GATE_TOKEN_MAX + 1] = "", y[GATE_TOKEN_MAX + 1] = "";

	strncpy(x, a, GATE_TOKEN_MAX);
	strncpy(y, b, GATE_TOKEN_MAX);
	for (size_t i = 0; i < sizeof(x); i++)
		differ |= (unsigned char)(x[i] ^ y[i]);
	return !differ && x[0];
}

void gate_line(const char *token, char *buf, size_t size)
{
	snprintf(buf, size, "{\"probe\":\"%s\",\"token\":\"%s\"}\n", GATE_PROTOCOL, token);
}

int gate_judge(const char *line, size_t length, const char *token, struct err *e)
{
	json_t *doc = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	const char *protocol = json_string_value(json_object_get(doc, "probe"));
	const char *shown = json_string_value(json_object_get(doc, "token"));
	int err = 0;

	if (!protocol || strcmp(protocol, GATE_PROTOCOL)) {
		err = err_set(e, -EPROTO, "this is no client of %s", GATE_PROTOCOL);
		err_hint(e, "install one version of rocecheck at both ends");
	} else if (!shown || !gate_token_equal(shown, token)) {
		err = err_set(e, -EACCES, "the token is not that of the server");
		err_hint(e, "copy what 'rocecheck probe server' printed");
	}
	json_decref(doc);
	return err;
}
