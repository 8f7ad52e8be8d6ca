/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identifies the owner of lldpad's control socket, the abstract name "/com/intel/lldpad" of a
 * network namespace. The name alone is no proof: systemd holds it for socket activation, and any
 * user can bind it while it is free. A datagram would return credentials, but start lldpad by
 * socket activation. So this asks NETLINK_SOCK_DIAG (linux unix_diag.h) for the uid of the socket,
 * which a newline in a name cannot fake, as in /proc/net/unix, nor a passed descriptor.
 */
#include "dcb/lldpad/lldpad_process.h"

#include <limits.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "dcb/kernel/nl.h"
#include "profiles/base/process.h"
#include "profiles/base/small_file.h"

/* The creator of the socket. */
struct holder {
	bool held, uid_known;
	uid_t uid;
};

static int lldpad_parse_holder(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	static const char name[] = "\0" LLDPAD_SOCKET;
	struct holder *found = arg, one = {0};
	const uint8_t *at;
	struct unix_diag_msg m;
	struct nl_attr a;

	if (type != SOCK_DIAG_BY_FAMILY || size < sizeof(m))
		return 0;
	memcpy(&m, payload, sizeof(m));
	at = payload + sizeof(m);
	while (nl_attr_next(&at, payload + size, &a)) {
		if (a.type == UNIX_DIAG_NAME)
			one.held = a.size == sizeof(name) - 1 && !memcmp(a.data, name, a.size);
		if (a.type == UNIX_DIAG_UID && a.size == sizeof(uint32_t)) {
			memcpy(&one.uid, a.data, sizeof(uint32_t));
			one.uid_known = true;
		}
	}
	/* Each socket type has its own names: a stream socket may have the same. */
	if (one.held && m.udiag_type == SOCK_DGRAM)
		*found = one;
	return 0;
}

static int lldpad_query_holder(struct holder *found)
{
	const struct unix_diag_req ask = {
		.sdiag_family = AF_UNIX,
		.udiag_states = UINT32_MAX,
		.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_UID,
	};
	struct nl_request r;
	struct nl *nl;
	int err = nl_open(NETLINK_SOCK_DIAG, &nl, NULL);

	if (err)
		return err;
	nl_request_init(&r, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP);
	nl_put(&r, &ask, sizeof(ask));
	err = nl_talk(nl, &r, lldpad_parse_holder, found, NULL);
	nl_shut(nl);
	return err;
}

/* "0000000000000000: 00000002 00000000 00000000 0002 01 1234 @name", the type before the state. */
static bool lldpad_name_is_listed(const char *proc)
{
	char path[PATH_MAX], line[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/net/unix", proc);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		unsigned int type;
		int end = 0;

		found = sscanf(line, "%*[^:]: %*s %*s %*s %x %*s %*u %n", &type, &end) == 1 &&
			end && type == SOCK_DGRAM && !strcmp(line + end, "@" LLDPAD_SOCKET "\n");
	}
	if (f)
		fclose(f);
	return found;
}

/* The request makes the kernel load the module unix_diag, so it is sent only when /proc/net/unix
 * lists the name. A test's /proc has its own sockets. */
static struct holder lldpad_find_holder(const char *proc)
{
	struct holder asked = {0}, listed = {.held = lldpad_name_is_listed(proc ? proc : "/proc")};

	if (listed.held && (!proc || !strcmp(proc, "/proc")) && !lldpad_query_holder(&asked))
		return asked;
	return listed;
}

/* If the creator is unknown, a daemon of root counts as lldpad. */
pid_t lldpad_find_pid(const char *proc)
{
	const struct holder h = lldpad_find_holder(proc);

	return h.held && !h.uid ? process_find_daemon(proc, "lldpad") : 0;
}

bool lldpad_socket_activated(const char *proc)
{
	const struct holder h = lldpad_find_holder(proc);

	return h.uid_known && !h.uid && !process_find_daemon(proc, "lldpad");
}

bool lldpad_socket_foreign(const char *proc, uid_t *uid)
{
	const struct holder h = lldpad_find_holder(proc);

	if (!h.held || (h.uid_known ? !h.uid : process_find_daemon(proc, "lldpad") != 0))
		return false;
	*uid = h.uid_known ? h.uid : (uid_t)-1;
	return true;
}

/* A relative -f FILE is below lldpad's working directory, which it does not leave. */
static void lldpad_set_conf(const char *proc, pid_t pid, const char *file,
			    struct lldpad_options *options)
{
	if (file[0] == '/')
		snprintf(options->conf, sizeof(options->conf), "%s", file);
	else
		snprintf(options->conf, sizeof(options->conf), "%s/%d/cwd/%s", proc, (int)pid,
			 file);
}

/* Parses the options of a word, which getopt(3) lets combine ("-tR"). Returns true when the last
 * one consumed the next word. */
static bool lldpad_parse_options(const char *proc, pid_t pid, const char *word, const char *next,
				 struct lldpad_options *options)
{
	for (const char *at = word[0] == '-' ? word + 1 : ""; *at; at++) {
		const char *value = at[1] ? at + 1 : next;

		if (*at == 'R')
			options->read_only = true;
		if (*at == 'f' && value)
			lldpad_set_conf(proc, pid, value, options);
		if (*at == 'f' || *at == 'V')
			return !at[1];
	}
	return false;
}

bool lldpad_read_options(const char *proc, pid_t pid, struct lldpad_options *options)
{
	char line[1024];
	int n;

	if (!proc)
		proc = "/proc";
	memset(options, 0, sizeof(*options));
	n = small_file_bytes(line, sizeof(line), proc, "%d/cmdline", (int)pid);
	if (n < 0)
		return false;
	for (size_t at = strlen(line) + 1; at < (size_t)n;) {
		const char *word = line + at;
		size_t after = at + strlen(word) + 1;
		const char *next = after < (size_t)n ? line + after : NULL;

		at = after;
		if (lldpad_parse_options(proc, pid, word, next, options) && next)
			at += strlen(next) + 1;
	}
	return true;
}
